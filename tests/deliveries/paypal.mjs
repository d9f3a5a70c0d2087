// SPDX-License-Identifier: MIT
import { randomUUID, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, event, ID, json, PAID, rsa } from './support.mjs';

export function deliveries() {
	// Within the life of paypal.pem, which openssl has made with the key of this folder's
	// signatures: openssl req -x509 -key tests/unit/keys/rsa-1.pem -days 36500
	// -subj /CN=messageverificationcerts.test -addext basicConstraints=critical,CA:FALSE
	const at = Date.UTC(2027, 0, 1) / 1000;
	const time = new Date(at * 1000).toISOString().replace('.000', '');
	const deliver = (name, type, resource, effect, more, create_time) => {
		const body = json({ id: `WH-${name}`, create_time, event_version: '1.0', resource_type: 'capture', event_type: type, resource });
		const text = `b1-${name}|${time}|WEBHOOK1|${crc32(Buffer.from(body))}`;
		return {
			name, body,
			headers: {
				'paypal-transmission-id': `b1-${name}`, 'paypal-transmission-time': time,
				'paypal-transmission-sig': sign('sha256', Buffer.from(text), rsa).toString('base64'),
				'paypal-cert-url': 'https://api.paypal.com/v1/notifications/certs/CERT-1',
				'paypal-auth-algo': 'SHA256withRSA',
			},
			verdict: 'good', events: [event(effect, type, `WH-${name}`, { ...more, ...['paid', 'processing'].includes(effect) && { checkout: resource.supplementary_data?.related_ids.order_id } })],
		};
	};
	const capture = { id: 'CAP1', supplementary_data: { related_ids: { order_id: 'ORD1' } }, custom_id: ID, amount: { currency_code: 'EUR', value: '10.50' } };
	const order = { id: 'ORD1', purchase_units: [{ custom_id: ID, amount: { currency_code: 'EUR', value: '10.50' } }] };
	const refund = (id, total) => ({
		id, custom_id: ID, amount: { currency_code: 'EUR', value: '4.00' },
		seller_payable_breakdown: { total_refunded_amount: { currency_code: 'EUR', value: total } },
	});
	const disputed = (name, what, more, kind, state, evidence_due_at) => deliver(name, `CUSTOMER.DISPUTE.${what}`,
		{ dispute_id: 'PP-D-1', dispute_amount: { currency_code: 'EUR', value: '10.50' }, disputed_transactions: [{ seller_transaction_id: 'CAP1' }], ...more },
		'disputed', { id: null, reference: 'CAP1', refund: 'PP-D-1', details: { occurred_at: at, kind, state, evidence_due_at } }, time);
	const amount = { reference: 'CAP1', amount: 1050, currency: 'EUR' };

	return {
		now: at * 1000,
		site: { certificate: 'tests/deliveries/paypal.pem', constants: { webhook_id: 'WEBHOOK1' } },
		deliveries: [
			deliver('approved', 'CHECKOUT.ORDER.APPROVED', order, 'recheck', { reference: 'ORD1' }),
			deliver('paid', 'PAYMENT.CAPTURE.COMPLETED', capture, 'paid', amount),
			// Each capture of an order is a payment of its own.
			deliver('captured-again', 'PAYMENT.CAPTURE.COMPLETED', { ...capture, id: 'CAP2' }, 'paid', { ...amount, reference: 'CAP2' }),
			deliver('paid-without-its-order', 'PAYMENT.CAPTURE.COMPLETED', { ...capture, supplementary_data: undefined }, 'paid', amount),
			deliver('yen', 'PAYMENT.CAPTURE.COMPLETED', { ...capture, amount: { currency_code: 'JPY', value: '1050' } },
				'paid', { ...amount, currency: 'JPY' }),
			deliver('in-part', 'PAYMENT.CAPTURE.COMPLETED', { ...capture, final_capture: false, amount: { currency_code: 'EUR', value: '5.25' } },
				'paid', { ...amount, amount: 525 }),
			deliver('pending', 'PAYMENT.CAPTURE.PENDING', capture, 'processing', amount),
			// A funding source is refused, and the user chooses another one.
			deliver('declined', 'PAYMENT.CAPTURE.DECLINED', { ...capture, id: 'CAP0' }, 'attempt_failed', { ...amount, reference: 'CAP0' }),
			deliver('then-paid', 'PAYMENT.CAPTURE.COMPLETED', capture, 'paid', amount),
			deliver('denied', 'PAYMENT.CAPTURE.DENIED', capture, 'failed', amount),
			deliver('order-declined', 'CHECKOUT.ORDER.DECLINED', order, 'attempt_failed', { ...amount, reference: 'ORD1' }),
			deliver('not-captured', 'CHECKOUT.PAYMENT-APPROVAL.REVERSED', { order_id: 'ORD1', purchase_units: [{ custom_id: ID }] }, 'failed', {}),
			deliver('refunded-in-part', 'PAYMENT.CAPTURE.REFUNDED', refund('REF1', '4.00'), 'refunded', { refund: 'REF1', amount: 400, currency: 'EUR' }),
			deliver('refunded', 'PAYMENT.CAPTURE.REFUNDED', refund('REF2', '8.00'), 'refunded', { refund: 'REF2', amount: 400, currency: 'EUR' }),
			// Manual capture: each capture is a payment, and the authorisation is none.
			deliver('authorised', 'PAYMENT.AUTHORIZATION.CREATED', { ...capture, id: 'AUT1', status: 'CREATED' }, 'processing', { ...amount, reference: 'AUT1' }),
			deliver('captured', 'PAYMENT.CAPTURE.COMPLETED', capture, 'paid', amount),
			deliver('voided', 'PAYMENT.AUTHORIZATION.VOIDED', { ...capture, id: 'AUT1', status: 'VOIDED' }, 'failed', { ...amount, reference: 'AUT1' }),
			// A dispute: how it stands, and how it has ended. What goes back has an event of its own.
			disputed('disputed', 'CREATED', { status: 'WAITING_FOR_SELLER_RESPONSE', seller_response_due_date: '2027-01-11T00:00:00.000Z' }, 'dispute', 'WAITING_FOR_SELLER_RESPONSE', Date.UTC(2027, 0, 11) / 1000),
			disputed('dispute-under-review', 'UPDATED', { status: 'UNDER_REVIEW' }, 'dispute', 'UNDER_REVIEW'),
			disputed('dispute-resolved', 'RESOLVED', { status: 'RESOLVED', dispute_outcome: { outcome_code: 'NONE' } }, 'dispute', 'RESOLVED'),
			...['RESOLVED_BUYER_FAVOUR', 'ACCEPTED'].map((outcome_code) =>
				disputed(`dispute-${outcome_code}`, 'RESOLVED', { status: 'RESOLVED', dispute_outcome: { outcome_code } }, 'dispute_lost', outcome_code)),
			...['RESOLVED_SELLER_FAVOUR', 'RESOLVED_WITH_PAYOUT', 'CANCELED_BY_BUYER', 'DENIED'].map((outcome_code) =>
				disputed(`dispute-${outcome_code}`, 'RESOLVED', { status: 'RESOLVED', dispute_outcome: { outcome_code } }, 'dispute_won', outcome_code)),
			deliver('reversed-at', 'PAYMENT.CAPTURE.REVERSED', capture, 'refunded', { refund: 'CAP1', amount: 1050, currency: 'EUR', details: { occurred_at: at - 5 } }, new Date((at - 5) * 1000).toISOString()),
			deliver('reversed', 'PAYMENT.CAPTURE.REVERSED', capture, 'refunded', { refund: 'CAP1', amount: 1050, currency: 'EUR' }),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = () => ({ display_name: 'PayPal', certificate: 'secrets/paypal.pem', constants: { webhook_id: 'WH-DEVELOPMENT' } });

export const sender = {
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
};
