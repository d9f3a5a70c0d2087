-- How long results and verifiers are kept: for a day after the completion, or
-- less once an MCP server has read them. What was paid is kept until a call
-- has claimed it, or all of it went back: only that starts the clock of a
-- payment's result, and without it the result is kept for thirty days.
--
-- What has to be purged stands in a queue, one entry for each batch, and not
-- in a column of the elicitation: such a column would need an index, and every
-- completion would have to change it.

SET LOCAL ROLE urlmode_owner;

CREATE TABLE urlmode.purge_queue (
	ids    uuid[]      NOT NULL,
	due_at timestamptz NOT NULL DEFAULT now() + interval '1 day'
);
CREATE INDEX purge_queue_due_at ON urlmode.purge_queue (due_at);
COMMENT ON TABLE urlmode.purge_queue IS
	'Elicitations whose result and verifier will be purged. complete, settle and record_events (also for what went back) add an entry for a day later, mark_read and claim one for sooner; purge_results takes them.';
COMMENT ON INDEX urlmode.purge_queue_due_at IS 'Finds the entries that are due.';
COMMENT ON COLUMN urlmode.purge_queue.ids IS 'Elicitations that were completed, or read, in one batch.';
COMMENT ON COLUMN urlmode.purge_queue.due_at IS 'When they may be purged.';

-- A function of its own, so that read only reads: that takes half the time,
-- and somebody waits for the answer.
CREATE FUNCTION urlmode.mark_read(ids uuid[], bindings bytea[], keep_ms bigint DEFAULT 600000)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	-- If a crash loses this entry, the one of the completion is still there.
	PERFORM set_config('synchronous_commit', 'off', true);
	INSERT INTO urlmode.purge_queue (ids, due_at)
	SELECT array_agg(e.id), now() + keep_ms * interval '1 millisecond'
	FROM unnest(ids, bindings) AS a (id, binding)
	JOIN urlmode.elicitation e ON e.id = a.id AND e.binding = a.binding
	WHERE e.status = 'completed' AND e.kind <> 'payment'
		AND (e.result IS NOT NULL OR e.verifier IS NOT NULL)
	HAVING count(*) > 0;
END
$$;
COMMENT ON FUNCTION urlmode.mark_read(uuid[], bytea[], bigint) IS
	'Says that these results and verifiers were read: they are purged after keep_ms milliseconds, ten minutes by default. Rows that do not exist, have another binding or are not completed are left out, and so are payments, whose results are kept until they are claimed.';

CREATE FUNCTION urlmode.purge_results(keep_unclaimed_ms bigint DEFAULT 2592000000) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	due uuid[];
	taken bigint;
	old bigint;
BEGIN
	WITH entries AS (
		DELETE FROM urlmode.purge_queue q
		WHERE q.ctid IN (
			SELECT x.ctid FROM urlmode.purge_queue x WHERE x.due_at <= now()
			ORDER BY x.due_at LIMIT 1000 FOR UPDATE SKIP LOCKED
		)
		RETURNING q.ids
	)
	SELECT count(*), (SELECT array_agg(i.id) FROM entries n, unnest(n.ids) AS i (id))
	INTO taken, due FROM entries;
	UPDATE urlmode.elicitation e SET result = NULL, verifier = NULL
	WHERE e.id = ANY (due) AND (e.result IS NOT NULL OR e.verifier IS NOT NULL);
	UPDATE urlmode.payment p SET result = NULL
	WHERE p.elicitation = ANY (due) AND (p.claimed_at IS NOT NULL OR p.refunded_at IS NOT NULL)
		AND p.result IS NOT NULL;

	-- Whoever claims a payment locks its elicitation before the payment. Rows that
	-- are locked are skipped, so that neither waits for the other.
	WITH forgotten AS (
		UPDATE urlmode.payment p SET result = NULL
		WHERE p.ctid IN (
			SELECT x.ctid FROM urlmode.payment x
			JOIN urlmode.elicitation e ON e.id = x.elicitation
			WHERE x.claimed_at IS NULL AND x.refunded_at IS NULL AND x.result IS NOT NULL
				AND x.proven_at <= now() - keep_unclaimed_ms * interval '1 millisecond'
			LIMIT 1000 FOR UPDATE SKIP LOCKED
		)
		RETURNING p.elicitation
	), rows AS (
		UPDATE urlmode.elicitation e SET result = NULL
		WHERE e.id IN (SELECT f.elicitation FROM forgotten f) AND e.result IS NOT NULL
	)
	SELECT count(*) INTO old FROM forgotten;
	RETURN taken + old;
END
$$;
COMMENT ON FUNCTION urlmode.purge_results(bigint) IS
	'Purges the results and verifiers that are due, and the results of payments that nobody has claimed for keep_unclaimed_ms milliseconds, thirty days by default; their references, amounts and currencies stay. Takes at most 1000 of each and returns how many it took: call it again until it returns 0. Every MCP server calls it now and then.';

REVOKE ALL ON FUNCTION
	urlmode.mark_read(uuid[], bytea[], bigint),
	urlmode.purge_results(bigint)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	urlmode.mark_read(uuid[], bytea[], bigint),
	urlmode.purge_results(bigint)
TO urlmode_server;
