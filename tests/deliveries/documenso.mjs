// SPDX-License-Identifier: MIT
import { ID, tokens } from './support.mjs';

export function deliveries() {
	const document = (kind) => ({ event: kind, payload: { id: 10, externalId: ID, status: 'COMPLETED' }, createdAt: '2023-11-14T22:13:20Z' });

	return tokens('x-documenso-secret', 'documenso-secret', [
		['completed', document('DOCUMENT_COMPLETED'), 'recheck', 'DOCUMENT_COMPLETED', '10'],
		['rejected', document('DOCUMENT_REJECTED'), 'recheck', 'DOCUMENT_REJECTED', '10'],
		['cancelled', document('DOCUMENT_CANCELLED'), 'recheck', 'DOCUMENT_CANCELLED', '10'],
		['opened', document('DOCUMENT_OPENED'), 'ignore', 'DOCUMENT_OPENED', '10'],
	]);
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'signature', secrets: [text()] });

export const sender = {
	event: (id) => ({ event: 'DOCUMENT_COMPLETED', payload: { id: `document-${id}`, externalId: id } }),
	sign: (body, { secret }) => ({ 'X-Documenso-Secret': secret }),
};
