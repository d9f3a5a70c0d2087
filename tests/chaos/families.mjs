// A provider of accounts that remembers which refresh tokens it has replaced. There are three kinds: `forgiving` takes a token
// again for a minute, `strict` ends all that the user has granted at a second use, and of `unknown` nothing is said: a token is good once.

import { createServer } from 'node:http';

/** For how long `forgiving` takes a token again, in milliseconds: its `reuse_within` has this in seconds. */
export const WINDOW = 60_000;

/** @typedef {'forgiving' | 'strict' | 'unknown'} Kind */

export class Families {
	/** What must not be: tokens of `strict` that were sent twice. */
	wrong = [];
	/** How many requests for tokens have arrived. */
	asked = 0;
	/** @type {Set<string>} issuers whose metadata nobody gets, until it is taken out */
	silent = new Set();
	/** @type {Map<string, () => void>} of users whose request has arrived, and waits for this */
	held = new Map();
	/** @type {Set<string>} users whose first request is held */
	holding = new Set();
	#server = createServer((request, response) => void this.#handle(request, response).catch(() => response.destroy()));
	/** @type {Map<string, { subject: string, kind: Kind, hasEnded: boolean }>} by any of its tokens */
	#families = new Map();
	/** @type {Map<string, number>} when refresh tokens were first used */
	#used = new Map();
	#number = 0;

	async open() {
		await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
		this.origin = `http://127.0.0.1:${this.#server.address().port}`;
	}

	close() {
		this.#server.closeAllConnections();
		this.#server.close();
	}

	/** What the user's consent has given. */
	grant(subject, kind) {
		return this.#issue({ subject, kind, hasEnded: false });
	}

	/** Whether an access token is the user's, and good. */
	isGood(subject, token) {
		const family = this.#families.get(token);
		return family?.subject === subject && !family.hasEnded;
	}

	/** How many of the user's refresh tokens were used. */
	uses(subject) {
		return [...this.#used.keys()].filter((token) => this.#families.get(token).subject === subject).length;
	}

	#issue(family) {
		const n = this.#number += 1;
		this.#families.set(`refresh-${n}`, family).set(`access-${n}`, family);
		return { access_token: `access-${n}`, token_type: 'bearer', expires_in: 3_600, refresh_token: `refresh-${n}`, scope: 'read' };
	}

	async #handle(request, response) {
		const answer = (status, content) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
		if (request.method === 'GET') {
			const issuer = `${this.origin}/${request.url.split('/')[1]}`;
			while (this.silent.has(issuer)) await new Promise((resolve) => setTimeout(resolve, 20));
			const { origin } = this;
			return answer(200, { issuer, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`, jwks_uri: `${origin}/jwks` });
		}
		let body = '';
		for await (const chunk of request) body += chunk;
		const token = new URLSearchParams(body).get('refresh_token');
		this.asked += 1;
		const family = this.#families.get(token);
		if (this.holding.delete(family.subject)) await new Promise((resolve) => this.held.set(family.subject, resolve));
		const first = this.#used.get(token);
		if (first === undefined) this.#used.set(token, performance.now());
		const isAgain = first !== undefined && !(family.kind === 'forgiving' && performance.now() - first < WINDOW);
		if (isAgain && family.kind === 'strict') this.wrong.push(`${token} was sent again after ${Math.round((performance.now() - first) / 1_000)} s`);
		if (isAgain && family.kind !== 'unknown') family.hasEnded = true;
		return family.hasEnded || isAgain ? answer(400, { error: 'invalid_grant' }) : answer(200, this.#issue(family));
	}
}
