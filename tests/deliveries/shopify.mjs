// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { decimal, event, hmac, ID, inHeader, json, NOW, PAID, sha256 } from './support.mjs';

export function deliveries() {
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
	const named = (name, headers) => {
		const { headers: { 'x-shopify-hmac-sha256': mac }, ...one } = deliver(name, 'paid', 'recheck');
		return { ...one, headers: headers(mac) };
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

	return {
		site: { secrets: [secret] },
		deliveries: [
			deliver('paid', 'paid', 'recheck'),
			deliver('paid-in-part', 'partially_paid', 'ignore'),
			deliver('renewed', 'paid', 'ignore', {}, false, { source_name: 'subscription_contract' }),
			deliver('authorized', 'authorized', 'processing', amount),
			deliver('voided', 'voided', 'failed', amount),
			deliver('refunded', 'refunded', 'refunded', amount),
			deliver('refunded-in-part', 'partially_refunded', 'ignore'),
			refund('refund', 'refunded', {}, refunded),
			refund('refund-pending', 'ignore', { status: 'pending' }, { reference: '509562969' }),
			refund('refund-of-a-test', 'other_mode', { test: true }, { reference: '820982911946154508', refund: '509562969' }),
			deliver('test-order', 'pending', 'other_mode', {}, true),
			// The header's name of before February 2026, the one since then, and both.
			named('under its new name', (mac) => ({ 'shopify-hmac-sha256': mac })),
			named('under both names', (mac) => ({ 'shopify-hmac-sha256': mac, 'x-shopify-hmac-sha256': mac })),
			...['shopify-hmac-sha256', 'x-shopify-hmac-sha256'].map((name) => ({
				...named(`under both names, with another as ${name}`, (mac) => (
					{ 'shopify-hmac-sha256': mac, 'x-shopify-hmac-sha256': mac, [name]: hmac('sha256', 'guessed', '', 'base64') })),
				verdict: 'forged', events: undefined,
			})),
		],
		returns: [
			back('installed', NOW, {
				verdict: 'good', events: [event('accepted', 'my-shop.myshopify.com', `sha256:${sha256(query)}`, { id: null })],
			}),
			back('stale', NOW - 91, { verdict: 'stale' }),
			back('field-more', NOW, { verdict: 'forged' }, (text) => `${text}&x=1`),
			back('field-less', NOW, { verdict: 'forged' }, (text) => text.replace(/&state=[^&]*/, '')),
		],
	};
}

export const sender = {
	event: (id, what, { amount, currency } = PAID) => ({
		id: randomUUID(), test: false, currency, total_price: decimal(amount),
		financial_status: { recheck: 'paid', paid: 'paid', failed: 'voided', processing: 'pending' }[what],
		note_attributes: [{ name: 'elicitation_id', value: id }],
	}),
	// It sends both while the old name has not ended.
	sign: (body, how) => ({
		...inHeader('X-Shopify-Hmac-Sha256', { encoding: 'base64' })(body, how), ...inHeader('shopify-hmac-sha256', { encoding: 'base64' })(body, how),
	}),
};
