// What counts as proof of a payment: the right amount, for this elicitation,
// from the right world, in what the provider has signed.

import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { configure } from '../security/deployment.mjs';
import { PROVIDERS, sender } from '../support/deliveries.mjs';
import { PROVIDER_PAGE } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';
import { titleOf } from '../support/pages.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };
const SECRETS = { razorpay: 'razorpay-key-secret', shopify: 'shopify-client-secret' };
const hmac = (name, text) => createHmac('sha256', SECRETS[name]).update(text).digest('hex');

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'money-proof', own: true });
	const description = (name) => fileURLToPath(new URL(`../../lib/providers/${name}.json`, import.meta.url));
	const stripe = (more) => ({
		kind: 'payment', display_name: 'Stripe', description: 'stripe', secrets: [`whsec_${randomBytes(24).toString('base64url')}`], ...more,
	});
	await configure(fixture.stack, ({ providers }) => {
		providers.sandbox = stripe({ mode: 'test' });
		providers.connect = stripe({ accounts: ['acct_ours', 'acct_too'] });
		providers.signer = { ...stripe(), kind: 'signature' };
		providers.razorpay = {
			kind: 'payment', display_name: 'Razorpay', description: description('razorpay'),
			secrets: ['the-webhooks-secret'], return_secrets: [SECRETS.razorpay],
		};
		providers.shopify = {
			kind: 'oauth', display_name: 'Shopify', description: description('shopify'), secrets: [SECRETS.shopify],
		};
	});
});

after(() => fixture?.close());

const goToCheckout = (provider, options) => fixture.goOn(fixture.browser(), {
	provider, kind: 'payment', targetUrl: 'https://checkout.example/pay', expected: PRICE, ...options,
});

/** Sends a rightly signed event, of Stripe where the provider has no sender of its own. */
async function send(provider, { id }, event, what = 'paid') {
	const from = sender(fixture, provider, PROVIDERS.includes(provider) ? provider : 'stripe');
	assert.equal((await from.send(from.event(id, what, { ...PRICE, ...event }))).status, 200);
}

const actionsOf = async (payment) => (await fixture.events(payment)).map(({ action }) => action);
const wait = ({ id, owner }) => fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 20_000 });

describe('test and live are different worlds', () => {
	for (const [title, provider, event, action] of [
		['test money on a live site', 'stripe', { livemode: false }, 'other_mode'],
		['live money on a site for tests', 'sandbox', { livemode: true }, 'other_mode'],
		['another account of the platform', 'connect', { account: 'acct_stranger' }, 'other_account'],
		['an account where none is configured', 'stripe', { account: 'acct_stranger' }, 'other_account'],
	]) {
		test(`${title} is kept, and moves nothing`, async () => {
			const payment = await goToCheckout(provider);
			const row = await fixture.row(payment.id);
			await send(provider, payment, event);
			assert.equal(await fixture.row(payment.id), row);
			assert.deepEqual(await actionsOf(payment), [action]);
			assert.deepEqual(await fixture.stack.sql('SELECT FROM urlmode.payment WHERE elicitation = $1', [payment.id]), []);
		});
	}

	for (const [title, provider, event] of [
		['live money', 'stripe', { livemode: true }],
		['test money on a site for tests', 'sandbox', { livemode: false }],
		['an account that is configured', 'connect', { account: 'acct_too' }],
		['the platform\'s own account', 'connect', {}],
	]) {
		test(`${title} is accepted`, async () => {
			const payment = await goToCheckout(provider);
			await send(provider, payment, event);
			assert.equal((await wait(payment)).action, 'accept');
		});
	}
});

describe('money for what is no payment is listed, can be sent back, and is never an accept', () => {
	const listed = async ({ id }) => (await fixture.urlmode.unclaimed()).filter(({ elicitationId }) => elicitationId === id)
		.map(({ provider, reference, amount, currency, matches }) => ({ provider, reference, amount, currency, matches }));

	for (const [title, provider, kind] of [
		['a signature at a provider of payments', 'stripe', 'signature'],
		['an account at a provider of payments', 'stripe', 'oauth'],
		['a signature at an entry of Stripe for signatures', 'signer', 'signature'],
		['a payment at an entry of Stripe for signatures', 'signer', 'payment'],
	]) {
		test(title, async () => {
			const asked = await fixture.create({
				provider, kind, targetUrl: 'https://checkout.example/pay', ...kind === 'payment' && { expected: 'any' },
			});
			const reference = `pi_${asked.id}`;
			await send(provider, asked, { reference, amount: 1 });
			assert.deepEqual(await listed(asked), [{ provider, reference, amount: 1, currency: 'EUR', matches: false }]);
			assert.deepEqual(await fixture.state(asked), ['pending', null, '']);
			await send(provider, asked, { reference, amount: 1 }, 'refunded');
			assert.deepEqual(await listed(asked), []);
			assert.deepEqual(await actionsOf(asked), ['other_kind', 'refunded']);
		});
	}
});

describe('money is always compared', () => {
	test('a payment without expected is refused when it is created', async () => {
		await assert.rejects(fixture.createPayment('stripe', { expected: undefined }), TypeError);
	});

	for (const [title, expected, event] of [
		['one cent', PRICE, { amount: 1 }],
		['another currency', PRICE, { currency: 'JPY' }],
		['nothing, where any amount is accepted', 'any', { amount: 0 }],
	]) {
		test(`${title} is not accepted, and is listed to be refunded`, async () => {
			const payment = await goToCheckout('stripe', { expected });
			await send('stripe', payment, event);
			const { action, reason } = await wait(payment);
			assert.deepEqual([action, reason], ['cancel', 'amount_mismatch']);
			const [listed] = (await fixture.urlmode.unclaimed()).filter(({ elicitationId }) => elicitationId === payment.id);
			assert.equal(listed.matches, false);
		});
	}

	for (const [written, expected, shown] of [
		[500, { amount: 5, currency: 'ISK' }, 'ISK 5'],
		[50_000, { amount: 5_000_000, currency: 'MGA' }, 'MGA 50,000.00'],
	]) {
		test(`${written} of Stripe is ${shown}`, async () => {
			let given;
			const created = await fixture.createPayment('stripe', {
				expected, targetUrl: ({ amount }) => { given = amount; return 'https://checkout.example/pay'; },
			});
			const page = await fixture.browser().open(created.url);
			assert.ok(page.find('bdi').some(({ text }) => text === shown), page.text);
			assert.equal(given, written);
			const payment = await goToCheckout('stripe', { expected });
			await send('stripe', payment, { amount: written, currency: expected.currency });
			const { action, reason, result } = await wait(payment);
			assert.deepEqual({ action, reason, amount: result.amount }, { action: 'accept', reason: '', amount: expected.amount });
		});
	}

	test('an event that names no amount proves nothing', async () => {
		for (const expected of [PRICE, 'any']) {
			const payment = await goToCheckout('stripe', { expected });
			await send('stripe', payment, { amount: undefined, currency: undefined });
			assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
			assert.deepEqual(await actionsOf(payment), ['recheck']);
		}
	});

	test('any amount is accepted where that is said aloud', async () => {
		const payment = await goToCheckout('stripe', { expected: 'any' });
		await send('stripe', payment, { amount: 1 });
		assert.equal((await wait(payment)).action, 'accept');
	});

	test('one payment pays for one elicitation, ever', async () => {
		const [first, second] = [await goToCheckout('stripe'), await goToCheckout('stripe')];
		await send('stripe', first, { reference: `cs_test_${first.id}` });
		await send('stripe', second, { reference: `cs_test_${first.id}` });
		assert.equal((await wait(first)).action, 'accept');
		assert.deepEqual(await fixture.state(second), ['opened', null, '']);
		assert.deepEqual(await actionsOf(second), ['reference_taken']);
	});

	test('what the server itself completes is compared as well', async () => {
		const [payment, other] = [await goToCheckout('stripe'), await goToCheckout('stripe')];
		const complete = (answer) => fixture.urlmode.complete(payment.id, { ...payment.owner, action: 'accept', ...answer });
		const reference = `pi_${payment.id}`;
		await send('stripe', other, { reference: `pi_${other.id}` });
		await assert.rejects(complete({}), TypeError);
		await assert.rejects(complete({ reference, ...PRICE, amount: 1 }), { code: 'ELICITATION_MISMATCH' });
		await assert.rejects(complete({ reference: `pi_${other.id}`, ...PRICE }), { code: 'ELICITATION_REFERENCE' });
		assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
		assert.equal(await complete({ reference, ...PRICE }), true);
		assert.equal((await wait(payment)).reference, reference);
	});
});

describe('what went back, or came in parts, as the provider says it', () => {
	const unclaimed = async (payment) => (await fixture.urlmode.unclaimed()).filter(({ elicitationId }) => elicitationId === payment.id)
		.map(({ reference, amount, matches }) => ({ reference, amount, matches }));

	test('adyen: an authorisation that is cancelled, with an amount of 0, is no payment any more', async () => {
		const payment = await goToCheckout('adyen');
		const pspReference = `psp-${payment.id}`;
		await send('adyen', payment, { pspReference });
		assert.deepEqual(await unclaimed(payment), [{ reference: pspReference, amount: PRICE.amount, matches: true }]);
		await send('adyen', payment, { pspReference: `mod-${payment.id}`, originalReference: pspReference, eventCode: 'CANCELLATION', amount: 0 });
		assert.deepEqual(await unclaimed(payment), []);
		assert.equal((await wait(payment)).refunded, true);
	});

	test('a dispute after an accept that was claimed is kept and told, and undoes nothing', async () => {
		const payment = await goToCheckout('adyen');
		const pspReference = `psp-${payment.id}`;
		await send('adyen', payment, { pspReference });
		assert.equal((await wait(payment)).action, 'accept');
		assert.equal(await fixture.urlmode.claim(payment.id, payment.owner), true);
		await send('adyen', payment, { pspReference: `dispute-${payment.id}`, originalReference: pspReference, eventCode: 'CHARGEBACK' });
		assert.deepEqual(await actionsOf(payment), ['accept', 'refunded']);
		assert.deepEqual(await fixture.state(payment), ['completed', 'accept', '']);
		const { action, refunded } = await wait(payment);
		assert.deepEqual({ action, refunded }, { action: 'accept', refunded: true });
	});

	test('paypal: the recheck of an approved order answers with its capture, whose own event is the same payment', async () => {
		const payment = await goToCheckout('paypal');
		const capture = `capture-${payment.id}`;
		await send('paypal', payment, { reference: `order-${payment.id}` }, 'recheck');
		const { reference } = await fixture.urlmode.waitForCompletion(payment.id, {
			...payment.owner, timeout: 20_000, recheck: () => ({ action: 'accept', ...PRICE, reference: capture }),
		});
		assert.equal(reference, capture);
		await send('paypal', payment, { reference: capture });
		assert.deepEqual(await actionsOf(payment), ['recheck', 'repeated']);
		assert.deepEqual(await unclaimed(payment), [{ reference: capture, amount: PRICE.amount, matches: true }]);
	});

	test('checkout-com: a payment that is captured in two parts is paid with the second', async () => {
		const payment = await goToCheckout('checkout-com');
		await send('checkout-com', payment, { amount: 500, balances: { total_captured: 500 } });
		assert.equal((await unclaimed(payment))[0].matches, false);
		await send('checkout-com', payment, { amount: 550, balances: { total_captured: 1050 } });
		assert.deepEqual(await unclaimed(payment), [{ reference: `pay_${payment.id}`, amount: 1050, matches: true }]);
		const { action, late } = await wait(payment);
		assert.deepEqual({ action, late }, { action: 'accept', late: true });
	});
});

describe('a second payment is found', () => {
	for (const [provider, title] of [['paypal', 'two captures of one order'], ['razorpay', 'two payments of one link']]) {
		test(`${provider}: ${title}`, async () => {
			const payment = await goToCheckout(provider);
			const [first, second] = ['1', '2'].map((n) => `${n}-${payment.id}`);
			for (const reference of [first, second]) await send(provider, payment, { reference });
			assert.deepEqual(await actionsOf(payment), ['accept', 'late']);
			assert.equal((await wait(payment)).reference, first);
			assert.equal(await fixture.urlmode.claim(payment.id, payment.owner), true);
			const listed = (await fixture.urlmode.unclaimed()).filter(({ elicitationId }) => elicitationId === payment.id);
			assert.deepEqual(listed.map(({ reference, matches, late }) => ({ reference, matches, late })), [{ reference: second, matches: true, late: true }]);
		});
	}
});

describe('what the provider signs into the browser\'s address', () => {
	/** Where Razorpay sends the browser when the link is paid. It signs no amount. */
	function paidReturn({ returnUrl, id }) {
		const url = new URL(returnUrl);
		const fields = {
			razorpay_payment_link_id: 'plink_1', razorpay_payment_link_reference_id: id,
			razorpay_payment_link_status: 'paid', razorpay_payment_id: `pay_${id.slice(0, 8)}`,
		};
		const signature = hmac('razorpay', Object.values(fields).join('|'));
		for (const [name, value] of Object.entries({ ...fields, razorpay_signature: signature })) url.searchParams.set(name, value);
		return url.href;
	}

	test('a return that proves no amount shows the page that follows the payment, and again when it is reloaded', async () => {
		const browser = fixture.browser();
		const payment = await fixture.goOn(browser, {
			provider: 'razorpay', kind: 'payment', targetUrl: 'https://rzp.example/l/1', expected: PRICE,
		});
		for (const time of ['first', 'second', 'third']) {
			assert.equal(titleOf(await browser.open(paidReturn(payment))), 'Waiting for confirmation', time);
		}
		assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
		assert.deepEqual(await actionsOf(payment), ['recheck']);
	});

	test('a POST with a rightly signed query and a forged form is refused', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser, { provider: 'shopify' });
		const url = new URL(flow.returnTo({ code: 'c0de', shop: 'a-shop.myshopify.example', timestamp: Math.floor(Date.now() / 1_000) }));
		url.searchParams.set('hmac', hmac('shopify', [...url.searchParams].map((pair) => pair.join('=')).sort().join('&')));
		const forged = new URLSearchParams(flow.parameters({ code: 'forged' })).toString();

		const hop = await browser.send({ url, method: 'POST', body: forged, from: PROVIDER_PAGE });
		assert.equal(hop.status, 400);
		assert.match(hop.body, /<code>query_and_form<\/code>/);
		assert.deepEqual(await fixture.state(flow), ['opened', null, '']);
		assert.equal(titleOf(await browser.open(url)), 'You can go back');
		assert.equal((await wait(flow)).result.code, 'c0de');
	});
});
