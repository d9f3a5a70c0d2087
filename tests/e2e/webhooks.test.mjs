// Signed deliveries of every provider that is shipped, through nginx into a
// waiting promise; and what a delivery must not do. How each event of each
// provider is read is a unit test (tests/unit/test_spec_deliveries.c).

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { DESCRIBED, post, sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';

const TARGET = 'https://checkout.example/pay';
const PRICE = { amount: 1050, currency: 'EUR' };

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'webhooks' });
});

after(() => fixture?.close());

function start(from, name, options) {
	return fixture.create({ provider: name, kind: from.kind, targetUrl: TARGET, ...options });
}

const wait = ({ id, owner }, options) => fixture.urlmode.waitForCompletion(id, { ...owner, ...options });

/** The descriptions with such an outcome, whose provider is of this kind. */
const having = (effect, kind) => DESCRIBED.filter((one) => one.kind === kind && one.content.outcomes.some((outcome) => outcome.effect === effect)).map(({ name }) => name);

const PAID = having('paid', 'payment');
const ACCEPTED = having('accepted', 'signature');
/** An event of the others only asks for a recheck; PayPal has both. */
const RECHECKED = [...DESCRIBED.filter(({ name, kind }) => kind !== 'oauth' && ![...PAID, ...ACCEPTED].includes(name)).map(({ name }) => name), 'paypal'];

describe('a payment that was made resolves the promise with its reference', () => {
	for (const name of PAID) {
		test(name, async () => {
			const from = sender(fixture, name);
			const elicitation = await start(from, name, { expected: PRICE });
			const outcome = wait(elicitation);
			const answer = await from.send(from.event(elicitation.id, 'paid', PRICE));

			assert.equal(answer.status, 200, answer.body);
			const { action, reason, result } = await outcome;
			assert.deepEqual({ action, reason }, { action: 'accept', reason: '' });
			assert.equal(result.amount, PRICE.amount);
			assert.equal(result.currency, PRICE.currency);
			assert.equal((await fixture.events(elicitation))[0].action, 'accept');
		});
	}

	test('paypal, after an outage, with the time of its first transmission two days ago', async () => {
		const from = sender(fixture, 'paypal');
		const elicitation = await start(from, 'paypal', { expected: PRICE });
		const timestamp = Math.floor(Date.now() / 1000) - 2 * 24 * 60 * 60;
		const answer = await from.send(from.event(elicitation.id, 'paid', PRICE), { timestamp });
		assert.equal(answer.status, 200, answer.body);
		assert.equal((await wait(elicitation)).action, 'accept');
	});

	for (const name of ACCEPTED) {
		test(`${name}, of kind signature`, async () => {
			const from = sender(fixture, name);
			const elicitation = await start(from, name);
			const outcome = wait(elicitation);
			const answer = await from.send(from.event(elicitation.id, 'paid'));

			assert.equal(answer.status, 200, answer.body);
			assert.equal((await outcome).action, 'accept');
		});
	}
});

describe('other events of a provider', () => {
	for (const [name, what, expected] of [
		['stripe', 'failed', { action: 'cancel', reason: 'payment_failed' }],
		['stripe', 'expired', { action: 'cancel', reason: 'expired' }],
		['docusign', 'cancelled', { action: 'decline', reason: 'cancelled' }],
		['pandadoc', 'cancelled', { action: 'decline', reason: 'cancelled' }],
		['razorpay', 'expired', { action: 'cancel', reason: 'expired' }],
		['persona', 'failed', { action: 'cancel', reason: 'payment_failed' }],
		['yousign', 'cancelled', { action: 'decline', reason: 'cancelled' }],
		['veriff', 'failed', { action: 'cancel', reason: 'payment_failed' }],
	]) {
		test(`${name}: ${what} ends the wait with ${expected.action}, ${expected.reason}`, async () => {
			const from = sender(fixture, name);
			const elicitation = await start(from, name);
			const outcome = wait(elicitation);
			assert.equal((await from.send(from.event(elicitation.id, what))).status, 200);
			const { action, reason } = await outcome;
			assert.deepEqual({ action, reason }, expected);
		});
	}

	for (const [name, what] of [['square', 'cancelled'], ['adyen', 'expired'], ['paddle', 'failed'], ['checkout-com', 'failed'], ['cashfree', 'failed'],
		['flutterwave-v4', 'failed']]) {
		test(`${name}: ${what} is the end of an attempt, and a payment after it is accepted`, async () => {
			const from = sender(fixture, name);
			const elicitation = await start(from, name);
			const outcome = wait(elicitation);
			assert.equal((await from.send(from.event(elicitation.id, what))).status, 200);
			assert.equal((await fixture.stack.elicitation(elicitation.id)).failed_attempts, 1);
			assert.equal((await from.send(from.event(elicitation.id, 'paid'))).status, 200);
			assert.equal((await outcome).action, 'accept');
		});
	}

	for (const name of RECHECKED) {
		test(`${name}: the waiter is woken, and asks the provider's API`, async () => {
			const from = sender(fixture, name);
			const elicitation = await start(from, name, from.kind === 'payment' ? { expected: PRICE } : {});
			const asked = [];
			const outcome = wait(elicitation, {
				recheck: (question) => {
					const { reference } = question;
					asked.push(question);
					return { action: 'accept', result: { paid: reference }, ...from.kind === 'payment' && { ...PRICE, reference } };
				},
			});
			assert.equal((await from.send(from.event(elicitation.id, 'recheck'))).status, 200);
			const { action, result } = await outcome;
			assert.equal(action, 'accept');
			assert.equal(asked[0].elicitationId, elicitation.id);
			assert.equal(asked[0].provider, name);
			assert.equal(result.paid, asked[0].reference);
			assert.ok(asked[0].reference);
		});
	}

	test('mollie: the same delivery again causes another recheck', async () => {
		const from = sender(fixture, 'mollie');
		const elicitation = await start(from, 'mollie');
		let asked = 0;
		const outcome = wait(elicitation, { 
			recheck: ({ reference }) => (++asked === 2 ? { action: 'accept', ...PRICE, reference } : undefined),
		});
		const delivery = await from.deliver(from.event(elicitation.id));
		assert.equal((await post(delivery)).status, 200);
		await until('the first was asked for', () => asked === 1);
		assert.equal((await post(delivery)).status, 200);
		assert.equal((await outcome).action, 'accept');
		assert.equal((await fixture.events(elicitation)).length, 1);
	});

	test('mollie: without the token of an elicitation a delivery is refused', async () => {
		const from = sender(fixture, 'mollie');
		const elicitation = await start(from, 'mollie');
		const before = await fixture.row(elicitation.id);
		const delivery = await from.deliver(from.event(elicitation.id));
		for (const [query, code] of [
			['', 'state_missing'], [`?elicitation=${elicitation.id}`, 'state_missing'],
			[`?state=${new URL(elicitation.returnUrl).searchParams.get('state')}`, 'state_invalid'],
		]) {
			const answer = await post({ ...delivery, url: fixture.url(`/webhook/mollie${query}`) });
			assert.equal(answer.status, 400);
			assert.ok(answer.body.startsWith(`${code}: `), answer.body);
		}
		assert.equal(await fixture.row(elicitation.id), before);
		assert.equal((await post({ ...delivery, url: elicitation.webhookUrl })).status, 200);
		assert.equal((await fixture.events(elicitation))[0].action, 'recheck');
	});

	test('github: an installation completes nothing by itself', async () => {
		const from = sender(fixture, 'github');
		const answer = await from.send(from.event());
		assert.equal(answer.status, 200, answer.body);
		assert.equal((await from.send(from.event(), { secret: 'wrong' })).status, 401);
	});

	test('processing reaches the waiter as progress, and the payment that follows ends the wait', async () => {
		const from = sender(fixture, 'stripe');
		const elicitation = await start(from, 'stripe', { expected: PRICE });
		const progress = [];
		const outcome = wait(elicitation, { onProgress: (status) => progress.push(status) });
		assert.equal((await from.send(from.event(elicitation.id, 'processing', PRICE))).status, 200);
		await until('the progress was told', () => progress.includes('processing'));
		assert.equal((await from.send(from.event(elicitation.id, 'settled', PRICE))).status, 200);
		assert.equal((await outcome).action, 'accept');
	});

	test('the exact answer that Dropbox Sign and Adyen want', async () => {
		for (const [name, body] of [['dropbox-sign', 'Hello API Event Received'], ['adyen', '[accepted]']]) {
			const from = sender(fixture, name);
			const { id } = await start(from, name);
			assert.equal((await from.send(from.event(id, 'paid'))).body, body);
		}
	});
});

describe('the paid amount and currency must be the expected ones', () => {
	for (const [title, paid] of [
		['another amount', { amount: PRICE.amount - 1, currency: 'EUR' }],
		['another currency', { amount: PRICE.amount, currency: 'USD' }],
	]) {
		test(`${title} is cancel, amount_mismatch`, async () => {
			const from = sender(fixture, 'stripe');
			const elicitation = await start(from, 'stripe', { expected: PRICE });
			await from.send(from.event(elicitation.id, 'paid', paid));
			const { action, reason } = await wait(elicitation);
			assert.deepEqual({ action, reason }, { action: 'cancel', reason: 'amount_mismatch' });
		});
	}

	test('an event without an amount causes a recheck', async () => {
		const from = sender(fixture, 'stripe');
		const elicitation = await start(from, 'stripe', { expected: PRICE });
		await from.send(from.event(elicitation.id, 'paid', { amount: null, currency: null }));
		assert.deepEqual(await fixture.state(elicitation), ['pending', null, '']);
		const asked = [];
		const { action, reason } = await wait(elicitation, {
			recheck: async ({ signal, ...question }) => {
				assert.ok(!signal.aborted);
				asked.push(question);
				return { action: 'cancel', reason: 'amount_mismatch' };
			},
		});
		assert.deepEqual([action, reason], ['cancel', 'amount_mismatch']);
		assert.deepEqual(asked, [{
			elicitationId: elicitation.id, provider: 'stripe', type: 'checkout.session.completed', expected: PRICE,
			reference: `cs_test_${elicitation.id}`, references: [`cs_test_${elicitation.id}`],
		}]);
	});

	test('a recheck without a result leaves the next event to complete the payment', async () => {
		const from = sender(fixture, 'stripe');
		const elicitation = await start(from, 'stripe', { expected: PRICE });
		let asked = 0;
		const outcome = wait(elicitation, { recheck: () => void (asked += 1) });
		await from.send(from.event(elicitation.id, 'paid', { amount: null, currency: null }));
		await until('it was asked', () => asked === 1);
		await from.send(from.event(elicitation.id, 'settled', PRICE));
		assert.equal((await outcome).action, 'accept');
		assert.equal(asked, 1);
	});
});

describe('a delivery that is refused or changes nothing', () => {
	const refused = async (delivery, status, code) => {
		const answer = await post(delivery);
		assert.equal(answer.status, status, answer.body);
		assert.ok(answer.body.startsWith(`${code}: `), answer.body);
	};
	let from;
	let elicitation;
	let row;

	before(async () => {
		from = sender(fixture, 'stripe');
		elicitation = await start(from, 'stripe');
		row = await fixture.row(elicitation.id);
	});

	after(async () => {
		assert.equal(await fixture.row(elicitation.id), row);
		assert.deepEqual(await fixture.events(elicitation), []);
	});

	test('another secret', async () => {
		await refused(await from.deliver(from.event(elicitation.id, 'paid'), { secret: 'whsec_another' }), 401, 'signature_invalid');
	});

	test('no signature', async () => {
		const { headers, ...delivery } = await from.deliver(from.event(elicitation.id, 'paid'));
		await refused({ ...delivery, headers: { 'Content-Type': headers['Content-Type'] } }, 401, 'signature_missing');
	});

	test('a body that was changed', async () => {
		const delivery = await from.deliver(from.event(elicitation.id, 'paid'));
		await refused({ ...delivery, body: `${delivery.body} ` }, 401, 'signature_invalid');
	});

	test('signed ten minutes ago', async () => {
		const timestamp = Math.floor(Date.now() / 1000) - 600;
		await refused(await from.deliver(from.event(elicitation.id, 'paid'), { timestamp }), 401, 'timestamp_out_of_tolerance');
	});

	test('a body over the limit', async () => {
		const answer = await post(await signedBytes(JSON.stringify({ id: 'x'.repeat(4_200_000) })));
		assert.equal(answer.status, 413);
	});

	test('another method, another provider, one that has no webhook', async () => {
		const delivery = await from.deliver(from.event(elicitation.id, 'paid'));
		const get = await post({ ...delivery, method: 'GET', body: undefined });
		assert.equal(get.status, 405);
		assert.equal(get.headers.allow, 'POST');
		await refused({ ...delivery, url: fixture.url('/webhook/nobody') }, 404, 'unknown_provider');
		await refused({ ...delivery, url: fixture.url('/webhook/demo') }, 404, 'unknown_provider');
	});

	test('of another provider, for this elicitation', async () => {
		const svix = sender(fixture, 'svix');
		assert.equal((await svix.send(svix.event(elicitation.id, 'paid'))).status, 200);
	});

	test('an elicitation that is not ours, a type that says nothing: taken, and nothing is done', async () => {
		assert.equal((await from.send(from.event('6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11', 'paid'))).status, 200);
		assert.equal((await from.send(from.event('not an id', 'paid'))).status, 200);
	});

	/** These very bytes, signed by Stripe's package. */
	async function signedBytes(text) {
		const { default: Stripe } = await import('stripe');
		const header = new Stripe('sk_test').webhooks.generateTestHeaderString({ payload: text, secret: from.provider.secrets[0] });
		return {
			url: fixture.url('/webhook/stripe'), method: 'POST', body: text,
			headers: { 'Content-Type': 'application/json', 'Stripe-Signature': header },
		};
	}
});

test('an event type that says nothing to us is kept for its elicitation', async () => {
	const from = sender(fixture, 'stripe');
	const { id } = await start(from, 'stripe');
	const before = await fixture.row(id);
	assert.equal((await from.send(from.event(id, 'ignored'))).status, 200);
	assert.equal(await fixture.row(id), before);
	assert.equal((await fixture.events({ id }))[0].action, 'ignored');
});

describe('a challenge', () => {
	test('zoom: is answered with the MAC of the token, if it is signed', async () => {
		const from = sender(fixture, 'zoom');
		const question = from.event();
		const { status, headers, body } = await from.send(question);
		const { plainToken } = question.payload;

		assert.deepEqual([status, headers['content-type']], [200, 'application/json']);
		assert.equal(headers['x-content-type-options'], 'nosniff');
		assert.deepEqual(JSON.parse(body), {
			plainToken, encryptedToken: createHmac('sha256', from.provider.secrets[0]).update(plainToken).digest('hex'),
		});
		assert.equal((await from.send(question, { secret: 'another' })).status, 401);
	});

	test('adobe-acrobat-sign: is answered to a GET of its client, and so is each notification', async () => {
		const from = sender(fixture, 'adobe-acrobat-sign');
		const elicitation = await start(from, 'adobe-acrobat-sign');
		const client = from.provider.constants.client_id;
		const ask = (headers) => post({ url: elicitation.webhookUrl, method: 'GET', headers });

		for (const answer of [await ask({ 'X-AdobeSign-ClientId': client }), await from.send(from.event(elicitation.id))]) {
			assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'application/json']);
			assert.deepEqual(JSON.parse(answer.body), { xAdobeSignClientId: client });
		}
		for (const headers of [{}, { 'X-AdobeSign-ClientId': 'another' }])
			assert.equal((await ask(headers)).status, 401);
	});

	test('meta: is answered to a GET with the token of the site, as text, and nothing else is', async () => {
		const { provider } = sender(fixture, 'meta');
		const ask = (query, method = 'GET') => post({
			url: fixture.url(`/webhook/meta?${new URLSearchParams({
				'hub.mode': 'subscribe', 'hub.verify_token': provider.constants.verify_token, 'hub.challenge': '1158201444', ...query,
			})}`), method,
		});
		const { status, headers, body } = await ask();

		assert.deepEqual([status, headers['content-type'], body], [200, 'text/plain; charset=utf-8', '1158201444']);
		for (const query of [{ 'hub.challenge': '<script>alert(1)</script>' }, { 'hub.verify_token': 'x' }, { 'hub.mode': 'x' }])
			assert.equal((await ask(query)).status, 401);
		const other = await ask({}, 'PUT');
		assert.deepEqual([other.status, other.headers.allow], [405, 'GET, POST']);
	});
});
