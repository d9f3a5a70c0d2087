"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

CHANNEL = "urlmode"
"""The channel on which every change of a row is notified, as {"id":…,"status":…}."""

PROBE_CHANNEL = "urlmode_probe"
"""The channel that tests whether notifications arrive."""

NOTIFY = "SELECT pg_notify(%s::text, %s::text)"
"""Sends a notification on a channel."""

PROGRAM_LIMIT_EXCEEDED = "54000"
"""The SQLSTATE program_limit_exceeded, with which PostgreSQL refuses a change whose notification has no room in
its queue, which empties by itself. `begin_ledger` raises it as well, for one consumer too many."""

BACKEND_PID = "SELECT pg_backend_pid() AS pid"
"""Which process of PostgreSQL answers. A pooler says another one than the connection has."""

LOCK_MIGRATIONS = "SELECT pg_advisory_lock(hashtext('urlmode.migration'))"
"""Makes migrations wait for each other until the end of the session: the roles are those of the cluster."""

UNLOCK_MIGRATIONS = "SELECT pg_advisory_unlock(hashtext('urlmode.migration'))"
"""The end of `lock_migrations`."""

FIND_SCHEMA = """SELECT to_regclass('urlmode.migration') IS NOT NULL AS has_migrations,
    to_regproc('urlmode.functions_version') IS NOT NULL AS has_version"""
"""What of the schema is there."""

READ_MIGRATIONS = """SELECT m.name, to_jsonb(m) ->> 'digest' AS digest FROM urlmode.migration m ORDER BY
    m.name"""
"""What was applied. Before 055_digest.sql there is no column for the digest."""

CHECK_SESSION = """SELECT current_user AS name, to_regnamespace('urlmode') IS NOT NULL AS has_schema,
    current_setting('enable_seqscan') || current_setting('jit') = 'offoff' AS has_settings, extract(epoch FROM
    clock_timestamp())::float8 AS now, pg_is_in_recovery() AS is_standby"""
"""What `check` asks first."""

CHECK_FUNCTIONS = """SELECT proname AS name, has_function_privilege(oid, 'EXECUTE') AS mine, (SELECT
    min(pg_get_userbyid(a.grantee)) FROM aclexplode(proacl) a WHERE pg_get_userbyid(a.grantee) ~
    '^urlmode(_[a-z][a-z0-9]*)?_server$') AS server FROM pg_proc WHERE pronamespace = 'urlmode'::regnamespace"""
"""Each function: whether this login may execute it, and the login of servers that may."""
