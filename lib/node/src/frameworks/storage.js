// FrontMCP's StorageAdapter on PostgreSQL instead of Redis: values that expire,
// and channels. Messages are kept for a while, so that a subscriber that has
// lost its connection reads the messages that it has missed, once.
//
// Values are not encrypted here. FrontMCP's `encryption` option encrypts them.

import { createHash } from 'node:crypto';

import { internalsOf } from '../core/internals.js';
import { Poll } from '../core/poll.js';
import { NamespacedStorage, namespacePrefix } from './namespaced-storage.js';
import { StorageConnectionError, StorageNotConnectedError, StorageOperationError, StorageTTLError } from './storage-errors.js';

const CHANNEL = 'urlmode_published';
const TTL_MAX_SECONDS = 3_153_600_000;

const GET = 'SELECT * FROM urlmode_frameworks.stored_get($1::text[])';
const SET = 'SELECT urlmode_frameworks.stored_set($1::text[], $2::text[], $3::bigint[], $4::text[])';
const DELETE = 'SELECT urlmode_frameworks.stored_delete($1::text[]) AS n';
const EXPIRE = 'SELECT urlmode_frameworks.stored_expire($1, $2) AS there';
const KEYS = 'SELECT urlmode_frameworks.stored_keys($1) AS key';
const ADD = 'SELECT urlmode_frameworks.stored_add($1, $2::bigint) AS sum';
const PUBLISH = 'SELECT urlmode_frameworks.publish($1, $2)';
const LAST = 'SELECT urlmode_frameworks.published_last() AS id';
const SINCE = 'SELECT * FROM urlmode_frameworks.published_since($1::text[], $2::bigint[])';

/**
 * @typedef {{ ttlSeconds?: number, ifNotExists?: boolean, ifExists?: boolean }} SetOptions
 * @typedef {{ key: string, value: string, options?: SetOptions | undefined }} SetEntry
 * @typedef {(message: string, channel: string) => void} MessageHandler
 *
 * @typedef {object} Subscription
 * @property {string} channel
 * @property {Set<MessageHandler>} handlers
 * @property {string} last the id of the last message that was delivered, or published before the subscription
 */

/** FrontMCP's StorageAdapter, and its RootStorage: `namespace` returns views of it. */
export class PostgresStorage {
	#internals;
	/** @type {Map<string, Subscription>} by the channel's SHA-256, in hexadecimal */
	#subscriptions = new Map();
	#poll = new Poll(() => this.#wake([...this.#subscriptions.values()]));
	/** @type {Set<Subscription>} whose messages are to be read now */
	#due = new Set();
	#reading = false;
	/** @type {(() => void) | undefined} while it is connected */
	#detach;
	#close = () => this.disconnect();

	/** The empty prefix of the root. */
	prefix = '';

	/** @param {import('../core/urlmode.js').UrlMode} urlmode whose connections it uses */
	constructor(urlmode) {
		this.#internals = internalsOf(urlmode);
	}

	/** @returns {PostgresStorage} */
	get root() {
		return this;
	}

	/** @throws {StorageConnectionError} if PostgreSQL is unavailable */
	async connect() {
		await this.#internals.database.query(LAST, [], true).catch((error) => {
			throw new StorageConnectionError(error);
		});
		if (this.#detach) return;
		const { listener, closers } = this.#internals;
		closers.add(this.#close);
		this.#detach = listener.attach({
			notification: (payload, channel) => {
				const subscription = channel === CHANNEL ? this.#subscriptions.get(payload) : undefined;
				if (subscription) this.#wake([subscription]);
			},
			listening: () => this.#wake([...this.#subscriptions.values()]),
			receiving: () => this.#poll.stop(),
		});
	}

	/** Ends all subscriptions. The connections belong to the UrlMode and stay open. */
	async disconnect() {
		this.#detach?.();
		this.#detach = undefined;
		this.#internals.closers.delete(this.#close);
		this.#subscriptions.clear();
		this.#releaseIfUnused();
	}

	/** @returns {Promise<boolean>} */
	async ping() {
		if (!this.#detach) return false;
		return this.#internals.database.query(LAST, [], true).then(() => true, () => false);
	}

	/**
	 * @param {string} key
	 * @returns {Promise<string | null>}
	 */
	async get(key) {
		const [value] = await this.mget([key]);
		return value ?? null;
	}

	/**
	 * @param {string} key
	 * @param {string} value
	 * @param {SetOptions} [options]
	 */
	async set(key, value, options) {
		await this.mset([{ key, value, options }]);
	}

	/**
	 * @param {string} key
	 * @returns {Promise<boolean>} whether it existed
	 */
	async delete(key) {
		return await this.mdelete([key]) > 0;
	}

	/**
	 * @param {string} key
	 * @returns {Promise<boolean>}
	 */
	async exists(key) {
		return await this.get(key) !== null;
	}

	/**
	 * @param {string[]} keys
	 * @returns {Promise<(string | null)[]>} in their order
	 */
	async mget(keys) {
		if (keys.length === 0) return [];
		const rows = await this.#query(GET, [keys], true);
		return rows.map(({ value }) => /** @type {string | null} */ (value));
	}

	/**
	 * Sets all of the entries or, if one fails, none.
	 *
	 * @param {SetEntry[]} entries
	 * @throws {StorageTTLError}
	 * @throws {StorageOperationError} if PostgreSQL refuses it
	 */
	async mset(entries) {
		if (entries.length === 0) return;
		const values = [
			entries.map(({ key }) => key),
			entries.map(({ value }) => value),
			entries.map(({ options }) => toMilliseconds(options?.ttlSeconds)),
			entries.map(({ options }) => toCondition(options)),
		];
		await this.#operate('set', entries.map(({ key }) => key).join(', '), SET, values);
	}

	/**
	 * @param {string[]} keys
	 * @returns {Promise<number>} how many existed
	 */
	async mdelete(keys) {
		if (keys.length === 0) return 0;
		const [answer] = await this.#query(DELETE, [keys]);
		return Number(answer?.n);
	}

	/**
	 * @param {string} key
	 * @param {number} ttlSeconds
	 * @returns {Promise<boolean>} whether it exists
	 */
	async expire(key, ttlSeconds) {
		const [answer] = await this.#query(EXPIRE, [key, toMilliseconds(ttlSeconds)]);
		return answer?.there === true;
	}

	/**
	 * @param {string} key
	 * @returns {Promise<number | null>} seconds; -1 if it does not expire; null if it does not exist
	 */
	async ttl(key) {
		const [row] = await this.#query(GET, [[key]], true);
		if (!row || row.value === null) return null;
		return row.ttl_ms === null ? -1 : Math.ceil(Number(row.ttl_ms) / 1_000);
	}

	/**
	 * @param {string} [pattern] `*` matches any characters, `?` matches one
	 * @returns {Promise<string[]>}
	 */
	async keys(pattern = '*') {
		const rows = await this.#query(KEYS, [toLikePattern(pattern)], true);
		return rows.map(({ key }) => String(key));
	}

	/**
	 * @param {string} [pattern]
	 * @returns {Promise<number>}
	 */
	async count(pattern) {
		return (await this.keys(pattern)).length;
	}

	/**
	 * @param {string} key
	 * @returns {Promise<number>} the sum
	 */
	async incr(key) {
		return this.incrBy(key, 1);
	}

	/**
	 * @param {string} key
	 * @returns {Promise<number>} the sum
	 */
	async decr(key) {
		return this.incrBy(key, -1);
	}

	/**
	 * @param {string} key
	 * @param {number} amount
	 * @returns {Promise<number>} the sum
	 * @throws {StorageOperationError} if the amount or the value is not a whole number
	 */
	async incrBy(key, amount) {
		if (!Number.isSafeInteger(amount)) throw new StorageOperationError('incrBy', key, 'the amount is not a whole number');
		const [answer] = await this.#operate('incrBy', key, ADD, [key, amount]);
		return Number(answer?.sum);
	}

	/**
	 * @param {string} channel
	 * @param {string} message
	 * @returns {Promise<number>} the number of subscribers on this instance; those on other instances are not counted
	 */
	async publish(channel, message) {
		await this.#query(PUBLISH, [channel, message]);
		return this.#subscriptions.get(hashChannel(channel))?.handlers.size ?? 0;
	}

	/**
	 * @param {string} channel
	 * @param {MessageHandler} handler called once for each message that is published after this
	 * @returns {Promise<() => Promise<void>>} ends the subscription
	 */
	async subscribe(channel, handler) {
		const { listener } = this.#internals;
		const hash = hashChannel(channel);
		let subscription = this.#subscriptions.get(hash);
		if (!subscription) {
			const [answer] = await this.#query(LAST, [], true);
			if (!this.#detach) throw new StorageNotConnectedError();
			// Another call may have subscribed to this channel meanwhile.
			subscription = this.#subscriptions.get(hash)
				?? { channel, handlers: new Set(), last: String(answer?.id) };
			this.#subscriptions.set(hash, subscription);
		}
		const { handlers } = subscription;
		handlers.add(handler);
		listener.acquire(this);
		if (!listener.receivesNotifications) this.#poll.start();
		// If the connection is lost, the next one listens to this channel as well.
		await listener.addChannel(CHANNEL).catch(() => {});
		this.#wake([subscription]);
		return async () => {
			handlers.delete(handler);
			if (handlers.size === 0 && this.#subscriptions.get(hash)?.handlers === handlers) this.#subscriptions.delete(hash);
			this.#releaseIfUnused();
		};
	}

	/** @returns {boolean} */
	supportsPubSub() {
		return true;
	}

	/**
	 * @param {string} name
	 * @param {string} [id]
	 * @returns {NamespacedStorage}
	 */
	namespace(name, id) {
		return new NamespacedStorage(this, namespacePrefix(name, id));
	}

	/** @param {Subscription[]} subscriptions */
	#wake(subscriptions) {
		for (const subscription of subscriptions) this.#due.add(subscription);
		void this.#read();
	}

	/**
	 * One read at a time, so that no message is delivered twice. What becomes due meanwhile belongs to the next one, and so does
	 * what could not be read.
	 */
	async #read() {
		if (this.#reading) return;
		this.#reading = true;
		while (this.#due.size > 0) {
			const current = [...this.#due].filter((subscription) => this.#isOpen(subscription));
			this.#due.clear();
			if (current.length === 0 || await this.#readAndDeliver(current)) continue;
			// Messages are polled, and read when a connection listens again.
			for (const subscription of current) this.#due.add(subscription);
			if (this.#subscriptions.size > 0 && !this.#poll.running) this.#poll.start();
			break;
		}
		this.#reading = false;
	}

	/**
	 * @param {Subscription[]} subscriptions
	 * @returns {Promise<boolean>} false if they could not be read
	 */
	async #readAndDeliver(subscriptions) {
		const { database, listener } = this.#internals;
		let rows;
		try {
			rows = await database.query(SINCE, [subscriptions.map(({ channel }) => channel), subscriptions.map(({ last }) => last)], true);
		} catch {
			return false;
		}
		for (const row of rows) {
			const { id, channel, message } = /** @type {{ id: string, channel: string, message: string }} */ (row);
			const subscription = this.#subscriptions.get(hashChannel(channel));
			if (!subscription) continue;
			subscription.last = id;
			for (const handler of [...subscription.handlers]) callHandler(handler, message, channel);
		}
		if (listener.receivesNotifications) this.#poll.stop();
		return true;
	}

	/** @param {Subscription} subscription */
	#isOpen(subscription) {
		return this.#subscriptions.get(hashChannel(subscription.channel)) === subscription;
	}

	/** Releases the connection if there are no subscriptions. */
	#releaseIfUnused() {
		if (this.#subscriptions.size > 0) return;
		this.#poll.stop();
		this.#internals.listener.release(this);
	}

	/**
	 * @param {string} operation
	 * @param {string} key
	 * @param {string} text
	 * @param {unknown[]} values
	 */
	async #operate(operation, key, text, values) {
		const answer = this.#query(text, values);
		return answer.catch((error) => {
			throw new StorageOperationError(operation, key, isNotANumber(error) ? 'the value is not a whole number' : error.message, error);
		});
	}

	/**
	 * @param {string} text
	 * @param {unknown[]} values
	 * @param {boolean} [reads] whether its function only reads
	 */
	#query(text, values, reads) {
		if (!this.#detach) throw new StorageNotConnectedError();
		return this.#internals.database.query(text, values, reads);
	}
}

/** @param {string} channel */
function hashChannel(channel) {
	return createHash('sha256').update(channel).digest('hex');
}

/**
 * @param {number | undefined} seconds
 * @returns {number | null} milliseconds; null if it does not expire
 */
function toMilliseconds(seconds) {
	if (seconds === undefined) return null;
	if (!Number.isInteger(seconds) || seconds <= 0 || seconds > TTL_MAX_SECONDS) throw new StorageTTLError(seconds);
	return seconds * 1_000;
}

/**
 * @param {SetOptions | undefined} options
 * @returns {'absent' | 'present' | null}
 */
function toCondition({ ifNotExists, ifExists } = {}) {
	if (ifNotExists && ifExists) throw new TypeError('ifNotExists and ifExists cannot be used together');
	if (ifNotExists) return 'absent';
	return ifExists ? 'present' : null;
}

/**
 * Whether PostgreSQL could not read a value as bigint (22P02), or the sum is out
 * of its range (22003).
 *
 * @param {{ code?: unknown }} error
 */
function isNotANumber({ code }) {
	return code === '22P02' || code === '22003';
}

/** @param {string} pattern */
function toLikePattern(pattern) {
	return pattern.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%').replaceAll('?', '_');
}

/**
 * Calls a handler in a microtask of its own, so that an error affects no other
 * handler.
 *
 * @param {MessageHandler} handler
 * @param {string} message
 * @param {string} channel
 */
function callHandler(handler, message, channel) {
	queueMicrotask(() => handler(message, channel));
}
