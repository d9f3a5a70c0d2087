// Nothing is kept for longer than necessary. This module marks results as read
// after a wait has received them, and has the database purge the results that
// are due once a minute, and purgeable elicitations once an hour, in every process that
// uses a UrlMode.

import {
	KEEP_RESULTS_MAX_MS, KEEP_RESULTS_MS, KEEP_UNCLAIMED_MAX_MS, KEEP_UNCLAIMED_MIN_MS, KEEP_UNCLAIMED_MS, MARK_DELAY_MS, PURGE_BATCH_MAX,
	PURGE_RESULTS_EVERY_MS, PURGE_ROWS_EVERY_MS, RETENTION_MAX_MS, RETENTION_MIN_MS, RETENTION_MS, UNMARKED_MAX,
} from './contract-limits.js';
import { PURGE_KINDS } from './contract-words.js';
import { checkChoice, checkMilliseconds } from './arguments.js';
import { isRefusal } from './database.js';
import { jittered } from './jitter.js';

/**
 * @typedef {import('./database.js').RowKey} RowKey
 *
 * @typedef {object} Kept for how many milliseconds
 * @property {number} results after a wait has read them
 * @property {number} unclaimed the result of a payment that no call has claimed
 * @property {number | false} rows that are over; false: for ever
 */

/**
 * @param {{ keepResults?: number | undefined, keepUnclaimed?: number | undefined, retention?: number | false | undefined }} options
 * @returns {Kept}
 */
export function checkKept({ keepResults, keepUnclaimed, retention }) {
	return {
		results: checkMilliseconds('keepResults', keepResults ?? KEEP_RESULTS_MS, 0, KEEP_RESULTS_MAX_MS),
		unclaimed: checkMilliseconds('keepUnclaimed', keepUnclaimed ?? KEEP_UNCLAIMED_MS, KEEP_UNCLAIMED_MIN_MS, KEEP_UNCLAIMED_MAX_MS),
		rows: retention !== false && checkMilliseconds('retention', retention ?? RETENTION_MS, RETENTION_MIN_MS, RETENTION_MAX_MS),
	};
}

export class Purger {
	#database;
	#kept;
	/** @type {NodeJS.Timeout[]} */
	#timers = [];
	/** @type {Set<RowKey>} rows that were read and are not marked yet */
	#unmarked = new Set();
	/** @type {NodeJS.Timeout | undefined} */
	#markTimer;
	#marking = Promise.resolve();
	/** Which of the purges are under way. */
	#purging = new Set();
	#warned = false;

	/**
	 * @param {Pick<import('./database.js').Database, 'markRead' | 'purgeResults' | 'purge'>} database
	 * @param {Kept} kept
	 */
	constructor(database, kept) {
		this.#database = database;
		this.#kept = kept;
	}

	/** Starts to purge regularly, until `close`. Does not keep the process running. */
	start() {
		if (this.#timers.length > 0) return;
		this.#every(PURGE_RESULTS_EVERY_MS, 'results are', async () => {
			await this.#flush();
			while (await this.#database.purgeResults(this.#kept.unclaimed));
		});
		if (this.#kept.rows !== false) this.#every(PURGE_ROWS_EVERY_MS, 'elicitations are', () => this.purge());
	}

	/**
	 * @param {import('./types.js').PurgeOptions} [options]
	 * @returns {Promise<number>} how much
	 */
	async purge({ olderThan, kind } = {}) {
		const keep = checkMilliseconds('olderThan', olderThan ?? (this.#kept.rows || RETENTION_MS), RETENTION_MIN_MS, RETENTION_MAX_MS);
		const only = kind === undefined ? null : checkChoice('kind', kind, PURGE_KINDS);
		let sum = 0;
		for (let taken = NaN; taken !== 0; sum += taken) taken = await this.#database.purge(keep, only);
		return sum;
	}

	/**
	 * Keeps the process running until the row was marked or the attempt has
	 * failed, because the process may end as soon as its wait has.
	 *
	 * @param {RowKey} rowKey whose result a wait has received
	 */
	markRead(rowKey) {
		this.#unmarked.add(rowKey);
		if (this.#unmarked.size > UNMARKED_MAX) {
			const [oldest] = this.#unmarked;
			if (oldest) this.#unmarked.delete(oldest);
		}
		this.#markTimer ??= setTimeout(() => void this.#flush(), MARK_DELAY_MS);
	}

	/** @returns {Promise<void>} resolves when all rows are marked as read, if PostgreSQL is available */
	close() {
		this.#timers.forEach(clearInterval);
		return this.#flush();
	}

	/**
	 * @param {number} interval milliseconds
	 * @param {string} what is purged, for the warning
	 * @param {() => Promise<unknown>} purge
	 */
	#every(interval, what, purge) {
		this.#timers.push(setInterval(async () => {
			if (this.#purging.has(purge)) return;
			this.#purging.add(purge);
			try {
				await purge();
			} catch (error) {
				// When PostgreSQL is unavailable, the next purge catches up.
				if (isRefusal(error)) this.#warn(what, error);
			} finally {
				this.#purging.delete(purge);
			}
		}, jittered(interval)).unref());
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
			for (; rest.length > 0; rest.splice(0, PURGE_BATCH_MAX)) {
				await this.#database.markRead(rest.slice(0, PURGE_BATCH_MAX), this.#kept.results);
			}
		} catch (error) {
			if (isRefusal(error)) this.#warn('results are', error);
			// When PostgreSQL is unavailable, the rows are marked with the next ones or before the next purge.
			else this.#unmarked = new Set([...rest, ...this.#unmarked].slice(-UNMARKED_MAX));
		}
	}

	/**
	 * @param {string} what
	 * @param {unknown} error
	 */
	#warn(what, error) {
		if (this.#warned) return;
		this.#warned = true;
		process.emitWarning(`${what} not purged: ${/** @type {Error} */ (error).message}`,
			{ type: 'UrlModeWarning', code: 'URLMODE_PURGE' });
	}
}
