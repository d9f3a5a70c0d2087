-- A call that its MCP client holds as a task (io.modelcontextprotocol/tasks) instead of waiting for its
-- answer. What the client of another call sends with its retry is kept here: how the call goes on,
-- and what was answered. An instance that is asked for the task, and finds that its elicitation has
-- ended, runs the tool once more, under a lease, and keeps what it returns. That is delivered when
-- its client has read it: confirm_task confirms the claims of which it was made. Until then they are
-- fulfilled, so that the next call for the same is given the result, and undelivered_of lists them.
-- Where a result is not kept for the next call, the task alone has it, and end_task confirms its claim.
--
-- A task moves no elicitation: its end is that of one call.

CREATE OR REPLACE FUNCTION urlmode.max_tasks() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 8
$$;
COMMENT ON FUNCTION urlmode.max_tasks IS
	'Internal. How many tasks of one elicitation are kept.';

CREATE OR REPLACE FUNCTION urlmode.task_ends_at(t urlmode.task, e urlmode.elicitation) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
	SELECT greatest(t.expires_at, CASE
		WHEN t.state = 'open' THEN interval '1 day' + CASE WHEN e.status = 'completed'
			THEN e.completed_at ELSE urlmode.closes_at(e.kind, e.status, e.expires_at, e.grace) END
		-- It has not moved since it has ended.
		WHEN t.state = 'ended' AND t.read_at IS NULL THEN t.updated_at + interval '30 days'
	END)
$$;
COMMENT ON FUNCTION urlmode.task_ends_at IS
	'Internal. When a task is over: a day after its elicitation, to which the browser may have been given more '
	'time since it was created; and thirty days after its end, until its result was read.';

CREATE OR REPLACE FUNCTION urlmode.create_task(id uuid, binding bytea, elicitation uuid, call bytea)
RETURNS TABLE (created_at timestamptz, expires_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.elicitation;
BEGIN
	SELECT * INTO row FROM urlmode.elicitation e
	WHERE e.id = create_task.elicitation AND e.binding = create_task.binding FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	INSERT INTO urlmode.task (id, binding, elicitation, call, expires_at)
	VALUES ($1, $2, $3, $4, greatest(now(), urlmode.closes_at(row.kind, row.status, row.expires_at, row.grace)) + interval '1 day');
	DELETE FROM urlmode.task t
	WHERE t.elicitation = row.id AND t.id IN (
		SELECT o.id FROM urlmode.task o WHERE o.elicitation = row.id AND o.id <> create_task.id
		ORDER BY o.created_at DESC OFFSET urlmode.max_tasks() - 1
	);
	RETURN QUERY SELECT t.created_at, urlmode.task_ends_at(t, row) FROM urlmode.task t WHERE t.id = create_task.id;
END
$$;
COMMENT ON FUNCTION urlmode.create_task IS
	'Keeps a call as a task of this elicitation. The oldest ones that are too many are deleted. No '
	'row: the owner has no such elicitation.';

CREATE OR REPLACE FUNCTION urlmode.withheld_of(t urlmode.task) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT CASE WHEN bool_or(l.fence IS NOT NULL OR EXISTS (
		SELECT FROM urlmode.payment p WHERE p.elicitation = c.elicitation AND p.claim_fence = c.fence
	)) THEN 'refunded' ELSE 'claimed' END
	FROM unnest(t.claimed, t.fences) AS c (elicitation, fence)
	LEFT JOIN urlmode.lease l ON l.elicitation = c.elicitation AND l.fence = c.fence
	WHERE t.state = 'ended' AND t.read_at IS NULL AND NOT urlmode.is_undelivered(l)
		AND NOT EXISTS (
			SELECT FROM urlmode.payment p
			WHERE p.elicitation = c.elicitation AND p.claim_fence = c.fence AND p.claim_end = 'delivered'
		)
		AND NOT EXISTS (
			SELECT FROM urlmode.elicitation e
			WHERE e.id = c.elicitation AND (e.claim_fence = c.fence
				-- Of no payment, and its result was purged for other calls alone (forget_kept).
				OR e.kind <> 'payment' AND e.claimed_at IS NOT NULL AND e.claim_fence IS NULL)
		)
	HAVING count(*) > 0
$$;
COMMENT ON FUNCTION urlmode.withheld_of IS
	'Internal. Why the client of a task is not given its unread result any more: refunded (all that was paid for it went back, or '
	'the operator has refunded it), or claimed (another call has done the work, or may). NULL: it is.';

CREATE OR REPLACE FUNCTION urlmode.read_task(id uuid, binding bytea)
RETURNS TABLE (
	elicitation uuid, call bytea, round integer, answered text[], answers bytea[], state text, result bytea,
	created_at timestamptz, updated_at timestamptz, expires_at timestamptz, status text, is_due boolean, is_leased boolean,
	is_unread boolean, withheld text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT t.elicitation, t.call::bytea, t.round, t.answered, t.answers, t.state, CASE WHEN w.reason IS NULL THEN t.result::bytea END,
		t.created_at, greatest(t.updated_at, e.completed_at),
		CASE WHEN t.state = 'ended' THEN greatest(t.expires_at, CASE WHEN t.read_at IS NULL THEN now() + interval '1 day' END)
			ELSE urlmode.task_ends_at(t, e) END,
		coalesce(s.status, ''),
		-- Also what waits for an answer of this server: the provider is asked, a value is checked.
		t.state = 'open' AND (e.id IS NULL OR s.status = 'completed' OR e.kind = 'input' AND s.status = 'processing'
			OR urlmode.awaits_recheck(e.id) OR urlmode.closes_at(e.kind, s.status, e.expires_at, e.grace) <= now()),
		coalesce(t.leased_until > now(), false), t.state = 'ended' AND t.read_at IS NULL AND w.reason IS NULL,
		w.reason
	FROM urlmode.task t
	CROSS JOIN LATERAL (SELECT urlmode.withheld_of(t) AS reason) w
	LEFT JOIN urlmode.elicitation e ON e.id = t.elicitation
	LEFT JOIN LATERAL urlmode.effective_status(e) AS s (status) ON e.id IS NOT NULL
	WHERE t.id = read_task.id AND t.binding = read_task.binding AND urlmode.task_ends_at(t, e) > now()
$$;
COMMENT ON FUNCTION urlmode.read_task IS
	'The task, if it is this owner''s. status: of its elicitation, empty where that is deleted. is_due: '
	'its tool has something to do now, for whoever begins it (begin_task). is_leased: somebody has. is_unread: it has a '
	'result that was never read; expires_at is then what it will be if it is read now. withheld: it has none any more, because '
	'what it was made of was refunded, or claimed by another call.';

CREATE OR REPLACE FUNCTION urlmode.answer_task_input(id uuid, binding bytea, round integer, key text, answer bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	UPDATE urlmode.task t
	SET answered = t.answered || $4, answers = t.answers || $5::urlmode.task_call::bytea, updated_at = now()
	WHERE t.id = $1 AND t.binding = $2 AND t.state = 'open' AND t.round = $3 AND $4 <> ALL (t.answered) AND cardinality(t.answered) < 32;
	RETURN FOUND;
END
$$;
COMMENT ON FUNCTION urlmode.answer_task_input IS
	'Keeps what the client has answered to a key of this round: true once. The caller knows that the '
	'key was asked. It is not asked again.';

CREATE OR REPLACE FUNCTION urlmode.begin_task(id uuid, binding bytea, lease_ms bigint, lease integer DEFAULT 0) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	begun integer;
BEGIN
	UPDATE urlmode.task t
	SET lease = t.lease + CASE begin_task.lease WHEN 0 THEN 1 ELSE 0 END,
		leased_until = now() + least(greatest(lease_ms, 1000), 3600000) * interval '1 millisecond'
	WHERE t.id = begin_task.id AND t.binding = begin_task.binding AND t.state = 'open'
		AND CASE begin_task.lease WHEN 0 THEN t.leased_until IS NULL OR t.leased_until <= now() ELSE t.lease = begin_task.lease END
	RETURNING t.lease INTO begun;
	RETURN coalesce(begun, 0);
END
$$;
COMMENT ON FUNCTION urlmode.begin_task IS
	'Begins the lease of an instance that runs the tool of a task, or makes that one longer, and '
	'returns its number. 0: another one has it, or the task is not open.';

CREATE OR REPLACE FUNCTION urlmode.continue_task(id uuid, binding bytea, lease integer, elicitation uuid DEFAULT NULL, call bytea DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	UPDATE urlmode.task t SET leased_until = NULL WHERE t.id = $1 AND t.binding = $2 AND t.lease = $3 AND t.state = 'open';
	IF NOT FOUND OR $5 IS NULL THEN
		RETURN FOUND;
	END IF;
	UPDATE urlmode.task t
	SET elicitation = e.id, call = $5, round = t.round + 1, answered = '{}', answers = '{}', updated_at = now(),
		expires_at = greatest(t.expires_at, now() + interval '1 day', urlmode.closes_at(e.kind, e.status, e.expires_at, e.grace) + interval '1 day')
	FROM urlmode.elicitation e
	WHERE t.id = $1 AND e.id = $4 AND e.binding = $2;
	RETURN FOUND;
END
$$;
COMMENT ON FUNCTION urlmode.continue_task IS
	'Ends the lease of an instance whose tool has not ended. With a call, it waits for this '
	'elicitation from then on, and asks its client for something else.';

CREATE OR REPLACE FUNCTION urlmode.end_task(
	id uuid, binding bytea, lease integer, result bytea, claimed uuid[] DEFAULT '{}', fences bigint[] DEFAULT '{}',
	keep_ms bigint DEFAULT 600000
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	-- As by confirm_task.
	PERFORM FROM urlmode.elicitation e WHERE e.id = ANY ($5) AND e.binding = $2 ORDER BY e.id FOR UPDATE;
	UPDATE urlmode.task t
	SET state = 'ended', result = $4, claimed = $5, fences = $6, leased_until = NULL, answered = '{}', answers = '{}', updated_at = now(),
		expires_at = greatest(t.expires_at, now() + interval '1 day')
	WHERE t.id = $1 AND t.binding = $2 AND t.lease = $3 AND t.state = 'open';
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	-- What was too large to be kept, the task alone has: no other call can be given it, or makes it again.
	PERFORM urlmode.confirm_claim(l.elicitation, $2, l.fence, keep_ms)
	FROM unnest($5, $6) AS c (elicitation, fence) JOIN urlmode.lease l ON l.elicitation = c.elicitation AND l.fence = c.fence
	WHERE NOT urlmode.has_kept(l.elicitation, l.reference);
	RETURN true;
END
$$;
COMMENT ON FUNCTION urlmode.end_task IS
	'Ends a task with what its call has returned, which is kept until it was read (confirm_task), and for thirty days '
	'without that. claimed, fences: of the claims that it was made of. Of those whose results are not kept, it is the last end '
	'(confirm_claim). False: another instance has its lease, or it was cancelled meanwhile.';

CREATE OR REPLACE FUNCTION urlmode.confirm_task(id uuid, binding bytea, keep_ms bigint DEFAULT 600000) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	this urlmode.task;
BEGIN
	SELECT * INTO this FROM urlmode.task t
	WHERE t.id = $1 AND t.binding = $2 AND t.state = 'ended' AND t.read_at IS NULL AND urlmode.withheld_of(t) IS NULL;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	-- They lock elicitations, which everybody locks in this order, and before their tasks.
	PERFORM urlmode.confirm_claim(c.elicitation, $2, c.fence, keep_ms)
	FROM (SELECT * FROM unnest(this.claimed, this.fences) AS u (elicitation, fence) ORDER BY u.elicitation) c;
	UPDATE urlmode.task t SET read_at = now(), expires_at = greatest(t.expires_at, now() + interval '1 day')
	WHERE t.id = $1 AND t.read_at IS NULL;
	RETURN FOUND;
END
$$;
COMMENT ON FUNCTION urlmode.confirm_task IS
	'The result of a task was written to its client: the claims that it was made of are delivered (confirm_claim), and it '
	'is kept for another day. True once. False: it was read before, has none or not any more, or the owner has no such task.';

CREATE OR REPLACE FUNCTION urlmode.cancel_task(id uuid, binding bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	UPDATE urlmode.task t SET state = 'cancelled', leased_until = NULL, answered = '{}', answers = '{}', updated_at = now()
	WHERE t.id = $1 AND t.binding = $2 AND t.state = 'open';
	RETURN FOUND OR EXISTS (SELECT FROM urlmode.task t WHERE t.id = $1 AND t.binding = $2);
END
$$;
COMMENT ON FUNCTION urlmode.cancel_task IS
	'Cancels a task that has not ended. Its elicitation goes on, and the next call is given the '
	'outcome. False: the owner has no such task.';

CREATE OR REPLACE FUNCTION urlmode.purge_tasks(batch integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	taken bigint;
BEGIN
	WITH due AS MATERIALIZED (
		SELECT t.id, urlmode.task_ends_at(t, e) AS ends_at
		FROM urlmode.task t LEFT JOIN urlmode.elicitation e ON e.id = t.elicitation
		WHERE t.expires_at <= now()
		ORDER BY t.expires_at LIMIT batch FOR UPDATE OF t SKIP LOCKED
	), later AS (
		UPDATE urlmode.task t SET expires_at = d.ends_at FROM due d WHERE t.id = d.id AND d.ends_at > now()
	), deleted AS (
		DELETE FROM urlmode.task t USING due d WHERE t.id = d.id AND d.ends_at <= now()
	)
	SELECT count(*) INTO taken FROM due;
	RETURN taken;
END
$$;
COMMENT ON FUNCTION urlmode.purge_tasks IS
	'Internal. Deletes tasks that are over. Returns how many it has looked at, at most `batch`.';

GRANT EXECUTE ON FUNCTION urlmode.create_task, urlmode.read_task, urlmode.answer_task_input, urlmode.begin_task, urlmode.continue_task,
	urlmode.end_task, urlmode.confirm_task, urlmode.cancel_task TO :"server";
