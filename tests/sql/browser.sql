-- What the callback programs call while a browser waits.

LISTEN urlmode;

-- A link opens an elicitation for its user; every time the browser is another it is announced. Nobody is sent anywhere after the end.
SELECT make(1, 'oauth'), make(2, 'payment'), make(3, 'oauth', ttl => '-1 s'), make(4, 'oauth'), complete(4), make(5), event(5, 'processing'), make(6);
SELECT * FROM opens('[{"n": 1, "subject": "eve"}, {"n": 2}, {"n": 3}, {"n": 4}, {"n": 5}, {"n": 6, "provider": "other"}, {"n": 1, "subject": "ann", "browser": "b1"}, {"n": 1, "subject": "ann", "browser": "b2"}, {"n": 9}]');
SELECT n, state(n), browser = digest('b1') AS b1, browser = digest('browser') AS b, opened_at IS NOT NULL AS opened, grace FROM urlmode.elicitation, n(id) WHERE n < 7 ORDER BY n;
SELECT pass('1 min'), open(1, 'b1'), open(1, 'b2'), open(1, 'b2', grace => '1 hour'), open(2, 'b2', grace => '1 hour');
SELECT n, browser = digest('b2') AS b2, opened_at < now() - interval '50 s' AS opened_once, grace FROM urlmode.elicitation, n(id) WHERE n < 3 ORDER BY n;
SELECT pass('10 min'), open(2, 'b3'), state(2);
-- With a state token the binding is compared.
SELECT outcome, kind FROM urlmode.open(ARRAY[id(6), id(6), id(6)], ARRAY[owner('eve'), owner('ann'), owner('ann')], '{shop,shop,shop}', ARRAY[digest('e'), digest('a'), digest('z')]);
SELECT make(7), outcome FROM urlmode.open(ARRAY[id(6)], ARRAY[owner('ann')], '{shop}', ARRAY[digest('z')], '{eve}');
SELECT browser = digest('a') AS first FROM urlmode.elicitation WHERE id = id(6);

-- What a page shows, which changes nothing.
SELECT make(10), make(11, price => 'any'), open(11), make(12, 'oauth'), complete(12, 'decline', 'access_denied'), make(13, ttl => '-1 s'), make(14), event(14, 'processing'), event(14, 'attempt_failed');
SELECT n, p.* FROM generate_series(10, 15) AS n, page(n) p;
SELECT outcome FROM page(10, 'eve');
SELECT outcome FROM page(10, provider => 'other');
SELECT outcome, binding = owner('ann') AS bound, expires - extract(epoch FROM now()) BETWEEN 0 AND 301 AS seconds FROM urlmode.look_up_link(ARRAY[id(10), id(99), NULL], '{shop,shop,shop}');

-- A browser that comes back completes an account, declines or cancels the others, alone or in a batch. It proves no payment.
CREATE FUNCTION pg_temp.come_back(start integer, size integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	cases CONSTANT jsonb := '[{}, {"outcome": "sealed"}, {"action": "decline", "subject": "ann"}, {"action": "decline"}, {}, {"for": "eve"}, {"provider": "other"}, {"action": "none"},
		{"reason": "none"}, {"subject": "eve"}, {}, {"subject": "eve"}, {}, {}, {"subject": "ann", "action": "cancel"}]';
	batch jsonb := '[]';
BEGIN
	FOR i IN 0 .. 14 LOOP
		PERFORM test.make(start + i, CASE WHEN i IN (3, 4, 13) THEN 'payment' WHEN i = 14 THEN 'signature' ELSE 'oauth' END, ttl => CASE WHEN i = 12 THEN '-1 s'::interval END);
		IF i = 1 THEN PERFORM test.open(start + i); END IF;
		IF i IN (10, 11) THEN PERFORM test.settle(start + i, 'decline'); END IF;
		IF i = 13 THEN PERFORM test.event(start + i, 'processing'); END IF;
		batch := batch || jsonb_build_array(cases -> i || jsonb_build_object('n', start + i));
		IF jsonb_array_length(batch) = size OR i = 14 THEN
			RETURN QUERY SELECT c FROM test.completes(batch) c;
			batch := '[]';
		END IF;
	END LOOP;
END
$$;
SELECT string_agg(c, ' ') FROM pg_temp.come_back(20, 1) c;
SELECT string_agg(c, ' ') FROM pg_temp.come_back(40, 2) c;
SELECT string_agg(c, ' ') FROM pg_temp.come_back(60, 15) c;
SELECT string_agg(state(n) || ' ' || kept(n), ', ' ORDER BY n) FROM generate_series(20, 34) AS n;
SELECT string_agg(state(n + 20) || ' ' || kept(n + 20), ', ' ORDER BY n) = string_agg(state(n) || ' ' || kept(n), ', ' ORDER BY n) AS in_twos,
	string_agg(state(n + 40) || ' ' || kept(n + 40), ', ' ORDER BY n) = string_agg(state(n) || ' ' || kept(n), ', ' ORDER BY n) AS all_at_once FROM generate_series(20, 34) AS n;
SELECT string_agg(cardinality(ids)::text, ' ' ORDER BY cardinality(ids)) FROM urlmode.purge_queue WHERE ids[1] >= id(20);
-- Of several with one id the first that may counts, whatever the bounds of the array.
SELECT make(80, 'oauth');
SELECT completes('[{"n": 80, "subject": "eve"}, {"n": 80, "subject": "ann", "action": "decline", "reason": "first"}, {"n": 80, "subject": "ann", "reason": "last"}]');
SELECT state(80), make(81, 'oauth');
SELECT * FROM urlmode.complete(ARRAY[id(81)], ARRAY[owner('ann')], '{shop}', '{accept}', '{r}', '{NULL}', subjects => '[0:0]={eve}');
SELECT state(81), complete(81, 'decline', 'access_denied'), complete(81), state(81);
SELECT completes('[{"n": 82}, {"n": 83}]'), completes('[]');

-- held: whether another transaction holds the lock; ping: whether there is a database that can be written.
SELECT held FROM urlmode.held(ARRAY[id(81), id(99), NULL]);
SELECT urlmode.ping();
BEGIN READ ONLY;
SELECT urlmode.ping();
ROLLBACK;

-- What still needs a key: elicitations for which a link or a token may come, and values that only it opens.
SELECT make(90, 'oauth', kid => 7, ttl => '1 hour'), make(91, kid => 7, ttl => '1 hour'), settle(91, 'cancel'), make(92, 'oauth', kid => 7), complete(92), make(93, 'oauth', kid => 8, ttl => '2 hours'), make(94, kid => 7, ttl => '-40 days');
SELECT open, minutes(open_until - now()), sealed FROM urlmode.show_key(7, now());
SELECT open, minutes(open_until - now()), sealed FROM urlmode.show_key(7, now() - interval '1 hour');
SELECT open(93), pass('1 min');
SELECT open, minutes(open_until - now()) FROM urlmode.show_key(7, now());
SELECT open FROM urlmode.show_key(7, now() - interval '10 min');
SELECT sealed FROM urlmode.show_key(ascii('e'), now());

-- About an account somebody else may decide: its link opens it again, a later code completes it, and it ends with its expiry.
SELECT make(100, 'oauth'), open(100), event(100, 'processing', identity => 'return 1'), state(100), open(100), state(100), event(100, 'processing', identity => 'return 2'), state(100), complete(100), state(100);
SELECT make(101, 'oauth'), event(101, 'processing'), complete(101, 'decline', 'access_denied'), state(101), make(102, 'oauth'), event(102, 'processing'), pass('10 min'), complete(102), open(102), outcome FROM page(102);
