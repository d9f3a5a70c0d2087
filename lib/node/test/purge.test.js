import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import pg from 'pg';

import { Purger } from '../src/core/purge.js';
import { bindingOf } from '../src/core/token.js';
import { UrlMode } from '../src/index.js';
import { Cluster } from './support/cluster.js';
import { connect, payment, purgeResults, request, setUp, until } from './support/database.js';

const MINUTES = 60_000 * 2;
const KEEP = 600_000;
const DAY = 86_400_000;
const RETENTION = 30 * DAY;
const owner = { subject: 'user-42' };
const away = new Error('connection lost');
const refusal = Object.assign(new pg.DatabaseError('permission denied', 1, 'error'), { severity: 'ERROR', code: '42501' });

/** Lets pending promise callbacks run. */
const settle = () => new Promise(setImmediate);

/** Answers as the test says, and records the calls. */
class FakeDatabase {
	purges = 0;
	/** @type {[number, string | null][]} the arguments of each call of `purge` */
	deletions = [];
	/** @type {() => number} */
	onDelete = () => 0;
	/** @type {string[][]} the ids of each statement, also of those that failed */
	marks = [];
	/** @type {() => unknown} */
	onPurge = () => false;
	/** @type {() => unknown} */
	onMark = () => {};

	async purgeResults() {
		this.purges += 1;
		return this.onPurge();
	}

	async purge(keep, kind) {
		this.deletions.push([keep, kind]);
		return this.onDelete();
	}

	async markRead(rowKeys, keep) {
		assert.equal(keep, KEEP);
		this.marks.push(rowKeys.map(({ id }) => id));
		await this.onMark();
	}
}

function start(t, apis = ['setInterval', 'setTimeout']) {
	t.mock.timers.enable({ apis });
	const database = new FakeDatabase();
	const warnings = [];
	t.mock.method(process, 'emitWarning', (message, { code }) => warnings.push([message, code]));
	return { database, warnings, purger: new Purger(database, { results: KEEP, unclaimed: KEEP, rows: RETENTION }) };
}

/** Marks `count` rows as read and returns their ids. */
function readRows(purger, count) {
	const ids = Array.from({ length: count }, () => randomUUID());
	for (const id of ids) purger.markRead({ id, binding: Buffer.alloc(16) });
	return ids;
}

test('purging starts with `start`, continues while more is due, and ends with `close`', async (t) => {
	const { database, purger } = start(t);
	const answers = [true, true, false, false];
	database.onPurge = () => answers.shift() ?? false;
	t.mock.timers.tick(MINUTES);
	await settle();
	assert.equal(database.purges, 0);

	purger.start();
	purger.start();
	t.mock.timers.tick(60_000 * 1.25);
	await settle();
	assert.equal(database.purges, 3, 'until there is no more');

	t.mock.timers.tick(60_000 * 1.25);
	await settle();
	assert.ok(database.purges >= 4);

	await purger.close();
	const ended = database.purges;
	t.mock.timers.tick(MINUTES);
	await settle();
	assert.equal(database.purges, ended);
	assert.deepEqual(database.marks, [], 'nothing was read');
});

test('a failed purge is tried again, and a refusal emits one warning', async (t) => {
	const { database, warnings, purger } = start(t);
	const errors = [away, refusal, refusal];
	database.onPurge = () => {
		throw errors.shift() ?? away;
	};
	purger.start();
	while (database.purges < 4) {
		t.mock.timers.tick(60_000 * 1.25);
		await settle();
	}
	await purger.close();
	assert.deepEqual(warnings, [['results are not purged: permission denied', 'URLMODE_PURGE']]);
});

test('rows read within 0.1 seconds are marked in one statement of at most 1,000 rows', async (t) => {
	const { database, purger } = start(t);
	const ids = readRows(purger, 20);
	const again = { id: randomUUID(), binding: Buffer.alloc(16) };
	for (let i = 0; i < 5; i++) purger.markRead(again);
	await settle();
	assert.deepEqual(database.marks, [], 'not at once');
	t.mock.timers.tick(100);
	await settle();
	assert.deepEqual(database.marks, [[...ids, again.id]]);

	const more = readRows(purger, 2_500);
	t.mock.timers.tick(100);
	await settle();
	assert.deepEqual(database.marks.slice(1).map(({ length }) => length), [1_000, 1_000, 500]);
	assert.deepEqual(database.marks.slice(1).flat(), more);
	await purger.close();
});

test('rows that could not be marked are marked with the next ones or before the next purge', async (t) => {
	const { database, warnings, purger } = start(t);
	purger.start();
	let failures = 2;
	database.onMark = () => {
		if (failures-- > 0) throw away;
	};
	const ids = readRows(purger, 1_500);
	t.mock.timers.tick(100);
	await settle();
	t.mock.timers.tick(1_000);
	await settle();
	assert.deepEqual(database.marks.map(({ length }) => length), [1_000], 'a lost connection is not beset');
	const [late] = readRows(purger, 1);
	t.mock.timers.tick(100);
	await settle();
	t.mock.timers.tick(60_000 * 1.25);
	await settle();
	assert.deepEqual(database.marks.slice(2).flat(), [...ids, late]);
	assert.deepEqual(warnings, []);
	await purger.close();
	assert.equal(database.marks.slice(2).flat().length, 1_501, 'each once');
});

test('at most the last 10,000 rows that could not be marked are kept', async (t) => {
	const { database, purger } = start(t);
	let fail = (/** @type {Error} */ _) => {};
	database.onMark = () => new Promise((_, reject) => (fail = reject));
	const ids = readRows(purger, 6_000);
	t.mock.timers.tick(100);
	await settle();
	ids.push(...readRows(purger, 6_000));
	fail(away);
	await settle();
	ids.push(...readRows(purger, 3_000));
	database.onMark = () => {};
	database.marks = [];
	await purger.close();
	assert.deepEqual(database.marks.flat(), ids.slice(-10_000));
});

test('a refused statement emits one warning and is not tried again', async (t) => {
	const { database, warnings, purger } = start(t);
	database.onMark = () => {
		throw refusal;
	};
	for (let i = 0; i < 2; i++) {
		readRows(purger, 1);
		t.mock.timers.tick(100);
		await settle();
	}
	await purger.close();
	assert.equal(database.marks.length, 2);
	assert.deepEqual(warnings, [['results are not purged: permission denied', 'URLMODE_PURGE']]);
});

test('close resolves when all rows are marked, including those in progress', async (t) => {
	const { database, purger } = start(t);
	/** @type {(() => void)[]} */
	const answers = [];
	database.onMark = () => new Promise((resolve) => answers.push(resolve));
	const ids = readRows(purger, 1_500);
	t.mock.timers.tick(100);
	await settle();
	ids.push(...readRows(purger, 1));
	let closed = false;
	void purger.close().then(() => (closed = true));
	for (let i = 1; i <= 3; i++) {
		await settle();
		assert.equal(closed, false);
		assert.equal(database.marks.length, i, 'one after another');
		answers.shift()?.();
	}
	await settle();
	assert.equal(closed, true);
	assert.deepEqual(database.marks.flat(), ids);
	t.mock.timers.tick(100);
	await settle();
	assert.equal(database.marks.length, 3);
});

test('purgeable elicitations are deleted once an hour, until there are none; with retention false they are not', async (t) => {
	const { database, warnings, purger } = start(t);
	const answers = [1_000, 17];
	database.onDelete = () => answers.shift() ?? 0;
	purger.start();
	t.mock.timers.tick(45 * 60_000 * 0.95);
	await settle();
	assert.deepEqual(database.deletions, []);
	t.mock.timers.tick(60 * 60_000);
	await settle();
	assert.deepEqual(database.deletions, Array(3).fill([RETENTION, null]));
	database.onDelete = () => {
		throw refusal;
	};
	t.mock.timers.tick(2 * 60 * 60_000);
	await settle();
	assert.deepEqual(warnings, [['elicitations are not purged: permission denied', 'URLMODE_PURGE']]);
	const { length } = database.deletions;
	await purger.close();

	const forEver = new Purger(database, { results: KEEP, unclaimed: KEEP, rows: false });
	forEver.start();
	forEver.start();
	const { purges } = database;
	t.mock.timers.tick(60_000 * 1.25);
	await settle();
	assert.equal(database.purges, purges + 1, 'started once');
	t.mock.timers.tick(100 * 60 * 60_000);
	await settle();
	await forEver.close();
	assert.equal(database.deletions.length, length);
});

test('purge deletes what has been over for retention, or for olderThan, and says how much', async (t) => {
	const cluster = await Cluster.start(t);
	const { admin, urlmode, settings } = await setUp(t, cluster);
	const openUrlMode = (options) => {
		const other = new UrlMode({ ...settings, ...options });
		t.after(() => other.close());
		return other;
	};
	const over = async (days, kind = 'oauth') => {
		const { elicitationId } = await urlmode.create(kind === 'payment' ? { ...payment, expected: 'any' } : request);
		await admin.query("UPDATE urlmode.elicitation SET expires_at = now() - $2 * interval '1 day' WHERE id = $1", [elicitationId, days]);
		return elicitationId;
	};
	const left = async (ids) => (await admin.query('SELECT id FROM urlmode.elicitation WHERE id = ANY ($1)', [ids])).rows.length;
	const ids = [await over(89), await over(91), await over(121, 'payment')];
	assert.equal(await urlmode.purge({ kind: 'payment' }), 1);
	assert.equal(await urlmode.purge(), 1);
	assert.equal(await left(ids), 1);
	assert.equal(await openUrlMode({ retention: 30 * DAY }).purge(), 1);
	assert.equal(await left(ids), 0);

	const young = [await over(8)];
	const forEver = openUrlMode({ retention: false });
	assert.equal(await forEver.purge(), 0);
	assert.equal(await forEver.purge({ olderThan: 7 * DAY }), 1);
	assert.equal(await left(young), 0);
	for (const options of [{ olderThan: 0 }, { olderThan: 7 * DAY - 1 }, { olderThan: '8' }, { kind: 'all' }]) {
		await assert.rejects(urlmode.purge(options), TypeError);
	}
	for (const retention of [0, true, 7 * DAY - 1]) {
		assert.throws(() => openUrlMode({ retention }), /retention must be/);
	}
});

/** The rows of the queue that mark these as read: those due earlier than a day after completion. */
async function marksOf(admin, ids) {
	const { rows } = await admin.query(`
		SELECT f.ids FROM urlmode.purge_queue f WHERE f.ids && $1::uuid[] AND f.due_at < now() + interval '1 hour'`, [ids]);
	return rows.map((row) => row.ids);
}

async function createCompleted({ urlmode, callback }, count) {
	const all = await Promise.all(Array.from({ length: count }, () => urlmode.create(request)));
	const ids = all.map((e) => e.elicitationId);
	for (const id of ids) await callback.complete(id, { result: { code: id } });
	return ids;
}

test('what is marked as read goes if it has ended, and is no payment', async (t) => {
	const { admin, urlmode, callback } = await setUp(t);
	const [open, ended, paid] = await Promise.all([{ ...request, pkce: true }, { ...request, pkce: true }, payment]
		.map(async (wanted) => (await urlmode.create(wanted)).elicitationId));
	await callback.complete(ended, { result: { code: 'c' } });
	await callback.paid(paid);
	const ids = [open, ended, paid];
	await admin.query('SELECT urlmode.mark_read($1, $2, 0)', [ids, ids.map(() => bindingOf(owner.subject, ''))]);
	await purgeResults(admin);
	const { rows } = await admin.query(`SELECT e.verifier IS NOT NULL AS verifier, e.result IS NOT NULL AS result
		FROM unnest($1::uuid[]) WITH ORDINALITY AS a (id, n) JOIN urlmode.elicitation e ON e.id = a.id ORDER BY a.n`, [ids]);
	assert.deepEqual(rows, [{ verifier: true, result: false }, { verifier: false, result: false }, { verifier: false, result: true }]);
});

test('close right after a wait marks its row as read', async (t) => {
	const fixture = await setUp(t);
	const ids = await createCompleted(fixture, 3);
	await Promise.all(ids.map((id) => fixture.urlmode.waitForCompletion(id, owner)));
	await fixture.urlmode.close();
	assert.deepEqual((await marksOf(fixture.admin, ids)).flat().sort(), [...ids].sort());
});

test('many waits at once are marked in few statements, each row once', async (t) => {
	const { urlmode, admin, callback } = await setUp(t);
	// One owner can have a hundred open.
	const ownerOf = (n) => ({ subject: `purge-${n % 6}` });
	const ids = (await Promise.all(Array.from({ length: 300 }, (_, n) => urlmode.create({ ...request, ...ownerOf(n) }))))
		.map((e) => e.elicitationId);
	const waits = ids.map((id, n) => urlmode.waitForCompletion(id, ownerOf(n)));
	const begin = performance.now();
	for (const [n, id] of ids.entries()) await callback.complete(id, { ...ownerOf(n), result: { code: id } });
	await Promise.all(waits);
	const most = 2 + (performance.now() - begin) / 100;
	await urlmode.close();
	const marks = await marksOf(admin, ids);
	assert.ok(marks.length <= most, `${marks.length} statements, at most ${most}`);
	assert.deepEqual(marks.flat().sort(), [...ids].sort());
});

test('a row that could not be marked during a restart of PostgreSQL is marked afterwards', async (t) => {
	const cluster = await Cluster.start(t);
	const fixture = await setUp(t, cluster);
	const [first, second] = await createCompleted(fixture, 2);

	// The lock allows reads but not marks, so the statement is still running when PostgreSQL stops.
	await fixture.admin.query('BEGIN; LOCK TABLE urlmode.purge_queue IN EXCLUSIVE MODE');
	assert.deepEqual((await fixture.urlmode.waitForCompletion(first, owner)).result, { code: first });
	await until('the mark statement waits for the lock', async () => (await fixture.admin.query(
		"SELECT FROM pg_locks WHERE relation = 'urlmode.purge_queue'::regclass AND NOT granted")).rows.length > 0);
	await cluster.stop('immediate');
	await cluster.start();

	const { admin } = await setUp(t, cluster);
	assert.deepEqual(await marksOf(admin, [first]), []);
	assert.deepEqual((await fixture.urlmode.waitForCompletion(second, owner)).result, { code: second });
	await until('both are marked', async () => (await marksOf(admin, [first, second])).flat().length === 2);
});

test('what was paid while a purge looked at it is not deleted', async (t) => {
	const { admin, urlmode, callback, adminUrl } = await setUp(t, await Cluster.start(t));
	const [older, paid] = await Promise.all([200, 150].map(async (days) => {
		const { elicitationId } = await urlmode.create(payment);
		await admin.query(`UPDATE urlmode.elicitation SET status = 'completed', action = 'cancel', (expires_at, completed_at) =
			(now() - $2 * interval '1 day', now() - $2 * interval '1 day') WHERE id = $1`, [elicitationId, days]);
		return elicitationId;
	}));
	// The look at the older one takes as long as the test needs.
	await admin.query('ALTER FUNCTION urlmode.is_purgeable RENAME TO is_really_purgeable');
	await admin.query(`CREATE FUNCTION urlmode.is_purgeable(e urlmode.elicitation, since timestamptz) RETURNS boolean
		LANGUAGE plpgsql STABLE AS $$ BEGIN
			IF e.id = '${older}' THEN PERFORM pg_advisory_xact_lock_shared(7); END IF;
			RETURN urlmode.is_really_purgeable(e, since);
		END $$`);
	const holder = await connect(t, adminUrl);
	await holder.query('BEGIN; SELECT pg_advisory_xact_lock(7)');
	const purged = urlmode.purge({ kind: 'payment' });
	await until('it looks', async () => (await admin.query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).rowCount > 0);
	await callback.paid(paid);
	await holder.query('COMMIT');
	assert.equal(await purged, 1);
	const { rows } = await admin.query('SELECT id FROM urlmode.elicitation');
	assert.deepEqual(rows, [{ id: paid }]);
});
