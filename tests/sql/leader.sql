-- A server says whether it leads, and whether a process of the same login commits or works.

SET SESSION AUTHORIZATION urlmode_cgi;
-- The timeline is that of the first primary; this session is at this statement.
SELECT timeline, pid = pg_backend_pid() AS is_session, works FROM urlmode.leader(pg_backend_pid());
-- No process, and that of another login.
SELECT works FROM urlmode.leader(0);
RESET SESSION AUTHORIZATION;
SELECT pg_backend_pid() AS pid \gset
SET SESSION AUTHORIZATION urlmode_server;
SELECT timeline, works FROM urlmode.leader(:pid);
