// SPDX-License-Identifier: MIT
import { decimal, digest, event, forged, hmac, ID, json, NOW, PAID } from './support.mjs';

/** Hook0's signature: the time, the names of headers, their values, and the body. */
export function deliveries() {
	const deliver = (type, effect, more = {}, { headers = { 'content-type': 'application/json', host: 'pay.example.com', 'x-event-id': 'e1' }, names, name = type } = {}) => {
		const { money = { amount: 1050, currency: 'USD' }, ...data } = more;
		const body = json({
			id: '68f7a946db0529ea9b6d3a12', amount: '10.50', currency: 'USD', network: 'base', status: 'COMPLETED', eventType: type,
			metadata: { elicitation_id: ID }, createdAt: '2026-06-13T10:30:00Z', ...data,
		});
		const h = names ?? Object.keys(headers).join(' ');
		const text = `${NOW}.${h}.${h.split(' ').map((one) => headers[one] ?? '').join('.')}.${body}`;
		return {
			name, body, headers: { ...headers, 'x-hook0-signature': `t=${NOW},v0=00,h=${h},v1=${hmac('sha256', 'hook0-secret', text, 'hex')}` }, verdict: 'good',
			events: [event(effect, type, digest(body), {
				reference: '68f7a946db0529ea9b6d3a12', ...effect === 'paid' && { checkout: '68f7a946db0529ea9b6d3a12' }, ...money,
			})],
		};
	};
	const success = 'checkout.payment.success';
	const absent = deliver(success, 'paid', {}, { name: 'a-listed-header-is-absent', names: 'content-type x-event-id x-other' });

	return {
		site: { secrets: ['hook0-secret'] },
		deliveries: [
			deliver(success, 'paid'),
			deliver(success, 'paid', {}, { name: 'without-host', headers: { 'x-event-id': 'e1' } }),
			deliver(success, 'recheck', { money: {} }, { name: 'a-bracket-in-a-header', headers: { 'x-event-id': 'e{1' } }),
			deliver(success, 'recheck', { currency: 'USDC', money: {} }, { name: 'a-stablecoin' }),
			deliver('checkout.refund.success', 'recheck', { currency: 'USDC', money: {} }, { name: 'a-stablecoin-that-goes-back' }),
			deliver('checkout.payment.failed', 'attempt_failed'),
			deliver('checkout.payment.expired', 'expired'),
			deliver('checkout.refund.success', 'refunded'),
			{ ...absent, verdict: 'unsigned', events: undefined },
			forged(deliver(success, 'paid'), { 'x-event-id': 'e1', 'x-hook0-signature': `t=${NOW},h=x-event-id,v1=${'0'.repeat(64)}` }),
		],
	};
}

export const sender = {
	event: (id, what, { amount, currency } = PAID) => ({
		id: `checkout-${id}`, eventType: { paid: 'checkout.payment.success', failed: 'checkout.payment.failed', expired: 'checkout.payment.expired' }[what],
		amount: decimal(amount), currency, metadata: { elicitation_id: id },
	}),
	sign: (body, { secret, timestamp }) => ({
		'X-Event-Id': 'e.1',
		'X-Hook0-Signature': `t=${timestamp},h=content-type x-event-id,v1=${hmac('sha256', secret, `${timestamp}.content-type x-event-id.application/json.e.1.${body}`)}`,
	}),
};
