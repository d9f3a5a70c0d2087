// A provider's token endpoint that the test commands: it rotates refresh tokens, and
// each is good once. A token is named after its place in the family.

import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { scratchFolder } from './keys.js';

export class TokenEndpoint {
	/** The refresh tokens that have arrived. */
	asked = [];
	/** The codes that have arrived. */
	codes = [];
	/** Members over those of an answer to a code. */
	granted = {};
	/** Whose account it is. */
	account = 'acme';
	scope = 'read write';
	/** Members over those of an answer to a refresh token. */
	refreshed = {};
	revoked = [];
	/** What it does with a revocation: before it answers. */
	beforeRevoking = undefined;
	refusesToRevoke = false;
	/** The tokens that are good: a revocation ends one token, and no other. */
	alive = new Set();
	/** What it does with a request for tokens: undefined answers it. */
	instead = undefined;
	expiresIn = 3_600;
	rotates = true;
	#next = 1;
	#server;

	static async start(t) {
		const endpoint = new TokenEndpoint();
		endpoint.#server = createServer((request, response) => void endpoint.#handle(request, response));
		await new Promise((resolve) => endpoint.#server.listen(0, '127.0.0.1', resolve));
		t.after(() => {
			endpoint.#server.closeAllConnections();
			endpoint.#server.close();
		});
		const origin = `http://127.0.0.1:${endpoint.#server.address().port}`;
		endpoint.file = join(scratchFolder(t), 'provider.json');
		writeFileSync(endpoint.file, JSON.stringify({
			name: 'provider', documentation: 'of the tests', oauth: {
				authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`, revocation_endpoint: `${origin}/revoke`,
				pkce: 'S256', token_endpoint_auth_method: 'client_secret_post', account: { from: 'token_response', id: '/account' },
			},
		}));
		endpoint.options = { description: endpoint.file, client: { id: 'a', secret: 'secret-of-the-client' } };
		endpoint.issuer = origin;
		return endpoint;
	}

	/** What the user's consent has given. */
	grant(expiresIn = this.expiresIn) {
		const n = this.#next++;
		this.alive.add(`refresh-${n}`).add(`access-${n}`);
		return { access_token: `access-${n}`, token_type: 'bearer', expires_in: expiresIn, refresh_token: `refresh-${n}`, scope: this.scope };
	}

	/** For packages that take no description of a file. */
	get #metadata() {
		const { issuer } = this;
		return { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, revocation_endpoint: `${issuer}/revoke`, jwks_uri: `${issuer}/jwks` };
	}

	async #handle(request, response) {
		if (request.method === 'GET') return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.#metadata));
		let body = '';
		for await (const chunk of request) body += chunk;
		const form = new URLSearchParams(body);
		if (request.url === '/revoke') {
			this.revoked.push(form.get('token'));
			await this.beforeRevoking?.(form.get('token'));
			if (this.refusesToRevoke) return void response.writeHead(503).end();
			this.alive.delete(form.get('token'));
			return void response.writeHead(200).end();
		}
		const token = form.get('refresh_token');
		(token === null ? this.codes : this.asked).push(token ?? form.get('code'));
		const answer = (status, content) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
		if (await this.instead?.(request, response, answer)) return;
		if (token === null) return void answer(200, { ...this.grant(), account: this.account, ...this.granted });
		if (!this.alive.has(token)) return void answer(400, { error: 'invalid_grant' });
		if (this.rotates) this.alive.delete(token);
		const { refresh_token: next, ...rest } = this.grant();
		if (!this.rotates) this.alive.delete(next);
		answer(200, { ...rest, ...this.rotates && { refresh_token: next }, ...this.refreshed });
	}
}
