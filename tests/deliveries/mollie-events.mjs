// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { decimal, expects, forged, hmac, ID, inHeader, json, PAID, signed } from './support.mjs';

export function deliveries() {
	const deliver = signed('x-mollie-signature', 'mollie-secret', (body) => `sha256=${hmac('sha256', 'mollie-secret', body, 'hex')}`);
	const payment = (status, effect, mode = 'live', metadata = { elicitation_id: ID }, id = {}, captured = {}) => deliver(`${status} ${mode} ${typeof metadata} ${Object.keys(captured)}`, {
		resource: 'event', id: `event_${status}`, type: `payment.${status}`, entityId: 'tr_1', createdAt: '2023-11-14T22:13:20.0Z',
		_embedded: { entity: { resource: 'payment', id: 'tr_1', mode, status, amount: { value: '10.50', currency: 'EUR' }, ...captured, metadata } },
	}, expects(effect, `payment.${status}`, { reference: 'tr_1', ...mode === 'live' && { amount: 1050, currency: 'EUR' }, ...id }, `event_${status}`));
	// These name the payment, and not the elicitation; a chargeback says no mode.
	const after = (type, effect, resource, more, kind = undefined) => deliver(type, {
		resource: 'event', id: `event_${type}`, type, createdAt: '2023-11-14T22:13:20.0Z',
		_embedded: { entity: { resource, id: `${resource}_1`, paymentId: 'tr_1', amount: { value: '4.00', currency: 'EUR' }, ...more } },
	}, expects(effect, type, { id: null, ...effect === 'ignore' ? { reference: `${resource}_1` } : { reference: 'tr_1', refund: `${resource}_1`, amount: 400, currency: 'EUR', details: { occurred_at: 1700000000, kind } } },
		`event_${type}`));
	const ping = deliver('ping', { resource: 'event', id: 'event_ping', type: 'hook.ping', entityId: 'hook_1' }, expects('ignore', 'hook.ping', { id: null }, 'event_ping'));

	return {
		site: { secrets: ['mollie-secret'] },
		deliveries: [
			payment('paid', 'paid'), payment('pending', 'processing'), payment('authorized', 'processing'), payment('failed', 'failed'),
			payment('paid', 'paid', 'live', json({ elicitation_id: ID })), payment('paid', 'paid', 'live', 'order 5', { id: null, amount: undefined, currency: undefined }),
			// Manual capture.
			payment('paid', 'paid', 'live', undefined, { amount: 700 }, { amountCaptured: { value: '7.00', currency: 'EUR' } }),
			payment('canceled', 'cancelled'), payment('expired', 'expired'), payment('paid', 'other_mode', 'test'), ping,
			after('refund.pending', 'ignore', 'refund', { mode: 'live', status: 'pending' }),
			after('refund.processing', 'refunded', 'refund', { mode: 'live', status: 'processing' }),
			after('refund.refunded', 'refunded', 'refund', { mode: 'live', status: 'refunded' }),
			after('refund.failed', 'refund_reversed', 'refund', { mode: 'live', status: 'failed' }),
			after('refund.canceled', 'refund_reversed', 'refund', { mode: 'live', status: 'canceled' }),
			after('chargeback.received', 'refunded', 'chargeback', { reversedAt: null }, 'dispute'),
			after('chargeback.reversed', 'refund_reversed', 'chargeback', { reversedAt: '2023-11-15T00:00:00.0Z' }, 'dispute_won'),
			forged(payment('paid', 'paid'), { 'x-mollie-signature': hmac('sha256', 'mollie-secret', '', 'hex') }),
		],
	};
}

export const sender = {
	event: (id, what, { amount, currency } = PAID) => ({
		resource: 'event', id: `event_${randomUUID()}`, type: `payment.${what}`,
		_embedded: {
			entity: { id: `tr_${id}`, mode: 'live', amount: { value: decimal(amount), currency }, metadata: { elicitation_id: id } },
		},
	}),
	sign: inHeader('X-Mollie-Signature', { prefix: 'sha256=' }),
};
