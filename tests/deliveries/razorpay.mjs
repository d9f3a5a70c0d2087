// SPDX-License-Identifier: MIT
import { event, hmac, ID, inHeader, json, NOW, OTHER, PAID, sha256 } from './support.mjs';

export function deliveries() {
	const secrets = ['webhook-secret'], return_secrets = ['key-secret'];
	const deliver = (name, what, effect, payment, status = 'captured') => {
		const body = json({
			event: `payment_link.${what}`,
			payload: {
				...payment && { payment: { entity: { id: payment, amount: 100, currency: 'INR', status } } },
				payment_link: { entity: { id: 'plink_1', reference_id: ID, amount: 100, currency: 'INR', status: what } },
			},
		});
		return {
			name, body, headers: { 'x-razorpay-signature': hmac('sha256', secrets[0], body, 'hex') },
			verdict: 'good', events: [event(effect, `payment_link.${what}`, `sha256:${sha256(body)}`,
				{ ...payment && { reference: payment }, ...!['ignore', 'recheck'].includes(effect) && { amount: 100, currency: 'INR' } })],
		};
	};
	const back = (name, status, expected, change = (q) => q) => {
		const q = change({
			razorpay_payment_id: 'pay_1', razorpay_payment_link_id: 'plink_1',
			razorpay_payment_link_reference_id: ID, razorpay_payment_link_status: status,
			razorpay_signature: hmac('sha256', return_secrets[0], `plink_1|${ID}|${status}|pay_1`, 'hex'),
		});
		return { name, query: new URLSearchParams(q).toString(), headers: {}, body: '', ...expected };
	};
	const good = (effect, type) => ({ verdict: 'good', events: [event(effect, type, 'pay_1', { reference: 'pay_1' })] });
	// These name the payment, and neither the link nor the elicitation.
	const after = (type, entity, effect, id, kind, status) => {
		const body = json({
			event: type, ...kind && { created_at: NOW }, payload: { [entity]: { entity: { id, payment_id: 'pay_1', amount: 40, currency: 'INR', ...kind && { status, phase: 'chargeback', respond_by: NOW + 9 } } }, payment: { entity: { id: 'pay_1', amount: 100 } } },
		});
		return {
			name: type, body, headers: { 'x-razorpay-signature': hmac('sha256', secrets[0], body, 'hex') },
			verdict: 'good', events: [event(effect, type, `sha256:${sha256(body)}`,
				{ id: null, reference: 'pay_1', refund: id, ...effect !== 'disputed' && { amount: 40, currency: 'INR' },
					...kind && { details: { occurred_at: NOW, kind, state: status, evidence_due_at: NOW + 9 } } })],
		};
	};

	const subscription = (what, status, effect, more, paid_count) => {
		const body = json({
			event: `subscription.${what}`, created_at: NOW,
			payload: {
				subscription: { entity: { id: 'sub_1', status, paid_count, current_end: NOW + 9, notes: { elicitation_id: ID } } },
				...more.reference && { payment: { entity: { id: more.reference, amount: more.amount, currency: more.currency } } },
			},
		});
		const words = { pending: 'past_due', halted: 'ended', cancelled: 'ended', completed: 'cancelled' };
		return {
			name: `subscription-${what}-${paid_count}`, body, headers: { 'x-razorpay-signature': hmac('sha256', secrets[0], body, 'hex') },
			verdict: 'good', events: [event(effect, `subscription.${what}`, `sha256:${sha256(body)}`, { ...more, details: { subscription: {
				id: 'sub_1', at_ms: NOW * 1000, ...effect === 'subscription' && { status: words[status] ?? status, until_ms: (NOW + 9) * 1000 }, late_ms: 345_600_000,
			} } })],
		};
	};

	return {
		site: { secrets, return_secrets },
		deliveries: [
			deliver('paid', 'paid', 'paid', 'pay_1'),
			// Each payment of a link has its own reference.
			deliver('paid-again', 'paid', 'paid', 'pay_2'),
			deliver('paid-by-what-is-only-authorized', 'paid', 'recheck', 'pay_4', 'authorized'),
			deliver('paid-in-part', 'partially_paid', 'ignore', 'pay_3'),
			deliver('cancelled', 'cancelled', 'failed'),
			deliver('expired', 'expired', 'expired'),
			// A subscription. Its first payment is the one with which it was paid once.
			subscription('charged', 'active', 'paid', { reference: 'pay_9', amount: 100, currency: 'INR' }, 1),
			subscription('charged', 'active', 'renewed', { reference: 'pay_9', amount: 100, currency: 'INR' }, 2),
			...Object.entries({ activated: 'active', updated: 'active', pending: 'pending', halted: 'halted', paused: 'paused', resumed: 'active', cancelled: 'cancelled', completed: 'completed' })
				.map(([what, status]) => subscription(what, status, 'subscription', {}, 2)),
			after('refund.processed', 'refund', 'refunded', 'rfnd_1'),
			after('refund.failed', 'refund', 'refund_reversed', 'rfnd_1'),
			after('payment.dispute.created', 'dispute', 'disputed', 'disp_1', 'dispute', 'open'),
			after('payment.dispute.action_required', 'dispute', 'disputed', 'disp_1', 'dispute', 'open'),
			after('payment.dispute.under_review', 'dispute', 'disputed', 'disp_1', 'dispute', 'under_review'),
			after('payment.dispute.lost', 'dispute', 'refunded', 'disp_1', 'dispute_lost', 'lost'),
			after('payment.dispute.won', 'dispute', 'refund_reversed', 'disp_1', 'dispute_won', 'won'),
			after('payment.dispute.closed', 'dispute', 'disputed', 'disp_1', 'dispute_won', 'closed'),
		],
		returns: [
			back('paid', 'paid', good('paid', 'paid')),
			back('partially-paid', 'partially_paid', good('ignore', 'partially_paid')),
			back('another-elicitation', 'paid', { verdict: 'forged' }, (q) => ({ ...q, razorpay_payment_link_reference_id: OTHER })),
			back('unsigned', 'paid', { verdict: 'unsigned' }, ({ razorpay_signature, ...q }) => q),
			{
				...back('signature-twice', 'paid', { verdict: 'forged' }),
				query: `${back('', 'paid', {}).query}&razorpay_signature=00`,
			},
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ display_name: 'Razorpay', secrets: [text()], return_secrets: [text()] });

export const sender = {
	event: (id, what, { amount, currency, reference = `pay_${id}` } = PAID) => ({
		event: { paid: 'payment_link.paid', failed: 'payment_link.cancelled', expired: 'payment_link.expired' }[what],
		payload: {
			...what === 'paid' && { payment: { entity: { id: reference, amount, currency } } },
			payment_link: { entity: { id: `plink_${id}`, reference_id: id, amount, currency } },
		},
	}),
	sign: inHeader('X-Razorpay-Signature'),
};
