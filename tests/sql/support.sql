-- What the files of this folder call: the functions that are granted to the roles, each
-- as its role and for one row, with names for what matters in a test and defaults for
-- the rest. An elicitation is named by a small number. Whoever changes the parameters of a
-- function of urlmode changes one place here.

CREATE SCHEMA test;
GRANT USAGE, CREATE ON SCHEMA test TO urlmode_cgi, urlmode_server, urlmode_operator;
SET search_path = test;

CREATE FUNCTION id(n integer) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
	SELECT lpad(n::text, 32, '0')::uuid
$$;
CREATE FUNCTION n(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
	SELECT replace(id::text, '-', '')::numeric::integer
$$;

-- The owner, as lib/PROTOCOL.md says.
CREATE FUNCTION owner(subject text, session text DEFAULT '') RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT substring(sha256('urlmode binding v1'::bytea || '\x00' || convert_to(subject, 'UTF8') || '\x00' || convert_to(session, 'UTF8')) FOR 16)
$$;
-- A digest of a word: of what was asked for, or of a browser.
CREATE FUNCTION digest(word text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT decode(md5(word), 'hex')
$$;
-- What is sealed elsewhere is a word here.
CREATE FUNCTION sealed(word text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT convert_to(word, 'UTF8')
$$;
CREATE FUNCTION word(sealed bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT convert_from(sealed, 'UTF8')
$$;
CREATE FUNCTION ms(span interval) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT (extract(epoch FROM span) * 1000)::bigint
$$;

-- Time passes: each time in each table is so much earlier.
CREATE FUNCTION pass(span interval) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	changes record;
BEGIN
	SET LOCAL session_replication_role = replica;
	FOR changes IN
		SELECT a.attrelid::regclass AS of, string_agg(format('%1$I = %1$I - $1', a.attname), ', ') AS sets
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE c.relnamespace = 'urlmode'::regnamespace AND c.relkind = 'r' AND a.atttypid = 'timestamptz'::regtype
			AND a.attnum > 0 AND NOT a.attisdropped
		GROUP BY a.attrelid
	LOOP
		EXECUTE format('UPDATE %s SET %s', changes.of, changes.sets) USING span;
	END LOOP;
END
$$;

-- As an MCP server.

-- price: what is to be paid, or 'any'.
CREATE FUNCTION make(
	n integer, kind text DEFAULT 'payment', subject text DEFAULT 'ann', price text DEFAULT '10.00 EUR', provider text DEFAULT 'shop',
	session text DEFAULT '', ttl interval DEFAULT '5 min', exclusive boolean DEFAULT false, key text DEFAULT NULL,
	rechecks boolean DEFAULT NULL, request text DEFAULT NULL, checkout text DEFAULT NULL, approvers jsonb DEFAULT NULL,
	verify interval DEFAULT NULL, kid integer DEFAULT NULL
)
RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT c.outcome FROM urlmode.create_elicitation(
		ids => ARRAY[test.id(n)], providers => ARRAY[provider], kinds => ARRAY[kind], subjects => ARRAY[subject], sessions => ARRAY[session],
		bindings => ARRAY[test.owner(subject, session)], requesters => ARRAY['Example'],
		target_urls => ARRAY[CASE WHEN kind NOT IN ('input', 'approval') THEN 'https://provider.example/' || n END],
		expected => ARRAY[CASE WHEN kind <> 'payment' THEN NULL WHEN price = 'any' THEN '"any"'::jsonb ELSE jsonb_build_object(
			'amount', (100 * split_part(price, ' ', 1)::numeric)::bigint, 'currency', split_part(price, ' ', 2)) END],
		verifiers => ARRAY[CASE WHEN kind = 'oauth' THEN test.sealed('verifier') END], ttls_ms => ARRAY[test.ms(ttl)],
		exclusive => ARRAY[make.exclusive], resume_keys => ARRAY[key], can_recheck => ARRAY[make.rechecks],
		requests => ARRAY[test.digest(request)], checkouts => ARRAY[checkout], client_ids => ARRAY['client'],
		link_kids => ARRAY[kid::smallint], forms => ARRAY[CASE WHEN kind IN ('input', 'approval') THEN test.sealed('form') END],
		approvers => ARRAY[make.approvers], verify_ms => ARRAY[test.ms(verify)::integer]) c
$$;
ALTER FUNCTION make OWNER TO urlmode_server;
