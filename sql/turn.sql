-- First in each transaction of a migration: two runs wait for each other for as long as it takes, but from then on half a second for
-- each lock.

DO $$
BEGIN
	PERFORM pg_advisory_xact_lock(hashtext('urlmode.migration'));
END
$$;
SET LOCAL lock_timeout = '500ms';
