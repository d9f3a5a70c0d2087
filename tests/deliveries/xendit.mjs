// SPDX-License-Identifier: MIT
import { ID, tokens } from './support.mjs';

export function deliveries() {
	const invoice = (status) => ({ id: 'inv_1', external_id: ID, status, paid_amount: 50000, currency: 'IDR' });

	return tokens('x-callback-token', 'xnd-callback-token', [
		['paid', invoice('PAID'), 'recheck', 'PAID', 'inv_1'],
		['expired', invoice('EXPIRED'), 'recheck', 'EXPIRED', 'inv_1'],
		['pending', invoice('PENDING'), 'ignore', 'PENDING', 'inv_1'],
	]);
}

export const sender = {
	event: (id) => ({ id: `inv_${id}`, external_id: id, status: 'PAID' }),
	sign: (body, { secret }) => ({ 'X-Callback-Token': secret }),
};
