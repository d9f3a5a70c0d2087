-- Money that a provider has proved.
--
-- An elicitation ends once, but a user may pay after its end, or twice, or
-- another amount. The money is there all the same. So payments have rows of
-- their own; each is claimed by one call, or listed until somebody refunds
-- it. A call is offered the payment, whatever became of the elicitation:
--
--   matches, in time    the elicitation is completed with accept
--   matches, late       the elicitation has ended before: the next call for
--                       the same thing is offered the payment as an accept
--   does not match      never an accept; listed, to be refunded
--
-- Written by receive_events (a signed webhook or return) and by settle (the MCP
-- server has asked the provider). What went back is compared with the payments in
-- 018_refund.
--
-- Locks are taken in this order: the names of payments (lock_references), elicitations,
-- refunds, payments, each by its key. A refund that was told of several elicitations
-- changes payments of which only the row itself is locked: so a claim locks it as well.
-- Where two transactions wait for each other all the same, receive_events gives up at its
-- lock_timeout, and is called again.

CREATE OR REPLACE FUNCTION urlmode.refuse_delete() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.elicitation = OLD.id AND p.claimed_at IS NULL AND p.refunded_at IS NULL
	) THEN
		RAISE restrict_violation USING
			MESSAGE = format('elicitation %s has a payment that no call has claimed', OLD.id),
			HINT = 'Deliver or refund it, and claim it, before you delete the elicitation.';
	END IF;
	RETURN OLD;
END
$$;
COMMENT ON FUNCTION urlmode.refuse_delete IS
	'Internal. Keeps an elicitation for as long as urlmode.unclaimed_of needs it, to say whose '
	'payment it lists.';
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgname = 'refuse_delete'
		AND t.tgrelid = 'urlmode.elicitation'::regclass)
	THEN
		CREATE TRIGGER refuse_delete BEFORE DELETE ON urlmode.elicitation
			FOR EACH ROW EXECUTE FUNCTION urlmode.refuse_delete();
	END IF;
END
$$;
COMMENT ON TRIGGER refuse_delete ON urlmode.elicitation IS
	'Refuses to delete an elicitation with an unclaimed payment.';

-- STABLE, as the functions that it calls: otherwise PostgreSQL would not inline it.
CREATE OR REPLACE FUNCTION urlmode.is_expected(expected jsonb, amount bigint, currency text) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT CASE WHEN expected = '"any"' THEN amount > 0
		WHEN expected ->> 'match' = 'at-least' THEN amount >= (expected -> 'amount')::bigint AND expected ->> 'currency' = currency
		WHEN expected ->> 'match' = 'checkout' THEN coalesce(expected ->> 'currency', currency) = currency
		ELSE expected @> jsonb_build_object('amount', amount, 'currency', currency) END
$$;
COMMENT ON FUNCTION urlmode.is_expected IS
	'Internal. Whether this amount of minor units in this currency is what was expected. "any" is '
	'any positive amount; match at-least: no less, such as a price and its tax; match checkout: '
	'whatever the checkout totals, also 0. Who asks knows that the whole checkout was paid.';

CREATE OR REPLACE FUNCTION urlmode.attribute_refund(of urlmode.refund, payment text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	-- The row of a total has the name of its payment, or of the elicitation.
	is_total CONSTANT boolean := CASE WHEN of.payment IS NULL THEN of.reference = ANY (of.elicitations::text[]) ELSE of.reference = of.payment END;
BEGIN
	-- Of totals under both names the greater counts.
	WITH other AS (
		DELETE FROM urlmode.refund r
		WHERE is_total AND r.provider = of.provider AND r.reference = of.reference AND EXISTS (
			SELECT FROM urlmode.refund o
			WHERE o.provider = of.provider AND o.reference = attribute_refund.payment AND o.payment = attribute_refund.payment
		)
		RETURNING r.*
	)
	UPDATE urlmode.refund r
	SET amount = CASE WHEN r.currency <> x.currency THEN r.amount
			WHEN r.amount IS NULL OR x.amount IS NULL THEN NULL ELSE greatest(r.amount, x.amount) END,
		-- NULL with reversed_at, all of it, is the greatest.
		reversed = CASE WHEN r.currency <> x.currency THEN r.reversed
			WHEN r.reversed_at IS NOT NULL AND r.reversed IS NULL OR x.reversed_at IS NOT NULL AND x.reversed IS NULL THEN NULL
			ELSE greatest(r.reversed, x.reversed) END,
		reversed_at = CASE WHEN r.currency <> x.currency THEN r.reversed_at ELSE least(r.reversed_at, x.reversed_at) END,
		currency = coalesce(r.currency, x.currency), refunded_at = least(r.refunded_at, x.refunded_at),
		unclear_at = CASE WHEN r.currency <> x.currency OR r.reversed_at IS NOT NULL OR x.reversed_at IS NOT NULL
			THEN clock_timestamp() ELSE greatest(r.unclear_at, x.unclear_at) END,
		elicitations = r.elicitations || ARRAY(SELECT o.id FROM unnest(x.elicitations) AS o (id) WHERE o.id <> ALL (r.elicitations))
	FROM other x WHERE r.provider = x.provider AND r.reference = attribute_refund.payment;
	UPDATE urlmode.refund r SET payment = attribute_refund.payment, reference = CASE WHEN is_total AND NOT EXISTS (
			SELECT FROM urlmode.refund o WHERE o.provider = r.provider AND o.reference = attribute_refund.payment
		) THEN attribute_refund.payment ELSE r.reference END
	WHERE r.provider = of.provider AND r.reference = of.reference;
END
$$;
COMMENT ON FUNCTION urlmode.attribute_refund IS
	'Internal. A refund is of this payment: it has named its checkout alone, or nothing.';

-- In PL/pgSQL, because the table of leases (004_claim.sql) and the ledger (031_ledger.sql) come later.
CREATE OR REPLACE FUNCTION urlmode.rename_payment(provider text, before text, after text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	UPDATE urlmode.lease l SET reference = after FROM urlmode.payment p
	WHERE p.provider = rename_payment.provider AND p.reference = before
		AND l.elicitation = p.elicitation AND l.reference = before;
	UPDATE urlmode.decision d SET reference = after
	WHERE d.provider = rename_payment.provider AND d.reference = before;
	UPDATE urlmode.payment p SET reference = after, checkout = before
	WHERE p.provider = rename_payment.provider AND p.reference = before;
	PERFORM urlmode.enter_state(p) FROM urlmode.payment p
	WHERE p.provider = rename_payment.provider AND p.reference = after;
	PERFORM urlmode.attribute_refund(r, after) FROM urlmode.refund r
	WHERE r.provider = rename_payment.provider AND r.payment = before;
END
$$;
COMMENT ON FUNCTION urlmode.rename_payment IS
	'Internal. Gives a payment that has the name of its checkout its own reference, and enters it into '
	'the ledger under that.';

CREATE OR REPLACE FUNCTION urlmode.lock_references(refs text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock(l.key)
	FROM (
		SELECT DISTINCT hashtextextended('urlmode payment ' || r.reference, 0) AS key
		FROM unnest(refs) AS r (reference) WHERE r.reference <> '' ORDER BY key
	) l;
END
$$;
COMMENT ON FUNCTION urlmode.lock_references IS
	'Internal. Lets no other transaction prove a payment with one of these references, or record '
	'what went back of it, until this one has ended: one that looks for the other''s row would not '
	'see it.';

CREATE OR REPLACE FUNCTION urlmode.prove_payments(
	ids uuid[], providers text[], refs text[], amounts bigint[], currencies text[],
	matches boolean[], lates boolean[], results bytea[], checkouts text[] DEFAULT NULL,
	subjects text[] DEFAULT NULL, items text[] DEFAULT NULL, tenants text[] DEFAULT NULL, firsts boolean[] DEFAULT NULL
)
RETURNS TABLE (proof text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	proved uuid[];
	claimed uuid[];
	owners uuid[];
BEGIN
	PERFORM urlmode.rename_payment(p.provider, p.reference, a.reference)
	FROM unnest(ids, providers, refs, checkouts) AS a (id, provider, reference, checkout)
	JOIN urlmode.payment p ON p.provider = a.provider AND p.reference = a.checkout AND p.elicitation = a.id
	WHERE a.reference <> a.checkout AND NOT EXISTS (
		SELECT FROM urlmode.payment o WHERE o.provider = a.provider AND o.reference = a.reference
	);
	WITH written AS (
		INSERT INTO urlmode.payment AS p
			(provider, reference, elicitation, amount, currency, matches, late, result, checkout, subject, item, tenant)
		-- A reference that is there twice pays for the elicitation that it has paid for
		-- before, in part, or else for the first.
		SELECT DISTINCT ON (a.provider, a.reference)
			a.provider, a.reference, a.id, a.amount, a.currency, a.matches, a.late, a.result, a.checkout,
			a.subject, a.item, coalesce(a.tenant, '')
		FROM unnest(ids, providers, refs, amounts, currencies, matches, lates, results, checkouts, subjects, items, tenants)
			WITH ORDINALITY AS a (id, provider, reference, amount, currency, matches, late, result, checkout, subject, item, tenant, n)
		ORDER BY a.provider, a.reference, EXISTS (
			SELECT FROM urlmode.payment o
			WHERE o.provider = a.provider AND o.reference = a.reference AND o.elicitation = a.id
		) DESC, a.n
		ON CONFLICT ON CONSTRAINT payment_pkey DO UPDATE
		SET amount = EXCLUDED.amount, currency = EXCLUDED.currency, matches = EXCLUDED.matches,
			late = EXCLUDED.late, result = EXCLUDED.result,
			-- The same money, which was for another kind (008_event): it was proved then, and who claimed it has it.
			proven_at = CASE WHEN (p.amount, p.currency) = (EXCLUDED.amount, EXCLUDED.currency) THEN p.proven_at ELSE clock_timestamp() END,
			claimed_at = CASE WHEN (p.amount, p.currency) = (EXCLUDED.amount, EXCLUDED.currency) OR p.claim_end = 'delivered' THEN p.claimed_at END,
			claim_end = CASE WHEN (p.amount, p.currency) = (EXCLUDED.amount, EXCLUDED.currency) OR p.claim_end = 'delivered' THEN p.claim_end END,
			claim_refund = CASE WHEN (p.amount, p.currency) = (EXCLUDED.amount, EXCLUDED.currency) THEN p.claim_refund END,
			-- What the operator has voided was a part. What went back of it is added up again below.
			refunded_at = CASE WHEN (p.amount, p.currency) = (EXCLUDED.amount, EXCLUDED.currency) THEN p.refunded_at END
		-- More of a payment that is captured in parts. Who has refunded a part has given
		-- nothing for the whole; who has delivered for it has.
		WHERE p.elicitation = EXCLUDED.elicitation AND NOT p.matches AND (EXCLUDED.matches
			OR (p.claimed_at IS NULL AND p.currency = EXCLUDED.currency AND p.amount < EXCLUDED.amount))
		RETURNING p.elicitation, p.claimed_at
	)
	SELECT array_agg(w.elicitation), array_agg(w.elicitation) FILTER (WHERE w.claimed_at IS NOT NULL) INTO proved, claimed FROM written w;
	IF claimed IS NOT NULL THEN
		INSERT INTO urlmode.purge_queue (ids) VALUES (claimed);
	END IF;
	-- A refund may name the checkout alone. And of what was as expected more may be captured: who has claimed it keeps it.
	UPDATE urlmode.payment p
	SET checkout = coalesce(p.checkout, a.checkout), amount = CASE WHEN p.matches AND p.currency = a.currency THEN greatest(p.amount, a.amount) ELSE p.amount END,
		result = CASE WHEN p.matches AND p.currency = a.currency AND p.amount < a.amount AND p.claimed_at IS NULL THEN a.result ELSE p.result END
	FROM unnest(ids, providers, refs, checkouts, amounts, currencies, results)
		AS a (id, provider, reference, checkout, amount, currency, result)
	WHERE p.provider = a.provider AND p.reference = a.reference AND p.elicitation = a.id
		AND (p.checkout IS NULL AND a.checkout IS NOT NULL OR p.matches AND p.currency = a.currency AND p.amount < a.amount);
	UPDATE urlmode.elicitation e SET is_final = false WHERE e.id = ANY (proved) AND e.is_final;
	IF EXISTS (SELECT FROM unnest(ids, firsts) AS a (id, is_first) WHERE a.is_first AND a.id = ANY (proved)) THEN
		PERFORM urlmode.open_entitlements(proved);
	END IF;
	-- A refund may be known before its payment, or before the payment had its reference.
	UPDATE urlmode.refund r SET elicitations = r.elicitations || p.elicitation
	FROM unnest(providers, refs) AS a (provider, reference)
	JOIN urlmode.payment p ON p.provider = a.provider AND p.reference = a.reference
	WHERE r.provider = a.provider AND r.payment = a.reference AND NOT r.elicitations @> ARRAY[p.elicitation];
	-- Not of those whose reference is taken: the row of that payment is locked by now, and
	-- the payments of two such elicitations would be locked in either order.
	owners := ARRAY(
		SELECT p.elicitation FROM unnest(ids, providers, refs) AS a (id, provider, reference)
		JOIN urlmode.payment p ON p.provider = a.provider AND p.reference = a.reference AND p.elicitation = a.id
	);
	-- For EXISTS, PostgreSQL would expect to find one soon in the table itself, and read all of it.
	IF (SELECT count(*) FROM urlmode.refund r WHERE r.elicitations && owners) > 0 THEN
		PERFORM urlmode.apply_refunds(owners);
	END IF;

	RETURN QUERY
	SELECT CASE
			WHEN a.id = ANY (proved) THEN CASE WHEN a.matches THEN 'matches' ELSE 'mismatch' END
			WHEN a.id = ANY (owners) THEN 'repeated'
			ELSE 'taken'
		END
	FROM unnest(ids, matches) WITH ORDINALITY AS a (id, matches, n)
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.prove_payments IS
	'Internal. Records payments. No elicitation is in the arrays twice, and their rows are locked. '
	'matches: whether it is what the elicitation expected. lates: whether the elicitation had '
	'ended before. subjects, items, tenants: whose a payment is, and what for. firsts: whether it '
	'must be the first one of a subscription. checkouts: the provider''s ids of what was paid; a payment that was written '
	'down under that id, because its own reference was not known yet, is this payment. proof, for '
	'each: matches or mismatch: it is a new payment, or more of one that is captured in parts; '
	'repeated: this payment was written down before, and has the greater amount if it was as '
	'expected; taken: its reference has paid for another '
	'elicitation.';

CREATE OR REPLACE FUNCTION urlmode.is_others(provider text, tenant text) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT EXISTS (
		SELECT FROM urlmode.provider_tenant t WHERE t.provider = is_others.provider AND t.tenant <> is_others.tenant
	)
$$;
COMMENT ON FUNCTION urlmode.is_others IS
	'Internal. Whether a payment provider is of another tenant than this one. Then nothing that a '
	'server of this one says, and no event, makes a payment of the provider one of its own.';

CREATE OR REPLACE FUNCTION urlmode.find_checkout(provider text, reference text) RETURNS uuid[]
LANGUAGE sql STABLE AS $$
	SELECT array_agg(f.elicitation ORDER BY f.is_paid DESC, f.elicitation)
	FROM (
		SELECT x.elicitation, bool_or(x.is_paid) AS is_paid
		FROM (
			SELECT e.id AS elicitation, false AS is_paid FROM urlmode.elicitation e
			WHERE e.provider = find_checkout.provider AND e.checkout = find_checkout.reference
				AND NOT urlmode.is_others(e.provider, e.tenant)
			UNION ALL
			SELECT p.elicitation, true FROM urlmode.payment p
			WHERE p.provider = find_checkout.provider AND p.checkout = find_checkout.reference
		) x
		GROUP BY x.elicitation
	) f
$$;
COMMENT ON FUNCTION urlmode.find_checkout IS
	'Internal. The elicitations of a checkout, also of those that were purged the ones that were '
	'paid; NULL: it is not known.';

CREATE OR REPLACE FUNCTION urlmode.asked_for(p urlmode.payment) RETURNS uuid
LANGUAGE sql STABLE AS $$
	SELECT coalesce((SELECT e.elicitation FROM urlmode.entitlement e WHERE e.id = p.elicitation), p.elicitation)
$$;
COMMENT ON FUNCTION urlmode.asked_for IS
	'Internal. The elicitation of a payment; of a renewal, the one that has opened its subscription.';

CREATE OR REPLACE FUNCTION urlmode.may_be_of(r urlmode.refund, p urlmode.payment) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT r.payment IS NULL OR (
		p.checkout IS NOT DISTINCT FROM r.payment OR EXISTS (
			SELECT FROM urlmode.elicitation e WHERE e.id = p.elicitation AND e.checkout = p.reference
		)
	) AND NOT EXISTS (
		SELECT FROM urlmode.payment o WHERE o.provider = r.provider AND o.reference = r.payment
	)
$$;
COMMENT ON FUNCTION urlmode.may_be_of IS
	'Internal. Whether a refund that was told of the elicitation of this payment, and does not '
	'name the payment, may be of it: it names none; or one of the two has the name of the '
	'checkout, and the name of the other is not known.';

CREATE OR REPLACE FUNCTION urlmode.has_no_payment(r urlmode.refund) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT r.payment IS NULL OR EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.provider = r.provider AND p.elicitation = ANY (r.elicitations) AND urlmode.may_be_of(r, p)
	)
$$;
COMMENT ON FUNCTION urlmode.has_no_payment IS
	'Internal. Whether nobody knows of which payment a refund is, so that it holds all that it may '
	'be of.';

CREATE OR REPLACE FUNCTION urlmode.is_paid(
	kind text, binding bytea, resume_key text, request bytea, provider text, item text
)
RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	IF kind = 'payment' AND coalesce(item, resume_key) IS NOT NULL THEN
		-- With ANY and coalesce no plan begins with all payments that nobody has
		-- claimed, which PostgreSQL takes for few in a new database.
		RETURN EXISTS (
			SELECT FROM urlmode.elicitation e
			JOIN urlmode.payment p ON p.elicitation = ANY (ARRAY[e.id]) AND (p.matches OR e.item = is_paid.item)
				AND coalesce(p.claimed_at, p.refunded_at) IS NULL
			WHERE e.binding = is_paid.binding AND NOT e.is_final AND e.request IS NOT DISTINCT FROM is_paid.request
				AND (e.item = is_paid.item AND e.provider = is_paid.provider AND e.kind = is_paid.kind
					OR is_paid.item IS NULL AND e.resume_key = is_paid.resume_key)
		);
	END IF;
	RETURN false;
END
$$;
COMMENT ON FUNCTION urlmode.is_paid IS
	'Internal. Whether this owner has paid for this item already, whatever amount, and no call has '
	'claimed the payment. Without an item: for this thing, at this price.';

-- In PL/pgSQL, because the table of events comes later (008_event.sql).
CREATE OR REPLACE FUNCTION urlmode.is_under_way(elicitation uuid, after_end timestamptz DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN EXISTS (
		SELECT FROM urlmode.event p
		WHERE p.elicitation = is_under_way.elicitation AND p.action = 'processing'
			AND (after_end IS NULL OR (p.reference IS NOT NULL AND p.received_at > after_end))
			AND NOT EXISTS (
				SELECT FROM urlmode.event f
				WHERE f.elicitation = p.elicitation
					AND f.action IN ('attempt_failed', 'decline', 'cancel', 'late')
					AND CASE WHEN f.reference IS NULL OR p.reference IS NULL
						THEN f.received_at > p.received_at ELSE f.reference = p.reference END
			)
	);
END
$$;
COMMENT ON FUNCTION urlmode.is_under_way IS
	'Internal. Whether an attempt to pay is under way: an event said processing of it, and none '
	'that it ended. Where an event does not name its attempt, what came later counts. after_end: '
	'only attempts that have a name, and of which the provider said so after that time.';

CREATE OR REPLACE FUNCTION urlmode.awaits_late_payment(e urlmode.elicitation) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN urlmode.closes_at(e.kind, 'processing', e.expires_at, e.grace) > now()
		AND urlmode.is_under_way(e.id, CASE WHEN e.completed_from IS NULL THEN '-infinity' ELSE e.completed_at END)
		AND NOT EXISTS (SELECT FROM urlmode.payment p WHERE p.elicitation = e.id AND p.matches);
END
$$;
COMMENT ON FUNCTION urlmode.awaits_late_payment IS
	'Internal. Whether an attempt to pay is under way for a payment that has ended without an '
	'accept: the user went on at the provider. What the MCP server itself cut off does not count.';

CREATE OR REPLACE FUNCTION urlmode.is_check_due(elicitation uuid) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN EXISTS (
		SELECT FROM urlmode.form f WHERE f.elicitation = is_check_due.elicitation AND f.check_until <= now()
	);
END
$$;
COMMENT ON FUNCTION urlmode.is_check_due IS
	'Internal. Whether the time is over in which a value had to be checked.';

CREATE OR REPLACE FUNCTION urlmode.effective_status(e urlmode.elicitation) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT CASE WHEN e.status = 'completed' AND e.kind = 'payment' AND e.action <> 'accept'
			AND urlmode.awaits_late_payment(e) THEN 'processing'
		WHEN e.status = 'processing' AND e.kind = 'input' AND urlmode.is_check_due(e.id) THEN 'opened'
		ELSE e.status::text END
$$;
COMMENT ON FUNCTION urlmode.effective_status IS
	'Internal. The status of an elicitation for pages and calls: a payment that has ended without '
	'an accept, and for which money is on its way, is processing, so that nobody is asked to pay '
	'again. A value that was not checked in time leaves its form opened.';
