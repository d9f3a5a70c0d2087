// The payer does not choose what he pays for: where targetUrl has returned the
// provider's id of what was made, only a payment of that counts.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'money-checkout' });
});

after(() => fixture?.close());

/** A payment of a checkout, as each provider tells of it. */
const PAID = {
	stripe: (id, checkout) => ({
		id: `evt_${randomUUID()}`, object: 'event', livemode: true, type: 'checkout.session.completed', data: { object: {
			id: checkout, object: 'checkout.session', client_reference_id: id, payment_intent: `pi_${randomUUID()}`, payment_status: 'paid', amount_total: 1050, currency: 'eur',
		} },
	}),
	paddle: (id, checkout, more) => ({
		event_id: `evt_${randomUUID()}`, event_type: 'transaction.completed',
		data: { id: checkout, origin: 'api', custom_data: { elicitation_id: id }, currency_code: 'EUR', details: { totals: { total: '1050' } }, ...more },
	}),
	paypal: (id, checkout) => ({
		id: `WH-${randomUUID()}`, event_type: 'PAYMENT.CAPTURE.COMPLETED', resource: {
			id: `capture-${randomUUID()}`, custom_id: id, supplementary_data: { related_ids: { order_id: checkout } }, amount: { value: '10.50', currency_code: 'EUR' },
		},
	}),
	polar: (id, checkout, more) => ({
		type: 'order.paid', data: { id: `order_${randomUUID()}`, checkout_id: checkout, status: 'paid', metadata: { elicitation_id: id }, total_amount: 1050, currency: 'EUR', ...more },
	}),
	'lemon-squeezy': (id, checkout) => ({
		meta: { event_name: 'order_created', custom_data: { elicitation_id: id }, test_mode: false },
		data: { type: 'orders', id: randomUUID(), attributes: { status: 'paid', total: 1050, currency: 'EUR', first_order_item: { variant_id: checkout } } },
	}),
};

async function send(name, event) {
	assert.equal((await sender(fixture, name).send(event)).status, 200);
}

/** A payment for a checkout that the server made. */
function begin(name, checkout) {
	return fixture.createPayment(name, { expected: PRICE, targetUrl: () => ({ url: 'https://checkout.example/pay', checkout }) });
}

const actions = async (payment) => (await fixture.events(payment)).map(({ action }) => action);

for (const [name, paid] of Object.entries(PAID)) {
	test(`${name}: a payment of another checkout, which names the elicitation, does not pay for it`, async () => {
		const [ours, other] = [`ours-${randomUUID()}`, `other-${randomUUID()}`];
		const payment = await begin(name, ours);
		await send(name, paid(payment.id, other));
		assert.deepEqual([(await fixture.state(payment))[0], await actions(payment)], ['pending', ['other_checkout']]);
		await send(name, paid(payment.id, ours));
		assert.deepEqual(await fixture.state(payment), ['completed', 'accept', '']);
	});
}

describe('what the payer has made himself is not believed, whether or not there is a checkout', () => {
	test('paddle: a transaction that Paddle.js has made in the browser', async () => {
		const payment = await fixture.createPayment('paddle', { expected: PRICE });
		await send('paddle', PAID.paddle(payment.id, 'txn_of_the_payer', { origin: 'web' }));
		assert.deepEqual([(await fixture.state(payment))[0], await actions(payment)], ['pending', ['ignored']]);
	});

	test('polar: the reference in the address of a checkout link', async () => {
		const payment = await fixture.createPayment('polar', { expected: PRICE });
		await send('polar', PAID.polar(payment.id, 'co_of_the_payer', { metadata: { reference_id: payment.id } }));
		assert.deepEqual([(await fixture.state(payment))[0], await actions(payment)], ['pending', []]);
	});

	test('shopify: the attributes of a cart, in a shop that may be another one; the API is asked', async () => {
		const payment = await fixture.createPayment('shopify', { expected: PRICE });
		await send('shopify', {
			id: '4711', test: false, currency: 'EUR', total_price: '10.50', financial_status: 'paid', note_attributes: [{ name: 'elicitation_id', value: payment.id }],
		});
		assert.deepEqual([(await fixture.state(payment))[0], await actions(payment)], ['pending', ['recheck']]);
		const asked = [];
		const outcome = await fixture.urlmode.waitForCompletion(payment.id, { ...payment.owner, timeout: 20_000, recheck: ({ references }) => {
			asked.push(...references);
			return { action: 'accept', ...PRICE, reference: `4711-${payment.id}` };
		} });
		assert.deepEqual([outcome.action, asked], ['accept', ['4711']]);
	});
});

describe('whatever the checkout totals', () => {
	const wait = ({ id, owner }) => fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 20_000 });
	const ask = (name, expected, checkout, options) => fixture.createPayment(name, {
		expected, item: 'report:42', targetUrl: () => ({ url: 'https://checkout.example/pay', checkout }), ...options,
	});

	/** The price is 10.50. The tax comes on top, or a code takes all of it off. */
	const TOTALS = {
		stripe: (id, checkout, total, tax) => {
			const event = PAID.stripe(id, checkout);
			Object.assign(event.data.object, { amount_total: total, total_details: { amount_tax: tax } }, total === 0 && { payment_intent: null, payment_status: 'no_payment_required' });
			return event;
		},
		paddle: (id, checkout, total, tax) => PAID.paddle(id, checkout, { details: { totals: { total: String(total), tax: String(tax) } } }),
		polar: (id, checkout, total, tax) => PAID.polar(id, checkout, { total_amount: total, tax_amount: tax }),
	};
	for (const [name, paid] of Object.entries(TOTALS)) {
		test(`${name}: with a tax on top, which the outcome names beside the price`, async () => {
			const checkout = `checkout-${randomUUID()}`;
			const expected = { ...PRICE, match: 'checkout' };
			const payment = await ask(name, expected, checkout);
			await send(name, paid(payment.id, checkout, 1260, 210));
			const { action, amount, currency, tax, expected: asked, reference } = await wait(payment);
			assert.deepEqual([action, amount, currency, tax, asked], ['accept', 1260, 'EUR', 210, expected]);
			const [listed] = (await fixture.urlmode.unclaimed({ provider: name })).filter(({ elicitationId }) => elicitationId === payment.id);
			assert.deepEqual([listed.reference, listed.amount, listed.item, listed.matches], [reference, 1260, 'report:42', true]);
		});

		test(`${name}: nothing, with a code of 100 %`, async () => {
			const checkout = `checkout-${randomUUID()}`;
			const payment = await ask(name, { match: 'checkout' }, checkout);
			await send(name, paid(payment.id, checkout, 0, 0));
			const { action, amount, reference } = await wait(payment);
			assert.deepEqual([action, amount], ['accept', 0]);
			if (name !== 'polar') assert.equal(reference, checkout, 'nothing else has a name');
			const claim = await fixture.urlmode.beginClaim(payment.id, payment.owner);
			assert.equal(claim.state, 'begun');
			await claim.fulfil('The report.');
			const [undelivered] = (await fixture.urlmode.undelivered({ provider: name })).filter(({ elicitationId }) => elicitationId === payment.id);
			assert.deepEqual([undelivered.item, undelivered.amount], ['report:42', 0]);
			await claim.confirm();
		});
	}

	test('of another checkout nothing is accepted, also at 0', async () => {
		const payment = await ask('stripe', { match: 'checkout' }, `checkout-${randomUUID()}`);
		await send('stripe', TOTALS.stripe(payment.id, `checkout-${randomUUID()}`, 0, 0));
		assert.deepEqual(await actions(payment), ['other_checkout']);
	});

	test('lemon-squeezy: at least the price, with the tax on top of it', async () => {
		const [payment, less] = [await ask('lemon-squeezy', { ...PRICE, match: 'at-least' }, 'variant-1'), await ask('lemon-squeezy', { ...PRICE, match: 'at-least' }, 'variant-1')];
		const event = (id, attributes) => {
			const made = PAID['lemon-squeezy'](id, 'variant-1');
			Object.assign(made.data.attributes, attributes);
			return made;
		};
		await send('lemon-squeezy', event(payment.id, { total: 1260, tax: 210 }));
		const { action, amount, tax } = await wait(payment);
		assert.deepEqual([action, amount, tax], ['accept', 1260, 210]);
		await send('lemon-squeezy', event(less.id, { total: 945 }));
		assert.equal((await wait(less)).reason, 'amount_mismatch');
	});
});
