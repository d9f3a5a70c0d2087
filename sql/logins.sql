-- After the tables, each time: the logins of this deployment, who else may use the database, and
-- that nobody else can connect.
--
-- A database that other logins have used until now gets those of its deployment beside them.
-- They may do the same, so that one program after the other can take its new login. Then
-- migrate --revoke-others takes the rights of the old ones away, here alone: the roles stay, since
-- other databases may use them. The owner of the objects stays as well. Nobody logs in as it.

SET LOCAL urlmode.prefix = :'prefix';
SET LOCAL urlmode.revoke_others = :'revoke_others';

DO $$
DECLARE
	prefix CONSTANT text := current_setting('urlmode.prefix');
	beside CONSTANT text[] := ARRAY( -- prefixes of the logins that may use the schema
		SELECT DISTINCT left(a.grantee::regrole::text, -4) FROM pg_namespace n, aclexplode(n.nspacl) a
		WHERE n.nspname = 'urlmode' AND a.privilege_type = 'USAGE' AND a.grantee <> 0
			AND a.grantee::regrole::text ~ '^urlmode(_[a-z][a-z0-9]*)?_cgi$' AND a.grantee::regrole::text <> prefix || '_cgi'
		ORDER BY 1
	);
	is_new CONSTANT boolean := NOT EXISTS (
		SELECT FROM pg_namespace n, aclexplode(n.nspacl) a
		WHERE n.nspname = 'urlmode' AND a.privilege_type = 'USAGE' AND pg_get_userbyid(a.grantee) = prefix || '_cgi'
	);
	others CONSTANT text[] := ARRAY(
		SELECT b.prefix || v.suffix FROM unnest(beside) AS b (prefix), unnest(ARRAY['_cgi', '_server', '_operator']) AS v (suffix)
		WHERE to_regrole(b.prefix || v.suffix) IS NOT NULL
	);
	busy text;
	setting text;
	r record;
BEGIN
	-- A new login is like the one that it stands beside.
	FOR r IN
		SELECT prefix || v.suffix AS login, o.oid AS other, shobj_description(o.oid, 'pg_authid') AS comment,
			to_regrole(prefix || v.suffix) IS NOT NULL AS is_there, v.suffix = '_server' AS has_frameworks
		FROM (VALUES ('_cgi'), ('_server'), ('_operator')) AS v (suffix)
		JOIN pg_roles o ON o.rolname = beside[1] || v.suffix
		WHERE is_new
	LOOP
		IF NOT r.is_there THEN
			EXECUTE format('CREATE ROLE %I LOGIN', r.login);
			EXECUTE format('COMMENT ON ROLE %I IS %L', r.login, r.comment);
		END IF;
		EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), r.login);
		EXECUTE format('GRANT USAGE ON SCHEMA urlmode TO %I', r.login);
		IF r.has_frameworks AND to_regnamespace('urlmode_frameworks') IS NOT NULL THEN
			EXECUTE format('GRANT USAGE ON SCHEMA urlmode_frameworks TO %I', r.login);
		END IF;
		FOR setting IN
			-- A list of names is kept as it is written, and every other value without its quotes.
			SELECT format('ALTER ROLE %I IN DATABASE %I SET %I = %s', r.login, current_database(), p.name,
				CASE WHEN p.name IN ('search_path', 'temp_tablespaces', 'local_preload_libraries', 'session_preload_libraries') THEN p.value
					ELSE quote_literal(p.value) END)
			FROM pg_db_role_setting s, unnest(s.setconfig) c, LATERAL (SELECT split_part(c, '=', 1), substr(c, strpos(c, '=') + 1)) p (name, value)
			WHERE s.setrole = r.other AND s.setdatabase = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
		LOOP
			BEGIN
				EXECUTE setting;
			EXCEPTION WHEN insufficient_privilege THEN
				RAISE WARNING 'the administrator of the role % must execute %', r.login, setting;
			END;
		END LOOP;
	END LOOP;

	IF current_setting('urlmode.revoke_others')::boolean THEN
		SELECT string_agg(DISTINCT a.usename::text, ', ') INTO busy FROM pg_stat_activity a
		WHERE a.datname = current_database() AND a.usename = ANY (others);
		IF busy IS NOT NULL THEN
			RAISE 'somebody is connected to this database as %; nothing was changed', busy
				USING HINT = format('Give the programs and MCP servers the logins %s_cgi and %1$s_server, and restart them. '
					'What is left can be ended with pg_terminate_backend.', prefix);
		END IF;
		FOR r IN SELECT o.login FROM unnest(others) AS o (login) LOOP
			EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA urlmode FROM %I', r.login);
			EXECUTE format('REVOKE ALL ON SCHEMA urlmode FROM %I', r.login);
			IF to_regnamespace('urlmode_frameworks') IS NOT NULL THEN
				EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA urlmode_frameworks FROM %I', r.login);
				EXECUTE format('REVOKE ALL ON SCHEMA urlmode_frameworks FROM %I', r.login);
			END IF;
			BEGIN
				EXECUTE format('ALTER ROLE %I IN DATABASE %I RESET ALL', r.login, current_database());
			EXCEPTION WHEN insufficient_privilege THEN NULL; -- a setting of who cannot connect
			END;
		END LOOP;
	END IF;

	-- A database that was restored has the tables, and everybody's default right to connect.
	FOR r IN
		SELECT o.rolname AS login FROM pg_roles o
		WHERE o.rolname ~ '^urlmode(_[a-z][a-z0-9]*)?_(cgi|server|operator)$' AND has_schema_privilege(o.oid, 'urlmode', 'USAGE')
	LOOP
		EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), r.login);
	END LOOP;

	-- PUBLIC, and the logins of other deployments. What an operator has granted to others stays.
	SELECT string_agg(DISTINCT quote_ident(a.usename), ', ') INTO busy
	FROM pg_stat_activity a JOIN pg_roles o ON o.oid = a.usesysid
	WHERE a.datname = current_database() AND NOT o.rolsuper AND o.rolname <> current_user AND EXISTS (
		SELECT FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) c
		WHERE d.datname = a.datname AND c.privilege_type = 'CONNECT' AND c.grantee = 0 AND d.datdba <> o.oid
	) AND NOT EXISTS (
		SELECT FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) c
		WHERE d.datname = a.datname AND c.privilege_type = 'CONNECT' AND c.grantee <> 0 AND pg_has_role(o.oid, c.grantee, 'USAGE')
	);
	IF busy IS NOT NULL THEN
		RAISE WARNING 'not everybody can connect to this database any more. Whoever is to: GRANT CONNECT ON DATABASE % TO %',
			quote_ident(current_database()), busy;
	END IF;
	FOR r IN
		SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
		FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
		WHERE d.datname = current_database() AND a.privilege_type = 'CONNECT' AND (a.grantee = 0
			OR pg_get_userbyid(a.grantee) ~ '^urlmode(_[a-z][a-z0-9]*)?_(cgi|server|operator)$'
				AND NOT has_schema_privilege(a.grantee, 'urlmode', 'USAGE'))
	LOOP
		EXECUTE format('REVOKE ALL ON DATABASE %I FROM %s', current_database(), r.grantee);
	END LOOP;
END
$$;
