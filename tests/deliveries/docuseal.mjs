// SPDX-License-Identifier: MIT
import { ID, tokens } from './support.mjs';

export function deliveries() {
	const form = (kind) => ({ event_type: kind, timestamp: '2023-11-14T22:13:20Z', data: { id: 1, submission_id: 2, external_id: ID, status: 'completed' } });

	return tokens('x-docuseal-secret', 'seal-secret', [
		['completed', form('form.completed'), 'recheck', 'form.completed', '2'],
		['declined', form('form.declined'), 'recheck', 'form.declined', '2'],
		['viewed', form('form.viewed'), 'ignore', 'form.viewed', '2'],
	]);
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'signature', secrets: [text()] });

export const sender = {
	event: (id) => ({ event_type: 'form.completed', data: { submission_id: `submission-${id}`, external_id: id } }),
	sign: (body, { secret }) => ({ 'X-DocuSeal-Secret': secret }),
};
