// SPDX-License-Identifier: MIT
import { event, hmac, ID, json, NOW, PAID, signStandard } from './support.mjs';

export function deliveries() {
	const secret = 'polar_whs_c2VjcmV0';
	const [before, since] = ['b', 's'].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
	const deliver = (id, type, data, effect, more, key = secret) => {
		const body = json({ type, timestamp: '2023-11-14T22:13:20Z', data });
		return {
			name: id, body,
			headers: {
				'webhook-id': id, 'webhook-timestamp': `${NOW}`,
				'webhook-signature': `v1,${hmac('sha256', key, `${id}.${NOW}.${body}`, 'base64')}`,
			},
			verdict: 'good', events: [event(effect, type, id, { ...more, ...effect === 'paid' && { details: { ...more.details, checkout_paid: true } } })],
		};
	};
	const order = { id: 'ord_1', checkout_id: 'co_1', status: 'paid', total_amount: 1200, currency: 'usd', metadata: { elicitation_id: ID } };
	const UNTIL = '2023-12-14T22:13:20Z';
	const checkout = { ...order, id: 'co_1' };
	const amount = { amount: 1200, currency: 'USD' };

	return {
		site: { secrets: [secret, before, since] },
		deliveries: [
			// A secret of before 8 September 2026 is itself the key; a later one is written in base64.
			deliver('msg_12', 'order.paid', order, 'paid', { reference: 'ord_1', checkout: 'co_1', ...amount }, before),
			deliver('msg_13', 'order.paid', order, 'paid', { reference: 'ord_1', checkout: 'co_1', ...amount }, Buffer.alloc(32, 's')),
			deliver('msg_1', 'order.paid', order, 'paid', { reference: 'ord_1', checkout: 'co_1', ...amount }),
			deliver('msg_tax', 'order.paid', { ...order, tax_amount: 200 }, 'paid', { reference: 'ord_1', checkout: 'co_1', ...amount, details: { tax: 200 } }),
			// The payer writes the address of a checkout link.
			deliver('msg_11', 'order.paid', { ...order, metadata: { reference_id: ID } }, 'paid', { id: null, reference: 'ord_1', checkout: 'co_1' }),
			deliver('msg_2', 'checkout.updated', { ...checkout, status: 'confirmed' }, 'ignore', { reference: 'co_1' }),
			deliver('msg_7', 'checkout.updated', { ...checkout, status: 'succeeded' }, 'processing', { reference: 'co_1', checkout: 'co_1', ...amount }),
			deliver('msg_3', 'checkout.updated', { ...checkout, status: 'failed' }, 'failed', { reference: 'co_1', ...amount }),
			deliver('msg_4', 'checkout.updated', { ...checkout, status: 'expired' }, 'expired', { reference: 'co_1', ...amount }),
			deliver('msg_5', 'checkout.updated', { ...checkout, status: 'open' }, 'ignore', { reference: 'co_1' }),
			deliver('msg_6', 'order.refunded', { ...order, status: 'refunded', refunded_amount: 1200 }, 'refunded', { reference: 'ord_1', ...amount }),
			deliver('msg_8', 'order.refunded', { ...order, status: 'partially_refunded', refunded_amount: 100 }, 'refunded', { reference: 'ord_1', ...amount, amount: 100 }),
			// A free product, and the second month of a subscription.
			deliver('msg_9', 'order.paid', { ...order, total_amount: 0, billing_reason: 'purchase' }, 'paid', { reference: 'ord_1', checkout: 'co_1', amount: 0, currency: 'USD' }),
			deliver('msg_10', 'order.paid', { ...order, id: 'ord_2', billing_reason: 'subscription_cycle' }, 'renewed',
				{ reference: 'ord_2', ...amount }),
			// A subscription: its first payment, its renewals, and what it is.
			deliver('msg_14', 'order.paid', { ...order, subscription_id: 'sub_1', billing_reason: 'subscription_create' }, 'paid',
				{ reference: 'ord_1', checkout: 'co_1', ...amount, details: { subscription: { id: 'sub_1', at_ms: NOW * 1000 } } }),
			deliver('msg_15', 'order.paid', { ...order, id: 'ord_3', subscription_id: 'sub_1', billing_reason: 'subscription_cycle' }, 'renewed',
				{ reference: 'ord_3', ...amount, details: { subscription: { id: 'sub_1', at_ms: NOW * 1000 } } }),
			deliver('msg_16', 'order.refunded', { ...order, id: 'ord_3', subscription_id: 'sub_1', billing_reason: 'subscription_cycle', status: 'refunded' }, 'refunded', { reference: 'ord_3', ...amount }),
			...Object.entries({ created: 'trialing', active: 'active', updated: 'active', canceled: 'active', uncanceled: 'active', past_due: 'past_due', revoked: 'canceled' })
				.map(([what, status]) => deliver(`msg_${what}`, `subscription.${what}`, {
					id: 'sub_1', status, metadata: { elicitation_id: ID }, current_period_end: UNTIL, trial_end: what === 'created' ? UNTIL : null,
					cancel_at_period_end: what === 'canceled', ends_at: what === 'canceled' ? UNTIL : null,
				}, 'subscription', { reference: 'sub_1', details: { subscription: {
					id: 'sub_1', at_ms: NOW * 1000, status: status === 'canceled' ? 'ended' : status, until_ms: Date.parse(UNTIL),
					trial_until_ms: what === 'created' ? Date.parse(UNTIL) : null, cancel_at_ms: what === 'canceled' ? Date.parse(UNTIL) : null,
				} } })),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ display_name: 'Polar', secrets: [`polar_whs_${text()}`] });

export const sender = {
	event: (id, what, { amount, currency } = PAID) => ({
		type: { paid: 'order.paid', failed: 'checkout.updated', expired: 'checkout.expired' }[what],
		data: {
			id: `order_${id}`, status: what, metadata: { elicitation_id: id }, total_amount: amount, currency,
		},
	}),
	// The package decodes the secret, but Polar uses its text.
	sign: async (body, { secret, timestamp }) => {
		const { Webhook } = await import('standardwebhooks');
		return signStandard(new Webhook(Buffer.from(secret).toString('base64')), 'webhook', body, timestamp);
	},
};
