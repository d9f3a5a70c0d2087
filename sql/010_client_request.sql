-- The requests that MCP servers send to their clients, where the client's
-- answer may reach another instance than the one that waits for it.
--
-- A key is the SHA-256 of the session's and the request's id, so that this
-- table contains no id that gives access to a session.

SET LOCAL ROLE urlmode_owner;

CREATE DOMAIN urlmode.hash AS bytea CHECK (octet_length(VALUE) = 32);
CREATE DOMAIN urlmode.response AS bytea CHECK (octet_length(VALUE) <= 262144);
COMMENT ON DOMAIN urlmode.hash IS 'SHA-256.';
COMMENT ON DOMAIN urlmode.response IS 'Sealed response of a client, at most 262144 bytes.';

CREATE TABLE urlmode.client_request (
	key        urlmode.hash PRIMARY KEY,
	expected   boolean      NOT NULL,
	response   urlmode.response,
	expires_at timestamptz  NOT NULL,
	session    urlmode.hash
);
CREATE INDEX client_request_expires_at ON urlmode.client_request (expires_at);
CREATE INDEX client_request_unexpected ON urlmode.client_request (session, expires_at) WHERE NOT expected;
COMMENT ON TABLE urlmode.client_request IS
	'Requests of MCP servers to their clients. A row begins with the request or with its answer, whichever comes first, and ends when the answer is taken.';
COMMENT ON INDEX urlmode.client_request_expires_at IS 'Finds requests that timed out, to delete them.';
COMMENT ON INDEX urlmode.client_request_unexpected IS 'Counts the answers that came before their request, and may still be taken.';
COMMENT ON COLUMN urlmode.client_request.key IS 'SHA-256 of the session''s id and the request''s id.';
COMMENT ON COLUMN urlmode.client_request.expected IS 'Whether an instance waits for the answer. False: the answer came first.';
COMMENT ON COLUMN urlmode.client_request.session IS 'SHA-256 of the id of the session whose answer came first. NULL: the request came first, or there is no session.';
COMMENT ON COLUMN urlmode.client_request.response IS 'The JSON-RPC response, sealed. Only MCP servers open it. NULL until the client answers.';
COMMENT ON COLUMN urlmode.client_request.expires_at IS 'From then on nobody waits for it, and it may be deleted.';

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
	'An instance waits for these answers, for ttls_ms milliseconds each. Returns those that are already there, as client_request_take does. Deletes up to 100 requests that timed out.';

CREATE FUNCTION urlmode.client_request_answer(key bytea, response bytea, session bytea)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	changed bigint;
BEGIN
	UPDATE urlmode.client_request r SET response = client_request_answer.response
	WHERE r.key = client_request_answer.key AND r.response IS NULL AND r.expires_at > now();
	GET DIAGNOSTICS changed = ROW_COUNT;
	IF changed = 0 THEN
		-- A request without an answer has been written since the UPDATE, unless it has expired.
		IF EXISTS (
			SELECT FROM urlmode.client_request r WHERE r.key = client_request_answer.key
				AND (r.expected OR r.expires_at > now())
				AND (r.response IS NOT NULL OR r.expires_at <= now())
		) THEN
			RETURN 'ignored';
		END IF;
		-- A session with many answers must not take the place of the others.
		IF (
			SELECT count(*) FROM urlmode.client_request x
			WHERE NOT x.expected AND x.session = client_request_answer.session AND x.expires_at > now()
		) >= 16 OR (
			SELECT count(*) FROM (
				SELECT FROM urlmode.client_request x WHERE NOT x.expected AND x.expires_at > now() LIMIT 10000
			) y
		) = 10000 THEN
			RETURN 'full';
		END IF;
		-- The answer came before the request was written: it is kept for 30
		-- seconds. If both are being written now, it is added to the request.
		INSERT INTO urlmode.client_request AS r (key, expected, response, expires_at, session)
		VALUES (client_request_answer.key, false, client_request_answer.response, now() + interval '30 seconds',
			client_request_answer.session)
		ON CONFLICT ON CONSTRAINT client_request_pkey DO UPDATE
		SET response = EXCLUDED.response,
			expires_at = CASE WHEN r.expected THEN r.expires_at ELSE EXCLUDED.expires_at END
		WHERE r.response IS NULL OR (NOT r.expected AND r.expires_at <= now());
		GET DIAGNOSTICS changed = ROW_COUNT;
		IF changed = 0 THEN
			RETURN 'ignored';
		END IF;
	END IF;
	PERFORM pg_notify('urlmode_client', encode(client_request_answer.key, 'hex'));
	RETURN 'kept';
END
$$;
COMMENT ON FUNCTION urlmode.client_request_answer(bytea, bytea, bytea) IS
	'A client has answered. kept: the answer is there for the instance that waits, which is told with NOTIFY on channel urlmode_client, payload the key in hexadecimal; also when no instance waits yet, for 30 seconds. ignored: it was answered before, or nobody waits any more. full: there are 16 answers of this session, or 10000 of all, that no instance waits for, and this one is not kept; send it again. session: SHA-256 of its id, or NULL.';

CREATE FUNCTION urlmode.client_request_take(keys bytea[])
RETURNS TABLE (key bytea, response bytea)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM urlmode.client_request r
	WHERE r.key = ANY (keys) AND r.response IS NOT NULL
	RETURNING r.key::bytea, r.response::bytea
$$;
COMMENT ON FUNCTION urlmode.client_request_take(bytea[]) IS 'Returns the answers that are there, and deletes them.';

CREATE FUNCTION urlmode.client_request_drop(keys bytea[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM urlmode.client_request r WHERE r.key = ANY (keys)
$$;
COMMENT ON FUNCTION urlmode.client_request_drop(bytea[]) IS 'Deletes requests that nobody waits for any more.';

REVOKE ALL ON FUNCTION
	urlmode.client_request_expect(bytea[], bigint[]),
	urlmode.client_request_answer(bytea, bytea, bytea),
	urlmode.client_request_take(bytea[]),
	urlmode.client_request_drop(bytea[])
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.client_request_expect(bytea[], bigint[]),
	urlmode.client_request_answer(bytea, bytea, bytea),
	urlmode.client_request_take(bytea[]),
	urlmode.client_request_drop(bytea[])
TO urlmode_server;
