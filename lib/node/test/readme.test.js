// Runs the example of README.md as it is.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test from 'node:test';

import { KeysFile } from '../src/keys.js';
import { openState } from '../src/token.js';
import { setUp } from './support/database.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

test('the example creates an elicitation, waits, prints the outcome and exits', async (t) => {
	const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
	const [, example] = /```js\n([^]*?)```/.exec(readme);
	const { callback, settings } = await setUp(t);
	const child = spawn(process.execPath, ['--input-type=module', '-'], {
		cwd: PACKAGE,
		env: { ...process.env, URLMODE_DATABASE_URL: settings.databaseUrl, URLMODE_KEYS_FILE: settings.keysFile,
			URLMODE_BASE_URL: settings.baseUrl },
		stdio: ['pipe', 'pipe', 'inherit'],
		timeout: 30_000,
	});
	child.stdin.end(example);
	const lines = [];
	for await (const line of createInterface({ input: child.stdout })) {
		lines.push(line);
		const url = /^elicit with (.*)$/.exec(line)?.[1];
		if (!url) continue;
		const { id } = openState(new KeysFile(settings.keysFile), 'connect', 'github', new URL(url).searchParams.get('state'));
		assert.equal(await callback.open(id, { provider: 'github' }), 'opened');
		assert.equal(await callback.complete(id, { provider: 'github', result: { code: 'abc' } }), 'completed');
	}
	const code = child.exitCode ?? await new Promise((resolve) => child.once('exit', resolve));
	assert.equal(code, 0, lines.join('\n'));
	assert.equal(lines.length, 2);
	assert.equal(lines[1], "accept  [ 'code' ]");
});
