-- How an elicitation moves. Each move is a row of urlmode.transitions (001_states).
--
--   status      set by
--   pending     create_elicitation: an MCP server creates it.
--   opened      open: the user goes on from /connect to the provider.
--               open_form: to the form of kind input or approval.
--   processing  receive_events: the provider has proved that it knows of it,
--               and its outcome is open (a bank transfer), or the browser that comes back
--               from it says that somebody else decides about the account.
--               answer_form_noted: the MCP server checks what the user has typed.
--   completed   complete: the browser comes back.
--               answer_form_noted, end_check: the user has answered a form.
--               receive_events: an event of the provider tells the outcome.
--               settle: the MCP server says so.
--               expire: nobody completed it in time.
--               abandon: nobody has opened it, and nobody waits any more.
--               create_elicitation, exclusive: a newer one supersedes it.
--
-- The end of a wait is not the end of a row: from opened on, a row stays until
-- its expiry, a payment or a signature until its provider tells the outcome or
-- its expiry and a grace have passed. And money is kept apart from rows (003_payment):
-- the next call is offered a payment that came after the end.
--
-- A row only moves down this list, with three exceptions: an account is opened again while
-- somebody else decides about it; when no attempt to pay is
-- under way any more, it is again what it was before processing (receive_events). And
-- when a value that was typed has a problem, or was not checked in time, it is opened
-- again (016_form). It is completed once, and then has an action: accept, decline or
-- cancel. move_rows below, `open` and `complete` write the status, and announce what they
-- moved.

CREATE OR REPLACE FUNCTION urlmode.closes_at(kind text, status text, expires_at timestamptz, grace interval) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
	SELECT expires_at + CASE WHEN status = 'processing' AND kind NOT IN ('input', 'oauth') THEN greatest(grace, '30 days') ELSE grace END
$$;
COMMENT ON FUNCTION urlmode.closes_at IS
	'Internal. From then on expire may complete an elicitation: after its grace, or thirty days '
	'where that is longer and money may be on its way. What a user types has no grace, and an '
	'account that somebody else decides has none.';

-- STABLE, as the functions that it calls: otherwise PostgreSQL would not inline it.
CREATE OR REPLACE FUNCTION urlmode.notification(
	id uuid, status text, outcome bytea DEFAULT NULL, late boolean DEFAULT false, refunded boolean DEFAULT false
)
RETURNS text
LANGUAGE sql STABLE AS $$
	-- In brackets, so that PostgreSQL makes one constant of what is known in advance.
	SELECT '{"id":"' || id::text || ('","status":"' || status || '"'
			|| CASE WHEN late THEN ',"late":true' ELSE '' END
			|| CASE WHEN refunded THEN ',"refunded":true' ELSE '' END)
		|| CASE WHEN octet_length(outcome) <= 2600
			THEN ',"outcome":"' || replace(encode(outcome, 'base64'), E'\n', '') || '"}' ELSE '}' END
$$;
COMMENT ON FUNCTION urlmode.notification IS
	'Internal. What notify reports of a row: {"id":…,"status":…}. late: a payment was proved after '
	'the end; "late":true is added. refunded: money went back, or came again; "refunded":true is '
	'added. outcome: the sealed outcome, with which a wait resolves without a read; it is left out '
	'where it is larger than 2600 bytes.';

CREATE OR REPLACE FUNCTION urlmode.notify(notifications text[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	notification text;
	payload text := '';
BEGIN
	IF cardinality(notifications) = 1 THEN
		PERFORM pg_notify('urlmode', notifications[1]);
		RETURN;
	END IF;
	FOREACH notification IN ARRAY coalesce(notifications, '{}') LOOP
		-- A payload has at most 7999 bytes, with a comma and the brackets; a
		-- notification has at most 3600.
		IF octet_length(payload) + octet_length(notification) > 7996 THEN
			PERFORM pg_notify('urlmode', '[' || payload || ']');
			payload := '';
		END IF;
		payload := payload || CASE payload WHEN '' THEN '' ELSE ',' END || notification;
	END LOOP;
	IF payload <> '' THEN
		PERFORM pg_notify('urlmode', '[' || payload || ']');
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.notify IS
	'Internal. Tells the waiting processes that a row has changed: NOTIFY on channel urlmode, one '
	'notification, or a JSON array of those of a statement, in as few notifications as hold them.';

CREATE OR REPLACE FUNCTION urlmode.max_open() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 1000
$$;
COMMENT ON FUNCTION urlmode.max_open IS
	'Internal. How many elicitations of one owner can be open at the same time.';

CREATE OR REPLACE FUNCTION urlmode.awaits_recheck(elicitation uuid) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN EXISTS (
		SELECT FROM urlmode.recheck r
		WHERE r.elicitation = awaits_recheck.elicitation AND r.rechecks > r.rechecked
	);
END
$$;
COMMENT ON FUNCTION urlmode.awaits_recheck IS
	'Internal. Whether an event has asked for a recheck that was not answered yet.';

-- In PL/pgSQL, so that nothing of it is prepared for the moves that are never final.
CREATE OR REPLACE FUNCTION urlmode.becomes_final(e urlmode.elicitation) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN e.kind <> 'payment'
		OR NOT urlmode.awaits_recheck(e.id) AND NOT EXISTS (SELECT FROM urlmode.payment p WHERE p.elicitation = e.id);
END
$$;
COMMENT ON FUNCTION urlmode.becomes_final IS
	'Internal. Whether no call can be given a row any more, once it is superseded, abandoned or '
	'expired: not while a recheck may tell that it was paid, nor where money was proved for it, such as '
	'by an entry of another kind.';

CREATE OR REPLACE FUNCTION urlmode.move_rows(
	ids uuid[], moves jsonb[], reasons text[] DEFAULT NULL, results bytea[] DEFAULT NULL, outcomes bytea[] DEFAULT NULL,
	lates boolean[] DEFAULT NULL, browsers bytea[] DEFAULT NULL, others text[] DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	notifications text[];
	forms uuid[];
BEGIN
	WITH moved AS (
		UPDATE urlmode.elicitation e
		SET status = a.move ->> 'status', action = a.move ->> 'action',
			reason = coalesce(a.move ->> 'reason', a.reason, ''),
			browser = coalesce(a.browser, e.browser),
			opened_at = CASE WHEN a.browser IS NOT NULL THEN coalesce(e.opened_at, now()) ELSE e.opened_at END,
			completed_at = CASE WHEN a.ends THEN now() END,
			completed_from = CASE WHEN a.also LIKE '%cut%' THEN e.status END,
			claimed_at = CASE WHEN a.also LIKE '%claimed%' THEN now() END,
			is_final = a.also LIKE '%final%' AND urlmode.becomes_final(e),
			-- The code verifier is of use with a code alone.
			result = CASE WHEN a.ends THEN a.result ELSE e.result END,
			verifier = CASE WHEN NOT a.ends OR a.move ->> 'action' = 'accept' THEN e.verifier END
		FROM (
			SELECT u.*, u.move ->> 'status' = 'completed' AS ends, u.move ->> 'also' AS also
			FROM unnest(ids, moves, reasons, results, outcomes, lates, browsers)
				AS u (id, move, reason, result, outcome, late, browser)
		) a
		WHERE e.id = a.id AND e.id = ANY (ids)
		RETURNING e.id, e.status, a.ends, e.kind = 'payment' AND e.action = 'accept' AS awaits_claim,
			a.ends AND (e.result IS NOT NULL OR e.verifier IS NOT NULL) AS has_secrets,
			a.ends AND e.kind IN ('input', 'approval') AS ends_form, a.outcome, a.late
	), queued AS (
		-- What was paid for is kept until a call has claimed it (end_claim).
		INSERT INTO urlmode.purge_queue (ids)
		SELECT array_agg(m.id) FROM moved m WHERE m.has_secrets AND NOT m.awaits_claim HAVING count(*) > 0
	), uncounted AS (
		-- For the figures (049_counts).
		INSERT INTO urlmode.uncounted_end (ids)
		SELECT array_agg(m.id) FROM moved m WHERE m.ends HAVING count(*) > 0
	)
	SELECT array_agg(urlmode.notification(m.id, m.status, m.outcome, m.late)), array_agg(m.id) FILTER (WHERE m.ends_form)
	INTO notifications, forms FROM moved m;
	IF forms IS NOT NULL THEN
		UPDATE urlmode.form f
		SET definition = NULL, problem = NULL, typed = NULL, check_until = NULL, unchecked = false
		WHERE f.elicitation = ANY (forms);
	END IF;
	PERFORM urlmode.notify(notifications || others);
END
$$;
COMMENT ON FUNCTION urlmode.move_rows IS
	'Internal. Moves rows, which the caller has locked, as urlmode.next says for each, and '
	'announces them. A row that ends gets its result, and keeps nothing that only the way to its '
	'end has needed; what it keeps is purged later. reasons: where the move leaves it to the '
	'caller. outcomes: sealed, for the notification. lates: a payment was proved after the end. '
	'browsers: of a row that is opened. others: notifications of rows that do not move.';

CREATE OR REPLACE FUNCTION urlmode.max_references() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 16
$$;
COMMENT ON FUNCTION urlmode.max_references IS
	'Internal. How many references of unproven events an elicitation keeps, and four times as many '
	'of the events themselves. The oldest go first.';
