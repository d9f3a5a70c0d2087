// Stands in for oauth2-proxy, which is neither in Debian 12 nor on npm: the
// two answers that nginx's auth_request needs of it, and a page to sign in on.
//
//   GET  /oauth2/auth     202 with X-Auth-Request-User, or 401
//   *    /oauth2/sign_in  a form; where it leads is X-Auth-Request-Redirect

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

const COOKIE = '_oauth2_proxy';

/** @returns {Promise<{ port: number, asked: object[], close: () => Promise<void> }>} asked: headers of each /oauth2/auth */
export async function startAuthDouble() {
	const key = randomBytes(32);
	const asked = [];
	const sign = (name) => `${Buffer.from(name).toString('base64url')}.${createHmac('sha256', key).update(name).digest('base64url')}`;

	function userOf({ headers: { cookie = '' } }) {
		const value = new RegExp(`(?:^|; )${COOKIE}=([^;]*)`).exec(cookie)?.[1] ?? '';
		const name = Buffer.from(value.split('.')[0], 'base64url').toString();
		const expected = Buffer.from(sign(name));
		return value.length === expected.length && timingSafeEqual(Buffer.from(value), expected) ? name : undefined;
	}

	async function signIn(request, response) {
		let body = '';
		for await (const chunk of request) {
			body += chunk;
		}
		const form = new URLSearchParams(body);
		if (form.has('name')) {
			// Only back to where it came from.
			const back = form.get('back').startsWith('/') && !/^\/[/\\]/.test(form.get('back')) ? form.get('back') : '/';
			response.writeHead(302, {
				'Location': back,
				'Set-Cookie': `${COOKIE}=${sign(form.get('name'))}; Path=/; Secure; HttpOnly; SameSite=Lax`,
			}).end();
			return;
		}
		const back = (request.headers['x-auth-request-redirect'] ?? '/').replaceAll('&', '&amp;').replaceAll('"', '&quot;');
		response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(`<!doctype html>
			<title>Sign in here</title><form method="post" action="/oauth2/sign_in">
			<input name="name"><input type="hidden" name="back" value="${back}">
			<button name="go" value="sign-in">Sign in</button></form>`);
	}

	const server = createServer((request, response) => {
		if (request.url !== '/oauth2/auth') {
			void signIn(request, response);
			return;
		}
		const user = userOf(request);
		asked.push({ method: request.method, ...request.headers });
		response.writeHead(user === undefined ? 401 : 202, user === undefined ? {} : { 'X-Auth-Request-User': user }).end();
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');

	return {
		asked,
		port: server.address().port,
		async close() {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		},
	};
}
