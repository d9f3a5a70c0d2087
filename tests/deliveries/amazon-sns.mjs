// SPDX-License-Identifier: MIT
import { createPublicKey, sign } from 'node:crypto';
import { digest, event, ID, json, rsa } from './support.mjs';

/** A description of the language: JSON in a text, and a signature in the document that it signs. */
export function deliveries() {
	const secret = createPublicKey(rsa).export({ type: 'spki', format: 'der' }).toString('base64');
	const time = '2023-11-14T22:13:20.000Z';
	const deliver = (name, change, expected) => {
		const message = {
			Type: 'Notification', MessageId: 'm-1', TopicArn: 'arn:aws:sns:eu-west-1:1:t', Timestamp: time,
			Message: json({ order: ID, status: 'paid', amount: 1050, currency: 'EUR', payment: 'p1' }), ...change,
		};
		const text = ['Message', 'MessageId', 'Timestamp', 'TopicArn', 'Type']
			.map((name) => `${name}\n${message[name]}\n`).join('');
		return { name, body: json({ ...message, Signature: sign('sha256', text, rsa).toString('base64'), SignatureVersion: '2' }), headers: {}, ...expected };
	};
	const right = deliver('right', {}, { verdict: 'good', events: [event('paid', 'Notification', 'm-1', { reference: 'p1', amount: 1050, currency: 'EUR' })] });

	return {
		site: { secrets: [secret] },
		deliveries: [
			right,
			// Another message, with another time, has the same signature.
			deliver('a-time-in-the-id', { MessageId: 'm-1\nTimestamp\nx' }, { verdict: 'good', events: [event('recheck', 'Notification', digest('m-1\nTimestamp\nx'), { reference: 'p1' })] }),
			deliver('not-json', { Message: 'paid' }, { verdict: 'good', events: [event('ignore', 'Notification', 'm-1', { id: null })] }),
			{ ...right, name: 'another-id', body: right.body.replace('"MessageId":"m-1"', '"MessageId":"m-2"'), verdict: 'forged', events: undefined },
		],
	};
}
