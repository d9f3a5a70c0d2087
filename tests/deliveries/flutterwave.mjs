// SPDX-License-Identifier: MIT
import { ID, tokens } from './support.mjs';

export function deliveries() {
	const charge = (kind, status) => ({ event: kind, data: { id: 285959875, tx_ref: ID, amount: 100, currency: 'NGN', status } });

	return tokens('verif-hash', 'flw-secret-hash', [
		['paid', charge('charge.completed', 'successful'), 'recheck', 'charge.completed', '285959875'],
		['refused', charge('charge.completed', 'failed'), 'recheck', 'charge.completed', '285959875'],
		['transfer', charge('transfer.completed', 'SUCCESSFUL'), 'ignore', 'transfer.completed', '285959875'],
	]);
}

export const sender = {
	event: (id) => ({ event: 'charge.completed', data: { id: `flw-${id}`, tx_ref: id, status: 'successful' } }),
	sign: (body, { secret }) => ({ 'verif-hash': secret }),
};
