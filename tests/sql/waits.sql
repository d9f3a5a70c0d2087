-- The MCP server that waits: it reads, ends what expired or nobody waits for, and asks the provider again.

LISTEN urlmode;

-- read: what an owner may know of its rows.
SELECT make(1, 'oauth'), make(2, subject => 'bob'), complete(1), make(3), open(3), event(3, 'attempt_failed');
SELECT * FROM reads(1, 2, 3, 4);
SELECT word(verifier), expected, provider, kind FROM urlmode.read(ARRAY[id(1), id(3)], ARRAY[owner('ann'), owner('ann')]) ORDER BY id;
SELECT * FROM urlmode.read(NULL, NULL);

-- expire completes what is over for its owner, and announces it: after its grace, a payment that is processing after thirty days. Not more than once.
SELECT make(10, 'oauth', ttl => '-1 s'), make(11, 'oauth'), make(12, subject => 'bob', ttl => '-1 s'), make(13), open(13, grace => '1 hour'), make(14), event(14, 'processing'), make(15, 'oauth'), open(15, grace => '1 hour'), make(16, 'signature'), event(16, 'processing'),
	make(17, 'input', verify => '1 min'), answer(17);
SELECT pass('50 min'), expire(10, 11, 12, 13, 14, 15, 16, 17), expire(10, 11, 12, 13, 14, 15, 16, 17), kept(10), kept(17), state(10);
SELECT pass('30 min'), expire(13, 14, 16), pass('30 days'), expire(14, 16, 1);

-- abandon ends what nobody has opened, with decline or cancel, so that no call resumes it.
SELECT make(20, 'oauth', key => 'k20'), make(21, 'oauth'), open(21), make(22), event(22, 'processing'), make(23, 'oauth'), complete(23), make(24), make(25);
SELECT abandon(20, reason => 'gone'), abandon(20), abandon(21), abandon(22), abandon(23), abandon(24, 'accept'), abandon(24, subject => 'bob'), abandon(25, 'decline'), abandon(29);
SELECT n, state(n), kept(n) FROM generate_series(20, 25) AS n;
SELECT find('k20'), claim(20, action => 'cancel');
SELECT * FROM urlmode.abandon(ARRAY[id(24), id(24), id(24)], ARRAY[owner('eve'), owner('ann'), owner('ann')], '{cancel,decline,cancel}', '{eve,first,last}');
SELECT state(24);
-- A payment that has ended while an attempt is under way is processing for it as well.
SELECT make(26), complete(26, 'decline'), event(26, 'processing', ref => 'a'), abandon(26), make(27, 'input', verify => '1 min'), answer(27), pass('2 min'), abandon(27);

-- settle completes from any status, once, and a cancel keeps what it cut off.
SELECT make(30, 'oauth'), settle(30, 'cancel', reason => 'why'), settle(30, 'decline'), make(31, 'oauth'), open(31), settle(31, 'cancel'), make(32, 'signature'), event(32, 'processing'), settle(32, 'cancel'), make(33, 'oauth'), open(33), settle(33, 'decline'),
	make(34, 'signature'), settle(34), settle(34, subject => 'bob'), make(35), settle(35, 'decline', price => '1.00 EUR', reference => 'x'), make(36, 'oauth', ttl => '-1 s'), settle(36);
SELECT n, outcome, result, "from" FROM reads(30, 31, 32, 33, 34, 35, 36);
SELECT kept(30), kept(34), payments(35), pass('25 hours'), purge_results() > 0, kept(30), kept(34);

-- An event that proves nothing asks for a recheck. One instance asks the provider, for the time of its lease.
SELECT make(40, ttl => '1 day'), event(40, 'recheck', ref => 'a', type => 'first'), event(40, 'recheck', ref => 'b', type => 'last'), event(40, 'recheck', ref => 'a', type => 'last'), state(40);
SELECT n, status, rechecks FROM reads(40);
SELECT * FROM take_recheck(40, subject => 'bob');
SELECT * FROM take_recheck(40);
SELECT * FROM take_recheck(40);
SELECT minutes(recheck_in_ms * interval '1 ms') FROM urlmode.read(ARRAY[id(40)], ARRAY[owner('ann')]);
SELECT event(40, 'recheck', ref => 'c'), end_recheck(40, 1, 3, subject => 'bob'), end_recheck(40, 1, 3);
SELECT rechecks FROM reads(40);
SELECT * FROM take_recheck(40, '2 min');
SELECT end_recheck(40, 2, 4);
SELECT * FROM take_recheck(40);
-- One that outlives its lease does not end that of the next one, and what it has answered stays answered.
SELECT event(40, 'recheck');
SELECT lease, rechecks FROM take_recheck(40);
SELECT pass('2 min'), event(40, 'recheck');
SELECT lease, rechecks FROM take_recheck(40);
SELECT end_recheck(40, 3, 5), rechecks, minutes(recheck_in_ms * interval '1 ms') FROM urlmode.read(ARRAY[id(40)], ARRAY[owner('ann')]);
SELECT rechecks FROM reads(40);
SELECT * FROM take_recheck(40);
SELECT end_recheck(40, 4, 6), end_recheck(40, 3, 5);
SELECT rechecks FROM reads(40);
-- After a failure it can be begun again a second later, then two, and so on up to a minute; a success ends the row of failures.
SELECT event(40, 'recheck');
CREATE FUNCTION pg_temp.fail() RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	given record;
	pause numeric;
BEGIN
	SELECT * INTO given FROM test.take_recheck(40);
	PERFORM test.end_recheck(40, given.lease, given.rechecks, true);
	SELECT extract(epoch FROM r.recheck_at - now()) INTO pause FROM urlmode.recheck r WHERE r.elicitation = test.id(40);
	PERFORM test.pass('2 min');
	RETURN round(pause);
END
$$;
SELECT string_agg(pg_temp.fail()::text, ' ') FROM generate_series(1, 8);
SELECT recheck_failures FROM urlmode.show_elicitation(id(40));
SELECT lease, end_recheck(40, lease, rechecks) FROM take_recheck(40);
SELECT recheck_failures, rechecks, rechecked FROM urlmode.show_elicitation(id(40));
SELECT event(40, 'recheck');
SELECT pg_temp.fail();
-- What has ended is not rechecked, but for a payment: it may have been paid late, or have gone back.
SELECT make(41), event(41, 'recheck'), settle(41, 'decline'), make(42, 'signature'), event(42, 'recheck'), settle(42, 'decline'), make(43), event(43, 'recheck'), pay(43, 'p43'), make(44), end_recheck(44, 1, 1);
SELECT n, t.* FROM generate_series(41, 44) AS n, take_recheck(n) t;
-- References: the last sixteen, each once, the last one last. Of the events that only ask, the last 64 are kept.
SELECT make(45);
SELECT count(event(45, 'recheck', ref => 'r' || i)) FROM generate_series(1, 70) AS i;
SELECT event(45, 'recheck', ref => 'r60'), event(45, 'recheck');
SELECT array_to_string(unproven_references, ' ') AS refs, rechecks FROM urlmode.show_elicitation(id(45));
SELECT count(*) AS kept FROM urlmode.show_events(id(45));

-- What the operator is shown.
SELECT make(50, key => 'k', kid => 3), open(50, grace => '1 hour'), settle(50, 'cancel', reason => 'why'), make(51, 'oauth'), complete(51), make(52, 'oauth'), complete(52);
SELECT outcome, exchanged(52) FROM begins('a', 52);
SELECT n(elicitation), provider, kind, subject, requester, client_id, traceparent IS NOT NULL AS traced, resume_key, expected, minutes(expires_at - now()), minutes(closes_at - now()), completed_from, claimed_at IS NOT NULL AS claimed, has_result, exchange
FROM generate_series(50, 52) AS n, urlmode.show_elicitation(id(n)) ORDER BY 1;
SELECT * FROM urlmode.show_elicitation(id(99));

-- What a client answers ends its ask, and moves and announces nothing: it is remembered for this client and this row. Of many it is the last eight.
SELECT make(60), make(61);
SELECT asks(60, 'codex'), answers(60, 'codex', 'declined'), asks(60, 'codex'), asks(60, 'other'), asks(61, 'codex'), state(60), state(61);
SELECT answers(60, 'other', 'dismissed'), asks(60, 'other'), open(60), answers(60, 'third', 'failed'), asks(60, 'third'), state(60);
SELECT asks(60, 'other', subject => 'eve'), answers(60, 'fourth', 'declined', subject => 'eve'), asks(60, 'fourth');
-- A client whose answer comes with its next call. One from which nothing has come is given the link at once, and then as all others.
SELECT asks(61, 'late', true), asks(61, 'late', true), asks(61, 'late', true), asks(61, 'quick', true), answers(61, 'quick', 'accepted'), asks(61, 'quick', true), answers(61, 'quick', 'declined'), asks(61, 'quick', true);
SELECT answers(61, 'c' || i, 'declined') FROM generate_series(1, 9) AS i;
SELECT string_agg(asks(61, 'c' || i), ' ' ORDER BY i) FROM generate_series(1, 9) AS i;
SELECT asks(61, 'quick'), count(*) FROM urlmode.asked_client WHERE elicitation = id(61);
-- After its end nothing more is remembered, and what was goes with the row.
SELECT settle(60, 'decline'), asks(60, 'codex'), answers(60, 'new', 'declined'), settle(61, 'decline'), answers(61, 'c1', 'accepted');
DELETE FROM urlmode.elicitation WHERE id = id(61);
SELECT n(elicitation), count(*) FROM urlmode.asked_client GROUP BY 1;
SELECT make(63), answers(62, 'codex', 'declined'), answers(63, 'codex', 'maybe');
