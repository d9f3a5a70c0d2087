// SPDX-License-Identifier: MIT
// What is deprecated warns once in a process, and the guide to upgrades names it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { deprecated } from '../../lib/node/src/core/deprecated.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const upgrading = readFileSync(path.join(ROOT, 'nginx/UPGRADING.md'), 'utf8');

/** The names of what is deprecated in this source of a language. */
const FORMS = {
	js: /(?<!function )\bdeprecated\('([^']+)'/g,
	py: /(?<!def )\bdeprecated\("([^"]+)"/g,
	go: /^\/\/ Deprecated: .*\n(?:\/\/.*\n)*(?:func|type|const|var) (?:\(.*?\) )?(\w+)/gm,
	sh: /^deprecated_members='([a-z_]+) /gm,
};
const namesIn = (file, text) => [...text.matchAll(FORMS[path.extname(file).slice(1)])].map(([, name]) => name);

test('what a test deprecates does what it did, and warns once', async () => {
	const warned = [];
	process.on('warning', (warning) => warned.push(warning));
	function old() {
		deprecated('old()', 'call fresh()');
		return 1;
	}
	const first = once(process, 'warning');
	assert.deepEqual([old(), old()], [1, 1]);
	await first;
	deprecated('another()', 'call fresh()');
	await once(process, 'warning');
	assert.deepEqual(warned.map(({ code, message }) => [code, message]), ['old()', 'another()'].map((name) => ['URLMODE_DEPRECATED', `${name} is deprecated, and goes with the next major version; call fresh()`]));
});

test('the guide to upgrades names each, or says that there is none', () => {
	assert.deepEqual(namesIn('a.js', "\tdeprecated('UrlMode.a()', 'b');\nexport function deprecated(what, instead) {\n"), ['UrlMode.a()']);
	assert.deepEqual(namesIn('a.py', '    deprecated("create(old=)", "c")\ndef deprecated(what: str) -> None:\n'), ['create(old=)']);
	assert.deepEqual(namesIn('a.go', '// Old is old.\n//\n// Deprecated: call Fresh\n// instead.\nfunc (m *UrlMode) Old() {}\n'), ['Old']);
	assert.deepEqual(namesIn('a.sh', "deprecated_members='colour is_now_hue'\n"), ['colour']);
	const files = execFileSync('git', ['ls-files', '-z', 'lib/node/src', 'lib/python/src', 'lib/go', 'nginx/command'], { cwd: ROOT, encoding: 'utf8' }).split('\0').filter((file) => /\.(js|py|go|sh)$/.test(file));
	assert.ok(files.length > 300, `${files.length} files`);
	const names = files.flatMap((file) => namesIn(file, readFileSync(path.join(ROOT, file), 'utf8')));
	assert.deepEqual(names.filter((name) => !upgrading.includes(`\`${name}\``)), []);
	if (names.length === 0) assert.match(upgrading, /\b1\.0\.0 deprecates nothing\b/);
});

test('check names a member of the configuration that a test deprecates', () => {
	const code = readFileSync(path.join(ROOT, 'nginx/command/check.sh'), 'utf8');
	const found = (config) => execFileSync('sh', ['-euc', `eval "$CODE"; finding() { printf '%s|' "$@"; echo; }
		deprecated_members='colour write hue in its place
odour write nothing'; config=$(mktemp); cat >"$config"; check_deprecated; rm "$config"`], { encoding: 'utf8', input: config, env: { ...process.env, CODE: code } });
	assert.equal(found('{"colour" : 1}'), 'warning|configuration|colour is deprecated, and goes with the next major version|write hue in its place|\n');
	assert.equal(found('{"a": "colour"}'), '');
});
