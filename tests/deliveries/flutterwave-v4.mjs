// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { expects, forged, hmac, ID, inHeader, PAID, signed } from './support.mjs';

export function deliveries() {
	const deliver = signed('flutterwave-signature', 'flw-secret-hash', (body) => hmac('sha256', 'flw-secret-hash', body, 'base64'));
	const charge = (name, status, effect, more) => deliver(name, {
		webhook_id: `wbk_${name}`, timestamp: 1700000000000, type: 'charge.completed',
		data: { id: 'chg_1', reference: ID, amount: 250.5, currency: 'NGN', status },
	}, expects(effect, 'charge.completed', { reference: 'chg_1', ...more }, `wbk_${name}`));
	const money = { amount: 25050, currency: 'NGN' };
	const paid = charge('paid', 'succeeded', 'paid', money);

	return {
		site: { secrets: ['flw-secret-hash'] },
		deliveries: [
			paid, charge('failed', 'failed', 'attempt_failed', money), charge('pending', 'pending', 'processing', money),
			charge('new', 'dreamt', 'ignore'), forged(paid, { 'flutterwave-signature': 'A'.repeat(43).concat('=') }),
		],
	};
}

export const sender = {
	event: (id, what, { amount, currency } = PAID) => ({
		webhook_id: randomUUID(), type: 'charge.completed',
		data: { id: `chg-${id}`, reference: id, amount: amount / 100, currency, status: { paid: 'succeeded', failed: 'failed' }[what] },
	}),
	sign: inHeader('flutterwave-signature', { encoding: 'base64' }),
};
