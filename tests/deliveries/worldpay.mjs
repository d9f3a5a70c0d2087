// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { expects, forged, hmac, ID, PAID, signed } from './support.mjs';

export function deliveries() {
	const sign = signed('event-signature', 'wp-secret', (body) => `2/SHA256/${hmac('sha256', 'wp-secret', body, 'hex')}`);
	const deliver = (type, effect, { amount = { value: 1050, currencyCode: 'EUR' }, classification = 'payment', downstreamReference = '3378', reference, refund, details, name = type } = {}) => ({
		...sign(name, {
			eventId: `event-${name}`, eventTimestamp: '2023-11-14T22:13:20.407',
			eventDetails: { classification, downstreamReference, transactionReference: ID, type, date: '2023-11-14', reference, ...amount && { amount }, _links: { payment: { href: '' } } },
		}, expects(effect, `${classification}.${type}`, {
			...downstreamReference && { reference: downstreamReference }, refund, details, ...amount && effect !== 'ignore' && { amount: amount.value, currency: amount.currencyCode },
		}, `event-${name}`)),
		content_type: 'application/vnd.worldpay.events-v1.hal+json',
	});
	const settled = deliver('sentForSettlement', 'paid');
	const header = settled.headers['event-signature'];

	return {
		site: { secrets: ['wp-secret'], constants: { key_id: ['2', '3'] } },
		deliveries: [
			settled, deliver('settled', 'paid'), deliver('authorized', 'processing'),
			...['error', 'requestExpired', 'cancelledByCustomer', 'cancelled', 'expired'].map((type) => deliver(type, 'attempt_failed')),
			deliver('refused', 'attempt_failed', { amount: null }),
			deliver('settlementFailed', 'refunded'),
			deliver('sentForRefund', 'refunded', { refund: `${ID}:` }),
			// Two refunds in part; the second fails.
			...['first', 'second'].map((reference) => deliver('sentForRefund', 'refunded',
				{ name: `refund-${reference}`, reference, refund: `${ID}:${reference}`, amount: { value: 400, currencyCode: 'EUR' } })),
			deliver('refundFailed', 'refund_reversed', { reference: 'second', refund: `${ID}:second`, amount: { value: 400, currencyCode: 'EUR' } }),
			deliver('chargedBack', 'refunded', { downstreamReference: undefined, refund: `${ID}:chargeback`, details: { kind: 'dispute' } }),
			...['sentForAuthorization', 'refunded'].map((type) => deliver(type, 'ignore')),
			deliver('sentForRefund', 'ignore', { classification: 'payout', name: 'payout' }),
			deliver('sentForSettlement', 'paid', { downstreamReference: undefined, name: 'without a reference' }),
			// Two secrets, of which the site has one; and the same signature as if of another.
			{ ...settled, name: 'rotation', headers: { 'event-signature': `1/SHA256/${'0'.repeat(64)},${header}` } },
			forged(settled, { 'event-signature': header.replace('2', '1') }),
			{ ...forged(settled, { 'event-signature': header.replace('SHA256', 'SHA512') }), name: 'another hash function' },
			{ ...forged(settled, {}), name: 'no signature', verdict: 'unsigned' },
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ display_name: 'Worldpay', secrets: [text()], constants: { key_id: '1' } });

export const sender = {
	event: (id, what, { amount, currency } = PAID) => ({
		eventId: randomUUID(),
		eventDetails: {
			classification: 'payment', downstreamReference: `wp-${id}`, transactionReference: id,
			type: { paid: 'sentForSettlement', failed: 'refused', processing: 'authorized' }[what],
			amount: { value: amount, currencyCode: currency },
		},
	}),
	sign: (body, { secret }) => ({
		'Content-Type': 'application/vnd.worldpay.events-v1.hal+json', 'Event-Signature': `1/SHA256/${hmac('sha256', secret, body)}`,
	}),
};
