-- Deliveries whose signature is right and whose content is refused: something that
-- decides cannot be read. The provider is answered so that it tries again, and the
-- operator is told which provider, where, and since when.
--
-- They are kept for thirty days after they came last, without their body, and at most
-- urlmode.max_unreadable() of each provider. One that comes again is the same row.
-- Nothing here waits for another transaction that records the same row: who sends such
-- deliveries without end must not hold up events that can be read.

CREATE OR REPLACE FUNCTION urlmode.max_unreadable() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 1000
$$;
COMMENT ON FUNCTION urlmode.max_unreadable IS
	'Internal. How many unreadable deliveries are kept of one provider. Those that came last '
	'longest ago go first.';

CREATE OR REPLACE FUNCTION urlmode.record_unreadable(
	providers text[], digests bytea[], reasons text[], places text[], requests text[]
)
RETURNS TABLE (recorded boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '20ms' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	this record;
	grown text[];
BEGIN
	-- A delivery may be in the batch several times.
	SELECT array_agg(x.n ORDER BY x.provider, x.digest) AS ns, array_agg(x.times ORDER BY x.provider, x.digest) AS times
	INTO this FROM (
		SELECT a.provider, a.digest, max(a.n) AS n, count(*) AS times
		FROM unnest(providers, digests) WITH ORDINALITY AS a (provider, digest, n) GROUP BY a.provider, a.digest
	) x;
	UPDATE urlmode.unreadable_delivery u
	SET times = u.times + x.times, last_seen_at = clock_timestamp(),
		reason = reasons[x.n], place = places[x.n], request = requests[x.n]
	FROM unnest(this.ns, this.times) AS x (n, times)
	WHERE u.provider = providers[x.n] AND u.digest = digests[x.n] AND u.ctid = ANY (ARRAY(
		SELECT k.ctid FROM urlmode.unreadable_delivery k
		WHERE (k.provider, k.digest) IN (SELECT a.provider, a.digest FROM unnest(providers, digests) AS a (provider, digest))
		FOR UPDATE SKIP LOCKED
	));

	-- Only those that are not there: ON CONFLICT would wait for whoever updates one.
	WITH added AS (
		INSERT INTO urlmode.unreadable_delivery AS u (provider, digest, reason, place, request, times)
		SELECT providers[x.n], digests[x.n], reasons[x.n], places[x.n], requests[x.n], x.times
		FROM unnest(this.ns, this.times) WITH ORDINALITY AS x (n, times, o)
		WHERE NOT EXISTS (
			SELECT FROM urlmode.unreadable_delivery k WHERE k.provider = providers[x.n] AND k.digest = digests[x.n])
		-- In this order, so that two batches never wait for each other.
		ORDER BY x.o
		ON CONFLICT DO NOTHING
		RETURNING u.provider
	)
	SELECT array_agg(DISTINCT d.provider::text) INTO grown FROM added d;

	IF grown IS NOT NULL THEN
		DELETE FROM urlmode.unreadable_delivery u WHERE u.ctid = ANY (ARRAY(
			SELECT o.ctid FROM urlmode.unreadable_delivery o WHERE o.ctid = ANY (ARRAY(
				SELECT x.ctid FROM unnest(grown) AS p (name) CROSS JOIN LATERAL (
					SELECT y.ctid FROM urlmode.unreadable_delivery y WHERE y.provider = p.name
					ORDER BY y.last_seen_at DESC OFFSET urlmode.max_unreadable()
				) x
			))
			FOR UPDATE SKIP LOCKED
		));
	END IF;
	RETURN QUERY SELECT true FROM unnest(providers);
END
$$;
COMMENT ON FUNCTION urlmode.record_unreadable IS
	'Keeps deliveries whose signature is right and whose content was refused, for the operator. '
	'digests: of 16 bytes, keyed; one that comes again has the same. reasons: the reason codes. '
	'places: where, as the log says it, and never a value. requests: the request ids. One that '
	'another transaction records at this moment is not counted twice.';

CREATE OR REPLACE FUNCTION urlmode.list_unreadable(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, most integer DEFAULT 100
)
RETURNS TABLE (
	last_seen_at timestamptz, provider_name text, reason text, place text, request text,
	times bigint, first_seen_at timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT l.* FROM (
		SELECT u.last_seen_at, u.provider::text, u.reason, u.place, u.request, u.times, u.first_seen_at
		FROM urlmode.unreadable_delivery u
		WHERE (list_unreadable.provider IS NULL OR u.provider = list_unreadable.provider)
			AND (since IS NULL OR u.last_seen_at >= since)
		ORDER BY u.last_seen_at DESC LIMIT most
	) l
	ORDER BY l.last_seen_at
$$;
COMMENT ON FUNCTION urlmode.list_unreadable IS
	'The deliveries whose signature was right and whose content was refused, of all providers or of '
	'one; the last ones, the one that came longest ago first. They are kept for thirty days.';

CREATE OR REPLACE FUNCTION urlmode.purge_unreadable(batch integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	taken bigint;
BEGIN
	DELETE FROM urlmode.unreadable_delivery d WHERE d.ctid = ANY (ARRAY(
		SELECT x.ctid FROM urlmode.unreadable_delivery x WHERE x.last_seen_at <= now() - interval '30 days'
		ORDER BY x.last_seen_at LIMIT batch FOR UPDATE SKIP LOCKED
	));
	GET DIAGNOSTICS taken = ROW_COUNT;
	RETURN taken;
END
$$;
COMMENT ON FUNCTION urlmode.purge_unreadable IS
	'Internal. Deletes unreadable deliveries that came last thirty days ago, at most `batch`. '
	'Returns how many.';

GRANT EXECUTE ON FUNCTION urlmode.record_unreadable TO :"cgi";
GRANT EXECUTE ON FUNCTION urlmode.list_unreadable TO :"operator";
