-- Roles and schema.
--
-- urlmode_owner   owns every object; nobody logs in as it, and the functions
--                 run with its rights alone (SECURITY DEFINER).
-- urlmode_cgi     the FastCGI programs log in as it.
-- urlmode_server  MCP servers log in as it.
--
-- The two login roles have no password here: give them one, or a line in
-- pg_hba.conf, where the database is set up.

DO $$
DECLARE
	role text;
BEGIN
	-- Roles belong to the whole cluster: another database may have them.
	FOREACH role IN ARRAY ARRAY['urlmode_owner', 'urlmode_cgi', 'urlmode_server'] LOOP
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
			EXECUTE format('CREATE ROLE %I', role);
		END IF;
	END LOOP;
END
$$;

ALTER ROLE urlmode_owner NOLOGIN;
ALTER ROLE urlmode_cgi LOGIN;
ALTER ROLE urlmode_server LOGIN;

COMMENT ON ROLE urlmode_owner IS 'Owns the schema urlmode; never logs in.';
COMMENT ON ROLE urlmode_cgi IS
	'The callback programs: may look at, open and complete an elicitation whose id and binding they know.';
COMMENT ON ROLE urlmode_server IS
	'MCP servers: may create elicitations, and read and complete those whose id and binding they know.';

GRANT urlmode_owner TO CURRENT_USER;
ALTER SCHEMA urlmode OWNER TO urlmode_owner;
ALTER TABLE urlmode.migration OWNER TO urlmode_owner;
REVOKE ALL ON SCHEMA urlmode FROM PUBLIC;
GRANT USAGE ON SCHEMA urlmode TO urlmode_cgi, urlmode_server;

-- The database is urlmode's own. PostgreSQL lets everybody connect to it, and
-- whoever is connected write to its disk, as temporary tables and large
-- objects: neither is for a login that may have been stolen. (Who may execute
-- what PostgreSQL itself brings is a superuser's to say.)
DO $$
BEGIN
	EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
	EXECUTE format('GRANT CONNECT ON DATABASE %I TO urlmode_cgi, urlmode_server', current_database());
	IF EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public') THEN
		REVOKE CREATE ON SCHEMA public FROM PUBLIC;
	END IF;
	IF current_setting('is_superuser')::boolean THEN
		REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea)
		FROM PUBLIC;
	END IF;
END
$$;
