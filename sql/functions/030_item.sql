-- The lists of money as older packages call them, and what payments and signatures are for.

CREATE OR REPLACE FUNCTION urlmode.unclaimed_payments(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, id uuid DEFAULT NULL
)
RETURNS TABLE (
	elicitation uuid, provider_name text, reference text, amount bigint, currency text,
	matches boolean, late boolean, proven_at timestamptz, refunded bigint, held boolean,
	subject text, session text, binding bytea, resume_key text, action text, reason text, result bytea, item text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT u.elicitation, u.provider_name, u.reference, u.amount, u.currency, u.matches, u.late, u.proven_at, u.refunded, u.held,
		u.subject, u.session, u.binding, u.resume_key, e.action::text, e.reason::text, u.result, u.item
	FROM urlmode.unclaimed_of('', unclaimed_payments.provider, unclaimed_payments.since, unclaimed_payments.id) WITH ORDINALITY AS u JOIN urlmode.elicitation e ON e.id = u.elicitation
	ORDER BY u.ordinality
$$;
COMMENT ON FUNCTION urlmode.unclaimed_payments IS
	'unclaimed_of, of what has no tenant, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.unclaimed(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, id uuid DEFAULT NULL
)
RETURNS TABLE (
	elicitation uuid, provider_name text, reference text, amount bigint, currency text,
	matches boolean, late boolean, proven_at timestamptz, refunded bigint, held boolean,
	subject text, session text, binding bytea, resume_key text, action text, reason text, result bytea
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT u.elicitation, u.provider_name, u.reference, u.amount, u.currency, u.matches, u.late, u.proven_at, u.refunded, u.held,
		u.subject, u.session, u.binding, u.resume_key, e.action::text, e.reason::text, u.result
	FROM urlmode.unclaimed_of('', unclaimed.provider, unclaimed.since, unclaimed.id) WITH ORDINALITY AS u JOIN urlmode.elicitation e ON e.id = u.elicitation
	ORDER BY u.ordinality
$$;
COMMENT ON FUNCTION urlmode.unclaimed IS
	'unclaimed_of, of what has no tenant, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.undelivered_claims(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, id uuid DEFAULT NULL
)
RETURNS TABLE (
	elicitation uuid, provider_name text, kind text, reference text, amount bigint, currency text,
	fulfilled_at timestamptz, given_at timestamptz, has_result boolean, refunded bigint, held boolean,
	subject text, session text, binding bytea, resume_key text, item text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT u.elicitation, u.provider_name, u.kind, u.reference, u.amount, u.currency, u.fulfilled_at, u.given_at, u.has_result,
		u.refunded, u.held, u.subject, u.session, e.binding::bytea, u.resume_key, u.item
	FROM urlmode.undelivered_of('', undelivered_claims.provider, undelivered_claims.since, undelivered_claims.id) WITH ORDINALITY AS u JOIN urlmode.elicitation e ON e.id = u.elicitation
	ORDER BY u.ordinality
$$;
COMMENT ON FUNCTION urlmode.undelivered_claims IS
	'undelivered_of, of what has no tenant, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.undelivered(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, id uuid DEFAULT NULL
)
RETURNS TABLE (
	elicitation uuid, provider_name text, kind text, reference text, amount bigint, currency text,
	fulfilled_at timestamptz, given_at timestamptz, has_result boolean, refunded bigint, held boolean,
	subject text, session text, binding bytea, resume_key text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT u.elicitation, u.provider_name, u.kind, u.reference, u.amount, u.currency, u.fulfilled_at, u.given_at, u.has_result,
		u.refunded, u.held, u.subject, u.session, e.binding::bytea, u.resume_key
	FROM urlmode.undelivered_of('', undelivered.provider, undelivered.since, undelivered.id) WITH ORDINALITY AS u JOIN urlmode.elicitation e ON e.id = u.elicitation
	ORDER BY u.ordinality
$$;
COMMENT ON FUNCTION urlmode.undelivered IS
	'undelivered_of, of what has no tenant, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.refunds_of(tenant text, provider text, since timestamptz, id uuid)
RETURNS TABLE (
	elicitation uuid, provider_name text, reference text, amount bigint, currency text, reversed bigint,
	received_at timestamptz, changed_at timestamptz,
	payment text, paid bigint, refunded bigint, held boolean, claimed boolean,
	subject text, session text, resume_key text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT u.elicitation, u.provider_name, u.reference, u.amount, u.currency, u.reversed, u.received_at, u.changed_at,
		u.payment, u.paid, u.refunded, u.held, u.claimed, u.subject, u.session, u.resume_key
	FROM urlmode.refunds_with_item(refunds_of.tenant, refunds_of.provider, refunds_of.since, refunds_of.id) WITH ORDINALITY AS u
	ORDER BY u.ordinality
$$;
COMMENT ON FUNCTION urlmode.refunds_of IS
	'refunds_with_item, without the item, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.refunds(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, id uuid DEFAULT NULL
)
RETURNS TABLE (
	elicitation uuid, provider_name text, reference text, amount bigint, currency text, reversed bigint,
	received_at timestamptz, changed_at timestamptz,
	payment text, paid bigint, refunded bigint, held boolean, claimed boolean,
	subject text, session text, resume_key text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT u.elicitation, u.provider_name, u.reference, u.amount, u.currency, u.reversed, u.received_at, u.changed_at,
		u.payment, u.paid, u.refunded, u.held, u.claimed, u.subject, u.session, u.resume_key
	FROM urlmode.refunds_with_item('', refunds.provider, refunds.since, refunds.id) WITH ORDINALITY AS u
	ORDER BY u.ordinality
$$;
COMMENT ON FUNCTION urlmode.refunds IS
	'refunds_with_item, of what has no tenant, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.show_item(id uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.item::text FROM urlmode.elicitation e WHERE e.id = show_item.id
$$;
COMMENT ON FUNCTION urlmode.show_item IS
	'What a payment or signature is for, in the words of the MCP server; NULL: it does not say.';

GRANT EXECUTE ON FUNCTION
	urlmode.unclaimed_payments, urlmode.unclaimed, urlmode.undelivered_claims, urlmode.undelivered, urlmode.refunds_of,
	urlmode.refunds
TO :"server";
GRANT EXECUTE ON FUNCTION urlmode.show_item TO :"operator";
