// mcp-lite's ClientRequestAdapter on PostgreSQL: a request to a client is
// answered on whatever instance its response comes in, once.
//
// The interface is synchronous, so what is written is written behind its
// back: a question and an answer may reach the database in either order, and
// whichever is second meets the first.

import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';

import { decrypt, encrypt } from '../aead.js';
import { UrlModeClosedError } from '../errors.js';
import { jittered } from '../jitter.js';
import { partsOf } from '../parts.js';
import { Poll } from '../poll.js';

const CHANNEL = 'urlmode_client';
const TIMEOUT_MS = 300_000;
const RETRY_MS = 500;
const ATTEMPTS = 6;
const INFO = 'urlmode client response v1';
/** Bytes that a response may have, sealed: the column's limit. */
const RESPONSE_MAX = 262_144;

const EXPECT = 'SELECT * FROM urlmode.client_request_expect($1::bytea[], $2::bigint[])';
const ANSWER = 'SELECT urlmode.client_request_answer($1, $2) AS kept';
const TAKE = 'SELECT * FROM urlmode.client_request_take($1::bytea[])';
const DROP = 'SELECT urlmode.client_request_drop($1::bytea[])';

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
	#parts;
	#defaultTimeout;
	/** @type {Map<string, Entry>} by key, in hexadecimal */
	#pending = new Map();
	#poll = new Poll(() => void this.#take([...this.#pending.values()]));
	/** @type {Set<Promise<unknown>>} */
	#underWay = new Set();
	/** @type {AsyncLocalStorage<Promise<boolean>[]>} */
	#answers = new AsyncLocalStorage();
	/** @type {Promise<void>} */
	#listening;
	#closed = false;

	/**
	 * @param {import('../urlmode.js').UrlMode} urlmode whose connections it uses
	 * @param {{ defaultTimeoutMs?: number }} [options] how long a request waits that says nothing of it, 300 000 by default
	 */
	constructor(urlmode, { defaultTimeoutMs = TIMEOUT_MS } = {}) {
		this.#parts = partsOf(urlmode);
		this.#defaultTimeout = defaultTimeoutMs;
		const { listener, closers } = this.#parts;
		closers.add(() => this.close());
		// Otherwise the connection is lost, and the next one listens to it as well.
		this.#listening = listener.add(CHANNEL).catch(() => {});
		listener.on('notification', (payload, channel) => {
			const entry = channel === CHANNEL ? this.#pending.get(payload) : undefined;
			if (entry) void this.#take([entry]);
		});
		// What came while nobody listened, and questions that were not written.
		listener.on('listening', () => void this.#expect([...this.#pending.values()]));
		listener.on('hearing', () => this.#poll.stop());
	}

	/**
	 * @param {string | undefined} sessionId
	 * @param {string | number} requestId
	 * @param {{ timeout_ms?: number }} [options] milliseconds
	 * @returns {{ promise: Promise<unknown> }} of the whole JSON-RPC response
	 */
	createPending(sessionId, requestId, { timeout_ms: timeout = this.#defaultTimeout } = {}) {
		const key = keyOf(sessionId, requestId);
		const name = key.toString('hex');
		this.#settle(name)?.reject(new Error('the request was replaced by a new one of the same id'));
		if (this.#closed) return { promise: Promise.reject(new UrlModeClosedError()) };

		/** @type {Promise<unknown>} */
		const promise = new Promise((resolve, reject) => {
			const timer = setTimeout(() => {
				this.#drop(this.#settle(name));
				reject(new Error(`the client did not answer request ${requestId} within ${timeout} ms`));
			}, timeout);
			const entry = { key, resolve, reject, timer, deadline: performance.now() + timeout };
			this.#pending.set(name, entry);
			const { listener } = this.#parts;
			listener.want(true, this);
			if (!listener.hears) this.#poll.start();
			void this.#expect([entry]);
			void this.#listening.then(() => this.#take([entry]));
		});
		return { promise };
	}

	/**
	 * @param {string | undefined} sessionId
	 * @param {string | number} requestId
	 * @param {unknown} response
	 * @returns {boolean} whether this instance was the one that waited; otherwise the response goes to the one that does
	 */
	resolvePending(sessionId, requestId, response) {
		const key = keyOf(sessionId, requestId);
		const entry = this.#settle(key.toString('hex'));
		if (entry) {
			this.#drop(entry);
			entry.resolve(response);
			return true;
		}
		const answer = this.#answer(key, response);
		this.#answers.getStore()?.push(answer);
		this.#track(answer);
		return false;
	}

	/**
	 * @param {string | undefined} sessionId
	 * @param {string | number} requestId
	 * @param {unknown} reason
	 * @returns {boolean} whether this instance was the one that waited
	 */
	rejectPending(sessionId, requestId, reason) {
		const entry = this.#settle(keyOf(sessionId, requestId).toString('hex'));
		if (!entry) return false;
		this.#drop(entry);
		entry.reject(reason);
		return true;
	}

	/**
	 * A handler that answers a client's response when it is durable, and 503
	 * when it could not be kept: the transport itself takes note of neither.
	 *
	 * @template O
	 * @param {(request: Request, options?: O) => Promise<Response>} handler the transport's, bound to a server
	 * @returns {(request: Request, options?: O) => Promise<Response>}
	 */
	wrap(handler) {
		return async (request, options) => {
			/** @type {Promise<boolean>[]} */
			const answers = [];
			const response = await this.#answers.run(answers, () => handler(request, options));
			const kept = await Promise.all(answers);
			if (kept.every(Boolean)) return response;
			return new Response(null, { status: 503, headers: { 'Retry-After': '1' } });
		};
	}

	/** Rejects what waits, and lets what is being written end. The UrlMode's `close` does so, too. */
	async close() {
		this.#closed = true;
		this.#poll.stop();
		for (const name of [...this.#pending.keys()]) {
			const entry = this.#settle(name);
			this.#drop(entry);
			entry?.reject(new UrlModeClosedError());
		}
		await Promise.allSettled(this.#underWay);
	}

	/**
	 * @param {string} name
	 * @returns {Entry | undefined} it is settled now, by whoever called this
	 */
	#settle(name) {
		const entry = this.#pending.get(name);
		if (!entry) return undefined;
		clearTimeout(entry.timer);
		this.#pending.delete(name);
		if (this.#pending.size === 0) {
			this.#poll.stop();
			this.#parts.listener.want(false, this);
		}
		return entry;
	}

	/**
	 * Writes the questions, again where need be: whatever went wrong, the next
	 * connection that listens does it once more.
	 *
	 * @param {Entry[]} entries
	 */
	async #expect(entries) {
		if (entries.length === 0) return;
		const rests = entries.map(({ deadline }) => Math.max(1, Math.ceil(deadline - performance.now())));
		await this.#settleAll(EXPECT, [entries.map(({ key }) => key), rests]);
		// What was settled while this was under way may have been written after it was dropped.
		for (const entry of entries) {
			if (this.#pending.get(entry.key.toString('hex')) !== entry) this.#drop(entry);
		}
	}

	/** @param {Entry[]} entries */
	async #take(entries) {
		if (entries.length > 0) await this.#settleAll(TAKE, [entries.map(({ key }) => key)]);
	}

	/**
	 * @param {string} query that answers keys and responses
	 * @param {unknown[]} values
	 */
	async #settleAll(query, values) {
		try {
			for (const row of await this.#track(this.#parts.database.query(query, values))) {
				const { key, response } = /** @type {{ key: Buffer, response: Buffer }} */ (row);
				const entry = this.#settle(key.toString('hex'));
				if (!entry) continue;
				try {
					entry.resolve(this.#open(key, response));
				} catch (error) {
					entry.reject(error);
				}
			}
		} catch {
			// Polled, or read when there is a connection that listens.
			if (this.#pending.size > 0) this.#poll.start();
		}
	}

	/**
	 * @param {Buffer} key
	 * @param {unknown} response
	 * @returns {Promise<boolean>} whether it is kept, or had no use
	 */
	async #answer(key, response) {
		const sealed = this.#seal(key, JSON.stringify(response));
		if (sealed.length > RESPONSE_MAX) return false;
		for (let attempt = 1; ; attempt += 1) {
			try {
				await this.#parts.database.query(ANSWER, [key, sealed]);
				return true;
			} catch {
				if (attempt === ATTEMPTS || this.#closed) return false;
				await new Promise((resolve) => setTimeout(resolve, jittered(RETRY_MS)));
			}
		}
	}

	/** @param {Entry | undefined} entry */
	#drop(entry) {
		if (entry) this.#track(this.#parts.database.query(DROP, [[entry.key]]).catch(() => []));
	}

	/**
	 * @template T
	 * @param {Promise<T>} promise
	 */
	#track(promise) {
		this.#underWay.add(promise);
		const forget = () => this.#underWay.delete(promise);
		promise.then(forget, forget);
		return promise;
	}

	/**
	 * @param {Buffer} key
	 * @param {string} json
	 */
	#seal(key, json) {
		const { minting } = this.#parts.keys;
		return encrypt({
			kid: minting.kid, key: minting.derive(key, INFO), nonce: randomBytes(12), context: key, plaintext: json,
		});
	}

	/**
	 * @param {Buffer} key
	 * @param {Buffer} sealed
	 * @returns {unknown}
	 */
	#open(key, sealed) {
		const opened = decrypt(sealed, (kid) => this.#parts.keys.find(kid)?.derive(key, INFO), key);
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
function keyOf(sessionId = '', requestId) {
	return createHash('sha256').update(`${sessionId}\0${requestId}`).digest();
}
