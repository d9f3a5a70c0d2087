-- Money that a provider has proved: one row for each payment, ever.
--
-- An elicitation ends once, but a user may pay after its end, or twice, or
-- another amount. The money is there all the same. So what was paid has rows
-- of its own; each is claimed by one call, or listed until somebody refunds
-- it. What a call is offered is the payment, whatever became of the row:
--
--   matches, in time    the elicitation is completed with accept
--   matches, late       the elicitation has ended before: the next call for
--                       the same thing is offered the payment as an accept
--   does not match      never an accept; listed, to be refunded
--
-- Written by record_events (a signed webhook or return) and by settle (the MCP
-- server has asked the provider). One reference pays for one elicitation of
-- its provider: that is the primary key.

SET LOCAL ROLE urlmode_owner;

CREATE TABLE urlmode.payment (
	provider    urlmode.provider  NOT NULL,
	reference   urlmode.reference NOT NULL,
	elicitation uuid        NOT NULL,
	amount      bigint      NOT NULL CHECK (amount >= 0),
	currency    urlmode.currency NOT NULL,
	matches     boolean     NOT NULL,
	late        boolean     NOT NULL,
	proven_at   timestamptz NOT NULL DEFAULT now(),
	claimed_at  timestamptz,
	refunded_at timestamptz,
	result      urlmode.result,
	PRIMARY KEY (provider, reference)
);
CREATE INDEX payment_elicitation ON urlmode.payment (elicitation);
CREATE INDEX payment_unclaimed ON urlmode.payment (proven_at)
	WHERE claimed_at IS NULL AND refunded_at IS NULL;
COMMENT ON TABLE urlmode.payment IS 'Payments that a provider has proved. Written by record_events and settle.';
COMMENT ON INDEX urlmode.payment_elicitation IS 'Finds the payments of an elicitation.';
COMMENT ON INDEX urlmode.payment_unclaimed IS 'Finds what no call has claimed.';
COMMENT ON COLUMN urlmode.payment.provider IS 'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.payment.reference IS
	'The provider''s reference of the payment; the id of the elicitation where the provider sends none.';
COMMENT ON COLUMN urlmode.payment.elicitation IS
	'What it was paid for. Not a foreign key: a reference stays used when its elicitation is deleted, which is refused until the payment is claimed or refunded.';
COMMENT ON COLUMN urlmode.payment.amount IS 'What was paid, in minor units of the currency.';
COMMENT ON COLUMN urlmode.payment.currency IS 'ISO 4217.';
COMMENT ON COLUMN urlmode.payment.matches IS 'Whether that is what the elicitation expected.';
COMMENT ON COLUMN urlmode.payment.late IS 'Whether the elicitation was completed, or its expiry and grace were over, before the payment was proved.';
COMMENT ON COLUMN urlmode.payment.proven_at IS 'When it was proved.';
COMMENT ON COLUMN urlmode.payment.claimed_at IS 'When a call took it, to deliver what was paid for, or to refund it.';
COMMENT ON COLUMN urlmode.payment.refunded_at IS 'When the provider said that all of it went back.';
COMMENT ON COLUMN urlmode.payment.result IS 'What came back, as sealed JSON. Purged some time after the claim.';

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
COMMENT ON TRIGGER refuse_delete ON urlmode.elicitation IS 'Refuses to delete what was paid and not claimed.';

-- STABLE, as what it calls is: PostgreSQL inlines no function that promises more.
CREATE FUNCTION urlmode.is_expected(expected jsonb, amount bigint, currency text) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT CASE WHEN expected = '"any"' THEN amount > 0
		ELSE expected @> jsonb_build_object('amount', amount, 'currency', currency) END
$$;
COMMENT ON FUNCTION urlmode.is_expected(jsonb, bigint, text) IS
	'Internal. Whether this amount of minor units in this currency is what was expected. "any" is any positive amount.';

CREATE FUNCTION urlmode.is_paid(kind text, binding bytea, resume_key text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	IF kind = 'payment' AND resume_key IS NOT NULL THEN
		-- With ANY and coalesce no plan begins with all payments that nobody has
		-- claimed, which PostgreSQL takes for few in a new database.
		RETURN EXISTS (
			SELECT FROM urlmode.elicitation e
			JOIN urlmode.payment p ON p.elicitation = ANY (ARRAY[e.id]) AND p.matches
				AND coalesce(p.claimed_at, p.refunded_at) IS NULL
			WHERE e.binding = is_paid.binding AND e.resume_key = is_paid.resume_key
		);
	END IF;
	RETURN false;
END
$$;
COMMENT ON FUNCTION urlmode.is_paid(text, bytea, text) IS
	'Internal. Whether this owner has paid for this thing already, and no call has claimed the payment.';

-- In PL/pgSQL, because the table of events comes later (007_event.sql).
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

CREATE FUNCTION urlmode.outlives(e urlmode.elicitation) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN urlmode.closes_at('processing', e.expires_at, e.grace) > now()
		AND urlmode.is_under_way(e.id, CASE WHEN e.completed_from IS NULL THEN '-infinity' ELSE e.completed_at END)
		AND NOT EXISTS (SELECT FROM urlmode.payment p WHERE p.elicitation = e.id AND p.matches);
END
$$;
COMMENT ON FUNCTION urlmode.outlives(urlmode.elicitation) IS
	'Internal. Whether an attempt to pay is under way for a payment that has ended without an accept: the user went on at the provider. What the MCP server itself cut off does not count.';

CREATE FUNCTION urlmode.standing(e urlmode.elicitation) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT CASE WHEN e.status = 'completed' AND e.kind = 'payment' AND e.action <> 'accept'
			AND urlmode.outlives(e) THEN 'processing'
		ELSE e.status::text END
$$;
COMMENT ON FUNCTION urlmode.standing(urlmode.elicitation) IS
	'Internal. The status of an elicitation as a page or a call is told it: a payment that has ended without an accept, and for which money is on its way, is processing, so that nobody is asked to pay again.';

CREATE FUNCTION urlmode.claim(
	id uuid, binding bytea, reference text DEFAULT NULL, keep_ms bigint DEFAULT 600000,
	action text DEFAULT 'accept'
)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.elicitation;
	taken boolean;
BEGIN
	SELECT * INTO row FROM urlmode.elicitation e
	WHERE e.id = claim.id AND e.binding = claim.binding AND e.status = 'completed'
	FOR UPDATE;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	IF EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.elicitation = claim.id AND (p.matches OR p.reference = claim.reference)
	) THEN
		-- Proved after the caller has read a refusal: it stays for the next call.
		IF claim.action <> 'accept' THEN
			RETURN false;
		END IF;
		UPDATE urlmode.payment p SET claimed_at = now()
		WHERE (p.provider, p.reference) = (
			SELECT x.provider, x.reference FROM urlmode.payment x
			WHERE x.elicitation = claim.id AND x.claimed_at IS NULL AND x.refunded_at IS NULL
				AND CASE WHEN claim.reference IS NULL THEN x.matches ELSE x.reference = claim.reference END
			ORDER BY x.proven_at, x.reference LIMIT 1
		)
		RETURNING true INTO taken;
		IF taken IS NULL THEN
			RETURN false;
		END IF;
		INSERT INTO urlmode.purge_queue (ids, due_at)
		VALUES (ARRAY[claim.id], now() + keep_ms * interval '1 millisecond');
	ELSIF row.claimed_at IS NOT NULL THEN
		RETURN false;
	END IF;
	UPDATE urlmode.elicitation e SET claimed_at = coalesce(e.claimed_at, now())
	WHERE e.id = claim.id AND e.claimed_at IS NULL;
	RETURN true;
END
$$;
COMMENT ON FUNCTION urlmode.claim(uuid, bytea, text, bigint, text) IS
	'Takes the outcome of a completed elicitation, to act on it: true for the first call, false for every later one. Where payments were proved it takes one of them: the oldest that matches, or the one of this reference; but none where action, which is that of the outcome that the caller has read, is a refusal. Its result is purged after keep_ms milliseconds, ten minutes by default.';

CREATE FUNCTION urlmode.unclaimed(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, id uuid DEFAULT NULL
)
RETURNS TABLE (
	elicitation uuid, provider_name text, reference text, amount bigint, currency text,
	matches boolean, late boolean, proven_at timestamptz,
	subject text, session text, binding bytea, resume_key text, action text, reason text, result bytea
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.elicitation, p.provider::text, p.reference::text, p.amount, p.currency::text,
		p.matches, p.late, p.proven_at,
		e.subject::text, e.session::text, e.binding::bytea, e.resume_key::text,
		e.action::text, e.reason::text, p.result::bytea
	FROM urlmode.payment p
	JOIN urlmode.elicitation e ON e.id = p.elicitation
	WHERE p.claimed_at IS NULL AND p.refunded_at IS NULL
		AND (unclaimed.provider IS NULL OR p.provider = unclaimed.provider)
		AND (since IS NULL OR p.proven_at >= since)
		AND (unclaimed.id IS NULL OR p.elicitation = unclaimed.id)
	ORDER BY p.proven_at, p.reference
$$;
COMMENT ON FUNCTION urlmode.unclaimed(text, timestamptz, uuid) IS
	'The payments that no call has claimed and that were not refunded, the oldest first, with what is needed to deliver or to refund them. For all owners: for the operator of the MCP server.';

CREATE FUNCTION urlmode.count_unclaimed() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT count(*) FROM urlmode.payment p WHERE p.claimed_at IS NULL AND p.refunded_at IS NULL
$$;
COMMENT ON FUNCTION urlmode.count_unclaimed() IS 'How many payments urlmode.unclaimed lists, for the metrics.';

REVOKE ALL ON FUNCTION
	urlmode.refuse_delete(),
	urlmode.is_expected(jsonb, bigint, text),
	urlmode.is_paid(text, bytea, text),
	urlmode.is_under_way(uuid, timestamptz),
	urlmode.outlives(urlmode.elicitation),
	urlmode.standing(urlmode.elicitation),
	urlmode.claim(uuid, bytea, text, bigint, text),
	urlmode.unclaimed(text, timestamptz, uuid),
	urlmode.count_unclaimed()
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.claim(uuid, bytea, text, bigint, text),
	urlmode.unclaimed(text, timestamptz, uuid)
TO urlmode_server;
GRANT EXECUTE ON FUNCTION urlmode.count_unclaimed() TO urlmode_cgi;
