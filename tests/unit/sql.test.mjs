// SPDX-License-Identifier: MIT
// The files of sql/, which psql and the Node package must read alike.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { functionsVersion } from '../../lib/node/src/commands/migrations.js';
import { digest, recorded, versionOf } from '../support/functions.mjs';

const SQL = fileURLToPath(new URL('../../sql', import.meta.url));

const read = (file) => readFileSync(path.join(SQL, file), 'utf8');
const files = readdirSync(SQL, { recursive: true }).filter((file) => file.endsWith('.sql')).sort();
const roles = [...read('roles.sql').matchAll(/^\\set (\w+) (\w+)$/gm)].map(([, role, name]) => ({ role, name }));

test('the names of the roles stand in one file', () => {
	assert.deepEqual(roles.map(({ role }) => role), ['owner', 'cgi', 'server', 'operator']);
	const others = ['migrate', ...files].filter((file) => file !== 'roles.sql');
	assert.deepEqual(others.filter((file) => roles.some(({ name }) => read(file).includes(name))), []);
});

test('a role stands for its name where psql replaces it: not inside of quotes and of $$', () => {
	for (const file of files.filter((name) => name !== 'roles.sql')) {
		const [outside, inside] = read(file).replaceAll(/--.*$/gm, '').split('$$')
			.reduce((texts, text, index) => (texts[index % 2] += text, texts), ['', '']);
		assert.doesNotMatch(inside, /(?<!:):["']\w+["']/, file);
		const used = [...outside.matchAll(/(?<!:):(["'])(\w+)\1/g)].map(([, , role]) => role);
		assert.deepEqual(used.filter((name) => !roles.some(({ role }) => role === name)), [], file);
		assert.equal(outside.match(/(?<!:):["']/g)?.length ?? 0, used.length, file);
	}
});

test('the version of the functions is raised once where one has changed since the last release', () => {
	assert.equal(functionsVersion(), versionOf(recorded(), digest()), 'raise functions_version() in sql/functions/000_version.sql by one');
	const [before, comment, after] = ['SELECT 1;\n', '-- Two.\nSELECT 1;\n', 'SELECT 2;\n'].map((sql) => digest([{ name: '002_a.sql', sql }]));
	const release = { release: '1.0.0', version: 4, digest: before };
	assert.deepEqual([before, comment, after].map((now) => versionOf(release, now)), [4, 4, 5]);
});
