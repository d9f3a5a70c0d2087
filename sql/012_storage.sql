-- A key-value store with expiry, and channels of messages, for MCP frameworks
-- whose instances share them.

SET LOCAL ROLE urlmode_owner;

CREATE DOMAIN urlmode.name AS text COLLATE "C" CHECK (octet_length(VALUE) BETWEEN 1 AND 2048);
CREATE DOMAIN urlmode.value AS text CHECK (octet_length(VALUE) <= 1048576);
COMMENT ON DOMAIN urlmode.name IS 'Name of a key or a channel, 1 to 2048 bytes.';
COMMENT ON DOMAIN urlmode.value IS 'Value of a key, or a message, at most 1048576 bytes.';

CREATE TABLE urlmode.stored (
	key        urlmode.name  PRIMARY KEY,
	value      urlmode.value NOT NULL,
	expires_at timestamptz
);
CREATE INDEX stored_expires_at ON urlmode.stored (expires_at) WHERE expires_at IS NOT NULL;
COMMENT ON TABLE urlmode.stored IS 'Values that MCP frameworks store.';
COMMENT ON INDEX urlmode.stored_expires_at IS 'Finds values that expired, to delete them.';
COMMENT ON COLUMN urlmode.stored.key IS 'Key that the framework chose.';
COMMENT ON COLUMN urlmode.stored.value IS 'Text that the framework stored.';
COMMENT ON COLUMN urlmode.stored.expires_at IS 'From then on the value does not exist any more. NULL: it does not expire.';

CREATE TABLE urlmode.published (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	channel    urlmode.name  NOT NULL,
	message    urlmode.value NOT NULL,
	expires_at timestamptz   NOT NULL DEFAULT now() + interval '10 minutes'
);
CREATE INDEX published_channel ON urlmode.published (channel, id);
CREATE INDEX published_expires_at ON urlmode.published (expires_at);
COMMENT ON TABLE urlmode.published IS
	'Messages of channels, kept for ten minutes, so that a subscriber that lost its connection can read the messages that it missed.';
COMMENT ON INDEX urlmode.published_channel IS 'Finds the messages that a subscriber has not read.';
COMMENT ON INDEX urlmode.published_expires_at IS 'Finds messages that expired, to delete them.';
COMMENT ON COLUMN urlmode.published.id IS 'Number of the message, ascending over all channels.';
COMMENT ON COLUMN urlmode.published.channel IS 'Channel that the framework chose.';
COMMENT ON COLUMN urlmode.published.message IS 'Text that the framework published.';
COMMENT ON COLUMN urlmode.published.expires_at IS 'From then on it is not read, and may be deleted.';

CREATE FUNCTION urlmode.stored_get(keys text[])
RETURNS TABLE (value text, ttl_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT s.value::text, ceil(extract(epoch FROM s.expires_at - now()) * 1000)::bigint
	FROM unnest(keys) WITH ORDINALITY AS a (key, n)
	LEFT JOIN urlmode.stored s ON s.key = a.key AND (s.expires_at IS NULL OR s.expires_at > now())
	ORDER BY a.n
$$;
COMMENT ON FUNCTION urlmode.stored_get(text[]) IS
	'The values, in the order of the keys, and how many milliseconds they have left. value NULL: there is none. ttl_ms NULL: it does not expire.';

CREATE FUNCTION urlmode.stored_clear() RETURNS void
LANGUAGE sql AS $$
	DELETE FROM urlmode.stored s WHERE s.ctid IN (
		SELECT x.ctid FROM urlmode.stored x WHERE x.expires_at <= now() LIMIT 100 FOR UPDATE SKIP LOCKED
	)
$$;
COMMENT ON FUNCTION urlmode.stored_clear() IS 'Internal. Deletes up to 100 values that expired.';

CREATE FUNCTION urlmode.stored_set(keys text[], vals text[], ttls_ms bigint[], conditions text[])
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	item record;
	changed bigint;
	total bigint := 0;
BEGIN
	PERFORM urlmode.stored_clear();
	FOR item IN
		SELECT a.key, a.value, now() + a.ttl * interval '1 millisecond' AS expires, a.condition
		FROM unnest(keys, vals, ttls_ms, conditions) AS a (key, value, ttl, condition)
		ORDER BY a.key
	LOOP
		IF item.condition = 'present' THEN
			UPDATE urlmode.stored s SET value = item.value, expires_at = item.expires
			WHERE s.key = item.key AND (s.expires_at IS NULL OR s.expires_at > now());
		ELSE
			INSERT INTO urlmode.stored AS s (key, value, expires_at)
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
COMMENT ON FUNCTION urlmode.stored_set(text[], text[], bigint[], text[]) IS
	'Sets values, and returns how many were set. vals: the values. ttls_ms: milliseconds; NULL: it does not expire. conditions: absent sets only where there is no value, present only where there is one, NULL in both cases.';

CREATE FUNCTION urlmode.stored_delete(keys text[]) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH deleted AS (
		DELETE FROM urlmode.stored s WHERE s.key = ANY (keys)
		RETURNING s.expires_at IS NULL OR s.expires_at > now() AS there
	)
	SELECT count(*) FILTER (WHERE d.there) FROM deleted d
$$;
COMMENT ON FUNCTION urlmode.stored_delete(text[]) IS 'Deletes values, and returns how many there were.';

CREATE FUNCTION urlmode.stored_expire(key text, ttl_ms bigint) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH changed AS (
		UPDATE urlmode.stored s SET expires_at = now() + ttl_ms * interval '1 millisecond'
		WHERE s.key = stored_expire.key AND (s.expires_at IS NULL OR s.expires_at > now())
		RETURNING s.key
	)
	SELECT EXISTS (SELECT FROM changed)
$$;
COMMENT ON FUNCTION urlmode.stored_expire(text, bigint) IS
	'Lets a value expire ttl_ms milliseconds from now. False: there is none.';

CREATE FUNCTION urlmode.stored_keys(pattern text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT s.key::text FROM urlmode.stored s
	WHERE s.key LIKE pattern AND (s.expires_at IS NULL OR s.expires_at > now())
	ORDER BY s.key
$$;
COMMENT ON FUNCTION urlmode.stored_keys(text) IS 'The keys that match a LIKE pattern.';

CREATE FUNCTION urlmode.stored_add(key text, amount bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	sum bigint;
BEGIN
	INSERT INTO urlmode.stored AS s (key, value) VALUES (stored_add.key, amount::text)
	ON CONFLICT ON CONSTRAINT stored_pkey DO UPDATE
	SET value = CASE WHEN s.expires_at <= now() THEN EXCLUDED.value
			ELSE (s.value::bigint + amount)::text END,
		expires_at = CASE WHEN s.expires_at <= now() THEN NULL ELSE s.expires_at END
	RETURNING s.value::bigint INTO sum;
	RETURN sum;
END
$$;
COMMENT ON FUNCTION urlmode.stored_add(text, bigint) IS
	'Adds to a whole number and returns the sum. A value that does not exist counts as 0.';

CREATE FUNCTION urlmode.publish(channel text, message text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	DELETE FROM urlmode.published p WHERE p.ctid IN (
		SELECT x.ctid FROM urlmode.published x WHERE x.expires_at <= now() LIMIT 100 FOR UPDATE SKIP LOCKED
	);
	-- One after another, so that the messages of a channel can be read in the order
	-- of their ids: once a message is visible, none with a smaller id can appear.
	-- PostgreSQL commits notifications one after another anyway.
	PERFORM pg_advisory_xact_lock(hashtextextended('urlmode channel ' || publish.channel, 0));
	INSERT INTO urlmode.published (channel, message) VALUES (publish.channel, publish.message);
	PERFORM pg_notify('urlmode_published', encode(sha256(convert_to(publish.channel, 'UTF8')), 'hex'));
END
$$;
COMMENT ON FUNCTION urlmode.publish(text, text) IS
	'Publishes a message in a channel. Its subscribers are told with NOTIFY on channel urlmode_published, payload the SHA-256 of the name in hexadecimal. Deletes up to 100 messages that expired.';

CREATE FUNCTION urlmode.published_last() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('urlmode.published', 'id')::regclass), 0)
$$;
COMMENT ON FUNCTION urlmode.published_last() IS
	'The id of the last message of all channels; 0: there was none.';

CREATE FUNCTION urlmode.published_since(channels text[], since bigint[])
RETURNS TABLE (id bigint, channel text, message text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.id, p.channel::text, p.message::text
	FROM unnest(channels, since) AS a (channel, since)
	JOIN urlmode.published p ON p.channel = a.channel AND p.id > a.since AND p.expires_at > now()
	ORDER BY p.id
$$;
COMMENT ON FUNCTION urlmode.published_since(text[], bigint[]) IS
	'The messages of each channel with an id greater than the `since` beside it, in the order of their ids.';

REVOKE ALL ON FUNCTION
	urlmode.stored_get(text[]),
	urlmode.stored_clear(),
	urlmode.stored_set(text[], text[], bigint[], text[]),
	urlmode.stored_delete(text[]),
	urlmode.stored_expire(text, bigint),
	urlmode.stored_keys(text),
	urlmode.stored_add(text, bigint),
	urlmode.publish(text, text),
	urlmode.published_last(),
	urlmode.published_since(text[], bigint[])
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.stored_get(text[]),
	urlmode.stored_set(text[], text[], bigint[], text[]),
	urlmode.stored_delete(text[]),
	urlmode.stored_expire(text, bigint),
	urlmode.stored_keys(text),
	urlmode.stored_add(text, bigint),
	urlmode.publish(text, text),
	urlmode.published_last(),
	urlmode.published_since(text[], bigint[])
TO urlmode_server;
