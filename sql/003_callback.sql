-- What the callback programs call. Each function takes parallel arrays and
-- answers one row an element, in their order: a batch is one statement.
--
-- (id, binding) names a row; both come out of a state token. `provider` is
-- the one of the route, and must be the row's. `subject` is who the browser's
-- user is known to be, and must be the row's; NULL where nobody knows.
--
-- A row that someone else holds locked fails its batch after a second, so
-- that the caller can try the rows one by one.
--
-- Each is planned once a connection. PostgreSQL would plan a batch of less
-- than ten anew each time, which takes three times as long as completing one
-- row does, and a function in plain SQL at every call.

SET LOCAL ROLE urlmode_owner;

CREATE FUNCTION urlmode.announce(id uuid, status text) RETURNS void
LANGUAGE sql AS $$
	SELECT pg_notify('urlmode', '{"id":"' || id || '","status":"' || status || '"}')
$$;
COMMENT ON FUNCTION urlmode.announce(uuid, text) IS
	'Wakes whoever waits for the elicitation: NOTIFY on channel urlmode, {"id":…,"status":…}. Not for callers from outside.';

CREATE FUNCTION urlmode.ping() RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT true
$$;
COMMENT ON FUNCTION urlmode.ping() IS
	'Returns true, and changes nothing. Whoever can call it has a connection to a database where the migrations were applied.';

CREATE FUNCTION urlmode.look_up(ids uuid[], bindings bytea[], providers text[])
RETURNS TABLE (
	outcome text, action text, reason text, requester text, subject text,
	browser bytea, expires bigint
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN QUERY
	SELECT CASE
			WHEN e.id IS NULL THEN 'unknown'
			WHEN e.status = 'completed' THEN 'completed'
			WHEN e.expires_at <= now() AND e.status <> 'processing' THEN 'expired'
			ELSE e.status
		END,
		e.action::text, e.reason::text, e.requester::text, e.subject::text, e.browser::bytea,
		ceil(extract(epoch FROM e.expires_at))::bigint
	FROM unnest(ids, bindings, providers) WITH ORDINALITY AS a (id, binding, provider, n)
	LEFT JOIN urlmode.elicitation e
		ON e.id = a.id AND e.binding = a.binding AND e.provider = a.provider
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.look_up(uuid[], bytea[], text[]) IS
	'Changes nothing. outcome: pending, opened, processing, completed, expired, or unknown (no such row, or not this binding and provider). expires: Unix seconds, rounded up.';

CREATE FUNCTION urlmode.open(
	ids uuid[], bindings bytea[], providers text[], browsers bytea[],
	subjects text[] DEFAULT NULL
)
RETURNS TABLE (outcome text, kind text, target_url text, expires bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	announced bigint;
BEGIN
	WITH opened AS (
		UPDATE urlmode.elicitation e
		SET status = 'opened', browser = a.browser,
			opened_at = coalesce(e.opened_at, now())
		FROM unnest(ids, bindings, providers, browsers, subjects)
			AS a (id, binding, provider, browser, subject)
		WHERE e.id = a.id AND e.binding = a.binding AND e.provider = a.provider
			AND (a.subject IS NULL OR e.subject = a.subject)
			AND e.status IN ('pending', 'opened') AND e.expires_at > now()
			AND (e.status = 'pending' OR e.browser IS DISTINCT FROM a.browser)
		RETURNING urlmode.announce(e.id, 'opened')
	)
	SELECT count(*) INTO announced FROM opened;

	RETURN QUERY
	SELECT CASE WHEN l.subject <> l.known THEN 'wrong_user' ELSE l.outcome END,
		e.kind::text, e.target_url::text, l.expires
	FROM ROWS FROM (unnest(ids, subjects), urlmode.look_up(ids, bindings, providers))
		WITH ORDINALITY AS l (id, known, outcome, action, reason, requester, subject,
			browser, expires, n)
	LEFT JOIN urlmode.elicitation e
		ON e.id = l.id AND l.outcome = 'opened' AND (l.known IS NULL OR e.subject = l.known)
	ORDER BY l.n;
END
$$;
COMMENT ON FUNCTION urlmode.open(uuid[], bytea[], text[], bytea[], text[]) IS
	'The user goes on: pending becomes opened, in this browser, and is announced. outcome: opened (also when it was before; target_url is set only then), processing, completed, expired, wrong_user or unknown.';

CREATE FUNCTION urlmode.complete(
	ids uuid[], bindings bytea[], providers text[],
	actions text[], reasons text[], results bytea[], subjects text[] DEFAULT NULL
)
RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	done bigint[];
BEGIN
	-- One id twice in a batch: the first of them counts.
	WITH completed AS (
		UPDATE urlmode.elicitation e
		SET status = 'completed', action = a.action, reason = a.reason,
			result = a.result, completed_at = now()
		FROM (
			SELECT DISTINCT ON (u.id) u.*
			FROM unnest(ids, bindings, providers, actions, reasons, results, subjects)
				WITH ORDINALITY AS u (id, binding, provider, action, reason, result, subject, n)
			ORDER BY u.id, u.n
		) a
		WHERE e.id = a.id AND e.binding = a.binding AND e.status <> 'completed'
			AND a.action IS NOT NULL AND a.reason IS NOT NULL
			AND (a.subject IS NULL OR e.subject = a.subject)
			AND (a.provider IS NULL
				OR (e.provider = a.provider AND e.expires_at > now()
					AND e.status <> 'processing'
					AND (e.kind = 'oauth' OR a.action <> 'accept')))
		RETURNING e.id, a.n, urlmode.announce(e.id, 'completed')
	), forgetting AS (
		INSERT INTO urlmode.forgetting (at, ids)
		SELECT now() + interval '1 day', array_agg(c.id) FROM completed c HAVING count(*) > 0
	)
	SELECT array_agg(c.n) INTO done FROM completed c;
	IF cardinality(done) = cardinality(ids) THEN
		outcome := 'completed';
		FOR i IN 1 .. cardinality(ids) LOOP
			RETURN NEXT;
		END LOOP;
		RETURN;
	END IF;

	RETURN QUERY
	SELECT CASE
			WHEN a.n = ANY (done) THEN 'completed'
			WHEN e.id IS NULL THEN 'unknown'
			WHEN e.subject <> a.subject THEN 'wrong_user'
			WHEN e.status = 'completed' THEN 'already'
			WHEN e.status = 'processing' THEN 'processing'
			WHEN e.expires_at <= now() THEN 'expired'
			ELSE 'unknown'
		END
	FROM unnest(ids, bindings, providers, subjects)
		WITH ORDINALITY AS a (id, binding, provider, subject, n)
	LEFT JOIN urlmode.elicitation e
		ON e.id = a.id AND e.binding = a.binding
			AND (a.provider IS NULL OR e.provider = a.provider)
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.complete(uuid[], bytea[], text[], text[], text[], bytea[], text[]) IS
	'Completes rows, once each, and announces them. A provider marks a browser''s return: not after the expiry, not while processing, and accept only for kind oauth; NULL is the MCP server itself. outcome: completed, already, processing, expired, wrong_user or unknown.';

REVOKE ALL ON FUNCTION
	urlmode.announce(uuid, text),
	urlmode.ping(),
	urlmode.look_up(uuid[], bytea[], text[]),
	urlmode.open(uuid[], bytea[], text[], bytea[], text[]),
	urlmode.complete(uuid[], bytea[], text[], text[], text[], bytea[], text[])
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.ping(),
	urlmode.look_up(uuid[], bytea[], text[]),
	urlmode.open(uuid[], bytea[], text[], bytea[], text[]),
	urlmode.complete(uuid[], bytea[], text[], text[], text[], bytea[], text[])
TO urlmode_cgi;
