-- After all functions, each time: what the files grant is granted to the other logins of this
-- database as well (logins.sql), and what this migrate has made is recorded for
-- urlmode.changed_objects (functions/048_check.sql) and for the next migrate.

SET LOCAL urlmode.prefix = :'prefix';

DO $$
DECLARE
	prefix CONSTANT text := current_setting('urlmode.prefix');
	r record;
BEGIN
	FOR r IN
		SELECT p.oid::regprocedure AS function, o.oid::regrole AS other
		FROM pg_proc p, aclexplode(p.proacl) a, pg_roles o
		WHERE p.pronamespace IN ('urlmode'::regnamespace, to_regnamespace('urlmode_frameworks')) AND a.grantee <> 0
			AND o.rolname ~ '^urlmode(_[a-z][a-z0-9]*)?_(cgi|server|operator)$' AND has_schema_privilege(o.oid, 'urlmode', 'USAGE')
			AND o.oid <> a.grantee AND pg_get_userbyid(a.grantee) = prefix || substring(o.rolname FROM '_[a-z]+$')
	LOOP
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', r.function, r.other);
	END LOOP;
END
$$;

DELETE FROM urlmode.object;
INSERT INTO urlmode.object SELECT * FROM urlmode.objects();

-- In a new database, those before 055_digest.sql; and those that an older version has applied.
SET LOCAL urlmode.digests = :'digests';
UPDATE urlmode.migration m SET digest = current_setting('urlmode.digests')::jsonb ->> m.name WHERE m.digest IS NULL;
