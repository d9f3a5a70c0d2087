// A connection of the pool. Before a statement is sent on one whose last answer is some time
// ago, an empty statement asks whether it is alive: a NAT, a firewall or a host that went away
// ends connections without a word. What was not sent can be sent on another one.

import { Client } from './connection.js';
import { ALIVE_MS, PING_MS } from './contract-limits.js';

/**
 * @typedef {'asking' | 'sent'} Progress of a statement: it is being asked whether the connection is alive; it was sent, or may have been
 * @typedef {(error: Error | undefined, result: unknown) => void} Callback
 */

/** What the connections of one pool know of each other. */
export class Shared {
	/** @type {WeakMap<unknown[], Progress>} by the values of the statement */
	progress = new WeakMap();
	/** @type {Set<PooledClient>} those on which no statement runs */
	idle = new Set();
}

export class PooledClient extends Client {
	#shared;
	/** When PostgreSQL last said that it is ready for a statement. */
	#answeredAt = -Infinity;

	/** @param {import('./database-url.js').DatabaseConfig & { shared: Shared }} config */
	constructor(config) {
		super(config);
		this.#shared = config.shared;
		const { connection } = /** @type {any} */ (this);
		connection.on('readyForQuery', () => (this.#answeredAt = performance.now()));
		this.on('end', () => this.#shared.idle.delete(this));
	}

	/**
	 * As pg.Pool calls it.
	 *
	 * @override
	 * @param {any} text
	 * @param {any} [values]
	 * @param {any} [callback]
	 * @returns {any}
	 */
	query(text, values, callback) {
		this.#shared.idle.delete(this);
		if (this.#hasJustAnswered()) return this.#send(text, values, callback);
		this.#shared.progress.set(values, 'asking');
		this.#ask((/** @type {Error | undefined} */ error) => {
			if (!error) return this.#send(text, values, callback);
			this.#dropIdle();
			callback(error);
		});
	}

	/** @param {(error: Error | undefined) => void} callback */
	#ask(callback) {
		super.query(/** @type {any} */ ({ text: 'SELECT', query_timeout: PING_MS }), /** @type {any} */ (undefined), callback);
	}

	/**
	 * @param {string} text
	 * @param {unknown[]} values
	 * @param {Callback} callback
	 */
	#send(text, values, callback) {
		this.#shared.progress.set(values, 'sent');
		super.query(text, values, /** @type {any} */ (/** @type {Callback} */ (error, result) => {
			this.#shared.idle.add(this);
			callback(error, result);
		}));
	}

	#hasJustAnswered() {
		return performance.now() - this.#answeredAt < ALIVE_MS;
	}

	/**
	 * Where one is dead, the others are, as a rule, unless they have just answered: none of them shall make a call wait.
	 * The pool removes those that end.
	 */
	#dropIdle() {
		for (const client of this.#shared.idle) {
			if (client.#hasJustAnswered()) continue;
			this.#shared.idle.delete(client);
			/** @type {any} */ (client).connection.stream.destroy();
		}
	}
}
