-- All the data of a user, for the operator who is asked for them, or asked to delete them.
--
-- Neither returns what the callback programs and MCP servers have sealed: results, typed values,
-- tokens and tasks. They are deleted all the same.

CREATE OR REPLACE FUNCTION urlmode.audit_owner(tenant text, subject text) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
	SELECT sha256(convert_to(tenant || U&'\001F' || subject, 'UTF8'))
$$;
COMMENT ON FUNCTION urlmode.audit_owner IS
	'Internal. The digest by which urlmode.audit knows a user.';

CREATE OR REPLACE FUNCTION urlmode.user_rows(tenant text, subject text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = on AS $$
	WITH theirs AS MATERIALIZED (
		SELECT e.id FROM urlmode.elicitation e WHERE e.subject = user_rows.subject AND e.tenant = user_rows.tenant
	)
	SELECT jsonb_build_object(
		'elicitations', (SELECT count(*) FROM theirs),
		'events', (SELECT count(*) FROM urlmode.event v WHERE v.elicitation IN (SELECT t.id FROM theirs t)),
		'tasks', (SELECT count(*) FROM urlmode.task k WHERE k.elicitation IN (SELECT t.id FROM theirs t)),
		'accounts', (SELECT count(*) FROM urlmode.account a WHERE a.subject = urlmode.account_owner(user_rows.tenant, user_rows.subject)),
		'subscriptions', (SELECT count(*) FROM urlmode.entitlement n WHERE n.subject = user_rows.subject AND n.tenant = user_rows.tenant),
		'payments', (SELECT count(*) FROM urlmode.payment p WHERE p.subject = user_rows.subject AND p.tenant = user_rows.tenant
			OR p.elicitation IN (SELECT t.id FROM theirs t)),
		'approvals', (SELECT count(*) FROM urlmode.form f JOIN urlmode.elicitation e ON e.id = f.elicitation
			WHERE f.decided_by = user_rows.subject AND e.tenant = user_rows.tenant AND e.subject <> user_rows.subject))
$$;
COMMENT ON FUNCTION urlmode.user_rows IS
	'How many rows of each kind there are of this user. approvals: those of others that the user has '
	'decided.';

CREATE OR REPLACE FUNCTION urlmode.export_user(tenant text, subject text, done_by text, note text DEFAULT '') RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = on AS $$
DECLARE
	counted jsonb := urlmode.user_rows(tenant, subject);
	theirs uuid[] := ARRAY(SELECT e.id FROM urlmode.elicitation e WHERE e.subject = export_user.subject AND e.tenant = export_user.tenant
		ORDER BY e.created_at, e.id);
BEGIN
	IF NOT EXISTS (SELECT FROM jsonb_each(counted) r WHERE r.value <> '0') THEN
		RETURN NULL;
	END IF;
	INSERT INTO urlmode.audit (action, tenant, owner, rows, done_by, note)
	VALUES ('export', export_user.tenant, urlmode.audit_owner(export_user.tenant, export_user.subject), counted, export_user.done_by, export_user.note);
	RETURN jsonb_build_object('subject', subject, 'tenant', tenant, 'exported_at', now(),
		'elicitations', (SELECT coalesce(jsonb_agg(to_jsonb(s) || jsonb_build_object('item', urlmode.show_item(o.id),
				'subscriptions', (SELECT coalesce(jsonb_agg(x), '[]') FROM urlmode.show_subscriptions(o.id) x),
				'refunds', (SELECT coalesce(jsonb_agg(x), '[]') FROM urlmode.show_refunds(o.id) x),
				'decisions', (SELECT coalesce(jsonb_agg(x), '[]') FROM urlmode.show_decisions(o.id) x),
				'events', (SELECT coalesce(jsonb_agg(x), '[]') FROM urlmode.show_events(o.id) x)) ORDER BY o.n), '[]')
			FROM unnest(theirs) WITH ORDINALITY o (id, n) CROSS JOIN LATERAL urlmode.show_elicitation(o.id) s),
		'payments', (SELECT coalesce(jsonb_agg(jsonb_build_object('provider', p.provider, 'reference', p.reference, 'elicitation', p.elicitation,
				'item', p.item, 'amount', p.amount, 'currency', p.currency, 'proven_at', p.proven_at, 'claimed_at', p.claimed_at,
				'refunded', p.refunded, 'refunded_at', p.refunded_at) ORDER BY p.proven_at, p.reference), '[]')
			FROM urlmode.payment p
			WHERE p.subject = export_user.subject AND p.tenant = export_user.tenant OR p.elicitation = ANY (theirs)),
		'accounts', (SELECT coalesce(jsonb_agg(jsonb_build_object('provider', a.provider, 'account', a.account, 'state', a.state, 'reason', a.reason,
				'scopes', a.scopes, 'connected_at', a.connected_at, 'refreshed_at', a.refreshed_at, 'expires_at', a.expires_at)
				ORDER BY a.provider, a.account), '[]')
			FROM urlmode.account a WHERE a.subject = urlmode.account_owner(export_user.tenant, export_user.subject)),
		'subscriptions', (SELECT coalesce(jsonb_agg(x), '[]') FROM urlmode.entitlements(export_user.tenant, export_user.subject) x),
		'approvals', (SELECT coalesce(jsonb_agg(jsonb_build_object('elicitation', e.id, 'action', e.action, 'completed_at', e.completed_at)
				ORDER BY e.completed_at, e.id), '[]')
			FROM urlmode.form f JOIN urlmode.elicitation e ON e.id = f.elicitation
			WHERE f.decided_by = export_user.subject AND e.tenant = export_user.tenant AND e.subject <> export_user.subject));
END
$$;
COMMENT ON FUNCTION urlmode.export_user IS
	'All that is here of this user of a tenant, without what is sealed, and a row of urlmode.audit that '
	'says so. NULL: there is nothing, and no row. approvals: what the user has decided for others.';

CREATE OR REPLACE FUNCTION urlmode.forget_user(tenant text, subject text, done_by text, note text DEFAULT '') RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = on AS $$
DECLARE
	counted jsonb := urlmode.user_rows(tenant, subject);
	unclaimed jsonb;
BEGIN
	IF NOT EXISTS (SELECT FROM jsonb_each(counted) r WHERE r.key <> 'approvals' AND r.value <> '0') THEN
		RETURN NULL;
	END IF;
	SELECT jsonb_agg(jsonb_build_object('elicitation', f.unclaimed, 'provider', f.provider, 'reference', f.reference, 'amount', f.amount,
		'currency', f.currency)) INTO unclaimed
	FROM urlmode.forget_owner(forget_user.tenant, forget_user.subject) f;
	IF unclaimed IS NOT NULL THEN
		RETURN jsonb_build_object('unclaimed', unclaimed);
	END IF;
	INSERT INTO urlmode.audit (action, tenant, owner, rows, done_by, note)
	VALUES ('forget', forget_user.tenant, urlmode.audit_owner(forget_user.tenant, forget_user.subject), counted, forget_user.done_by, forget_user.note);
	RETURN jsonb_build_object('forgotten', counted);
END
$$;
COMMENT ON FUNCTION urlmode.forget_user IS
	'forget_owner for the operator, with a row of urlmode.audit that says so. forgotten: the rows that '
	'there were, of which payments keep their references and amounts, and approvals of others the '
	'name of who has decided. unclaimed: the payments because of which nothing was deleted. NULL: there is nothing.';

CREATE OR REPLACE FUNCTION urlmode.list_audit(tenant text DEFAULT NULL, subject text DEFAULT NULL, most integer DEFAULT 100)
RETURNS TABLE (number bigint, done_at timestamptz, action text, of_tenant text, owner bytea, rows jsonb, done_by text, note text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT l.number, l.done_at, l.action, l.tenant::text, l.owner, l.rows, l.done_by, l.note
	FROM (
		SELECT a.* FROM urlmode.audit a
		WHERE list_audit.subject IS NULL OR a.owner = urlmode.audit_owner(coalesce(list_audit.tenant, ''), list_audit.subject)
		ORDER BY a.number DESC LIMIT list_audit.most
	) l
	ORDER BY l.number
$$;
COMMENT ON FUNCTION urlmode.list_audit IS
	'The newest entries of what operators did with the data of users, the newest last. subject: only '
	'with those of this user, of this tenant.';

GRANT EXECUTE ON FUNCTION urlmode.user_rows, urlmode.export_user, urlmode.forget_user, urlmode.list_audit TO :"operator";
