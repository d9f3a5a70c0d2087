// A provider of which the test says what its description has and what it answers.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { AccountProvider } from '../../src/accounts/provider.js';
import { scratchFolder } from './keys.js';

const RETURN_URL = 'https://callback.example/oauth/account/return';
export const OUTCOME = { elicitationId: 'id', returnUrl: RETURN_URL, codeVerifier: 'v'.repeat(43) };
export const SECRET = 'secret-of-the-client';

/**
 * A provider whose requests are kept, and its description.
 *
 * @param {import('node:test').TestContext} t
 * @param {object | ((origin: string) => object)} oauth members over those of a plain one
 * @param {object | ((path: string) => object | string | number)} [answer] members over those of tokens; or the whole answer: an object, a text or a status
 */
export async function startProvider(t, oauth, answer = {}) {
	const requests = [];
	const server = createServer(async (request, response) => {
		let body = '';
		for await (const chunk of request) body += chunk;
		requests.push({ path: request.url, headers: request.headers, body });
		const content = typeof answer === 'function' ? answer(request.url) : { access_token: 'access', token_type: 'bearer', ...answer };
		response.writeHead(typeof content === 'number' ? content : 200, { 'content-type': 'application/json' });
		response.end(typeof content === 'string' ? content : JSON.stringify(content));
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => server.close());
	const origin = `http://127.0.0.1:${server.address().port}`;
	const file = join(scratchFolder(t), 'own.json');
	writeFileSync(file, JSON.stringify({ oauth: {
		authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`, revocation_endpoint: `${origin}/revoke`,
		pkce: 'S256', token_endpoint_auth_method: 'client_secret_post', ...typeof oauth === 'function' ? oauth(origin) : oauth,
	} }));
	const open = (options) => AccountProvider.open({ provider: 'own', description: file, client: { id: 'client', secret: SECRET }, ...options });
	return { origin, requests, open, formOf: (n = 0) => Object.fromEntries(new URLSearchParams(requests[n].body)) };
}
