// Money that goes back, as providers tell of it after the payment: most of these
// events name the payment, and not the elicitation.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'money-back' });
});

after(() => fixture?.close());

/** Something that Adyen tells of the payment `ref`: its own authorisation, or with `about` what became of it. */
function adyen(eventCode, id, ref, { about, value = PRICE.amount, success = 'true' } = {}) {
	return { live: 'true', notificationItems: [{ NotificationRequestItem: {
		pspReference: about ?? ref, ...about && { originalReference: ref }, merchantAccountCode: 'Tests', merchantReference: id,
		amount: { value, currency: 'EUR' }, eventCode, success, additionalData: {},
	} }] };
}

/** The events of each provider: what was paid with `reference`, a part that goes back, and that comes again. */
const PROVIDERS = {
	adyen: {
		expected: PRICE,
		paid: (id, ref) => adyen('AUTHORISATION', id, ref),
		back: (ref, id) => adyen('REFUND', id, ref, { about: `refund-${ref}`, value: 400 }),
		again: (ref, id) => adyen('REFUND_FAILED', id, ref, { about: `refund-${ref}`, value: 400 }),
	},
	'coinbase-business': {
		expected: PRICE,
		paid: (id, ref) => ({ eventType: 'checkout.payment.success', id: ref, amount: '10.50', currency: 'EUR', metadata: { elicitation_id: id } }),
		back: (ref) => ({ eventType: 'checkout.refund.success', id: ref, amount: '4.00', currency: 'EUR' }),
	},
	stripe: {
		expected: PRICE,
		paid: (id, ref) => ({
			id: `evt_${randomUUID()}`, object: 'event', livemode: true, type: 'checkout.session.completed', data: { object: {
				id: `cs_${ref}`, object: 'checkout.session', client_reference_id: id, payment_intent: ref, payment_status: 'paid', amount_total: 1050, currency: 'eur',
			} },
		}),
		back: (ref) => stripeDispute('charge.dispute.funds_withdrawn', ref),
		again: (ref) => stripeDispute('charge.dispute.funds_reinstated', ref),
	},
	paddle: {
		expected: PRICE,
		paid: (id, ref) => ({
			event_id: `evt_${randomUUID()}`, event_type: 'transaction.completed',
			data: { id: ref, origin: 'api', custom_data: { elicitation_id: id }, currency_code: 'EUR', details: { totals: { total: '1050' } } },
		}),
		back: (ref) => paddleAdjustment('adjustment.updated', ref, { action: 'refund', status: 'approved' }),
		again: (ref) => paddleAdjustment('adjustment.updated', ref, { action: 'refund', status: 'reversed' }),
	},
	razorpay: {
		expected: { amount: 1050, currency: 'INR' },
		paid: (id, ref) => ({ event: 'payment_link.paid', payload: {
			payment: { entity: { id: ref } }, payment_link: { entity: { id: 'plink_1', reference_id: id, amount: 1050, currency: 'INR' } },
		} }),
		back: (ref) => razorpay('payment.dispute.lost', 'dispute', ref),
		again: (ref) => razorpay('payment.dispute.won', 'dispute', ref),
	},
	'mollie-events': {
		expected: PRICE,
		paid: (id, ref) => mollie('payment.paid', { id: ref, mode: 'live', amount: { value: '10.50', currency: 'EUR' }, metadata: { elicitation_id: id } }),
		back: (ref) => mollie('chargeback.received', { id: `chb_${ref}`, paymentId: ref, amount: { value: '4.00', currency: 'EUR' } }),
		again: (ref) => mollie('chargeback.reversed', { id: `chb_${ref}`, paymentId: ref, amount: { value: '4.00', currency: 'EUR' } }),
	},
	paystack: {
		expected: { amount: 1050, currency: 'NGN' },
		paid: (id, ref) => ({ event: 'charge.success', data: { id: ref, domain: 'live', reference: id, amount: 1050, currency: 'NGN' } }),
		back: (ref, id) => ({ event: 'charge.dispute.resolve', data: {
			id: `d-${ref}`, domain: 'live', resolution: 'merchant-accepted', refund_amount: 400, currency: 'NGN', transaction: { id: ref, reference: id },
		} }),
	},
};

function stripeDispute(type, ref) {
	const object = { id: `dp_${ref}`, object: 'dispute', payment_intent: ref, amount: 400, currency: 'eur', metadata: {} };
	return { id: `evt_${randomUUID()}`, object: 'event', livemode: true, type, data: { object } };
}

/** A refund of one half, or its end. */
function stripeRefund(ref, number, type = 'refund.created', status = 'succeeded') {
	const object = { id: `re_${ref}-${number}`, object: 'refund', payment_intent: ref, amount: 525, currency: 'eur', metadata: {}, status };
	return { id: `evt_${randomUUID()}`, object: 'event', livemode: true, type, data: { object } };
}

function paddleAdjustment(type, ref, more) {
	return { event_id: `evt_${randomUUID()}`, event_type: type, data: { id: `adj_${ref}`, transaction_id: ref, currency_code: 'EUR', totals: { total: '400' }, ...more } };
}

function razorpay(event, entity, ref) {
	return { event, payload: { [entity]: { entity: { id: `${entity}_${ref}`, payment_id: ref, amount: 400, currency: 'INR' } } } };
}

function mollie(type, entity) {
	return { resource: 'event', id: `event_${randomUUID()}`, type, _embedded: { entity } };
}

for (const [name, { expected, paid, back, again }] of Object.entries(PROVIDERS)) {
	describe(name, () => {
		const begin = async () => {
			const payment = await fixture.createPayment(name, { expected, item: 'report' });
			const provider = sender(fixture, name);
			const reference = `p${payment.id.replaceAll('-', '')}`;
			const send = async (event) => assert.equal((await provider.send(event)).status, 200);
			const outcome = async () => {
				const { action, reason, refundedAmount } = await fixture.urlmode.waitForCompletion(payment.id, { ...payment.owner, timeout: 0 });
				return [action, reason, refundedAmount];
			};
			return { payment, reference, send, outcome };
		};

		test('a part that goes back finds its payment, and the payment is held', async () => {
			const { payment, reference, send, outcome } = await begin();
			await send(paid(payment.id, reference));
			await send(back(reference, payment.id));
			assert.deepEqual(await outcome(), ['cancel', 'held', 400]);
			if (again === undefined) return;
			await send(again(reference, payment.id));
			assert.deepEqual(await outcome(), ['accept', '', undefined]);
		});
	});
}

/** What was paid, and the first and the second half that go back. */
const HALVES = {
	adyen: {
		expected: PRICE,
		paid: PROVIDERS.adyen.paid,
		half: (ref, id, number) => adyen('REFUND', id, ref, { about: `refund-${ref}-${number}`, value: 525 }),
	},
	stripe: {
		expected: PRICE,
		paid: PROVIDERS.stripe.paid,
		half: (ref, id, number) => stripeRefund(ref, number),
	},
	shopify: {
		expected: PRICE,
		// Its webhooks prove no payment: the MCP server has asked the API.
		learned: true,
		half: (ref, id, number) => ({
			id: `${ref}-${number}`, order_id: ref, transactions: [{ kind: 'refund', status: 'success', amount: '5.25', currency: 'EUR', test: false }],
		}),
	},
	'lemon-squeezy': {
		expected: PRICE,
		paid: (id, ref) => lemon('order_created', id, ref, { status: 'paid' }),
		half: (ref, id, number) => lemon('order_refunded', id, ref, { status: number === 2 ? 'refunded' : 'partial_refund', refunded_amount: 525 * number }),
	},
	worldpay: {
		expected: PRICE,
		paid: (id, ref) => worldpay('sentForSettlement', id, ref, 1050),
		half: (ref, id, number) => worldpay('sentForRefund', id, ref, 525, `half-${number}`),
	},
	cashfree: {
		expected: { amount: 1050, currency: 'INR' },
		paid: (id, ref) => ({ type: 'PAYMENT_SUCCESS_WEBHOOK', data: {
			order: { order_id: id }, payment: { cf_payment_id: ref, payment_status: 'SUCCESS', payment_amount: 10.5, payment_currency: 'INR' },
		} }),
		half: (ref, id, number) => ({ type: 'REFUND_STATUS_WEBHOOK', data: { refund: {
			cf_refund_id: `${ref}-${number}`, cf_payment_id: ref, order_id: id, refund_status: 'SUCCESS', refund_amount: 5.25, refund_currency: 'INR',
		} } }),
	},
	paystack: {
		expected: { amount: 1050, currency: 'NGN' },
		paid: PROVIDERS.paystack.paid,
		half: (ref, id, number) => ({ event: 'refund.processed', data: {
			domain: 'live', refund_reference: `${ref}-${number}`, transaction_reference: id, amount: '525', currency: 'NGN',
		} }),
	},
};

function lemon(event_name, id, ref, attributes) {
	return { meta: { event_name, custom_data: { elicitation_id: id }, test_mode: false },
		data: { type: 'orders', id: ref, attributes: { total: 1050, currency: 'EUR', ...attributes } } };
}

function worldpay(type, id, ref, value, reference) {
	return { eventId: randomUUID(), eventDetails: {
		classification: 'payment', type, downstreamReference: ref, transactionReference: id, reference, amount: { value, currencyCode: 'EUR' },
	} };
}

for (const [name, { expected, paid, half, learned }] of Object.entries(HALVES)) {
	test(`${name}: two halves that go back are the whole, each once`, async () => {
		const payment = await fixture.createPayment(name, { expected, item: 'report' });
		const provider = sender(fixture, name);
		const reference = `p${payment.id.replaceAll('-', '')}`;
		const send = async (event) => assert.equal((await provider.send(event)).status, 200);
		const outcome = () => fixture.urlmode.waitForCompletion(payment.id, { ...payment.owner, timeout: 0 });
		if (learned) await fixture.urlmode.complete(payment.id, { ...payment.owner, action: 'accept', reference, ...expected });
		else await send(paid(payment.id, reference));
		for (let times = 0; times < 2; times += 1) await send(half(reference, payment.id, 1));
		const { reason, refundedAmount } = await outcome();
		assert.deepEqual([reason, refundedAmount], ['held', 525]);
		await send(half(reference, payment.id, 2));
		assert.equal((await outcome()).refunded, true);
	});
}

/** Refunds that name no payment: their elicitation, or its checkout. */
const UNNAMED = {
	paypal: {
		expected: PRICE,
		paid: (id, ref, checkout) => paypal('PAYMENT.CAPTURE.COMPLETED', id, { id: ref, supplementary_data: { related_ids: { order_id: checkout } } }, '10.50'),
		back: (id, ref) => paypal('PAYMENT.CAPTURE.REFUNDED', id, {
			id: `REF-${ref}`, seller_payable_breakdown: { total_refunded_amount: { currency_code: 'EUR', value: '4.00' } },
		}, '4.00'),
	},
	paystack: {
		expected: PROVIDERS.paystack.expected,
		hasNoCheckout: true,
		paid: PROVIDERS.paystack.paid,
		back: (id, ref) => ({ event: 'refund.processed', data: { domain: 'live', refund_reference: `re-${ref}`, transaction_reference: id, amount: '400', currency: 'NGN' } }),
	},
	// The server has asked the API, which names the transfers; the event names their checkout.
	'coinbase-business': {
		expected: PRICE,
		learned: true,
		back: (id, ref, checkout) => PROVIDERS['coinbase-business'].back(checkout),
	},
};

function paypal(event_type, id, resource, value) {
	return { id: `WH-${randomUUID()}`, event_type, resource: { custom_id: id, amount: { currency_code: 'EUR', value }, ...resource } };
}

for (const [name, { expected, paid, back, learned, hasNoCheckout }] of Object.entries(UNNAMED)) {
	describe(`${name}: a refund that names no payment`, () => {
		const begin = async () => {
			const checkout = `c-${randomUUID()}`;
			const payment = await fixture.createPayment(name, { expected, item: 'report', targetUrl: hasNoCheckout ? 'https://checkout.example/pay' : () => ({ url: 'https://checkout.example/pay', checkout }) });
			const send = async (event) => assert.equal((await sender(fixture, name).send(event)).status, 200);
			return {
				pay: (reference) => (learned ? fixture.urlmode.complete(payment.id, { ...payment.owner, action: 'accept', reference, ...expected })
					: send(paid(payment.id, reference, checkout))),
				refund: (reference) => send(back(payment.id, reference, checkout)),
				payments: async () => (await fixture.stack.sql('SELECT reference, refunded, held FROM urlmode.show_payments($1)', [payment.id]))
					.map(({ reference, refunded, held }) => [reference, Number(refunded), held]).sort(),
			};
		};
		const [one, other] = ['a', 'b'].map((letter) => `${letter}-${randomUUID()}`);

		test('after its single payment', async () => {
			const { pay, refund, payments } = await begin();
			await pay(one);
			await refund(one);
			assert.deepEqual(await payments(), [[one, 400, true]]);
		});

		test('before it', async () => {
			const { pay, refund, payments } = await begin();
			await refund(other);
			assert.deepEqual(await payments(), []);
			await pay(other);
			assert.deepEqual(await payments(), [[other, 400, true]]);
		});
	});
}

describe('adyen: of two attempts, what becomes of the one leaves the other', () => {
	const begin = async () => {
		const payment = await fixture.createPayment('adyen', { expected: PRICE, item: 'report' });
		const [first, second] = ['1', '2'].map((n) => `psp${n}${payment.id.replaceAll('-', '')}`);
		const send = async (event) => assert.equal((await sender(fixture, 'adyen').send(event)).status, 200);
		const listed = async () => (await fixture.urlmode.unclaimed()).filter(({ elicitationId }) => elicitationId === payment.id).map(({ reference }) => reference);
		return { payment, id: payment.id, first, second, send, listed };
	};

	test('a card that was refused and is then technically cancelled', async () => {
		const { payment, id, first, second, send, listed } = await begin();
		await send(adyen('AUTHORISATION', id, first, { success: 'false' }));
		await send(adyen('AUTHORISATION', id, second));
		await send(adyen('TECHNICAL_CANCEL', id, first, { about: `cancel-${first}` }));
		assert.deepEqual(await listed(), [second]);
		assert.equal(await fixture.urlmode.claim(id, payment.owner), true);
	});

	for (const [eventCode, again] of [['CANCELLATION', undefined], ['EXPIRE', undefined], ['CHARGEBACK', 'CHARGEBACK_REVERSED'], ['REFUND', 'REFUNDED_REVERSED']]) {
		test(`${eventCode} that overtakes its own authorisation`, async () => {
			const { id, first, second, send, listed } = await begin();
			await send(adyen(eventCode, id, first, { about: `own-${first}` }));
			await send(adyen('AUTHORISATION', id, first));
			assert.deepEqual(await listed(), []);
			await send(adyen('AUTHORISATION', id, second));
			assert.deepEqual(await listed(), [second]);
			if (again === undefined) return;
			await send(adyen(again, id, first, { about: `own-${first}` }));
			assert.deepEqual((await listed()).sort(), [first, second]);
		});
	}
});

test('stripe: who pays twice is delivered once, also when the other payment was refunded or disputed', async () => {
	const ask = (more) => fixture.createPayment('stripe', { expected: PRICE, item: 'report', ...more });
	const payment = await ask();
	const stripe = sender(fixture, 'stripe');
	const send = async (event) => assert.equal((await stripe.send(event)).status, 200);
	const intents = ['1', '2', '3'].map((n) => `pi_${n}_${payment.id}`);
	for (const intent of intents) await send(PROVIDERS.stripe.paid(payment.id, intent));
	assert.equal(await fixture.urlmode.claim(payment.id, { ...payment.owner, reference: intents[0] }), true);
	assert.equal((await ask(payment.owner)).resumed, true, 'the others are still to be delivered, or refunded');
	for (const number of [1, 2]) await send(stripeRefund(intents[1], number));
	const dispute = stripeDispute('charge.dispute.funds_withdrawn', intents[2]);
	dispute.data.object.amount = PRICE.amount;
	await send(dispute);
	assert.equal(await fixture.urlmode.claim(payment.id, payment.owner), false);
	assert.equal((await ask(payment.owner)).resumed, false);
});

test('a failed attempt that names only its payment ends the attempt that was told of before', async () => {
	const payment = await fixture.createPayment('stripe', { expected: PRICE });
	const stripe = sender(fixture, 'stripe');
	const intent = `pi_${payment.id}`;
	const begun = stripe.event(payment.id, 'processing', PRICE);
	begun.data.object.payment_intent = intent;
	assert.equal((await stripe.send(begun)).status, 200);
	assert.equal((await fixture.state(payment))[0], 'processing');
	const failed = { id: `evt_${randomUUID()}`, object: 'event', livemode: true, type: 'payment_intent.payment_failed',
		data: { object: { id: intent, object: 'payment_intent', metadata: {}, amount: 1050, currency: 'eur' } } };
	assert.equal((await stripe.send(failed)).status, 200);
	assert.equal((await fixture.state(payment))[0], 'pending');
	assert.equal((await stripe.send({ ...failed, id: `evt_${randomUUID()}`, data: { object: { ...failed.data.object, id: 'pi_of_others' } } })).status, 200);
});
