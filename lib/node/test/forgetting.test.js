import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import pg from 'pg';

import { Forgetting } from '../src/forgetting.js';
import { Cluster } from './support/cluster.js';
import { request, setUp, until } from './support/database.js';

const MINUTES = 60_000 * 2;
const KEEP = 600_000;
const owner = { subject: 'user-42' };
const away = new Error('connection lost');
const refusal = Object.assign(new pg.DatabaseError('permission denied', 1, 'error'), { code: '42501' });

/** Lets what is waiting for a promise go on. */
const settle = () => new Promise(setImmediate);

/** A database that answers as the test says, and keeps what it was told. */
class HeldDatabase {
	forgets = 0;
	/** @type {string[][]} the ids of each statement, also of those that failed */
	notes = [];
	/** @type {() => unknown} */
	onForget = () => false;
	/** @type {() => unknown} */
	onNote = () => {};

	async forget() {
		this.forgets += 1;
		return this.onForget();
	}

	async noteRead(named, keep) {
		assert.equal(keep, KEEP);
		this.notes.push(named.map(({ id }) => id));
		await this.onNote();
	}
}

function start(t, apis = ['setInterval', 'setTimeout']) {
	t.mock.timers.enable({ apis });
	const database = new HeldDatabase();
	const warnings = [];
	t.mock.method(process, 'emitWarning', (message, { code }) => warnings.push([message, code]));
	return { database, warnings, forgetting: new Forgetting(database, KEEP) };
}

/** Reads so many rows; answers their ids. */
function readRows(forgetting, count) {
	const ids = Array.from({ length: count }, () => randomUUID());
	for (const id of ids) forgetting.noteRead({ id, binding: Buffer.alloc(16) });
	return ids;
}

test('it begins with the first use, goes on while there is more, and ends with the last', async (t) => {
	const { database, forgetting } = start(t);
	const answers = [true, true, false, false];
	database.onForget = () => answers.shift() ?? false;
	t.mock.timers.tick(MINUTES);
	await settle();
	assert.equal(database.forgets, 0);

	forgetting.start();
	forgetting.start();
	t.mock.timers.tick(60_000 * 1.25);
	await settle();
	assert.equal(database.forgets, 3, 'until there is no more');

	t.mock.timers.tick(60_000 * 1.25);
	await settle();
	assert.ok(database.forgets >= 4);

	await forgetting.close();
	const ended = database.forgets;
	t.mock.timers.tick(MINUTES);
	await settle();
	assert.equal(database.forgets, ended);
	assert.deepEqual(database.notes, [], 'nothing was read');
});

test('what goes wrong is tried again, and only a refusal is warned of, once', async (t) => {
	const { database, warnings, forgetting } = start(t);
	const errors = [away, refusal, refusal];
	database.onForget = () => {
		throw errors.shift() ?? away;
	};
	forgetting.start();
	while (database.forgets < 4) {
		t.mock.timers.tick(60_000 * 1.25);
		await settle();
	}
	await forgetting.close();
	assert.deepEqual(warnings, [['results are not dropped: permission denied', 'URLMODE_FORGETTING']]);
});

test('what is read within 0.1 seconds is one note, of a thousand rows at most', async (t) => {
	const { database, forgetting } = start(t);
	const ids = readRows(forgetting, 20);
	const again = { id: randomUUID(), binding: Buffer.alloc(16) };
	for (let i = 0; i < 5; i++) forgetting.noteRead(again);
	await settle();
	assert.deepEqual(database.notes, [], 'not at once');
	t.mock.timers.tick(100);
	await settle();
	assert.deepEqual(database.notes, [[...ids, again.id]]);

	const more = readRows(forgetting, 2_500);
	t.mock.timers.tick(100);
	await settle();
	assert.deepEqual(database.notes.slice(1).map(({ length }) => length), [1_000, 1_000, 500]);
	assert.deepEqual(database.notes.slice(1).flat(), more);
	await forgetting.close();
});

test('what cannot be noted goes with the next, or when what is due is dropped', async (t) => {
	const { database, warnings, forgetting } = start(t);
	forgetting.start();
	let failures = 2;
	database.onNote = () => {
		if (failures-- > 0) throw away;
	};
	const ids = readRows(forgetting, 1_500);
	t.mock.timers.tick(100);
	await settle();
	t.mock.timers.tick(1_000);
	await settle();
	assert.deepEqual(database.notes.map(({ length }) => length), [1_000], 'a lost connection is not beset');
	const [late] = readRows(forgetting, 1);
	t.mock.timers.tick(100);
	await settle();
	t.mock.timers.tick(60_000 * 1.25);
	await settle();
	assert.deepEqual(database.notes.slice(2).flat(), [...ids, late]);
	assert.deepEqual(warnings, []);
	await forgetting.close();
	assert.equal(database.notes.slice(2).flat().length, 1_501, 'each once');
});

test('of what cannot be noted at most 10,000 are kept, the last ones', async (t) => {
	const { database, forgetting } = start(t);
	let fail = (/** @type {Error} */ _) => {};
	database.onNote = () => new Promise((_, reject) => (fail = reject));
	const ids = readRows(forgetting, 6_000);
	t.mock.timers.tick(100);
	await settle();
	ids.push(...readRows(forgetting, 6_000));
	fail(away);
	await settle();
	ids.push(...readRows(forgetting, 3_000));
	database.onNote = () => {};
	database.notes = [];
	await forgetting.close();
	assert.deepEqual(database.notes.flat(), ids.slice(-10_000));
});

test('a note that is refused is warned of once, and not tried again', async (t) => {
	const { database, warnings, forgetting } = start(t);
	database.onNote = () => {
		throw refusal;
	};
	for (let i = 0; i < 2; i++) {
		readRows(forgetting, 1);
		t.mock.timers.tick(100);
		await settle();
	}
	await forgetting.close();
	assert.equal(database.notes.length, 2);
	assert.deepEqual(warnings, [['results are not dropped: permission denied', 'URLMODE_FORGETTING']]);
});

test('close ends when all is noted, also what was under way', async (t) => {
	const { database, forgetting } = start(t);
	/** @type {(() => void)[]} */
	const answers = [];
	database.onNote = () => new Promise((resolve) => answers.push(resolve));
	const ids = readRows(forgetting, 1_500);
	t.mock.timers.tick(100);
	await settle();
	ids.push(...readRows(forgetting, 1));
	let closed = false;
	void forgetting.close().then(() => (closed = true));
	for (let i = 1; i <= 3; i++) {
		await settle();
		assert.equal(closed, false);
		assert.equal(database.notes.length, i, 'one after another');
		answers.shift()?.();
	}
	await settle();
	assert.equal(closed, true);
	assert.deepEqual(database.notes.flat(), ids);
	t.mock.timers.tick(100);
	await settle();
	assert.equal(database.notes.length, 3);
});

/** The notes that these were read: whose at is not a day after completion. */
async function notesOf(admin, ids) {
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

test('close right after a wait: the note is there when it is closed', async (t) => {
	const scene = await setUp(t);
	const ids = await createCompleted(scene, 3);
	await Promise.all(ids.map((id) => scene.urlmode.waitForCompletion(id, owner)));
	await scene.urlmode.close();
	assert.deepEqual((await notesOf(scene.admin, ids)).flat().sort(), [...ids].sort());
});

test('a burst of waits is few notes, each row in one of them', async (t) => {
	const { urlmode, admin, callback } = await setUp(t);
	const ids = (await Promise.all(Array.from({ length: 300 }, () => urlmode.create(request)))).map((e) => e.elicitationId);
	const waits = ids.map((id) => urlmode.waitForCompletion(id, owner));
	const begin = performance.now();
	for (const id of ids) await callback.complete(id, { result: { code: id } });
	await Promise.all(waits);
	const most = 2 + (performance.now() - begin) / 100;
	await urlmode.close();
	const notes = await notesOf(admin, ids);
	assert.ok(notes.length <= most, `${notes.length} notes, at most ${most}`);
	assert.deepEqual(notes.flat().sort(), [...ids].sort());
});

test('PostgreSQL goes away while a note is due: it is made good when it is back', async (t) => {
	const cluster = await Cluster.start(t);
	const scene = await setUp(t, cluster);
	const [first, second] = await createCompleted(scene, 2);

	// Readers pass, the note does not: it is under way when all ends.
	await scene.admin.query('BEGIN; LOCK TABLE urlmode.purge_queue IN EXCLUSIVE MODE');
	assert.deepEqual((await scene.urlmode.waitForCompletion(first, owner)).result, { code: first });
	await until('the note is under way', async () => (await scene.admin.query(
		"SELECT FROM pg_locks WHERE relation = 'urlmode.purge_queue'::regclass AND NOT granted")).rows.length > 0);
	await cluster.stop('immediate');
	await cluster.start();

	const { admin } = await setUp(t, cluster);
	assert.deepEqual(await notesOf(admin, [first]), []);
	assert.deepEqual((await scene.urlmode.waitForCompletion(second, owner)).result, { code: second });
	await until('both are noted', async () => (await notesOf(admin, [first, second])).flat().length === 2);
});
