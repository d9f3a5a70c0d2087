-- A recheck says what there is: payments, and what went back of them. It takes the way of signed events.

-- What is paid is an accept if it matches, and otherwise it is listed. Twice is once.
SELECT make(n), event(n, 'recheck', ref => 'p' || n), rechecks(n, ARRAY[p], max_age => NULL), state(n)
FROM (VALUES (1, 'p1 10.00 EUR paid 1'), (2, 'p2 20.00 EUR paid 2'), (3, 'p3 10.00 USD paid 3'), (4, 'p4 10.00 EUR processing 4'),
	(5, 'p5 10.00 EUR failed 5'), (6, 'p6 10.00 EUR cancelled 6')) AS x (n, p);
SELECT * FROM unclaimed();
SELECT n, outcome, result, rechecks FROM reads(1, 2, 3, 4, 5, 6);
SELECT rechecks(1), rechecks(1, ARRAY['p1 10.00 EUR paid 1', 'p1 10.00 EUR paid 1']), payments(1);
SELECT rechecks(4, ARRAY['p4 10.00 EUR paid 4']), state(4), rechecks(5, ARRAY['p5 10.00 EUR failed 5', 'p5b 10.00 EUR paid 5']), state(5), payments(5);
-- Each event shows what the recheck has said.
SELECT kept_events(4);

-- Where another payment goes on, one that failed was an attempt. The first that matches is the accept, and the next one is listed.
SELECT make(10), event(10, 'recheck'), rechecks(10, ARRAY['a 10.00 EUR failed 10', 'b 10.00 EUR processing 10']), state(10), rechecks(10, ARRAY['a 10.00 EUR failed 10', 'b 10.00 EUR failed 10']), state(10);
SELECT make(11), event(11, 'recheck'), rechecks(11, ARRAY['z 10.00 EUR cancelled 11', 'y 10.00 EUR paid 11', 'x 10.00 EUR paid 11', 'w 1.00 EUR paid 11']), state(11), payments(11);

-- An entry that names neither this elicitation nor its checkout, or another one, is not recorded.
SELECT make(20), event(20, 'recheck'), make(21, checkout => 'c21'), event(21, 'recheck');
SELECT rechecks(20, ARRAY['f1 10.00 EUR paid', 'f2 10.00 EUR paid 21', 'f3 10.00 EUR paid  c20', 'f4 10.00 EUR paid 21 c20']), payments(20), state(20);
SELECT rechecks(21, ARRAY['g1 10.00 EUR paid 21 c20', 'g2 10.00 EUR paid 20 c21', 'g3 10.00 EUR paid  c20', 'g4 10.00 EUR paid']), payments(21), state(21);
SELECT rechecks(20, ARRAY['f5 10.00 EUR paid 20 c20']), payments(20), rechecks(21, ARRAY['g5 10.00 EUR paid  c21', 'g6 10.00 EUR paid 21']), payments(21);
-- A reference that has paid for another elicitation pays for no second one.
SELECT make(22), event(22, 'recheck'), rechecks(22, ARRAY['f5 10.00 EUR paid 22']), payments(22), state(22), unclaimed.n FROM unclaimed(of_one => 20) AS unclaimed;

-- What went back before the claim: nobody delivers. What is under way counts, what failed has come again.
SELECT make(30), event(30, 'recheck'), rechecks(30, ARRAY['p30 10.00 EUR paid 30']), rechecks(30, ARRAY['p30 10.00 EUR paid 30'], ARRAY['r30 p30 10.00 EUR paid']), claim(30), payments(30);
SELECT make(31), event(31, 'recheck'), rechecks(31, ARRAY['p31 10.00 EUR paid 31'], ARRAY['r31 p31 4.00 EUR processing']), payments(31), rechecks(31, '{}', ARRAY['r31 p31 4.00 EUR failed']), payments(31), claim(31);
SELECT n, reference, amount, reversed, payment, refunded FROM refunds();
-- Of a payment that is not in the answer, if it was recorded for this elicitation; of another one's payment never, whoever it names.
SELECT make(32), event(32, 'recheck'), rechecks(32, '{}', ARRAY['r32 p30 10.00 EUR paid 32', 'r33 p1 10.00 EUR paid', 'r34 nobody 10.00 EUR paid', 'r35 p1 1.00 EUR paid 1', 'r36 mine 10.00 EUR paid 32']), payments(1);
SELECT n, reference, payment FROM refunds(of_one => 32);

-- What was paid, and is not any more, such as a debit that the bank returned, went back: nobody delivers. Paid again, it has come again.
SELECT make(33), event(33, 'recheck'), rechecks(33, ARRAY['p33 10.00 EUR paid 33']), rechecks(33, ARRAY['p33 10.00 EUR failed 33']), claim(33), payments(33),
	rechecks(33, ARRAY['p33 10.00 EUR failed 33']), rechecks(33, ARRAY['p33 10.00 EUR paid 33']), claim(33), payments(33);
-- Also if the same payment had failed before it was paid.
SELECT make(34), event(34, 'recheck'), rechecks(34, ARRAY['p34 10.00 EUR failed 34', 'q34 10.00 EUR processing 34']), rechecks(34, ARRAY['p34 10.00 EUR paid 34']),
	rechecks(34, ARRAY['p34 10.00 EUR failed 34']), claim(34), payments(34);
SELECT n, reference, amount, reversed, payment FROM refunds() WHERE n IN (33, 34) ORDER BY n;
-- Two long references that differ in their last character alone went back each by itself.
SELECT make(n), event(n, 'recheck') IS NOT NULL AS told, rechecks(n, ARRAY[format('%s%s 10.00 EUR paid %s', repeat('p', 199), n - 80, n)]) IS NOT NULL AS paid, rechecks(n, ARRAY[format('%s%s 10.00 EUR failed %s', repeat('p', 199), n - 80, n)]) IS NOT NULL AS failed FROM generate_series(81, 82) AS n;
SELECT n, amount, right(payment, 7) AS payment FROM refunds() WHERE n IN (81, 82) ORDER BY n;

-- It is asked again on each event after the accept, and before a claim if the last answer is older.
SELECT make(40), event(40, 'recheck'), rechecks(40, ARRAY['p40 10.00 EUR paid 40']), rechecks(40, max_age => NULL), rechecks(40, max_age => '1 min'), event(40, 'recheck', type => 'refund'), rechecks(40, ARRAY['p40 10.00 EUR paid 40'], max_age => NULL);
SELECT pass('61 s'), rechecks(40, max_age => '1 min'), rechecks(40, max_age => '1 min'), rechecks(40, max_age => NULL);
SELECT make(41), pay(41, 'p41'), pass('1 hour'), rechecks(41, max_age => '1 min');
-- Then a claim does not begin, unless its caller cannot ask. Where no event has ever asked, it begins.
SELECT make(44), event(44, 'recheck'), rechecks(44, ARRAY['p44 10.00 EUR paid 44']), pass('61 s'), make(45), pay(45, 'p45'), pass('1 hour');
SELECT 'old', outcome, minutes FROM begins('c44', 44, max_age => '1 min');
SELECT 'busy', b.lease IS NOT NULL FROM urlmode.begin_recheck(id(44), owner('ann'), 60000, 60000) b;
SELECT 'busy', outcome, minutes FROM begins('c44', 44, max_age => '1 min');
SELECT end_recheck(44, 2, 1);
SELECT 'answered', outcome, of FROM begins('c44', 44, max_age => '1 min');
SELECT releases('c44', 44), event(44, 'recheck');
SELECT 'an event', outcome FROM begins('c44', 44, max_age => '1 min');
SELECT 'cannot ask', outcome FROM begins('c44', 44);
SELECT 'another call', outcome FROM begins('d44', 44, max_age => '0');
SELECT 'none ever', outcome FROM begins('c45', 45, max_age => '0');
-- Nor does a claim with both ends at once.
SELECT make(46), event(46, 'recheck'), rechecks(46, ARRAY['p46 10.00 EUR paid 46']), claim(46, max_age => '1 min', subject => 'bob'), pass('61 s');
SELECT 'old', claim(46, max_age => '1 min') UNION ALL SELECT 'a refusal', claim(46, action => 'cancel', max_age => '1 min');
SELECT 'busy', b.lease IS NOT NULL FROM urlmode.begin_recheck(id(46), owner('ann'), 60000, 60000) b;
SELECT 'busy', claim(46, max_age => '1 min') UNION ALL SELECT 'and when it has failed', claim(46, max_age => '1 min') FROM end_recheck(46, 2, 1, failed => true);
SELECT rechecks(46, ARRAY['p46 10.00 EUR paid 46'], max_age => '0') FROM pass('2 s');
SELECT 'answered', claim(46, max_age => '1 min') UNION ALL SELECT 'taken', claim(46, max_age => '0');
SELECT make(47), event(47, 'recheck'), rechecks(47, ARRAY['p47 10.00 EUR paid 47']), pass('61 s'), 'cannot ask', claim(47), make(48), pay(48, 'p48'), 'none ever', claim(48, max_age => '0');
-- Of an account or a signature that has ended nothing is asked.
SELECT make(42, 'signature'), event(42, 'recheck'), settle(42), rechecks(42);
-- After a failure it waits.
SELECT make(43), event(43, 'recheck');
SELECT lease, end_recheck(43, lease, rechecks, failed => true) FROM take_recheck(43);
SELECT rechecks(43), rechecks(43, subject => 'bob'), pass('2 s'), rechecks(43);

-- What nobody waits for and no call claims is begun by any server that can ask these providers, the oldest first.
SELECT n FROM due_rechecks('shop', 'other');
SELECT make(50), event(50, 'recheck', ref => 'p50', type => 'paid'), make(51), event(51, 'recheck'), make(52, 'signature'), event(52, 'recheck'), settle(52), make(53), pay(53, 'p53');
SELECT * FROM due_rechecks('other') UNION ALL SELECT * FROM due_rechecks('shop');
SELECT n FROM due_rechecks();
-- After the delivery, too. Not while another instance asks, and after a failure later, and after others.
SELECT event(51, 'recheck'), rechecks(50, ARRAY['p50 10.00 EUR paid 50']) AS first, rechecks(50, ARRAY['p50 10.00 EUR paid 50'], max_age => '0') AS again, event(50, 'recheck', type => 'paid again');
SELECT rechecks(50, ARRAY['p50 10.00 EUR paid 50']), claim(50), event(50, 'recheck', type => 'refund'), make(54), event(54, 'recheck');
SELECT lease FROM take_recheck(51);
SELECT n, event_type FROM due_rechecks();
SELECT end_recheck(51, 2, 2, failed => true), event(54, 'recheck'), pass('2 s');
SELECT n FROM due_rechecks();
SELECT event(50, 'recheck'), rechecks(50, '{}', ARRAY['r50 p50 10.00 EUR paid'], max_age => NULL), payments(50);

-- What is not valid is refused, and named.
CREATE FUNCTION pg_temp.refused(payments jsonb, refunds jsonb DEFAULT '[]') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM urlmode.answer_recheck(id(43), owner('ann'), 1, 1, payments, refunds);
	RETURN 'accepted';
EXCEPTION WHEN invalid_parameter_value THEN
	RETURN SQLERRM;
END
$$;
SELECT pg_temp.refused(p::jsonb) FROM unnest(ARRAY['{}', '[1]', '[{}]', '[{"reference": "a", "amount": -1}]', '[{"reference": "a", "amount": 1.5}]', '[{"reference": "a", "amount": 1, "currency": "eur"}]',
	'[{"reference": "a", "amount": 1, "currency": "EUR", "status": "done"}]', '[{"reference": "a", "amount": 1, "currency": "EUR", "status": "paid", "checkout": 1}]',
	'[{"reference": "a", "amount": 1, "currency": "EUR", "status": "paid", "elicitation_id": 1}]', '[{"reference": "a", "amount": 1, "currency": "EUR", "status": "paid"}]',
	'[{"reference": "a", "amount": 1, "currency": "EUR", "status": "paid", "result": "a"}]', '[{"reference": "a", "amount": 1, "currency": "EUR", "status": "paid", "result": "YQ=="}]']) AS p;
SELECT pg_temp.refused('[]', r::jsonb) FROM unnest(ARRAY['null', '[{"reference": "a", "amount": 1, "status": "paid"}]', '[{"reference": "a", "payment": "p", "status": "paid"}]', '[]']) AS r;
