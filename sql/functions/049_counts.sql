-- The figures of the console: how many elicitations have ended in an hour or a day, and how many
-- events have come. Each purge counts what is new, so that no page counts.
--
-- What has ended is in purge_queue (a browser's return) or in uncounted_end (everything else),
-- with the time at which it was completed: an entry of purge_queue is due 24 hours later. So
-- elicitations need no index of completed_at, which every return would write.

CREATE OR REPLACE FUNCTION urlmode.max_types() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 100
$$;
COMMENT ON FUNCTION urlmode.max_types IS
	'Internal. How many types of events of a provider are counted by themselves in an hour or a day.';

CREATE OR REPLACE FUNCTION urlmode.count_ends(since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	looked_at bigint;
BEGIN
	WITH uncounted AS (
		-- Also of a transaction that was so long that it was not seen.
		DELETE FROM urlmode.uncounted_end u WHERE u.ended_at < count_ends.until RETURNING u.ids, u.ended_at
	), ended AS (
		-- One may be in both.
		SELECT DISTINCT i.id, x.at FROM (
			SELECT q.ids, q.due_at - interval '24 hours' AS at FROM urlmode.purge_queue q
			WHERE q.due_at >= count_ends.since + interval '24 hours' AND q.due_at < count_ends.until + interval '24 hours'
			UNION ALL
			SELECT u.ids, u.ended_at FROM uncounted u
		) x CROSS JOIN LATERAL unnest(x.ids) AS i (id)
	), kept AS (
		INSERT INTO urlmode.ended_count AS c (provider, unit, begins_at, kind, action, reason, number)
		SELECT e.provider, u.unit, date_trunc(u.unit, e.completed_at, 'UTC'), e.kind, e.action, e.reason, count(*)
		FROM ended d JOIN urlmode.elicitation e ON e.id = d.id AND e.completed_at = d.at
		CROSS JOIN (VALUES ('hour'), ('day')) AS u (unit)
		WHERE e.provider <> 'urlmode-check'
		GROUP BY 1, 2, 3, 4, 5, 6
		ON CONFLICT ON CONSTRAINT ended_count_pkey DO UPDATE SET number = c.number + excluded.number
	)
	SELECT count(*) INTO looked_at FROM ended;
	RETURN looked_at;
END
$$;
COMMENT ON FUNCTION urlmode.count_ends IS
	'Internal. Counts the elicitations that have ended in this time, and forgets that they were not '
	'counted. Returns how many it has looked at.';

CREATE OR REPLACE FUNCTION urlmode.count_received(since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	counted bigint;
BEGIN
	WITH grouped AS (
		SELECT v.provider, u.unit, date_trunc(u.unit, v.received_at, 'UTC') AS begins_at, v.type COLLATE "C" AS type, v.action,
			count(*) AS number, max(v.received_at) AS last_at
		FROM urlmode.event v CROSS JOIN (VALUES ('hour'), ('day')) AS u (unit)
		WHERE v.received_at >= count_received.since AND v.received_at < count_received.until
			AND v.provider <> 'urlmode-check'
		GROUP BY 1, 2, 3, 4, 5
	), new_types AS (
		SELECT n.*, row_number() OVER (PARTITION BY n.provider, n.unit, n.begins_at ORDER BY n.type) AS rank
		FROM (SELECT DISTINCT g.provider, g.unit, g.begins_at, g.type FROM grouped g) n
		WHERE NOT EXISTS (
			SELECT FROM urlmode.event_count c
			WHERE c.provider = n.provider AND c.unit = n.unit AND c.begins_at = n.begins_at AND c.type = n.type)
	), too_many AS (
		SELECT n.* FROM new_types n
		WHERE n.rank > urlmode.max_types() - (
			SELECT count(DISTINCT c.type) FROM urlmode.event_count c
			WHERE c.provider = n.provider AND c.unit = n.unit AND c.begins_at = n.begins_at AND c.type <> '')
	), kept AS (
		INSERT INTO urlmode.event_count AS c (provider, unit, begins_at, type, action, number, last_at)
		SELECT g.provider, g.unit, g.begins_at, CASE WHEN t.type IS NULL THEN g.type ELSE '' END, g.action, sum(g.number), max(g.last_at)
		FROM grouped g
		LEFT JOIN too_many t ON t.provider = g.provider AND t.unit = g.unit AND t.begins_at = g.begins_at AND t.type = g.type
		GROUP BY 1, 2, 3, 4, 5
		ON CONFLICT ON CONSTRAINT event_count_pkey DO UPDATE
		SET number = c.number + excluded.number, last_at = greatest(c.last_at, excluded.last_at)
	)
	SELECT coalesce(sum(g.number), 0) INTO counted FROM grouped g WHERE g.unit = 'hour';
	RETURN counted;
END
$$;
COMMENT ON FUNCTION urlmode.count_received IS
	'Internal. Counts the events that have come in this time. Returns how many.';

CREATE OR REPLACE FUNCTION urlmode.count_hours(most bigint DEFAULT 100000) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	-- A transaction that has begun before may still commit.
	until CONSTANT timestamptz := now() - interval '2 minutes';
	span interval := '5 minutes';
	since timestamptz;
	next timestamptz;
	found bigint;
	all_found bigint := 0;
BEGIN
	SELECT c.counted_until INTO since FROM urlmode.counted c FOR UPDATE SKIP LOCKED;
	IF since IS NULL OR since > until - interval '1 minute' THEN
		RETURN 0;
	END IF;
	WHILE since < until AND all_found < most LOOP
		next := least(since + span, until);
		found := urlmode.count_ends(since, next) + urlmode.count_received(since, next);
		all_found := all_found + found;
		-- Through a time without any, faster and faster.
		span := CASE found WHEN 0 THEN span * 2 ELSE interval '5 minutes' END;
		since := next;
	END LOOP;
	UPDATE urlmode.counted c SET counted_until = since;
	DELETE FROM urlmode.ended_count c WHERE c.unit = 'hour' AND c.begins_at < now() - interval '3 days';
	DELETE FROM urlmode.ended_count c WHERE c.unit = 'day' AND c.begins_at < now() - interval '40 days';
	DELETE FROM urlmode.event_count c WHERE c.unit = 'hour' AND c.begins_at < now() - interval '3 days';
	DELETE FROM urlmode.event_count c WHERE c.unit = 'day' AND c.begins_at < now() - interval '40 days';
	RETURN (since < until)::integer;
END
$$;
COMMENT ON FUNCTION urlmode.count_hours IS
	'Internal. Counts what has ended and what has come since the last time, five minutes at a time '
	'until it was `most`, and forgets the figures of hours after three days, and of days after 40. Returns 1 where there is more. '
	'One transaction counts at a time.';

CREATE OR REPLACE FUNCTION urlmode.counted_until() RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.counted_until FROM urlmode.counted c
$$;
COMMENT ON FUNCTION urlmode.counted_until IS
	'What was before is in the figures of count_ended and count_events.';

CREATE OR REPLACE FUNCTION urlmode.count_ended(provider text, since timestamptz, unit text)
RETURNS TABLE (at timestamptz, kind text, action text, reason text, number bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
	SELECT c.begins_at, c.kind::text, c.action::text, c.reason::text, sum(c.number)::bigint
	FROM urlmode.ended_count c
	WHERE c.unit = count_ended.unit::urlmode.unit AND c.begins_at >= date_trunc(count_ended.unit, count_ended.since, 'UTC')
		AND (count_ended.provider IS NULL OR c.provider = count_ended.provider)
	GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 LIMIT 20000
$$;
COMMENT ON FUNCTION urlmode.count_ended IS
	'How many elicitations have ended since then, of all providers (NULL) or of one, by unit, kind, '
	'action and reason. unit: hour (of the last three days) or day (of the last 40), of UTC; the '
	'first one is whole. There is no row for none.';

CREATE OR REPLACE FUNCTION urlmode.count_events(provider text, since timestamptz, unit text DEFAULT 'day')
RETURNS TABLE (type text, action text, number bigint, last_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
	SELECT c.type, c.action, sum(c.number)::bigint, max(c.last_at)
	FROM urlmode.event_count c
	WHERE c.provider = count_events.provider AND c.unit = count_events.unit::urlmode.unit
		AND c.begins_at >= date_trunc(count_events.unit, count_events.since, 'UTC')
	GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 500
$$;
COMMENT ON FUNCTION urlmode.count_events IS
	'How many events of known elicitations a provider has sent since then, by type and by what they '
	'did, the most first, at most 500. unit: as for count_ended. type empty: all other types.';

GRANT EXECUTE ON FUNCTION urlmode.counted_until, urlmode.count_ended, urlmode.count_events TO :"operator";
