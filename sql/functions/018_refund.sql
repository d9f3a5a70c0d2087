-- Refunds, compared with the payments.
--
-- There is one row for each refund; a dispute and a cancelled authorisation are
-- refunds, too. Events come in any order: what a row says follows from the provider's
-- times, as far as it tells them. Of two events of the same time the reversal counts. A
-- refund belongs to the payment that it names. One that names none, or a checkout, belongs
-- to the payment of its elicitation, or of that checkout, as soon as exactly one is proved.
-- One that names a payment may be of one that is known by its checkout alone.
-- keep_refunds writes refunds down, and apply_refunds compares:
--
--   all of it went back      no call is offered the payment
--   a part of it went back,  the payment is held: no call is offered it, and calls for
--   or nobody knows of       the same thing create nothing new, until the refund is
--   which payment            reversed or the operator decides

-- STABLE, as the functions that it calls: otherwise PostgreSQL would not inline it.
CREATE OR REPLACE FUNCTION urlmode.gone_back(r urlmode.refund, paid bigint) RETURNS bigint
LANGUAGE sql STABLE AS $$
	SELECT CASE WHEN r.reversed_at IS NULL THEN coalesce(r.amount, paid)
		WHEN r.reversed IS NULL THEN 0
		ELSE greatest(0, coalesce(r.amount, paid) - r.reversed) END
$$;
COMMENT ON FUNCTION urlmode.gone_back IS
	'Internal. What a refund has taken back of a payment of this amount, less what came again.';

CREATE OR REPLACE FUNCTION urlmode.refund_effects() RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
	SELECT ARRAY['refunded', 'refund_reversed', 'disputed']
$$;
COMMENT ON FUNCTION urlmode.refund_effects IS
	'Internal. The effects of events that change a refund or a dispute.';

CREATE OR REPLACE FUNCTION urlmode.apply_refunds(ids uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	-- A call that claims one of them waits, or is waited for, also where the elicitation was purged.
	PERFORM FROM urlmode.payment p WHERE p.elicitation = ANY (ids)
	ORDER BY p.provider, p.reference FOR UPDATE;

	PERFORM urlmode.attribute_refund(r, o.payment)
	FROM urlmode.refund r
	CROSS JOIN LATERAL (
		SELECT min(p.reference) AS payment, min(p.elicitation::text)::uuid AS elicitation FROM urlmode.payment p
		WHERE p.provider = r.provider AND p.elicitation = ANY (r.elicitations) AND (r.payment IS NULL OR p.checkout = r.payment)
		HAVING count(*) = 1
	) o
	WHERE r.elicitations && ids AND o.elicitation = ANY (ids)
		-- It may be of each elicitation that it has named, also of one whose payment is not proved yet.
		AND (r.payment IS NOT NULL OR cardinality(r.elicitations) = 1)
		AND NOT EXISTS (SELECT FROM urlmode.payment p WHERE p.provider = r.provider AND p.reference = r.payment);

	WITH compared AS (
		SELECT p.provider, p.reference, least(p.amount, went.total)::bigint AS refunded,
			coalesce(d.decision = 'voided', false) OR (went.any_back AND went.total >= p.amount) AS everything,
			-- Of what has cost nothing, nothing can have gone back.
			p.amount > 0 AND (went.total > coalesce(d.refunded, 0) OR coalesce(went.unclear_at > coalesce(d.decided_at, '-infinity'), false)) AS unclear
		FROM urlmode.payment p
		CROSS JOIN LATERAL (
			SELECT coalesce(sum(b.back) FILTER (WHERE b.is_comparable), 0) AS total,
				count(*) FILTER (WHERE b.is_comparable AND (b.reversed_at IS NULL OR b.back > 0)) > 0 AS any_back,
				max(greatest(b.unclear_at, CASE WHEN NOT b.is_comparable AND b.back > 0 THEN b.changed_at END)) AS unclear_at
			FROM (
				SELECT r.*, urlmode.gone_back(r, p.amount) AS back,
					r.payment IS NOT DISTINCT FROM p.reference AND coalesce(r.currency, p.currency) = p.currency AS is_comparable
				FROM urlmode.refund r
				WHERE r.provider = p.provider AND (r.payment = p.reference
					OR (r.elicitations @> ARRAY[p.elicitation] AND urlmode.may_be_of(r, p)))
			) b
		) went
		LEFT JOIN LATERAL (
			SELECT x.decision, x.decided_at, x.refunded FROM urlmode.decision x
			WHERE x.provider = p.provider AND x.reference = p.reference AND x.decided_at >= p.proven_at
			ORDER BY x.decided_at DESC LIMIT 1
		) d ON true
		WHERE p.elicitation = ANY (ids)
	), changed AS (
		UPDATE urlmode.payment p
		SET refunded = c.refunded, held = c.unclear AND NOT c.everything,
			refunded_at = CASE WHEN c.everything THEN coalesce(p.refunded_at, now()) END
		FROM compared c
		WHERE p.provider = c.provider AND p.reference = c.reference
			AND (p.refunded, p.held, p.refunded_at IS NOT NULL)
				IS DISTINCT FROM (c.refunded, c.unclear AND NOT c.everything, c.everything)
		RETURNING p.elicitation, p.refunded_at
	)
	INSERT INTO urlmode.purge_queue (ids)
	SELECT array_agg(c.elicitation) FROM changed c WHERE c.refunded_at IS NOT NULL HAVING count(*) > 0;
END
$$;
COMMENT ON FUNCTION urlmode.apply_refunds IS
	'Internal. Says of each payment of these elicitations how much of it went back, and whether it '
	'is held. It begins with the refunds, so that neither their order nor a repetition matters. '
	'What names no payment, or its checkout alone, is of the only payment that it can be of. '
	'The result of a payment that went back is purged a day later.';

CREATE OR REPLACE FUNCTION urlmode.keep_refunds(
	ids uuid[], providers text[], effects text[], amounts bigint[], currencies text[], refs text[], refunds text[],
	by_reference boolean[], details jsonb[]
)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	this record;
	told uuid[];
	compared uuid[] := '{}';
BEGIN
	FOR this IN
		SELECT a.id, a.provider, a.effect = 'refund_reversed' AS is_reversal, a.effect <> 'disputed' AS moves,
			CASE WHEN a.effect = 'disputed' THEN 0 ELSE a.amount END AS amount, CASE WHEN a.effect <> 'disputed' THEN a.currency END AS currency,
			to_timestamp((a.detail ->> 'occurred_at')::bigint) AS at,
			coalesce(substring(a.detail ->> 'kind' FROM '^[a-z]+'), 'refund') AS kind,
			substring(a.detail ->> 'kind' FROM '^dispute_(won|lost)$') AS ended,
			a.detail ->> 'state' AS state, to_timestamp((a.detail ->> 'evidence_due_at')::bigint) AS evidence_due_at,
			coalesce(c.payment, nullif(a.ref, '')) AS named, o.payment AS only_one, coalesce(a.refund, '') = '' AND a.effect <> 'disputed' AS is_total,
			coalesce(nullif(a.refund, ''), c.payment, nullif(a.ref, ''), o.payment, a.id::text) AS reference,
			-- Nobody knows of which payment of a checkout it is.
			CASE WHEN a.by_reference AND NOT EXISTS (
				SELECT FROM urlmode.payment p WHERE p.provider = a.provider AND p.reference = a.ref
			) THEN array_remove(urlmode.find_checkout(a.provider, a.ref), a.id) END AS others
		FROM unnest(ids, providers, effects, amounts, currencies, refs, refunds, by_reference, details)
			AS a (id, provider, effect, amount, currency, ref, refund, by_reference, detail)
		-- One that names the checkout of a single payment is of that one.
		LEFT JOIN LATERAL (
			SELECT min(p.reference) AS payment FROM urlmode.payment p
			WHERE p.provider = a.provider AND p.checkout = a.ref AND (a.by_reference OR p.elicitation = a.id)
				AND NOT EXISTS (SELECT FROM urlmode.payment n WHERE n.provider = a.provider AND n.reference = a.ref)
			HAVING count(*) = 1
		) c ON true
		-- One that names no payment is of the only one that was proved before.
		LEFT JOIN LATERAL (
			SELECT min(p.reference) AS payment FROM urlmode.payment p
			WHERE p.elicitation = a.id AND p.provider = a.provider HAVING count(*) = 1
		) o ON true
		WHERE a.effect = ANY (urlmode.refund_effects())
		-- In this order, so that two batches never wait for each other.
		ORDER BY a.provider, reference
	LOOP
		INSERT INTO urlmode.refund AS r
			(provider, reference, elicitations, payment, amount, currency, reversed, reversed_at, refunded_at,
			kind, ended, state, occurred_at, moved_at, evidence_due_at, tenant)
		VALUES (this.provider, this.reference, this.id || coalesce(this.others, '{}'), coalesce(this.named, this.only_one), this.amount, this.currency,
			CASE WHEN this.is_reversal THEN this.amount END, CASE WHEN this.is_reversal THEN now() END,
			CASE WHEN NOT this.is_reversal THEN now() END,
			this.kind, this.ended, this.state, this.at, CASE WHEN this.moves THEN this.at END, this.evidence_due_at, (
				SELECT x.tenant FROM (
					SELECT p.tenant FROM urlmode.payment p WHERE p.provider = this.provider AND p.reference = coalesce(this.named, this.only_one)
					UNION ALL
					SELECT e.tenant FROM urlmode.elicitation e WHERE e.id = this.id
				) x LIMIT 1
			))
		ON CONFLICT ON CONSTRAINT refund_pkey DO UPDATE
		SET payment = CASE
				-- Another payment of the checkout that it names was proved since.
				WHEN EXISTS (SELECT FROM urlmode.payment p WHERE p.provider = r.provider AND p.reference = r.payment AND p.checkout = this.named)
					THEN r.payment
				WHEN this.named IS NULL AND (this.id = ANY (r.elicitations) OR r.payment = this.only_one) THEN r.payment
				ELSE this.named END,
			elicitations = r.elicitations || ARRAY(
				SELECT o.id FROM unnest(EXCLUDED.elicitations) AS o (id) WHERE o.id <> ALL (r.elicitations)),
			currency = coalesce(r.currency, this.currency),
			-- Of a total, the latest event may come first. NULL, all of it, is the greatest.
			amount = CASE WHEN this.is_reversal OR r.amount IS NULL OR r.currency <> this.currency THEN r.amount
				WHEN this.amount IS NULL THEN NULL ELSE greatest(r.amount, this.amount) END,
			-- What went back again after it had come again, by the provider's times.
			reversed = CASE WHEN this.moves AND NOT this.is_reversal AND NOT this.is_total AND this.at > r.moved_at THEN NULL
				WHEN NOT this.is_reversal OR r.currency <> this.currency OR this.at < r.moved_at THEN r.reversed
				WHEN this.amount IS NULL OR (r.reversed_at IS NOT NULL AND r.reversed IS NULL) THEN r.amount
				ELSE greatest(r.reversed, this.amount) END,
			reversed_at = CASE WHEN this.moves AND NOT this.is_reversal AND NOT this.is_total AND this.at > r.moved_at THEN NULL
				WHEN this.is_reversal AND (r.currency = this.currency) IS NOT FALSE AND (this.at < r.moved_at) IS NOT TRUE
					THEN coalesce(r.reversed_at, now())
				ELSE r.reversed_at END,
			refunded_at = CASE WHEN this.is_reversal THEN r.refunded_at ELSE coalesce(r.refunded_at, now()) END,
			unclear_at = CASE WHEN r.currency <> this.currency OR this.is_total AND NOT this.is_reversal AND r.refunded_at IS NOT NULL
				AND r.reversed_at IS NOT NULL AND (this.at < r.moved_at) IS NOT TRUE THEN clock_timestamp() ELSE r.unclear_at END,
			moved_at = CASE WHEN this.moves THEN greatest(r.moved_at, this.at) ELSE r.moved_at END,
			kind = CASE this.kind WHEN 'refund' THEN r.kind ELSE this.kind END,
			ended = CASE WHEN this.at < r.occurred_at THEN r.ended
				WHEN this.ended IS NOT NULL OR this.kind = 'dispute' AND this.at > r.occurred_at THEN this.ended ELSE r.ended END,
			-- What was told as its end is not undone by what happened at no later time.
			state = CASE WHEN this.at < r.occurred_at OR r.ended IS NOT NULL AND this.ended IS NULL AND (this.at > r.occurred_at) IS NOT TRUE
				THEN coalesce(r.state, this.state) ELSE coalesce(this.state, r.state) END,
			evidence_due_at = CASE WHEN this.at < r.occurred_at THEN coalesce(r.evidence_due_at, this.evidence_due_at)
				ELSE coalesce(this.evidence_due_at, r.evidence_due_at) END,
			occurred_at = greatest(r.occurred_at, this.at),
			changed_at = clock_timestamp()
		RETURNING r.elicitations INTO told;
		-- Also the elicitations that the refund named before.
		compared := compared || told;
	END LOOP;
	PERFORM urlmode.apply_refunds(compared);
END
$$;
COMMENT ON FUNCTION urlmode.keep_refunds IS
	'Internal. Records refunds (effect refunded), their reversals (refund_reversed) and how a '
	'dispute stands (disputed, which moves no money), once for each refund, and compares all payments that it is, was or may be of. ids: where the payment '
	'is known, its elicitation. refs: of the payment, or NULL. refunds: of the refund itself; '
	'NULL: the amount is the total that went back of the payment. by_reference: the event names '
	'its payment or checkout alone, so that it may be of each elicitation of the checkout. details: as '
	'for receive_events; by their occurred_at, what went back after it had come again went back, '
	'and what is older than a reversal does not undo it. A total '
	'that is told again after a reversal, and an amount in a second currency, cannot be compared '
	'with what was told before, and hold the payment.';
