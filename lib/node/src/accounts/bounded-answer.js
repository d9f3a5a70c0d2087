// Reads the answer of a provider up to a limit: nobody knows how much it sends.

import { ACCOUNT_ANSWER_MAX } from '../core/contract-limits.js';
import { noteAnswer } from './request.js';

/** Statuses with which a Response has no body. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * @param {Response} response
 * @returns {Promise<Response>} the same, read to its end
 * @throws {TypeError} whose code is `ANSWER_TOO_LARGE`
 */
export async function readWhole(response) {
	const { status, headers, body } = response;
	const chunks = [];
	let size = 0;
	for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (/** @type {unknown} */ (body ?? []))) {
		size += chunk.length;
		if (size > ACCOUNT_ANSWER_MAX) {
			noteAnswer(response, undefined);
			throw Object.assign(new TypeError('the answer is too large'), { code: 'ANSWER_TOO_LARGE' });
		}
		chunks.push(chunk);
	}
	return new Response(WITHOUT_BODY.has(status) ? null : Buffer.concat(chunks), { status, headers });
}
