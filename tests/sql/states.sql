\set ECHO none
-- The state machine of urlmode.elicitation, derived from the functions: each operation on a
-- row of each kind in each state, tried and rolled back. The table urlmode.transitions() says
-- what should happen; this is what does happen, with all that goes with it.
--
--   after   the status, with the action and the reason of a row that has ended
--   kept    what is still there of v(erifier), f(orm), p(roblem), t(yped) and r(esult)
--   more    what else has changed: counters, payments, is in the purge queue, final, claimed …
--   told    the status that is announced, with late, refunded, or the sealed outcome
--
-- Cases that leave the row as it was and announce nothing are counted at the end.

BEGIN;
SET LOCAL client_min_messages = warning;

CREATE TEMP TABLE tried (
	kind text, before text, operation text, outcome text, after text, kept text, more text, told text, is_same boolean
);

-- What is announced is written into a setting: a notification of a transaction that is
-- rolled back is never delivered.
CREATE OR REPLACE FUNCTION urlmode.notification(
	id uuid, status text, outcome bytea DEFAULT NULL, late boolean DEFAULT false, refunded boolean DEFAULT false
)
RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	PERFORM set_config('states.told', concat_ws(' ', nullif(current_setting('states.told', true), ''),
		CASE WHEN id::text <> current_setting('states.id') THEN 'another' END, status,
		CASE WHEN late THEN 'late' END, CASE WHEN refunded THEN 'refunded' END,
		CASE WHEN outcome IS NOT NULL THEN 'outcome' END), true);
	RETURN '{}';
END
$$;

-- A row of this kind in this state, and what belongs to it.
CREATE FUNCTION pg_temp.make(id uuid, kind text, state text, operation text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	is_form CONSTANT boolean := kind IN ('input', 'input+verify', 'approval');
	base CONSTANT text := split_part(kind, '+', 1);
	state_of CONSTANT text := split_part(state, '/', 1);
	ended CONSTANT text := CASE WHEN split_part(state, '/', 1) IN ('accept', 'decline', 'cancel') THEN split_part(state, '/', 1) END;
	until CONSTANT timestamptz := now() + CASE WHEN state LIKE '%/over' THEN interval '-400 days' ELSE interval '1 hour' END;
BEGIN
	INSERT INTO urlmode.elicitation AS e (id, provider, kind, subject, binding, requester, target_url, expected, verifier, result,
		expires_at, created_at, status, opened_at, action, completed_at)
	VALUES (make.id, 'p', base, 'u', '\x000102030405060708090a0b0c0d0e0f', 'r', CASE WHEN NOT is_form THEN 'https://x' END,
		CASE base WHEN 'payment' THEN '{"amount":100,"currency":"EUR"}'::jsonb END,
		CASE WHEN ended IS NULL OR ended = 'accept' THEN CASE kind WHEN 'oauth' THEN '\x00'::bytea END END,
		CASE WHEN ended = 'accept' OR base = 'input' AND state_of = 'processing' THEN '\x01'::bytea END,
		until, until - interval '2 hours', CASE WHEN ended IS NULL THEN state_of ELSE 'completed' END,
		CASE WHEN state_of <> 'pending' THEN now() END, ended, CASE WHEN ended IS NOT NULL THEN now() END);
	INSERT INTO urlmode.form (elicitation, expires_at, definition, problem, typed, verify_ms, checks, check_taken, check_until)
	SELECT make.id, until, CASE WHEN ended IS NULL THEN '\x02'::bytea END,
		CASE WHEN base = 'input' AND state_of = 'opened' THEN '\x03'::bytea END,
		CASE WHEN base = 'input' AND state_of IN ('opened', 'processing') THEN '\x04'::bytea END,
		CASE kind WHEN 'input+verify' THEN 30000 END,
		(base = 'input' AND state_of = 'processing')::integer, (base = 'input' AND state_of = 'processing')::integer,
		CASE WHEN base = 'input' AND state_of = 'processing' THEN now() + interval '30 s' END
	WHERE is_form;
	IF state_of = 'processing' AND base IN ('payment', 'signature') THEN
		INSERT INTO urlmode.event (provider, identity, type, elicitation, reference, action)
		VALUES ('p', 'e0', 't', make.id, 'att', 'processing');
	END IF;
	IF ended = 'accept' AND base = 'payment' THEN
		INSERT INTO urlmode.payment (provider, reference, elicitation, amount, currency, matches, late)
		VALUES ('p', 'first', make.id, 100, 'EUR', true, false);
	END IF;
	-- The last value that may have a problem, or may not be checked.
	IF operation LIKE 'last_check %' THEN
		UPDATE urlmode.elicitation e SET failed_attempts = CASE operation WHEN 'last_check problem' THEN 4 ELSE 0 END
		WHERE e.id = make.id AND e.kind = 'input' AND e.status = 'processing';
		UPDATE urlmode.form f SET checks = CASE operation WHEN 'last_check problem' THEN 1 ELSE 10 END,
			check_taken = CASE operation WHEN 'last_check problem' THEN 1 ELSE 10 END
		WHERE f.elicitation = make.id AND f.check_until IS NOT NULL;
	END IF;
	IF operation LIKE '% unopened' THEN
		UPDATE urlmode.elicitation e SET opened_at = NULL WHERE e.id = make.id AND e.status = 'processing';
	END IF;
	IF operation LIKE '%check due' THEN
		UPDATE urlmode.form f SET check_until = now() WHERE f.elicitation = make.id AND f.check_until IS NOT NULL;
	END IF;
END
$$;

-- The row as a reader sees it: after, kept, more.
CREATE FUNCTION pg_temp.show(id uuid, OUT after text, OUT kept text, OUT more text)
LANGUAGE sql AS $$
	SELECT e.status || coalesce(':' || e.action, '') || CASE WHEN e.reason <> '' THEN ',' || e.reason ELSE '' END,
		concat(CASE WHEN e.verifier IS NOT NULL THEN 'v' END, CASE WHEN f.definition IS NOT NULL THEN 'f' END,
			CASE WHEN f.problem IS NOT NULL THEN 'p' END, CASE WHEN f.typed IS NOT NULL THEN 't' END,
			CASE WHEN e.result IS NOT NULL THEN 'r' END),
		concat_ws(' ', CASE WHEN e.failed_attempts > 0 THEN 'attempt' END, CASE WHEN c.rechecks > 0 THEN 'recheck' END,
			CASE WHEN e.refunds > 0 THEN 'refund' END,
			CASE WHEN EXISTS (SELECT FROM urlmode.payment p WHERE p.elicitation = e.id AND p.late) THEN 'late'
				WHEN EXISTS (SELECT FROM urlmode.payment p WHERE p.elicitation = e.id AND p.reference <> 'first') THEN 'payment' END,
			CASE WHEN EXISTS (SELECT FROM urlmode.purge_queue q WHERE e.id = ANY (q.ids)) THEN 'queued' END,
			CASE WHEN e.is_final THEN 'final' END, CASE WHEN e.claimed_at IS NOT NULL THEN 'claimed' END,
			'cut_' || e.completed_from, CASE WHEN f.check_until IS NOT NULL THEN 'checking' END,
			CASE WHEN f.unchecked THEN 'unchecked' END, 'by_' || f.decided_by)
	FROM urlmode.elicitation e LEFT JOIN urlmode.form f ON f.elicitation = e.id LEFT JOIN urlmode.recheck c ON c.elicitation = e.id
	WHERE e.id = show.id
$$;

-- Does it, and returns what the function says.
CREATE FUNCTION pg_temp.do(id uuid, kind text, operation text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	base CONSTANT text := split_part(kind, '+', 1);
	word CONSTANT text := split_part(operation, ' ', 1);
	how CONSTANT text := split_part(operation, ' ', 2);
	owner CONSTANT bytea := '\x000102030405060708090a0b0c0d0e0f';
	said text;
BEGIN
	CASE
	WHEN word = 'open' THEN
		SELECT o.outcome INTO said FROM urlmode.open(ARRAY[id], ARRAY[owner], ARRAY['p'], ARRAY[owner], ARRAY['u'], ARRAY[0::bigint]) o;
	WHEN word = 'open_form' THEN
		SELECT o.outcome INTO said FROM urlmode.open_form(ARRAY[id], ARRAY['p'], ARRAY[base], ARRAY[owner], ARRAY['u'], ARRAY[true]) o;
	WHEN word = 'return' THEN
		SELECT c.outcome INTO said FROM urlmode.complete(ARRAY[id], ARRAY[owner], ARRAY['p'], ARRAY[how], ARRAY[''],
			ARRAY['\x01'::bytea], ARRAY['u'], ARRAY['\x05'::bytea]) c;
	WHEN word = 'answer' THEN
		SELECT a.outcome INTO said FROM urlmode.answer_form(ARRAY[id], ARRAY[owner], ARRAY['p'], ARRAY[base], ARRAY[owner],
			ARRAY['u'], ARRAY[true], ARRAY[how], ARRAY[''], ARRAY['\x01'::bytea], ARRAY['\x05'::bytea], ARRAY['\x04'::bytea]) a;
	WHEN word IN ('check', 'last_check') THEN
		IF how = 'due' THEN
			PERFORM urlmode.end_due_checks(ARRAY[id]);
		ELSE
			said := urlmode.end_check(id, owner, CASE WHEN word = 'check' OR how = 'problem' THEN 1 ELSE 10 END,
				CASE how WHEN 'problem' THEN '\x03'::bytea END, how = 'failed', '\x05');
		END IF;
	WHEN word = 'settle' THEN
		said := urlmode.settle(id, owner, how, CASE how WHEN 'cancel' THEN 'stopped' ELSE '' END, '\x01', 100, 'EUR', 'ref');
	WHEN word = 'expire' THEN
		SELECT count(*) INTO said FROM urlmode.expire(ARRAY[id], ARRAY[owner]);
	WHEN word = 'expire_forms' THEN
		said := urlmode.expire_forms();
	WHEN word = 'abandon' THEN
		SELECT a.outcome INTO said FROM urlmode.abandon(ARRAY[id], ARRAY[owner], ARRAY[how], ARRAY['aborted']) a;
	WHEN word IN ('supersede', 'create') THEN
		SELECT c.outcome INTO said FROM urlmode.create_elicitation(ids => ARRAY[gen_random_uuid()], providers => ARRAY['p'],
			kinds => ARRAY['oauth'], subjects => ARRAY['u'], sessions => ARRAY[''], bindings => ARRAY[owner], requesters => ARRAY['r'],
			target_urls => ARRAY['https://x'], expected => ARRAY[NULL::jsonb], verifiers => ARRAY[NULL::bytea], ttls_ms => ARRAY[1000::bigint],
			exclusive => ARRAY[word = 'supersede']) c;
	WHEN word = 'make_room' THEN
		said := urlmode.make_room(owner);
	ELSE
		SELECT r.outcome INTO said FROM urlmode.record_events(ids => ARRAY[id], providers => ARRAY['p'], identities => ARRAY['e1'],
			types => ARRAY['t'], effects => ARRAY[word],
			amounts => ARRAY[CASE how WHEN 'right' THEN 100 WHEN 'wrong' THEN 99 END::bigint],
			currencies => ARRAY[CASE WHEN how IN ('right', 'wrong') THEN 'EUR' END],
			refs => ARRAY[CASE word WHEN 'paid' THEN 'ref' WHEN 'attempt_failed' THEN 'att' WHEN 'processing' THEN 'att'
				WHEN 'refunded' THEN 'first' WHEN 'refund_reversed' THEN 'first' ELSE '' END],
			results => ARRAY['\x01'::bytea], outcomes => ARRAY['\x05'::bytea]) r;
	END CASE;
	RETURN said;
END
$$;

DO $do$
DECLARE
	one record;
	id CONSTANT uuid := '00000000-0000-4000-8000-000000000001';
	said text;
	was record;
	now_is record;
	told text;
BEGIN
	PERFORM set_config('states.id', id::text, true);
	FOR one IN
		SELECT k.kind, s.state, o.operation
		FROM unnest(ARRAY['oauth', 'payment', 'signature', 'input', 'input+verify', 'approval']) AS k (kind)
		CROSS JOIN unnest(ARRAY['pending', 'opened', 'processing', 'accept', 'decline', 'cancel',
			'pending/over', 'opened/over', 'processing/over']) AS s (state)
		CROSS JOIN unnest(ARRAY['open', 'open_form', 'return accept', 'return decline', 'return cancel', 'answer accept', 'answer decline',
			'check good', 'check problem', 'check failed', 'check due', 'last_check problem', 'last_check failed', 'last_check due',
			'paid right', 'paid wrong', 'paid unknown', 'accepted', 'processing', 'attempt_failed', 'attempt_failed unopened', 'failed', 'cancelled', 'expired',
			'refunded', 'refund_reversed', 'recheck', 'ignore', 'other_mode', 'other_account',
			'settle accept', 'settle decline', 'settle cancel', 'expire', 'expire_forms', 'abandon cancel', 'abandon decline', 'supersede', 'make_room', 'create'
		]) AS o (operation)
	LOOP
		BEGIN
			PERFORM pg_temp.make(id, one.kind, one.state, one.operation);
			SELECT * INTO was FROM pg_temp.show(id);
			PERFORM set_config('states.told', '', true);
			said := coalesce(pg_temp.do(id, one.kind, one.operation), '');
			SELECT * INTO now_is FROM pg_temp.show(id);
			told := current_setting('states.told');
			RAISE EXCEPTION USING ERRCODE = 'UDONE';
		EXCEPTION WHEN SQLSTATE 'UDONE' THEN
			INSERT INTO tried VALUES (one.kind, one.state, one.operation, said, now_is.after, now_is.kept, now_is.more, told, was = now_is AND told = '');
		END;
	END LOOP;
END
$do$;

SELECT operation, string_agg(before, ' ' ORDER BY before COLLATE "C") AS before, kinds, outcome, after, kept, more, told
FROM (
	SELECT operation, before, outcome, after, kept, more, told, string_agg(kind, ' ' ORDER BY kind COLLATE "C") AS kinds
	FROM tried WHERE NOT is_same GROUP BY operation, before, outcome, after, kept, more, told
) x
GROUP BY operation, kinds, outcome, after, kept, more, told
ORDER BY operation COLLATE "C", kinds COLLATE "C", min(before) COLLATE "C", after COLLATE "C", kept COLLATE "C", more COLLATE "C";

-- What changes nothing, by what the function says.
SELECT operation, outcome, count(*) AS cases, string_agg(DISTINCT kind, ' ' ORDER BY kind) AS kinds
FROM tried WHERE is_same GROUP BY operation, outcome ORDER BY operation COLLATE "C", outcome COLLATE "C";

SELECT count(*) AS cases, count(*) FILTER (WHERE NOT is_same) AS changing FROM tried;

-- The table says the same. The operations that have another name there, or several:
CREATE TEMP TABLE other_names (operation text, tried text);
INSERT INTO other_names VALUES ('answer to check', 'answer accept'), ('check last problem', 'last_check problem'), ('check last failed', 'last_check failed'),
	('check last failed', 'last_check due'), ('check failed', 'check due'), ('attempt', 'processing'), ('no attempt', 'attempt_failed'),
	('no attempt unopened', 'attempt_failed unopened'), ('paid', 'paid right'), ('make room', 'make_room'),
	('expire', 'expire_forms');
-- What has moved, or stays in a status that it was told anew.
CREATE TEMP TABLE moved AS
SELECT DISTINCT operation, split_part(kind, '+', 1) AS kind, split_part(before, '/', 1) AS before, before LIKE '%/over' AS is_over,
	split_part(split_part(after, ',', 1), ':', 1) AS status, split_part(split_part(after, ',', 1), ':', 2) AS action, split_part(after, ',', 2) AS reason,
	concat_ws(' ', substring(more FROM 'final'), substring(more FROM 'claimed'), substring(more FROM 'cut')) AS also
FROM tried WHERE before NOT IN ('accept', 'decline', 'cancel')
	AND (split_part(before, '/', 1) <> split_part(split_part(after, ',', 1), ':', 1) OR NOT is_same AND outcome = after);
CREATE TEMP TABLE rows AS
SELECT t.operation, k.kind, s.before, o.is_over, t.status, coalesce(t.action, '') AS action, t.reason, t.also
FROM urlmode.transitions() t, unnest(string_to_array(t.kinds, ' ')) AS k (kind), unnest(string_to_array(t.statuses, ' ')) AS s (before),
	(VALUES (false), (true)) AS o (is_over)
WHERE t.is_over IS NULL OR t.is_over = o.is_over;
CREATE TEMP TABLE same AS
SELECT r AS of_table, m AS of_functions
FROM rows r JOIN moved m ON (r.kind, r.before, r.is_over, r.status, r.action, r.also) = (m.kind, m.before, m.is_over, m.status, m.action, m.also)
	AND (r.reason = m.reason OR r.reason IS NULL) -- the caller says why
	AND (r.operation = m.operation OR (r.operation, m.operation) IN (SELECT o.operation, o.tried FROM other_names o));

-- What the functions do, and is not in the table.
SELECT m.* FROM moved m WHERE m NOT IN (SELECT of_functions FROM same) ORDER BY m;
-- What is in the table, and no function does.
SELECT r.* FROM rows r WHERE r NOT IN (SELECT of_table FROM same) ORDER BY r;
SELECT count(DISTINCT of_table) AS rows, count(DISTINCT of_functions) AS moves FROM same;
ROLLBACK;
