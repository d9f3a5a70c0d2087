// SPDX-License-Identifier: MIT
// The functions of a migrated database, as functions.json has them: their parameters, what they return, who may call them, and
// whether they only read, which PostgreSQL sees to. `make contract` writes the file if URLMODE_ADMIN_DATABASE_URL names a database.

import { execFileSync } from 'node:child_process';

const QUERY = `SELECT coalesce(jsonb_agg(f ORDER BY f->>'schema' COLLATE "C", f->>'name' COLLATE "C"), '[]') FROM (
	SELECT jsonb_build_object('schema', n.nspname, 'name', p.proname,
		'parameters', (SELECT coalesce(jsonb_agg(jsonb_build_object('name', p.proargnames[a.n], 'type', format_type(a.type, NULL)) || CASE
			WHEN a.n > p.pronargs - p.pronargdefaults THEN jsonb_build_object('default', pg_get_function_arg_default(p.oid, a.n::integer))
			ELSE '{}' END ORDER BY a.n), '[]') FROM unnest(p.proargtypes) WITH ORDINALITY a (type, n)),
		'reads', p.provolatile <> 'v', 'rows', p.proretset, 'result', format_type(p.prorettype, NULL),
		'columns', (SELECT jsonb_agg(jsonb_build_object('name', p.proargnames[a.n], 'type', format_type(a.type, NULL)) ORDER BY a.n)
			FROM unnest(p.proallargtypes) WITH ORDINALITY a (type, n) WHERE p.proargmodes[a.n] IN ('o', 't')),
		'roles', (SELECT jsonb_agg(r.rolname ORDER BY r.rolname COLLATE "C") FROM pg_roles r
			WHERE r.rolname IN ('urlmode_cgi', 'urlmode_server', 'urlmode_operator') AND has_function_privilege(r.oid, p.oid, 'EXECUTE'))
	) AS f
	FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
	WHERE n.nspname IN ('urlmode', 'urlmode_frameworks') AND p.prokind = 'f'
) AS all_functions WHERE f->'roles' <> 'null'`;

/** A type or a default as the files of sql/ write it. */
const plain = (text) => text.replace('timestamp with time zone', 'timestamptz').replace(/::[\w ]+(\[\])?$/, '').replace(/^'(\d+)'$/, '$1');

/** @type {(key: string, value: unknown) => unknown} */
const asWritten = (key, value) => (['type', 'default', 'result'].includes(key) ? plain(String(value)) : value);

/** @param {string} url of a superuser, or of the owner @returns {Record<string, any>[]} */
const functionsOf = (url) => JSON.parse(execFileSync('psql', ['-X', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', url, '-c', QUERY],
	{ encoding: 'utf8', maxBuffer: 16_000_000 }), asWritten);

/** The text of functions.json, one function a line. @param {string} url */
export const functionsJson = (url) => `[\n${functionsOf(url).map(({ columns, ...f }) => `	${JSON.stringify({ ...f, ...columns && { columns } })}`).join(',\n')}\n]\n`;
