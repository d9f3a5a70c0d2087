// After an event that does not prove the outcome, the SDK asks the
// provider.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { rechecker } from '../src/core/ask-back.js';
import { payment, PRICE, setUp, until } from './support/database.js';

const owner = { subject: 'user-42' };

/** What a provider's API says about a payment of the price. */
const paid = (reference, result = { reference }) => ({ action: 'accept', ...PRICE, reference, result });

const rowOf = async (admin, id) => (await admin.query(
	'SELECT * FROM urlmode.elicitation LEFT JOIN urlmode.recheck ON elicitation = id WHERE id = $1', [id])).rows[0];

/** A provider's references must not have paid for another test. */
const newReference = () => `tr_${randomUUID()}`;

async function create(fixture, options) {
	return (await fixture.urlmode.create({ ...payment, ...options })).elicitationId;
}

function collectWarnings(t) {
	const warnings = [];
	const onWarning = ({ code, message }) => warnings.push({ code, message });
	process.on('warning', onWarning);
	t.after(() => process.off('warning', onWarning));
	return warnings;
}

test('the answer of recheck completes the row for every wait, and an event that proves nothing is no progress', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, another, callback } = fixture;
	const id = await create(fixture);
	const [first, last] = [newReference(), newReference()];
	const questions = [];
	const progress = [];
	await callback.open(id);
	await callback.event(id, 'recheck', { type: 'payment.changed', reference: first });
	await callback.event(id, 'recheck', { type: 'payment.changed', reference: last });
	const asks = urlmode.waitForCompletion(id, {
		...owner,
		onProgress: (status) => progress.push(status),
		async recheck(question) {
			questions.push(question);
			return paid(first);
		},
	});
	const other = another().waitForCompletion(id, owner);
	const expected = { elicitationId: id, action: 'accept', reason: '', result: { reference: first }, reference: first, ...PRICE, expected: PRICE };
	assert.deepEqual(await asks, expected);
	assert.deepEqual(await other, expected);
	assert.deepEqual(questions.map(({ signal: _, ...question }) => question), [{
		elicitationId: id, provider: 'demo', type: 'payment.changed', reference: last, references: [first, last], expected: PRICE,
	}]);
	assert.deepEqual(progress, ['opened']);
});

test('if recheck returns nothing, the wait continues, and each further event calls it again', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback, admin } = fixture;
	const id = await create(fixture);
	await callback.event(id, 'recheck');
	const references = [];
	const waiting = urlmode.waitForCompletion(id, {
		...owner,
		recheck({ reference }) {
			references.push(reference);
			return references.length < 3 ? undefined : { action: 'decline', reason: 'refused_by_bank' };
		},
	});
	await until('recheck was called for the earlier event', () => references.length === 1);
	await admin.query("SELECT pg_notify('urlmode', $1)", [JSON.stringify({ id, status: 'processing' })]);
	await callback.event(id, 'processing');
	await sleep(100);
	assert.equal(references.length, 1, 'recheck was called without a new event');
	await callback.event(id, 'recheck', { reference: 'a' });
	await until('recheck was called again', () => references.length === 2);
	await callback.event(id, 'recheck', { reference: 'b' });
	assert.deepEqual(await waiting,
		{ elicitationId: id, action: 'decline', reason: 'refused_by_bank', result: undefined, expected: PRICE });
	assert.deepEqual(references, [undefined, 'a', 'b']);
});

test('events that arrive during a call of recheck cause one further call', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback } = fixture;
	const id = await create(fixture);
	const last = newReference();
	const references = [];
	let running = 0;
	const waiting = urlmode.waitForCompletion(id, {
		...owner,
		async recheck({ reference }) {
			running += 1;
			assert.equal(running, 1, 'two calls at once');
			references.push(reference);
			await sleep(200);
			running -= 1;
			return reference === last ? paid(reference) : undefined;
		},
	});
	await callback.event(id, 'recheck', { reference: 'a' });
	await until('recheck was called', () => references.length === 1);
	for (const reference of ['b', last]) {
		await callback.event(id, 'recheck', { reference });
		await sleep(30);
	}
	assert.equal((await waiting).action, 'accept');
	assert.deepEqual(references, ['a', last]);
});

test('many waits on two instances ask once for each event, one after another', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, another, callback } = fixture;
	const id = await create(fixture);
	const other = another();
	const reference = newReference();
	let running = 0;
	let calls = 0;
	const recheck = async () => {
		running += 1;
		calls += 1;
		assert.equal(running, 1, 'two calls at once');
		await sleep(150);
		running -= 1;
		return calls === 2 ? paid(reference) : undefined;
	};
	const waits = [urlmode, urlmode, other, other].map((instance) => instance.waitForCompletion(id, { ...owner, recheck }));
	await callback.event(id, 'recheck', { reference });
	await until('recheck was called', () => calls === 1);
	await until('recheck has ended', () => running === 0);
	await sleep(200);
	assert.equal(calls, 1);
	await callback.event(id, 'recheck', { reference });
	for (const { action } of await Promise.all(waits)) assert.equal(action, 'accept');
	assert.equal(calls, 2);
});

test('an error of recheck ends no wait whose payment was accepted meanwhile', async (t) => {
	const fixture = await setUp(t, { listen: false }); // the error comes before the outcome is read
	const { urlmode, another, callback } = fixture;
	const id = await create(fixture);
	await callback.event(id, 'recheck');
	const failing = urlmode.waitForCompletion(id, {
		...owner,
		async recheck() {
			await callback.paid(id);
			throw new Error('the API is down');
		},
	});
	const other = another().waitForCompletion(id, owner);
	assert.equal((await failing).action, 'accept');
	assert.equal((await other).action, 'accept');
});

test('an error or an invalid answer of recheck ends the wait, and the next call of recheck is delayed', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback, admin } = fixture;
	const id = await create(fixture);
	await callback.event(id, 'recheck');
	const wait = (recheck) => urlmode.waitForCompletion(id, { ...owner, recheck });
	const failure = new Error('the API of the provider is down');
	await assert.rejects(wait(() => { throw failure; }), failure);
	const start = performance.now();
	await assert.rejects(wait(() => Promise.reject(failure)), failure);
	assert.ok(performance.now() - start > 800, 'it was asked again at once');
	const retry = () => admin.query('UPDATE urlmode.recheck SET recheck_at = NULL WHERE elicitation = $1', [id]);
	await retry();
	await assert.rejects(wait(() => ({ action: 'paid' })), { name: 'TypeError', message: /^action must be one of/ });
	await retry();
	await assert.rejects(wait(() => ({ action: 'accept', reference: 'a' })),
		{ name: 'TypeError', message: /^to accept a payment, amount \(in minor units\), currency and reference are required/ });
	assert.equal((await rowOf(admin, id)).status, 'pending');
	await retry();
	assert.equal((await wait(async () => paid(newReference()))).action, 'accept');
});

test('a wait that is not answered elsewhere asks as soon as the lease of another instance is over', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback, admin } = fixture;
	const id = await create(fixture);
	await callback.event(id, 'recheck');
	await admin.query("UPDATE urlmode.recheck SET recheck_at = now() + interval '600 ms' WHERE elicitation = $1", [id]);
	const start = performance.now();
	const reference = newReference();
	const outcome = await urlmode.waitForCompletion(id, { ...owner, recheck: () => paid(reference) });
	assert.equal(outcome.reference, reference);
	assert.ok(performance.now() - start > 400, 'it was asked while the other instance may be asking');
});

test('a payment of another amount, or for another elicitation, moves nothing, and the wait continues', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback, admin } = fixture;
	const warnings = collectWarnings(t);
	const [first, second] = [await create(fixture), await create(fixture)];
	const [old, own] = [newReference(), newReference()];
	await callback.paid(first, { reference: old });
	const answers = [paid(old), { ...paid(own), amount: 1 }, { ...paid(own), currency: 'USD' }];
	let done = false;
	const waiting = urlmode.waitForCompletion(second, { ...owner, recheck: () => answers.shift() ?? paid(own) });
	void waiting.then(() => (done = true));
	for (let n = 1; n <= 3; n += 1) {
		await callback.event(second, 'recheck', { reference: old });
		await until('it is warned', () => warnings.length === n);
		assert.equal(warnings.at(-1).code, 'URLMODE_RECHECK');
		assert.equal(done, false);
		assert.equal((await rowOf(admin, second)).status, 'pending');
		await until('it is answered', async () => (await rowOf(admin, second)).rechecked === n);
	}
	await callback.event(second, 'recheck', { reference: own });
	assert.equal((await waiting).reference, own);
});

test('an event that proves the outcome needs no recheck', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback } = fixture;
	const id = await create(fixture, { expected: { amount: 500, currency: 'eur' } });
	const waiting = urlmode.waitForCompletion(id, { ...owner, recheck: () => assert.fail('recheck was called') });
	await callback.event(id, 'processing');
	await callback.paid(id, { amount: 500 });
	assert.equal((await waiting).action, 'accept');
});

test('recheck completes the row even if its wait has ended', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback } = fixture;
	const id = await create(fixture);
	await callback.event(id, 'recheck');
	const ending = new AbortController();
	const wait = urlmode.waitForCompletion(id, {
		...owner,
		signal: ending.signal,
		async recheck() {
			ending.abort(new Error('enough'));
			return sleep(300, paid(newReference(), { after: true }));
		},
	});
	await assert.rejects(wait, /enough/);
	assert.deepEqual((await urlmode.waitForCompletion(id, owner)).result, { after: true });
});

test('a wait with timeout 0 asks once, and returns the answer', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback } = fixture;
	const id = await create(fixture);
	await callback.event(id, 'recheck');
	let calls = 0;
	const check = (answer) => urlmode.waitForCompletion(id, {
		...owner,
		timeout: 0,
		recheck() {
			calls += 1;
			return answer;
		},
	});
	await assert.rejects(check(undefined), { code: 'ELICITATION_TIMEOUT' });
	assert.equal(calls, 1);
	await assert.rejects(check(undefined), { code: 'ELICITATION_TIMEOUT' });
	assert.equal(calls, 1, 'no event has asked again');
	await callback.event(id, 'recheck');
	assert.equal((await check(paid(newReference()))).action, 'accept');
});

test('a payment that ended otherwise is rechecked as well: what was paid late is the outcome', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback } = fixture;
	for (const timeout of [0, 10_000]) {
		const id = await create(fixture);
		await urlmode.cancel(id, owner);
		await callback.event(id, 'recheck');
		const reference = newReference();
		assert.deepEqual(await urlmode.waitForCompletion(id, { ...owner, timeout, recheck: () => paid(reference) }),
			{ elicitationId: id, action: 'accept', reason: '', late: true, result: { reference }, reference, ...PRICE, expected: PRICE });
	}
	const id = await create(fixture);
	await urlmode.cancel(id, owner);
	await callback.event(id, 'recheck');
	for (const recheck of [() => { throw new Error('the API is down'); }, () => undefined]) {
		const outcome = await urlmode.waitForCompletion(id, { ...owner, recheck });
		assert.equal(outcome.action, 'cancel', 'the row stays as it was');
	}
});

test('a call that comes after the grace asks about an event that nobody has answered', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback, admin } = fixture;
	const own = { subject: `user-${randomUUID()}` };
	const ask = () => create(fixture, { ...own, item: 'report:42' });
	const [forgotten, id] = [await ask(), randomUUID()];
	/** It was paid at a provider that signs nothing, while no call was there, and nobody has ended it since. */
	const closed = async (of, time) => {
		await callback.open(of, own);
		await callback.event(of, 'recheck');
		await admin.query('UPDATE urlmode.elicitation SET expires_at = now() - grace - $2::interval WHERE id = $1', [of, time]);
	};
	await closed(forgotten, '30 days 1 hour');
	assert.equal(await create(fixture, { ...own, item: 'report:42', id }), id, 'a server without recheck never asks');
	await closed(id, '29 days 23 hours');
	assert.equal(await ask(), id);
	const reference = newReference();
	assert.deepEqual(await urlmode.waitForCompletion(id, { ...own, timeout: 0, recheck: () => paid(reference) }),
		{ elicitationId: id, action: 'accept', reason: '', late: true, result: { reference }, reference, ...PRICE, expected: PRICE });
});

test('an event that proves nothing leaves status and expiry as they are', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback, admin } = fixture;
	const id = await create(fixture);
	const before = await rowOf(admin, id);
	for (let n = 0; n < 20; n += 1) await callback.event(id, 'recheck', { reference: `junk ${n}` });
	const { status, reason, expires_at: expiresAt } = await rowOf(admin, id);
	assert.deepEqual([status, reason, expiresAt], ['pending', '', before.expires_at]);
	const asked = [];
	const recheck = ({ references }) => void asked.push(references);
	await assert.rejects(urlmode.waitForCompletion(id, { ...owner, timeout: 0, recheck }), { code: 'ELICITATION_TIMEOUT' });
	assert.deepEqual(asked, [Array.from({ length: 16 }, (_, n) => `junk ${n + 4}`)]);
	await admin.query('UPDATE urlmode.elicitation SET expires_at = now() WHERE id = $1', [id]);
	assert.equal((await urlmode.waitForCompletion(id, owner)).reason, 'expired');
});

test('of the events that prove nothing the last 64 of an elicitation are kept', async (t) => {
	const fixture = await setUp(t);
	const { admin, callback } = fixture;
	const id = await create(fixture);
	for (let n = 0; n < 66; n += 1) await callback.event(id, 'recheck', { type: `event.${n}` });
	const { rows } = await admin.query('SELECT type FROM urlmode.event WHERE elicitation = $1 ORDER BY received_at', [id]);
	assert.deepEqual(rows.map(({ type }) => type), Array.from({ length: 64 }, (_, n) => `event.${n + 2}`));
});

test('a call of recheck that takes longer than its lease causes no second call in this process', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback, admin } = fixture;
	const id = await create(fixture);
	const reference = newReference();
	let calls = 0;
	const answer = deferred();
	const recheck = () => {
		calls += 1;
		return answer.promise;
	};
	const first = urlmode.waitForCompletion(id, { ...owner, recheck });
	await callback.event(id, 'recheck', { reference });
	await until('recheck was called', () => calls === 1);
	await admin.query('UPDATE urlmode.recheck SET recheck_at = NULL WHERE elicitation = $1', [id]);
	const second = urlmode.waitForCompletion(id, { ...owner, recheck });
	await callback.event(id, 'recheck', { reference });
	await sleep(200);
	assert.equal(calls, 1);
	answer.resolve(paid(reference));
	for (const wait of [first, second]) assert.equal((await wait).action, 'accept');
});

test('a recheck that does not answer within its lease has failed, and a late answer is not taken', async (t) => {
	t.mock.timers.enable({ apis: ['setTimeout'] });
	const ended = [];
	const asking = rechecker({
		beginRecheck: async () => ({ rechecks: 1, event_type: null, unproven_references: [], expected: PRICE, provider: 'demo', checkout: null }),
		endRecheck: async (row, taken, failed) => ended.push(failed),
		complete: () => assert.fail('nobody awaits the answer'),
	});
	const answer = deferred();
	let signal;
	const row = { id: 'of the test', binding: Buffer.alloc(16), status: 'opened' };
	const running = asking.run(row, (request) => {
		({ signal } = request);
		return answer.promise;
	});
	await null;
	assert.equal(asking.begunOn(row.id), 'opened');
	t.mock.timers.tick(59_000);
	assert.equal(signal.aborted, false);
	t.mock.timers.tick(2_000);
	const { taken, error } = await running;
	assert.deepEqual([taken, error.message], [true, 'recheck of elicitation of the test has not answered within 60 s']);
	assert.equal(signal.reason, error);
	answer.resolve(paid('late'));
	await answer.promise;
	await new Promise(setImmediate);
	assert.deepEqual([ended, asking.begunOn(row.id)], [[true], undefined]);
});

function deferred() {
	let resolve;
	const promise = new Promise((settle) => (resolve = settle));
	return { promise, resolve };
}
