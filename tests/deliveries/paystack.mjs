// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, hmac, ID, inHeader, json, PAID } from './support.mjs';

export function deliveries() {
	const paystack = (name, type, data, expected) => {
		const body = json({ event: type, data: { domain: 'test', amount: 10000, currency: 'NGN', ...data } });
		return {
			name, body, headers: { 'x-paystack-signature': hmac('sha512', 'sk_test_1', body, 'hex') },
			verdict: 'good', events: [expected],
		};
	};
	const charge = { id: 302961, reference: ID };
	const naira = { reference: '302961', amount: 10000, currency: 'NGN' };
	// Captured by hand, in examples of the provider's own: the transaction has its id when it is captured.
	const held = (what, more, expected) => paystack(`preauthorization-${what}`, `preauthorization.${what}.success`,
		{ id: 3099, reference: ID, amount: 1000, currency: 'ZAR', captured_amount: null, transaction_id: null, ...more },
		event(expected.effect, `preauthorization.${what}.success`, `preauthorization.${what}.success:3099:`, { currency: 'ZAR', amount: 1000, reference: 'preauthorization:3099', ...expected.event }));
	// A site of the test mode: live events are of the other mode.
	return {
		site: { secrets: ['sk_test_1'], mode: 'test' },
		deliveries: [
			paystack('good', 'charge.success', charge, event('paid', 'charge.success', 'charge.success:302961:', naira)),
			held('reserve', { status: 'authorized' }, { effect: 'processing' }),
			held('capture', { status: 'captured', captured_amount: '900', transaction_id: '1504264401' }, { effect: 'paid', event: { amount: 900, reference: '1504264401' } }),
			held('release', { status: 'released' }, { effect: 'attempt_failed' }),
			paystack('refunded', 'refund.processed', { refund_reference: 'r1', transaction_reference: ID, amount: '10000' },
				event('refunded', 'refund.processed', `refund.processed:r1:${ID}`, { refund: 'r1', amount: 10000, currency: 'NGN' })),
			// The rest of it: another refund, another event.
			paystack('refunded-again', 'refund.processed', { refund_reference: 'r2', transaction_reference: ID, amount: '90' },
				event('refunded', 'refund.processed', `refund.processed:r2:${ID}`, { refund: 'r2', amount: 90, currency: 'NGN' })),
			paystack('refund-failed', 'refund.failed', { refund_reference: 'r2', transaction_reference: ID, amount: '90' },
				event('refund_reversed', 'refund.failed', `refund.failed:r2:${ID}`, { refund: 'r2', amount: 90, currency: 'NGN' })),
			...['create', 'remind'].flatMap((what) => ['dueAt', 'due_at'].map((due) => paystack(`dispute-${what}-${due}`, `charge.dispute.${what}`,
				{ id: 2867, refund_amount: 5000, status: 'awaiting-merchant-feedback', resolution: null, transaction: charge, [due]: '2023-11-15T00:00:00.000Z' },
				event('disputed', `charge.dispute.${what}`, `charge.dispute.${what}:2867:`,
					{ reference: '302961', refund: 'dispute:2867', details: { kind: 'dispute', state: 'awaiting-merchant-feedback', evidence_due_at: 1700006400 } })))),
			paystack('dispute-accepted', 'charge.dispute.resolve', { id: 2867, refund_amount: 5000, status: 'resolved', resolution: 'merchant-accepted', transaction: charge },
				event('refunded', 'charge.dispute.resolve', 'charge.dispute.resolve:2867:', { ...naira, amount: 5000, refund: 'dispute:2867', details: { kind: 'dispute_lost', state: 'resolved' } })),
			paystack('dispute-declined', 'charge.dispute.resolve', { id: 2868, refund_amount: 0, status: 'resolved', resolution: 'declined', transaction: charge },
				event('disputed', 'charge.dispute.resolve', 'charge.dispute.resolve:2868:', { reference: '302961', refund: 'dispute:2868', details: { kind: 'dispute_won', state: 'resolved' } })),
			paystack('dispute-resolved-otherwise', 'charge.dispute.resolve', { id: 2869, refund_amount: 0, status: 'resolved', resolution: null, transaction: charge },
				event('disputed', 'charge.dispute.resolve', 'charge.dispute.resolve:2869:', { reference: '302961', refund: 'dispute:2869', details: { kind: 'dispute', state: 'resolved' } })),
			paystack('live-mode', 'charge.success', { ...charge, domain: 'live' },
				event('other_mode', 'charge.success', 'charge.success:302961:', { reference: '302961' })),
		],
	};
}

export const sender = {
	event: (id, what, { amount, currency } = PAID) => ({
		event: 'charge.success', data: { id: randomUUID(), domain: 'live', reference: id, amount, currency, status: 'success' },
	}),
	sign: inHeader('x-paystack-signature', { algorithm: 'sha512' }),
};
