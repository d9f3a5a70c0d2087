-- The lists of the program api: one tenant's alone, a page at a time. An item is the JSON that
-- the program answers with; cursor is where the next page begins. The cursor of the ledger has
-- two numbers: the lease of whoever reads, and the entry that was read.

CREATE OR REPLACE FUNCTION urlmode.page_of_unclaimed(tenant text, provider text, since timestamptz, after text, most integer)
RETURNS TABLE (item jsonb, cursor text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_build_object('id', u.elicitation, 'provider', u.provider_name, 'subject', u.subject, 'session', u.session, 'item', u.item,
			'resume_key', u.resume_key, 'reference', u.reference, 'amount', u.amount, 'currency', u.currency, 'matches', u.matches,
			'late', u.late, 'proven_at', u.proven_at, 'refunded', u.refunded, 'held', u.held),
		x.cursor
	FROM urlmode.unclaimed_of(page_of_unclaimed.tenant, page_of_unclaimed.provider, since, NULL) u
	CROSS JOIN LATERAL (SELECT to_char(u.proven_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || ' ' || u.reference) AS x (cursor)
	WHERE after IS NULL OR x.cursor > after COLLATE "C"
	ORDER BY x.cursor COLLATE "C" LIMIT least(greatest(most, 1), 100)
$$;
COMMENT ON FUNCTION urlmode.page_of_unclaimed IS
	'What urlmode.unclaimed_of lists, without results: at most `most` and 100 '
	'after a cursor.';

CREATE OR REPLACE FUNCTION urlmode.page_of_refunds(tenant text, provider text, since timestamptz, after text, most integer)
RETURNS TABLE (item jsonb, cursor text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_build_object('id', r.elicitation, 'provider', r.provider_name, 'subject', r.subject, 'session', r.session,
			'item', r.item, 'resume_key', r.resume_key, 'reference', r.reference, 'amount', r.amount, 'currency', r.currency, 'reversed', r.reversed,
			'received_at', r.received_at, 'changed_at', r.changed_at, 'payment', r.payment,
			'paid', r.paid, 'refunded', r.refunded, 'held', r.held, 'claimed', r.claimed),
		x.cursor
	FROM urlmode.refunds_with_item(page_of_refunds.tenant, page_of_refunds.provider, since, NULL) r
	CROSS JOIN LATERAL (SELECT to_char(r.changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || ' ' || r.reference || ' ' || coalesce(r.elicitation::text, '')) AS x (cursor)
	WHERE after IS NULL OR x.cursor > after COLLATE "C"
	ORDER BY x.cursor COLLATE "C" LIMIT least(greatest(most, 1), 100)
$$;
COMMENT ON FUNCTION urlmode.page_of_refunds IS
	'What urlmode.refunds_with_item lists: at most `most` and 100 after a cursor.';

CREATE OR REPLACE FUNCTION urlmode.page_of_entitlements_since(tenant text, subject text, item_name text, since timestamptz, after text, most integer)
RETURNS TABLE (item jsonb, cursor text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_build_object('item', t.item_name, 'status', t.status, 'until', t.until, 'entitled', t.entitled,
			'paused', t.paused, 'provider', t.provider, 'account', t.account, 'subscription', t.subscription, 'id', t.elicitation,
			'opened_at', t.opened_at),
		t.item_name
	FROM urlmode.entitlements(page_of_entitlements_since.tenant, page_of_entitlements_since.subject, page_of_entitlements_since.item_name) t
	WHERE (since IS NULL OR t.opened_at >= since) AND (after IS NULL OR t.item_name > after COLLATE "C")
	ORDER BY t.item_name COLLATE "C" LIMIT least(greatest(most, 1), 100)
$$;
COMMENT ON FUNCTION urlmode.page_of_entitlements_since IS
	'What urlmode.entitlements lists, of what was opened since a time: at most `most` and 100 '
	'after an item.';

CREATE OR REPLACE FUNCTION urlmode.page_of_entitlements(tenant text, subject text, item_name text, after text, most integer)
RETURNS TABLE (item jsonb, cursor text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.page_of_entitlements_since(tenant, subject, item_name, NULL, after, most)
$$;
COMMENT ON FUNCTION urlmode.page_of_entitlements IS
	'page_of_entitlements_since, of all times, for programs of before.';

CREATE OR REPLACE FUNCTION urlmode.page_of_paid(
	tenant text, subject text, item_name text, since timestamptz, delivered boolean, after text, most integer
)
RETURNS TABLE (paid boolean, item jsonb, cursor text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH counted AS (
		SELECT p, to_char(p.proven_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || ' ' || p.provider || ' ' || p.reference AS cursor
		FROM urlmode.payment p
		WHERE p.subject = page_of_paid.subject AND p.item = page_of_paid.item_name AND p.tenant = page_of_paid.tenant
			AND urlmode.counts_as_paid(p, page_of_paid.delivered) AND (since IS NULL OR p.proven_at >= since)
	), page AS (
		SELECT c.* FROM counted c
		WHERE after IS NULL OR c.cursor > after COLLATE "C"
		ORDER BY c.cursor COLLATE "C" LIMIT least(greatest(most, 1), 100)
	)
	SELECT x.paid, CASE WHEN g.cursor IS NOT NULL THEN jsonb_build_object(
			'id', CASE WHEN (g.p).entitlement IS DISTINCT FROM (g.p).elicitation THEN (g.p).elicitation END,
			'provider', (g.p).provider, 'reference', (g.p).reference, 'amount', (g.p).amount, 'currency', (g.p).currency,
			'refunded', (g.p).refunded, 'proven_at', (g.p).proven_at) END,
		g.cursor
	FROM (SELECT EXISTS (SELECT FROM counted)) AS x (paid) LEFT JOIN page g ON true
	ORDER BY g.cursor COLLATE "C"
$$;
COMMENT ON FUNCTION urlmode.page_of_paid IS
	'Whether an item is paid for, as urlmode.paid says it, or with delivered as urlmode.delivered '
	'does, and by which payments: at most `most` and 100 after a cursor, the oldest first. One row '
	'without an item: there is none after it. id: NULL of the renewal of a subscription.';

CREATE OR REPLACE FUNCTION urlmode.page_of_ledger_since(
	tenant text, consumer text, lease bigint, number bigint, since timestamptz, lease_ms bigint, most integer
)
RETURNS TABLE (outcome text, wait_ms bigint, item jsonb, cursor text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	its bigint := page_of_ledger_since.lease;
BEGIN
	IF its IS NULL AND NOT urlmode.add_consumer(tenant, consumer) THEN
		outcome := 'full';
	ELSIF its IS NULL THEN
		SELECT b.lease, b.wait_ms INTO its, page_of_ledger_since.wait_ms
		FROM urlmode.begin_ledger(page_of_ledger_since.consumer, page_of_ledger_since.lease_ms, page_of_ledger_since.tenant) b;
		outcome := CASE WHEN its IS NULL THEN 'leased' ELSE 'read' END;
	ELSE
		-- Not acknowledge_ledger: what others do in the same transaction must be on the disk.
		UPDATE urlmode.ledger_consumer c
		SET number = greatest(c.number, page_of_ledger_since.number),
			leased_until = clock_timestamp() + page_of_ledger_since.lease_ms * interval '1 millisecond'
		WHERE c.tenant = page_of_ledger_since.tenant AND c.consumer = page_of_ledger_since.consumer AND c.lease = its;
		outcome := CASE WHEN FOUND THEN 'read' ELSE 'lost' END;
	END IF;
	IF outcome <> 'read' THEN
		RETURN NEXT;
		RETURN;
	END IF;
	RETURN QUERY
	SELECT 'read', NULL::bigint, jsonb_build_object('number', l.number, 'entered_at', l.entered_at, 'type', l.entry_type, 'kind', l.kind,
			'provider', l.provider, 'id', l.elicitation, 'subject', l.subject, 'item', l.item, 'payment', l.payment,
			'checkout', l.checkout, 'reference', l.reference, 'amount', l.amount, 'currency', l.currency, 'refunded', l.refunded,
			'status', l.status, 'occurred_at', l.occurred_at, 'evidence_due_at', l.evidence_due_at),
		its || '.' || l.number
	FROM urlmode.read_ledger_since(page_of_ledger_since.consumer, its, page_of_ledger_since.since, page_of_ledger_since.most, page_of_ledger_since.tenant) l
	ORDER BY l.number;
	IF NOT FOUND THEN
		PERFORM urlmode.end_ledger(page_of_ledger_since.consumer, its, page_of_ledger_since.tenant);
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.page_of_ledger_since IS
	'Begins to read the ledger for a consumer, as urlmode.begin_ledger does, or goes on: acknowledges '
	'what is up to number, and renews the lease of the cursor. outcome: read, with the next entries '
	'since a time, at most `most` and 100, and the cursor that acknowledges each and all before it; leased: '
	'another instance reads for wait_ms milliseconds at most; lost: another one has begun since; full: '
	'the tenant has as many consumers as it may have. No '
	'row: there is no entry, and the lease has ended.';

CREATE OR REPLACE FUNCTION urlmode.page_of_ledger(tenant text, consumer text, lease bigint, number bigint, lease_ms bigint, most integer)
RETURNS TABLE (outcome text, wait_ms bigint, item jsonb, cursor text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.page_of_ledger_since(tenant, consumer, lease, number, NULL, lease_ms, most)
$$;
COMMENT ON FUNCTION urlmode.page_of_ledger IS
	'page_of_ledger_since, of all times, for programs of before.';

GRANT EXECUTE ON FUNCTION
	urlmode.page_of_unclaimed, urlmode.page_of_refunds, urlmode.page_of_entitlements, urlmode.page_of_entitlements_since, urlmode.page_of_paid,
	urlmode.page_of_ledger, urlmode.page_of_ledger_since
TO :"server";
