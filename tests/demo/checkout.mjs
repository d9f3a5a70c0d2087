// Stands in for Stripe Checkout in the demo: the API that creates sessions, the
// page of a session, and the events, signed as Stripe signs them. Written by
// version 2026-10-28.endive of Stripe's API. It has one product, one currency,
// and two cards: one that is charged, and one that is declined.
// https://docs.stripe.com/api/checkout/sessions
//
//     CHECKOUT_PORT=9003 URLMODE_BASE_URL=http://127.0.0.1:8080 URLMODE_CONFIG=config.json node checkout.mjs

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import Stripe from 'stripe';

import { createSession } from '../support/stripe-api.mjs';
import { closeServer, env, isMain, listen, readForm, run, sendPage } from './process.mjs';
import { checkoutMessage, checkoutPage } from './provider-pages.mjs';

export const SECRET_KEY = 'sk_test_of_the_demo';
const API_VERSION = '2026-10-28.endive';

/** Stripe repeats a delivery for days; the demo for as long as a restart takes. */
const DELIVERY_ATTEMPTS = 30;
const DELIVERY_PAUSE_MS = 1_000;

/** The longest delay of setTimeout. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Stripe's own package, as a server uses it, for a checkout of the demo. */
export function connectCheckout(url) {
	const { protocol, hostname, port } = new URL(url);
	return new Stripe(SECRET_KEY, {
		protocol: protocol.slice(0, -1), host: hostname, port, telemetry: false, maxNetworkRetries: 0,
	});
}

/** The webhook endpoint of a stack: { webhookUrl, webhookSecret }. */
export async function webhookOf({ URLMODE_BASE_URL, URLMODE_CONFIG }) {
	const { providers } = JSON.parse(await readFile(URLMODE_CONFIG, 'utf8'));
	return { webhookUrl: `${URLMODE_BASE_URL}/webhook/checkout`, webhookSecret: providers.checkout.secrets[0] };
}

/**
 * Starts the checkout at http://localhost:PORT, which for a browser is another
 * site than the callback host on 127.0.0.1.
 *
 * @param {{ webhookUrl: string, webhookSecret: string, port?: number }} options
 *     webhookUrl: where the events are sent; port: 0 for a free one
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function startCheckout({ webhookUrl, webhookSecret, port = 0 }) {
	const server = createServer();
	const url = `http://localhost:${await listen(server, port)}`;
	const checkout = new Checkout(url, new Sender(webhookUrl, webhookSecret));

	server.on('request', (request, response) => {
		checkout.answer(request, response).catch(() => sendPage(response, 400, checkoutMessage('Something is wrong with this request.')));
	});
	return {
		url,
		async close() {
			checkout.close();
			await closeServer(server);
		},
	};
}

class Checkout {
	#url;
	#sender;
	#sessions = new Map();

	constructor(url, sender) {
		this.#url = url;
		this.#sender = sender;
	}

	async answer(request, response) {
		const { pathname } = new URL(request.url, this.#url);
		const session = this.#sessions.get(pathname.replace(/^\/c\/pay\//, ''));

		if (pathname === '/') {
			sendPage(response, 200, checkoutMessage('Nothing is to be paid here.'));
		} else if (pathname === '/v1/checkout/sessions' && request.method === 'POST') {
			await this.#create(request, response);
		} else if (!session) {
			sendPage(response, 404, checkoutMessage('There is no such payment.'));
		} else if (session.status !== 'open') {
			sendPage(response, 200, checkoutMessage(session.status === 'complete' ? 'This was paid.' : 'The time to pay this is over.'));
		} else if (request.method === 'POST') {
			await this.#pay(session, await readForm(request), response);
		} else {
			sendPage(response, 200, checkoutPage(pageOf(session)));
		}
	}

	close() {
		for (const { timer } of this.#sessions.values()) {
			clearTimeout(timer);
		}
		this.#sender.close();
	}

	async #create(request, response) {
		const refuse = (status, message) => sendJson(response, status, { error: { type: 'invalid_request_error', message } });
		const fields = await readForm(request);
		const session = createSession(fields, this.#url);

		if (request.headers.authorization !== `Bearer ${SECRET_KEY}`) {
			refuse(401, 'Invalid API Key provided');
		} else if (typeof session === 'string') {
			refuse(400, session);
		} else {
			session.livemode = false;
			this.#sessions.set(session.id, {
				object: session,
				status: 'open',
				name: fields.get('line_items[0][price_data][product_data][name]'),
				metadata: { elicitation_id: fields.get('payment_intent_data[metadata][elicitation_id]') },
				timer: setTimeout(() => this.#expire(session.id), Math.min(session.expires_at * 1_000 - Date.now(), TIMER_MAX_MS)).unref(),
			});
			sendJson(response, 200, session);
		}
	}

	async #pay(session, form, response) {
		if (form.get('card') === 'declined') {
			// The session stays open: the user can try another card.
			this.#sender.send('payment_intent.payment_failed', {
				id: `pi_${randomUUID()}`, object: 'payment_intent', livemode: false, metadata: session.metadata,
				amount: session.object.amount_total, currency: session.object.currency, status: 'requires_payment_method',
				last_payment_error: { type: 'card_error', code: 'card_declined' },
			});
			sendPage(response, 200, checkoutPage({ ...pageOf(session), problem: 'Your card was declined. Try another one.' }));
			return;
		}
		this.#end(session, 'complete', 'paid', 'checkout.session.completed');
		response.writeHead(303, { Location: session.object.success_url }).end();
	}

	#expire(id) {
		this.#end(this.#sessions.get(id), 'expired', 'unpaid', 'checkout.session.expired');
	}

	#end(session, status, payment, type) {
		clearTimeout(session.timer);
		session.status = status;
		Object.assign(session.object, { status, payment_status: payment });
		this.#sender.send(type, session.object);
	}
}

function pageOf({ name, object: { amount_total: amount, currency, cancel_url: cancelUrl } }) {
	return { name, price: `${(amount / 100).toFixed(2)} ${currency.toUpperCase()}`, cancelUrl };
}

/** Sends events to the endpoint, each until it is accepted. */
class Sender {
	#url;
	#secret;
	#closing = new AbortController();

	constructor(url, secret) {
		this.#url = url;
		this.#secret = secret;
	}

	send(type, object) {
		const body = JSON.stringify({
			id: `evt_${randomUUID()}`, object: 'event', api_version: API_VERSION, created: Math.floor(Date.now() / 1_000),
			livemode: false, type, data: { object },
		});
		this.#deliver(body).catch(() => {});
	}

	close() {
		this.#closing.abort();
	}

	async #deliver(body) {
		const { signal } = this.#closing;

		for (let attempt = 0; attempt < DELIVERY_ATTEMPTS; attempt += 1) {
			const signature = Stripe.webhooks.generateTestHeaderString({ payload: body, secret: this.#secret });
			const headers = { 'Content-Type': 'application/json', 'Stripe-Signature': signature };
			const answer = await fetch(this.#url, { method: 'POST', headers, body, signal }).catch((error) => error);
			if (answer.ok) {
				return;
			}
			console.error(`Checkout: an event was answered ${answer.status ?? answer.message}`);
			await sleep(DELIVERY_PAUSE_MS, undefined, { signal, ref: false });
		}
	}
}

function sendJson(response, status, body) {
	response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

if (isMain(import.meta.url)) {
	await run('Checkout', async () => startCheckout({
		port: Number(env('CHECKOUT_PORT')),
		...await webhookOf({ URLMODE_BASE_URL: env('URLMODE_BASE_URL'), URLMODE_CONFIG: env('URLMODE_CONFIG') }),
	}));
}
