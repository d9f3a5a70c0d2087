// SPDX-License-Identifier: MIT
import { tokenOf } from '../support/tokens.mjs';
import { digest, event, json } from './support.mjs';

/** It signs with keys that the programs cannot have: a delivery proves nothing. */
export function deliveries() {
	const deliver = (name, webhook_code, status, effect, headers = {}) => {
		const body = json({ environment: 'sandbox', link_session_id: 's1', link_token: 'link-sandbox-1', public_tokens: ['public-sandbox-1'], status, webhook_code, webhook_type: 'LINK' });
		return { name, body, headers, verdict: 'good', events: [event(effect, `LINK.${webhook_code}`, digest(body), { reference: 's1', id: null })] };
	};

	return {
		site: {},
		deliveries: [
			deliver('finished', 'SESSION_FINISHED', 'SUCCESS', 'recheck'),
			deliver('exited', 'SESSION_FINISHED', 'EXITED', 'recheck'),
			deliver('events', 'EVENTS', undefined, 'ignore'),
			deliver('with a token that nobody verifies', 'SESSION_FINISHED', 'SUCCESS', 'recheck', { 'plaid-verification': 'x.y.z' }),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = () => ({ kind: 'signature', display_name: 'Plaid' });

export const sender = {
	event: (id) => ({
		webhook_type: 'LINK', webhook_code: 'SESSION_FINISHED', link_session_id: `session-${id}`, link_token: 'link-sandbox-1', status: 'SUCCESS', id,
	}),
	path: ({ id }, fixture) => tokenOf(fixture, 'plaid', id),
	sign: () => ({}),
};
