// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, hmac, ID, json, NOW, PAID } from './support.mjs';

export function deliveries() {
	const time = `${NOW}123`;
	const deliver = (name, content, identity, effect, type, more) => {
		const body = json(content);
		return {
			name, body, headers: { 'x-webhook-timestamp': time, 'x-webhook-signature': hmac('sha256', 'cf-secret', time + body, 'base64') },
			verdict: 'good', events: [event(effect, type, identity, more)],
		};
	};
	const payment = (type, status, effect, amount = 10.5) => deliver(type, {
		type, event_time: '2023-11-14T22:13:20+05:30',
		data: { order: { order_id: ID, order_amount: 11.5, order_currency: 'INR' }, payment: { cf_payment_id: '14', payment_status: status, payment_amount: amount, payment_currency: 'INR' } },
	}, `${type}:14:${status}`, effect, type, { reference: '14', ...effect !== 'ignore' && { amount: amount * 100, currency: 'INR' } });
	const refund = (status, effect, more) => deliver(`refund ${status}`, {
		type: 'REFUND_STATUS_WEBHOOK', data: { refund: { cf_refund_id: 7, cf_payment_id: 14, order_id: ID, refund_amount: 2, refund_currency: 'INR', refund_status: status } },
	}, `REFUND_STATUS_WEBHOOK:7:${status}`, effect, 'REFUND_STATUS_WEBHOOK', { reference: '14', ...more });

	/** As in the documents of dispute webhooks. */
	const dispute = (type, status, effect, kind) => {
		const content = {
			data: {
				dispute: {
					dispute_id: 433, dispute_type: 'CHARGEBACK', reason_code: '1402', dispute_amount: 3, updated_at: '2023-11-15T03:43:19+05:30', respond_by: '2023-11-15T05:30:00+05:30', dispute_status: status,
					dispute_action_on: 'MERCHANT',
				},
				order_details: { order_id: ID, order_amount: 10.5, order_currency: 'INR', cf_payment_id: 14, payment_amount: 10.5, payment_currency: 'INR' },
			},
			event_time: '2023-11-15T03:43:20+05:30', type,
		};
		return deliver(`${type} ${status}`, content, `${type}:433:${status}:2023-11-15T03:43:19+05:30`, effect, type, {
			reference: '14', refund: '433', ...effect === 'refunded' && { amount: 300, currency: 'INR' },
			details: { occurred_at: NOW, kind, state: status, evidence_due_at: 1700006400 },
		});
	};

	return {
		now: NOW * 1000 + 123,
		site: { secrets: ['cf-secret'] },
		deliveries: [
			payment('PAYMENT_FAILED_WEBHOOK', 'FAILED', 'attempt_failed'),
			payment('PAYMENT_USER_DROPPED_WEBHOOK', 'USER_DROPPED', 'attempt_failed'),
			payment('PAYMENT_SUCCESS_WEBHOOK', 'SUCCESS', 'paid'),
			payment('PAYMENT_SUCCESS_WEBHOOK', 'SUCCESS', 'paid', 10),
			payment('PAYMENT_CHARGES_WEBHOOK', 'SUCCESS', 'ignore'),
			refund('SUCCESS', 'refunded', { refund: '7', amount: 200, currency: 'INR' }),
			refund('PENDING', 'ignore', {}),
			dispute('DISPUTE_CREATED', 'CHARGEBACK_CREATED', 'disputed', 'dispute'),
			dispute('DISPUTE_UPDATED', 'PRE_ARBITRATION_UNDER_REVIEW', 'disputed', 'dispute'),
			dispute('DISPUTE_CLOSED', 'CHARGEBACK_MERCHANT_WON', 'disputed', 'dispute_won'),
			...['MERCHANT_LOST', 'MERCHANT_ACCEPTED', 'INSUFFICIENT_EVIDENCE'].map((how) => dispute('DISPUTE_CLOSED', `PRE_ARBITRATION_${how}`, 'refunded', 'dispute_lost')),
		],
	};
}

export const sender = {
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
};
