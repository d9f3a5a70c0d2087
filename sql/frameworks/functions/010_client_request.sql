CREATE OR REPLACE FUNCTION urlmode_frameworks.client_request_expect(keys bytea[], ttls_ms bigint[])
RETURNS TABLE (key bytea, response bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	DELETE FROM urlmode_frameworks.client_request r WHERE r.ctid IN (
		SELECT x.ctid FROM urlmode_frameworks.client_request x WHERE x.expires_at <= now()
		LIMIT 100 FOR UPDATE SKIP LOCKED
	);
	INSERT INTO urlmode_frameworks.client_request AS r (key, expected, expires_at)
	SELECT a.key, true, now() + a.ttl * interval '1 millisecond'
	FROM unnest(keys, ttls_ms) AS a (key, ttl)
	ORDER BY a.key
	ON CONFLICT ON CONSTRAINT client_request_pkey DO UPDATE
	SET expected = true, expires_at = EXCLUDED.expires_at;
	RETURN QUERY SELECT t.key, t.response FROM urlmode_frameworks.client_request_take(keys) t;
END
$$;
COMMENT ON FUNCTION urlmode_frameworks.client_request_expect IS
	'An instance waits for these answers, for ttls_ms milliseconds each. Returns those that are '
	'already there, as client_request_take does. Deletes up to 100 requests that timed out.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.client_request_answer(key bytea, response bytea, session bytea)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	changed bigint;
BEGIN
	UPDATE urlmode_frameworks.client_request r SET response = client_request_answer.response
	WHERE r.key = client_request_answer.key AND r.response IS NULL AND r.expires_at > now();
	GET DIAGNOSTICS changed = ROW_COUNT;
	IF changed = 0 THEN
		-- A request without an answer has been written since the UPDATE, unless it has expired.
		IF EXISTS (
			SELECT FROM urlmode_frameworks.client_request r WHERE r.key = client_request_answer.key
				AND (r.expected OR r.expires_at > now())
				AND (r.response IS NOT NULL OR r.expires_at <= now())
		) THEN
			RETURN 'ignored';
		END IF;
		-- A session with many answers must not take the place of the others.
		IF (
			SELECT count(*) FROM urlmode_frameworks.client_request x
			WHERE NOT x.expected AND x.session = client_request_answer.session AND x.expires_at > now()
		) >= 16 OR (
			SELECT count(*) FROM (
				SELECT FROM urlmode_frameworks.client_request x WHERE NOT x.expected AND x.expires_at > now() LIMIT 10000
			) y
		) = 10000 THEN
			RETURN 'full';
		END IF;
		-- The answer came before the request was written: it is kept for 30
		-- seconds. If both are being written now, it is added to the request.
		INSERT INTO urlmode_frameworks.client_request AS r (key, expected, response, expires_at, session)
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
COMMENT ON FUNCTION urlmode_frameworks.client_request_answer IS
	'A client has answered. kept: the answer is there for the instance that waits, which is told '
	'with NOTIFY on channel urlmode_client, payload the key in hexadecimal; also when no instance '
	'waits yet, for 30 seconds. ignored: it was answered before, or nobody waits any more. full: '
	'there are 16 answers of this session, or 10000 of all, that no instance waits for, and this '
	'one is not kept; send it again. session: SHA-256 of its id, or NULL.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.client_request_take(keys bytea[])
RETURNS TABLE (key bytea, response bytea)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM urlmode_frameworks.client_request r
	WHERE r.key = ANY (keys) AND r.response IS NOT NULL
	RETURNING r.key::bytea, r.response::bytea
$$;
COMMENT ON FUNCTION urlmode_frameworks.client_request_take IS
	'Returns the answers that are there, and deletes them.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.client_request_drop(keys bytea[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM urlmode_frameworks.client_request r WHERE r.key = ANY (keys)
$$;
COMMENT ON FUNCTION urlmode_frameworks.client_request_drop IS
	'Deletes requests that nobody waits for any more.';

GRANT EXECUTE ON FUNCTION
	urlmode_frameworks.client_request_expect, urlmode_frameworks.client_request_answer, urlmode_frameworks.client_request_take,
	urlmode_frameworks.client_request_drop
TO :"server";
