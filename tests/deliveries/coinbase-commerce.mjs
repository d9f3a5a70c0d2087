// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { decimal, expects, ID, inHeader, PAID, signed } from './support.mjs';

export function deliveries() {
	const deliver = signed('x-cc-webhook-signature', 'cc-secret');
	const charge = (type, more, data = {}) => deliver(type, {
		id: 'd1', attempt_number: 1,
		event: { id: `ev-${type}`, type, data: { id: 'ch1', code: 'XA6G6ZFR', pricing: { local: { amount: '10.50', currency: 'USD' } }, metadata: { elicitation_id: ID }, ...data } },
	}, expects(more.effect, type, { reference: 'ch1', ...more.money && { amount: 1050, currency: 'USD' } }, `ev-${type}`));

	return {
		site: { secrets: ['cc-secret'] },
		deliveries: [
			charge('charge:pending', { effect: 'processing', money: true }),
			charge('charge:confirmed', { effect: 'paid', money: true }),
			charge('charge:failed', { effect: 'attempt_failed', money: true }),
			charge('charge:delayed', { effect: 'recheck' }),
			charge('charge:resolved', { effect: 'recheck' }),
			charge('charge:created', { effect: 'ignore' }),
			charge('charge:confirmed', { effect: 'paid' }, { pricing: undefined }),
		],
	};
}

export const sender = {
	event: (id, what, { amount, currency } = PAID) => ({
		event: {
			id: randomUUID(), type: { paid: 'charge:confirmed', failed: 'charge:failed', processing: 'charge:pending' }[what],
			data: { id: `charge-${id}`, metadata: { elicitation_id: id }, pricing: { local: { amount: decimal(amount), currency } } },
		},
	}),
	sign: inHeader('X-CC-Webhook-Signature'),
};
