// What an HTTP response sends from now on: whether the answer to a call in it is an
// error. Each framework turns what a tool throws, and a result that does not fit its
// output schema, into an error of its own. The bytes on their way to the client are
// where all of them are alike.

import { brotliDecompressSync, unzipSync } from 'node:zlib';

import { isErrorAnswer } from './error-answer.js';

/** @typedef {import('./error-answer.js').Message} Message */

export class SentAnswer {
	/** @type {Uint8Array[]} */
	#chunks = [];
	#response;

	/** @param {import('node:http').ServerResponse} response */
	constructor(response) {
		this.#response = response;
		for (const method of /** @type {('write' | 'end')[]} */ (['write', 'end'])) {
			const send = /** @type {(...parts: unknown[]) => never} */ (response[method]);
			response[method] = (/** @type {unknown[]} */ ...parts) => {
				this.#keep(parts[0], parts[1]);
				return send.apply(response, parts);
			};
		}
	}

	/**
	 * @param {unknown} chunk
	 * @param {unknown} encoding
	 */
	#keep(chunk, encoding) {
		if (typeof chunk === 'string') this.#chunks.push(Buffer.from(chunk, typeof encoding === 'string' ? /** @type {BufferEncoding} */ (encoding) : 'utf8'));
		else if (chunk instanceof Uint8Array) this.#chunks.push(chunk);
	}

	/** @param {unknown} [requestId] of the call, if the framework tells it */
	isError(requestId) {
		if (this.#response.statusCode >= 400) return true;
		const sent = unpacked(Buffer.concat(this.#chunks), this.#response.getHeader('content-encoding'));
		// A large result is not parsed.
		if (!sent.includes('"isError"') && !sent.includes('"error"')) return false;
		const messages = messagesIn(sent.toString());
		const own = messages.filter(({ id }) => requestId === undefined || id === requestId);
		// What is not about any call, as what a server says when it fails, stands for the answer that is not there.
		return (own.length > 0 ? own : messages).some(isErrorAnswer);
	}
}

/**
 * @param {Buffer} sent
 * @param {unknown} encoding of a middleware that compresses what the framework writes
 */
function unpacked(sent, encoding) {
	try {
		if (encoding === 'br') return brotliDecompressSync(sent);
		return encoding === 'gzip' || encoding === 'deflate' ? unzipSync(sent) : sent;
	} catch {
		return sent; // The middleware is further out: these are the bytes before it.
	}
}

/**
 * @param {string} text JSON, or server-sent events, whose data may have several lines
 * @returns {Message[]}
 */
function messagesIn(text) {
	const data = /^\s*[[{]/.test(text) ? [text] : text.split(/\r?\n\r?\n/).map((event) =>
		[...event.matchAll(/^data: ?(.*)$/gm)].map(([, line = '']) => line).join('\n'));
	return data.flatMap((each) => {
		try {
			return [JSON.parse(each)].flat().filter((message) => typeof message === 'object' && message !== null);
		} catch {
			return []; // Nothing of MCP.
		}
	});
}
