// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, hmac, ID, json, OTHER } from './support.mjs';

export function deliveries() {
	const secret = 'docusign-connect-key';
	const deliver = (name, type, expected, headers, fields) => {
		const body = json({
			event: type, apiVersion: 'v2.1', retryCount: 0, configurationId: 1, generatedDateTime: '2023-11-14T22:13:20.000Z',
			data: {
				accountId: 'A', envelopeId: 'E', envelopeSummary: {
					status: 'x', customFields: { listCustomFields: [], textCustomFields: fields ?? [{ fieldId: '1', name: 'case', value: '12' }, { fieldId: '2', name: 'elicitation_id', value: ID }] },
				},
			},
		});
		const mac = hmac('sha256', secret, body, 'base64');
		return { name, body, headers: headers?.(mac) ?? { 'x-docusign-signature-1': mac }, ...expected };
	};
	const good = (effect, type, more) => ({
		verdict: 'good', events: [event(effect, type, `E:${type}:2023-11-14T22:13:20.000Z`, { reference: 'E', ...more })],
	});
	const wrong = hmac('sha256', 'another', 'x', 'base64');

	return {
		site: { secrets: [secret] },
		deliveries: [
			deliver('signed', 'envelope-completed', good('accepted', 'envelope-completed')),
			deliver('declined', 'envelope-declined', good('cancelled', 'envelope-declined')),
			deliver('voided', 'envelope-voided', good('expired', 'envelope-voided')),
			deliver('opened', 'envelope-delivered', good('ignore', 'envelope-delivered')),
			deliver('one-of-two-has-signed', 'recipient-completed', good('processing', 'recipient-completed')),
			deliver('sent', 'envelope-sent', good('ignore', 'envelope-sent')),
			deliver('second-key', 'envelope-completed', good('accepted', 'envelope-completed'),
				(mac) => ({ 'x-docusign-signature-1': wrong, 'x-docusign-signature-2': mac })),
			deliver('numbered-from-two', 'envelope-completed', { verdict: 'unsigned' }, (mac) => ({ 'x-docusign-signature-2': mac })),
			deliver('two-fields-of-one-name', 'envelope-completed', good('accepted', 'envelope-completed', { id: null }), undefined,
				[{ name: 'elicitation_id', value: OTHER }, { name: 'elicitation_id', value: ID }]),
			deliver('no-field', 'envelope-completed', good('accepted', 'envelope-completed', { id: null }), undefined, []),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'signature', display_name: 'DocuSign', secrets: [text()] });

export const sender = {
	event: (id, what) => ({
		event: {
			paid: 'envelope-completed', cancelled: 'envelope-declined', expired: 'envelope-voided',
			opened: 'envelope-delivered', processing: 'recipient-completed',
		}[what],
		generatedDateTime: new Date().toISOString(),
		data: {
			envelopeId: randomUUID(),
			envelopeSummary: { customFields: { textCustomFields: [{ name: 'elicitation_id', value: id }] } },
		},
	}),
	// According to Docusign's documentation. The second of two keys is ours.
	sign: (body, { secret }) => ({
		'X-DocuSign-Signature-1': hmac('sha256', 'another key', body, 'base64'),
		'X-DocuSign-Signature-2': hmac('sha256', secret, body, 'base64'),
	}),
};
