// A double of api.stripe.com, because npm has none. It creates Checkout sessions
// by the rules that Stripe documents. Its client is Stripe's own package.
// https://docs.stripe.com/api/checkout/sessions/create

import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const MINUTE = 60;

/**
 * @param {{ secretKey: string }} options
 * @returns {Promise<{ port: number, session: (url: string) => object, close: () => Promise<void> }>}
 *     session: the session whose page has this URL, as Stripe sends it in an event
 */
export async function startStripeApi({ secretKey }) {
	const sessions = new Map();
	const server = createServer(async (request, response) => {
		const answer = (status, body) => response
			.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
		const refuse = (status, message) => answer(status, { error: { type: 'invalid_request_error', message } });
		let body = '';

		for await (const chunk of request) body += chunk;
		if (request.headers.authorization !== `Bearer ${secretKey}`) return refuse(401, 'Invalid API Key provided');
		if (request.method !== 'POST' || request.url !== '/v1/checkout/sessions') return refuse(404, 'Unrecognized request URL');
		const session = createSession(new URLSearchParams(body), 'https://checkout.stripe.example');
		if (typeof session === 'string') return refuse(400, session);
		sessions.set(session.url, session);
		return answer(200, session);
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		port: server.address().port,
		session: (url) => sessions.get(url),
		close: () => new Promise((resolve) => {
			server.close(resolve);
			server.closeAllConnections();
		}),
	};
}

/**
 * @param {URLSearchParams} fields of the request
 * @param {string} site where the session has its page
 * @returns {object | string} the session, or Stripe's error for the request
 */
export function createSession(fields, site) {
	const now = Math.floor(Date.now() / 1000);
	const left = Number(fields.get('expires_at')) - now;
	const item = (name) => fields.get(`line_items[0]${name}`);
	const id = `cs_test_${randomUUID().replaceAll('-', '')}`;

	if (fields.get('mode') !== 'payment') return 'mode: only payment is here';
	if (!item('[price_data][product_data][name]')) return 'line_items: no product';
	if (!/^[1-9]\d*$/.test(item('[price_data][unit_amount]'))) return 'line_items: no unit_amount';
	if (!/^[a-z]{3}$/.test(item('[price_data][currency]'))) return 'line_items: a currency in lower case';
	if (!(left >= 30 * MINUTE && left <= 24 * 60 * MINUTE)) return 'expires_at: 30 minutes to 24 hours from now';
	if (!(fields.get('client_reference_id')?.length <= 200)) return 'client_reference_id: at most 200 characters';
	for (const name of ['success_url', 'cancel_url']) {
		if (!URL.canParse(fields.get(name)) || fields.get(name).length > 5_000) return `${name}: not a valid URL`;
	}
	return {
		id, object: 'checkout.session', mode: 'payment', status: 'open', payment_status: 'unpaid',
		url: `${site}/c/pay/${id}`,
		client_reference_id: fields.get('client_reference_id'),
		success_url: fields.get('success_url'), cancel_url: fields.get('cancel_url'),
		expires_at: Number(fields.get('expires_at')),
		amount_total: item('[price_data][unit_amount]') * Number(item('[quantity]') ?? 1),
		currency: item('[price_data][currency]'),
	};
}

/** Stripe's package for a project, with the API at a port of this machine. */
export function installStripe(modules, port) {
	const folder = join(modules, 'stripe');
	const real = pathToFileURL(createRequire(import.meta.url).resolve('stripe'));

	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, 'package.json'), '{ "name": "stripe", "type": "module", "exports": "./index.js" }\n');
	writeFileSync(join(folder, 'index.js'), `import Stripe from ${JSON.stringify(real)};
export default class extends Stripe {
	constructor(key) {
		super(key, { protocol: 'http', host: '127.0.0.1', port: ${port}, telemetry: false, maxNetworkRetries: 0 });
	}
}
`);
}
