// The state token, which is the parameter `state` (RFC 6749 section 10.12). It
// is sealed, and bound to one purpose, provider, user, session and browser.
//
//   bytes      01 || kid || nonce(12) || ciphertext(56) || tag(16)
//   plaintext  id(16) || expires(8, big-endian Unix seconds)
//              || binding(16) || browser(16)
//   key        HKDF-SHA256(secret of kid, no salt, "urlmode state v1")
//   AAD        01 || kid || purpose || 00 || provider
//   text       base64url without padding, always 115 characters

import { GRACE_MAX_MS } from './contract-limits.js';
import { BINDING_LABEL, BROWSER_LABEL, DIGEST_BYTES, STATE_INFO, TENANT_BINDING_LABEL } from './contract-seals.js';
import { decrypt, mint, OVERHEAD } from './envelope.js';
import { StateTokenError } from './errors.js';
import { sha256 } from './sha256.js';

const ID_BYTES = 16;
const PLAINTEXT_BYTES = ID_BYTES + 8 + DIGEST_BYTES + DIGEST_BYTES;
const UNBOUND = Buffer.alloc(DIGEST_BYTES);

/** The longest grace. The row decides what may happen then, not the token. */
export const GRACE_MAX_SECONDS = GRACE_MAX_MS / 1_000;

/**
 * @typedef {object} State
 * @property {string} id the elicitation's UUID, lower case
 * @property {number} expires Unix seconds
 * @property {Uint8Array} binding 16 bytes
 * @property {Uint8Array} [browser] 16 bytes. Zeros or undefined mean any browser
 *
 * @typedef {'connect' | 'return' | 'cancel' | 'webhook' | 'form' | 'retry'} Purpose `retry` is for the requestState of the
 *     adapters; the callback programs do not accept it
 */

/** @param {string} id a UUID */
export function idBytes(id) {
	return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** @param {Uint8Array} bytes 16 */
export function idText(bytes) {
	return Buffer.from(bytes).toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * Binds a row to its owner. Every function of the schema expects it beside
 * the id. 16 bytes.
 *
 * @param {string} subject
 * @param {string} session
 * @param {string} [tenant] empty: none
 */
export function bindingOf(subject, session, tenant = '') {
	const label = tenant === '' ? BINDING_LABEL : `${TENANT_BINDING_LABEL}\0${tenant}`;
	return sha256(`${label}\0${subject}\0${session}`, DIGEST_BYTES);
}

/**
 * Binds a token to a browser. 16 bytes.
 *
 * @param {string} cookie the value of the cookie
 */
export function browserOf(cookie) {
	return sha256(`${BROWSER_LABEL}\0${cookie}`, DIGEST_BYTES);
}

/**
 * @param {Purpose} purpose
 * @param {string} provider
 */
function context(purpose, provider) {
	return Buffer.from(`${purpose}\0${provider}`);
}

/**
 * @param {Pick<import('./keys.js').KeyRing, 'minting'>} keys
 * @param {Purpose} purpose
 * @param {string} provider
 * @param {State} state
 * @param {Uint8Array} [nonce] random by default
 * @returns {string}
 */
export function mintState(keys, purpose, provider, { id, expires, binding, browser = UNBOUND }, nonce) {
	return mint(keys, STATE_INFO, context(purpose, provider), { before: idBytes(id), expires, after: [binding, browser] }, nonce);
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {Purpose} purpose
 * @param {string} provider
 * @param {string} text
 * @param {number} [now] Unix seconds
 * @returns {Required<State>}
 * @throws {StateTokenError} if the text is not a token for this purpose and provider, or has expired
 */
export function openState(keys, purpose, provider, text, now = Date.now() / 1000) {
	const bytes = Buffer.from(text, 'base64url');
	if (bytes.length !== PLAINTEXT_BYTES + OVERHEAD || bytes.toString('base64url') !== text) {
		throw new StateTokenError('STATE_INVALID');
	}
	const opened = decrypt(bytes, (kid) => keys.find(kid)?.shared(STATE_INFO), context(purpose, provider));
	if (typeof opened === 'string') throw new StateTokenError('STATE_INVALID');
	const expires = Number(opened.readBigUInt64BE(ID_BYTES));
	if (expires <= now) throw new StateTokenError('STATE_EXPIRED');
	return {
		id: idText(opened.subarray(0, ID_BYTES)),
		expires,
		binding: opened.subarray(ID_BYTES + 8, ID_BYTES + 8 + DIGEST_BYTES),
		browser: opened.subarray(ID_BYTES + 8 + DIGEST_BYTES),
	};
}
