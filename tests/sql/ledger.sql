-- Everything about money has an entry in the ledger. A consumer reads it in one order, and gets again what it has not acknowledged.

-- What the packages do not send yet.
CREATE FUNCTION pg_temp.sells(n integer, item text, subject text DEFAULT 'ann', tenant text DEFAULT '', checkout text DEFAULT NULL, provider text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM make(n, subject => sells.subject, checkout => sells.checkout, provider => sells.provider);
	UPDATE urlmode.elicitation e SET item = sells.item, tenant = sells.tenant WHERE e.id = id(n);
	RETURN 'created';
END
$$;

-- Rows that are no payment enter nothing.
SELECT make(90, 'oauth'), complete(90), make(91, 'signature'), sign(91), claim(91), make(92, 'signature'), sign(92), (SELECT outcome FROM begins('s', 92)), confirms('s', 92), (SELECT count(*) FROM urlmode.ledger);

-- A payment; one that is not what was expected; one that comes after the end.
SELECT pg_temp.sells(1, 'report:42'), pay(1, 'p1'), pay(1, 'p1'), pay(1, 'p1b', '5.00 EUR'), pg_temp.sells(2, 'report:43', 'bob'), settle(2, 'cancel', subject => 'bob'), pay(2, 'p2');
-- A claim has two ends, or both at once. A second call that begins is no news.
SELECT outcome FROM begins('a', 1);
SELECT pass('2 min');
SELECT outcome FROM begins('b', 1);
SELECT fulfils('b', 1), confirms('b', 1), claim(2, subject => 'bob');
-- It can end as refunded, by a refund of this name.
SELECT pg_temp.sells(4, 'report:44'), pay(4, 'p4', '5.00 EUR'), (SELECT outcome FROM begins('d', 4, 'p4', listed => true)), fulfils('d', 4, "end" => 'refunded', refund => 're_4');
-- Part of it, more of it, all of it; and it comes again.
SELECT back(1, '2.00 EUR', 'p1b', 'r1'), back(1, '2.00 EUR', 'p1b', 'r1'), back(1, '3.00 EUR', 'p1b', 'r2'), again(1, '1.00 EUR', 'p1b', 'r2'), payments(1);
SELECT decide('p1b', 'released'), decide('p1b', 'voided'), payments(1);
-- A new consumer begins at the oldest.
SELECT follow('x');
SELECT * FROM entries('x');

-- What is acknowledged does not come again. What is not comes again, also to another instance.
SELECT acknowledges('x', 3), (SELECT count(*) FROM entries('x')), follow('y'), leaves('x'), follow('y');
SELECT type, n, payment FROM entries('y', 2);
-- Only the instance that has begun last reads and acknowledges. An instance that does not renew its lease loses it.
SELECT acknowledges('x', 1), (SELECT count(*) FROM entries('x')), leaves('x'), pass('2 min'), acknowledges('y', 1), pass('30 s'), follow('z'), pass('40 s'), follow('z'), acknowledges('y', 1), leaves('y');
SELECT type, n, payment FROM entries('z', 1);
-- The cursor never goes back.
SELECT acknowledges('z', 100), urlmode.acknowledge_ledger('books', fence('z'), 1, 60000), (SELECT count(*) FROM entries('z'));
-- Each consumer has its own, and each tenant.
SELECT follow('w', 'mails'), (SELECT count(*) FROM entries('w', consumer => 'mails'));
SELECT pg_temp.sells(3, 'seat', tenant => 'north'), pay(3, 'p3'), follow('n', tenant => 'north'), (SELECT count(*) FROM entries('z'));
SELECT * FROM entries('n', tenant => 'north');
-- A page has at most 100.
SELECT count(pg_temp.sells(n, 'x')), count(pay(n, 'many ' || n)) FROM generate_series(1000, 1119) AS n;
SELECT (SELECT count(*) FROM entries('z', 1000)), acknowledges('z', 100), (SELECT count(*) FROM entries('z', 1000)), acknowledges('z', 100), (SELECT count(*) FROM entries('z', 0));
SELECT follow('v', 'Books');
SELECT follow('v', repeat('b', 65));

-- What went back before its payment was proved has its entry again, with the payment.
SELECT pg_temp.sells(10, 'early'), back(10, '4.00 EUR', 'p10', 'r10'), (SELECT count(*) FROM entries('z')), pay(10, 'p10'), payments(10);
SELECT * FROM entries('z');
SELECT acknowledges('z', 100);
-- A refund that names no payment is one of several.
SELECT pg_temp.sells(11, 'twice'), pay(11, 'p11'), pay(11, 'p11b'), back(11, '10.00 EUR', refund => 'r11'), back(11, '10.00 EUR', 'p11b', 'r11'), payments(11);
-- One statement changes several payments, in no order that is promised.
SELECT * FROM entries('z') ORDER BY payment, type, reference, refunded NULLS FIRST;
SELECT acknowledges('z', 100);
-- One that is told of another elicitation as well is of neither, until an event names its payment.
SELECT pg_temp.sells(15, 'one'), pay(15, 'p15'), pg_temp.sells(16, 'other'), pay(16, 'p16'), back(15, '2.00 EUR', refund => 'r15'), back(16, '2.00 EUR', refund => 'r15'), payments(15), payments(16);
-- One statement changes several payments, in no order that is promised.
SELECT * FROM entries('z') ORDER BY payment, type, reference, refunded NULLS FIRST;
SELECT acknowledges('z', 100);
-- One that is known by its checkout alone gets its own reference: what comes later has both.
SELECT pg_temp.sells(12, 'checkout', checkout => 'c12'), settle(12, price => '10.00 EUR', reference => 'c12'), (SELECT outcome FROM begins('c', 12)), pay(12, 'p12', checkout => 'c12'), confirms('c', 12), back(12, NULL, 'p12'), payments(12);
SELECT * FROM entries('z');
SELECT acknowledges('z', 100);
-- More of a payment that is captured in parts.
SELECT pg_temp.sells(13, 'parts'), pay(13, 'p13', '4.00 EUR'), back(13, NULL, 'p13', 'r13'), pay(13, 'p13', '10.00 EUR'), payments(13);
SELECT * FROM entries('z');
SELECT acknowledges('z', 100);
-- An operator's second thoughts.
SELECT pg_temp.sells(14, 'held'), pay(14, 'p14'), back(14, '1.00 EUR', 'p14', 'r14'), decide('p14', 'voided'), decide('p14', 'released'), back(14, '1.00 EUR', 'p14', 'r14b'), again(14, NULL, 'p14', 'r14b'), again(14, NULL, 'p14', 'r14'), payments(14);
SELECT * FROM entries('z');
SELECT acknowledges('z', 100);
-- The last entry says how a payment stands: voided, whatever is told of it after that.
SELECT pg_temp.sells(44, 'void'), pay(44, 'p44'), back(44, '1.00 EUR', 'p44', 'r44'), decide('p44', 'voided'), back(44, '2.00 EUR', 'p44', 'r44b'), again(44, NULL, 'p44', 'r44'), payments(44);
SELECT type, reference, amount, refunded FROM entries('z');
SELECT acknowledges('z', 100);

-- A dispute has a state and times of its provider: an inquiry, the money withdrawn, won; or lost.
SELECT pg_temp.sells(40, 'won'), pay(40, 'p40'), told(40, 'disputed', 'p40', 'd40', 100, state => 'warning', due => 900), told(40, 'refunded', 'p40', 'd40', 200, state => 'open', due => 900), told(40, 'refund_reversed', 'p40', 'd40', 300, 'dispute_won', 'won');
SELECT pg_temp.sells(41, 'lost'), pay(41, 'p41'), told(41, 'refunded', 'p41', 'd41', 200, state => 'open'), told(41, 'disputed', 'p41', 'd41', 300, 'dispute_lost', 'lost');
SELECT type, kind, payment, reference, amount, refunded, status FROM entries('z');
SELECT acknowledges('z', 100), paid('ann', 'won'), paid('ann', 'lost');
-- A renewal is a payment of its subscription, and of no elicitation. Both are claimed by the subscription.
SELECT pg_temp.sells(30, 'pro');
UPDATE urlmode.elicitation SET expected = expected || '{"subscription": true}' WHERE id = id(30);
CREATE FUNCTION pg_temp.of_subscription(days integer) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('subscription', jsonb_build_object('id', 'sub_30', 'at_ms', (extract(epoch FROM now() + days * interval '1 day') * 1000)::bigint))
$$;
SELECT event(30, 'paid', '10.00 EUR', 'p30', details => pg_temp.of_subscription(0)), event(NULL, 'renewed', '10.00 EUR', 'p30b', details => pg_temp.of_subscription(30));
SELECT type, n, payment, amount, owner FROM entries('z');
SELECT acknowledges('z', 100), paid('ann', 'pro');

-- More that was captured of what was as expected, before and after the claim; and a refund that names no payment, before there is one.
SELECT pg_temp.sells(42, 'more'), pay(42, 'p42'), pay(42, 'p42', '11.00 EUR'), claim(42), pay(42, 'p42', '12.00 EUR');
SELECT pg_temp.sells(43, 'first'), back(43, '4.00 EUR', refund => 'r43'), pay(43, 'p43');
SELECT type, payment, reference, amount, refunded FROM entries('z');
SELECT acknowledges('z', 100), paid('ann', 'more');
-- Whether a user has paid for an item: what went back as a whole does not count, nor what is held until a call has claimed it.
SELECT paid('ann', 'report:42'), paid('bob', 'report:43'), paid('ann', 'report:43'), paid('eve', 'report:42'), paid('ann', 'seat'), paid('ann', 'seat', tenant => 'north'),
	paid('ann', 'early'), paid('ann', 'twice'), paid('ann', 'checkout'), paid('ann', 'parts'), paid('ann', 'held');
SELECT pg_temp.sells(20, 'book'), pay(20, 'p20', '5.00 EUR'), paid('ann', 'book'), pay(20, 'p20b'), paid('ann', 'book'), back(20, '10.00 EUR', 'p20b', 'd'), paid('ann', 'book'), again(20, NULL, 'p20b', 'd'), paid('ann', 'book');
SELECT claim(20, 'p20b'), paid('ann', 'book'), back(20, '1.00 EUR', 'p20b', 'e'), payments(20), paid('ann', 'book'), back(20, '9.00 EUR', 'p20b', 'f'), paid('ann', 'book');
-- What the server has refunded instead of delivering it is not paid either, also where no event of the provider says so.
SELECT pg_temp.sells(22, 'song'), pay(22, 'p22'), (SELECT outcome FROM begins('e', 22, 'p22')), paid('ann', 'song'), fulfils('e', 22, "end" => 'refunded', refund => 're_22'), paid('ann', 'song'),
	pay(22, 'p22b'), (SELECT outcome FROM begins('e', 22, 'p22b')), fulfils('e', 22, "end" => 'delivered'), paid('ann', 'song');
SELECT pg_temp.sells(21, 'map'), pay(21, 'p21'), claim(21), pass('2 h'), paid('ann', 'map', '3 h'), paid('ann', 'map', '1 h');
-- What was delivered is what a call has claimed: until then the next call claims what was paid.
SELECT delivered('ann', 'map', '3 h'), delivered('ann', 'map', '1 h'), delivered('eve', 'map'), delivered('ann', 'map', tenant => 'north'), delivered('ann', 'book');
SELECT pg_temp.sells(50, 'opera'), pay(50, 'p50'), paid('ann', 'opera'), delivered('ann', 'opera'), (SELECT outcome FROM begins('d', 50)), fulfils('d', 50), delivered('ann', 'opera'), confirms('d', 50), delivered('ann', 'opera'),
	back(50, '1.00 EUR', 'p50', 'g'), delivered('ann', 'opera'), back(50, '9.00 EUR', 'p50', 'h'), delivered('ann', 'opera');
-- A claim that ends as refunded is no delivery, whatever the provider says of it. One that does not match was delivered if its claim says so.
SELECT pg_temp.sells(51, 'ballet'), pay(51, 'p51'), (SELECT outcome FROM begins('e', 51)), fulfils('e', 51, NULL, "end" => 'refunded', refund => 'f51'), paid('ann', 'ballet'), delivered('ann', 'ballet');
SELECT pg_temp.sells(52, 'circus'), pay(52, 'p52', '9.00 EUR'), (SELECT outcome FROM begins('g', 52, 'p52', listed => true)), fulfils('g', 52, NULL, "end" => 'delivered'), paid('ann', 'circus'), delivered('ann', 'circus');
-- What was delivered for a part is not delivered again when the rest is captured; for what was refunded of it nothing was given.
SELECT pg_temp.sells(53, 'opus'), pay(53, 'p53', '9.00 EUR'), (SELECT outcome FROM begins('h', 53, 'p53', listed => true)), fulfils('h', 53, NULL, "end" => 'delivered'), pay(53, 'p53', '10.00 EUR'), payments(53), claim(53),
	paid('ann', 'opus'), delivered('ann', 'opus');
SELECT pg_temp.sells(54, 'fugue'), pay(54, 'p54', '9.00 EUR'), (SELECT outcome FROM begins('i', 54, 'p54', listed => true)), fulfils('i', 54, NULL, "end" => 'refunded', refund => 'f54'), pay(54, 'p54', '10.00 EUR'), payments(54), claim(54);
-- Then the claim has not ended: the item is paid, and the operator can say that all of it was refunded.
SELECT pg_temp.sells(55, 'canon'), pay(55, 'p55', '9.00 EUR'), (SELECT outcome FROM begins('j', 55, 'p55', listed => true)), fulfils('j', 55, NULL, "end" => 'refunded', refund => 'f55'), paid('ann', 'canon'),
	pay(55, 'p55', '10.00 EUR'), paid('ann', 'canon'), urlmode.refund_payment('shop', 'p55', 'g55', 'the operator'), paid('ann', 'canon');
SELECT claim_end, claim_refund FROM urlmode.payment WHERE reference = 'p55';
-- In one indexed read, also in a new database.
SET enable_seqscan = off;
CREATE FUNCTION pg_temp.plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS off) ' || query;
END
$$;
SELECT count(*) FILTER (WHERE plan LIKE '%Index Scan%'), count(*) FILTER (WHERE plan LIKE '%payment_subject%')
FROM pg_temp.plan($$SELECT FROM urlmode.payment p WHERE p.subject = 'ann' AND p.item = 'map' AND p.tenant = ''$$) AS plan;
RESET enable_seqscan;
-- A purge takes the elicitation, and neither this nor the ledger's owner and item.
SELECT pass('121 days'), purge(kind => 'payment') > 0, state(21), paid('ann', 'map'), follow('u', 'later');
SELECT type, n, payment, owner FROM entries('u', consumer => 'later') WHERE n IN (3, 21) OR owner LIKE '%43';
-- The subject goes when the user is forgotten.
SELECT count(*) FROM urlmode.payment p WHERE p.subject = 'ann' AND p.claimed_at IS NULL AND p.refunded_at IS NULL;
SELECT count(*) FROM urlmode.forget_subject('bob');
SELECT paid('bob', 'report:43');
SELECT type, n, payment, owner FROM entries('u', consumer => 'later') WHERE n = 2;
-- Entries stay for 400 days.
SELECT pass('278 days'), purge(kind => 'stored'), pass('2 days'), purge(kind => 'stored', batch => 50) > 0, (SELECT count(*) FROM urlmode.ledger);

-- One server is read at once, however much another one has written that nobody has read.
SELECT count(pg_temp.sells(n, 'x', tenant => 'south')), count(pay(n, 'south ' || n)) FROM generate_series(2000, 3049) AS n;
SELECT pg_temp.sells(3100, 'seat', tenant => 'west'), pay(3100, 'p3100'), follow('w', tenant => 'west');
SELECT type, n, payment FROM entries('w', tenant => 'west');

-- Over HTTP a page is one call: it begins or goes on, and one without an entry ends the lease. The commit waits for the disk, for those whose calls are in the same transaction.
CREATE FUNCTION pg_temp.page(after text DEFAULT NULL, tenant text DEFAULT 'west') RETURNS TABLE (outcome text, type text, payment text, next text) LANGUAGE sql AS $$
	SELECT p.outcome, p.item->>'type', p.item->>'payment', p.cursor
	FROM urlmode.page_of_ledger(page.tenant, 'web', split_part(after, '.', 1)::bigint, split_part(after, '.', 2)::bigint, 30000, 1) p
$$;
SELECT next AS first, outcome, type, payment FROM pg_temp.page() \gset
SELECT :'outcome', :'type', :'payment';
SELECT outcome, type FROM pg_temp.page();
SELECT outcome, type FROM pg_temp.page(:'first', 'south');
BEGIN;
SET LOCAL synchronous_commit = on;
SELECT (SELECT count(*) FROM pg_temp.page(:'first')), urlmode.mark_shown(ARRAY[id(1)], ARRAY[owner('ann')], 1000);
SHOW synchronous_commit;
COMMIT;
SELECT pay(3100, 'p3101'), pass('1 min');
SELECT next AS second, payment FROM pg_temp.page() \gset
SELECT :'payment', outcome FROM pg_temp.page(:'first');
SELECT outcome FROM pg_temp.page(:'second');

-- Of a time on: what was entered before is left out, and is acknowledged with what comes after it.
SELECT pg_temp.sells(3200, 'seat', tenant => 'north'), pay(3200, 'p3200'), pass('1 hour');
SELECT pg_temp.sells(3201, 'lamp', tenant => 'north'), pay(3201, 'p3201');
CREATE FUNCTION pg_temp.page_since(consumer text, since interval, after text DEFAULT NULL) RETURNS TABLE (outcome text, payment text, next text) LANGUAGE sql AS $$
	SELECT p.outcome, p.item->>'payment', p.cursor
	FROM urlmode.page_of_ledger_since('north', consumer, split_part(after, '.', 1)::bigint, split_part(after, '.', 2)::bigint, now() - since, 30000, 10) p
$$;
SELECT outcome, payment FROM pg_temp.page_since('old', '2 hours');
SELECT outcome, payment, next AS first FROM pg_temp.page_since('new', '30 min') \gset
SELECT :'outcome', :'payment';
SELECT count(*) FROM pg_temp.page_since('new', '2 hours', :'first');
SELECT count(*) FROM pg_temp.page_since('none', '-1 hour');

-- The payments that make an item paid for, a page at a time.
SELECT pg_temp.sells(3202, 'lamp', tenant => 'north'), pay(3202, 'p3202');
CREATE FUNCTION pg_temp.payments(item text, since interval DEFAULT NULL, delivered boolean DEFAULT false, after text DEFAULT NULL, most integer DEFAULT 10)
RETURNS TABLE (paid boolean, payment text, cursor text) LANGUAGE sql AS $$
	SELECT p.paid, p.item->>'reference', p.cursor FROM urlmode.page_of_paid('north', 'ann', payments.item, now() - since, delivered, after, most) p
$$;
SELECT paid, payment FROM pg_temp.payments('lamp');
SELECT payment, cursor AS first FROM pg_temp.payments('lamp', most => 1) \gset
SELECT :'payment';
SELECT paid, payment FROM pg_temp.payments('lamp', after => :'first');
SELECT paid, payment FROM pg_temp.payments('lamp', after => 'z');
SELECT paid, payment FROM pg_temp.payments('lamp', '-1 hour');
SELECT paid, payment FROM pg_temp.payments('sofa');
SELECT paid, payment FROM pg_temp.payments('lamp', delivered => true);
SELECT outcome, claimed_reference FROM urlmode.claim_outcome(id(3202), owner('ann'), NULL, 1000, 'accept', false, NULL);
SELECT outcome, claimed_reference FROM urlmode.claim_outcome(id(3202), owner('ann'), NULL, 1000, 'accept', false, NULL);
SELECT paid, payment FROM pg_temp.payments('lamp', delivered => true);
