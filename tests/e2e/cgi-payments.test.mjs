// Payments through the same binaries as plain CGI: one process a delivery.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { constant } from '../support/constants.mjs';
import { post, sender } from '../support/deliveries.mjs';
import { create, PROVIDER_PAGE, press } from '../support/flow.mjs';
import { titleOf } from '../support/pages.mjs';
import { openFixture } from '../support/fixture.mjs';
import { CGI_SERVERS, installPrograms } from '../support/servers.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };

let fixture;
let installed;

before(async () => {
	fixture = await openFixture({ name: 'cgi-payments', own: true });
	installed = fixture.closeAtEnd(await installPrograms(fixture.stack));
});

after(() => fixture?.close());

for (const [name, start] of CGI_SERVERS) {
	describe(`under ${name}`, () => {
		let server;
		let urlmode;

		before(async () => {
			server = fixture.closeAtEnd(await start(installed));
			urlmode = fixture.openUrlMode({ baseUrl: server.baseUrl });
		});

		const pay = (provider, options) => create(urlmode, {
			provider, kind: 'payment', targetUrl: 'https://checkout.example/pay', ...options,
		});

		/** The delivery, sent to this server. */
		async function send(from, event, options) {
			const delivery = await from.deliver(event, options);
			return post({ ...delivery, url: delivery.url.replace(fixture.stack.baseUrl, server.baseUrl) });
		}

		test('from /connect over the webhook to the resolved promise and /done', async () => {
			const stripe = sender(fixture, 'stripe');
			const payment = await pay('stripe', { expected: PRICE });
			const outcome = urlmode.waitForCompletion(payment.id, payment.owner);
			const browser = fixture.browser();
			await press(browser, await browser.open(payment.url), 'continue');
			assert.equal(titleOf(await browser.open(payment.returnUrl)), 'Waiting for confirmation');
			const status = new URL(`${server.baseUrl}/status?provider=stripe&${new URL(payment.returnUrl).searchParams}`);
			const open = await browser.send({ url: status, from: PROVIDER_PAGE });
			assert.equal(JSON.parse(open.body).status, 'opened');

			assert.equal((await send(stripe, stripe.event(payment.id, 'paid', PRICE))).status, 200);
			const { action, result } = await outcome;
			assert.deepEqual([action, result.amount], ['accept', PRICE.amount]);
			const done = await browser.open(payment.returnUrl);
			assert.deepEqual([done.url, titleOf(done)], [`${server.baseUrl}/done`, 'All done']);
		});

		test('the return without a payment', async () => {
			const payment = await pay('stripe');
			const browser = fixture.browser();
			await press(browser, await browser.open(payment.url), 'continue');
			assert.equal(titleOf(await browser.open(payment.cancelUrl)), 'Declined');
		});

		test('several events in one delivery, one of them nobody\'s', async () => {
			const adyen = sender(fixture, 'adyen');
			const payments = [await pay('adyen'), await pay('adyen')];
			const ids = [payments[0].id, '6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11', payments[1].id];
			const answer = await send(adyen, {
				live: 'false', notificationItems: ids.flatMap((id) => adyen.event(id, 'paid', PRICE).notificationItems),
			});
			assert.deepEqual([answer.status, answer.body], [200, '[accepted]']);
			for (const { id, owner } of payments) {
				assert.equal((await urlmode.waitForCompletion(id, { ...owner, timeout: 0 })).action, 'accept');
			}
		});

		test('what is refused', async () => {
			const stripe = sender(fixture, 'stripe');
			const event = stripe.event('6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11', 'paid');
			assert.equal((await send(stripe, event, { secret: 'whsec_another' })).status, 401);
			assert.equal((await send(stripe, { ...event, more: 'x'.repeat(constant('UM_FCGI_BODY_MAX')) })).status, 413);
			assert.equal((await send(stripe, event)).status, 200);
		});
	});
}
