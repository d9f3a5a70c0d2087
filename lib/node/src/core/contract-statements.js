// Generated from lib/contract by `make contract`: change it there.

/** The channel on which every change of a row is notified, as {"id":…,"status":…}. */
export const CHANNEL = 'urlmode';

/** The channel that tests whether notifications arrive. */
export const PROBE_CHANNEL = 'urlmode_probe';

/** Sends a notification on a channel. */
export const NOTIFY = 'SELECT pg_notify($1::text, $2::text)';

/**
 * The SQLSTATE program_limit_exceeded, with which PostgreSQL refuses a change whose notification has no room in its
 * queue, which empties by itself. `begin_ledger` raises it as well, for one consumer too many.
 */
export const PROGRAM_LIMIT_EXCEEDED = '54000';

/** Which process of PostgreSQL answers. A pooler says another one than the connection has. */
export const BACKEND_PID = 'SELECT pg_backend_pid() AS pid';

/** Makes migrations wait for each other until the end of the session: the roles are those of the cluster. */
export const LOCK_MIGRATIONS = `SELECT pg_advisory_lock(hashtext('urlmode.migration'))`;

/** The end of `lock_migrations`. */
export const UNLOCK_MIGRATIONS = `SELECT pg_advisory_unlock(hashtext('urlmode.migration'))`;

/** What of the schema is there. */
export const FIND_SCHEMA = `SELECT to_regclass('urlmode.migration') IS NOT NULL AS has_migrations, to_regproc('urlmode.functions_version') IS NOT
	NULL AS has_version`;

/** What was applied. Before 055_digest.sql there is no column for the digest. */
export const READ_MIGRATIONS = `SELECT m.name, to_jsonb(m) ->> 'digest' AS digest FROM urlmode.migration m ORDER BY m.name`;

/** What `check` asks first. */
export const CHECK_SESSION = `SELECT current_user AS name, to_regnamespace('urlmode') IS NOT NULL AS has_schema, current_setting('enable_seqscan') ||
	current_setting('jit') = 'offoff' AS has_settings, extract(epoch FROM clock_timestamp())::float8 AS now,
	pg_is_in_recovery() AS is_standby`;

/** Each function: whether this login may execute it, and the login of servers that may. */
export const CHECK_FUNCTIONS = `SELECT proname AS name, has_function_privilege(oid, 'EXECUTE') AS mine, (SELECT min(pg_get_userbyid(a.grantee)) FROM
	aclexplode(proacl) a WHERE pg_get_userbyid(a.grantee) ~ '^urlmode(_[a-z][a-z0-9]*)?_server$') AS server FROM pg_proc
	WHERE pronamespace = 'urlmode'::regnamespace`;
