// The programs as processes: how they end, what happens when they crash, and
// that they read new keys.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { comeBack } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { holdRow, untilHeld, waitLongerForLocks } from '../support/locks.mjs';
import { cpuMsOf, isThere } from '../support/processes.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';

const execute = promisify(execFile);
const PROGRAMS = ['connect', 'oauth-return', 'status'];
/** Milliseconds, on a loaded machine too: much less than a program would wait for its peers. */
const SOON = 10_000;
/** Less than UM_LOOP_STOP_MS. */
const WAITS_FOR_DATABASE = 700;

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'programs', own: true });
	await waitLongerForLocks(fixture.stack);
});

after(() => fixture?.close());

const codeOf = async ({ id, owner }) => (
	await fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 0 })).result.code;

/** The process that serves, when it is another than `before`. */
const successor = (name, before) => until(`${name} was started again`, async () => {
	const now = await fixture.stack.program(name);
	return now && now.pid !== before.pid ? now : undefined;
});

const gone = (program) => until('the program has ended', async () => !await isThere(program), { every: 5 });

/** A flow under way whose completion is held up inside PostgreSQL until `lock.release`, or the end of the test. */
async function held(t) {
	const browser = fixture.browser();
	const flow = await fixture.goOn(browser);
	const lock = await holdRow(fixture.stack, flow.id);
	t.after(() => lock.release());
	const program = await fixture.stack.program('oauth-return');
	const back = flow.returnTo({ code: `code of ${flow.id}` });
	const hop = comeBack(browser, back);
	hop.catch(() => {}); // heard of where it is awaited

	await untilHeld(fixture.stack, 'oauth-return');
	return { browser, flow, lock, program, back, hop };
}

/** PostgreSQL may have completed it for a program that is no more. */
function assertDone({ status, body }) {
	assert.ok(status === 303 || /Already done/.test(body), `${status}`);
}

describe('SIGTERM', () => {
	test('lets a request in flight finish, and then ends', async (t) => {
		for (let isInTime = false; !isInTime;) { // A slow machine tries again.
			const { flow, lock, program, hop } = await held(t);
			const asked = performance.now();
			process.kill(program.pid, 'SIGTERM');
			await sleep(300); // longer than it lingers without a request
			await lock.release();
			const finished = performance.now();
			isInTime = finished - asked < WAITS_FOR_DATABASE;
			const { status, location } = await hop;
			await gone(program);
			await successor('oauth-return', program);
			if (!isInTime) continue;
			assert.deepEqual([status, location], [303, '/done']);
			assert.ok(performance.now() - finished < SOON, 'soon');
			assert.equal(await codeOf(flow), `code of ${flow.id}`);
		}
	});

	test('answers 503 to a request that waits for the database longer, and ends', async (t) => {
		const { browser, flow, lock, program, back, hop } = await held(t);
		const asked = performance.now();
		process.kill(program.pid, 'SIGTERM');
		assert.equal((await hop).status, 503);
		await gone(program);
		assert.ok(performance.now() - asked < SOON, 'soon');
		await lock.release();
		await successor('oauth-return', program);
		assertDone(await comeBack(browser, back));
		assert.equal(await codeOf(flow), `code of ${flow.id}`);
	});

	for (const name of PROGRAMS) {
		test(`ends ${name} soon when it is idle, whoever is connected`, async () => {
			const program = await until(`${name} is there`, () => fixture.stack.program(name));
			const socket = path.relative('.', path.join(fixture.stack.runDir, 'sock', `${name}.sock`));
			const peers = await Promise.all(Array.from({ length: 50 }, async () => {
				const peer = connect(socket);
				peer.on('error', () => {});
				await once(peer, 'connect');
				return peer;
			}));
			// Half of them stall inside a record.
			peers.slice(25).forEach((peer) => peer.write(Buffer.from([1, 1, 0, 1, 0, 8, 0, 0, 0, 1])));
			assert.ok((await request(fixture.url({
				connect: '/connect/', 'oauth-return': '/oauth/', status: '/done',
			}[name]))).status < 500, 'it serves beside them');

			const asked = performance.now();
			process.kill(program.pid, 'SIGTERM');
			await gone(program);
			assert.ok(performance.now() - asked < SOON, 'soon');
			peers.forEach((peer) => peer.destroy());
			await successor(name, program);
		});
	}

	// The program may close a connection that nginx keeps in the very moment in
	// which nginx chooses it for the next request: that one is sent again.
	test('under load: every request is answered by a program, a GET and a POST', async () => {
		let ending = false;
		const answers = [];
		const ways = [{}, { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'state=x' }];
		const load = Array.from({ length: 8 }, async (_, n) => {
			const options = ways[n % ways.length];
			const url = fixture.url(`/oauth/demo/return${options.body ? '' : '?state=x'}`);
			while (!ending) answers.push(await request(url, options));
		});

		for (let round = 0; round < 5; round++) {
			const program = await until('it is there', () => fixture.stack.program('oauth-return'));
			const before = answers.length;
			await until('it is busy', () => answers.length > before + 50);
			process.kill(program.pid, 'SIGTERM');
			await successor('oauth-return', program);
		}
		ending = true;
		await Promise.all(load);
		const unlucky = answers.filter(({ status }) => status !== 400).map(({ status }) => status);
		assert.deepEqual(unlucky, [], `of ${answers.length}`);
	});
});

describe('a program that crashes', () => {
	test('is started again, and its requests can be repeated', async (t) => {
		const { browser, flow, lock, program, back, hop } = await held(t);
		process.kill(program.pid, 'SIGKILL');
		await successor('oauth-return', program);
		await lock.release();
		// Sent again by nginx where the connection was a kept one, else by its page.
		const answer = await hop;
		if (answer.status === 502) assert.deepEqual([answer.headers['retry-after'], answer.headers.refresh], ['3', '3']);
		else assertDone(answer);
		await fixture.untilServing();

		assertDone(await comeBack(browser, back));
		assert.equal(await codeOf(flow), `code of ${flow.id}`);
	});

	test('repeatedly is started again each time', async () => {
		for (const name of PROGRAMS) {
			for (let round = 0; round < 5; round++) {
				const program = await until(`${name} is there`, () => fixture.stack.program(name));
				process.kill(program.pid, 'SIGKILL');
				await successor(name, program);
			}
		}
		await fixture.untilServing();
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		assert.equal((await comeBack(browser, flow.returnTo({ code: 'c' }))).location, '/done');
	});
});

test('a client that disconnects disturbs no other request', async (t) => {
	const { browser, flow, lock, hop } = await held(t);
	browser.close();
	await assert.rejects(hop);
	await lock.release();

	const { result } = await fixture.urlmode.waitForCompletion(flow.id, flow.owner);
	assert.equal(result.code, `code of ${flow.id}`);
	const { request: id } = await until('the program has logged it', async () => (
		(await fixture.stack.programLog()).find(({ program, elicitation }) => (
			program === 'oauth-return' && elicitation === flow.id))));
	const { status } = await until('nginx has logged it', async () => (
		(await fixture.stack.accessLog()).find(({ request_id: requestId }) => requestId === id)));
	assert.equal(status, '303', 'nginx waited for the answer');
});

test('only the web server can connect to the sockets', async () => {
	const { uid = process.getuid() } = await fixture.stack.user();
	const sockets = await readdir(path.join(fixture.stack.runDir, 'sock'));
	assert.ok(sockets.length >= PROGRAMS.length);
	for (const name of sockets) {
		const { mode, uid: owner } = await stat(path.join(fixture.stack.runDir, 'sock', name));
		assert.equal(mode & 0o777, 0o660, name);
		assert.equal(owner, uid);
	}
	for (const folder of ['', 'sock', 'pg', 'log', 'secrets']) {
		const { mode } = await stat(path.join(fixture.stack.runDir, folder));
		assert.equal(mode & 0o077, 0, `${folder} is closed to others`);
	}
	for (const file of ['keys', 'config.json', 'env']) {
		const { mode } = await stat(path.join(fixture.stack.runDir, file));
		assert.equal(mode & 0o007, 0, `${file} is closed to others`);
	}
});

test('a program that starts says in its log that others can read its configuration', async () => {
	const config = fixture.stack.env.URLMODE_CONFIG;
	const said = async () => (await fixture.stack.programLog()).filter(({ notice }) => notice?.includes('others may read'));
	assert.deepEqual(await said(), []);
	await chmod(config, 0o644);
	await fixture.stack.service('restart', 'status');
	await chmod(config, 0o600);

	const [{ program, notice }] = await until('it is said', async () => ((await said()).length > 0 ? said() : undefined));
	assert.deepEqual([program, notice], ['status', `${config}: others may read or write it; chmod o= it`]);
	assert.equal((await request(fixture.url('/done'))).status, 200);
});

test('a program that may open no more descriptors, and has no idle connection to close, waits until it may', async () => {
	const WAIT_MS = 2_000;
	const before = await fixture.stack.program('status');
	await fixture.stack.service('stop', 'postgres');
	await fixture.stack.service('restart', 'status');
	const { pid } = await successor('status', before);
	await fixture.stack.service('restart', 'nginx'); // or there would be idle connections
	await sleep(300);
	const limit = async (soft) => execute('prlimit', ['--pid', String(pid), `--nofile=${soft}:`], await fixture.stack.user());

	await limit(1); // descriptor 0 alone, which is in use
	const answer = request(fixture.url('/done'));
	await sleep(100);
	const used = await cpuMsOf(pid);
	await sleep(WAIT_MS);
	assert.ok(await cpuMsOf(pid) - used < WAIT_MS / 4, 'it tried without a pause');
	await limit(1_024);
	assert.equal((await answer).status, 200);
	await fixture.stack.service('start', 'postgres');
	await fixture.untilServing();
});

test('each program keeps one connection to PostgreSQL, and status one that commits', async () => {
	const connections = () => fixture.stack.sql(`
		SELECT application_name AS name, count(*)::int FROM pg_stat_activity
		WHERE usename = 'urlmode_cgi' GROUP BY 1 ORDER BY 1`);
	const running = (await readdir(path.join(fixture.stack.runDir, 'sock'))).map((name) => path.basename(name, '.sock')).sort();
	// The program status has one beside it, which commits for /healthz.
	const one = [...running, 'beat'].sort().map((name) => ({ name, count: 1 }));

	await until('each has one', async () => JSON.stringify(await connections()) === JSON.stringify(one));
	await Promise.all(Array.from({ length: 50 }, () => fixture.goOn(fixture.browser())));
	assert.deepEqual(await connections(), one);
});

test('keys are rotated without a restart: the new one mints, both open, a dropped one does not', async () => {
	const file = fixture.stack.env.URLMODE_KEYS_FILE;
	const first = await readFile(file, 'utf8');
	const second = `7 ${randomBytes(32).toString('base64url')}\n`;
	const programs = await Promise.all(PROGRAMS.map((name) => fixture.stack.program(name)));
	const kidOf = (state) => Buffer.from(state, 'base64url')[1];
	const linkKid = async () => kidOf(new URL((await fixture.create()).url).searchParams.get('state'));

	/** The notices that the programs have logged so far. */
	const notices = async (words) => (await fixture.stack.programLog())
		.filter(({ notice }) => notice?.includes(words)).length;

	/** How often each program has read the keys again: at the signal, and in the second before it. */
	const reads = async () => {
		const log = (await fixture.stack.programLog()).filter(({ notice }) => notice?.includes('the keys were read again'));
		return PROGRAMS.map((name) => log.filter(({ program }) => program === name).length);
	};

	async function rotate(text) {
		await writeFile(file, text);
		const before = await reads();
		programs.forEach(({ pid }) => process.kill(pid, 'SIGHUP'));
		await until('the programs have read them', async () => (await reads()).every((count, n) => count > before[n]));
	}

	const browser = fixture.browser();
	const early = await fixture.goOn(browser);
	const link = await fixture.create();
	assert.equal(kidOf(early.state), 1);

	await rotate(`# the next\n${second}${first}`);
	await until('the MCP server has read them', async () => await linkKid() === 7);
	const late = await fixture.goOn(browser);
	assert.equal(kidOf(late.state), 7);
	assert.equal((await comeBack(browser, early.returnTo({ code: 'early' }))).location, '/done');
	assert.equal(await codeOf(early), 'early');
	assert.equal((await request(link.url)).status, 200);

	await rotate(second);
	assert.equal((await comeBack(browser, late.returnTo({ code: 'late' }))).location, '/done');
	assert.equal(await codeOf(late), 'late');
	assert.equal((await request(link.url)).reason, 'state_invalid');
	assert.deepEqual(await Promise.all(PROGRAMS.map((name) => fixture.stack.program(name))), programs);

	await rotate(first);
	await writeFile(file, '1 short\n');
	process.kill(programs[0].pid, 'SIGHUP');
	await until('the mistake is in the log', () => notices(`${file}:1`));
	assert.equal((await request(link.url)).status, 200, 'the keys stay as they were');
	await writeFile(file, first);
});
