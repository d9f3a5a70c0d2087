-- What the console asks, beside what the command asks (013_operator). Here: what waits for
-- somebody. 049_search: where something is, and what became of it. 049_counts: the figures.
--
-- None of it returns a result, a verifier, a binding, a session, a browser, a state or a target
-- URL. Each has a limit, and each finds its rows by an index, in their order where there is one, also
-- in a database without statistics: therefore these settings. The program limits the time of
-- each statement to two seconds: a function cannot limit the statement that calls it.

CREATE OR REPLACE FUNCTION urlmode.cursor_of(at timestamptz, VARIADIC names text[]) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || ' '
		|| left(encode(sha256(convert_to(array_to_string(names, U&'\001F'), 'UTF8')), 'hex'), 32)
$$;
COMMENT ON FUNCTION urlmode.cursor_of IS
	'Internal. The place of a row in a list: its time, and what tells it from others of this time. '
	'Sorted byte by byte, it is in the order of time.';

CREATE OR REPLACE FUNCTION urlmode.time_of_cursor(after text) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
BEGIN
	IF after !~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6} [0-9a-f]{32}$' THEN
		RAISE invalid_parameter_value USING MESSAGE = 'after is no cursor';
	END IF;
	RETURN (split_part(after, ' ', 1) || '+00')::timestamptz;
END
$$;
COMMENT ON FUNCTION urlmode.time_of_cursor IS 'Internal. Its time. NULL: there is no cursor.';

CREATE OR REPLACE FUNCTION urlmode.check_most(most integer) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF most IS NULL OR most NOT BETWEEN 1 AND 10001 THEN
		RAISE invalid_parameter_value USING MESSAGE = 'most is from 1 to 10001';
	END IF;
	RETURN most;
END
$$;
COMMENT ON FUNCTION urlmode.check_most IS 'Internal. Refuses a limit that is none.';

-- STABLE, as the functions that it calls: otherwise PostgreSQL would not inline it.
CREATE OR REPLACE FUNCTION urlmode.is_waiting(f urlmode.form, e urlmode.elicitation) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT f.definition IS NOT NULL AND f.expires_at > now() AND e.kind = 'approval' AND e.provider <> 'urlmode-check'
$$;
COMMENT ON FUNCTION urlmode.is_waiting IS
	'Internal. Whether an approval waits for its decision. The definition of a form is there until '
	'its end.';

-- PostgreSQL inlines it, as it does not inline is_leased: a thousand calls of that take 50 ms. OFFSET: each
-- row looks for its own lease, also where there are no statistics.
CREATE OR REPLACE FUNCTION urlmode.open_payments() RETURNS SETOF urlmode.payment
LANGUAGE sql STABLE AS $$
	SELECT p.* FROM urlmode.payment p
	WHERE p.claimed_at IS NULL AND p.refunded_at IS NULL AND NOT EXISTS (
		SELECT FROM urlmode.lease l
		WHERE l.elicitation = p.elicitation AND l.reference = p.reference AND l.ends_at > now()
			AND (NOT p.held OR l.fulfilled_at IS NULL OR urlmode.has_kept(l.elicitation, l.reference)) OFFSET 0
	)
$$;
COMMENT ON FUNCTION urlmode.open_payments IS
	'Internal. The payments that no call has claimed or works for, and that did not go back: those that '
	'are held wait for the operator, also where nobody has confirmed a result that was purged '
	'(is_at_call); the others are unclaimed, if their elicitation is there (is_unclaimed).';

CREATE OR REPLACE FUNCTION urlmode.waiting()
RETURNS TABLE (what text, number bigint, more boolean, oldest timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_sort = off SET jit = off AS $$
	SELECT w.what, least(w.number, 1000), w.number > 1000, w.oldest
	FROM (
		SELECT 1 AS n, 'unclaimed' AS what, count(*) AS number, min(x.at) AS oldest FROM (
			SELECT p.proven_at AS at FROM urlmode.open_payments() p
			WHERE NOT p.held AND EXISTS (SELECT FROM urlmode.elicitation e WHERE e.id = p.elicitation OFFSET 0)
			ORDER BY p.proven_at LIMIT 1001
		) x
		UNION ALL
		SELECT 2, 'held', count(*), min(x.at) FROM (
			SELECT p.proven_at AS at FROM urlmode.open_payments() p WHERE p.held ORDER BY p.proven_at LIMIT 1001
		) x
		UNION ALL
		SELECT 3, 'undelivered', count(*), min(x.at) FROM (
			SELECT l.fulfilled_at AS at FROM urlmode.lease l WHERE l.fulfilled_at IS NOT NULL AND urlmode.is_undelivered(l) ORDER BY l.fulfilled_at LIMIT 1001
		) x
		UNION ALL
		SELECT 4, 'unreadable', (SELECT count(*) FROM (SELECT FROM urlmode.unreadable_delivery LIMIT 1001) x),
			(SELECT min(u.last_seen_at) FROM urlmode.unreadable_delivery u)
		UNION ALL
		SELECT 5, 'unknown', (SELECT count(*) FROM (SELECT FROM urlmode.unknown_event LIMIT 1001) x),
			(SELECT min(u.received_at) FROM urlmode.unknown_event u)
		UNION ALL
		SELECT 6, 'approvals', count(*), min(x.at) FROM (
			SELECT e.created_at AS at FROM urlmode.form f CROSS JOIN LATERAL (SELECT * FROM urlmode.elicitation x WHERE x.id = f.elicitation LIMIT 1) e
			WHERE urlmode.is_waiting(f, e) ORDER BY f.expires_at LIMIT 1001
		) x
		UNION ALL
		SELECT 7, 'reconnect', count(*), min(x.at) FROM (
			SELECT a.connected_at AS at FROM urlmode.account a WHERE a.state = 'reconnect' ORDER BY a.connected_at LIMIT 1001
		) x
	) w ORDER BY w.n
$$;
COMMENT ON FUNCTION urlmode.waiting IS
	'How many of each list of list_waiting there are, counted up to 1000, whether there are more, and '
	'since when the oldest has been there: proved, fulfilled, last seen, received, created or '
	'connected. unclaimed: without those that are held.';

CREATE OR REPLACE FUNCTION urlmode.list_waiting(
	what text, provider text, tenant text, since timestamptz, until timestamptz, after text, most integer
)
RETURNS TABLE (
	cursor text, at timestamptz, provider_name text, tenant_name text, kind text, elicitation uuid, item text, reference text,
	amount bigint, currency text, refunded bigint, late boolean, matches boolean, name text, reason text, place text, request text,
	times bigint, subject text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_sort = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
	many CONSTANT integer := urlmode.check_most(most);
	after_time CONSTANT timestamptz := urlmode.time_of_cursor(after);
	-- From here to there; of a list that begins with the newest, the cursor ends it.
	low timestamptz := coalesce(since, '-infinity');
	high timestamptz := coalesce(until, 'infinity');
	nothing CONSTANT text := NULL;
	no_number CONSTANT bigint := NULL;
BEGIN
	IF what IN ('unreadable', 'unknown') THEN
		high := least(high, after_time + interval '1 microsecond');
	ELSE
		low := greatest(low, after_time);
	END IF;
	CASE what
	WHEN 'unclaimed' THEN
		RETURN QUERY
		SELECT c.cursor, p.proven_at, p.provider::text, p.tenant::text, 'payment', p.elicitation, p.item::text, p.reference::text,
			p.amount, p.currency::text, p.refunded, p.late, p.matches, nothing, nothing, nothing, nothing, no_number, nothing
		FROM urlmode.open_payments() p CROSS JOIN LATERAL urlmode.cursor_of(p.proven_at, p.provider, p.reference) AS c (cursor)
		WHERE NOT p.held AND EXISTS (SELECT FROM urlmode.elicitation e WHERE e.id = p.elicitation OFFSET 0)
			AND p.proven_at >= low AND p.proven_at < high
			AND (after IS NULL OR c.cursor > after COLLATE "C")
			AND (list_waiting.provider IS NULL OR p.provider = list_waiting.provider)
			AND (list_waiting.tenant IS NULL OR p.tenant = list_waiting.tenant)
		ORDER BY p.proven_at, c.cursor COLLATE "C" LIMIT many;
	WHEN 'held' THEN
		RETURN QUERY
		SELECT c.cursor, p.proven_at, p.provider::text, p.tenant::text, 'payment', p.elicitation, p.item::text, p.reference::text,
			p.amount, p.currency::text, p.refunded, p.late, p.matches, nothing, nothing, nothing, nothing, no_number, nothing
		FROM urlmode.open_payments() p CROSS JOIN LATERAL urlmode.cursor_of(p.proven_at, p.provider, p.reference) AS c (cursor)
		WHERE p.held AND p.proven_at >= low AND p.proven_at < high
			AND (after IS NULL OR c.cursor > after COLLATE "C")
			AND (list_waiting.provider IS NULL OR p.provider = list_waiting.provider)
			AND (list_waiting.tenant IS NULL OR p.tenant = list_waiting.tenant)
		ORDER BY p.proven_at, c.cursor COLLATE "C" LIMIT many;
	WHEN 'undelivered' THEN
		RETURN QUERY
		SELECT c.cursor, l.fulfilled_at, e.provider::text, e.tenant::text, e.kind::text, e.id, e.item::text, nullif(l.reference::text, ''),
			p.amount, p.currency::text, p.refunded, p.late, p.matches, nothing, nothing, nothing, nothing, no_number, nothing
		FROM urlmode.lease l
		JOIN urlmode.elicitation e ON e.id = l.elicitation
		LEFT JOIN urlmode.payment p ON p.elicitation = l.elicitation AND p.reference = l.reference
		CROSS JOIN LATERAL urlmode.cursor_of(l.fulfilled_at, l.elicitation::text, l.reference) AS c (cursor)
		WHERE l.fulfilled_at IS NOT NULL AND urlmode.is_undelivered(l) AND l.fulfilled_at >= low AND l.fulfilled_at < high
			AND (after IS NULL OR c.cursor > after COLLATE "C")
			AND (list_waiting.provider IS NULL OR e.provider = list_waiting.provider)
			AND (list_waiting.tenant IS NULL OR e.tenant = list_waiting.tenant)
		ORDER BY l.fulfilled_at, c.cursor COLLATE "C" LIMIT many;
	WHEN 'unreadable' THEN
		RETURN QUERY
		SELECT c.cursor, u.last_seen_at, u.provider::text, nothing, nothing, NULL::uuid, nothing, nothing,
			no_number, nothing, no_number, NULL::boolean, NULL::boolean, nothing, u.reason, u.place, nullif(u.request, ''), u.times, nothing
		FROM urlmode.unreadable_delivery u
		CROSS JOIN LATERAL urlmode.cursor_of(u.last_seen_at, u.provider, encode(u.digest, 'hex')) AS c (cursor)
		WHERE u.last_seen_at >= low AND u.last_seen_at < high AND list_waiting.tenant IS NULL
			AND (after IS NULL OR c.cursor < after COLLATE "C")
			AND (list_waiting.provider IS NULL OR u.provider = list_waiting.provider)
		ORDER BY u.last_seen_at DESC, c.cursor COLLATE "C" DESC LIMIT many;
	WHEN 'unknown' THEN
		RETURN QUERY
		SELECT c.cursor, u.received_at, u.provider::text, u.tenant::text, nothing, u.elicitation, nothing, coalesce(u.reference, u.checkout)::text,
			u.amount, u.currency::text, no_number, NULL::boolean, NULL::boolean, u.type::text, u.effect, nothing, nothing, no_number, nothing
		FROM urlmode.unknown_event u CROSS JOIN LATERAL urlmode.cursor_of(u.received_at, u.provider, u.identity) AS c (cursor)
		WHERE u.received_at >= low AND u.received_at < high
			AND (after IS NULL OR c.cursor < after COLLATE "C")
			AND (list_waiting.provider IS NULL OR u.provider = list_waiting.provider)
			AND (list_waiting.tenant IS NULL OR u.tenant = list_waiting.tenant)
		ORDER BY u.received_at DESC, c.cursor COLLATE "C" DESC LIMIT many;
	WHEN 'approvals' THEN
		RETURN QUERY
		SELECT c.cursor, f.expires_at, e.provider::text, e.tenant::text, e.kind::text, e.id, e.item::text, nothing,
			no_number, nothing, no_number, NULL::boolean, NULL::boolean, nothing, nothing, nothing, nothing, no_number, nothing
		FROM urlmode.form f CROSS JOIN LATERAL (SELECT * FROM urlmode.elicitation x WHERE x.id = f.elicitation LIMIT 1) e
		CROSS JOIN LATERAL urlmode.cursor_of(f.expires_at, e.id::text) AS c (cursor)
		WHERE urlmode.is_waiting(f, e) AND f.expires_at >= low AND f.expires_at < high
			AND (after IS NULL OR c.cursor > after COLLATE "C")
			AND (list_waiting.provider IS NULL OR e.provider = list_waiting.provider)
			AND (list_waiting.tenant IS NULL OR e.tenant = list_waiting.tenant)
		ORDER BY f.expires_at, c.cursor COLLATE "C" LIMIT many;
	WHEN 'reconnect' THEN
		RETURN QUERY
		SELECT c.cursor, a.connected_at, a.provider::text, a.tenant, 'oauth', NULL::uuid, nothing, a.account::text,
			no_number, nothing, no_number, NULL::boolean, NULL::boolean, nothing, a.reason::text, nothing, nothing, no_number,
			-- Behind its tenant, if it has one.
			substr(a.subject, strpos(a.subject, U&'\001F') + 1)
		FROM urlmode.account a CROSS JOIN LATERAL urlmode.cursor_of(a.connected_at, a.provider, a.account, a.subject) AS c (cursor)
		WHERE a.state = 'reconnect' AND a.connected_at >= low AND a.connected_at < high
			AND (after IS NULL OR c.cursor > after COLLATE "C")
			AND (list_waiting.provider IS NULL OR a.provider = list_waiting.provider)
			AND (list_waiting.tenant IS NULL OR a.tenant = list_waiting.tenant)
		ORDER BY a.connected_at, c.cursor COLLATE "C" LIMIT many;
	ELSE
		RAISE invalid_parameter_value USING MESSAGE = 'what is no list: see urlmode.waiting()';
	END CASE;
END
$$;
COMMENT ON FUNCTION urlmode.list_waiting IS
	'One of the lists that waiting counts: of one provider or tenant (NULL: of all), from a time to '
	'before another one (NULL: any), after the cursor of a row (NULL: from the beginning), at most '
	'`most` rows, 10001 at most. Unreadable deliveries and unknown money begin with the newest, the '
	'others with the oldest, approvals with the next to expire. at: when it was proved, fulfilled, '
	'last seen or received, when it expires, or when the account was connected. name: the '
	'provider''s type of the event. reference: of the payment, or the account. What a list does not '
	'have is NULL.';

GRANT EXECUTE ON FUNCTION urlmode.waiting, urlmode.list_waiting TO :"operator";
