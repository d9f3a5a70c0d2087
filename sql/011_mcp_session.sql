-- The sessions of MCP clients, where any instance of a server may serve any
-- session, and the messages that were sent in them.
--
-- A key is the SHA-256 of a session's id, so that these tables contain no id that
-- gives access to a session.

SET LOCAL ROLE urlmode_owner;

CREATE DOMAIN urlmode.message AS jsonb CHECK (octet_length(VALUE::text) <= 1048576);
CREATE DOMAIN urlmode.stream AS text COLLATE "C" CHECK (octet_length(VALUE) <= 512);
COMMENT ON DOMAIN urlmode.message IS 'JSON-RPC message, or properties of a session, at most 1048576 bytes of text.';
COMMENT ON DOMAIN urlmode.stream IS 'Name of a stream of messages, at most 512 bytes.';

CREATE TABLE urlmode.mcp_session (
	key        urlmode.hash    PRIMARY KEY,
	meta       urlmode.message NOT NULL,
	expires_at timestamptz     NOT NULL
);
CREATE INDEX mcp_session_expires_at ON urlmode.mcp_session (expires_at);
COMMENT ON TABLE urlmode.mcp_session IS 'Sessions of MCP clients.';
COMMENT ON INDEX urlmode.mcp_session_expires_at IS 'Finds sessions that ended, to delete them.';
COMMENT ON COLUMN urlmode.mcp_session.key IS 'SHA-256 of the session''s id.';
COMMENT ON COLUMN urlmode.mcp_session.meta IS 'Protocol version, client information and capabilities.';
COMMENT ON COLUMN urlmode.mcp_session.expires_at IS 'When the session ends, unless it is used before.';

CREATE TABLE urlmode.mcp_event (
	session urlmode.hash    NOT NULL REFERENCES urlmode.mcp_session ON DELETE CASCADE,
	stream  urlmode.stream  NOT NULL,
	n       bigint          NOT NULL,
	message urlmode.message NOT NULL,
	PRIMARY KEY (session, stream, n)
);
COMMENT ON TABLE urlmode.mcp_event IS 'The last messages of each stream, for clients that lost their connection and resume it.';
COMMENT ON COLUMN urlmode.mcp_event.session IS 'Key of the session.';
COMMENT ON COLUMN urlmode.mcp_event.stream IS 'Name of the stream.';
COMMENT ON COLUMN urlmode.mcp_event.n IS 'Number of the message in its stream, from 1.';
COMMENT ON COLUMN urlmode.mcp_event.message IS 'The JSON-RPC message.';

CREATE FUNCTION urlmode.mcp_session_create(key bytea, meta jsonb, ttl_ms bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM urlmode.mcp_session s WHERE s.ctid IN (
		SELECT x.ctid FROM urlmode.mcp_session x WHERE x.expires_at <= now()
		LIMIT 100 FOR UPDATE SKIP LOCKED
	);
	INSERT INTO urlmode.mcp_session (key, meta, expires_at)
	VALUES (key, meta, now() + ttl_ms * interval '1 millisecond')
$$;
COMMENT ON FUNCTION urlmode.mcp_session_create(bytea, jsonb, bigint) IS
	'Creates a session, which ends when it is not used for ttl_ms milliseconds. Deletes up to 100 sessions that ended.';

CREATE FUNCTION urlmode.mcp_session_use(key bytea, ttl_ms bigint) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	found urlmode.mcp_session;
BEGIN
	SELECT * INTO found FROM urlmode.mcp_session s
	WHERE s.key = mcp_session_use.key AND s.expires_at > now();
	-- Only once a quarter of the time has passed, so that most calls only read.
	IF found.expires_at < now() + ttl_ms * interval '0.75 milliseconds' THEN
		UPDATE urlmode.mcp_session s SET expires_at = now() + ttl_ms * interval '1 millisecond'
		WHERE s.key = mcp_session_use.key;
	END IF;
	RETURN found.meta;
END
$$;
COMMENT ON FUNCTION urlmode.mcp_session_use(bytea, bigint) IS
	'Uses a session: returns its properties, and lets it end ttl_ms milliseconds from now. NULL: there is no such session.';

CREATE FUNCTION urlmode.mcp_session_delete(key bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM urlmode.mcp_session s WHERE s.key = mcp_session_delete.key
$$;
COMMENT ON FUNCTION urlmode.mcp_session_delete(bytea) IS 'Ends a session.';

CREATE FUNCTION urlmode.mcp_event_append(session bytea, stream text, message jsonb, keep bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	number bigint;
BEGIN
	-- The lock lets one call of a session number its message at a time.
	PERFORM FROM urlmode.mcp_session s
	WHERE s.key = mcp_event_append.session AND s.expires_at > now() FOR UPDATE;
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	SELECT coalesce(max(e.n), 0) + 1 INTO number FROM urlmode.mcp_event e
	WHERE e.session = mcp_event_append.session AND e.stream = mcp_event_append.stream;
	INSERT INTO urlmode.mcp_event (session, stream, n, message)
	VALUES (mcp_event_append.session, mcp_event_append.stream, number, mcp_event_append.message);
	DELETE FROM urlmode.mcp_event e
	WHERE e.session = mcp_event_append.session AND e.stream = mcp_event_append.stream AND e.n <= number - keep;
	RETURN number;
END
$$;
COMMENT ON FUNCTION urlmode.mcp_event_append(bytea, text, jsonb, bigint) IS
	'Appends a message to a stream and returns its number. The stream keeps its last `keep` messages. NULL: there is no such session.';

CREATE FUNCTION urlmode.mcp_events(session bytea, stream text, after bigint)
RETURNS TABLE (stream_name text, n bigint, message jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.stream::text, e.n, e.message::jsonb
	FROM urlmode.mcp_event e
	JOIN urlmode.mcp_session s ON s.key = e.session AND s.expires_at > now()
	WHERE e.session = mcp_events.session AND e.n > mcp_events.after
		AND (mcp_events.stream IS NULL OR e.stream = mcp_events.stream)
	ORDER BY e.stream, e.n
$$;
COMMENT ON FUNCTION urlmode.mcp_events(bytea, text, bigint) IS
	'The messages of a stream that are kept and have a number greater than `after`; stream NULL: of all streams of the session.';

REVOKE ALL ON FUNCTION
	urlmode.mcp_session_create(bytea, jsonb, bigint),
	urlmode.mcp_session_use(bytea, bigint),
	urlmode.mcp_session_delete(bytea),
	urlmode.mcp_event_append(bytea, text, jsonb, bigint),
	urlmode.mcp_events(bytea, text, bigint)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.mcp_session_create(bytea, jsonb, bigint),
	urlmode.mcp_session_use(bytea, bigint),
	urlmode.mcp_session_delete(bytea),
	urlmode.mcp_event_append(bytea, text, jsonb, bigint),
	urlmode.mcp_events(bytea, text, bigint)
TO urlmode_server;
