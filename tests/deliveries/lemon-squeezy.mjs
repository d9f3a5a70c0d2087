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
			verdict: 'good', events: [event(effect, event_name, `${event_name}:orders:12345:${attributes.status}:${attributes.refunded_amount ?? ''}`,
				// It may be of a subscription.
				{ ...effect === 'paid' && { details: { subscription: {} } }, ...more })],
		};
	};
	const [AT, UNTIL] = ['2023-11-14T22:13:20.000000Z', '2023-12-14T22:13:20.000000Z'];
	const of = (type, event_name, attributes, effect, more) => {
		const body = json({
			meta: { event_name, custom_data: { elicitation_id: ID }, test_mode: false },
			data: { type, id: '9', attributes: { total: 2999, currency: 'USD', ...attributes } },
		});
		return {
			name: [event_name, attributes.billing_reason ?? attributes.status, attributes.status === 'partial_refund' ? attributes.refunded_amount ?? 'part' : []].flat().join('-'), body,
			headers: { 'x-event-name': event_name, 'x-signature': hmac('sha256', secret, body, 'hex') },
			verdict: 'good', events: [event(effect, event_name, `${event_name}:${type}:9:${attributes.status}:${attributes.refunded_amount ?? ''}`, more)],
		};
	};
	const amount = { reference: '12345', amount: 2999, currency: 'USD' };

	return {
		site: { secrets: [secret] },
		deliveries: [
			deliver('paid', 'order_created', { status: 'paid', first_order_item: { variant_id: 77 } }, 'paid', { ...amount, checkout: '77' }),
			deliver('with-tax', 'order_created', { status: 'paid', tax: 479 }, 'paid', { ...amount, details: { subscription: {}, tax: 479 } }),
			deliver('free', 'order_created', { status: 'paid', total: 0 }, 'paid', { ...amount, amount: 0 }),
			deliver('pending', 'order_created', { status: 'pending' }, 'recheck', { reference: '12345' }),
			deliver('failed', 'order_created', { status: 'failed' }, 'attempt_failed', amount),
			deliver('fraudulent', 'order_created', { status: 'fraudulent' }, 'ignore', { reference: '12345' }),
			deliver('refunded-without-an-amount', 'order_refunded', { status: 'partial_refund' }, 'ignore', { reference: '12345' }),
			deliver('refunded', 'order_refunded', { status: 'refunded', refunded_amount: 2999 }, 'refunded', amount),
			deliver('refunded-in-part', 'order_refunded', { status: 'partial_refund', refunded_amount: 100 }, 'refunded', { ...amount, amount: 100 }),
			// More of it: the same status, another event.
			deliver('refunded-more', 'order_refunded', { status: 'partial_refund', refunded_amount: 200 }, 'refunded', { ...amount, amount: 200 }),
			// A subscription: an order does not name it, but it names the order that has begun it.
			...Object.entries({ created: 'on_trial', updated: 'active', cancelled: 'cancelled', resumed: 'active', expired: 'expired', paused: 'paused', unpaused: 'active' })
				.map(([what, status]) => of('subscriptions', `subscription_${what}`, {
					order_id: 12345, status, updated_at: AT, renews_at: UNTIL, trial_ends_at: what === 'created' ? UNTIL : null, ends_at: ['cancelled', 'expired'].includes(what) ? UNTIL : null,
					pause: what === 'paused' ? { mode: 'void', resumes_at: null } : null,
				}, 'subscription', { reference: '9', details: { subscription: {
					id: '9', payment: '12345', at_ms: Date.parse(AT), status: { on_trial: 'trialing', expired: 'ended' }[status] ?? status, until_ms: Date.parse(UNTIL),
					trial_until_ms: what === 'created' ? Date.parse(UNTIL) : null, cancel_at_ms: ['cancelled', 'expired'].includes(what) ? Date.parse(UNTIL) : null, paused: what === 'paused',
				} } })),
			of('subscription-invoices', 'subscription_payment_success', { subscription_id: 9, billing_reason: 'renewal', status: 'paid', updated_at: AT }, 'renewed',
				{ reference: 'invoice:9', amount: 2999, currency: 'USD', details: { subscription: { id: '9', at_ms: Date.parse(AT) } } }),
			of('subscription-invoices', 'subscription_payment_success', { subscription_id: 9, billing_reason: 'initial', status: 'paid', updated_at: AT }, 'ignore', { reference: '9' }),
			of('subscription-invoices', 'subscription_payment_refunded', { subscription_id: 9, billing_reason: 'renewal', status: 'refunded', updated_at: AT }, 'refunded',
				{ reference: 'invoice:9', amount: 2999, currency: 'USD' }),
			of('subscription-invoices', 'subscription_payment_refunded', { subscription_id: 9, billing_reason: 'renewal', status: 'partial_refund', refunded_amount: 100, updated_at: AT }, 'refunded',
				{ reference: 'invoice:9', amount: 100, currency: 'USD' }),
			of('subscription-invoices', 'subscription_payment_refunded', { subscription_id: 9, billing_reason: 'renewal', status: 'partial_refund', updated_at: AT }, 'ignore', { reference: '9' }),
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
