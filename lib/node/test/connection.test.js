// What happens to waits when PostgreSQL or the connection to it fails.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { UrlMode } from '../src/index.js';
import { ALIVE_MS } from '../src/core/contract-limits.js';
import { checkDatabaseUrl } from '../src/core/database-url.js';
import { internalsOf } from '../src/core/internals.js';
import { Listener } from '../src/core/listener.js';
import { bindingOf } from '../src/core/token.js';
import { Waits } from '../src/core/waits.js';
import { playTimers } from './support/clock.js';
import { Cluster } from './support/cluster.js';
import { connect as connectToDatabase, connectionsOf, listenerOf, payment, request, requireUrl, setUp, terminate, until } from './support/database.js';
import { scratchKeys } from './support/keys.js';
import { Proxy } from './support/proxy.js';

const owner = { subject: 'user-42' };

function collectWarnings(t) {
	const codes = [];
	const onWarning = (warning) => codes.push(warning.code);
	process.on('warning', onWarning);
	t.after(() => process.off('warning', onWarning));
	return codes;
}

test('a wait whose connection was terminated resolves if the elicitation was completed meanwhile', async (t) => {
	const { urlmode, admin, callback, applicationName } = await setUp(t);
	const warnings = collectWarnings(t);
	const ids = (await Promise.all([1, 2, 3].map(() => urlmode.create(request)))).map((e) => e.elicitationId);
	const waits = ids.map((id) => urlmode.waitForCompletion(id, owner));
	const pid = await listenerOf(admin, applicationName);

	// Gone when this returns: nobody listens when the completion is announced.
	assert.equal(await terminate(async (sql, values) => (await admin.query(sql, values)).rows, 'pid = $1', [pid]), 1);
	await callback.complete(ids[0], { result: { code: 'a' } });
	assert.deepEqual((await waits[0]).result, { code: 'a' });

	assert.notEqual(await listenerOf(admin, applicationName), pid);
	await callback.complete(ids[1], { result: { code: 'b' } });
	await callback.complete(ids[2], { action: 'decline', reason: 'access_denied' });
	assert.deepEqual((await waits[1]).result, { code: 'b' });
	assert.equal((await waits[2]).action, 'decline');
	assert.deepEqual(warnings, [], 'what comes back at once is no news');
});

test('a channel that is added while LISTEN is sent for another one is listened to as well', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const { listener } = internalsOf(urlmode);
	const { query } = pg.Client.prototype;
	t.mock.method(pg.Client.prototype, 'query', function (statement, ...rest) {
		if (statement?.text === 'LISTEN urlmode') void listener.addChannel('urlmode_published');
		return query.call(this, statement, ...rest);
	});
	listener.acquire(t);
	await until('it listens', () => listener.receivesNotifications);
	const heard = once(listener, 'notification');
	await admin.query("SELECT pg_notify('urlmode_published', 'a channel')");
	assert.deepEqual(await heard, ['a channel', 'urlmode_published']);
});

test('a connection that was terminated while nobody waits is opened again by the next wait', async (t) => {
	const { urlmode, admin, callback, applicationName } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	await assert.rejects(urlmode.waitForCompletion(elicitationId, { ...owner, timeout: 100 }), { code: 'ELICITATION_TIMEOUT' });
	// One may just be opened, for what the wait has still asked.
	await until('nobody waits, so nobody connects', async () => {
		await terminate(async (sql, values) => (await admin.query(sql, values)).rows, 'application_name = $1', [applicationName]);
		await sleep(300);
		return (await connectionsOf(admin, applicationName)).length === 0;
	});
	const waiting = urlmode.waitForCompletion(elicitationId, owner);
	await callback.complete(elicitationId);
	assert.equal((await waiting).action, 'accept');
	assert.ok((await urlmode.create(request)).url, 'the pool connects again too');
});

test('waits survive a restart of PostgreSQL', async (t) => {
	const cluster = await Cluster.start(t);
	const { urlmode, settings } = await setUp(t, cluster);
	const warnings = collectWarnings(t);
	const ids = (await Promise.all(Array.from({ length: 20 }, () => urlmode.create(request)))).map((e) => e.elicitationId);
	const progress = [];
	const waits = ids.map((id) => urlmode.waitForCompletion(id, { ...owner, onProgress: (status) => progress.push(status) }));
	await sleep(200);

	await cluster.stop();
	const late = new UrlMode(settings);
	t.after(() => late.close());
	const lateWait = late.waitForCompletion(ids[0], owner);
	await assert.rejects(late.waitForCompletion(ids[0], { ...owner, timeout: 0 }), 'one look does not wait for the database');
	await assert.rejects(urlmode.create(request));
	await until('both warn', () => warnings.length === 2);
	assert.deepEqual(warnings, ['URLMODE_RECONNECTING', 'URLMODE_RECONNECTING']);
	await cluster.start();

	const { callback } = await setUp(t, { ...cluster, keysFile: settings.keysFile });
	await callback.open(ids[0]);
	for (const id of ids) assert.equal(await callback.complete(id, { result: { id } }), 'completed');
	for (const [index, outcome] of (await Promise.all(waits)).entries()) {
		assert.deepEqual(outcome, { elicitationId: ids[index], action: 'accept', reason: '', result: { id: ids[index] } });
	}
	assert.deepEqual((await lateWait).result, { id: ids[0] });
	const again = await urlmode.create(request);
	const waiting = urlmode.waitForCompletion(again.elicitationId, owner);
	await callback.complete(again.elicitationId);
	assert.equal((await waiting).action, 'accept', 'the new connection listens');
	assert.ok(warnings.length === 2, `one warning an outage: ${warnings}`);
});

test('without PostgreSQL a wait still ends by timeout, abort or close', async (t) => {
	const settings = { databaseUrl: 'postgresql://u:hunter2@127.0.0.1:1/none', keysFile: scratchKeys(t),
		baseUrl: 'https://callback.example' };
	const id = '6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11';
	const urlmode = new UrlMode(settings);
	await assert.rejects(urlmode.waitForCompletion(id, { ...owner, timeout: 300 }), { code: 'ELICITATION_TIMEOUT' });
	await assert.rejects(urlmode.waitForCompletion(id, { ...owner, signal: AbortSignal.timeout(100) }), { name: 'TimeoutError' });
	const open = assert.rejects(urlmode.waitForCompletion(id, owner), { code: 'URLMODE_CLOSED' });
	await assert.rejects(urlmode.create(request), (error) => {
		assert.equal(error.code, 'ECONNREFUSED');
		assert.doesNotMatch(error.stack + JSON.stringify(error), /hunter2/);
		return true;
	});
	await urlmode.close();
	await open;
});

test('close does not wait for a PostgreSQL that does not answer', async (t) => {
	const proxy = await Proxy.start(t, requireUrl('URLMODE_DATABASE_URL'));
	const urlmode = new UrlMode({ databaseUrl: proxy.url, keysFile: scratchKeys(t), baseUrl: 'https://callback.example' });
	const { elicitationId } = await urlmode.create(request);
	const wait = urlmode.waitForCompletion(elicitationId, owner);
	await until('it waits', () => internalsOf(urlmode).listener.listening);
	proxy.silence();
	const calls = [wait, ...Array.from({ length: 10 }, () => urlmode.create(request)), urlmode.cancel(elicitationId, owner)];
	const start = performance.now();
	const closed = urlmode.close();

	// Some are answered, over connections that are made only now.
	const ended = (await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected');
	assert.ok(ended.length > 1, 'nobody had to wait');
	assert.deepEqual(new Set(ended.map(({ reason }) => reason.code)), new Set(['URLMODE_CLOSED']));
	await closed;
	// Two seconds, on a machine that does nothing else. Without them it is half a minute.
	assert.ok(performance.now() - start < 15_000);
});

test('a missing privilege or schema rejects a wait at once', async (t) => {
	const { settings, adminUrl } = await setUp(t);
	// As in libpq, a plus sign is no space.
	const urlmode = new UrlMode({ ...settings, databaseUrl: `${adminUrl}?options=-c%20role%3Durlmode_cgi` });
	t.after(() => urlmode.close());
	const id = '6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11';
	await assert.rejects(urlmode.waitForCompletion(id, owner), { code: '42501', message: /permission denied/ });
	await assert.rejects(urlmode.create(request), { code: '42501' });
});

/** Waits with a listener of their own and short intervals. */
function shortWaits(t, databaseUrl, routineReadMs) {
	const listener = new Listener({ ...checkDatabaseUrl(databaseUrl), query_timeout: 300 });
	t.after(() => listener.close());
	const waiters = new Waits(listener, {
		toOutcome: ({ id, action, reason }) => ({ elicitationId: id, action, reason, result: undefined }),
		openVerifier: () => undefined,
		expire: () => assert.fail('nothing expires here'),
		complete: () => assert.fail('nothing is rechecked here'),
	}, routineReadMs);
	return (id) => waiters.wait(id, bindingOf('user-42', ''), { timeout: 20_000 });
}

test('a lost notification delays a wait until the next routine read', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	const waiting = shortWaits(t, requireUrl('URLMODE_DATABASE_URL'), 200)(elicitationId);
	await sleep(100);
	await admin.query(`UPDATE urlmode.elicitation SET status = 'completed', action = 'accept', completed_at = now()
		WHERE id = $1`, [elicitationId]);
	assert.equal((await waiting).action, 'accept');
});

test('a connection that broke silently is noticed and replaced', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const proxy = await Proxy.start(t, requireUrl('URLMODE_DATABASE_URL'));
	const { elicitationId } = await urlmode.create(request);
	const waiting = shortWaits(t, proxy.url, 200)(elicitationId);
	await sleep(150);
	proxy.silence();
	await callback.complete(elicitationId);
	assert.equal((await waiting).action, 'accept');
});

for (const silent of [false, true]) {
	test(`a listening connection that is ${silent ? 'silent is given up' : 'alive is kept'} within 15 seconds`, async (t) => {
		const proxy = await Proxy.start(t, requireUrl('URLMODE_DATABASE_URL'));
		const { urlmode, callback } = await setUp(t, { serverUrl: proxy.url });
		const { elicitationId } = await urlmode.create(request);
		const pass = playTimers(t, proxy);
		const waiting = urlmode.waitForCompletion(elicitationId, owner);
		const { listener } = internalsOf(urlmode);
		await until('it listens', () => listener.receivesNotifications);
		await pass(60);
		let lost = 0;
		listener.on('lost', () => (lost += 1));
		if (silent) proxy.silence();
		await pass(15);
		assert.equal(lost, Number(silent));
		await callback.complete(elicitationId);
		await pass(1);
		assert.equal((await waiting).action, 'accept');
		assert.equal(lost, Number(silent));
	});
}

test('a connection that nobody uses serves the next user', async (t) => {
	const listener = new Listener(checkDatabaseUrl(requireUrl('URLMODE_DATABASE_URL')));
	t.after(() => listener.close());
	const listening = once(listener, 'listening');
	listener.acquire('first');
	await listening;
	const [{ pid }] = await listener.query('SELECT pg_backend_pid() AS pid', []);
	listener.release('first');
	listener.acquire('second');
	assert.deepEqual(await listener.query('SELECT pg_backend_pid() AS pid', []), [{ pid }]);
});

test('whoever comes while a connection is lost waits for the next attempt', async (t) => {
	let attempts = 0;
	const server = createServer((socket) => {
		attempts += 1;
		socket.destroy();
	}).listen(0, '127.0.0.1');
	t.after(() => server.close());
	await once(server, 'listening');
	const listener = new Listener(checkDatabaseUrl(`postgres://nobody@127.0.0.1:${server.address().port}/none`));
	t.after(() => listener.close());
	t.mock.timers.enable({ apis: ['setTimeout'] });
	const lost = once(listener, 'lost');
	listener.acquire('first');
	await lost;
	for (let user = 0; user < 100; user += 1) listener.acquire(user);
	// One of the test's own comes after theirs, if there were any.
	for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => { setImmediate(resolve); });
	await once(connect(server.address().port, '127.0.0.1').resume(), 'close');
	assert.equal(attempts, 2, 'the first, and that of the test');
});

/** All connections of a pool, and a relay that falls silent, for so long that they are asked before the next call. */
async function setUpPool(t) {
	const proxy = await Proxy.start(t, requireUrl('URLMODE_DATABASE_URL'));
	const silence = async () => {
		proxy.silence();
		await sleep(ALIVE_MS + 100);
	};
	const fixture = await setUp(t, { serverUrl: proxy.url });
	const { urlmode, admin, applicationName } = fixture;
	const { database } = internalsOf(urlmode);
	await Promise.all([1, 2, 3, 4].map(() => database.query('SELECT pg_sleep(0.3)', [])));
	assert.equal((await connectionsOf(admin, applicationName)).length, 4);
	return { ...fixture, silence, database, pass: playTimers(t, proxy) };
}

test('a connection that has just answered is not asked whether it is alive', async (t) => {
	const { urlmode, applicationName } = await setUp(t);
	const { database } = internalsOf(urlmode);
	const statements = [];
	const { query } = pg.Client.prototype;
	t.mock.method(pg.Client.prototype, 'query', function (statement, ...rest) {
		if (this.connectionParameters.application_name === applicationName) statements.push(statement.text ?? statement);
		return query.call(this, statement, ...rest);
	});
	let now = 0;
	t.mock.method(performance, 'now', () => now);
	for (const later of [0, 0, ALIVE_MS - 1, ALIVE_MS, ALIVE_MS - 1]) {
		now += later;
		await database.query(`SELECT ${later}`, []);
	}
	assert.deepEqual(statements, ['SELECT 0', 'SELECT 0', 'SELECT 499', 'SELECT', 'SELECT 500', 'SELECT 499']);
});

test('a call on connections that died in silence is sent once, on a new one, after five seconds', async (t) => {
	const { urlmode, callback, admin, silence, pass } = await setUpPool(t);
	const me = { subject: `user-${randomUUID()}` };
	const { elicitationId: paid } = await urlmode.create({ ...payment, ...me });
	await callback.paid(paid, me);
	await silence();
	let ended = 0;
	const calls = [urlmode.create({ ...request, ...me }), urlmode.claim(paid, me), urlmode.unclaimed()];
	for (const call of calls) call.then(() => (ended += 1), () => {});
	await pass(4.5);
	assert.equal(ended, 0);
	await pass(1);
	assert.equal((await calls[1]), true);
	await Promise.all(calls);
	const { rows } = await admin.query('SELECT count(*)::integer FROM urlmode.elicitation WHERE subject = $1', [me.subject]);
	assert.deepEqual(rows, [{ count: 2 }]);
	await silence();
	const next = urlmode.cancel(paid, me);
	await pass(5.5);
	assert.equal(await next, false, 'it has ended');
});

test('a read whose connection dies before its answer is repeated; a change is not, and says that it may have been made', async (t) => {
	const { urlmode, admin, applicationName, silence, pass } = await setUpPool(t);
	// Not `admin`: in a transaction, pg_stat_activity shows the sessions of the first time it was asked.
	const lock = await connectToDatabase(t, requireUrl('URLMODE_ADMIN_DATABASE_URL'));
	await lock.query('BEGIN; LOCK TABLE urlmode.payment, urlmode.elicitation');
	const read = urlmode.unclaimed();
	const changed = assert.rejects(urlmode.create(request), ({ code, message, cause }) => {
		assert.deepEqual([code, cause.message], ['URLMODE_UNAVAILABLE', 'Query read timeout']);
		assert.match(message, /does not answer: it is not known whether this call was carried out$/);
		return true;
	});
	await until('both wait for the lock', async () => (await connectionsOf(admin, applicationName))
		.filter(({ wait_event_type: event }) => event === 'Lock').length === 2);
	await silence();
	await lock.query('COMMIT');
	await pass(30);
	await changed;
	assert.ok(Array.isArray(await read));
});

test('where no connection can be made in time, nothing was changed, and the error says so', async (t) => {
	const server = createServer(() => {}).listen(0, '127.0.0.1');
	t.after(() => server.close());
	await once(server, 'listening');
	const urlmode = new UrlMode({
		databaseUrl: `postgres://nobody@127.0.0.1:${server.address().port}/none`, keysFile: scratchKeys(t), baseUrl: 'https://callback.example',
	});
	const pass = playTimers(t, { isSilent: () => true });
	const call = assert.rejects(urlmode.create(request), {
		name: 'UrlModeUnavailableError', code: 'URLMODE_UNAVAILABLE', message: /there is no connection to it\. Nothing was changed$/,
	});
	await pass(31);
	await call;
	await urlmode.close();
});

test('calls beyond ten thousand in progress are refused, and the others end', async (t) => {
	t.mock.method(pg.Pool.prototype, 'query', () => new Promise(() => {}));
	const urlmode = new UrlMode({ databaseUrl: 'postgresql://u@127.0.0.1:1/none', keysFile: scratchKeys(t), baseUrl: 'https://callback.example' });
	const calls = Array.from({ length: 10_000 }, () => urlmode.create(request).catch(({ code }) => code));
	await assert.rejects(urlmode.create(request), { code: 'URLMODE_BUSY', message: /10000 calls are in progress\. Nothing was changed/ });
	await urlmode.close();
	assert.deepEqual(new Set(await Promise.all(calls)), new Set(['URLMODE_CLOSED']));
});

test('PostgreSQL ends a statement before its caller is told that it failed', async (t) => {
	const { urlmode } = await setUp(t);
	const [{ statement_timeout: limit }] = await internalsOf(urlmode).database.query('SHOW statement_timeout', []);
	assert.equal(limit, '25s');
	const timers = [];
	const original = setTimeout;
	t.mock.method(globalThis, 'setTimeout', (callback, delay, ...args) => {
		timers.push(delay);
		return original(callback, delay, ...args);
	});
	await urlmode.create(request);
	assert.ok(timers.includes(30_000), 'a query has 30 s');
});
