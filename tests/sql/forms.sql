-- Forms: who may answer them, the check of a value and its ends, decisions, and what is wiped when.

LISTEN urlmode;

-- The link of a form opens it for its user, whoever comes with it, and says its binding to nobody else. Who is not known, or only
-- looks, changes nothing. In one batch the last of those that may answer is the browser of the form.
SELECT make(1, 'input'), make(2, 'input'), make(3, 'approval', approvers => '["bob", "cat"]'), make(4, 'oauth');
SELECT open_form(1, 'none'), open_form(1, browser => 'none'), open_form(1, 'eve'), open_form(1, kind => 'approval') AS other_kind, open_form(4, kind => 'oauth') AS account, state(1);
SELECT * FROM opens_form('[{"n": 1, "user": "eve"}, {"n": 3, "kind": "approval", "user": "eve"}, {"n": 1, "user": "none"}, {"n": 1, "browser": "none"},
	{"n": 3, "kind": "approval", "user": "bob"}, {"n": 1, "browser": "b1"}, {"n": 2, "user": "eve"}, {"n": 1, "browser": "b2"}, {"n": 1, "user": "eve", "browser": "b3"},
	{"n": 2, "provider": "other"}]');
SELECT n, state(n), browser = digest('b2') AS b2, browser = digest('browser') AS b, opened_at IS NOT NULL AS opened FROM urlmode.elicitation, n(id) ORDER BY n;
SELECT pass('1 min'), open_form(1, browser => 'b3'), opened_at < now() - interval '50 s' AS opened_once FROM urlmode.elicitation WHERE id = id(1);
SELECT open_form(1, browser => 'b3') AS is_announced_once;
SELECT * FROM form_page(1);
SELECT * FROM form_page(1, 'eve');
SELECT * FROM form_page(1, kind => 'approval');
SELECT * FROM form_page(1, subject => 'eve');
SELECT * FROM form_page(4, kind => 'oauth');

-- An answer completes an input once, also of a page that nobody had to open first. Of another user, owner, kind or provider it is
-- none; nor is an action that is no answer.
SELECT answer(1, 'eve'), answer(1, subject => 'eve'), answer(1, kind => 'approval'), answer(4, kind => 'oauth'), answer(1, action => 'cancel'), answer(1, reason => 'none'), state(1);
SELECT answer(1, outcome => 'sealed outcome'), answer(1, result => 'other'), answer(2, 'none'), state(1), kept(1);
SELECT n, browser = digest('browser') AS browser, opened_at IS NOT NULL AS opened FROM urlmode.elicitation, n(id) WHERE n < 3 ORDER BY n;
SELECT * FROM reads(1, 2);
SELECT * FROM answers('[{"n": 3, "kind": "approval", "user": "eve"}, {"n": 9}, {"n": 3, "kind": "approval", "user": "bob", "action": "decline", "reason": "no"}, {"n": 3, "kind": "approval", "user": "bob"}]');
SELECT * FROM form_page(3, 'cat', 'approval');
SELECT kept_events(3);

-- A form ends with its expiry, in every status: it has no grace.
SELECT make(10, 'input'), make(11, 'input', verify => '1 min'), answer(11), make(12, 'input', ttl => '1 hour');
SELECT pass('6 min'), open_form(10), answer(10), answer(11), answer(12);
SELECT * FROM form_page(10);
SELECT expire(10, 11, 12), kept(10), kept(11), state(10), state(11);
-- The purge ends those for which nobody waits, so that no word of them stays.
SELECT make(13, 'input', verify => '2 min'), answer(13), make(14, 'approval'), make(15, 'input', verify => '2 min'), answer(15), make(16, 'input', ttl => '1 hour');
SELECT lease, end_check(13, lease, 'problem') FROM take_check(13);
SELECT pass('6 min'), purge_results();
SELECT n, state(n), kept(n) FROM generate_series(13, 16) AS n;

-- The time of a check, the names of approvers, and what is sealed have limits.
SELECT make(18, 'input', verify => '0.999 s');
SELECT make(18, 'input', verify => '120.001 s');
SELECT make(18, 'approval', approvers => a) FROM (VALUES ('{"a": 1}'::jsonb)) AS v (a);
SELECT make(18, 'approval', approvers => '["ann", ""]');
SELECT make(18, 'approval', approvers => '["ann", 1]');
SELECT make(18, 'approval', approvers => (SELECT jsonb_agg('user ' || i) FROM generate_series(1, 17) AS i));
SELECT make(18, 'approval', approvers => (SELECT jsonb_agg('user ' || i) FROM generate_series(1, 16) AS i));
SELECT octet_length(sealed(repeat('x', 16414))::urlmode.definition), sealed(repeat('x', 16415))::urlmode.definition;

-- A check is for one instance, takes no second value meanwhile, and completes the input. What waits is read by nobody else.
SELECT make(20, 'input', verify => '2 min'), answer(20), answer(20, result => 'other'), state(20), make(21, 'input', verify => '2 min', ttl => '1 min'), answer(21);
SELECT * FROM reads(20);
SELECT * FROM form_page(20);
SELECT * FROM take_check(20, 'eve');
SELECT * FROM take_check(20);
SELECT * FROM take_check(20);
SELECT * FROM take_check(21);
SELECT end_check(20, 1, subject => 'eve'), end_check(20, 2), end_check(20, 1, outcome => 'sealed outcome'), end_check(20, 1) AS again;
SELECT * FROM reads(20);
SELECT kept(20), answer(20), end_check(99, 1), answers('[]');
SELECT make(19), event(19, 'processing'), end_check(19, 0) AS a_payment;
-- A refusal is not checked.
SELECT make(22, 'input', verify => '1 min'), answer(22, action => 'decline', reason => 'access_denied'), state(22), kept(22);

-- A problem opens the form again, which shows it and what is not secret, without the value. The lease is of that value alone.
SELECT make(23, 'input', verify => '1 min'), answer(23), end_check(23, 1, 'problem') AS not_taken;
SELECT end_check(23, lease, 'problem') FROM take_check(23);
SELECT * FROM form_page(23);
SELECT * FROM shows(23);
SELECT kept(23), answer(23, shown => 'typed again'), kept(23), end_check(23, 1);
SELECT end_check(23, lease, failed => true) FROM take_check(23);
SELECT * FROM form_page(23);
SELECT failed, rechecks FROM reads(23);
SELECT answer(23), kept(23);
SELECT * FROM form_page(23);

-- Five problems end it, or ten values that could not be checked, whether the check fails or takes too long; then everything goes. A
-- problem does not count as one that could not be checked, nor the other way round.
CREATE FUNCTION pg_temp.check(n integer, how text, times integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text := '';
BEGIN
	FOR turn IN 1 .. times LOOP
		said := said || test.answer(n) || ' ';
		IF how = 'in time' THEN
			PERFORM test.take_check(n);
			UPDATE urlmode.form SET check_until = now() - interval '1 s' WHERE elicitation = test.id(n);
			said := said || (test.form_page(n)).outcome || ', ';
		ELSE
			said := said || coalesce((SELECT test.end_check(n, t.lease, CASE how WHEN 'problem' THEN how END, how = 'failed') FROM test.take_check(n) t), '-') || ', ';
		END IF;
	END LOOP;
	RETURN said;
END
$$;
SELECT make(24, 'input', verify => '1 min'), make(25, 'input', verify => '1 min'), make(26, 'input', verify => '1 min');
SELECT pg_temp.check(24, 'failed', 1), pg_temp.check(24, 'problem', 5);
SELECT pg_temp.check(25, 'problem', 1), pg_temp.check(25, 'failed', 11);
SELECT pg_temp.check(26, 'problem', 1), pg_temp.check(26, 'in time', 11);
SELECT i AS n, state(i), kept(i), how, shows, unchecked FROM generate_series(24, 26) AS i, form_page(i);
-- A value that nobody checks in time is wiped by whoever looks; until then it is neither read, nor taken, nor completed. The form is
-- open again, and takes a new one at once.
SELECT make(i, 'input', verify => '1 min', ttl => '1 hour'), answer(i) FROM generate_series(30, 34) AS i;
SELECT n, lease FROM generate_series(30, 33) AS n, take_check(n);
SELECT pass('2 min'), end_check(30, 1), state(30), kept(30), (SELECT count(*) FROM take_check(34)) AS taken;
SELECT n, status, result FROM reads(30);
SELECT * FROM form_page(30);
SELECT open_form(31), answer(32, result => 'new'), purge_results();
SELECT n, state(n), kept(n), unchecked FROM generate_series(30, 34) AS n, form_page(n) f ORDER BY n;
SELECT result FROM take_check(32);
-- One that is checked is in time until its time is over.
SELECT make(35, 'input', verify => '2 min', ttl => '1 hour'), answer(35), pass('1 min');
SELECT lease, minutes, end_check(35, lease) FROM take_check(35);
-- The time that is left, within a transaction, whose time stands still.
BEGIN;
SELECT make(36, 'input', verify => '2 min'), answer(36);
SELECT left_ms FROM urlmode.take_check(id(36), owner('ann'));
COMMIT;

-- What may be shown again goes at the end, whatever that is.
SELECT make(i, 'input', verify => '1 min'), pg_temp.check(i, 'problem', 1) FROM generate_series(40, 42) AS i;
SELECT make(43, 'input', 'sue', verify => '1 min'), answer(43, 'sue', subject => 'sue');
SELECT lease, end_check(43, lease, 'problem', subject => 'sue') FROM take_check(43, 'sue');
SELECT make(44, 'input', verify => '1 min'), answer(44), settle(44, 'cancel', reason => 'not_needed'), answer(40, action => 'decline'), settle(41, 'cancel', reason => 'not_needed');
SELECT make(45, 'input', 'sue', exclusive => true), answer(42);
SELECT lease, end_check(42, lease) FROM take_check(42);
SELECT n, state(n), kept(n) FROM generate_series(40, 44) AS n;
SELECT n, status, "from" FROM reads(41, 44);

-- An approval is decided by the starter, or by one of the named users, in no other spelling, or with an empty list by anybody
-- but the starter, in no spelling, where names are the same everywhere (four_eyes). The decision is an event.
SELECT make(50, 'approval'), make(51, 'approval', approvers => '["zoë", "ben"]'), make(52, 'approval', 'zoë-straße', approvers => '[]'), make(53, 'approval');
SELECT n, u AS "user", open_form(50, u, 'approval'), open_form(51, u, 'approval'), answer(51, u, 'approval', four_eyes => true)
FROM unnest(ARRAY['ann', 'none', 'eve', 'Ben', 'ZOË', E'zoe\u0308', E'b\u2060en']) WITH ORDINALITY AS u (u, n);
SELECT n, open_form(52, u, 'approval'), open_form(52, u, 'approval', browser => 'none', four_eyes => true),
	(SELECT f.outcome FROM form_page(52, u, 'approval', true, 'zoë-straße') f) AS page FROM unnest(ARRAY['zoë-straße', 'none',
	'ZOË-STRASSE', E'zoe\u0308-straße', 'ｚoë-straße', 'zoë-straẞe', 'zoë-straſSe', E'zoe\u200B\u0308-straße', E'zo\u00ADë-straße',
	E'zoë\U000E0101-straße', 'zoe-straße', 'anna']) WITH ORDINALITY AS u (u, n);
SELECT answer(50, 'none', 'approval'), answer(51, 'zoë', 'approval', 'decline', 'declined'), answer(51, 'ben', 'approval'),
	answer(52, 'anna', 'approval', subject => 'zoë-straße'), answer(52, 'anna', 'approval', four_eyes => true, subject => 'zoë-straße');
SELECT n, how, decided_by, kept_events(n), kept(n) FROM (VALUES (50, 'ann'), (51, 'ann'), (52, 'zoë-straße')) AS v (n, s),
	form_page(n, CASE n WHEN 50 THEN 'ann' ELSE 'ben' END, 'approval', true, s);
-- With four eyes the starter is none of the named users, in no spelling. A call can demand four eyes; then it is for nobody where names may differ.
SELECT make(55, 'approval', 'ada', approvers => '["Ada", "ada", "boss"]'), make(56, 'approval', 'ada', approvers => '{"approvers": ["ada", "boss"], "four_eyes": true}'),
	make(57, 'approval', 'ada', approvers => '{"approvers": [], "four_eyes": true}');
SELECT n, u AS "user", f AS four_eyes, open_form(n, u, 'approval', four_eyes => f), answer(n, u, 'approval', four_eyes => f, subject => 'ada')
FROM unnest(ARRAY[55, 56, 57]) AS n, unnest(ARRAY['none', 'ada', 'Ada', E'ad\u2800a', 'eve']) WITH ORDINALITY AS u (u, o), unnest(ARRAY[true, false]) WITH ORDINALITY AS f (f, p)
WHERE NOT (n = 55 AND NOT f) AND NOT (n = 57 AND u = 'eve') ORDER BY n, p, o;
SELECT answer(n, 'boss', 'approval', subject => 'ada'), answer(n, 'boss', 'approval', four_eyes => true, subject => 'ada') AS then FROM unnest(ARRAY[56, 57]) AS n;
-- Without four eyes names may differ, and are what the list says.
SELECT answer(55, 'Ada', 'approval', subject => 'ada');
SELECT make(58, 'approval', approvers => '{"approvers": ["boss"], "four_eyes": false}');
-- Nobody else accepts it: neither a webhook, nor a return, nor the MCP server, which may cancel it.
SELECT pay(53), complete(53, 'decline'), settle(53), state(53), settle(53, 'cancel', reason => 'not_needed');
SELECT make(54, 'input'), complete(54, 'decline'), event(54, 'failed'), settle(54), state(54);

-- What was typed is kept until its claim is final, and then is gone at once; or for a day. What was decided is kept until it is claimed.
SELECT make(60, 'input'), answer(60), mark_read(60, '0'), make(61, 'input'), answer(61), make(62, 'approval'), answer(62, kind => 'approval', action => 'decline'), mark_read(62, '0');
SELECT purge_results(), kept(60), kept(62);
SELECT outcome, kept(60), confirms('call', 60), kept(60) AS then FROM begins('call', 60);
SELECT pass('25 hours'), purge_results() > 0 AS some, kept(61), kept(62), claim(62, action => 'decline'), kept(62);
SELECT pass('11 min'), purge_results() > 0 AS some, kept(62);
