// One JSON line for each delivery and each return, and nothing of what was in
// them: no signature, no reference, no person, no secret of the site.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { post, sender } from '../support/deliveries.mjs';
import { PROVIDER_PAGE, press } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';

const EMAIL = 'who.paid@customer.example';

let fixture;
let stripe;

before(async () => {
	fixture = await openFixture({ name: 'payment-logs', own: true });
	stripe = sender(fixture, 'stripe');
});

after(() => fixture?.close());

const lineOf = async ({ headers }) => {
	const { time, ms, request, ...line } = await until('it is in the log', async () => (
		(await fixture.stack.programLog()).find(({ request: id }) => id === headers['x-request-id'])));
	return line;
};

/** A delivery as it is sent, with what no log may have of it. */
async function deliver(event) {
	event.data.object.customer_email = EMAIL;
	const delivery = await stripe.deliver(event);
	return { ...delivery, secrets: [event.id, event.data.object.id, delivery.headers['Stripe-Signature']] };
}

test('each delivery and each return has its line, and no log has a secret', async () => {
	const payment = await fixture.createPayment();
	const other = await fixture.createPayment();
	const browser = fixture.browser();
	await press(browser, await browser.open(payment.url), 'continue');
	const stateOf = (url) => new URL(url).searchParams.get('state');
	const paid = await deliver(stripe.event(payment.id, 'paid'));
	const line = (more) => ({ program: 'webhook', provider: 'stripe', elicitation: payment.id, status: 200, reason: '', ...more });
	const secrets = new Set([EMAIL, stripe.provider.secrets[0], stateOf(payment.returnUrl), stateOf(payment.cancelUrl),
		browser.jar.header(new URL(fixture.url('/'))).match(/__Host-urlmode=([^;]*)/)[1]]);
	const send = async (delivery, expected) => {
		delivery.secrets?.forEach((secret) => secrets.add(secret));
		assert.deepEqual(await lineOf(await post(delivery)), expected);
	};

	const back = (url) => browser.send({ url: new URL(url), from: PROVIDER_PAGE });
	assert.deepEqual(await lineOf(await back(payment.returnUrl)),
		line({ program: 'payment-return', outcome: 'opened' }));
	await send(paid, line({ outcome: 'accept' }));
	await send(paid, line({ outcome: 'seen' }));
	await send(await deliver(stripe.event(payment.id, 'failed')), line({ outcome: 'late' }));
	await send(await deliver(stripe.event(payment.id, 'ignored')), line({ outcome: 'ignored' }));
	await send(await deliver(stripe.event(other.id, 'processing')), line({ elicitation: other.id, outcome: 'processing' }));
	await send(await deliver(stripe.event('not ours', 'paid')), line({ elicitation: '', outcome: 'nothing' }));
	await send(await deliver(stripe.event('6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11', 'paid')),
		line({ elicitation: '6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11', outcome: 'unknown' }));
	for (const [price, mismatch] of [[{ amount: 777_017_777_011, currency: 'EUR' }, 'amount'], [{ amount: 1000, currency: 'SEK' }, 'currency']]) {
		const { id } = await fixture.createPayment('stripe', { expected: { amount: 1000, currency: 'EUR' } });
		Object.values(price).filter((value) => value !== 'EUR' && value !== 1000).forEach((value) => secrets.add(String(value)));
		await send(await deliver(stripe.event(id, 'paid', price)),
			line({ elicitation: id, outcome: 'cancel', reason: 'amount_mismatch', detail: `/${mismatch}: is not the expected one` }));
	}
	secrets.add('88803.5');
	await send(await deliver(stripe.event(other.id, 'paid', { amount: 88803.5, currency: 'EUR' })),
		line({
			elicitation: '', status: 400, outcome: 'refused', reason: 'body_malformed',
			detail: '/amount: is not a whole number of minor units, or is negative',
		}));
	await send({ ...paid, body: `${paid.body} ` },
		line({ elicitation: '', status: 401, outcome: 'refused', reason: 'signature_invalid' }));
	await send({ ...paid, url: fixture.url('/webhook/nobody') },
		line({ provider: '', elicitation: '', status: 404, outcome: 'refused', reason: 'unknown_provider' }));
	assert.deepEqual(await lineOf(await back(payment.returnUrl)),
		line({ program: 'payment-return', status: 303, outcome: 'completed' }));
	assert.deepEqual(await lineOf(await back(payment.cancelUrl)),
		line({ program: 'payment-return', status: 303, outcome: 'completed' }));

	for (const [name, text] of await fixture.stack.logs()) {
		for (const secret of secrets) {
			for (const spelling of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
				assert.ok(!text.includes(spelling), `${name} has ${spelling}`);
			}
		}
		assert.doesNotMatch(text, /state=|checkout\.session|whsec_|v1=/, name);
	}
});
