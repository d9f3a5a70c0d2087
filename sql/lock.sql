-- Before a migration that names urlmode.elicitation, in its transaction: most calls lock that table first, so that whoever waits for it
-- holds nothing for which the migration waits later.

DO $$
BEGIN
	IF to_regclass('urlmode.elicitation') IS NOT NULL THEN
		LOCK TABLE urlmode.elicitation IN ACCESS EXCLUSIVE MODE;
	END IF;
END
$$;
