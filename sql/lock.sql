-- Before a migration that names urlmode.elicitation, in its transaction: calls lock that table before those that they write, so that
-- whoever waits for it holds nothing for which the migration waits later. Only mark_read of before 1.0.0 has locked purge_queue by then:
-- in that case both are let go, and locked again after a pause.

DO $$
DECLARE
	tries CONSTANT integer := 100;
	is_first boolean;
BEGIN
	IF to_regclass('urlmode.elicitation') IS NULL THEN
		RETURN;
	END IF;
	FOR try IN 1 .. tries LOOP
		BEGIN
			is_first := true;
			LOCK TABLE urlmode.elicitation IN ACCESS EXCLUSIVE MODE;
			is_first := false;
			IF to_regclass('urlmode.purge_queue') IS NOT NULL THEN
				LOCK TABLE urlmode.purge_queue IN ACCESS EXCLUSIVE MODE NOWAIT;
			END IF;
			RETURN;
		EXCEPTION WHEN lock_not_available THEN
			IF is_first OR try = tries THEN
				RAISE;
			END IF;
		END;
		PERFORM pg_sleep(least(try, 50) * 0.002 * random());
	END LOOP;
END
$$;
