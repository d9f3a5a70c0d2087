// SPDX-License-Identifier: MIT
// The files of sql/, which psql and the Node package must read alike.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { functionsVersion, migrationDigests, namesOf, withNames } from '../../lib/node/src/commands/migrations.js';
import { digest, recorded, versionOf } from '../support/functions.mjs';
import { changed, released } from '../support/migrations.mjs';

const SQL = fileURLToPath(new URL('../../sql', import.meta.url));

const read = (file) => readFileSync(path.join(SQL, file), 'utf8');
const files = readdirSync(SQL, { recursive: true }).filter((file) => file.endsWith('.sql')).sort();
const names = namesOf({ prefix: 'urlmode', owner: 'urlmode_owner' });
/** What a file may use: the names, and what migrate is told. */
const variables = [...Object.keys(names), 'deployment', 'revoke_others', 'digests', 'file'];

test('the names of the roles stand in one file', () => {
	assert.deepEqual(names, { prefix: 'urlmode', owner: 'urlmode_owner', cgi: 'urlmode_cgi', server: 'urlmode_server', operator: 'urlmode_operator' });
	const { prefix, ...roles } = names;
	assert.deepEqual(files.filter((file) => Object.values(roles).some((name) => new RegExp(`\\b${name}\\b`).test(read(file)) && file !== 'roles.sql')), []);
	assert.equal(withNames(':"cgi" :\'cgi\' x::text', { cgi: `${prefix}_b_cgi` }), '"urlmode_b_cgi" \'urlmode_b_cgi\' x::text');
});

test('the first file of the functions says in which order to read them, and has them all', () => {
	const order = [...read('functions/000_version.sql').matchAll(/^--   (\d{3}_\w+) /gm)].map(([, name]) => `functions/${name}.sql`);
	assert.deepEqual(['functions/000_version.sql', ...order], files.filter((file) => file.startsWith('functions/')));
});

test('a role stands for its name where psql replaces it: not inside of quotes and of $$', () => {
	for (const file of files) {
		const [outside, inside] = read(file).replaceAll(/--.*$/gm, '').split('$$')
			.reduce((texts, text, index) => (texts[index % 2] += text, texts), ['', '']);
		assert.doesNotMatch(inside, /(?<!:):["']\w+["']/, file);
		const used = [...outside.matchAll(/(?<!:):(["'])(\w+)\1/g)].map(([, , role]) => role);
		assert.deepEqual(used.filter((name) => !variables.includes(name)), [], file);
		assert.equal(outside.match(/(?<!:):["']/g)?.length ?? 0, used.length, file);
	}
});

test('the version of the functions is raised once where one has changed since the last release', () => {
	assert.equal(functionsVersion(), versionOf(recorded(), digest()), 'raise functions_version() in sql/functions/000_version.sql by one');
	const [before, comment, after] = ['SELECT 1;\n', '-- Two.\nSELECT 1;\n', 'SELECT 2;\n'].map((sql) => digest([{ name: '002_a.sql', sql }]));
	const release = { release: '1.0.0', version: 4, digest: before };
	assert.deepEqual([before, comment, after].map((now) => versionOf(release, now)), [4, 4, 5]);
});

test('a released migration never changes', () => {
	const { release, digests } = released();
	assert.deepEqual(changed(digests), [],
		'write another file, which corrects it; what nobody has yet is recorded by tests/upgrade/freeze');
	const [, version, distribution] = /^urlmode \((.*)\) (.*);/.exec(readFileSync(path.join(SQL, '../nginx/debian/changelog'), 'utf8'));
	if (distribution !== 'UNRELEASED') assert.deepEqual([release, Object.keys(digests)], [version, Object.keys(migrationDigests())], 'record them for this release');
	assert.ok(Object.keys(digests).length > 40);
	assert.deepEqual(changed({ a: '1', b: '2', c: '3' }, { a: '1', b: '3', d: '4' }), ['b', 'c']);
});

test('the guide to upgrades names each function that only older programs and packages call, and no other one', () => {
	const guide = readFileSync(path.join(SQL, '../nginx/UPGRADING.md'), 'utf8');
	const [, named] = /^## Functions with a successor\n([^]*?)^## /m.exec(guide);
	const rows = [...named.matchAll(/^\| (`.*?`) \| (`.*`) \|$/gm)].map((row) => row.slice(1).map((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name)));
	const older = rows.flatMap(([names]) => names);

	const sources = execFileSync('git', ['ls-files', '-z', 'cgi-bin', 'lib', 'nginx/command', 'sql/functions', 'sql/frameworks/functions'], { cwd: path.join(SQL, '..'), encoding: 'utf8' }).split('\0')
		.filter((file) => /\.(c|js|py|go|sh|sql)$|command\/urlmode$|PROTOCOL\.md$/.test(file) && !/_test\.go$|\/tests?\/|urlmodetest/.test(file));
	const called = new Set(sources.flatMap((file) => {
		const text = readFileSync(path.join(SQL, '..', file), 'utf8');
		// A method of the object `urlmode` is no function of the schema.
		const calls = /\.(js|py|go|md)$/.test(file) ? /\b(?:FROM|SELECT)\s+urlmode\.(\w+)\(/g : /(?<!CREATE OR REPLACE FUNCTION )(?<!COMMENT ON FUNCTION )\burlmode\.(\w+)\(/g;
		return [...text.matchAll(calls)].map(([, name]) => name);
	}));
	const all = [...new Set(recorded().signatures.map((signature) => /^urlmode\.(\w+)/.exec(signature)?.[1]).filter(Boolean))];
	// Operators ask for the hosts with psql.
	assert.deepEqual(all.filter((name) => !called.has(name) && name !== 'list_hosts').sort(), older.toSorted());
	assert.ok(older.length > 20);
	assert.deepEqual(rows.flatMap(([, names]) => names).filter((name) => !all.includes(name) || older.includes(name)), [], 'successors');
});

test('each mistake that the histories must find can be put into the SQL', async () => {
	const bodies = new Map(files.flatMap((file) => [...read(file).matchAll(/^CREATE OR REPLACE FUNCTION urlmode\.(\w+)\(.*?\bAS (\$\w*\$)(.*?)\2;/gms)].map(([, name, , body]) => [name, body])));
	for (const file of readdirSync(new URL('../model/mistakes/', import.meta.url))) {
		const { MISTAKES } = await import(`../model/mistakes/${file}`);
		for (const [what, { sql, ...changes }] of Object.entries(MISTAKES)) {
			assert.ok(sql || Object.keys(changes).length > 0, what);
			for (const [name, [text]] of Object.entries(changes)) assert.ok(bodies.get(name)?.includes(text), `${file}: ${what}: ${name} has the text ${text}`);
		}
	}
});
