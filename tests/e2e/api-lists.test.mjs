// The lists of the api: one tenant's alone, a page at a time. Everything goes through nginx.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

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

const ahead = () => new Date(Date.now() + 3_600_000).toISOString();
const NONE = { paid: false, items: [], next: null };

test('paid is of a user, an item and a tenant, and lists the payments', async () => {
	const id = await paid(shop, 'report', 'pi_report');
	await shop.ok('claim', { id, subject: 'ada' });
	await paid(shop, 'report', 'pi_again');
	const asked = { subject: 'ada', item: 'report' };
	const { paid: is, items, next } = await shop.ok('paid', asked);
	assert.deepEqual([is, next], [true, null]);
	const [{ proven_at: proven, ...first }] = items;
	assert.deepEqual(first, { id, provider: 'stripe', reference: 'pi_report', ...PRICE, refunded: 0 });
	assert.ok(Math.abs(new Date(proven) - Date.now()) < 600_000);
	// A page at a time; whether it is paid does not depend on the page.
	const pages = [await shop.ok('paid', { ...asked, limit: 1 })];
	for (const last of pages) if (last.next) pages.push(await shop.ok('paid', { ...asked, limit: 1, after: last.next }));
	assert.deepEqual(pages.map((page) => [page.paid, page.items.map(({ reference }) => reference)]), [[true, ['pi_report']], [true, ['pi_again']], [true, []]]);
	for (const [caller, subject, item] of [[bank, 'ada', 'report'], [api, 'ada', 'report'], [shop, 'eve', 'report'], [shop, 'ada', 'other']]) assert.deepEqual(await caller.ok('paid', { subject, item }), NONE);
	assert.deepEqual(await shop.ok('paid', { ...asked, since: ahead() }), NONE);
});

test('with delivered, what was paid counts once a call has claimed it', async () => {
	const id = await paid(shop, 'opera', 'pi_opera');
	const asked = { subject: 'ada', item: 'opera' };
	assert.deepEqual(await shop.ok('paid', { ...asked, delivered: true }), NONE);
	await shop.ok('claim', { id, subject: 'ada' });
	assert.deepEqual((await shop.ok('paid', { ...asked, delivered: true })).items.map(({ reference }) => reference), ['pi_opera']);
	assert.deepEqual(await bank.ok('paid', { ...asked, delivered: true }), NONE);
});

test('each list takes since, after and limit', async () => {
	const west = await api.as('west', 'west');
	const times = [];
	for (const n of [1, 2, 3]) {
		const id = await paid(west, `seat-${n}`, `pi_seat_${n}`);
		// The middle one is the first that `since` leaves.
		await api.stack.sql(`WITH paid AS (UPDATE urlmode.payment SET item = 'seat', proven_at = now() - $2 * interval '1 hour' WHERE elicitation = $1 RETURNING *)
			, back AS (INSERT INTO urlmode.refund (provider, reference, elicitations, payment, amount, currency, changed_at)
				SELECT provider, 're_' || reference, ARRAY[elicitation], reference, 1, currency, proven_at FROM paid)
			INSERT INTO urlmode.entitlement (provider, subscription, first_payment, elicitation, tenant, subject, item, opened_at, status)
			SELECT provider, 'sub_' || reference, reference, elicitation, tenant, subject, 'plan-' || $3, proven_at, 'active' FROM paid`, [id, 4 - n, String(n)]);
		times.push(new Date(Date.now() - (4 - n) * 3_600_000 - 600_000).toISOString());
	}
	await api.stack.sql("UPDATE urlmode.ledger l SET entered_at = p.proven_at FROM urlmode.payment p WHERE p.elicitation = l.elicitation AND p.tenant = 'west'");
	const all = { unclaimed: {}, refunds: {}, ledger: { consumer: 'since' }, entitlements: { subject: 'ada' }, paid: { subject: 'ada', item: 'seat' } };
	for (const [method, filters] of Object.entries(all)) {
		const list = async (more) => {
			const [items, sizes] = [[], []];
			for (let after; ;) {
				const page = await west.ok(method, { ...filters, ...more, after });
				sizes.push(page.items.length);
				items.push(...page.items);
				if (page.next === null) return { items, sizes };
				after = page.next;
			}
		};
		const { items, sizes } = await list({ since: times[1], limit: 1 });
		assert.equal(items.length, 2, method);
		assert.ok(sizes.every((size) => size <= 1), method);
		assert.ok(items.every((item) => !JSON.stringify(item).includes('_1')), method);
		assert.deepEqual((await list({ since: ahead() })).items, [], method);
		// A consumer of the ledger that has acknowledged the later ones has done with the earlier one.
		assert.equal((await list({ since: times[0], ...method === 'ledger' && { consumer: 'all' } })).items.length, 3, method);
	}
});

describe('the ledger', () => {
	/** All entries for a consumer, each page acknowledged by the next call. */
	async function read(caller, consumer, limit) {
		const entries = [];
		let page = await caller.ok('ledger', { consumer, limit });
		for (; page.next !== null; page = await caller.ok('ledger', { consumer, limit, after: page.next })) entries.push(...page.items);
		assert.deepEqual(page.items, []);
		return entries;
	}

	test('each entry of the tenant comes in order, once it is acknowledged no more', async () => {
		const north = await api.as('north', 'north');
		const id = await paid(north, 'book', 'pi_book');
		await north.ok('claim', { id, subject: 'ada' });
		const entries = await read(north, 'books', 1);
		assert.deepEqual(entries.map(({ type, payment }) => [type, payment]), [['paid', 'pi_book'], ['claimed', 'pi_book'], ['delivered', 'pi_book']]);
		const [{ number, entered_at: entered, ...rest }] = entries;
		assert.deepEqual(rest, {
			type: 'paid', kind: 'payment', provider: 'stripe', id, subject: 'ada', item: 'book', payment: 'pi_book', checkout: null, reference: 'pi_book', ...PRICE, refunded: 0,
			status: null, occurred_at: null, evidence_due_at: null,
		});
		assert.ok(number > 0 && Math.abs(new Date(entered) - Date.now()) < 600_000);
		assert.deepEqual(await read(north, 'books'), []);
		await paid(north, 'map', 'pi_map');
		assert.deepEqual((await read(north, 'books')).map(({ payment }) => payment), ['pi_map']);
		assert.equal((await read(north, 'mails')).length, 4, 'each consumer has a place of its own');
		const other = await read(bank, 'books');
		assert.ok(other.every(({ payment }) => payment !== 'pi_book'), 'each tenant has its own');
	});

	test('the numbers of a tenant have no gaps, and it has 100 consumers at most', async () => {
		const east = await api.as('east', 'east');
		await paid(east, 'a', 'pi_east_a');
		await paid(bank, 'between', 'pi_between');
		await paid(east, 'b', 'pi_east_b');
		assert.deepEqual((await read(east, 'books')).map(({ number }) => number), [1, 2]);
		await api.stack.sql("INSERT INTO urlmode.ledger_consumer (tenant, consumer) SELECT 'east', 'c' || n FROM generate_series(2, 100) AS n");
		assert.deepEqual(await east.error('ledger', { consumer: 'one-more' }), [429, 'full', 'consumer']);
		assert.deepEqual(await read(east, 'c2', 2), await read(east, 'c3', 2));
		await bank.ok('ledger', { consumer: 'one-more' });
	});

	test('one reads at a time; whoever dies leaves what it has not acknowledged', async () => {
		const south = await api.as('south', 'south');
		await paid(south, 'a', 'pi_a');
		await paid(south, 'b', 'pi_b');
		const first = await south.ok('ledger', { consumer: 'books', limit: 1 });
		const { status, body: { error } } = await south.call('ledger', { consumer: 'books' });
		assert.deepEqual([status, error.code], [409, 'leased']);
		assert.ok(error.left_ms > 0 && error.left_ms <= 30_000, `${error.left_ms}`);
		// A lost answer costs nothing: the same call again has the same entries.
		const second = await south.ok('ledger', { consumer: 'books', after: first.next });
		assert.deepEqual((await south.ok('ledger', { consumer: 'books', after: first.next })).items, second.items);
		await api.stack.sql("UPDATE urlmode.ledger_consumer SET leased_until = now() WHERE tenant = 'south'");
		const next = await south.ok('ledger', { consumer: 'books' });
		assert.deepEqual(next.items, second.items);
		assert.deepEqual(await south.error('ledger', { consumer: 'books', after: second.next }), [409, 'lost']);
		assert.deepEqual(await south.error('ledger', { consumer: 'mails', after: next.next }), [409, 'lost']);
		assert.deepEqual(await bank.error('ledger', { consumer: 'books', after: next.next }), [409, 'lost']);
		assert.deepEqual(await south.ok('ledger', { consumer: 'books', after: next.next }), { items: [], next: null });
	});
});

test('entitlements of nobody are none', async () => {
	assert.deepEqual(await shop.ok('entitlements', { subject: 'ada' }), { items: [], next: null });
});

test('members that are wrong', async () => {
	for (const [method, body, member] of [['unclaimed', { limit: 101 }, 'limit'], ...Object.entries({ unclaimed: {}, refunds: {}, ledger: { consumer: 'a' }, entitlements: { subject: 'a' }, paid: { subject: 'a', item: 'a' } }).map(([method, filters]) => [method, { ...filters, since: 'yesterday' }, 'since']),
		 ['refunds', { provider: 'A' }, 'provider'], ['refunds', { subject: 'a' }, 'subject'], ['entitlements', {}, 'subject'], ['paid', { subject: 'ada' }, 'item'], ['paid', { subject: 'ada', item: 'a', delivered: 1 }, 'delivered'],
		['ledger', {}, 'consumer'], ['ledger', { consumer: 'Books' }, 'consumer'], ['ledger', { consumer: 'a', limit: 0 }, 'limit'], ['ledger', { consumer: 'a', lease_ms: 1 }, 'lease_ms'],
		...['1', '1.', '.1', '1.1.1', '1.x', '-1.1', '1'.repeat(19)].map((after) => ['ledger', { consumer: 'a', after }, 'after'])]) {
		assert.deepEqual(await api.error(method, body), [400, 'invalid_request', member], method);
	}
});
