// Manual capture, as providers tell of it: what is authorised is processing, what is captured is paid, and what is
// released ends. A capture may name its payment alone, and more may be captured later.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';

import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'captures' });
});

after(() => fixture?.close());

const send = async (provider, event) => assert.equal((await sender(fixture, provider).send(event)).status, 200);

async function statusOf({ id }) {
	const [{ status, action, reason }] = await fixture.stack.sql('SELECT status, action, reason FROM urlmode.show_elicitation($1)', [id]);
	return [status, action, reason].filter(Boolean).join(' ');
}

async function paymentsOf({ id }) {
	const found = await fixture.stack.sql('SELECT reference, amount, refunded, held FROM urlmode.show_payments($1)', [id]);
	return found.map(({ reference, amount, refunded, held }) => [reference, Number(amount), Number(refunded), held]);
}

const outcomeOf = ({ id, owner }) => fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 0 });

/** A payment of a session that the server has made, and what Stripe tells of it. */
async function withSession() {
	const name = randomUUID();
	const payment = await fixture.createPayment('stripe', { expected: PRICE, targetUrl: () => ({ url: 'https://checkout.example/pay', checkout: `cs_${name}` }) });
	const intent = `pi_${name}`;
	const tell = (type, object) => send('stripe', { id: `evt_${randomUUID()}`, object: 'event', livemode: true, type, data: { object } });
	const metadata = { elicitation_id: payment.id };
	const charge = { id: `ch_${name}`, object: 'charge', payment_intent: intent, metadata, amount: PRICE.amount, currency: 'eur' };
	return {
		payment, intent,
		complete: () => tell('checkout.session.completed', {
			id: `cs_${name}`, object: 'checkout.session', client_reference_id: payment.id, payment_intent: intent, payment_status: 'unpaid', amount_total: PRICE.amount, currency: 'eur',
		}),
		authorise: () => tell('payment_intent.amount_capturable_updated', { id: intent, object: 'payment_intent', metadata, status: 'requires_capture', currency: 'eur' }),
		capture: (amount) => tell('charge.captured', { ...charge, captured: true, amount_captured: amount }),
		release: () => tell('payment_intent.canceled', { id: intent, object: 'payment_intent', metadata: {}, status: 'canceled', currency: 'eur' }),
		refund: (amount) => tell('refund.created', { id: `re_${randomUUID()}`, object: 'refund', payment_intent: intent, status: 'succeeded', amount, currency: 'eur' }),
	};
}

test('stripe: a session that is authorised and then captured, and more of it', async () => {
	const { payment, intent, complete, authorise, capture, refund } = await withSession();
	await complete();
	await authorise();
	assert.equal(await statusOf(payment), 'processing');
	assert.deepEqual(await paymentsOf(payment), []);
	await capture(1050);
	const { action, result } = await outcomeOf(payment);
	assert.deepEqual([action, result.reference, result.amount], ['accept', intent, 1050]);
	await capture(1500);
	assert.equal((await outcomeOf(payment)).result.amount, 1500);
	assert.equal(await fixture.urlmode.claim(payment.id, payment.owner), true);
	await refund(450);
	assert.deepEqual(await paymentsOf(payment), [[intent, 1500, 450, true]]);
});

test('stripe: of a capture that overtakes its session the provider is asked', async () => {
	const { payment, complete, capture } = await withSession();
	await capture(1050);
	assert.deepEqual([await statusOf(payment), await paymentsOf(payment)], ['pending', []]);
	await complete();
	await capture(1050);
	assert.equal(await statusOf(payment), 'completed accept');
});

test('stripe: what is released is over', async () => {
	const { payment, complete, authorise, release } = await withSession();
	await authorise();
	await complete();
	await release();
	assert.equal(await statusOf(payment), 'completed cancel payment_failed');
});

for (const [eventCode, ends] of [['CAPTURE', 'completed accept'], ['CANCELLATION', 'pending'], ['EXPIRE', 'pending']]) {
	test(`adyen: an authorisation, then ${eventCode}`, async () => {
		const payment = await fixture.createPayment('adyen-capture', { expected: PRICE });
		const adyen = sender(fixture, 'adyen-capture');
		const reference = `adyen-${payment.id}`;
		await send('adyen-capture', adyen.event(payment.id, 'processing', { ...PRICE, pspReference: reference }));
		assert.equal(await statusOf(payment), 'processing');
		await send('adyen-capture', adyen.event(payment.id, 'paid', { ...PRICE, eventCode, originalReference: reference }));
		assert.equal(await statusOf(payment), ends);
		assert.deepEqual(await paymentsOf(payment), eventCode === 'CAPTURE' ? [[reference, 1050, 0, false]] : []);
	});
}

test('paypal: an order with intent AUTHORIZE, and its capture', async () => {
	const payment = await fixture.createPayment('paypal', { expected: PRICE, targetUrl: ({ elicitationId }) => ({ url: 'https://paypal.example/', checkout: `order-${elicitationId}` }) });
	const paypal = sender(fixture, 'paypal');
	const authorised = paypal.event(payment.id, 'processing', { ...PRICE, reference: 'AUT' });
	await send('paypal', { ...authorised, event_type: 'PAYMENT.AUTHORIZATION.CREATED' });
	assert.equal(await statusOf(payment), 'processing');
	await send('paypal', paypal.event(payment.id, 'paid', PRICE));
	assert.equal(await statusOf(payment), 'completed accept');
	await send('paypal', { ...authorised, id: `WH-${randomUUID()}`, event_type: 'PAYMENT.AUTHORIZATION.VOIDED' });
	assert.deepEqual(await paymentsOf(payment), [[`capture-${payment.id}`, 1050, 0, false]]);
});
