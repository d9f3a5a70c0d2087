// SPDX-License-Identifier: MIT
import { digest, event, hmac, ID, json, NOW } from './support.mjs';

export function deliveries() {
	const deliver = (name, query, expected, ts = NOW, id = query['data.id']) => ({
		name, query: new URLSearchParams(query).toString(),
		body: json({ action: 'payment.updated', type: query.type, data: { id } }),
		headers: {
			'x-request-id': 'f7b2a1d4', 'x-signature': `ts=${ts},v1=${hmac('sha256', 'mp-secret', `id:${id};request-id:f7b2a1d4;ts:${ts};`, 'hex')}`,
		},
		...expected,
	});
	const good = (effect, type, body) => ({ verdict: 'good', events: [event(effect, type, digest(body), { reference: '123' })] });
	const query = { elicitation_id: ID, 'data.id': '123', type: 'payment' };
	// An order is named in the body, because its notifications go to the address of the application.
	const order = (name, id, signed, headers) => {
		const text = json({ action: 'order.processed', type: 'order', data: { id, external_reference: ID, status: 'processed', status_detail: 'accredited' } });
		return {
			...deliver(name, { 'data.id': id, type: 'order' }, { verdict: 'good', events: [event('recheck', 'order', digest(text), { reference: id })] }, NOW, signed), body: text, ...headers,
		};
	};
	const ORDER = 'ORD01JYHTJA9M4NKTA06K7M808NJD';
	const body = (type) => json({ action: 'payment.updated', type, data: { id: '123' } });

	return {
		site: { secrets: ['mp-secret'] },
		deliveries: [
			deliver('payment', query, good('recheck', 'payment', body('payment'))),
			deliver('milliseconds', query, good('recheck', 'payment', body('payment')), NOW * 1000),
			order('an order, whose id is signed in lower case', ORDER, ORDER.toLowerCase()),
			order('an order, whose id is signed as it is', ORDER, ORDER),
			order('an order in lower case', ORDER.toLowerCase(), ORDER.toLowerCase()),
			order('an order without the id of the request', ORDER, ORDER,
				{ headers: { 'x-signature': `ts=${NOW},v1=${hmac('sha256', 'mp-secret', `id:${ORDER.toLowerCase()};ts:${NOW};`)}` } }),
			{ ...order('an order signed in capitals', ORDER.toLowerCase(), ORDER), verdict: 'forged', events: undefined },
			{ ...order('another order', ORDER, ORDER.replace('8', '9')), verdict: 'forged', events: undefined },
			deliver('order', { ...query, type: 'merchant_order' }, good('ignore', 'merchant_order', body('merchant_order'))),
			deliver('of-another-payment', query, { verdict: 'forged' }, NOW, '124'),
			{
				...deliver('without-the-id-of-the-request', query, good('recheck', 'payment', body('payment'))),
				headers: { 'x-signature': `ts=${NOW},v1=${hmac('sha256', 'mp-secret', `id:123;ts:${NOW};`, 'hex')}` },
			},
		],
	};
}

export const sender = {
	event: (id) => ({ action: 'payment.updated', type: 'payment', data: { id: String(Number.parseInt(id.slice(0, 8), 16)) }, elicitation: id }),
	path: ({ data, elicitation }) => `?${new URLSearchParams({ elicitation_id: elicitation, 'data.id': data.id, type: 'payment' })}`,
	sign: (body, { secret, timestamp }) => {
		const text = `id:${JSON.parse(body).data.id};request-id:r1;ts:${timestamp};`;
		return { 'x-request-id': 'r1', 'x-signature': `ts=${timestamp},v1=${hmac('sha256', secret, text)}` };
	},
};
