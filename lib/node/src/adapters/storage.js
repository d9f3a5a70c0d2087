// FrontMCP's StorageAdapter on PostgreSQL, in place of Redis: values with
// expiry, and channels. A message is kept for a while, so that a subscriber
// that lost its connection reads what it missed, once.
//
// Values are kept as they come: a framework that wants them sealed seals
// them, as FrontMCP's `encryption` option does.

import { createHash } from 'node:crypto';

import { partsOf } from '../parts.js';
import { Poll } from '../poll.js';
import { NamespacedStorage, prefixOf } from './namespaced-storage.js';

const CHANNEL = 'urlmode_published';
const TTL_MAX_SECONDS = 3_153_600_000;

const GET = 'SELECT * FROM urlmode.stored_get($1::text[])';
const SET = 'SELECT urlmode.stored_set($1::text[], $2::text[], $3::bigint[], $4::text[])';
const DELETE = 'SELECT urlmode.stored_delete($1::text[]) AS n';
const EXPIRE = 'SELECT urlmode.stored_expire($1, $2) AS there';
const KEYS = 'SELECT urlmode.stored_keys($1) AS key';
const ADD = 'SELECT urlmode.stored_add($1, $2::bigint) AS sum';
const PUBLISH = 'SELECT urlmode.publish($1, $2)';
const LAST = 'SELECT urlmode.published_last() AS id';
const SINCE = 'SELECT * FROM urlmode.published_since($1::text[], $2::bigint[])';

/**
 * @typedef {{ ttlSeconds?: number, ifNotExists?: boolean, ifExists?: boolean }} SetOptions
 * @typedef {{ key: string, value: string, options?: SetOptions }} SetEntry
 * @typedef {(message: string, channel: string) => void} MessageHandler
 *
 * @typedef {object} Subscription
 * @property {string} channel
 * @property {Set<MessageHandler>} handlers
 * @property {string} since what was published before is not for it
 * @property {Set<string>} delivered ids over `since`: they may be committed in another order than they were given
 */

/** FrontMCP's StorageAdapter, and its RootStorage: `namespace` gives views of it. */
export class PostgresStorage {
	#parts;
	/** @type {Map<string, Subscription>} by the channel's SHA-256, in hexadecimal */
	#subscriptions = new Map();
	#poll = new Poll(() => void this.#deliver([...this.#subscriptions.values()]));
	#connected = false;
	/** @type {Promise<void>} */
	#reading = Promise.resolve();

	/** The empty prefix of the root. */
	prefix = '';

	/** @param {import('../urlmode.js').UrlMode} urlmode whose connections it uses */
	constructor(urlmode) {
		this.#parts = partsOf(urlmode);
		const { listener, closers } = this.#parts;
		closers.add(() => this.disconnect());
		listener.on('notification', (payload, channel) => {
			const subscription = channel === CHANNEL ? this.#subscriptions.get(payload) : undefined;
			if (subscription) void this.#deliver([subscription]);
		});
		listener.on('listening', () => void this.#deliver([...this.#subscriptions.values()]));
		listener.on('hearing', () => this.#poll.stop());
	}

	/** @returns {PostgresStorage} */
	get root() {
		return this;
	}

	/** @throws when PostgreSQL cannot be reached */
	async connect() {
		await this.#parts.database.query(LAST, []);
		this.#connected = true;
	}

	/** Ends its subscriptions; the connections are the UrlMode's. */
	async disconnect() {
		this.#connected = false;
		this.#subscriptions.clear();
		this.#rest();
	}

	/** @returns {Promise<boolean>} */
	async ping() {
		if (!this.#connected) return false;
		return this.#parts.database.query(LAST, []).then(() => true, () => false);
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
	 * @returns {Promise<boolean>} whether it was there
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
		const rows = await this.#query(GET, [keys]);
		return rows.map(({ value }) => /** @type {string | null} */ (value));
	}

	/**
	 * All of them, or none.
	 *
	 * @param {SetEntry[]} entries
	 */
	async mset(entries) {
		if (entries.length === 0) return;
		await this.#query(SET, [
			entries.map(({ key }) => key),
			entries.map(({ value }) => value),
			entries.map(({ options }) => ttlOf(options?.ttlSeconds)),
			entries.map(({ options }) => conditionOf(options)),
		]);
	}

	/**
	 * @param {string[]} keys
	 * @returns {Promise<number>} how many were there
	 */
	async mdelete(keys) {
		if (keys.length === 0) return 0;
		const [answer] = await this.#query(DELETE, [keys]);
		return Number(answer?.n);
	}

	/**
	 * @param {string} key
	 * @param {number} ttlSeconds
	 * @returns {Promise<boolean>} whether it is there
	 */
	async expire(key, ttlSeconds) {
		const [answer] = await this.#query(EXPIRE, [key, ttlOf(ttlSeconds)]);
		return answer?.there === true;
	}

	/**
	 * @param {string} key
	 * @returns {Promise<number | null>} seconds, -1 where it has no end; null: it is not there
	 */
	async ttl(key) {
		const [row] = await this.#query(GET, [[key]]);
		if (!row || row.value === null) return null;
		return row.ttl_ms === null ? -1 : Math.ceil(Number(row.ttl_ms) / 1_000);
	}

	/**
	 * @param {string} [pattern] `*`: any characters, `?`: one
	 * @returns {Promise<string[]>}
	 */
	async keys(pattern = '*') {
		const rows = await this.#query(KEYS, [likeOf(pattern)]);
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
	 */
	async incrBy(key, amount) {
		if (!Number.isSafeInteger(amount)) throw new TypeError('amount must be a whole number');
		const [answer] = await this.#query(ADD, [key, amount]);
		return Number(answer?.sum);
	}

	/**
	 * @param {string} channel
	 * @param {string} message
	 * @returns {Promise<number>} how many subscribers this instance has; those of others are not counted
	 */
	async publish(channel, message) {
		await this.#query(PUBLISH, [channel, message]);
		return this.#subscriptions.get(nameOf(channel))?.handlers.size ?? 0;
	}

	/**
	 * @param {string} channel
	 * @param {MessageHandler} handler called once for each message that is published from now on
	 * @returns {Promise<() => Promise<void>>} ends it
	 */
	async subscribe(channel, handler) {
		const { listener } = this.#parts;
		const name = nameOf(channel);
		let subscription = this.#subscriptions.get(name);
		if (!subscription) {
			const [answer] = await this.#query(LAST, []);
			// Somebody may have subscribed to the same meanwhile.
			subscription = this.#subscriptions.get(name)
				?? { channel, handlers: new Set(), since: String(answer?.id), delivered: new Set() };
			this.#subscriptions.set(name, subscription);
		}
		const { handlers } = subscription;
		handlers.add(handler);
		listener.want(true, this);
		if (!listener.hears) this.#poll.start();
		// Otherwise the connection is lost, and the next one listens to it as well.
		await listener.add(CHANNEL).catch(() => {});
		void this.#deliver([subscription]);
		return async () => {
			handlers.delete(handler);
			if (handlers.size === 0 && this.#subscriptions.get(name)?.handlers === handlers) this.#subscriptions.delete(name);
			this.#rest();
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
		return new NamespacedStorage(this, prefixOf(name, id));
	}

	/** @param {Subscription[]} subscriptions */
	#deliver(subscriptions) {
		// One read after another, so that no message is delivered twice.
		this.#reading = this.#reading.then(() => this.#readAndDeliver(subscriptions));
		return this.#reading;
	}

	/** @param {Subscription[]} subscriptions */
	async #readAndDeliver(subscriptions) {
		const current = subscriptions.filter(({ handlers }) => handlers.size > 0);
		if (current.length === 0) return;
		try {
			const rows = await this.#parts.database.query(SINCE,
				[current.map(({ channel }) => channel), current.map(({ since }) => since)]);
			for (const row of rows) {
				const { id, channel, message } = /** @type {{ id: string, channel: string, message: string }} */ (row);
				const subscription = this.#subscriptions.get(nameOf(channel));
				if (!subscription || subscription.delivered.has(id)) continue;
				subscription.delivered.add(id);
				for (const handler of [...subscription.handlers]) call(handler, message, channel);
			}
		} catch {
			// Polled, or read when there is a connection that listens.
			if (this.#subscriptions.size > 0) this.#poll.start();
		}
	}

	/** Wants no connection for nobody. */
	#rest() {
		if (this.#subscriptions.size > 0) return;
		this.#poll.stop();
		this.#parts.listener.want(false, this);
	}

	/**
	 * @param {string} text
	 * @param {unknown[]} values
	 */
	#query(text, values) {
		if (!this.#connected) throw new Error('the storage is not connected');
		return this.#parts.database.query(text, values);
	}
}

/** @param {string} channel */
function nameOf(channel) {
	return createHash('sha256').update(channel).digest('hex');
}

/**
 * @param {number | undefined} seconds
 * @returns {number | null} milliseconds; null: no end
 */
function ttlOf(seconds) {
	if (seconds === undefined) return null;
	if (!Number.isInteger(seconds) || seconds <= 0 || seconds > TTL_MAX_SECONDS) {
		throw new TypeError('a ttl must be whole seconds, over 0');
	}
	return seconds * 1_000;
}

/**
 * @param {SetOptions | undefined} options
 * @returns {'absent' | 'present' | null}
 */
function conditionOf({ ifNotExists, ifExists } = {}) {
	if (ifNotExists && ifExists) throw new TypeError('ifNotExists and ifExists are mutually exclusive');
	if (ifNotExists) return 'absent';
	return ifExists ? 'present' : null;
}

/** @param {string} pattern */
function likeOf(pattern) {
	return pattern.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%').replaceAll('?', '_');
}

/**
 * What a handler throws is its own matter, and no other's.
 *
 * @param {MessageHandler} handler
 * @param {string} message
 * @param {string} channel
 */
function call(handler, message, channel) {
	queueMicrotask(() => handler(message, channel));
}
