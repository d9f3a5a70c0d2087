// Webhooks of providers with genuine signatures: made with the provider's
// own package if npm has one that can sign, and otherwise according to the
// provider's documentation. What a provider sends, and how it signs it, is in
// its file of tests/deliveries; of one whose deliveries are JSON, its first
// delivery is sent, signed by `urlmode delivery --sign`.
//
//     const stripe = sender(fixture, 'stripe');
//     await stripe.send(stripe.event(id, 'paid', { amount: 1000, currency: 'EUR' }));

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { deliveriesOf, describedIn, entryOf, ID, SHIPPED } from '../deliveries/support.mjs';
import { request } from './http.mjs';
import { tokenOf } from './tokens.mjs';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const COMMAND = fileURLToPath(new URL('../../nginx/command/urlmode', import.meta.url));

/** What each provider sends. A payment has a reference of its own, because one reference pays once. */
const SENDERS = Object.fromEntries(await Promise.all(describedIn(SHIPPED).map(async ({ name, content }) => {
	const of = await deliveriesOf(name);
	return [name, of?.sender ?? (of && senderOf(name, content, of.deliveries()))];
})));

export const PROVIDERS = Object.keys(SENDERS);

const MADE_UP = { text: () => 'x', hex: () => 'x', standard: () => 'x', webhook: 'x' };

/** The shipped descriptions that verify deliveries: their names, what they say, and the kind of their provider here. */
export const DESCRIBED = await Promise.all(describedIn(SHIPPED).map(async ({ name, content }) => (
	{ name, content, kind: (await entryOf(name, content, MADE_UP)).kind })));

/** Sends the first delivery with this effect, or else the first, about another elicitation. */
function senderOf(name, { verify, elicitation }, { deliveries }) {
	const isNamedByAddress = verify.length === 0 || elicitation === 'webhookUrl';
	return {
		event: (id, what) => ({ id, ...deliveries.find(({ events: [event] = [] }) => event?.effect === what) ?? deliveries[0] }),
		whole: ({ id, body = '', query, headers, content_type: type }, how) => {
			const unsigned = {
				headers: { ...JSON_TYPE, ...type && { 'Content-Type': type }, ...headers }, body: body.replaceAll(ID, id),
				query: isNamedByAddress ? tokenOf(how.fixture, name, id).slice(1) : query?.replaceAll(ID, id) ?? '',
			};
			return verify[0]?.algorithm.startsWith('hmac-') ? signWithCommand(unsigned, name, how) : unsigned;
		},
	};
}

/** The request with a signature that is made with this secret. */
function signWithCommand({ headers, body, query }, name, { fixture: { stack }, provider, secret, timestamp }) {
	const file = join(stack.env.URLMODE_RUN_DIR, `unsigned-${randomUUID()}`);
	writeFileSync(file, `POST /webhook/${name}?${query} HTTP/1.1\n${Object.entries(headers).map(([key, value]) => `${key}: ${value}\n`).join('')}\n${body}`);
	const text = execFileSync(COMMAND, ['delivery', '--sign', '--at', String(timestamp), '--secret', secret,
		'--description', fileURLToPath(new URL(`../../${SHIPPED}${name}.json`, import.meta.url)),
		...Object.entries(provider.constants ?? {}).flatMap(([key, value]) => ['--constant', `${key}=${value}`]), file], { encoding: 'utf8' });
	const end = text.indexOf('\n\n');
	const [line, ...lines] = text.slice(0, end).split('\n');
	return {
		headers: Object.fromEntries(lines.map((one) => one.split(/: (.*)/s, 2))), body: text.slice(end + 2),
		query: new URL(line.split(' ')[1], 'http://x').search.slice(1),
	};
}

/**
 * Sends webhooks as this provider does, with the secret of the fixture's stack.
 *
 * @param {string} [like] whose webhooks it sends, if its name in the configuration is another one
 */
export function sender(fixture, name, like = name) {
	const provider = JSON.parse(readFileSync(fixture.stack.env.URLMODE_CONFIG, 'utf8')).providers[name];
	const { event, seal, sign, whole, body = JSON.stringify, path = () => '' } = SENDERS[like];

	/** A delivery that can be sent any number of times. */
	const deliver = async (what, { secret = provider.secrets?.[0], timestamp = Math.floor(Date.now() / 1000) } = {}) => {
		const how = { secret, timestamp, fixture, provider };
		if (whole) {
			const { query, ...request } = whole(what, how);
			return { url: fixture.url(`/webhook/${name}?${query}`), method: 'POST', ...request };
		}
		await seal?.(what, how);
		const text = body(what);
		return {
			url: fixture.url(`/webhook/${name}${path(what, fixture, text, how)}`),
			method: 'POST',
			headers: { ...JSON_TYPE, ...await sign(text, how) },
			body: text,
		};
	};
	return {
		kind: provider.kind,
		provider,
		event,
		deliver,
		send: async (what, options) => post(await deliver(what, options)),
	};
}

/** Sends a delivery. The response has `status`, `headers` and `body`. */
export function post({ url, ...delivery }) {
	return request(url, delivery);
}
