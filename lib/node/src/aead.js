// AES-256-GCM in the one layout that tokens and sealed results share:
//
//   01 || kid || nonce(12) || ciphertext || tag(16)    AAD = 01 || kid || context

import { createCipheriv, createDecipheriv } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const VERSION = 1;
const NONCE = 12;
const TAG = 16;
const HEADER = 2 + NONCE;

/** What sealing adds, in bytes. */
export const OVERHEAD = HEADER + TAG;

/**
 * @param {object} message
 * @param {number} message.kid
 * @param {Uint8Array} message.key 32 bytes
 * @param {Uint8Array} message.nonce 12 bytes
 * @param {Uint8Array} message.context
 * @param {Uint8Array | string} message.plaintext
 */
export function encrypt({ kid, key, nonce, context, plaintext }) {
	const prefix = Buffer.of(VERSION, kid);
	const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG });
	cipher.setAAD(Buffer.concat([prefix, context]));
	const body = [cipher.update(/** @type {string} */ (plaintext), 'utf8'), cipher.final()];
	return Buffer.concat([prefix, nonce, ...body, cipher.getAuthTag()]);
}

/**
 * @param {Uint8Array} bytes
 * @param {(kid: number) => Uint8Array | undefined} keyOf
 * @param {Uint8Array} context
 * @returns {Buffer | 'malformed' | 'unknown key' | 'not genuine'} the plaintext, or why there is none
 */
export function decrypt(bytes, keyOf, context) {
	if (bytes.length < OVERHEAD || bytes[0] !== VERSION) return 'malformed';
	const key = keyOf(/** @type {number} */ (bytes[1]));
	if (key === undefined) return 'unknown key';
	const decipher = createDecipheriv(CIPHER, key, bytes.subarray(2, HEADER), { authTagLength: TAG });
	decipher.setAAD(Buffer.concat([bytes.subarray(0, 2), context]));
	decipher.setAuthTag(bytes.subarray(bytes.length - TAG));
	try {
		return Buffer.concat([decipher.update(bytes.subarray(HEADER, bytes.length - TAG)), decipher.final()]);
	} catch {
		return 'not genuine';
	}
}
