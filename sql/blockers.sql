-- Who has kept a migration waiting for a lock: transactions that are older than its lock_timeout
-- and have locked tables of urlmode, the oldest first. Changes nothing.

SELECT line FROM (
	SELECT a.xact_start AS began, format('process %s (%s) has locked %s, its transaction began %s ago', a.pid,
		concat_ws(', ', a.usename, nullif(a.application_name, ''), coalesce(a.state, a.backend_type)),
		string_agg(DISTINCT c.relname, ', '), coalesce(round(extract(epoch FROM clock_timestamp() - a.xact_start)) || ' s', 'some time')) AS line
	FROM pg_locks l
	JOIN pg_class c ON c.oid = l.relation AND c.relkind = 'r'
	JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname IN ('urlmode', 'urlmode_frameworks')
	JOIN pg_stat_activity a ON a.pid = l.pid
	WHERE l.locktype = 'relation' AND l.granted AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
		AND a.pid <> pg_backend_pid() -- Only a member of pg_read_all_stats sees when those of others began.
		AND (a.xact_start IS NULL OR a.xact_start < clock_timestamp() - interval '2 s')
	GROUP BY a.pid, a.usename, a.application_name, a.state, a.backend_type, a.xact_start
	UNION ALL
	SELECT p.prepared, format('the prepared transaction %s of %s, which is %s s old', quote_literal(p.gid), p.owner,
		round(extract(epoch FROM clock_timestamp() - p.prepared)))
	FROM pg_prepared_xacts p WHERE p.database = current_database()
) x ORDER BY began LIMIT 20;
