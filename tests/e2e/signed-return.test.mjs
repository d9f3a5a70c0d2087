// Returns that the provider signs into the browser's address: Razorpay's, of a
// payment; those of a till that signs the amount as well; and Shopify's, of an
// authorization.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { configure } from '../security/deployment.mjs';
import { sender } from '../support/deliveries.mjs';
import { create, PROVIDER_PAGE, press } from '../support/flow.mjs';
import { titleOf } from '../support/pages.mjs';
import { openFixture } from '../support/fixture.mjs';
import { shopify } from '../support/shopify.mjs';

const SECRETS = { razorpay: 'razorpay-key-secret', till: 'till-secret', shopify: 'shopify-client-secret' };
const hmac = (name, text) => createHmac('sha256', SECRETS[name]).update(text).digest('hex');

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'signed-return', own: true });
	const description = (name) => fileURLToPath(new URL(`../../lib/providers/${name}.json`, import.meta.url));
	const till = path.join(fixture.stack.runDir, 'till.json');
	await writeFile(till, describeTill(JSON.parse(readFileSync(description('razorpay'), 'utf8'))), { mode: 0o644 });
	await configure(fixture.stack, ({ providers }) => {
		providers.till = {
			kind: 'payment', display_name: 'Till', description: till, secrets: ['the-webhooks-secret'], return_secrets: [SECRETS.till],
		};
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

/** A description like Razorpay's, of a provider whose return has the amount, too. */
function describeTill({ return: { verify: [scheme], ...back }, ...description }) {
	const amount = { query: 'amount' }, currency = { query: 'currency' };
	const signed = [{ join: [...scheme.signed[0].join, amount, currency], with: '|' }];
	return JSON.stringify({
		...description, return: { ...back, verify: [{ ...scheme, signed }], amount: { from: amount, as: 'minor' }, currency },
	});
}

async function pay(browser, options) {
	const payment = await create(fixture.urlmode, {
		provider: 'razorpay', kind: 'payment', targetUrl: 'https://rzp.example/l/1', ...options,
	});
	await press(browser, await browser.open(payment.url), 'continue');
	return payment;
}

describe('razorpay', () => {
	/** Where Razorpay sends the browser when the link is paid. */
	function returnOf({ returnUrl, id }, { reference = id, change = {} } = {}) {
		const url = new URL(returnUrl);
		const fields = {
			razorpay_payment_link_id: `plink_${id.slice(0, 8)}`, razorpay_payment_link_reference_id: reference,
			razorpay_payment_link_status: 'paid', razorpay_payment_id: `pay_${id.slice(0, 8)}`,
		};
		const signature = hmac('razorpay', Object.values(fields).join('|'));
		for (const [name, value] of Object.entries({ ...fields, razorpay_signature: signature, ...change })) {
			url.searchParams.set(name, value);
		}
		return url.href;
	}

	test('a signed return wakes the waiter, and shows the page that waits until it has asked', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser, { expected: { amount: 100, currency: 'INR' } });
		for (let time = 0; time < 2; time++) {
			assert.equal(titleOf(await browser.open(returnOf(payment))), 'Waiting for confirmation');
		}
		assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
		const { action } = await fixture.urlmode.waitForCompletion(payment.id, {
			...payment.owner,
			recheck: ({ reference }) => {
				assert.equal(reference, `pay_${payment.id.slice(0, 8)}`);
				return { action: 'accept', amount: 100, currency: 'INR', reference };
			},
		});
		assert.equal(action, 'accept');
		assert.equal(titleOf(await browser.open(returnOf(payment))), 'All done');
	});

	test('a user who comes back days after the expiry: a signed return is recorded', async () => {
		const browser = fixture.browser();
		const payment = await fixture.passDays(await pay(browser), 3);
		assert.equal((await browser.open(returnOf(payment))).status, 410);
		const events = await fixture.stack.sql('SELECT action, type FROM urlmode.event WHERE elicitation = $1', [payment.id]);
		assert.deepEqual(events, [{ action: 'recheck', type: 'paid' }]);
	});

	test('what comes after the end is kept, to be rechecked', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser);
		await fixture.urlmode.complete(payment.id, { ...payment.owner, action: 'cancel', reason: 'expired' });
		assert.equal(titleOf(await browser.open(returnOf(payment))), 'This request has expired');
		const events = await fixture.stack.sql('SELECT action, type FROM urlmode.event WHERE elicitation = $1', [payment.id]);
		assert.deepEqual(events, [{ action: 'recheck', type: 'paid' }]);
		assert.deepEqual(await fixture.state(payment), ['completed', 'cancel', 'expired']);
	});

	test('a return that is not signed, or is another payment\'s, completes nothing', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser);
		const other = await pay(browser);
		for (const url of [
			payment.returnUrl,
			returnOf(payment, { change: { razorpay_payment_id: 'pay_other' } }),
			returnOf(payment, { change: { razorpay_signature: '0'.repeat(64) } }),
			returnOf(payment, { reference: other.id }),
		]) {
			assert.equal(titleOf(await browser.open(url)), 'Waiting for confirmation');
		}
		assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
	});

	test('in another browser it completes nothing', async () => {
		const payment = await pay(fixture.browser());
		const hop = await fixture.browser().send({ url: new URL(returnOf(payment)), from: PROVIDER_PAGE });
		assert.match(hop.body, /<h1>You can close this page</);
		assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
	});
});

describe('a till that signs the amount', () => {
	const PRICE = { amount: 100, currency: 'INR' };

	function returnOf({ returnUrl, id }, reference, amount = '100') {
		const url = new URL(returnUrl);
		const fields = {
			razorpay_payment_link_id: 'plink', razorpay_payment_link_reference_id: id, razorpay_payment_link_status: 'paid',
			razorpay_payment_id: reference, amount, currency: 'INR',
		};
		const signature = hmac('till', Object.values(fields).join('|'));
		for (const [name, value] of Object.entries({ ...fields, razorpay_signature: signature })) url.searchParams.set(name, value);
		return url.href;
	}

	const unclaimed = async ({ id }) => (await fixture.urlmode.unclaimed())
		.filter(({ elicitationId }) => elicitationId === id).map(({ reference }) => reference);

	test('a second payment that only the browser\'s return proves is found, and a reload adds nothing', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser, { provider: 'till', expected: PRICE });
		const [first, second] = ['first', 'second'].map((name) => `${name}-${payment.id}`);
		const till = sender(fixture, 'till', 'razorpay');
		assert.equal((await till.send(till.event(payment.id, 'paid', { ...PRICE, reference: first }))).status, 200);
		assert.deepEqual(await fixture.state(payment), ['completed', 'accept', '']);

		for (const time of ['at first', 'reloaded', 'once more']) {
			assert.equal(titleOf(await browser.open(returnOf(payment, second))), 'All done', time);
			assert.deepEqual(await unclaimed(payment), [first, second], time);
		}
		assert.deepEqual((await fixture.events(payment)).map(({ action }) => action), ['accept', 'late']);
		assert.equal((await fixture.urlmode.waitForCompletion(payment.id, payment.owner)).reference, first);
	});

	test('a return that proves the amount is accepted, and one of another amount is not', async () => {
		for (const [amount, title, state] of [
			['100', 'All done', ['completed', 'accept', '']],
			['1', 'The amount does not match', ['completed', 'cancel', 'amount_mismatch']],
		]) {
			const browser = fixture.browser();
			const payment = await pay(browser, { provider: 'till', expected: PRICE });
			assert.equal(titleOf(await browser.open(returnOf(payment, `pay-${payment.id}`, amount))), title);
			assert.deepEqual(await fixture.state(payment), state);
			assert.deepEqual(await unclaimed(payment), [`pay-${payment.id}`]);
		}
	});

	test('the same payment by the webhook and by the return is one', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser, { provider: 'till', expected: PRICE });
		const till = sender(fixture, 'till', 'razorpay');
		await till.send(till.event(payment.id, 'paid', { ...PRICE, reference: `one-${payment.id}` }));
		assert.equal(titleOf(await browser.open(returnOf(payment, `one-${payment.id}`))), 'All done');
		assert.deepEqual(await unclaimed(payment), [`one-${payment.id}`]);
	});
});

describe('shopify', () => {
	const now = () => Math.floor(Date.now() / 1000);

	/** Where Shopify sends the browser when the app is installed. */
	function returnOf(flow, { timestamp = now(), sign = hmac } = {}) {
		const url = new URL(flow.returnTo({ code: 'c0de', shop: 'a-shop.myshopify.example', timestamp }));
		const fields = [...url.searchParams].map(([name, value]) => `${name}=${value}`).sort();
		url.searchParams.set('hmac', sign('shopify', fields.join('&')));
		return url;
	}

	test('a signed answer completes', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser, { provider: 'shopify' });
		const url = returnOf(flow);
		assert.ok(await shopify(SECRETS.shopify).utils.validateHmac(Object.fromEntries(url.searchParams)), 'its package accepts it');
		const page = await browser.open(url.href);
		assert.equal(titleOf(page), 'You can go back');
		const { result } = await fixture.urlmode.waitForCompletion(flow.id, flow.owner);
		assert.equal(result.code, 'c0de');
	});

	test('an answer without a signature, with a wrong or an old one, is refused', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser, { provider: 'shopify' });
		for (const [url, reason] of [
			[flow.returnTo({ code: 'c0de' }), 'signature_missing'],
			[`${returnOf(flow)}&more=1`, 'signature_invalid'],
			[returnOf(flow, { timestamp: now() - 100 }), 'timestamp_out_of_tolerance'],
		]) {
			const hop = await browser.send({ url: new URL(url), from: PROVIDER_PAGE });
			assert.equal(hop.status, 401, reason);
			assert.match(hop.body, new RegExp(`<code>${reason}</code>`));
		}
		assert.deepEqual(await fixture.state(flow), ['opened', null, '']);
	});

	test('a form that is posted to a signed address is refused, whatever it says', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser, { provider: 'shopify' });
		const url = returnOf(flow);
		const forged = new URLSearchParams({ ...Object.fromEntries(url.searchParams), code: 'f0rged' }).toString();
		const hop = await browser.send({ url, method: 'POST', body: forged, from: PROVIDER_PAGE });
		assert.equal(hop.status, 400);
		assert.match(hop.body, /<code>query_and_form<\/code>/);
		assert.deepEqual(await fixture.state(flow), ['opened', null, '']);
	});
});
