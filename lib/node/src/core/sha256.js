// SHA-256 and HMAC-SHA256 (RFC 2104) of short texts. createHash() and createHmac() make an object of
// OpenSSL each time, which V8 has to finalize: with three of them, a `create` took half as much time again.

import { hash } from 'node:crypto';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const MESSAGE_MAX = 1_024;

/** Key and message with the pads of RFC 2104, written anew by each call. */
const inner = Buffer.alloc(BLOCK_BYTES + MESSAGE_MAX);
const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);

/**
 * @param {string | Uint8Array} data
 * @param {number} [length] how many bytes of the digest, from its beginning
 * @returns {Buffer}
 */
export function sha256(data, length = DIGEST_BYTES) {
	// By way of a text: as a Buffer, hash() would allocate memory for each, which takes longer than the digest.
	return Buffer.from(hash('sha256', data, 'binary').slice(0, length), 'binary');
}

/**
 * @param {Uint8Array} key at most 64 bytes
 * @param {...(Uint8Array | string)} parts of the message, together at most 1,024 bytes
 * @returns {Buffer} 32 bytes
 * @throws {RangeError} if key or message is longer
 */
export function hmacSha256(key, ...parts) {
	if (key.length > BLOCK_BYTES) throw new RangeError(`the key must have at most ${BLOCK_BYTES} bytes`);
	inner.fill(0x36, 0, BLOCK_BYTES);
	outer.fill(0x5c, 0, BLOCK_BYTES);
	key.forEach((byte, n) => {
		inner[n] = byte ^ 0x36;
		outer[n] = byte ^ 0x5c;
	});
	let end = BLOCK_BYTES;
	for (const part of parts) {
		const bytes = typeof part === 'string' ? Buffer.from(part) : part;
		inner.set(bytes, end);
		end += bytes.length;
	}
	outer.set(sha256(inner.subarray(0, end)), BLOCK_BYTES);
	return sha256(outer);
}
