// The MCP servers of the lab: processes in several languages, and one over HTTP, that wait for the same elicitations. They try again when
// the database is unavailable, as a tool's client would.

import { setTimeout as sleep } from 'node:timers/promises';

import { Remote } from '../waiting/remote.mjs';
import { Driver } from '../waiting/side.mjs';

/** Longer than any clock of the lab is off. */
const TTL = 6 * 3_600_000;
const TIMEOUT = 3_600_000;

export class Server {
	#driver;
	#remote;
	#claiming = 0;

	/**
	 * @param {'node' | 'python' | 'go' | 'http'} language
	 * @param {Record<string, string>} env where the database and the keys are, and the api
	 */
	constructor(language, env) {
		this.language = language;
		this.hasVault = language !== 'http';
		this.#driver = new Driver(language, { name: `chaos-${language}`, env: { LD_PRELOAD: '', ...env } });
		this.#remote = new Remote(this.#driver);
	}

	create(options) {
		return this.#remote.create({ ...options, ttl: TTL, ...!options.form && { targetUrl: 'http://localhost:9/' } });
	}

	/** `key` is the only one that is right. */
	wait(id, owner, key) {
		return this.#remote.waitForCompletion(id, {
			...owner, timeout: TIMEOUT, ...key && { verify: { field: 'key', value: key, problem: 'Not this one.' } },
		});
	}

	/** @returns {Promise<{ claimed: boolean, failures: number }>} */
	async claim(id, owner) {
		this.#claiming += 1;
		try {
			for (let failures = 0; ; failures += 1) {
				try {
					return { claimed: await this.#remote.claim(id, owner), failures };
				} catch {
					await sleep(200);
				}
			}
		} finally {
			this.#claiming -= 1;
		}
	}

	/** @param {{ keys: string, issuer: string }} options */
	openVault(options) {
		return this.#ask('open_vault', options);
	}

	store(subject, tokens) {
		return this.#ask('store', { subject, account: 'acme', tokens });
	}

	/** @returns {Promise<string>} an access token */
	async accessToken(subject) {
		const answer = await this.#ask('access_token', { subject });
		return answer.access_token;
	}

	async #ask(verb, options) {
		const { answer, error } = await this.#driver.begin(verb, options).end;
		if (error) throw Object.assign(new Error(error.message ?? error.code), { code: error.code });
		return answer;
	}

	/** How many questions have no answer. */
	get open() {
		return this.#driver.open + this.#claiming;
	}

	close() {
		return this.#driver.kill();
	}
}
