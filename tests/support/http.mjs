// Sends one HTTP request exactly as given, for requests that browsers do not
// send. browser.mjs is the browser.

import http from 'node:http';
import https from 'node:https';

import { HtmlDocument } from './html.mjs';

/**
 * @param {string | URL} url whose path and query are sent unchanged
 * @param {{ method?: string, headers?: Record<string, string | string[]>,
 *     body?: string | Buffer, agent?: http.Agent, localAddress?: string,
 *     ca?: string, timeout?: number }} [options] localAddress: of the client, on
 *     loopback; timeout: milliseconds
 * @returns {Promise<Answer>}
 */
export function request(url, { method = 'GET', headers = {}, body, timeout = 30_000, ...options } = {}) {
	const { protocol, hostname, port } = new URL(url);
	const path = String(url).replace(/^[a-z]+:\/\/[^/]*/, '') || '/';
	const { request: send } = protocol === 'https:' ? https : http;

	return new Promise((resolve, reject) => {
		const outgoing = send({
			hostname, port, path, method,
			headers: body === undefined || headers['Transfer-Encoding'] ? headers : { 'Content-Length': Buffer.byteLength(body), ...headers },
			signal: AbortSignal.timeout(timeout),
			...options,
		});
		outgoing.on('error', (error) => {
			if (!options.agent && isSentAgain(outgoing, error)) resolve(request(url, { method, headers, body, timeout, ...options }));
			else reject(error);
		});
		outgoing.on('response', (incoming) => {
			const chunks = [];
			incoming.on('data', (chunk) => chunks.push(chunk));
			incoming.on('error', reject);
			incoming.on('end', () => resolve(new Answer(incoming, Buffer.concat(chunks).toString('utf8'))));
		});
		outgoing.end(body);
	});
}

/**
 * Whether a browser sends a request again, unless it has closed the connection itself: a server that was reloaded has done so.
 *
 * @param {http.ClientRequest} request that failed
 * @param {Error & { code?: string }} error
 */
export function isSentAgain({ reusedSocket, method }, { code }) {
	return reusedSocket && code === 'ECONNRESET' && method === 'GET';
}

/** The options of a POST with a form. */
export function post(url, fields, { headers, ...options } = {}) {
	return request(url, {
		method: 'POST',
		body: new URLSearchParams(fields).toString(),
		headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
		...options,
	});
}

export class Answer {
	#document;

	constructor({ statusCode, headers }, body) {
		this.status = statusCode;
		this.headers = headers;
		this.body = body;
	}

	get location() {
		return this.headers.location;
	}

	get document() {
		this.#document ??= new HtmlDocument(this.body);
		return this.#document;
	}

	/** The reason code of an error page, or its title if it has none. */
	get reason() {
		return this.document.find('code')[0]?.text ?? this.document.title;
	}
}
