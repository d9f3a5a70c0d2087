-- An MCP server creates an elicitation, or resumes one that it created before.
--
-- The owner of an elicitation is its binding: a subject and its session. An
-- owner may have several elicitations at the same time. With `exclusive`, a
-- new one supersedes those that are open, but no payment or signature that was
-- opened; with a `resume_key`, a later call finds the one that there is.

SET LOCAL ROLE urlmode_owner;

CREATE FUNCTION urlmode.resume(binding bytea, resume_key text)
RETURNS TABLE (id uuid, provider text, kind text, status text, expires_at timestamptz, expires_in_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.id, e.provider, e.kind, s.standing, e.expires_at,
		ceil(extract(epoch FROM e.expires_at - now()) * 1000)::bigint
	FROM urlmode.elicitation e
	CROSS JOIN LATERAL (
		SELECT count(*) > 0 AS proved,
			count(*) FILTER (WHERE p.claimed_at IS NULL AND p.refunded_at IS NULL) > 0 AS unclaimed
		FROM urlmode.payment p
		WHERE e.kind = 'payment' AND p.elicitation = e.id AND p.matches
	) money
	CROSS JOIN LATERAL urlmode.standing(e) AS s (standing)
	WHERE e.binding = resume.binding AND e.resume_key = resume.resume_key
		AND (money.unclaimed OR CASE
			WHEN money.proved THEN false
			WHEN s.standing <> 'completed' AND urlmode.closes_at(s.standing, e.expires_at, e.grace) > now() THEN true
			-- It may have been paid, also after its end: a recheck will tell. Not for
			-- ever, because a server without a recheck function never asks.
			WHEN e.kind = 'payment' AND e.rechecks > e.rechecked THEN
				coalesce(e.completed_at, urlmode.closes_at(e.status, e.expires_at, e.grace)) > now() - interval '7 days'
			WHEN e.status <> 'completed' THEN false
			WHEN e.claimed_at IS NOT NULL OR e.reason = 'superseded' THEN false
			WHEN e.action <> 'accept' THEN e.expires_at > now()
			-- RFC 6749 section 4.1.2: an authorization code lives for at most ten minutes.
			WHEN e.kind = 'oauth' THEN e.completed_at > now() - interval '10 minutes'
			ELSE true
		END)
	ORDER BY money.unclaimed DESC, s.standing <> 'processing', s.standing = 'completed', e.created_at DESC
	LIMIT 1
$$;
COMMENT ON FUNCTION urlmode.resume(bytea, text) IS
	'The elicitation of this owner and key that a call can go on with: before all others one with a payment that nobody has claimed, then one that is processing, then one that is open, then one whose outcome nobody has claimed (a refusal until it expires). A payment that waits for a recheck counts as open or unclaimed until seven days after its end, or after its grace. Of several the newest. expires_in_ms is negative when it can no longer be opened.';

CREATE FUNCTION urlmode.create_elicitation(
	id uuid, provider text, kind text, subject text, session text, binding bytea,
	requester text, target_url text, expected jsonb, verifier bytea, ttl_ms bigint,
	exclusive boolean DEFAULT false, resume_key text DEFAULT NULL
)
RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	expires timestamptz := now() + ttl_ms * interval '1 millisecond';
	open uuid[];
	announcements text[];
BEGIN
	IF exclusive OR create_elicitation.resume_key IS NOT NULL THEN
		-- One call of an owner at a time, so that each sees what the one before
		-- it created.
		PERFORM pg_advisory_xact_lock(
			hashtextextended('urlmode owner ' || encode(create_elicitation.binding, 'hex'), 0));
	END IF;
	IF create_elicitation.resume_key IS NOT NULL AND EXISTS (
		SELECT FROM urlmode.resume(create_elicitation.binding, create_elicitation.resume_key)
	) THEN
		RETURN NULL;
	END IF;
	IF exclusive THEN
		SELECT array_agg(o.id) INTO open
		FROM (
			SELECT e.id FROM urlmode.elicitation e
			WHERE e.binding = create_elicitation.binding AND e.expires_at > now()
				AND (e.status = 'pending' OR (e.status <> 'completed' AND e.kind = 'oauth'))
			ORDER BY e.id FOR UPDATE
		) o;
		WITH superseded AS (
			UPDATE urlmode.elicitation e
			SET status = 'completed', action = 'cancel', reason = 'superseded', verifier = NULL,
				completed_at = now()
			WHERE e.id = ANY (open)
			RETURNING e.id
		)
		SELECT array_agg(urlmode.announcement(s.id, 'completed')) INTO announcements FROM superseded s;
		PERFORM urlmode.announce(announcements);
	END IF;
	INSERT INTO urlmode.elicitation (
		id, provider, kind, subject, session, binding,
		requester, target_url, expected, verifier, expires_at, resume_key
	) VALUES (
		create_elicitation.id, create_elicitation.provider, create_elicitation.kind,
		create_elicitation.subject, create_elicitation.session, create_elicitation.binding,
		create_elicitation.requester, create_elicitation.target_url,
		create_elicitation.expected, create_elicitation.verifier, expires,
		create_elicitation.resume_key
	);
	RETURN expires;
END
$$;
COMMENT ON FUNCTION urlmode.create_elicitation(uuid, text, text, text, text, bytea, text, text, jsonb, bytea, bigint, boolean, text) IS
	'Creates an elicitation, pending, and returns when it expires: after ttl_ms milliseconds. An id that exists is a unique_violation. exclusive: completes whatever else this owner has open, with cancel and superseded, but no payment or signature that was opened. expected: required for kind payment. resume_key: where urlmode.resume finds an elicitation, nothing is created and NULL returned.';

REVOKE ALL ON FUNCTION
	urlmode.resume(bytea, text),
	urlmode.create_elicitation(uuid, text, text, text, text, bytea, text, text, jsonb, bytea, bigint, boolean, text)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.resume(bytea, text),
	urlmode.create_elicitation(uuid, text, text, text, text, bytea, text, text, jsonb, bytea, bigint, boolean, text)
TO urlmode_server;
