-- The events that providers send to the webhook. Each is kept once, and may
-- move its elicitation.
--
-- receive_events takes a batch through four steps:
--
--   it locks the names of payments, and the rows
--   keep_events    decides what each event does to its row, writes down what
--                  was paid (003_payment), and keeps the events;
--                  decide_event, which decides for one, has the rules
--   apply_events   moves the rows
--   keep_refunds   writes down what went back (003_payment)
--
-- An event that proves nothing (recheck) leaves status and expiry as they are:
-- it only wakes the MCP server, which asks the provider. An attempt that
-- failed is not an outcome either: the row is processing while an attempt is
-- under way, and what it was before when none is, in whatever order the events
-- come.

-- In place of foreign keys: that of events took a third of the time of recording one, and that
-- of leases was looked at with each completion. Whoever writes an event, a form, a recheck, a lease
-- or the answer of a client has locked the row of the elicitation.
CREATE OR REPLACE FUNCTION urlmode.delete_events() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM urlmode.event v USING deleted d WHERE v.elicitation = d.id;
	DELETE FROM urlmode.form f USING deleted d WHERE f.elicitation = d.id;
	DELETE FROM urlmode.recheck r USING deleted d WHERE r.elicitation = d.id;
	DELETE FROM urlmode.lease l USING deleted d WHERE l.elicitation = d.id;
	DELETE FROM urlmode.asked_client c USING deleted d WHERE c.elicitation = d.id;
	DELETE FROM urlmode.task t USING deleted d WHERE t.elicitation = d.id;
	DELETE FROM urlmode.refund r USING deleted d
	WHERE r.elicitations @> ARRAY[d.id] AND NOT EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.elicitation = ANY (r.elicitations) AND (r.payment IS NULL OR r.payment IN (p.reference, p.checkout))
	) AND NOT EXISTS (SELECT FROM urlmode.elicitation e WHERE e.id = ANY (r.elicitations));
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION urlmode.delete_events IS
	'Internal. Deletes the events, forms, rechecks, leases, answers of clients and tasks of elicitations '
	'that are deleted, and the refunds of payments that were never proved.';
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgname = 'delete_events'
		AND t.tgrelid = 'urlmode.elicitation'::regclass)
	THEN
		CREATE TRIGGER delete_events AFTER DELETE ON urlmode.elicitation REFERENCING OLD TABLE AS deleted
			FOR EACH STATEMENT EXECUTE FUNCTION urlmode.delete_events();
	END IF;
END
$$;
COMMENT ON TRIGGER delete_events ON urlmode.elicitation IS
	'Deletes events, forms, rechecks and leases with their elicitation.';

CREATE OR REPLACE FUNCTION urlmode.decide_event(kind text, status text, effect text, proof text, provider_kind text DEFAULT NULL)
RETURNS TABLE (action text, move jsonb)
LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE
			WHEN kind IS NULL THEN 'unknown'
			WHEN effect = 'ignore' THEN 'ignored'
			-- Money counts, whatever it was asked for.
			WHEN effect IN ('other_kind', 'refunded', 'refund_reversed', 'disputed') THEN CASE WHEN proof = 'taken' THEN 'reference_taken' ELSE effect END
			-- Only their own page answers them.
			WHEN kind IN ('input', 'approval') THEN 'ignored'
			WHEN provider_kind <> kind AND effect <> 'seen' THEN 'ignored'
			WHEN effect IN ('seen', 'other_mode', 'other_account', 'other_checkout', 'recheck') THEN effect
			WHEN effect = 'paid' AND kind = 'payment' AND proof IS NULL THEN 'recheck'
			WHEN proof = 'taken' THEN 'reference_taken'
			WHEN proof = 'repeated' THEN 'repeated'
			-- Also after the end: a payment that is under way then must not be asked for again.
			WHEN effect IN ('processing', 'attempt_failed') AND (kind = 'payment' OR status <> 'completed') THEN effect
			WHEN status = 'completed' THEN 'late'
			WHEN decided.move IS NOT NULL THEN decided.move ->> 'action'
			-- An account is accepted by its return alone, and what proves another kind proves nothing.
			WHEN effect IN ('paid', 'accepted') THEN 'ignored'
		END,
		CASE WHEN provider_kind <> kind OR effect = 'other_kind' OR proof IN ('taken', 'repeated')
			OR (kind = 'payment' AND effect = 'paid' AND proof IS NULL) THEN NULL ELSE decided.move END
	FROM (
		SELECT urlmode.next(kind, status, false, CASE WHEN proof = 'mismatch' THEN 'paid wrong' ELSE effect END) AS move
	) decided
$$;
COMMENT ON FUNCTION urlmode.decide_event IS
	'Internal. What an event does to a row of this kind and status: the action of the event (see '
	'urlmode.event.action), and how the row ends; NULL: it does not. '
	'proof: of what was paid; matches, mismatch: a new payment, compared with what was expected; '
	'repeated: it was written down before; taken: its reference has paid for another elicitation; '
	'NULL: the event proves no payment. The action is unknown where the provider has no such row '
	'(the kind is NULL), and NULL for an effect that does not exist. provider_kind: as the provider '
	'is configured; NULL: as the row. What it says of a row of another kind is ignored, but for '
	'money (other_kind, as keep_events says).';

CREATE OR REPLACE FUNCTION urlmode.keep_events(
	ids uuid[], providers text[], identities text[], types text[], effects text[],
	amounts bigint[], currencies text[], refs text[], refunds text[], checkouts text[], results bytea[], requests text[], kinds text[], details jsonb[],
	OUT actions text[], OUT moves jsonb[], OUT mismatches text[], OUT lates boolean[]
)
LANGUAGE plpgsql AS $$
DECLARE
	overtaken boolean;
BEGIN
	WITH found AS MATERIALIZED (
		SELECT a.n, a.id, a.provider, a.identity, a.type, a.amount, a.currency, a.ref, a.refund, c.checkout, a.result, a.request, a.kind AS provider_kind,
			a.details, e.kind, e.status, e.expected, e.checkout AS made, e.subject, e.item, e.tenant,
			e.status = 'completed' OR urlmode.closes_at(e.kind, e.status, e.expires_at, e.grace) <= now() AS ended,
			CASE WHEN a.effect <> 'recheck' AND EXISTS (
				SELECT FROM urlmode.event v
				WHERE v.provider = a.provider AND v.identity = a.identity
					AND (v.elicitation <> a.id OR v.action NOT IN ('ignored', 'other_mode', 'other_account', 'other_checkout', 'other_kind'))
			) THEN 'seen'
			-- As urlmode.is_others says.
			WHEN t.tenant <> e.tenant THEN 'other_account'
			-- The payer can choose the elicitation that a link of the shop names.
			WHEN a.effect = 'paid' AND e.checkout <> c.checkout THEN 'other_checkout'
			WHEN a.effect = 'paid' AND e.kind IS NOT NULL AND NOT (e.kind = 'payment' AND coalesce(a.kind, 'payment') = 'payment')
				AND a.amount IS NOT NULL AND a.currency IS NOT NULL AND a.result IS NOT NULL THEN 'other_kind'
			WHEN a.effect = 'paid' AND e.checkout IS NOT NULL AND c.checkout IS NULL THEN 'recheck'
			-- A part of it may be paid.
			WHEN a.effect = 'paid' AND e.expected ->> 'match' = 'checkout' AND NOT coalesce(a.details @> '{"checkout_paid": true}', false) THEN 'recheck'
			ELSE a.effect END AS effect
		FROM unnest(ids, providers, identities, types, effects, amounts, currencies, refs, refunds, checkouts, results, requests, kinds, details)
			WITH ORDINALITY AS a (id, provider, identity, type, effect, amount, currency, ref, refund, checkout, result, request, kind, details, n)
		-- With ANY it reads no other rows, also in a new database, where PostgreSQL
		-- takes the table for empty and would read all of it.
		LEFT JOIN urlmode.elicitation e ON e.id = a.id AND e.provider = a.provider AND e.id = ANY (ids)
		LEFT JOIN urlmode.provider_tenant t ON t.provider = a.provider
		-- A capture may name its payment alone: what said that it was authorised has named the checkout.
		CROSS JOIN LATERAL (
			SELECT coalesce(a.checkout, CASE WHEN a.effect = 'paid' AND e.checkout IS NOT NULL THEN (
				SELECT v.checkout::text FROM urlmode.event v
				WHERE v.provider = a.provider AND v.reference = a.ref AND v.elicitation = a.id AND v.action = 'processing' AND v.checkout IS NOT NULL
				LIMIT 1
			) END) AS checkout
		) c
	), paid AS MATERIALIZED (
		SELECT f.*, coalesce(
				-- The checkout that was made is paid already, by the payment's own reference.
				CASE WHEN x.name = f.made THEN (
					SELECT p.reference::text FROM urlmode.payment p WHERE p.provider = f.provider AND p.elicitation = f.id
					ORDER BY p.reference = x.name DESC, p.matches DESC, p.reference LIMIT 1
				) END,
				x.name, f.id::text) AS reference,
			f.effect = 'paid' AND urlmode.is_expected(f.expected, f.amount, f.currency)
				AND (NOT urlmode.is_of_subscription(f.expected) OR coalesce(f.details ? 'of_subscription', false)) AS matches
		FROM found f
		-- Where nothing was to be paid, the provider has no payment.
		CROSS JOIN LATERAL (SELECT coalesce(nullif(f.ref, ''), CASE WHEN f.amount = 0 THEN f.made END)) AS x (name)
		WHERE f.effect = 'other_kind' OR f.effect = 'paid' AND f.kind = 'payment' AND f.amount IS NOT NULL AND f.currency IS NOT NULL
			AND f.result IS NOT NULL
	), proved AS MATERIALIZED (
		SELECT p.n, CASE WHEN p.proof = 'repeated' AND w.effect = 'paid' AND NOT w.ended AND EXISTS (
				-- Told as money for another kind, it has ended nothing. It is a wrong amount, so that nobody is asked to pay again.
				SELECT FROM urlmode.payment k
				WHERE k.provider = w.provider AND k.elicitation = w.id AND k.reference IN (w.reference, w.checkout)
					AND NOT k.matches AND coalesce(k.claimed_at, k.refunded_at) IS NULL
			) THEN 'mismatch' ELSE p.proof END AS proof
		FROM (
			SELECT array_agg(x.id) AS ids, array_agg(x.provider) AS providers, array_agg(x.reference) AS refs,
				array_agg(x.amount) AS amounts, array_agg(x.currency) AS currencies,
				array_agg(x.matches) AS matches, array_agg(x.ended) AS lates, array_agg(x.result) AS results,
				array_agg(x.checkout) AS checkouts, array_agg(x.subject::text) AS subjects, array_agg(x.item::text) AS items,
				array_agg(x.tenant::text) AS tenants, array_agg(urlmode.is_of_subscription(x.expected)) AS firsts,
				array_agg(x.n) AS ns
			FROM (SELECT * FROM paid ORDER BY n) x HAVING count(*) > 0
		) a
		CROSS JOIN LATERAL ROWS FROM (unnest(a.ns), urlmode.prove_payments(
			a.ids, a.providers, a.refs, a.amounts, a.currencies, a.matches, a.lates, a.results, a.checkouts,
			a.subjects, a.items, a.tenants, a.firsts)) AS p (n, proof)
		JOIN paid w USING (n)
	), decided AS MATERIALIZED (
		SELECT f.*, p.proof, d.action, d.move
		FROM found f LEFT JOIN proved p USING (n)
		CROSS JOIN LATERAL urlmode.decide_event(f.kind, f.status, f.effect, p.proof, f.provider_kind) d
	), kept AS (
		INSERT INTO urlmode.event (provider, identity, type, elicitation, reference, amount, request, action, checkout)
		SELECT d.provider, d.identity, d.type, d.id,
			CASE WHEN d.action IN ('refunded', 'refund_reversed', 'disputed') THEN coalesce(nullif(d.refund, ''), nullif(d.ref, ''))
				WHEN d.action IN ('processing', 'attempt_failed', 'decline', 'cancel', 'late',
					'repeated', 'reference_taken', 'other_kind', 'other_mode', 'other_account') THEN nullif(d.ref, '') END,
			CASE WHEN d.action IN ('refunded', 'refund_reversed', 'reference_taken', 'other_kind', 'other_mode', 'other_account')
				THEN d.amount END,
			d.request, d.action, CASE d.action WHEN 'processing' THEN d.checkout END
		FROM decided d
		WHERE d.action IS NULL OR d.action NOT IN ('unknown', 'seen')
		-- In this order, so that two batches never wait for each other.
		ORDER BY d.provider, d.identity
		ON CONFLICT (provider, identity) DO UPDATE
		SET action = EXCLUDED.action, reference = EXCLUDED.reference, amount = EXCLUDED.amount, request = EXCLUDED.request, checkout = EXCLUDED.checkout
		WHERE event.elicitation = EXCLUDED.elicitation AND event.action <> EXCLUDED.action
			AND event.action IN ('ignored', 'other_mode', 'other_account', 'other_checkout', 'other_kind')
		RETURNING event.elicitation
	)
	SELECT array_agg(k.action), array_agg(k.move), array_agg(k.mismatch), array_agg(k.late),
		bool_or(k.action = 'seen' AND k.proof IS NOT NULL AND k.effect <> 'other_kind')
	INTO actions, moves, mismatches, lates, overtaken
	FROM (
		-- A recheck is never seen: it tells no outcome, and may ask again.
		SELECT CASE WHEN d.action = 'unknown' OR (d.effect = 'recheck' AND d.action = 'recheck')
					OR d.id IN (SELECT x.elicitation FROM kept x)
				THEN d.action ELSE 'seen' END AS action,
			d.effect, d.move, d.proof,
			CASE WHEN d.move ->> 'reason' = 'amount_mismatch' THEN
				CASE WHEN urlmode.is_of_subscription(d.expected) AND NOT coalesce(d.details ? 'of_subscription', false) THEN 'subscription'
					WHEN d.expected ->> 'currency' <> d.currency THEN 'currency' ELSE 'amount' END
			END AS mismatch,
			d.proof IN ('matches', 'mismatch') AND d.ended AS late
		FROM decided d ORDER BY d.n
	) k;
	IF EXISTS (SELECT FROM unnest(details) AS u (detail) WHERE u.detail ? 'tax') THEN
		UPDATE urlmode.payment p SET tax = (a.detail -> 'tax')::bigint
		FROM unnest(ids, providers, amounts, currencies, refs, checkouts, details) AS a (id, provider, amount, currency, ref, checkout, detail)
		WHERE p.elicitation = a.id AND p.elicitation = ANY (ids) AND p.provider = a.provider AND p.reference IN (a.ref, a.checkout, a.id::text)
			AND p.amount = a.amount AND p.currency = a.currency AND a.detail ? 'tax';
	END IF;
	-- Another transaction has kept the event since we looked, and for another
	-- elicitation: the lock of the row would have kept it away.
	IF overtaken THEN
		RAISE serialization_failure USING MESSAGE = 'the event was kept by another transaction: repeat this one';
	END IF;

	IF 'recheck' = ANY (actions) THEN
		DELETE FROM urlmode.event v WHERE v.ctid = ANY (ARRAY(
			SELECT old.ctid FROM unnest(ids, actions) AS a (id, action) CROSS JOIN LATERAL (
				SELECT x.ctid FROM urlmode.event x WHERE x.elicitation = a.id AND x.action = 'recheck'
				ORDER BY x.received_at DESC, x.identity OFFSET 4 * urlmode.max_references()
			) old
			WHERE a.action = 'recheck'
		));
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.keep_events IS
	'Internal. Decides what each event does to its row (decide_event), and keeps the events of '
	'known elicitations, and what they prove to be paid. A payment that does not name its checkout '
	'is of the one that processing has named for it. No id and no identity is twice in it, and '
	'the rows are locked. actions: seen stands for each event that was kept before. Not seen are: '
	'a recheck, which tells no outcome and asks again; and an event that meant nothing to us, or '
	'came from another mode, account or tenant''s provider, or proved money for another kind, because the configuration '
	'may have been corrected since. other_kind: money that is proved for a row that is no payment, '
	'or by a provider that is configured as another kind. It is a payment that does not match. '
	'moves, mismatches: as decide_event and receive_events return them. lates: whether money is '
	'proved after the end. Of the events that only ask for a recheck the oldest are dropped.';

CREATE OR REPLACE FUNCTION urlmode.append_reference(refs urlmode.reference[], ref text) RETURNS urlmode.reference[]
LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN coalesce(ref, '') = '' THEN refs ELSE
		(array_append(array_remove(refs, ref::urlmode.reference), ref::urlmode.reference))[
			greatest(1, cardinality(array_remove(refs, ref::urlmode.reference)) + 2 - urlmode.max_references()):]
	END
$$;
COMMENT ON FUNCTION urlmode.append_reference IS
	'Internal. The references with this one last, each once, and the oldest gone where there are '
	'too many.';

CREATE OR REPLACE FUNCTION urlmode.apply_events(
	ids uuid[], actions text[], moves jsonb[], types text[], refs text[], lates boolean[],
	results bytea[], outcomes bytea[]
)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	moving record;
BEGIN
	UPDATE urlmode.elicitation e
	SET failed_attempts = e.failed_attempts + (a.action = 'attempt_failed')::integer,
		refunds = e.refunds + (a.action = 'refunded')::integer,
		is_final = e.is_final AND a.action NOT IN ('recheck', 'processing')
	FROM unnest(ids, actions) AS a (id, action)
	WHERE e.id = a.id AND e.id = ANY (ids)
		AND (a.action IN ('attempt_failed', 'refunded') OR a.action IN ('recheck', 'processing') AND e.is_final);
	IF 'recheck' = ANY (actions) THEN
		INSERT INTO urlmode.recheck AS r (elicitation, event_type, unproven_references, rechecks)
		SELECT a.id, a.type, urlmode.append_reference('{}', a.ref), 1
		FROM unnest(ids, actions, types, refs) AS a (id, action, type, ref)
		WHERE a.action = 'recheck'
		ON CONFLICT ON CONSTRAINT recheck_pkey DO UPDATE
		SET event_type = EXCLUDED.event_type, rechecks = r.rechecks + 1,
			unproven_references = urlmode.append_reference(r.unproven_references, EXCLUDED.unproven_references[1]);
	END IF;

	WITH applied AS MATERIALIZED (
		SELECT a.*, e.status, e.kind, e.action AS ended,
			CASE WHEN a.action IN ('accept', 'decline', 'cancel') THEN a.decided
				WHEN a.action IN ('processing', 'attempt_failed') THEN urlmode.next(e.kind, e.status, false,
					CASE WHEN urlmode.is_under_way(e.id) THEN 'attempt' WHEN e.opened_at IS NULL THEN 'no attempt unopened'
						ELSE 'no attempt' END)
			END AS move
		FROM unnest(ids, actions, moves, lates, results, outcomes) AS a (id, action, decided, late, result, outcome)
		JOIN urlmode.elicitation e ON e.id = a.id AND e.id = ANY (ids)
	)
	SELECT array_agg(x.id) FILTER (WHERE x.move IS NOT NULL) AS ids,
		array_agg(x.move) FILTER (WHERE x.move IS NOT NULL) AS moves,
		array_agg(x.result) FILTER (WHERE x.move IS NOT NULL) AS results,
		array_agg(CASE WHEN x.action = 'accept' AND x.late IS NOT TRUE AND NOT (x.kind = 'payment' AND EXISTS (
				SELECT FROM urlmode.payment p WHERE p.elicitation = x.id AND (p.held OR p.refunded_at IS NOT NULL)
			)) THEN x.outcome END) FILTER (WHERE x.move IS NOT NULL) AS outcomes,
		array_agg(x.late) FILTER (WHERE x.move IS NOT NULL) AS lates,
		array_agg(urlmode.notification(x.id, x.status, NULL, x.late))
			FILTER (WHERE x.move IS NULL AND (x.late
				OR x.action IN ('processing', 'attempt_failed', 'recheck')
				-- It may have ended an attempt that was under way after the end.
				OR (x.action = 'late' AND x.kind = 'payment' AND x.ended <> 'accept'))) AS others
	INTO moving FROM applied x;
	PERFORM urlmode.move_rows(moving.ids, moving.moves, NULL, moving.results, moving.outcomes, moving.lates,
		others => moving.others);
END
$$;
COMMENT ON FUNCTION urlmode.apply_events IS
	'Internal. Moves the rows as the events say, and announces them, a late payment as well; refunds '
	'are announced by the ledger (031_ledger). An accept that no call can claim, because its payment '
	'is held or went back, is announced without its outcome. Other actions move nothing. moves, '
	'lates: as keep_events returns them.';

CREATE OR REPLACE FUNCTION urlmode.find_elicitation(provider text, reference text) RETURNS uuid
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN coalesce((
		SELECT p.elicitation FROM urlmode.payment p
		WHERE p.provider = find_elicitation.provider AND p.reference = find_elicitation.reference
	), (
		SELECT (array_agg(v.elicitation))[1] FROM urlmode.event v
		WHERE v.provider = find_elicitation.provider AND v.reference = find_elicitation.reference
			AND v.action IN ('processing', 'attempt_failed') AND v.reference IS NOT NULL
		HAVING count(DISTINCT v.elicitation) = 1
	), (
		SELECT f.ids[1] FROM urlmode.find_checkout(provider, reference) AS f (ids) WHERE cardinality(f.ids) = 1
	));
END
$$;
COMMENT ON FUNCTION urlmode.find_elicitation IS
	'Internal. The elicitation of a payment, of an attempt to pay, or of a checkout, with this '
	'reference; NULL: it is not known, or not of one elicitation.';

CREATE OR REPLACE FUNCTION urlmode.receive_events(
	ids uuid[], providers text[], identities text[], types text[], effects text[],
	amounts bigint[], currencies text[], refs text[], results bytea[],
	outcomes bytea[] DEFAULT NULL, refunds text[] DEFAULT NULL, checkouts text[] DEFAULT NULL,
	requests text[] DEFAULT NULL, kinds text[] DEFAULT NULL, details jsonb[] DEFAULT NULL
)
RETURNS TABLE (outcome text, mismatch text, elicitation uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '20ms' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	kept record;
	actions text[];
	named text[];
	given CONSTANT uuid[] := ids;
	others uuid[] := '{}';
	first bigint := 1;
	again record;
BEGIN
	IF EXISTS (SELECT FROM unnest(details) AS u (detail) WHERE u.detail ? 'subscription') THEN
		RETURN QUERY SELECT s.* FROM urlmode.receive_subscriptions(ids, providers, identities, types, effects, amounts, currencies, refs,
			results, outcomes, refunds, checkouts, requests, kinds, details) s;
		RETURN;
	END IF;
	IF 'named' = ANY (effects) THEN
		RETURN QUERY SELECT s.* FROM urlmode.receive_names(ids, providers, identities, types, effects, amounts, currencies, refs,
			results, outcomes, refunds, checkouts, requests, kinds, details) s;
		RETURN;
	END IF;
	IF effects && ('paid'::text || urlmode.refund_effects()) THEN
		PERFORM urlmode.lock_references(refs);
	END IF;
	IF effects && urlmode.refund_effects() AND EXISTS (SELECT FROM urlmode.payment_name) THEN
		refs := urlmode.real_names(providers, effects, refs);
		PERFORM urlmode.lock_references(refs);
	END IF;
	-- What went back is of the payment that it names, whichever elicitation it names.
	-- An event may also name its payment alone, or its attempt to pay. What an event
	-- before it names as well is looked for when that one is recorded.
	IF array_position(ids, NULL) IS NOT NULL OR effects && urlmode.refund_effects() THEN
		named := ARRAY(
			SELECT u.provider || ' ' || nullif(u.ref, '')
			FROM unnest(providers, refs) WITH ORDINALITY AS u (provider, ref, n) ORDER BY u.n
		);
		ids := ARRAY(
			SELECT CASE WHEN array_position(named, u.name) < u.n THEN u.id ELSE coalesce(
				CASE WHEN u.effect = ANY (urlmode.refund_effects()) THEN (
					SELECT p.elicitation FROM urlmode.payment p WHERE p.provider = u.provider AND p.reference = u.ref
				) END,
				-- The elicitation that it names may be another server's, and the checkout ours.
				CASE WHEN u.effect = ANY (urlmode.refund_effects()) AND u.id IS NOT NULL
					AND NOT EXISTS (
						SELECT FROM urlmode.elicitation e WHERE e.id = u.id AND e.provider = u.provider AND NOT urlmode.is_others(e.provider, e.tenant)
					)
					AND NOT EXISTS (SELECT FROM urlmode.payment p WHERE p.elicitation = u.id AND p.provider = u.provider)
				THEN (urlmode.find_checkout(u.provider, u.ref))[1] END,
				u.id,
				CASE WHEN u.effect NOT IN ('paid', 'accepted') THEN urlmode.find_elicitation(u.provider, u.ref) END,
				CASE WHEN u.effect = ANY (urlmode.refund_effects()) THEN (urlmode.find_checkout(u.provider, u.ref))[1] END) END
			FROM unnest(ids, providers, effects, refs, named) WITH ORDINALITY AS u (id, provider, effect, ref, name, n)
			ORDER BY u.n
		);
		-- What goes back of a checkout may be of each elicitation that it was made for.
		others := ARRAY(
			SELECT f.id FROM unnest(given, providers, effects, refs) AS u (id, provider, effect, ref)
			CROSS JOIN LATERAL unnest(urlmode.find_checkout(u.provider, u.ref)) AS f (id)
			WHERE u.id IS NULL AND u.effect = ANY (urlmode.refund_effects()) AND array_position(ids, f.id) IS NULL
		);
	END IF;

	-- A payment may be refunded in the same transaction: then a wait must read the row.
	IF effects && urlmode.refund_effects() THEN
		outcomes := NULL;
	END IF;

	-- In the order of the ids, so that two batches never wait for each other.
	PERFORM FROM urlmode.elicitation e
	WHERE e.id = ANY (ids || others) AND e.provider = ANY (providers)
	ORDER BY e.id
	FOR NO KEY UPDATE OF e;

	-- Each event must see the effects of those before it: split the batch before a
	-- repeated elicitation, identity or reference.
	IF (
		SELECT count(DISTINCT u.id) < count(u.id) OR count(DISTINCT u.identity) < count(u.identity)
			OR count(DISTINCT u.name) < count(u.name)
		FROM unnest(ids, identities, named) AS u (id, identity, name)
	) THEN
		FOR again IN
			SELECT u.n, greatest(
				lag(u.n) OVER (PARTITION BY u.id ORDER BY u.n),
				lag(u.n) OVER (PARTITION BY u.identity ORDER BY u.n),
				CASE WHEN u.name <> '' THEN lag(u.n) OVER (PARTITION BY u.name ORDER BY u.n) END) AS before
			FROM unnest(ids, identities, named) WITH ORDINALITY AS u (id, identity, name, n)
			UNION ALL
			SELECT cardinality(ids) + 1, cardinality(ids)
			ORDER BY n
		LOOP
			IF again.before >= first THEN
				RETURN QUERY SELECT * FROM urlmode.receive_events(
					given[first:again.n - 1], providers[first:again.n - 1], identities[first:again.n - 1],
					types[first:again.n - 1], effects[first:again.n - 1], amounts[first:again.n - 1],
					currencies[first:again.n - 1], refs[first:again.n - 1], results[first:again.n - 1],
					outcomes[first:again.n - 1], refunds[first:again.n - 1], checkouts[first:again.n - 1],
					requests[first:again.n - 1], kinds[first:again.n - 1], details[first:again.n - 1]);
				first := again.n;
			END IF;
		END LOOP;
		RETURN;
	END IF;

	kept := urlmode.keep_events(
		ids, providers, identities, types, effects, amounts, currencies, refs, refunds, checkouts, results, requests, kinds, details);
	-- What went back may have come before its payment, without an elicitation that is known.
	IF kept.actions && ARRAY['accept', 'late', 'cancel', 'repeated', 'other_kind'] AND EXISTS (
		SELECT FROM unnest(providers, refs, checkouts, effects) AS u (provider, ref, checkout, effect)
		JOIN urlmode.unknown_event x ON x.provider = u.provider AND x.reference = ANY (ARRAY[u.ref, u.checkout])
			AND x.effect <> 'paid'
		WHERE u.effect = 'paid'
	) THEN
		PERFORM urlmode.claim_unmatched(NULL, ARRAY(
			SELECT CASE WHEN u.action IN ('accept', 'late', 'cancel', 'repeated', 'other_kind') AND u.effect = 'paid' THEN u.provider END
			FROM unnest(providers || providers, kept.actions || kept.actions, effects || effects)
				WITH ORDINALITY AS u (provider, action, effect, n) ORDER BY u.n
		), refs || checkouts);
	END IF;
	PERFORM urlmode.apply_events(
		ids, kept.actions, kept.moves, types, refs, kept.lates, results, outcomes);
	actions := kept.actions;
	IF effects && urlmode.refund_effects() THEN
		-- Of a purged elicitation the payments are still there.
		actions := ARRAY(
			SELECT CASE WHEN u.action = 'unknown' AND u.effect = ANY (urlmode.refund_effects()) AND EXISTS (
					SELECT FROM urlmode.payment p
					WHERE p.provider = u.provider AND p.elicitation = u.id
				) THEN u.effect ELSE u.action END
			FROM unnest(actions, ids, providers, effects) WITH ORDINALITY AS u (action, id, provider, effect, n)
			ORDER BY u.n
		);
		PERFORM urlmode.keep_refunds(ids, providers, actions, amounts, currencies, refs, refunds,
			ARRAY(SELECT u.id IS NULL FROM unnest(given) WITH ORDINALITY AS u (id, n) ORDER BY u.n), details);
	END IF;
	IF 'unknown' = ANY (actions) THEN
		PERFORM urlmode.store_unmatched(ids, providers, identities, types, effects, amounts, currencies, refs, refunds, checkouts,
			results, actions, kinds, details);
	END IF;
	RETURN QUERY SELECT u.action, u.mismatch, u.id FROM unnest(actions, kept.mismatches, ids) AS u (action, mismatch, id);
END
$$;
COMMENT ON FUNCTION urlmode.receive_events IS
	'Keeps each event once and lets it move its elicitation. effects: paid, accepted, failed, cancelled, '
	'expired, attempt_failed, processing, refunded, refund_reversed, disputed, renewed, subscription, '
	'named, recheck, other_mode, other_account or ignore. checkouts: the provider''s ids of the checkouts that were paid, or '
	'NULL. ids: NULL where an event that proves no payment names only its payment, or an attempt '
	'to pay that was told of before. amounts: minor units, or NULL. refs: the provider''s '
	'reference of the payment, or of the checkout of an elicitation, or NULL. refunds: that of a '
	'refund, or NULL where the amount is the total that went back of the payment. results: sealed; '
	'without one nothing is accepted as paid. outcomes: sealed, for the notification of an accept, '
	'or NULL. requests: the request ids of the deliveries, or NULL. kinds: of the providers, as '
	'they are configured, or NULL. details: objects of what only some events say, or NULL. Their '
	'members, all optional, are in lib/PROTOCOL.md ("Details of events"). outcome: what the event did '
	'(urlmode.event.action); seen: it was kept before; unknown: the provider has no such '
	'elicitation; what tells of money is kept for thirty days (015_unknown_event). other_kind: it proves money, '
	'which urlmode.unclaimed_of lists, for a row or at a provider that is no payment. mismatch: of a '
	'payment that is not as expected, amount, currency or subscription. elicitation: the one that the event is '
	'about.';

CREATE OR REPLACE FUNCTION urlmode.record_events(
	ids uuid[], providers text[], identities text[], types text[], effects text[],
	amounts bigint[], currencies text[], refs text[], results bytea[],
	outcomes bytea[] DEFAULT NULL, refunds text[] DEFAULT NULL, checkouts text[] DEFAULT NULL,
	requests text[] DEFAULT NULL, kinds text[] DEFAULT NULL
)
RETURNS TABLE (outcome text, mismatch text, elicitation uuid)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT r.outcome, r.mismatch, r.elicitation
	FROM urlmode.receive_events(ids, providers, identities, types, effects, amounts, currencies, refs, results, outcomes,
		refunds, checkouts, requests, kinds) r
$$;
COMMENT ON FUNCTION urlmode.record_events IS
	'What receive_events was before events had details: for programs that do not have it.';

GRANT EXECUTE ON FUNCTION urlmode.receive_events, urlmode.record_events TO :"cgi";
