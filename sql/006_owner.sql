-- An owner's elicitations beside each other: at most one open (exclusive),
-- found again by a later call (resume), taken up once (claim), given up with
-- whoever waited (abandon). An owner is a binding: a subject and its session.

SET LOCAL ROLE urlmode_owner;

CREATE DOMAIN urlmode.resume_key AS text CHECK (octet_length(VALUE) BETWEEN 1 AND 512);
COMMENT ON DOMAIN urlmode.resume_key IS 'What an elicitation is for.';
ALTER TABLE urlmode.elicitation
	ADD COLUMN resume_key urlmode.resume_key,
	ADD COLUMN claimed_at timestamptz;
COMMENT ON COLUMN urlmode.elicitation.resume_key IS
	'What the elicitation is for, in the MCP server''s words: a later call of the same owner with the same key goes on with it.';
COMMENT ON COLUMN urlmode.elicitation.claimed_at IS
	'When a call took the outcome to go on with: no other will.';

-- No column that an elicitation's way changes: every step stays heap-only.
CREATE INDEX elicitation_binding ON urlmode.elicitation (binding);
COMMENT ON INDEX urlmode.elicitation_binding IS 'An owner''s elicitations.';

CREATE FUNCTION urlmode.resume(binding bytea, resume_key text)
RETURNS TABLE (id uuid, provider text, kind text, status text, expires_at timestamptz, expires_in_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.id, e.provider, e.kind, e.status, e.expires_at,
		ceil(extract(epoch FROM e.expires_at - now()) * 1000)::bigint
	FROM urlmode.elicitation e
	WHERE e.binding = resume.binding AND e.resume_key = resume.resume_key
		AND e.claimed_at IS NULL
		AND CASE
			WHEN e.status = 'processing' THEN true
			WHEN e.status <> 'completed' THEN e.expires_at > now()
			WHEN e.reason = 'superseded' THEN false
			WHEN e.action <> 'accept' THEN e.expires_at > now()
			-- An authorization code is good for ten minutes at most (RFC 6749 section 4.1.2).
			WHEN e.kind = 'oauth' THEN e.completed_at > now() - interval '10 minutes'
			ELSE true
		END
	ORDER BY e.created_at DESC
	LIMIT 1
$$;
COMMENT ON FUNCTION urlmode.resume(bytea, text) IS
	'The newest elicitation of this owner and key that a call can go on with: open, or completed with an outcome that none has claimed. A payment that was accepted stays until it is claimed; a refusal until the expiry.';

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
	'Takes the outcome of a completed elicitation: true once, for the first who asks.';

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
	'Completes with decline or cancel what nobody waits for any more, announces it, and leaves it to no later call. A processing row goes on: its provider will say. outcome: completed, already, processing or unknown.';

DROP FUNCTION urlmode.create_elicitation(uuid, text, text, text, text, bytea, text, text, jsonb, bytea, bigint);
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
	announced bigint;
BEGIN
	IF exclusive OR create_elicitation.resume_key IS NOT NULL THEN
		-- One after another, so that each sees what the one before it created.
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
			WHERE e.binding = create_elicitation.binding AND e.status <> 'completed'
				AND (e.status = 'processing' OR e.expires_at > now())
			ORDER BY e.id FOR UPDATE
		) o;
		WITH superseded AS (
			UPDATE urlmode.elicitation e
			SET status = 'completed', action = 'cancel', reason = 'superseded', verifier = NULL,
				completed_at = now()
			WHERE e.id = ANY (open)
			RETURNING urlmode.announce(e.id, 'completed')
		)
		SELECT count(*) INTO announced FROM superseded;
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
	'Writes the row, pending, and answers when it expires. ttl_ms: milliseconds from now. A known id is a unique_violation. exclusive: completes with cancel, superseded, what else this owner has open. resume_key: NULL is answered, and nothing written, when urlmode.resume has one.';

REVOKE ALL ON FUNCTION
	urlmode.resume(bytea, text),
	urlmode.claim(uuid, bytea),
	urlmode.abandon(uuid[], bytea[], text[], text[]),
	urlmode.create_elicitation(uuid, text, text, text, text, bytea, text, text, jsonb, bytea, bigint, boolean, text)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.resume(bytea, text),
	urlmode.claim(uuid, bytea),
	urlmode.abandon(uuid[], bytea[], text[], text[]),
	urlmode.create_elicitation(uuid, text, text, text, text, bytea, text, text, jsonb, bytea, bigint, boolean, text)
TO urlmode_server;
