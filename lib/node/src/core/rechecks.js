// The functions of the server that ask providers whose events prove nothing, by the names
// of the providers: for waits and claims without a function of their own; and for events
// about which nobody waits and no call claims, such as a refund after the delivery. The row
// remembers that it is to be asked about, and any instance with a function for its provider
// takes it, under a lease (../../../sql/functions/029_recheck.sql).

import * as sql from './contract-calls.js';
import { RECHECK_EVERY_MS, RECHECK_LEASE_MS } from './contract-limits.js';
import * as rechecking from './contract-rechecks.js';
import { TEXTS } from './contract-texts.js';
import { isRefusal } from './database.js';
import { jittered } from './jitter.js';

/**
 * @typedef {import('./types.js').RecheckFunction} RecheckFunction
 * @typedef {import('./database.js').RowKey} RowKey
 */

export class Rechecks {
	#functions;
	#query;
	#rechecker;
	#tenant;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	/** @type {Promise<number> | undefined} */
	#asking;
	#closed = false;

	/**
	 * @param {Map<string, RecheckFunction>} functions
	 * @param {sql.Query} query
	 * @param {ReturnType<typeof import('./ask-back.js').rechecker>} rechecker
	 * @param {string} tenant whose events
	 */
	constructor(functions, query, rechecker, tenant) {
		this.#functions = functions;
		this.#query = query;
		this.#rechecker = rechecker;
		this.#tenant = tenant;
	}

	/** Whether there is a function for some provider. */
	get some() {
		return this.#functions.size > 0;
	}

	/** @param {string} provider */
	of(provider) {
		return this.#functions.get(provider);
	}

	/** @param {RowKey} rowKey */
	async ofRow(rowKey) {
		if (!this.some) return undefined;
		const [row] = await sql.readPaid(this.#query, [rowKey]);
		return row && this.of(row.provider);
	}

	/** Starts to ask regularly, until `close`. Does not keep the process running. */
	start() {
		if (!this.some || this.#timer || this.#closed) return;
		this.#timer = setInterval(async () => {
			try {
				await this.askAll();
			} catch (error) {
				// When PostgreSQL is unavailable, or the provider, the next time catches up.
				if (!this.#closed && (isRefusal(error) || error instanceof RecheckFailed)) warn(/** @type {Error} */ (error));
			}
		}, jittered(RECHECK_EVERY_MS)).unref();
	}

	/**
	 * Asks about one row after the other, until nothing is left to ask. A provider whose function fails is not asked any more, and
	 * holds up no other.
	 *
	 * @returns {Promise<number>} how many
	 * @throws {RecheckFailed} the first
	 */
	askAll() {
		this.#asking ??= this.#askAll().finally(() => {
			this.#asking = undefined;
		});
		return this.#asking;
	}

	async close() {
		this.#closed = true;
		clearInterval(this.#timer);
	}

	async #askAll() {
		const providers = new Set(this.#functions.keys());
		/** @type {RecheckFailed | undefined} */
		let first;
		for (let asked = 0; ;) {
			const taken = providers.size > 0 && !this.#closed
				&& await rechecking.beginRecheckOf(this.#query, { tenant: this.#tenant, providers: [...providers], leaseMs: RECHECK_LEASE_MS });
			if (!taken) {
				if (first) throw first;
				return asked;
			}
			const { id, binding, provider } = taken;
			const recheck = /** @type {RecheckFunction} */ (this.of(provider));
			const failure = await this.#rechecker.answer({ id, binding, status: 'completed' }, taken, recheck);
			if ('error' in failure) {
				first ??= new RecheckFailed(id, provider, failure.error);
				providers.delete(provider);
			} else asked += 1;
		}
	}
}

class RecheckFailed extends Error {
	/**
	 * @param {string} id
	 * @param {string} provider
	 * @param {unknown} cause
	 */
	constructor(id, provider, cause) {
		super(TEXTS.recheckFailed(id, provider, cause instanceof Error ? cause.message : 'no Error'), { cause });
	}
}

/** @param {Error} error */
function warn(error) {
	process.emitWarning(error.message, { type: 'UrlModeWarning', code: 'URLMODE_RECHECK' });
}
