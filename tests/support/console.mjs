// The console of a stack that was started with CONSOLE=1: its pages through nginx, which
// believes the header X-Remote-User, and rows that have something to show.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { sender } from './deliveries.mjs';

export const OPERATOR = 'ada';

/** What nothing may become: markup, another direction, a formula. */
export const HOSTILE = '=cmd|"<img src=x onerror=alert(1)>&amp;\'\u202e\u2066</td><script>alert(2)</script>';

export class Console {
	#cookie = new Map();

	/** @param {import('./stack.mjs').Stack} stack */
	constructor(stack) {
		this.stack = stack;
		this.url = stack.env.URLMODE_CONSOLE_URL;
	}

	/**
	 * @param {string} path
	 * @param {{ user?: string, headers?: Record<string, string>, method?: string, form?: Record<string, string> }} [options]
	 */
	async ask(path, { user = OPERATOR, headers = {}, method, form } = {}) {
		const cookie = this.#cookie.get(user);
		const answer = await fetch(this.url + path, {
			redirect: 'manual', method: method ?? (form ? 'POST' : 'GET'), body: form && new URLSearchParams(form),
			headers: { ...user && { 'X-Remote-User': user }, ...cookie && { Cookie: cookie }, ...form && { 'Sec-Fetch-Site': 'same-origin' }, ...headers },
		});
		const set = answer.headers.get('set-cookie');
		if (set) this.#cookie.set(user, set.split(';')[0]);
		return { status: answer.status, headers: answer.headers, text: await answer.text(), cookie: set };
	}

	/** The reason code of a refusal, which its page shows. */
	async refusal(path, options) {
		const { status, text } = await this.ask(path, options);
		return [status, /<footer>[^]*?<code>(\w+)<\/code>/.exec(text)?.[1]];
	}

	/** The fields of the form of an action, as its page has them. */
	async actionForm(action, { id, provider, reference }, options) {
		const { status, text } = await this.ask(`/console/act?${new URLSearchParams({ action, id, provider, reference })}`, options);
		assert.equal(status, 200, text);
		return Object.fromEntries([...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)]
			.map(([, name, value]) => [name, value.replaceAll(/&#x?(\w+);/g, (all, code) => String.fromCodePoint(all[2] === 'x' ? parseInt(code, 16) : Number(code)))]));
	}

	close() {}
}

const PRICE = { amount: 1050, currency: 'EUR' };

/** A payment of Stripe, paid with this reference. */
export async function pay(fixture, { amount = PRICE.amount, ...options } = {}) {
	const payment = await fixture.createPayment('stripe', { expected: PRICE, item: 'report', ...options });
	const reference = `pi_${payment.id.replaceAll('-', '')}`;
	const send = async (event) => assert.equal((await sender(fixture, 'stripe').send({ id: `evt_${randomUUID()}`, object: 'event', livemode: true, ...event })).status, 200);
	await send({ type: 'checkout.session.completed', data: { object: {
		id: `cs_${reference}`, object: 'checkout.session', client_reference_id: payment.id, payment_intent: reference, payment_status: 'paid', amount_total: amount, currency: 'eur',
	} } });
	return { payment, id: payment.id, provider: 'stripe', reference, send };
}

/** The same, of which a part went back: it is held. */
export async function hold(fixture, options) {
	const paid = await pay(fixture, options);
	await paid.send({ type: 'charge.dispute.funds_withdrawn', data: { object: {
		id: `dp_${paid.reference}`, object: 'dispute', payment_intent: paid.reference, amount: 400, currency: 'eur', metadata: {},
	} } });
	return paid;
}
