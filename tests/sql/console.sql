-- What the console asks: what waits for somebody, where something is, what became of it, and how many ended in an hour.

LISTEN urlmode;

-- An account, payments with each fate, an approval and an account to connect again.
SELECT make(1, 'oauth'), open(1), complete(1), make(2, item => 'report', checkout => 'c2', subject => 'ann'), open(2), event(2, 'recheck', type => 'shop.note', request => repeat('a', 32)), pay(2, 'p2', checkout => 'c2');
SELECT make(3, item => 'report', subject => 'eve'), pay(3, 'p3'), back(3, '4.00 EUR', 'p3', 'r3'), make(4, item => 'video'), pay(4, 'p4');
SELECT outcome, fulfils('call', 4) FROM begins('call', 4);
SELECT make(5, 'approval', form => true), make(6), pay(6, 'p6', '9.00 EUR');
SELECT pay(90, 'p90'), unreadable('a', '/amount', repeat('b', 32));
INSERT INTO urlmode.account (subject, provider, account, state, reason, scopes, requested, tokens, connected_at)
VALUES ('ann', 'mail', 'ann@mail', 'reconnect', 'refused', '{}', '{}', repeat('x', 30)::bytea, now() - interval '3 days'), (U&'acme\001Fbob', 'mail', 'bob@mail', 'reconnect', 'refused', '{}', '{}', repeat('x', 30)::bytea, now() - interval '2 days'),
	('eve', 'mail', 'eve@mail', 'connected', '', '{}', '{}', repeat('x', 30)::bytea, now());

SET ROLE urlmode_operator;
SELECT what, number, more, date_trunc('day', now() - oldest) AS age FROM urlmode.waiting();
SELECT provider_name, kind, n(elicitation) AS n, item, reference, price(amount, currency) AS amount, price(refunded) AS refunded, late, matches FROM urlmode.list_waiting('unclaimed', NULL, NULL, NULL, NULL, NULL, 50);
SELECT provider_name, n(elicitation) AS n, reference, price(amount, currency) AS amount, price(refunded) AS refunded FROM urlmode.list_waiting('held', NULL, NULL, NULL, NULL, NULL, 50);
SELECT provider_name, kind, n(elicitation) AS n, item, reference, price(amount, currency) AS amount FROM urlmode.list_waiting('undelivered', NULL, NULL, NULL, NULL, NULL, 50);
SELECT provider_name, reason, place, request, times FROM urlmode.list_waiting('unreadable', NULL, NULL, NULL, NULL, NULL, 50);
SELECT provider_name, n(elicitation) AS n, reference, price(amount, currency) AS amount, name, reason FROM urlmode.list_waiting('unknown', NULL, NULL, NULL, NULL, NULL, 50);
SELECT provider_name, kind, n(elicitation) AS n, at > now() AS is_open FROM urlmode.list_waiting('approvals', NULL, NULL, NULL, NULL, NULL, 50);
SELECT provider_name, tenant_name, subject, reference, reason FROM urlmode.list_waiting('reconnect', NULL, NULL, NULL, NULL, NULL, 50);
-- Of one provider or tenant, and of a time.
SELECT count(*) FROM urlmode.list_waiting('unclaimed', 'other', NULL, NULL, NULL, NULL, 50);
SELECT subject FROM urlmode.list_waiting('reconnect', NULL, 'acme', NULL, NULL, NULL, 50);
SELECT subject FROM urlmode.list_waiting('reconnect', 'mail', '', now() - interval '4 days', now() - interval '60 hours', NULL, 50);
-- Page by page nothing is missing and nothing comes twice, also of one time; the newest or the oldest first.
RESET ROLE;
SELECT reset();
SELECT count(pay(i, 'p' || i)) FROM generate_series(1, 25) AS i, make(i);
SELECT count(unreadable('body ' || i)) FROM generate_series(1, 25) AS i;
UPDATE urlmode.payment SET proven_at = date_trunc('second', now()) - interval '1 hour' * (substr(reference, 2)::integer % 3);
UPDATE urlmode.unreadable_delivery SET last_seen_at = date_trunc('second', now()) - interval '1 hour' * (get_byte(digest, 0) % 3);
SET ROLE urlmode_operator;
CREATE FUNCTION pages(what text) RETURNS TABLE (pages integer, rows integer, distinct_rows integer, in_order boolean) LANGUAGE plpgsql AS $$
DECLARE
	after text;
	cursors text[] := '{}';
	page text[];
BEGIN
	pages := 0;
	LOOP
		page := ARRAY(SELECT l.cursor FROM urlmode.list_waiting(what, NULL, NULL, NULL, NULL, after, 4) l);
		EXIT WHEN page = '{}';
		pages := pages + 1;
		cursors := cursors || page;
		after := page[cardinality(page)];
	END LOOP;
	rows := cardinality(cursors);
	distinct_rows := count(DISTINCT c) FROM unnest(cursors) AS c;
	in_order := cursors = ARRAY(SELECT c FROM unnest(cursors) AS c ORDER BY c COLLATE "C") OR cursors = ARRAY(SELECT c FROM unnest(cursors) AS c ORDER BY c COLLATE "C" DESC);
	RETURN NEXT;
END
$$;
SELECT * FROM pages('unclaimed');
SELECT * FROM pages('unreadable');
DROP FUNCTION pages(text);
-- A caller's mistakes.
SELECT urlmode.list_waiting('others', NULL, NULL, NULL, NULL, NULL, 50);
SELECT urlmode.list_waiting(NULL, NULL, NULL, NULL, NULL, NULL, 50);
SELECT urlmode.list_waiting('held', NULL, NULL, NULL, NULL, 'changed', 50);
SELECT urlmode.list_waiting('held', NULL, NULL, NULL, NULL, NULL, 0);
SELECT urlmode.find_elicitations('a', 10002);
SELECT urlmode.count_ended(NULL, now(), 'year');

-- Search is exact.
RESET ROLE;
SELECT reset();
SELECT make(1, 'oauth', 'bob'), make(2, item => 'report', checkout => 'c2'), event(2, 'recheck', type => 'shop.note', request => repeat('a', 32)), pay(2, 'p2', checkout => 'c2'), back(2, '4.00 EUR', 'p2', 'r2'), make(3, item => 'report');
SELECT pay(90, 'p90'), unreadable('a', '/amount', repeat('b', 32));
SET ROLE urlmode_operator;
CREATE FUNCTION found(term text, most integer DEFAULT 50) RETURNS TABLE (by text, n integer, kind text, state text, subject text, item text, reference text, amount text) LANGUAGE sql AS $$
	SELECT f.found_by, n(f.elicitation), f.kind, concat_ws(' ', f.status, f.action, f.reason), f.subject, f.item, f.reference, price(f.amount, f.currency)
	FROM urlmode.find_elicitations(term, most) f ORDER BY 2, 1
$$;
SELECT * FROM found(id(2)::text);
SELECT * FROM found('bob');
SELECT * FROM found('Bob');
SELECT * FROM found('report');
SELECT * FROM found('p2');
SELECT * FROM found('r2');
SELECT * FROM found('c2');
SELECT * FROM found(repeat('A', 32));
SELECT * FROM found(repeat('b', 32));
SELECT * FROM found('p90');
SELECT * FROM found('');
SELECT * FROM found(repeat('x', 801));
SELECT * FROM found('''; DROP TABLE urlmode.event; --');
-- With one more than are shown, it is known that there are more.
SELECT count(*) FROM found('report', 1);
SELECT count(*) FROM found('report', 2);
-- What was paid is found after the elicitation was purged.
RESET ROLE;
SELECT decide('p2', 'voided'), pass('200 days'), purge();
SET ROLE urlmode_operator;
SELECT * FROM found('p2');
SELECT * FROM found('report');
SELECT * FROM found(id(2)::text);
DROP FUNCTION found(text, integer);
SELECT what, name, reference, price(amount, currency) AS amount, who, note FROM urlmode.show_timeline(id(2), 50) WHERE what <> 'event';

-- What became of one.
RESET ROLE;
SELECT reset();
SELECT make(1, item => 'report', checkout => 'c1');
SELECT pass('1 min');
SELECT asks(1, 'host'), answers(1, 'host', 'declined');
SELECT pass('1 min');
SELECT open(1);
SELECT pass('1 min');
SELECT event(1, 'recheck', type => 'shop.note', ref => 'x1', request => repeat('a', 32));
SELECT pass('1 min');
SELECT pay(1, 'p1', checkout => 'c1');
SELECT pass('1 min');
SELECT back(1, '4.00 EUR', 'p1', 'r1');
SELECT pass('1 min');
SELECT decide('p1', 'released');
SELECT pass('1 min');
SELECT outcome, fulfils('call', 1) FROM begins('call', 1);
SELECT confirms('call', 1);
SELECT pass('1 min');
SELECT told(1, 'disputed', 'p1', 'd1', 5, state => 'needs_response');
SET ROLE urlmode_operator;
SELECT what, name, detail, provider, reference, price(amount, currency) AS amount, who, note, request FROM urlmode.show_timeline(id(1), 50);
-- Of more than these, the newest.
SELECT what FROM urlmode.show_timeline(id(1), 3);
SELECT count(*) FROM urlmode.show_timeline(id(9), 3);
RESET ROLE;
SELECT make(2, 'approval', form => true), make(3);
SELECT pass('1 min');
SELECT open_form(2, kind => 'approval');
SELECT pass('1 min');
SELECT answer(2, kind => 'approval', action => 'decline', reason => 'user_declined');
SELECT what, name, detail, reference, price(amount, currency) AS amount, who FROM urlmode.show_timeline(id(2), 50);
SELECT what, name, detail, reference, price(amount, currency) AS amount, who FROM urlmode.show_timeline(id(3), 50);

-- The operator has refunded a payment that no call has claimed: also one that is held or was voided, once, with the provider's reference.
SELECT reset();
SELECT make(1, item => 'report'), pay(1, 'p1'), make(2, item => 'video'), pay(2, 'p2'), back(2, '4.00 EUR', 'p2', 'r2'), make(3, item => 'song'), pay(3, 'p3'), back(3, '4.00 EUR', 'p3', 'r3'), decide('p3', 'voided'), make(4), pay(4, 'p4'), claim(4), make(5), pay(5, 'p5'), back(5, NULL, 'p5', 'r5'), make(6), pay(6, 'p6');
SELECT outcome FROM begins('call', 6);
SET ROLE urlmode_operator;
CREATE FUNCTION refund(reference text, refund text DEFAULT 're_1', note text DEFAULT 'asked') RETURNS text LANGUAGE sql AS $$ SELECT urlmode.refund_payment('shop', reference, refund, 'the operator', note) $$;
SELECT refund('p1'), refund('p2'), refund('p3'), refund('p4'), refund('p5'), refund('p6'), refund('p7'), refund('p1', 're_2');
SELECT refund('p1', '');
SELECT refund('p1', repeat('x', 801));
SELECT urlmode.decide_payment('shop', 'p1', 'refunded', 'the operator');
DROP FUNCTION refund(text, text, text);
RESET ROLE;
SELECT (shows(1, 2, 3, 4, 5, 6)).*;
SELECT reference, claim_end, claim_refund FROM urlmode.show_ends(id(1));
SELECT decisions(1), decisions(2), decisions(3), decisions(4);
-- It is nobody's to claim any more: the next call pays anew. Money that goes back then is told as ever.
SELECT n, reference FROM unclaimed();
SELECT claim(1), find_item('report'), find_item('video'), paid('ann', 'report'), back(1, NULL, 'p1', 're_1'), payments(1);
SELECT type, kind, payment, reference FROM urlmode.ledger WHERE payment = 'p1' ORDER BY id;

-- What is held, and whose result was purged before anybody had confirmed it, waits for the operator as well (is_at_call).
SELECT reset();
SELECT make(1, item => 'report'), pay(1, 'p1'), make(2, item => 'video'), pay(2, 'p2');
SELECT outcome, fulfils('call', 1) FROM begins('call', 1);
SELECT outcome, fulfils('call', 2) FROM begins('call', 2);
SELECT back(1, '1.00 EUR', 'p1', 'r1'), pass('31 days');
SET ROLE urlmode_operator;
SELECT reference FROM urlmode.list_waiting('held', NULL, NULL, NULL, NULL, NULL, 50);
RESET ROLE;
SELECT purge_results() > 0 AS purged;
SET ROLE urlmode_operator;
SELECT reference FROM urlmode.list_waiting('held', NULL, NULL, NULL, NULL, NULL, 50);
SELECT reference FROM urlmode.list_waiting('unclaimed', NULL, NULL, NULL, NULL, NULL, 50);
SELECT what, number FROM urlmode.waiting() WHERE number > 0;
RESET ROLE;
-- The list has its own words for what is_at_call says of one payment.
SELECT outcome FROM begins('call', 2);
SELECT make(3), pay(3, 'p3'), back(3, '1.00 EUR', 'p3', 'r3'), make(4), pay(4, 'p4');
SELECT outcome, back(4, '1.00 EUR', 'p4', 'r4') FROM begins('call', 4);
SELECT p.reference, p.held, urlmode.is_at_call(p), EXISTS (SELECT FROM urlmode.open_payments() o WHERE o.reference = p.reference) AS open FROM urlmode.payment p ORDER BY p.reference;

-- The console's decision is about what its page has shown: it is refused where that has changed, as where somebody else has decided since.
SELECT reset();
SELECT make(1, item => 'report'), pay(1, 'p1'), back(1, '4.00 EUR', 'p1', 'r1'), make(2, item => 'video'), pay(2, 'p2');
SET ROLE urlmode_operator;
CREATE FUNCTION decide_as(shown text, decision text, reference text DEFAULT 'p1', refund text DEFAULT '') RETURNS text LANGUAGE sql AS $$ SELECT urlmode.decide_shown('shop', reference, decision, refund, 'the operator', 'asked', shown) $$;
SELECT urlmode.show_state('shop', 'p1') AS first \gset
SELECT decide_as(:'first', 'voided'), decide_as(:'first', 'released'), decide_as(:'first', 'refunded', refund => 're_1');
SELECT urlmode.show_state('shop', 'p1') AS voided \gset
SELECT decide_as(:'voided', 'released');
SELECT urlmode.show_state('shop', 'p1') AS released \gset
-- More went back, and it is held again: not as it was.
RESET ROLE;
SELECT back(1, '1.00 EUR', 'p1', 'r2');
SET ROLE urlmode_operator;
SELECT decide_as(:'first', 'voided'), decide_as(:'released', 'voided'), decide_as(urlmode.show_state('shop', 'p1'), 'voided');
SELECT decide_as(urlmode.show_state('shop', 'p1'), 'refunded', refund => 're_1');
-- What the decision itself says, as without it.
SELECT decide_as(urlmode.show_state('shop', 'p2'), 'voided', 'p2'), urlmode.show_state('shop', 'p3'), decide_as('x', 'voided', 'p3'), decide_as('x', 'voided', 'p2');
SELECT decide_as(NULL, 'voided');
SELECT decide_as(urlmode.show_state('shop', 'p2'), 'others', 'p2');
DROP FUNCTION decide_as(text, text, text, text);
RESET ROLE;
SELECT decisions(1), decisions(2);

-- The purge counts what has ended, by hour: from a browser, an event, the server, the operator and time, each once.
SELECT reset();
SELECT make(1, 'oauth'), complete(1), make(2, 'oauth'), complete(2, 'decline', 'access_denied'), make(3), pay(3, 'p3'), claim(3), make(4), event(4, 'cancelled'), make(5), abandon(5), make(6, 'input', form => true), open_form(6), answer(6), make(7), make(8, 'oauth', ttl => '1 min');
SELECT count(*) FROM urlmode.ended_count;
SELECT purge_results(), count(*) FROM urlmode.ended_count;
SELECT pass('5 min');
SELECT expire(8), purge_results(), purge_results();
SELECT kind, action, reason, sum(number) FROM urlmode.count_ended(NULL, now() - interval '1 day', 'hour') GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
-- What has ended since is counted the next time.
SELECT pass('5 min');
SELECT purge_results();
SET ROLE urlmode_operator;
SELECT kind, action, reason, sum(number) FROM urlmode.count_ended('shop', now() - interval '1 day', 'day') GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT count(*) FROM urlmode.count_ended('other', now() - interval '1 day', 'day');
SELECT type, action, number, last_at < now() FROM urlmode.count_events('shop', now() - interval '1 day', 'hour');
SELECT date_trunc('minute', now() - urlmode.counted_until()) BETWEEN '2 minutes' AND '4 minutes' AS is_near;
SELECT last_type, last_action, last_refused_at, last_unknown_at FROM urlmode.show_provider('shop');
SELECT * FROM urlmode.known_providers();
RESET ROLE;
SELECT unreadable('a'), unreadable('a'), unreadable('b');
SELECT reason, deliveries, times FROM urlmode.count_refusals('shop');
SELECT last_type, last_refused_at IS NOT NULL AS refused FROM urlmode.show_provider('nobody');
-- What is more than fits is for the next call.
SELECT event(7, 'recheck');
SELECT pass('30 min');
SELECT event(7, 'recheck');
SELECT pass('4 min');
SELECT urlmode.count_hours(1), urlmode.count_hours(1);
-- Types beyond a hundred in an hour are one.
INSERT INTO urlmode.event (provider, identity, type, elicitation, received_at, action)
SELECT 'many', i, 'type ' || lpad(i::text, 3, '0'), id(7), '2026-01-01 12:30+00'::timestamptz + i * interval '1 second', 'ignored' FROM generate_series(1, 130) AS i;
SELECT urlmode.count_received('2026-01-01 12:00+00', '2026-01-01 12:31+00'), urlmode.count_received('2026-01-01 12:31+00', '2026-01-01 13:00+00');
SELECT count(*) FILTER (WHERE type <> '') AS types, sum(number) FILTER (WHERE type = '') AS others, min(type) FILTER (WHERE type <> ''), max(type) FROM urlmode.event_count WHERE provider = 'many' AND unit = 'hour';
-- Hours are forgotten after three days, and days after 40.
SELECT pass('5 days');
SELECT urlmode.count_hours();
SELECT unit, sum(number) FROM urlmode.ended_count GROUP BY 1;
SELECT sum(number) FROM urlmode.count_ended(NULL, now() - interval '30 days', 'day');
SELECT pass('41 days');
SELECT urlmode.count_hours();
SELECT (SELECT count(*) FROM urlmode.ended_count) AS ended, (SELECT count(*) FROM urlmode.event_count WHERE provider <> 'many') AS events, (SELECT count(*) FROM urlmode.uncounted_end) AS uncounted;

-- The check of each host.
SET ROLE urlmode_operator;
SELECT urlmode.record_check('a', 0, 2), urlmode.record_check('b', 1, 0), urlmode.record_check('a', 0, 1);
SELECT host, errors, warnings FROM urlmode.list_checks() ORDER BY host;
RESET ROLE;

-- A browser's way writes no column of an index, so that its updates are heap-only: also with what the console looks for.
SELECT DISTINCT a.attname FROM pg_index i JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refclassid = 'pg_class'::regclass AND d.refobjid = i.indrelid
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = d.refobjsubid WHERE i.indrelid = 'urlmode.elicitation'::regclass ORDER BY 1;
SELECT reset();
SELECT count(make(i, 'oauth', key => 'thing ' || i)) FROM generate_series(1, 3) AS i;
SELECT n_tup_upd AS updates, n_tup_hot_upd AS hot FROM pg_stat_xact_user_tables WHERE relid = 'urlmode.elicitation'::regclass \gset
BEGIN;
SELECT open(1), complete(1), open(2), complete(2), open(3), complete(3, 'decline', 'access_denied');
SELECT n_tup_upd - :updates AS updates, n_tup_hot_upd - :hot AS heap_only FROM pg_stat_xact_user_tables WHERE relid = 'urlmode.elicitation'::regclass;
COMMIT;

-- A timeline reads its own rows, whatever else its provider has: the ledger is found by the payment's names, the last delivery by time.
SELECT reset();
SELECT make(1), pay(1, 'p1');
INSERT INTO urlmode.ledger (tenant, type, kind, provider, payment, amount, currency)
SELECT '', 'refunded', 'refund', 'shop', 'other ' || i, 1, 'EUR' FROM generate_series(1, 5000) AS i;
INSERT INTO urlmode.event (provider, identity, type, elicitation, received_at, action)
SELECT 'shop', 'old ' || i, 'type', id(2), now() - interval '30 days', 'ignored' FROM generate_series(1, 5000) AS i;
ANALYZE urlmode.ledger, urlmode.event;
BEGIN;
SELECT sum(seq_tup_read + idx_tup_fetch) AS before FROM pg_stat_xact_user_tables WHERE relid IN ('urlmode.ledger'::regclass, 'urlmode.event'::regclass) \gset
SELECT what, detail FROM urlmode.show_timeline(id(1), 81);
SELECT sum(seq_tup_read + idx_tup_fetch) - :before < 100 AS few FROM pg_stat_xact_user_tables WHERE relid IN ('urlmode.ledger'::regclass, 'urlmode.event'::regclass);
COMMIT;
