// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, hmac, ID, json, NOW, sha256 } from './support.mjs';

export function deliveries() {
	const slack = new URLSearchParams({
		payload: json({ type: 'block_actions', trigger_id: '1.2', actions: [{ action_id: 'approve', value: ID }] }),
	}).toString();
	return {
		site: { secrets: ['8f742231b10e8888abcd99yyyzzz85a5'] },
		deliveries: [{
			name: 'good', body: slack, content_type: 'application/x-www-form-urlencoded',
			headers: {
				'x-slack-request-timestamp': `${NOW}`,
				'x-slack-signature': `v0=${hmac('sha256', '8f742231b10e8888abcd99yyyzzz85a5', `v0:${NOW}:${slack}`, 'hex')}`,
			},
			verdict: 'good', events: [event('paid', 'block_actions.approve', `sha256:${sha256(slack)}`, { reference: '1.2' })],
		}],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'signature', display_name: 'Slack', secrets: [text()] });

export const sender = {
	event: (id, what) => ({
		type: 'block_actions', trigger_id: randomUUID(), actions: [{ action_id: what === 'paid' ? 'approve' : 'refuse', value: id }],
	}),
	body: (event) => new URLSearchParams({ payload: JSON.stringify(event) }).toString(),
	sign: (body, { secret, timestamp }) => ({
		'Content-Type': 'application/x-www-form-urlencoded',
		'X-Slack-Request-Timestamp': String(timestamp),
		'X-Slack-Signature': `v0=${hmac('sha256', secret, `v0:${timestamp}:${body}`)}`,
	}),
};
