// Sends an HTTP request as bytes, which no client library would send.

import { connect } from 'node:net';

import { HtmlDocument } from '../support/html.mjs';

/**
 * @param {string} base http://127.0.0.1:PORT
 * @param {string} target what stands in the request line, Latin-1
 * @param {{ method?: string, headers?: string[], body?: string }} [options]
 *     headers: whole lines; one that begins with Host: replaces ours
 * @returns {Promise<{ status: number | undefined, headers: [string, string][], body: string,
 *     get: (name: string) => string | undefined, reason: string | undefined, text: string }>}
 *     status: undefined where the connection was closed unanswered
 */
export function send(base, target, { method = 'GET', headers = [], body = '' } = {}) {
	const { hostname, port, host } = new URL(base);
	const lines = [
		`${method} ${target} HTTP/1.1`,
		...headers.some((line) => /^host:/i.test(line)) ? [] : [`Host: ${host}`],
		'Connection: close',
		...body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`],
		...headers,
	];

	return new Promise((resolve, reject) => {
		const socket = connect(Number(port), hostname);
		const chunks = [];
		socket.setTimeout(30_000, () => socket.destroy(new Error('no answer')));
		socket.on('data', (chunk) => chunks.push(chunk));
		// Refused while it still sends.
		socket.on('error', (error) => (error.code === 'ECONNRESET' || error.code === 'EPIPE' ? undefined : reject(error)));
		socket.on('close', () => resolve(parse(Buffer.concat(chunks).toString('latin1'))));
		socket.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1'));
	});
}

function parse(text) {
	const [head, ...rest] = text.split('\r\n\r\n');
	const [first, ...lines] = head.split('\r\n');
	const headers = lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]);
	const body = rest.join('\r\n\r\n');
	return {
		text,
		headers,
		body,
		status: text === '' ? undefined : Number(first.split(' ')[1]),
		get: (name) => headers.find(([known]) => known === name)?.[1],
		get reason() {
			return new HtmlDocument(body).find('code')[0]?.text;
		},
	};
}
