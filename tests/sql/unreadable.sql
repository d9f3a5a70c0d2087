-- A delivery whose signature is right, and that cannot be read, is listed for the operator.

LISTEN urlmode;

-- One that comes again is the same line, with the place and the request of the last time; nobody is woken.
SELECT unreadable('a', '/type', 'r1'), pass('2 hours'), unreadable('a', '/amount', 'r2'), unreadable('b', '/events', 'r3'), unreadable('a', provider => 'other', request => 'r4');
SELECT * FROM list_unreadable();
-- The operator may ask for one provider, a time, and the last ones.
SELECT provider_name, request FROM list_unreadable('shop');
SELECT pass('1 day'), unreadable('c', request => 'r5');
SELECT request FROM list_unreadable(since => '1 hour');
SELECT request FROM list_unreadable(most => 2);

-- In a batch it counts as often as it is there, and its last place counts.
SELECT unreadables('[{"body": "d", "place": "/first", "request": "r6"}, {"body": "a", "request": "r7"}, {"body": "d", "place": "/last", "request": "r8"}, {"body": "a", "request": "r9"}]');
SELECT place, request, times FROM list_unreadable('shop', '1 hour');
SELECT unreadables('[]');

-- Of each provider the last thousand are kept: those that came last longest ago go first.
SELECT reset();
SELECT sum(unreadable('old ' || i)) FROM generate_series(1, 999) AS i;
SELECT unreadable('old 1'), unreadable('new', request => 'new'), unreadable('other', provider => 'other');
SELECT provider, count(*), bool_or(digest = digest('old 1')) AS again, bool_or(digest = digest('old 2')) AS oldest FROM urlmode.unreadable_delivery GROUP BY 1 ORDER BY 1;
SELECT unreadables(jsonb_agg(jsonb_build_object('body', 'more ' || i))) FROM generate_series(1, 2) AS i;
SELECT provider, count(*), bool_or(digest = digest('old 1')) AS again, bool_or(digest IN (digest('old 2'), digest('old 3'))) AS oldest, bool_or(digest = digest('old 4')) AS next FROM urlmode.unreadable_delivery GROUP BY 1 ORDER BY 1;
-- A batch of more than a thousand leaves a thousand.
SELECT unreadables(jsonb_agg(jsonb_build_object('body', 'flood ' || i))) FROM generate_series(1, 1500) AS i;
SELECT provider, count(*) FROM urlmode.unreadable_delivery GROUP BY 1 ORDER BY 1;

-- For thirty days after it came last.
SELECT reset(), unreadable('a'), unreadable('b'), pass('29 days'), unreadable('a'), purge(kind => 'stored');
SELECT pass('2 days'), purge(kind => 'stored');
SELECT times, age FROM list_unreadable();
SELECT pass('29 days'), purge(kind => 'stored');
SELECT count(*) FROM list_unreadable();
SELECT sum(unreadable('many ' || i)), pass('31 days'), purge(kind => 'stored', batch => 2) FROM generate_series(1, 5) AS i;

-- A value that the function does not take.
SELECT urlmode.record_unreadable('{shop}', ARRAY['short'::bytea], '{body_malformed}', '{/type}', '{r}');
SELECT urlmode.record_unreadable('{shop}', ARRAY[digest('x')], '{body_malformed}', ARRAY[repeat('x', 401)], '{r}');
