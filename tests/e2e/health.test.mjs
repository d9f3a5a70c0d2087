// /healthz says which part does not answer: PostgreSQL, or one of the programs
// that hangs, is killed or was stopped. /healthz/live asks nobody.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { after, before, describe, test } from 'node:test';

import { openFixture } from '../support/fixture.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';
import { PROGRAMS, setUpNginx } from '../security/deployment.mjs';

const ALL_OK = Object.fromEntries(PROGRAMS.map((name) => [name, 'ok']));

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'health', own: true });
	await until('every program has started and reports itself', async () =>
		Object.keys((await health()).programs).length === PROGRAMS.length);
});

after(() => fixture?.close());

async function health() {
	const { status, body } = await request(fixture.url('/healthz'));
	return { code: status, ...JSON.parse(body) };
}

async function assertAlive() {
	const answer = await request(fixture.url('/healthz/live'), { timeout: 15_000 });
	assert.deepEqual([answer.status, answer.body], [200, '{"status":"ok"}']);
}

const untilReady = () => until('it is ready', async () => (await health()).code === 200);

/** The gauge of a program, or of the database where there is none. */
async function gauge(name, program) {
	const { body } = await request(fixture.url('/metrics'));
	const labels = program === undefined ? '' : `\\{program="${program}"\\}`;
	return Number(new RegExp(`^${name}${labels} (\\S+)$`, 'm').exec(body)?.[1]);
}

test('ready: the database and each program answer', async () => {
	assert.deepEqual(await health(), { code: 200, status: 'ok', database: 'ok', commit: 'ok', programs: ALL_OK });
	await assertAlive();
});

test('monitoring.conf says who may ask /healthz and /metrics, as the documents show', async () => {
	const from = async (localAddress) => Promise.all(['/healthz', '/healthz/live', '/metrics'].map(async (path) =>
		(await request(fixture.url(path), { localAddress })).status));

	assert.deepEqual(await from('127.0.0.2'), [403, 403, 403]);
	await setUpNginx(fixture.stack, { edit: { 'monitoring.conf': (text) => text.replace('# allow 192.0.2.10;', 'allow 127.0.0.2;') } });
	assert.deepEqual([await from('127.0.0.1'), await from('127.0.0.2'), await from('127.0.0.3')], [[200, 200, 200], [200, 200, 200], [403, 403, 403]]);
});

test('the database answers, and no transaction commits: that is said, and another host would be no better', async () => {
	const standby = async (change) => {
		await fixture.stack.sql(`ALTER SYSTEM ${change}`);
		await fixture.stack.sql('SELECT pg_reload_conf()');
	};
	await standby("SET synchronous_standby_names = 'nowhere'");
	try {
		await until('half a minute has passed', async () => (await health()).commit === 'stalled', { timeout: 120_000, every: 1_000 });
		assert.deepEqual(await health(), { code: 503, status: 'unavailable', database: 'ok', commit: 'stalled', programs: ALL_OK });
		const ready = await request(fixture.url('/healthz/ready'));
		assert.deepEqual([ready.status, JSON.parse(ready.body)], [200, { status: 'ok', programs: ALL_OK }]);
	} finally {
		await standby('RESET synchronous_standby_names');
	}
	await untilReady();
	const [{ name, fresh }] = await fixture.stack.sql("SELECT name, committed_at > now() - interval '30 seconds' AS fresh FROM urlmode.host");
	assert.deepEqual([name, fresh], [hostname(), true]);
});

test('PostgreSQL is stopped: alive and not ready, and ready when it is back', async () => {
	await fixture.stack.service('stop', 'postgres');
	try {
		assert.deepEqual(await health(), { code: 503, status: 'unavailable', database: 'unavailable', commit: 'ok', programs: ALL_OK });
		assert.equal(await gauge('urlmode_database_up'), 0);
		await assertAlive();
	} finally {
		await fixture.stack.service('start', 'postgres');
	}
	await untilReady();
	assert.equal(await gauge('urlmode_database_up'), 1);
	await until('the program has a connection', async () => await gauge('urlmode_database_connections', 'status') === 1);
});

test('the configuration or a description has changed, and would be refused: ready, and said, until it is mended', async () => {
	const { URLMODE_CONFIG: file } = fixture.stack.env;
	const good = await readFile(file, 'utf8');
	const said = (what) => until(what, async () => {
		const { code, configuration } = await health();
		assert.equal(code, 200);
		return configuration === (what === 'refused' ? what : undefined);
	});
	const notices = async (text) => (await fixture.stack.programLog()).filter(({ notice }) => notice?.includes(text)).map(({ program }) => program);
	try {
		await writeFile(file, good.replace('"base_url"', '"base_uri"'));
		await said('refused');
		assert.equal(await gauge('urlmode_configuration_refused'), 1);
		await until('the log says why', async () => (await notices('the next start will be refused: ')).length > 0);
		assert.deepEqual(await notices('the next start will be refused: '), ['status']);
	} finally {
		await writeFile(file, good);
	}
	await said('accepted again');
	assert.equal(await gauge('urlmode_configuration_refused'), 0);
	await until('the log says so', async () => (await notices('the configuration is accepted again')).length === 1);
});

for (const name of ['connect', 'webhook']) {
	describe(`${name} does not answer`, () => {
		test('it is stopped with SIGSTOP: silent', async () => {
			const { pid } = await fixture.stack.program(name);
			process.kill(pid, 'SIGSTOP');
			try {
				await until('it is noticed', async () => (await health()).code === 503);
				assert.deepEqual(await health(), {
					code: 503, status: 'unavailable', database: 'ok', commit: 'ok', programs: { ...ALL_OK, [name]: 'silent' },
				});
				assert.equal(await gauge('urlmode_program_up', name), 0);
				await assertAlive();
			} finally {
				process.kill(pid, 'SIGCONT');
			}
			await untilReady();
			assert.equal(await gauge('urlmode_program_up', name), 1);
		});

		test('it is killed, and its supervisor starts another: ready throughout', async () => {
			const { pid } = await fixture.stack.program(name);
			process.kill(pid, 'SIGKILL');
			await until('there is another', async () => ![undefined, pid].includes((await fixture.stack.program(name))?.pid));
			assert.equal((await health()).code, 200);
		});

		test('it has ended, and nobody starts it: gone', async () => {
			await fixture.stack.service('stop', name);
			try {
				await until('it is noticed', async () => (await health()).code === 503);
				assert.deepEqual((await health()).programs, { ...ALL_OK, [name]: 'gone' });
				assert.equal(await gauge('urlmode_processes', name), 0);
				await assertAlive();
			} finally {
				await fixture.stack.service('start', name);
			}
			await untilReady();
			assert.equal(await gauge('urlmode_processes', name), 1);
		});
	});
}
