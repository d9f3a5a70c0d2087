-- Roles and schema.
--
-- urlmode_owner     owns every object. Nobody logs in as it. The functions that
--                   others call run with its rights (SECURITY DEFINER).
-- urlmode_cgi       is the login of the callback programs.
-- urlmode_server    is the login of MCP servers.
-- urlmode_operator  is the login of the command `urlmode`.
--
-- The logins get no password here. Set one, or add a line to pg_hba.conf,
-- when you set up the database.
--
-- The files are numbered in the order in which they are best read:
--
--   002_elicitation     the table, and how a row moves through it
--   003_payment         the money that providers have proved
--   004_claim           which call acts on an outcome, and what no call has claimed
--   005_retention       how long results and rows are kept, and what deletes them
--   006_create          an MCP server creates an elicitation, or resumes one
--   007_callback        the browser: look up, open, complete
--   008_event           the provider: events of webhooks
--   009_wait            the MCP server that waits: read, expire, abandon, settle, recheck
--   010_client_request  requests of MCP servers to their clients
--   011_mcp_session     sessions of MCP clients
--   012_storage         keys and channels for MCP frameworks
--   013_operator        what the operator's command asks
--   014_vault           accounts that stay connected: their tokens, sealed
--   015_unknown_event   money for an elicitation that nobody knows
--   016_form            the forms of kinds input and approval: answers, checks, decisions
--   017_signing_key     public keys of providers that are given one at a time
--   018_refund          money that goes back

-- Roles belong to the cluster. Another database may have created them, by an
-- administrator whose roles the one of this database may not change (PostgreSQL
-- 16 and newer). So only what differs is changed.
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN
		SELECT v.*, a.oid, a.rolcanlogin
		FROM (VALUES
			('urlmode_owner', false, 'Owns the schema urlmode. Cannot log in.'),
			('urlmode_cgi', true,
				'Login of the callback programs. It can only execute functions, and needs the id of every elicitation that it changes.'),
			('urlmode_server', true,
				'Login of MCP servers. It can only execute functions, and needs the id and the binding of every elicitation that it reads or changes.'),
			('urlmode_operator', true,
				'Login of the operator''s command. It can only execute functions: it sees what has become of elicitations, never a result, and purges elicitations that have ended.')
		) AS v (name, login, comment)
		LEFT JOIN pg_roles a ON a.rolname = v.name
	LOOP
		IF r.oid IS NULL THEN
			EXECUTE format('CREATE ROLE %I %s', r.name, CASE WHEN r.login THEN 'LOGIN' ELSE 'NOLOGIN' END);
		ELSIF r.rolcanlogin <> r.login THEN
			EXECUTE format('ALTER ROLE %I %s', r.name, CASE WHEN r.login THEN 'LOGIN' ELSE 'NOLOGIN' END);
		END IF;
		IF r.oid IS NULL OR shobj_description(r.oid, 'pg_authid') IS DISTINCT FROM r.comment THEN
			EXECUTE format('COMMENT ON ROLE %I IS %L', r.name, r.comment);
		END IF;
	END LOOP;
	-- A superuser may be every role. In PostgreSQL 16 the creator of a role may not.
	IF NOT pg_has_role('urlmode_owner',
		CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END)
	THEN
		GRANT urlmode_owner TO CURRENT_USER;
	END IF;
END
$$;

ALTER SCHEMA urlmode OWNER TO urlmode_owner;
ALTER TABLE urlmode.migration OWNER TO urlmode_owner;
REVOKE ALL ON SCHEMA urlmode FROM PUBLIC;
GRANT USAGE ON SCHEMA urlmode TO urlmode_cgi, urlmode_server, urlmode_operator;
-- A function that nobody grants is closed.
ALTER DEFAULT PRIVILEGES FOR ROLE urlmode_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

-- Both look rows up by an index, always. In a new or restored database, whose
-- tables PostgreSQL takes for small until they are analyzed, a connection would
-- keep plans that read them whole, and a batch that takes 3 ms takes 15 after
-- 40,000 rows. Where no index helps, the cost that this setting adds would
-- start the JIT compiler. An administrator who may not change these roles sets
-- it for all roles of the database.
--
-- An MCP server waits for an answer for 30 seconds. What it asked for must not
-- be carried out after that, when it has told its caller that it failed. For
-- all roles this would end an operator's long statements.
DO $$
DECLARE
	role text;
	setting text;
BEGIN
	FOREACH role IN ARRAY ARRAY['urlmode_cgi', 'urlmode_server'] LOOP
		FOREACH setting IN ARRAY ARRAY['enable_seqscan = off', 'jit = off'] LOOP
			BEGIN
				EXECUTE format('ALTER ROLE %I IN DATABASE %I SET %s', role, current_database(), setting);
			EXCEPTION WHEN insufficient_privilege THEN
				EXECUTE format('ALTER DATABASE %I SET %s', current_database(), setting);
			END;
		END LOOP;
	END LOOP;
	BEGIN
		EXECUTE format('ALTER ROLE urlmode_server IN DATABASE %I SET statement_timeout = ''25s''', current_database());
	EXCEPTION WHEN insufficient_privilege THEN
		RAISE WARNING USING MESSAGE = format('the administrator of the role urlmode_server must execute'
			' ALTER ROLE urlmode_server IN DATABASE %I SET statement_timeout = ''25s''', current_database());
	END;
END
$$;

-- The database is urlmode's own. By default PostgreSQL lets every role connect
-- to it and fill its disk with temporary tables and large objects. Both are
-- taken away, in case a login is stolen. Only a superuser can revoke what
-- PostgreSQL grants on its own functions.
DO $$
BEGIN
	EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
	EXECUTE format('GRANT CONNECT ON DATABASE %I TO urlmode_cgi, urlmode_server, urlmode_operator',
		current_database());
	IF EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public') THEN
		REVOKE CREATE ON SCHEMA public FROM PUBLIC;
	END IF;
	IF current_setting('is_superuser')::boolean THEN
		REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea)
		FROM PUBLIC;
	END IF;
END
$$;
