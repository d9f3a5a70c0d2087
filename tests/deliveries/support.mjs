// SPDX-License-Identifier: MIT
// What the files that make deliveries share.
import { createHash, createHmac, createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const TOP = new URL('../../', import.meta.url);
/** Where the deliveries are written. */
export const FOLDER = new URL('build/deliveries/', TOP);

/** The key of paypal.pem and of the documents that Amazon SNS signs. */
export const rsa = createPrivateKey(readFileSync(new URL('tests/unit/keys/rsa-1.pem', TOP)));
export const ID = '7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2';
export const OTHER = '00000000-0000-4000-8000-000000000001';
export const NOW = 1700000000;

export const hmac = (algorithm, key, text, encoding) =>
	createHmac(algorithm, key).update(text).digest(encoding);
export const sha256 = (text) => createHash('sha256').update(text).digest('hex');
export const json = (value) => JSON.stringify(value);

export function write(name, content) {
	writeFileSync(new URL(`${name}.json`, FOLDER), `${JSON.stringify({ now: NOW * 1000, ...content }, null, '\t')}\n`);
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
