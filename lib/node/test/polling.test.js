// Waiting without notifications: behind a real PgBouncer in transaction mode, and
// with `listen: false`.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { internalsOf } from '../src/core/internals.js';
import { request, requireUrl, setUp, until } from './support/database.js';
import { startPgBouncer } from './support/pgbouncer.js';

const owner = { subject: 'user-42' };

/** Collects the warnings of this process. */
function warnings(t) {
	const codes = [];
	const note = ({ code }) => codes.push(code);
	process.on('warning', note);
	t.after(() => process.off('warning', note));
	return codes;
}

/** The reads of the waits of one instance, as it sends them: when, and of how many rows. */
function watchReads(t, applicationName) {
	const reads = [];
	const { query } = pg.Client.prototype;
	t.mock.method(pg.Client.prototype, 'query', function (statement, ...rest) {
		const { text = '', values } = statement;
		const isOwn = this.connectionParameters.application_name === applicationName;
		if (isOwn && text.includes('urlmode.read_paid(')) reads.push({ at: performance.now(), rows: values[0].length });
		return query.call(this, statement, ...rest);
	});
	return reads;
}

test('through a transaction pooler waits have the same outcomes after one warning', async (t) => {
	const codes = warnings(t);
	const through = await startPgBouncer(t, requireUrl('URLMODE_DATABASE_URL'));
	const { urlmode, callback, applicationName, admin } = await setUp(t, { serverUrl: through });

	const ids = [];
	for (let n = 0; n < 20; n += 1) ids.push((await urlmode.create(request)).elicitationId);
	const progress = [];
	const waits = ids.map((id) => urlmode.waitForCompletion(id, { ...owner, onProgress: (status) => progress.push(status) }));
	await callback.open(ids[0]);
	await until('opened is told', () => progress.length === 1);
	for (const [index, id] of ids.entries()) await callback.complete(id, { result: { code: `code-${index}` } });
	assert.deepEqual((await Promise.all(waits)).map(({ result }) => result.code), ids.map((_, index) => `code-${index}`));

	const later = await urlmode.create(request);
	const waiting = urlmode.waitForCompletion(later.elicitationId, owner);
	await until('it was warned', () => codes.includes('URLMODE_POLLING'));
	await callback.complete(later.elicitationId, { action: 'decline', reason: 'access_denied' });
	assert.equal((await waiting).reason, 'access_denied');

	const timedOut = await urlmode.create(request);
	await assert.rejects(urlmode.waitForCompletion(timedOut.elicitationId, { ...owner, timeout: 100 }),
		{ code: 'ELICITATION_TIMEOUT' });
	const expires = await urlmode.create({ ...request, ttl: 300 });
	assert.equal((await urlmode.waitForCompletion(expires.elicitationId, owner)).reason, 'expired');
	assert.deepEqual(codes, ['URLMODE_POLLING']);
	assert.ok((await admin.query('SELECT FROM pg_stat_activity WHERE application_name = $1', [applicationName])).rowCount <= 5);
});

test('everything else works through a transaction pooler as well', async (t) => {
	const through = await startPgBouncer(t, requireUrl('URLMODE_DATABASE_URL'));
	const { urlmode } = await setUp(t, { serverUrl: through });
	const first = await urlmode.create({ ...request, exclusive: true, resumeKey: 'a' });
	const second = await urlmode.create({ ...request, exclusive: true, resumeKey: 'b' });
	assert.equal((await urlmode.waitForCompletion(first.elicitationId, owner)).reason, 'superseded');
	assert.equal((await urlmode.create({ ...request, resumeKey: 'b' })).elicitationId, second.elicitationId);
	assert.equal(await urlmode.abandon(second.elicitationId, owner), true);
});

test('through a session pooler nothing is polled, because LISTEN works', async (t) => {
	const codes = warnings(t);
	const through = await startPgBouncer(t, requireUrl('URLMODE_DATABASE_URL'), { mode: 'session' });
	const { urlmode, callback, applicationName } = await setUp(t, { serverUrl: through });
	const { elicitationId } = await urlmode.create(request);
	const reads = watchReads(t, applicationName);
	const waiting = urlmode.waitForCompletion(elicitationId, owner);
	await until('notifications arrive, and the row was read', () => internalsOf(urlmode).listener.receivesNotifications && reads.length > 0);
	const readsDuring = async (ms) => {
		const { length } = reads;
		await sleep(ms);
		return reads.length - length;
	};
	await until('nothing is read', async () => await readsDuring(1_000) === 0);
	// Longer than the longest pause of a poll.
	assert.equal(await readsDuring(6_500), 0, 'polled, although notifications arrive');
	await callback.complete(elicitationId, { result: { code: 'a' } });
	assert.equal((await waiting).result.code, 'a');
	assert.deepEqual(codes, []);
});

test('listen: false polls at growing intervals, with one query for all waits, and warns once', async (t) => {
	const codes = warnings(t);
	const { urlmode, callback, applicationName } = await setUp(t, { listen: false });
	// One owner can have a hundred open.
	const ownerOf = (n) => ({ subject: `polling-${n % 4}` });
	const ids = (await Promise.all(Array.from({ length: 200 }, (_, n) => urlmode.create({ ...request, ...ownerOf(n) }))))
		.map((e) => e.elicitationId);
	const reads = watchReads(t, applicationName);
	let since;
	internalsOf(urlmode).listener.once('listening', () => (since = performance.now()));
	const waits = ids.map((id, n) => urlmode.waitForCompletion(id, ownerOf(n)));
	await until('it has polled', () => reads.length >= 8, 60_000);
	// At first the rows are read at once. Six pauses follow, of 250 ms, 375 ms and so on, each up to a quarter shorter.
	const passed = reads[7].at - since;
	assert.ok(passed > 3_800, `eight reads for 200 waits in ${passed} ms`);
	assert.deepEqual(reads.slice(2, 8).map(({ rows }) => rows), Array(6).fill(200));
	for (const [n, id] of ids.entries()) await callback.complete(id, ownerOf(n));
	const start = performance.now();
	for (const { action } of await Promise.all(waits)) assert.equal(action, 'accept');
	assert.ok(performance.now() - start < 20_000, 'before the next routine read');
	assert.deepEqual(codes, ['URLMODE_POLLING']);
});
