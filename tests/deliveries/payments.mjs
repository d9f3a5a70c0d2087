// SPDX-License-Identifier: MIT
// Payment providers.
import { execFileSync } from 'node:child_process';
import { sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from './crc32.mjs';
import { event, here, hmac, ID, json, NOW, OTHER, sha256, write } from './support.mjs';

export function stripe() {
	const secret = 'whsec_test_secret';
	const deliver = (name, type, object, expected, header) => {
		const body = json({
			id: `evt_${name}`, object: 'event', type, livemode: false,
			data: { object: { id: 'cs_1', object: 'checkout.session', client_reference_id: ID, amount_total: 1050, currency: 'eur', ...object } },
		});
		const v1 = hmac('sha256', secret, `${NOW}.${body}`, 'hex');
		return {
			name, body,
			headers: { 'stripe-signature': header?.(v1, body) ?? `t=${NOW},v1=${v1}` },
			...expected(`evt_${name}`, type),
		};
	};
	const good = (meaning, more = { reference: 'cs_1', amount: 1050, currency: 'EUR' }) =>
		(identity, type) => ({ verdict: 'good', events: [event(meaning, type, identity, more)] });
	const refused = (verdict) => () => ({ verdict });
	const completed = 'checkout.session.completed';
	const paid = { payment_status: 'paid' };

	write('stripe', {
		site: { secrets: [secret] },
		deliveries: [
			deliver('paid', completed, paid, good('paid')),
			deliver('free', completed, { payment_status: 'no_payment_required', amount_total: 0 },
				good('paid', { reference: 'cs_1', amount: 0, currency: 'EUR' })),
			deliver('waits', completed, { payment_status: 'unpaid' }, good('processing')),
			deliver('late', 'checkout.session.async_payment_succeeded', paid, good('paid')),
			deliver('bounced', 'checkout.session.async_payment_failed', { payment_status: 'unpaid' }, good('failed')),
			deliver('expired', 'checkout.session.expired', { payment_status: 'unpaid' }, good('expired')),
			deliver('other-type', 'customer.created', {}, good('ignore', { reference: 'cs_1' })),
			deliver('not-ours', completed, { ...paid, client_reference_id: null },
				good('paid', { id: null, reference: 'cs_1', amount: 1050, currency: 'EUR' })),
			deliver('somebody-elses', completed, { ...paid, client_reference_id: 'cart-17' },
				good('paid', { id: null, reference: 'cs_1', amount: 1050, currency: 'EUR' })),
			deliver('no-amount', completed, { ...paid, amount_total: null }, good('paid', { reference: 'cs_1' })),
			deliver('amount-of-another-kind', completed, { ...paid, amount_total: 10.5 }, refused('malformed')),
			deliver('negative', completed, { ...paid, amount_total: -1 }, refused('malformed')),
			deliver('two-signatures', completed, paid, good('paid'),
				(v1) => `t=${NOW},v1=${'0'.repeat(64)},v1=${v1}`),
			deliver('v0-only', completed, paid, refused('forged'), (v1) => `t=${NOW},v0=${v1}`),
			deliver('two-times', completed, paid, refused('forged'), (v1) => `t=${NOW},t=${NOW},v1=${v1}`),
			deliver('no-time', completed, paid, refused('unsigned'), (v1) => `v1=${v1}`),
			deliver('time-is-no-number', completed, paid, refused('forged'),
				(v1, body) => `t=x${NOW},v1=${hmac('sha256', secret, `x${NOW}.${body}`, 'hex')}`),
			deliver('stale', completed, paid, refused('stale'),
				(v1, body) => `t=${NOW - 301},v1=${hmac('sha256', secret, `${NOW - 301}.${body}`, 'hex')}`),
			deliver('from-the-future', completed, paid, refused('stale'),
				(v1, body) => `t=${NOW + 301},v1=${hmac('sha256', secret, `${NOW + 301}.${body}`, 'hex')}`),
			{
				name: 'not-json', body: 'paid!', verdict: 'malformed',
				headers: { 'stripe-signature': `t=${NOW},v1=${hmac('sha256', secret, `${NOW}.paid!`, 'hex')}` },
			},
			{
				name: 'a-key-twice', body: '{"id":"evt_1","id":"evt_2"}', verdict: 'malformed',
				headers: { 'stripe-signature': `t=${NOW},v1=${hmac('sha256', secret, `${NOW}.{"id":"evt_1","id":"evt_2"}`, 'hex')}` },
			},
		],
	});
}

export function polar() {
	const secret = 'polar_whs_c2VjcmV0';
	const deliver = (id, type, data, meaning, more) => {
		const body = json({ type, timestamp: '2023-11-14T22:13:20Z', data });
		return {
			name: id, body,
			headers: {
				'webhook-id': id, 'webhook-timestamp': `${NOW}`,
				'webhook-signature': `v1,${hmac('sha256', secret, `${id}.${NOW}.${body}`, 'base64')}`,
			},
			verdict: 'good', events: [event(meaning, type, id, more)],
		};
	};
	const order = { id: 'ord_1', status: 'paid', total_amount: 1200, currency: 'usd', metadata: { elicitation_id: ID } };
	const checkout = { ...order, id: 'co_1', metadata: { reference_id: ID } };
	const amount = { amount: 1200, currency: 'USD' };

	write('polar', {
		site: { secrets: [secret] },
		deliveries: [
			deliver('msg_1', 'order.paid', order, 'paid', { reference: 'ord_1', ...amount }),
			deliver('msg_2', 'checkout.updated', { ...checkout, status: 'confirmed' }, 'processing', { reference: 'co_1', ...amount }),
			deliver('msg_3', 'checkout.updated', { ...checkout, status: 'failed' }, 'failed', { reference: 'co_1', ...amount }),
			deliver('msg_4', 'checkout.updated', { ...checkout, status: 'expired' }, 'expired', { reference: 'co_1', ...amount }),
			deliver('msg_5', 'checkout.updated', { ...checkout, status: 'open' }, 'ignore', { reference: 'co_1' }),
			deliver('msg_6', 'order.refunded', order, 'ignore', { reference: 'ord_1' }),
		],
	});
}

export function paypal() {
	const folder = mkdtempSync(join(tmpdir(), 'urlmode-deliveries-'));
	const certificate = join(here, 'paypal.pem');

	execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '36500',
		'-subj', '/CN=messageverificationcerts.test', '-addext', 'basicConstraints=critical,CA:FALSE',
		'-keyout', join(folder, 'key'), '-out', certificate], { stdio: 'pipe' });
	const key = readFileSync(join(folder, 'key'));
	rmSync(folder, { recursive: true });

	// Within the certificate's life.
	const at = Math.floor(Date.now() / 1000) + 86400;
	const time = new Date(at * 1000).toISOString().replace('.000', '');
	const deliver = (name, type, resource, meaning, more) => {
		const body = json({ id: `WH-${name}`, event_version: '1.0', resource_type: 'capture', event_type: type, resource });
		const text = `b1-${name}|${time}|WEBHOOK1|${crc32(Buffer.from(body))}`;
		return {
			name, body,
			headers: {
				'paypal-transmission-id': `b1-${name}`, 'paypal-transmission-time': time,
				'paypal-transmission-sig': sign('sha256', Buffer.from(text), key).toString('base64'),
				'paypal-cert-url': 'https://api.paypal.com/v1/notifications/certs/CERT-1',
				'paypal-auth-algo': 'SHA256withRSA',
			},
			verdict: 'good', events: [event(meaning, type, `WH-${name}`, more)],
		};
	};
	const capture = { id: 'CAP1', custom_id: ID, amount: { currency_code: 'EUR', value: '10.50' } };
	const order = { id: 'ORD1', purchase_units: [{ custom_id: ID, amount: { currency_code: 'EUR', value: '10.50' } }] };
	const amount = { amount: 1050, currency: 'EUR' };

	write('paypal', {
		now: at * 1000,
		site: { certificate: 'tests/deliveries/paypal.pem', constants: { webhook_id: 'WEBHOOK1' } },
		deliveries: [
			deliver('approved', 'CHECKOUT.ORDER.APPROVED', order, 'recheck', { reference: 'ORD1' }),
			deliver('paid', 'PAYMENT.CAPTURE.COMPLETED', capture, 'paid', { reference: 'CAP1', ...amount }),
			deliver('yen', 'PAYMENT.CAPTURE.COMPLETED', { ...capture, amount: { currency_code: 'JPY', value: '1050' } },
				'paid', { reference: 'CAP1', amount: 1050, currency: 'JPY' }),
			deliver('pending', 'PAYMENT.CAPTURE.PENDING', capture, 'processing', { reference: 'CAP1', ...amount }),
			deliver('denied', 'PAYMENT.CAPTURE.DENIED', capture, 'failed', { reference: 'CAP1', ...amount }),
			deliver('refunded', 'PAYMENT.CAPTURE.REFUNDED', capture, 'ignore', { reference: 'CAP1' }),
		],
	});
}

export function square() {
	const secret = 'signature-key';
	const url = 'https://pay.example/webhook/square';
	const deliver = (name, type, payment, meaning, more) => {
		const body = json({
			merchant_id: 'M1', type, event_id: `ev-${name}`, created_at: '2023-11-14T22:13:20.308Z',
			data: { type: 'payment', id: 'PAY1', object: { payment: { id: 'PAY1', reference_id: ID, amount_money: { amount: 2500, currency: 'USD' }, ...payment } } },
		});
		return {
			name, body,
			headers: { 'x-square-hmacsha256-signature': hmac('sha256', secret, url + body, 'base64') },
			verdict: 'good', events: [event(meaning, type, `ev-${name}`, more)],
		};
	};
	const amount = { reference: 'PAY1', amount: 2500, currency: 'USD' };

	write('square', {
		site: { secrets: [secret], constants: { notification_url: url } },
		deliveries: [
			deliver('paid', 'payment.updated', { status: 'COMPLETED' }, 'paid', amount),
			deliver('at-once', 'payment.created', { status: 'COMPLETED' }, 'paid', amount),
			deliver('approved', 'payment.updated', { status: 'APPROVED' }, 'processing', amount),
			deliver('failed', 'payment.updated', { status: 'FAILED' }, 'failed', amount),
			deliver('cancelled', 'payment.updated', { status: 'CANCELED' }, 'cancelled', amount),
			deliver('new-status', 'payment.updated', { status: 'DREAMT' }, 'ignore', { reference: 'PAY1' }),
			deliver('refund', 'refund.updated', {}, 'ignore', { reference: 'PAY1' }),
		],
	});
}

export function adyen() {
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
	const expect = (meaning, type, success, more) => event(meaning, type, `7914073381342284:${type}:${success}`,
		{ reference: '7914073381342284', amount: 1130, currency: 'EUR', ...more });
	const good = (...events) => ({ verdict: 'good', events });

	write('adyen', {
		site: { secrets: [key] },
		answer: { status: 200, body: '[accepted]', content_type: 'text/plain' },
		deliveries: [
			deliver('paid', [item()], good(expect('paid', 'AUTHORISATION', 'true'))),
			deliver('refused', [item({ success: 'false' })], good(expect('failed', 'AUTHORISATION', 'false'))),
			deliver('pending', [item({ eventCode: 'PENDING' })], good(expect('processing', 'PENDING', 'true'))),
			deliver('closed', [item({ eventCode: 'OFFER_CLOSED' })], good(expect('expired', 'OFFER_CLOSED', 'true'))),
			deliver('report', [item({ eventCode: 'REPORT_AVAILABLE', originalReference: 'x' })],
				good({ ...expect('ignore', 'REPORT_AVAILABLE', 'true'), amount: undefined, currency: undefined })),
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
	});
}

export function lemonSqueezy() {
	const secret = 'lemon-secret';
	const deliver = (name, event_name, attributes, meaning, more) => {
		const body = json({
			meta: { event_name, custom_data: { elicitation_id: ID }, test_mode: true },
			data: { type: 'orders', id: '12345', attributes: { total: 2999, currency: 'USD', ...attributes } },
		});
		return {
			name, body, headers: { 'x-event-name': event_name, 'x-signature': hmac('sha256', secret, body, 'hex') },
			verdict: 'good', events: [event(meaning, event_name, `${event_name}:orders:12345:${attributes.status}`, more)],
		};
	};
	const amount = { reference: '12345', amount: 2999, currency: 'USD' };

	write('lemon-squeezy', {
		site: { secrets: [secret] },
		deliveries: [
			deliver('paid', 'order_created', { status: 'paid' }, 'paid', amount),
			deliver('pending', 'order_created', { status: 'pending' }, 'processing', amount),
			deliver('failed', 'order_created', { status: 'failed' }, 'failed', amount),
			deliver('refunded', 'order_refunded', { status: 'refunded' }, 'ignore', { reference: '12345' }),
		],
	});
}

export function mollie() {
	const deliver = (name, query, body, expected, content_type = 'application/x-www-form-urlencoded') =>
		({ name, query, body, content_type, headers: {}, ...expected });
	const recheck = (body, more) => ({ verdict: 'good', events: [event('recheck', '', `sha256:${sha256(body)}`, more)] });

	write('mollie', {
		site: {},
		deliveries: [
			deliver('ping', `elicitation=${ID}`, 'id=tr_d0b0E3EA3v', recheck('id=tr_d0b0E3EA3v', { reference: 'tr_d0b0E3EA3v' })),
			deliver('without-an-elicitation', '', 'id=tr_d0b0E3EA3v',
				recheck('id=tr_d0b0E3EA3v', { id: null, reference: 'tr_d0b0E3EA3v' })),
			deliver('without-a-payment', `elicitation=${ID}`, 'testByMollie=1',
				{ verdict: 'good', events: [event('ignore', '', `sha256:${sha256('testByMollie=1')}`)] }),
		],
	});
}
