// A provider at which users have accounts: its refresh tokens are good once, and a second use ends all that the user has
// granted. Some of its answers are lost, before or after it has replaced the token.

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Of so many refreshes, one is lost before the provider does anything, and one after it has replaced the token. */
const LOSSES = 12;
/** How long it takes for an answer, in milliseconds. */
const WORK = 40;

/** @typedef {{ subject: string, current: string, hasEnded: boolean, lost: number }} Grant */

export class Provider {
	/** What must not be: tokens that were sent by two at once, or more than twice. */
	wrong = [];
	/** How many refreshes it has answered, also if the answer was lost. */
	refreshes = 0;
	#server = createServer((request, response) => void this.#handle(request, response).catch(() => response.destroy()));
	/** @type {Map<string, Grant>} by refresh token */
	#grants = new Map();
	/** @type {Map<string, string>} whose access tokens they are */
	#access = new Map();
	#sent = new Map();
	#inFlight = new Set();
	#number = 0;

	async open() {
		// A connection that ends while it is idle may end as a request comes: that would be a loss of which nobody here knows.
		this.#server.keepAliveTimeout = 0;
		await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
		this.issuer = `http://127.0.0.1:${this.#server.address().port}`;
	}

	close() {
		this.#server.closeAllConnections();
		this.#server.close();
	}

	/** What the user's consent has given. */
	grant(subject) {
		return this.#issue({ subject, current: '', hasEnded: false, lost: 0 });
	}

	/** Whether an access token is the user's. */
	isOf(subject, token) {
		return this.#access.get(token) === subject;
	}

	/** Whether an answer about the user's account was lost. */
	hasLost(subject) {
		return [...this.#grants.values()].some((grant) => grant.subject === subject && grant.lost > 0);
	}

	#issue(grant) {
		const n = this.#number += 1;
		grant.current = `refresh-${n}`;
		this.#grants.set(grant.current, grant);
		this.#access.set(`access-${n}`, grant.subject);
		return { access_token: `access-${n}`, token_type: 'bearer', expires_in: 0, refresh_token: grant.current, scope: 'read' };
	}

	async #handle(request, response) {
		const answer = (status, content) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
		if (request.method === 'GET') {
			const { issuer } = this;
			return answer(200, { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks` });
		}
		let body = '';
		for await (const chunk of request) body += chunk;
		const token = new URLSearchParams(body).get('refresh_token');
		if (this.#inFlight.has(token)) this.wrong.push(`${token} was sent by two at once`);
		this.#sent.set(token, (this.#sent.get(token) ?? 0) + 1);
		if (this.#sent.get(token) > 2) this.wrong.push(`${token} was sent ${this.#sent.get(token)} times`);
		this.#inFlight.add(token);
		await sleep(WORK);
		this.#inFlight.delete(token);
		return this.#refresh(this.#grants.get(token), token, response, answer);
	}

	#refresh(grant, token, response, answer) {
		const turn = (this.refreshes += 1) % LOSSES;
		if (turn === 0) {
			grant.lost += 1;
			return response.destroy();
		}
		if (grant.current !== token) grant.hasEnded = true;
		if (grant.hasEnded) return answer(400, { error: 'invalid_grant' });
		const tokens = this.#issue(grant);
		if (turn !== LOSSES / 2) return answer(200, tokens);
		grant.lost += 1;
		return response.destroy();
	}
}
