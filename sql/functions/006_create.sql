-- An MCP server creates elicitations, or resumes those that it created before.
--
-- The owner of an elicitation is its binding: a subject and its session. An
-- owner may have several elicitations at the same time. With `exclusive`, a
-- new one supersedes those that are open, but no payment or signature that was
-- opened. A later call for the same `item`, or with the same `resume_key` where
-- there is no item, finds the one that there is.
--
-- The functions take parallel arrays, of one dimension and from 1 on, and return one row
-- for each element, in the same order. They are in PL/pgSQL with generic plans for the
-- reason that 007_callback gives. Where a statement needs many of the arrays, it takes
-- elements by their number: PostgreSQL makes a table of each array that unnest() is given.

CREATE OR REPLACE FUNCTION urlmode.resume_for(
	bindings bytea[], providers text[], kinds text[], resume_keys text[], can_recheck boolean[] DEFAULT NULL,
	requests bytea[] DEFAULT NULL, items text[] DEFAULT NULL, expected jsonb[] DEFAULT NULL, earlier_requests bytea[] DEFAULT NULL
)
RETURNS TABLE (
	id uuid, provider text, kind text, status text, expires_at timestamptz, expires_in_ms bigint, link_kid smallint
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN QUERY
	SELECT r.id, r.provider::text, r.kind::text, r.effective_status, r.expires_at,
		ceil(extract(epoch FROM r.expires_at - now()) * 1000)::bigint, r.link_kid::smallint
	FROM unnest(bindings, providers, kinds, resume_keys, can_recheck, requests, items, expected, earlier_requests)
		WITH ORDINALITY AS a (binding, provider, kind, resume_key, can_recheck, request, item, expected, earlier, n)
	LEFT JOIN LATERAL (
		SELECT e.id, e.provider, e.kind, e.expires_at, e.link_kid,
			CASE WHEN money.wrong AND NOT money.unclaimed THEN 'held' ELSE s.effective_status END AS effective_status
		FROM urlmode.elicitation e
		CROSS JOIN LATERAL (
			SELECT count(*) FILTER (WHERE p.matches) > 0 AS proved,
				count(*) FILTER (WHERE p.matches AND p.claimed_at IS NULL AND p.refunded_at IS NULL) > 0 AS unclaimed,
				min(urlmode.claim_rank(p)) FILTER (WHERE p.matches AND p.claimed_at IS NULL AND p.refunded_at IS NULL) AS rank,
				count(*) FILTER (WHERE NOT p.matches AND p.claimed_at IS NULL AND p.refunded_at IS NULL) > 0
					AND e.item IS NOT NULL AND e.status = 'completed' AS wrong
			FROM urlmode.payment p
			WHERE e.kind = 'payment' AND p.elicitation = e.id
		) money
		CROSS JOIN LATERAL urlmode.effective_status(e) AS s (effective_status)
		WHERE e.binding = a.binding AND NOT e.is_final
			AND (e.item = a.item AND e.provider = a.provider AND e.kind = a.kind AND e.request IS NOT DISTINCT FROM a.request
				OR e.resume_key = a.resume_key AND CASE WHEN a.item IS NULL THEN e.request IS NOT DISTINCT FROM a.request
					-- Of a package that sends no items.
					ELSE e.item IS NULL AND e.request = a.earlier END)
			AND (money.unclaimed OR money.wrong OR CASE
				WHEN money.proved THEN false
				WHEN s.effective_status <> 'completed'
					AND urlmode.closes_at(e.kind, s.effective_status, e.expires_at, e.grace) > now()
					-- Nobody has opened it, and it has another price now.
					AND NOT (e.item = a.item AND s.effective_status = 'pending' AND e.expected <> a.expected) IS TRUE THEN true
				-- It may have been paid, also after its end: a recheck will tell, while the
				-- result of an unclaimed payment is kept (005_retention).
				WHEN e.kind = 'payment' AND a.can_recheck IS NOT FALSE AND urlmode.awaits_recheck(e.id) THEN
					coalesce(e.completed_at, urlmode.closes_at(e.kind, e.status, e.expires_at, e.grace)) > now() - interval '30 days'
				WHEN e.status <> 'completed' THEN false
				-- A call is exchanging the code, which takes less (EXCHANGE_MS of the packages): this one waits for it.
				WHEN e.exchange = 'exchanging' THEN e.claimed_at > now() - interval '100 seconds'
				WHEN e.claimed_at IS NOT NULL OR e.reason = 'superseded' THEN false
				-- What somebody decided is told, however late the next call comes.
				WHEN e.action <> 'accept' THEN e.expires_at > now() OR e.kind = 'approval'
					AND (SELECT f.decided_by FROM urlmode.form f WHERE f.elicitation = e.id) IS NOT NULL
				-- RFC 6749 section 4.1.2: an authorization code lives for at most ten minutes.
				WHEN e.kind = 'oauth' THEN e.completed_at > now() - interval '10 minutes'
				-- As long as it is kept (urlmode.awaits_claim).
				WHEN e.kind = 'input' THEN e.completed_at > now() - interval '1 day'
				ELSE true
			END)
		ORDER BY money.unclaimed DESC, money.rank, money.wrong AND NOT money.unclaimed DESC, s.effective_status <> 'processing',
			s.effective_status = 'completed', e.created_at DESC
		LIMIT 1
	) r ON true
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.resume_for IS
	'For each owner the elicitation that a call can go on with, or NULL: that of this provider, '
	'kind, item and digest of the request; without an item, that of the resume key and the '
	'digest. An elicitation without an item, of an older package, is also found by the key and the '
	'earlier digest. Before all others one with a payment that nobody has claimed, whatever the '
	'price is now (first one that it can claim, then one whose lease another call holds, then one '
	'that is held, then one whose amount does not match: that is held, too), then one that is '
	'processing, then one that is open, then one whose outcome nobody has claimed (a refusal until '
	'it expires, but what an approver decided as long as it is kept). One at another price that '
	'nobody has opened is not found. A payment that waits for a recheck counts as open or '
	'unclaimed until thirty days after its end, or after its grace, unless can_recheck is false: '
	'the caller has no way to recheck. Of several the newest. status: held, if an amount that does '
	'not match waits to be delivered or refunded; then the caller claims the refusal, so that what '
	'it reads is held, too (urlmode.read). expires_in_ms is negative when it can no longer be '
	'opened.';

CREATE OR REPLACE FUNCTION urlmode.resume(
	bindings bytea[], resume_keys text[], can_recheck boolean[] DEFAULT NULL, requests bytea[] DEFAULT NULL
)
RETURNS TABLE (
	id uuid, provider text, kind text, status text, expires_at timestamptz, expires_in_ms bigint, link_kid smallint
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.resume_for(bindings, NULL, NULL, resume_keys, can_recheck, requests)
$$;
COMMENT ON FUNCTION urlmode.resume IS
	'resume_for by resume keys alone, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.make_room(owner bytea) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
	oldest uuid;
	move jsonb;
BEGIN
	-- None that a browser opens just now.
	SELECT e.id, urlmode.next(e.kind, e.status, false, 'make room') INTO oldest, move
	FROM urlmode.elicitation e
	WHERE e.binding = owner AND NOT e.is_final AND e.expires_at > now()
		AND urlmode.next(e.kind, e.status, false, 'make room') IS NOT NULL
	ORDER BY e.created_at, e.id LIMIT 1
	FOR UPDATE SKIP LOCKED;
	PERFORM urlmode.move_rows(ARRAY[oldest], ARRAY[move]);
	RETURN oldest IS NOT NULL;
END
$$;
COMMENT ON FUNCTION urlmode.make_room IS
	'Internal. Supersedes the oldest elicitation of this owner that nobody has opened. False: '
	'there is none.';

CREATE OR REPLACE FUNCTION urlmode.create_elicitation(
	ids uuid[], providers text[], kinds text[], subjects text[], sessions text[], bindings bytea[],
	requesters text[], target_urls text[], expected jsonb[], verifiers bytea[], ttls_ms bigint[],
	exclusive boolean[] DEFAULT NULL, resume_keys text[] DEFAULT NULL, can_recheck boolean[] DEFAULT NULL,
	requests bytea[] DEFAULT NULL, checkouts text[] DEFAULT NULL, client_ids text[] DEFAULT NULL,
	link_kids smallint[] DEFAULT NULL, forms bytea[] DEFAULT NULL, approvers jsonb[] DEFAULT NULL,
	verify_ms integer[] DEFAULT NULL, traceparents text[] DEFAULT NULL, tenants text[] DEFAULT NULL,
	items text[] DEFAULT NULL, contents bytea[] DEFAULT NULL
)
RETURNS TABLE (expires_at timestamptz, outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	-- Those of turn 1 are created together, then those of turn 2, and so on.
	-- Turn 0: there is something to resume, so nothing is created. Turn -1: another
	-- transaction has the lock of the owner. Turn -2: the owner has too many open.
	-- Turn -3: the user has subscribed to this already.
	turns bigint[];
	last bigint;
	wrong text;
	crowded bytea[];
	paid boolean;
	open uuid[];
	moves jsonb[];
	has_items boolean := cardinality(array_remove(items, NULL)) > 0;
	resumes boolean := has_items OR cardinality(array_remove(resume_keys, NULL)) > 0;
	supersedes boolean := true = ANY (exclusive);
	has_forms boolean := cardinality(array_remove(forms, NULL)) > 0;
	subscribes boolean := EXISTS (SELECT FROM unnest(expected) AS a (expected) WHERE urlmode.is_of_subscription(a.expected));
BEGIN
	-- One transaction of an owner at a time, and in it one element of an owner
	-- after another, so that each sees what the one before it created. Nobody waits
	-- for the lock of another owner, who may be creating thousands.
	SELECT array_agg(CASE WHEN t.locked THEN t.turn ELSE -1 END ORDER BY t.n),
		max(t.turn) FILTER (WHERE t.locked), min(t.wrong)
	INTO turns, last, wrong
	FROM (
		SELECT n, row_number() OVER (PARTITION BY bindings[n] ORDER BY n) AS turn,
			bool_and(pg_try_advisory_xact_lock(hashtextextended('urlmode owner ' || encode(bindings[n], 'hex'), 0)))
				OVER (PARTITION BY bindings[n]) AS locked,
			CASE WHEN kinds[n] IN ('input', 'approval') IS DISTINCT FROM (forms[n] IS NOT NULL)
					OR (target_urls[n] IS NULL) <> (forms[n] IS NOT NULL)
					OR (approvers[n] IS NOT NULL AND kinds[n] <> 'approval')
					OR (verify_ms[n] IS NOT NULL AND kinds[n] <> 'input')
					THEN 'the kinds input and approval have a form, and the others a target URL'
				-- Names of `urlmode check` (048_check).
				WHEN 'urlmode-check' IN (providers[n], tenants[n], subjects[n]) AND (kinds[n] = 'approval' AND providers[n] = 'urlmode-check'
					AND tenants[n] = 'urlmode-check' AND subjects[n] = 'urlmode-check') IS NOT TRUE
					THEN 'urlmode-check is the name of a provider, a tenant and a user that urlmode check alone uses'
				WHEN kinds[n] = 'payment' AND expected[n] IS NULL THEN 'a payment expects an amount'
				WHEN expected[n] @> '{"subscription": true}' AND items[n] IS NULL THEN 'a subscription has an item'
			END AS wrong
		FROM generate_series(1, cardinality(ids)) AS n
	) t;
	-- Here, where they are written: PostgreSQL would check a constraint whenever a browser writes the row.
	IF wrong IS NOT NULL THEN
		RAISE check_violation USING MESSAGE = wrong;
	END IF;

	IF EXISTS (SELECT FROM unnest(expected, checkouts) AS a (expected, checkout) WHERE a.expected ->> 'match' = 'checkout' AND a.checkout IS NULL) THEN
		RAISE check_violation USING MESSAGE = 'whatever a checkout totals, it must be known which: match checkout has a checkout';
	END IF;

	FOR this IN 1 .. coalesce(last, 0) LOOP
		IF subscribes THEN
			turns := ARRAY(
				SELECT CASE WHEN turns[n] = this AND urlmode.is_of_subscription(expected[n])
					AND urlmode.is_subscribed(coalesce(tenants[n], ''), subjects[n], items[n]) THEN -3 ELSE turns[n] END
				FROM generate_series(1, cardinality(ids)) AS n ORDER BY n
			);
		END IF;
		-- What nobody has opened, and has another price now, is not what the user is asked for.
		IF has_items THEN
			SELECT array_agg(o.id), array_agg(o.move) INTO open, moves
			FROM (
				SELECT e.id, urlmode.next(e.kind, e.status, false, 'supersede') AS move
				FROM unnest(bindings, providers, kinds, items, requests, expected, turns)
					AS a (binding, provider, kind, item, request, expected, turn)
				JOIN urlmode.elicitation e ON e.binding = a.binding AND e.item = a.item AND NOT e.is_final
					AND e.provider = a.provider AND e.kind = a.kind AND e.request IS NOT DISTINCT FROM a.request
					AND e.expected <> a.expected AND e.status = 'pending' AND e.expires_at > now()
				WHERE a.turn = this
				ORDER BY e.id FOR UPDATE OF e
			) o;
			PERFORM urlmode.move_rows(open, moves);
		END IF;
		IF resumes THEN
			turns := ARRAY(
				SELECT CASE WHEN a.turn = this AND a.id IS NOT NULL THEN 0 ELSE a.turn END
				FROM ROWS FROM (
					unnest(turns),
					urlmode.resume_for(ARRAY(
						SELECT CASE WHEN k.turn = this THEN k.binding END
						FROM unnest(turns, bindings) WITH ORDINALITY AS k (turn, binding, n) ORDER BY k.n
					), providers, kinds, resume_keys, can_recheck, requests, items, expected)
				) WITH ORDINALITY AS a (turn, id, provider, kind, status, expires_at, expires_in_ms, link_kid, n)
				ORDER BY a.n
			);
		END IF;
		IF supersedes THEN
			SELECT array_agg(o.id), array_agg(o.move) INTO open, moves
			FROM (
				SELECT e.id, urlmode.next(e.kind, e.status, false, 'supersede') AS move
				FROM unnest(bindings, exclusive, turns) AS a (binding, exclusive, turn)
				JOIN urlmode.elicitation e ON e.binding = a.binding AND NOT e.is_final AND e.expires_at > now()
					AND urlmode.next(e.kind, e.status, false, 'supersede') IS NOT NULL
				WHERE a.exclusive AND a.turn = this
				ORDER BY e.id FOR UPDATE OF e
			) o;
			PERFORM urlmode.move_rows(open, moves);
		END IF;
		SELECT array_agg(bindings[n]) FILTER (WHERE urlmode.max_open() <= (
				SELECT count(*) FROM urlmode.elicitation e
				WHERE e.binding = bindings[n] AND NOT e.is_final AND e.status <> 'completed' AND e.expires_at > now()
			)), bool_or(EXISTS (SELECT FROM urlmode.payment p WHERE p.elicitation = ids[n]))
		INTO crowded, paid
		FROM generate_series(1, cardinality(ids)) AS n
		WHERE turns[n] = this;
		-- A payment stays when its row is purged (005_retention.sql), and must not pay for another one.
		IF paid THEN
			RAISE unique_violation USING MESSAGE = 'an elicitation with this id was paid for before';
		END IF;
		-- At the limit the oldest that nobody has opened makes room.
		IF crowded IS NOT NULL THEN
			turns := ARRAY(
				SELECT CASE WHEN a.turn = this AND a.binding = ANY (crowded) AND NOT urlmode.make_room(a.binding)
					THEN -2 ELSE a.turn END
				FROM unnest(turns, bindings) WITH ORDINALITY AS a (turn, binding, n) ORDER BY a.n
			);
		END IF;
		INSERT INTO urlmode.elicitation (
			id, provider, kind, subject, session, binding,
			requester, target_url, expected, verifier, expires_at, resume_key, request, checkout,
			client_id, link_kid, traceparent, tenant, item, content
		)
		SELECT ids[n], providers[n], kinds[n], subjects[n], sessions[n], bindings[n],
			requesters[n], target_urls[n], expected[n], verifiers[n],
			now() + ttls_ms[n] * interval '1 millisecond', resume_keys[n], requests[n], checkouts[n],
			client_ids[n], link_kids[n], traceparents[n], coalesce(tenants[n], ''), items[n], contents[n]
		FROM generate_series(1, cardinality(ids)) AS n
		WHERE turns[n] = this;
		IF has_forms THEN
			INSERT INTO urlmode.form (elicitation, expires_at, approvers, verify_ms, definition)
			SELECT ids[n], now() + ttls_ms[n] * interval '1 millisecond', approvers[n], verify_ms[n], forms[n]
			FROM generate_series(1, cardinality(ids)) AS n
			WHERE turns[n] = this AND forms[n] IS NOT NULL;
		END IF;
		-- Money that came before its elicitation. Nearly always there is none at all.
		IF EXISTS (SELECT FROM urlmode.unknown_event) THEN
			PERFORM urlmode.claim_unmatched(ARRAY(
				SELECT ids[n] FROM generate_series(1, cardinality(ids)) AS n WHERE turns[n] = this
			));
		END IF;
	END LOOP;

	RETURN QUERY
	SELECT CASE WHEN turns[n] > 0 THEN now() + ttls_ms[n] * interval '1 millisecond' END,
		CASE turns[n] WHEN 0 THEN 'resumed' WHEN -1 THEN 'busy' WHEN -2 THEN 'full' WHEN -3 THEN 'subscribed' ELSE 'created' END
	FROM generate_series(1, cardinality(ids)) AS n
	ORDER BY n;
END
$$;
COMMENT ON FUNCTION urlmode.create_elicitation IS
	'Creates elicitations, pending, and returns when each expires: after its ttl_ms milliseconds. '
	'An id that exists, or that has been paid for, is a unique_violation. exclusive: completes '
	'whatever else this owner has open, with cancel and superseded, but no payment or signature '
	'that was opened. expected: required for kind payment. items, resume_keys: where '
	'urlmode.resume_for finds an elicitation, also one that stands before it in the batch, nothing '
	'is created. One of the same item at another price that nobody has opened is superseded. '
	'requests: digests of what is asked for. checkouts, client_ids, link_kids, traceparents, '
	'tenants, items, contents: see the columns of urlmode.elicitation; forms, approvers, '
	'verify_ms: those of urlmode.form. The elements of one owner take effect in their order. '
	'outcome: created; resumed (urlmode.resume_for finds it); busy (another '
	'transaction creates for this owner: try again); full (the owner has urlmode.max_open() open, '
	'and a user has opened all of them); subscribed (the payment would be the first one of a '
	'subscription, and the user has one for the item that is not over: urlmode.entitlements says '
	'how it stands). expires_at is NULL unless it is created. At that limit '
	'the oldest that nobody has opened is superseded.';

GRANT EXECUTE ON FUNCTION urlmode.resume, urlmode.resume_for, urlmode.create_elicitation TO :"server";
