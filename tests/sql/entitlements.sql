-- A subscription opens an entitlement with its first payment, and from then on it is what its provider's events say, in
-- whatever order they come.

-- A time so many days from now, as the events have it.
CREATE FUNCTION day(n numeric) RETURNS bigint LANGUAGE sql STABLE AS $$
	SELECT (extract(epoch FROM now() + n * interval '1 day') * 1000)::bigint
$$;
-- An elicitation whose first payment must be that of a subscription.
CREATE FUNCTION subscribe(
	n integer, item text DEFAULT 'pro', subject text DEFAULT 'ann', tenant text DEFAULT '', price text DEFAULT '10.00 EUR', provider text DEFAULT 'shop'
)
RETURNS text
LANGUAGE sql AS $$
	SELECT c.outcome FROM urlmode.create_elicitation(
		ids => ARRAY[test.id(n)], providers => ARRAY[provider], kinds => ARRAY['payment'], subjects => ARRAY[subject], sessions => ARRAY[''],
		bindings => ARRAY[test.owner(subject)], requesters => ARRAY['Example'], target_urls => ARRAY['https://provider.example/'],
		expected => ARRAY[jsonb_build_object('amount', test.amount(price), 'currency', test.currency(price), 'subscription', true)],
		verifiers => ARRAY[NULL::bytea], ttls_ms => ARRAY[300000], items => ARRAY[item], tenants => ARRAY[tenant]) c
$$;
-- Events: the first payment, a renewal, and what the subscription is. told: the times are days from now.
CREATE FUNCTION told(sub text, at numeric, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql STABLE AS $$
	SELECT jsonb_build_object('subscription', jsonb_strip_nulls(jsonb_build_object('id', sub, 'at_ms', test.day(at))) || coalesce((
		SELECT jsonb_object_agg(CASE WHEN m.key IN ('until', 'trial_until', 'cancel_at') THEN m.key || '_ms' ELSE m.key END,
			CASE WHEN m.key IN ('until', 'trial_until', 'cancel_at') AND m.value <> 'null' THEN to_jsonb(test.day(m.value::numeric)) ELSE m.value END)
		FROM jsonb_each(more) m), '{}'))
$$;
CREATE FUNCTION first(n integer, ref text, sub text, at numeric DEFAULT 0, price text DEFAULT '10.00 EUR') RETURNS text LANGUAGE sql AS $$
	SELECT test.event(n, 'paid', price, ref, details => test.told(sub, at))
$$;
CREATE FUNCTION renew(ref text, sub text, at numeric, n integer DEFAULT NULL, price text DEFAULT '10.00 EUR') RETURNS text LANGUAGE sql AS $$
	SELECT test.event(n, 'renewed', price, ref, details => test.told(sub, at))
$$;
CREATE FUNCTION is(sub text, at numeric, more jsonb, n integer DEFAULT NULL, provider text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT test.event(n, 'subscription', ref => sub, details => test.told(sub, at, more), provider => provider)
$$;
-- A renewal goes back. It has no elicitation that has a number.
CREATE FUNCTION renewal_back(price text, ref text, refund text) RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT r.outcome FROM urlmode.receive_events(ARRAY[NULL::uuid], ARRAY['shop'], ARRAY[refund], ARRAY['refund'], ARRAY['refunded'], ARRAY[test.amount(price)],
		ARRAY[test.currency(price)], ARRAY[ref], ARRAY[NULL::bytea], refunds => ARRAY[refund]) r
$$;
ALTER FUNCTION renewal_back OWNER TO urlmode_cgi;
-- What a call is told. until: in days.
CREATE FUNCTION mine(item text DEFAULT NULL, subject text DEFAULT 'ann', tenant text DEFAULT '') RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT string_agg(concat_ws(' ', m.item_name, m.status, 'until ' || round(extract(epoch FROM m.until - now()) / 86400), CASE WHEN m.entitled THEN '(entitled)' END,
		CASE WHEN m.paused THEN '(paused)' WHEN m.paused IS NULL THEN '(unknown)' END, m.subscription, nullif(m.account, '')), ', ' ORDER BY m.item_name)
	FROM urlmode.entitlements(mine.tenant, mine.subject, mine.item) m
$$;
ALTER FUNCTION mine OWNER TO urlmode_server;
-- Its payments, the last one last.
CREATE FUNCTION paid_for(sub text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', p.reference, test.price(p.amount, p.currency), CASE WHEN p.claimed_at IS NOT NULL THEN 'claimed' END,
		CASE WHEN p.refunded_at IS NOT NULL THEN 'refunded' END), ', ' ORDER BY p.paid_at NULLS FIRST, p.reference)
	FROM urlmode.payment p JOIN urlmode.entitlement e ON e.id = p.entitlement WHERE e.subscription = sub
$$;

-- The first payment opens it, and is claimed by it: no list offers it, and no call can claim it. The wait is told of the accept.
SELECT subscribe(1), mine('pro'), first(1, 'p1', 's1', -10);
SELECT mine();
SELECT * FROM unclaimed();
SELECT status, outcome, result, paid_by FROM reads(1);
SELECT outcome FROM begins('call', 1);
SELECT claim(1), paid_for('s1');
-- Until its provider says how long, it is as if its period ended when it was opened.
SELECT pass('2 days'), mine(), pass('1 day'), mine();
-- Events move it: a period, a renewal, a payment that fails, the end.
SELECT is('s1', -9, '{"status": "active", "until": 21}'), mine();
SELECT renew('p2', 's1', 21), renew('p2', 's1', 21), is('s1', 21, '{"status": "active", "until": 51}'), mine(), paid_for('s1');
SELECT * FROM unclaimed();
SELECT is('s1', 51, '{"status": "past_due", "until": 81}'), mine(), is('s1', 52, '{"status": "active"}'), mine();
-- An older event says nothing any more, and one again neither.
SELECT is('s1', 20, '{"status": "past_due", "until": 1}'), is('s1', 52, '{"status": "active"}'), mine();
-- Cancelled, it may be used until the end of what was paid; this can be undone.
SELECT is('s1', 53, '{"cancel_at": 81}'), mine(), is('s1', 54, '{"cancel_at": null}'), mine(), is('s1', 55, '{"cancel_at": 81}'), pass('82 days'), mine();
SELECT is('s1', 60, '{"status": "ended"}'), mine();

-- An until that passed without an event stays active for the time of late renewals, and is past_due then. The description says that time.
SELECT subscribe(2, 'late'), first(2, 'p3', 's2'), is('s2', 0, '{"status": "active", "until": 30}'), mine('late'), pass('32 days'), mine('late'), pass('2 days'), mine('late');
SELECT renew('p4', 's2', 1), is('s2', 1, '{"status": "active", "until": 30, "late_ms": 86400000}'), mine('late'), pass('32 days'), mine('late');
-- A trial. Nothing was charged.
SELECT subscribe(3, 'trial', price => '0.00 EUR'), first(3, 'p5', 's3', price => '0.00 EUR'), is('s3', 0, '{"status": "trialing", "until": 14, "trial_until": 14}'), mine('trial');
SELECT is('s3', 14, '{"status": "active", "until": 44}'), renew('p6', 's3', 14), mine('trial'), paid_for('s3');
-- Paused is ended until it is resumed, by a status or beside it.
SELECT is('s3', 15, '{"paused": true}'), mine('trial'), is('s3', 16, '{"paused": false}'), mine('trial'), is('s3', 17, '{"status": "paused"}'), mine('trial'),
	is('s3', 18, '{"status": "active"}'), mine('trial');

-- What was paid last goes back: it has ended. A part of it changes nothing; what comes again opens it; what was paid before is past.
SELECT subscribe(4, 'back'), first(4, 'p7', 's4'), is('s4', 0, '{"status": "active", "until": 30}'), back(NULL, '4.00 EUR', 'p7', 'r1'), mine('back'),
	back(4, '6.00 EUR', 'p7', 'r2'), mine('back'), again(NULL, '6.00 EUR', 'p7', 'r2'), mine('back');
SELECT renew('p8', 's4', 30), back(4, '6.00 EUR', 'p7', 'r3'), mine('back'), renewal_back('10.00 EUR', 'p8', 'r4'), mine('back'), paid_for('s4');
-- Also if it went back before the renewal was told.
SELECT back(NULL, '10.00 EUR', 'p9', 'r5'), renew('p9', 's4', 60), mine('back'), paid_for('s4'), renew('p10', 's4', 90), mine('back');
-- A charge beside the periods is a payment, and the subscription goes on if it goes back.
SELECT event(NULL, 'renewed', '5.00 EUR', 'p11x', details => told('s4', 95) || '{"kind": "extra_charge"}'), renewal_back('5.00 EUR', 'p11x', 'r6'), mine('back'), paid_for('s4');

-- Of several for one thing the best counts; each thing has its own, and each user and tenant.
SELECT subscribe(5), subscribe(6, provider => 'other'), first(5, 'p11', 's5', -1), is('s5', 0, '{"status": "past_due", "until": 30}'), mine('pro'),
	event(6, 'paid', '10.00 EUR', 'p12', details => told('s6', 0), provider => 'other'), mine('pro'),
	is('s6', 0, '{"status": "active", "until": 20, "cancel_at": 20}', provider => 'other'), mine('pro'), is('s5', 1, '{"status": "active", "until": 25}'), mine('pro');
SELECT mine(NULL);
SELECT mine(NULL, 'bob'), mine(NULL, 'ann', 'other'), subscribe(7, 'pro', 'ann', 'other'), first(7, 'p13', 's7');
SELECT mine(NULL, 'ann', 'other');

-- The first payment must be that of a subscription. Without `subscription` nothing is opened, and a renewal pays for nothing.
SELECT subscribe(8, 'one'), pay(8, 'p14'), mine('one');
SELECT * FROM unclaimed() WHERE n = 8;
SELECT make(9), first(9, 'p15', 's9'), renew('p16', 's9', 30), is('s9', 30, '{"status": "active", "until": 60}'), paid_for('s9'), payments(9);
SELECT * FROM unclaimed() WHERE n = 9;
-- Another amount opens nothing either.
SELECT subscribe(10, 'cheap'), first(10, 'p17', 's10', price => '1.00 EUR'), mine('cheap');
SELECT urlmode.create_elicitation(ARRAY[id(11)], ARRAY['shop'], ARRAY['payment'], ARRAY['ann'], ARRAY[''], ARRAY[owner('ann')], ARRAY['Example'], ARRAY['https://provider.example/'],
	ARRAY['{"amount": 1000, "currency": "EUR", "subscription": true}'::jsonb], ARRAY[NULL::bytea], ARRAY[300000]);
-- A payment that the server knows of opens it as well, and one that came late.
SELECT subscribe(12, 'asked'), settle(12, price => '10.00 EUR', reference => 'p18'), mine('asked'), is('s12', 0, '{"status": "active", "until": 30, "payment": "p18"}'), mine('asked');
SELECT subscribe(17, 'found'), event(17, 'recheck'), rechecks(17, ARRAY['p23 10.00 EUR paid 17']), is('s17', 0, '{"status": "active", "until": 30, "payment": "p23"}'), mine('found');
SELECT subscribe(13, 'later'), settle(13, 'cancel'), first(13, 'p19', 's13'), mine('later');
SELECT * FROM unclaimed() WHERE n > 10;

-- A checkout that is paid twice has begun two.
SELECT subscribe(18, 'both'), event(18, 'paid', '10.00 EUR', 'p50', checkout => 'ck', details => told('s50', 0)), event(18, 'paid', '10.00 EUR', 'p51', checkout => 'ck', details => told('s51', 0)),
	paid_for('s50'), paid_for('s51'), is('s51', 1, '{"status": "active", "until": 40}'), mine('both');

-- What comes before the first payment waits for it, for thirty days: also what names neither an elicitation nor the payment, which may be foreign.
SELECT is('foreign', 0, '{"status": "active", "until": 30}'), renew('p20', 'foreign', 0), is('s14', 0, '{"status": "active", "until": 30}', 14), renew('p21', 's14', 30, 14);
SELECT subscription, subject, waiting <> '{}' AS waits FROM urlmode.entitlement WHERE provider = 'shop' AND subject IS NULL ORDER BY subscription;
SELECT subscribe(14, 'early'), first(14, 'p22', 's14', -1), mine('early'), paid_for('s14');
SELECT subscribe(140, 'unnamed'), renew('p20b', 's140', 1), is('s140', 2, '{"status": "active", "until": 30}'), first(140, 'p24', 's140', 0), mine('unnamed'), paid_for('s140');
SELECT is('s15', 0, '{"status": "active"}', 15), pass('31 days'), purge(kind => 'stored'), (SELECT count(*) FROM urlmode.entitlement WHERE subject IS NULL) AS left;
SELECT count(*) FROM (SELECT is('many' || i, 0, '{"status": "active"}', 16) FROM generate_series(1, 1010) AS i) m (outcome) WHERE outcome = 'subscription';
SELECT count(*) FROM urlmode.entitlement WHERE subject IS NULL;
-- Foreign ones take the place of each other, and of one that is named at most.
SELECT count(*) FROM (SELECT is('stranger' || i, 0, '{"status": "active"}') FROM generate_series(1, 20) AS i) m (outcome) WHERE outcome = 'unknown';
SELECT count(*) FILTER (WHERE named) AS named, count(*) AS all FROM urlmode.entitlement WHERE subject IS NULL;
DELETE FROM urlmode.entitlement WHERE subject IS NULL;

-- The same subscription at another account, or another provider, is another one.
SELECT event(NULL, 'subscription', details => told('s4', 100, '{"account": "b", "status": "ended", "payment": "none"}')), is('s4', 100, '{"status": "ended", "payment": "none"}', provider => 'other');
SELECT mine('back'), (SELECT count(*) FROM urlmode.entitlement WHERE subscription = 's4') AS subscriptions;
DELETE FROM urlmode.entitlement WHERE subject IS NULL;

-- What is one user's stays so, whatever the subscription of another one says of its payment.
SELECT subscribe(130, 'mine'), first(130, 'q30', 't30', -2), is('t30', -1, '{"status": "active", "until": 30}'), subscribe(131, 'mine', 'bob'), first(131, 'q31', NULL, 0),
	is('t30', 0, '{"payment": "q31"}'), mine('mine'), mine('mine', 'bob'), paid_for('t30');

-- Among many that have an owner, nobody's are found at once.
CREATE FUNCTION pg_temp.rows_read() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT x.seq_tup_read + coalesce(x.idx_tup_fetch, 0) FROM pg_stat_xact_user_tables x WHERE x.relid = 'urlmode.entitlement'::regclass
$$;
INSERT INTO urlmode.entitlement (provider, subscription, tenant, subject, item, opened_at, status, until, changed_at)
SELECT 'shop', 'of many ' || i, '', 'many ' || i, 'year', now() - interval '100 days', 'active', now() + interval '265 days', now() - interval '50 days'
FROM generate_series(1, 3000) AS i;
DISCARD PLANS;
BEGIN;
SELECT is('new', 0, '{"status": "active", "payment": "q33"}'), pg_temp.rows_read() - b.before < 100 AS reads_few FROM (SELECT pg_temp.rows_read() AS before OFFSET 0) b;
SELECT purge(kind => 'stored'), pg_temp.rows_read() - b.before < 100 AS reads_few FROM (SELECT pg_temp.rows_read() AS before OFFSET 0) b;
COMMIT;
SELECT pass('31 days'), purge(kind => 'stored');
DELETE FROM urlmode.entitlement WHERE item = 'year';

-- It outlives its elicitation, and its events move it after the purge. What is long over is purged, and not what is paused.
SELECT subscribe(20, 'year', 'cat'), first(20, 'p30', 's20'), is('s20', 0, '{"status": "active", "until": 365}'), pass('360 days'), purge(kind => 'payment') > 0, payments(20);
SELECT count(*) FROM urlmode.elicitation WHERE id = id(20);
SELECT renew('p31', 's20', 5), is('s20', 5, '{"status": "active", "until": 370}', 20), mine(NULL, 'cat'), paid_for('s20');
SELECT renewal_back('10.00 EUR', 'p31', 'r31'), mine(NULL, 'cat');
SELECT subscribe(21, 'paused', 'cat'), first(21, 'p32', 's21'), is('s21', 0, '{"status": "active", "paused": true, "until": 30}'), pass('800 days'), purge(kind => 'stored') > 0;
SELECT mine(NULL, 'cat');
SELECT reference FROM urlmode.payment WHERE reference IN ('p30', 'p31') ORDER BY reference;
-- A user who is forgotten has none, and an event opens none again.
SELECT * FROM urlmode.forget_subject('cat');
SELECT is('s21', 1, '{"status": "active", "paused": false}', 21), first(21, 'p32', 's21'), mine(NULL, 'cat');

-- Who has a subscription that is not over is not asked for a second one, at any provider: also who can settle it. Another item, user or tenant has
-- its own. The page of a link that is older says the same.
SELECT subscribe(40, 'once', 'dan'), subscribe(41, 'once', 'dan', provider => 'other'), open(41, provider => 'other', browser => 'one'), first(40, 'p40', 's40'), subscribe(42, 'once', 'dan'),
	open(41, provider => 'other', browser => 'two'), subscribe(43, 'twice', 'dan'), subscribe(44, 'once', 'eve');
SELECT s.status, is('s40', s.at, s.told::jsonb), mine('once', 'dan'), subscribe(42, 'once', 'dan') FROM (VALUES
	('trialing', 1, '{"status": "trialing", "until": 30, "trial_until": 30}'), ('active', 2, '{"status": "active", "until": 30}'),
	('past_due', 3, '{"status": "past_due"}'), ('paused', 4, '{"status": "paused"}'), ('cancelled', 5, '{"status": "active", "cancel_at": 30}')
) AS s (status, at, told);
-- It is over: it ended, or what was paid last went back.
SELECT is('s40', 6, '{"status": "ended"}'), subscribe(42, 'once', 'dan'), first(42, 'p42', 's42'), subscribe(46, 'once', 'dan'), back(42, '10.00 EUR', 'p42', 'r42'), subscribe(46, 'once', 'dan');
SELECT first(46, 'p46', 's46'), subscribe(45, 'once', 'dan'), subscribe(45, 'once', 'dan', 'other');
-- In a batch each is asked for itself.
SELECT first(43, 'p43', 's43', 0);
SELECT c.outcome FROM urlmode.create_elicitation(ARRAY[id(47), id(48)], ARRAY['shop', 'shop'], ARRAY['payment', 'payment'], ARRAY['dan', 'dan'], ARRAY['', ''],
	ARRAY[owner('dan'), owner('dan')], ARRAY['Example', 'Example'], ARRAY['https://provider.example/', 'https://provider.example/'],
	array_fill('{"amount": 1000, "currency": "EUR", "subscription": true}'::jsonb, '{2}'), ARRAY[NULL, NULL]::bytea[], ARRAY[300000, 300000], items => ARRAY['twice', 'thrice']) c;

-- The first price can be at least one, such as that with its tax, or whatever its checkout totals, also 0. Then the event says that the whole checkout was
-- paid, and names it; and in each case that it is of a subscription.
CREATE FUNCTION subscribe_as(n integer, item text, expected text, checkout text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT c.outcome FROM urlmode.create_elicitation(
		ids => ARRAY[test.id(n)], providers => ARRAY['shop'], kinds => ARRAY['payment'], subjects => ARRAY['fay'], sessions => ARRAY[''],
		bindings => ARRAY[test.owner('fay')], requesters => ARRAY['Example'], target_urls => ARRAY['https://provider.example/'],
		expected => ARRAY[expected::jsonb || '{"subscription": true}'], verifiers => ARRAY[NULL::bytea], ttls_ms => ARRAY[300000], items => ARRAY[item], checkouts => ARRAY[checkout]) c
$$;
SELECT subscribe_as(60, 'taxed', '{"amount": 1000, "currency": "EUR", "match": "at-least"}'), first(60, 'p60', 's60', price => '11.90 EUR'), mine('taxed', 'fay'), paid_for('s60'),
	subscribe_as(61, 'cut', '{"amount": 1000, "currency": "EUR", "match": "at-least"}'), first(61, 'p61', 's61', price => '9.99 EUR'), mine('cut', 'fay'),
	subscribe_as(62, 'once', '{"amount": 1000, "currency": "EUR", "match": "at-least"}'), pay(62, 'p62', '11.90 EUR'), mine('once', 'fay');
SELECT subscribe_as(63, 'whole', '{"match": "checkout"}', 'c63'), event(63, 'paid', '4.00 EUR', 'p63', checkout => 'c63', details => told('s63', 0)) AS part, mine('whole', 'fay'),
	event(63, 'paid', '4.00 EUR', 'p63', checkout => 'other', details => told('s63', 0) || '{"checkout_paid": true}') AS other, mine('whole', 'fay'),
	event(63, 'paid', '4.00 EUR', 'p63', checkout => 'c63', details => told('s63', 0) || '{"checkout_paid": true}') AS whole, mine('whole', 'fay'), paid_for('s63');
SELECT subscribe_as(64, 'free', '{"match": "checkout"}', 'c64'), event(64, 'paid', '0.00 EUR', NULL, checkout => 'c64', details => told('s64', 0) || '{"checkout_paid": true}'), mine('free', 'fay'), paid_for('s64'),
	is('s64', 0, '{"status": "trialing", "trial_until": 14}'), mine('free', 'fay'), renew('p64', 's64', 14, price => '12.00 EUR'), paid_for('s64');

-- All orders of five of these events end the same: the first payment, what the subscription is at its begin, a renewal and what it is then, its
-- cancellation, a refund. Nobody knows in which order a provider sends them.
CREATE FUNCTION orders(done integer[], rest integer[]) RETURNS SETOF integer[] LANGUAGE plpgsql AS $$
BEGIN
	IF rest = '{}' THEN
		RETURN NEXT done;
	ELSE
		RETURN QUERY SELECT o FROM unnest(rest) AS r, LATERAL test.orders(done || r, array_remove(rest, r)) AS o;
	END IF;
END
$$;
-- links: the payment is known by its subscription, or the subscription by its payment.
CREATE FUNCTION tell(n integer, what integer, links text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE what
		WHEN 1 THEN test.event(n, 'paid', '10.00 EUR', n || 'a', details => test.told(CASE WHEN links = 'by id' THEN 's' || n END, -40))
		WHEN 2 THEN test.is('s' || n, -40, l.link || '{"status": "trialing", "until": -10}', n)
		WHEN 3 THEN test.renew(n || 'b', 's' || n, -10, n)
		WHEN 4 THEN test.is('s' || n, -10, l.link || '{"status": "active", "until": 20, "paused": false}', n)
		WHEN 5 THEN test.is('s' || n, -5, l.link || '{"status": "active", "until": 20, "cancel_at": 20}', n)
		WHEN 6 THEN test.event(NULL, 'refunded', '10.00 EUR', n || 'a', 'r' || n)
	END
	FROM (SELECT CASE WHEN links = 'by id' THEN '{}'::jsonb ELSE jsonb_build_object('payment', n || 'a') END) AS l (link)
$$;
-- Each in a transaction of its own: PostgreSQL would keep every version of every row until the last one.
CREATE PROCEDURE try_orders(links text, first integer, told integer[]) LANGUAGE plpgsql AS $$
DECLARE
	n integer := first;
	events integer[];
BEGIN
	FOR events IN SELECT test.orders('{}', told) LOOP
		n := n + 1;
		PERFORM test.subscribe(n, 'order', 'user ' || n);
		PERFORM test.tell(n, e.what, links) FROM unnest(events) AS e (what);
		COMMIT;
	END LOOP;
END
$$;
CREATE FUNCTION ends_of(first integer) RETURNS TABLE (orders bigint, ends bigint, what text, paid text, nobodys bigint) LANGUAGE sql AS $$
	SELECT count(*), count(DISTINCT (m.what, m.paid)), min(m.what), min(m.paid), (SELECT count(*) FROM urlmode.entitlement e WHERE e.subject IS NULL)
	FROM (
		SELECT replace(test.mine('order', 'user ' || i), 's' || i, 's') AS what, replace(test.paid_for('s' || i), i::text, '') AS paid
		FROM generate_series(first + 1, first + 120) AS i
	) m
$$;
DELETE FROM urlmode.entitlement WHERE subject IS NULL;
CALL try_orders('by id', 1000, '{1,2,3,4,6}');
CALL try_orders('by id', 1120, '{1,2,3,5,6}');
SELECT * FROM ends_of(1000);
SELECT * FROM ends_of(1120);
CALL try_orders('by payment', 2000, '{1,3,4,5,6}');
SELECT * FROM ends_of(2000);
-- Twice, and in a batch, is the same.
SELECT outcome, count(*) FROM (
	SELECT (events(jsonb_agg(jsonb_build_object('n', CASE WHEN what = 6 THEN NULL ELSE 1001 END, 'effect', (ARRAY['paid', 'subscription', 'renewed'])[what], 'price', '10.00 EUR',
		'ref', (ARRAY['1001a', NULL, '1001b'])[what], 'details', told('s1001', (ARRAY[-40, -40, -10])[what], (ARRAY['{}', '{"status": "trialing", "until": -10}', '{}']::jsonb[])[what])))))
		.outcome FROM unnest('{1,2,3}'::integer[]) AS what) r GROUP BY outcome ORDER BY outcome;
SELECT mine('order', 'user 1001'), paid_for('s1001');

-- A call looks at one user: of the subscriptions it reads one by an index, and of its payments the last, whether or not PostgreSQL knows how many there are.
DELETE FROM urlmode.entitlement;
INSERT INTO urlmode.entitlement (provider, subscription, subject, item, tenant, elicitation, opened_at, status, until)
SELECT 'shop', 'many' || i, 'many' || i, 'pro', '', gen_random_uuid(), now(), 'active', now() + interval '30 days' FROM generate_series(1, 20000) i;
INSERT INTO urlmode.payment (provider, reference, elicitation, amount, currency, matches, late, claimed_at, entitlement)
SELECT 'shop', e.subscription, e.id, 1000, 'EUR', true, false, now(), e.id FROM urlmode.entitlement e;
CREATE FUNCTION reads_of(subject text) RETURNS TABLE (told text, tables text) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE seen ON COMMIT DROP AS SELECT s.relname, s.seq_scan, s.idx_scan FROM pg_stat_xact_user_tables s WHERE s.schemaname = 'urlmode';
	told := test.mine('pro', subject);
	SELECT string_agg(format('%s: %s by an index, %s whole', s.relname, s.idx_scan - b.idx_scan, s.seq_scan - b.seq_scan), ', ' ORDER BY s.relname) INTO tables
	FROM pg_stat_xact_user_tables s JOIN seen b USING (relname) WHERE s.schemaname = 'urlmode' AND s.idx_scan + s.seq_scan > b.idx_scan + b.seq_scan;
	RETURN NEXT;
END
$$;
-- Not a plan of before, when there were few.
DISCARD PLANS;
SELECT * FROM reads_of('many7');
ANALYZE urlmode.entitlement, urlmode.payment;
SELECT * FROM reads_of('many8');

-- A list has at most 1,000 items of a user. What is over is left out first, and then the oldest.
INSERT INTO urlmode.entitlement (provider, subscription, subject, item, tenant, opened_at, status, until)
SELECT 'shop', 'one' || i, 'one', format('item%s', lpad(i::text, 4, '0')), '', now() - i * interval '1 minute',
	CASE WHEN i <= 20 THEN 'ended' ELSE 'active' END, now() + interval '30 days'
FROM generate_series(1, 1005) i;
SELECT count(*), count(*) FILTER (WHERE m.entitled) AS entitled, min(m.item_name), max(m.item_name), count(*) FILTER (WHERE m.item_name < 'item0021') AS over
FROM urlmode.entitlements('', 'one') m;
UPDATE urlmode.entitlement SET status = 'active' WHERE subject = 'one';
SELECT count(*), min(m.item_name), max(m.item_name) FROM urlmode.entitlements('', 'one') m;
SELECT mine('item1005', 'one');

-- Several events tell of one renewal, in any order: it counts from the first time. If p902 had been paid last, p901 would not end it.
SELECT subscribe(900, 'order'), first(900, 'p900', 's900'), is('s900', 0, '{"status": "active", "until": 50}'), renew('p901', 's900', 20),
	renew('p902', 's900', 30), renew('p902', 's900', 10), paid_for('s900'), renewal_back('10.00 EUR', 'p901', 'r901'), mine('order');
-- Also before the first payment.
SELECT subscribe(903, 'before'), renew('p904', 's903', 20), renew('p905', 's903', 10), renew('p905', 's903', 30), first(903, 'p903', 's903'), paid_for('s903');

-- What is over cannot be resumed, also if it was paused: the user can subscribe again, and it is deleted in the end.
SELECT subscribe(906, 'over'), first(906, 'p906', 's906'), is('s906', 0, '{"status": "active", "until": 30, "paused": true}'), mine('over'),
	is('s906', 1, '{"status": "cancelled"}'), mine('over'), pass('31 days'), mine('over'), subscribe(907, 'over');
DELETE FROM urlmode.entitlement WHERE item <> 'over';
SELECT pass('401 days'), purge(kind => 'stored') > 0 AS purged, mine('over');

-- One that its provider ends only later is renewed until then: what is paid ends with its period, and without an event of its renewal so does the subscription.
SELECT subscribe(910, 'term'), first(910, 'p910', 's910'), is('s910', 0, '{"status": "active", "until": 30, "cancel_at": 365}'), mine('term'), pass('34 days'), mine('term'),
	is('s910', 0, '{"until": 320, "cancel_at": 331}'), mine('term'), is('s910', 1, '{"until": 331, "cancel_at": 331}'), mine('term'), is('s910', 2, '{"until": 350, "cancel_at": 331}'), mine('term'), pass('332 days'), mine('term');
-- Of one whose period nobody has told, the end is what there is.
SELECT subscribe(911, 'bare'), first(911, 'p911', 's911'), is('s911', 0, '{"cancel_at": 90}'), mine('bare');
