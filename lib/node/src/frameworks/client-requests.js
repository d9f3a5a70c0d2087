// mcp-lite's ClientRequestAdapter on PostgreSQL: any instance can receive the
// client's response to a request, and the instance that waits gets it once.
//
// The interface is synchronous, so rows are written in the background. A request
// and its response may reach the database in either order; the second one to
// arrive finds the first.

import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';

import { decrypt, encrypt } from '../core/envelope.js';
import { CLIENT_RESPONSE_MAX } from '../core/contract-limits.js';
import { CLIENT_RESPONSE_INFO } from '../core/contract-seals.js';
import { isDatabaseError, UrlModeClosedError } from '../core/errors.js';
import { jittered } from '../core/jitter.js';
import { internalsOf } from '../core/internals.js';
import { Poll } from '../core/poll.js';

const CHANNEL = 'urlmode_client';
const TIMEOUT_MS = 300_000;
const RETRY_MS = 500;
const ATTEMPTS = 6;

const EXPECT = 'SELECT * FROM urlmode_frameworks.client_request_expect($1::bytea[], $2::bigint[])';
const ANSWER = 'SELECT urlmode_frameworks.client_request_answer($1, $2, $3) AS outcome';
const TAKE = 'SELECT * FROM urlmode_frameworks.client_request_take($1::bytea[])';
const DROP = 'SELECT urlmode_frameworks.client_request_drop($1::bytea[])';

/**
 * @typedef {object} Entry
 * @property {Buffer} key
 * @property {(response: unknown) => void} resolve
 * @property {(reason: unknown) => void} reject
 * @property {NodeJS.Timeout} timer
 * @property {number} deadline by performance.now()
 */

/** @implements {ClientRequestAdapterLike} */
export class PostgresClientRequestAdapter {
	#internals;
	#defaultTimeout;
	/** @type {Map<string, Entry>} by key, in hexadecimal */
	#pending = new Map();
	#poll = new Poll(() => void this.#readResponses([...this.#pending.values()]));
	/** @type {Set<Promise<unknown>>} */
	#statements = new Set();
	/** @type {AsyncLocalStorage<Promise<boolean>[]>} */
	#responseWrites = new AsyncLocalStorage();
	/** @type {Promise<void>} */
	#listening;
	#closed = false;
	#detach;
	#close = () => this.close();

	/**
	 * @param {import('../core/urlmode.js').UrlMode} urlmode whose connections it uses
	 * @param {{ defaultTimeoutMs?: number }} [options] the timeout of requests that state none, 300 000 by
	 *     default
	 */
	constructor(urlmode, { defaultTimeoutMs = TIMEOUT_MS } = {}) {
		this.#internals = internalsOf(urlmode);
		this.#defaultTimeout = defaultTimeoutMs;
		const { listener, closers } = this.#internals;
		closers.add(this.#close);
		// If the connection is lost, the next one listens to this channel as well.
		this.#listening = listener.addChannel(CHANNEL).catch(() => {});
		this.#detach = listener.attach({
			notification: (payload, channel) => {
				const entry = channel === CHANNEL ? this.#pending.get(payload) : undefined;
				if (entry) void this.#readResponses([entry]);
			},
			// Writes requests that could not be written, and reads responses that came while nobody listened.
			listening: () => void this.#writeRequests([...this.#pending.values()]),
			receiving: () => this.#poll.stop(),
		});
	}

	/**
	 * @param {string | undefined} sessionId
	 * @param {string | number} requestId
	 * @param {{ timeout_ms?: number }} [options] milliseconds
	 * @returns {{ promise: Promise<unknown> }} resolves to the whole JSON-RPC response
	 */
	createPending(sessionId, requestId, { timeout_ms: timeout = this.#defaultTimeout } = {}) {
		const key = hashRequest(sessionId, requestId);
		const name = key.toString('hex');
		this.#settle(name)?.reject(new Error('a new request with the same id has replaced this request'));
		if (this.#closed) return { promise: Promise.reject(new UrlModeClosedError()) };

		/** @type {Promise<unknown>} */
		const promise = new Promise((resolve, reject) => {
			const timer = setTimeout(() => {
				this.#deleteRequest(this.#settle(name));
				reject(new Error(`the client did not answer request ${requestId} within ${timeout} ms`));
			}, timeout);
			const entry = { key, resolve, reject, timer, deadline: performance.now() + timeout };
			this.#pending.set(name, entry);
			const { listener } = this.#internals;
			listener.acquire(this);
			if (!listener.receivesNotifications) this.#poll.start();
			void this.#writeRequests([entry]);
			void this.#listening.then(() => this.#readResponses([entry]));
		});
		return { promise };
	}

	/**
	 * @param {string | undefined} sessionId
	 * @param {string | number} requestId
	 * @param {unknown} response
	 * @returns {boolean} whether this instance was waiting for the response. Otherwise the response is passed to the
	 *     instance that is
	 */
	resolvePending(sessionId, requestId, response) {
		const key = hashRequest(sessionId, requestId);
		const entry = this.#settle(key.toString('hex'));
		if (entry) {
			this.#deleteRequest(entry);
			entry.resolve(response);
			return true;
		}
		const write = this.#writeResponse(key, response, hashSession(sessionId));
		this.#responseWrites.getStore()?.push(write);
		this.#track(write);
		return false;
	}

	/**
	 * @param {string | undefined} sessionId
	 * @param {string | number} requestId
	 * @param {unknown} reason
	 * @returns {boolean} whether this instance was waiting for the response
	 */
	rejectPending(sessionId, requestId, reason) {
		const entry = this.#settle(hashRequest(sessionId, requestId).toString('hex'));
		if (!entry) return false;
		this.#deleteRequest(entry);
		entry.reject(reason);
		return true;
	}

	/**
	 * Wraps the transport's handler so that it acknowledges a client's response
	 * only after it was stored, and returns 503 if it could not be. The transport
	 * itself does not wait for either.
	 *
	 * @template O
	 * @param {(request: Request, options?: O) => Promise<Response>} handler the transport's handler, bound to a server
	 * @returns {(request: Request, options?: O) => Promise<Response>}
	 */
	wrap(handler) {
		return async (request, options) => {
			/** @type {Promise<boolean>[]} */
			const writes = [];
			const response = await this.#responseWrites.run(writes, () => handler(request, options));
			const stored = await Promise.all(writes);
			if (stored.every(Boolean)) return response;
			return new Response(null, { status: 503, headers: { 'Retry-After': '1' } });
		};
	}

	/** Rejects open requests and waits for statements in progress. Closing the UrlMode calls this as well. */
	async close() {
		this.#closed = true;
		this.#poll.stop();
		this.#detach();
		for (const name of [...this.#pending.keys()]) {
			const entry = this.#settle(name);
			this.#deleteRequest(entry);
			entry?.reject(new UrlModeClosedError());
		}
		await Promise.allSettled(this.#statements);
		this.#internals.closers.delete(this.#close);
	}

	/**
	 * @param {string} name
	 * @returns {Entry | undefined} the caller must resolve or reject it
	 */
	#settle(name) {
		const entry = this.#pending.get(name);
		if (!entry) return undefined;
		clearTimeout(entry.timer);
		this.#pending.delete(name);
		if (this.#pending.size === 0) {
			this.#poll.stop();
			this.#internals.listener.release(this);
		}
		return entry;
	}

	/**
	 * Writes requests. May be called again for the same ones: every new listening
	 * connection writes all of them.
	 *
	 * @param {Entry[]} entries
	 */
	async #writeRequests(entries) {
		if (entries.length === 0) return;
		const timeouts = entries.map(({ deadline }) => Math.max(1, Math.ceil(deadline - performance.now())));
		await this.#resolveRows(EXPECT, [entries.map(({ key }) => key), timeouts]);
		// A request that was settled meanwhile may have been written after it was deleted. One that was replaced
		// shares its row with the other.
		for (const entry of entries) {
			if (!this.#pending.has(entry.key.toString('hex'))) this.#deleteRequest(entry);
		}
	}

	/** @param {Entry[]} entries */
	async #readResponses(entries) {
		if (entries.length > 0) await this.#resolveRows(TAKE, [entries.map(({ key }) => key)]);
	}

	/**
	 * @param {string} query returns keys and responses
	 * @param {unknown[]} values
	 */
	async #resolveRows(query, values) {
		try {
			for (const row of await this.#track(this.#internals.database.query(query, values))) {
				const { key, response } = /** @type {{ key: Buffer, response: Buffer }} */ (row);
				const entry = this.#settle(key.toString('hex'));
				if (!entry) continue;
				try {
					entry.resolve(this.#open(key, response));
				} catch (error) {
					entry.reject(error);
				}
			}
		} catch (error) {
			// The schema of frameworks was never asked for.
			if (isDatabaseError(error) && error.code === '3F000') {
				for (const key of [...this.#pending.keys()]) this.#settle(key)?.reject(error);
				return;
			}
			// Responses are polled, and read when a connection listens again.
			if (this.#pending.size > 0) this.#poll.start();
		}
	}

	/**
	 * @param {Buffer} key
	 * @param {unknown} response
	 * @param {Buffer | null} session
	 * @returns {Promise<boolean>} false if it could not be stored
	 */
	async #writeResponse(key, response, session) {
		const sealed = this.#seal(key, JSON.stringify(response));
		if (sealed.length > CLIENT_RESPONSE_MAX) return false;
		for (let attempt = 1; ; attempt += 1) {
			try {
				const [answer] = await this.#internals.database.query(ANSWER, [key, sealed, session]);
				return answer?.outcome !== 'full';
			} catch {
				if (attempt === ATTEMPTS || this.#closed) return false;
				await new Promise((resolve) => setTimeout(resolve, jittered(RETRY_MS)));
			}
		}
	}

	/** @param {Entry | undefined} entry */
	#deleteRequest(entry) {
		if (entry) this.#track(this.#internals.database.query(DROP, [[entry.key]]).catch(() => []));
	}

	/**
	 * @template T
	 * @param {Promise<T>} promise
	 */
	#track(promise) {
		this.#statements.add(promise);
		const untrack = () => this.#statements.delete(promise);
		promise.then(untrack, untrack);
		return promise;
	}

	/**
	 * @param {Buffer} key
	 * @param {string} json
	 */
	#seal(key, json) {
		const { minting } = this.#internals.keys;
		return encrypt({
			kid: minting.kid, key: minting.derive(key, CLIENT_RESPONSE_INFO), context: key, plaintext: json,
		});
	}

	/**
	 * @param {Buffer} key
	 * @param {Buffer} sealed
	 * @returns {unknown}
	 */
	#open(key, sealed) {
		const opened = decrypt(sealed, (kid) => this.#internals.keys.find(kid)?.derive(key, CLIENT_RESPONSE_INFO), key);
		if (typeof opened === 'string') throw new Error(`the client's response cannot be opened: it is ${opened}`);
		return JSON.parse(opened.toString());
	}
}

/**
 * @typedef {object} ClientRequestAdapterLike mcp-lite's ClientRequestAdapter
 * @property {(sessionId: string | undefined, requestId: string | number, options?: { timeout_ms?: number }) =>
 *     { promise: Promise<unknown> }} createPending
 * @property {(sessionId: string | undefined, requestId: string | number, response: unknown) => boolean} resolvePending
 * @property {(sessionId: string | undefined, requestId: string | number, reason: unknown) => boolean} rejectPending
 */

/**
 * @param {string | undefined} sessionId
 * @param {string | number} requestId
 */
function hashRequest(sessionId = '', requestId) {
	return createHash('sha256').update(`${sessionId}\0${requestId}`).digest();
}

/**
 * For the limit of answers that come before their requests.
 *
 * @param {string | undefined} sessionId
 */
function hashSession(sessionId) {
	return sessionId === undefined ? null : createHash('sha256').update(sessionId).digest();
}
