-- What payments and signatures are for, beside what older packages and commands are told.

CREATE OR REPLACE FUNCTION urlmode.unclaimed_payments(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, id uuid DEFAULT NULL
)
RETURNS TABLE (
	elicitation uuid, provider_name text, reference text, amount bigint, currency text,
	matches boolean, late boolean, proven_at timestamptz, refunded bigint, held boolean,
	subject text, session text, binding bytea, resume_key text, action text, reason text, result bytea, item text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT u.*, e.item::text
	FROM urlmode.unclaimed(unclaimed_payments.provider, unclaimed_payments.since, unclaimed_payments.id) u
	JOIN urlmode.elicitation e ON e.id = u.elicitation
	ORDER BY u.proven_at, u.reference
$$;
COMMENT ON FUNCTION urlmode.unclaimed_payments IS
	'What urlmode.unclaimed returns, with the item of each; NULL: the server did not say what it '
	'was for.';

CREATE OR REPLACE FUNCTION urlmode.undelivered_claims(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, id uuid DEFAULT NULL
)
RETURNS TABLE (
	elicitation uuid, provider_name text, kind text, reference text, amount bigint, currency text,
	fulfilled_at timestamptz, given_at timestamptz, has_result boolean, refunded bigint, held boolean,
	subject text, session text, binding bytea, resume_key text, item text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT u.*, e.item::text
	FROM urlmode.undelivered(undelivered_claims.provider, undelivered_claims.since, undelivered_claims.id) u
	JOIN urlmode.elicitation e ON e.id = u.elicitation
	ORDER BY u.fulfilled_at, u.elicitation, u.reference
$$;
COMMENT ON FUNCTION urlmode.undelivered_claims IS
	'What urlmode.undelivered returns, with the item of each; NULL: the server did not say what it '
	'was for.';

CREATE OR REPLACE FUNCTION urlmode.show_item(id uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.item::text FROM urlmode.elicitation e WHERE e.id = show_item.id
$$;
COMMENT ON FUNCTION urlmode.show_item IS
	'What a payment or signature is for, in the words of the MCP server; NULL: it does not say.';

GRANT EXECUTE ON FUNCTION urlmode.unclaimed_payments, urlmode.undelivered_claims TO :"server";
GRANT EXECUTE ON FUNCTION urlmode.show_item TO :"operator";
