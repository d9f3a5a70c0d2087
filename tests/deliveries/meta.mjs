// SPDX-License-Identifier: MIT
import { expects, hmac, inHeader, signed } from './support.mjs';

export function deliveries() {
	const deliver = signed('x-hub-signature-256', 'app-secret', (body) => `sha256=${hmac('sha256', 'app-secret', body, 'hex')}`);
	const ask = (name, query, expected) => ({ name, method: 'GET', query: new URLSearchParams(query).toString(), headers: {}, ...expected });
	const question = { 'hub.mode': 'subscribe', 'hub.verify_token': 'meatyhamhock', 'hub.challenge': '1158201444' };

	return {
		site: { secrets: ['app-secret'], constants: { verify_token: 'meatyhamhock' } },
		deliveries: [
			deliver('permissions', { object: 'permissions', entry: [] }, expects('ignore', 'permissions', { id: null })),
			ask('challenge', question, { verdict: 'good', reply: '1158201444' }),
			ask('another token', { ...question, 'hub.verify_token': 'x' }, { verdict: 'unsigned' }),
			ask('markup', { ...question, 'hub.challenge': '<script>' }, { verdict: 'unsigned' }),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'oauth', display_name: 'Meta', secrets: [text()], constants: { verify_token: text() } });

export const sender = {
	event: () => ({ object: 'permissions', entry: [] }),
	sign: inHeader('X-Hub-Signature-256', { prefix: 'sha256=' }),
};
