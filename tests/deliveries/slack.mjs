// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { digest, event, hmac, ID, json, NOW } from './support.mjs';

export function deliveries() {
	const secret = '8f742231b10e8888abcd99yyyzzz85a5';
	const deliver = (name, fields, expected, sign = (text) => hmac('sha256', secret, text)) => {
		const body = new URLSearchParams(fields).toString();
		return {
			name, body, content_type: 'application/x-www-form-urlencoded',
			headers: sign ? { 'x-slack-request-timestamp': `${NOW}`, 'x-slack-signature': `v0=${sign(`v0:${NOW}:${body}`)}` } : {}, ...expected(body),
		};
	};
	const pressed = (action, id = ID) => ({ payload: json({ type: 'block_actions', trigger_id: '1.2', actions: [{ action_id: action, value: id }] }) });
	const good = (effect, action) => (body) => ({ verdict: 'good', events: [event(effect, `block_actions.${action}`, digest(body), { reference: '1.2' })] });
	const answered = () => ({ verdict: 'good', events: [], reply: 'ok' });
	const refused = (verdict) => () => ({ verdict });

	return {
		site: { kind: 'signature', secrets: [secret] },
		deliveries: [
			deliver('good', pressed('approve'), good('accepted', 'approve')),
			deliver('refused', pressed('refuse'), good('cancelled', 'refuse')),
			// The check of the certificate need not be signed, and nothing beside it is read.
			deliver('ssl_check', { ssl_check: '1', token: 'x' }, answered, null),
			deliver('ssl_check, signed', { ssl_check: '1', token: 'x' }, answered),
			deliver('ssl_check with a button', { ssl_check: '1', ...pressed('approve') }, answered, null),
			deliver('ssl_check with the signature of somebody else', { ssl_check: '1' }, refused('forged'), (text) => hmac('sha256', 'guessed', text)),
			deliver('another check', { ssl_check: '2' }, refused('unsigned'), null),
			deliver('a button that nobody has signed', pressed('approve'), refused('unsigned'), null),
		],
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
