// Results are not kept for longer than necessary. This module marks results
// as read after a wait has received them, and has the database purge the
// results that are due once a minute, in every process that uses a UrlMode.

import { isRefusal } from './database.js';
import { jittered } from './jitter.js';

const PURGE_INTERVAL_MS = 60_000;
/** How long rows are collected before they are marked as read in one statement. */
const MARK_DELAY_MS = 100;
/** How many unmarked rows are kept while PostgreSQL is unavailable. The rest are purged a day after completion. */
const UNMARKED_MAX = 10_000;
const BATCH_SIZE = 1_000;

/** @typedef {import('./database.js').RowKey} RowKey */

export class ResultPurger {
	#database;
	#keep;
	#keepUnclaimed;
	/** @type {NodeJS.Timeout | undefined} */
	#purgeTimer;
	/** @type {Set<RowKey>} rows that were read and are not marked yet */
	#unmarked = new Set();
	/** @type {NodeJS.Timeout | undefined} */
	#markTimer;
	#marking = Promise.resolve();
	#purging = false;
	#warned = false;

	/**
	 * @param {Pick<import('./database.js').Database, 'markRead' | 'purgeResults'>} database
	 * @param {number} keep milliseconds that a result is kept after it was read
	 * @param {number} keepUnclaimed milliseconds that the result of a payment is kept until it is claimed
	 */
	constructor(database, keep, keepUnclaimed) {
		this.#database = database;
		this.#keep = keep;
		this.#keepUnclaimed = keepUnclaimed;
	}

	/** Starts to purge regularly, until `close`. Does not keep the process running. */
	start() {
		this.#purgeTimer ??= setInterval(() => void this.#purge(), jittered(PURGE_INTERVAL_MS)).unref();
	}

	/**
	 * Keeps the process running until the row was marked or the attempt has
	 * failed, because the process may end as soon as its wait has.
	 *
	 * @param {RowKey} rowKey whose result a wait has received
	 */
	markRead(rowKey) {
		this.#unmarked.add(rowKey);
		const [oldest] = this.#unmarked;
		if (oldest && this.#unmarked.size > UNMARKED_MAX) this.#unmarked.delete(oldest);
		this.#markTimer ??= setTimeout(() => void this.#flush(), MARK_DELAY_MS);
	}

	/** @returns {Promise<void>} resolves when all rows are marked as read, if PostgreSQL is available */
	close() {
		clearInterval(this.#purgeTimer);
		return this.#flush();
	}

	async #purge() {
		if (this.#purging) return;
		this.#purging = true;
		try {
			await this.#flush();
			while (await this.#database.purgeResults(this.#keepUnclaimed));
		} catch (error) {
			// When PostgreSQL is unavailable, the next purge catches up.
			if (isRefusal(error)) this.#warn(error);
		} finally {
			this.#purging = false;
		}
	}

	/** Marks all unmarked rows, one call after another. Never rejects. */
	#flush() {
		clearTimeout(this.#markTimer);
		this.#markTimer = undefined;
		this.#marking = this.#marking.then(() => this.#markAll());
		return this.#marking;
	}

	async #markAll() {
		const rest = [...this.#unmarked];
		this.#unmarked.clear();
		try {
			for (; rest.length > 0; rest.splice(0, BATCH_SIZE)) {
				await this.#database.markRead(rest.slice(0, BATCH_SIZE), this.#keep);
			}
		} catch (error) {
			if (isRefusal(error)) this.#warn(error);
			// When PostgreSQL is unavailable, the rows are marked with the next ones or before the next purge.
			else this.#unmarked = new Set([...rest, ...this.#unmarked].slice(-UNMARKED_MAX));
		}
	}

	/** @param {unknown} error */
	#warn(error) {
		if (this.#warned) return;
		this.#warned = true;
		process.emitWarning(`results are not purged: ${/** @type {Error} */ (error).message}`,
			{ type: 'UrlModeWarning', code: 'URLMODE_FORGETTING' });
	}
}
