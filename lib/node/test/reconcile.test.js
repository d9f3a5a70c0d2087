// What a provider lists, beside what is here.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { payment, PRICE, setUp } from './support/database.js';

const SINCE = new Date(Date.now() - 3_600_000);
const newReference = () => `tr_${randomUUID()}`;
/** A provider of this test alone. */
const newProvider = () => `shop-${randomUUID().slice(0, 8)}`;

async function paid({ urlmode, callback }, provider, reference, price = PRICE) {
	const { elicitationId: id } = await urlmode.create({ ...payment, provider });
	await callback.paid(id, { provider, reference, ...price });
	return id;
}

test('what only one of them has, and what differs, is said, of payments and refunds; what others have sold is theirs', async (t) => {
	const fixture = await setUp(t);
	const { urlmode, callback } = fixture;
	const provider = newProvider();
	const [same, cheaper, here, missing, foreign] = Array.from({ length: 5 }, newReference);
	const first = await paid(fixture, provider, same);
	const second = await paid(fixture, provider, cheaper);
	const third = await paid(fixture, provider, here);
	const { elicitationId: fourth } = await urlmode.create({ ...payment, provider });
	await callback.event(first, 'refunded', { provider, reference: same, refund: 're_1', amount: 50, currency: 'EUR' });
	const asked = [];
	const found = await urlmode.reconcile({ provider, since: SINCE, listPayments: async (what) => {
		asked.push(what);
		return {
			payments: [
				{ reference: same, ...PRICE, status: 'paid', elicitationId: first }, { reference: cheaper, amount: 1, currency: 'EUR', status: 'paid' },
				{ reference: missing, ...PRICE, status: 'paid', elicitationId: fourth }, { reference: foreign, ...PRICE, status: 'paid', checkout: 'cart-17' },
			],
			refunds: [{ reference: 're_2', payment: same, amount: 7, status: 'paid' }],
		};
	} });
	assert.deepEqual([asked[0].provider, asked[0].since, asked[0].until instanceof Date], [provider, SINCE, true]);
	const all = { kind: 'payment' };
	assert.deepEqual(found.missingHere, [
		{ ...all, reference: missing, payment: missing, elicitationId: fourth, there: PRICE },
		{ kind: 'refund', reference: 're_2', payment: same, elicitationId: first, there: { amount: 7, currency: 'EUR' } },
	]);
	assert.deepEqual(found.missingThere, [
		{ ...all, reference: here, payment: here, elicitationId: third, here: PRICE },
		{ kind: 'refund', reference: 're_1', payment: same, elicitationId: first, here: { amount: 50, currency: 'EUR' } },
	]);
	assert.deepEqual(found.differs, [{ ...all, reference: cheaper, payment: cheaper, elicitationId: second, here: PRICE, there: { amount: 1, currency: 'EUR' } }]);
});

test('it records nothing, and refuses what is not valid', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const provider = newProvider();
	const { elicitationId } = await urlmode.create({ ...payment, provider });
	const list = (entry) => () => ({ payments: [{ reference: newReference(), ...PRICE, status: 'paid', elicitationId, ...entry }] });
	assert.equal((await urlmode.reconcile({ provider, since: SINCE, listPayments: list() })).missingHere.length, 1);
	assert.deepEqual((await admin.query('SELECT FROM urlmode.payment WHERE provider = $1', [provider])).rowCount, 0);
	for (const [options, message] of [
		[{ since: undefined }, /since must be a Date/], [{ until: 1 }, /since must be a Date|until must be a Date/], [{ provider: 'No' }, /provider/],
		[{ listPayments: list({ amount: -1 }) }, /payments\[0\]\.amount/], [{ listPayments: () => [] }, /listPayments must return/],
	]) await assert.rejects(urlmode.reconcile({ provider, since: SINCE, listPayments: list(), ...options }), { name: 'TypeError', message });
});
