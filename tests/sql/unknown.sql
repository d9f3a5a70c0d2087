-- Money for an elicitation that nobody knows is kept for thirty days, and a later event or elicitation finds it.

LISTEN urlmode;

-- A payment that came before its row pays for it, with what went back of it since; once.
SELECT pay(1, 'p1', identity => 'e1'), pay(1, 'p1', identity => 'e1'), back(1, '1.00 EUR', 'p1', 'r1');
SELECT * FROM list_unknown();
SELECT make(1, key => 'k1'), payments(1), pay(1, 'p1', identity => 'e1'), find('k1');
SELECT * FROM list_unknown();
-- One of another price or provider does not; of another owner it does.
SELECT pay(2, 'p2', '9.00 EUR'), pay(3, 'p3', provider => 'other'), make(2), make(3), state(2), state(3);
SELECT * FROM list_unknown();
SELECT * FROM list_unknown('shop');
-- What went back before its payment, and names it alone or another elicitation, counts when it is proved: by a webhook or the server. What
-- is not proved yet stays, since the same time.
SELECT back(NULL, '1.00 EUR', 'p4', 'r4'), back(99, '1.00 EUR', 'p4', 's4'), back(NULL, '1.00 EUR', 'p5', 'r5'), make(6), pay(6, 'p6'), payments(6);
SELECT effect, n, reference, amount FROM list_unknown('shop');
SELECT pass('1 day'), make(4), pay(4, 'p4'), payments(4), make(5), settle(5, price => '10.00 EUR', reference => 'p5'), payments(5), back(99, '1.00 EUR', 'p4', 't4'), payments(4);
SELECT count(*) FROM list_unknown('shop');
-- It is also found by the checkout of an elicitation that is created, or paid, and by a payment that gets its own name.
SELECT back(NULL, '1.00 EUR', 'c7', 'r7'), back(98, '1.00 EUR', 'c7', 's7'), make(7, checkout => 'c7'), pay(7, 'p7', checkout => 'c7'), payments(7), make(8), back(NULL, '1.00 EUR', 'c8', 'r8'), pay(8, 'p8', checkout => 'c8'), payments(8);
SELECT back(98, '1.00 EUR', 'c7', 'u7'), payments(7), (SELECT string_agg(reference, ' ' ORDER BY reference) FROM refunds(of_one => 7)) AS before;
SELECT make(9, checkout => 'c9'), settle(9, price => '10.00 EUR', reference => 'c9'), back(NULL, '5.00 EUR', 'p9', 'r9'), payments(9), pay(9, 'p9', checkout => 'c9'), payments(9);
SELECT count(*) FROM list_unknown('shop');
-- With its details, which are given back with it.
SELECT event(NULL, 'refunded', '1.00 EUR', 'p14', 'r14', details => '{"state": "pending", "occurred_at": 1700000000}');
SELECT details FROM urlmode.unknown_event WHERE reference = 'p14';
-- In the order in which they came.
SELECT again(10, '1.00 EUR', 'p10'), back(10, '1.00 EUR', 'p10'), pay(10, 'p10'), make(10), payments(10), kept_events(10);
-- In a batch of elicitations, each takes its own.
SELECT pay(11, 'p11'), pay(12, 'p12');
SELECT outcome FROM makes('[{"n": 12}, {"n": 13}]');
SELECT state(12), state(13);
SELECT n FROM list_unknown('shop');

-- What came while its row was written is found by the next purge.
SELECT make(20), make(21, checkout => 'c21'), make(22), pay(22, 'p22');
INSERT INTO urlmode.unknown_event (provider, identity, type, effect, elicitation, reference, refund, amount, currency, result)
VALUES ('shop', 'u1', 't', 'paid', id(20), 'p20', NULL, 1000, 'EUR', 'result'), ('shop', 'u2', 't', 'refunded', NULL, 'c21', 'r21', 100, 'EUR', NULL),
	('shop', 'u3', 't', 'refunded', id(97), 'p22', 'r22', 100, 'EUR', NULL), ('other', 'u4', 't', 'refunded', NULL, 'c21', 'r', 100, 'EUR', NULL), ('other', 'u5', 't', 'paid', id(20), 'p', NULL, 1000, 'EUR', 'result'),
	('shop', 'u6', 't', 'paid', id(96), 'p22', NULL, 1000, 'EUR', 'result'), ('shop', 'u7', 't', 'refunded', id(95), 'c21', 'r23', 100, 'EUR', NULL);
SELECT urlmode.purge_results(), payments(20), payments(22), urlmode.purge_results();
SELECT * FROM unclear(21);
SELECT identity FROM list_unknown(most => 1000) ORDER BY identity;

-- What proves nothing is not kept: without an elicitation, an amount, a currency or a result; nor what has paid before, for an elicitation that was deleted.
SELECT event(50, e, '10.00 EUR', 'x') FROM unnest(ARRAY['failed', 'other_mode', 'other_account', 'recheck', 'ignore', 'cancelled', 'expired', 'processing', 'attempt_failed']) AS e;
SELECT pay(50, 'x', NULL), pay(50, 'x', '10.00'), pay(50, 'x', result => 'none'), pay(NULL, 'x'), event(NULL, 'refunded', '1.00 EUR'), event(NULL, 'refunded', '1.00 EUR', ''), event(50, 'refunded', '1.00 EUR'), make(51), pay(51, 'p51'), claim(51), make(52), pay(52), claim(52);
DELETE FROM urlmode.elicitation WHERE id IN (id(51), id(52));
SELECT pay(51, 'p51'), pay(52), pay(52, '');
SELECT n, effect, reference, amount FROM list_unknown('shop') WHERE n >= 50 AND n < 90;
SELECT back(50, '-1.00 EUR', 'x', 'y');

-- Of each provider the last thousand payments are kept, for thirty days; the oldest go first. What went back is kept for as long, however much it is:
-- of others' payments, it must not take the place of ours.
-- The statistics are those of a table that was full, and is empty: each row is read a few times nevertheless.
INSERT INTO urlmode.unknown_event (provider, identity, type, effect, elicitation, amount, currency, received_at)
SELECT p, e || i, 't', e, id(i), 1, 'EUR', now() - i * interval '1 hour' FROM unnest(ARRAY['full', 'also']) AS p, unnest(ARRAY['paid', 'refunded']) AS e, generate_series(1, 1000) AS i;
DELETE FROM urlmode.unknown_event;
VACUUM ANALYZE urlmode.unknown_event;
INSERT INTO urlmode.unknown_event (provider, identity, type, effect, elicitation, amount, currency, received_at)
SELECT p, e || i, 't', e, id(i), 1, 'EUR', now() - i * interval '1 hour' FROM unnest(ARRAY['full', 'also']) AS p, unnest(ARRAY['paid', 'refunded']) AS e, generate_series(1, 1000) AS i;
BEGIN;
SELECT event(7000, 'paid', '1.00 EUR', 'last', provider => 'full'), event(NULL, 'refunded', '1.00 EUR', 'strange', 's', provider => 'full'), event(7001, 'failed', provider => 'also');
SELECT seq_tup_read + idx_tup_fetch < 30000 AS few FROM pg_stat_xact_user_tables WHERE relid = 'urlmode.unknown_event'::regclass;
COMMIT;
SELECT provider, effect, count(*), min(identity) FILTER (WHERE identity LIKE '%1000') AS oldest, bool_or(elicitation = id(7000)) AS last FROM urlmode.unknown_event WHERE provider IN ('full', 'also') GROUP BY 1, 2 ORDER BY 1, 2;
SELECT identity FROM list_unknown('also', 2) ORDER BY identity;
SELECT count(*) FROM urlmode.list_unknown('full', now() - interval '10.5 hours', most => 5000);
SELECT pass('29 days'), purge(kind => 'stored', batch => 100000) < 10 AS none;
SELECT pass('2 days'), purge(kind => 'stored', batch => 100000) > 3000 AS all;
SELECT count(*) FROM list_unknown();
