-- The MCP server that waits: it reads its elicitations, ends those that
-- expired or that nobody waits for any more, and settles those whose outcome it
-- has learned in another way. Where an event proves nothing, it asks the provider
-- (029_recheck).
--
-- As in 007_callback, rows are taken in the order of their ids, and the first of
-- two elements with one id counts.

CREATE OR REPLACE FUNCTION urlmode.read_paid(ids uuid[], bindings bytea[])
RETURNS TABLE (
	id uuid, provider text, kind text, status text, action text, reason text, late boolean,
	result bytea, verifier bytea, expires_in_ms bigint, closes_in_ms bigint,
	expected jsonb, failed_attempts integer, completed_from text,
	event_type text, unproven_references text[], rechecks integer, rechecked integer, recheck_in_ms bigint,
	payment_reference text, refunded bigint, held boolean, amount bigint, currency text, tax bigint
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN QUERY
	SELECT e.id, e.provider::text, e.kind::text, s.effective_status,
		CASE WHEN p.held THEN 'cancel' WHEN p.late IS NULL THEN e.action::text ELSE 'accept' END,
		CASE WHEN p.held THEN 'held' WHEN p.late IS NULL THEN e.reason::text ELSE '' END,
		coalesce(p.late, false) AND NOT p.held,
		-- A value that is being checked is nobody's yet.
		CASE WHEN p.held OR e.status <> 'completed' THEN NULL WHEN p.late IS NULL THEN e.result::bytea ELSE p.result::bytea END, e.verifier::bytea,
		ceil(extract(epoch FROM e.expires_at - now()) * 1000)::bigint,
		ceil(extract(epoch FROM urlmode.closes_at(e.kind, s.effective_status, e.expires_at, e.grace) - now()) * 1000)::bigint,
		e.expected::jsonb, e.failed_attempts, CASE WHEN p.late IS NULL THEN e.completed_from::text END,
		r.event_type::text, coalesce(r.unproven_references::text[], '{}'), coalesce(r.rechecks, 0), coalesce(r.rechecked, 0),
		ceil(extract(epoch FROM r.recheck_at - now()) * 1000)::bigint,
		p.reference, coalesce(p.refunded, 0), coalesce(p.held, false), p.amount, p.currency, p.tax
	FROM unnest(ids, bindings) AS a (id, binding)
	JOIN urlmode.elicitation e ON e.id = a.id AND e.binding = a.binding
	CROSS JOIN LATERAL urlmode.effective_status(e) AS s (effective_status)
	LEFT JOIN LATERAL (
		SELECT x.late, x.result, x.reference::text, x.refunded, x.amount::bigint, x.currency::text, x.tax,
			x.claimed_at IS NULL AND (NOT x.matches OR urlmode.claim_rank(x) = 3) AS held
		FROM urlmode.payment x
		WHERE e.kind = 'payment' AND e.status = 'completed'
			AND x.elicitation = e.id AND x.refunded_at IS NULL AND (x.matches
				-- One call is told that the amount does not match, and the next ones that the money is held.
				OR e.item IS NOT NULL AND x.claimed_at IS NULL AND (e.claimed_at IS NOT NULL OR e.reason <> 'amount_mismatch'))
		ORDER BY x.claimed_at IS NOT NULL, NOT x.matches, urlmode.claim_rank(x), x.proven_at, x.reference
		LIMIT 1
	) p ON true
	-- With a limit no plan reads all of them.
	LEFT JOIN LATERAL (SELECT * FROM urlmode.recheck x WHERE x.elicitation = e.id LIMIT 1) r ON true;
END
$$;
COMMENT ON FUNCTION urlmode.read_paid IS
	'The rows, in no particular order. Rows that do not exist or have another binding are left '
	'out. Changes nothing: the reader of a result calls mark_read, or claim for a payment. A '
	'payment that was proved after the end is the outcome: accept, and late. One that has ended '
	'without an accept is processing while an attempt to pay is under way. payment_reference names '
	'the payment whose result this is, for claim; refunded: how much of it went back. Where all '
	'that nobody has claimed is held, the outcome is cancel and held, without a result: nobody is '
	'asked to pay again, and the operator decides. So is an amount that does not match, where the '
	'elicitation has an item, until it was delivered or refunded, but to one call it is '
	'amount_mismatch. expires_in_ms is negative when the row can no '
	'longer be opened, closes_in_ms when expire may complete it. rechecks grows by one with every '
	'event that asks for a recheck; those up to rechecked are answered; recheck_in_ms says how '
	'long nobody else may begin one (NULL or negative: now). amount, currency, tax: of the payment '
	'that payment_reference names; tax is NULL where its event does not say it. expected: the price '
	'that was asked.';

CREATE OR REPLACE FUNCTION urlmode.read(ids uuid[], bindings bytea[])
RETURNS TABLE (
	id uuid, provider text, kind text, status text, action text, reason text, late boolean,
	result bytea, verifier bytea, expires_in_ms bigint, closes_in_ms bigint,
	expected jsonb, failed_attempts integer, completed_from text,
	event_type text, unproven_references text[], rechecks integer, rechecked integer, recheck_in_ms bigint,
	payment_reference text, refunded bigint, held boolean
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT r.id, r.provider, r.kind, r.status, r.action, r.reason, r.late, r.result, r.verifier, r.expires_in_ms, r.closes_in_ms,
		r.expected, r.failed_attempts, r.completed_from, r.event_type, r.unproven_references, r.rechecks, r.rechecked, r.recheck_in_ms,
		r.payment_reference, r.refunded, r.held
	FROM urlmode.read_paid(ids, bindings) r
$$;
COMMENT ON FUNCTION urlmode.read IS
	'read_paid without what was paid, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.expire(ids uuid[], bindings bytea[])
RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	expired uuid[];
	moves jsonb[];
BEGIN
	SELECT array_agg(x.id), array_agg(x.move) INTO expired, moves
	FROM (
		SELECT e.id, urlmode.next(e.kind, e.status, true, 'expire') AS move
		FROM unnest(ids, bindings) AS a (id, binding)
		JOIN urlmode.elicitation e ON e.id = a.id AND e.binding = a.binding
		WHERE urlmode.next(e.kind, e.status,
			urlmode.closes_at(e.kind, e.status, e.expires_at, e.grace) <= now(), 'expire') IS NOT NULL
		ORDER BY e.id
		FOR NO KEY UPDATE OF e
	) x;
	PERFORM urlmode.move_rows(expired, moves);
	RETURN QUERY SELECT unnest(expired);
END
$$;
COMMENT ON FUNCTION urlmode.expire IS
	'Completes rows whose expiry and grace are over, with cancel and expired, and returns their '
	'ids. While a row is processing, its grace is at least thirty days; what is paid after that is '
	'late.';

CREATE OR REPLACE FUNCTION urlmode.abandon(ids uuid[], bindings bytea[], actions text[], reasons text[])
RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	done record;
BEGIN
	SELECT array_agg(x.id) AS ids, array_agg(x.move) AS moves, array_agg(x.reason) AS reasons, array_agg(x.n) AS ns INTO done
	FROM (
		SELECT e.id, urlmode.next(e.kind, e.status, false, 'abandon ' || a.action) AS move, a.reason, a.n
		FROM (
			SELECT DISTINCT ON (u.id, u.binding) u.*
			FROM unnest(ids, bindings, actions, reasons)
				WITH ORDINALITY AS u (id, binding, action, reason, n)
			ORDER BY u.id, u.binding, u.n
		) a
		JOIN urlmode.elicitation e ON e.id = a.id AND e.binding = a.binding
		WHERE urlmode.next(e.kind, e.status, false, 'abandon ' || a.action) IS NOT NULL
		ORDER BY e.id
		FOR NO KEY UPDATE OF e
	) x;
	PERFORM urlmode.move_rows(done.ids, done.moves, done.reasons);

	RETURN QUERY
	SELECT CASE
			WHEN a.n = ANY (done.ns) THEN 'completed'
			WHEN e.id IS NULL THEN 'unknown'
			WHEN urlmode.effective_status(e) = 'completed' THEN 'already'
			ELSE urlmode.effective_status(e)
		END
	FROM unnest(ids, bindings) WITH ORDINALITY AS a (id, binding, n)
	LEFT JOIN urlmode.elicitation e ON e.id = a.id AND e.binding = a.binding
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.abandon IS
	'Completes rows that nobody waits for any more, with decline or cancel, and claims them, so '
	'that no later call resumes them. Only rows that nobody has opened: the end of a wait does not '
	'end an elicitation that a user has opened. outcome: completed, already, opened, processing or '
	'unknown.';

CREATE OR REPLACE FUNCTION urlmode.settle(
	id uuid, binding bytea, action text, reason text, result bytea,
	amount bigint DEFAULT NULL, currency text DEFAULT NULL, reference text DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.elicitation;
	move jsonb;
	proof text;
	too_late boolean := false;
	is_whole boolean;
	known text;
BEGIN
	PERFORM urlmode.lock_references(ARRAY[settle.reference]);
	SELECT * INTO row FROM urlmode.elicitation e
	WHERE e.id = settle.id AND e.binding = settle.binding FOR UPDATE;
	IF NOT FOUND THEN
		RETURN 'unknown';
	END IF;
	IF row.kind = 'approval' AND settle.action = 'accept' THEN
		RETURN 'undecided';
	END IF;
	IF row.kind = 'payment' AND settle.action = 'accept' THEN
		IF settle.amount IS NULL OR settle.currency IS NULL OR coalesce(settle.reference, '') = '' THEN
			RETURN 'missing';
		END IF;
		IF NOT urlmode.is_expected(row.expected, settle.amount, settle.currency) THEN
			RETURN 'mismatch';
		END IF;
		-- Whatever its reference is: nobody learns which payments another tenant has.
		IF urlmode.is_others(row.provider, row.tenant) THEN
			RETURN 'reference_taken';
		END IF;
		-- The webhook has told of the same checkout already, by the payment's own reference.
		IF settle.reference = row.checkout THEN
			SELECT p.matches, p.reference INTO is_whole, known
			FROM urlmode.payment p WHERE p.elicitation = settle.id AND p.reference <> settle.reference
			ORDER BY p.matches DESC, p.reference LIMIT 1;
			IF is_whole THEN
				RETURN 'already';
			END IF;
			-- Only a part of it was proved: this is the whole.
			settle.reference := coalesce(known, settle.reference);
		END IF;
		too_late := row.status = 'completed' OR urlmode.closes_at(row.kind, row.status, row.expires_at, row.grace) <= now();
		proof := urlmode.prove_payments(ARRAY[settle.id], ARRAY[row.provider::text], ARRAY[settle.reference],
			ARRAY[settle.amount], ARRAY[settle.currency], ARRAY[true], ARRAY[too_late], ARRAY[settle.result],
			ARRAY[row.checkout::text], ARRAY[row.subject::text], ARRAY[row.item::text], ARRAY[row.tenant::text],
			ARRAY[urlmode.is_of_subscription(row.expected)]);
		IF proof = 'taken' THEN
			RETURN 'reference_taken';
		END IF;
		PERFORM urlmode.claim_unmatched(NULL, ARRAY[row.provider::text], ARRAY[settle.reference]);
		IF row.status = 'completed' AND proof = 'matches' THEN
			PERFORM urlmode.notify(ARRAY[urlmode.notification(settle.id, 'completed', late => true)]);
			RETURN 'late';
		END IF;
	END IF;
	move := urlmode.next(row.kind, row.status, false, 'settle ' || settle.action::urlmode.action);
	IF move IS NULL THEN
		RETURN 'already';
	END IF;
	PERFORM urlmode.move_rows(ARRAY[settle.id], ARRAY[move], ARRAY[settle.reason], ARRAY[settle.result], lates => ARRAY[too_late]);
	RETURN 'completed';
END
$$;
COMMENT ON FUNCTION urlmode.settle IS
	'Completes a row as the MCP server says, from any status, once. The accept of a payment '
	'requires the amount in minor units, the currency, and the provider''s reference. outcome: '
	'completed; late (it had ended otherwise, and the payment is offered to the next call); '
	'already; mismatch (it is not what was expected), missing (amount, currency or reference), '
	'reference_taken (it has paid for another elicitation, or the provider is another tenant''s), undecided (only an approver accepts an '
	'approval, on its page) or unknown, which change nothing.';

CREATE OR REPLACE FUNCTION urlmode.end_recheck(id uuid, binding bytea, lease integer, rechecks integer, failed boolean)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM FROM urlmode.elicitation e
	WHERE e.id = end_recheck.id AND e.binding = end_recheck.binding FOR NO KEY UPDATE;
	IF FOUND THEN
		UPDATE urlmode.recheck r
		SET rechecked = CASE WHEN failed THEN r.rechecked ELSE greatest(r.rechecked, end_recheck.rechecks) END,
			answered_at = CASE WHEN failed THEN r.answered_at ELSE now() END,
			recheck_failures = CASE WHEN failed THEN r.recheck_failures + 1 ELSE 0 END,
			recheck_at = CASE WHEN r.recheck_lease > lease THEN r.recheck_at
				WHEN failed THEN now() + least(60, power(2, least(r.recheck_failures, 6))) * interval '1 second' END
		WHERE r.elicitation = end_recheck.id;
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.end_recheck IS
	'Ends the recheck of this lease. The events that it began with are answered, unless it failed: '
	'then it can be begun again after a second, after another failure after two, and so on up to a '
	'minute. If it took longer than its lease, and another one has begun since, that one keeps its '
	'lease.';

GRANT EXECUTE ON FUNCTION
	urlmode.read, urlmode.read_paid, urlmode.expire, urlmode.abandon, urlmode.settle, urlmode.end_recheck
TO :"server";
