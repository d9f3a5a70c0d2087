// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { tokenOf } from '../support/tokens.mjs';
import { event, ID, sha256 } from './support.mjs';

export function deliveries() {
	const deliver = (name, query, body, expected, content_type = 'application/x-www-form-urlencoded') =>
		({ name, query, body, content_type, headers: {}, ...expected });
	const good = (effect, body, more) => ({ verdict: 'good', events: [event(effect, '', `sha256:${sha256(body)}`, { id: null, ...more })] });

	// The token in the address, not the delivery, names the elicitation.
	return {
		site: {},
		deliveries: [
			deliver('ping', 'state=v1.token', 'id=tr_d0b0E3EA3v', good('recheck', 'id=tr_d0b0E3EA3v', { reference: 'tr_d0b0E3EA3v' })),
			deliver('elicitation-of-a-stranger', `elicitation=${ID}`, 'id=tr_d0b0E3EA3v',
				good('recheck', 'id=tr_d0b0E3EA3v', { reference: 'tr_d0b0E3EA3v' })),
			deliver('without-a-payment', 'state=v1.token', 'testByMollie=1', good('ignore', 'testByMollie=1')),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = () => ({ display_name: 'Mollie' });

export const sender = {
	event: (id) => ({ id }),
	body: () => `id=tr_${randomUUID().slice(0, 8)}`,
	path: ({ id }, fixture) => tokenOf(fixture, 'mollie', id),
	sign: () => ({ 'Content-Type': 'application/x-www-form-urlencoded' }),
};
