// The functions of the database that others call, as the last release has them: functions.txt
// beside this file. Older programs and packages call them with newer schemas.
//
//     URLMODE_ADMIN_DATABASE_URL=… node tests/support/functions.mjs          before 1.0.0, when one has changed
//     URLMODE_ADMIN_DATABASE_URL=… node tests/support/functions.mjs 1.0.0    at each release
//
// writes that file anew, from a database that was just migrated with --frameworks.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { functionsVersion, readFunctions } from '../../lib/node/src/commands/migrations.js';

const FILE = new URL('functions.txt', import.meta.url);

/** @returns {{ release: string, version: number, digest: string, signatures: string[] }} */
export function recorded() {
	const [[release, version, digest], ...signatures] = readFileSync(FILE, 'utf8').trimEnd().split('\n')
		.map((line, index) => (index === 0 ? line.split(' ') : line));
	return { release, version: Number(version), digest, signatures };
}

/** Of the text of all functions but for comments and the version. */
export const digest = (files = readFunctions(true)) => createHash('sha256').update(files.filter(({ name }) => name !== '000_version.sql')
	.map(({ sql }) => sql.replaceAll(/^\s*--.*\n/gm, '')).join('\n')).digest('hex');

/** The version that functions with this digest must have. */
export function versionOf(record, now) {
	if (record.release === 'none') return 1;
	return record.version + (record.digest === now ? 0 : 1);
}

/**
 * Each function that a login may execute: names and types of its parameters, their defaults, and what it returns.
 *
 * @param {(sql: string) => Promise<{ signature: string }[]>} query
 */
export async function signatures(query) {
	const rows = await query(`
		SELECT format('%s.%s(%s) RETURNS %s', p.pronamespace::regnamespace, p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)) AS signature
		FROM pg_proc p WHERE p.pronamespace IN ('urlmode'::regnamespace, to_regnamespace('urlmode_frameworks'))
			AND EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee <> p.proowner)
		ORDER BY p.pronamespace::regnamespace::text, p.proname COLLATE "C"`);
	return rows.map(({ signature }) => signature);
}

/** What was recorded and is not there any more, or in another way. */
export const changed = (record, now) => record.signatures.filter((signature) => !now.includes(signature));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const client = new pg.Client({ connectionString: process.env.URLMODE_ADMIN_DATABASE_URL });
	await client.connect();
	const lines = await signatures(async (sql) => (await client.query(sql)).rows);
	const release = process.argv[2];
	writeFileSync(FILE, `${[release ? `${release} ${functionsVersion()} ${digest()}` : 'none', ...lines].join('\n')}\n`);
	await client.end();
}
