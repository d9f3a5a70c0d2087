// Waiting without notifications: behind a real PgBouncer in transaction mode, and
// with `listen: false`.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

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

/** How often rows were read, according to PostgreSQL's statistics. */
async function watchReads(admin) {
	const calls = async () => Number((await admin.query(`
		SELECT coalesce(sum(calls), 0) AS n FROM pg_stat_user_functions WHERE schemaname = 'urlmode' AND funcname = 'read'`)).rows[0].n);
	await admin.query("ALTER SYSTEM SET track_functions = 'all'");
	await admin.query('SELECT pg_reload_conf()');
	return calls;
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
	const { urlmode, callback, admin } = await setUp(t, { serverUrl: through });
	const { elicitationId } = await urlmode.create(request);
	const waiting = urlmode.waitForCompletion(elicitationId, owner);
	await sleep(1_000);
	const reads = await watchReads(admin);
	const before = await reads();
	await sleep(3_000);
	assert.equal(await reads(), before, 'polled, although notifications arrive');
	await callback.complete(elicitationId, { result: { code: 'a' } });
	assert.equal((await waiting).result.code, 'a');
	assert.deepEqual(codes, []);
});

test('listen: false polls at growing intervals, with one query for all waits, and warns once', async (t) => {
	const codes = warnings(t);
	const { urlmode, callback, admin } = await setUp(t, { listen: false });
	// One owner can have a hundred open.
	const ownerOf = (n) => ({ subject: `polling-${n % 4}` });
	const ids = (await Promise.all(Array.from({ length: 200 }, (_, n) => urlmode.create({ ...request, ...ownerOf(n) }))))
		.map((e) => e.elicitationId);
	const waits = ids.map((id, n) => urlmode.waitForCompletion(id, ownerOf(n)));
	await until('it was warned', () => codes.length > 0);
	const reads = await watchReads(admin);
	await sleep(1_000);
	const before = await reads();
	await sleep(5_000);
	const count = await reads() - before;
	assert.ok(count >= 1 && count <= 8, `${count} reads in five seconds for 200 waits`);
	for (const [n, id] of ids.entries()) await callback.complete(id, ownerOf(n));
	const start = performance.now();
	for (const { action } of await Promise.all(waits)) assert.equal(action, 'accept');
	assert.ok(performance.now() - start < 20_000, 'before the next routine read');
	assert.deepEqual(codes, ['URLMODE_POLLING']);
});
