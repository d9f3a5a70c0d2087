// A file of tests that no suite and no target runs proves nothing.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATTERN = /(?:tests|lib\/node\/test)\/[\w*{},./-]*\.test\.m?js/g;

test('each file of tests is run by a suite or by a target', () => {
	const patterns = ['tests/run', 'tests/build.mk'].flatMap((file) => readFileSync(ROOT + file, 'utf8').match(PATTERN));
	// As bash reads them.
	const run = execFileSync('bash', ['-c', `printf '%s\\n' ${patterns.join(' ')}`], { cwd: ROOT, encoding: 'utf8' }).split('\n');
	const files = execFileSync('bash', ['-c', 'shopt -s globstar; printf "%s\\n" tests/**/*.test.mjs lib/node/test/*.test.js'], { cwd: ROOT, encoding: 'utf8' })
		.split('\n').filter((file) => !file.includes('node_modules'));

	assert.deepEqual(files.filter((file) => !run.includes(file)), []);
	assert.ok(files.length > 200, `${files.length} files`);
});
