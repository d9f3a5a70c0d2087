-- For MCP servers whose sessions have no instance of their own: what a server
-- asked its client and waits for, the sessions, and what was sent in them.
--
-- A key is a SHA-256, of a session's id or of that and a request's: who reads
-- these tables finds no id that opens a session.

SET LOCAL ROLE urlmode_owner;

CREATE DOMAIN urlmode.hash AS bytea CHECK (octet_length(VALUE) = 32);
CREATE DOMAIN urlmode.response AS bytea CHECK (octet_length(VALUE) <= 262144);
CREATE DOMAIN urlmode.message AS jsonb CHECK (octet_length(VALUE::text) <= 1048576);
CREATE DOMAIN urlmode.stream AS text CHECK (octet_length(VALUE) <= 512);
COMMENT ON DOMAIN urlmode.hash IS 'A SHA-256.';
COMMENT ON DOMAIN urlmode.response IS 'A sealed response of a client.';
COMMENT ON DOMAIN urlmode.message IS 'A JSON-RPC message, or what is known of a session.';
COMMENT ON DOMAIN urlmode.stream IS 'The name of a stream of messages.';

CREATE TABLE urlmode.client_request (
	key        urlmode.hash PRIMARY KEY,
	expected   boolean      NOT NULL,
	response   urlmode.response,
	expires_at timestamptz  NOT NULL
);
CREATE INDEX client_request_expires_at ON urlmode.client_request (expires_at);
CREATE INDEX client_request_unexpected ON urlmode.client_request (key) WHERE NOT expected;
COMMENT ON TABLE urlmode.client_request IS
	'What a server asked its client: one row from the question to its answer being taken, whichever came first.';
COMMENT ON INDEX urlmode.client_request_expires_at IS 'For clearing away what timed out.';
COMMENT ON INDEX urlmode.client_request_unexpected IS 'For counting the answers that came before their question.';
COMMENT ON COLUMN urlmode.client_request.key IS 'SHA-256 of the session''s and the request''s id.';
COMMENT ON COLUMN urlmode.client_request.expected IS 'Whether an instance waits for it.';
COMMENT ON COLUMN urlmode.client_request.response IS 'The JSON-RPC response, sealed; only MCP servers open it.';
COMMENT ON COLUMN urlmode.client_request.expires_at IS 'From then on nobody waits for it, and it is cleared away.';

CREATE TABLE urlmode.mcp_session (
	key        urlmode.hash    PRIMARY KEY,
	meta       urlmode.message NOT NULL,
	expires_at timestamptz     NOT NULL
);
CREATE INDEX mcp_session_expires_at ON urlmode.mcp_session (expires_at);
COMMENT ON TABLE urlmode.mcp_session IS 'The sessions of MCP clients, whichever instance they speak to.';
COMMENT ON INDEX urlmode.mcp_session_expires_at IS 'For clearing away what was not used any more.';
COMMENT ON COLUMN urlmode.mcp_session.key IS 'SHA-256 of the session''s id.';
COMMENT ON COLUMN urlmode.mcp_session.meta IS 'Protocol version, client information and capabilities.';
COMMENT ON COLUMN urlmode.mcp_session.expires_at IS 'Moves on with every use.';

CREATE TABLE urlmode.mcp_event (
	session urlmode.hash    NOT NULL REFERENCES urlmode.mcp_session ON DELETE CASCADE,
	stream  urlmode.stream  NOT NULL,
	n       bigint          NOT NULL,
	message urlmode.message NOT NULL,
	PRIMARY KEY (session, stream, n)
);
COMMENT ON TABLE urlmode.mcp_event IS 'The last messages of each stream, for a client that lost its connection.';
COMMENT ON COLUMN urlmode.mcp_event.session IS 'Whose.';
COMMENT ON COLUMN urlmode.mcp_event.stream IS 'In which stream.';
COMMENT ON COLUMN urlmode.mcp_event.n IS 'Its number in the stream, from 1.';
COMMENT ON COLUMN urlmode.mcp_event.message IS 'The JSON-RPC message.';

CREATE FUNCTION urlmode.client_request_expect(keys bytea[], ttls_ms bigint[])
RETURNS TABLE (key bytea, response bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	DELETE FROM urlmode.client_request r WHERE r.ctid IN (
		SELECT x.ctid FROM urlmode.client_request x WHERE x.expires_at <= now()
		LIMIT 100 FOR UPDATE SKIP LOCKED
	);
	INSERT INTO urlmode.client_request AS r (key, expected, expires_at)
	SELECT a.key, true, now() + a.ttl * interval '1 millisecond'
	FROM unnest(keys, ttls_ms) AS a (key, ttl)
	ORDER BY a.key
	ON CONFLICT ON CONSTRAINT client_request_pkey DO UPDATE
	SET expected = true, expires_at = EXCLUDED.expires_at;
	RETURN QUERY SELECT t.key, t.response FROM urlmode.client_request_take(keys) t;
END
$$;
COMMENT ON FUNCTION urlmode.client_request_expect(bytea[], bigint[]) IS
	'An instance waits for these answers, each for so many milliseconds; those that are there already are taken. Clears away some of what timed out.';

CREATE FUNCTION urlmode.client_request_answer(key bytea, response bytea)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	changed bigint;
BEGIN
	UPDATE urlmode.client_request r SET response = client_request_answer.response
	WHERE r.key = client_request_answer.key AND r.response IS NULL AND r.expires_at > now();
	GET DIAGNOSTICS changed = ROW_COUNT;
	IF changed = 0 AND (
		SELECT count(*) FROM (SELECT FROM urlmode.client_request x WHERE NOT x.expected LIMIT 1000) y
	) < 1000 THEN
		-- Faster than its question was written: kept for a moment. Or both
		-- are being written at this instant.
		INSERT INTO urlmode.client_request AS r (key, expected, response, expires_at)
		VALUES (client_request_answer.key, false, client_request_answer.response, now() + interval '30 seconds')
		ON CONFLICT ON CONSTRAINT client_request_pkey DO UPDATE
		SET response = EXCLUDED.response
		WHERE r.response IS NULL AND r.expires_at > now();
		GET DIAGNOSTICS changed = ROW_COUNT;
	END IF;
	IF changed = 1 THEN
		PERFORM pg_notify('urlmode_client', encode(client_request_answer.key, 'hex'));
	END IF;
	RETURN changed = 1;
END
$$;
COMMENT ON FUNCTION urlmode.client_request_answer(bytea, bytea) IS
	'A client has answered: kept for the instance that waits, which is told on channel urlmode_client. False: it had answered before, nobody waits any more, or too many answers came that nobody asked for.';

CREATE FUNCTION urlmode.client_request_take(keys bytea[])
RETURNS TABLE (key bytea, response bytea)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM urlmode.client_request r
	WHERE r.key = ANY (keys) AND r.response IS NOT NULL
	RETURNING r.key::bytea, r.response::bytea
$$;
COMMENT ON FUNCTION urlmode.client_request_take(bytea[]) IS 'The answers that are there, each of them once.';

CREATE FUNCTION urlmode.client_request_drop(keys bytea[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM urlmode.client_request r WHERE r.key = ANY (keys)
$$;
COMMENT ON FUNCTION urlmode.client_request_drop(bytea[]) IS 'Nobody waits for these answers any more.';

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
	'Begins a session that ends when nobody has used it for so many milliseconds. Clears away some of those that have.';

CREATE FUNCTION urlmode.mcp_session_use(key bytea, ttl_ms bigint) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	found urlmode.mcp_session;
BEGIN
	SELECT * INTO found FROM urlmode.mcp_session s
	WHERE s.key = mcp_session_use.key AND s.expires_at > now();
	-- Not with every use, so that most of them only read.
	IF found.expires_at < now() + ttl_ms * interval '0.75 milliseconds' THEN
		UPDATE urlmode.mcp_session s SET expires_at = now() + ttl_ms * interval '1 millisecond'
		WHERE s.key = mcp_session_use.key;
	END IF;
	RETURN found.meta;
END
$$;
COMMENT ON FUNCTION urlmode.mcp_session_use(bytea, bigint) IS
	'What is known of a session, which is used; NULL: there is none.';

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
	-- One after another, in one session.
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
	'Adds a message to a stream, of which so many are kept, and answers its number; NULL: there is no such session.';

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
	'The messages of a stream, or of all streams where that is NULL, that are kept and come after a number.';

REVOKE ALL ON FUNCTION
	urlmode.client_request_expect(bytea[], bigint[]),
	urlmode.client_request_answer(bytea, bytea),
	urlmode.client_request_take(bytea[]),
	urlmode.client_request_drop(bytea[]),
	urlmode.mcp_session_create(bytea, jsonb, bigint),
	urlmode.mcp_session_use(bytea, bigint),
	urlmode.mcp_session_delete(bytea),
	urlmode.mcp_event_append(bytea, text, jsonb, bigint),
	urlmode.mcp_events(bytea, text, bigint)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.client_request_expect(bytea[], bigint[]),
	urlmode.client_request_answer(bytea, bytea),
	urlmode.client_request_take(bytea[]),
	urlmode.client_request_drop(bytea[]),
	urlmode.mcp_session_create(bytea, jsonb, bigint),
	urlmode.mcp_session_use(bytea, bigint),
	urlmode.mcp_session_delete(bytea),
	urlmode.mcp_event_append(bytea, text, jsonb, bigint),
	urlmode.mcp_events(bytea, text, bigint)
TO urlmode_server;
