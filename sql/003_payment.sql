-- Money that a provider has proved: one row for each payment, ever.
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
-- Written by record_events (a signed webhook or return) and by settle (the MCP
-- server has asked the provider). One reference pays for one elicitation of
-- its provider: that is the primary key.
--
-- What went back has rows of its own as well, which are compared with the payments in
-- 018_refund.sql.
--
-- Locks are taken in this order: the names of payments (lock_references), elicitations,
-- refunds, payments, each by its key. A refund that was told of several elicitations changes payments of which only the row
-- itself is locked: so a claim locks it as well. Where two transactions wait for each
-- other all the same, record_events gives up at its lock_timeout, and is called again.

SET LOCAL ROLE urlmode_owner;

CREATE TABLE urlmode.payment (
	provider    urlmode.provider  NOT NULL,
	reference   urlmode.reference NOT NULL,
	elicitation uuid        NOT NULL,
	checkout    urlmode.reference,
	amount      bigint      NOT NULL CHECK (amount >= 0),
	currency    urlmode.currency NOT NULL,
	matches     boolean     NOT NULL,
	late        boolean     NOT NULL,
	proven_at   timestamptz NOT NULL DEFAULT now(),
	claimed_at  timestamptz,
	refunded    bigint      NOT NULL DEFAULT 0,
	refunded_at timestamptz,
	held        boolean     NOT NULL DEFAULT false,
	result      urlmode.result,
	PRIMARY KEY (provider, reference)
);
CREATE INDEX payment_elicitation ON urlmode.payment (elicitation);
CREATE INDEX payment_checkout ON urlmode.payment (provider, checkout) WHERE checkout IS NOT NULL;
CREATE INDEX payment_proven_at ON urlmode.payment (provider, proven_at);
CREATE INDEX payment_unclaimed ON urlmode.payment (proven_at)
	WHERE claimed_at IS NULL AND refunded_at IS NULL;
COMMENT ON TABLE urlmode.payment IS 'Payments that a provider has proved. Written by record_events and settle.';
COMMENT ON INDEX urlmode.payment_elicitation IS 'Finds the payments of an elicitation.';
COMMENT ON INDEX urlmode.payment_checkout IS 'Finds the payments of a checkout, also when their elicitation was purged.';
COMMENT ON INDEX urlmode.payment_proven_at IS 'Finds the payments of a provider and a time.';
COMMENT ON INDEX urlmode.payment_unclaimed IS 'Finds the payments that no call has claimed.';
COMMENT ON COLUMN urlmode.payment.provider IS 'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.payment.reference IS
	'The provider''s reference of the payment; the id of the elicitation where the provider sends none.';
COMMENT ON COLUMN urlmode.payment.elicitation IS
	'What it was paid for. Not a foreign key: a reference stays used when its elicitation is deleted, which is refused until the payment is claimed or refunded.';
COMMENT ON COLUMN urlmode.payment.checkout IS 'The provider''s id of the checkout that was paid. NULL: it is not known.';
COMMENT ON COLUMN urlmode.payment.amount IS 'In minor units of the currency.';
COMMENT ON COLUMN urlmode.payment.currency IS 'ISO 4217.';
COMMENT ON COLUMN urlmode.payment.matches IS 'Whether amount and currency are those that the elicitation expected.';
COMMENT ON COLUMN urlmode.payment.late IS 'Whether the elicitation was completed, or its expiry and grace were over, before the payment was proved.';
COMMENT ON COLUMN urlmode.payment.proven_at IS 'When it was proved.';
COMMENT ON COLUMN urlmode.payment.claimed_at IS 'When a call claimed it, to deliver or to refund it.';
COMMENT ON COLUMN urlmode.payment.refunded IS 'How much of it went back, in minor units; at most all of it.';
COMMENT ON COLUMN urlmode.payment.refunded_at IS
	'When all of it went back, or the operator voided it. NULL again when what went back has come again.';
COMMENT ON COLUMN urlmode.payment.held IS
	'Whether no call is offered it until the operator decides: a part of it went back, or a refund that names no payment may be of this one.';
COMMENT ON COLUMN urlmode.payment.result IS 'What came back, as sealed JSON. Purged some time after the claim.';

CREATE TABLE urlmode.refund (
	provider    urlmode.provider  NOT NULL,
	reference   urlmode.reference NOT NULL,
	elicitations uuid[]     NOT NULL,
	payment     urlmode.reference,
	amount      bigint      CHECK (amount >= 0),
	currency    urlmode.currency,
	reversed    bigint      CHECK (reversed >= 0),
	reversed_at timestamptz,
	refunded_at timestamptz,
	unclear_at  timestamptz,
	received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	changed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
	PRIMARY KEY (provider, reference)
);
CREATE INDEX refund_payment ON urlmode.refund (provider, payment);
CREATE INDEX refund_elicitations ON urlmode.refund USING gin (elicitations) WITH (fastupdate = off);
CREATE INDEX refund_changed_at ON urlmode.refund (changed_at);
COMMENT ON TABLE urlmode.refund IS 'What went back, in the provider''s words: refunds, disputes, cancelled authorisations. Written by record_events.';
COMMENT ON INDEX urlmode.refund_payment IS 'Finds the refunds of a payment.';
COMMENT ON INDEX urlmode.refund_elicitations IS 'Finds the refunds of an elicitation.';
COMMENT ON INDEX urlmode.refund_changed_at IS 'Finds refunds that were recorded or reversed since a time.';
COMMENT ON COLUMN urlmode.refund.provider IS 'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.refund.reference IS
	'The provider''s reference of the refund. Where its events have none, they tell the total that went back of the payment, and this is the reference of the payment; or the id of the elicitation, where the payment is not known.';
COMMENT ON COLUMN urlmode.refund.elicitations IS
	'The elicitation of the payment, and each that an event of this refund has named. Not foreign keys: a refund stays when its elicitation is purged.';
COMMENT ON COLUMN urlmode.refund.payment IS
	'The reference of the payment, which may be proved later. NULL: the provider did not name it, and not exactly one payment was proved before, or it has named another elicitation since. Then it holds all payments of the elicitations.';
COMMENT ON COLUMN urlmode.refund.amount IS 'In minor units. NULL: all of the payment.';
COMMENT ON COLUMN urlmode.refund.currency IS 'ISO 4217. NULL: that of the payment.';
COMMENT ON COLUMN urlmode.refund.reversed IS 'How much of it came again (a refund that failed, a dispute that was won): the largest amount that an event has named, since no provider says that they add up. NULL with reversed_at: all.';
COMMENT ON COLUMN urlmode.refund.reversed_at IS 'When it came again.';
COMMENT ON COLUMN urlmode.refund.refunded_at IS 'When the provider first said that it went back. NULL: it has only said that it came again.';
COMMENT ON COLUMN urlmode.refund.unclear_at IS
	'When a total was told after a reversal: it may include what came again, or may be new. Or when a second currency was told, whose amounts are left out. The payment is held until the operator decides.';
COMMENT ON COLUMN urlmode.refund.received_at IS 'When the provider first told of it.';
COMMENT ON COLUMN urlmode.refund.changed_at IS 'When an event last changed this row.';

CREATE TABLE urlmode.decision (
	provider   urlmode.provider  NOT NULL,
	reference  urlmode.reference NOT NULL,
	decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	decision   text        NOT NULL CHECK (decision IN ('released', 'voided')),
	refunded   bigint      NOT NULL,
	decided_by text        NOT NULL CHECK (octet_length(decided_by) BETWEEN 1 AND 200),
	note       text        NOT NULL DEFAULT '' CHECK (octet_length(note) <= 1000),
	PRIMARY KEY (provider, reference, decided_at)
);
COMMENT ON TABLE urlmode.decision IS 'What the operator decided about payments that were held. Nothing is ever deleted here: the last row of a payment counts.';
COMMENT ON COLUMN urlmode.decision.provider IS 'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.decision.reference IS 'The reference of the payment.';
COMMENT ON COLUMN urlmode.decision.decided_at IS 'When it was decided.';
COMMENT ON COLUMN urlmode.decision.decision IS
	'released: a call is offered the payment, as long as nothing more goes back. voided: no call is offered it any more.';
COMMENT ON COLUMN urlmode.decision.refunded IS 'How much of the payment had gone back at that time.';
COMMENT ON COLUMN urlmode.decision.decided_by IS 'Who decided, as the command says.';
COMMENT ON COLUMN urlmode.decision.note IS 'Why, in the operator''s words.';

CREATE FUNCTION urlmode.refuse_delete() RETURNS trigger
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
COMMENT ON FUNCTION urlmode.refuse_delete() IS
	'Internal. Keeps an elicitation for as long as urlmode.unclaimed needs it, to say whose payment it lists.';
CREATE TRIGGER refuse_delete BEFORE DELETE ON urlmode.elicitation
	FOR EACH ROW EXECUTE FUNCTION urlmode.refuse_delete();
COMMENT ON TRIGGER refuse_delete ON urlmode.elicitation IS 'Refuses to delete an elicitation with an unclaimed payment.';

-- STABLE, as the functions that it calls: otherwise PostgreSQL would not inline it.
CREATE FUNCTION urlmode.is_expected(expected jsonb, amount bigint, currency text) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT CASE WHEN expected = '"any"' THEN amount > 0
		ELSE expected @> jsonb_build_object('amount', amount, 'currency', currency) END
$$;
COMMENT ON FUNCTION urlmode.is_expected(jsonb, bigint, text) IS
	'Internal. Whether this amount of minor units in this currency is what was expected. "any" is any positive amount.';

-- In PL/pgSQL, because the table of leases comes later (004_claim.sql).
CREATE FUNCTION urlmode.rename_payment(provider text, before text, after text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	UPDATE urlmode.lease l SET reference = after FROM urlmode.payment p
	WHERE p.provider = rename_payment.provider AND p.reference = before
		AND l.elicitation = p.elicitation AND l.reference = before;
	UPDATE urlmode.decision d SET reference = after
	WHERE d.provider = rename_payment.provider AND d.reference = before;
	-- The row of a total has the name of its payment: of totals under both names the greater counts.
	WITH other AS (
		DELETE FROM urlmode.refund r
		WHERE r.provider = rename_payment.provider AND r.reference = before AND r.payment = before AND EXISTS (
			SELECT FROM urlmode.refund o WHERE o.provider = r.provider AND o.reference = after AND o.payment = after
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
			THEN clock_timestamp() ELSE greatest(r.unclear_at, x.unclear_at) END
	FROM other x WHERE r.provider = x.provider AND r.reference = after;
	UPDATE urlmode.refund r SET payment = after, reference = CASE WHEN r.reference = before AND NOT EXISTS (
			SELECT FROM urlmode.refund o WHERE o.provider = r.provider AND o.reference = after
		) THEN after ELSE r.reference END
	WHERE r.provider = rename_payment.provider AND r.payment = before;
	UPDATE urlmode.payment p SET reference = after, checkout = before
	WHERE p.provider = rename_payment.provider AND p.reference = before;
END
$$;
COMMENT ON FUNCTION urlmode.rename_payment(text, text, text) IS
	'Internal. Gives a payment that has the name of its checkout its own reference.';

CREATE FUNCTION urlmode.lock_references(refs text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock(l.key)
	FROM (
		SELECT DISTINCT hashtextextended('urlmode payment ' || r.reference, 0) AS key
		FROM unnest(refs) AS r (reference) WHERE r.reference <> '' ORDER BY key
	) l;
END
$$;
COMMENT ON FUNCTION urlmode.lock_references(text[]) IS
	'Internal. Lets no other transaction prove a payment with one of these references, or record what went back of it, until this one has ended: one that looks for the other''s row would not see it.';

CREATE FUNCTION urlmode.prove_payments(
	ids uuid[], providers text[], refs text[], amounts bigint[], currencies text[],
	matches boolean[], lates boolean[], results bytea[], checkouts text[] DEFAULT NULL
)
RETURNS TABLE (proof text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	proved uuid[];
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
			(provider, reference, elicitation, amount, currency, matches, late, result, checkout)
		-- A reference that is there twice pays for the elicitation that it has paid for
		-- before, in part, or else for the first.
		SELECT DISTINCT ON (a.provider, a.reference)
			a.provider, a.reference, a.id, a.amount, a.currency, a.matches, a.late, a.result, a.checkout
		FROM unnest(ids, providers, refs, amounts, currencies, matches, lates, results, checkouts)
			WITH ORDINALITY AS a (id, provider, reference, amount, currency, matches, late, result, checkout, n)
		ORDER BY a.provider, a.reference, EXISTS (
			SELECT FROM urlmode.payment o
			WHERE o.provider = a.provider AND o.reference = a.reference AND o.elicitation = a.id
		) DESC, a.n
		ON CONFLICT ON CONSTRAINT payment_pkey DO UPDATE
		SET amount = EXCLUDED.amount, currency = EXCLUDED.currency, matches = EXCLUDED.matches,
			late = EXCLUDED.late, result = EXCLUDED.result, proven_at = clock_timestamp(), claimed_at = NULL
		-- More of a payment that is captured in parts. A call that claimed a part
		-- did not get the whole; the operator who claimed it has refunded the part.
		WHERE p.elicitation = EXCLUDED.elicitation AND NOT p.matches AND (EXCLUDED.matches
			OR (p.claimed_at IS NULL AND p.currency = EXCLUDED.currency AND p.amount < EXCLUDED.amount))
		RETURNING p.elicitation
	)
	SELECT array_agg(w.elicitation) INTO proved FROM written w;
	-- A refund may name the checkout alone.
	UPDATE urlmode.payment p SET checkout = a.checkout
	FROM unnest(ids, providers, refs, checkouts) AS a (id, provider, reference, checkout)
	WHERE a.checkout IS NOT NULL AND p.provider = a.provider AND p.reference = a.reference AND p.elicitation = a.id
		AND p.checkout IS NULL;
	UPDATE urlmode.elicitation e SET dormant = false WHERE e.id = ANY (proved) AND e.dormant;
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
	IF EXISTS (SELECT FROM urlmode.refund r WHERE r.elicitations && owners) THEN
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
COMMENT ON FUNCTION urlmode.prove_payments(uuid[], text[], text[], bigint[], text[], boolean[], boolean[], bytea[], text[]) IS
	'Internal. Records payments. No elicitation is in the arrays twice, and their rows are locked. matches: whether it is what the elicitation expected. lates: whether the elicitation had ended before. checkouts: the provider''s ids of what was paid; a payment that was written down under that id, because its own reference was not known yet, is this payment. proof, for each: matches or mismatch: it is a new payment, or more of one that is captured in parts; repeated: this payment was written down before; taken: its reference has paid for another elicitation.';

CREATE FUNCTION urlmode.find_checkout(provider text, reference text) RETURNS uuid[]
LANGUAGE sql STABLE AS $$
	SELECT array_agg(f.elicitation ORDER BY f.is_paid DESC, f.elicitation)
	FROM (
		SELECT x.elicitation, bool_or(x.is_paid) AS is_paid
		FROM (
			SELECT e.id AS elicitation, false AS is_paid FROM urlmode.elicitation e
			WHERE e.provider = find_checkout.provider AND e.checkout = find_checkout.reference
			UNION ALL
			SELECT p.elicitation, true FROM urlmode.payment p
			WHERE p.provider = find_checkout.provider AND p.checkout = find_checkout.reference
		) x
		GROUP BY x.elicitation
	) f
$$;
COMMENT ON FUNCTION urlmode.find_checkout(text, text) IS
	'Internal. The elicitations of a checkout, also of those that were purged the ones that were paid; NULL: it is not known.';

CREATE FUNCTION urlmode.may_be_of(r urlmode.refund, p urlmode.payment) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT r.payment IS NULL OR (
		p.checkout IS NOT DISTINCT FROM r.payment OR EXISTS (
			SELECT FROM urlmode.elicitation e WHERE e.id = p.elicitation AND e.checkout = p.reference
		)
	) AND NOT EXISTS (
		SELECT FROM urlmode.payment o WHERE o.provider = r.provider AND o.reference = r.payment
	)
$$;
COMMENT ON FUNCTION urlmode.may_be_of(urlmode.refund, urlmode.payment) IS
	'Internal. Whether a refund that was told of the elicitation of this payment, and does not name the payment, may be of it: it names none; or one of the two has the name of the checkout, and the name of the other is not known.';

CREATE FUNCTION urlmode.has_no_payment(r urlmode.refund) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT r.payment IS NULL OR EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.provider = r.provider AND p.elicitation = ANY (r.elicitations) AND urlmode.may_be_of(r, p)
	)
$$;
COMMENT ON FUNCTION urlmode.has_no_payment(urlmode.refund) IS
	'Internal. Whether nobody knows of which payment a refund is, so that it holds all that it may be of.';

CREATE FUNCTION urlmode.is_paid(kind text, binding bytea, resume_key text, request bytea) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	IF kind = 'payment' AND resume_key IS NOT NULL THEN
		-- With ANY and coalesce no plan begins with all payments that nobody has
		-- claimed, which PostgreSQL takes for few in a new database.
		RETURN EXISTS (
			SELECT FROM urlmode.elicitation e
			JOIN urlmode.payment p ON p.elicitation = ANY (ARRAY[e.id]) AND p.matches
				AND coalesce(p.claimed_at, p.refunded_at) IS NULL
			WHERE e.binding = is_paid.binding AND e.resume_key = is_paid.resume_key AND NOT e.dormant
				AND e.request IS NOT DISTINCT FROM is_paid.request
		);
	END IF;
	RETURN false;
END
$$;
COMMENT ON FUNCTION urlmode.is_paid(text, bytea, text, bytea) IS
	'Internal. Whether this owner has paid for this thing already, at this price, and no call has claimed the payment.';

-- In PL/pgSQL, because the table of events comes later (008_event.sql).
CREATE FUNCTION urlmode.is_under_way(elicitation uuid, after_end timestamptz DEFAULT NULL) RETURNS boolean
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
COMMENT ON FUNCTION urlmode.is_under_way(uuid, timestamptz) IS
	'Internal. Whether an attempt to pay is under way: an event said processing of it, and none that it ended. Where an event does not name its attempt, what came later counts. after_end: only attempts that have a name, and of which the provider said so after that time.';

CREATE FUNCTION urlmode.awaits_late_payment(e urlmode.elicitation) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN urlmode.closes_at(e.kind, 'processing', e.expires_at, e.grace) > now()
		AND urlmode.is_under_way(e.id, CASE WHEN e.completed_from IS NULL THEN '-infinity' ELSE e.completed_at END)
		AND NOT EXISTS (SELECT FROM urlmode.payment p WHERE p.elicitation = e.id AND p.matches);
END
$$;
COMMENT ON FUNCTION urlmode.awaits_late_payment(urlmode.elicitation) IS
	'Internal. Whether an attempt to pay is under way for a payment that has ended without an accept: the user went on at the provider. What the MCP server itself cut off does not count.';

CREATE FUNCTION urlmode.effective_status(e urlmode.elicitation) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT CASE WHEN e.status = 'completed' AND e.kind = 'payment' AND e.action <> 'accept'
			AND urlmode.awaits_late_payment(e) THEN 'processing'
		WHEN e.status = 'processing' AND e.check_until <= now() THEN 'opened'
		ELSE e.status::text END
$$;
COMMENT ON FUNCTION urlmode.effective_status(urlmode.elicitation) IS
	'Internal. The status of an elicitation for pages and calls: a payment that has ended without an accept, and for which money is on its way, is processing, so that nobody is asked to pay again. A value that was not checked in time leaves its form opened.';

REVOKE ALL ON FUNCTION
	urlmode.refuse_delete(),
	urlmode.is_expected(jsonb, bigint, text),
	urlmode.rename_payment(text, text, text),
	urlmode.lock_references(text[]),
	urlmode.prove_payments(uuid[], text[], text[], bigint[], text[], boolean[], boolean[], bytea[], text[]),
	urlmode.find_checkout(text, text),
	urlmode.may_be_of(urlmode.refund, urlmode.payment),
	urlmode.has_no_payment(urlmode.refund),
	urlmode.is_paid(text, bytea, text, bytea),
	urlmode.is_under_way(uuid, timestamptz),
	urlmode.awaits_late_payment(urlmode.elicitation),
	urlmode.effective_status(urlmode.elicitation)
FROM PUBLIC;
