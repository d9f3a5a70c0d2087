// SPDX-License-Identifier: MIT
import { ID, tokens } from './support.mjs';

export function deliveries() {
	const invoice = (status) => ({ id: 'inv_1', external_id: ID, status, paid_amount: 50000, currency: 'IDR' });
	const v3 = (kind, data) => ({ event: kind, business_id: 'b1', created: '2023-11-14T22:13:20Z', data: { reference_id: ID, ...data, status: 'COMPLETED', currency: 'IDR' } });
	const session = (what, data) => v3(`payment_session.${what}`, { payment_session_id: 'ps-1', ...data });

	return tokens('x-callback-token', 'xnd-callback-token', [
		['paid', invoice('PAID'), 'recheck', 'PAID', 'inv_1'],
		['expired', invoice('EXPIRED'), 'recheck', 'EXPIRED', 'inv_1'],
		['pending', invoice('PENDING'), 'ignore', 'PENDING', 'inv_1'],
		// The Payments API v3 has its event in a member of its own, and names each thing of the same checkout.
		['payment_session.completed', session('completed', { payment_request_id: 'pr-1', payment_id: 'py-1' }), 'recheck', 'payment_session.completed', 'py-1'],
		['payment_session.expired', session('expired'), 'recheck', 'payment_session.expired', 'ps-1'],
		...['capture', 'authorization', 'expiry', 'failure'].map((what) => (
			[`payment.${what}`, v3(`payment.${what}`, { payment_id: 'py-1', payment_request_id: 'pr-1' }), 'recheck', `payment.${what}`, 'py-1'])),
		['payment_request.expiry', v3('payment_request.expiry', { payment_request_id: 'pr-1' }), 'recheck', 'payment_request.expiry', 'pr-1'],
		// A refund has a reference_id of its own.
		['refund.succeeded', v3('refund.succeeded', { id: 'rfd-1', payment_id: 'py-1', invoice_id: null, reference_id: 'refund-7' }), 'recheck', 'refund.succeeded', 'py-1', null],
		['refund.failed', v3('refund.failed', { id: 'rfd-2', payment_id: 'ddpy-1', invoice_id: 'inv_1', reference_id: 'refund-8' }), 'recheck', 'refund.failed', 'inv_1', null],
		['payment_token.activation', v3('payment_token.activation', { payment_token_id: 'pt-1' }), 'ignore', 'payment_token.activation', undefined],
	]);
}

export const sender = {
	event: (id) => ({ id: `inv_${id}`, external_id: id, status: 'PAID' }),
	sign: (body, { secret }) => ({ 'X-Callback-Token': secret }),
};
