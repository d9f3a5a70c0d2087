// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, hmac, ID, json, OTHER, PAID } from './support.mjs';

/** Items and events, signed and expected as Adyen has them; also for adyen-capture. */
export function kit() {
	const key = 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00';
	const item = (fields, forge) => {
		const one = {
			amount: { value: 1130, currency: 'EUR' }, pspReference: '7914073381342284', eventCode: 'AUTHORISATION',
			eventDate: '2023-11-14T22:13:20+02:00', merchantAccountCode: 'TestMerchant', merchantReference: ID,
			success: 'true', ...fields,
		};
		const signed = [one.pspReference, one.originalReference, one.merchantAccountCode, one.merchantReference,
			one.amount.value, one.amount.currency, one.eventCode, one.success].join(':');
		one.additionalData = { hmacSignature: hmac('sha256', Buffer.from(key, 'hex'), signed, 'base64') };
		return { NotificationRequestItem: forge ? { ...one, ...forge } : one };
	};
	const deliver = (name, items, expected) => ({
		name, headers: {}, body: json({ live: 'false', notificationItems: items }), ...expected,
	});
	const expect = (effect, type, success, more) => event(effect, type, `7914073381342284:${type}:${success}`,
		{ reference: '7914073381342284', amount: 1130, currency: 'EUR', ...more });
	const good = (...events) => ({ verdict: 'good', events });
	const modification = { pspReference: 'MOD1', originalReference: '7914073381342284' };
	return { key, item, deliver, expect, good, modification };
}

export function deliveries() {
	const { key, item, deliver, expect, good, modification } = kit();
	const kinds = {
		CANCELLATION: 'cancellation', TECHNICAL_CANCEL: 'cancellation', EXPIRE: 'cancellation',
		CHARGEBACK: 'dispute', SECOND_CHARGEBACK: 'dispute', CHARGEBACK_REVERSED: 'dispute_won',
	};
	const modified = (effect, type, success, more) => ({
		...expect(effect, type, success, more), identity: `MOD1:${type}:${success}`,
		...effect.startsWith('refund') && { refund: 'MOD1', ...kinds[type] && { details: { kind: kinds[type] } } },
	});

	return {
		site: { secrets: [key] },
		answer: { status: 200, body: '[accepted]', content_type: 'text/plain' },
		deliveries: [
			deliver('paid', [item()], good(expect('paid', 'AUTHORISATION', 'true'))),
			// Adyen's units are not those of ISO 4217: 5 ISK, 5,000 CLP, 50 CVE and 50,000 IDR; KWD and JPY are.
			...[['ISK', 500, 5], ['CLP', 500_000, 5_000], ['CVE', 50, 5_000], ['IDR', 50_000, 5_000_000], ['KWD', 1_234, 1_234], ['JPY', 50, 50]].map(
				([currency, value, amount]) => deliver(`paid-in-${currency}`, [item({ amount: { value, currency } })],
					good(expect('paid', 'AUTHORISATION', 'true', { amount, currency })))),
			// A card is refused; the offer of a bank is left; another card is taken.
			deliver('refused', [item({ success: 'false' })], good(expect('attempt_failed', 'AUTHORISATION', 'false'))),
			deliver('then-paid', [item({ pspReference: '2' })],
				good(event('paid', 'AUTHORISATION', '2:AUTHORISATION:true', { reference: '2', amount: 1130, currency: 'EUR' }))),
			deliver('without-a-price', [item({ amount: { value: 0, currency: 'EUR' } })], good(expect('paid', 'AUTHORISATION', 'true', { amount: 0 }))),
			deliver('refunded-in-part', [item({ ...modification, eventCode: 'REFUND', amount: { value: 130, currency: 'EUR' } })],
				good(modified('refunded', 'REFUND', 'true', { amount: 130 }))),
			deliver('refund-refused', [item({ ...modification, eventCode: 'REFUND', success: 'false' })],
				good(modified('ignore', 'REFUND', 'false', { amount: undefined, currency: undefined }))),
			// Only all of an authorisation can be cancelled, whatever amount the item has.
			...['CANCELLATION', 'TECHNICAL_CANCEL', 'CANCEL_OR_REFUND'].flatMap((eventCode) => [0, 1130].map((value) => (
				deliver(`${eventCode.toLowerCase()}-${value}`, [item({ ...modification, eventCode, amount: { value, currency: 'EUR' } })],
					good(modified('refunded', eventCode, 'true', { amount: undefined, currency: undefined })))))),
			deliver('cancellation-refused', [item({ ...modification, eventCode: 'CANCELLATION', success: 'false' })],
				good(modified('ignore', 'CANCELLATION', 'false', { amount: undefined, currency: undefined }))),
			deliver('charged-back', [item({ ...modification, eventCode: 'CHARGEBACK' })], good(modified('refunded', 'CHARGEBACK', 'true'))),
			deliver('not-captured', [item({ ...modification, eventCode: 'CAPTURE_FAILED' })], good(modified('refunded', 'CAPTURE_FAILED', 'true'))),
			deliver('charged-back-again', [item({ ...modification, eventCode: 'SECOND_CHARGEBACK' })],
				good({ ...modified('refunded', 'SECOND_CHARGEBACK', 'true'), refund: 'MOD1:SECOND_CHARGEBACK' })),
			deliver('authorisation-expired', [item({ ...modification, eventCode: 'EXPIRE' })],
				good(modified('refunded', 'EXPIRE', 'true', { amount: undefined, currency: undefined }))),
			...['REFUND_FAILED', 'REFUNDED_REVERSED', 'CHARGEBACK_REVERSED'].map((eventCode) => (
				deliver(eventCode.toLowerCase(), [item({ ...modification, eventCode })], good(modified('refund_reversed', eventCode, 'true'))))),
			deliver('captured', [item({ ...modification, eventCode: 'CAPTURE' })],
				good(modified('ignore', 'CAPTURE', 'true', { amount: undefined, currency: undefined }))),
			// `live` is not signed, and decides nothing.
			{ ...deliver('of-live-mode', [item()], good(expect('paid', 'AUTHORISATION', 'true'))), body: json({ live: 'true', notificationItems: [item()] }) },
			deliver('pending', [item({ eventCode: 'PENDING' })], good(expect('processing', 'PENDING', 'true'))),
			deliver('closed', [item({ eventCode: 'OFFER_CLOSED' })], good(expect('attempt_failed', 'OFFER_CLOSED', 'true'))),
			deliver('report', [item({ eventCode: 'REPORT_AVAILABLE', originalReference: 'x' })],
				good({ ...expect('ignore', 'REPORT_AVAILABLE', 'true'), reference: 'x', amount: undefined, currency: undefined })),
			deliver('two', [item(), item({ pspReference: '2', merchantReference: OTHER })], good(
				expect('paid', 'AUTHORISATION', 'true'),
				event('paid', 'AUTHORISATION', '2:AUTHORISATION:true', { id: OTHER, reference: '2', amount: 1130, currency: 'EUR' }))),
			// With a mark of the list in a field the fields could be others.
			deliver('mark-in-a-field', [item({ merchantAccountCode: 'Test:Merchant' })],
				good({ ...expect('recheck', 'AUTHORISATION', 'true'), amount: undefined, currency: undefined })),
			deliver('one-of-two-forged', [item(), item({}, { merchantReference: OTHER })], { verdict: 'forged' }),
			deliver('another-amount', [item({}, { amount: { value: 1, currency: 'EUR' } })], { verdict: 'forged' }),
			deliver('another-outcome', [item({ success: 'false' }, { success: 'true' })], { verdict: 'forged' }),
			deliver('unsigned', [item({}, { additionalData: {} })], { verdict: 'unsigned' }),
			deliver('none', [], { verdict: 'unsigned' }),
			{ name: 'not-json', headers: {}, body: '{', verdict: 'unsigned' },
			{ name: 'no-list', headers: {}, body: '{"notificationItems":{}}', verdict: 'unsigned' },
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ hex }) => ({ display_name: 'Adyen', secrets: [hex().toUpperCase()] });

export const sender = {
	event: (id, what, { amount, currency, ...more } = PAID) => ({
		live: 'true',
		notificationItems: [{
			NotificationRequestItem: {
				pspReference: randomUUID().replaceAll('-', '').slice(0, 16).toUpperCase(),
				merchantAccountCode: 'Tests', merchantReference: id, amount: { value: amount, currency },
				eventCode: { paid: 'AUTHORISATION', failed: 'AUTHORISATION', processing: 'PENDING', expired: 'OFFER_CLOSED' }[what],
				success: what === 'failed' ? 'false' : 'true', additionalData: {}, ...more,
			},
		}],
	}),
	seal: async (event, { secret }) => {
		const { default: adyen } = await import('@adyen/api-library');
		for (const { NotificationRequestItem: item } of event.notificationItems) {
			item.additionalData.hmacSignature = new adyen.hmacValidator().calculateHmac(item, secret);
		}
	},
	sign: () => ({}),
};
