// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, hmac, ID, json, NOW, PAID } from './support.mjs';

export function deliveries() {
	const paddle = (name, type, effect, more, expected = { reference: 'txn_1', amount: 3000, currency: 'USD' }) => {
		const body = json({
			event_id: 'evt_1', event_type: type, occurred_at: '2023-11-14T22:13:20Z',
			data: { id: 'txn_1', origin: 'api', custom_data: { elicitation_id: ID }, currency_code: 'USD', details: { totals: { total: '3000' } }, ...more },
		});
		return {
			name, body, headers: { 'paddle-signature': `ts=${NOW};h1=${hmac('sha256', 'pdl_ntfset_1', `${NOW}:${body}`, 'hex')}` },
			verdict: 'good', events: [event(effect, type, 'evt_1', { ...expected, ...effect === 'paid' && { checkout: expected.reference, details: { ...expected.details, checkout_paid: true } } })],
		};
	};
	// An adjustment names the transaction, and not the elicitation.
	const adjusted = (name, type, effect, more, refund = 'adj_1', kind = undefined) => paddle(name, type, effect, {
		id: 'adj_1', action: 'refund', status: 'approved', transaction_id: 'txn_1', origin: undefined, custom_data: undefined, details: undefined,
		totals: { total: '1200', currency_code: 'USD' }, ...more,
	}, { id: null, ...effect === 'ignore' ? { reference: 'adj_1' } : {
		reference: 'txn_1', refund, ...effect !== 'disputed' && { amount: 1200, currency: 'USD' },
		details: { occurred_at: NOW, ...kind && { kind, state: more.action } },
	} });
	const of = (reference) => ({ reference, amount: 3000, currency: 'USD' });
	const [UNTIL, TRIAL] = ['2023-12-14T22:13:20.123Z', '2023-11-28T22:13:20Z'].map((time) => Date.parse(time));
	const subscription = (what, said, more) => paddle(`subscription-${what}-${Object.keys(more ?? {})}-${more?.scheduled_change?.action}`, `subscription.${what}`, 'subscription', {
		id: 'sub_1', status: said.status, origin: undefined, details: undefined, current_billing_period: { starts_at: '2023-11-14T22:13:20Z', ends_at: '2023-12-14T22:13:20.123456Z' },
		scheduled_change: null, ...more,
	}, { reference: 'sub_1', details: { subscription: { id: 'sub_1', at_ms: NOW * 1000, until_ms: UNTIL, trial_until_ms: null, cancel_at_ms: null, ...said } } });
	return {
		site: { secrets: ['pdl_ntfset_1'] },
		deliveries: [
			paddle('refused', 'transaction.payment_failed', 'attempt_failed'),
			paddle('good', 'transaction.completed', 'paid'),
			paddle('with-tax', 'transaction.completed', 'paid', { details: { totals: { subtotal: '2500', discount: '0', tax: '500', total: '3000' } } },
				{ ...of('txn_1'), details: { tax: 500 } }),
			paddle('cancelled', 'transaction.canceled', 'failed'),
			paddle('made-by-the-payer', 'transaction.completed', 'ignore', { origin: 'web' }, { reference: 'txn_1' }),
			// A subscription: its first payment, its renewals, and what it is.
			paddle('subscribed', 'transaction.completed', 'paid', { subscription_id: 'sub_1' }, { ...of('txn_1'), details: { subscription: { id: 'sub_1', at_ms: NOW * 1000 } } }),
			paddle('renewed', 'transaction.completed', 'renewed', { id: 'txn_2', subscription_id: 'sub_1', origin: 'subscription_recurring' },
				{ ...of('txn_2'), details: { subscription: { id: 'sub_1', at_ms: NOW * 1000 } } }),
			paddle('changed', 'transaction.completed', 'renewed', { id: 'txn_3', subscription_id: 'sub_1', origin: 'subscription_update' },
				{ ...of('txn_3'), details: { subscription: { id: 'sub_1', at_ms: NOW * 1000 } } }),
			paddle('charged', 'transaction.completed', 'renewed', { id: 'txn_5', subscription_id: 'sub_1', origin: 'subscription_charge' },
				{ ...of('txn_5'), details: { kind: 'extra_charge', subscription: { id: 'sub_1', at_ms: NOW * 1000 } } }),
			paddle('not-renewed', 'transaction.payment_failed', 'ignore', { id: 'txn_4', subscription_id: 'sub_1', origin: 'subscription_recurring' }, { reference: 'txn_4' }),
			subscription('created', { status: 'active' }),
			subscription('trialing', { status: 'trialing', trial_until_ms: TRIAL }, { items: [{ trial_dates: { starts_at: '2023-11-14T22:13:20Z', ends_at: '2023-11-28T22:13:20Z' } }] }),
			subscription('activated', { status: 'active' }),
			subscription('updated', { status: 'active', cancel_at_ms: UNTIL }, { scheduled_change: { action: 'cancel', effective_at: '2023-12-14T22:13:20.123456Z', resume_at: null } }),
			subscription('updated', { status: 'active' }, { scheduled_change: { action: 'pause', effective_at: '2023-12-14T22:13:20.123456Z', resume_at: null } }),
			subscription('past_due', { status: 'past_due' }),
			subscription('paused', { status: 'paused', until_ms: null }, { current_billing_period: null }),
			subscription('resumed', { status: 'active' }),
			subscription('canceled', { status: 'ended', until_ms: null }, { status: 'canceled', current_billing_period: null }),
			adjusted('refund-asked-for', 'adjustment.created', 'ignore', { status: 'pending_approval' }),
			adjusted('refund-approved', 'adjustment.updated', 'refunded', {}),
			adjusted('refund-created-approved', 'adjustment.created', 'refunded', {}),
			adjusted('refund-rejected', 'adjustment.updated', 'ignore', { status: 'rejected' }),
			adjusted('refund-reversed', 'adjustment.updated', 'refund_reversed', { status: 'reversed' }),
			adjusted('credit', 'adjustment.created', 'ignore', { action: 'credit' }),
			adjusted('charged-back', 'adjustment.created', 'refunded', { action: 'chargeback' }, 'chargeback:txn_1', 'dispute'),
			adjusted('charged-back-warning', 'adjustment.created', 'disputed', { action: 'chargeback_warning' }, 'chargeback:txn_1', 'dispute'),
			adjusted('warning-taken-back', 'adjustment.created', 'disputed', { id: 'adj_2', action: 'chargeback_warning_reverse' }, 'chargeback:txn_1', 'dispute_won'),
			adjusted('dispute-won', 'adjustment.created', 'refund_reversed', { id: 'adj_2', action: 'chargeback_reverse' }, 'chargeback:txn_1', 'dispute_won'),
		],
	};
}

export const sender = {
	event: (id, what, { amount, currency } = PAID) => ({
		event_id: `evt_${randomUUID()}`,
		event_type: { paid: 'transaction.completed', failed: 'transaction.payment_failed', cancelled: 'transaction.canceled' }[what],
		data: {
			id: `txn_${id}`, custom_data: { elicitation_id: id }, currency_code: currency,
			details: { totals: { total: String(amount) } },
		},
	}),
	sign: (body, { secret, timestamp }) => ({ 'Paddle-Signature': `ts=${timestamp};h1=${hmac('sha256', secret, `${timestamp}:${body}`)}` }),
};
