-- Before the other files: the version of the functions, and no rights.

SET LOCAL ROLE :"owner";

DO $$
BEGIN
	PERFORM set_config('urlmode.replaced', urlmode.functions_version()::text, true);
END
$$;

-- Raised by the first change of a function after a release (../../tests/unit/sql.test.mjs).
CREATE OR REPLACE FUNCTION urlmode.functions_version() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 1
$$;
COMMENT ON FUNCTION urlmode.functions_version IS
	'The version of the functions, which each migrate replaces by those of its own version. 0: they '
	'are still missing.';

DO $$
DECLARE
	replaced CONSTANT integer := current_setting('urlmode.replaced');
BEGIN
	IF replaced > urlmode.functions_version() THEN
		RAISE 'the functions of this database have version %, and would be replaced by older ones of version %; nothing was changed',
				replaced, urlmode.functions_version()
			USING HINT = 'Migrate with the newest version that uses this database. Older programs and packages work with its functions.';
	END IF;
END
$$;

-- The files grant what others may execute, and nothing else is granted.
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN
		SELECT p.oid::regprocedure AS function, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
		FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
		WHERE p.pronamespace = 'urlmode'::regnamespace AND pg_get_userbyid(p.proowner) = current_user
			AND a.grantee <> p.proowner
	LOOP
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM %s CASCADE', r.function, r.grantee);
	END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION urlmode.functions_version TO :"server", :"operator";
