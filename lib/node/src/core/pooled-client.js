// A connection of the pool. Before a statement is sent on one whose last answer is some time
// ago, an empty statement asks whether it is alive: a NAT, a firewall or a host that went away
// ends connections without a word. What was not sent can be sent on another one.

import { Client } from './connection.js';
import { ALIVE_MS, COMMIT_UNANSWERED_MS, PING_MS } from './contract-limits.js';

/**
 * @typedef {'asking' | 'sent'} Progress of a statement: it is being asked whether the connection is alive; it was sent, or may have been
 * @typedef {(error: Error | undefined, result: unknown) => void} Callback
 */

/** What pg says when its time limit for an answer has passed, and what is said where the limit of a commit has. */
export const NO_ANSWER = 'Query read timeout';

/** The rows of a statement that was taken back before it was sent. @type {never[]} */
export const TAKEN_BACK = [];

/** What the connections of one pool know of each other. */
export class Shared {
	/** @type {WeakSet<unknown[]>} the values of statements that are not to be sent any more */
	takenBack = new WeakSet();
	/** @type {WeakMap<unknown[], () => number[]>} by the values of the statement of a batch: the numbers of its elements that were taken back */
	leaving = new WeakMap();
	/** @type {WeakMap<unknown[], Progress>} by the values of the statement */
	progress = new WeakMap();
	/** @type {Set<PooledClient>} those on which no statement runs */
	idle = new Set();

	/**
	 * Leaves out what was taken back of a statement that is about to be sent.
	 *
	 * @param {unknown[]} values of a batch: each has an array with an entry for each element
	 * @returns {boolean} whether nothing is left to be sent
	 */
	isTakenBack(values) {
		if (this.takenBack.has(values)) return true;
		const gone = this.leaving.get(values)?.();
		if (!gone) return false;
		const columns = /** @type {unknown[][]} */ (values);
		for (const n of gone.reverse()) for (const column of columns) column.splice(n, 1);
		return columns[0]?.length === 0;
	}

	/** Where the server may be the wrong one, no statement is sent any more. */
	dropIdle() {
		for (const client of this.idle) client.drop();
	}
}

export class PooledClient extends Client {
	#shared;
	/** When PostgreSQL last said that it is ready for a statement. */
	#answeredAt = -Infinity;
	/** The time limit of the statement that was sent. @type {NodeJS.Timeout | undefined} */
	#limit;

	/** @param {import('./database-url.js').DatabaseConfig & { shared: Shared }} config */
	constructor(config) {
		super(config);
		this.#shared = config.shared;
		const { connection } = /** @type {any} */ (this);
		connection.on('readyForQuery', () => (this.#answeredAt = performance.now()));
		this.on('end', () => this.#shared.idle.delete(this));
	}

	/**
	 * As pg.Pool calls it, with the text, the values and a callback: never one of the other ways of `Client`.
	 *
	 * @override
	 * @param {never[]} call
	 * @returns {never}
	 */
	query(...call) {
		const [text, values, callback] = /** @type {[string, unknown[], Callback]} */ (/** @type {unknown[]} */ (call));
		this.#shared.idle.delete(this);
		if (this.#shared.isTakenBack(values)) {
			process.nextTick(callback, undefined, { rows: TAKEN_BACK });
		} else if (this.#hasJustAnswered()) {
			this.#send(text, values, callback);
		} else {
			this.#shared.progress.set(values, 'asking');
			this.#ask((error) => {
				if (!error) return this.#send(text, values, callback);
				this.#dropIdle();
				callback(error, undefined);
			});
		}
		return /** @type {never} */ (undefined);
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
		const limit = setTimeout(() => this.#judge(limit), COMMIT_UNANSWERED_MS).unref();
		this.#limit = limit;
		super.query(text, values, /** @type {any} */ (/** @type {Callback} */ (error, result) => {
			clearTimeout(limit);
			this.#limit = undefined;
			this.#shared.idle.add(this);
			callback(error, result);
		}));
	}

	/** @param {NodeJS.Timeout} limit of the statement that was not answered */
	async #judge(limit) {
		const isAtWork = await this.isAtWork();
		if (this.#limit !== limit) return;
		// It may wait in its commit when it is asked again.
		if (isAtWork) return void limit.refresh();
		this.doubt();
		this.drop();
	}

	/** Closes the connection without a word. The pool removes it. */
	drop() {
		this.#shared.idle.delete(this);
		/** @type {any} */ (this).connection.stream.destroy(this.#limit && new Error(NO_ANSWER));
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
			client.drop();
		}
	}
}
