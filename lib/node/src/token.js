// The state token, which travels as `state` (RFC 6749 section 10.12): sealed,
// bound to one purpose, provider, user, session and browser.
//
//   bytes      01 || kid || nonce(12) || ciphertext(56) || tag(16)
//   plaintext  id(16) || expires(8, big-endian Unix seconds)
//              || binding(16) || browser(16)
//   key        HKDF-SHA256(secret of kid, no salt, "urlmode state v1")
//   AAD        01 || kid || purpose || 00 || provider
//   text       base64url without padding, always 115 characters

import { createHash, randomBytes } from 'node:crypto';

import { decrypt, encrypt, OVERHEAD } from './aead.js';
import { StateTokenError } from './errors.js';

const ID = 16;
const BINDING = 16;
const BROWSER = 16;
const PLAINTEXT = ID + 8 + BINDING + BROWSER;
const UNBOUND = Buffer.alloc(BROWSER);

/**
 * @typedef {object} State
 * @property {string} id the elicitation's UUID, lower case
 * @property {number} expires Unix seconds
 * @property {Uint8Array} binding 16 bytes
 * @property {Uint8Array} [browser] 16 bytes; zeros or none: any browser
 *
 * @typedef {'connect' | 'return' | 'cancel' | 'retry'} Purpose retry: what a call gives the next one, not the
 *     callback programs
 */

/** @param {string} id a UUID */
export function idBytes(id) {
	return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** @param {Uint8Array} bytes 16 */
function idText(bytes) {
	return Buffer.from(bytes).toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * What ties a row to its user: every function of the schema wants it beside
 * the id. 16 bytes.
 *
 * @param {string} subject
 * @param {string} session
 */
export function bindingOf(subject, session) {
	return createHash('sha256').update(`urlmode binding v1\0${subject}\0${session}`).digest().subarray(0, BINDING);
}

/**
 * What ties a token to a browser. 16 bytes.
 *
 * @param {string} cookie its value
 */
export function browserOf(cookie) {
	return createHash('sha256').update(`urlmode browser v1\0${cookie}`).digest().subarray(0, BROWSER);
}

/**
 * @param {Purpose} purpose
 * @param {string} provider
 */
function context(purpose, provider) {
	return Buffer.from(`${purpose}\0${provider}`);
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {Purpose} purpose
 * @param {string} provider
 * @param {State} state
 * @param {Uint8Array} [nonce] 12 bytes, never twice with one key
 * @returns {string}
 */
export function mintState(keys, purpose, provider, { id, expires, binding, browser = UNBOUND },
	nonce = randomBytes(12)) {
	const key = keys.minting;
	const seconds = Buffer.alloc(8);
	seconds.writeBigUInt64BE(BigInt(expires));
	return encrypt({
		kid: key.kid,
		key: key.stateKey,
		nonce,
		context: context(purpose, provider),
		plaintext: Buffer.concat([idBytes(id), seconds, binding, browser]),
	}).toString('base64url');
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {Purpose} purpose
 * @param {string} provider
 * @param {string} text
 * @param {number} [now] Unix seconds
 * @returns {Required<State>}
 * @throws {StateTokenError} for everything that is not exactly a token for this purpose and provider, or is at or past
 *     its expiry
 */
export function openState(keys, purpose, provider, text, now = Date.now() / 1000) {
	const bytes = Buffer.from(text, 'base64url');
	if (bytes.length !== PLAINTEXT + OVERHEAD || bytes.toString('base64url') !== text) {
		throw new StateTokenError('STATE_INVALID');
	}
	const opened = decrypt(bytes, (kid) => keys.find(kid)?.stateKey, context(purpose, provider));
	if (typeof opened === 'string') throw new StateTokenError('STATE_INVALID');
	const expires = Number(opened.readBigUInt64BE(ID));
	if (expires <= now) throw new StateTokenError('STATE_EXPIRED');
	return {
		id: idText(opened.subarray(0, ID)),
		expires,
		binding: opened.subarray(ID + 8, ID + 8 + BINDING),
		browser: opened.subarray(ID + 8 + BINDING),
	};
}
