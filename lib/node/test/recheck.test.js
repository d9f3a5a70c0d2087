// After an event that does not prove the outcome, the waiting side asks the
// provider.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { request, setUp, until } from './support/database.js';

const owner = { subject: 'user-42' };
const payment = { ...request, kind: 'payment' };

test('the answer of recheck completes the row for every wait', async (t) => {
	const { urlmode, another, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create(payment);
	const questions = [];
	const progress = [];
	const asks = urlmode.waitForCompletion(elicitationId, {
		...owner,
		onProgress: (status) => progress.push(status),
		async recheck(question) {
			questions.push(question);
			return { action: 'accept', result: { payment: 'tr_1' } };
		},
	});
	const other = another().waitForCompletion(elicitationId, owner);
	assert.equal(await callback.event(elicitationId, 'recheck', { type: 'payment.changed', reference: 'tr_1' }), 'recheck');
	const expected = { elicitationId, action: 'accept', reason: '', result: { payment: 'tr_1' } };
	assert.deepEqual(await asks, expected);
	assert.deepEqual(await other, expected);
	assert.deepEqual(questions, [{ elicitationId, provider: 'demo', type: 'payment.changed', reference: 'tr_1' }]);
	assert.deepEqual(progress, ['processing']);
});

test('if recheck returns nothing, the wait continues, and each further event calls it again', async (t) => {
	const { urlmode, callback, admin } = await setUp(t);
	const { elicitationId } = await urlmode.create(payment);
	await callback.event(elicitationId, 'recheck');
	const references = [];
	const waiting = urlmode.waitForCompletion(elicitationId, {
		...owner,
		recheck({ reference }) {
			references.push(reference);
			return references.length < 3 ? undefined : { action: 'decline', reason: 'refused_by_bank' };
		},
	});
	await until('recheck was called for the earlier event', () => references.length === 1);
	await admin.query("SELECT pg_notify('urlmode', $1)", [JSON.stringify({ id: elicitationId, status: 'processing' })]);
	await callback.event(elicitationId, 'processing');
	await sleep(100);
	assert.equal(references.length, 1, 'recheck was called without a new event');
	await callback.event(elicitationId, 'recheck', { reference: 'a' });
	await until('recheck was called again', () => references.length === 2);
	await callback.event(elicitationId, 'recheck', { reference: 'b' });
	assert.deepEqual(await waiting, { elicitationId, action: 'decline', reason: 'refused_by_bank', result: undefined });
	assert.deepEqual(references, [undefined, 'a', 'b']);
});

test('events that arrive during a call of recheck cause one further call', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create(payment);
	const references = [];
	let running = 0;
	const waiting = urlmode.waitForCompletion(elicitationId, {
		...owner,
		async recheck({ reference }) {
			running += 1;
			assert.equal(running, 1, 'two calls at once');
			references.push(reference);
			await sleep(200);
			running -= 1;
			return reference === 'c' ? { action: 'accept' } : undefined;
		},
	});
	await callback.event(elicitationId, 'recheck', { reference: 'a' });
	await until('recheck was called', () => references.length === 1);
	for (const reference of ['b', 'c']) {
		await callback.event(elicitationId, 'recheck', { reference });
		await sleep(30);
	}
	assert.equal((await waiting).action, 'accept');
	assert.deepEqual(references, ['a', 'c']);
});

test('an error or an invalid answer of recheck ends the wait and leaves the row open', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create(payment);
	await callback.event(elicitationId, 'recheck');
	const wait = (recheck) => urlmode.waitForCompletion(elicitationId, { ...owner, recheck });
	const failure = new Error('the API of the provider is down');
	await assert.rejects(wait(() => { throw failure; }), failure);
	await assert.rejects(wait(() => Promise.reject(failure)), failure);
	await assert.rejects(wait(() => ({ action: 'paid' })), { name: 'TypeError', message: /^action must be one of/ });
	assert.equal((await wait(async () => ({ action: 'accept' }))).action, 'accept');
});

test('an event that proves the outcome needs no recheck', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create({ ...payment, expected: { amount: 500, currency: 'eur' } });
	const waiting = urlmode.waitForCompletion(elicitationId, { ...owner, recheck: () => assert.fail('recheck was called') });
	await callback.event(elicitationId, 'processing');
	await callback.event(elicitationId, 'paid', { amount: 500, currency: 'EUR' });
	assert.equal((await waiting).action, 'accept');
});

test('an event with another amount than expected cancels the elicitation', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create({ ...payment, expected: { amount: 500, currency: 'EUR' } });
	const waiting = urlmode.waitForCompletion(elicitationId, owner);
	await callback.event(elicitationId, 'paid', { amount: 499, currency: 'EUR' });
	assert.deepEqual(await waiting, { elicitationId, action: 'cancel', reason: 'amount_mismatch', result: undefined });
});

test('recheck completes the row even if its wait has ended', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create(payment);
	await callback.event(elicitationId, 'recheck');
	const wait = urlmode.waitForCompletion(elicitationId, {
		...owner,
		timeout: 100,
		recheck: () => sleep(300, { action: 'accept', result: { late: true } }),
	});
	await assert.rejects(wait, { code: 'ELICITATION_TIMEOUT' });
	assert.deepEqual((await urlmode.waitForCompletion(elicitationId, owner)).result, { late: true });
});
