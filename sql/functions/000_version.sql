-- Before the other files: the version of the functions, and no rights.
--
-- The files are numbered in the order in which they are best read:
--
--   001_states          which operation leads from which status to which
--   002_elicitation     how a row moves
--   003_payment         the money that providers have proved
--   004_claim           which call acts on an outcome, and what no call has claimed
--   005_retention       how long results and rows are kept, and what deletes them
--   006_create          an MCP server creates an elicitation, or resumes one
--   007_callback        the browser: look up, open, complete
--   008_event           the provider: events of webhooks
--   009_wait            the MCP server that waits: read, expire, abandon, settle
--   013_operator        what the operator's command asks
--   014_vault           accounts that stay connected: their tokens, sealed
--   015_unknown_event   money for an elicitation that nobody knows
--   016_fold            which names are the same for people
--   016_form            the forms of kinds input and approval: answers, checks, decisions
--   018_refund          money that goes back
--   024_unreadable      deliveries that are signed rightly, and cannot be read
--   029_recheck         the provider is asked where an event proves nothing
--   029_reconcile       what a provider has, beside what is here
--   030_item            what payments and signatures are for
--   031_ledger          everything about money in order, and whether an item is paid
--   032_entitlement     subscriptions: what a user may use until when
--   038_name            payments with two names
--   041_api             what the program api asks beside what the packages call
--   042_api_lists       its lists, a page at a time
--   043_ask             what clients have answered, which moves no row
--   044_task            calls that clients hold as tasks
--   048_check           what urlmode check does as a user, and what it compares
--   049_console         what waits for somebody, for the pages of the operators
--   049_counts          how many have ended, and how many events have come, by hour and day
--   049_search          the same pages: where something is, and what became of it
--   050_leader          which server leads, and whether a commit hangs
--   052_audit           all the data of a user, for the operator
--
-- ../end.sql comes after them.

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

-- Of a checkout before 1.0.0: these had other results, or fewer parameters, under the same names. Nobody is without them, because
-- this transaction makes them anew, and the calls of the older form go on.
DO $$
DECLARE
	older regprocedure;
BEGIN
	FOR older IN
		SELECT p.oid::regprocedure FROM pg_proc p
		WHERE p.pronamespace = 'urlmode'::regnamespace AND CASE p.proname
			WHEN 'leader' THEN NOT p.proargnames @> '{pid,session}'
			WHEN 'read_task' THEN NOT p.proargnames @> '{withheld}'
			WHEN 'end_task' THEN p.pronargs < 7
			WHEN 'awaits_operator' THEN true -- has no file any more
			ELSE false
		END
	LOOP
		EXECUTE format('DROP FUNCTION %s', older);
	END LOOP;
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
		WHERE p.pronamespace IN ('urlmode'::regnamespace, to_regnamespace('urlmode_frameworks')) AND pg_get_userbyid(p.proowner) = current_user
			AND a.grantee <> p.proowner
	LOOP
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM %s CASCADE', r.function, r.grantee);
	END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION urlmode.functions_version TO :"server", :"operator";
