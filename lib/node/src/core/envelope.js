// AES-256-GCM in the layout that state tokens, tickets and sealed results share:
//
//   version || kid || nonce(12) || ciphertext || tag(16)    AAD = version || kid || context

import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto';
import { NONCE_BYTES, TAG_BYTES } from './contract-seals.js';
import { HEADER_BYTES, OVERHEAD } from './sizes.js';

export { OVERHEAD };

const CIPHER = 'aes-256-gcm';

/** Random bytes for the next nonces. A call for them costs far more than the bytes. */
const nonces = Buffer.alloc(512 * NONCE_BYTES);
let noncesUsed = nonces.length;

function randomNonce() {
	if (noncesUsed === nonces.length) {
		randomFillSync(nonces);
		noncesUsed = 0;
	}
	noncesUsed += NONCE_BYTES;
	return nonces.subarray(noncesUsed - NONCE_BYTES, noncesUsed);
}

/**
 * @param {object} message
 * @param {number} [message.version]
 * @param {number} message.kid
 * @param {Uint8Array} message.key 32 bytes
 * @param {Uint8Array | undefined} [message.nonce] 12 bytes, never twice with one key. Random by default
 * @param {Uint8Array} message.context
 * @param {Uint8Array | string} message.plaintext
 */
export function encrypt({ version = 1, kid, key, nonce = randomNonce(), context, plaintext }) {
	const prefix = Buffer.of(version, kid);
	const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
	cipher.setAAD(Buffer.concat([prefix, context]));
	const body = [cipher.update(/** @type {string} */ (plaintext), 'utf8'), cipher.final()];
	return Buffer.concat([prefix, nonce, ...body, cipher.getAuthTag()]);
}

/**
 * What is given to others as base64url: some bytes, an expiry, and more bytes, encrypted with the key that mints.
 *
 * @param {Pick<import('./keys.js').KeyRing, 'minting'>} keys
 * @param {import('./contract-seals.js').Use} use of the key, which has no salt
 * @param {Uint8Array} context
 * @param {{ before?: Uint8Array, expires: number, after: Uint8Array[] }} plaintext `expires`: Unix seconds, in eight bytes, big-endian
 * @param {Uint8Array} [nonce] random by default
 */
export function mint({ minting: key }, use, context, { before = Buffer.of(), expires, after }, nonce) {
	const seconds = Buffer.alloc(8);
	seconds.writeBigUInt64BE(BigInt(expires));
	const plaintext = Buffer.concat([before, seconds, ...after]);
	return encrypt({ kid: key.kid, key: key.shared(use), nonce, context, plaintext }).toString('base64url');
}

/**
 * @param {Uint8Array} bytes
 * @param {(kid: number) => Uint8Array | undefined} findKey
 * @param {Uint8Array} context
 * @param {number} [version]
 * @returns {Buffer | 'malformed' | 'unknown key' | 'not genuine'} the plaintext, or the reason why it cannot be decrypted
 */
export function decrypt(bytes, findKey, context, version = 1) {
	if (bytes.length < OVERHEAD || bytes[0] !== version) return 'malformed';
	const key = findKey(/** @type {number} */ (bytes[1]));
	if (key === undefined) return 'unknown key';
	const decipher = createDecipheriv(CIPHER, key, bytes.subarray(2, HEADER_BYTES), { authTagLength: TAG_BYTES });
	decipher.setAAD(Buffer.concat([bytes.subarray(0, 2), context]));
	decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
	try {
		return Buffer.concat([decipher.update(bytes.subarray(HEADER_BYTES, bytes.length - TAG_BYTES)), decipher.final()]);
	} catch {
		return 'not genuine';
	}
}
