-- How long things are kept.
--
-- Results and verifiers: for a day after the completion, or less once an MCP
-- server has read them. Those of payments and signatures are kept until a call has
-- claimed them (the last end of its claim), or all of the payment went back, and for
-- thirty days without either. The result of a call is kept until its answer was
-- written, and for thirty days without that.
--
-- Elicitations, with their events: for ninety days after they have become purgeable
-- (purge). An elicitation is purgeable when nothing can happen to it any more: its
-- expiry and grace have passed, and no call can be given it. One with a payment that
-- no call has claimed is never purgeable. The row in urlmode.payment stays for ever,
-- without its result: a reference pays for one elicitation, and an id that was paid
-- for is not created again.

-- STABLE, as the functions that it calls: otherwise PostgreSQL would not inline it.
CREATE OR REPLACE FUNCTION urlmode.awaits_claim(e urlmode.elicitation) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT e.kind <> 'oauth' AND (e.action = 'accept' OR e.kind = 'approval') AND e.claimed_at IS NULL
		AND (e.kind <> 'input' OR e.completed_at > now() - interval '1 day')
$$;
COMMENT ON FUNCTION urlmode.awaits_claim IS
	'Internal. Whether a later call may be given this accept, or this decision, so that its result '
	'is kept until it is claimed. An authorization code is too short-lived for that, and what a '
	'user has typed is kept for a day.';

-- A function of its own, so that read only reads: that takes half the time,
-- and somebody waits for the answer.
CREATE OR REPLACE FUNCTION urlmode.mark_read(ids uuid[], bindings bytea[], keep_ms bigint DEFAULT 600000)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	read uuid[];
BEGIN
	-- Two statements, so that it locks elicitations first.
	SELECT array_agg(e.id) INTO read
	FROM unnest(ids, bindings) AS a (id, binding)
	-- In a new database, = would have PostgreSQL read all rows of the owner.
	JOIN urlmode.elicitation e ON e.id = a.id AND e.binding IS NOT DISTINCT FROM a.binding
	WHERE e.status = 'completed' AND e.kind <> 'payment' AND NOT urlmode.awaits_claim(e)
		AND (e.result IS NOT NULL OR e.verifier IS NOT NULL);
	IF read IS NOT NULL THEN
		-- If a crash loses this entry, the one of the completion is still there.
		PERFORM set_config('synchronous_commit', 'off', true);
		INSERT INTO urlmode.purge_queue (ids, due_at) VALUES (read, now() + keep_ms * interval '1 millisecond');
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.mark_read IS
	'Marks these results and verifiers as read: they are purged after keep_ms milliseconds, ten '
	'minutes by default. It ignores rows that do not exist, have another binding or are not '
	'completed, and also payments and signatures, whose results are kept until they are claimed.';

CREATE OR REPLACE FUNCTION urlmode.forget_kept(id uuid, reference text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM urlmode.kept_result k WHERE k.elicitation = forget_kept.id AND k.reference = forget_kept.reference;
	IF forget_kept.reference = '' THEN
		PERFORM urlmode.end_claim(forget_kept.id, '', 0);
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.forget_kept IS
	'Internal. Deletes the result that a call has returned. That is also the end of a claim that is '
	'of no payment.';

CREATE OR REPLACE FUNCTION urlmode.purge_results(keep_unclaimed_ms bigint DEFAULT 2592000000) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	unclaimed_since CONSTANT timestamptz := now() - keep_unclaimed_ms * interval '1 millisecond';
	due uuid[];
	taken bigint;
	old bigint;
	unconfirmed bigint;
	found bigint;
BEGIN
	-- A caller must not be able to delete a payment that has just been made.
	IF keep_unclaimed_ms IS NULL OR keep_unclaimed_ms < 604800000 THEN
		RAISE invalid_parameter_value USING MESSAGE = 'keep_unclaimed_ms is less than seven days (604800000)';
	END IF;
	-- By themselves: they lock elicitations in the order of their ids.
	PERFORM urlmode.end_due_checks();
	found := urlmode.expire_forms();
	IF found > 0 THEN
		RETURN found;
	END IF;
	found := urlmode.match_unmatched();
	IF found > 0 THEN
		RETURN found;
	END IF;
	-- Before entries are deleted, which it counts.
	found := urlmode.count_hours();
	IF found > 0 THEN
		RETURN found;
	END IF;
	WITH entries AS (
		DELETE FROM urlmode.purge_queue q
		WHERE q.ctid = ANY (ARRAY(
			-- Not what another purge still counts: an entry is due 24 hours after what it has ended.
			SELECT x.ctid FROM urlmode.purge_queue x
			WHERE x.due_at <= least(now(), (SELECT urlmode.counted_until()) + interval '24 hours')
			ORDER BY x.due_at LIMIT 1000 FOR UPDATE SKIP LOCKED
		))
		RETURNING q.ids
	)
	SELECT count(*), (SELECT array_agg(i.id) FROM entries n, unnest(n.ids) AS i (id))
	INTO taken, due FROM entries;
	UPDATE urlmode.elicitation e SET result = NULL, verifier = NULL
	WHERE e.id = ANY (due) AND e.status = 'completed' AND (e.result IS NOT NULL OR e.verifier IS NOT NULL)
		AND NOT (e.kind <> 'payment' AND urlmode.awaits_claim(e) AND e.completed_at > unclaimed_since);
	-- Those are looked at again a day later.
	INSERT INTO urlmode.purge_queue (ids)
	SELECT array_agg(e.id) FROM urlmode.elicitation e
	WHERE e.id = ANY (due) AND e.result IS NOT NULL
	HAVING count(*) > 0;
	UPDATE urlmode.payment p SET result = NULL
	WHERE p.elicitation = ANY (due) AND (p.claimed_at IS NOT NULL OR p.refunded_at IS NOT NULL)
		AND p.result IS NOT NULL;

	-- A transaction that claims a payment locks its elicitation before the payment. Rows that
	-- are locked are skipped, so that neither waits for the other.
	WITH forgotten AS (
		UPDATE urlmode.payment p SET result = NULL
		WHERE p.ctid = ANY (ARRAY(
			SELECT x.ctid FROM urlmode.payment x
			JOIN urlmode.elicitation e ON e.id = x.elicitation
			WHERE x.claimed_at IS NULL AND x.refunded_at IS NULL AND x.result IS NOT NULL
				AND x.proven_at <= unclaimed_since
			LIMIT 1000 FOR UPDATE SKIP LOCKED
		))
		RETURNING p.elicitation
	), rows AS (
		UPDATE urlmode.elicitation e SET result = NULL
		WHERE e.id IN (SELECT f.elicitation FROM forgotten f) AND e.kind = 'payment' AND e.result IS NOT NULL
	)
	SELECT count(*) INTO old FROM forgotten;

	-- Of a payment the entry stays (urlmode.undelivered_of): it is nobody's until somebody has
	-- delivered or refunded it, and the next call does the work again.
	SELECT count(urlmode.forget_kept(f.elicitation, f.reference)) INTO unconfirmed
	FROM (
		SELECT k.elicitation, k.reference FROM urlmode.kept_result k
		JOIN urlmode.elicitation e ON e.id = k.elicitation
		WHERE k.kept_at <= unclaimed_since
		LIMIT 1000 FOR UPDATE OF e SKIP LOCKED
	) f;
	RETURN taken + old + unconfirmed;
END
$$;
COMMENT ON FUNCTION urlmode.purge_results IS
	'Purges the results and verifiers that are due, and the results of payments and signatures '
	'that nobody has claimed for keep_unclaimed_ms milliseconds, thirty days by default and seven '
	'at least; references, amounts and currencies stay. Of the claims that were fulfilled before '
	'that time and never confirmed, what the call returned is purged: those of payments stay in '
	'urlmode.undelivered_of, the others end. Takes at most 1000 of each and returns how many it took: call '
	'it again until it returns 0. Before that, it wipes values that were not checked in time, ends '
	'forms that have expired (016_form), records the events of unknown elicitations that are '
	'known since (015_unknown_event), and counts what has ended (049_counts). Every MCP server calls '
	'it now and then.';

CREATE OR REPLACE FUNCTION urlmode.is_purgeable(e urlmode.elicitation, since timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	-- A payment that has ended may be paid late for as long as if it were processing.
	IF greatest(e.completed_at, e.claimed_at, urlmode.closes_at(e.kind,
		CASE e.kind WHEN 'payment' THEN 'processing' ELSE e.status END, e.expires_at, e.grace)) > since
	THEN
		RETURN false;
	END IF;
	-- Also of another kind, money may have been paid for it.
	IF EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.elicitation = e.id
			AND (p.claimed_at IS NULL AND p.refunded_at IS NULL OR greatest(p.claimed_at, p.refunded_at) > since)
	) THEN
		RETURN false;
	END IF;
	RETURN CASE CASE e.kind WHEN 'approval' THEN 'signature' ELSE e.kind END
		-- The next call is given it to ask its provider, for thirty days (urlmode.resume).
		WHEN 'payment' THEN NOT urlmode.awaits_recheck(e.id)
			OR coalesce(e.completed_at, urlmode.closes_at(e.kind, e.status, e.expires_at, e.grace)) <= now() - interval '30 days'
		-- The next call for the same documents or the same approval gets the outcome
		-- (urlmode.resume).
		WHEN 'signature' THEN e.action IS DISTINCT FROM 'accept' OR e.claimed_at IS NOT NULL
			OR (coalesce(e.item, e.resume_key) IS NULL AND NOT urlmode.is_leased(e.id, ''))
		ELSE true
	END;
END
$$;
COMMENT ON FUNCTION urlmode.is_purgeable IS
	'Internal. Whether nothing can have happened to an elicitation since then, and no call can be '
	'given it: its completion, its expiry and its grace were before, and what was paid, or signed '
	'for an item or a resume key, was claimed before (or, if it was paid, refunded).';

CREATE OR REPLACE FUNCTION urlmode.purge_kind(kind text, since timestamptz, batch integer) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	pass urlmode.purge_pass;
	ids uuid[];
	taken bigint;
BEGIN
	SELECT * INTO pass FROM urlmode.purge_pass p WHERE p.kind = purge_kind.kind FOR UPDATE SKIP LOCKED;
	IF NOT FOUND THEN
		RETURN 0;
	END IF;
	LOOP
		IF pass.expires_at = '-infinity' THEN
			EXIT WHEN purge_kind.since < pass.since + interval '1 hour';
			pass.since := purge_kind.since;
		END IF;
		ids := ARRAY(
			SELECT e.id FROM urlmode.elicitation e
			WHERE e.kind = purge_kind.kind AND e.expires_at <= purge_kind.since
				AND (e.expires_at, e.id) > (pass.expires_at, pass.id)
				AND urlmode.is_purgeable(e, purge_kind.since)
			ORDER BY e.expires_at, e.id LIMIT batch FOR UPDATE SKIP LOCKED
		);
		-- Fewer than a batch: those were the last ones.
		pass.expires_at := coalesce(
			(SELECT e.expires_at FROM urlmode.elicitation e WHERE e.id = ids[batch]), '-infinity');
		pass.id := coalesce(ids[batch], pass.id);
		EXIT WHEN cardinality(ids) > 0;
	END LOOP;
	UPDATE urlmode.purge_pass p SET since = pass.since, expires_at = pass.expires_at, id = pass.id
	WHERE p.kind = purge_kind.kind;

	-- A transaction that proves a payment locks the row first. The rows are locked, so none is added.
	DELETE FROM urlmode.elicitation e WHERE e.id = ANY (ids) AND urlmode.is_purgeable(e, purge_kind.since);
	GET DIAGNOSTICS taken = ROW_COUNT;
	RETURN taken;
END
$$;
COMMENT ON FUNCTION urlmode.purge_kind IS
	'Internal. Deletes at most `batch` elicitations of a kind that have been purgeable since then, '
	'with their events, and returns how many. Rows that are locked are left for the next time; so '
	'are all while another transaction purges this kind. When it has been through all, it begins '
	'anew an hour later at the earliest.';

CREATE OR REPLACE FUNCTION urlmode.purge_stored(batch integer) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	taken bigint;
	theirs bigint;
BEGIN
	DELETE FROM urlmode.unknown_event d WHERE d.ctid = ANY (ARRAY(
		SELECT x.ctid FROM urlmode.unknown_event x WHERE x.expires_at <= now()
		ORDER BY x.expires_at LIMIT batch FOR UPDATE SKIP LOCKED
	));
	GET DIAGNOSTICS taken = ROW_COUNT;
	taken := taken + urlmode.purge_unreadable(batch) + urlmode.purge_ledger(batch) + urlmode.purge_entitlements(batch) + urlmode.purge_names(batch)
		+ urlmode.purge_tasks(batch);
	IF to_regproc('urlmode_frameworks.purge') IS NOT NULL THEN
		EXECUTE 'SELECT urlmode_frameworks.purge($1)' INTO theirs USING batch;
		taken := taken + theirs;
	END IF;
	RETURN taken;
END
$$;
COMMENT ON FUNCTION urlmode.purge_stored IS
	'Internal. Deletes events of unknown elicitations that have expired (015), unreadable '
	'deliveries (024), old entries of the ledger (031), subscriptions that are nobody''s or long '
	'over (032), other names of unknown payments (038), tasks that are over (044), and what MCP frameworks stored and has '
	'expired, if they have their schema (../frameworks); at most `batch` rows of each table. Returns how many.';

CREATE OR REPLACE FUNCTION urlmode.purge(keep_ms bigint DEFAULT 7776000000, kind text DEFAULT NULL, batch integer DEFAULT 1000)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	unclaimed_ms CONSTANT bigint := 3153600000000;
	since timestamptz;
	one text;
	taken bigint := 0;
BEGIN
	IF keep_ms < 604800000 THEN
		RAISE invalid_parameter_value USING MESSAGE = 'keep_ms is less than seven days (604800000)';
	ELSIF keep_ms IS NULL OR batch IS NULL OR batch NOT BETWEEN 1 AND 100000 THEN
		RAISE invalid_parameter_value USING MESSAGE = 'keep_ms and batch are required, and batch is from 1 to 100000';
	ELSIF purge.kind NOT IN ('oauth', 'payment', 'signature', 'input', 'approval', 'result', 'stored') THEN
		RAISE invalid_parameter_value USING MESSAGE = 'kind is oauth, payment, signature, input, approval, result or stored';
	END IF;
	-- Not in milliseconds: an interval has 2^63 microseconds at most.
	since := now() - least(keep_ms / 1000, 31536000000) * interval '1 second';
	FOREACH one IN ARRAY ARRAY['result', 'stored', 'oauth', 'payment', 'signature', 'input', 'approval'] LOOP
		CONTINUE WHEN one <> purge.kind;
		taken := taken + CASE one
			-- How long the results of unclaimed payments are kept is for the MCP server to say.
			WHEN 'result' THEN urlmode.purge_results(unclaimed_ms)
			WHEN 'stored' THEN urlmode.purge_stored(batch)
			ELSE urlmode.purge_kind(one, since, batch)
		END;
	END LOOP;
	RETURN taken;
END
$$;
COMMENT ON FUNCTION urlmode.purge IS
	'Deletes what is purgeable, in batches, and returns how much: call it again until it returns '
	'0. kind: oauth, payment, signature, input, approval (elicitations that have been purgeable '
	'for keep_ms milliseconds, ninety days by default and seven at least, with their events), '
	'result (those that are due, as purge_results does, but none of unclaimed payments), stored '
	'(what adapters stored and what has expired, whatever keep_ms is); NULL: all of them. Takes at '
	'most `batch` elicitations of each kind, and stored rows of each table.';

GRANT EXECUTE ON FUNCTION urlmode.mark_read, urlmode.purge_results TO :"server";
GRANT EXECUTE ON FUNCTION urlmode.purge TO :"server", :"operator";
