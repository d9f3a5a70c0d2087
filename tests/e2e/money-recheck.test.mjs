// Webhooks that prove nothing, and the recheck that they ask for.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { openFixture } from '../support/fixture.mjs';
import { post } from '../support/http.mjs';
import { Tokens } from '../support/tokens.mjs';
import { deferred, until } from '../support/wait.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'money-recheck' });
});

after(() => fixture?.close());

/** Mollie's API: payment id → what was paid. */
const mollie = new Map();

/** A payment that Mollie has collected. */
function collect(price = PRICE) {
	const id = `tr_${randomUUID().slice(0, 8)}`;
	mollie.set(id, price);
	return id;
}

/** What a server asks Mollie's API. It trusts the reference that it is given. */
function recheck({ reference }) {
	const price = mollie.get(reference);
	return price && { action: 'accept', reference, ...price };
}

const create = (options) => fixture.createPayment('mollie', { expected: PRICE, ...options });

/** A payment whose user has gone on to the checkout. */
const goToCheckout = (options) => fixture.goOn(fixture.browser(), {
	provider: 'mollie', kind: 'payment', targetUrl: 'https://checkout.example/pay', expected: PRICE, ...options,
});

/** Mollie's webhook: a form with the id of the payment, to the URL that it was given. */
async function call(url, id) {
	const answer = await post(url, { id });
	return answer.status;
}

const wait = ({ id, owner }, { urlmode = fixture.urlmode, ...options } = {}) => (
	urlmode.waitForCompletion(id, { ...owner, timeout: 20_000, recheck, ...options }));

/** The row as a wait sees it that does not wait. */
const check = async (payment) => wait(payment, { timeout: 0 }).catch(({ code }) => code);

describe('who may ask for a recheck', () => {
	test('whoever was given the URL', async () => {
		const payment = await goToCheckout();
		const outcome = wait(payment);
		const id = collect();
		assert.equal(await call(payment.webhookUrl, id), 200);
		const { action, reference } = await outcome;
		assert.deepEqual({ action, reference }, { action: 'accept', reference: id });
	});

	test('the URL is valid as long as the provider may use it, months after the expiry', async () => {
		const payment = await fixture.passDays(await goToCheckout(), 300);
		assert.equal(await call(payment.webhookUrl, collect()), 200);
		assert.deepEqual((await fixture.events(payment)).map(({ action }) => action), ['recheck']);
	});

	test('the function for the checkout is given the URL', async () => {
		let given;
		const payment = await create({ targetUrl: (way) => {
			given = way.webhookUrl;
			return 'https://checkout.example/pay';
		} });
		assert.equal(given, payment.webhookUrl);
		assert.equal(new URL(given).pathname, '/webhook/mollie');
	});

	test('nobody who knows only the elicitation, or has another of its tokens', async () => {
		const payment = await goToCheckout();
		const row = await fixture.row(payment.id);
		const tokens = new Tokens(fixture.stack);
		const url = fixture.url('/webhook/mollie');
		const elsewhere = await create();
		for (const [query, status, reason] of [
			[`elicitation=${payment.id}`, 400, 'state_missing'],
			[`state=${tokens.mint(payment)}`, 400, 'state_invalid'],
			[`state=${tokens.mint(payment, { purpose: 'connect' })}`, 400, 'state_invalid'],
			[`state=${tokens.mint(payment, { purpose: 'webhook', provider: 'stripe' })}`, 400, 'state_invalid'],
			[`state=${tokens.mint(payment, { purpose: 'webhook', expires: 1 })}`, 410, 'state_expired'],
		]) {
			const answer = await post(`${url}?${query}`, { id: collect() });
			assert.deepEqual([answer.status, /^\w+/.exec(answer.body)[0]], [status, reason]);
		}
		await call(elsewhere.webhookUrl, collect());
		assert.equal(await fixture.row(payment.id), row);
		assert.deepEqual(await fixture.events(payment), []);
	});
});

describe('what a stranger chose', () => {
	test('somebody else\'s payment, which has paid for its own elicitation, pays for no other', async () => {
		const [first, second] = [await goToCheckout(), await goToCheckout()];
		const id = collect();
		await call(first.webhookUrl, id);
		assert.equal((await wait(first)).action, 'accept');

		await call(second.webhookUrl, id);
		assert.equal(await check(second), 'ELICITATION_TIMEOUT');
		assert.deepEqual(await fixture.state(second), ['opened', null, '']);
		const genuine = collect();
		await call(second.webhookUrl, genuine);
		assert.equal((await wait(second)).reference, genuine);
	});

	test('a payment of another amount or currency pays for nothing', async () => {
		const payment = await goToCheckout();
		for (const price of [{ ...PRICE, amount: 1 }, { ...PRICE, currency: 'JPY' }]) {
			await call(payment.webhookUrl, collect(price));
			assert.equal(await check(payment), 'ELICITATION_TIMEOUT');
			assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
		}
	});

	test('an answer that names no amount or no reference is an error of the server', async () => {
		const payment = await goToCheckout();
		await call(payment.webhookUrl, collect());
		await assert.rejects(wait(payment, { recheck: () => ({ action: 'accept' }) }), TypeError);
		assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
	});

	test('junk after the genuine reference does not hide it', async () => {
		const payment = await goToCheckout();
		const genuine = collect();
		await call(payment.webhookUrl, genuine);
		for (let count = 0; count < 10; count += 1) await call(payment.webhookUrl, `tr_junk${count}`);
		let asked;
		const { reference } = await wait(payment, {
			recheck(question) {
				asked = question;
				return recheck({ reference: question.references.find((each) => mollie.has(each)) });
			},
		});
		assert.equal(reference, genuine);
		assert.deepEqual([asked.references.length, asked.reference, asked.expected], [11, 'tr_junk9', PRICE]);
	});

	test('junk on what nobody has opened leaves it pending, is kept within bounds, and it expires', async () => {
		const payment = await create({ ttl: 4_000 });
		for (let count = 0; count < 100; count += 1) await call(payment.webhookUrl, `tr_junk${count}`);
		const [{ status, references, rechecks }] = await fixture.stack.sql(
			'SELECT status, unproven_references::text[] AS "references", rechecks FROM urlmode.elicitation JOIN urlmode.recheck ON elicitation = id WHERE id = $1', [payment.id]);
		assert.deepEqual([status, references.length, references.at(-1), rechecks], ['pending', 16, 'tr_junk99', 100]);
		assert.ok((await fixture.events(payment)).length <= 64);
		const { action, reason } = await wait(payment);
		assert.deepEqual([action, reason], ['cancel', 'expired']);
	});
});

describe('several waits for one payment', () => {
	test('a recheck that outlives its lease does not end that of the next one', async () => {
		const payment = await goToCheckout();
		const instances = [fixture.urlmode, fixture.openUrlMode(), fixture.openUrlMode()];
		const asked = [];
		const answers = instances.map(deferred);
		const outcomes = instances.map((urlmode, n) => wait(payment, {
			urlmode,
			recheck() {
				asked.push(n);
				return answers[n].promise;
			},
		}));
		await call(payment.webhookUrl, collect());
		await until('one asks', () => asked.length === 1);
		await fixture.stack.sql('UPDATE urlmode.recheck SET recheck_at = now() WHERE elicitation = $1', [payment.id]);
		await call(payment.webhookUrl, collect());
		await until('another one asks', () => asked.length === 2);
		const [{ lease }] = await fixture.stack.sql('SELECT recheck_at::text AS lease FROM urlmode.recheck WHERE elicitation = $1', [payment.id]);

		answers[asked[0]].resolve(undefined);
		await until('the first has ended', async () => (
			await fixture.stack.sql('SELECT FROM urlmode.recheck WHERE elicitation = $1 AND rechecked = 1', [payment.id])).length === 1);
		assert.deepEqual(await fixture.stack.sql('SELECT recheck_at::text AS lease FROM urlmode.recheck WHERE elicitation = $1', [payment.id]), [{ lease }]);
		assert.equal(asked.length, 2, 'one asks at a time');
		answers[asked[1]].resolve({ action: 'accept', reference: collect(), ...PRICE });
		for (const { action } of await Promise.all(outcomes)) assert.equal(action, 'accept');
	});
});

describe('a payment that was cancelled, and of which an event says that it was paid', () => {
	const ask = (payment, options) => create({ ...payment.owner, item: 'report', ...options });

	async function cancelAndPay() {
		const payment = await goToCheckout({ item: 'report' });
		await fixture.urlmode.cancel(payment.id, payment.owner);
		await call(payment.webhookUrl, collect());
		return payment;
	}

	test('the next call rechecks it', async () => {
		const payment = await cancelAndPay();
		const again = await ask(payment);
		assert.equal(again.id, payment.id);
		const { action, late } = await wait(again);
		assert.deepEqual([action, late], ['accept', true]);
	});

	test('a server without a recheck function asks anew', async () => {
		const payment = await cancelAndPay();
		await fixture.urlmode.claim(payment.id, { ...payment.owner, action: 'cancel' });
		const again = await ask(payment, { canRecheck: false });
		assert.equal(again.resumed, false);
		// Also where another call has asked at the same time.
		const ids = await Promise.all([1, 2].map(async () => (await ask(payment, { canRecheck: false })).id));
		assert.deepEqual(ids, [again.id, again.id]);
	});
});
