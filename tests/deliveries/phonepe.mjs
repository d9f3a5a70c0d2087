// SPDX-License-Identifier: MIT
import { ID, sha256, tokens } from './support.mjs';

export function deliveries() {
	const order = (kind) => ({ event: kind, payload: { merchantOrderId: ID, orderId: 'OMO1', state: 'COMPLETED', amount: 1000 } });

	return tokens('authorization', sha256('user:password'), [
		['paid', order('checkout.order.completed'), 'recheck', 'checkout.order.completed', 'OMO1'],
		['failed', order('checkout.order.failed'), 'recheck', 'checkout.order.failed', 'OMO1'],
		...['accepted', 'completed', 'failed'].map((what) => [`refund ${what}`, {
			event: `pg.refund.${what}`, payload: { merchantRefundId: 'R1', originalMerchantOrderId: ID, refundId: 'OMR1', state: what.toUpperCase(), amount: 400 },
		}, 'recheck', `pg.refund.${what}`, undefined]),
		['settlement', order('settlement.attempt.completed'), 'ignore', 'settlement.attempt.completed', 'OMO1'],
	]);
}

export const sender = {
	event: (id) => ({ event: 'checkout.order.completed', payload: { merchantOrderId: id, orderId: `OMO-${id}`, state: 'COMPLETED' } }),
	sign: (body, { secret }) => ({ Authorization: secret }),
};
