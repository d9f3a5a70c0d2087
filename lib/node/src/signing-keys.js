// Fetches the public keys of providers that give them one at a time, for a key
// id and for credentials (Plaid). A callback program that has no key for the id
// of a token asks for it in the database; an instance that has a function for
// the provider fetches it into a row, which only the role of the MCP server can
// write.

import { orAborted } from './abort.js';
import { UrlModeClosedError } from './errors.js';
import { jittered } from './jitter.js';

const CHANNEL = 'urlmode_keys';

/** How long no other instance fetches the same key, and how long a function may take. */
const LEASE_MS = 15_000;
const FETCH_MS = 10_000;

/** How often is looked for keys that nobody has announced, or whose provider did not answer. */
const CHECK_MS = 30_000;

/** The largest key in bytes, which is the limit of the column. */
const KEY_MAX = 8_192;

/**
 * @typedef {import('./types.js').SigningKeyFunction} SigningKeyFunction
 * @typedef {Pick<import('./database.js').Database, 'takeSigningKey' | 'keepSigningKey'>} KeyStore
 */

export class SigningKeys {
	#database;
	#listener;
	#functions;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	#detach = () => {};
	/** @type {Promise<void> | undefined} */
	#fetching;
	#again = false;
	#closed = false;
	/** @type {AbortController | undefined} of the function that runs */
	#running;

	/**
	 * @param {KeyStore} database
	 * @param {import('./listener.js').Listener} listener
	 * @param {Record<string, SigningKeyFunction>} functions by provider
	 */
	constructor(database, listener, functions) {
		this.#database = database;
		this.#listener = listener;
		this.#functions = functions;
	}

	/** Fetches the keys that the programs ask for, until `close`. Does not keep the process running. */
	start() {
		if (Object.keys(this.#functions).length === 0) return;
		this.#timer = setInterval(this.#look, jittered(CHECK_MS)).unref();
		this.#detach = this.#listener.attach({
			listening: this.#look,
			notification: (_payload, channel) => {
				if (channel === CHANNEL) this.#look();
			},
		});
		this.#listener.addChannel(CHANNEL).catch(() => {});
		this.#listener.acquire(this, false);
	}

	/** @returns {Promise<void>} resolves when nothing is fetched any more */
	async close() {
		clearInterval(this.#timer);
		this.#closed = true;
		this.#running?.abort(new UrlModeClosedError());
		this.#detach();
		this.#listener.release(this);
		await this.#fetching;
	}

	/** One at a time, however often it is announced: anyone in the database can notify. */
	#look = () => {
		this.#again = true;
		this.#fetching ??= this.#fetchAll().finally(() => {
			this.#fetching = undefined;
			if (this.#again && !this.#closed) this.#look();
		});
	};

	async #fetchAll() {
		this.#again = false;
		try {
			while (!this.#closed) {
				const wanted = await this.#database.takeSigningKey(Object.keys(this.#functions), LEASE_MS);
				if (!wanted) return;
				await this.#fetch(wanted.provider, wanted.kid);
			}
		} catch {
			// When PostgreSQL is available again, the next look finds it.
		}
	}

	/**
	 * Stores the answer of the function. If it throws, it is called again when the
	 * lease has ended.
	 *
	 * @param {string} provider
	 * @param {string} kid
	 * @throws an error of PostgreSQL
	 */
	async #fetch(provider, kid) {
		const running = new AbortController();
		const { signal } = running;
		const timer = setTimeout(() => running.abort(new Error(`it took more than ${FETCH_MS / 1_000} s`)), FETCH_MS).unref();
		let checked;
		this.#running = running;
		try {
			const fetched = await orAborted(Promise.resolve(this.#functions[provider]?.(kid, { signal })), signal);
			checked = checkKey(fetched, kid);
		} catch (error) {
			if (!this.#closed) warn(`a key of the provider ${provider} was not fetched: ${/** @type {Error} */ (error).message}`);
			return;
		} finally {
			clearTimeout(timer);
			this.#running = undefined;
		}
		await this.#database.keepSigningKey(provider, kid, checked.key, checked.expiresAt);
	}
}

/**
 * @param {import('./types.js').SigningKey | undefined | null} fetched
 * @param {string} kid
 * @returns {{ key: string | null, expiresAt: Date | null }}
 * @throws {TypeError}
 */
function checkKey(fetched, kid) {
	if (fetched === undefined || fetched === null) return { key: null, expiresAt: null };
	const { key, expiresAt } = fetched;
	if (typeof key !== 'object' || key === null || typeof key.kty !== 'string') throw new TypeError('it is not a JSON Web Key');
	if (key.kty === 'oct' || 'd' in key) throw new TypeError('it is a private or a symmetric key');
	if (key.kid !== undefined && key.kid !== kid) throw new TypeError('it has another id than was asked for');
	if (expiresAt !== undefined && expiresAt !== null && !(expiresAt instanceof Date && Number.isFinite(expiresAt.getTime()))) {
		throw new TypeError('its `expiresAt` is not a date');
	}
	const text = JSON.stringify({ ...key, kid });
	if (Buffer.byteLength(text) > KEY_MAX) throw new TypeError(`it has more than ${KEY_MAX} bytes`);
	return { key: text, expiresAt: expiresAt ?? null };
}

/** @param {string} message */
function warn(message) {
	process.emitWarning(message, { type: 'UrlModeWarning', code: 'URLMODE_SIGNING_KEY' });
}
