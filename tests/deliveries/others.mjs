// SPDX-License-Identifier: MIT
// Generic senders, documents, accounts, signed returns, and the corners of the language.
import { sign } from 'node:crypto';
import { ed25519, ED25519_PUBLIC, event, hmac, ID, json, NOW, OTHER, sha256, write } from './support.mjs';

export function standardWebhooks(name, prefix, extra = []) {
	const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
	const deliver = (id, type, data, effect, more, signature) => {
		const body = json({ type, timestamp: '2023-11-14T22:13:20Z', data });
		const text = `${id}.${NOW}.${body}`;
		const v1 = hmac('sha256', key, text, 'base64');
		const v1a = sign(null, Buffer.from(text), ed25519).toString('base64');
		return {
			name: id, body,
			headers: {
				[`${prefix}-id`]: id, [`${prefix}-timestamp`]: `${NOW}`,
				[`${prefix}-signature`]: signature?.(v1, v1a) ?? `v1,${v1}`,
			},
			...effect === null ? { verdict: 'forged' }
				: { verdict: 'good', events: [event(effect, type, id, more)] },
		};
	};
	const data = { elicitation_id: ID, payment_id: 'pay_1', total_amount: 1999, currency: 'USD' };
	const amount = { reference: 'pay_1', amount: 1999, currency: 'USD' };

	write(name, {
		site: { secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', `whpk_${Buffer.from(ED25519_PUBLIC, 'hex').toString('base64')}`] },
		deliveries: [
			deliver('msg_paid', 'payment.succeeded', data, 'paid', amount),
			deliver('msg_v1a', 'payment.succeeded', data, 'paid', amount, (v1, v1a) => `v1a,${v1a}`),
			deliver('msg_both', 'payment.succeeded', data, 'paid', amount, (v1, v1a) => `v1a,${v1a} v1,${v1}`),
			deliver('msg_metadata', 'payment.failed', { metadata: { elicitation_id: ID }, id: 'p' }, 'attempt_failed', { reference: 'p' }),
			deliver('msg_refunded', 'payment.refunded', { ...data, total_amount: 999 }, 'refunded', { ...amount, amount: 999 }),
			deliver('msg_cancelled', 'payment.cancelled', data, 'cancelled', amount),
			deliver('msg_expired', 'payment.expired', data, 'expired', amount),
			deliver('msg_processing', 'payment.processing', data, 'processing', amount),
			deliver('msg_signed', 'document.signed', data, 'paid', amount),
			deliver('msg_other', 'subscription.renewed', data, 'ignore', { reference: 'pay_1' }),
			// A name with a full stop could be cut elsewhere.
			deliver('msg.paid', 'payment.succeeded', data, 'recheck', { reference: 'pay_1' }),
			deliver('msg_v2', 'payment.succeeded', data, null, {}, (v1) => `v2,${v1}`),
			deliver('msg_hmac_as_v1a', 'payment.succeeded', data, null, {}, (v1) => `v1a,${v1}`),
			deliver('msg_header_twice', 'payment.succeeded', data, null, {}, (v1) => `v1,${v1}, v1,${v1}`),
			...extra.map((one) => one(key, data)),
		],
	});
}

export function svix() {
	// Both sets of names: good when they agree.
	const both = (other) => (key, data) => {
		const body = json({ type: 'payment.succeeded', data });
		const signature = `v1,${hmac('sha256', key, `msg_two.${NOW}.${body}`, 'base64')}`;

		return {
			name: `both names, ${other}`, body,
			headers: {
				'svix-id': 'msg_two', 'webhook-id': other,
				'svix-timestamp': `${NOW}`, 'webhook-timestamp': `${NOW}`,
				'svix-signature': signature, 'webhook-signature': signature,
			},
			...other === 'msg_two'
				? {
					verdict: 'good', events: [event('paid', 'payment.succeeded', 'msg_two',
						{ reference: 'pay_1', amount: 1999, currency: 'USD' })],
				}
				: { verdict: 'forged' },
		};
	};
	standardWebhooks('svix', 'svix', [both('msg_two'), both('msg_three')]);
}

export function github() {
	const secret = "It's a Secret to Everybody";
	const deliver = (name, content, effect, more, header) => {
		const body = typeof content === 'string' ? content : json(content);
		const mac = hmac('sha256', secret, body, 'hex');
		return {
			name, body,
			headers: {
				'x-github-event': 'installation', 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
				'x-hub-signature-256': header?.(mac, body) ?? `sha256=${mac}`,
			},
			...effect === null ? { verdict: 'forged' } : { verdict: 'good', events: [event(effect, content.action, `sha256:${sha256(body)}`, { id: null, ...more })] },
		};
	};
	const installation = { id: 42, app_id: 7, account: { login: 'octocat', id: 1 } };

	write('github', {
		site: { secrets: [secret] },
		deliveries: [
			deliver('installed', { action: 'created', installation }, 'paid', { reference: '42' }),
			deliver('removed', { action: 'deleted', installation }, 'cancelled', { reference: '42' }),
			deliver('suspended', { action: 'suspend', installation }, 'ignore', { reference: '42' }),
			deliver('an-issue', { action: 'created', installation: { id: 42, node_id: 'x' }, issue: {} }, 'ignore', { reference: '42' }),
			deliver('sha1', { action: 'created', installation }, null, {},
				(mac, body) => `sha1=${hmac('sha1', secret, body, 'hex')}`),
			deliver('no-prefix', { action: 'created', installation }, null, {}, (mac) => mac),
			deliver('twice', { action: 'created', installation }, null, {}, (mac) => `sha256=${mac}, sha256=${mac}`),
		],
	});
}

export function docusign() {
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

	write('docusign', {
		site: { secrets: [secret] },
		deliveries: [
			deliver('signed', 'envelope-completed', good('paid', 'envelope-completed')),
			deliver('declined', 'envelope-declined', good('cancelled', 'envelope-declined')),
			deliver('voided', 'envelope-voided', good('expired', 'envelope-voided')),
			deliver('opened', 'envelope-delivered', good('ignore', 'envelope-delivered')),
			deliver('one-of-two-has-signed', 'recipient-completed', good('processing', 'recipient-completed')),
			deliver('sent', 'envelope-sent', good('ignore', 'envelope-sent')),
			deliver('second-key', 'envelope-completed', good('paid', 'envelope-completed'),
				(mac) => ({ 'x-docusign-signature-1': wrong, 'x-docusign-signature-2': mac })),
			deliver('numbered-from-two', 'envelope-completed', { verdict: 'unsigned' }, (mac) => ({ 'x-docusign-signature-2': mac })),
			deliver('two-fields-of-one-name', 'envelope-completed', good('paid', 'envelope-completed', { id: null }), undefined,
				[{ name: 'elicitation_id', value: OTHER }, { name: 'elicitation_id', value: ID }]),
			deliver('no-field', 'envelope-completed', good('paid', 'envelope-completed', { id: null }), undefined, []),
		],
	});
}

export function dropboxSign() {
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

	write('dropbox-sign', {
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
	});
}

export function razorpay() {
	const secrets = ['webhook-secret'], return_secrets = ['key-secret'];
	const deliver = (name, what, effect, payment) => {
		const body = json({
			event: `payment_link.${what}`,
			payload: {
				...payment && { payment: { entity: { id: payment, amount: 100, currency: 'INR' } } },
				payment_link: { entity: { id: 'plink_1', reference_id: ID, amount: 100, currency: 'INR', status: what } },
			},
		});
		return {
			name, body, headers: { 'x-razorpay-signature': hmac('sha256', secrets[0], body, 'hex') },
			verdict: 'good', events: [event(effect, `payment_link.${what}`, `sha256:${sha256(body)}`,
				{ ...payment && { reference: payment }, ...effect !== 'ignore' && { amount: 100, currency: 'INR' } })],
		};
	};
	const back = (name, status, expected, change = (q) => q) => {
		const q = change({
			razorpay_payment_id: 'pay_1', razorpay_payment_link_id: 'plink_1',
			razorpay_payment_link_reference_id: ID, razorpay_payment_link_status: status,
			razorpay_signature: hmac('sha256', return_secrets[0], `plink_1|${ID}|${status}|pay_1`, 'hex'),
		});
		return { name, query: new URLSearchParams(q).toString(), headers: {}, body: '', ...expected };
	};
	const good = (effect, type) => ({ verdict: 'good', events: [event(effect, type, 'pay_1', { reference: 'pay_1' })] });
	// These name the payment, and neither the link nor the elicitation.
	const after = (type, entity, effect, id) => {
		const body = json({
			event: type, payload: { [entity]: { entity: { id, payment_id: 'pay_1', amount: 40, currency: 'INR' } }, payment: { entity: { id: 'pay_1', amount: 100 } } },
		});
		return {
			name: type, body, headers: { 'x-razorpay-signature': hmac('sha256', secrets[0], body, 'hex') },
			verdict: 'good', events: [event(effect, type, `sha256:${sha256(body)}`,
				{ id: null, reference: 'pay_1', ...effect !== 'ignore' && { refund: id, amount: 40, currency: 'INR' } })],
		};
	};

	write('razorpay', {
		site: { secrets, return_secrets },
		deliveries: [
			deliver('paid', 'paid', 'paid', 'pay_1'),
			// Each payment of a link has its own reference.
			deliver('paid-again', 'paid', 'paid', 'pay_2'),
			deliver('paid-in-part', 'partially_paid', 'ignore', 'pay_3'),
			deliver('cancelled', 'cancelled', 'failed'),
			deliver('expired', 'expired', 'expired'),
			after('refund.processed', 'refund', 'refunded', 'rfnd_1'),
			after('refund.failed', 'refund', 'refund_reversed', 'rfnd_1'),
			after('payment.dispute.created', 'dispute', 'ignore', 'disp_1'),
			after('payment.dispute.lost', 'dispute', 'refunded', 'disp_1'),
			after('payment.dispute.won', 'dispute', 'refund_reversed', 'disp_1'),
		],
		returns: [
			back('paid', 'paid', good('paid', 'paid')),
			back('partially-paid', 'partially_paid', good('ignore', 'partially_paid')),
			back('another-elicitation', 'paid', { verdict: 'forged' }, (q) => ({ ...q, razorpay_payment_link_reference_id: OTHER })),
			back('unsigned', 'paid', { verdict: 'unsigned' }, ({ razorpay_signature, ...q }) => q),
			{
				...back('signature-twice', 'paid', { verdict: 'forged' }),
				query: `${back('', 'paid', {}).query}&razorpay_signature=00`,
			},
		],
	});
}

export function shopify() {
	const secret = 'hush';
	const deliver = (name, financial_status, effect, more, test = false, order = {}) => {
		const body = json({
			id: 820982911946154508n.toString(), currency: 'USD', total_price: '403.00', financial_status, test, ...order,
			note_attributes: [{ name: 'color', value: 'red' }, { name: 'elicitation_id', value: ID }],
		});
		return {
			name, body, headers: { 'x-shopify-hmac-sha256': hmac('sha256', secret, body, 'base64') },
			verdict: 'good', events: [event(effect, '', `sha256:${sha256(body)}`, { reference: '820982911946154508', ...more })],
		};
	};
	const amount = { amount: 40300, currency: 'USD' };
	// A refund names its order, and not the elicitation.
	const refund = (name, effect, transaction, more) => {
		const body = json({ id: '509562969', order_id: '820982911946154508', note: null, transactions: [{ kind: 'refund', status: 'success', amount: '100.00', currency: 'USD', test: false, ...transaction }] });
		return {
			name, body, headers: { 'x-shopify-hmac-sha256': hmac('sha256', secret, body, 'base64') },
			verdict: 'good', events: [event(effect, '', `sha256:${sha256(body)}`, { id: null, ...more })],
		};
	};
	const refunded = { reference: '820982911946154508', refund: '509562969', amount: 10000, currency: 'USD' };
	const back = (name, time, expected, change = (text) => text) => {
		const text = `code=0907a61c0c8d55e99db179b68161bc00&host=YWRtaW4uc2hvcGlmeS5jb20vc3RvcmUvbXk&shop=my-shop.myshopify.com&state=0.6784241404160823&timestamp=${time}`;
		const mac = hmac('sha256', secret, text, 'hex');
		const [first, ...rest] = text.split('&');
		return { name, query: change(`${first}&hmac=${mac}&${rest.reverse().join('&')}`), headers: {}, body: '', ...expected };
	};
	const query = back('', NOW, {}).query;

	write('shopify', {
		site: { secrets: [secret] },
		deliveries: [
			deliver('paid', 'paid', 'recheck'),
			deliver('paid-in-part', 'partially_paid', 'ignore'),
			deliver('renewed', 'paid', 'ignore', {}, false, { source_name: 'subscription_contract' }),
			deliver('voided', 'voided', 'failed', amount),
			deliver('refunded', 'refunded', 'refunded', amount),
			deliver('refunded-in-part', 'partially_refunded', 'ignore'),
			refund('refund', 'refunded', {}, refunded),
			refund('refund-pending', 'ignore', { status: 'pending' }, { reference: '509562969' }),
			refund('refund-of-a-test', 'other_mode', { test: true }, { reference: '820982911946154508', refund: '509562969' }),
			deliver('test-order', 'pending', 'other_mode', {}, true),
		],
		returns: [
			back('installed', NOW, {
				verdict: 'good', events: [event('paid', 'my-shop.myshopify.com', `sha256:${sha256(query)}`, { id: null })],
			}),
			back('stale', NOW - 91, { verdict: 'stale' }),
			back('field-more', NOW, { verdict: 'forged' }, (text) => `${text}&x=1`),
			back('field-less', NOW, { verdict: 'forged' }, (text) => text.replace(/&state=[^&]*/, '')),
		],
	});
}

export function others() {
	const paystack = (name, type, data, expected) => {
		const body = json({ event: type, data: { domain: 'test', amount: 10000, currency: 'NGN', ...data } });
		return {
			name, body, headers: { 'x-paystack-signature': hmac('sha512', 'sk_test_1', body, 'hex') },
			verdict: 'good', events: [expected],
		};
	};
	const charge = { id: 302961, reference: ID };
	const naira = { reference: '302961', amount: 10000, currency: 'NGN' };
	// A site of the test mode: live events are of the other mode.
	write('paystack', {
		site: { secrets: ['sk_test_1'], mode: 'test' },
		deliveries: [
			paystack('good', 'charge.success', charge, event('paid', 'charge.success', 'charge.success:302961:', naira)),
			paystack('refunded', 'refund.processed', { refund_reference: 'r1', transaction_reference: ID, amount: '10000' },
				event('refunded', 'refund.processed', `refund.processed:r1:${ID}`, { refund: 'r1', amount: 10000, currency: 'NGN' })),
			// The rest of it: another refund, another event.
			paystack('refunded-again', 'refund.processed', { refund_reference: 'r2', transaction_reference: ID, amount: '90' },
				event('refunded', 'refund.processed', `refund.processed:r2:${ID}`, { refund: 'r2', amount: 90, currency: 'NGN' })),
			paystack('refund-failed', 'refund.failed', { refund_reference: 'r2', transaction_reference: ID, amount: '90' },
				event('refund_reversed', 'refund.failed', `refund.failed:r2:${ID}`, { refund: 'r2', amount: 90, currency: 'NGN' })),
			paystack('disputed', 'charge.dispute.create', { id: 2867, refund_amount: 5000, resolution: null, transaction: charge },
				event('ignore', 'charge.dispute.create', 'charge.dispute.create:2867:', { reference: '2867' })),
			paystack('dispute-accepted', 'charge.dispute.resolve', { id: 2867, refund_amount: 5000, resolution: 'merchant-accepted', transaction: charge },
				event('refunded', 'charge.dispute.resolve', 'charge.dispute.resolve:2867:', { ...naira, amount: 5000, refund: 'dispute:2867' })),
			paystack('dispute-declined', 'charge.dispute.resolve', { id: 2868, refund_amount: 0, resolution: 'declined', transaction: charge },
				event('ignore', 'charge.dispute.resolve', 'charge.dispute.resolve:2868:', { reference: '2868' })),
			paystack('live-mode', 'charge.success', { ...charge, domain: 'live' },
				event('other_mode', 'charge.success', 'charge.success:302961:', { reference: '302961' })),
		],
	});

	const paddle = (name, type, effect, more, expected = { reference: 'txn_1', amount: 3000, currency: 'USD' }) => {
		const body = json({
			event_id: 'evt_1', event_type: type,
			data: { id: 'txn_1', origin: 'api', custom_data: { elicitation_id: ID }, currency_code: 'USD', details: { totals: { total: '3000' } }, ...more },
		});
		return {
			name, body, headers: { 'paddle-signature': `ts=${NOW};h1=${hmac('sha256', 'pdl_ntfset_1', `${NOW}:${body}`, 'hex')}` },
			verdict: 'good', events: [event(effect, type, 'evt_1', { ...expected, ...effect === 'paid' && { checkout: expected.reference } })],
		};
	};
	// An adjustment names the transaction, and not the elicitation.
	const adjusted = (name, type, effect, more, refund = 'adj_1') => paddle(name, type, effect, {
		id: 'adj_1', action: 'refund', status: 'approved', transaction_id: 'txn_1', origin: undefined, custom_data: undefined, details: undefined,
		totals: { total: '1200', currency_code: 'USD' }, ...more,
	}, { id: null, ...effect === 'ignore' ? { reference: 'adj_1' } : { reference: 'txn_1', refund, amount: 1200, currency: 'USD' } });
	write('paddle', {
		site: { secrets: ['pdl_ntfset_1'] },
		deliveries: [
			paddle('refused', 'transaction.payment_failed', 'attempt_failed'),
			paddle('good', 'transaction.completed', 'paid'),
			paddle('cancelled', 'transaction.canceled', 'failed'),
			paddle('made-by-the-payer', 'transaction.completed', 'ignore', { origin: 'web' }, { reference: 'txn_1' }),
			paddle('renewed', 'transaction.completed', 'ignore', { id: 'txn_2', origin: 'subscription_recurring' }, { reference: 'txn_2' }),
			paddle('changed', 'transaction.completed', 'ignore', { id: 'txn_3', origin: 'subscription_update' }, { reference: 'txn_3' }),
			adjusted('refund-asked-for', 'adjustment.created', 'ignore', { status: 'pending_approval' }),
			adjusted('refund-approved', 'adjustment.updated', 'refunded', {}),
			adjusted('refund-created-approved', 'adjustment.created', 'refunded', {}),
			adjusted('refund-rejected', 'adjustment.updated', 'ignore', { status: 'rejected' }),
			adjusted('refund-reversed', 'adjustment.updated', 'refund_reversed', { status: 'reversed' }),
			adjusted('credit', 'adjustment.created', 'ignore', { action: 'credit' }),
			adjusted('charged-back', 'adjustment.created', 'refunded', { action: 'chargeback' }, 'chargeback:txn_1'),
			adjusted('charged-back-warning', 'adjustment.created', 'ignore', { action: 'chargeback_warning' }),
			adjusted('dispute-won', 'adjustment.created', 'refund_reversed', { id: 'adj_2', action: 'chargeback_reverse' }, 'chargeback:txn_1'),
		],
	});

	const discord = json({ version: 1, application_id: '1', type: 1, event: { type: 'ENTITLEMENT_CREATE', data: { id: '19' } } });
	write('discord', {
		site: { secrets: [ED25519_PUBLIC] },
		answer: { status: 204, body: '', content_type: 'text/plain' },
		deliveries: [{
			name: 'good', body: discord,
			headers: {
				'x-signature-timestamp': `${NOW}`,
				'x-signature-ed25519': sign(null, Buffer.from(`${NOW}${discord}`), ed25519).toString('hex'),
			},
			verdict: 'good', events: [event('paid', 'ENTITLEMENT_CREATE', `sha256:${sha256(discord)}`, { id: null, reference: '19' })],
		}],
	});

	const gitlab = json({ object_kind: 'issue', object_attributes: { id: 9, elicitation_id: ID } });
	const gitlabEvent = event('recheck', 'issue', `sha256:${sha256(gitlab)}`, { reference: '9' });
	write('gitlab', {
		site: { secrets: ['token-of-the-project'] },
		deliveries: [
			{ name: 'good', body: gitlab, headers: { 'x-gitlab-token': 'token-of-the-project' }, verdict: 'good', events: [gitlabEvent] },
			{ name: 'shorter', body: gitlab, headers: { 'x-gitlab-token': 'token-of-the-projec' }, verdict: 'forged' },
			{ name: 'none', body: gitlab, headers: {}, verdict: 'unsigned' },
		],
	});

	const slack = new URLSearchParams({
		payload: json({ type: 'block_actions', trigger_id: '1.2', actions: [{ action_id: 'approve', value: ID }] }),
	}).toString();
	write('slack', {
		site: { secrets: ['8f742231b10e8888abcd99yyyzzz85a5'] },
		deliveries: [{
			name: 'good', body: slack, content_type: 'application/x-www-form-urlencoded',
			headers: {
				'x-slack-request-timestamp': `${NOW}`,
				'x-slack-signature': `v0=${hmac('sha256', '8f742231b10e8888abcd99yyyzzz85a5', `v0:${NOW}:${slack}`, 'hex')}`,
			},
			verdict: 'good', events: [event('paid', 'block_actions.approve', `sha256:${sha256(slack)}`, { reference: '1.2' })],
		}],
	});
}
