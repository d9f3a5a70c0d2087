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
	const body = (type) => json({ action: 'payment.updated', type, data: { id: '123' } });

	return {
		site: { secrets: ['mp-secret'] },
		deliveries: [
			deliver('payment', query, good('recheck', 'payment', body('payment'))),
			deliver('milliseconds', query, good('recheck', 'payment', body('payment')), NOW * 1000),
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
