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
--   004_retention       how long results and rows are kept, and what deletes them
--   005_create          an MCP server creates an elicitation, or resumes one
--   006_callback        the browser: look up, open, complete
--   007_event           the provider: events of webhooks
--   008_wait            the MCP server that waits: read, expire, abandon, settle, recheck
--   009_client_request  requests of MCP servers to their clients
--   010_mcp_session     sessions of MCP clients
--   011_storage         keys and channels for MCP frameworks
--   012_operator        what the operator's command asks

DO $$
DECLARE
	role text;
BEGIN
	-- Roles belong to the cluster. Another database may have created them.
	FOREACH role IN ARRAY
		ARRAY['urlmode_owner', 'urlmode_cgi', 'urlmode_server', 'urlmode_operator']
	LOOP
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
			EXECUTE format('CREATE ROLE %I', role);
		END IF;
	END LOOP;
END
$$;

ALTER ROLE urlmode_owner NOLOGIN;
ALTER ROLE urlmode_cgi LOGIN;
ALTER ROLE urlmode_server LOGIN;
ALTER ROLE urlmode_operator LOGIN;

COMMENT ON ROLE urlmode_owner IS 'Owns the schema urlmode. Cannot log in.';
COMMENT ON ROLE urlmode_cgi IS
	'Login of the callback programs. It can only execute functions, and needs the id of every elicitation that it changes.';
COMMENT ON ROLE urlmode_server IS
	'Login of MCP servers. It can only execute functions, and needs the id and the binding of every elicitation that it reads or changes.';
COMMENT ON ROLE urlmode_operator IS
	'Login of the operator''s command. It can only execute functions: it sees what has become of elicitations, never a result, and purges what is over.';

GRANT urlmode_owner TO CURRENT_USER;
ALTER SCHEMA urlmode OWNER TO urlmode_owner;
ALTER TABLE urlmode.migration OWNER TO urlmode_owner;
REVOKE ALL ON SCHEMA urlmode FROM PUBLIC;
GRANT USAGE ON SCHEMA urlmode TO urlmode_cgi, urlmode_server, urlmode_operator;

-- Both look rows up by an index, always. In a new or restored database, whose
-- tables PostgreSQL takes for small until they are analyzed, a connection would
-- keep plans that read them whole, and a batch that takes 3 ms takes 15 after
-- 40,000 rows. Where no index helps, the cost that this setting adds would
-- start the JIT compiler.
DO $$
DECLARE
	role text;
BEGIN
	FOREACH role IN ARRAY ARRAY['urlmode_cgi', 'urlmode_server'] LOOP
		EXECUTE format('ALTER ROLE %I IN DATABASE %I SET enable_seqscan = off', role, current_database());
		EXECUTE format('ALTER ROLE %I IN DATABASE %I SET jit = off', role, current_database());
	END LOOP;
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
