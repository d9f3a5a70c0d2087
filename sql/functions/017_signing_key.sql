-- Public keys of providers that give them one at a time, for a key id (`kid`) and for
-- credentials. The callback programs have no credentials and call nobody: they ask
-- for a key here, and the MCP server fetches it.
--
--   look_up_signing_keys  cgi: the key of each id, or asks for it
--   take_signing_key      server: an id that was asked for, for one instance
--   keep_signing_key      server: the key, or that there is none
--   list_wanted_keys      operator: the ids that wait for it, and no key
--
-- Only the MCP server can write a key, so that who has the login of the programs can
-- have no delivery verified with a key of his own.
--
-- Anybody can invent ids. So at most urlmode.max_wanted_keys() of each provider are
-- kept without a key, and the oldest go first: the provider repeats its delivery.

CREATE OR REPLACE FUNCTION urlmode.max_wanted_keys() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 20
$$;
COMMENT ON FUNCTION urlmode.max_wanted_keys IS
	'Internal. How many ids without a key are kept of one provider. The oldest go first.';

CREATE OR REPLACE FUNCTION urlmode.look_up_signing_keys(providers text[], kids text[])
RETURNS TABLE (outcome text, key text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '20ms' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	asked text[];
BEGIN
	WITH due AS (
		SELECT DISTINCT a.provider, a.kid
		FROM unnest(providers, kids) AS a (provider, kid)
		LEFT JOIN urlmode.signing_key k ON k.provider = a.provider AND k.kid = a.kid
		-- One that is used is fetched again each hour, so that its end becomes known.
		WHERE (k.fetched_at IS NULL
				OR (k.key IS NULL AND k.fetched_at < now() - interval '5 minutes')
				OR (k.key IS NOT NULL AND k.fetched_at < now() - interval '1 hour'
					AND coalesce(k.expires_at > now(), true)))
			-- A repeated delivery announces it again, should nobody have listened.
			AND coalesce(k.wanted_at < now() - interval '5 seconds', true)
		ORDER BY a.provider, a.kid
	), wanted AS (
		INSERT INTO urlmode.signing_key AS s (provider, kid, wanted_at, wanted_since)
		SELECT d.provider, d.kid, now(), now() FROM due d
		ON CONFLICT (provider, kid) DO UPDATE SET wanted_at = now(), wanted_since = coalesce(s.wanted_since, now())
		RETURNING s.provider
	)
	SELECT array_agg(DISTINCT w.provider::text) INTO asked FROM wanted w;
	IF asked IS NOT NULL THEN
		DELETE FROM urlmode.signing_key s WHERE s.ctid IN (
			SELECT o.ctid FROM urlmode.signing_key o
			WHERE (o.provider, o.kid) IN (
				SELECT x.provider, x.kid FROM (
					SELECT y.provider, y.kid, row_number() OVER (
						PARTITION BY y.provider ORDER BY coalesce(y.wanted_at, y.fetched_at) DESC, y.kid) AS age
					FROM urlmode.signing_key y WHERE y.provider = ANY (asked) AND y.key IS NULL
				) x
				WHERE x.age > urlmode.max_wanted_keys()
			)
			FOR UPDATE SKIP LOCKED
		);
		PERFORM pg_notify('urlmode_keys', '');
	END IF;
	RETURN QUERY
	SELECT CASE
			WHEN k.key IS NULL AND k.fetched_at IS NOT NULL THEN 'unknown'
			WHEN k.expires_at <= now() THEN 'expired'
			-- Nobody has fetched it again for a day.
			WHEN k.key IS NULL OR k.fetched_at < now() - interval '1 day' THEN 'wanted'
			ELSE 'found'
		END,
		CASE WHEN coalesce(k.expires_at > now(), true) AND k.fetched_at >= now() - interval '1 day' THEN k.key END
	FROM unnest(providers, kids) WITH ORDINALITY AS a (provider, kid, n)
	LEFT JOIN urlmode.signing_key k ON k.provider = a.provider AND k.kid = a.kid
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.look_up_signing_keys IS
	'The public key that each id names, and outcome found; otherwise wanted (it is asked for), '
	'unknown (the provider has no such key), or expired.';

CREATE OR REPLACE FUNCTION urlmode.take_signing_key(providers text[], lease_ms bigint)
RETURNS TABLE (provider_name text, kid text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	UPDATE urlmode.signing_key s
	SET leased_until = clock_timestamp() + lease_ms * interval '1 millisecond'
	WHERE s.ctid = (
		SELECT k.ctid FROM urlmode.signing_key k
		WHERE k.provider = ANY (providers) AND k.wanted_at IS NOT NULL
			AND coalesce(k.leased_until <= clock_timestamp(), true)
		ORDER BY k.wanted_at DESC LIMIT 1
		FOR UPDATE SKIP LOCKED
	)
	RETURNING s.provider::text, s.kid
$$;
COMMENT ON FUNCTION urlmode.take_signing_key IS
	'An id of one of these providers whose key is asked for, the last one first, and no other '
	'instance is given it for lease_ms. No row: there is none.';

CREATE OR REPLACE FUNCTION urlmode.keep_signing_key(provider text, kid text, key text, expires_at timestamptz DEFAULT NULL)
RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH kept AS (
		UPDATE urlmode.signing_key s
		SET key = keep_signing_key.key, expires_at = keep_signing_key.expires_at,
			fetched_at = clock_timestamp(), wanted_at = NULL, wanted_since = NULL, leased_until = NULL
		WHERE s.provider = keep_signing_key.provider AND s.kid = keep_signing_key.kid
		RETURNING s.kid
	), forgotten AS (
		DELETE FROM urlmode.signing_key s
		WHERE s.provider = keep_signing_key.provider AND s.kid <> keep_signing_key.kid
			AND s.wanted_at IS NULL AND s.fetched_at < now() - interval '30 days'
	)
	SELECT EXISTS (SELECT FROM kept)
$$;
COMMENT ON FUNCTION urlmode.keep_signing_key IS
	'Keeps the public key that the provider has given for an id which was asked for; key NULL: it '
	'has no such key. False: nobody asks for it any more.';

CREATE OR REPLACE FUNCTION urlmode.list_wanted_keys(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, most integer DEFAULT 100
)
RETURNS TABLE (asked_at timestamptz, last_asked_at timestamptz, provider_name text, kid text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT l.* FROM (
		SELECT k.wanted_since, k.wanted_at, k.provider::text, k.kid
		FROM urlmode.signing_key k
		WHERE k.wanted_at IS NOT NULL AND (since IS NULL OR k.wanted_at >= since)
			AND (list_wanted_keys.provider IS NULL OR k.provider = list_wanted_keys.provider)
		ORDER BY k.wanted_at DESC, k.kid LIMIT most
	) l
	ORDER BY l.wanted_at, l.kid
$$;
COMMENT ON FUNCTION urlmode.list_wanted_keys IS
	'The ids of keys that deliveries have asked for and that nobody has fetched since, of all '
	'providers or of one; the last ones, the oldest of them first. asked_at: the first of these '
	'deliveries; last_asked_at: the last one. Never a key.';

GRANT EXECUTE ON FUNCTION urlmode.look_up_signing_keys TO :"cgi";
GRANT EXECUTE ON FUNCTION urlmode.take_signing_key, urlmode.keep_signing_key TO :"server";
GRANT EXECUTE ON FUNCTION urlmode.list_wanted_keys TO :"operator";
