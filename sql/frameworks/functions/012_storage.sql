CREATE OR REPLACE FUNCTION urlmode_frameworks.stored_get(keys text[])
RETURNS TABLE (value text, ttl_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT s.value::text, ceil(extract(epoch FROM s.expires_at - now()) * 1000)::bigint
	FROM unnest(keys) WITH ORDINALITY AS a (key, n)
	LEFT JOIN urlmode_frameworks.stored s ON s.key = a.key AND (s.expires_at IS NULL OR s.expires_at > now())
	ORDER BY a.n
$$;
COMMENT ON FUNCTION urlmode_frameworks.stored_get IS
	'The values, in the order of the keys, and how many milliseconds they have left. value NULL: '
	'there is none. ttl_ms NULL: it does not expire.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.stored_clear() RETURNS void
LANGUAGE sql AS $$
	DELETE FROM urlmode_frameworks.stored s WHERE s.ctid IN (
		SELECT x.ctid FROM urlmode_frameworks.stored x WHERE x.expires_at <= now() LIMIT 100 FOR UPDATE SKIP LOCKED
	)
$$;
COMMENT ON FUNCTION urlmode_frameworks.stored_clear IS 'Internal. Deletes up to 100 values that expired.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.stored_set(keys text[], vals text[], ttls_ms bigint[], conditions text[])
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	item record;
	changed bigint;
	total bigint := 0;
BEGIN
	PERFORM urlmode_frameworks.stored_clear();
	FOR item IN
		SELECT a.key, a.value, now() + a.ttl * interval '1 millisecond' AS expires, a.condition
		FROM unnest(keys, vals, ttls_ms, conditions) AS a (key, value, ttl, condition)
		ORDER BY a.key
	LOOP
		IF item.condition = 'present' THEN
			UPDATE urlmode_frameworks.stored s SET value = item.value, expires_at = item.expires
			WHERE s.key = item.key AND (s.expires_at IS NULL OR s.expires_at > now());
		ELSE
			INSERT INTO urlmode_frameworks.stored AS s (key, value, expires_at)
			VALUES (item.key, item.value, item.expires)
			ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, expires_at = EXCLUDED.expires_at
			WHERE item.condition IS NULL OR s.expires_at <= now();
		END IF;
		GET DIAGNOSTICS changed = ROW_COUNT;
		total := total + changed;
	END LOOP;
	RETURN total;
END
$$;
COMMENT ON FUNCTION urlmode_frameworks.stored_set IS
	'Sets values, and returns how many were set. vals: the values. ttls_ms: milliseconds; NULL: it '
	'does not expire. conditions: absent sets only where there is no value, present only where '
	'there is one, NULL in both cases.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.stored_delete(keys text[]) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH deleted AS (
		DELETE FROM urlmode_frameworks.stored s WHERE s.key = ANY (keys)
		RETURNING s.expires_at IS NULL OR s.expires_at > now() AS there
	)
	SELECT count(*) FILTER (WHERE d.there) FROM deleted d
$$;
COMMENT ON FUNCTION urlmode_frameworks.stored_delete IS 'Deletes values, and returns how many there were.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.stored_expire(key text, ttl_ms bigint) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH changed AS (
		UPDATE urlmode_frameworks.stored s SET expires_at = now() + ttl_ms * interval '1 millisecond'
		WHERE s.key = stored_expire.key AND (s.expires_at IS NULL OR s.expires_at > now())
		RETURNING s.key
	)
	SELECT EXISTS (SELECT FROM changed)
$$;
COMMENT ON FUNCTION urlmode_frameworks.stored_expire IS
	'Lets a value expire ttl_ms milliseconds from now. False: there is none.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.stored_keys(pattern text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT s.key::text FROM urlmode_frameworks.stored s
	WHERE s.key LIKE pattern AND (s.expires_at IS NULL OR s.expires_at > now())
	ORDER BY s.key
$$;
COMMENT ON FUNCTION urlmode_frameworks.stored_keys IS 'The keys that match a LIKE pattern.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.stored_add(key text, amount bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	sum bigint;
BEGIN
	INSERT INTO urlmode_frameworks.stored AS s (key, value) VALUES (stored_add.key, amount::text)
	ON CONFLICT ON CONSTRAINT stored_pkey DO UPDATE
	SET value = CASE WHEN s.expires_at <= now() THEN EXCLUDED.value
			ELSE (s.value::bigint + amount)::text END,
		expires_at = CASE WHEN s.expires_at <= now() THEN NULL ELSE s.expires_at END
	RETURNING s.value::bigint INTO sum;
	RETURN sum;
END
$$;
COMMENT ON FUNCTION urlmode_frameworks.stored_add IS
	'Adds to a whole number and returns the sum. A value that does not exist counts as 0.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.publish(channel text, message text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	DELETE FROM urlmode_frameworks.published p WHERE p.ctid IN (
		SELECT x.ctid FROM urlmode_frameworks.published x WHERE x.expires_at <= now() LIMIT 100 FOR UPDATE SKIP LOCKED
	);
	-- One after another, so that the messages of a channel can be read in the order
	-- of their ids: once a message is visible, none with a smaller id can appear.
	-- PostgreSQL commits notifications one after another anyway.
	PERFORM pg_advisory_xact_lock(hashtextextended('urlmode channel ' || publish.channel, 0));
	INSERT INTO urlmode_frameworks.published (channel, message) VALUES (publish.channel, publish.message);
	PERFORM pg_notify('urlmode_published', encode(sha256(convert_to(publish.channel, 'UTF8')), 'hex'));
END
$$;
COMMENT ON FUNCTION urlmode_frameworks.publish IS
	'Publishes a message in a channel. Its subscribers are told with NOTIFY on channel '
	'urlmode_published, payload the SHA-256 of the name in hexadecimal. Deletes up to 100 messages '
	'that expired.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.published_last() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('urlmode_frameworks.published', 'id')::regclass), 0)
$$;
COMMENT ON FUNCTION urlmode_frameworks.published_last IS
	'The id of the last message of all channels; 0: there was none.';

CREATE OR REPLACE FUNCTION urlmode_frameworks.published_since(channels text[], since bigint[])
RETURNS TABLE (id bigint, channel text, message text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.id, p.channel::text, p.message::text
	FROM unnest(channels, since) AS a (channel, since)
	JOIN urlmode_frameworks.published p ON p.channel = a.channel AND p.id > a.since AND p.expires_at > now()
	ORDER BY p.id
$$;
COMMENT ON FUNCTION urlmode_frameworks.published_since IS
	'The messages of each channel with an id greater than the `since` beside it, in the order of '
	'their ids.';

GRANT EXECUTE ON FUNCTION
	urlmode_frameworks.stored_get, urlmode_frameworks.stored_set, urlmode_frameworks.stored_delete, urlmode_frameworks.stored_expire,
	urlmode_frameworks.stored_keys, urlmode_frameworks.stored_add, urlmode_frameworks.publish, urlmode_frameworks.published_last,
	urlmode_frameworks.published_since
TO :"server";
