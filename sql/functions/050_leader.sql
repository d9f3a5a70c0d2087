-- Whether a server leads, for whoever has a commit that is not answered.
--
-- A primary that was cut off from its cluster still takes writes, and its commits wait for
-- a standby without end. A promotion begins a new timeline: of two servers that are out of
-- recovery, the one with the higher timeline leads. The timeline is that of the WAL that is
-- written; the control file has it only after the next checkpoint.

CREATE OR REPLACE FUNCTION urlmode.leader(process integer)
RETURNS TABLE (timeline text, pid integer, works boolean, session integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END,
		pg_backend_pid(),
		(SELECT a.wait_event IS DISTINCT FROM 'SyncRep' FROM pg_stat_activity a
		WHERE a.pid = process AND a.usename = session_user AND a.state = 'active'),
		pg_backend_pid()
$$;
COMMENT ON FUNCTION urlmode.leader IS
	'timeline: of this server, eight hexadecimal digits; NULL: it is in recovery. pid: the process '
	'of this session. works: whether that process, of the same login, is at a statement, also one that '
	'waits for a lock; false: its commit waits for a standby; NULL: it has no statement under way, or '
	'is not of this server. session: pid by the name that packages of before 1.0.0 read.';

GRANT EXECUTE ON FUNCTION urlmode.leader TO :"cgi", :"server", :"operator";
