// A program `api` that answers as a test says, for urlmode/http.

import { createServer } from 'node:http';

import { UrlMode } from '../../src/http/index.js';

export const KEY = `umk_${'A'.repeat(43)}`;
export const owner = { subject: 'ada' };
export const shown = (id, more = {}) => ({
	id, provider: 'demo', kind: 'oauth', status: 'pending', action: null, reason: '', result: null, code_verifier: null, nonce: null,
	reference: null, amount: null, currency: null, late: false, failed_attempts: 0, expires_at: new Date(), seen: 'a', ...more,
});
export const completed = (id, more = {}) => shown(id, { status: 'completed', action: 'accept', result: { code: 'c' }, seen: 'b', ...more });

/**
 * An api that answers as it is told.
 *
 * @param {(method: string, body: any, call: { aborted: Promise<void>, number: number }) => any} answer a body, [status, body, headers], or 'break'
 * @param {object} [options] of the UrlMode
 */
export async function play(t, answer, options = {}) {
	const calls = [];
	const server = createServer(async (request, response) => {
		const chunks = [];
		for await (const chunk of request) chunks.push(chunk);
		const [method, body] = [request.url.slice('/v1/'.length), JSON.parse(Buffer.concat(chunks))];
		const aborted = new Promise((resolve) => response.once('close', resolve));
		calls.push({ method, body, authorization: request.headers.authorization });
		const said = await answer(method, body, { aborted, number: calls.length });
		if (said === 'break') return request.socket.destroy();
		const [status, value, headers = {}] = Array.isArray(said) ? said : [200, said];
		response.writeHead(status, headers).end(typeof value === 'string' ? value : JSON.stringify(value));
	}).listen(0, '127.0.0.1');
	await new Promise((resolve) => server.once('listening', resolve));
	const urlmode = new UrlMode({ url: `http://127.0.0.1:${server.address().port}/`, key: KEY, ...options });
	t.after(async () => {
		await urlmode.close();
		server.closeAllConnections();
		server.close();
	});
	return { urlmode, calls };
}
