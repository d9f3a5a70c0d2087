-- The MCP server that waits: it reads its elicitations, ends those that
-- expired or that nobody waits for any more, and claims an outcome.

SET LOCAL ROLE urlmode_owner;

CREATE FUNCTION urlmode.read(ids uuid[], bindings bytea[])
RETURNS TABLE (
	id uuid, provider text, status text, action text, reason text,
	result bytea, verifier bytea, expires_in_ms bigint,
	event_type text, reference text, rechecks integer
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN QUERY
	SELECT e.id, e.provider::text, e.status::text, e.action::text, e.reason::text,
		e.result::bytea, e.verifier::bytea,
		ceil(extract(epoch FROM e.expires_at - now()) * 1000)::bigint,
		e.event_type::text, e.reference::text, e.rechecks
	FROM unnest(ids, bindings) AS a (id, binding)
	JOIN urlmode.elicitation e ON e.id = a.id AND e.binding = a.binding;
END
$$;
COMMENT ON FUNCTION urlmode.read(uuid[], bytea[]) IS
	'The rows, in no particular order. Rows that do not exist or have another binding are left out. Changes nothing: whoever has read a result calls mark_read. expires_in_ms is negative when the row has expired. rechecks grows by one with every event that asks for a recheck.';

CREATE FUNCTION urlmode.expire(ids uuid[], bindings bytea[])
RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH expired AS (
		UPDATE urlmode.elicitation e
		SET status = 'completed', action = 'cancel', reason = 'expired', verifier = NULL,
			completed_at = now()
		FROM unnest(ids, bindings) AS a (id, binding)
		WHERE e.id = a.id AND e.binding = a.binding
			AND e.status IN ('pending', 'opened') AND e.expires_at <= now()
		RETURNING e.id
	)
	SELECT x.id FROM expired x, LATERAL urlmode.announce(x.id, 'completed')
$$;
COMMENT ON FUNCTION urlmode.expire(uuid[], bytea[]) IS
	'Completes rows that have expired, with cancel and expired, and returns their ids. A row that is processing does not expire: its provider will tell the outcome.';

CREATE FUNCTION urlmode.abandon(ids uuid[], bindings bytea[], actions text[], reasons text[])
RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	done uuid[];
BEGIN
	WITH abandoned AS (
		UPDATE urlmode.elicitation e
		SET status = 'completed', action = a.action, reason = a.reason, verifier = NULL,
			completed_at = now(), claimed_at = now()
		FROM unnest(ids, bindings, actions, reasons) AS a (id, binding, action, reason)
		WHERE e.id = a.id AND e.binding = a.binding AND e.status IN ('pending', 'opened')
			AND a.action IN ('decline', 'cancel')
		RETURNING e.id, urlmode.announce(e.id, 'completed')
	)
	SELECT array_agg(a.id) INTO done FROM abandoned a;

	RETURN QUERY
	SELECT CASE
			WHEN e.id = ANY (done) THEN 'completed'
			WHEN e.id IS NULL THEN 'unknown'
			WHEN e.status = 'completed' THEN 'already'
			ELSE e.status
		END
	FROM unnest(ids, bindings) WITH ORDINALITY AS a (id, binding, n)
	LEFT JOIN urlmode.elicitation e ON e.id = a.id AND e.binding = a.binding
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.abandon(uuid[], bytea[], text[], text[]) IS
	'Completes rows that nobody waits for any more, with decline or cancel, and claims them, so that no later call resumes them. A row that is processing stays so: its provider will tell the outcome. outcome: completed, already, processing or unknown.';

CREATE FUNCTION urlmode.claim(id uuid, binding bytea)
RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH claimed AS (
		UPDATE urlmode.elicitation e
		SET claimed_at = now()
		WHERE e.id = claim.id AND e.binding = claim.binding
			AND e.status = 'completed' AND e.claimed_at IS NULL
		RETURNING e.id
	)
	SELECT EXISTS (SELECT FROM claimed)
$$;
COMMENT ON FUNCTION urlmode.claim(uuid, bytea) IS
	'Takes the outcome of a completed elicitation, to act on it. True for the first call, false for every later one.';

REVOKE ALL ON FUNCTION
	urlmode.read(uuid[], bytea[]),
	urlmode.expire(uuid[], bytea[]),
	urlmode.abandon(uuid[], bytea[], text[], text[]),
	urlmode.claim(uuid, bytea)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.read(uuid[], bytea[]),
	urlmode.expire(uuid[], bytea[]),
	urlmode.abandon(uuid[], bytea[], text[], text[]),
	urlmode.claim(uuid, bytea)
TO urlmode_server;
