// SPDX-License-Identifier: MIT
// What the files of this folder share.
import { createHash, createHmac, createPrivateKey, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const TOP = new URL('../../', import.meta.url);
/** Where the deliveries are written. */
export const FOLDER = new URL('build/deliveries/', TOP);

/** The descriptions that verify deliveries: those that are shipped, or the examples of this folder. */
export function describedIn(folder) {
	const files = new URL(folder, TOP);
	return readdirSync(files).filter((file) => file.endsWith('.json') && file !== 'schema.json').sort()
		.map((file) => ({ name: file.slice(0, -'.json'.length), content: JSON.parse(readFileSync(new URL(file, files))) }))
		.filter(({ content }) => content.verify !== undefined);
}

export const SHIPPED = 'lib/providers/';
export const EXAMPLES = 'tests/deliveries/descriptions/';

/** The module of a provider in this folder, or its deliveries, if somebody has written these as JSON. */
export async function deliveriesOf(name) {
	const [code, data] = ['mjs', 'json'].map((ending) => new URL(`${name}.${ending}`, import.meta.url));
	if (existsSync(code)) return import(code);
	if (!existsSync(data)) return undefined;
	const content = JSON.parse(readFileSync(data));
	return { deliveries: () => content };
}

/**
 * A provider's entry in the configuration of a stack: `stack` of its module, or what its JSON says of the site; otherwise
 * a secret, if its deliveries are verified with one. `make` makes up what is not known before: a text, 32 bytes in `hex`,
 * a secret as Standard Webhooks has it, and the address of its webhook.
 */
export async function entryOf(name, content, make) {
	const of = await deliveriesOf(name);
	const secret = content.verify.length === 0 ? {} : { secrets: [make.text()] };
	const { kind = 'payment', ...entry } = of?.stack?.(make) ?? (of?.sender ? secret : of?.deliveries().site ?? secret);
	return { kind, display_name: content.name, ...kind === 'oauth' && { description: name }, ...entry };
}

/** The key of paypal.pem and of the documents that Amazon SNS signs. */
export const rsa = createPrivateKey(readFileSync(new URL('tests/unit/keys/rsa-1.pem', TOP)));
export const ID = '7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2';
export const OTHER = '00000000-0000-4000-8000-000000000001';
export const NOW = 1700000000;

export const hmac = (algorithm, key, text, encoding = 'hex') =>
	createHmac(algorithm, key).update(text).digest(encoding);
export const sha256 = (text) => createHash('sha256').update(text).digest('hex');
export const json = (value) => JSON.stringify(value);
export const digest = (body) => `sha256:${sha256(body)}`;

/** CRC-32 bit by bit (RFC 1952 section 8), as no Node 20 has it in zlib. */
export function crc32(bytes) {
	let crc = 0xffffffff;

	for (const byte of Buffer.from(bytes)) {
		crc ^= byte;
		for (let bit = 0; bit < 8; bit++)
			crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
	}
	return (crc ^ 0xffffffff) >>> 0;
}

/** Writes a JSON Web Key Set; its file from the top of the tree, for `jwks_file`. */
export function writeKeys(name, ...keys) {
	writeFileSync(new URL(`${name}.jwks`, FOLDER), `${json({ keys })}\n`);
	return `build/deliveries/${name}.jwks`;
}

// An event as it is expected; `reference` and amounts only where there are some.
export function event(effect, type, identity, more = {}) {
	return { effect, type, identity, id: ID, ...more };
}

// A delivery whose header has the body's HMAC; what is expected is made of its identity.
export const signed = (header, secret, sign = (body) => hmac('sha256', secret, body)) => (name, content, ...events) => {
	const body = json(content);
	return { name, body, headers: { [header]: sign(body) }, verdict: 'good', events: events.map((one) => one(digest(body))) };
};
export const expects = (effect, type, more, identity) => (otherwise) => event(effect, type, identity ?? otherwise, more);
export const forged = ({ events, ...delivery }, headers) => ({ ...delivery, name: 'forged', headers, verdict: 'forged' });

/** The secret itself is in a header: whatever such a delivery says, the API is asked. */
export function tokens(header, secret, deliveries) {
	return {
		site: { secrets: [secret] },
		deliveries: [
			...deliveries.map(([title, content, effect, type, reference, id = ID]) => {
				const body = json(content);
				return { name: title, body, headers: { [header]: secret }, verdict: 'good', events: [event(effect, type, digest(body), { reference, id })] };
			}),
			{ name: 'another-token', body: json(deliveries[0][1]), headers: { [header]: `${secret}x` }, verdict: 'forged' },
			{ name: 'no-token', body: json(deliveries[0][1]), headers: {}, verdict: 'unsigned' },
		],
	};
}

export const ed25519 = createPrivateKey({
	format: 'jwk',
	// RFC 8032 section 7.1, test 1.
	key: {
		kty: 'OKP', crv: 'Ed25519',
		d: Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex').toString('base64url'),
		x: Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex').toString('base64url'),
	},
});
export const ED25519_PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';

// What the senders of the end-to-end tests share (tests/support/deliveries.mjs).

/** What was paid, unless a test says otherwise; null: the event does not say it. */
export const PAID = { amount: 1000, currency: 'EUR' };

export const decimal = (amount) => ((amount ?? 0) / 100).toFixed(2);

/** The body's HMAC in this header. */
export const inHeader = (header, { algorithm = 'sha256', encoding = 'hex', prefix = '' } = {}) =>
	(body, { secret }) => ({ [header]: prefix + hmac(algorithm, secret, body, encoding) });

/** Signs as Standard Webhooks says, with a Webhook of one of its packages. */
export function signStandard(webhook, prefix, body, timestamp) {
	const id = `msg_${randomUUID()}`;
	return {
		[`${prefix}-id`]: id,
		[`${prefix}-timestamp`]: String(timestamp),
		[`${prefix}-signature`]: webhook.sign(id, new Date(timestamp * 1000), body),
	};
}
