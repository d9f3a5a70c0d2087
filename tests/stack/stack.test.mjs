// The development stack starts, restarts, refuses wrong settings, and leaves nothing behind.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

import pg from 'pg';

import { processOf } from '../support/processes.mjs';
import { ROOT, fetchRaw, foreground, freePorts, processesIn, scratch, script, until, variables } from './harness.mjs';

/** A stack that is stopped after the test, whatever it came to. */
async function up(t, name, env = {}) {
	const RUN_DIR = path.join(await scratch(name), env.folder ?? 'run');
	t.after(() => script('down', [], { RUN_DIR }));
	const { status, stderr } = await script('up', [], { RUN_DIR, ...env });
	assert.equal(status, 0, stderr);
	return { RUN_DIR, variables: await variables(RUN_DIR) };
}

async function assertHealthy(base) {
	assert.equal((await fetchRaw(`${base}/healthz`)).status, 200);
}

async function mode(...segments) {
	return ((await stat(path.join(...segments))).mode & 0o777).toString(8);
}

async function pid(runDir, name) {
	return Number(await readFile(path.join(runDir, 'pid', `${name}.pid`), 'utf8'));
}

async function query(url, sql) {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		return (await client.query(sql)).rows;
	} finally {
		await client.end();
	}
}

test('up starts everything, down leaves no process', async (t) => {
	const { RUN_DIR, variables: env } = await up(t, 'whole', { DEMO: '1' });

	await assertHealthy(env.URLMODE_BASE_URL);
	assert.equal(env.URLMODE_RUN_DIR, RUN_DIR);
	assert.equal((await fetchRaw(`${env.URLMODE_DEMO_ISSUER}/.well-known/openid-configuration`)).status, 200);
	assert.equal((await fetchRaw(env.URLMODE_DEMO_URL)).status, 200);

	for (const secret of [env.URLMODE_KEYS_FILE, env.URLMODE_CONFIG, path.join(RUN_DIR, 'env')]) {
		assert.equal(await mode(secret), '600', secret);
	}
	assert.equal(await mode(RUN_DIR, 'sock'), '700');
	assert.equal(await mode(RUN_DIR, 'sock/connect.sock'), '660');

	const [settings] = await query(env.URLMODE_ADMIN_DATABASE_URL, `SELECT current_setting('fsync') AS fsync,
		current_setting('listen_addresses') AS listens, current_setting('server_version_num')::int / 10000 AS version`);
	const postgresql = execFileSync('sh', ['-c', '. tests/stack/versions && echo "$postgresql"'], { cwd: ROOT, encoding: 'utf8' });
	assert.deepEqual(settings, { fsync: 'on', listens: '127.0.0.1', version: Number(postgresql) });
	const [{ role }] = await query(env.URLMODE_DATABASE_URL, 'SELECT current_user AS role');
	assert.equal(role, 'urlmode_server');
	const stranger = new URL(env.URLMODE_DATABASE_URL);
	stranger.password = 'guessed';
	await assert.rejects(query(stranger.href, 'SELECT 1'), /password authentication failed/);

	assert.ok((await processesIn(RUN_DIR)).length > 10);
	assert.equal((await script('down', [], { RUN_DIR })).status, 0);
	assert.deepEqual(await processesIn(RUN_DIR), []);
	assert.deepEqual(await readdir(path.join(RUN_DIR, 'pid')), []);
	assert.equal((await script('down', [], { RUN_DIR })).status, 0, 'and again');
});

test('two stacks stand side by side; a third finds its place taken', async (t) => {
	const first = await up(t, 'first');
	const second = await up(t, 'second');
	const { port } = new URL(first.variables.URLMODE_BASE_URL);
	const taken = async (name, env) => {
		const { status, stderr } = await script(name, [], env);
		assert.notEqual(status, 0);
		assert.equal(stderr.trim().split('\n').length, 1, stderr);
		return stderr;
	};

	assert.match(await taken('up', { RUN_DIR: first.RUN_DIR }), /a stack runs in .* already, at http:/);
	assert.match(await taken('run', { RUN_DIR: first.RUN_DIR }), /already/);
	const third = path.join(await scratch('third'), 'run');
	assert.match(await taken('up', { RUN_DIR: third, PORT: port }), new RegExp(`port ${port} is in use`));
	assert.match(await taken('run', { RUN_DIR: third, PORT: port }), new RegExp(`port ${port} is in use`));

	// Both are copies of one cluster.
	const database = new URL(second.variables.URLMODE_ADMIN_DATABASE_URL);
	await query(database.href, 'SELECT 1');
	for (const password of [new URL(first.variables.URLMODE_ADMIN_DATABASE_URL).password,
		(await readFile(path.join(second.RUN_DIR, 'pg.password'), 'utf8')).trim()]) {
		database.password = password;
		await assert.rejects(query(database.href, 'SELECT 1'), /password authentication failed/);
	}

	await assertHealthy(first.variables.URLMODE_BASE_URL);
	await script('down', [], first);
	await assertHealthy(second.variables.URLMODE_BASE_URL);
});

test('a folder deeper than a socket address, with a space and a quote in it', async (t) => {
	const folder = `${'deep/'.repeat(20)}it's here`;
	const { RUN_DIR, variables: env } = await up(t, 'deep', { folder });

	assert.ok(path.join(RUN_DIR, 'sock/connect.sock').length > 107);
	assert.equal(env.URLMODE_RUN_DIR, RUN_DIR);
	await assertHealthy(env.URLMODE_BASE_URL);
});

test('a folder with other things in it is left alone', async () => {
	const RUN_DIR = await scratch('foreign');
	await writeFile(path.join(RUN_DIR, 'thesis.txt'), 'x');
	const { status, stderr } = await script('up', [], { RUN_DIR });
	assert.notEqual(status, 0);
	assert.match(stderr, /is not empty/);
	assert.deepEqual(await readdir(RUN_DIR), ['thesis.txt']);
});

test('a program that dies is started again', async (t) => {
	const { RUN_DIR, variables: env } = await up(t, 'crash');
	const children = async () => {
		const supervisor = await pid(RUN_DIR, 'connect');
		return (await readFile(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8')).trim().split(' ').map(Number);
	};

	for (let times = 0; times < 20; times++) {
		const [program] = await children();
		process.kill(program, times % 2 ? 'SIGKILL' : 'SIGSEGV');
		await until(async () => {
			const [next] = await children();
			assert.ok(next && next !== program);
		});
		assert.equal((await fetchRaw(`${env.URLMODE_BASE_URL}/connect/nobody`)).status, 404);
	}
});

test('PostgreSQL and nginx can be stopped and started', async (t) => {
	const { RUN_DIR, variables: env } = await up(t, 'service');
	const service = async (...args) => {
		const { status, stderr } = await script('service', args, { RUN_DIR });
		assert.equal(status, 0, stderr);
	};

	await query(env.URLMODE_ADMIN_DATABASE_URL, 'CREATE TABLE kept ()');
	await service('stop', 'postgres');
	assert.equal((await fetchRaw(`${env.URLMODE_BASE_URL}/healthz`)).status, 503);
	await service('start', 'postgres');
	await until(() => assertHealthy(env.URLMODE_BASE_URL));
	await query(env.URLMODE_ADMIN_DATABASE_URL, 'SELECT FROM kept');
	await service('restart', 'nginx');
	await assertHealthy(env.URLMODE_BASE_URL);
});

test('a start that fails says why and leaves nothing', async () => {
	const folder = await scratch('failing');
	const RUN_DIR = path.join(folder, 'run');
	const PROGRAM_DIR = path.join(folder, 'bin');
	await mkdir(PROGRAM_DIR);
	for (const name of ['connect', 'form', 'oauth-return', 'status', 'webhook', 'payment-return', 'signin-return']) {
		await writeFile(path.join(PROGRAM_DIR, name), '#!/bin/sh\necho "out of order" >&2\nexit 1\n');
		await chmod(path.join(PROGRAM_DIR, name), 0o755);
	}

	const { status, stderr } = await script('up', [], { RUN_DIR, PROGRAM_DIR });
	assert.notEqual(status, 0);
	assert.match(stderr, /^urlmode: connect (ended while starting|does not answer);/);
	assert.match(stderr, /out of order/);
	assert.deepEqual(await processesIn(RUN_DIR), []);
});

test('a recorded process id that another process has got is not stopped', async (t) => {
	const { RUN_DIR } = await up(t, 'stranger');
	await script('down', [], { RUN_DIR });
	const stranger = spawn('sleep', ['60']);
	t.after(() => stranger.kill());
	await writeFile(path.join(RUN_DIR, 'pid/nginx.pid'), `${stranger.pid}\n`);
	await writeFile(path.join(RUN_DIR, 'pid/nginx.start'), '1');

	assert.equal((await script('down', [], { RUN_DIR })).status, 0);
	assert.equal(stranger.exitCode, null);
	assert.equal(stranger.signalCode, null);
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
	test(`run ends on ${signal}, and everything with it`, async () => {
		const RUN_DIR = path.join(await scratch('foreground'), 'run');
		const [port] = await freePorts(1);
		const { child, ended, output } = await foreground({ RUN_DIR, PORT: String(port) });

		assert.match(output(), new RegExp(`http://127.0.0.1:${port}\\b`));
		await assertHealthy(`http://127.0.0.1:${port}`);
		// As a terminal does: to the whole group.
		process.kill(-child.pid, signal);
		assert.equal(await ended, 0, output());
		assert.deepEqual(await processesIn(RUN_DIR), []);
	});
}

test('down ends what run has started, and run with it', async () => {
	const RUN_DIR = path.join(await scratch('foreground'), 'run');
	const { ended, output } = await foreground({ RUN_DIR });

	assert.equal((await script('down', [], { RUN_DIR })).status, 0);
	assert.equal(await ended, 0, output());
	assert.deepEqual(await processesIn(RUN_DIR), []);
});

test('one that removes its record and then ends is not killed', async (t) => {
	const { RUN_DIR } = await up(t, 'leaving');
	await script('down', [], { RUN_DIR });
	const record = path.join(RUN_DIR, 'pid/run');
	const leaving = spawn('bash', ['-c', `trap 'rm "$0".*; sleep 0.5; exit 7' TERM
		echo ready; while :; do sleep 0.05; done`, record], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
	t.after(() => leaving.kill('SIGKILL'));
	const ended = once(leaving, 'exit');
	await once(leaving.stdout, 'data');
	await writeFile(`${record}.start`, (await processOf(leaving.pid)).started);
	await writeFile(`${record}.pid`, `${leaving.pid}\n`);

	assert.deepEqual(await script('down', [], { RUN_DIR }), { status: 0, stdout: '', stderr: '' });
	assert.deepEqual(await ended, [7, null]);
});

test('what a killed run leaves is stopped by down', async () => {
	const RUN_DIR = path.join(await scratch('foreground'), 'run');
	const { child, ended } = await foreground({ RUN_DIR });

	process.kill(child.pid, 'SIGKILL');
	await ended;
	assert.ok((await processesIn(RUN_DIR)).length > 0);
	assert.equal((await script('down', [], { RUN_DIR })).status, 0);
	assert.deepEqual(await processesIn(RUN_DIR), []);
});
