// mcp-lite's ClientRequestAdapter and SessionAdapter on a real PostgreSQL, on
// two instances.

import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { PostgresClientRequestAdapter, PostgresSessionAdapter } from '../src/frameworks/mcp-lite.js';
import { calledBy, listenerOf, setUp, until } from './support/database.js';

async function setUpRequests(t, options) {
	const fixture = await setUp(t, options);
	const other = fixture.another();
	return {
		...fixture, other, a: new PostgresClientRequestAdapter(fixture.urlmode), b: new PostgresClientRequestAdapter(other),
		session: randomUUID(),
	};
}

const answerTo = (id, name = 'Ada') => ({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name } } });

const keyOf = (session, id) => createHash('sha256').update(`${session}\0${id}`).digest();

/** The row of one request, if there is one. */
async function rowOf(admin, session, id) {
	const { rows } = await admin.query('SELECT expected, response FROM urlmode_frameworks.client_request WHERE key = $1', [keyOf(session, id)]);
	return rows[0];
}

test('a response on the instance that sent the request resolves it', async (t) => {
	const { a, session } = await setUpRequests(t);
	const { promise } = a.createPending(session, 'r1');
	assert.equal(a.resolvePending(session, 'r1', answerTo('r1')), true);
	assert.deepEqual(await promise, answerTo('r1'));
	assert.equal(a.rejectPending(session, 'r1', new Error('late')), false);
});

test('a response on another instance resolves the request with the whole response and leaves no row', async (t) => {
	const { a, b, session, admin } = await setUpRequests(t);
	const { promise } = a.createPending(session, 'r1');
	await sleep(300);
	assert.equal(b.resolvePending(session, 'r1', answerTo('r1')), false, 'this instance did not wait');
	assert.deepEqual(await promise, answerTo('r1'));
	await until('the row is gone', async () => await rowOf(admin, session, 'r1') === undefined);
});

test('requests without a session and with numeric ids are resolved', async (t) => {
	const { a, b, session } = await setUpRequests(t);
	const waits = [a.createPending(undefined, 7).promise, a.createPending(session, 7).promise];
	b.resolvePending(session, 7, answerTo(7, 'with'));
	b.resolvePending(undefined, 7, answerTo(7, 'without'));
	const names = (await Promise.all(waits)).map(({ result }) => result.content.name);
	assert.deepEqual(names, ['without', 'with']);
});

test('request and response may be written in either order', async (t) => {
	const { a, b, session } = await setUpRequests(t);
	for (let n = 0; n < 50; n += 1) {
		const id = `r${n}`;
		const early = n % 2 === 0;
		if (early) {
			b.resolvePending(session, id, answerTo(id));
			if (n % 4 === 0) await sleep(10);
		}
		const { promise } = a.createPending(session, id, { timeout_ms: 5_000 });
		if (!early) b.resolvePending(session, id, answerTo(id));
		assert.deepEqual(await promise, answerTo(id));
	}
});

test('a response is kept that looks for its request just as it is written', async (t) => {
	const { a, b, session, admin } = await setUpRequests(t);
	const { promise } = a.createPending(session, 'r1', { timeout_ms: 5_000 });
	await until('the request is written', () => rowOf(admin, session, 'r1'));
	await admin.query('BEGIN');
	await admin.query('DELETE FROM urlmode_frameworks.client_request WHERE key = $1', [keyOf(session, 'r1')]);
	await admin.query(`INSERT INTO urlmode_frameworks.client_request (key, expected, expires_at) VALUES ($1, true, now() + interval '1 minute')`,
		[keyOf(session, 'r1')]);
	b.resolvePending(session, 'r1', answerTo('r1'));
	await until('the response waits for the row', async () => (await admin.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount > 0);
	await admin.query('COMMIT');
	assert.deepEqual(await promise, answerTo('r1'));
});

test('a request is resolved once, however many responses arrive', async (t) => {
	const { a, b, session, admin } = await setUpRequests(t);
	const { promise } = a.createPending(session, 'r1');
	for (const name of ['first', 'second', 'third']) {
		b.resolvePending(session, 'r1', answerTo('r1', name));
		await promise;
	}
	assert.equal((await promise).result.content.name, 'first');
	a.resolvePending(session, 'r1', answerTo('r1', 'here'));
	assert.equal((await promise).result.content.name, 'first');
	await sleep(100);
	assert.notEqual((await rowOf(admin, session, 'r1'))?.expected, true, 'nobody waits for a late one');
});

test('a second request with the same id replaces the first', async (t) => {
	const { a, b, session } = await setUpRequests(t);
	const first = a.createPending(session, 'r1').promise;
	const second = a.createPending(session, 'r1').promise;
	await assert.rejects(first, /replaced/);
	b.resolvePending(session, 'r1', answerTo('r1'));
	assert.deepEqual(await second, answerTo('r1'));
});

test('a timeout rejects and deletes the row', async (t) => {
	const { a, session, admin } = await setUpRequests(t);
	await assert.rejects(a.createPending(session, 'r1', { timeout_ms: 200 }).promise, /did not answer request r1 within 200 ms/);
	await until('the row is gone', async () => await rowOf(admin, session, 'r1') === undefined);
});

test('rejectPending rejects the request', async (t) => {
	const { a, session, admin } = await setUpRequests(t);
	const { promise } = a.createPending(session, 'r1');
	const failure = new Error('no stream');
	assert.equal(a.rejectPending(session, 'r1', failure), true);
	await assert.rejects(promise, failure);
	await until('the row is gone', async () => await rowOf(admin, session, 'r1') === undefined);
});

test('the rows of an instance that died are deleted after their expiry', async (t) => {
	const { a, session, admin } = await setUpRequests(t);
	await admin.query("INSERT INTO urlmode_frameworks.client_request (key, expected, expires_at) VALUES (sha256('dead'), true, now() - interval '1 s')");
	a.createPending(session, 'r1', { timeout_ms: 1_000 }).promise.catch(() => {});
	await until('it is gone', async () => (await admin.query(
		"SELECT FROM urlmode_frameworks.client_request WHERE key = sha256('dead')")).rowCount === 0);
});

test('a response that arrives while the connection is lost still resolves the request', async (t) => {
	const { a, b, session, admin, applicationName } = await setUpRequests(t);
	const waits = Array.from({ length: 10 }, (_, n) => a.createPending(session, n).promise);
	await listenerOf(admin, applicationName);
	await sleep(200);
	await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [applicationName]);
	for (let n = 0; n < 10; n += 1) b.resolvePending(session, n, answerTo(n));
	assert.deepEqual(await Promise.all(waits), waits.map((_, n) => answerTo(n)));
});

test('a response is sealed in its row', async (t) => {
	const { b, session, admin } = await setUpRequests(t);
	b.resolvePending(session, 'r1', answerTo('r1', 'a name that is nobody\'s business'));
	const { response } = await until('it is there', () => rowOf(admin, session, 'r1'));
	assert.ok(response.length > 0 && !response.includes('nobody'));
});

test('wrap acknowledges a response after it is stored, and returns 503 if it cannot be', async (t) => {
	const { a, b, session, other } = await setUpRequests(t);
	const { promise } = a.createPending(session, 'r1');
	const handle = b.wrap(async (request) => {
		b.resolvePending(session, 'r1', await request.json());
		return new Response(null, { status: 202 });
	});
	const post = () => new Request('http://127.0.0.1/mcp', { method: 'POST', body: JSON.stringify(answerTo('r1')) });
	assert.equal((await handle(post())).status, 202);
	assert.deepEqual(await promise, answerTo('r1'));
	await other.close();
	assert.equal((await handle(post())).status, 503);
});

test('answers that nobody asked for cannot push out a genuine one unsaid, and stop doing so when they expire', async (t) => {
	const { a, b, session, admin } = await setUpRequests(t);
	const handle = b.wrap(async (request) => {
		b.resolvePending(session, 'early', await request.json());
		return new Response(null, { status: 202 });
	});
	const post = async () => (await handle(
		new Request('http://127.0.0.1/mcp', { method: 'POST', body: JSON.stringify(answerTo('early')) }))).status;
	const strangers = `INSERT INTO urlmode_frameworks.client_request (key, expected, response, expires_at)
		SELECT sha256(n::text::bytea), false, 'x', now() + interval '30 seconds' FROM generate_series(1, 10000) n`;
	await admin.query(strangers);
	assert.equal(await post(), 503, 'it was not kept, and that is said');
	assert.equal(await rowOf(admin, session, 'early'), undefined);
	await admin.query("UPDATE urlmode_frameworks.client_request SET expires_at = now() WHERE response = 'x'");
	assert.equal(await post(), 202);
	assert.deepEqual(await a.createPending(session, 'early').promise, answerTo('early'));
	assert.equal(await post(), 202, 'the same answer again is nothing new');
	await admin.query("DELETE FROM urlmode_frameworks.client_request WHERE response = 'x'");
});

test('a session with 16 early answers does not keep those of others away', async (t) => {
	const { a, b, session, admin } = await setUpRequests(t);
	const answer = async (from, request) => {
		const handle = b.wrap(async () => {
			b.resolvePending(from, request, answerTo(request));
			return new Response(null, { status: 202 });
		});
		return (await handle(new Request('http://127.0.0.1/mcp', { method: 'POST', body: '{}' }))).status;
	};
	const loud = `${session}-loud`;
	const statuses = [];
	for (let n = 0; n < 20; n += 1) statuses.push(await answer(loud, `r${n}`));
	assert.deepEqual(statuses, [...Array(16).fill(202), ...Array(4).fill(503)]);
	assert.equal(await answer(session, 'r1'), 202);
	assert.deepEqual(await a.createPending(session, 'r1').promise, answerTo('r1'));
	await admin.query('DELETE FROM urlmode_frameworks.client_request WHERE NOT expected');
});

test('close rejects open requests', async (t) => {
	const { a, session, urlmode } = await setUpRequests(t);
	const { promise } = a.createPending(session, 'r1');
	const rejected = assert.rejects(promise, { code: 'URLMODE_CLOSED' });
	await urlmode.close();
	await rejected;
	await assert.rejects(a.createPending(session, 'r2').promise, { code: 'URLMODE_CLOSED' });
});

test('an adapter that is closed leaves nothing in its UrlMode', async (t) => {
	const { urlmode } = await setUp(t);
	const before = calledBy(urlmode);
	const adapter = new PostgresClientRequestAdapter(urlmode);
	const { promise } = adapter.createPending('session', 'r1');
	const rejected = assert.rejects(promise, { code: 'URLMODE_CLOSED' });
	await adapter.close();
	await rejected;
	assert.deepEqual(calledBy(urlmode), before);
});

test('every instance knows a session until it is deleted', async (t) => {
	const { urlmode, another } = await setUp(t);
	const [here, there] = [urlmode, another()].map((instance) => new PostgresSessionAdapter(instance));
	const id = here.generateSessionId();
	const meta = { protocolVersion: '2025-06-18', clientInfo: { name: 'c' }, clientCapabilities: { elicitation: {} } };
	assert.equal(await there.has(id), false);
	assert.equal(await there.get(id), undefined);
	assert.deepEqual(await here.create(id, meta), { meta, streams: new Map() });
	assert.equal(await there.has(id), true);
	assert.deepEqual((await there.get(id)).meta, meta);
	await there.delete(id);
	assert.equal(await here.has(id), false);
});

test('a session belongs to the user who has begun it', async (t) => {
	const { urlmode, another } = await setUp(t);
	const [here, there] = [urlmode, another()].map((instance) => new PostgresSessionAdapter(instance));
	const id = here.generateSessionId();
	/** Runs `use` as mcp-lite runs a request of this user. */
	const as = (sessions, subject, use) => sessions.wrap(async () => use(), () => subject)(new Request('https://mcp.example/'));
	await as(here, 'ada', () => here.create(id, { protocolVersion: '2025-06-18' }));
	await as(there, 'grace', () => there.delete(id));
	assert.equal(await as(there, 'ada', () => there.has(id)), true);
	for (const subject of ['grace', '', 'ad']) assert.equal(await as(there, subject, () => there.has(id)), false, subject);
	assert.equal(await there.get(id), undefined);
	assert.equal(await as(there, 'grace', () => there.appendEvent(id, 'a', {})), undefined);

	const request = new Request('https://mcp.example/', { headers: { 'mcp-session-id': id } });
	const statusFor = async (subject) => (await there.wrap(async () => new Response(), () => subject)(request)).status;
	assert.deepEqual([await statusFor('ada'), await statusFor('grace')], [200, 404]);
});

test('an unused session expires, and use extends it', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const sessions = new PostgresSessionAdapter(urlmode, { ttl: 1_000 });
	const [used, unused] = [randomUUID(), randomUUID()];
	for (const id of [used, unused]) await sessions.create(id, { protocolVersion: '2025-06-18' });
	for (let n = 0; n < 6; n += 1) {
		await sleep(300);
		assert.equal(await sessions.has(used), true);
	}
	assert.equal(await sessions.has(unused), false);
	await sessions.create(randomUUID(), { protocolVersion: '2025-06-18' });
	assert.equal((await admin.query('SELECT FROM urlmode_frameworks.mcp_session WHERE expires_at <= now()')).rowCount, 0);
});

test('events are numbered in each stream, limited in number, and replayed after a given event', async (t) => {
	const { urlmode, another } = await setUp(t);
	const [here, there] = [urlmode, another()].map((instance) =>
		new PostgresSessionAdapter(instance, { maxEventBufferSize: 5 }));
	const id = here.generateSessionId();
	await here.create(id, { protocolVersion: '2025-06-18' });
	const ids = await Promise.all(Array.from({ length: 8 }, (_, n) =>
		[here, there][n % 2].appendEvent(id, 'a#b', { n })));
	assert.deepEqual([...ids].sort(), Array.from({ length: 8 }, (_, n) => `${n + 1}#a#b`));
	assert.equal(await here.appendEvent(id, 'other', { other: true }), '1#other');
	const replayed = [];
	await there.replay(id, '5#a#b', (eventId, message) => void replayed.push([eventId, message]));
	assert.deepEqual(replayed.map(([eventId]) => eventId), ['6#a#b', '7#a#b', '8#a#b']);
	const { streams } = await there.get(id);
	assert.equal(streams.get('a#b').eventBuffer.length, 5);
	assert.equal(streams.get('a#b').nextEventId, 9);
	await assert.rejects(here.replay(id, 'nonsense', () => {}));
	assert.equal(await here.appendEvent(randomUUID(), 'a', {}), undefined);
});
