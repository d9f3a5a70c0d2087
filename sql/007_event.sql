-- The events that providers send to the webhook. Each is kept once, and may
-- move its elicitation.
--
-- record_events takes a batch through these steps:
--
--   lock_events    locks the rows
--   find_seen      finds the events that were kept before
--   prove_events   writes down what was paid (003_payment.sql)
--   decide_events  decides what each event does to its row; decide_event, which
--                  decides for one, has the rules
--   keep_events    keeps the events
--   apply_events   moves the rows
--   apply_refunds  marks what went back, if anything did
--
-- An event that proves nothing (recheck) leaves status and expiry as they are:
-- it only wakes the MCP server, which asks the provider. An attempt that
-- failed is not an outcome either: the row is processing while an attempt is
-- under way, and what it was before when none is, in whatever order the events
-- come.

SET LOCAL ROLE urlmode_owner;

CREATE TABLE urlmode.event (
	provider    text        NOT NULL,
	identity    text        NOT NULL CHECK (octet_length(identity) BETWEEN 1 AND 800),
	type        text        NOT NULL CHECK (octet_length(type) <= 512),
	elicitation uuid        NOT NULL,
	received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	reference   urlmode.reference,
	amount      bigint,
	action      text        NOT NULL CHECK (action IN
		('accept', 'decline', 'cancel', 'processing', 'attempt_failed', 'recheck', 'refunded', 'late',
		'repeated', 'reference_taken', 'other_mode', 'other_account', 'ignored')),
	PRIMARY KEY (provider, identity)
);
CREATE INDEX event_elicitation ON urlmode.event (elicitation);
COMMENT ON TABLE urlmode.event IS 'The events that providers sent for elicitations. Written by record_events.';
COMMENT ON INDEX urlmode.event_elicitation IS 'Finds the events of an elicitation.';
COMMENT ON COLUMN urlmode.event.provider IS 'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.event.identity IS
	'The provider''s id of the event, or sha256: and the digest of its body; 1 to 800 bytes.';
COMMENT ON COLUMN urlmode.event.type IS 'The type of the event, in the provider''s words, at most 512 bytes.';
COMMENT ON COLUMN urlmode.event.elicitation IS 'The elicitation that the event is about. Its events are deleted with it.';
COMMENT ON COLUMN urlmode.event.received_at IS 'When it was first received.';
COMMENT ON COLUMN urlmode.event.reference IS
	'Of processing and attempt_failed, and of decline, cancel and late: the attempt to pay that it is about. Of refunded: the payment, or the refund. NULL: the event does not say, or it is another one.';
COMMENT ON COLUMN urlmode.event.amount IS
	'Of refunded: what went back, in minor units. NULL: the event does not say, or it is another one.';
COMMENT ON COLUMN urlmode.event.action IS
	'What it did. accept, decline, cancel: it completed the elicitation. processing: an attempt to pay is under way, and the elicitation is processing, unless that attempt is known to have failed. attempt_failed: an attempt to pay failed, and another is possible; if no other one is under way, an elicitation that was processing is what it was before. recheck: it proves nothing, and asks the waiting side to recheck. refunded: what was paid went back. late: the elicitation was completed before; money that it proves is in urlmode.payment. repeated: the same payment again. reference_taken: the payment belongs to another elicitation. other_mode, other_account: it comes from the provider''s test mode (or live mode), or from an account that is not configured. ignored: its type means nothing to us. The last six move nothing.';

-- In place of a foreign key, which took a third of what it takes to keep an
-- event: record_events has locked the row.
CREATE FUNCTION urlmode.delete_events() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM urlmode.event v USING deleted d WHERE v.elicitation = d.id;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION urlmode.delete_events() IS 'Internal. Deletes the events of elicitations that are deleted.';
CREATE TRIGGER delete_events AFTER DELETE ON urlmode.elicitation REFERENCING OLD TABLE AS deleted
	FOR EACH STATEMENT EXECUTE FUNCTION urlmode.delete_events();
COMMENT ON TRIGGER delete_events ON urlmode.elicitation IS 'Deletes the events with their elicitation.';

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

CREATE FUNCTION urlmode.lock_events(
	ids uuid[], providers text[],
	OUT kinds text[], OUT statuses text[], OUT refunded boolean, OUT overdue uuid[]
)
LANGUAGE plpgsql AS $$
BEGIN
	WITH locked AS MATERIALIZED (
		SELECT a.n, e.id, e.kind, e.status, e.refunds,
			e.kind = 'payment' AND e.status <> 'completed'
				AND urlmode.closes_at(e.status, e.expires_at, e.grace) <= now() AS overdue
		FROM urlmode.elicitation e
		JOIN unnest(ids, providers) WITH ORDINALITY AS a (id, provider, n)
			ON e.id = a.id AND e.provider = a.provider
		-- In the order of the ids, so that two batches never wait for each other.
		ORDER BY e.id
		FOR NO KEY UPDATE OF e
	)
	SELECT array_agg(l.kind ORDER BY u.n), array_agg(l.status ORDER BY u.n), coalesce(bool_or(l.refunds > 0), false),
		array_agg(l.id) FILTER (WHERE l.overdue)
	INTO kinds, statuses, refunded, overdue
	FROM generate_series(1, cardinality(ids)) AS u (n) LEFT JOIN locked l USING (n);
END
$$;
COMMENT ON FUNCTION urlmode.lock_events(uuid[], text[]) IS
	'Internal. Locks the rows that the events are about. kinds and statuses are theirs, NULL where the provider has no such elicitation. refunded: money went back for one of them. overdue: payments whose expiry and grace are over, and which nobody has ended; NULL: none.';

CREATE FUNCTION urlmode.find_seen(
	ids uuid[], providers text[], identities text[], INOUT effects text[]
)
LANGUAGE plpgsql AS $$
BEGIN
	SELECT array_agg(CASE WHEN v.identity IS NULL THEN a.effect ELSE 'seen' END ORDER BY a.n)
	INTO effects
	FROM unnest(ids, providers, identities, effects)
		WITH ORDINALITY AS a (id, provider, identity, effect, n)
	LEFT JOIN urlmode.event v
		ON v.provider = a.provider AND v.identity = a.identity AND a.id IS NOT NULL
			AND a.effect <> 'recheck'
			AND (v.elicitation <> a.id OR v.action NOT IN ('ignored', 'other_mode', 'other_account'));
END
$$;
COMMENT ON FUNCTION urlmode.find_seen(uuid[], text[], text[], text[]) IS
	'Internal. The effects, with seen in place of each that was kept before. Not seen are: a recheck, which tells no outcome and asks again; and an event that meant nothing to us, or came from another mode or account, because the configuration may have been corrected since.';

CREATE FUNCTION urlmode.prove_events(
	ids uuid[], providers text[], effects text[], amounts bigint[], currencies text[], refs text[],
	results bytea[]
)
RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
	proofs text[];
BEGIN
	WITH paid AS MATERIALIZED (
		SELECT a.n, a.id, a.provider, a.amount, a.currency, a.result,
			coalesce(nullif(a.ref, ''), a.id::text) AS reference,
			urlmode.is_expected(e.expected, a.amount, a.currency) AS matches,
			e.status = 'completed' OR urlmode.closes_at(e.status, e.expires_at, e.grace) <= now() AS late
		FROM unnest(ids, providers, effects, amounts, currencies, refs, results)
			WITH ORDINALITY AS a (id, provider, effect, amount, currency, ref, result, n)
		JOIN urlmode.elicitation e ON e.id = a.id AND e.provider = a.provider
		WHERE a.effect = 'paid' AND e.kind = 'payment'
			AND a.amount IS NOT NULL AND a.currency IS NOT NULL
	), proved AS (
		INSERT INTO urlmode.payment AS p
			(provider, reference, elicitation, amount, currency, matches, late, result)
		-- A reference that is there twice pays for the first elicitation.
		SELECT DISTINCT ON (a.provider, a.reference)
			a.provider, a.reference, a.id, a.amount, a.currency, a.matches, a.late, a.result
		FROM paid a ORDER BY a.provider, a.reference, a.n
		ON CONFLICT (provider, reference) DO UPDATE
		SET amount = EXCLUDED.amount, currency = EXCLUDED.currency, matches = true,
			late = EXCLUDED.late, result = EXCLUDED.result, proven_at = now(),
			claimed_at = NULL, refunded_at = NULL
		-- The rest of a payment that was captured in parts. Whoever claimed the
		-- first part did not get this.
		WHERE p.elicitation = EXCLUDED.elicitation AND EXCLUDED.matches AND NOT p.matches
		RETURNING p.elicitation
	)
	SELECT array_agg(proof ORDER BY a.n) INTO proofs
	FROM unnest(ids) WITH ORDINALITY AS a (id, n)
	LEFT JOIN LATERAL (
		SELECT CASE
				WHEN a.id IN (SELECT b.elicitation FROM proved b) THEN
					CASE WHEN d.matches THEN 'matches' ELSE 'mismatch' END
				WHEN EXISTS (
					SELECT FROM urlmode.payment p
					WHERE p.provider = d.provider AND p.reference = d.reference AND p.elicitation = d.id
				) THEN 'repeated'
				ELSE 'taken'
			END AS proof
		FROM paid d WHERE d.n = a.n
	) x ON true;
	RETURN proofs;
END
$$;
COMMENT ON FUNCTION urlmode.prove_events(uuid[], text[], text[], bigint[], text[], text[], bytea[]) IS
	'Internal. Writes down the payments that events prove. matches, mismatch: a new one, compared with what was expected; repeated: it was written down before; taken: its reference has paid for another elicitation; NULL: the event proves no payment.';

CREATE FUNCTION urlmode.decide_event(kind text, status text, effect text, proof text)
RETURNS TABLE (action text, reason text)
LANGUAGE sql IMMUTABLE AS $$
	SELECT decided.pair[1], decided.pair[2]
	FROM (
		SELECT CASE
			WHEN effect = 'seen' THEN ARRAY['seen', NULL]
			WHEN effect = 'ignore' THEN ARRAY['ignored', NULL]
			WHEN effect IN ('other_mode', 'other_account', 'recheck', 'refunded') THEN ARRAY[effect, NULL]
			WHEN effect = 'paid' AND kind = 'payment' AND proof IS NULL THEN ARRAY['recheck', NULL]
			WHEN proof = 'taken' THEN ARRAY['reference_taken', NULL]
			WHEN proof = 'repeated' THEN ARRAY['repeated', NULL]
			-- Also after the end: a payment that is under way then must not be asked for again.
			WHEN effect IN ('processing', 'attempt_failed') AND (kind = 'payment' OR status <> 'completed')
				THEN ARRAY[effect, NULL]
			WHEN status = 'completed' THEN ARRAY['late', NULL]
			WHEN effect = 'cancelled' THEN ARRAY['decline', 'cancelled']
			WHEN effect = 'failed' THEN ARRAY['cancel', 'payment_failed']
			WHEN effect = 'expired' THEN ARRAY['cancel', 'expired']
			WHEN proof = 'mismatch' THEN ARRAY['cancel', 'amount_mismatch']
			WHEN effect = 'paid' THEN ARRAY['accept', '']
		END AS pair
	) decided
$$;
COMMENT ON FUNCTION urlmode.decide_event(text, text, text, text) IS
	'Internal. What an event does to a row of this kind and status: the action of the event (see urlmode.event.action), and the reason that the row gets; NULL: it keeps the one it has. proof: as prove_events returns it. The action is NULL for an effect that does not exist.';

CREATE FUNCTION urlmode.decide_events(
	kinds text[], statuses text[], effects text[], proofs text[],
	OUT actions text[], OUT reasons text[]
)
LANGUAGE plpgsql AS $$
BEGIN
	SELECT array_agg(CASE WHEN a.kind IS NULL THEN 'unknown' ELSE d.action END ORDER BY a.n),
		array_agg(d.reason ORDER BY a.n)
	INTO actions, reasons
	FROM unnest(kinds, statuses, effects, proofs) WITH ORDINALITY AS a (kind, status, effect, proof, n)
	CROSS JOIN LATERAL urlmode.decide_event(a.kind, a.status, a.effect, a.proof) d;
END
$$;
COMMENT ON FUNCTION urlmode.decide_events(text[], text[], text[], text[]) IS
	'Internal. Decides for each event, as decide_event does. unknown: the kind is NULL, because the provider has no such elicitation.';

CREATE FUNCTION urlmode.keep_events(
	ids uuid[], providers text[], identities text[], types text[], effects text[],
	amounts bigint[], refs text[], INOUT actions text[]
)
LANGUAGE plpgsql AS $$
BEGIN
	-- No id is twice in `ids`: it tells which of the events are new.
	WITH kept AS (
		INSERT INTO urlmode.event (provider, identity, type, elicitation, reference, amount, action)
		-- Of one identity there may be several rechecks.
		SELECT DISTINCT ON (a.provider, a.identity)
			a.provider, a.identity, a.type, a.id,
			CASE WHEN a.action IN ('processing', 'attempt_failed', 'decline', 'cancel', 'late', 'refunded')
				THEN nullif(a.ref, '') END,
			CASE WHEN a.action = 'refunded' THEN a.amount END,
			a.action
		FROM unnest(ids, providers, identities, types, amounts, refs, actions)
			WITH ORDINALITY AS a (id, provider, identity, type, amount, ref, action, n)
		WHERE a.action IS NULL OR a.action NOT IN ('unknown', 'seen')
		ORDER BY a.provider, a.identity, a.n
		ON CONFLICT (provider, identity) DO UPDATE
		SET action = EXCLUDED.action, reference = EXCLUDED.reference, amount = EXCLUDED.amount
		WHERE event.elicitation = EXCLUDED.elicitation AND event.action <> EXCLUDED.action
			AND event.action IN ('ignored', 'other_mode', 'other_account')
		RETURNING event.elicitation
	)
	SELECT array_agg(CASE
			WHEN a.action = 'unknown' OR k.elicitation IS NOT NULL THEN a.action
			WHEN a.effect = 'recheck' AND a.action = 'recheck' THEN a.action
			ELSE 'seen'
		END ORDER BY a.n)
	INTO actions
	FROM unnest(ids, effects, actions) WITH ORDINALITY AS a (id, effect, action, n)
	LEFT JOIN kept k ON k.elicitation = a.id;

	IF 'recheck' = ANY (actions) THEN
		DELETE FROM urlmode.event v USING (
			SELECT x.provider, x.identity, row_number() OVER (
				PARTITION BY x.elicitation ORDER BY x.received_at DESC, x.identity) AS age
			FROM urlmode.event x WHERE x.elicitation = ANY (ids) AND x.action = 'recheck'
		) old
		WHERE v.provider = old.provider AND v.identity = old.identity
			AND old.age > 4 * urlmode.max_references();
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.keep_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[]) IS
	'Internal. Keeps the events of known elicitations. In the actions that it returns, seen stands for each event that was kept before. A recheck is no such: it tells no outcome, and may ask again. Of the events that only ask for a recheck the oldest are dropped.';

CREATE FUNCTION urlmode.remember(refs urlmode.reference[], ref text) RETURNS urlmode.reference[]
LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN coalesce(ref, '') = '' THEN refs ELSE
		(array_append(array_remove(refs, ref::urlmode.reference), ref::urlmode.reference))[
			greatest(1, cardinality(array_remove(refs, ref::urlmode.reference)) + 2 - urlmode.max_references()):]
	END
$$;
COMMENT ON FUNCTION urlmode.remember(urlmode.reference[], text) IS
	'Internal. The references with this one last, each once, and the oldest gone where there are too many.';

CREATE FUNCTION urlmode.apply_events(
	ids uuid[], actions text[], reasons text[], types text[], refs text[], proofs text[], results bytea[],
	outcomes bytea[], overdue uuid[]
)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	announcements text[];
BEGIN
	WITH moved AS (
		UPDATE urlmode.elicitation e
		SET status = CASE WHEN a.completes OR e.status = 'completed' THEN 'completed'
				WHEN a.action NOT IN ('processing', 'attempt_failed') THEN e.status
				WHEN urlmode.is_under_way(e.id) THEN 'processing'
				WHEN e.status = 'processing' AND e.opened_at IS NULL THEN 'pending'
				WHEN e.status = 'processing' THEN 'opened'
				ELSE e.status END,
			action = CASE WHEN a.completes THEN a.action ELSE e.action END,
			reason = coalesce(a.reason, e.reason),
			result = CASE WHEN a.completes THEN a.result ELSE e.result END,
			completed_at = CASE WHEN a.completes THEN now() ELSE e.completed_at END,
			failed_attempts = e.failed_attempts + (a.action = 'attempt_failed')::integer,
			refunds = e.refunds + (a.action = 'refunded')::integer,
			event_type = CASE a.action WHEN 'recheck' THEN a.type ELSE e.event_type END,
			unproven_references = CASE a.action
				WHEN 'recheck' THEN urlmode.remember(e.unproven_references, a.ref)
				ELSE e.unproven_references END,
			rechecks = e.rechecks + (a.action = 'recheck')::integer
		FROM (
			SELECT u.*, u.action IN ('accept', 'decline', 'cancel') AS completes,
				u.proof IN ('matches', 'mismatch')
					AND (u.action = 'late' OR coalesce(u.id = ANY (overdue), false)) AS late
			FROM unnest(ids, actions, reasons, types, refs, proofs, results, outcomes)
				AS u (id, action, reason, type, ref, proof, result, outcome)
		) a
		WHERE e.id = a.id
			AND (a.completes OR a.late
				OR a.action IN ('processing', 'attempt_failed', 'recheck', 'refunded')
				-- It may have ended what was under way after the end.
				OR (a.action = 'late' AND e.kind = 'payment' AND e.action <> 'accept'))
		RETURNING e.id, a.action, e.status, a.late, CASE WHEN a.action = 'accept' AND a.late IS NOT TRUE THEN a.outcome END AS outcome
	), queued AS (
		INSERT INTO urlmode.purge_queue (ids)
		SELECT array_agg(m.id) FROM moved m WHERE m.action IN ('decline', 'cancel') HAVING count(*) > 0
	)
	SELECT array_agg(urlmode.announcement(m.id, m.status, m.outcome, m.late)) INTO announcements FROM moved m;
	PERFORM urlmode.announce(announcements);
END
$$;
COMMENT ON FUNCTION urlmode.apply_events(uuid[], text[], text[], text[], text[], text[], bytea[], bytea[], uuid[]) IS
	'Internal. Moves the rows as the actions say and announces them, a late payment and a refund as well. Other actions move nothing. overdue: as lock_events returns it.';

CREATE FUNCTION urlmode.apply_refunds(ids uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	-- A refund may have a reference of its own. It counts where it is clear
	-- which payment it is of, and that all of it went back.
	WITH refunded AS (
		UPDATE urlmode.payment p SET refunded_at = now()
		FROM urlmode.event v
		WHERE v.elicitation = ANY (ids) AND v.action = 'refunded'
			AND p.elicitation = v.elicitation AND p.refunded_at IS NULL
			AND (v.amount IS NULL OR v.amount >= p.amount)
			AND (p.reference = v.reference OR NOT EXISTS (
				SELECT FROM urlmode.payment o
				WHERE o.elicitation = v.elicitation AND o.reference <> p.reference
			))
		RETURNING p.elicitation
	)
	INSERT INTO urlmode.purge_queue (ids)
	SELECT array_agg(r.elicitation) FROM refunded r HAVING count(*) > 0;
END
$$;
COMMENT ON FUNCTION urlmode.apply_refunds(uuid[]) IS
	'Internal. Marks the payments that went back, also where the refund came before the payment. Their results are purged a day later.';

CREATE FUNCTION urlmode.find_mismatch(id uuid, currency text) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT CASE WHEN e.expected ->> 'currency' <> find_mismatch.currency THEN 'currency' ELSE 'amount' END
	FROM urlmode.elicitation e WHERE e.id = find_mismatch.id
$$;
COMMENT ON FUNCTION urlmode.find_mismatch(uuid, text) IS
	'Internal. What of a payment is not as expected: amount or currency.';

CREATE FUNCTION urlmode.record_events(
	ids uuid[], providers text[], identities text[], types text[], effects text[],
	amounts bigint[], currencies text[], refs text[], results bytea[],
	outcomes bytea[] DEFAULT NULL
)
RETURNS TABLE (outcome text, mismatch text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	answers text[] := array_fill('unknown'::text, ARRAY[cardinality(ids)]);
	mismatches text[] := array_fill(NULL::text, ARRAY[cardinality(ids)]);
	rounds bigint[];
	last bigint;
	shared boolean;
	present uuid[];
	news text[];
	proofs text[];
	locked record;
	decided record;
	actions text[];
BEGIN
	-- The first event of each elicitation is in round 1, its second in round 2,
	-- and so on, so that each sees what the one before it did. Where two
	-- elicitations share an identity, each event has a round of its own.
	SELECT array_agg(r.round ORDER BY r.n), max(r.round), bool_or(r.first <> r.id AND r.effect <> 'recheck')
	INTO rounds, last, shared
	FROM (
		SELECT u.n, u.id, u.effect, row_number() OVER (PARTITION BY u.id ORDER BY u.n) AS round,
			first_value(u.id) OVER (PARTITION BY u.provider, u.identity ORDER BY u.n) AS first
		FROM unnest(ids, providers, identities, effects)
			WITH ORDINALITY AS u (id, provider, identity, effect, n)
	) r;
	IF shared THEN
		last := cardinality(ids);
		rounds := ARRAY(SELECT generate_series(1, last));
	END IF;
	FOR this IN 1 .. coalesce(last, 0) LOOP
		-- NULL stands for the id of an event that is in another round.
		present := CASE WHEN last = 1 THEN ids ELSE ARRAY(
			SELECT CASE WHEN u.round = this THEN u.id END
			FROM unnest(ids, rounds) WITH ORDINALITY AS u (id, round, n)
			ORDER BY u.n
		) END;
		locked := urlmode.lock_events(present, providers);
		news := urlmode.find_seen(present, providers, identities, effects);
		proofs := urlmode.prove_events(
			present, providers, news, amounts, currencies, refs, results);
		decided := urlmode.decide_events(locked.kinds, locked.statuses, news, proofs);
		actions := urlmode.keep_events(
			present, providers, identities, types, effects, amounts, refs, decided.actions);
		-- Another transaction has kept the event since find_seen looked, and for
		-- another elicitation: the lock of the row would have kept it away.
		IF EXISTS (
			SELECT FROM unnest(actions, proofs) AS k (action, proof)
			WHERE k.action = 'seen' AND k.proof IS NOT NULL
		) THEN
			RAISE serialization_failure USING MESSAGE = 'the event was kept by another transaction: repeat this one';
		END IF;
		PERFORM urlmode.apply_events(
			present, actions, decided.reasons, types, refs, proofs, results, outcomes, locked.overdue);
		IF locked.refunded OR 'refunded' = ANY (actions) THEN
			PERFORM urlmode.apply_refunds(present);
		END IF;
		FOR i IN 1 .. cardinality(ids) LOOP
			IF present[i] IS NOT NULL THEN
				answers[i] := actions[i];
				IF decided.reasons[i] = 'amount_mismatch' THEN
					mismatches[i] := urlmode.find_mismatch(ids[i], currencies[i]);
				END IF;
			END IF;
		END LOOP;
	END LOOP;
	RETURN QUERY SELECT unnest(answers), unnest(mismatches);
END
$$;
COMMENT ON FUNCTION urlmode.record_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], bytea[], bytea[]) IS
	'Keeps each event once and lets it move its elicitation. effects: paid, failed, cancelled, expired, attempt_failed, processing, refunded, recheck, other_mode, other_account or ignore. amounts: minor units, or NULL. refs: the provider''s reference, or NULL. results: sealed. outcomes: sealed, for the announcement of an accept, or NULL. outcome: what the event did (urlmode.event.action); seen: it was kept before; unknown: the provider has no such elicitation, and nothing was kept. mismatch: of a payment that is not as expected, amount or currency.';

REVOKE ALL ON FUNCTION
	urlmode.delete_events(),
	urlmode.bindings(uuid[], text[]),
	urlmode.lock_events(uuid[], text[]),
	urlmode.find_seen(uuid[], text[], text[], text[]),
	urlmode.prove_events(uuid[], text[], text[], bigint[], text[], text[], bytea[]),
	urlmode.decide_event(text, text, text, text),
	urlmode.decide_events(text[], text[], text[], text[]),
	urlmode.keep_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[]),
	urlmode.remember(urlmode.reference[], text),
	urlmode.apply_events(uuid[], text[], text[], text[], text[], text[], bytea[], bytea[], uuid[]),
	urlmode.apply_refunds(uuid[]),
	urlmode.find_mismatch(uuid, text),
	urlmode.record_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], bytea[], bytea[])
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.bindings(uuid[], text[]),
	urlmode.record_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], bytea[], bytea[])
TO urlmode_cgi;
