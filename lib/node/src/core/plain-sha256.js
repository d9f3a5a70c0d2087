// SHA-256 (FIPS 180-4) of short texts without waiting, where there is no node:crypto: Web Crypto only answers later.

const BLOCK_BYTES = 64;

/** The first 32 bits of the fractional part of a root. @type {(number: number, degree: number) => number} */
const fraction = (number, degree) => ((number ** (1 / degree)) % 1) * 2 ** 32 | 0;

const PRIMES = Array.from({ length: 312 }, (_, n) => n).filter((n) => n > 1 && ![2, 3, 5, 7, 11, 13, 17].some((factor) => n > factor && n % factor === 0));
const START = PRIMES.slice(0, 8).map((prime) => fraction(prime, 2));
const ROUNDS = PRIMES.slice(0, 64).map((prime) => fraction(prime, 3));

/** @type {(word: number, bits: number) => number} */
const turned = (word, bits) => (word >>> bits) | (word << (32 - bits));

/**
 * @param {string} text
 * @returns {string} the digest in base64url
 */
export function sha256Base64url(text) {
	const state = Int32Array.from(START);
	const blocks = padded(new TextEncoder().encode(text));
	for (let at = 0; at < blocks.byteLength; at += BLOCK_BYTES) addBlock(state, blocks, at);
	const digest = new DataView(new ArrayBuffer(32));
	state.forEach((word, n) => digest.setInt32(4 * n, word));
	return toBase64url(new Uint8Array(digest.buffer));
}

/**
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function toBase64url(bytes) {
	return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * Ends with a bit that is set, and with the number of bits.
 *
 * @param {Uint8Array} bytes
 */
function padded(bytes) {
	const blocks = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / BLOCK_BYTES) * BLOCK_BYTES));
	new Uint8Array(blocks.buffer).set(bytes);
	blocks.setUint8(bytes.length, 0x80);
	blocks.setBigUint64(blocks.byteLength - 8, 8n * BigInt(bytes.length));
	return blocks;
}

/**
 * @param {Int32Array} state
 * @param {DataView} blocks
 * @param {number} at where the block begins
 */
function addBlock(state, blocks, at) {
	const words = new Int32Array(64);
	for (let n = 0; n < 64; n += 1) {
		if (n < 16) {
			words[n] = blocks.getInt32(at + 4 * n);
			continue;
		}
		const [early, late] = [Number(words[n - 15]), Number(words[n - 2])];
		words[n] = Number(words[n - 16]) + (turned(early, 7) ^ turned(early, 18) ^ (early >>> 3))
			+ Number(words[n - 7]) + (turned(late, 17) ^ turned(late, 19) ^ (late >>> 10));
	}
	let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
	for (let n = 0; n < 64; n += 1) {
		const one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + Number(ROUNDS[n]) + Number(words[n]) | 0;
		const other = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c)) | 0;
		[h, g, f, e, d, c, b, a] = [g, f, e, d + one | 0, c, b, a, one + other | 0];
	}
	[a, b, c, d, e, f, g, h].forEach((word, n) => {
		state[n] = Number(state[n]) + word;
	});
}
