-- What has expired and was not deleted by later calls.

CREATE OR REPLACE FUNCTION urlmode_frameworks.purge(batch integer) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	name text;
	deleted bigint;
	taken bigint := 0;
BEGIN
	FOREACH name IN ARRAY ARRAY['client_request', 'mcp_session', 'stored', 'published'] LOOP
		EXECUTE format('DELETE FROM urlmode_frameworks.%1$I d WHERE d.ctid IN (
				SELECT x.ctid FROM urlmode_frameworks.%1$I x WHERE x.expires_at <= now()
				ORDER BY x.expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
			)', name) USING batch;
		GET DIAGNOSTICS deleted = ROW_COUNT;
		taken := taken + deleted;
	END LOOP;
	RETURN taken;
END
$$;
COMMENT ON FUNCTION urlmode_frameworks.purge IS
	'Internal: urlmode.purge calls it. Deletes what has expired, at most `batch` rows of each table, '
	'and returns how many.';
