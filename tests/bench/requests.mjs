// Elicitations and the requests for them, minted in bulk. A request file is
// what load.c reads: `STATUS CLASS LENGTH\n` and the request, one after
// another.

import { randomBytes, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

import { VERIFIER_INFO } from '../../lib/node/src/core/contract-seals.js';
import { seal } from '../../lib/node/src/core/seal.js';
import { bindingOf, browserOf, mintState } from '../../lib/node/src/core/token.js';

const DAY = 86_400;
const STATE_LENGTH = 115;

/** What the browsers of a few years send. */
const HEADERS = [
	'Host: 127.0.0.1',
	'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
	'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
	'Accept-Language: en-US,en;q=0.5',
	'Accept-Encoding: gzip, deflate',
].join('\r\n');

/**
 * Elicitations, each of another user, with their sealed code verifiers.
 *
 * @param {object} keys
 * @param {number} count
 */
export function mintElicitations(keys, count) {
	return Array.from({ length: count }, (_, i) => {
		const id = randomUUID();
		const subject = `user-${i}`;
		const binding = bindingOf(subject, '');
		const json = JSON.stringify({ code_verifier: randomBytes(32).toString('base64url') });
		return { id, subject, binding, verifier: seal(keys, { id, binding, use: VERIFIER_INFO }, json) };
	});
}

/**
 * The way back from the provider, by the browser that went there.
 *
 * @param {{ keys: object, issuer: string }} deployment
 * @param {{ id: string, binding: Buffer }} elicitation
 * @param {{ expires?: number, bend?: (state: string) => string }} [change]
 */
export function returnRequest({ keys, issuer }, elicitation, { expires, bend = (state) => state } = {}) {
	const cookie = randomBytes(16).toString('base64url');
	const state = mintState(keys, 'return', 'demo', {
		...elicitation, expires: expires ?? Math.floor(Date.now() / 1000) + DAY, browser: browserOf(cookie),
	});
	const query = new URLSearchParams({
		code: randomBytes(24).toString('base64url'), state: bend(state), iss: issuer,
	});
	return `GET /oauth/demo/return?${query} HTTP/1.1\r\n${HEADERS}\r\nCookie: __Host-urlmode=${cookie}\r\n\r\n`;
}

/** What names the row for `ceiling`, as long as a state: id and binding in hexadecimal. */
export function openState({ id, binding }) {
	return `${id.replaceAll('-', '')}${binding.toString('hex')}`.padEnd(STATE_LENGTH, '0');
}

/** One character of the ciphertext is another. */
export function forge(state) {
	return state.slice(0, 60) + (state[60] === 'A' ? 'B' : 'A') + state.slice(61);
}

/**
 * @param {string} file
 * @param {Iterable<{ request: string, status: number, kind?: number }>} requests
 */
export async function writeRequests(file, requests) {
	await pipeline(function* () {
		let chunk = '';
		for (const { request, status, kind = 0 } of requests) {
			chunk += `${status} ${kind} ${Buffer.byteLength(request)}\n${request}`;
			if (chunk.length > 1 << 20) {
				yield chunk;
				chunk = '';
			}
		}
		yield chunk;
	}, createWriteStream(file));
}
