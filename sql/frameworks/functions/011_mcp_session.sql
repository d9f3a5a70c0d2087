CREATE OR REPLACE FUNCTION urlmode_frameworks.mcp_session_create(key bytea, meta jsonb, ttl_ms bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM urlmode_frameworks.mcp_session s WHERE s.ctid IN (
		SELECT x.ctid FROM urlmode_frameworks.mcp_session x WHERE x.expires_at <= now()
		LIMIT 100 FOR UPDATE SKIP LOCKED
	);
	INSERT INTO urlmode_frameworks.mcp_session (key, meta, expires_at)
	VALUES (key, meta, now() + ttl_ms * interval '1 millisecond')
$$;
COMMENT ON FUNCTION urlmode_frameworks.mcp_session_create IS
	'Creates a session, which ends when it is not used for ttl_ms milliseconds. Deletes up to 100 '
	'sessions that ended.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.mcp_session_use(key bytea, ttl_ms bigint) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	found urlmode_frameworks.mcp_session;
BEGIN
	SELECT * INTO found FROM urlmode_frameworks.mcp_session s
	WHERE s.key = mcp_session_use.key AND s.expires_at > now();
	-- Only once a quarter of the time has passed, so that most calls only read.
	IF found.expires_at < now() + ttl_ms * interval '0.75 milliseconds' THEN
		UPDATE urlmode_frameworks.mcp_session s SET expires_at = now() + ttl_ms * interval '1 millisecond'
		WHERE s.key = mcp_session_use.key;
	END IF;
	RETURN found.meta;
END
$$;
COMMENT ON FUNCTION urlmode_frameworks.mcp_session_use IS
	'Uses a session: returns its properties, and lets it end ttl_ms milliseconds from now. NULL: '
	'there is no such session.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.mcp_session_delete(key bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM urlmode_frameworks.mcp_session s WHERE s.key = mcp_session_delete.key
$$;
COMMENT ON FUNCTION urlmode_frameworks.mcp_session_delete IS 'Ends a session.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.mcp_event_append(session bytea, stream text, message jsonb, keep bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	number bigint;
BEGIN
	-- The lock lets one call of a session number its message at a time.
	PERFORM FROM urlmode_frameworks.mcp_session s
	WHERE s.key = mcp_event_append.session AND s.expires_at > now() FOR UPDATE;
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	SELECT coalesce(max(e.n), 0) + 1 INTO number FROM urlmode_frameworks.mcp_event e
	WHERE e.session = mcp_event_append.session AND e.stream = mcp_event_append.stream;
	INSERT INTO urlmode_frameworks.mcp_event (session, stream, n, message)
	VALUES (mcp_event_append.session, mcp_event_append.stream, number, mcp_event_append.message);
	DELETE FROM urlmode_frameworks.mcp_event e
	WHERE e.session = mcp_event_append.session AND e.stream = mcp_event_append.stream AND e.n <= number - keep;
	RETURN number;
END
$$;
COMMENT ON FUNCTION urlmode_frameworks.mcp_event_append IS
	'Appends a message to a stream and returns its number. The stream keeps its last `keep` '
	'messages. NULL: there is no such session.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.mcp_events(session bytea, stream text, after bigint)
RETURNS TABLE (stream_name text, n bigint, message jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.stream::text, e.n, e.message::jsonb
	FROM urlmode_frameworks.mcp_event e
	JOIN urlmode_frameworks.mcp_session s ON s.key = e.session AND s.expires_at > now()
	WHERE e.session = mcp_events.session AND e.n > mcp_events.after
		AND (mcp_events.stream IS NULL OR e.stream = mcp_events.stream)
	ORDER BY e.stream, e.n
$$;
COMMENT ON FUNCTION urlmode_frameworks.mcp_events IS
	'The messages of a stream that are kept and have a number greater than `after`; stream NULL: '
	'of all streams of the session.';

GRANT EXECUTE ON FUNCTION
	urlmode_frameworks.mcp_session_create, urlmode_frameworks.mcp_session_use, urlmode_frameworks.mcp_session_delete,
	urlmode_frameworks.mcp_event_append, urlmode_frameworks.mcp_events
TO :"server";
