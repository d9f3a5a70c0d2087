// What the schemas of a database have, so that two databases can be compared.

/** Everything that a migration can make, but for comments on what is no function. */
export function catalog({ query }) {
	return query(`
		WITH space AS (SELECT oid, nspname, nspacl, nspowner FROM pg_namespace WHERE nspname ~ '^urlmode')
		SELECT 'schema ' || nspname AS what, concat_ws(' ', nspacl, nspowner::regrole) AS how FROM space
		UNION ALL
		SELECT 'function ' || p.oid::regprocedure, concat_ws(' ', pg_get_functiondef(p.oid), p.proacl, p.proowner::regrole, obj_description(p.oid, 'pg_proc'))
		FROM pg_proc p JOIN space s ON s.oid = p.pronamespace
		UNION ALL
		SELECT 'relation ' || c.oid::regclass, concat_ws(' ', c.relkind, c.relacl, c.relowner::regrole, c.reloptions,
			CASE c.relkind WHEN 'i' THEN pg_get_indexdef(c.oid) END)
		FROM pg_class c JOIN space s ON s.oid = c.relnamespace
		UNION ALL
		SELECT concat_ws(' ', 'column', c.oid::regclass, a.attname),
			concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid))
		FROM pg_class c JOIN space s ON s.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		UNION ALL
		SELECT concat_ws(' ', 'constraint', k.conrelid::regclass, k.contypid::regtype, k.conname), pg_get_constraintdef(k.oid)
		FROM pg_constraint k JOIN space s ON s.oid = k.connamespace
		UNION ALL
		SELECT concat_ws(' ', 'trigger', t.tgname), pg_get_triggerdef(t.oid)
		FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN space s ON s.oid = c.relnamespace WHERE NOT t.tgisinternal
		UNION ALL
		SELECT 'default rights', defaclacl::text FROM pg_default_acl
		UNION ALL
		SELECT 'migration', name FROM urlmode.migration
		ORDER BY 1, 2`);
}

/** What is said of each of these, but of functions. */
export function comments({ query }) {
	return query(`
		SELECT 'comment on ' || i.type || ' ' || i.identity AS what, d.description AS how
		FROM pg_description d, pg_identify_object(d.classoid, d.objoid, d.objsubid) i
		WHERE i.schema ~ '^urlmode' OR i.type = 'schema' AND i.name ~ '^urlmode'
		ORDER BY 1`);
}
