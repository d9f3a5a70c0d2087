// SPDX-License-Identifier: MIT
import { tokenOf } from '../support/tokens.mjs';
import { digest, event, json } from './support.mjs';

export function deliveries() {
	const deliver = (name, content, type, more) => {
		const body = json(content);
		return { name, body, headers: { 'x-adobesign-clientid': 'CBJ1' }, verdict: 'good', events: [event('recheck', type, digest(body), { id: null, ...more })] };
	};
	const agreement = (name) => deliver(name, { webhookNotificationId: name, event: name, eventResourceType: 'agreement', agreement: { id: 'CBJCHB', status: 'SIGNED' } }, name, { reference: 'CBJCHB' });
	const reply = json({ xAdobeSignClientId: 'CBJ1' });
	const ask = (name, client, expected) => ({ name, method: 'GET', query: 'state=x', headers: { ...client && { 'x-adobesign-clientid': client } }, ...expected });

	return {
		site: { constants: { client_id: 'CBJ1' } },
		answer: { status: 200, body: reply, content_type: 'application/json' },
		deliveries: [
			agreement('AGREEMENT_WORKFLOW_COMPLETED'), agreement('AGREEMENT_REJECTED'), agreement('AGREEMENT_EXPIRED'),
			deliver('of-another-shape', { event: 'WIDGET_CREATED' }, 'WIDGET_CREATED'),
			ask('challenge', 'CBJ1', { verdict: 'good', reply }),
			ask('another client', 'CBJ2', { verdict: 'unsigned' }),
			ask('no client', undefined, { verdict: 'unsigned' }),
			{ name: 'not-json', body: 'x', headers: {}, verdict: 'malformed' },
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'signature', display_name: 'Acrobat Sign', constants: { client_id: text() } });

export const sender = {
	event: (id) => ({ event: 'AGREEMENT_WORKFLOW_COMPLETED', agreement: { id: `agreement-${id}`, status: 'SIGNED' }, id }),
	path: ({ id }, fixture) => tokenOf(fixture, 'adobe-acrobat-sign', id),
	sign: (body, { provider }) => ({ 'X-AdobeSign-ClientId': provider.constants.client_id }),
};
