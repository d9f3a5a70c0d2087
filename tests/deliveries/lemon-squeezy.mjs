// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, hmac, ID, json, PAID } from './support.mjs';

export function deliveries() {
	const secret = 'lemon-secret';
	const deliver = (name, event_name, attributes, effect, more, test_mode = false) => {
		const body = json({
			meta: { event_name, custom_data: { elicitation_id: ID }, test_mode },
			data: { type: 'orders', id: '12345', attributes: { total: 2999, currency: 'USD', ...attributes } },
		});
		return {
			name, body, headers: { 'x-event-name': event_name, 'x-signature': hmac('sha256', secret, body, 'hex') },
			verdict: 'good', events: [event(effect, event_name, `${event_name}:orders:12345:${attributes.status}:${attributes.refunded_amount ?? ''}`, more)],
		};
	};
	const amount = { reference: '12345', amount: 2999, currency: 'USD' };

	return {
		site: { secrets: [secret] },
		deliveries: [
			deliver('paid', 'order_created', { status: 'paid', first_order_item: { variant_id: 77 } }, 'paid', { ...amount, checkout: '77' }),
			deliver('free', 'order_created', { status: 'paid', total: 0 }, 'paid', { ...amount, amount: 0 }),
			deliver('pending', 'order_created', { status: 'pending' }, 'recheck', { reference: '12345' }),
			deliver('failed', 'order_created', { status: 'failed' }, 'attempt_failed', amount),
			deliver('fraudulent', 'order_created', { status: 'fraudulent' }, 'ignore', { reference: '12345' }),
			deliver('refunded-without-an-amount', 'order_refunded', { status: 'partial_refund' }, 'ignore', { reference: '12345' }),
			deliver('refunded', 'order_refunded', { status: 'refunded', refunded_amount: 2999 }, 'refunded', amount),
			deliver('refunded-in-part', 'order_refunded', { status: 'partial_refund', refunded_amount: 100 }, 'refunded', { ...amount, amount: 100 }),
			// More of it: the same status, another event.
			deliver('refunded-more', 'order_refunded', { status: 'partial_refund', refunded_amount: 200 }, 'refunded', { ...amount, amount: 200 }),
			deliver('test-mode', 'order_created', { status: 'paid' }, 'other_mode', { reference: '12345' }, true),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ display_name: 'Lemon Squeezy', secrets: [text()] });

export const sender = {
	event: (id, what, { amount, currency } = PAID) => ({
		meta: { event_name: 'order_created', custom_data: { elicitation_id: id } },
		data: {
			type: 'orders', id: randomUUID(),
			attributes: { status: { paid: 'paid', failed: 'failed', processing: 'pending' }[what], total: amount, currency },
		},
	}),
	// According to Lemon Squeezy's documentation, because its package does not support webhooks.
	sign: (body, { secret }) => ({ 'X-Signature': hmac('sha256', secret, body, 'hex') }),
};
