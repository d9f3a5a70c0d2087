-- Roles and schema.
--
-- owner     owns every object. Nobody logs in as it. The functions that
--           others call run with its rights (SECURITY DEFINER).
-- cgi       is the login of the callback programs.
-- server    is the login of MCP servers.
-- operator  is the login of the command `urlmode`.
--
-- roles.sql has their names.
--
-- The logins get no password here. Set one, or add a line to pg_hba.conf,
-- when you set up the database.

-- For the blocks below.
SET LOCAL urlmode.owner = :'owner';
SET LOCAL urlmode.cgi = :'cgi';
SET LOCAL urlmode.server = :'server';
SET LOCAL urlmode.operator = :'operator';

-- Roles belong to the cluster. Another database may have created them, by an
-- administrator whose roles the one of this database may not change (PostgreSQL
-- 16 and newer). So only what differs is changed.
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN
		SELECT current_setting('urlmode.' || v.role) AS name, v.login, v.comment, a.oid, a.rolcanlogin
		FROM (VALUES
			('owner', false, 'Owns the schema urlmode. Cannot log in.'),
			('cgi', true,
				'Login of the callback programs. It can only execute functions, and needs the id of every elicitation that it changes.'),
			('server', true,
				'Login of MCP servers. It can only execute functions, and needs the id and the binding of every elicitation that it reads or changes.'),
			('operator', true,
				'Login of the operator''s command. It can only execute functions: it sees what has become of elicitations, never a result, and purges elicitations that have ended.')
		) AS v (role, login, comment)
		LEFT JOIN pg_roles a ON a.rolname = current_setting('urlmode.' || v.role)
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
	IF NOT pg_has_role(current_setting('urlmode.owner'),
		CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END)
	THEN
		EXECUTE format('GRANT %I TO CURRENT_USER', current_setting('urlmode.owner'));
	END IF;
END
$$;

ALTER SCHEMA urlmode OWNER TO :"owner";
ALTER TABLE urlmode.migration OWNER TO :"owner";
ALTER FUNCTION urlmode.functions_version OWNER TO :"owner";
REVOKE ALL ON SCHEMA urlmode FROM PUBLIC;
GRANT USAGE ON SCHEMA urlmode TO :"cgi", :"server", :"operator";
-- A function that nobody grants is closed.
ALTER DEFAULT PRIVILEGES FOR ROLE :"owner" REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

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
	cgi CONSTANT text := current_setting('urlmode.cgi');
	server CONSTANT text := current_setting('urlmode.server');
	role text;
	setting text;
	statement text;
BEGIN
	FOREACH role IN ARRAY ARRAY[cgi, server] LOOP
		FOREACH setting IN ARRAY ARRAY['enable_seqscan = off', 'jit = off'] LOOP
			BEGIN
				EXECUTE format('ALTER ROLE %I IN DATABASE %I SET %s', role, current_database(), setting);
			EXCEPTION WHEN insufficient_privilege THEN
				EXECUTE format('ALTER DATABASE %I SET %s', current_database(), setting);
			END;
		END LOOP;
	END LOOP;
	statement := format('ALTER ROLE %I IN DATABASE %I SET statement_timeout = ''25s''', server, current_database());
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN insufficient_privilege THEN
		RAISE WARNING 'the administrator of the role % must execute %', server, statement;
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
	EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I, %I, %I', current_database(),
		current_setting('urlmode.cgi'), current_setting('urlmode.server'), current_setting('urlmode.operator'));
	IF EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public') THEN
		REVOKE CREATE ON SCHEMA public FROM PUBLIC;
	END IF;
	IF current_setting('is_superuser')::boolean THEN
		REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea)
		FROM PUBLIC;
	END IF;
END
$$;
