// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { expects, ID, inHeader, PAID, signed } from './support.mjs';

export function deliveries() {
	const deliver = signed('cko-signature', 'cko-key');
	const payment = (type, effect, { id = 'pay_1', amount = 2000, currency = 'GBP', ...balances } = {}, expected = amount) => deliver(type, {
		id: `evt_${type}`, type, data: { id, action_id: 'act_1', reference: ID, amount, currency, ...Object.keys(balances).length > 0 && { balances } },
	}, expects(effect, type, { reference: id, ...effect !== 'ignore' && { amount: expected, currency } }, `evt_${type}`));

	/** As in the documents of dispute_canceled and dispute_won. */
	const dispute = (type, effect, kind, due) => deliver(type, {
		id: `evt_${type}`, type, created_on: '2023-11-14T22:13:20Z',
		data: {
			id: 'dsp_1', date: '2023-11-14T22:13:20Z', category: 'canceled_recurring', amount: 2000, currency: 'GBP', reason_code: '10.4', payment_id: 'pay_1',
			payment_action_id: 'act_1', payment_reference: ID, ...due && { evidence_required_by: due },
		},
	}, expects(effect, type, {
		reference: 'pay_1', refund: 'dsp_1', ...effect !== 'disputed' && { amount: 2000, currency: 'GBP' },
		details: { occurred_at: 1700000000, kind, state: type, ...due && { evidence_due_at: 1700006400 } },
	}, `evt_${type}`));

	return {
		site: { secrets: ['cko-key'] },
		deliveries: [
			// A card is refused, and the next one is taken.
			payment('payment_declined', 'attempt_failed', { id: 'pay_0' }),
			payment('payment_approved', 'processing'),
			payment('payment_captured', 'paid'),
			payment('payment_voided', 'attempt_failed'),
			// 5,000 CLP have two decimals here; ISK, JPY and KWD are as in ISO 4217.
			...[['CLP', 500_000, 5_000], ['ISK', 5, 5], ['JPY', 50, 50], ['KWD', 1_230, 1_230]].map(
				([currency, amount, expected]) => payment('payment_captured', 'paid', { amount, currency }, expected)),
			// Captured, and refunded, in two parts: all that was so far counts.
			payment('payment_captured', 'paid', { amount: 500, total_captured: 500, total_refunded: 0 }),
			payment('payment_captured', 'paid', { amount: 1500, total_captured: 2000, total_refunded: 0 }, 2000),
			payment('payment_refunded', 'refunded', { amount: 500, total_captured: 2000, total_refunded: 500 }),
			payment('payment_refunded', 'refunded', { amount: 1500, total_captured: 2000, total_refunded: 2000 }, 2000),
			payment('payment_refunded', 'refunded', { amount: 500 }),
			payment('payment_returned', 'ignore'),
			dispute('dispute_received', 'disputed', 'dispute'),
			dispute('dispute_evidence_required', 'refunded', 'dispute', '2023-11-15T00:00:00Z'),
			dispute('dispute_evidence_submitted', 'disputed', 'dispute'),
			...['dispute_won', 'dispute_canceled', 'dispute_resolved'].map((type) => dispute(type, 'refund_reversed', 'dispute_won')),
			...['dispute_lost', 'dispute_accepted', 'dispute_expired'].map((type) => dispute(type, 'refunded', 'dispute_lost')),
		],
	};
}

export const sender = {
	event: (id, what, { amount, currency, ...more } = PAID) => ({
		id: `evt_${randomUUID()}`, type: { paid: 'payment_captured', failed: 'payment_declined', processing: 'payment_approved' }[what],
		data: { id: `pay_${id}`, reference: id, amount, currency, ...more },
	}),
	sign: inHeader('Cko-Signature'),
};
