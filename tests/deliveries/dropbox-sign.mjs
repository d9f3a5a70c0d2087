// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, hmac, ID, json, NOW, sha256 } from './support.mjs';

export function deliveries() {
	const secret = 'dropbox-sign-api-key';
	const boundary = '------------------------d74496d66958873e';
	const deliver = (name, content, expected, more = '') => {
		const body = `--${boundary}\r\nContent-Disposition: form-data; name="json"\r\n\r\n${content}\r\n${more}--${boundary}--\r\n`;
		return {
			name, body, headers: {}, content_type: `multipart/form-data; boundary=${boundary}`,
			...expected(body),
		};
	};
	const payload = (type, hash) => json({
		event: {
			event_time: `${NOW}`, event_type: type,
			event_hash: hash ?? hmac('sha256', secret, `${NOW}${type}`, 'hex'), event_metadata: {},
		},
		signature_request: { signature_request_id: 'SR1', metadata: { elicitation_id: ID } },
	});
	const good = (effect, type, more) => (body) => ({
		verdict: 'good', events: [event(effect, type, `sha256:${sha256(body)}`, { reference: 'SR1', ...more })],
	});
	const field = `--${boundary}\r\nContent-Disposition: form-data; name="json"\r\n\r\n{}\r\n`;

	return {
		site: { secrets: [secret] },
		answer: { status: 200, body: 'Hello API Event Received', content_type: 'text/plain' },
		deliveries: [
			deliver('signed', payload('signature_request_all_signed'), good('recheck', 'signature_request_all_signed')),
			deliver('declined', payload('signature_request_declined'), good('recheck', 'signature_request_declined')),
			deliver('viewed', payload('signature_request_viewed'), good('ignore', 'signature_request_viewed')),
			deliver('test', payload('callback_test'), good('ignore', 'callback_test')),
			deliver('wrong-hash', payload('signature_request_all_signed', '0'.repeat(64)), () => ({ verdict: 'forged' })),
			deliver('no-hash', '{"event":{}}', () => ({ verdict: 'unsigned' })),
			deliver('not-json', 'signed', () => ({ verdict: 'forged' })),
			deliver('field-twice', payload('signature_request_all_signed'), () => ({ verdict: 'forged' }), field),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ hex }) => ({ kind: 'signature', display_name: 'Dropbox Sign', secrets: [hex()] });

export const sender = {
	event: (id) => ({
		event: { event_time: String(Math.floor(Date.now() / 1000)), event_type: 'signature_request_all_signed' },
		signature_request: { signature_request_id: randomUUID(), metadata: { elicitation_id: id } },
	}),
	// According to Dropbox Sign's documentation, because its package only verifies.
	seal: ({ event }, { secret }) => {
		event.event_hash = hmac('sha256', secret, event.event_time + event.event_type, 'hex');
	},
	body: (event) => [
		'--boundary', 'Content-Disposition: form-data; name="json"', '', JSON.stringify(event), '--boundary--', '',
	].join('\r\n'),
	sign: () => ({ 'Content-Type': 'multipart/form-data; boundary=boundary' }),
};
