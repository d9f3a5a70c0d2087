// What is sealed in a row, as JSON: the result, which the callback programs
// or `complete` put there, and the verifier, which `create` does. Only the
// waiting side opens them.
//
//   bytes  01 || kid || nonce(12) || ciphertext || tag(16)
//   key    HKDF-SHA256(secret of kid, salt = id, info = USE || binding)
//   AAD    01 || kid || id

import { randomBytes } from 'node:crypto';

import { decrypt, encrypt, OVERHEAD } from './aead.js';
import { ElicitationSealError } from './errors.js';
import { idBytes } from './token.js';

export const RESULT = 'urlmode result v1';
export const VERIFIER = 'urlmode verifier v1';

/** Bytes that a result may have as JSON text: the column's limit without what sealing adds. */
export const RESULT_MAX = 65_536 - OVERHEAD;

/**
 * @typedef {object} Place where a value is sealed: it opens nowhere else
 * @property {string} id the elicitation's UUID
 * @property {Uint8Array} binding 16 bytes
 * @property {typeof RESULT | typeof VERIFIER} use
 */

/**
 * @param {Place} place
 * @param {import('./keys.js').Key} key
 */
function sealKey({ id, binding, use }, key) {
	return key.derive(idBytes(id), Buffer.concat([Buffer.from(use), binding]));
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {Place} place
 * @param {string} json
 * @param {Uint8Array} [nonce] 12 bytes
 * @returns {Buffer}
 */
export function seal(keys, place, json, nonce = randomBytes(12)) {
	const key = keys.minting;
	return encrypt({
		kid: key.kid,
		key: sealKey(place, key),
		nonce,
		context: idBytes(place.id),
		plaintext: json,
	});
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {Place} place
 * @param {Uint8Array} sealed
 * @returns {Record<string, unknown>} the JSON object
 * @throws {ElicitationSealError}
 */
export function unseal(keys, place, sealed) {
	const opened = decrypt(sealed, (kid) => {
		const key = keys.find(kid);
		return key && sealKey(place, key);
	}, idBytes(place.id));
	if (opened === 'unknown key') {
		throw new ElicitationSealError(place.id, `the keys file has no key ${sealed[1]}`);
	}
	if (typeof opened === 'string') {
		throw new ElicitationSealError(place.id, `it is ${opened}`);
	}
	const value = parse(opened.toString());
	if (typeof value !== 'object' || value === null || Array.isArray(value)) {
		throw new ElicitationSealError(place.id, 'it is not a JSON object');
	}
	return /** @type {Record<string, unknown>} */ (value);
}

/**
 * JSON.parse quotes what it cannot read in its message: that stays here.
 *
 * @param {string} json
 * @returns {unknown}
 */
function parse(json) {
	try {
		return JSON.parse(json);
	} catch {
		return undefined;
	}
}
