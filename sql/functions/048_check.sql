-- What `urlmode check` does as a user, and what it compares.
--
-- The synthetic elicitation is of kind approval, and its provider, tenant and subject are
-- `urlmode-check`. Nobody else may use one of these names (create_elicitation). The
-- command opens its link and declines it, as a user does, and deletes it. So no list, limit
-- or ledger has it.

CREATE OR REPLACE FUNCTION urlmode.walk_binding() RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
	SELECT substring(sha256('\x75726c6d6f64652062696e64696e672076320075726c6d6f64652d636865636b0075726c6d6f64652d636865636b00') FOR 16)
$$;
COMMENT ON FUNCTION urlmode.walk_binding IS
	'Internal. The owner of synthetic elicitations: the digest of their tenant and subject, without '
	'a session (lib/PROTOCOL.md).';

CREATE OR REPLACE FUNCTION urlmode.end_walk(id uuid DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	taken bigint;
BEGIN
	DELETE FROM urlmode.elicitation e
	WHERE e.binding = urlmode.walk_binding() AND NOT e.is_final AND e.provider = 'urlmode-check' AND e.tenant = 'urlmode-check'
		AND (e.id = end_walk.id OR e.expires_at <= now());
	GET DIAGNOSTICS taken = ROW_COUNT;
	DELETE FROM urlmode.event v
	WHERE v.provider = 'urlmode-check' AND NOT EXISTS (SELECT FROM urlmode.elicitation e WHERE e.id = v.elicitation);
	RETURN taken;
END
$$;
COMMENT ON FUNCTION urlmode.end_walk IS
	'Deletes this synthetic elicitation, whether it is over or not, and those that have expired, '
	'with their events, and returns how many: another host may be at its own.';

CREATE OR REPLACE FUNCTION urlmode.begin_walk(id uuid, form bytea, link_kid integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	-- The row is there also where commits wait for a standby: the walk itself is to find that.
	PERFORM set_config('synchronous_commit', 'local', true);
	PERFORM urlmode.end_walk();
	INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, expires_at, link_kid, tenant)
	VALUES (begin_walk.id, 'urlmode-check', 'approval', 'urlmode-check', urlmode.walk_binding(), 'urlmode check',
		now() + interval '2 minutes', begin_walk.link_kid, 'urlmode-check');
	INSERT INTO urlmode.form (elicitation, expires_at, definition)
	VALUES (begin_walk.id, now() + interval '2 minutes', begin_walk.form);
END
$$;
COMMENT ON FUNCTION urlmode.begin_walk IS
	'Creates the synthetic elicitation, pending, and deletes those that have expired. form: sealed, as '
	'create_elicitation is given it. It expires after two minutes.';

CREATE OR REPLACE FUNCTION urlmode.read_walk(id uuid)
RETURNS TABLE (status text, action text, reason text, result bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.status::text, e.action::text, e.reason::text, e.result::bytea
	FROM urlmode.elicitation e
	WHERE e.id = read_walk.id AND e.binding = urlmode.walk_binding() AND e.provider = 'urlmode-check'
$$;
COMMENT ON FUNCTION urlmode.read_walk IS
	'How far a synthetic elicitation is, with its sealed result; no row: it is no such one.';

CREATE OR REPLACE FUNCTION urlmode.beat(hosts text[]) RETURNS TABLE (beats boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
	-- Of containers, each has a name of its own.
	DELETE FROM urlmode.host h WHERE h.committed_at < now() - interval '1 day' AND h.name <> ALL (hosts);
	INSERT INTO urlmode.host AS h (name, committed_at)
	SELECT DISTINCT a.name, now() FROM unnest(hosts) AS a (name) ORDER BY a.name
	ON CONFLICT (name) DO UPDATE SET committed_at = excluded.committed_at;
	RETURN QUERY SELECT true FROM unnest(hosts);
END
$$;
COMMENT ON FUNCTION urlmode.beat IS
	'Callback hosts say that they live. If the transaction commits, others do as well.';

CREATE OR REPLACE FUNCTION urlmode.list_hosts() RETURNS TABLE (name text, silent_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT h.name, (extract(epoch FROM now() - h.committed_at) * 1000)::bigint FROM urlmode.host h ORDER BY h.name
$$;
COMMENT ON FUNCTION urlmode.list_hosts IS
	'The callback hosts of the last day, and for how long each has committed nothing.';

CREATE OR REPLACE FUNCTION urlmode.record_check(host text, errors integer, warnings integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	-- Of containers, each has a name of its own.
	DELETE FROM urlmode.host_check c WHERE c.checked_at < now() - interval '40 days';
	INSERT INTO urlmode.host_check AS c (name, checked_at, errors, warnings) VALUES (host, now(), record_check.errors, record_check.warnings)
	ON CONFLICT (name) DO UPDATE SET checked_at = excluded.checked_at, errors = excluded.errors, warnings = excluded.warnings;
END
$$;
COMMENT ON FUNCTION urlmode.record_check IS
	'Keeps how many errors and warnings the last check of a host has found.';

CREATE OR REPLACE FUNCTION urlmode.list_checks() RETURNS TABLE (host text, checked_at timestamptz, errors bigint, warnings bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.name, c.checked_at, c.errors::bigint, c.warnings::bigint FROM urlmode.host_check c
	ORDER BY c.checked_at DESC, c.name LIMIT 100
$$;
COMMENT ON FUNCTION urlmode.list_checks IS
	'The last check of each host of the last 40 days, the newest first, at most 100.';

CREATE OR REPLACE FUNCTION urlmode.minted_kids() RETURNS TABLE (kid integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT DISTINCT e.link_kid::integer FROM urlmode.elicitation e
	WHERE e.kind = ANY (ARRAY['oauth', 'payment', 'signature', 'input', 'approval']) AND e.expires_at > now()
		AND e.status <> 'completed' AND e.link_kid IS NOT NULL
	ORDER BY 1
$$;
COMMENT ON FUNCTION urlmode.minted_kids IS
	'The keys that have made the links of elicitations that can be opened.';

CREATE OR REPLACE FUNCTION urlmode.objects() RETURNS SETOF urlmode.object
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT o.kind, o.name, o.holder, sha256(convert_to(o.definition, 'UTF8'))
	FROM (
		SELECT 'function' AS kind, p.oid::regprocedure::text AS name, '' AS holder,
			concat_ws(E'\n', pg_get_function_result(p.oid), pg_get_function_arguments(p.oid), p.prosecdef, p.provolatile, p.proconfig, p.prosrc) AS definition
		FROM pg_proc p WHERE p.pronamespace = 'urlmode'::regnamespace
		UNION ALL
		SELECT 'grant', p.oid::regprocedure::text, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(a.grantee)::text END, NULL
		FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
		WHERE p.pronamespace = 'urlmode'::regnamespace AND a.grantee <> p.proowner AND a.privilege_type = 'EXECUTE'
		UNION ALL
		SELECT 'index', i.indexrelid::regclass::text, '', concat(pg_get_indexdef(i.indexrelid), i.indisvalid)
		FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = 'urlmode'::regnamespace
		UNION ALL
		SELECT 'column', a.attrelid::regclass || '.' || a.attname, '',
			concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid))
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE c.relnamespace = 'urlmode'::regnamespace AND c.relkind = 'r'
		UNION ALL
		SELECT 'constraint', coalesce(c.conrelid::regclass::text, t.typname::text) || '.' || c.conname, '', pg_get_constraintdef(c.oid)
		FROM pg_constraint c LEFT JOIN pg_type t ON t.oid = c.contypid AND c.contypid <> 0
		WHERE c.connamespace = 'urlmode'::regnamespace AND c.contype <> 'n' -- a column says so
	) o
$$;
COMMENT ON FUNCTION urlmode.objects IS
	'Internal. What this schema consists of now, with digests of the definitions.';

CREATE OR REPLACE FUNCTION urlmode.changed_objects(login text)
RETURNS TABLE (what text, kind text, name text, holder text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	cgi text := (SELECT o.holder FROM urlmode.object o WHERE o.kind = 'grant' AND o.name LIKE 'urlmode.answer\_form(%' LIMIT 1);
BEGIN
	RETURN QUERY
	WITH now AS MATERIALIZED (SELECT * FROM urlmode.objects())
	SELECT CASE WHEN n.name IS NULL THEN 'missing' WHEN k.name IS NULL THEN 'granted' ELSE 'changed' END,
		coalesce(k.kind, n.kind), coalesce(k.name, n.name), coalesce(k.holder, n.holder)
	FROM urlmode.object k FULL JOIN now n ON n.kind = k.kind AND n.name = k.name AND n.holder = k.holder
	WHERE n.name IS NULL OR k.name IS NULL AND n.kind = 'grant' OR n.digest IS DISTINCT FROM k.digest AND k.name IS NOT NULL
	UNION ALL
	-- By the role of which it is a member, say.
	SELECT 'granted', 'grant', p.oid::regprocedure::text, changed_objects.login
	FROM pg_proc p
	WHERE p.pronamespace = 'urlmode'::regnamespace AND EXISTS (SELECT FROM pg_roles r WHERE r.rolname = changed_objects.login AND NOT r.rolsuper)
		AND has_function_privilege(changed_objects.login, p.oid, 'EXECUTE')
		AND NOT EXISTS (SELECT FROM urlmode.object o WHERE o.kind = 'grant' AND o.name = p.oid::regprocedure::text AND o.holder = cgi)
		AND NOT EXISTS (SELECT FROM now n WHERE n.kind = 'grant' AND n.name = p.oid::regprocedure::text AND n.holder = changed_objects.login)
	ORDER BY 1, 2, 3, 4;
END
$$;
COMMENT ON FUNCTION urlmode.changed_objects IS
	'What is missing in this schema, was changed, or was granted, since the last migrate. login: '
	'the login of the callback programs; what it may execute beside the functions of its role is '
	'granted as well.';

GRANT EXECUTE ON FUNCTION urlmode.begin_walk, urlmode.read_walk, urlmode.end_walk, urlmode.changed_objects, urlmode.list_hosts,
	urlmode.minted_kids, urlmode.record_check, urlmode.list_checks TO :"operator";
GRANT EXECUTE ON FUNCTION urlmode.end_walk TO :"server";
GRANT EXECUTE ON FUNCTION urlmode.beat TO :"cgi";
