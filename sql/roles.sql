-- The names of the roles. Wherever another file needs one, it has
-- :"cgi" (an identifier) or :'cgi' (a text), which psql and the Node package replace;
-- psql does not do so inside of quotes and of $$.
--
-- Roles are the cluster's, and each deployment has its own: urlmode_cgi and so on, or
-- urlmode_NAME_cgi of the deployment NAME (migrate --deployment). A database knows whose it is:
-- by the logins that may use its schema. Its owner stays, whatever logins it gets later.
SELECT coalesce(asked.prefix, here.prefixes[1], 'urlmode') AS prefix,
	coalesce(here.owner, coalesce(asked.prefix, 'urlmode') || '_owner') AS owner
FROM (
	SELECT 'urlmode' || CASE :'deployment' WHEN '' THEN NULL WHEN 'default' THEN '' ELSE '_' || :'deployment' END AS prefix
) asked
CROSS JOIN (
	SELECT max(pg_get_userbyid(n.nspowner)::text) AS owner, array_agg(DISTINCT left(pg_get_userbyid(a.grantee)::text, -4)) AS prefixes
	FROM pg_namespace n, aclexplode(n.nspacl) a
	WHERE n.nspname = 'urlmode' AND a.privilege_type = 'USAGE' AND pg_get_userbyid(a.grantee) ~ '^urlmode(_[a-z][a-z0-9]*)?_cgi$'
) here \gset
\set cgi :prefix _cgi
\set server :prefix _server
\set operator :prefix _operator
