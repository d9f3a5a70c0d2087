// FrontMCP's StorageAdapter on a real PostgreSQL, on two instances.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { internalsOf } from '../src/core/internals.js';
import { PostgresStorage } from '../src/frameworks/storage.js';
import { playTimers } from './support/clock.js';
import { calledBy, listenerOf, requireUrl, setUp, until } from './support/database.js';
import { Proxy } from './support/proxy.js';

/** The views that two instances have of one namespace, which no other test uses. */
async function setUpStorage(t, options) {
	const fixture = await setUp(t, options);
	const name = `test-${randomUUID()}`;
	const roots = [new PostgresStorage(fixture.urlmode), new PostgresStorage(fixture.another())];
	for (const root of roots) await root.connect();
	const [here, there] = roots.map((root) => root.namespace(name));
	return { ...fixture, name, roots, here, there };
}

test('values with and without expiry are visible on every instance', async (t) => {
	const { here, there } = await setUpStorage(t);
	assert.equal(await here.get('a'), null);
	await here.set('a', '1');
	assert.equal(await there.get('a'), '1');
	assert.equal(await there.exists('a'), true);
	assert.equal(await there.ttl('a'), -1);
	await there.set('b', '2', { ttlSeconds: 100 });
	assert.equal(await here.ttl('b'), 100);
	assert.deepEqual(await here.mget(['b', 'none', 'a', 'b']), ['2', null, '1', '2']);
	assert.equal(await here.expire('a', 50), true);
	assert.equal(await there.ttl('a'), 50);
	assert.equal(await here.expire('none', 50), false);
	assert.equal(await here.ttl('none'), null);
	assert.equal(await here.delete('a'), true);
	assert.equal(await there.delete('a'), false);
	assert.equal(await there.mdelete(['a', 'b', 'none']), 1);
	assert.deepEqual(await here.mget([]), []);
	assert.equal(await here.mdelete([]), 0);
});

test('an expired value does not exist, can be set again, and is deleted', async (t) => {
	const { here, there, admin, name } = await setUpStorage(t);
	await here.set('a', '1', { ttlSeconds: 1 });
	await here.set('n', '5', { ttlSeconds: 1 });
	await until('it expired', async () => await there.get('a') === null);
	assert.equal(await there.exists('a'), false);
	assert.equal(await there.delete('a'), false);
	await here.set('b', '1', { ttlSeconds: 1 });
	await sleep(1_100);
	await here.set('b', '2', { ifExists: true });
	assert.equal(await there.get('b'), null, 'an expired value does not exist');
	await here.set('b', '3', { ifNotExists: true });
	assert.equal(await there.get('b'), '3');
	assert.equal(await here.incr('n'), 1, 'an expired number counts from 0');
	const { rows } = await admin.query('SELECT key FROM urlmode_frameworks.stored WHERE key LIKE $1 AND expires_at <= now()', [`${name}%`]);
	assert.deepEqual(rows, []);
});

test('a batch with conditions is set as a whole or not at all', async (t) => {
	const { here, there } = await setUpStorage(t);
	await here.set('a', '1', { ifExists: true });
	assert.equal(await there.get('a'), null);
	const sets = Array.from({ length: 10 }, (_, n) => [here, there][n % 2].set('lock', String(n), { ifNotExists: true }));
	await Promise.all(sets);
	const holder = await here.get('lock');
	await there.set('lock', 'other', { ifNotExists: true });
	assert.equal(await here.get('lock'), holder);
	await assert.rejects(here.set('a', '1', { ifExists: true, ifNotExists: true }), { name: 'TypeError' });
	await assert.rejects(here.mset([{ key: 'x', value: '1' }, { key: '', value: 'y'.repeat(2_000_000) }]),
		{ name: 'StorageOperationError', operation: 'set' });
	assert.equal(await there.get('x'), null);
	for (const ttlSeconds of [0, -1, 1.5, NaN]) {
		await assert.rejects(here.set('a', '1', { ttlSeconds }), { name: 'StorageTTLError', ttl: ttlSeconds });
		await assert.rejects(here.expire('a', ttlSeconds), { name: 'StorageTTLError' });
	}
});

test('numbers can be incremented from every instance', async (t) => {
	const { here, there } = await setUpStorage(t);
	await Promise.all(Array.from({ length: 40 }, (_, n) => [here, there][n % 2].incr('n')));
	assert.equal(await here.incrBy('n', -15), 25);
	assert.equal(await there.decr('n'), 24);
	assert.equal(await there.get('n'), '24');
	for (const value of ['abc', '1.5', '1e3', '']) {
		await here.set('text', value);
		await assert.rejects(here.incr('text'), { name: 'StorageOperationError', operation: 'incrBy', message: /not a whole number/ }, value);
		assert.equal(await there.get('text'), value);
	}
	for (const amount of [1.5, NaN, 2 ** 53]) await assert.rejects(here.incrBy('n', amount), { name: 'StorageOperationError' });
	assert.equal(await there.get('n'), '24');
});

test('keys are listed by pattern within a namespace', async (t) => {
	const { here, there, roots, name } = await setUpStorage(t);
	await here.mset(['a:1', 'a:2', 'a_3', 'a%4', 'b:1'].map((key) => ({ key, value: 'x' })));
	assert.deepEqual((await there.keys('a:*')).sort(), ['a:1', 'a:2']);
	assert.deepEqual((await there.keys('a?3')).sort(), ['a_3']);
	assert.deepEqual(await there.keys('a_?'), ['a_3']);
	assert.deepEqual(await there.keys('a%*'), ['a%4']);
	assert.equal(await there.count(), 5);
	const inner = here.namespace('inner', 'x');
	await inner.set('k', 'v');
	assert.equal(inner.prefix, `${name}:inner:x:`);
	assert.equal(await roots[1].get(`${name}:inner:x:k`), 'v');
	assert.equal(inner.root, roots[0]);
	assert.deepEqual(await inner.keys(), ['k']);
});

test('a message reaches every subscriber of its channel once, on every instance', async (t) => {
	const { here, there } = await setUpStorage(t);
	const heard = { here: [], there: [], other: [], gone: [] };
	await here.publish('c', 'before');
	await here.subscribe('c', (message, channel) => heard.here.push([message, channel]));
	await there.subscribe('c', (message) => heard.there.push(message));
	await there.subscribe('d', (message) => heard.other.push(message));
	const unsubscribe = await there.subscribe('c', (message) => heard.gone.push(message));
	await unsubscribe();
	for (let n = 0; n < 50; n += 1) await [here, there][n % 2].publish('c', `message ${n}`);
	await until('all are heard', () => heard.here.length >= 50 && heard.there.length >= 50);
	await sleep(100);
	const expected = Array.from({ length: 50 }, (_, n) => `message ${n}`);
	assert.deepEqual(heard.here, expected.map((message) => [message, 'c']));
	assert.deepEqual(heard.there, expected);
	assert.deepEqual([heard.other, heard.gone], [[], []]);
});

test('messages too large for NOTIFY, and with any characters, are delivered', async (t) => {
	const { here, there } = await setUpStorage(t);
	const heard = [];
	await there.subscribe('c', (message) => heard.push(message));
	const messages = ['x'.repeat(500_000), '{"a":"ö\'\\"\n"}', ''];
	for (const message of messages) await here.publish('c', message);
	await until('all are heard', () => heard.length === messages.length);
	assert.deepEqual(heard, messages);
});

test('a message published while the connection is lost is delivered once', async (t) => {
	const { here, there, admin, applicationName } = await setUpStorage(t);
	const heard = [];
	await there.subscribe('c', (message) => heard.push(message));
	await listenerOf(admin, applicationName);
	for (let n = 0; n < 5; n += 1) {
		await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()",
			[applicationName]);
		await until('it is published', () => here.publish('c', `message ${n}`).then(() => true, () => false));
	}
	await until('all are heard', () => heard.length >= 5);
	await sleep(200);
	assert.deepEqual([...heard].sort(), Array.from({ length: 5 }, (_, n) => `message ${n}`));
});

test('a message published while the connection is silently broken is delivered within a minute', async (t) => {
	const proxy = await Proxy.start(t, requireUrl('URLMODE_DATABASE_URL'));
	const { here: there, name } = await setUpStorage(t);
	const { urlmode } = await setUp(t, { serverUrl: proxy.url });
	const pass = playTimers(t, proxy);
	const root = new PostgresStorage(urlmode);
	await root.connect();
	const here = root.namespace(name);
	const heard = [];
	await here.subscribe('c', (message) => heard.push(message));
	await until('it listens', () => internalsOf(urlmode).listener.receivesNotifications);
	// The connection of the pool ends, which nobody has used for so long.
	await pass(15);
	proxy.silence();
	await there.publish('c', 'a');
	await pass(60);
	assert.deepEqual(heard, ['a']);
});

test('a read that fails is repeated until it succeeds, and then no more', async (t) => {
	const proxy = await Proxy.start(t, requireUrl('URLMODE_DATABASE_URL'));
	const { here, there, urlmode } = await setUpStorage(t, { serverUrl: proxy.url });
	const { database, listener } = internalsOf(urlmode);
	const { query } = database;
	let failures = 0;
	let reads = 0;
	t.mock.method(database, 'query', async (text, values) => {
		if (!text.includes('published_since')) return query.call(database, text, values);
		if (failures > 0) {
			failures -= 1;
			throw new Error('passing');
		}
		reads += 1;
		return query.call(database, text, values);
	});
	const heard = [];
	await here.subscribe('c', (message) => heard.push(message));
	await here.subscribe('d', (message) => heard.push(message));
	await until('it listens', () => listener.receivesNotifications && reads > 1);
	const pass = playTimers(t, proxy);
	failures = 1;
	await there.publish('c', 'a');
	await until('it has failed', () => failures === 0);
	await there.publish('d', 'b');
	await until('both are heard, since whatever is read, the first is too', () => heard.length === 2);
	assert.deepEqual(heard, ['a', 'b']);
	failures = 4;
	await there.publish('c', 'c');
	await until('it has failed', () => failures < 4);
	await pass(1);
	assert.ok(failures > 0, 'it is asked at growing intervals');
	await pass(10);
	await until('it is heard', () => heard.length === 3);
	const before = reads;
	await pass(60);
	assert.equal(reads, before, 'a poll would read twelve times');
});

test('an error of one handler does not affect the others', async (t) => {
	const { here, there } = await setUpStorage(t);
	const failure = new Error('the handler');
	const heard = [];
	const uncaught = new Promise((resolve) => {
		const original = process.listeners('uncaughtException');
		process.removeAllListeners('uncaughtException');
		process.once('uncaughtException', (error) => {
			for (const listener of original) process.on('uncaughtException', listener);
			resolve(error);
		});
	});
	await there.subscribe('c', () => {
		throw failure;
	});
	await there.subscribe('c', (message) => heard.push(message));
	await here.publish('c', 'a');
	assert.equal(await uncaught, failure);
	await until('the other heard it', () => heard.length === 1);
});

test('methods reject before connect and after disconnect', async (t) => {
	const { urlmode } = await setUp(t);
	const storage = new PostgresStorage(urlmode);
	assert.equal(await storage.ping(), false);
	await assert.rejects(storage.get('a'), { name: 'StorageNotConnectedError', backend: 'postgresql', message: /call connect/ });
	await assert.rejects(storage.incr('a'), { name: 'StorageNotConnectedError' });
	await assert.rejects(storage.set('a', '1'), { name: 'StorageNotConnectedError' });
	await storage.connect();
	assert.equal(await storage.ping(), true);
	assert.equal(storage.supportsPubSub(), true);
	await storage.subscribe('c', () => {});
	const late = storage.subscribe('d', () => {});
	await storage.disconnect();
	await assert.rejects(storage.get('a'), { name: 'StorageNotConnectedError' });
	await assert.rejects(late, { name: 'StorageNotConnectedError' });
});

test('connect rejects if PostgreSQL cannot be reached', async (t) => {
	const { urlmode } = await setUp(t, { databaseUrl: 'postgresql://urlmode_waiter@127.0.0.1:1/none' });
	await assert.rejects(new PostgresStorage(urlmode).connect(), { name: 'StorageConnectionError', backend: 'postgresql' });
});

test('a storage leaves nothing in its UrlMode, and many are no reason for a warning', async (t) => {
	const { urlmode } = await setUp(t);
	const before = calledBy(urlmode);
	const warnings = [];
	const onWarning = ({ name, message }) => warnings.push(`${name}: ${message}`);
	process.on('warning', onWarning);
	t.after(() => process.off('warning', onWarning));
	const storages = Array.from({ length: 20 }, () => new PostgresStorage(urlmode));
	for (const storage of storages) {
		await storage.connect();
		await storage.connect();
	}
	await new Promise(setImmediate);
	assert.deepEqual(warnings, []);
	for (const storage of storages) await storage.disconnect();
	assert.deepEqual(calledBy(urlmode), before);
});

test('each message is read once, however many came before', async (t) => {
	const { here, there, urlmode } = await setUpStorage(t);
	const { database } = internalsOf(urlmode);
	const { query } = database;
	let read = 0;
	t.mock.method(database, 'query', async (text, values) => {
		const rows = await query.call(database, text, values);
		if (text.includes('published_since')) read += rows.length;
		return rows;
	});
	let heard = 0;
	await here.subscribe('c', () => (heard += 1));
	for (let n = 1; n <= 100; n += 1) {
		await there.publish('c', `message ${n}`);
		await until('it is heard', () => heard === n);
	}
	assert.equal(read, 100);
});

test('a message whose transaction ends after that of the next one is delivered too', async (t) => {
	const { here, there, admin } = await setUpStorage(t);
	const heard = [];
	await there.subscribe('c', (message) => heard.push(message));
	await admin.query('BEGIN');
	await admin.query("SELECT urlmode_frameworks.publish($1, 'first')", [`${here.prefix}c`]);
	const second = here.publish('c', 'second');
	await Promise.race([second, until('it waits', async () => (await admin.query(
		"SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).rowCount > 0)]);
	await sleep(100);
	await admin.query('COMMIT');
	await second;
	await until('both are heard', () => heard.length === 2);
	assert.deepEqual(heard, ['first', 'second']);
});
