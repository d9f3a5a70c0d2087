// SPDX-License-Identifier: MIT
import { kit, sender as authorising, stack as described } from './adyen.mjs';
import { PAID } from './support.mjs';

export function deliveries() {
	const { key, item, deliver, expect, good, modification } = kit();
	const of = (effect, type, success = 'true', more = {}) => ({ ...expect(effect, type, success, more), identity: `MOD1:${type}:${success}` });
	const modified = (name, eventCode, effect, more, success = 'true', amount = { value: 1130, currency: 'EUR' }) =>
		deliver(name, [item({ ...modification, eventCode, success, amount })], good(of(effect, eventCode, success, more)));
	const none = { amount: undefined, currency: undefined };

	return {
		site: { secrets: [key] },
		answer: { status: 200, body: '[accepted]', content_type: 'text/plain' },
		deliveries: [
			deliver('authorised', [item()], good(expect('processing', 'AUTHORISATION', 'true'))),
			deliver('refused', [item({ success: 'false' })], good(expect('attempt_failed', 'AUTHORISATION', 'false'))),
			modified('captured', 'CAPTURE', 'paid'),
			modified('captured-in-part', 'CAPTURE', 'paid', { amount: 700 }, 'true', { value: 700, currency: 'EUR' }),
			modified('not-to-be-captured', 'CAPTURE', 'ignore', none, 'false'),
			modified('capture-failed', 'CAPTURE_FAILED', 'refunded', { refund: 'MOD1' }),
			...['CANCELLATION', 'TECHNICAL_CANCEL', 'EXPIRE'].map((eventCode) => modified(eventCode.toLowerCase(), eventCode, 'attempt_failed', none)),
			modified('cancellation-refused', 'CANCELLATION', 'ignore', none, 'false'),
			modified('cancelled-or-refunded', 'CANCEL_OR_REFUND', 'refunded', { ...none, refund: 'MOD1' }),
			modified('refunded', 'REFUND', 'refunded', { refund: 'MOD1' }),
			modified('charged-back', 'CHARGEBACK', 'refunded', { refund: 'MOD1', details: { kind: 'dispute' } }),
			deliver('another-amount', [item({ ...modification, eventCode: 'CAPTURE' }, { amount: { value: 1, currency: 'EUR' } })], { verdict: 'forged' }),
			deliver('unsigned', [item({}, { additionalData: {} })], { verdict: 'unsigned' }),
		],
	};
}

export const stack = described;

export const sender = {
	...authorising,
	event: (id, what, { reference, ...paid } = PAID) => authorising.event(id, what === 'processing' ? 'paid' : what, {
		...what === 'paid' && { eventCode: 'CAPTURE', originalReference: reference ?? `adyen-${id}` }, ...paid,
	}),
};
