-- The events that providers send to the webhook. Each is kept once, and may
-- move its elicitation.
--
-- record_events takes a batch through these steps:
--
--   decide_events  locks the rows and decides what each event does to its row;
--                  decide_event, which decides for one, has the rules
--   keep_events    keeps the events, and finds those that were kept before
--   apply_events   moves the rows

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

CREATE FUNCTION urlmode.is_expected(expected jsonb, amount bigint, currency text) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT expected @> jsonb_build_object('amount', amount, 'currency', currency)
$$;
COMMENT ON FUNCTION urlmode.is_expected(jsonb, bigint, text) IS
	'Internal. Whether this amount of minor units in this currency is the expected one.';

CREATE FUNCTION urlmode.decide_event(
	status text, expected jsonb, meaning text, amount bigint, currency text
)
RETURNS TABLE (action text, reason text)
LANGUAGE sql STABLE AS $$
	SELECT decided.pair[1], decided.pair[2]
	FROM (
		SELECT CASE
			WHEN meaning = 'ignore' THEN ARRAY['ignored', NULL]
			WHEN status = 'completed' THEN ARRAY['late', NULL]
			WHEN meaning = 'processing' THEN ARRAY['processing', NULL]
			WHEN meaning = 'recheck' THEN ARRAY['recheck', 'recheck']
			WHEN meaning = 'cancelled' THEN ARRAY['decline', 'cancelled']
			WHEN meaning = 'failed' THEN ARRAY['cancel', 'payment_failed']
			WHEN meaning = 'expired' THEN ARRAY['cancel', 'expired']
			WHEN meaning = 'paid' THEN CASE
				WHEN expected IS NULL THEN ARRAY['accept', '']
				WHEN amount IS NULL THEN ARRAY['recheck', 'recheck']
				WHEN urlmode.is_expected(expected, amount, currency) THEN ARRAY['accept', '']
				ELSE ARRAY['cancel', 'amount_mismatch']
			END
		END AS pair
	) decided
$$;
COMMENT ON FUNCTION urlmode.decide_event(text, jsonb, text, bigint, text) IS
	'Internal. What an event does to a row with this status and this expected amount: the action of the event (see urlmode.event.action), and the reason that the row gets; NULL: it keeps the one it has. The action is NULL for a meaning that does not exist.';

CREATE FUNCTION urlmode.decide_events(
	ids uuid[], providers text[], meanings text[], amounts bigint[], currencies text[],
	OUT actions text[], OUT reasons text[]
)
LANGUAGE plpgsql AS $$
BEGIN
	-- In the order of the ids, so that two batches cannot deadlock.
	SELECT array_agg(CASE WHEN e.id IS NULL THEN 'unknown' ELSE d.action END ORDER BY a.n),
		array_agg(d.reason ORDER BY a.n)
	INTO actions, reasons
	FROM (
		SELECT *
		FROM unnest(ids, providers, meanings, amounts, currencies)
			WITH ORDINALITY AS u (id, provider, meaning, amount, currency, n)
		ORDER BY u.id
	) a
	LEFT JOIN LATERAL (
		SELECT x.id, x.status, x.expected FROM urlmode.elicitation x
		WHERE x.id = a.id AND x.provider = a.provider
		FOR UPDATE
	) e ON true
	CROSS JOIN LATERAL urlmode.decide_event(
		e.status, e.expected, a.meaning, a.amount, a.currency) d;
END
$$;
COMMENT ON FUNCTION urlmode.decide_events(uuid[], text[], text[], bigint[], text[]) IS
	'Internal. Locks the rows and decides for each event, as decide_event does. unknown: the provider has no such elicitation.';

CREATE FUNCTION urlmode.keep_events(
	ids uuid[], providers text[], identities text[], types text[], meanings text[],
	INOUT actions text[]
)
LANGUAGE plpgsql AS $$
BEGIN
	-- `ids` has no id twice, so that an id tells which event was new.
	WITH kept AS (
		INSERT INTO urlmode.event (provider, identity, type, elicitation, action)
		SELECT a.provider, a.identity, a.type, a.id, a.action
		FROM unnest(ids, providers, identities, types, actions)
			AS a (id, provider, identity, type, action)
		WHERE a.action IS DISTINCT FROM 'unknown'
		ORDER BY a.id
		ON CONFLICT DO NOTHING
		RETURNING event.elicitation
	)
	SELECT array_agg(CASE
			WHEN a.action = 'unknown' OR k.elicitation IS NOT NULL THEN a.action
			WHEN a.meaning = 'recheck' AND a.action = 'recheck' THEN a.action
			ELSE 'seen'
		END ORDER BY a.n)
	INTO actions
	FROM unnest(ids, meanings, actions) WITH ORDINALITY AS a (id, meaning, action, n)
	LEFT JOIN kept k ON k.elicitation = a.id;
END
$$;
COMMENT ON FUNCTION urlmode.keep_events(uuid[], text[], text[], text[], text[], text[]) IS
	'Internal. Keeps the events of known elicitations. Returns the actions, with seen in place of each event that was kept before. A recheck of a row that is open keeps its action when it comes again: it tells no outcome, and asks again.';

CREATE FUNCTION urlmode.apply_events(
	ids uuid[], actions text[], reasons text[], types text[], refs text[], results bytea[]
)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	announced bigint;
BEGIN
	WITH moved AS (
		UPDATE urlmode.elicitation e
		SET status = CASE WHEN a.completes THEN 'completed' ELSE 'processing' END,
			action = CASE WHEN a.completes THEN a.action END,
			reason = coalesce(a.reason, e.reason),
			result = CASE WHEN a.completes THEN a.result END,
			completed_at = CASE WHEN a.completes THEN now() END,
			event_type = CASE a.action WHEN 'recheck' THEN a.type ELSE e.event_type END,
			reference = CASE a.action WHEN 'recheck' THEN a.ref ELSE e.reference END,
			rechecks = e.rechecks + (a.action = 'recheck')::integer
		FROM (
			SELECT u.*, u.action IN ('accept', 'decline', 'cancel') AS completes
			FROM unnest(ids, actions, reasons, types, refs, results)
				AS u (id, action, reason, type, ref, result)
		) a
		WHERE e.id = a.id AND (a.completes OR a.action IN ('processing', 'recheck'))
		RETURNING e.id, e.status, urlmode.announce(e.id, e.status)
	), queued AS (
		INSERT INTO urlmode.purge_queue (ids)
		SELECT array_agg(m.id) FROM moved m WHERE m.status = 'completed' HAVING count(*) > 0
	)
	SELECT count(*) INTO announced FROM moved;
END
$$;
COMMENT ON FUNCTION urlmode.apply_events(uuid[], text[], text[], text[], text[], bytea[]) IS
	'Internal. Moves the rows as the actions say and announces them. Other actions (ignored, late, seen, unknown) move nothing.';

CREATE FUNCTION urlmode.record_events(
	ids uuid[], providers text[], identities text[], types text[], meanings text[],
	amounts bigint[], currencies text[], refs text[], results bytea[]
)
RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	outcomes text[] := array_fill('unknown'::text, ARRAY[cardinality(ids)]);
	rounds bigint[];
	last bigint;
	present uuid[];
	decided record;
	actions text[];
BEGIN
	-- The first event of each elicitation is in round 1, its second in round 2,
	-- and so on, so that each sees what the one before it did.
	SELECT array_agg(r.round ORDER BY r.n), max(r.round) INTO rounds, last
	FROM (
		SELECT u.n, row_number() OVER (PARTITION BY u.id ORDER BY u.n) AS round
		FROM unnest(ids) WITH ORDINALITY AS u (id, n)
	) r;
	FOR this IN 1 .. coalesce(last, 0) LOOP
		-- NULL stands for the id of an event that is in another round.
		present := ARRAY(
			SELECT CASE WHEN u.round = this THEN u.id END
			FROM unnest(ids, rounds) WITH ORDINALITY AS u (id, round, n)
			ORDER BY u.n
		);
		decided := urlmode.decide_events(present, providers, meanings, amounts, currencies);
		actions := urlmode.keep_events(
			present, providers, identities, types, meanings, decided.actions);
		PERFORM urlmode.apply_events(present, actions, decided.reasons, types, refs, results);
		FOR i IN 1 .. cardinality(ids) LOOP
			IF present[i] IS NOT NULL THEN
				outcomes[i] := actions[i];
			END IF;
		END LOOP;
	END LOOP;
	RETURN QUERY SELECT unnest(outcomes);
END
$$;
COMMENT ON FUNCTION urlmode.record_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], bytea[]) IS
	'Keeps each event once and lets it move its elicitation. meanings: paid, failed, cancelled, expired, processing, recheck or ignore. amounts: minor units, or NULL. results: sealed. outcome: what the event did (urlmode.event.action); seen: it was kept before (but a recheck asks again while the row is open); unknown: the provider has no such elicitation, and nothing was kept.';

REVOKE ALL ON FUNCTION
	urlmode.bindings(uuid[], text[]),
	urlmode.is_expected(jsonb, bigint, text),
	urlmode.decide_event(text, jsonb, text, bigint, text),
	urlmode.decide_events(uuid[], text[], text[], bigint[], text[]),
	urlmode.keep_events(uuid[], text[], text[], text[], text[], text[]),
	urlmode.apply_events(uuid[], text[], text[], text[], text[], bytea[]),
	urlmode.record_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], bytea[])
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.bindings(uuid[], text[]),
	urlmode.record_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], bytea[])
TO urlmode_cgi;
