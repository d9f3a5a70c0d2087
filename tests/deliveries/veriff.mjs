// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, expects, forged, ID, inHeader, signed } from './support.mjs';

export function deliveries() {
	const deliver = signed('x-hmac-signature', 'veriff-key');
	const decision = (status, effect) => deliver(status, {
		status: 'success', verification: { id: 'vs1', attemptId: 'va1', code: 9001, status, vendorData: ID },
	}, expects(effect, status, { reference: 'vs1' }, `vs1:va1:${status}`));
	const approved = decision('approved', 'accepted');

	return {
		site: { secrets: ['veriff-key'] },
		deliveries: [
			approved, decision('declined', 'failed'), decision('resubmission_requested', 'attempt_failed'), decision('review', 'processing'),
			decision('expired', 'expired'), decision('abandoned', 'expired'),
			deliver('not a decision', { id: 'vs1', attemptId: 'va1', action: 'submitted', vendorData: ID },
				(otherwise) => event('ignore', '', otherwise, { id: null })),
			forged(approved, { 'x-hmac-signature': '0'.repeat(64) }),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'signature', secrets: [text()] });

export const sender = {
	event: (id, what) => ({
		verification: { id: `vs-${id}`, attemptId: randomUUID(), status: { paid: 'approved', failed: 'declined' }[what], vendorData: id },
	}),
	sign: inHeader('x-hmac-signature'),
};
