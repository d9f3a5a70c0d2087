-- The lists of the program api: one tenant's alone, a page at a time. An item is the JSON that
-- the program answers with; cursor is where the next page begins.

CREATE OR REPLACE FUNCTION urlmode.page_of_unclaimed(tenant text, provider text, since timestamptz, after text, most integer)
RETURNS TABLE (item jsonb, cursor text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_build_object('id', u.elicitation, 'provider', u.provider_name, 'subject', u.subject, 'session', u.session, 'item', u.item,
			'resume_key', u.resume_key, 'reference', u.reference, 'amount', u.amount, 'currency', u.currency, 'matches', u.matches,
			'late', u.late, 'proven_at', u.proven_at, 'refunded', u.refunded, 'held', u.held),
		x.cursor
	FROM urlmode.unclaimed_payments(page_of_unclaimed.provider, since) u
	JOIN urlmode.elicitation e ON e.id = u.elicitation AND e.tenant = page_of_unclaimed.tenant
	CROSS JOIN LATERAL (SELECT to_char(u.proven_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || ' ' || u.reference) AS x (cursor)
	WHERE after IS NULL OR x.cursor > after COLLATE "C"
	ORDER BY x.cursor COLLATE "C" LIMIT least(greatest(most, 1), 100)
$$;
COMMENT ON FUNCTION urlmode.page_of_unclaimed IS
	'What urlmode.unclaimed_payments lists, of one tenant, without results: at most `most` and 100 '
	'after a cursor.';

CREATE OR REPLACE FUNCTION urlmode.page_of_refunds(tenant text, provider text, since timestamptz, after text, most integer)
RETURNS TABLE (item jsonb, cursor text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_build_object('id', r.elicitation, 'provider', r.provider_name, 'subject', r.subject, 'session', r.session,
			'resume_key', r.resume_key, 'reference', r.reference, 'amount', r.amount, 'currency', r.currency, 'reversed', r.reversed,
			'received_at', r.received_at, 'changed_at', r.changed_at, 'payment', r.payment,
			'paid', r.paid, 'refunded', r.refunded, 'held', r.held, 'claimed', r.claimed),
		x.cursor
	FROM urlmode.refunds(page_of_refunds.provider, since) r
	LEFT JOIN urlmode.elicitation e ON e.id = r.elicitation
	LEFT JOIN urlmode.payment p ON p.provider = r.provider_name AND p.reference = r.payment
	CROSS JOIN LATERAL (SELECT to_char(r.changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || ' ' || r.reference || ' ' || coalesce(r.elicitation::text, '')) AS x (cursor)
	WHERE coalesce(p.tenant, e.tenant) = page_of_refunds.tenant AND (after IS NULL OR x.cursor > after COLLATE "C")
	ORDER BY x.cursor COLLATE "C" LIMIT least(greatest(most, 1), 100)
$$;
COMMENT ON FUNCTION urlmode.page_of_refunds IS
	'What urlmode.refunds lists, of one tenant: at most `most` and 100 after a cursor. What names '
	'neither a payment nor an elicitation of a tenant is the operator''s.';

CREATE OR REPLACE FUNCTION urlmode.page_of_entitlements(tenant text, subject text, item_name text, after text, most integer)
RETURNS TABLE (item jsonb, cursor text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_build_object('item', t.item_name, 'status', t.status, 'until', t.until, 'entitled', t.entitled,
			'paused', t.paused, 'provider', t.provider, 'account', t.account, 'subscription', t.subscription, 'id', t.elicitation,
			'opened_at', t.opened_at),
		t.item_name
	FROM urlmode.entitlements(page_of_entitlements.tenant, page_of_entitlements.subject, page_of_entitlements.item_name) t
	WHERE after IS NULL OR t.item_name > after COLLATE "C"
	ORDER BY t.item_name COLLATE "C" LIMIT least(greatest(most, 1), 100)
$$;
COMMENT ON FUNCTION urlmode.page_of_entitlements IS
	'What urlmode.entitlements lists: at most `most` and 100 after an item.';

GRANT EXECUTE ON FUNCTION urlmode.page_of_unclaimed, urlmode.page_of_refunds, urlmode.page_of_entitlements TO :"server";
