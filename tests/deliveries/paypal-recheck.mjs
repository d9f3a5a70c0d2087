// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { digest, event, ID, json } from './support.mjs';

export function deliveries() {
	const deliver = (name, resource, expected, token = 'in-the-address') => ({ name, query: `token=${token}`, headers: {}, body: json({ id: `WH-${name}`, event_type: name, resource }), ...expected });
	const capture = { id: 'CAP1', custom_id: ID, supplementary_data: { related_ids: { order_id: 'ORD1' } }, amount: { currency_code: 'EUR', value: '10.50' } };
	const order = { id: 'ORD1', purchase_units: [{ custom_id: ID }] };
	const good = (effect, { body, name }) => ({ verdict: 'good', events: [event(effect, name, digest(body), { reference: 'ORD1' })] });
	const known = (name, resource, effect) => ({ ...deliver(name, resource), ...good(effect, deliver(name, resource)) });

	return {
		site: { secrets: ['in-the-address'] },
		deliveries: [
			known('PAYMENT.CAPTURE.COMPLETED', capture, 'recheck'), known('CHECKOUT.ORDER.APPROVED', order, 'recheck'),
			...['CHECKOUT.ORDER.COMPLETED', 'CHECKOUT.PAYMENT-APPROVAL.REVERSED'].map((name) => known(name, order, 'recheck')),
			...['PENDING', 'DECLINED', 'DENIED'].map((what) => known(`PAYMENT.CAPTURE.${what}`, capture, 'recheck')),
			...['REFUNDED', 'REVERSED'].map((what) => known(`PAYMENT.CAPTURE.${what}`, capture, 'recheck')),
			known('CHECKOUT.ORDER.DECLINED', order, 'recheck'), known('CHECKOUT.ORDER.SAVED', order, 'ignore'),
			deliver('PAYMENT.CAPTURE.COMPLETED', capture, { verdict: 'forged' }, 'another'),
			{ ...deliver('PAYMENT.CAPTURE.COMPLETED', capture, { verdict: 'unsigned' }), query: '' },
		],
	};
}

export const sender = {
	event: (id) => ({ id: `WH-${randomUUID()}`, event_type: 'CHECKOUT.ORDER.APPROVED', resource: { id: `order-${id}`, purchase_units: [{ custom_id: id }] } }),
	path: (event, fixture, text, { secret }) => `?token=${secret}`,
	sign: () => ({}),
};
