-- What the program api asks beside the functions that the packages call.

CREATE OR REPLACE FUNCTION urlmode.find_created(ids uuid[], bindings bytea[])
RETURNS TABLE (content bytea, kind text, provider text, expires_at timestamptz, link_kid smallint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN QUERY
	SELECT e.content::bytea, e.kind::text, e.provider::text, e.expires_at, e.link_kid::smallint
	FROM unnest(ids, bindings) WITH ORDINALITY AS a (id, binding, n)
	LEFT JOIN urlmode.elicitation e ON e.id = a.id AND e.binding = a.binding
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.find_created IS
	'For each id the elicitation that this owner has created with it, or NULL, so that the same '
	'call can be repeated: with the digest of what it was created with.';

CREATE OR REPLACE FUNCTION urlmode.read_waiting(ids uuid[], bindings bytea[])
RETURNS TABLE (
	id uuid, provider text, kind text, status text, action text, reason text, late boolean, result bytea, verifier bytea,
	closes_in_ms bigint, failed_attempts integer, awaits_recheck boolean, recheck_in_ms bigint,
	payment_reference text, amount bigint, currency text, expires_at timestamptz
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN QUERY
	SELECT r.id, r.provider, r.kind, r.status, r.action, r.reason, r.late, r.result, r.verifier, r.closes_in_ms, r.failed_attempts,
		r.rechecks > r.rechecked AND (r.status <> 'completed' OR r.kind = 'payment'), r.recheck_in_ms,
		r.payment_reference, p.amount, p.currency::text, e.expires_at
	FROM urlmode.read(ids, bindings) r
	JOIN urlmode.elicitation e ON e.id = r.id
	LEFT JOIN urlmode.payment p ON p.provider = r.provider AND p.reference = r.payment_reference;
END
$$;
COMMENT ON FUNCTION urlmode.read_waiting IS
	'What urlmode.read returns, for those who wait over HTTP: with the amount and the currency of '
	'the payment that is the outcome, and when the row expires. awaits_recheck: an event has asked '
	'for a recheck that nobody has answered.';

CREATE OR REPLACE FUNCTION urlmode.mark_shown(ids uuid[], bindings bytea[], keep_ms bigint)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	waits CONSTANT text := current_setting('synchronous_commit');
BEGIN
	PERFORM urlmode.mark_read(ids, bindings, keep_ms);
	PERFORM set_config('synchronous_commit', waits, true);
END
$$;
COMMENT ON FUNCTION urlmode.mark_shown IS
	'What urlmode.mark_read does, in a transaction with the calls of others, whose commit waits '
	'for the disk.';

GRANT EXECUTE ON FUNCTION urlmode.held, urlmode.find_created, urlmode.read_waiting, urlmode.mark_shown TO :"server";
