// FrontMCP's NamespacedStorage: a view of PostgresStorage whose keys and
// channels have a prefix.

/**
 * @typedef {import('./storage.js').PostgresStorage} PostgresStorage
 * @typedef {import('./storage.js').SetOptions} SetOptions
 * @typedef {import('./storage.js').SetEntry} SetEntry
 * @typedef {import('./storage.js').MessageHandler} MessageHandler
 */

/**
 * @param {string} name
 * @param {string} [id]
 */
export function namespacePrefix(name, id) {
	return id ? `${name}:${id}:` : `${name}:`;
}

export class NamespacedStorage {
	#root;

	/**
	 * @param {PostgresStorage} root
	 * @param {string} prefix
	 */
	constructor(root, prefix) {
		this.#root = root;
		this.prefix = prefix;
	}

	get root() {
		return this.#root;
	}

	connect() {
		return this.#root.connect();
	}

	disconnect() {
		return this.#root.disconnect();
	}

	ping() {
		return this.#root.ping();
	}

	/** @param {string} key */
	get(key) {
		return this.#root.get(this.prefix + key);
	}

	/**
	 * @param {string} key
	 * @param {string} value
	 * @param {SetOptions} [options]
	 */
	set(key, value, options) {
		return this.#root.set(this.prefix + key, value, options);
	}

	/** @param {string} key */
	delete(key) {
		return this.#root.delete(this.prefix + key);
	}

	/** @param {string} key */
	exists(key) {
		return this.#root.exists(this.prefix + key);
	}

	/** @param {string[]} keys */
	mget(keys) {
		return this.#root.mget(keys.map((key) => this.prefix + key));
	}

	/** @param {SetEntry[]} entries */
	mset(entries) {
		return this.#root.mset(entries.map((entry) => ({ ...entry, key: this.prefix + entry.key })));
	}

	/** @param {string[]} keys */
	mdelete(keys) {
		return this.#root.mdelete(keys.map((key) => this.prefix + key));
	}

	/**
	 * @param {string} key
	 * @param {number} ttlSeconds
	 */
	expire(key, ttlSeconds) {
		return this.#root.expire(this.prefix + key, ttlSeconds);
	}

	/** @param {string} key */
	ttl(key) {
		return this.#root.ttl(this.prefix + key);
	}

	/** @param {string} [pattern] */
	async keys(pattern = '*') {
		const keys = await this.#root.keys(this.prefix + pattern);
		return keys.map((key) => key.slice(this.prefix.length));
	}

	/** @param {string} [pattern] */
	count(pattern = '*') {
		return this.#root.count(this.prefix + pattern);
	}

	/** @param {string} key */
	incr(key) {
		return this.#root.incr(this.prefix + key);
	}

	/** @param {string} key */
	decr(key) {
		return this.#root.decr(this.prefix + key);
	}

	/**
	 * @param {string} key
	 * @param {number} amount
	 */
	incrBy(key, amount) {
		return this.#root.incrBy(this.prefix + key, amount);
	}

	/**
	 * @param {string} channel
	 * @param {string} message
	 */
	publish(channel, message) {
		return this.#root.publish(this.prefix + channel, message);
	}

	/**
	 * @param {string} channel
	 * @param {MessageHandler} handler
	 */
	subscribe(channel, handler) {
		return this.#root.subscribe(this.prefix + channel, (message, full) => handler(message, full.slice(this.prefix.length)));
	}

	supportsPubSub() {
		return this.#root.supportsPubSub();
	}

	/**
	 * @param {string} name
	 * @param {string} [id]
	 * @returns {NamespacedStorage}
	 */
	namespace(name, id) {
		return new NamespacedStorage(this.#root, this.prefix + namespacePrefix(name, id));
	}
}
