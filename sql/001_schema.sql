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
