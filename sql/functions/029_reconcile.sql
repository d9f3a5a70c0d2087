-- What a provider has, beside what is here: for the server that asks its API for a list of
-- payments and refunds. The command `urlmode reconcile` does the same with files. It only
-- reads, and what is in a list proves nothing.

CREATE OR REPLACE FUNCTION urlmode.real_name(provider text, name text) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT coalesce((
		SELECT n.reference::text FROM urlmode.payment_name n WHERE n.provider = real_name.provider AND n.name = real_name.name
	), name)
$$;
COMMENT ON FUNCTION urlmode.real_name IS
	'Internal. The reference of a payment that a provider lists by this name, which may be its other one (038_name).';

CREATE OR REPLACE FUNCTION urlmode.reconcile(
	provider text, since timestamptz, until timestamptz, payments jsonb, refunds jsonb, tenant text DEFAULT ''
)
RETURNS TABLE (
	what text, kind text, reference text, payment text, elicitation uuid, amount bigint, currency text, their_amount bigint,
	their_currency text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM urlmode.check_entries('payments', payments, false, false, 100000);
	PERFORM urlmode.check_entries('refunds', refunds, true, false, 100000);
	RETURN QUERY
	WITH listed AS MATERIALIZED (
		SELECT DISTINCT ON (r.name) r.name AS reference, (x ->> 'amount')::bigint AS amount, x ->> 'currency' AS currency,
			x ->> 'status' = 'paid' AS is_paid, x ->> 'checkout' AS checkout,
			CASE WHEN lower(x ->> 'elicitation_id') ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN (x ->> 'elicitation_id')::uuid END AS named
		FROM jsonb_array_elements(payments) AS x CROSS JOIN LATERAL urlmode.real_name(provider, x ->> 'reference') AS r (name)
		ORDER BY r.name, x ->> 'status' <> 'paid'
	), here AS MATERIALIZED (
		-- A payment that was settled by its checkout has that as its reference.
		SELECT l.reference AS listed, urlmode.asked_for(p), p.*
		FROM listed l JOIN urlmode.payment p ON p.provider = reconcile.provider AND p.reference IN (l.reference, l.checkout)
		WHERE p.tenant = reconcile.tenant
	), owned AS MATERIALIZED (
		-- What names no elicitation and no checkout of ours is not ours.
		SELECT l.reference, l.amount, l.currency, coalesce((
				SELECT e.id FROM urlmode.elicitation e
				WHERE e.id = l.named AND e.provider = reconcile.provider AND e.tenant = reconcile.tenant
			), (
				SELECT e.id FROM urlmode.elicitation e
				WHERE e.provider = reconcile.provider AND e.checkout = l.checkout AND e.tenant = reconcile.tenant ORDER BY e.id LIMIT 1
			)) AS elicitation
		FROM listed l
		WHERE l.is_paid AND NOT EXISTS (SELECT FROM here h WHERE h.listed = l.reference)
			AND NOT EXISTS (SELECT FROM urlmode.payment p WHERE p.provider = reconcile.provider AND p.reference = l.reference)
	), back AS MATERIALIZED (
		SELECT DISTINCT ON (x ->> 'reference') x ->> 'reference' AS reference, coalesce(h.reference, r.name) AS payment,
			CASE WHEN x ->> 'status' IN ('paid', 'processing') THEN (x ->> 'amount')::bigint ELSE 0 END AS amount,
			coalesce(x ->> 'currency', h.currency) AS currency
		FROM jsonb_array_elements(refunds) AS x CROSS JOIN LATERAL urlmode.real_name(provider, x ->> 'payment') AS r (name)
		LEFT JOIN here h ON h.listed = r.name
		ORDER BY x ->> 'reference'
	), compared AS MATERIALIZED (
		-- Of each payment: those of the list, of the time, and of which something in the list went back.
		-- With ANY it reads no others.
		SELECT p.*, urlmode.asked_for(p) FROM urlmode.payment p
		WHERE p.provider = reconcile.provider AND p.tenant = reconcile.tenant AND p.reference = ANY (ARRAY(
			SELECT t.reference::text FROM urlmode.payment t
			WHERE t.provider = reconcile.provider AND t.proven_at >= since AND t.proven_at < until
			UNION
			SELECT h.reference FROM here h
			UNION
			SELECT b.payment FROM back b
		))
	), recorded AS MATERIALIZED (
		SELECT r.reference, p.reference AS payment, urlmode.gone_back(r, p.amount) AS amount,
			coalesce(r.currency, p.currency)::text AS currency, r.reference = p.reference AS is_total
		FROM compared p JOIN urlmode.refund r ON r.provider = p.provider AND r.payment = p.reference
		-- Where the list says the same: it is not paid any more.
		WHERE NOT (r.reference = urlmode.name_return(p.reference) AND EXISTS (SELECT FROM listed l WHERE l.reference = p.reference AND NOT l.is_paid))
	), refunded AS (
		-- Where the events of a provider tell totals, the total is compared.
		SELECT coalesce(o.reference, t.reference) AS reference, coalesce(o.payment, t.payment) AS payment,
			o.amount, o.currency, t.amount AS their_amount, t.currency AS their_currency
		FROM (SELECT r.* FROM recorded r WHERE NOT r.is_total) o
		FULL JOIN (
			SELECT b.* FROM back b WHERE NOT EXISTS (SELECT FROM recorded r WHERE r.payment = b.payment AND r.is_total)
		) t ON t.reference = o.reference
		UNION ALL
		SELECT r.payment, r.payment, r.amount, r.currency, sum(b.amount)::bigint, min(b.currency)
		FROM recorded r LEFT JOIN back b ON b.payment = r.payment
		WHERE r.is_total GROUP BY r.payment, r.amount, r.currency
	)
	SELECT 'missing_here', 'payment', o.reference, o.reference, o.elicitation, NULL::bigint, NULL::text, o.amount, o.currency
	FROM owned o WHERE o.elicitation IS NOT NULL
	UNION ALL
	SELECT 'differs', 'payment', h.reference::text, h.reference::text, h.asked_for, h.amount, h.currency::text, l.amount, l.currency
	FROM here h JOIN listed l ON l.reference = h.listed
	WHERE l.is_paid AND ((h.amount, h.currency::text) <> (l.amount, l.currency) OR l.named <> h.asked_for)
	UNION ALL
	SELECT 'missing_there', 'payment', p.reference::text, p.reference::text, p.asked_for, p.amount, p.currency::text, NULL, NULL
	FROM compared p
	-- Where nothing was to be paid, the provider has no payment.
	WHERE p.proven_at >= since AND p.proven_at < until AND p.amount > 0 AND NOT EXISTS (
		SELECT FROM here h JOIN listed l ON l.reference = h.listed WHERE h.reference = p.reference AND (l.is_paid OR p.refunded_at IS NOT NULL)
	)
	UNION ALL
	SELECT CASE WHEN f.amount IS NULL THEN 'missing_here' WHEN f.their_amount IS NULL THEN 'missing_there' ELSE 'differs' END, 'refund',
		f.reference::text, f.payment::text, p.asked_for, f.amount, f.currency, f.their_amount, f.their_currency
	FROM refunded f JOIN compared p ON p.reference = f.payment
	WHERE coalesce(f.amount, 0) <> coalesce(f.their_amount, 0) OR f.currency <> f.their_currency
	ORDER BY 1, 2, 3;
END
$$;
COMMENT ON FUNCTION urlmode.reconcile IS
	'Compares what a provider has with what is here, of one tenant. payments and refunds: as '
	'answer_recheck takes them, without results, at most 100,000 of each. what: missing_here (the '
	'provider has it, for an elicitation of ours), missing_there (it is here, from this time, and '
	'not in the list), differs (amount, currency or elicitation). kind: payment or refund; a '
	'refund that is under way counts, and one that failed counts for nothing. Where the events of '
	'a provider tell the total that went back of a payment, the totals are compared, with the '
	'reference of the payment. What names neither an elicitation of ours nor its checkout, and is '
	'not here, is somebody else''s. Of a payment with two names either will do. elicitation: of a '
	'renewal, the one that has opened its subscription.';

GRANT EXECUTE ON FUNCTION urlmode.reconcile TO :"server";
