// The lists of the api: one tenant's alone, a page at a time. Everything goes through nginx.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startApi } from '../support/api.mjs';

let api;
let shop;
let bank;

before(async () => {
	api = await startApi('api-lists');
	[shop, bank] = [await api.as('shop', 'shop'), await api.as('bank', 'bank')];
});

after(() => api?.close());

const PRICE = { amount: 1_050, currency: 'EUR' };

async function paid(caller, item, reference) {
	const { id } = await caller.ok('create', { provider: 'stripe', kind: 'payment', subject: 'ada', item, expected: PRICE, target_url: 'https://checkout.stripe.com/c/pay' }, 201);
	await caller.ok('complete', { id, subject: 'ada', action: 'accept', ...PRICE, reference });
	return id;
}

test('unclaimed lists the payments of the tenant, page after page', async () => {
	const ids = [];
	for (let n = 0; n < 5; n += 1) ids.push(await paid(shop, `item-${n}`, `pi_${n}`));
	await paid(bank, 'other', 'pi_other');
	const first = await shop.ok('unclaimed', { limit: 2 });
	const second = await shop.ok('unclaimed', { limit: 2, after: first.next });
	const third = await shop.ok('unclaimed', { limit: 2, after: second.next });
	assert.deepEqual([...first.items, ...second.items, ...third.items].map(({ id }) => id), ids);
	assert.equal(third.next, null);
	const { proven_at: proven, ...rest } = first.items[0];
	assert.deepEqual(rest, {
		id: ids[0], provider: 'stripe', subject: 'ada', session: '', item: 'item-0', resume_key: null, reference: 'pi_0', ...PRICE, matches: true, late: false, refunded: 0, held: false,
	});
	assert.ok(Math.abs(new Date(proven) - Date.now()) < 600_000);
	assert.deepEqual((await bank.ok('unclaimed', {})).items.map(({ reference }) => reference), ['pi_other']);
	assert.deepEqual((await api.ok('unclaimed', {})).items, []);
	assert.deepEqual((await shop.ok('unclaimed', { provider: 'paypal' })).items, []);
	assert.deepEqual((await shop.ok('unclaimed', { since: new Date(Date.now() + 3_600_000).toISOString() })).items, []);
});

test('refunds are of the tenant whose payment went back', async () => {
	await paid(shop, 'back', 'pi_back');
	await api.stack.sql("INSERT INTO urlmode.refund (provider, reference, elicitations, payment, amount, currency) SELECT 'stripe', 're_1', ARRAY[elicitation], reference, 1050, 'EUR' FROM urlmode.payment WHERE reference = 'pi_back'");
	assert.deepEqual((await shop.ok('refunds', {})).items.map(({ reference, payment }) => [reference, payment]), [['re_1', 'pi_back']]);
	assert.deepEqual((await bank.ok('refunds', {})).items, []);
	assert.deepEqual((await api.ok('refunds', {})).items, []);
});

test('paid is of a user, an item and a tenant', async () => {
	await paid(shop, 'report', 'pi_report');
	assert.deepEqual(await shop.ok('paid', { subject: 'ada', item: 'report' }), { paid: true });
	for (const [caller, subject, item] of [[bank, 'ada', 'report'], [api, 'ada', 'report'], [shop, 'eve', 'report'], [shop, 'ada', 'other']]) assert.deepEqual(await caller.ok('paid', { subject, item }), { paid: false });
	assert.deepEqual(await shop.ok('paid', { subject: 'ada', item: 'report', since: new Date(Date.now() + 3_600_000).toISOString() }), { paid: false });
});

test('entitlements of nobody are none', async () => {
	assert.deepEqual(await shop.ok('entitlements', { subject: 'ada' }), { items: [], next: null });
});

test('members that are wrong', async () => {
	for (const [method, body, member] of [['unclaimed', { limit: 101 }, 'limit'], ['unclaimed', { since: 'yesterday' }, 'since'], ['refunds', { provider: 'A' }, 'provider'], ['refunds', { subject: 'a' }, 'subject'], ['entitlements', {}, 'subject'], ['paid', { subject: 'ada' }, 'item']]) {
		assert.deepEqual(await api.error(method, body), [400, 'invalid_request', member], method);
	}
});
