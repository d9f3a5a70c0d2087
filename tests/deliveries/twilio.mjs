// SPDX-License-Identifier: MIT
import { tokenOf } from '../support/tokens.mjs';
import { digest, event } from './support.mjs';

export function deliveries() {
	const deliver = (name, fields, effect, type, reference) => {
		const body = new URLSearchParams({ AccountSid: 'AC1', ...fields }).toString();
		return {
			name, body, headers: {}, content_type: 'application/x-www-form-urlencoded', verdict: 'good',
			events: [event(effect, type, digest(body), { reference, id: null })],
		};
	};

	return {
		site: {},
		deliveries: [
			deliver('call', { CallSid: 'CA1', CallStatus: 'completed' }, 'recheck', 'completed', 'CA1'),
			deliver('call that rings', { CallSid: 'CA1', CallStatus: 'ringing' }, 'ignore', 'ringing', 'CA1'),
			deliver('message', { MessageSid: 'SM1', MessageStatus: 'delivered' }, 'recheck', 'delivered', 'SM1'),
			...['failed', 'busy', 'no-answer', 'canceled'].map((status) => deliver(`call ${status}`, { CallSid: 'CA1', CallStatus: status }, 'recheck', status, 'CA1')),
			...['read', 'failed', 'undelivered'].map((status) => deliver(`message ${status}`, { MessageSid: 'SM1', MessageStatus: status }, 'recheck', status, 'SM1')),
			deliver('message that is sent', { MessageSid: 'SM1', MessageStatus: 'sent' }, 'ignore', 'sent', 'SM1'),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = () => ({ kind: 'signature', display_name: 'Twilio' });

export const sender = {
	event: (id) => ({ CallSid: `CA${id}`, CallStatus: 'completed', id }),
	path: ({ id }, fixture) => tokenOf(fixture, 'twilio', id),
	body: (event) => new URLSearchParams(event).toString(),
	sign: () => ({ 'Content-Type': 'application/x-www-form-urlencoded' }),
};
