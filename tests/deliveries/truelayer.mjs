// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { digest, event, ID, json } from './support.mjs';

export function deliveries() {
	const deliver = (name, type, effect, more = {}) => {
		const body = json({ type, event_version: 1, event_id: 'e1', payment_id: 'p1', metadata: { elicitation_id: ID }, ...more });
		const own = 'metadata' in more ? { id: null } : {};
		return { name, query: 'token=in-the-address', headers: {}, body, verdict: 'good', events: [event(effect, type, digest(body), { reference: 'p1', ...own })] };
	};
	const settled = deliver('settled', 'payment_settled', 'recheck');

	return {
		site: { secrets: ['in-the-address'] },
		deliveries: [
			settled,
			deliver('executed', 'payment_executed', 'recheck'),
			deliver('creditable', 'payment_creditable', 'recheck'),
			deliver('failed', 'payment_failed', 'recheck', { failure_reason: 'authorization_failed' }),
			deliver('refunded', 'refund_executed', 'recheck', { refund_id: 'r1', metadata: null }),
			deliver('not refunded', 'refund_failed', 'recheck', { refund_id: 'r1', metadata: null }),
			deliver('of another system', 'payment_settled', 'recheck', { metadata: { order: '7' } }),
			deliver('authorized', 'payment_authorized', 'ignore'),
			{ ...settled, name: 'another secret', query: 'token=in-another-address', verdict: 'forged', events: undefined },
			{ ...settled, name: 'no secret', query: '', verdict: 'unsigned', events: undefined },
		],
	};
}

export const sender = {
	event: (id) => ({ type: 'payment_settled', event_version: 1, event_id: randomUUID(), payment_id: `payment-${id}`, metadata: { elicitation_id: id } }),
	path: (event, fixture, text, { secret }) => `?token=${secret}`,
	sign: () => ({}),
};
