// SPDX-License-Identifier: MIT
// Payment providers, documents and platforms that sign a body, hand over a token, or ask first.
import { createPublicKey, sign } from 'node:crypto';

import { event, hmac, ID, json, NOW, rsa, sha256, write } from './support.mjs';

const digest = (body) => `sha256:${sha256(body)}`;

// A delivery whose header has the body's HMAC; what is expected is made of its identity.
const signed = (header, secret, sign = (body) => hmac('sha256', secret, body, 'hex')) => (name, content, ...events) => {
	const body = json(content);
	return { name, body, headers: { [header]: sign(body) }, verdict: 'good', events: events.map((one) => one(digest(body))) };
};
const expects = (effect, type, more, identity) => (otherwise) => event(effect, type, identity ?? otherwise, more);
const forged = ({ events, ...delivery }, headers) => ({ ...delivery, name: 'forged', headers, verdict: 'forged' });

export function gocardless() {
	const deliver = signed('webhook-signature', 'gc-secret');
	const one = (id, resource_type, action, links, metadata = { elicitation_id: ID }) => ({
		id, created_at: '2023-11-14T22:13:20Z', resource_type, action, links, metadata: {}, details: {}, resource_metadata: metadata,
	});
	const payment = (id, action) => one(id, 'payments', action, { payment: 'PM1' });
	const asks = (id, type, reference = 'PM1') => expects('recheck', type, { reference }, id);

	write('gocardless', {
		site: { secrets: ['gc-secret'] },
		deliveries: [
			deliver('several', { events: [
				one('EV1', 'billing_requests', 'payer_details_confirmed', { billing_request: 'BRQ1' }),
				one('EV2', 'billing_requests', 'fulfilled', { billing_request: 'BRQ1' }),
				one('EV3', 'mandates', 'created', { mandate: 'MD1' }, {}),
			] },
			expects('ignore', 'billing_requests.payer_details_confirmed', { reference: 'BRQ1' }, 'EV1'),
			asks('EV2', 'billing_requests.fulfilled', 'BRQ1'), expects('ignore', 'mandates.created', { id: null }, 'EV3')),
			// A debit that the bank refuses, then another that comes, and its refund.
			deliver('failed', { events: [payment('EV4', 'failed')] }, asks('EV4', 'payments.failed')),
			deliver('then-confirmed', { events: [payment('EV5', 'confirmed')] }, asks('EV5', 'payments.confirmed')),
			deliver('charged-back', { events: [payment('EV6', 'charged_back')] }, asks('EV6', 'payments.charged_back')),
			deliver('none', { events: [] }),
			forged(deliver('', { events: [payment('EV7', 'confirmed')] }), { 'webhook-signature': '0'.repeat(64) }),
		],
	});
}

export function coinbaseCommerce() {
	const deliver = signed('x-cc-webhook-signature', 'cc-secret');
	const charge = (type, more, data = {}) => deliver(type, {
		id: 'd1', attempt_number: 1,
		event: { id: `ev-${type}`, type, data: { id: 'ch1', code: 'XA6G6ZFR', pricing: { local: { amount: '10.50', currency: 'USD' } }, metadata: { elicitation_id: ID }, ...data } },
	}, expects(more.effect, type, { reference: 'ch1', ...more.money && { amount: 1050, currency: 'USD' } }, `ev-${type}`));

	write('coinbase-commerce', {
		site: { secrets: ['cc-secret'] },
		deliveries: [
			charge('charge:pending', { effect: 'processing', money: true }),
			charge('charge:confirmed', { effect: 'paid', money: true }),
			charge('charge:failed', { effect: 'attempt_failed', money: true }),
			charge('charge:delayed', { effect: 'recheck' }),
			charge('charge:resolved', { effect: 'recheck' }),
			charge('charge:created', { effect: 'ignore' }),
			charge('charge:confirmed', { effect: 'paid' }, { pricing: undefined }),
		],
	});
}

/** Hook0's signature: the time, the names of headers, their values, and the body. */
export function coinbaseBusiness() {
	const deliver = (type, effect, more = {}, { headers = { 'content-type': 'application/json', host: 'pay.example.com', 'x-event-id': 'e1' }, names, name = type } = {}) => {
		const { money = { amount: 1050, currency: 'USD' }, ...data } = more;
		const body = json({
			id: '68f7a946db0529ea9b6d3a12', amount: '10.50', currency: 'USD', network: 'base', status: 'COMPLETED', eventType: type,
			metadata: { elicitation_id: ID }, createdAt: '2026-06-13T10:30:00Z', ...data,
		});
		const h = names ?? Object.keys(headers).join(' ');
		const text = `${NOW}.${h}.${h.split(' ').map((one) => headers[one] ?? '').join('.')}.${body}`;
		return {
			name, body, headers: { ...headers, 'x-hook0-signature': `t=${NOW},v0=00,h=${h},v1=${hmac('sha256', 'hook0-secret', text, 'hex')}` }, verdict: 'good',
			events: [event(effect, type, digest(body), {
				reference: '68f7a946db0529ea9b6d3a12', ...effect === 'paid' && { checkout: '68f7a946db0529ea9b6d3a12' }, ...money,
			})],
		};
	};
	const success = 'checkout.payment.success';
	const absent = deliver(success, 'paid', {}, { name: 'a-listed-header-is-absent', names: 'content-type x-event-id x-other' });

	write('coinbase-business', {
		site: { secrets: ['hook0-secret'] },
		deliveries: [
			deliver(success, 'paid'),
			deliver(success, 'paid', {}, { name: 'without-host', headers: { 'x-event-id': 'e1' } }),
			deliver(success, 'recheck', { money: {} }, { name: 'a-bracket-in-a-header', headers: { 'x-event-id': 'e{1' } }),
			deliver(success, 'recheck', { currency: 'USDC', money: {} }, { name: 'a-stablecoin' }),
			deliver('checkout.refund.success', 'recheck', { currency: 'USDC', money: {} }, { name: 'a-stablecoin-that-goes-back' }),
			deliver('checkout.payment.failed', 'attempt_failed'),
			deliver('checkout.payment.expired', 'expired'),
			deliver('checkout.refund.success', 'refunded'),
			{ ...absent, verdict: 'unsigned', events: undefined },
			forged(deliver(success, 'paid'), { 'x-event-id': 'e1', 'x-hook0-signature': `t=${NOW},h=x-event-id,v1=${'0'.repeat(64)}` }),
		],
	});
}

export function checkoutCom() {
	const deliver = signed('cko-signature', 'cko-key');
	const payment = (type, effect, { id = 'pay_1', amount = 2000, currency = 'GBP', ...balances } = {}, expected = amount) => deliver(type, {
		id: `evt_${type}`, type, data: { id, action_id: 'act_1', reference: ID, amount, currency, ...Object.keys(balances).length > 0 && { balances } },
	}, expects(effect, type, { reference: id, ...effect !== 'ignore' && { amount: expected, currency } }, `evt_${type}`));

	write('checkout-com', {
		site: { secrets: ['cko-key'] },
		deliveries: [
			// A card is refused, and the next one is taken.
			payment('payment_declined', 'attempt_failed', { id: 'pay_0' }),
			payment('payment_approved', 'processing'),
			payment('payment_captured', 'paid'),
			payment('payment_voided', 'attempt_failed'),
			// 5,000 CLP have two decimals here; ISK, JPY and KWD are as in ISO 4217.
			...[['CLP', 500_000, 5_000], ['ISK', 5, 5], ['JPY', 50, 50], ['KWD', 1_230, 1_230]].map(
				([currency, amount, expected]) => payment('payment_captured', 'paid', { amount, currency }, expected)),
			// Captured, and refunded, in two parts: all that was so far counts.
			payment('payment_captured', 'paid', { amount: 500, total_captured: 500, total_refunded: 0 }),
			payment('payment_captured', 'paid', { amount: 1500, total_captured: 2000, total_refunded: 0 }, 2000),
			payment('payment_refunded', 'refunded', { amount: 500, total_captured: 2000, total_refunded: 500 }),
			payment('payment_refunded', 'refunded', { amount: 1500, total_captured: 2000, total_refunded: 2000 }, 2000),
			payment('payment_refunded', 'refunded', { amount: 500 }),
			payment('payment_returned', 'ignore'),
		],
	});
}

export function cashfree() {
	const time = `${NOW}123`;
	const deliver = (name, content, identity, effect, type, more) => {
		const body = json(content);
		return {
			name, body, headers: { 'x-webhook-timestamp': time, 'x-webhook-signature': hmac('sha256', 'cf-secret', time + body, 'base64') },
			verdict: 'good', events: [event(effect, type, identity, more)],
		};
	};
	const payment = (type, status, effect, amount = 10.5) => deliver(type, {
		type, event_time: '2023-11-14T22:13:20+05:30',
		data: { order: { order_id: ID, order_amount: 11.5, order_currency: 'INR' }, payment: { cf_payment_id: '14', payment_status: status, payment_amount: amount, payment_currency: 'INR' } },
	}, `${type}:14:${status}`, effect, type, { reference: '14', ...effect !== 'ignore' && { amount: amount * 100, currency: 'INR' } });
	const refund = (status, effect, more) => deliver(`refund ${status}`, {
		type: 'REFUND_STATUS_WEBHOOK', data: { refund: { cf_refund_id: 7, cf_payment_id: 14, order_id: ID, refund_amount: 2, refund_currency: 'INR', refund_status: status } },
	}, `REFUND_STATUS_WEBHOOK:7:${status}`, effect, 'REFUND_STATUS_WEBHOOK', { reference: '14', ...more });

	write('cashfree', {
		now: NOW * 1000 + 123,
		site: { secrets: ['cf-secret'] },
		deliveries: [
			payment('PAYMENT_FAILED_WEBHOOK', 'FAILED', 'attempt_failed'),
			payment('PAYMENT_USER_DROPPED_WEBHOOK', 'USER_DROPPED', 'attempt_failed'),
			payment('PAYMENT_SUCCESS_WEBHOOK', 'SUCCESS', 'paid'),
			payment('PAYMENT_SUCCESS_WEBHOOK', 'SUCCESS', 'paid', 10),
			payment('PAYMENT_CHARGES_WEBHOOK', 'SUCCESS', 'ignore'),
			refund('SUCCESS', 'refunded', { refund: '7', amount: 200, currency: 'INR' }),
			refund('PENDING', 'ignore', {}),
		],
	});
}

// The secret itself is in a header: whatever such a delivery says, the API is asked.
function tokens(name, header, secret, deliveries) {
	write(name, {
		site: { secrets: [secret] },
		deliveries: [
			...deliveries.map(([title, content, effect, type, reference]) => {
				const body = json(content);
				return { name: title, body, headers: { [header]: secret }, verdict: 'good', events: [event(effect, type, digest(body), { reference })] };
			}),
			{ name: 'another-token', body: json(deliveries[0][1]), headers: { [header]: `${secret}x` }, verdict: 'forged' },
			{ name: 'no-token', body: json(deliveries[0][1]), headers: {}, verdict: 'unsigned' },
		],
	});
}

export function xendit() {
	const invoice = (status) => ({ id: 'inv_1', external_id: ID, status, paid_amount: 50000, currency: 'IDR' });

	tokens('xendit', 'x-callback-token', 'xnd-callback-token', [
		['paid', invoice('PAID'), 'recheck', 'PAID', 'inv_1'],
		['expired', invoice('EXPIRED'), 'recheck', 'EXPIRED', 'inv_1'],
		['pending', invoice('PENDING'), 'ignore', 'PENDING', 'inv_1'],
	]);
}

export function paypalRecheck() {
	const deliver = (name, resource, expected, token = 'in-the-address') => ({ name, query: `token=${token}`, headers: {}, body: json({ id: `WH-${name}`, event_type: name, resource }), ...expected });
	const capture = { id: 'CAP1', custom_id: ID, supplementary_data: { related_ids: { order_id: 'ORD1' } }, amount: { currency_code: 'EUR', value: '10.50' } };
	const order = { id: 'ORD1', purchase_units: [{ custom_id: ID }] };
	const good = (effect, { body, name }) => ({ verdict: 'good', events: [event(effect, name, digest(body), { reference: 'ORD1' })] });
	const known = (name, resource, effect) => ({ ...deliver(name, resource), ...good(effect, deliver(name, resource)) });

	write('paypal-recheck', {
		site: { secrets: ['in-the-address'] },
		deliveries: [
			known('PAYMENT.CAPTURE.COMPLETED', capture, 'recheck'), known('CHECKOUT.ORDER.APPROVED', order, 'recheck'),
			...['CHECKOUT.ORDER.COMPLETED', 'CHECKOUT.PAYMENT-APPROVAL.REVERSED'].map((name) => known(name, order, 'recheck')),
			...['PENDING', 'DECLINED', 'DENIED'].map((what) => known(`PAYMENT.CAPTURE.${what}`, capture, 'recheck')),
			known('PAYMENT.CAPTURE.REFUNDED', capture, 'ignore'),
			known('CHECKOUT.ORDER.DECLINED', order, 'recheck'), known('CHECKOUT.ORDER.SAVED', order, 'ignore'),
			deliver('PAYMENT.CAPTURE.COMPLETED', capture, { verdict: 'forged' }, 'another'),
			{ ...deliver('PAYMENT.CAPTURE.COMPLETED', capture, { verdict: 'unsigned' }), query: '' },
		],
	});
}

export function flutterwave() {
	const charge = (kind, status) => ({ event: kind, data: { id: 285959875, tx_ref: ID, amount: 100, currency: 'NGN', status } });

	tokens('flutterwave', 'verif-hash', 'flw-secret-hash', [
		['paid', charge('charge.completed', 'successful'), 'recheck', 'charge.completed', '285959875'],
		['refused', charge('charge.completed', 'failed'), 'recheck', 'charge.completed', '285959875'],
		['transfer', charge('transfer.completed', 'SUCCESSFUL'), 'ignore', 'transfer.completed', '285959875'],
	]);
}

export function flutterwaveV4() {
	const deliver = signed('flutterwave-signature', 'flw-secret-hash', (body) => hmac('sha256', 'flw-secret-hash', body, 'base64'));
	const charge = (name, status, effect, more) => deliver(name, {
		webhook_id: `wbk_${name}`, timestamp: 1700000000000, type: 'charge.completed',
		data: { id: 'chg_1', reference: ID, amount: 250.5, currency: 'NGN', status },
	}, expects(effect, 'charge.completed', { reference: 'chg_1', ...more }, `wbk_${name}`));
	const money = { amount: 25050, currency: 'NGN' };
	const paid = charge('paid', 'succeeded', 'paid', money);

	write('flutterwave-v4', {
		site: { secrets: ['flw-secret-hash'] },
		deliveries: [
			paid, charge('failed', 'failed', 'attempt_failed', money), charge('pending', 'pending', 'processing', money),
			charge('new', 'dreamt', 'ignore'), forged(paid, { 'flutterwave-signature': 'A'.repeat(43).concat('=') }),
		],
	});
}

export function phonepe() {
	const order = (kind) => ({ event: kind, payload: { merchantOrderId: ID, orderId: 'OMO1', state: 'COMPLETED', amount: 1000 } });

	tokens('phonepe', 'authorization', sha256('user:password'), [
		['paid', order('checkout.order.completed'), 'recheck', 'checkout.order.completed', 'OMO1'],
		['failed', order('checkout.order.failed'), 'recheck', 'checkout.order.failed', 'OMO1'],
		['refund', order('pg.refund.completed'), 'ignore', 'pg.refund.completed', 'OMO1'],
	]);
}

export function docuseal() {
	const form = (kind) => ({ event_type: kind, timestamp: '2023-11-14T22:13:20Z', data: { id: 1, submission_id: 2, external_id: ID, status: 'completed' } });

	tokens('docuseal', 'x-docuseal-secret', 'seal-secret', [
		['completed', form('form.completed'), 'recheck', 'form.completed', '2'],
		['declined', form('form.declined'), 'recheck', 'form.declined', '2'],
		['viewed', form('form.viewed'), 'ignore', 'form.viewed', '2'],
	]);
}

export function documenso() {
	const document = (kind) => ({ event: kind, payload: { id: 10, externalId: ID, status: 'COMPLETED' }, createdAt: '2023-11-14T22:13:20Z' });

	tokens('documenso', 'x-documenso-secret', 'documenso-secret', [
		['completed', document('DOCUMENT_COMPLETED'), 'recheck', 'DOCUMENT_COMPLETED', '10'],
		['rejected', document('DOCUMENT_REJECTED'), 'recheck', 'DOCUMENT_REJECTED', '10'],
		['cancelled', document('DOCUMENT_CANCELLED'), 'recheck', 'DOCUMENT_CANCELLED', '10'],
		['opened', document('DOCUMENT_OPENED'), 'ignore', 'DOCUMENT_OPENED', '10'],
	]);
}

export function yousign() {
	const deliver = signed('x-yousign-signature-256', 'yousign-key', (body) => `sha256=${hmac('sha256', 'yousign-key', body, 'hex')}`);
	const request = (what, effect, sandbox = false) => deliver(`${what}${sandbox ? ' sandbox' : ''}`, {
		event_id: `ev-${what}`, event_name: `signature_request.${what}`, event_time: '1700000000', sandbox,
		data: { signature_request: { id: 'sr1', external_id: ID, status: what } },
	}, expects(effect, `signature_request.${what}`, { reference: 'sr1' }, `ev-${what}`));
	const done = request('done', 'paid');

	write('yousign', {
		site: { secrets: ['yousign-key'] },
		deliveries: [
			done, request('declined', 'cancelled'), request('expired', 'expired'), request('canceled', 'expired'),
			request('activated', 'ignore'), request('done', 'other_mode', true),
			forged(done, { 'x-yousign-signature-256': `sha256=${'0'.repeat(64)}` }),
		],
	});
}

export function veriff() {
	const deliver = signed('x-hmac-signature', 'veriff-key');
	const decision = (status, effect) => deliver(status, {
		status: 'success', verification: { id: 'vs1', attemptId: 'va1', code: 9001, status, vendorData: ID },
	}, expects(effect, status, { reference: 'vs1' }, `vs1:va1:${status}`));
	const approved = decision('approved', 'paid');

	write('veriff', {
		site: { secrets: ['veriff-key'] },
		deliveries: [
			approved, decision('declined', 'failed'), decision('resubmission_requested', 'attempt_failed'), decision('review', 'processing'),
			decision('expired', 'expired'), decision('abandoned', 'expired'),
			deliver('not a decision', { id: 'vs1', attemptId: 'va1', action: 'submitted', vendorData: ID },
				(otherwise) => event('ignore', '', otherwise, { id: null })),
			forged(approved, { 'x-hmac-signature': '0'.repeat(64) }),
		],
	});
}

export function mollieEvents() {
	const deliver = signed('x-mollie-signature', 'mollie-secret', (body) => `sha256=${hmac('sha256', 'mollie-secret', body, 'hex')}`);
	const payment = (status, effect, mode = 'live', metadata = { elicitation_id: ID }, id = {}) => deliver(`${status} ${mode} ${typeof metadata}`, {
		resource: 'event', id: `event_${status}`, type: `payment.${status}`, entityId: 'tr_1', createdAt: '2023-11-14T22:13:20.0Z',
		_embedded: { entity: { resource: 'payment', id: 'tr_1', mode, status, amount: { value: '10.50', currency: 'EUR' }, metadata } },
	}, expects(effect, `payment.${status}`, { reference: 'tr_1', ...mode === 'live' && { amount: 1050, currency: 'EUR' }, ...id }, `event_${status}`));
	// These name the payment, and not the elicitation; a chargeback says no mode.
	const after = (type, effect, resource, more) => deliver(type, {
		resource: 'event', id: `event_${type}`, type, createdAt: '2023-11-14T22:13:20.0Z',
		_embedded: { entity: { resource, id: `${resource}_1`, paymentId: 'tr_1', amount: { value: '4.00', currency: 'EUR' }, ...more } },
	}, expects(effect, type, { id: null, ...effect === 'ignore' ? { reference: `${resource}_1` } : { reference: 'tr_1', refund: `${resource}_1`, amount: 400, currency: 'EUR' } },
		`event_${type}`));
	const ping = deliver('ping', { resource: 'event', id: 'event_ping', type: 'hook.ping', entityId: 'hook_1' }, expects('ignore', 'hook.ping', { id: null }, 'event_ping'));

	write('mollie-events', {
		site: { secrets: ['mollie-secret'] },
		deliveries: [
			payment('paid', 'paid'), payment('pending', 'processing'), payment('authorized', 'processing'), payment('failed', 'failed'),
			payment('paid', 'paid', 'live', json({ elicitation_id: ID })), payment('paid', 'paid', 'live', 'order 5', { id: null, amount: undefined, currency: undefined }),
			payment('canceled', 'cancelled'), payment('expired', 'expired'), payment('paid', 'other_mode', 'test'), ping,
			after('refund.pending', 'ignore', 'refund', { mode: 'live', status: 'pending' }),
			after('refund.processing', 'refunded', 'refund', { mode: 'live', status: 'processing' }),
			after('refund.refunded', 'refunded', 'refund', { mode: 'live', status: 'refunded' }),
			after('refund.failed', 'refund_reversed', 'refund', { mode: 'live', status: 'failed' }),
			after('refund.canceled', 'refund_reversed', 'refund', { mode: 'live', status: 'canceled' }),
			after('chargeback.received', 'refunded', 'chargeback', { reversedAt: null }),
			after('chargeback.reversed', 'refund_reversed', 'chargeback', { reversedAt: '2023-11-15T00:00:00.0Z' }),
			forged(payment('paid', 'paid'), { 'x-mollie-signature': hmac('sha256', 'mollie-secret', '', 'hex') }),
		],
	});
}

export function mercadoPago() {
	const deliver = (name, query, expected, ts = NOW, id = query['data.id']) => ({
		name, query: new URLSearchParams(query).toString(),
		body: json({ action: 'payment.updated', type: query.type, data: { id } }),
		headers: {
			'x-request-id': 'f7b2a1d4', 'x-signature': `ts=${ts},v1=${hmac('sha256', 'mp-secret', `id:${id};request-id:f7b2a1d4;ts:${ts};`, 'hex')}`,
		},
		...expected,
	});
	const good = (effect, type, body) => ({ verdict: 'good', events: [event(effect, type, digest(body), { reference: '123' })] });
	const query = { elicitation_id: ID, 'data.id': '123', type: 'payment' };
	const body = (type) => json({ action: 'payment.updated', type, data: { id: '123' } });

	write('mercado-pago', {
		site: { secrets: ['mp-secret'] },
		deliveries: [
			deliver('payment', query, good('recheck', 'payment', body('payment'))),
			deliver('milliseconds', query, good('recheck', 'payment', body('payment')), NOW * 1000),
			deliver('order', { ...query, type: 'merchant_order' }, good('ignore', 'merchant_order', body('merchant_order'))),
			deliver('of-another-payment', query, { verdict: 'forged' }, NOW, '124'),
			{
				...deliver('without-the-id-of-the-request', query, good('recheck', 'payment', body('payment'))),
				headers: { 'x-signature': `ts=${NOW},v1=${hmac('sha256', 'mp-secret', `id:123;ts:${NOW};`, 'hex')}` },
			},
		],
	});
}

export function pandadoc() {
	const deliver = (name, list, expected) => {
		const body = json(list);
		return {
			name, body, headers: {}, query: `signature=${hmac('sha256', 'panda-key', body, 'hex')}`, verdict: 'good',
			events: expected.map(([effect, type], i) => event(effect, type, digest(body) + (i === 0 ? '' : `:${i}`), { reference: 'doc1' })),
		};
	};
	const document = (status) => ({ event: 'document_state_changed', data: { id: 'doc1', status, metadata: { elicitation_id: ID } } });

	write('pandadoc', {
		site: { secrets: ['panda-key'] },
		deliveries: [
			deliver('completed', [document('document.viewed'), document('document.completed')], [['ignore', 'document.viewed'], ['paid', 'document.completed']]),
			deliver('declined', [document('document.declined')], [['cancelled', 'document.declined']]),
			deliver('voided', [document('document.voided')], [['expired', 'document.voided']]),
			deliver('paid', [document('document.waiting_pay'), document('document.paid')], [['processing', 'document.waiting_pay'], ['paid', 'document.paid']]),
			deliver('rejected', [document('document.rejected')], [['attempt_failed', 'document.rejected']]),
			deliver('cancelled', [document('document.cancelled')], [['expired', 'document.cancelled']]),
			deliver('draft', [document('document.draft')], [['ignore', 'document.draft']]),
			{ ...deliver('no-signature', [document('document.completed')], []), query: '', verdict: 'unsigned' },
		],
	});
}

export function persona() {
	const deliver = (name, effect, header, called = name) => {
		const body = json({
			data: { type: 'event', id: `evt_${name}`, attributes: { name: `inquiry.${name}`, payload: { data: { type: 'inquiry', id: 'inq_1', attributes: { 'reference-id': ID } } } } },
		});
		const list = (secret = 'wbhsec_1', t = NOW) => `t=${t},v1=${hmac('sha256', secret, `${t}.${body}`, 'hex')}`;
		return {
			name: called, body, headers: { 'persona-signature': header?.(list, list().slice(-64)) ?? list() },
			...['forged', 'stale', 'unsigned'].includes(effect) ? { verdict: effect }
				: { verdict: 'good', events: [event(effect, `inquiry.${name}`, `evt_${name}`, { reference: 'inq_1' })] },
		};
	};

	write('persona', {
		site: { secrets: ['wbhsec_1'] },
		deliveries: [
			deliver('approved', 'paid'), deliver('declined', 'failed'), deliver('marked-for-review', 'processing'), deliver('completed', 'recheck'), deliver('expired', 'recheck'),
			deliver('failed', 'recheck'), deliver('started', 'ignore'),
			// While the secret is rotated: a list of each, of which the site has one or both.
			...[
				['the known secret second', 'paid', (list) => `${list('wbhsec_2')} ${list()}`],
				['the known secret first', 'paid', (list) => `${list()} ${list('wbhsec_2')}`],
				['a list twice', 'paid', (list) => `${list()} ${list()}`],
				['as many lists as there may be', 'paid', (list) => `${list('a')} ${list('b')} ${list('c')} ${list()}`],
				['a list too many', 'forged', (list) => `${list()} ${list('a')} ${list('b')} ${list('c')} ${list('d')}`],
				['neither secret', 'forged', (list) => `${list('wbhsec_2')} ${list('wbhsec_3')}`],
				// Neither a time nor a signature of one list is looked for in another.
				['an old list before one that anyone can write', 'stale', (list) => `${list('wbhsec_1', NOW - 301)} ${list('x')}`],
				['an old list after one that anyone can write', 'stale', (list) => `${list('x')} ${list('wbhsec_1', NOW - 301)}`],
				['the time of another list', 'forged', (list) => `${list('wbhsec_1', NOW - 301).replace(/t=\d+/, `t=${NOW}`)} t=${NOW - 301},v1=${'0'.repeat(64)}`],
				['a fresh list after a foreign old one', 'paid', (list) => `${list('x', NOW - 301)} ${list()}`],
				['of two right lists the first counts', 'stale', (list) => `${list('wbhsec_1', NOW - 301)} ${list()}`],
				['a list without a signature', 'forged', (list) => `${list()} t=${NOW}`],
				['a list without a time', 'unsigned', (list, v1) => `${list()} v1=${v1}`],
				['a signature that is no hexadecimal', 'forged', (list) => `${list()} t=${NOW},v1=xyz`],
				['two blanks', 'forged', (list) => `${list()}  ${list('wbhsec_2')}`],
				['a comma between the lists', 'forged', (list) => `${list()},${list('wbhsec_2')}`],
			].map(([called, effect, header]) => deliver('approved', effect, header, called)),
		],
	});
}

export function onfido() {
	const sign = signed('x-sha2-signature', 'onfido-token');
	const deliver = (name, action, object, resource, ...expected) => sign(name, {
		payload: { resource_type: action.split('.')[0], action, object: { id: 'run1', ...object }, ...resource && { resource } },
	}, ...expected);
	const run = (status, effect) => deliver(status, 'workflow_run.completed', { status }, { id: 'run1', status, customer_user_id: ID, output: { score: 0.75 } },
		expects(effect, 'workflow_run.completed', { reference: 'run1' }));

	write('onfido', {
		site: { secrets: ['onfido-token'] },
		deliveries: [
			run('approved', 'paid'), run('declined', 'failed'), run('review', 'recheck'), run('abandoned', 'recheck'), run('error', 'recheck'),
			deliver('task', 'workflow_task.completed', { status: 'completed' }, { id: 'task1', workflow_run_id: 'run1' },
				expects('ignore', 'workflow_task.completed', { id: null, reference: 'run1' })),
			deliver('without a resource', 'check.completed', { status: 'complete' }, undefined, expects('ignore', 'check.completed', { id: null, reference: 'run1' })),
			forged(run('approved', 'paid'), { 'x-sha2-signature': '0'.repeat(64) }),
			{ ...forged(run('approved', 'paid'), {}), name: 'no signature', verdict: 'unsigned' },
		],
	});
}

export function worldpay() {
	const sign = signed('event-signature', 'wp-secret', (body) => `2/SHA256/${hmac('sha256', 'wp-secret', body, 'hex')}`);
	const deliver = (type, effect, { amount = { value: 1050, currencyCode: 'EUR' }, classification = 'payment', downstreamReference = '3378', reference, refund, name = type } = {}) => ({
		...sign(name, {
			eventId: `event-${name}`, eventTimestamp: '2023-11-14T22:13:20.407',
			eventDetails: { classification, downstreamReference, transactionReference: ID, type, date: '2023-11-14', reference, ...amount && { amount }, _links: { payment: { href: '' } } },
		}, expects(effect, `${classification}.${type}`, {
			...downstreamReference && { reference: downstreamReference }, refund, ...amount && effect !== 'ignore' && { amount: amount.value, currency: amount.currencyCode },
		}, `event-${name}`)),
		content_type: 'application/vnd.worldpay.events-v1.hal+json',
	});
	const settled = deliver('sentForSettlement', 'paid');
	const header = settled.headers['event-signature'];

	write('worldpay', {
		site: { secrets: ['wp-secret'], constants: { key_id: ['2', '3'] } },
		deliveries: [
			settled, deliver('settled', 'paid'), deliver('authorized', 'processing'),
			...['error', 'requestExpired', 'cancelledByCustomer', 'cancelled', 'expired'].map((type) => deliver(type, 'attempt_failed')),
			deliver('refused', 'attempt_failed', { amount: null }),
			deliver('settlementFailed', 'refunded'),
			deliver('sentForRefund', 'refunded', { refund: `${ID}:` }),
			// Two refunds in part; the second fails.
			...['first', 'second'].map((reference) => deliver('sentForRefund', 'refunded',
				{ name: `refund-${reference}`, reference, refund: `${ID}:${reference}`, amount: { value: 400, currencyCode: 'EUR' } })),
			deliver('refundFailed', 'refund_reversed', { reference: 'second', refund: `${ID}:second`, amount: { value: 400, currencyCode: 'EUR' } }),
			deliver('chargedBack', 'refunded', { downstreamReference: undefined, refund: `${ID}:chargeback` }),
			...['sentForAuthorization', 'refunded'].map((type) => deliver(type, 'ignore')),
			deliver('sentForRefund', 'ignore', { classification: 'payout', name: 'payout' }),
			deliver('sentForSettlement', 'paid', { downstreamReference: undefined, name: 'without a reference' }),
			// Two secrets, of which the site has one; and the same signature as if of another.
			{ ...settled, name: 'rotation', headers: { 'event-signature': `1/SHA256/${'0'.repeat(64)},${header}` } },
			forged(settled, { 'event-signature': header.replace('2', '1') }),
			{ ...forged(settled, { 'event-signature': header.replace('SHA256', 'SHA512') }), name: 'another hash function' },
			{ ...forged(settled, {}), name: 'no signature', verdict: 'unsigned' },
		],
	});
}

export function adobeAcrobatSign() {
	const deliver = (name, content, type, more) => {
		const body = json(content);
		return { name, body, headers: { 'x-adobesign-clientid': 'CBJ1' }, verdict: 'good', events: [event('recheck', type, digest(body), { id: null, ...more })] };
	};
	const agreement = (name) => deliver(name, { webhookNotificationId: name, event: name, eventResourceType: 'agreement', agreement: { id: 'CBJCHB', status: 'SIGNED' } }, name, { reference: 'CBJCHB' });
	const reply = json({ xAdobeSignClientId: 'CBJ1' });
	const ask = (name, client, expected) => ({ name, method: 'GET', query: 'state=x', headers: { ...client && { 'x-adobesign-clientid': client } }, ...expected });

	write('adobe-acrobat-sign', {
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
	});
}

export function adyenPlatforms() {
	const key = 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00';
	const deliver = signed('hmacsignature', key, (body) => hmac('sha256', Buffer.from(key, 'hex'), body, 'base64'));
	const holder = (type, environment = 'live', reference = ID) => ({
		type, environment, timestamp: '2023-11-14T22:13:20+01:00',
		data: {
			balancePlatform: 'Tests',
			accountHolder: { id: 'AH1', reference, legalEntityId: 'LE1', status: 'active', capabilities: { receivePayments: { allowed: true, verificationStatus: 'valid' } } },
		},
	});
	const updated = 'balancePlatform.accountHolder.updated';
	const good = deliver('updated', holder(updated), expects('recheck', updated, { reference: 'AH1' }));

	write('adyen-platforms', {
		site: { secrets: [key] },
		deliveries: [
			good, deliver('test', holder(updated, 'test'), expects('other_mode', updated, { reference: 'AH1' })),
			deliver('created', holder('balancePlatform.accountHolder.created'), expects('ignore', 'balancePlatform.accountHolder.created', { reference: 'AH1' })),
			deliver('transfer', { type: 'balancePlatform.transfer.updated', environment: 'live', data: { id: 'TR1', reference: ID } },
				expects('ignore', 'balancePlatform.transfer.updated', { id: null })),
			forged(good, { hmacsignature: hmac('sha256', key, good.body, 'base64') }),
			{ ...forged(good, {}), name: 'no signature', verdict: 'unsigned' },
		],
	});
}

export function chargebee() {
	const headers = { authorization: `Basic ${Buffer.from('urlmode:cb-password').toString('base64')}` };
	const subscription = { id: 'sub1', po_number: ID, status: 'active' };
	const invoice = { id: 'inv1', po_number: ID, total: 1050, exchange_rate: 1.0853417926351283 };
	const deliver = (name, effect, content, more, type = name) => {
		const body = json({ id: `ev_${name}`, occurred_at: NOW, source: 'hosted_page', object: 'event', api_version: 'v2', event_type: type, content });
		return { name, body, headers, verdict: 'good', events: [event(effect, type, digest(body), more)] };
	};
	const created = deliver('subscription_created', 'recheck', { subscription, invoice }, { reference: 'inv1' });

	write('chargebee', {
		site: { secrets: [headers.authorization.slice('Basic '.length)] },
		deliveries: [
			created, deliver('payment_succeeded', 'recheck', { transaction: { id: 'txn1' }, invoice }, { reference: 'inv1' }),
			deliver('payment_failed', 'recheck', { subscription, invoice }, { reference: 'inv1' }),
			deliver('trial', 'recheck', { subscription }, { reference: 'sub1' }, 'subscription_created'),
			deliver('subscription_renewed', 'ignore', { subscription, invoice }, { reference: 'inv1' }),
			deliver('customer_created', 'ignore', { customer: { id: 'c1' } }, { id: null }),
			forged(created, { authorization: `Basic ${Buffer.from('urlmode:another').toString('base64')}` }),
			{ ...forged(created, { authorization: headers.authorization.replace('Basic', 'Bearer') }), name: 'another scheme' },
			{ ...forged(created, {}), name: 'no password', verdict: 'unsigned' },
		],
	});
}

export function klarna() {
	const deliver = (name, content, type, more) => {
		const body = json(content);
		return { name, body, headers: {}, verdict: 'good', events: [event('recheck', type, digest(body), { id: null, ...more })] };
	};

	write('klarna', {
		site: {},
		deliveries: [
			deliver('completed', { event_id: 'e1', session: { session_id: 's1', status: 'COMPLETED', order_id: 'o1' } }, 'COMPLETED', { reference: 's1' }),
			deliver('in-progress', { event_id: 'e2', session: { session_id: 's1', status: 'IN_PROGRESS' } }, 'IN_PROGRESS', { reference: 's1' }),
			deliver('of-another-shape', { status: 'COMPLETED' }, '', {}),
		],
	});
}

/** A description of the language: JSON in a text, and a signature in the document that it signs. */
export function amazonSns() {
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

	write('amazon-sns', {
		site: { secrets: [secret] },
		deliveries: [
			right,
			// Another message, with another time, has the same signature.
			deliver('a-time-in-the-id', { MessageId: 'm-1\nTimestamp\nx' }, { verdict: 'good', events: [event('recheck', 'Notification', digest('m-1\nTimestamp\nx'), { reference: 'p1' })] }),
			deliver('not-json', { Message: 'paid' }, { verdict: 'good', events: [event('ignore', 'Notification', 'm-1', { id: null })] }),
			{ ...right, name: 'another-id', body: right.body.replace('"MessageId":"m-1"', '"MessageId":"m-2"'), verdict: 'forged', events: undefined },
		],
	});
}

export function zoom() {
	const deliver = (name, content, expected) => {
		const body = json(content);
		return {
			name, body, ...expected(digest(body)),
			headers: { 'x-zm-request-timestamp': `${NOW}`, 'x-zm-signature': `v0=${hmac('sha256', 'zm-secret', `v0:${NOW}:${body}`, 'hex')}` },
		};
	};
	const question = { event: 'endpoint.url_validation', payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' } };
	const reply = json({ plainToken: question.payload.plainToken, encryptedToken: hmac('sha256', 'zm-secret', question.payload.plainToken, 'hex') });

	write('zoom', {
		site: { secrets: ['zm-secret'] },
		deliveries: [
			deliver('removed', { event: 'app_deauthorized', payload: { account_id: 'A1' } },
				(identity) => ({ verdict: 'good', events: [event('cancelled', 'app_deauthorized', identity, { id: null, reference: 'A1' })] })),
			deliver('challenge', question, () => ({ verdict: 'good', events: [], reply })),
			{ ...deliver('challenge of a stranger', question, () => ({})), headers: {}, verdict: 'unsigned' },
		],
	});
}

export function meta() {
	const deliver = signed('x-hub-signature-256', 'app-secret', (body) => `sha256=${hmac('sha256', 'app-secret', body, 'hex')}`);
	const ask = (name, query, expected) => ({ name, method: 'GET', query: new URLSearchParams(query).toString(), headers: {}, ...expected });
	const question = { 'hub.mode': 'subscribe', 'hub.verify_token': 'meatyhamhock', 'hub.challenge': '1158201444' };

	write('meta', {
		site: { secrets: ['app-secret'], constants: { verify_token: 'meatyhamhock' } },
		deliveries: [
			deliver('permissions', { object: 'permissions', entry: [] }, expects('ignore', 'permissions', { id: null })),
			ask('challenge', question, { verdict: 'good', reply: '1158201444' }),
			ask('another token', { ...question, 'hub.verify_token': 'x' }, { verdict: 'unsigned' }),
			ask('markup', { ...question, 'hub.challenge': '<script>' }, { verdict: 'unsigned' }),
		],
	});
}
