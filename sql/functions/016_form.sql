-- The forms of kinds input and approval: the browser opens, reads and answers
-- them, and the MCP server checks what was typed.
--
-- `subject` is the user that the browser is known to belong to; NULL: it is not
-- known. `four_eyes` says whether these names are the ones that MCP servers use as
-- subjects, so that nobody has two; the approvers of a form may demand it. As in 007_callback, the functions for the
-- callback programs take parallel arrays, return one row for each element in the
-- same order, and wait 20 ms for the lock of a row. A row of another kind than the
-- provider's is unknown to them.
--
--   answer_form_noted
--                 an input without verify_ms, or an approval, is completed. Another input
--                 is processing, and its value waits to be checked
--   take_check    one instance takes the value
--   end_check     it is good, and the input is completed; or it has a problem, and
--                 the form is opened again
--
-- What only forms need is in urlmode.form. Who writes it has locked the row of the elicitation.
--
-- A value that is not checked in time leaves its form opened: effective_status says so
-- at once, and end_due_checks wipes the value. A form that comes back shows what was typed
-- into the fields that are not secret (typed), to the browser that has sent it. Whatever
-- the page needs is wiped at the end of the form, also where nobody waits (expire_forms).

CREATE OR REPLACE FUNCTION urlmode.max_tries() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 5
$$;
COMMENT ON FUNCTION urlmode.max_tries IS
	'Internal. How many values with a problem end an elicitation.';

CREATE OR REPLACE FUNCTION urlmode.max_unchecked() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 10
$$;
COMMENT ON FUNCTION urlmode.max_unchecked IS
	'Internal. How many values that could not be checked end an elicitation.';

CREATE OR REPLACE FUNCTION urlmode.take_back(ids uuid[], failed boolean, problem bytea DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
	moves jsonb[];
BEGIN
	UPDATE urlmode.form f SET check_until = NULL, unchecked = failed, problem = take_back.problem
	WHERE f.elicitation = ANY (ids);
	UPDATE urlmode.elicitation e SET result = NULL, failed_attempts = e.failed_attempts + (NOT failed)::integer
	WHERE e.id = ANY (ids);
	moves := ARRAY(
		SELECT urlmode.next(e.kind, e.status, false, CASE
			WHEN failed AND f.checks - e.failed_attempts >= urlmode.max_unchecked() THEN 'check last failed'
			WHEN failed THEN 'check failed'
			WHEN e.failed_attempts >= urlmode.max_tries() THEN 'check last problem'
			ELSE 'check problem' END)
		FROM unnest(ids) WITH ORDINALITY AS a (id, n)
		JOIN urlmode.elicitation e ON e.id = a.id JOIN urlmode.form f ON f.elicitation = a.id ORDER BY a.n
	);
	PERFORM urlmode.move_rows(ids, moves);
	RETURN moves[1] ->> 'status' = 'completed';
END
$$;
COMMENT ON FUNCTION urlmode.take_back IS
	'Internal. Wipes values that were sent to be checked, and opens their forms again: they could '
	'not be checked (failed), or have this problem. After too many the form ends. The caller has '
	'locked the rows. Returns whether the first one has ended.';

CREATE OR REPLACE FUNCTION urlmode.end_due_checks(ids uuid[] DEFAULT NULL) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	due uuid[] := ARRAY(
		SELECT f.elicitation FROM urlmode.form f
		WHERE f.check_until <= now() AND (ids IS NULL OR f.elicitation = ANY (ids)) LIMIT 1000
	);
BEGIN
	IF due = '{}' THEN
		RETURN;
	END IF;
	due := ARRAY(
		SELECT e.id FROM urlmode.elicitation e WHERE e.id = ANY (due) AND e.status = 'processing'
		ORDER BY e.id FOR NO KEY UPDATE SKIP LOCKED
	);
	-- Until it was locked, the check may have ended, and another one may have begun.
	PERFORM urlmode.take_back(ARRAY(
		SELECT f.elicitation FROM urlmode.form f WHERE f.elicitation = ANY (due) AND f.check_until <= now()
	), true);
END
$$;
COMMENT ON FUNCTION urlmode.end_due_checks IS
	'Internal. Wipes values that were not checked in time, and opens their forms again, or ends '
	'them after max_unchecked: of these elicitations, or of any 1000.';

CREATE OR REPLACE FUNCTION urlmode.expire_forms() RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	due uuid[] := ARRAY(
		SELECT f.elicitation FROM urlmode.form f WHERE f.definition IS NOT NULL AND f.expires_at <= now() LIMIT 1000
	);
	owners bytea[];
BEGIN
	SELECT array_agg(l.id), array_agg(l.binding::bytea) INTO due, owners
	FROM (
		SELECT e.id, e.binding FROM urlmode.elicitation e
		WHERE e.id = ANY (due) ORDER BY e.id FOR NO KEY UPDATE SKIP LOCKED
	) l;
	RETURN count(x) FROM urlmode.expire(due, owners) AS x;
END
$$;
COMMENT ON FUNCTION urlmode.expire_forms IS
	'Internal. Completes forms that have expired, so that their words do not stay where nobody '
	'waits: at most 1000. Returns how many.';

-- NFKC_Casefold (UAX #31), without the characters that nobody sees. Letters of two alphabets that look alike stay two.
CREATE OR REPLACE FUNCTION urlmode.fold(name text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
	RETURN normalize((
		SELECT string_agg(coalesce(urlmode.folding() ->> one, one), '' ORDER BY n)
		FROM regexp_split_to_table(normalize(regexp_replace(name, urlmode.unseen(), '', 'g'), NFD), '')
			WITH ORDINALITY AS character (one, n)
	), NFC);
END
$$;
COMMENT ON FUNCTION urlmode.fold IS
	'Internal. A name without what people do not see: its case, how it is composed, and invisible '
	'characters. Only to refuse what may be the same name.';

-- STABLE, as the functions that it calls: otherwise PostgreSQL would not inline it.
CREATE OR REPLACE FUNCTION urlmode.refuse_user(owner text, approvers jsonb, subject text, four_eyes boolean) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT CASE
		WHEN approvers IS NULL THEN CASE WHEN owner <> subject THEN 'wrong_user' END
		WHEN subject IS NULL THEN 'user_unknown'
		WHEN coalesce(approvers -> 'approvers', approvers) <> '[]' AND NOT coalesce(approvers -> 'approvers', approvers) ? subject
			THEN 'wrong_user'
		WHEN four_eyes IS NOT TRUE THEN
			CASE WHEN approvers = '[]' OR approvers -> 'four_eyes' = 'true' THEN 'four_eyes_not_set_up' END
		-- A sign-in may take the same name in another spelling.
		WHEN urlmode.fold(owner) = urlmode.fold(subject) THEN 'own_request'
	END
$$;
COMMENT ON FUNCTION urlmode.refuse_user IS
	'Internal. Why this user cannot answer a form of this owner, or NULL: wrong_user; user_unknown (others than '
	'the subject decide, and the browser''s user is not known); own_request (with four eyes the subject cannot '
	'decide, in no spelling of the name, unless no approvers are given); four_eyes_not_set_up (anybody but the subject can '
	'decide, or four eyes are demanded, and the names may differ).';

CREATE OR REPLACE FUNCTION urlmode.form_outcome(e urlmode.elicitation, approvers jsonb, subject text, four_eyes boolean) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT CASE
		WHEN e.id IS NULL OR e.kind NOT IN ('input', 'approval') THEN 'unknown'
		WHEN urlmode.refuse_user(e.subject, approvers, subject, four_eyes) IS NOT NULL
			THEN urlmode.refuse_user(e.subject, approvers, subject, four_eyes)
		WHEN e.status = 'completed' THEN 'completed'
		WHEN e.expires_at <= now() THEN 'expired'
		ELSE urlmode.effective_status(e)
	END
$$;
COMMENT ON FUNCTION urlmode.form_outcome IS
	'Internal. How far a form is, for this user: pending, opened, processing, completed, expired, '
	'unknown, or what refuse_user says.';

CREATE OR REPLACE FUNCTION urlmode.open_form(
	ids uuid[], providers text[], kinds text[], browsers bytea[], subjects text[], four_eyes boolean[]
)
RETURNS TABLE (outcome text, expires bigint, binding bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '20ms' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	open record;
BEGIN
	PERFORM FROM urlmode.elicitation e WHERE e.id = ANY (ids) ORDER BY e.id FOR NO KEY UPDATE;
	PERFORM urlmode.end_due_checks(ids);
	SELECT array_agg(o.id) AS ids, array_agg(o.move) AS moves, array_agg(o.browser) AS browsers INTO open
	FROM (
		-- Of those that may answer it, the last one: a stranger with the same link hides nobody.
		SELECT DISTINCT ON (u.id) u.id, u.browser, urlmode.next(x.kind, x.status, x.expires_at <= now(), 'open_form') AS move,
			x.status = 'pending' OR x.browser IS DISTINCT FROM u.browser AS is_new
		FROM unnest(ids, providers, kinds, browsers, subjects, four_eyes)
			WITH ORDINALITY AS u (id, provider, kind, browser, subject, four_eyes, n)
		JOIN urlmode.elicitation x ON x.id = u.id AND x.provider = u.provider AND x.kind = u.kind
		JOIN urlmode.form f ON f.elicitation = x.id
		WHERE u.browser IS NOT NULL AND u.subject IS NOT NULL
			AND urlmode.form_outcome(x, f.approvers, u.subject, u.four_eyes) IN ('pending', 'opened')
		ORDER BY u.id, u.n DESC
	) o
	WHERE o.is_new AND o.move IS NOT NULL;
	PERFORM urlmode.move_rows(open.ids, open.moves, browsers => open.browsers);

	RETURN QUERY
	SELECT o.outcome, ceil(extract(epoch FROM e.expires_at))::bigint,
		CASE WHEN o.outcome IN ('pending', 'opened', 'processing', 'completed') THEN e.binding::bytea END
	FROM unnest(ids, providers, kinds, subjects, four_eyes) WITH ORDINALITY AS a (id, provider, kind, subject, four_eyes, n)
	LEFT JOIN urlmode.elicitation e ON e.id = a.id AND e.provider = a.provider
	LEFT JOIN LATERAL (SELECT * FROM urlmode.form x WHERE x.elicitation = e.id LIMIT 1) f ON true
	CROSS JOIN LATERAL (
		SELECT CASE WHEN e.kind <> a.kind
			THEN coalesce(urlmode.refuse_user(e.subject, f.approvers, a.subject, a.four_eyes), 'wrong_kind')
			ELSE urlmode.form_outcome(e, f.approvers, a.subject, a.four_eyes) END
	) AS o (outcome)
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.open_form IS
	'A browser comes to /connect with a link to a form: pending becomes opened, if the user is '
	'known and may answer. browsers: NULL: only looks. outcome: pending, opened, processing, '
	'completed, expired, unknown, wrong_kind (the row is of another kind than its provider), or '
	'what refuse_user says. binding: of the row, unless it is '
	'refused or has expired.';

CREATE OR REPLACE FUNCTION urlmode.look_up_form(
	ids uuid[], bindings bytea[], providers text[], kinds text[], subjects text[], four_eyes boolean[]
)
RETURNS TABLE (
	outcome text, action text, reason text, requester text, subject text, expires bigint,
	form bytea, problem bytea, typed bytea, unchecked boolean, browser bytea, decided_by text
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '20ms' SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	PERFORM urlmode.end_due_checks(ids);
	RETURN QUERY
	SELECT o.outcome, e.action::text, e.reason::text, e.requester::text, e.subject::text,
		ceil(extract(epoch FROM e.expires_at))::bigint,
		CASE WHEN o.outcome IN ('pending', 'opened') THEN f.definition::bytea END,
		CASE WHEN o.outcome IN ('pending', 'opened') THEN f.problem::bytea END,
		CASE WHEN o.outcome IN ('pending', 'opened') THEN f.typed::bytea END,
		-- Also where another transaction holds the row, so that its value was not wiped yet.
		coalesce(f.unchecked OR f.check_until <= now(), false), e.browser::bytea,
		CASE WHEN o.outcome = 'completed' THEN f.decided_by::text END
	FROM unnest(ids, bindings, providers, kinds, subjects, four_eyes)
		WITH ORDINALITY AS a (id, binding, provider, kind, subject, four_eyes, n)
	LEFT JOIN urlmode.elicitation e
		ON e.id = a.id AND e.binding = a.binding AND e.provider = a.provider AND e.kind = a.kind
	LEFT JOIN LATERAL (SELECT * FROM urlmode.form x WHERE x.elicitation = e.id LIMIT 1) f ON true
	CROSS JOIN LATERAL urlmode.form_outcome(e, f.approvers, a.subject, a.four_eyes) AS o (outcome)
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.look_up_form IS
	'The forms, to show their pages. It changes nothing but a value that was not checked in time. '
	'outcome: as of open_form. problem: of the last value, sealed. typed: sealed for the browser '
	'that has sent it. browser: that last came. unchecked: the last value could not be checked. '
	'decided_by: who has decided an approval.';

CREATE OR REPLACE FUNCTION urlmode.answer_form_noted(
	ids uuid[], bindings bytea[], providers text[], kinds text[], browsers bytea[], subjects text[], four_eyes boolean[],
	actions text[], reasons text[], results bytea[], outcomes bytea[], shown bytea[], notes text[]
)
RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '20ms' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	row urlmode.elicitation;
	asked urlmode.form;
	waits boolean;
BEGIN
	PERFORM FROM urlmode.elicitation e WHERE e.id = ANY (ids) ORDER BY e.id FOR NO KEY UPDATE;
	PERFORM urlmode.end_due_checks(ids);
	FOR i IN 1 .. coalesce(cardinality(ids), 0) LOOP
		SELECT * INTO row FROM urlmode.elicitation e
		WHERE e.id = ids[i] AND e.binding = bindings[i] AND e.provider = providers[i] AND e.kind = kinds[i];
		SELECT * INTO asked FROM urlmode.form f WHERE f.elicitation = row.id;
		outcome := urlmode.form_outcome(row, asked.approvers, subjects[i], four_eyes[i]);
		IF outcome IN ('pending', 'opened') AND actions[i] IN ('accept', 'decline') AND reasons[i] IS NOT NULL THEN
			waits := asked.verify_ms IS NOT NULL AND actions[i] = 'accept';
			outcome := CASE WHEN waits THEN 'processing' ELSE 'completed' END;
			UPDATE urlmode.form f
			SET checks = f.checks + waits::integer,
				check_until = CASE WHEN waits THEN now() + f.verify_ms * interval '1 millisecond' END,
				unchecked = false, problem = NULL, typed = CASE WHEN waits THEN shown[i] END,
				decided_by = CASE WHEN row.kind = 'approval' THEN coalesce(subjects[i], row.subject) END
			WHERE f.elicitation = row.id;
			IF waits THEN
				UPDATE urlmode.elicitation e SET result = results[i] WHERE e.id = row.id;
			END IF;
			PERFORM urlmode.move_rows(ARRAY[row.id],
				ARRAY[urlmode.next(row.kind, urlmode.effective_status(row), false, CASE WHEN waits THEN 'answer to check' ELSE 'answer ' || actions[i] END)],
				ARRAY[reasons[i]], ARRAY[results[i]], CASE WHEN NOT waits THEN ARRAY[outcomes[i]] END, browsers => ARRAY[browsers[i]]);
			IF row.kind = 'approval' AND row.provider <> 'urlmode-check' THEN
				INSERT INTO urlmode.event (provider, identity, type, elicitation, reference, action)
				VALUES (row.provider, 'decision:' || row.id, concat_ws(', ', 'decision', left(notes[i], 256)), row.id,
					coalesce(subjects[i], row.subject), actions[i]);
			END IF;
		ELSIF outcome = 'completed' THEN
			outcome := 'already';
		END IF;
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION urlmode.answer_form_noted IS
	'The user has answered a form: accept, with what was typed or with the decision, or decline. '
	'outcomes: sealed, for the notification. shown: what is not secret of a value that is checked, '
	'sealed for the page. outcome: completed; processing (the MCP server checks the value; nothing '
	'more was taken if one was processing before); already, expired, unknown, or what refuse_user '
	'says, which change nothing. The decision about an approval is also an event. notes: what its '
	'type says of it, for the operator: when and how the approver has signed in for it. NULL: '
	'nothing.';

-- The programs of before call this.
CREATE OR REPLACE FUNCTION urlmode.answer_form(
	ids uuid[], bindings bytea[], providers text[], kinds text[], browsers bytea[], subjects text[], four_eyes boolean[],
	actions text[], reasons text[], results bytea[], outcomes bytea[], shown bytea[]
)
RETURNS TABLE (outcome text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.answer_form_noted(ids, bindings, providers, kinds, browsers, subjects, four_eyes,
		actions, reasons, results, outcomes, shown, NULL)
$$;
COMMENT ON FUNCTION urlmode.answer_form IS 'As answer_form_noted, without notes.';

CREATE OR REPLACE FUNCTION urlmode.take_check(id uuid, binding bytea)
RETURNS TABLE (lease integer, result bytea, left_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	SELECT e.result INTO result FROM urlmode.elicitation e
	WHERE e.id = take_check.id AND e.binding = take_check.binding AND e.status = 'processing' AND e.expires_at > now()
	FOR NO KEY UPDATE;
	IF FOUND THEN
		UPDATE urlmode.form f SET check_taken = f.checks
		WHERE f.elicitation = take_check.id AND f.check_until > now() AND f.check_taken < f.checks
		RETURNING f.checks, ceil(extract(epoch FROM least(f.check_until, f.expires_at) - now()) * 1000)
		INTO lease, left_ms;
		IF FOUND THEN
			RETURN NEXT;
		END IF;
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.take_check IS
	'Takes the value that waits to be checked: result is the sealed result, lease is for '
	'end_check, and left_ms is the time that is left. No row: there is none, or another instance '
	'has taken it.';

CREATE OR REPLACE FUNCTION urlmode.end_check(
	id uuid, binding bytea, lease integer, problem bytea DEFAULT NULL, failed boolean DEFAULT false,
	outcome bytea DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.elicitation;
	asked urlmode.form;
BEGIN
	SELECT * INTO row FROM urlmode.elicitation e
	WHERE e.id = end_check.id AND e.binding = end_check.binding FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		RETURN 'unknown';
	END IF;
	SELECT * INTO asked FROM urlmode.form f WHERE f.elicitation = row.id;
	IF row.status <> 'processing' OR asked.check_until IS NULL OR least(asked.check_until, row.expires_at) <= now()
		OR asked.checks <> lease OR asked.check_taken <> lease
	THEN
		RETURN 'late';
	ELSIF failed OR end_check.problem IS NOT NULL THEN
		RETURN CASE WHEN urlmode.take_back(ARRAY[row.id], failed, CASE WHEN NOT failed THEN end_check.problem END)
			THEN 'refused' ELSE 'opened' END;
	END IF;
	PERFORM urlmode.move_rows(ARRAY[row.id], ARRAY[urlmode.next(row.kind, row.status, false, 'check good')],
		NULL, ARRAY[row.result::bytea], ARRAY[end_check.outcome]);
	RETURN 'completed';
END
$$;
COMMENT ON FUNCTION urlmode.end_check IS
	'Ends the check of this lease. Without a problem the input is completed with accept. A '
	'problem, sealed, is shown at its field, and the value is wiped; the fifth ends the input with '
	'cancel and refused_input. failed: nobody knows whether the value is good; it is wiped, and '
	'the page says that it could not be checked. The tenth value that could not be checked, also '
	'in time, ends the input with cancel and not_checked. outcome, the argument: sealed, for the '
	'notification. Returns completed, opened, refused (it has ended), unknown, or late: the time '
	'was over, or the check has ended before, and nothing changed.';

GRANT EXECUTE ON FUNCTION
	urlmode.open_form, urlmode.look_up_form, urlmode.answer_form_noted, urlmode.answer_form
TO :"cgi";
GRANT EXECUTE ON FUNCTION urlmode.take_check, urlmode.end_check TO :"server";
