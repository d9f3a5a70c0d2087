// The providers' own packages accept what the tests send, where one can verify.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { EventCallbackHelper, EventCallbackRequest } from '@dropbox/sign';
import { WebhookEventVerifier } from '@onfido/api';
import { Environment, Paddle } from '@paddle/paddle-node-sdk';
import slack from '@slack/bolt';
import { CFEnvironment, Cashfree } from 'cashfree-pg';
import coinbase from 'coinbase-commerce-node';
import * as gocardless from 'gocardless-nodejs/webhooks';
import Razorpay from 'razorpay';
import { WebhooksHelper } from 'square';

import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';
import { shopify } from '../support/shopify.mjs';

const ID = '6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11';
const PRICE = { amount: 1050, currency: 'EUR' };
/** Sentry would get the errors of this test; it is not installed. */
const WITHOUT_SENTRY = false;
const NO_PARTNER = Array(3);

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'packages' });
});

after(() => fixture?.close());

/** What is changed in the body that is then refused. */
const CHANGED = [ID, ID.replace('6', '7')];

for (const [name, verify, changed = CHANGED] of [
	['square', ({ body, headers }, { secrets: [signatureKey], constants }) => WebhooksHelper.verifySignature({
		requestBody: body, signatureHeader: headers['x-square-hmacsha256-signature'], signatureKey, notificationUrl: constants.notification_url,
	})],
	['razorpay', ({ body, headers }, { secrets: [secret] }) =>
		Razorpay.validateWebhookSignature(body, headers['X-Razorpay-Signature'], secret)],
	['paddle', ({ body, headers }, { secrets: [secret] }) =>
		new Paddle('key', { environment: Environment.sandbox }).webhooks.isSignatureValid(body, secret, headers['Paddle-Signature'])],
	['gocardless', ({ body, headers }, { secrets: [secret] }) =>
		gocardless.parse(body, secret, headers['Webhook-Signature']).length === 1],
	['coinbase-commerce', ({ body, headers }, { secrets: [secret] }) =>
		coinbase.Webhook.verifySigHeader(body, headers['X-CC-Webhook-Signature'], secret)],
	['cashfree', ({ body, headers }, { secrets: [secret] }) =>
		new Cashfree(CFEnvironment.SANDBOX, 'id', secret, ...NO_PARTNER, WITHOUT_SENTRY).PGVerifyWebhookSignature(
			headers['x-webhook-signature'], body, headers['x-webhook-timestamp']) !== undefined],
	['onfido', ({ body, headers }, { secrets: [secret] }) =>
		new WebhookEventVerifier(secret).readPayload(body, headers['X-SHA2-Signature']) !== undefined],
	// Its event's time and type alone are signed.
	['dropbox-sign', ({ body }, { secrets: [apiKey] }) =>
		EventCallbackHelper.isValid(apiKey, EventCallbackRequest.init(JSON.parse(/^\{.*\}$/m.exec(body)[0]))),
	['all_signed', 'declined']],
	['slack', ({ body, headers }, { secrets: [signingSecret] }) => slack.isValidSlackRequest({
		signingSecret, body, headers: {
			'x-slack-signature': headers['X-Slack-Signature'], 'x-slack-request-timestamp': Number(headers['X-Slack-Request-Timestamp']),
		},
	})],
	['shopify', async ({ body, headers }, { secrets: [secret] }) => (await shopify(secret).webhooks.validate({
		rawBody: body, rawRequest: {
			method: 'POST', url: '/', headers: {
				...headers, 'shopify-event-id': ID,
				...Object.fromEntries(['X-Shopify', 'shopify'].flatMap((names) => [
					[`${names}-Topic`, 'orders/paid'], [`${names}-Shop-Domain`, 'a-shop.myshopify.com'],
					[`${names}-API-Version`, '2026-01'], [`${names}-Webhook-Id`, ID],
				])),
			},
		},
	})).valid],
]) {
	test(`${name}: its package accepts what is sent, and not another body`, async () => {
		const from = sender(fixture, name);
		const delivery = await from.deliver(from.event(ID, 'paid', PRICE));

		assert.ok(await verify(delivery, from.provider));
		let other;
		try {
			other = await verify({ ...delivery, body: delivery.body.replace(...changed) }, from.provider);
		} catch {
			other = false;
		}
		assert.ok(!other);
	});
}
