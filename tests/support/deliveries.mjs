// Webhooks of payment providers with genuine signatures: made with the provider's
// own package if npm has one that can sign, and otherwise according to the
// provider's documentation, which a comment then says.
//
//     const stripe = sender(fixture, 'stripe');
//     await stripe.send(stripe.event(id, 'paid', { amount: 1000, currency: 'EUR' }));

import { createHmac, randomUUID, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import adyen from '@adyen/api-library';
import { sign as signForGitHub } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';

import { request } from './http.mjs';
import { PLATFORMS } from './platforms.mjs';
import { tokenOf } from './tokens.mjs';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const hmac = (algorithm, key, text, encoding) => createHmac(algorithm, key).update(text).digest(encoding);

/** What was paid, unless a test says otherwise; null: the event does not say it. */
const PAID = { amount: 1000, currency: 'EUR' };

/**
 * The events of a payment. How each provider describes them is below. A payment
 * has a reference of its own, because one reference pays once.
 */
const SENDERS = {
	stripe: {
		event: (id, what, { amount, currency, reference = `cs_test_${id}`, ...more } = PAID) => ({
			id: `evt_${randomUUID()}`,
			object: 'event',
			livemode: true,
			type: {
				paid: 'checkout.session.completed', processing: 'checkout.session.completed',
				failed: 'checkout.session.async_payment_failed', expired: 'checkout.session.expired',
				settled: 'checkout.session.async_payment_succeeded', attempt_failed: 'payment_intent.payment_failed', ignored: 'charge.updated', refunded: 'refund.created',
			}[what],
			data: {
				object: what === 'refunded' ? {
					id: `re_${randomUUID()}`, object: 'refund', status: 'succeeded', payment_intent: reference, amount, currency: currency.toLowerCase(),
				} : {
					id: reference, object: 'checkout.session', client_reference_id: id,
					payment_status: what === 'paid' ? 'paid' : 'unpaid', amount_total: amount ?? null,
					currency: currency?.toLowerCase() ?? null,
				},
			},
			...more,
		}),
		sign: (body, { secret, timestamp }) => ({
			'Stripe-Signature': new Stripe('sk_test').webhooks.generateTestHeaderString({ payload: body, secret, timestamp }),
		}),
	},
	'standard-webhooks': standardWebhooks(StandardWebhook),
	svix: standardWebhooks(SvixWebhook, 'svix'),
	polar: {
		event: (id, what, { amount, currency } = PAID) => ({
			type: { paid: 'order.paid', failed: 'checkout.updated', expired: 'checkout.expired' }[what],
			data: {
				id: `order_${id}`, status: what, metadata: { elicitation_id: id }, total_amount: amount, currency,
			},
		}),
		// The package decodes the secret, but Polar uses its text.
		sign: (body, { secret, timestamp }) => signStandard(
			new StandardWebhook(Buffer.from(secret).toString('base64')), 'webhook', body, timestamp),
	},
	paypal: {
		event: (id, what, { amount, currency, reference = `capture-${id}` } = PAID) => ({
			id: `WH-${randomUUID()}`,
			event_type: {
				paid: 'PAYMENT.CAPTURE.COMPLETED', failed: 'PAYMENT.CAPTURE.DENIED', recheck: 'CHECKOUT.ORDER.APPROVED',
				processing: 'PAYMENT.CAPTURE.PENDING',
			}[what],
			resource: {
				id: reference, custom_id: id, supplementary_data: { related_ids: { order_id: `order-${id}` } },
				amount: { value: ((amount ?? 0) / 100).toFixed(2), currency_code: currency ?? 'EUR' },
			},
		}),
		// According to PayPal's documentation, because npm has no package that signs.
		sign: (body, { fixture, timestamp, provider }) => {
			const sent = { id: randomUUID(), time: new Date(timestamp * 1000).toISOString() };
			const signed = [sent.id, sent.time, provider.constants.webhook_id, crc32(body)].join('|');
			const key = readFileSync(join(fixture.stack.env.URLMODE_RUN_DIR, 'secrets/paypal.key'));
			return {
				'PAYPAL-TRANSMISSION-ID': sent.id,
				'PAYPAL-TRANSMISSION-TIME': sent.time,
				'PAYPAL-TRANSMISSION-SIG': sign('sha256', signed, key).toString('base64'),
			};
		},
	},
	square: {
		event: (id, what, { amount, currency } = PAID) => ({
			event_id: randomUUID(),
			type: 'payment.updated',
			data: {
				object: {
					payment: {
						id: `payment-${id}`, reference_id: id, amount_money: { amount, currency },
						status: { paid: 'COMPLETED', failed: 'FAILED', cancelled: 'CANCELED', processing: 'APPROVED' }[what],
					},
				},
			},
		}),
		// Square's package can only verify. A test verifies this signature with it.
		sign: (body, { secret, provider }) => ({
			'x-square-hmacsha256-signature': hmac('sha256', secret, provider.constants.notification_url + body, 'base64'),
		}),
	},
	adyen: {
		event: (id, what, { amount, currency, ...more } = PAID) => ({
			live: 'true',
			notificationItems: [{
				NotificationRequestItem: {
					pspReference: randomUUID().replaceAll('-', '').slice(0, 16).toUpperCase(),
					merchantAccountCode: 'Tests', merchantReference: id, amount: { value: amount, currency },
					eventCode: { paid: 'AUTHORISATION', failed: 'AUTHORISATION', processing: 'PENDING', expired: 'OFFER_CLOSED' }[what],
					success: what === 'failed' ? 'false' : 'true', additionalData: {}, ...more,
				},
			}],
		}),
		seal: (event, { secret }) => {
			for (const { NotificationRequestItem: item } of event.notificationItems) {
				item.additionalData.hmacSignature = new adyen.hmacValidator().calculateHmac(item, secret);
			}
		},
		sign: () => ({}),
	},
	'adyen-platforms': {
		event: (id) => ({
			type: 'balancePlatform.accountHolder.updated', environment: 'live', data: { accountHolder: { id: `AH-${id}`, reference: id } },
		}),
		sign: (body, { secret }) => ({ HmacSignature: new adyen.hmacValidator().calculateHmac(body, secret) }),
	},
	'lemon-squeezy': {
		event: (id, what, { amount, currency } = PAID) => ({
			meta: { event_name: 'order_created', custom_data: { elicitation_id: id } },
			data: {
				type: 'orders', id: randomUUID(),
				attributes: { status: { paid: 'paid', failed: 'failed', processing: 'pending' }[what], total: amount, currency },
			},
		}),
		// According to Lemon Squeezy's documentation, because its package does not support webhooks.
		sign: (body, { secret }) => ({ 'X-Signature': hmac('sha256', secret, body, 'hex') }),
	},
	mollie: {
		event: (id) => ({ id }),
		body: () => `id=tr_${randomUUID().slice(0, 8)}`,
		path: ({ id }, fixture) => tokenOf(fixture, 'mollie', id),
		sign: () => ({ 'Content-Type': 'application/x-www-form-urlencoded' }),
	},
	github: {
		event: () => ({ action: 'created', installation: { id: 1, app_id: 2 } }),
		sign: async (body, { secret }) => ({ 'X-Hub-Signature-256': await signForGitHub(secret, body) }),
	},
	docusign: {
		event: (id, what) => ({
			event: {
				paid: 'envelope-completed', cancelled: 'envelope-declined', expired: 'envelope-voided',
				opened: 'envelope-delivered', processing: 'recipient-completed',
			}[what],
			generatedDateTime: new Date().toISOString(),
			data: {
				envelopeId: randomUUID(),
				envelopeSummary: { customFields: { textCustomFields: [{ name: 'elicitation_id', value: id }] } },
			},
		}),
		// According to Docusign's documentation. The second of two keys is ours.
		sign: (body, { secret }) => ({
			'X-DocuSign-Signature-1': hmac('sha256', 'another key', body, 'base64'),
			'X-DocuSign-Signature-2': hmac('sha256', secret, body, 'base64'),
		}),
	},
	'dropbox-sign': {
		event: (id) => ({
			event: { event_time: String(Math.floor(Date.now() / 1000)), event_type: 'signature_request_all_signed' },
			signature_request: { signature_request_id: randomUUID(), metadata: { elicitation_id: id } },
		}),
		// According to Dropbox Sign's documentation, because its package only verifies.
		seal: ({ event }, { secret }) => {
			event.event_hash = hmac('sha256', secret, event.event_time + event.event_type, 'hex');
		},
		body: (event) => [
			'--boundary', 'Content-Disposition: form-data; name="json"', '', JSON.stringify(event), '--boundary--', '',
		].join('\r\n'),
		sign: () => ({ 'Content-Type': 'multipart/form-data; boundary=boundary' }),
	},
};

function standardWebhooks(Webhook, prefix = 'webhook') {
	return {
		event: (id, what, { amount, currency } = PAID) => ({
			type: { paid: 'payment.succeeded', failed: 'payment.failed', expired: 'payment.expired', processing: 'payment.processing' }[what],
			timestamp: new Date().toISOString(),
			data: { elicitation_id: id, amount, currency },
		}),
		sign: (body, { secret, timestamp }) => signStandard(new Webhook(secret), prefix, body, timestamp),
	};
}

function signStandard(webhook, prefix, body, timestamp) {
	const id = `msg_${randomUUID()}`;
	return {
		[`${prefix}-id`]: id,
		[`${prefix}-timestamp`]: String(timestamp),
		[`${prefix}-signature`]: webhook.sign(id, new Date(timestamp * 1000), body),
	};
}

Object.assign(SENDERS, PLATFORMS);

export const PROVIDERS = Object.keys(SENDERS);

/**
 * Sends webhooks as this provider does, with the secret of the fixture's stack.
 *
 * @param {string} [like] whose webhooks it sends, if its name in the configuration is another one
 */
export function sender(fixture, name, like = name) {
	const provider = JSON.parse(readFileSync(fixture.stack.env.URLMODE_CONFIG, 'utf8')).providers[name];
	const { event, seal, sign, body = JSON.stringify, path = () => '' } = SENDERS[like];

	/** A delivery that can be sent any number of times. */
	const deliver = async (what, { secret = provider.secrets?.[0], timestamp = Math.floor(Date.now() / 1000) } = {}) => {
		const how = { secret, timestamp, fixture, provider };
		seal?.(what, how);
		const text = body(what);
		return {
			url: fixture.url(`/webhook/${name}${path(what, fixture, text, how)}`),
			method: 'POST',
			headers: { ...JSON_TYPE, ...await sign(text, how) },
			body: text,
		};
	};
	return {
		kind: provider.kind,
		provider,
		event,
		deliver,
		send: async (what, options) => post(await deliver(what, options)),
	};
}

/** Sends a delivery. The response has `status`, `headers` and `body`. */
export function post({ url, ...delivery }) {
	return request(url, delivery);
}
