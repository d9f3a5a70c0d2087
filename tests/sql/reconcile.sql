-- What a provider has, beside what is here. Nothing is changed.
SELECT make(1), pay(1, 'p1'), make(2), pay(2, 'p2'), make(3, checkout => 'c3'), make(4), pay(4, 'p4'), make(5), pay(5, 'p5', '20.00 EUR');

-- Both have the same.
SELECT * FROM reconciles(ARRAY['p1 10.00 EUR paid 1', 'p2 10.00 EUR paid', 'p4 10.00 EUR paid 4', 'p5 20.00 EUR paid 5']);
-- What is missing here names an elicitation or a checkout of ours; what nobody has paid is not missing, and what others have sold is theirs.
SELECT * FROM reconciles(ARRAY['p1 10.00 EUR paid 1', 'p2 10.00 EUR paid 2', 'p4 10.00 EUR paid 4', 'p5 20.00 EUR paid 5',
	'x3 10.00 EUR paid  c3', 'y3 10.00 EUR paid 3', 'z3 10.00 EUR processing 3', 'foreign 10.00 EUR paid', 'other 10.00 EUR paid 99', 'theirs 10.00 EUR paid  c99']);
-- Other amounts, and another elicitation; what is here alone, also where the provider says that it was never paid.
SELECT * FROM reconciles(ARRAY['p1 10.50 EUR paid 1', 'p2 10.00 USD paid 2', 'p4 10.00 EUR paid 1', 'p5 20.00 EUR failed 5']);
SELECT * FROM reconciles(since => '-1 hour');

-- What went back.
SELECT event(1, 'refunded', '4.00 EUR', 'p1', 'r1'), event(2, 'refunded', '10.00 EUR', 'p2', 'r2'), event(2, 'refund_reversed', '10.00 EUR', 'p2', 'r2'), event(4, 'refunded', '3.00 EUR', 'p4');
SELECT what, reference, payment, n, here, there FROM reconciles(ARRAY['p1 10.00 EUR paid', 'p2 10.00 EUR paid', 'p4 10.00 EUR paid', 'p5 20.00 EUR paid'],
	ARRAY['r1 p1 4.00 EUR paid', 'r2 p2 10.00 EUR failed', 'a4 p4 1.00 EUR paid', 'b4 p4 2.00 EUR processing', 'f1 foreign 1.00 EUR paid']);
SELECT what, kind, reference, payment, n, here, there FROM reconciles(ARRAY['p1 10.00 EUR paid', 'p2 10.00 EUR paid', 'p4 10.00 EUR paid', 'p5 20.00 EUR paid'],
	ARRAY['r1 p1 5.00 EUR paid', 's1 p1 1.00 EUR paid', 'r2 p2 10.00 EUR paid', 'a4 p4 1.00 EUR paid', 'r5 p5 20.00 EUR cancelled']);
SELECT what, reference, n, here, there FROM reconciles(ARRAY['p1 10.00 EUR paid', 'p2 10.00 EUR paid', 'p4 10.00 EUR paid', 'p5 20.00 EUR paid']);

-- Another tenant's payments are not ours.
SELECT * FROM reconciles(ARRAY['p1 10.00 EUR paid 1', 'x3 10.00 EUR paid  c3'], tenant => 'other');

-- Of many payments it reads those of the time and of the lists.
CREATE FUNCTION pg_temp.rows_read() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT sum(x.seq_tup_read + coalesce(x.idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables x WHERE x.schemaname = 'urlmode'
$$;
INSERT INTO urlmode.payment (provider, reference, elicitation, amount, currency, matches, late, proven_at)
SELECT 'shop', 'old' || i, id(10000 + i), 1000, 'EUR', true, false, now() - interval '100 days' FROM generate_series(1, 3000) AS i;
ANALYZE urlmode.payment;
DISCARD PLANS;
BEGIN;
SELECT r.what, r.reference, pg_temp.rows_read() - b.before < 300 AS reads_few FROM (SELECT pg_temp.rows_read() AS before OFFSET 0) b
CROSS JOIN LATERAL reconciles(ARRAY['p1 10.00 EUR paid', 'p2 10.00 EUR paid', 'old7 9.00 EUR paid'], ARRAY['r1 p1 4.00 EUR paid', 'x8 old8 1.00 EUR paid']) r ORDER BY r.what, r.reference;
COMMIT;

-- What was paid, and is not any more, is so here as well as soon as a recheck has learned it.
SELECT make(6), event(6, 'recheck'), rechecks(6, ARRAY['p6 10.00 EUR paid 6']);
SELECT what, kind, reference, n, here, there FROM reconciles(ARRAY['p6 10.00 EUR failed 6']) WHERE payment = 'p6';
SELECT rechecks(6, ARRAY['p6 10.00 EUR failed 6']), payments(6);
SELECT what, kind, reference, n, here, there FROM reconciles(ARRAY['p6 10.00 EUR failed 6']) WHERE payment = 'p6';
SELECT what, kind, reference, n, here, there FROM reconciles(ARRAY['p6 10.00 EUR paid 6']) WHERE payment = 'p6';

-- A payment with two names is listed by either, and so is what went back of it.
SELECT make(7), pay(7, 'in_7'), event(NULL, 'named', ref => 'in_7', details => '{"also": "pi_7"}'), event(NULL, 'refunded', '4.00 EUR', 'pi_7', 'r7');
SELECT what, kind, reference, n, here, there FROM reconciles(ARRAY['pi_7 10.00 EUR paid 7'], ARRAY['r7 pi_7 4.00 EUR paid']) WHERE payment IN ('in_7', 'pi_7');
SELECT what, kind, reference, n, here, there FROM reconciles(ARRAY['pi_7 9.00 EUR paid 7', 'in_7 9.00 EUR paid'], ARRAY['r7 in_7 5.00 EUR paid', 's7 pi_7 1.00 EUR paid']) WHERE payment IN ('in_7', 'pi_7');
-- A renewal may repeat the elicitation that has opened its subscription, and is told by that.
SELECT make(8, item => 'pro');
UPDATE urlmode.elicitation SET expected = expected || '{"subscription": true}' WHERE id = id(8);
CREATE FUNCTION pg_temp.sub(at interval) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('subscription', jsonb_build_object('id', 's8', 'at_ms', (extract(epoch FROM now() + at) * 1000)::bigint))
$$;
SELECT event(8, 'paid', '10.00 EUR', 'p8', details => pg_temp.sub('0')), event(8, 'renewed', '10.00 EUR', 'q8', details => pg_temp.sub('1 day')), event(NULL, 'renewed', '10.00 EUR', 'r8', details => pg_temp.sub('2 days'));
SELECT what, reference, n, here, there FROM reconciles(ARRAY['p8 10.00 EUR paid 8', 'q8 10.00 EUR paid 8']) WHERE payment IN ('p8', 'q8', 'r8');
SELECT what, reference, n, here, there FROM reconciles(ARRAY['p8 10.00 EUR paid 8', 'q8 9.00 EUR paid 8', 'r8 10.00 EUR paid 1']) WHERE payment IN ('p8', 'q8', 'r8');
SELECT reference, n(elicitation) FROM urlmode.list_paid('shop', now() - interval '1 hour', now() + interval '1 minute') WHERE reference IN ('q8', 'r8');
-- A checkout that has cost nothing has no payment there.
SELECT make(9, price => 'whatever', checkout => 'c9'), event(9, 'paid', '0.00 EUR', checkout => 'c9', details => '{"checkout_paid": true}');
SELECT what, reference FROM reconciles() WHERE payment = 'c9';
