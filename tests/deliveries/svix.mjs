// SPDX-License-Identifier: MIT
import { standardDeliveries, standardSender } from './standard-webhooks.mjs';
import { event, hmac, json, NOW } from './support.mjs';

export function deliveries() {
	// Both sets of names: good when they agree.
	const both = (other) => (key, data) => {
		const body = json({ type: 'payment.succeeded', data });
		const signature = `v1,${hmac('sha256', key, `msg_two.${NOW}.${body}`, 'base64')}`;

		return {
			name: `both names, ${other}`, body,
			headers: {
				'svix-id': 'msg_two', 'webhook-id': other,
				'svix-timestamp': `${NOW}`, 'webhook-timestamp': `${NOW}`,
				'svix-signature': signature, 'webhook-signature': signature,
			},
			...other === 'msg_two'
				? {
					verdict: 'good', events: [event('paid', 'payment.succeeded', 'msg_two',
						{ reference: 'pay_1', amount: 1999, currency: 'USD' })],
				}
				: { verdict: 'forged' },
		};
	};
	return standardDeliveries('svix', [both('msg_two'), both('msg_three')]);
}

export const stack = ({ standard }) => ({ display_name: 'Svix', secrets: [standard()] });

export const sender = standardSender('svix', 'svix');
