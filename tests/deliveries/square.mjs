// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, hmac, ID, json, PAID } from './support.mjs';

export function deliveries() {
	const secret = 'signature-key';
	const url = 'https://pay.example/webhook/square';
	const deliver = (name, type, payment, effect, more) => {
		const body = json({
			merchant_id: 'M1', type, event_id: `ev-${name}`, created_at: '2023-11-14T22:13:20.308Z',
			data: { type: 'payment', id: 'PAY1', object: { payment: { id: 'PAY1', reference_id: ID, amount_money: { amount: 2500, currency: 'USD' }, ...payment } } },
		});
		return {
			name, body,
			headers: { 'x-square-hmacsha256-signature': hmac('sha256', secret, url + body, 'base64') },
			verdict: 'good', events: [event(effect, type, `ev-${name}`, more)],
		};
	};
	const amount = { reference: 'PAY1', amount: 2500, currency: 'USD' };
	const at = { occurred_at: 1700000000 };
	/** As in Square's documents of dispute.created and dispute.state.updated. */
	const dispute = (type, state, effect, kind) => {
		const body = json({
			merchant_id: 'M1', type, event_id: `ev-${state}`, created_at: '2023-11-14T22:13:20.308Z',
			data: { type: 'dispute', id: 'D1', object: { dispute: {
				id: 'D1', state, amount_money: { amount: 2500, currency: 'USD' }, disputed_payment: { payment_id: 'PAY1' }, reason: 'AMOUNT_DIFFERS', due_at: '2023-11-15T00:00:00.000Z',
			} } },
		});
		return {
			name: `dispute ${state}`, body, headers: { 'x-square-hmacsha256-signature': hmac('sha256', secret, url + body, 'base64') }, verdict: 'good',
			events: [event(effect, type, `ev-${state}`, {
				id: null, reference: 'PAY1', refund: 'D1', ...effect === 'refunded' && { amount: 2500, currency: 'USD' },
				details: { ...at, kind, state, evidence_due_at: 1700006400 },
			})],
		};
	};

	return {
		site: { secrets: [secret], constants: { notification_url: url } },
		deliveries: [
			deliver('paid', 'payment.updated', { status: 'COMPLETED' }, 'paid', amount),
			deliver('at-once', 'payment.created', { status: 'COMPLETED' }, 'paid', amount),
			...[['APPROVED', 'processing'], ['FAILED', 'attempt_failed'], ['CANCELED', 'attempt_failed']].map(([status, effect]) => (
				deliver(`created-${status}`, 'payment.created', { status }, effect, amount))),
			deliver('approved', 'payment.updated', { status: 'APPROVED' }, 'processing', amount),
			// A card is refused, and the user enters another one: another payment.
			deliver('failed', 'payment.updated', { id: 'PAY0', status: 'FAILED' }, 'attempt_failed', { ...amount, reference: 'PAY0' }),
			deliver('then-paid', 'payment.updated', { status: 'COMPLETED' }, 'paid', amount),
			deliver('released', 'payment.updated', { status: 'CANCELED' }, 'attempt_failed', amount),
			deliver('refunded-in-part', 'payment.updated',
				{ status: 'COMPLETED', refund_ids: ['REF1'], refunded_money: { amount: 100, currency: 'USD' } }, 'refunded', { ...amount, amount: 100, details: at }),
			deliver('refunded', 'payment.updated',
				{ status: 'COMPLETED', refund_ids: ['REF1', 'REF2'], refunded_money: { amount: 2500, currency: 'USD' } }, 'refunded', { ...amount, details: at }),
			deliver('created-refunded', 'payment.created',
				{ status: 'COMPLETED', refund_ids: ['REF1'], refunded_money: { amount: 100, currency: 'USD' } }, 'refunded', { ...amount, amount: 100, details: at }),
			deliver('nothing-refunded', 'payment.updated', { status: 'COMPLETED', refunded_money: { amount: 0, currency: 'USD' } }, 'paid', amount),
			// A refund that has begun, and given nothing back.
			deliver('refund-begun', 'payment.updated', { status: 'COMPLETED', refund_ids: ['REF1'] }, 'paid', amount),
			deliver('new-status', 'payment.updated', { status: 'DREAMT' }, 'ignore', { reference: 'PAY1' }),
			deliver('refund', 'refund.updated', {}, 'ignore', { reference: 'PAY1' }),
			...['INQUIRY_EVIDENCE_REQUIRED', 'EVIDENCE_REQUIRED'].map((state) => dispute('dispute.created', state, 'disputed', 'dispute')),
			dispute('dispute.state.updated', 'PROCESSING', 'disputed', 'dispute'),
			...['WON', 'INQUIRY_CLOSED'].map((state) => dispute('dispute.state.updated', state, 'disputed', 'dispute_won')),
			...['LOST', 'ACCEPTED'].map((state) => dispute('dispute.state.updated', state, 'refunded', 'dispute_lost')),
			// A hosted link's payment has a note in place of a reference.
			deliver('of-a-link', 'payment.updated', { status: 'COMPLETED', reference_id: undefined, note: ID }, 'paid', amount),
			deliver('a-note-of-another', 'payment.updated', { status: 'COMPLETED', reference_id: undefined, note: 'Table 7' }, 'paid', { id: null, reference: 'PAY1' }),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text, webhook }) => ({ display_name: 'Square', secrets: [text()], constants: { notification_url: webhook } });

export const sender = {
	event: (id, what, { amount, currency } = PAID) => ({
		event_id: randomUUID(),
		type: 'payment.updated',
		data: {
			object: {
				payment: {
					id: `payment-${id}`, reference_id: id, amount_money: { amount, currency },
					status: { paid: 'COMPLETED', failed: 'FAILED', cancelled: 'CANCELED', processing: 'APPROVED' }[what],
				},
			},
		},
	}),
	// Square's package can only verify. A test verifies this signature with it.
	sign: (body, { secret, provider }) => ({
		'x-square-hmacsha256-signature': hmac('sha256', secret, provider.constants.notification_url + body, 'base64'),
	}),
};
