-- One call acts on an outcome: it claims it. A claim has two ends: the work is done, and the answer was written.

SELECT unclaimed, oldest_unclaimed_s FROM urlmode.measure();
-- claim has both at once. It takes an outcome once, for its owner, and only what the caller has read.
SELECT make(1), pay(1, 'p1'), claim(1, subject => 'eve'), claim(1, 'none'), claim(1, action => 'decline'), claim(1, 'p1'), claim(1), claim(1, 'p1'), payments(1), claim(9);
SELECT make(2, 'signature'), claim(2), settle(2, 'decline'), claim(2), claim(2, action => 'decline'), claim(2, action => 'decline');
-- A payment that was proved after the refusal which the caller has read stays for the next call.
SELECT make(3, key => 'k3'), settle(3, 'cancel'), pay(3, 'p3'), claim(3, action => 'cancel'), find('k3'), claim(3), find('k3');
-- Of several payments it claims the oldest that matches; one that does not match by its name, to refund it.
SELECT make(4), pay(4, 'p4'), pass('1 s'), pay(4, 'p4b', '1.00 EUR'), pass('1 s'), pay(4, 'a4'), claim(4), payments(4), claim(4), payments(4), claim(4), claim(4, 'p4b'), payments(4);
SELECT make(5), pay(5, 'p5', '1.00 EUR'), claim(5), claim(5, 'p5', 'cancel'), claim(5, 'p5'), claim(5, action => 'cancel');
-- A caller that knows it by its checkout claims it, also after it has its own name.
SELECT make(6, checkout => 'c6'), settle(6, price => '10.00 EUR', reference => 'c6'), pay(6, 'p6', checkout => 'c6'), claim(6, 'c6');

-- Each kind: the work is done once, and its result is given to each call until one confirms that its answer was written.
CREATE FUNCTION pg_temp.story(n integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	one record;
	listed CONSTANT text := format('SELECT CASE WHEN EXISTS (SELECT FROM test.unclaimed(of_one => %s)) THEN ''listed'' ELSE ''not listed'' END', n);
	said text;
BEGIN
	FOR one IN SELECT * FROM (VALUES ('a begins'), ('b begins'), ('a fulfils'), ('a releases'), ('a renews'), ('b begins'), ('b fulfils'), ('claim'), ('b confirms'), ('a confirms'), ('c begins')) AS s (step) LOOP
		EXECUTE format(CASE split_part(one.step, ' ', 2) WHEN 'begins' THEN 'SELECT concat_ws('' '', outcome, of, fulfilled, minutes) FROM test.begins(%L, %s)'
			WHEN '' THEN 'SELECT test.claim(%2$s)' ELSE 'SELECT test.' || split_part(one.step, ' ', 2) || '(%L, %s)' END, split_part(one.step, ' ', 1), n) INTO said;
		RETURN NEXT one.step || ': ' || said;
		EXECUTE listed INTO said;
		RETURN NEXT '  ' || said || ', resumed ' || coalesce(test.find('k' || n), '-');
	END LOOP;
END
$$;
SELECT make(10, key => 'k10'), pay(10, 'p10');
SELECT pg_temp.story(10);
SELECT make(11, 'signature', key => 'k11'), event(11, 'accepted');
SELECT pg_temp.story(11);

-- A lease that ends gives the work to the next call, with a greater number; the earlier call can do nothing any more, nor can anybody else.
SELECT make(20, key => 'k20'), pay(20, 'p20');
SELECT * FROM begins('a', 20);
SELECT pass('2 min'), renews('a', 20), payments(20), renews('a', 20, subject => 'eve'), fulfils('a', 20, subject => 'eve'), confirms('a', 20, subject => 'eve'), releases('a', 20, subject => 'eve'), pass('2 min'), (SELECT count(*) FROM unclaimed()) AS listed, payments(20);
SELECT * FROM begins('b', 20, subject => 'eve');
SELECT * FROM begins('b', 20, lease => '5 min');
SELECT * FROM begins('c', 20);
SELECT renews('a', 20), fulfils('a', 20), confirms('a', 20), releases('a', 20), fulfils('b', 20, NULL), fulfils('b', 20, 'first'), fulfils('b', 20, 'again'), payments(20);
SELECT * FROM begins('c', 20);
-- A call that has done its work after its lease is not done again, if no other has begun.
SELECT make(21), pay(21, 'p21');
SELECT * FROM begins('d', 21);
SELECT pass('2 min'), fulfils('d', 21), payments(21);
-- What was begun and not done is for the next call at once. Without fulfil, confirm alone is the last end.
SELECT make(23, key => 'k23'), pay(23, 'p23');
SELECT outcome, releases('e', 23), payments(23) FROM begins('e', 23);
SELECT outcome, is_greater, confirms('f', 23), confirms('f', 23), payments(23) FROM begins('f', 23);
-- What claim takes no call can end.
SELECT make(24), pay(24, 'p24');
SELECT outcome, claim(24), pass('2 min'), claim(24), fulfils('g', 24), confirms('g', 24) FROM begins('g', 24);
-- A clock that was set back gives no smaller number.
SELECT make(25), pay(25, 'p25'), pay(25, 'q25');
SELECT outcome, of FROM begins('h', 25);
UPDATE urlmode.lease SET fence = fence + 60000000000 WHERE elicitation = id(25);
UPDATE begun SET fence = fence + 60000000000 WHERE call = 'h';
SELECT outcome, of, is_greater, payments(25) FROM begins('i', 25);
-- Who has paid twice: two calls do the work of two payments; what is done is given before what is not.
SELECT outcome, of FROM begins('j', 25);
SELECT fulfils('i', 25);
SELECT outcome, of, fulfilled FROM begins('j', 25);
SELECT outcome, of FROM begins('j', 25, 'p25');
-- The row of a lease goes with the last end, and with it what is sealed.
SELECT confirms('i', 25);
SELECT count(*) FROM urlmode.lease WHERE elicitation = id(25);
-- A payment that gets its own name takes its lease with it.
SELECT make(26, checkout => 'c26'), settle(26, price => '10.00 EUR', reference => 'c26');
SELECT outcome, of FROM begins('k', 26);
SELECT pay(26, 'p26', checkout => 'c26'), renews('k', 26), fulfils('k', 26), confirms('k', 26), payments(26);

-- What is not an accept is not begun: it says so.
SELECT make(30), pay(30, 'p30'), pay(30, 'part', '1.00 EUR'), make(31), make(32), settle(32, 'cancel'), back(30, NULL, 'p30');
SELECT (begins('x', 30, 'none')).outcome, (begins('x', 30, 'part')).outcome, (begins('x', 30, 'p30')).outcome, (begins('x', 31)).outcome, (begins('x', 32)).outcome, (begins('x', 33)).outcome;

-- The claim of an account is final when it begins, and has an end for its page.
SELECT make(40, 'oauth', key => 'k40'), complete(40), exchange(40), exchanged(40);
SELECT how FROM page(40);
SELECT outcome, of, fence('acc') FROM begins('acc', 40);
SELECT exchange(40), exchange(40, 'eve'), exchanged(40, subject => 'eve'), find('k40'), (begins('x', 40)).outcome, how FROM page(40);
SELECT exchanged(40, 'access_denied'), exchanged(40), exchange(40), find('k40');
SELECT how FROM page(40);
SELECT make(41, 'oauth'), complete(41), exchanged(41);
SELECT outcome, exchanged(41), exchange(41) FROM begins('y', 41);
SELECT how FROM page(41);

-- unclaimed lists what was proved and not claimed, the oldest first, with what is needed to deliver or to refund it.
SELECT make(50, key => 'report', subject => 'liz', session => 's'), pay(50, 'p50'), pass('1 min'), pay(50, 'o50'), make(51, subject => 'liz', provider => 'other'), event(51, 'paid', '1.00 USD', 'p51', provider => 'other');
SELECT * FROM unclaimed() WHERE n >= 50;
SELECT n, reference FROM unclaimed('other');
SELECT n, reference FROM unclaimed(since => '30 s') WHERE n >= 50;
SELECT n, reference FROM unclaimed(of_one => 50);
SELECT proven_at < now(), provider_name, reference, amount, matches, late, refunded, held FROM urlmode.list_unclaimed('shop', now() - interval '2 min') WHERE n(elicitation) >= 50;
SELECT reference FROM urlmode.list_unclaimed(most => 1);
SELECT reference, amount FROM urlmode.list_paid('shop', now() - interval '10 s', now() + interval '1 s') ORDER BY reference;
SELECT reference FROM urlmode.list_paid('other', now() - interval '1 day', (SELECT proven_at FROM urlmode.payment WHERE reference = 'p51'));
SELECT pass('10 hours'), make(52), pay(52, 'p52');
SELECT unclaimed, oldest_unclaimed_s / 3600 AS hours, database_ms - extract(epoch FROM now()) * 1000 BETWEEN 0 AND 60000 AS now, queue_usage BETWEEN 0 AND 1 AS queue FROM urlmode.measure();
