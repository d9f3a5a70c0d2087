// Asks the provider about an event that proves nothing, by a function of the
// caller. For one elicitation it runs in one process at a time: a process takes
// a lease in the row before it begins, and sets a pause there when it has failed.

import { RECHECK_LEASE_MS } from './contract-limits.js';
import { ElicitationMismatchError, ElicitationReferenceError } from './errors.js';

/**
 * @typedef {import('./database.js').RowKey} RowKey
 *
 * @typedef {object} RecheckOperations
 * @property {(rowKey: RowKey, lease: number) => Promise<import('./database.js').TakenRecheck | undefined>} takeRecheck
 * @property {(rowKey: RowKey, taken: import('./database.js').TakenRecheck, failed: boolean) => Promise<void>} endRecheck
 * @property {(rowKey: RowKey, answer: import('./types.js').Answer) => Promise<unknown>} complete
 */

/**
 * Whether an event has asked for a recheck that nobody has answered. A payment
 * that ended without an accept may have been paid late. One that is held was paid.
 *
 * @param {import('./database.js').Row} row
 */
export function needsRecheck({ rechecks, rechecked, status, kind, action, held }) {
	return rechecks > rechecked && (status !== 'completed' || (kind === 'payment' && action !== 'accept' && !held));
}

export class Rechecker {
	#operations;
	/** @type {Map<string, import('./database.js').Row['status']>} the status in which each recheck has begun, by id */
	#running = new Map();

	/** @param {RecheckOperations} operations */
	constructor(operations) {
		this.#operations = operations;
	}

	/**
	 * @param {string} id
	 * @returns {import('./database.js').Row['status'] | undefined} the status in which the recheck has begun that is
	 *     running in this process
	 */
	begunOn(id) {
		return this.#running.get(id);
	}

	/**
	 * Asks, unless somebody else is asking, and completes the row with the
	 * answer.
	 *
	 * @param {import('./database.js').Row} row
	 * @param {Buffer} binding
	 * @param {import('./types.js').RecheckFunction} recheck
	 * @returns {Promise<{ error: unknown } | undefined>} the error of the function, or of an answer that is not valid
	 * @throws an error of PostgreSQL
	 */
	async run({ id, provider, status }, binding, recheck) {
		this.#running.set(id, status);
		const rowKey = { id, binding };
		try {
			const taken = await this.#operations.takeRecheck(rowKey, RECHECK_LEASE_MS);
			if (!taken) return undefined;
			const failure = await this.#ask({ ...rowKey, provider }, taken, recheck);
			await this.#operations.endRecheck(rowKey, taken, failure !== undefined);
			return failure;
		} finally {
			this.#running.delete(id);
		}
	}

	/**
	 * @param {RowKey & { provider: string }} row
	 * @param {import('./database.js').TakenRecheck} taken
	 * @param {import('./types.js').RecheckFunction} recheck
	 * @returns {Promise<{ error: unknown } | undefined>}
	 */
	async #ask({ id, binding, provider }, { event_type: type, unproven_references: references, expected }, recheck) {
		const timer = setTimeout(() => warn(`recheck of elicitation ${id} takes more than ${RECHECK_LEASE_MS / 1_000} s: `
			+ 'another instance may begin one meanwhile'), RECHECK_LEASE_MS).unref();
		try {
			const answer = await recheck({
				elicitationId: id, provider, type: type ?? undefined, reference: references.at(-1), references,
				expected: expected ?? undefined,
			});
			if (answer) await this.#operations.complete({ id, binding }, answer);
			return undefined;
		} catch (error) {
			if (!isForeignPayment(error)) return { error };
			// A stranger may have sent the reference. The wait continues.
			warn(`recheck changed nothing: ${error.message}`);
			return undefined;
		} finally {
			clearTimeout(timer);
		}
	}
}

/**
 * @param {unknown} error
 * @returns {error is Error}
 */
function isForeignPayment(error) {
	return error instanceof ElicitationMismatchError || error instanceof ElicitationReferenceError;
}

/** @param {string} message */
function warn(message) {
	process.emitWarning(message, { type: 'UrlModeWarning', code: 'URLMODE_RECHECK' });
}
