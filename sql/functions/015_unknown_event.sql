-- Events about money for an elicitation that nobody knows: after a failover that
-- lost commits, after a purge, or before the row was there.
--
-- They are kept for thirty days, without their body, and at most
-- urlmode.max_unknown() payments of each provider: an account that is shared with
-- other systems sends their events as well. What went back names its payment
-- alone, so that nobody can tell whose it is before the payment is known: those
-- of others must not take the place of ours, and all are kept. They are found, and taken into account as if
-- they came then, when
--
--   create_elicitation creates the elicitation that they name
--   receive_events or settle proves the payment that a refund names, or its checkout
--   purge_results looks, for what came at the same time

CREATE OR REPLACE FUNCTION urlmode.max_unknown() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 1000
$$;
COMMENT ON FUNCTION urlmode.max_unknown IS
	'Internal. How many payments of unknown elicitations are kept of one provider. The oldest go '
	'first.';

CREATE OR REPLACE FUNCTION urlmode.store_unmatched(
	ids uuid[], providers text[], identities text[], types text[], effects text[],
	amounts bigint[], currencies text[], refs text[], refunds text[], checkouts text[], results bytea[], actions text[],
	kinds text[], details jsonb[]
)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	full_of text[];
BEGIN
	WITH kept AS (
		INSERT INTO urlmode.unknown_event AS u
			(provider, identity, type, effect, elicitation, reference, refund, checkout, amount, currency, result, details, tenant)
		SELECT a.provider, a.identity, a.type, a.effect, a.id, nullif(a.ref, ''), nullif(a.refund, ''), a.checkout,
			a.amount, a.currency, CASE a.effect WHEN 'paid' THEN a.result END, a.details,
			(SELECT t.tenant FROM urlmode.provider_tenant t WHERE t.provider = a.provider)
		FROM unnest(ids, providers, identities, types, effects, amounts, currencies, refs, refunds, checkouts, results, actions, kinds, details)
			AS a (id, provider, identity, type, effect, amount, currency, ref, refund, checkout, result, action, kind, details)
		WHERE a.action = 'unknown' AND CASE
				-- Two entries may share an account: what is paid at the one is nothing to the other.
				WHEN a.effect = 'paid' THEN coalesce(a.kind, 'payment') = 'payment' AND a.id IS NOT NULL AND a.amount IS NOT NULL AND a.currency IS NOT NULL
					AND a.result IS NOT NULL
				ELSE a.effect = ANY (urlmode.refund_effects()) AND (a.id IS NOT NULL OR a.ref <> '')
			END
			-- It has paid before, for an elicitation that was purged.
			AND NOT (a.effect = 'paid' AND EXISTS (
				SELECT FROM urlmode.payment p
				WHERE p.provider = a.provider AND p.reference = coalesce(nullif(a.ref, ''), a.id::text)
			))
		-- In this order, so that two batches never wait for each other.
		ORDER BY a.provider, a.identity
		ON CONFLICT DO NOTHING
		RETURNING u.provider, u.effect
	)
	SELECT array_agg(DISTINCT k.provider::text) INTO full_of FROM kept k WHERE k.effect = 'paid';
	-- Arrays are made once. What is joined would be sorted anew for each row, where the statistics are those of a table that was empty.
	DELETE FROM urlmode.unknown_event u WHERE u.ctid = ANY (ARRAY(
		SELECT o.ctid FROM urlmode.unknown_event o WHERE o.ctid = ANY (ARRAY(
			SELECT x.ctid FROM unnest(full_of) AS f (name) CROSS JOIN LATERAL (
				SELECT y.ctid FROM urlmode.unknown_event y WHERE y.provider = f.name AND y.effect = 'paid'
				ORDER BY y.received_at DESC, y.identity OFFSET urlmode.max_unknown()
			) x
		))
		FOR UPDATE SKIP LOCKED
	));
END
$$;
COMMENT ON FUNCTION urlmode.store_unmatched IS
	'Internal. Keeps those of the events that receive_events has called unknown which tell of '
	'money: payments that name an elicitation, of providers of payments, and refunds.';

CREATE OR REPLACE FUNCTION urlmode.claim_unmatched(ids uuid[], providers text[] DEFAULT NULL, refs text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	this record;
BEGIN
	-- An event may name the checkout alone.
	SELECT providers || array_agg(e.provider::text), refs || array_agg(e.checkout::text) INTO providers, refs
	FROM urlmode.elicitation e WHERE e.id = ANY (ids) AND e.checkout IS NOT NULL AND NOT urlmode.is_others(e.provider, e.tenant);
	-- Nearly always there is none, which costs less to see than to delete.
	IF NOT EXISTS (
		SELECT FROM urlmode.unknown_event x
		WHERE x.elicitation = ANY (ids)
			OR (x.effect <> 'paid' AND x.provider = ANY (providers) AND x.reference = ANY (refs))
	) THEN
		RETURN 0;
	END IF;
	WITH taken AS (
		DELETE FROM urlmode.unknown_event u WHERE u.ctid = ANY (ARRAY(
			SELECT x.ctid FROM urlmode.unknown_event x
			WHERE x.elicitation = ANY (ids) AND NOT EXISTS (
					SELECT FROM urlmode.elicitation e WHERE e.id = x.elicitation AND urlmode.is_others(x.provider, e.tenant)
				) OR (x.effect <> 'paid' AND x.provider = ANY (providers) AND x.reference = ANY (refs) AND EXISTS (
					SELECT FROM unnest(providers, refs) AS a (provider, ref) WHERE a.provider = x.provider AND a.ref = x.reference))
			FOR UPDATE SKIP LOCKED
		))
		RETURNING u.*
	)
	SELECT count(*) AS number,
		array_agg(t.elicitation ORDER BY o) AS ids, array_agg(t.provider::text ORDER BY o) AS providers,
		array_agg(t.identity ORDER BY o) AS identities, array_agg(t.type::text ORDER BY o) AS types,
		array_agg(t.effect ORDER BY o) AS effects, array_agg(t.amount ORDER BY o) AS amounts,
		array_agg(t.currency::text ORDER BY o) AS currencies, array_agg(t.reference::text ORDER BY o) AS refs,
		array_agg(t.result::bytea ORDER BY o) AS results, array_agg(t.refund::text ORDER BY o) AS refunds,
		array_agg(t.checkout::text ORDER BY o) AS checkouts, array_agg(t.details ORDER BY o) AS details
	INTO this
	FROM (SELECT x.*, row_number() OVER (ORDER BY x.received_at, x.identity) AS o FROM taken x) t;
	IF this.number > 0 THEN
		PERFORM FROM urlmode.receive_events(this.ids, this.providers, this.identities, this.types, this.effects,
			this.amounts, this.currencies, this.refs, this.results, NULL, this.refunds, this.checkouts, details => this.details);
	END IF;
	RETURN this.number;
EXCEPTION WHEN lock_not_available OR serialization_failure THEN
	-- receive_events waits for a lock for a moment only, and would fail what its caller does.
	RETURN 0;
END
$$;
COMMENT ON FUNCTION urlmode.claim_unmatched IS
	'Internal. Records what was kept for these elicitations and their checkouts, and what went '
	'back of these payments, as if it came now. Returns how many events that were: 0 where one of '
	'their rows is locked, and they stay for the next time.';

CREATE OR REPLACE FUNCTION urlmode.match_unmatched() RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	this record;
BEGIN
	SELECT array_agg(u.elicitation) AS ids, array_agg(u.provider::text) AS providers, array_agg(u.reference::text) AS refs
	INTO this
	FROM urlmode.unknown_event u
	-- What comes later is found by what is written later.
	WHERE u.received_at > now() - interval '1 day' AND (EXISTS (
			SELECT FROM urlmode.elicitation e WHERE e.id = u.elicitation AND e.provider = u.provider AND NOT urlmode.is_others(e.provider, e.tenant)
		) OR (u.effect <> 'paid' AND EXISTS (
			SELECT FROM urlmode.payment p WHERE p.provider = u.provider AND p.reference = u.reference
		)) OR (u.effect <> 'paid' AND u.elicitation IS NULL AND urlmode.find_checkout(u.provider, u.reference) IS NOT NULL));
	IF this.ids IS NULL THEN
		RETURN 0;
	END IF;
	RETURN urlmode.claim_unmatched(this.ids, this.providers, this.refs);
END
$$;
COMMENT ON FUNCTION urlmode.match_unmatched IS
	'Internal. Records those of the events that were kept whose elicitation or payment was written '
	'at the same time as they came. Returns how many.';

CREATE OR REPLACE FUNCTION urlmode.tenant_unknown(tenant text, provider text, since timestamptz, most integer)
RETURNS TABLE (
	received_at timestamptz, provider_name text, type text, effect text,
	elicitation uuid, reference text, amount bigint, currency text, identity text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT l.* FROM (
		SELECT u.received_at, u.provider::text, u.type::text, u.effect, u.elicitation, u.reference::text,
			u.amount, u.currency::text, u.identity
		FROM urlmode.unknown_event u
		WHERE (tenant_unknown.tenant IS NULL OR coalesce(u.tenant, '') = tenant_unknown.tenant)
			AND (tenant_unknown.provider IS NULL OR u.provider = tenant_unknown.provider)
			AND (since IS NULL OR u.received_at >= since)
		ORDER BY u.received_at DESC LIMIT most
	) l
	ORDER BY l.received_at
$$;
COMMENT ON FUNCTION urlmode.tenant_unknown IS
	'The events about money of elicitations that are not known, of all providers or of one; the '
	'last ones, the oldest of them first. They are kept for thirty days. tenant: of the entry of '
	'the provider, or empty: its entry names none, and nobody knows whose they are; NULL: all.';

-- The command of before 1.0.0 calls this.
CREATE OR REPLACE FUNCTION urlmode.list_unknown(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, most integer DEFAULT 100
)
RETURNS TABLE (
	received_at timestamptz, provider_name text, type text, effect text,
	elicitation uuid, reference text, amount bigint, currency text, identity text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.tenant_unknown(NULL, provider, since, most)
$$;
COMMENT ON FUNCTION urlmode.list_unknown IS 'urlmode.tenant_unknown of all tenants.';

GRANT EXECUTE ON FUNCTION urlmode.tenant_unknown, urlmode.list_unknown TO :"operator";
