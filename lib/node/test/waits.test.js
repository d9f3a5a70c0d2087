// How waits share reads, with a listener that the test controls.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { parseNotifications } from '../src/core/notification.js';
import { Waits } from '../src/core/waits.js';

const BINDING = Buffer.alloc(16, 1);
const FORGED = Buffer.from('forged');
const options = { timeout: 60_000 };

/** Its reads stay open until the test answers them. */
class ControlledListener extends EventEmitter {
	listening = true;
	receivesNotifications = true;
	inUse = false;
	/** @type {{ ids: string[], answer: (rows: object[]) => void, fail: (error: Error) => void }[]} */
	reads = [];

	acquire() {
		this.inUse = true;
	}

	release() {
		this.inUse = false;
	}

	query(text, [ids]) {
		return new Promise((answer, fail) => this.reads.push({ ids, answer, fail }));
	}

	notify(id, outcome) {
		this.emit('notified', [{ id, late: false, outcome }]);
	}
}

const pending = (id) => ({ id, provider: 'demo', status: 'pending', closes_in_ms: '60000' });
const completed = (id) => ({ id, provider: 'demo', status: 'completed', action: 'accept', reason: '', late: false, payment_reference: null, closes_in_ms: '60000' });
const withResult = (id) => ({ ...completed(id), result: Buffer.from('sealed') });

function setUp(t, routineReadMs, expire) {
	const listener = new ControlledListener();
	// An error in `expire` would not be noticed: a wait goes on after it.
	const unexpected = [];
	t.after(() => assert.deepEqual(unexpected, [], 'nothing expires here'));
	const markedRead = [];
	const opened = [];
	const waiters = new Waits(listener, {
		toOutcome: (row, binding, { result, verifier }) => {
			if (row.result?.equals(FORGED)) throw new Error('no key opens it');
			const outcome = { elicitationId: row.id, action: row.action, reason: row.reason, result };
			return verifier ? { ...outcome, codeVerifier: verifier.code_verifier } : outcome;
		},
		openVerifier: ({ id, verifier }) => {
			if (!verifier) return undefined;
			opened.push(id);
			return { code_verifier: String(verifier) };
		},
		openOutcome: ({ id }, sealed) => (sealed.trim() === `sealed ${id}` ? { action: 'accept', reason: '', reference: null, result: { code: 'a' } }
			: sealed === 'declined' ? { action: 'decline', reason: 'cancelled', reference: null, result: undefined } : undefined),
		markRead: ({ id, binding }) => markedRead.push([id, binding]),
		expire: expire ?? (async (rowKeys) => void unexpected.push(rowKeys)),
		beginRecheck: () => assert.fail('nothing is rechecked here'),
	}, routineReadMs);
	t.after(() => waiters.close(new Error('the test is over')));
	return { listener, waiters, markedRead, opened, wait: (id, binding = BINDING) => {
		const promise = waiters.wait(id, binding, options);
		promise.catch(() => {});
		return promise;
	} };
}

async function answer(listener, row) {
	const read = listener.reads.shift();
	read.answer(read.ids.map(row));
	await sleep(1);
}

test('rows that become due in one turn are one read, and those during a read are the next', async (t) => {
	const { listener, wait } = setUp(t);
	const ids = Array.from({ length: 50 }, () => randomUUID());
	const waits = ids.map((id) => wait(id));
	await sleep(1);
	assert.deepEqual(listener.reads.map((read) => read.ids), [ids]);

	for (const id of ids.slice(0, 20)) listener.notify(id);
	await sleep(1);
	for (const id of ids.slice(10, 30)) listener.notify(id);
	await sleep(1);
	assert.equal(listener.reads.length, 1, 'one read at a time');
	await answer(listener, pending);
	assert.deepEqual(listener.reads.map((read) => read.ids), [ids.slice(0, 30)]);
	await answer(listener, completed);
	assert.equal(listener.reads.length, 0);
	assert.equal((await Promise.all(waits.slice(0, 30))).length, 30);
});

test('10,000 waits need ten reads', async (t) => {
	const { listener, wait } = setUp(t);
	const waits = Array.from({ length: 10_000 }, () => wait(randomUUID()));
	const sizes = [];
	await sleep(1);
	while (listener.reads.length > 0) {
		sizes.push(listener.reads[0].ids.length);
		await answer(listener, completed);
	}
	assert.deepEqual(sizes, Array(10).fill(1_000));
	await Promise.all(waits);
	assert.equal(listener.inUse, false);
});

test('each row is read when it may be expired, once, whatever the others do meanwhile', async (t) => {
	const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
	const expired = [];
	const { listener, wait } = setUp(t, undefined, async (rowKeys) => void expired.push(...rowKeys.map(({ id }) => id)));
	[first, second, third].forEach((id) => wait(id));
	await sleep(1);
	const closesIn = new Map([[first, '100'], [second, '200'], [third, '3000000000']]);
	await answer(listener, (id) => ({ ...pending(id), closes_in_ms: closesIn.get(id) }));
	while (listener.reads.length === 0) await sleep(5);
	await sleep(300); // the second may be expired, too, and the read of the first is not answered yet
	const over = (id) => ({ ...pending(id), closes_in_ms: '0' });
	assert.ok(listener.reads[0].ids.includes(first));
	await answer(listener, over);
	assert.ok(expired.includes(first));
	while (!expired.includes(second)) {
		assert.ok(!listener.reads[0]?.ids.includes(third));
		if (listener.reads.length > 0) await answer(listener, over);
		else await sleep(5);
	}
});

test('due rows are read before routine reads', async (t) => {
	const { listener, wait } = setUp(t, 40);
	const ids = Array.from({ length: 2_500 }, () => randomUUID());
	ids.forEach((id) => wait(id));
	await sleep(1);
	for (let i = 0; i < 3; i++) await answer(listener, pending);
	while (listener.reads.length === 0) await sleep(5);
	const last = ids.at(-1);
	listener.notify(last);
	await answer(listener, pending);
	assert.equal(listener.reads[0].ids[0], last);
	assert.equal(listener.reads[0].ids.length, 1_000, 'the rest of the read is routine');
});

test('a read that began before a wait does not settle it', async (t) => {
	const { listener, wait } = setUp(t);
	const id = randomUUID();
	const first = wait(id);
	await sleep(1);
	const second = wait(id);
	listener.reads.shift().answer([]);
	await sleep(1);
	await answer(listener, completed);
	assert.equal((await second).action, 'accept');
	assert.equal((await first).action, 'accept');
});

test('one id with two bindings is never in the same read', async (t) => {
	const { listener, wait } = setUp(t);
	const id = randomUUID();
	const mine = wait(id);
	const strangers = wait(id, Buffer.alloc(16, 2));
	await sleep(1);
	assert.deepEqual(listener.reads[0].ids, [id]);
	await answer(listener, completed);
	assert.equal((await mine).action, 'accept');
	listener.reads.shift().answer([]);
	await assert.rejects(strangers, { code: 'ELICITATION_NOT_FOUND' });
});

test('nothing is read until the connection listens, and then all rows are', async (t) => {
	const { listener, wait } = setUp(t);
	listener.listening = false;
	const ids = [randomUUID(), randomUUID()];
	const waits = ids.map((id) => wait(id));
	await sleep(1);
	assert.equal(listener.reads.length, 0);
	listener.listening = true;
	listener.emit('listening');
	await sleep(1);
	await answer(listener, pending);

	listener.notify(ids[0]);
	await sleep(1);
	listener.listening = false;
	listener.reads.shift().fail(new Error('the connection is gone'));
	listener.emit('lost', new Error('the connection is gone'));
	await sleep(1);
	listener.listening = true;
	listener.emit('listening');
	await sleep(1);
	assert.deepEqual(listener.reads[0].ids, ids);
	await answer(listener, completed);
	await Promise.all(waits);
});

test('notifications for other rows, or with another payload, cause no read', async (t) => {
	const { listener, wait } = setUp(t);
	wait(randomUUID());
	await sleep(1);
	await answer(listener, pending);
	for (const payload of [
		'', 'x', '{', 'null', '[]', '42', '{"id":null}', '{"id":{}}', '{"id":"__proto__"}', '[null,1,[],{"id":1},{"id":"__proto__"}]',
	]) listener.emit('notified', parseNotifications(payload));
	listener.notify(randomUUID());
	await sleep(1);
	assert.equal(listener.reads.length, 0);
});

test('an outcome that is announced ends the waits for which the row was read, without another read', async (t) => {
	const { listener, wait, markedRead } = setUp(t);
	const id = randomUUID();
	const waits = [wait(id), wait(id)];
	await sleep(1);
	await answer(listener, pending);
	listener.notify(id, `sealed ${id}`);
	for (const outcome of await Promise.all(waits)) assert.deepEqual(outcome.result, { code: 'a' });
	await sleep(1);
	assert.equal(listener.reads.length, 0);
	assert.deepEqual(markedRead, [[id, BINDING], [id, BINDING]]);
});

test('an outcome that is announced while a wait reads for the first time is a reason to read again', async (t) => {
	const { listener, wait } = setUp(t);
	const id = randomUUID();
	const first = wait(id);
	await sleep(1);
	await answer(listener, pending);
	const second = wait(id);
	await sleep(1);
	// PostgreSQL has read the row before it was completed.
	listener.notify(id, `sealed ${id}`);
	await answer(listener, pending);
	assert.deepEqual(listener.reads.map(({ ids }) => ids), [[id]]);
	await answer(listener, completed);
	assert.equal((await first).action, 'accept');
	assert.equal((await second).action, 'accept');
});

test('an outcome that is announced while a wait abandons its row is that of the wait, without another read', async (t) => {
	const { listener, waiters } = setUp(t);
	const id = randomUUID();
	const controller = new AbortController();
	let end;
	const waiting = waiters.wait(id, BINDING, { ...options, signal: controller.signal, abandon: () => new Promise((resolve) => (end = resolve)) });
	await sleep(1);
	await answer(listener, pending);
	controller.abort();
	listener.notify(id, `sealed ${id}`);
	await sleep(1);
	assert.equal(listener.reads.length, 0);
	end('already');
	assert.deepEqual((await waiting).result, { code: 'a' });
});

test('rows are polled until notifications arrive', async (t) => {
	const { listener, wait } = setUp(t);
	listener.receivesNotifications = false;
	wait(randomUUID());
	await sleep(1);
	await answer(listener, pending);
	while (listener.reads.length === 0) await sleep(5);
	listener.receivesNotifications = true;
	listener.emit('receiving');
	await answer(listener, pending);
	await sleep(600);
	assert.equal(listener.reads.length, 0);
});

test('an outcome that is not a text is a reason to read', async (t) => {
	const { listener, wait } = setUp(t);
	const id = randomUUID();
	wait(id);
	await sleep(1);
	await answer(listener, pending);
	for (const outcome of [null, 1, {}, ['sealed']]) {
		listener.emit('notified', parseNotifications(JSON.stringify({ id, outcome })));
		await sleep(1);
		assert.equal(listener.reads.length, 1);
		await answer(listener, pending);
	}
});

test('the verifier is opened once, when the row is read, and not when its outcome is announced', async (t) => {
	const { listener, wait, opened } = setUp(t);
	const id = randomUUID();
	const waiting = wait(id);
	const row = (which) => ({ ...pending(which), verifier: 'v' });
	await sleep(1);
	await answer(listener, row);
	listener.notify(id);
	await sleep(1);
	await answer(listener, row);
	assert.deepEqual(opened, [id]);
	listener.notify(id, `sealed ${id}`);
	assert.equal((await waiting).codeVerifier, 'v');
	assert.deepEqual(opened, [id]);
});

test('an outcome that is announced is only a reason to read', async (t) => {
	for (const [what, { outcome, row = pending, read = true, more = false }] of Object.entries({
		'where it is not genuine': { outcome: 'forged' },
		'where it is another row\'s': { outcome: `sealed ${randomUUID()}` },
		'where the row was not read': { read: false },
		'where the row was not read for one of the waits': { more: true },
		'where a payment was not accepted': { outcome: 'declined', row: (id) => ({ ...pending(id), kind: 'payment' }) },
	})) {
		await t.test(what, async (st) => {
			const { listener, wait } = setUp(st);
			const id = randomUUID();
			const waits = [wait(id)];
			await sleep(1);
			if (read) await answer(listener, row);
			if (more) waits.push(wait(id));
			listener.notify(id, outcome ?? `sealed ${id}`);
			await sleep(1);
			assert.deepEqual(listener.reads.map(({ ids }) => ids), [[id]]);
			await answer(listener, completed);
			for (const { result } of await Promise.all(waits)) assert.equal(result, undefined, 'the outcome of the row');
		});
	}
});

test('the connection is used while somebody waits', async (t) => {
	const { listener, waiters } = setUp(t);
	const controller = new AbortController();
	const id = randomUUID();
	const first = waiters.wait(id, BINDING, { ...options, signal: controller.signal });
	const second = waiters.wait(id, BINDING, { timeout: 5 });
	assert.equal(listener.inUse, true);
	await assert.rejects(second, { code: 'ELICITATION_TIMEOUT' });
	assert.equal(listener.inUse, true);
	controller.abort();
	await assert.rejects(first, { name: 'AbortError' });
	assert.equal(listener.inUse, false);
});

test('a row is marked as read when a wait has received its result or verifier', async (t) => {
	const { listener, waiters, markedRead, wait } = setUp(t);
	const [result, verifier, neither, forged, open] = Array.from({ length: 5 }, () => randomUUID());
	const rows = {
		[result]: withResult(result), [verifier]: { ...completed(verifier), verifier: Buffer.from('sealed') },
		[neither]: completed(neither), [forged]: { ...completed(forged), result: FORGED }, [open]: pending(open),
	};
	const waits = Object.keys(rows).map((id) => wait(id));
	await sleep(1);
	await answer(listener, (id) => rows[id]);
	await Promise.all(waits.slice(0, 3));
	await assert.rejects(waits[3], /no key opens it/);
	assert.deepEqual(markedRead, [[result, BINDING], [verifier, BINDING]]);

	const late = randomUUID();
	const controller = new AbortController();
	const aborted = waiters.wait(late, BINDING, { ...options, signal: controller.signal });
	await sleep(1);
	controller.abort();
	await assert.rejects(aborted, { name: 'AbortError' });
	await answer(listener, withResult);
	assert.equal(markedRead.length, 2, 'a result that arrives after the wait has ended is not marked');
});
