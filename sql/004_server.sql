-- What MCP servers call.

SET LOCAL ROLE urlmode_owner;

CREATE FUNCTION urlmode.create_elicitation(
	id uuid, provider text, kind text, subject text, session text, binding bytea,
	requester text, target_url text, expected jsonb, verifier bytea, ttl_ms bigint
)
RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	expires timestamptz := now() + ttl_ms * interval '1 millisecond';
BEGIN
	INSERT INTO urlmode.elicitation (
		id, provider, kind, subject, session, binding,
		requester, target_url, expected, verifier, expires_at
	) VALUES (
		create_elicitation.id, create_elicitation.provider, create_elicitation.kind,
		create_elicitation.subject, create_elicitation.session, create_elicitation.binding,
		create_elicitation.requester, create_elicitation.target_url,
		create_elicitation.expected, create_elicitation.verifier, expires
	);
	RETURN expires;
END
$$;
COMMENT ON FUNCTION urlmode.create_elicitation(uuid, text, text, text, text, bytea, text, text, jsonb, bytea, bigint) IS
	'Writes the row, pending, and answers when it expires. ttl_ms: milliseconds from now. A known id is a unique_violation.';

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
	'The rows as they stand, in no order; a row that is not there, or not of this binding, is left out. Changes nothing: who has read a result says so with note_read. expires_in_ms: by this server''s clock, negative when over. rechecks grows with every event that asks for one.';

-- Not in read: what only reads takes half as long, and somebody waits for it.
CREATE FUNCTION urlmode.note_read(ids uuid[], bindings bytea[], keep_ms bigint DEFAULT 600000)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	-- A note that a crash loses is made good by the one of completion.
	PERFORM set_config('synchronous_commit', 'off', true);
	INSERT INTO urlmode.forgetting (at, ids)
	SELECT now() + keep_ms * interval '1 millisecond', array_agg(e.id)
	FROM unnest(ids, bindings) AS a (id, binding)
	JOIN urlmode.elicitation e ON e.id = a.id AND e.binding = a.binding
	WHERE e.status = 'completed' AND (e.result IS NOT NULL OR e.verifier IS NOT NULL)
	HAVING count(*) > 0;
END
$$;
COMMENT ON FUNCTION urlmode.note_read(uuid[], bytea[], bigint) IS
	'The results and verifiers of these rows were read: they are dropped in keep_ms milliseconds. A row that is not there, not of this binding or not completed is left out.';

CREATE FUNCTION urlmode.forget() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH due AS (
		DELETE FROM urlmode.forgetting f
		WHERE f.ctid IN (
			SELECT x.ctid FROM urlmode.forgetting x WHERE x.at <= now()
			ORDER BY x.at LIMIT 1000 FOR UPDATE SKIP LOCKED
		)
		RETURNING f.ids
	), forgotten AS (
		UPDATE urlmode.elicitation e SET result = NULL, verifier = NULL
		WHERE e.id IN (SELECT unnest(d.ids) FROM due d)
			AND (e.result IS NOT NULL OR e.verifier IS NOT NULL)
	)
	SELECT count(*) FROM due
$$;
COMMENT ON FUNCTION urlmode.forget() IS
	'Drops the results and verifiers that are due, at most a thousand notes of them, and answers how many notes there were: call it again until there is none. Every MCP server does so now and then.';

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
	'Completes with cancel, expired, what nobody completed in time, announces it, and answers those ids. A processing row does not expire: its provider will say.';

REVOKE ALL ON FUNCTION
	urlmode.create_elicitation(uuid, text, text, text, text, bytea, text, text, jsonb, bytea, bigint),
	urlmode.read(uuid[], bytea[]),
	urlmode.note_read(uuid[], bytea[], bigint),
	urlmode.forget(),
	urlmode.expire(uuid[], bytea[])
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.create_elicitation(uuid, text, text, text, text, bytea, text, text, jsonb, bytea, bigint),
	urlmode.read(uuid[], bytea[]),
	urlmode.note_read(uuid[], bytea[], bigint),
	urlmode.forget(),
	urlmode.expire(uuid[], bytea[]),
	urlmode.complete(uuid[], bytea[], text[], text[], text[], bytea[], text[])
TO urlmode_server;
