-- The events that providers send to the webhook. Each is kept once, and may
-- move its elicitation.

SET LOCAL ROLE urlmode_owner;

CREATE TABLE urlmode.event (
	provider    text        NOT NULL,
	identity    text        NOT NULL CHECK (octet_length(identity) BETWEEN 1 AND 800),
	type        text        NOT NULL CHECK (octet_length(type) <= 512),
	elicitation uuid        NOT NULL REFERENCES urlmode.elicitation ON DELETE CASCADE,
	received_at timestamptz NOT NULL DEFAULT now(),
	action      text        NOT NULL CHECK (action IN
		('accept', 'decline', 'cancel', 'processing', 'recheck', 'ignored', 'late')),
	PRIMARY KEY (provider, identity)
);
CREATE INDEX event_elicitation ON urlmode.event (elicitation);
COMMENT ON TABLE urlmode.event IS 'The events that providers sent for elicitations. Written by record_events.';
COMMENT ON INDEX urlmode.event_elicitation IS 'Finds the events of an elicitation.';
COMMENT ON COLUMN urlmode.event.provider IS 'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.event.identity IS
	'The provider''s id of the event, or sha256: and the digest of its body; 1 to 800 bytes.';
COMMENT ON COLUMN urlmode.event.type IS 'The type of the event, in the provider''s words, at most 512 bytes.';
COMMENT ON COLUMN urlmode.event.elicitation IS 'The elicitation that the event is about.';
COMMENT ON COLUMN urlmode.event.received_at IS 'When it was first received.';
COMMENT ON COLUMN urlmode.event.action IS
	'What it did. accept, decline, cancel: it completed the elicitation. processing: it moved it there. recheck: the same, and it asks the waiting side to recheck. ignored: its type means nothing to us. late: the elicitation was completed before.';

CREATE FUNCTION urlmode.bindings(ids uuid[], providers text[])
RETURNS TABLE (binding bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN QUERY
	SELECT e.binding::bytea
	FROM unnest(ids, providers) WITH ORDINALITY AS a (id, provider, n)
	LEFT JOIN urlmode.elicitation e ON e.id = a.id AND e.provider = a.provider
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.bindings(uuid[], text[]) IS
	'The binding of each elicitation, with which the result of an event is sealed: a webhook only knows the id. NULL: the provider has no such elicitation.';

-- One round takes at most one event an elicitation, so that each sees what
-- the one before it did. What only asks for a recheck may come again with the
-- same identity, and asks again: it says nothing by itself.
CREATE FUNCTION urlmode.record_events(
	ids uuid[], providers text[], identities text[], types text[], meanings text[],
	amounts bigint[], currencies text[], refs text[], results bytea[]
)
RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	outcomes text[] := array_fill('seen'::text, ARRAY[cardinality(ids)]);
	rounds bigint[];
	last bigint;
	item record;
BEGIN
	SELECT array_agg(r.round ORDER BY r.n), max(r.round) INTO rounds, last
	FROM (
		SELECT u.n, row_number() OVER (PARTITION BY u.id ORDER BY u.n) AS round
		FROM unnest(ids) WITH ORDINALITY AS u (id, n)
	) r;
	FOR this IN 1 .. coalesce(last, 0) LOOP
		FOR item IN
			WITH decided AS MATERIALIZED (
				SELECT a.*, e.id AS found,
					CASE
						WHEN e.id IS NULL THEN 'unknown'
						WHEN a.meaning = 'ignore' THEN 'ignored'
						WHEN e.status = 'completed' THEN 'late'
						WHEN a.meaning IN ('processing', 'recheck') THEN a.meaning
						WHEN a.meaning IN ('failed', 'expired') THEN 'cancel'
						WHEN a.meaning = 'cancelled' THEN 'decline'
						-- Any other word is none, and fails: the column wants an action.
						WHEN a.meaning = 'paid' THEN CASE
							WHEN e.expected IS NULL THEN 'accept'
							WHEN a.amount IS NULL THEN 'recheck'
							WHEN e.expected @> jsonb_build_object(
								'amount', a.amount, 'currency', a.currency) THEN 'accept'
							ELSE 'cancel'
						END
					END AS action,
					CASE a.meaning
						WHEN 'failed' THEN 'payment_failed'
						WHEN 'expired' THEN 'expired'
						WHEN 'cancelled' THEN 'cancelled'
						ELSE 'amount_mismatch'
					END AS reason
				FROM (
					SELECT *
					FROM unnest(ids, providers, identities, types, meanings,
						amounts, currencies, refs, results, rounds) WITH ORDINALITY
						AS u (id, provider, identity, type, meaning,
							amount, currency, ref, result, round, n)
					WHERE u.round = this
					ORDER BY u.id
				) a
				LEFT JOIN LATERAL (
					SELECT * FROM urlmode.elicitation x
					WHERE x.id = a.id AND x.provider = a.provider
					FOR UPDATE
				) e ON true
			), kept AS (
				INSERT INTO urlmode.event (provider, identity, type, elicitation, action)
				SELECT d.provider, d.identity, d.type, d.id, d.action
				FROM decided d WHERE d.found IS NOT NULL
				ON CONFLICT DO NOTHING
				RETURNING event.elicitation
			), moved AS (
				UPDATE urlmode.elicitation e
				SET status = CASE WHEN d.action IN ('processing', 'recheck')
						THEN 'processing' ELSE 'completed' END,
					action = CASE WHEN d.action NOT IN ('processing', 'recheck')
						THEN d.action END,
					reason = CASE d.action WHEN 'accept' THEN '' WHEN 'recheck' THEN 'recheck'
						WHEN 'processing' THEN e.reason ELSE d.reason END,
					result = CASE WHEN d.action NOT IN ('processing', 'recheck') THEN d.result END,
					completed_at = CASE WHEN d.action NOT IN ('processing', 'recheck')
						THEN now() END,
					event_type = CASE d.action WHEN 'recheck' THEN d.type ELSE e.event_type END,
					reference = CASE d.action WHEN 'recheck' THEN d.ref ELSE e.reference END,
					rechecks = e.rechecks + (d.action = 'recheck')::integer
				FROM decided d
				WHERE e.id = d.id AND d.action NOT IN ('ignored', 'late')
					AND (d.id IN (SELECT k.elicitation FROM kept k)
						OR (d.meaning = 'recheck' AND d.action = 'recheck'))
				RETURNING e.id, e.status, urlmode.announce(e.id, e.status)
			), queued AS (
				INSERT INTO urlmode.purge_queue (ids)
				SELECT array_agg(m.id)
				FROM moved m WHERE m.status = 'completed' HAVING count(*) > 0
			), announced AS (
				SELECT count(*) FROM moved
			)
			SELECT d.n, d.action FROM decided d, announced
			WHERE d.found IS NULL OR d.id IN (SELECT k.elicitation FROM kept k)
				OR (d.meaning = 'recheck' AND d.action = 'recheck')
		LOOP
			outcomes[item.n] := item.action;
		END LOOP;
	END LOOP;
	FOREACH outcome IN ARRAY outcomes LOOP
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION urlmode.record_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], bytea[]) IS
	'Keeps each event once and lets it move its elicitation. meanings: paid, failed, cancelled, expired, processing, recheck or ignore. amounts: minor units, or NULL. results: sealed. outcome: what the event did (urlmode.event.action); seen: it was kept before; unknown: the provider has no such elicitation, and nothing was kept.';

REVOKE ALL ON FUNCTION
	urlmode.bindings(uuid[], text[]),
	urlmode.record_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], bytea[])
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.bindings(uuid[], text[]),
	urlmode.record_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], bytea[])
TO urlmode_cgi;
