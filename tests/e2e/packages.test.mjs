// The providers' own packages accept what the tests send, where one can verify.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { WebhookEventVerifier } from '@onfido/api';
import { Environment, Paddle } from '@paddle/paddle-node-sdk';
import { CFEnvironment, Cashfree } from 'cashfree-pg';
import coinbase from 'coinbase-commerce-node';
import * as gocardless from 'gocardless-nodejs/webhooks';
import Razorpay from 'razorpay';
import { WebhooksHelper } from 'square';

import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';

const ID = '6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11';
const PRICE = { amount: 1050, currency: 'EUR' };

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'packages' });
});

after(() => fixture?.close());

for (const [name, verify] of [
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
		new Cashfree(CFEnvironment.SANDBOX, 'id', secret).PGVerifyWebhookSignature(
			headers['x-webhook-signature'], body, headers['x-webhook-timestamp']) !== undefined],
	['onfido', ({ body, headers }, { secrets: [secret] }) =>
		new WebhookEventVerifier(secret).readPayload(body, headers['X-SHA2-Signature']) !== undefined],
]) {
	test(`${name}: its package accepts what is sent, and not another body`, async () => {
		const from = sender(fixture, name);
		const delivery = await from.deliver(from.event(ID, 'paid', PRICE));

		assert.ok(await verify(delivery, from.provider));
		let other;
		try {
			other = await verify({ ...delivery, body: delivery.body.replace(ID, ID.replace('6', '7')) }, from.provider);
		} catch {
			other = false;
		}
		assert.ok(!other);
	});
}
