-- The provider's events: each is kept once, and moves its elicitation.

LISTEN urlmode;

-- What each effect does to a row of each kind and status: the action of the event, and what it leaves.
CREATE FUNCTION pg_temp.moved(n integer, kind text, status text, effect text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	PERFORM test.make(n, kind);
	IF status = 'opened' THEN PERFORM test.open(n); PERFORM test.open_form(n, kind => kind); END IF;
	IF status = 'processing' THEN PERFORM test.event(n, 'processing', ref => 'a'); END IF;
	IF status = 'completed' THEN PERFORM test.settle(n, 'decline'); END IF;
	said := test.event(n, effect, ref => 'a', price => CASE WHEN kind = 'payment' THEN '10.00 EUR' END, type => 'x');
	RETURN effect || ': ' || said || CASE WHEN test.state(n) LIKE status || '%' THEN '' ELSE ' ' || test.state(n) END;
EXCEPTION WHEN OTHERS THEN
	RETURN effect || ': ' || SQLERRM;
END
$$;
CREATE TEMP SEQUENCE number START 1000;
SELECT kind, status, string_agg(pg_temp.moved(nextval('number')::integer, kind, status, effect), ', ')
FROM unnest(ARRAY['payment', 'signature', 'oauth', 'input']) WITH ORDINALITY AS k (kind, i), unnest(ARRAY['pending', 'opened', 'processing', 'completed']) WITH ORDINALITY AS s (status, j),
	unnest(ARRAY['failed', 'cancelled', 'expired', 'attempt_failed', 'processing', 'recheck', 'other_mode', 'other_account', 'ignore']) AS effect
WHERE (kind, status) NOT IN (('input', 'processing')) GROUP BY kind, i, status, j ORDER BY i, j;
-- An effect that is none fails, and so does an unknown row; both change nothing.
SELECT make(1), event(1, 'approved');
SELECT make(1), event(1, ''), state(1);
SELECT make(1), event(2, 'failed'), event(1, 'failed', provider => 'other'), state(1), kept_events(1);

-- The same event counts once, also for another elicitation, unless it meant nothing before: the configuration may have been corrected since.
SELECT make(3), make(4), event(3, 'attempt_failed', identity => 'e1'), event(3, 'attempt_failed', identity => 'e1'), event(4, 'failed', identity => 'e1'), state(4);
SELECT failed FROM reads(3);
SELECT make(5), event(5, 'ignore', identity => 'e5'), event(5, 'other_mode', '1.00 EUR', 'm', identity => 'e5'), event(4, 'ignore', identity => 'e5'), pay(4, 'p4', identity => 'e5'), state(4), event(5, 'other_mode', '1.00 EUR', 'm', identity => 'e5'), kept_events(5),
	pay(5, 'p5', identity => 'e5'), pay(5, 'p5', identity => 'e5'), kept_events(5), state(5);
SELECT make(6), event(6, 'other_account', '1.00 EUR', 'm', identity => 'e6'), event(6, 'failed', identity => 'e6'), make(7, checkout => 'c7'), pay(7, 'p7', checkout => 'x', identity => 'e7'), pay(7, 'p7', checkout => 'c7', identity => 'e7'), kept_events(6), kept_events(7);
-- A recheck is never seen: it tells no outcome, and may ask again.
SELECT make(8), event(8, 'recheck', identity => 'e8', type => 't', ref => 'r'), event(8, 'recheck', identity => 'e8', type => 't', ref => 'r'), pay(8, 'p8', identity => 'e8'), event(8, 'recheck', identity => 'e8', type => 'u'), kept_events(8);
SELECT n, rechecks FROM reads(8);

-- One that is processing is again what it was before when no attempt is under way any more. Without the name of an attempt, what came later counts.
SELECT make(10), open(10), event(10, 'processing', ref => 'a'), event(10, 'processing', ref => 'b'), event(10, 'attempt_failed', ref => 'a'), state(10), event(10, 'attempt_failed', ref => 'b'), state(10);
SELECT make(11), event(11, 'processing'), event(11, 'attempt_failed', ref => 'x'), state(11), event(11, 'processing', ref => 'x'), state(11), event(11, 'attempt_failed'), state(11);
SELECT failed FROM reads(10, 11);
SELECT failed FROM page(10);
-- A signature too.
SELECT make(12, 'signature'), open(12, grace => '1 hour'), event(12, 'processing'), pass('10 min'), event(12, 'attempt_failed'), state(12), event(12, 'cancelled'), state(12), kept(12);

-- An event that names only its attempt, payment or checkout is of the one elicitation that it is known of; one that proves a payment is of none.
SELECT make(20), event(20, 'processing', ref => 'at20'), make(21), pay(21, 'p21'), make(22, checkout => 'c22'), make(23), make(24), event(23, 'attempt_failed', ref => 'both'), event(24, 'attempt_failed', ref => 'both');
SELECT * FROM events('[{"effect": "attempt_failed", "ref": "at20"}, {"effect": "failed", "ref": "p21"}, {"effect": "expired", "ref": "c22"}, {"effect": "failed", "ref": "both"}, {"effect": "failed", "ref": "none"}, {"effect": "failed"},
	{"effect": "paid", "price": "10.00 EUR", "ref": "at20"}, {"effect": "failed", "ref": "at20", "provider": "other"}]');
SELECT * FROM shows(20, 21, 22, 23, 24);
SELECT make(25, checkout => 'c25'), make(26, checkout => 'c25'), make(27, checkout => 'c25', provider => 'other'), event(NULL, 'expired', ref => 'c25'), pay(26, 'p26', checkout => 'c25'), event(NULL, 'expired', ref => 'c25');

-- In a batch each event sees those before it: of its elicitation, its identity, its payment. Each row is answered for.
SELECT make(30), make(31), make(32);
SELECT * FROM events('[{"n": 30, "effect": "processing", "ref": "x30"}, {"n": 31, "effect": "failed", "identity": "same"}, {"n": 30, "effect": "paid", "price": "10.00 EUR", "ref": "p30"}, {"n": 30, "effect": "failed"},
	{"n": 32, "effect": "failed", "identity": "same"}, {"n": 99, "effect": "failed"}, {"effect": "attempt_failed", "ref": "x30"}, {"n": 32, "effect": "cancelled", "identity": "last", "request": "0123456789abcdef0123456789abcdef"}]');
SELECT request FROM urlmode.show_events(id(32));
SELECT * FROM shows(30, 31, 32);
SELECT * FROM events('[]');
-- The attempt that a batch tells of is known to those after it.
SELECT make(33);
SELECT * FROM events('[{"n": 33, "effect": "processing", "ref": "x33"}, {"effect": "failed", "ref": "x33"}]');
-- Rows of a batch are announced together; an outcome is announced with its accept alone.
SELECT make(34, 'signature'), make(35), make(36);
SELECT outcome FROM events('[{"n": 34, "effect": "accepted", "outcome": "sealed"}, {"n": 35, "effect": "paid", "price": "1.00 EUR", "outcome": "sealed"}, {"n": 36, "effect": "paid", "price": "10.00 EUR", "outcome": "sealed"}]');
SELECT outcome FROM events('[{"n": 36, "effect": "paid", "price": "10.00 EUR", "ref": "late", "outcome": "sealed"}]');
SELECT kept(34), kept(35), kept(36);
-- Notifications are filled to their last byte, and not beyond; an outcome that is too large is left out.
SELECT make(n) FROM generate_series(40, 43) AS n;
SELECT outcome FROM events(('[{"n": 40, "effect": "paid", "price": "10.00 EUR", "outcome": "' || repeat('x', 2600) || '"}, {"n": 41, "effect": "paid", "price": "10.00 EUR", "outcome": "' || repeat('x', 2601) || '"}]')::jsonb);
SELECT urlmode.notify(ARRAY['"' || repeat('a', 3998) || '"', '"' || repeat('b', 3994) || '"']);
SELECT urlmode.notify(ARRAY['"' || repeat('a', 3998) || '"', '"' || repeat('b', 3995) || '"']);
SELECT urlmode.notify('{}'), urlmode.notify(NULL);

-- What an event is kept with: the reference and amount of what has to be looked for, and the request.
SELECT make(50), event(50, 'other_mode', '1.00 EUR', 'm50'), event(50, 'other_account', '2.00 EUR', 'a50'), event(50, 'processing', '3.00 EUR', 'x50'), event(50, 'recheck', '4.00 EUR', 'r50'), event(50, 'refunded', '1.00 EUR', 'p50', 'f50'), event(50, 'refund_reversed', '1.00 EUR', 'p50'),
	pay(50, 'p5'), event(50, 'paid', '10.00 EUR', 'p50', request => md5('req')), event(50, 'paid', '10.00 EUR', 'p50'), event(50, 'failed', ref => 'l50');
SELECT type, action, reference, price(amount), request FROM urlmode.show_events(id(50)) ORDER BY received_at, identity;
SELECT n(elicitation), action, count(*) FROM urlmode.list_events(late => true) GROUP BY 1, 2 ORDER BY 1;
SELECT count(*), max(provider_name) FROM urlmode.list_events('shop', now() - interval '1 hour', most => 7);
SELECT count(*) FROM urlmode.list_events('other');
SELECT pass('25 hours'), make(51), event(51, 'failed');
SELECT n(elicitation), action FROM urlmode.list_events();
SELECT event(51, 'ignore'), (SELECT string_agg(action, ' ' ORDER BY received_at) FROM urlmode.list_events(most => 1)) AS before;
SELECT action FROM urlmode.list_events(most => 1);
