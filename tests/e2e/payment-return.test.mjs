// The browser's way back from a payment: it proves nothing, follows the row,
// and ends on the same last page.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { sender } from '../support/deliveries.mjs';
import { create, PROVIDER_PAGE, press } from '../support/flow.mjs';
import { titleOf } from '../support/pages.mjs';
import { openFixture } from '../support/fixture.mjs';

const PRICE = { amount: 500, currency: 'EUR' };

let fixture;
let stripe;

before(async () => {
	fixture = await openFixture({ name: 'payment-return' });
	stripe = sender(fixture, 'stripe');
});

after(() => fixture?.close());

/** A payment whose user has gone on to the checkout in `browser`. */
async function pay(browser, options) {
	let given;
	const payment = await create(fixture.urlmode, {
		provider: 'stripe', kind: 'payment', expected: PRICE, ...options,
		targetUrl: (way) => {
			given = way;
			return `https://checkout.example/pay?back=${encodeURIComponent(way.returnUrl)}`;
		},
	});
	assert.equal(given.returnUrl, payment.returnUrl);
	assert.equal(given.cancelUrl, payment.cancelUrl);
	const confirm = await browser.open(payment.url);
	const hop = await press(browser, confirm, 'continue');
	assert.equal(hop.location, `https://checkout.example/pay?back=${encodeURIComponent(payment.returnUrl)}`);
	return payment;
}

const back = (browser, url) => browser.send({ url: new URL(url), from: PROVIDER_PAGE });

function statusRoute({ returnUrl }) {
	const state = new URL(returnUrl).searchParams.get('state');
	return fixture.url(`/status?provider=stripe&state=${state}`);
}

test('the return completes nothing; its page follows the row, and ends on /done', async () => {
	const browser = fixture.browser();
	const payment = await pay(browser);
	const before = await fixture.row(payment.id);

	const page = await browser.open(payment.returnUrl);
	assert.equal(page.status, 200);
	assert.equal(titleOf(page), 'Waiting for confirmation');
	assert.match(page.headers['content-security-policy'], /script-src 'sha256-/);
	assert.match(page.body, /<noscript><meta http-equiv="refresh" content="5"><\/noscript>/);
	assert.equal(await fixture.row(payment.id), before);

	const open = await back(browser, statusRoute(payment));
	assert.deepEqual(JSON.parse(open.body), { status: 'opened', action: null, reason: '', failed_attempts: 0, late: false });
	await stripe.send(stripe.event(payment.id, 'processing', PRICE));
	assert.equal(JSON.parse((await back(browser, statusRoute(payment))).body).status, 'processing');
	await stripe.send(stripe.event(payment.id, 'settled', PRICE));
	assert.deepEqual(JSON.parse((await back(browser, statusRoute(payment))).body),
		{ status: 'completed', action: 'accept', reason: '', failed_attempts: 0, late: false });

	const done = await browser.open(payment.returnUrl);
	assert.equal(done.url, fixture.url('/done'));
	assert.equal(titleOf(done), 'All done');
});

describe('how it ended, on /done', () => {
	for (const [what, title, paid = PRICE] of [
		['paid', 'All done'],
		['failed', 'That did not work'],
		['expired', 'This request has expired'],
		['paid', 'The amount does not match', { ...PRICE, amount: PRICE.amount + 1 }],
	]) {
		test(`${what}: ${title}`, async () => {
			const browser = fixture.browser();
			const payment = await pay(browser);
			await stripe.send(stripe.event(payment.id, what, paid));
			const done = await browser.open(payment.returnUrl);
			assert.equal(done.url, fixture.url('/done'));
			assert.equal(titleOf(done), title);
		});
	}
});

describe('the return without a payment', () => {
	test('declines a payment that was not made, and wakes the waiter', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser);
		const outcome = fixture.urlmode.waitForCompletion(payment.id, payment.owner);
		const page = await browser.open(payment.cancelUrl);
		assert.equal(page.url, fixture.url('/done'));
		assert.equal(titleOf(page), 'Declined');
		const { action, reason } = await outcome;
		assert.deepEqual([action, reason], ['decline', 'cancelled']);
	});

	test('does not decline a payment that is processing', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser);
		await stripe.send(stripe.event(payment.id, 'processing', PRICE));
		const before = await fixture.row(payment.id);
		const page = await browser.open(payment.cancelUrl);
		assert.equal(titleOf(page), 'Still processing');
		assert.equal(await fixture.row(payment.id), before);
	});

	test('declines a document that was only opened, but not one that somebody has signed', async () => {
		const docusign = sender(fixture, 'docusign');
		for (const [what, title] of [['opened', 'Declined'], ['processing', 'Still processing']]) {
			const browser = fixture.browser();
			const document = await fixture.goOn(browser, { provider: 'docusign', kind: 'signature', targetUrl: 'https://documents.example/sign' });
			assert.equal((await docusign.send(docusign.event(document.id, what))).status, 200);
			assert.equal(titleOf(await browser.open(document.cancelUrl)), title, what);
		}
	});

	test('does not decline a payment that was made', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser);
		await stripe.send(stripe.event(payment.id, 'paid', PRICE));
		const page = await browser.open(payment.cancelUrl);
		assert.equal(titleOf(page), 'All done');
		assert.deepEqual(await fixture.state(payment), ['completed', 'accept', '']);
	});
});

describe('only the browser that started', () => {
	test('sees the payment\'s pages, and may decline', async () => {
		const payment = await pay(fixture.browser());
		const before = await fixture.row(payment.id);
		const other = fixture.browser();
		await pay(other);
		for (const browser of [fixture.browser(), other]) {
			for (const url of [payment.returnUrl, payment.cancelUrl]) {
				const hop = await back(browser, url);
				assert.equal(hop.status, 200, url);
				assert.match(hop.body, /<h1>You can close this page</);
				assert.doesNotMatch(hop.body, /state=|wrong_browser/);
			}
			assert.equal((await back(browser, statusRoute(payment))).status, 403);
		}
		assert.equal(await fixture.row(payment.id), before);
	});

	test('comes back to an address to which the provider has appended', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser);
		for (const more of ['?status=successful&tx_ref=1', '&name=Jos%E9', '&x=1&x=2']) {
			assert.equal(titleOf(await browser.open(`${payment.returnUrl}${more}`)), 'Waiting for confirmation', more);
		}
		assert.equal(titleOf(await browser.open(`${payment.cancelUrl}?status=cancelled`)), 'Declined');
	});

	test('nobody may decline before a browser has opened the payment', async () => {
		const payment = await create(fixture.urlmode, { provider: 'stripe', kind: 'payment', targetUrl: 'https://checkout.example/' });
		assert.match((await back(fixture.browser(), payment.cancelUrl)).body, /<h1>You can close this page</);
		assert.deepEqual(await fixture.state(payment), ['pending', null, '']);
	});
});

describe('after the expiry', () => {
	const set = ({ id }, columns) => fixture.stack.sql(`UPDATE urlmode.elicitation SET ${columns} WHERE id = $1`, [id]);
	const expire = (payment) => set(payment, "expires_at = now() - interval '1 minute'");
	const giveUp = (payment) => set(payment,
		"expires_at = now() - interval '1 hour', grace = interval '59 minutes'");

	test('a payment that is processing is followed until it is settled', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser);
		await stripe.send(stripe.event(payment.id, 'processing', PRICE));
		await expire(payment);
		assert.equal(titleOf(await browser.open(payment.returnUrl)), 'Waiting for confirmation');
		assert.equal(titleOf(await browser.open(payment.cancelUrl)), 'Still processing');
		await stripe.send(stripe.event(payment.id, 'settled', PRICE));
		assert.equal(titleOf(await browser.open(payment.returnUrl)), 'All done');
	});

	test('a payment that was opened is followed in its grace, and may be declined, but nobody can begin it', async () => {
		const browser = fixture.browser();
		const [payment, other] = [await pay(browser), await pay(browser)];
		await Promise.all([payment, other].map(expire));
		assert.equal(titleOf(await browser.open(payment.returnUrl)), 'Waiting for confirmation');
		const again = await browser.open(payment.url);
		assert.equal(again.status, 410);
		assert.match(again.body, /<code>expired<\/code>/);
		await stripe.send(stripe.event(payment.id, 'paid', PRICE));
		assert.equal(titleOf(await browser.open(payment.returnUrl)), 'All done');
		assert.equal(titleOf(await browser.open(other.cancelUrl)), 'Declined');
	});

	test('a user who comes back weeks later: a payment that is processing is followed, and then it is accepted', async () => {
		const browser = fixture.browser();
		const made = await pay(browser);
		await stripe.send(stripe.event(made.id, 'processing', PRICE));
		const payment = await fixture.passDays(made, 29);
		assert.equal(titleOf(await browser.open(payment.returnUrl)), 'Waiting for confirmation');
		assert.equal(JSON.parse((await back(browser, statusRoute(payment))).body).status, 'processing');
		assert.equal(titleOf(await browser.open(payment.cancelUrl)), 'Still processing');
		await stripe.send(stripe.event(payment.id, 'settled', PRICE));
		assert.equal(titleOf(await browser.open(payment.returnUrl)), 'All done');
	});

	test('a document may be signed, or declined, a hundred days later', async () => {
		const browser = fixture.browser();
		const open = async () => fixture.passDays(await fixture.goOn(browser, {
			provider: 'docusign', kind: 'signature', targetUrl: 'https://documents.example/sign',
		}), 100);
		const [signed, declined] = [await open(), await open()];
		assert.equal(titleOf(await browser.open(signed.returnUrl)), 'Waiting for confirmation');
		const docusign = sender(fixture, 'docusign');
		await docusign.send(docusign.event(signed.id, 'paid'));
		assert.equal(titleOf(await browser.open(signed.returnUrl)), 'All done');
		assert.equal(titleOf(await browser.open(declined.cancelUrl)), 'Declined');
	});

	test('after its grace it has expired; an event that comes later still counts', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser);
		await giveUp(payment);
		for (const url of [payment.returnUrl, payment.cancelUrl]) {
			const page = await browser.open(url);
			assert.equal(page.status, 410);
			assert.match(page.body, /<code>expired<\/code>/);
		}
		assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
		await stripe.send(stripe.event(payment.id, 'paid', PRICE));
		assert.equal(titleOf(await browser.open(payment.returnUrl)), 'All done');
	});
});

describe('a payment after the end', () => {
	test('its pages say that it has arrived, and the row keeps how it ended', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser);
		await browser.open(payment.cancelUrl);
		await stripe.send(stripe.event(payment.id, 'paid', PRICE));
		assert.deepEqual(await fixture.state(payment), ['completed', 'decline', 'cancelled']);
		assert.deepEqual(JSON.parse((await back(browser, statusRoute(payment))).body),
			{ status: 'completed', action: 'decline', reason: 'cancelled', failed_attempts: 0, late: true });
		for (const url of [payment.returnUrl, payment.cancelUrl, payment.url]) {
			assert.equal(titleOf(await browser.open(url)), 'Your payment has arrived', url);
		}
	});

	test('of another amount is not what was asked for', async () => {
		const browser = fixture.browser();
		const payment = await pay(browser);
		await browser.open(payment.cancelUrl);
		await stripe.send(stripe.event(payment.id, 'paid', { ...PRICE, amount: 1 }));
		assert.equal(titleOf(await browser.open(payment.returnUrl)), 'Declined');
	});
});

test('an attempt that failed: the page says that another one is possible', async () => {
	const browser = fixture.browser();
	const payment = await pay(browser);
	const said = /<p id="failed">The last attempt did not go through/;
	assert.doesNotMatch((await browser.open(payment.returnUrl)).body, said);
	await fixture.stack.sql(`SELECT urlmode.record_events(ARRAY[$1::uuid], '{stripe}', ARRAY[$2], '{attempt}',
		'{attempt_failed}', '{NULL}', '{NULL}', '{NULL}', '{NULL}')`, [payment.id, `attempt-${payment.id}`]);
	assert.match((await browser.open(payment.returnUrl)).body, said);
	assert.equal(JSON.parse((await back(browser, statusRoute(payment))).body).failed_attempts, 1);
	await stripe.send(stripe.event(payment.id, 'paid', PRICE));
	assert.equal(titleOf(await browser.open(payment.returnUrl)), 'All done');
});

test('a state for one way does not open the other', async () => {
	const browser = fixture.browser();
	const payment = await pay(browser);
	const state = (url) => new URL(url).searchParams.get('state');
	for (const [path, token] of [
		['/payment/stripe/cancel', state(payment.returnUrl)],
		['/payment/stripe/return', state(payment.cancelUrl)],
	]) {
		const hop = await back(browser, fixture.url(`${path}?state=${token}`));
		assert.equal(hop.status, 400, path);
		assert.match(hop.body, /state_invalid/);
	}
	assert.deepEqual(await fixture.state(payment), ['opened', null, '']);
});

test('HEAD, POST and a prefetch decline nothing', async () => {
	const browser = fixture.browser();
	const payment = await pay(browser);
	const before = await fixture.row(payment.id);
	for (const method of ['HEAD', 'POST']) {
		const hop = await browser.send({ url: new URL(payment.cancelUrl), method, body: method === 'POST' ? 'a=b' : undefined, from: PROVIDER_PAGE });
		assert.equal(hop.status, 405);
		assert.equal(hop.headers.allow, 'GET');
	}
	const hop = await browser.send({ url: new URL(payment.cancelUrl), headers: { 'Sec-Purpose': 'prefetch' } });
	assert.equal(hop.status, 503);
	assert.equal(await fixture.row(payment.id), before);
});
