// SPDX-License-Identifier: MIT
import { sign } from 'node:crypto';
import { ed25519, ED25519_PUBLIC, event, json, NOW, sha256 } from './support.mjs';

export function deliveries() {
	const discord = json({ version: 1, application_id: '1', type: 1, event: { type: 'ENTITLEMENT_CREATE', data: { id: '19' } } });
	return {
		site: { secrets: [ED25519_PUBLIC] },
		answer: { status: 204, body: '', content_type: 'text/plain' },
		deliveries: [{
			name: 'good', body: discord,
			headers: {
				'x-signature-timestamp': `${NOW}`,
				'x-signature-ed25519': sign(null, Buffer.from(`${NOW}${discord}`), ed25519).toString('hex'),
			},
			verdict: 'good', events: [event('paid', 'ENTITLEMENT_CREATE', `sha256:${sha256(discord)}`, { id: null, reference: '19' })],
		}],
	};
}
