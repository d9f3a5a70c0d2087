-- Autovacuum does not cut off the free end of a table: it would lock the table meanwhile, for longer
-- than the 20 ms that functions wait for a lock, and new rows use that space anyway. VACUUM FULL shrinks a table.

SET LOCAL ROLE :"owner";

DO $$
DECLARE
	place regclass;
BEGIN
	FOR place IN SELECT oid FROM pg_class WHERE relnamespace = 'urlmode'::regnamespace AND relkind = 'r' LOOP
		EXECUTE format('ALTER TABLE %s SET (vacuum_truncate = off, toast.vacuum_truncate = off)', place);
	END LOOP;
END
$$;
