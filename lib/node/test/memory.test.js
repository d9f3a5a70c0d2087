// Nothing grows with the number of calls: after fifteen thousand of each (CALLS=), the heap is as
// large as before. A double of PostgreSQL answers, so that this takes seconds.

import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { utimesSync } from 'node:fs';
import test from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import pg from 'pg';

import { AccountProvider } from '../src/accounts/provider.js';
import { checker, rechecker } from '../src/core/ask-back.js';
import { Rechecks } from '../src/core/rechecks.js';
import { PaymentReports } from '../src/core/payments.js';
import { PostgresStorage } from '../src/frameworks/storage.js';
import { Claims } from '../src/core/claims.js';
import { checkDatabaseUrl } from '../src/core/database-url.js';
import { UrlMode } from '../src/index.js';
import { internalsOf } from '../src/core/internals.js';
import { KeysFile } from '../src/core/keys.js';
import { Listener } from '../src/core/listener.js';
import { bindingOf } from '../src/core/token.js';
import { Refresher } from '../src/vault/refresher.js';
import { Waits } from '../src/core/waits.js';
import { scratchKeys } from './support/keys.js';

/** Multiples of the 5,000 elicitations that the status tracker holds, so that it is equally full before and after. */
const CALLS = Number(process.env.CALLS ?? 15_000);
const WARM_UP = 5_000;
const AT_ONCE = 1_000;
/** For what keeps whole objects, if any. */
const FEW = { calls: CALLS / 3, warmUp: 1_000 };
/** Forty bytes for each call. A promise that is kept takes more. */
const GROWTH_MAX = 40 * CALLS;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

async function heapUsed() {
	// Twice: what finalizers let go of goes with the second.
	for (let n = 0; n < 2; n += 1) {
		await new Promise((resolve) => setImmediate(resolve));
		collect();
	}
	return process.memoryUsage().heapUsed;
}

/** Calls it, and again many times, and compares the heap. */
async function staysFlat(t, call, { calls = CALLS, warmUp = WARM_UP, atOnce = AT_ONCE } = {}) {
	const round = async (count) => {
		for (let n = 0; n < count; n += atOnce) await Promise.all(Array.from({ length: atOnce }, call));
	};
	await round(Math.min(calls, warmUp));
	const before = await heapUsed();
	await round(calls);
	const growth = await heapUsed() - before;
	t.diagnostic(`${Math.round(growth / calls)} bytes a call`);
	assert.ok(growth < GROWTH_MAX, `${growth} bytes after ${calls} calls`);
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Messages that no subscription has read. */
const published = [];

/** What PostgreSQL answers, by a word of the statement. */
const ANSWERS = {
	create_elicitation: ([ids]) => ids.map(() => ({ outcome: 'created', expires_at: String(Date.now() / 1_000 + 300) })),
	'urlmode.resume': ([bindings]) => bindings.map(() => ({ id: null })),
	abandon: ([ids]) => ids.map(() => ({ outcome: 'completed' })),
	settle: () => [{ answer: 'completed' }],
	'urlmode.claim': () => [{ answer: 'claimed' }],
	unclaimed: () => [],
	'urlmode.purge(': () => [{ answer: 0 }],
	stored_get: ([keys]) => keys.map(() => ({ value: 'x'.repeat(1_000), ttl_ms: null })),
	stored_delete: () => [{ n: '1' }],
	stored_expire: () => [{ there: true }],
	stored_keys: () => [{ key: 'a' }],
	stored_add: () => [{ sum: '1' }],
	published_last: () => [{ id: '0' }],
	published_since: () => published.splice(0),
	'urlmode.read': ([ids]) => ids.map((id) => ({
		id, provider: 'demo', kind: 'oauth', status: 'completed', action: 'accept', reason: '', closes_in_ms: '60000',
		rechecks: 0, rechecked: 0, payment_reference: null,
	})),
};

function answer(text, values) {
	const name = Object.keys(ANSWERS).find((each) => text.includes(each));
	return { rows: name ? ANSWERS[name](values) : [{}] };
}

/** As t.mock does, which would remember every call. */
function replace(t, object, name, descriptor) {
	const before = Object.getOwnPropertyDescriptor(object, name);
	Object.defineProperty(object, name, { configurable: true, ...descriptor });
	t.after(() => (before ? Object.defineProperty(object, name, before) : delete object[name]));
}

/** A UrlMode whose connections answer at once. */
function playPostgres(t) {
	replace(t, pg.Pool.prototype, 'query', {
		value: (text, values) => new Promise((resolve) => setImmediate(resolve, answer(text, values))),
	});
	replace(t, Listener.prototype, 'acquire', { value: () => {} });
	replace(t, Listener.prototype, 'query', { value: async (text, values) => answer(text, values).rows });
	replace(t, Listener.prototype, 'listening', { get: () => true });
	replace(t, Listener.prototype, 'receivesNotifications', { get: () => true });
	const urlmode = new UrlMode({
		databaseUrl: 'postgresql://u@127.0.0.1:1/d', keysFile: scratchKeys(t), baseUrl: 'https://callback.example',
	});
	t.after(() => urlmode.close());
	return urlmode;
}

const owner = { subject: 'user-42' };
const request = { ...owner, provider: 'demo', kind: 'oauth', targetUrl: 'https://provider.example/authorize' };

for (const [name, call] of Object.entries({
	create: (urlmode) => urlmode.create({ ...request, resumeKey: 'a', pkce: true }),
	waitForCompletion: (urlmode) => urlmode.waitForCompletion(randomUUID(), owner),
	complete: (urlmode) => urlmode.complete(randomUUID(), { ...owner, action: 'decline' }),
	abandon: (urlmode) => urlmode.abandon(randomUUID(), owner),
	claim: (urlmode) => urlmode.claim(randomUUID(), owner),
	unclaimed: (urlmode) => urlmode.unclaimed(),
	purge: (urlmode) => urlmode.purge(),
	ticket: (urlmode) => urlmode.ticket(owner),
})) {
	test(`${name} keeps nothing`, async (t) => {
		const urlmode = playPostgres(t);
		// The events are tracked, so that each is reported once.
		urlmode.on('created', () => {}).on('completed', () => {});
		await staysFlat(t, () => call(urlmode));
	});
}

test('the storage keeps nothing of what it was asked', async (t) => {
	const storage = new PostgresStorage(playPostgres(t));
	await storage.connect();
	const calls = [
		() => storage.get('a'), () => storage.set('a', '1'), () => storage.delete('a'), () => storage.expire('a', 1), () => storage.ttl('a'),
		() => storage.keys(), () => storage.incr('a'), () => storage.publish('c', 'm'), () => storage.ping(),
		() => storage.subscribe('c', () => {}).then((end) => end()),
	];
	let n = 0;
	await staysFlat(t, () => calls[n++ % calls.length]());
});

test('an open subscription keeps nothing of its messages', async (t) => {
	const urlmode = playPostgres(t);
	const storage = new PostgresStorage(urlmode);
	await storage.connect();
	let heard = 0;
	await storage.subscribe('c', () => (heard += 1));
	const payload = createHash('sha256').update('c').digest('hex');
	let messages = 0;
	await staysFlat(t, async () => {
		messages += 1;
		published.push({ id: String(messages), channel: 'c', message: `${messages} ${'x'.repeat(1_000)}` });
		internalsOf(urlmode).listener.emit('notification', payload, 'urlmode_published');
		await turn();
	});
	while (heard < messages) await turn();
});

test('a wait that is aborted lets go of its signal', async (t) => {
	const urlmode = playPostgres(t);
	const aborting = new AbortController();
	let listeners = 0;
	for (const [method, change] of [['addEventListener', 1], ['removeEventListener', -1]]) {
		const original = aborting.signal[method];
		aborting.signal[method] = function (...args) {
			listeners += change;
			return original.apply(this, args);
		};
	}
	await urlmode.waitForCompletion(randomUUID(), { ...owner, signal: aborting.signal });
	assert.equal(listeners, 0, 'who aborts later reaches nothing of a wait that has ended');
	const { signal } = new AbortController();
	await staysFlat(t, () => urlmode.waitForCompletion(randomUUID(), { ...owner, signal, timeout: 1e6 }));
});

test('waits that time out leave nothing behind', async (t) => {
	const listener = Object.assign(new EventEmitter(), {
		listening: true, receivesNotifications: true, acquire: () => {}, release: () => {},
		query: async (text, [ids]) => ids.map((id) => ({
			id, provider: 'demo', kind: 'oauth', status: 'opened', closes_in_ms: '60000', rechecks: 0, rechecked: 0, failed_attempts: 0,
		})),
	});
	const waits = new Waits(listener, { openVerifier: () => undefined });
	const binding = bindingOf('user-42', '');
	await staysFlat(t, () => assert.rejects(waits.wait(randomUUID(), binding, { timeout: 0 }), { code: 'ELICITATION_TIMEOUT' }));
	assert.equal(waits.size, 0);
});

/** A listener whose connection is played. */
function playListener(t) {
	const clients = [];
	replace(t, pg.Client.prototype, 'connect', {
		async value() {
			this.processID = 1;
			// A socket without a handle would remember each call.
			this.connection.stream.ref = this.connection.stream.unref = () => {};
			clients.push(this);
		},
	});
	replace(t, pg.Client.prototype, 'query', {
		value: async ({ text }) => ({ rows: text.includes('pg_backend_pid') ? [{ pid: 1 }] : [] }),
	});
	replace(t, pg.Client.prototype, 'end', { value: async () => {} });
	const listener = new Listener(checkDatabaseUrl('postgresql://u@127.0.0.1:1/d'));
	t.after(() => listener.close());
	return { listener, clients };
}

test('the listener keeps nothing of statements, notifications and channels', async (t) => {
	const { listener, clients } = playListener(t);
	const announced = [];
	listener.on('notified', ([{ id }]) => announced.splice(0, 1, id));
	listener.acquire(t);
	await new Promise((resolve) => listener.once('receiving', resolve));
	await staysFlat(t, async () => {
		await listener.query('SELECT', [], 'name');
		await listener.addChannel('another');
		listener.acquire(clients);
		listener.release(clients);
		clients.at(-1).emit('notification', { channel: 'urlmode', payload: JSON.stringify({ id: randomUUID() }) });
	});
	assert.equal(announced.length, 1);
});

test('the listener keeps nothing of connections that were lost', async (t) => {
	t.mock.timers.enable({ apis: ['setTimeout'] });
	const { listener, clients } = playListener(t);
	listener.acquire(t);
	const calls = 2_000;
	const lose = async () => {
		while (!listener.receivesNotifications) {
			t.mock.timers.tick(10_000);
			await new Promise((resolve) => setImmediate(resolve));
		}
		clients.pop().emit('error', new Error('lost'));
	};
	await lose();
	const before = await heapUsed();
	for (let n = 0; n < calls; n += 1) await lose();
	const growth = await heapUsed() - before;
	assert.ok(growth < 1_000 * calls, `${growth} bytes after ${calls} connections`);
});

test('late payments are told once, and the last ten thousand are remembered', async (t) => {
	const listener = Object.assign(new EventEmitter(), { listening: false, acquire: () => {}, release: () => {} });
	let reported = 0;
	const late = new PaymentReports(listener, { member: 'late', read: async ({ id }) => [id], nameOf: (id) => id, stateOf: () => '', report: () => (reported += 1) });
	late.start();
	t.after(() => late.close());
	let notifications = 0;
	await staysFlat(t, async () => {
		notifications += 1;
		listener.emit('notified', [{ id: randomUUID(), late: true }]);
		await turn(); // it is read
	}, { calls: 2 * CALLS, warmUp: 10_000 });
	assert.equal(reported, notifications);
});

test('rechecks, and checks of what users have typed, leave nothing behind', async (t) => {
	const asking = rechecker({
		beginRecheck: async () => ({ lease: 1, rechecks: 1, event_type: null, unproven_references: [], expected: null, provider: 'demo', checkout: null }),
		endRecheck: async () => {}, complete: async () => {},
	});
	await staysFlat(t, () => asking.run({ id: randomUUID(), binding: Buffer.alloc(16), status: 'opened' }, async () => undefined), FEW);
	const checking = checker({
		takeCheck: async () => ({ lease: 1, result: Buffer.alloc(1), left_ms: '60000' }), endCheck: async () => {},
		openValues: () => ({ key: 'a' }), sealProblem: () => Buffer.alloc(1), checkProblem: () => undefined,
	});
	await staysFlat(t, () => checking.run({ id: randomUUID(), binding: Buffer.alloc(16), provider: 'demo', status: 'processing' }, async () => undefined), FEW);
});

test('a lease that is renewed all the time, and the next call, leave nothing behind', async (t) => {
	t.mock.timers.enable({ apis: ['setTimeout'] });
	let renewals = 0;
	const claims = new Claims({
		query: async (text) => {
			if (text.includes('begin_lease')) return [{ outcome: 'begun', claimed_reference: null, fence: '1', fulfilled: null, leased_ms: null }];
			renewals += Number(text.includes('renew_lease'));
			return [{ answer: text.includes('renew_lease') ? 'renewed' : text.includes('fulfil_lease') ? 'fulfilled' : true }];
		},
	}, new KeysFile(scratchKeys(t)), 60_000, undefined, new Rechecks(new Map()), { on() {}, off() {}, acquire() {}, release() {} });
	const begin = () => claims.begin({ id: randomUUID(), binding: Buffer.alloc(16) }, { reference: null, lease: 30_000, timeout: 0 });
	const held = await begin();
	await staysFlat(t, async () => {
		t.mock.timers.tick(10_000);
		await turn();
		const next = await begin();
		await next.fulfil({ a: 1 });
		await next.confirm();
	}, { ...FEW, atOnce: 1 });
	assert.equal(held.signal.aborted, false);
	assert.ok(renewals >= FEW.calls);
	claims.close();
});

test('refreshed accounts leave nothing behind', async (t) => {
	replace(t, AccountProvider, 'open', {
		value: async () => ({ staysRefreshable: false, refresh: async () => ({ access_token: randomUUID(), refresh_token: 'r', expires_in: 3_600 }) }),
	});
	let refreshed = 0;
	const refresher = new Refresher({ acquire: () => {}, release: () => {}, holder: async () => null }, {
		beginRefresh: async () => ({ outcome: 'begun', lease: '1' }), markSent: async () => true, commitRefresh: async () => 'stored',
	}, new KeysFile(scratchKeys(t)), () => ({}), (name) => (refreshed += Number(name === 'refreshed')), () => false);
	let calls = 0;
	await staysFlat(t, () => {
		calls += 1;
		return refresher.refresh({
			place: { subject: randomUUID(), provider: 'demo', account: 'a' }, version: '1', tokens: { access_token: 'a', refresh_token: 'r' }, scopes: [],
		});
	}, FEW);
	assert.equal(refreshed, calls);
});

test('keys keep nothing of earlier contents of their file', async (t) => {
	const file = scratchKeys(t);
	const keys = new KeysFile(file);
	await staysFlat(t, async () => keys.minting.shared('purpose') && keys.find(1));
	let now = performance.now();
	replace(t, performance, 'now', { value: () => (now += 10_000) });
	await staysFlat(t, async () => {
		utimesSync(file, new Date(), new Date(now));
		assert.ok(keys.find(1));
	}, { calls: 5_000 });
});
