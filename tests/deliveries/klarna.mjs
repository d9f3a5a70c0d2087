// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { tokenOf } from '../support/tokens.mjs';
import { digest, event, json } from './support.mjs';

export function deliveries() {
	const deliver = (name, content, type, more) => {
		const body = json(content);
		return { name, body, headers: {}, verdict: 'good', events: [event('recheck', type, digest(body), { id: null, ...more })] };
	};

	return {
		site: {},
		deliveries: [
			deliver('completed', { event_id: 'e1', session: { session_id: 's1', status: 'COMPLETED', order_id: 'o1' } }, 'COMPLETED', { reference: 's1' }),
			deliver('in-progress', { event_id: 'e2', session: { session_id: 's1', status: 'IN_PROGRESS' } }, 'IN_PROGRESS', { reference: 's1' }),
			deliver('of-another-shape', { status: 'COMPLETED' }, '', {}),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = () => ({ display_name: 'Klarna' });

export const sender = {
	event: (id) => ({ event_id: randomUUID(), session: { session_id: `session-${id}`, status: 'COMPLETED' }, id }),
	path: ({ id }, fixture) => tokenOf(fixture, 'klarna', id),
	sign: () => ({}),
};
