// The limits of deliveries: each is a named constant of lib/; at it a
// delivery is accepted, over it refused. What C lets pass, PostgreSQL can keep.
// Those of JSON are in tests/unit/test_json.c.

import assert from 'node:assert/strict';
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { constant } from '../support/constants.mjs';
import { post, sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';

const nginx = (name) => readFileSync(new URL(`../../nginx/urlmode/${name}`, import.meta.url), 'utf8');

let fixture;
let stripe;

before(async () => {
	fixture = await openFixture({ name: 'delivery-limits' });
	stripe = sender(fixture, 'stripe');
});

after(() => fixture?.close());

/** These very bytes, to Stripe's webhook; the answer's status. */
async function send(body) {
	const timestamp = Math.floor(Date.now() / 1000);
	const signature = createHmac('sha256', stripe.provider.secrets[0]).update(`${timestamp}.${body}`).digest('hex');
	const { status } = await post({
		url: fixture.url('/webhook/stripe'), method: 'POST', body,
		headers: { 'Content-Type': 'application/json', 'Stripe-Signature': `t=${timestamp},v1=${signature}` },
	});
	return status;
}

describe('UM_FCGI_BODY_MAX bytes of a body', () => {
	const padded = (size) => `{"a":["${'x'.repeat(size - 10)}"]}`;

	test('and no more', async () => {
		const max = constant('UM_FCGI_BODY_MAX');
		assert.equal(await send(padded(max)), 200);
		assert.equal(await send(padded(max + 1)), 413);
	});

	test('are what nginx lets through', () => {
		const [, location] = /^location \/webhook\/ \{([^}]*)\}/m.exec(nginx('server.conf'));
		const [, megabytes] = /\bclient_max_body_size (\d+)m;/.exec(location);
		assert.equal(megabytes * 1_048_576, constant('UM_FCGI_BODY_MAX'));
	});

	test('have room in a program for some at a time: of a hundred others it says so, and the next is read', async () => {
		const body = Buffer.alloc(constant('UM_FCGI_BODY_MAX'), 'x');
		const answers = await Promise.all(Array.from({ length: 100 }, () => post({
			url: fixture.url('/webhook/stripe'), method: 'POST', body, headers: { 'Content-Type': 'application/json' },
		})));
		const of = (status) => answers.filter((answer) => answer.status === status);
		assert.equal(of(401).length + of(503).length, answers.length);
		assert.ok(of(401).length > 0 && of(503).length > 0, `${of(401).length} read, ${of(503).length} not`);
		for (const { headers, body: text } of of(503)) assert.deepEqual([headers['retry-after'], text.split(':')[0]], ['3', 'too_many_bodies']);
		assert.equal(await send(padded(body.length)), 200);
	});

	/** Shopify's order: each line with its prices in two currencies, its taxes, discounts and properties. */
	const line = (n) => {
		const money = (amount) => ({ shop_money: { amount, currency_code: 'EUR' }, presentment_money: { amount, currency_code: 'USD' } });
		return {
			id: 466157049 + n, admin_graphql_api_id: `gid://shopify/LineItem/${466157049 + n}`, current_quantity: 1, fulfillable_quantity: 1,
			fulfillment_service: 'manual', gift_card: false, grams: 200, name: `IPod Nano - 8 GB - green, number ${n}`, price: '199.00',
			price_set: money('199.00'), product_exists: true, product_id: 632910392, quantity: 1, requires_shipping: true, sku: `IPOD2008GREEN-${n}`,
			taxable: true, title: 'IPod Nano - 8 GB', total_discount: '0.00', total_discount_set: money('0.00'), variant_id: 39072856,
			variant_inventory_management: 'shopify', properties: Array.from({ length: 4 }, (_, i) => ({ name: `Engraving ${i}`, value: 'Happy Birthday '.repeat(8) })),
			tax_lines: Array.from({ length: 3 }, (_, i) => ({ channel_liable: null, price: '3.98', price_set: money('3.98'), rate: 0.06, title: `State tax ${i}` })),
			discount_allocations: Array.from({ length: 2 }, (_, i) => ({ amount: '3.30', discount_application_index: i, amount_set: money('3.30') })),
		};
	};

	for (const [name, id] of [['of ours', undefined], ["another system's", 'an order of a shop']]) {
		test(`an order of 500 lines and more than 1 MB, ${name}, is read`, async () => {
			const shopify = sender(fixture, 'shopify');
			const payment = await fixture.createPayment('shopify');
			const order = shopify.event(id ?? payment.id, 'processing');
			order.line_items = Array.from({ length: 500 }, (_, n) => line(n));
			assert.ok(JSON.stringify(order).length > 1_048_576);
			const answer = await shopify.send(order);
			assert.equal(answer.status, 200, answer.body);
			assert.equal((await fixture.stack.elicitation(payment.id)).status, id ? 'pending' : 'processing');
		});
	}
});

test('UM_SIGNATURES_MAX signatures', async () => {
	const max = constant('UM_SIGNATURES_MAX');
	const deliver = async (others) => {
		const delivery = await stripe.deliver({ id: `evt_${randomUUID()}`, type: 'charge.updated' });
		delivery.headers['Stripe-Signature'] += `,v1=${'0'.repeat(64)}`.repeat(others);
		return (await post(delivery)).status;
	};
	// The time has a place as well.
	assert.equal(await deliver(max - 2), 200);
	assert.equal(await deliver(max), 401);
});

test('UM_EVENTS_MAX events, each on its own elicitation', async () => {
	const max = constant('UM_EVENTS_MAX');
	const pandadoc = sender(fixture, 'pandadoc');
	const ids = [];
	while (ids.length < max + 1)
		ids.push(...await Promise.all(Array.from({ length: Math.min(64, max + 1 - ids.length) }, async () => (await fixture.create(
			{ provider: 'pandadoc', kind: 'signature', targetUrl: 'https://documents.example/' })).id)));
	const deliver = async (some) => (await pandadoc.send(some.flatMap((id) => pandadoc.event(id, 'paid')))).status;
	const actions = async () => (await fixture.stack.sql(
		'SELECT action FROM urlmode.elicitation WHERE id = ANY ($1)', [ids])).map(({ action }) => action);

	assert.equal(await deliver(ids), 400);
	assert.deepEqual(await actions(), Array(max + 1).fill(null));
	assert.equal(await deliver(ids.slice(0, max)), 200);
	assert.deepEqual((await actions()).sort(), [...Array(max).fill('accept'), null]);
});

describe('what is kept of an event', () => {
	const letter = '\u{1f4b6}'; // four bytes

	/** A paid session with these; what is kept. */
	async function keep({ event = `evt_${randomUUID()}`, type = 'checkout.session.completed', reference = `cs_${randomUUID()}` }, expected = 200) {
		const { id } = await fixture.createPayment();
		const status = await send(JSON.stringify({
			id: event, type, data: {
				object: {
					id: reference, client_reference_id: id, payment_status: 'paid', amount_total: 1000, currency: 'eur',
				},
			},
		}));
		assert.equal(status, expected);
		const [kept] = await fixture.stack.sql('SELECT * FROM urlmode.event WHERE elicitation = $1', [id]);
		return { id, kept };
	}

	test('UM_EVENT_IDENTITY_MAX bytes of its identity, or its digest', async () => {
		const max = constant('UM_EVENT_IDENTITY_MAX');
		const unique = randomUUID();
		const longest = unique + letter.repeat((max - unique.length) / 4);
		assert.equal((await keep({ event: longest })).kept.identity, longest);
		const longer = `${longest}x`;
		const digest = createHash('sha256').update(longer).digest('hex');
		assert.equal((await keep({ event: longer })).kept.identity, `sha256:${digest}`);
	});

	test('UM_EVENT_TYPE_MAX bytes of its type', async () => {
		const max = constant('UM_EVENT_TYPE_MAX');
		assert.equal((await keep({ type: letter.repeat(max / 4) })).kept.action, 'ignored');
		assert.equal((await keep({ type: `${letter.repeat(max / 4)}x` }, 400)).kept, undefined);
	});

	test('UM_REFERENCE_MAX bytes of the provider\'s reference, or none', async () => {
		const max = constant('UM_REFERENCE_MAX');
		const referenceOf = async (reference) => {
			const { id } = await keep({ reference });
			const [{ subject }] = await fixture.stack.sql('SELECT subject FROM urlmode.elicitation WHERE id = $1', [id]);
			return (await fixture.urlmode.waitForCompletion(id, { subject })).result.reference;
		};
		const longest = letter.repeat(max / 4);
		assert.equal(await referenceOf(longest), longest);
		assert.equal(await referenceOf(`${longest}x`), undefined);
	});
});
