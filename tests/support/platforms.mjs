// The rest of the providers of deliveries.mjs: those that sign the body and little
// else, or hand over a token. Razorpay's, Paddle's, GoCardless', Coinbase Commerce's,
// Cashfree's, Onfido's, Shopify's and Slack's packages only verify;
// tests/e2e/packages.test.mjs verifies with them what is signed here according to the
// documentation.

import { createHmac, randomUUID } from 'node:crypto';

import { tokenOf } from './tokens.mjs';

const hmac = (algorithm, key, text, encoding = 'hex') => createHmac(algorithm, key).update(text).digest(encoding);
const decimal = (amount) => ((amount ?? 0) / 100).toFixed(2);
const PAID = { amount: 1000, currency: 'EUR' };

/** The body's HMAC in this header. */
const inHeader = (header, { algorithm = 'sha256', encoding = 'hex', prefix = '' } = {}) =>
	(body, { secret }) => ({ [header]: prefix + hmac(algorithm, secret, body, encoding) });

/** The senders, as those of deliveries.mjs. */
export const PLATFORMS = {
	paddle: {
		event: (id, what, { amount, currency } = PAID) => ({
			event_id: `evt_${randomUUID()}`,
			event_type: { paid: 'transaction.completed', failed: 'transaction.payment_failed', cancelled: 'transaction.canceled' }[what],
			data: {
				id: `txn_${id}`, custom_data: { elicitation_id: id }, currency_code: currency,
				details: { totals: { total: String(amount) } },
			},
		}),
		sign: (body, { secret, timestamp }) => ({ 'Paddle-Signature': `ts=${timestamp};h1=${hmac('sha256', secret, `${timestamp}:${body}`)}` }),
	},
	paystack: {
		event: (id, what, { amount, currency } = PAID) => ({
			event: 'charge.success', data: { id: randomUUID(), domain: 'live', reference: id, amount, currency, status: 'success' },
		}),
		sign: inHeader('x-paystack-signature', { algorithm: 'sha512' }),
	},
	razorpay: {
		event: (id, what, { amount, currency, reference = `pay_${id}` } = PAID) => ({
			event: { paid: 'payment_link.paid', failed: 'payment_link.cancelled', expired: 'payment_link.expired' }[what],
			payload: {
				...what === 'paid' && { payment: { entity: { id: reference, amount, currency } } },
				payment_link: { entity: { id: `plink_${id}`, reference_id: id, amount, currency } },
			},
		}),
		sign: inHeader('X-Razorpay-Signature'),
	},
	shopify: {
		event: (id, what, { amount, currency } = PAID) => ({
			id: randomUUID(), test: false, currency, total_price: decimal(amount),
			financial_status: { paid: 'paid', failed: 'voided', processing: 'pending' }[what],
			note_attributes: [{ name: 'elicitation_id', value: id }],
		}),
		sign: inHeader('X-Shopify-Hmac-Sha256', { encoding: 'base64' }),
	},
	slack: {
		event: (id, what) => ({
			type: 'block_actions', trigger_id: randomUUID(), actions: [{ action_id: what === 'paid' ? 'approve' : 'refuse', value: id }],
		}),
		body: (event) => new URLSearchParams({ payload: JSON.stringify(event) }).toString(),
		sign: (body, { secret, timestamp }) => ({
			'Content-Type': 'application/x-www-form-urlencoded',
			'X-Slack-Request-Timestamp': String(timestamp),
			'X-Slack-Signature': `v0=${hmac('sha256', secret, `v0:${timestamp}:${body}`)}`,
		}),
	},
	gocardless: {
		event: (id) => ({
			events: [{
				id: `EV${randomUUID()}`, resource_type: 'payments', action: 'confirmed', links: { payment: `PM${id}` },
				resource_metadata: { elicitation_id: id },
			}],
		}),
		sign: inHeader('Webhook-Signature'),
	},
	'coinbase-commerce': {
		event: (id, what, { amount, currency } = PAID) => ({
			event: {
				id: randomUUID(), type: { paid: 'charge:confirmed', failed: 'charge:failed', processing: 'charge:pending' }[what],
				data: { id: `charge-${id}`, metadata: { elicitation_id: id }, pricing: { local: { amount: decimal(amount), currency } } },
			},
		}),
		sign: inHeader('X-CC-Webhook-Signature'),
	},
	'coinbase-business': {
		event: (id, what, { amount, currency } = PAID) => ({
			id: `checkout-${id}`, eventType: { paid: 'checkout.payment.success', failed: 'checkout.payment.failed', expired: 'checkout.payment.expired' }[what],
			amount: decimal(amount), currency, metadata: { elicitation_id: id },
		}),
		sign: (body, { secret, timestamp }) => ({
			'X-Event-Id': 'e.1',
			'X-Hook0-Signature': `t=${timestamp},h=content-type x-event-id,v1=${hmac('sha256', secret, `${timestamp}.content-type x-event-id.application/json.e.1.${body}`)}`,
		}),
	},
	'paypal-recheck': {
		event: (id) => ({ id: `WH-${randomUUID()}`, event_type: 'CHECKOUT.ORDER.APPROVED', resource: { id: `order-${id}`, purchase_units: [{ custom_id: id }] } }),
		path: (event, fixture, text, { secret }) => `?token=${secret}`,
		sign: () => ({}),
	},
	'checkout-com': {
		event: (id, what, { amount, currency, ...more } = PAID) => ({
			id: `evt_${randomUUID()}`, type: { paid: 'payment_captured', failed: 'payment_declined', processing: 'payment_approved' }[what],
			data: { id: `pay_${id}`, reference: id, amount, currency, ...more },
		}),
		sign: inHeader('Cko-Signature'),
	},
	cashfree: {
		event: (id, what, { amount, currency } = PAID) => ({
			type: what === 'paid' ? 'PAYMENT_SUCCESS_WEBHOOK' : 'PAYMENT_FAILED_WEBHOOK',
			data: {
				order: { order_id: id },
				payment: { cf_payment_id: randomUUID(), payment_status: what === 'paid' ? 'SUCCESS' : 'FAILED', payment_amount: amount / 100, payment_currency: currency },
			},
		}),
		sign: (body, { secret, timestamp }) => ({
			'x-webhook-timestamp': `${timestamp}000`, 'x-webhook-signature': hmac('sha256', secret, `${timestamp}000${body}`, 'base64'),
		}),
	},
	xendit: {
		event: (id) => ({ id: `inv_${id}`, external_id: id, status: 'PAID' }),
		sign: (body, { secret }) => ({ 'X-Callback-Token': secret }),
	},
	flutterwave: {
		event: (id) => ({ event: 'charge.completed', data: { id: `flw-${id}`, tx_ref: id, status: 'successful' } }),
		sign: (body, { secret }) => ({ 'verif-hash': secret }),
	},
	'flutterwave-v4': {
		event: (id, what, { amount, currency } = PAID) => ({
			webhook_id: randomUUID(), type: 'charge.completed',
			data: { id: `chg-${id}`, reference: id, amount: amount / 100, currency, status: { paid: 'succeeded', failed: 'failed' }[what] },
		}),
		sign: inHeader('flutterwave-signature', { encoding: 'base64' }),
	},
	phonepe: {
		event: (id) => ({ event: 'checkout.order.completed', payload: { merchantOrderId: id, orderId: `OMO-${id}`, state: 'COMPLETED' } }),
		sign: (body, { secret }) => ({ Authorization: secret }),
	},
	docuseal: {
		event: (id) => ({ event_type: 'form.completed', data: { submission_id: `submission-${id}`, external_id: id } }),
		sign: (body, { secret }) => ({ 'X-DocuSeal-Secret': secret }),
	},
	documenso: {
		event: (id) => ({ event: 'DOCUMENT_COMPLETED', payload: { id: `document-${id}`, externalId: id } }),
		sign: (body, { secret }) => ({ 'X-Documenso-Secret': secret }),
	},
	yousign: {
		event: (id, what) => ({
			event_id: randomUUID(), event_name: `signature_request.${{ paid: 'done', cancelled: 'declined', expired: 'expired' }[what]}`, sandbox: false,
			data: { signature_request: { id: `sr-${id}`, external_id: id } },
		}),
		sign: inHeader('X-Yousign-Signature-256', { prefix: 'sha256=' }),
	},
	veriff: {
		event: (id, what) => ({
			verification: { id: `vs-${id}`, attemptId: randomUUID(), status: { paid: 'approved', failed: 'declined' }[what], vendorData: id },
		}),
		sign: inHeader('x-hmac-signature'),
	},
	'mollie-events': {
		event: (id, what, { amount, currency } = PAID) => ({
			resource: 'event', id: `event_${randomUUID()}`, type: `payment.${what}`,
			_embedded: {
				entity: { id: `tr_${id}`, mode: 'live', amount: { value: decimal(amount), currency }, metadata: { elicitation_id: id } },
			},
		}),
		sign: inHeader('X-Mollie-Signature', { prefix: 'sha256=' }),
	},
	'mercado-pago': {
		event: (id) => ({ action: 'payment.updated', type: 'payment', data: { id: String(Number.parseInt(id.slice(0, 8), 16)) }, elicitation: id }),
		path: ({ data, elicitation }) => `?${new URLSearchParams({ elicitation_id: elicitation, 'data.id': data.id, type: 'payment' })}`,
		sign: (body, { secret, timestamp }) => {
			const text = `id:${JSON.parse(body).data.id};request-id:r1;ts:${timestamp};`;
			return { 'x-request-id': 'r1', 'x-signature': `ts=${timestamp},v1=${hmac('sha256', secret, text)}` };
		},
	},
	pandadoc: {
		event: (id, what) => [{
			event: 'document_state_changed',
			data: { id: `doc-${id}`, status: { paid: 'document.completed', cancelled: 'document.declined' }[what], metadata: { elicitation_id: id } },
		}],
		path: (event, fixture, body, { secret }) => `?signature=${hmac('sha256', secret, body)}`,
		sign: () => ({}),
	},
	persona: {
		event: (id, what) => ({
			data: {
				id: `evt_${randomUUID()}`,
				attributes: {
					name: { paid: 'inquiry.approved', failed: 'inquiry.declined' }[what],
					payload: { data: { id: `inq_${id}`, attributes: { 'reference-id': id } } },
				},
			},
		}),
		sign: (body, { secret, timestamp }) => ({ 'Persona-Signature': `t=${timestamp},v1=${hmac('sha256', secret, `${timestamp}.${body}`)}` }),
	},
	onfido: {
		event: (id, what) => {
			const run = { id: `run-${id}`, status: { paid: 'approved', failed: 'declined' }[what] };
			return {
				payload: { resource_type: 'workflow_run', action: 'workflow_run.completed', object: run, resource: { ...run, customer_user_id: id } },
			};
		},
		sign: inHeader('X-SHA2-Signature'),
	},
	worldpay: {
		event: (id, what, { amount, currency } = PAID) => ({
			eventId: randomUUID(),
			eventDetails: {
				classification: 'payment', downstreamReference: `wp-${id}`, transactionReference: id,
				type: { paid: 'sentForSettlement', failed: 'refused', processing: 'authorized' }[what],
				amount: { value: amount, currencyCode: currency },
			},
		}),
		sign: (body, { secret }) => ({
			'Content-Type': 'application/vnd.worldpay.events-v1.hal+json', 'Event-Signature': `1/SHA256/${hmac('sha256', secret, body)}`,
		}),
	},
	'adobe-acrobat-sign': {
		event: (id) => ({ event: 'AGREEMENT_WORKFLOW_COMPLETED', agreement: { id: `agreement-${id}`, status: 'SIGNED' }, id }),
		path: ({ id }, fixture) => tokenOf(fixture, 'adobe-acrobat-sign', id),
		sign: (body, { provider }) => ({ 'X-AdobeSign-ClientId': provider.constants.client_id }),
	},
	chargebee: {
		event: (id) => ({ id: `ev_${randomUUID()}`, event_type: 'payment_succeeded', content: { invoice: { id: `inv-${id}`, po_number: id } } }),
		sign: (body, { secret }) => ({ Authorization: `Basic ${secret}` }),
	},
	truelayer: {
		event: (id) => ({ type: 'payment_settled', event_version: 1, event_id: randomUUID(), payment_id: `payment-${id}`, metadata: { elicitation_id: id } }),
		path: (event, fixture, text, { secret }) => `?token=${secret}`,
		sign: () => ({}),
	},
	twilio: {
		event: (id) => ({ CallSid: `CA${id}`, CallStatus: 'completed', id }),
		path: ({ id }, fixture) => tokenOf(fixture, 'twilio', id),
		body: (event) => new URLSearchParams(event).toString(),
		sign: () => ({ 'Content-Type': 'application/x-www-form-urlencoded' }),
	},
	plaid: {
		event: (id) => ({
			webhook_type: 'LINK', webhook_code: 'SESSION_FINISHED', link_session_id: `session-${id}`, link_token: 'link-sandbox-1', status: 'SUCCESS', id,
		}),
		path: ({ id }, fixture) => tokenOf(fixture, 'plaid', id),
		sign: () => ({}),
	},
	klarna: {
		event: (id) => ({ event_id: randomUUID(), session: { session_id: `session-${id}`, status: 'COMPLETED' }, id }),
		path: ({ id }, fixture) => tokenOf(fixture, 'klarna', id),
		sign: () => ({}),
	},
	zoom: {
		event: () => ({ event: 'endpoint.url_validation', payload: { plainToken: randomUUID() } }),
		sign: (body, { secret, timestamp }) => ({
			'x-zm-request-timestamp': String(timestamp), 'x-zm-signature': `v0=${hmac('sha256', secret, `v0:${timestamp}:${body}`)}`,
		}),
	},
	meta: {
		event: () => ({ object: 'permissions', entry: [] }),
		sign: inHeader('X-Hub-Signature-256', { prefix: 'sha256=' }),
	},
};
