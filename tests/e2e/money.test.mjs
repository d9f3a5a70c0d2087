// The end of a wait is not the end of a payment: what a user has opened stays
// open, and what they have paid is offered until a call has claimed it.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import { internalsOf } from '../../lib/node/src/core/internals.js';
import {
	deleteElicitations, makeExampleProject, openAdapterFixture, goToCheckout, pay, PRICE, rowState, settle, startExample,
} from '../support/adapters.mjs';
import { connectSdk1 } from '../support/clients.mjs';
import { sender } from '../support/deliveries.mjs';
import { request as http } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

const PAID = { text: 'Paid with cs_test_1.', isError: false };

let fixture;

before(async () => {
	fixture = await openAdapterFixture('money');
});

after(() => fixture?.close());

/** A payment that a later call with the same key goes on with. */
const ask = (provider = 'stripe', options = {}) => fixture.createPayment(provider, { expected: PRICE, item: 'report', ...options });

/** The same question again, by the same user. */
const askAgain = ({ provider, owner }, options) => ask(provider, { ...owner, ...options });

/** A payment whose user has gone on to the checkout. */
const openPayment = (provider = 'stripe', options = {}, browser = fixture.browser()) => fixture.goOn(browser, {
	provider, kind: 'payment', targetUrl: 'https://checkout.example/pay', expected: PRICE, item: 'report', ...options,
});

const wait = ({ id, owner }, options) => fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 20_000, ...options });

async function send(name, { id }, what, price = PRICE) {
	const from = sender(fixture, name);
	assert.equal((await from.send(from.event(id, what, price))).status, 200);
}

describe('a tool call that ends while its user is at the checkout', { timeout: 120_000 }, () => {
	const project = makeExampleProject('sdk', 'newest');
	let server;

	before(async () => {
		server = await startExample(fixture, project);
	});

	beforeEach(() => deleteElicitations(fixture));

	const connect = async () => fixture.closeAtEnd(await connectSdk1(project, { url: server.url, token: 'token-of-ada' }));

	/** Calls buy_report, and goes on to the checkout. */
	async function call(client, options) {
		const result = client.call('buy_report', options);
		result.catch(() => {});
		const { url } = await client.nextRequest();
		const id = await goToCheckout(fixture, url);
		return { id, result };
	}

	/** The user pays, and the next call gets it without asking. */
	async function assertPaidOnce(id, client) {
		// The answer to this says that the server has heard of the end of the call.
		await client.call('no_such_tool').catch(() => {});
		assert.equal(await rowState(fixture, id), 'opened');
		await settle(fixture, id);
		assert.equal(await rowState(fixture, id), 'completed accept');
		const asked = client.requests.length;
		assert.deepEqual(await client.call('buy_report'), PAID);
		assert.equal(client.requests.length, asked, 'the user is not asked to pay again');
	}

	test('the client\'s request times out', async () => {
		const client = await connect();
		const { id, result } = await call(client, { timeout: 6_000 });
		await assert.rejects(result, /timed out/i);
		await assertPaidOnce(id, client);
	});

	test('the client cancels its request', async () => {
		const client = await connect();
		const controller = new AbortController();
		const { id, result } = await call(client, { signal: controller.signal });
		controller.abort('enough');
		await assert.rejects(result);
		await assertPaidOnce(id, client);
	});

	test('the client ends its session', async () => {
		const client = await connect();
		const { id } = await call(client);
		await client.endSession();
		await assertPaidOnce(id, await connect());
	});

	test('the server is stopped, as with every deployment', async () => {
		const { id } = await call(await connect());
		assert.equal(await server.stop(), 0, server.output);
		server = await startExample(fixture, project);
		await assertPaidOnce(id, await connect());
	});

	test('called again before anything was paid: the same elicitation, with a link that works', async () => {
		const client = await connect();
		const { id, result } = await call(client, { timeout: 6_000 });
		await assert.rejects(result);
		const again = await call(client);
		assert.equal(again.id, id);
		await settle(fixture, id);
		assert.deepEqual(await again.result, PAID);
	});

	test('what was paid is still there eleven minutes after the client was told of it', async () => {
		const client = await connect();
		const elicitation = await client.call('read_report').then(() => assert.fail('it was not thrown'), (error) => error.data.elicitations[0]);
		const id = await pay(fixture, elicitation.url);
		await until('the client is told', () => client.completed.length === 1);
		// A server that stops writes down at once what it has read.
		await server.stop();
		await age(id, '11 minutes');
		server = await startExample(fixture, project);
		assert.deepEqual(await (await connect()).call('read_report'), PAID);
	});
});

/** Moves everything about an elicitation into the past, and purges what is due. */
async function age(id, interval) {
	await fixture.stack.sql(`
		WITH e AS (
			UPDATE urlmode.elicitation SET created_at = created_at - $2::interval, opened_at = opened_at - $2::interval,
				expires_at = expires_at - $2::interval, completed_at = completed_at - $2::interval
			WHERE id = $1
		), p AS (
			UPDATE urlmode.payment SET proven_at = proven_at - $2::interval WHERE elicitation = $1
		)
		UPDATE urlmode.purge_queue SET due_at = due_at - $2::interval WHERE $1 = ANY (ids)`, [id, interval]);
	await fixture.purgeResults();
}

describe('a wait that ends while its user is at the checkout', () => {
	test('times out: the payment stays open, and the next wait gets it', async () => {
		const payment = await openPayment();
		await assert.rejects(wait(payment, { timeout: 100, abandon: true }), { code: 'ELICITATION_TIMEOUT', status: 'opened' });
		assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
		const again = await askAgain(payment);
		assert.deepEqual([again.resumed, again.id], [true, payment.id]);
		await send('stripe', payment, 'paid');
		assert.equal((await wait(again)).action, 'accept');
	});

	test('that nobody has opened ends with its wait', async () => {
		const payment = await ask();
		await assert.rejects(wait(payment, { timeout: 100, abandon: true }), { code: 'ELICITATION_TIMEOUT', status: 'pending' });
		assert.deepEqual(await fixture.state(payment), ['completed', 'cancel', 'timeout']);
	});

	for (const [what, settled, action] of [['and is settled', 'settled', 'accept'], ['and fails', 'failed', 'cancel']]) {
		test(`is declined by its user, who then goes back and pays by a transfer ${what}: nobody is asked again meanwhile`, async () => {
			const browser = fixture.browser();
			const payment = await openPayment('stripe', {}, browser);
			await browser.open(payment.cancelUrl);
			assert.deepEqual(await fixture.state(payment), ['completed', 'decline', 'cancelled']);
			await fixture.urlmode.claim(payment.id, { ...payment.owner, action: 'decline' });
			await send('stripe', payment, 'processing');
			assert.match((await browser.open(payment.returnUrl)).body, /<title>[^<]*ait/, 'the page waits for the transfer');

			const again = await askAgain(payment);
			assert.deepEqual([again.resumed, again.id], [true, payment.id]);
			await assert.rejects(wait(again, { timeout: 0 }), { code: 'ELICITATION_TIMEOUT', status: 'processing' });
			const waiting = wait(again);
			await send('stripe', payment, settled);
			const outcome = await waiting;
			assert.deepEqual([outcome.action, outcome.late], action === 'accept' ? ['accept', true] : ['decline', undefined]);
			assert.equal((await askAgain(payment)).resumed, action === 'accept', 'what was not paid is asked for anew');
		});
	}

	test('nothing else of its owner supersedes it', async () => {
		const opened = await openPayment();
		const processing = await openPayment('stripe', { ...opened.owner, item: 'another report' });
		await send('stripe', processing, 'processing');
		await fixture.createPayment('stripe', { ...opened.owner, expected: PRICE, exclusive: true });
		assert.deepEqual(await fixture.state(opened), ['opened', null, '']);
		assert.deepEqual(await fixture.state(processing), ['processing', null, '']);
	});

	test('the server cancels it by its own decision: the outcome says what that cut off', async () => {
		const payment = await openPayment();
		const outcome = wait(payment);
		await fixture.urlmode.cancel(payment.id, { ...payment.owner, reason: 'out_of_stock' });
		const { action, reason, from } = await outcome;
		assert.deepEqual({ action, reason, from }, { action: 'cancel', reason: 'out_of_stock', from: 'opened' });
	});
});

describe('an attempt is not an outcome', () => {
	test('adyen: a card is refused, and another one is authorised', async () => {
		const payment = await openPayment('adyen');
		const told = [];
		const outcome = wait(payment, { onProgress: (progress) => told.push(progress) });
		await until('it is told that the page is open', () => told.includes('opened'));
		await send('adyen', payment, 'failed');
		await until('it is told of the attempt', () => told.includes('attempt_failed'));
		assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
		await send('adyen', payment, 'paid');
		assert.equal((await outcome).action, 'accept');
		assert.deepEqual((await fixture.events(payment)).map(({ action }) => action), ['attempt_failed', 'accept']);
	});

	test('square: a payment fails, and the next one is completed', async () => {
		const payment = await openPayment('square');
		await send('square', payment, 'failed');
		assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
		await send('square', payment, 'paid');
		assert.equal((await wait(payment)).action, 'accept');
	});

	test('the page that follows the payment says that another try is possible', async () => {
		const browser = fixture.browser();
		const payment = await fixture.goOn(browser, {
			provider: 'adyen', kind: 'payment', targetUrl: 'https://checkout.example/pay', expected: PRICE,
		});
		await send('adyen', payment, 'failed');
		assert.match((await browser.open(payment.returnUrl)).text, /try again/i);
	});
});

describe('what is paid after the end', () => {
	/**
	 * A payment that expired, and was paid after that. Stripe says when a session
	 * expires. Adyen does not: the time and the grace of the elicitation pass.
	 */
	async function payLate(provider = 'stripe') {
		const payment = await openPayment(provider);
		if (provider === 'stripe') await send(provider, payment, 'expired');
		else await age(payment.id, '31 days');
		const { action, reason } = await wait(payment);
		assert.deepEqual([action, reason], ['cancel', 'expired']);
		await send(provider, payment, 'paid');
		return payment;
	}

	const listed = async ({ id }, options) => (await fixture.urlmode.unclaimed(options)).filter(({ elicitationId }) => elicitationId === id);

	/** The `late` events that another instance tells, from the moment that it listens. */
	async function tellLate() {
		const events = [];
		const urlmode = fixture.openUrlMode();
		urlmode.on('late', (event) => events.push(event));
		await until('it listens', () => internalsOf(urlmode).listener.receivesNotifications);
		return events;
	}

	for (const provider of ['stripe', 'adyen']) {
		test(`${provider}: it is offered to the next call, and claimed once`, async () => {
			const payment = await payLate(provider);
			const again = await askAgain(payment);
			assert.deepEqual([again.resumed, again.id], [true, payment.id]);
			const { action, reason, late, reference } = await wait(again);
			assert.deepEqual({ action, reason, late }, { action: 'accept', reason: '', late: true });

			assert.equal((await listed(payment)).length, 1);
			assert.equal(await fixture.urlmode.claim(payment.id, { ...payment.owner, reference }), true);
			assert.equal(await fixture.urlmode.claim(payment.id, { ...payment.owner, reference }), false);
			assert.deepEqual(await listed(payment), []);
			assert.equal((await askAgain(payment)).resumed, false, 'what was delivered is sold again');
		});
	}

	test('what is paid when its time is over is late, although nobody has ended it', async () => {
		const events = await tellLate();
		const [byWebhook, byServer] = [await openPayment('adyen'), await openPayment('adyen')];
		for (const { id } of [byWebhook, byServer]) await age(id, '31 days');

		await send('adyen', byWebhook, 'paid');
		assert.equal(await fixture.urlmode.complete(byServer.id, { ...byServer.owner, action: 'accept', reference: byServer.id, ...PRICE }), true);
		for (const payment of [byWebhook, byServer]) {
			assert.deepEqual(await fixture.state(payment), ['completed', 'accept', '']);
			const { action, late } = await wait(await askAgain(payment));
			assert.deepEqual([action, late], ['accept', true]);
			await until('it is told', () => events.some(({ elicitationId }) => elicitationId === payment.id));
		}
	});

	test('what a user pays for, although another one of theirs took its place, is offered to the next call', async () => {
		const payment = await ask();
		await ask('stripe', { ...payment.owner, item: 'other', exclusive: true });
		assert.deepEqual(await fixture.state(payment), ['completed', 'cancel', 'superseded']);
		await send('stripe', payment, 'processing');
		await send('stripe', payment, 'settled');
		const again = await askAgain(payment);
		assert.deepEqual([again.resumed, again.id], [true, payment.id]);
		const { action, late } = await wait(again);
		assert.deepEqual([action, late], ['accept', true]);
	});

	test('an elicitation with money that nobody has claimed is not deleted', async () => {
		const payment = await payLate();
		const remove = () => fixture.stack.sql('DELETE FROM urlmode.elicitation WHERE id = $1 RETURNING id', [payment.id]);
		await assert.rejects(remove(), { code: '23001', message: `elicitation ${payment.id} has a payment that no call has claimed` });
		await fixture.urlmode.claim(payment.id, payment.owner);
		assert.notDeepEqual(await fixture.events(payment), []);
		assert.deepEqual(await remove(), [{ id: payment.id }]);
		assert.deepEqual(await fixture.events(payment), []);
	});

	test('it is listed with what is needed to deliver or to refund it', async () => {
		const payment = await payLate();
		const [{ provenAt, result, ...rest }] = await listed(payment, { provider: 'stripe', since: new Date(Date.now() - 60_000) });
		assert.deepEqual(rest, {
			elicitationId: payment.id, provider: 'stripe', ...payment.owner, item: 'report', resumeKey: undefined,
			reference: `cs_test_${payment.id}`, ...PRICE, matches: true, late: true, refunded: 0, held: false,
		});
		assert.ok(Date.now() - provenAt < 60_000);
		assert.equal(result.reference, `cs_test_${payment.id}`);
		assert.deepEqual(await listed(payment, { provider: 'adyen' }), []);
		assert.deepEqual(await listed(payment, { since: new Date() }), []);
	});

	test('a month later, its reference, amount and currency are still listed', async () => {
		const payment = await payLate();
		await age(payment.id, '31 days');
		const [{ reference, amount, currency, result }] = await listed(payment);
		assert.deepEqual({ reference, amount, currency, result }, { reference: `cs_test_${payment.id}`, ...PRICE, result: undefined });
	});

	test('what the provider has given back is not offered', async () => {
		const payment = await payLate();
		await fixture.stack.sql('UPDATE urlmode.payment SET refunded_at = now() WHERE elicitation = $1', [payment.id]);
		assert.deepEqual(await listed(payment), []);
		assert.equal((await askAgain(payment)).resumed, false);
	});

	test('every instance that is up tells of it, once', async () => {
		const told = [await tellLate(), await tellLate()];
		const payment = await payLate();
		const of = ({ elicitationId }) => elicitationId === payment.id;
		await until('both have told', () => told.every((events) => events.some(of)));
		for (const events of told) {
			assert.deepEqual(events.filter(of), [{
				elicitationId: payment.id, provider: 'stripe', ...payment.owner, reference: `cs_test_${payment.id}`, ...PRICE, matches: true,
			}]);
		}
	});

	test('the operator sees it in the metrics', async () => {
		const count = async () => Number(/^urlmode_unclaimed_payments (\d+)$/m.exec((await http(fixture.url('/metrics'))).body)?.[1]);
		const before = await count();
		const payment = await payLate();
		assert.equal(await count(), before + 1);
		await fixture.urlmode.claim(payment.id, payment.owner);
		assert.equal(await count(), before);
	});

	test('the page says that the money has arrived, and that nobody is asked to pay again', async () => {
		const browser = fixture.browser();
		const payment = await fixture.goOn(browser, {
			provider: 'stripe', kind: 'payment', targetUrl: 'https://checkout.example/pay', expected: PRICE,
		});
		await send('stripe', payment, 'expired');
		await send('stripe', payment, 'paid');
		const page = await browser.open(payment.returnUrl);
		assert.match(page.text, /payment has arrived/i);
		assert.match(page.text, /not be asked to pay again/i);
	});
});
