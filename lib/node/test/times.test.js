// Intervals and time limits: the alarm, the routine read, the limit of the listener's
// queries and its attempts to connect again.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import test from 'node:test';

import pg from 'pg';

import { Alarm } from '../src/core/alarm.js';
import { checkDatabaseUrl } from '../src/core/database-url.js';
import { Listener } from '../src/core/listener.js';
import { Poll } from '../src/core/poll.js';
import { bindingOf } from '../src/core/token.js';
import { Waits } from '../src/core/waits.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A clock that the test sets, for timers and performance.now(). */
function playTime(t) {
	t.mock.timers.enable({ apis: ['setTimeout'] });
	let now = 0;
	t.mock.method(performance, 'now', () => now);
	return async (milliseconds) => {
		now += milliseconds;
		t.mock.timers.tick(milliseconds);
		await turn();
	};
}

test('an alarm goes off at the earliest of the times that were set', async (t) => {
	const pass = playTime(t);
	let times = 0;
	const alarm = new Alarm(() => (times += 1));
	alarm.set(1_000);
	alarm.set(500);
	alarm.set(2_000);
	await pass(499);
	assert.equal(times, 0);
	await pass(1);
	assert.equal(times, 1);
	await pass(10_000);
	assert.equal(times, 1, 'the others were dropped: whoever is called sets it again');
	alarm.set(11_000);
	await pass(500);
	assert.equal(times, 2);
	alarm.set(12_000);
	alarm.stop();
	await pass(10_000);
	assert.equal(times, 2);
	alarm.set(performance.now());
	await pass(49);
	assert.equal(times, 2, 'not in a loop');
	await pass(1);
	assert.equal(times, 3);
});

test('a poll begins with its shortest interval, and becomes slower, each time that it starts', async (t) => {
	const pass = playTime(t);
	t.mock.method(Math, 'random', () => 0.5);
	let times = 0;
	const poll = new Poll(() => (times += 1));
	for (let round = 0; round < 2; round += 1) {
		times = 0;
		poll.start();
		for (const [n, interval] of [250, 375, 562.5, 843.75].entries()) {
			await pass(interval - 1);
			assert.equal(times, n);
			await pass(1);
			assert.equal(times, n + 1);
		}
		for (let n = 0; n < 20; n += 1) await pass(5_000);
		assert.ok(times >= 20, 'at least every five seconds');
	}
	times = 0;
	for (let n = 0; n < 100; n += 1) {
		poll.start();
		await pass(100);
	}
	assert.ok(times >= 20, `${times} in ten seconds in which it was started all the time`);
	poll.stop();
	times = 0;
	await pass(10_000);
	assert.equal(times, 0);
});

test('every row is read again about each 30 seconds', async (t) => {
	const pass = playTime(t);
	let reads = 0;
	const listener = Object.assign(new EventEmitter(), {
		listening: true, receivesNotifications: true, acquire: () => {}, release: () => {},
		query: async (text, [ids]) => {
			reads += 1;
			return ids.map((id) => ({ id, provider: 'demo', kind: 'oauth', status: 'opened', closes_in_ms: '3600000', rechecks: 0, rechecked: 0 }));
		},
	});
	const waits = new Waits(listener, { openVerifier: () => undefined });
	const ended = assert.rejects(waits.wait('6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11', bindingOf('u', ''), { timeout: Infinity }));
	await turn();
	for (let round = 1; round <= 3; round += 1) {
		assert.equal(reads, round);
		await pass(22_000);
		assert.equal(reads, round, 'not before three quarters of it');
		for (let step = 0; step < 160 && reads === round; step += 1) await pass(100);
	}
	assert.equal(reads, 4);
	await waits.close(new Error('closed'));
	await ended;
});

test('the listener waits 10 seconds for an answer, and longer after each loss, until it has an answer, for which it asks each 4 seconds', async (t) => {
	const delays = [];
	const clients = [];
	t.mock.method(globalThis, 'setTimeout', (callback, delay) => {
		delays.push(delay);
		setImmediate(callback);
		return { ref() {}, unref() {} };
	});
	t.mock.method(pg.Client.prototype, 'connect', async function () {
		this.processID = 1;
		this.connection.stream.ref = this.connection.stream.unref = () => {};
		clients.push(this);
	});
	t.mock.method(pg.Client.prototype, 'query', async () => ({ rows: [{ pid: 1 }] }));
	t.mock.method(pg.Client.prototype, 'end', async () => {});
	t.mock.timers.enable({ apis: ['setInterval'] });
	const listener = new Listener(checkDatabaseUrl('postgresql://u@127.0.0.1:1/d'));
	t.after(() => listener.close());
	assert.deepEqual([listener.listening, listener.receivesNotifications], [false, false]);
	listener.acquire(t);
	const lose = async () => {
		while (!listener.receivesNotifications) await turn();
		const before = delays.length;
		clients.at(-1).emit('error', new Error('lost'));
		return delays[before];
	};
	const about = (expected, delay) => assert.ok(delay >= expected * 0.75 && delay <= expected * 1.25, `${delay} instead of ${expected}`);
	for (const expected of [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]) about(expected, await lose());
	while (!listener.receivesNotifications) await turn();
	t.mock.timers.tick(10_000);
	await turn();
	for (const expected of [100, 200]) about(expected, await lose());
	assert.equal(clients[0].connectionParameters.query_timeout, 10_000);
});
