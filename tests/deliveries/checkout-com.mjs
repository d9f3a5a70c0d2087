// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { expects, ID, inHeader, PAID, signed } from './support.mjs';

export function deliveries() {
	const deliver = signed('cko-signature', 'cko-key');
	const payment = (type, effect, { id = 'pay_1', amount = 2000, currency = 'GBP', ...balances } = {}, expected = amount) => deliver(type, {
		id: `evt_${type}`, type, data: { id, action_id: 'act_1', reference: ID, amount, currency, ...Object.keys(balances).length > 0 && { balances } },
	}, expects(effect, type, { reference: id, ...effect !== 'ignore' && { amount: expected, currency } }, `evt_${type}`));

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
