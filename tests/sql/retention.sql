-- What is over is deleted after ninety days; what may still happen, and what was paid and not claimed, never is. Results are
-- purged before: when they were read or claimed, or else after some time.

-- When each of these goes: after so many days.
CREATE FUNCTION pg_temp.days() RETURNS TABLE (days integer, gone text) LANGUAGE plpgsql AS $$
DECLARE
	passed integer := 0;
	there CONSTANT integer[] := ARRAY(SELECT test.n(e.id) FROM urlmode.elicitation e ORDER BY e.id);
BEGIN
	FOREACH days IN ARRAY ARRAY[89, 91, 119, 121, 454, 456, 3000] LOOP
		PERFORM test.pass((days - passed) * interval '1 day');
		passed := days;
		PERFORM test.purge();
		gone := (SELECT string_agg(i::text, ' ') FROM unnest(there) AS i WHERE NOT EXISTS (SELECT FROM urlmode.elicitation e WHERE e.id = test.id(i)));
		RETURN NEXT;
	END LOOP;
END
$$;
-- 1 an account that was connected, 2 that nobody has opened, 3 that was opened, 4 that lives for a year
SELECT make(1, 'oauth', ttl => '1 min'), complete(1), make(2, 'oauth', ttl => '1 min'), make(3, 'oauth', ttl => '1 min'), open(3), make(4, 'oauth', ttl => '365 days');
-- 10 a payment that was claimed, 11 that nobody has made, 12 whose provider may take a year, 13 that was not claimed, 14 of another amount,
-- 15 that went back, 16 that was declined, 17 that is processing
SELECT make(i, ttl => '1 min') FROM generate_series(10, 17) AS i;
SELECT pay(10, 'p10'), claim(10), open(12, grace => '365 days'), pay(13, 'p13'), pay(14, 'p14', '1.00 EUR'), pay(15, 'p15'), back(15, '10.00 EUR', 'p15'), complete(16, 'decline'), event(17, 'processing');
-- 21 documents that were signed, 22 for a later call, 23 which has taken them, 24 that were declined, 25 under a claim, 26 never signed
SELECT make(20 + i::integer, 'signature', key => k, ttl => '1 min') FROM unnest(ARRAY[NULL, 'a', 'b', 'c', NULL, 'd']) WITH ORDINALITY AS k (k, i);
SELECT settle(21), settle(22), settle(23), settle(24, 'decline'), settle(25), claim(23);
SELECT outcome, fulfils('call', 25) FROM begins('call', 25);
-- 30 an input that was answered, 31 an approval that was decided, 32 for a later call, 33 which has taken it, 34 denied
SELECT make(30, 'input', ttl => '1 min'), answer(30), make(31, 'approval', ttl => '1 min'), answer(31, kind => 'approval'), make(32, 'approval', ttl => '1 min', key => 'x'), answer(32, kind => 'approval'),
	make(33, 'approval', ttl => '1 min', key => 'y'), answer(33, kind => 'approval'), claim(33), make(34, 'approval', ttl => '1 min', key => 'z'), answer(34, kind => 'approval', action => 'decline');
SELECT * FROM pg_temp.days();
SELECT n, state(n), payments(n) FROM generate_series(1, 34) AS n WHERE state(n) IS NOT NULL ORDER BY n;
-- Their events, and the claims, have gone with them.
SELECT count(*) FROM urlmode.event WHERE elicitation NOT IN (SELECT id FROM urlmode.elicitation);
SELECT count(*) FROM urlmode.lease;
-- Which cannot be deleted by hand either as long as it is not claimed.
DELETE FROM urlmode.elicitation WHERE id = id(13);
-- What is claimed, or goes back, after years stays for ninety days more.
SELECT claim(13), back(14, NULL, 'p14'), pass('89 days'), purge(), state(13), state(14);
SELECT pass('2 days'), purge(), state(13), state(14);
SELECT make(39), pay(39, 'p39'), claim(39), pass('119 days'), back(39, NULL, 'p39'), pass('88 days'), purge(), state(39), pass('3 days'), purge(), state(39);

-- A payment that waits for a recheck stays while the next call may go on with it: for thirty days after its end.
SELECT make(40, ttl => '1 min'), event(40, 'recheck'), open(40, grace => '20 days'), make(41, ttl => '1 min'), event(41, 'recheck'), settle(41, 'cancel'), make(42, ttl => '1 min'), event(42, 'recheck'), end_recheck(42, 1, 1);
SELECT pass('39 days'), purge('7 days'), state(40), state(41), state(42);
SELECT pass('10 days'), purge('7 days'), state(40);
SELECT pass('2 days'), purge('7 days'), state(40);

-- Of a payment whose elicitation is gone stay its reference, amount and times, but no result. The same webhook is unknown and
-- changes nothing; its reference pays for no other elicitation; its id is not created again; the next call asks anew.
SELECT make(50, key => 'k'), pay(50, 'p50'), claim(50), pass('121 days'), purge(), state(50), payments(50), kept(50);
SELECT pay(50, 'p50'), (SELECT count(*) FROM list_unknown()), make(51), pay(51, 'p50'), settle(51, price => '10.00 EUR', reference => 'p50'), state(51), payments(51);
SELECT make(50);
SELECT make(52, key => 'k');

-- It deletes batch by batch, in the order of their expiry, also where all expired at the same time, and leaves the rest. When it has been
-- through all, it begins anew, an hour later at the earliest.
SELECT make(60 + i), CASE WHEN i IN (2, 3, 5) THEN pay(60 + i, 'p' || 60 + i) END FROM generate_series(1, 6) AS i;
SELECT pass('200 days');
SELECT urlmode.purge(kind => 'payment', batch => 1), urlmode.purge(kind => 'payment', batch => 2), urlmode.purge(kind => 'payment', batch => 1);
SELECT string_agg(n::text, ' ') FROM generate_series(61, 66) AS n WHERE state(n) IS NOT NULL;
SELECT urlmode.purge(kind => 'payment', batch => 1);
SELECT claim(62), claim(63), claim(65), make(67, ttl => '-200 days'), pass('50 min'), purge(kind => 'payment');
SELECT pass('20 min'), purge(kind => 'payment'), state(67);
SELECT pass('91 days'), purge(kind => 'payment', batch => 2);
SELECT make(70 + i, ttl => '1 min'), CASE WHEN i IN (1, 4) THEN pay(70 + i, 'p' || 70 + i) END FROM generate_series(1, 5) AS i;
UPDATE urlmode.elicitation SET expires_at = now() - interval '200 days';
SELECT pass('2 hours'), purge(kind => 'payment', batch => 1);
SELECT string_agg(n::text, ' ') FROM generate_series(71, 75) AS n WHERE state(n) IS NOT NULL;

-- Kind by kind.
SELECT make(80, 'oauth'), make(81), make(82, 'signature'), make(83, 'input'), make(84, 'approval'), pass('200 days');
SELECT kind, purge(kind => kind), concat_ws(' ', state(80), state(81), state(82), state(83), state(84)) AS left
FROM unnest(ARRAY['payment', 'stored', 'oauth', 'approval', 'input', 'signature']) AS kind;
-- Nothing younger than seven days, no other kind, and no batch of nothing.
SELECT urlmode.purge(604799999);
SELECT urlmode.purge(NULL);
SELECT urlmode.purge(batch => 0);
SELECT urlmode.purge(batch => 100001);
SELECT urlmode.purge(batch => NULL);
SELECT urlmode.purge(kind => 'elicitation');
SELECT urlmode.purge_results(604799999);
SELECT urlmode.purge_results(NULL);
SELECT urlmode.purge_results(604800000), urlmode.purge(9223372036854775807, batch => 100000), urlmode.purge(604800000, batch => 1) >= 0 AS seven_days;

-- What was read is purged ten minutes later, a day after its end at the latest; what a call may still be given is not.
SELECT make(90, 'oauth'), complete(90), make(91, 'oauth'), complete(91), make(92), pay(92, 'p92'), make(93, 'signature'), event(93, 'accepted'), make(94, 'oauth'), make(95, 'signature'), settle(95, 'decline'), make(96, 'oauth'), complete(96);
SELECT mark_read(90), mark_read(92), mark_read(93), mark_read(94), mark_read(95), mark_read(96, subject => 'eve'), pass('9 min'), purge_results(), kept(90);
SELECT pass('2 min'), purge_results(), kept(90), kept(91), kept(92), kept(93), kept(94), kept(95), kept(96);
SELECT pass('25 hours'), purge_results() > 0, kept(91), kept(92), kept(93), kept(94), kept(96);
-- Ten minutes after their claim they go as well. For a retried call they stay until then.
SELECT claim(92), claim(93), pass('9 min'), purge_results(), kept(92), kept(93), pass('2 min'), purge_results(), kept(92), kept(93);
-- What nobody claims is kept for thirty days, or as long as the MCP server says; the operator's purge never takes it.
SELECT make(100), pay(100, 'p100'), make(101, 'signature'), event(101, 'accepted'), make(103, 'approval'), answer(103, kind => 'approval', action => 'decline'), pass('29 days'), purge_results() > 0, kept(100), kept(101), kept(103);
SELECT pass('2 days'), purge_results(), kept(100), kept(101), kept(103);
SELECT * FROM unclaimed(of_one => 100);
SELECT make(104), pay(104, 'p104'), pass('8 days'), purge_results('9 days'), kept(104), purge_results('7 days'), kept(104);
SELECT make(108), pay(108, 'p108'), pass('400 days'), purge(kind => 'result'), kept(108);
-- What went back goes a day later.
SELECT make(105), pay(105, 'p105'), back(105, '10.00 EUR', 'p105'), pass('23 hours'), purge_results(), kept(105), pass('2 hours'), purge_results(), kept(105);
-- What was fulfilled and never confirmed is kept for thirty days. Then the claim of a signature ends.
SELECT make(106), pay(106, 'p106'), make(107, 'signature', key => 'k107'), event(107, 'accepted');
SELECT a.outcome, b.outcome, fulfils('a', 106), fulfils('b', 107) FROM begins('a', 106) a, begins('b', 107) b;
SELECT pass('29 days'), purge_results() > 0, payments(106), find('k107'), kept(106), kept(107);
SELECT pass('2 days'), purge_results(), payments(106), find('k107'), claim(107), kept(106), kept(107);
-- The entry of a payment stays: it is not purged, and the next call does the work again.
SELECT n, reference, flags FROM undelivered();
SELECT pass('400 days'), purge(), n, reference, claim(106) FROM undelivered();
SELECT outcome, of, fulfilled FROM begins('c', 106);
SELECT fulfils('c', 106), confirms('c', 106), payments(106);

-- Autovacuum locks no table to cut off its end.
SELECT relname FROM pg_class WHERE relnamespace = 'urlmode'::regnamespace AND relkind = 'r' AND NOT coalesce(reloptions, '{}') @> '{vacuum_truncate=off}';
