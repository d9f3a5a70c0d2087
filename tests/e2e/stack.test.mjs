// What a user of the development stack relies on: its variables, that it
// needs no root, and that it writes nowhere but in its own folder. How it
// starts and stops is tested beside its scripts, in tests/stack.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { comeBack } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { familyOf, filesWritten, isThere } from '../support/processes.mjs';
import { openFixture } from '../support/fixture.mjs';
import { useStack } from '../support/stack.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const execute = promisify(execFile);

let stack;

before(async () => {
	stack = await useStack({ name: 'e2e-stack', demo: true });
});

after(() => stack?.close());

/** Runs a line of shell in which RUN_DIR/env was sourced, as its reader would. */
async function sourced(line) {
	const { stdout } = await execute('sh', ['-c', `. "$1/env" && ${line}`, 'sh', stack.runDir], {
		env: { PATH: process.env.PATH },
	});
	return stdout.trim();
}

/** Every process of a stack. */
async function processesOf({ runDir }) {
	const names = (await readdir(path.join(runDir, 'pid'))).filter((name) => name.endsWith('.pid'));
	const families = await Promise.all(names.map(async (name) => (
		familyOf(Number(await readFile(path.join(runDir, 'pid', name), 'utf8'))))));

	assert.ok(names.length >= 8, names.join());
	assert.deepEqual(names.filter((_, n) => families[n].length === 0), [], 'these have ended');
	return families.flat();
}

test('RUN_DIR/env has every variable of the contract, and each of them works', async () => {
	assert.equal(await sourced('printf %s "$URLMODE_RUN_DIR"'), stack.runDir);
	for (const [name, role] of [['URLMODE_DATABASE_URL', 'urlmode_server'], ['URLMODE_ADMIN_DATABASE_URL', 'postgres']]) {
		assert.equal(await sourced(`psql -XAtd "$${name}" -c 'SELECT current_user'`), role);
	}
	const config = JSON.parse(await sourced('cat "$URLMODE_CONFIG"'));
	assert.equal(config.base_url, await sourced('printf %s "$URLMODE_BASE_URL"'));
	assert.match(await sourced('cat "$URLMODE_KEYS_FILE"'), /^1 [\w+/=-]{43,}$/);
	assert.equal((await request(`${config.base_url}/healthz`)).status, 200);
	// For programs that a shell starts without more ado.
	assert.equal(await sourced('node -p process.env.URLMODE_BASE_URL'), config.base_url);
});

test('its processes write only into its folder', async () => {
	const all = await processesOf(stack);
	const written = new Set((await Promise.all(all.map(({ pid }) => filesWritten(pid)))).flat());
	const inside = [...written].filter((file) => file.startsWith(`${stack.runDir}/`));
	// Shared memory of PostgreSQL, which ends with it.
	const outside = [...written].filter((file) => !inside.includes(file) && !/^\/dev\/|\(deleted\)$/.test(file));

	assert.ok(inside.some((file) => file.endsWith('/log/access.log')), 'the log of requests is among them');
	assert.ok(inside.some((file) => file.includes('/pg/')), 'the database is among them');
	assert.deepEqual(outside, []);
});

test('an ordinary user can run it, and no process or shared memory is left', async () => {
	const user = ordinaryUser();
	const runDir = path.join(ROOT, 'build/test/stacks/e2e-ordinary-user');
	await rm(runDir, { recursive: true, force: true });
	await mkdir(runDir, { recursive: true, mode: 0o700 });
	await chown(runDir, user.uid, user.gid);
	const fixture = await openFixture({ name: 'ordinary-user', own: true, runDir, user, env: { HOME: runDir, USER_CHECK: 'confirm' }, demo: true });
	let all;
	let shared;

	try {
		all = await processesOf(fixture.stack);
		for (const { pid } of all) {
			assert.equal((await stat(`/proc/${pid}`)).uid, user.uid);
		}
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		assert.equal((await comeBack(browser, flow.returnTo({ code: 'c' }))).location, '/done');
		assert.equal((await stat(path.join(runDir, 'sock/connect.sock'))).mode & 0o777, 0o660);
		const written = (await Promise.all(all.map(({ pid }) => filesWritten(pid)))).flat();
		shared = written.filter((file) => file.startsWith('/dev/shm/'));
	} finally {
		await fixture.close();
	}
	assert.deepEqual(await Promise.all(all.map(isThere)), all.map(() => false));
	assert.deepEqual(shared.filter((file) => existsSync(file)), []);
	assert.match(await readFile(path.join(runDir, 'log/access.log'), 'utf8'), /"path":"\/oauth\/demo\/return"/);
});

/** Whoever runs the tests, or nobody where root does. */
function ordinaryUser() {
	return process.getuid() === 0 ? { uid: 65_534, gid: 65_534 } : { uid: process.getuid(), gid: process.getgid() };
}
