// SPDX-License-Identifier: MIT
import { digest, event, hmac, ID, json } from './support.mjs';

export function deliveries() {
	const deliver = (name, list, expected) => {
		const body = json(list);
		return {
			name, body, headers: {}, query: `signature=${hmac('sha256', 'panda-key', body, 'hex')}`, verdict: 'good',
			events: expected.map(([effect, type], i) => event(effect, type, digest(body) + (i === 0 ? '' : `:${i}`), { reference: 'doc1' })),
		};
	};
	const document = (status) => ({ event: 'document_state_changed', data: { id: 'doc1', status, metadata: { elicitation_id: ID } } });

	return {
		site: { secrets: ['panda-key'] },
		deliveries: [
			deliver('completed', [document('document.viewed'), document('document.completed')], [['ignore', 'document.viewed'], ['accepted', 'document.completed']]),
			deliver('declined', [document('document.declined')], [['cancelled', 'document.declined']]),
			deliver('voided', [document('document.voided')], [['expired', 'document.voided']]),
			deliver('paid', [document('document.waiting_pay'), document('document.paid')], [['processing', 'document.waiting_pay'], ['accepted', 'document.paid']]),
			deliver('rejected', [document('document.rejected')], [['attempt_failed', 'document.rejected']]),
			deliver('cancelled', [document('document.cancelled')], [['expired', 'document.cancelled']]),
			deliver('draft', [document('document.draft')], [['ignore', 'document.draft']]),
			{ ...deliver('no-signature', [document('document.completed')], []), query: '', verdict: 'unsigned' },
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'signature', display_name: 'PandaDoc', secrets: [text()] });

export const sender = {
	event: (id, what) => [{
		event: 'document_state_changed',
		data: { id: `doc-${id}`, status: { paid: 'document.completed', cancelled: 'document.declined' }[what], metadata: { elicitation_id: id } },
	}],
	path: (event, fixture, body, { secret }) => `?signature=${hmac('sha256', secret, body)}`,
	sign: () => ({}),
};
