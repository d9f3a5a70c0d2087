CREATE OR REPLACE FUNCTION urlmode.closes_at(kind text, status text, expires_at timestamptz, grace interval) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
	SELECT expires_at + CASE WHEN status = 'processing' AND kind <> 'input' THEN greatest(grace, '30 days') ELSE grace END
$$;
COMMENT ON FUNCTION urlmode.closes_at IS
	'Internal. From then on expire may complete an elicitation: after its grace, or thirty days '
	'where that is longer and money may be on its way. What a user types has no grace.';

-- STABLE, as the functions that it calls: otherwise PostgreSQL would not inline it.
CREATE OR REPLACE FUNCTION urlmode.announcement(
	id uuid, status text, outcome bytea DEFAULT NULL, late boolean DEFAULT false, refunded boolean DEFAULT false
)
RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT '{"id":"' || id::text || '","status":"' || status || '"'
		|| CASE WHEN late THEN ',"late":true' ELSE '' END
		|| CASE WHEN refunded THEN ',"refunded":true' ELSE '' END
		|| CASE WHEN octet_length(outcome) <= 2600
			THEN ',"outcome":"' || replace(encode(outcome, 'base64'), E'\n', '') || '"' ELSE '' END
		|| '}'
$$;
COMMENT ON FUNCTION urlmode.announcement IS
	'Internal. What announce tells of a row: {"id":…,"status":…}. late: a payment was proved after '
	'the end; "late":true is added. refunded: money went back, or came again; "refunded":true is '
	'added. outcome: the sealed outcome, with which a wait resolves without a read; it is left out '
	'where it is larger than 2600 bytes.';

CREATE OR REPLACE FUNCTION urlmode.announce(announcements text[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	announcement text;
	payload text := '';
BEGIN
	IF cardinality(announcements) = 1 THEN
		PERFORM pg_notify('urlmode', announcements[1]);
		RETURN;
	END IF;
	FOREACH announcement IN ARRAY coalesce(announcements, '{}') LOOP
		-- A payload has at most 7999 bytes, with a comma and the brackets; an
		-- announcement has at most 3600.
		IF octet_length(payload) + octet_length(announcement) > 7996 THEN
			PERFORM pg_notify('urlmode', '[' || payload || ']');
			payload := '';
		END IF;
		payload := payload || CASE payload WHEN '' THEN '' ELSE ',' END || announcement;
	END LOOP;
	IF payload <> '' THEN
		PERFORM pg_notify('urlmode', '[' || payload || ']');
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.announce IS
	'Internal. Tells the waiting processes that a row has changed: NOTIFY on channel urlmode, one '
	'announcement, or a JSON array of those of a statement, in as few notifications as hold them.';

CREATE OR REPLACE FUNCTION urlmode.max_open() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 1000
$$;
COMMENT ON FUNCTION urlmode.max_open IS
	'Internal. How many elicitations of one owner can be open at the same time.';

-- STABLE, as the functions that it calls: otherwise PostgreSQL would not inline it.
CREATE OR REPLACE FUNCTION urlmode.becomes_dormant(e urlmode.elicitation) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT e.kind <> 'payment' OR e.rechecks = e.rechecked
$$;
COMMENT ON FUNCTION urlmode.becomes_dormant IS
	'Internal. Whether no call can be given a row any more, once it is superseded, abandoned or '
	'expired: not while a recheck may tell that it was paid.';

CREATE OR REPLACE FUNCTION urlmode.max_references() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 16
$$;
COMMENT ON FUNCTION urlmode.max_references IS
	'Internal. How many references of unproven events an elicitation keeps, and four times as many '
	'of the events themselves. The oldest go first.';
