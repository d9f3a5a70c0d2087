// What a recheck says of a provider: payments, and what went back of them.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { checkEntries } from '../src/core/entries.js';
import { payment, PRICE, setUp, until } from './support/database.js';

const owner = { subject: 'user-42' };

const newReference = () => `tr_${randomUUID()}`;

/** @returns an elicitation of which an event has asked for a recheck */
async function asked(fixture, options) {
	const { elicitationId } = await fixture.urlmode.create({ ...payment, ...options });
	await fixture.callback.open(elicitationId);
	await fixture.callback.event(elicitationId, 'recheck');
	return elicitationId;
}

const entry = (elicitationId, reference, more) => ({ elicitationId, reference, ...PRICE, status: 'paid', ...more });

test('what is exactly paid is an accept, with what an event would have told as its result', async (t) => {
	const fixture = await setUp(t);
	const id = await asked(fixture);
	const reference = newReference();
	assert.deepEqual(await fixture.urlmode.waitForCompletion(id, { ...owner, recheck: async () => ({ payments: [entry(id, reference)] }) }),
		{ elicitationId: id, action: 'accept', reason: '', result: { reference, ...PRICE }, reference, ...PRICE, expected: PRICE });
});

test('20.00 paid for 10.50 is listed, and so is what is paid in another currency', async (t) => {
	const { urlmode, ...fixture } = await setUp(t);
	for (const price of [{ amount: 2_000 }, { currency: 'USD' }]) {
		const id = await asked({ urlmode, ...fixture });
		const reference = newReference();
		const outcome = await urlmode.waitForCompletion(id, { ...owner, recheck: () => ({ payments: [entry(id, reference, price)] }) });
		assert.deepEqual([outcome.action, outcome.reason], ['cancel', 'amount_mismatch']);
		const listed = (await urlmode.unclaimed()).find((each) => each.reference === reference);
		assert.deepEqual([listed.matches, listed.amount, listed.currency, listed.elicitationId], [false, 1_050, 'EUR', id].map(
			(value, n) => [undefined, price.amount, price.currency][n] ?? value));
	}
});

test('what has gone back is accepted and refunded, and no call can claim it', async (t) => {
	const { urlmode, ...fixture } = await setUp(t);
	const id = await asked({ urlmode, ...fixture });
	const reference = newReference();
	const refunds = [{ reference: newReference(), payment: reference, amount: 1_050, status: 'processing' }];
	const outcome = await urlmode.waitForCompletion(id, { ...owner, recheck: () => ({ payments: [entry(id, reference)], refunds }) });
	assert.equal(outcome.refunded, true);
	assert.equal((await urlmode.beginClaim(id, owner)).state, 'taken');
	assert.deepEqual((await urlmode.refunds()).filter((each) => each.elicitationId === id).map(({ amount, payment: of }) => [amount, of.reference]), [[1_050, reference]]);
});

test('an event after the accept asks again, before the next wait resolves', async (t) => {
	const { urlmode, callback, another } = await setUp(t);
	const id = await asked({ urlmode, callback });
	const reference = newReference();
	let refunds = [];
	let calls = 0;
	const recheck = () => {
		calls += 1;
		return { payments: [entry(id, reference)], refunds };
	};
	assert.equal((await urlmode.waitForCompletion(id, { ...owner, recheck })).reference, reference);
	assert.equal((await urlmode.waitForCompletion(id, { ...owner, recheck })).reference, reference);
	assert.equal(calls, 1);
	refunds = [{ reference: newReference(), payment: reference, amount: 1_050, currency: 'EUR', status: 'paid' }];
	await callback.event(id, 'recheck', { type: 'refund' });
	assert.equal((await another().waitForCompletion(id, { ...owner, recheck })).refunded, true);
	assert.equal(calls, 2);
});

test('an attempt that fails is an outcome if no other goes on, and the wait hears of one that is under way', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const id = await asked({ urlmode, callback });
	const [first, second] = [newReference(), newReference()];
	let payments = [entry(id, first, { status: 'failed' }), entry(id, second, { status: 'processing' })];
	const progress = [];
	const waiting = urlmode.waitForCompletion(id, { ...owner, recheck: () => ({ payments }), onProgress: (status) => progress.push(status) });
	await until('it is under way', () => progress.includes('processing'));
	payments = [entry(id, first, { status: 'failed' }), entry(id, second, { status: 'cancelled' })];
	await callback.event(id, 'recheck');
	const { action, reason } = await waiting;
	assert.deepEqual([action, reason, progress], ['decline', 'cancelled', ['opened', 'processing', 'attempt_failed']]);
});

test('a payment that names neither the elicitation nor its checkout, or others, is not recorded, and a warning says so', async (t) => {
	const { urlmode, callback, admin } = await setUp(t);
	const warnings = [];
	t.mock.method(process, 'emitWarning', (message, { code }) => warnings.push([code, message]));
	const { elicitationId: id } = await urlmode.create({ ...payment, targetUrl: () => ({ url: 'https://provider.example/pay', checkout: 'cs_1' }) });
	await callback.event(id, 'recheck');
	const [stranger, none, other, good] = [newReference(), newReference(), newReference(), newReference()];
	const requests = [];
	const outcome = await urlmode.waitForCompletion(id, { ...owner, recheck: (request) => {
		requests.push(request);
		return { payments: [
			entry(randomUUID(), stranger), entry(undefined, none), entry(id, other, { checkout: 'cs_2' }), entry(null, good, { checkout: 'cs_1' }),
		] };
	} });
	assert.deepEqual([outcome.reference, requests[0].checkout], [good, 'cs_1']);
	const { rows } = await admin.query('SELECT reference FROM urlmode.payment WHERE reference = ANY ($1)', [[stranger, none, other, good]]);
	assert.deepEqual(rows, [{ reference: good }]);
	assert.deepEqual(warnings, [stranger, none, other].map((reference) => ['URLMODE_RECHECK',
		`recheck of elicitation ${id} did not record ${reference}, which does not name this elicitation or its checkout`]));
});

for (const [change, message] of [
	[{ payments: {} }, 'payments must be an array of at most 100 entries'],
	[{ payments: [], refund: [] }, 'refund is not a member: payments, refunds are'],
	[{ payments: [], action: 'accept' }, 'action is not a member: payments, refunds are'],
	[{ payments: Array.from({ length: 101 }, () => ({})) }, 'payments must be an array of at most 100 entries'],
	[{ payments: ['tr_1'] }, 'payments[0] must be an object'],
	[{ payments: [entry('a', 'tr_1'), entry('a', '')] }, 'payments[1].reference must have 1 to 800 bytes in UTF-8'],
	[{ payments: [entry('a', 'tr_1', { amount: '10.50' })] }, 'payments[0].amount must be a whole number of minor units (cents)'],
	[{ payments: [entry('a', 'tr_1', { currency: 'EURO' })] }, 'payments[0].currency must be a currency of ISO 4217'],
	[{ payments: [entry('a', 'tr_1', { status: 'open' })] }, 'payments[0].status must be one of paid, processing, failed, cancelled'],
	[{ payments: [entry(1, 'tr_1')] }, 'payments[0].elicitationId must be a string'],
	[{ payments: [entry('a', 'tr_1', { id: 'tr_1' })] },
		'payments[0].id is not a member: reference, amount, currency, status, checkout, elicitationId are'],
	[{ refunds: [{ reference: 'r', amount: 1, status: 'paid' }] }, 'refunds[0].payment must be a string'],
	[{ refunds: [{ reference: 'r', payment: 'tr_1', status: 'paid' }] }, 'refunds[0].amount must be a whole number'],
]) {
	test(`an answer is refused: ${message}`, () => {
		assert.throws(() => checkEntries(change), (error) => error instanceof TypeError && error.message.startsWith(message));
	});
}

test('a wait rejects with what is wrong with an answer', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const id = await asked({ urlmode, callback });
	await assert.rejects(urlmode.waitForCompletion(id, { ...owner, recheck: () => ({ payments: [entry(id, 'tr_1', { status: 'open' })] }) }),
		{ name: 'TypeError', message: 'payments[0].status must be one of paid, processing, failed, cancelled' });
});

test('a claim asks the provider once more if the last answer is old, and does not begin if that fails', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const id = await asked({ urlmode, callback });
	const reference = newReference();
	let calls = 0;
	const recheck = () => {
		calls += 1;
		return { payments: [entry(id, reference)] };
	};
	await urlmode.waitForCompletion(id, { ...owner, recheck });
	const first = await urlmode.beginClaim(id, { ...owner, recheck });
	assert.deepEqual([first.state, calls], ['begun', 1]);
	await first.release();
	const second = await urlmode.beginClaim(id, { ...owner, recheck, recheckAfter: 0 });
	assert.deepEqual([second.state, calls], ['begun', 2]);
	await second.release();
	await callback.event(id, 'recheck');
	const failed = new Error('the provider cannot be asked');
	await assert.rejects(urlmode.beginClaim(id, { ...owner, recheck: () => Promise.reject(failed) }), failed);
	assert.equal((await urlmode.beginClaim(id, { ...owner, recheck })).state, 'leased');
	assert.equal((await urlmode.beginClaim(id, { ...owner, recheck, timeout: 20_000 })).state, 'begun');
	await assert.rejects(urlmode.beginClaim(id, { ...owner, recheck: 1 }), { message: 'recheck must be a function' });
	await assert.rejects(urlmode.beginClaim(id, { ...owner, recheckAfter: -1 }), /recheckAfter must be/);
});
