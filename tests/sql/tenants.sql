-- A payment provider is of one tenant at most, and no tenant learns what another has.

CREATE FUNCTION pg_temp.sells(n integer, subject text, tenant text, item text DEFAULT 'report', checkout text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM make(n, subject => sells.subject, checkout => sells.checkout);
	UPDATE urlmode.elicitation e SET item = sells.item, tenant = sells.tenant WHERE e.id = id(n);
	RETURN 'created';
END
$$;
CREATE FUNCTION pg_temp.due(tenant text) RETURNS integer LANGUAGE sql AS $$
	SELECT n(b.id) FROM urlmode.begin_recheck_of(tenant, '["shop"]', 60000) b
$$;

-- Before the provider is anybody's, each tenant has its own rechecks, lists, refunds and numbers. Nothing of them has gaps.
SELECT pg_temp.sells(1, 'ann', 'acme'), pg_temp.sells(2, 'bob', 'south'), event(1, 'recheck'), event(2, 'recheck');
SELECT pg_temp.due(''), pg_temp.due('acme'), pg_temp.due('acme'), pg_temp.due('south'), pass('2 min');
SELECT pay(1, 'p1'), pg_temp.sells(3, 'ann', 'acme', 'seat'), pay(3, 'p3'), back(1, '1.00 EUR', 'p1', 'r1');
SELECT 'acme' AS tenant, (SELECT array_agg(n(u.elicitation)) FROM urlmode.unclaimed_of('acme', NULL, NULL, NULL) u), (SELECT array_agg(r.reference) FROM refunds(tenant => 'acme') r)
UNION ALL SELECT 'south', (SELECT array_agg(n(u.elicitation)) FROM urlmode.unclaimed_of('south', NULL, NULL, NULL) u), (SELECT array_agg(r.reference) FROM refunds(tenant => 'south') r)
UNION ALL SELECT 'none', (SELECT array_agg(u.n) FROM unclaimed() u), (SELECT array_agg(r.reference) FROM refunds() r);
SELECT (SELECT outcome FROM begins('a', 3)), fulfils('a', 3), (SELECT array_agg(u.n) FROM undelivered(tenant => 'acme') u), (SELECT array_agg(u.n) FROM undelivered(tenant => 'south') u), (SELECT array_agg(u.n) FROM undelivered() u);
SELECT follow('acme', tenant => 'acme'), follow('south', tenant => 'south');
SELECT pay(2, 'p2'), (SELECT array_agg(e.n) FROM entries('south', tenant => 'south') e), (SELECT array_agg(e.n) FROM entries('acme', tenant => 'acme') e);
SELECT l.tenant, array_agg(l.number ORDER BY l.number) FROM urlmode.ledger l GROUP BY l.tenant ORDER BY l.tenant COLLATE "C";

-- Where all entries were purged, numbers go on after those that were acknowledged.
SELECT acknowledges('south', 1, tenant => 'south'), (SELECT count(*) FROM urlmode.ledger l WHERE l.tenant = 'south');
DELETE FROM urlmode.ledger l WHERE l.tenant = 'south';
SELECT pay(2, 'p2b'), (SELECT count(*) FROM entries('south', tenant => 'south'));
SELECT l.tenant, l.number FROM urlmode.ledger l WHERE l.tenant = 'south';

-- A tenant has a hundred consumers at most, which is no other's limit; one with which nobody has read for 400 days is forgotten.
SELECT count(follow('c', 'c' || i, tenant => 'acme')) FROM generate_series(1, 99) AS i;
SELECT follow('c', 'one-more', tenant => 'acme');
SELECT follow('c', 'one-more', tenant => 'south'), pass('2 min'), follow('c', 'c1', lease => '500 days', tenant => 'acme'), pass('399 days'), follow('c', 'c2', tenant => 'acme'), pass('2 days'), purge();
SELECT c.tenant, array_agg(c.consumer::text) FROM urlmode.ledger_consumer c GROUP BY c.tenant ORDER BY c.tenant COLLATE "C";

-- The entry of the shop names acme. What south says of its payments is refused, whether acme has them or not.
SELECT reset();
SELECT urlmode.assign_providers('{shop,stall}', '{NULL,NULL}'), pg_temp.sells(1, 'ann', 'acme', checkout => 'c1'), pg_temp.sells(2, 'bob', 'south', checkout => 'c1'), event(1, 'recheck'), event(2, 'recheck');
SELECT urlmode.assign_providers('{shop,stall}', '{acme,NULL}'), urlmode.assign_providers('{shop,stall}', '{acme,NULL}');
SELECT * FROM urlmode.provider_tenant;
SELECT settle(2, price => '10.00 EUR', reference => 'p1', subject => 'bob'), settle(2, price => '10.00 EUR', reference => 'nobody has it', subject => 'bob'), settle(2, price => '11.00 EUR', reference => 'p1', subject => 'bob');
SELECT rechecks(2, ARRAY['p1 10.00 EUR paid 2 c1'], ARRAY['r1 p1 10.00 EUR paid 2 c1'], subject => 'bob'), payments(2), state(2);
SELECT rechecks(1, ARRAY['p1 10.00 EUR paid 1 c1']), payments(1), state(1);
-- Neither is what an event says of them: it is kept for the operator, and comes again when the configuration was corrected.
SELECT pay(2, 'p2', checkout => 'c1', identity => 'i2'), back(2, '1.00 EUR', refund => 'r2'), payments(2), state(2), kept_events(2);
-- A refund that names the checkout is acme's, and so is one that names south's row and the checkout.
SELECT back(NULL, '1.00 EUR', 'c1', 'r3'), payments(1), back(2, '2.00 EUR', 'c1', 'r4'), payments(1), (SELECT count(*) FROM refunds(tenant => 'south'));
-- Who creates what an event has named that came before gets none of it: it waits for its tenant.
SELECT pay(5, 'p5'), back(NULL, '3.00 EUR', 'c6', 'r6');
SELECT * FROM list_unknown();
SELECT u.tenant, u.reference FROM urlmode.unknown_event u ORDER BY u.reference;
SELECT t AS tenant, (SELECT count(*) FROM urlmode.tenant_unknown(t, NULL, NULL, 100)) FROM unnest(ARRAY['acme', 'south', '', NULL]) AS t;
SELECT pg_temp.sells(5, 'bob', 'south'), pg_temp.sells(6, 'bob', 'south', checkout => 'c6'), purge_results(), payments(5), payments(6), (SELECT count(*) FROM list_unknown());
-- South's own provider is south's, and without a tenant the shop is for all again.
SELECT urlmode.assign_providers('{shop}', '{NULL}'), pay(2, 'p2', checkout => 'c1', identity => 'i2'), payments(2), state(2);
SELECT urlmode.assign_providers('{shop}', ARRAY['']), pg_temp.sells(7, 'ann', 'acme'), settle(7, price => '10.00 EUR', reference => 'p7'), make(8), settle(8, price => '10.00 EUR', reference => 'p8');
