-- Applied first, each time: makes a new schema, or takes over the last one that was
-- migrated before tables/ and functions/ were apart. Any other one is refused, and so are files
-- that are not as they were applied.

SET LOCAL search_path = pg_catalog, pg_temp; -- as in the digest below
SET LOCAL urlmode.owner = :'owner';
SET LOCAL urlmode.digests = :'digests';

DO $$
DECLARE
	-- The migrations of that schema. Four of them had functions alone, and 017 is gone.
	names CONSTANT text[] := ARRAY[
		'001_schema.sql', '002_elicitation.sql', '003_payment.sql', '004_claim.sql', '005_retention.sql', '006_create.sql',
		'007_callback.sql', '008_event.sql', '009_wait.sql', '010_client_request.sql', '011_mcp_session.sql', '012_storage.sql',
		'013_operator.sql', '014_vault.sql', '015_unknown_event.sql', '016_form.sql', '017_signing_key.sql', '018_refund.sql'
	];
	-- Of its columns, indexes, constraints, domains and functions.
	digest CONSTANT text := '6617376dd926a690d402b250bea511f850f567bc45e3de0738f07c131f5b89ad';
	owner CONSTANT text := current_setting('urlmode.owner');
	changed text;
	space oid;
	moved record;
	is_known boolean := false;
BEGIN
	IF to_regproc('urlmode.functions_version') IS NOT NULL THEN
		-- Before 055_digest.sql there is no column for it. Those of before are adopted by end.sql.
		SELECT string_agg(m.name, ', ' ORDER BY m.name) INTO changed FROM urlmode.migration m
		WHERE to_jsonb(m) ->> 'digest' <> current_setting('urlmode.digests')::jsonb ->> m.name;
		IF changed IS NOT NULL THEN
			RAISE 'not as it was applied to this database: %; nothing was changed', changed
				USING HINT = 'A file of tables/ never changes after its release, another one corrects it: take it from the release. '
					'If it was applied from a checkout before its release, make the schema by hand what the file says, and then: '
					'UPDATE urlmode.migration SET digest = NULL WHERE name = ''' || split_part(changed, ', ', 1) || '''';
		END IF;
		RETURN;
	END IF;
	CREATE SCHEMA IF NOT EXISTS urlmode;
	space := 'urlmode'::regnamespace;
	IF NOT EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = space) THEN
		CREATE TABLE urlmode.migration (
			name       text COLLATE "C" PRIMARY KEY,
			applied_at timestamptz NOT NULL DEFAULT now()
		);
	ELSE
		IF to_regclass('urlmode.migration') IS NOT NULL THEN
			-- All, or without those that only had functions.
			SELECT array_agg(m.name::text ORDER BY m.name) IN (names, array_remove(array_remove(array_remove(array_remove(names,
				'006_create.sql'), '007_callback.sql'), '009_wait.sql'), '018_refund.sql')) INTO is_known FROM urlmode.migration m;
		END IF;
		IF is_known IS NOT TRUE OR digest <> (
			SELECT encode(sha256(convert_to(string_agg(o.line, E'\n' ORDER BY o.line COLLATE "C"), 'UTF8')), 'hex') FROM (
				SELECT concat_ws(' ', 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull) AS line
				FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
				WHERE c.relnamespace = space AND c.relkind IN ('r', 'i')
				UNION ALL
				SELECT concat_ws(' ', 'constraint', k.conname) FROM pg_constraint k
				WHERE k.connamespace = space AND k.contype <> 'n' -- a column says so
				UNION ALL
				SELECT concat_ws(' ', 'domain', t.typname, format_type(t.typbasetype, t.typtypmod)) FROM pg_type t
				WHERE t.typnamespace = space AND t.typtype = 'd'
				UNION ALL
				SELECT concat_ws(' ', 'function', p.proname, oidvectortypes(p.proargtypes), format_type(p.prorettype, NULL))
				FROM pg_proc p WHERE p.pronamespace = space
			) o
		) THEN
			RAISE 'the schema urlmode of this database is unknown, or a part of it is missing; nothing was changed'
				USING HINT = 'If it is an older one, run the sql/migrate of the last version that has 018_refund.sql in sql/ first. '
					'Otherwise migrate another database, which is empty.';
		END IF;
		DELETE FROM urlmode.migration m
		WHERE m.name IN ('006_create.sql', '007_callback.sql', '009_wait.sql', '017_signing_key.sql', '018_refund.sql');
		-- What is in frameworks/ now: its tables first, since functions have their types.
		EXECUTE format('CREATE SCHEMA urlmode_frameworks AUTHORIZATION %I', owner);
		FOR moved IN
			SELECT 'TABLE' AS what, t.name FROM unnest(ARRAY['client_request', 'mcp_session', 'mcp_event', 'stored', 'published']) AS t (name)
			UNION ALL
			SELECT 'DOMAIN', d.name FROM unnest(ARRAY['hash', 'response', 'message', 'stream', 'name', 'value']) AS d (name)
			UNION ALL
			SELECT 'FUNCTION', p.proname::text FROM pg_proc p
			WHERE p.pronamespace = space AND p.proname ~ '^(client_request_|mcp_|stored_|publish)'
		LOOP
			EXECUTE format('ALTER %s urlmode.%I SET SCHEMA urlmode_frameworks', moved.what, moved.name);
		END LOOP;
		UPDATE urlmode.migration m SET name = 'frameworks/' || m.name
		WHERE m.name IN ('010_client_request.sql', '011_mcp_session.sql', '012_storage.sql');
		EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC', owner);
	END IF;

	COMMENT ON SCHEMA urlmode IS 'URL-mode elicitations: their state, and the functions that change it.';
	COMMENT ON TABLE urlmode.migration IS 'The migrations of tables that have been applied.';
	COMMENT ON COLUMN urlmode.migration.name IS 'The name of its file in sql/tables/, or of frameworks/ and its name there.';
	COMMENT ON COLUMN urlmode.migration.applied_at IS 'When it was applied.';

	-- functions/ replaces it.
	CREATE FUNCTION urlmode.functions_version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 0';
	IF is_known THEN
		EXECUTE format('ALTER FUNCTION urlmode.functions_version OWNER TO %I', owner);
	END IF;
END
$$;
