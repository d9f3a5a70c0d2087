// SPDX-License-Identifier: MIT
// Payment providers.
import { sign } from 'node:crypto';
import { crc32 } from './crc32.mjs';
import { event, hmac, ID, json, NOW, OTHER, rsa, sha256, write } from './support.mjs';

export function stripe() {
	const secret = 'whsec_test_secret';
	const deliver = (name, type, object, expected, header, more = {}) => {
		const body = json({
			id: `evt_${name}`, object: 'event', type, livemode: true, ...more,
			data: { object: object.object ? object : { id: 'cs_1', object: 'checkout.session', client_reference_id: ID, amount_total: 1050, currency: 'eur', ...object } },
		});
		const v1 = hmac('sha256', secret, `${NOW}.${body}`, 'hex');
		return {
			name, body,
			headers: { 'stripe-signature': header?.(v1, body) ?? `t=${NOW},v1=${v1}` },
			...expected(`evt_${name}`, type),
		};
	};
	const good = (effect, more = { reference: 'cs_1', amount: 1050, currency: 'EUR' }) =>
		(identity, type) => ({ verdict: 'good', events: [event(effect, type, identity, { ...effect === 'paid' && { checkout: more.reference }, ...more })] });
	const refused = (verdict) => () => ({ verdict });
	const completed = 'checkout.session.completed';
	const paid = { payment_status: 'paid' };
	const moves = (effect) => good(effect, { reference: 'cs_1' });
	const metadata = { elicitation_id: ID };
	const charge = { id: 'ch_1', object: 'charge', payment_intent: 'pi_1', metadata, amount: 1050, currency: 'eur' };
	const refund = (status, more) => ({ id: 're_1', object: 'refund', charge: 'ch_1', payment_intent: 'pi_1', metadata: {}, amount: 400, currency: 'eur', status, ...more });
	const refunded = (effect, more) => good(effect, { id: null, reference: 'pi_1', refund: 're_1', amount: 400, currency: 'EUR', ...more });
	const dispute = { id: 'dp_1', object: 'dispute', charge: 'ch_1', payment_intent: 'pi_1', metadata: {}, amount: 1050, currency: 'eur' };
	const invoice = { id: 'in_1', object: 'invoice', metadata, billing_reason: 'manual', amount_due: 1050, amount_paid: 1050, currency: 'eur' };
	const disputed = { id: null, reference: 'pi_1', refund: 'dp_1', amount: 1050, currency: 'EUR' };

	write('stripe', {
		site: { secrets: [secret], accounts: ['acct_ours'] },
		deliveries: [
			deliver('paid', completed, paid, good('paid')),
			deliver('paid-with-its-intent', completed, { ...paid, payment_intent: 'pi_1' },
				good('paid', { checkout: 'cs_1', reference: 'pi_1', amount: 1050, currency: 'EUR' })),
			// Whoever pays writes the address of a payment link, and client_reference_id in it.
			deliver('paid-by-a-link', completed, { ...paid, payment_link: 'plink_1' }, good('ignore', { reference: 'cs_1' })),
			...['succeeded', 'failed'].map((ended) => deliver(`${ended}-by-a-link`, `checkout.session.async_payment_${ended}`, { ...paid, payment_link: 'plink_1' },
				good('ignore', { reference: 'cs_1' }))),
			deliver('free', completed, { payment_status: 'no_payment_required', amount_total: 0 },
				good('paid', { reference: 'cs_1', amount: 0, currency: 'EUR' })),
			deliver('waits', completed, { payment_status: 'unpaid' }, good('processing')),
			deliver('late', 'checkout.session.async_payment_succeeded', paid, good('paid')),
			deliver('bounced', 'checkout.session.async_payment_failed', { payment_status: 'unpaid' }, good('failed')),
			deliver('expired', 'checkout.session.expired', { payment_status: 'unpaid' }, good('expired')),
			// A card is refused, and the next one is taken.
			deliver('card-refused', 'payment_intent.payment_failed',
				{ id: 'pi_1', object: 'payment_intent', metadata, amount: 1050, currency: 'eur', last_payment_error: { code: 'card_declined' } },
				good('attempt_failed', { reference: 'pi_1' })),
			deliver('then-paid', completed, paid, good('paid')),
			deliver('card-refused-unnamed', 'payment_intent.payment_failed', { id: 'pi_1', object: 'payment_intent', metadata: {}, currency: 'eur' },
				good('attempt_failed', { id: null, reference: 'pi_1' })),
			// What was paid goes back, first in part, then all of it.
			...['pending', 'requires_action', 'succeeded'].map((status) => deliver(`refunded-${status}`, 'refund.created', refund(status), refunded('refunded'))),
			deliver('refund-that-failed-at-once', 'refund.created', refund('failed'), refunded('refund_reversed')),
			deliver('refund-updated', 'refund.updated', refund('succeeded'), refunded('refunded')),
			deliver('refund-updated-of-a-charge', 'charge.refund.updated', refund('succeeded'), refunded('refunded')),
			deliver('refund-failed', 'refund.failed', refund('failed'), refunded('refund_reversed')),
			deliver('refund-updated-and-failed', 'refund.updated', refund('failed'), refunded('refund_reversed')),
			deliver('refund-of-a-charge-failed', 'charge.refund.updated', refund('failed'), refunded('refund_reversed')),
			deliver('refund-canceled', 'refund.updated', refund('canceled'), refunded('refund_reversed')),
			// A total, in which a refund that failed is not any more.
			deliver('refunded-in-total', 'charge.refunded', { ...charge, amount_refunded: 400 }, good('ignore', { reference: 'pi_1' })),
			deliver('disputed', 'charge.dispute.created', dispute, good('ignore', { id: null, reference: 'pi_1' })),
			deliver('dispute-withdrawn', 'charge.dispute.funds_withdrawn', dispute, good('refunded', disputed)),
			deliver('dispute-won', 'charge.dispute.funds_reinstated', dispute, good('refund_reversed', disputed)),
			// An identity check that fails once.
			...Object.entries({ processing: 'processing', requires_input: 'attempt_failed', verified: 'paid', canceled: 'expired' }).map(([status, effect]) =>
				deliver(`identity-${status}`, `identity.verification_session.${status}`,
					{ id: 'vs_1', object: 'identity.verification_session', client_reference_id: ID, status },
					good(effect, { reference: 'vs_1' }))),
			// A hosted invoice; those of a subscription pay for nothing that was asked for.
			deliver('invoice-refused', 'invoice.payment_failed', invoice, good('attempt_failed', { reference: 'in_1' })),
			deliver('invoice-paid', 'invoice.paid', invoice, good('paid', { reference: 'in_1', amount: 1050, currency: 'EUR' })),
			deliver('invoice-paid-before-basil', 'invoice.paid', { ...invoice, payment_intent: 'pi_1' },
				good('paid', { checkout: 'in_1', reference: 'pi_1', amount: 1050, currency: 'EUR' })),
			deliver('invoice-void', 'invoice.voided', invoice, good('failed', { reference: 'in_1' })),
			deliver('invoice-uncollectible', 'invoice.marked_uncollectible', invoice, good('failed', { reference: 'in_1' })),
			...['payment_failed', 'voided', 'marked_uncollectible'].map((what) => deliver(`renewal-${what}`, `invoice.${what}`,
				{ ...invoice, billing_reason: 'subscription_cycle' }, good('ignore', { reference: 'in_1' }))),
			deliver('invoice-of-a-renewal', 'invoice.paid', { ...invoice, billing_reason: 'subscription_cycle' }, good('ignore', { reference: 'in_1' })),
			deliver('invoice-of-a-first-payment', 'invoice.paid', { ...invoice, billing_reason: 'subscription_create' }, good('ignore', { reference: 'in_1' })),
			deliver('subscription-begun', completed, { ...paid, mode: 'subscription', subscription: 'sub_1', invoice: 'in_2', payment_intent: null }, good('paid')),
			deliver('trial-begun', completed, { payment_status: 'no_payment_required', mode: 'subscription', amount_total: 0 }, good('paid', { reference: 'cs_1', amount: 0, currency: 'EUR' })),
			deliver('test-mode', completed, paid, moves('other_mode'), undefined, { livemode: false }),
			deliver('test-mode-without-a-meaning', 'customer.created', {}, moves('ignore'), undefined, { livemode: false }),
			deliver('test-mode-negative', completed, { ...paid, amount_total: -1 }, moves('other_mode'), undefined, { livemode: false }),
			deliver('mode-is-not-text', completed, paid, refused('malformed'), undefined, { livemode: [] }),
			deliver('mode-unsaid', completed, paid, good('paid'), undefined, { livemode: null }),
			deliver('our-account', completed, paid, good('paid'), undefined, { account: 'acct_ours' }),
			deliver('foreign-account', completed, paid, moves('other_account'), undefined, { account: 'acct_theirs' }),
			deliver('foreign-account-in-test-mode', completed, paid, moves('other_mode'), undefined, { account: 'acct_theirs', livemode: false }),
			deliver('other-type', 'customer.created', {}, good('ignore', { reference: 'cs_1' })),
			deliver('not-ours', completed, { ...paid, client_reference_id: null },
				good('paid', { id: null, reference: 'cs_1' })),
			deliver('somebody-elses', completed, { ...paid, client_reference_id: 'cart-17' },
				good('paid', { id: null, reference: 'cs_1' })),
			deliver('no-amount', completed, { ...paid, amount_total: null }, good('paid', { reference: 'cs_1' })),
			deliver('amount-of-another-kind', completed, { ...paid, amount_total: 10.5 }, refused('malformed')),
			deliver('negative', completed, { ...paid, amount_total: -1 }, refused('malformed')),
			// Stripe's units are not those of ISO 4217: 5 ISK, 50,000 MGA, 300 UGX, 5,000 CLP and 1.230 KWD.
			...[['isk', 500, 5], ['mga', 50_000, 5_000_000], ['ugx', 30_000, 300], ['clp', 5_000, 5_000], ['kwd', 1_230, 1_230]].map(
				([currency, amount_total, amount]) => deliver(`paid-in-${currency}`, completed, { ...paid, amount_total, currency },
					good('paid', { reference: 'cs_1', amount, currency: currency.toUpperCase() }))),
			deliver('refunded-in-isk', 'refund.created', refund('succeeded', { amount: 300, currency: 'isk' }),
				refunded('refunded', { amount: 3, currency: 'ISK' })),
			deliver('a-fraction-of-isk', completed, { ...paid, amount_total: 550, currency: 'isk' }, refused('malformed')),
			deliver('in-a-token', completed, { ...paid, currency: 'usdc' }, refused('malformed')),
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
				name: 'a-key-twice', body: '{"id":"evt_1","type":"a","type":"b"}', verdict: 'malformed',
				headers: { 'stripe-signature': `t=${NOW},v1=${hmac('sha256', secret, `${NOW}.{"id":"evt_1","type":"a","type":"b"}`, 'hex')}` },
			},
		],
	});
}

export function polar() {
	const secret = 'polar_whs_c2VjcmV0';
	const [before, since] = ['b', 's'].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
	const deliver = (id, type, data, effect, more, key = secret) => {
		const body = json({ type, timestamp: '2023-11-14T22:13:20Z', data });
		return {
			name: id, body,
			headers: {
				'webhook-id': id, 'webhook-timestamp': `${NOW}`,
				'webhook-signature': `v1,${hmac('sha256', key, `${id}.${NOW}.${body}`, 'base64')}`,
			},
			verdict: 'good', events: [event(effect, type, id, more)],
		};
	};
	const order = { id: 'ord_1', checkout_id: 'co_1', status: 'paid', total_amount: 1200, currency: 'usd', metadata: { elicitation_id: ID } };
	const checkout = { ...order, id: 'co_1' };
	const amount = { amount: 1200, currency: 'USD' };

	write('polar', {
		site: { secrets: [secret, before, since] },
		deliveries: [
			// A secret of before 8 September 2026 is itself the key; a later one is written in base64.
			deliver('msg_12', 'order.paid', order, 'paid', { reference: 'ord_1', checkout: 'co_1', ...amount }, before),
			deliver('msg_13', 'order.paid', order, 'paid', { reference: 'ord_1', checkout: 'co_1', ...amount }, Buffer.alloc(32, 's')),
			deliver('msg_1', 'order.paid', order, 'paid', { reference: 'ord_1', checkout: 'co_1', ...amount }),
			// The payer writes the address of a checkout link.
			deliver('msg_11', 'order.paid', { ...order, metadata: { reference_id: ID } }, 'paid', { id: null, reference: 'ord_1', checkout: 'co_1' }),
			deliver('msg_2', 'checkout.updated', { ...checkout, status: 'confirmed' }, 'ignore', { reference: 'co_1' }),
			deliver('msg_7', 'checkout.updated', { ...checkout, status: 'succeeded' }, 'processing', { reference: 'co_1', ...amount }),
			deliver('msg_3', 'checkout.updated', { ...checkout, status: 'failed' }, 'failed', { reference: 'co_1', ...amount }),
			deliver('msg_4', 'checkout.updated', { ...checkout, status: 'expired' }, 'expired', { reference: 'co_1', ...amount }),
			deliver('msg_5', 'checkout.updated', { ...checkout, status: 'open' }, 'ignore', { reference: 'co_1' }),
			deliver('msg_6', 'order.refunded', { ...order, status: 'refunded', refunded_amount: 1200 }, 'refunded', { reference: 'ord_1', ...amount }),
			deliver('msg_8', 'order.refunded', { ...order, status: 'partially_refunded', refunded_amount: 100 }, 'refunded', { reference: 'ord_1', ...amount, amount: 100 }),
			// A free product, and the second month of a subscription.
			deliver('msg_9', 'order.paid', { ...order, total_amount: 0, billing_reason: 'purchase' }, 'paid', { reference: 'ord_1', checkout: 'co_1', amount: 0, currency: 'USD' }),
			deliver('msg_10', 'order.paid', { ...order, id: 'ord_2', billing_reason: 'subscription_cycle' }, 'ignore', { reference: 'ord_2' }),
		],
	});
}

export function paypal() {
	// Within the life of paypal.pem, which openssl has made with the key of this folder's
	// signatures: openssl req -x509 -key tests/unit/keys/rsa-1.pem -days 36500
	// -subj /CN=messageverificationcerts.test -addext basicConstraints=critical,CA:FALSE
	const at = Date.UTC(2027, 0, 1) / 1000;
	const time = new Date(at * 1000).toISOString().replace('.000', '');
	const deliver = (name, type, resource, effect, more) => {
		const body = json({ id: `WH-${name}`, event_version: '1.0', resource_type: 'capture', event_type: type, resource });
		const text = `b1-${name}|${time}|WEBHOOK1|${crc32(Buffer.from(body))}`;
		return {
			name, body,
			headers: {
				'paypal-transmission-id': `b1-${name}`, 'paypal-transmission-time': time,
				'paypal-transmission-sig': sign('sha256', Buffer.from(text), rsa).toString('base64'),
				'paypal-cert-url': 'https://api.paypal.com/v1/notifications/certs/CERT-1',
				'paypal-auth-algo': 'SHA256withRSA',
			},
			verdict: 'good', events: [event(effect, type, `WH-${name}`, { ...more, ...effect === 'paid' && { checkout: resource.supplementary_data?.related_ids.order_id } })],
		};
	};
	const capture = { id: 'CAP1', supplementary_data: { related_ids: { order_id: 'ORD1' } }, custom_id: ID, amount: { currency_code: 'EUR', value: '10.50' } };
	const order = { id: 'ORD1', purchase_units: [{ custom_id: ID, amount: { currency_code: 'EUR', value: '10.50' } }] };
	const refund = (id, total) => ({
		id, custom_id: ID, amount: { currency_code: 'EUR', value: '4.00' },
		seller_payable_breakdown: { total_refunded_amount: { currency_code: 'EUR', value: total } },
	});
	const amount = { reference: 'CAP1', amount: 1050, currency: 'EUR' };

	write('paypal', {
		now: at * 1000,
		site: { certificate: 'tests/deliveries/paypal.pem', constants: { webhook_id: 'WEBHOOK1' } },
		deliveries: [
			deliver('approved', 'CHECKOUT.ORDER.APPROVED', order, 'recheck', { reference: 'ORD1' }),
			deliver('paid', 'PAYMENT.CAPTURE.COMPLETED', capture, 'paid', amount),
			// Each capture of an order is a payment of its own.
			deliver('captured-again', 'PAYMENT.CAPTURE.COMPLETED', { ...capture, id: 'CAP2' }, 'paid', { ...amount, reference: 'CAP2' }),
			deliver('paid-without-its-order', 'PAYMENT.CAPTURE.COMPLETED', { ...capture, supplementary_data: undefined }, 'paid', amount),
			deliver('yen', 'PAYMENT.CAPTURE.COMPLETED', { ...capture, amount: { currency_code: 'JPY', value: '1050' } },
				'paid', { ...amount, currency: 'JPY' }),
			deliver('in-part', 'PAYMENT.CAPTURE.COMPLETED', { ...capture, final_capture: false, amount: { currency_code: 'EUR', value: '5.25' } },
				'paid', { ...amount, amount: 525 }),
			deliver('pending', 'PAYMENT.CAPTURE.PENDING', capture, 'processing', amount),
			// A funding source is refused, and the user chooses another one.
			deliver('declined', 'PAYMENT.CAPTURE.DECLINED', { ...capture, id: 'CAP0' }, 'attempt_failed', { ...amount, reference: 'CAP0' }),
			deliver('then-paid', 'PAYMENT.CAPTURE.COMPLETED', capture, 'paid', amount),
			deliver('denied', 'PAYMENT.CAPTURE.DENIED', capture, 'failed', amount),
			deliver('order-declined', 'CHECKOUT.ORDER.DECLINED', order, 'attempt_failed', { ...amount, reference: 'ORD1' }),
			deliver('not-captured', 'CHECKOUT.PAYMENT-APPROVAL.REVERSED', { order_id: 'ORD1', purchase_units: [{ custom_id: ID }] }, 'failed', {}),
			deliver('refunded-in-part', 'PAYMENT.CAPTURE.REFUNDED', refund('REF1', '4.00'), 'refunded', { refund: 'REF1', amount: 400, currency: 'EUR' }),
			deliver('refunded', 'PAYMENT.CAPTURE.REFUNDED', refund('REF2', '8.00'), 'refunded', { refund: 'REF2', amount: 400, currency: 'EUR' }),
			deliver('reversed', 'PAYMENT.CAPTURE.REVERSED', capture, 'refunded', { refund: 'CAP1', amount: 1050, currency: 'EUR' }),
		],
	});
}

export function square() {
	const secret = 'signature-key';
	const url = 'https://pay.example/webhook/square';
	const deliver = (name, type, payment, effect, more) => {
		const body = json({
			merchant_id: 'M1', type, event_id: `ev-${name}`, created_at: '2023-11-14T22:13:20.308Z',
			data: { type: 'payment', id: 'PAY1', object: { payment: { id: 'PAY1', reference_id: ID, amount_money: { amount: 2500, currency: 'USD' }, ...payment } } },
		});
		return {
			name, body,
			headers: { 'x-square-hmacsha256-signature': hmac('sha256', secret, url + body, 'base64') },
			verdict: 'good', events: [event(effect, type, `ev-${name}`, more)],
		};
	};
	const amount = { reference: 'PAY1', amount: 2500, currency: 'USD' };

	write('square', {
		site: { secrets: [secret], constants: { notification_url: url } },
		deliveries: [
			deliver('paid', 'payment.updated', { status: 'COMPLETED' }, 'paid', amount),
			deliver('at-once', 'payment.created', { status: 'COMPLETED' }, 'paid', amount),
			...[['APPROVED', 'processing'], ['FAILED', 'attempt_failed'], ['CANCELED', 'attempt_failed']].map(([status, effect]) => (
				deliver(`created-${status}`, 'payment.created', { status }, effect, amount))),
			deliver('approved', 'payment.updated', { status: 'APPROVED' }, 'processing', amount),
			// A card is refused, and the user enters another one: another payment.
			deliver('failed', 'payment.updated', { id: 'PAY0', status: 'FAILED' }, 'attempt_failed', { ...amount, reference: 'PAY0' }),
			deliver('then-paid', 'payment.updated', { status: 'COMPLETED' }, 'paid', amount),
			deliver('released', 'payment.updated', { status: 'CANCELED' }, 'attempt_failed', amount),
			deliver('refunded-in-part', 'payment.updated',
				{ status: 'COMPLETED', refund_ids: ['REF1'], refunded_money: { amount: 100, currency: 'USD' } }, 'refunded', { ...amount, amount: 100 }),
			deliver('refunded', 'payment.updated',
				{ status: 'COMPLETED', refund_ids: ['REF1', 'REF2'], refunded_money: { amount: 2500, currency: 'USD' } }, 'refunded', amount),
			deliver('created-refunded', 'payment.created',
				{ status: 'COMPLETED', refund_ids: ['REF1'], refunded_money: { amount: 100, currency: 'USD' } }, 'refunded', { ...amount, amount: 100 }),
			deliver('nothing-refunded', 'payment.updated', { status: 'COMPLETED', refunded_money: { amount: 0, currency: 'USD' } }, 'paid', amount),
			// A refund that has begun, and given nothing back.
			deliver('refund-begun', 'payment.updated', { status: 'COMPLETED', refund_ids: ['REF1'] }, 'paid', amount),
			deliver('new-status', 'payment.updated', { status: 'DREAMT' }, 'ignore', { reference: 'PAY1' }),
			deliver('refund', 'refund.updated', {}, 'ignore', { reference: 'PAY1' }),
			// A hosted link's payment has a note in place of a reference.
			deliver('of-a-link', 'payment.updated', { status: 'COMPLETED', reference_id: undefined, note: ID }, 'paid', amount),
			deliver('a-note-of-another', 'payment.updated', { status: 'COMPLETED', reference_id: undefined, note: 'Table 7' }, 'paid', { id: null, reference: 'PAY1' }),
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
	const expect = (effect, type, success, more) => event(effect, type, `7914073381342284:${type}:${success}`,
		{ reference: '7914073381342284', amount: 1130, currency: 'EUR', ...more });
	const good = (...events) => ({ verdict: 'good', events });
	const modification = { pspReference: 'MOD1', originalReference: '7914073381342284' };
	const modified = (effect, type, success, more) => ({
		...expect(effect, type, success, more), identity: `MOD1:${type}:${success}`, ...effect.startsWith('refund') && { refund: 'MOD1' },
	});

	write('adyen', {
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
	});
}

export function lemonSqueezy() {
	const secret = 'lemon-secret';
	const deliver = (name, event_name, attributes, effect, more, test_mode = false) => {
		const body = json({
			meta: { event_name, custom_data: { elicitation_id: ID }, test_mode },
			data: { type: 'orders', id: '12345', attributes: { total: 2999, currency: 'USD', ...attributes } },
		});
		return {
			name, body, headers: { 'x-event-name': event_name, 'x-signature': hmac('sha256', secret, body, 'hex') },
			verdict: 'good', events: [event(effect, event_name, `${event_name}:orders:12345:${attributes.status}:${attributes.refunded_amount ?? ''}`, more)],
		};
	};
	const amount = { reference: '12345', amount: 2999, currency: 'USD' };

	write('lemon-squeezy', {
		site: { secrets: [secret] },
		deliveries: [
			deliver('paid', 'order_created', { status: 'paid', first_order_item: { variant_id: 77 } }, 'paid', { ...amount, checkout: '77' }),
			deliver('free', 'order_created', { status: 'paid', total: 0 }, 'paid', { ...amount, amount: 0 }),
			deliver('pending', 'order_created', { status: 'pending' }, 'recheck', { reference: '12345' }),
			deliver('failed', 'order_created', { status: 'failed' }, 'attempt_failed', amount),
			deliver('fraudulent', 'order_created', { status: 'fraudulent' }, 'ignore', { reference: '12345' }),
			deliver('refunded-without-an-amount', 'order_refunded', { status: 'partial_refund' }, 'ignore', { reference: '12345' }),
			deliver('refunded', 'order_refunded', { status: 'refunded', refunded_amount: 2999 }, 'refunded', amount),
			deliver('refunded-in-part', 'order_refunded', { status: 'partial_refund', refunded_amount: 100 }, 'refunded', { ...amount, amount: 100 }),
			// More of it: the same status, another event.
			deliver('refunded-more', 'order_refunded', { status: 'partial_refund', refunded_amount: 200 }, 'refunded', { ...amount, amount: 200 }),
			deliver('test-mode', 'order_created', { status: 'paid' }, 'other_mode', { reference: '12345' }, true),
		],
	});
}

export function mollie() {
	const deliver = (name, query, body, expected, content_type = 'application/x-www-form-urlencoded') =>
		({ name, query, body, content_type, headers: {}, ...expected });
	const good = (effect, body, more) => ({ verdict: 'good', events: [event(effect, '', `sha256:${sha256(body)}`, { id: null, ...more })] });

	// The token in the address, not the delivery, names the elicitation.
	write('mollie', {
		site: {},
		deliveries: [
			deliver('ping', 'state=v1.token', 'id=tr_d0b0E3EA3v', good('recheck', 'id=tr_d0b0E3EA3v', { reference: 'tr_d0b0E3EA3v' })),
			deliver('elicitation-of-a-stranger', `elicitation=${ID}`, 'id=tr_d0b0E3EA3v',
				good('recheck', 'id=tr_d0b0E3EA3v', { reference: 'tr_d0b0E3EA3v' })),
			deliver('without-a-payment', 'state=v1.token', 'testByMollie=1', good('ignore', 'testByMollie=1')),
		],
	});
}
