// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { digest, event, forged, ID, json, NOW } from './support.mjs';

export function deliveries() {
	const headers = { authorization: `Basic ${Buffer.from('urlmode:cb-password').toString('base64')}` };
	const subscription = { id: 'sub1', po_number: ID, status: 'active' };
	const invoice = { id: 'inv1', po_number: ID, total: 1050, exchange_rate: 1.0853417926351283 };
	const deliver = (name, effect, content, more, type = name) => {
		const body = json({ id: `ev_${name}`, occurred_at: NOW, source: 'hosted_page', object: 'event', api_version: 'v2', event_type: type, content });
		return { name, body, headers, verdict: 'good', events: [event(effect, type, digest(body), more)] };
	};
	const created = deliver('subscription_created', 'recheck', { subscription, invoice }, { reference: 'inv1' });

	return {
		site: { secrets: [headers.authorization.slice('Basic '.length)] },
		deliveries: [
			created, deliver('payment_succeeded', 'recheck', { transaction: { id: 'txn1' }, invoice }, { reference: 'inv1' }),
			deliver('payment_failed', 'recheck', { subscription, invoice }, { reference: 'inv1' }),
			deliver('payment_refunded', 'recheck', { transaction: { id: 'txn2' }, invoice }, { reference: 'inv1' }),
			deliver('trial', 'recheck', { subscription }, { reference: 'sub1' }, 'subscription_created'),
			deliver('subscription_renewed', 'ignore', { subscription, invoice }, { reference: 'inv1' }),
			deliver('customer_created', 'ignore', { customer: { id: 'c1' } }, { id: null }),
			forged(created, { authorization: `Basic ${Buffer.from('urlmode:another').toString('base64')}` }),
			{ ...forged(created, { authorization: headers.authorization.replace('Basic', 'Bearer') }), name: 'another scheme' },
			{ ...forged(created, {}), name: 'no password', verdict: 'unsigned' },
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ display_name: 'Chargebee', secrets: [Buffer.from(`urlmode:${text()}`).toString('base64')] });

export const sender = {
	event: (id) => ({ id: `ev_${randomUUID()}`, event_type: 'payment_succeeded', content: { invoice: { id: `inv-${id}`, po_number: id } } }),
	sign: (body, { secret }) => ({ Authorization: `Basic ${secret}` }),
};
