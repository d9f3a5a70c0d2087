// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { expects, forged, hmac, ID, inHeader, signed } from './support.mjs';

export function deliveries() {
	const deliver = signed('x-yousign-signature-256', 'yousign-key', (body) => `sha256=${hmac('sha256', 'yousign-key', body, 'hex')}`);
	const request = (what, effect, sandbox = false) => deliver(`${what}${sandbox ? ' sandbox' : ''}`, {
		event_id: `ev-${what}`, event_name: `signature_request.${what}`, event_time: '1700000000', sandbox,
		data: { signature_request: { id: 'sr1', external_id: ID, status: what } },
	}, expects(effect, `signature_request.${what}`, { reference: 'sr1' }, `ev-${what}`));
	const done = request('done', 'accepted');

	return {
		site: { secrets: ['yousign-key'] },
		deliveries: [
			done, request('declined', 'cancelled'), request('expired', 'expired'), request('canceled', 'expired'),
			request('activated', 'ignore'), request('done', 'other_mode', true),
			forged(done, { 'x-yousign-signature-256': `sha256=${'0'.repeat(64)}` }),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'signature', secrets: [text()] });

export const sender = {
	event: (id, what) => ({
		event_id: randomUUID(), event_name: `signature_request.${{ paid: 'done', cancelled: 'declined', expired: 'expired' }[what]}`, sandbox: false,
		data: { signature_request: { id: `sr-${id}`, external_id: id } },
	}),
	sign: inHeader('X-Yousign-Signature-256', { prefix: 'sha256=' }),
};
