// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { digest, event, hmac, json, NOW } from './support.mjs';

export function deliveries() {
	const deliver = (name, content, expected) => {
		const body = json(content);
		return {
			name, body, ...expected(digest(body)),
			headers: { 'x-zm-request-timestamp': `${NOW}`, 'x-zm-signature': `v0=${hmac('sha256', 'zm-secret', `v0:${NOW}:${body}`, 'hex')}` },
		};
	};
	const question = { event: 'endpoint.url_validation', payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' } };
	const reply = json({ plainToken: question.payload.plainToken, encryptedToken: hmac('sha256', 'zm-secret', question.payload.plainToken, 'hex') });

	return {
		site: { secrets: ['zm-secret'] },
		deliveries: [
			deliver('removed', { event: 'app_deauthorized', payload: { account_id: 'A1' } },
				(identity) => ({ verdict: 'good', events: [event('cancelled', 'app_deauthorized', identity, { id: null, reference: 'A1' })] })),
			deliver('challenge', question, () => ({ verdict: 'good', events: [], reply })),
			{ ...deliver('challenge of a stranger', question, () => ({})), headers: {}, verdict: 'unsigned' },
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'oauth', display_name: 'Zoom', secrets: [text()] });

export const sender = {
	event: () => ({ event: 'endpoint.url_validation', payload: { plainToken: randomUUID() } }),
	sign: (body, { secret, timestamp }) => ({
		'x-zm-request-timestamp': String(timestamp), 'x-zm-signature': `v0=${hmac('sha256', secret, `v0:${timestamp}:${body}`)}`,
	}),
};
