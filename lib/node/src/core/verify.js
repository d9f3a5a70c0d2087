// Verifies what a user has typed, by a function of the caller. For one submission it
// runs in one process: a process takes the values from the row before it begins.

import { checkProblem } from './form.js';

/**
 * @typedef {import('./database.js').RowKey} RowKey
 * @typedef {import('./form-types.js').VerifyFunction} VerifyFunction
 *
 * @typedef {object} CheckOperations
 * @property {(rowKey: RowKey) => Promise<import('./database.js').TakenCheck | undefined>} takeCheck
 * @property {(rowKey: RowKey, lease: number, problem: Buffer | null, failed: boolean) => Promise<unknown>} endCheck
 * @property {(rowKey: RowKey, result: Buffer) => import('./form-types.js').Values} openValues
 * @property {(rowKey: RowKey, problem: import('./form-types.js').Problem) => Buffer} sealProblem
 */

/**
 * Whether a user has typed something that nobody has verified.
 *
 * @param {import('./database.js').Row} row
 */
export function needsCheck({ kind, status }) {
	return kind === 'input' && status === 'processing';
}

export class Checker {
	#operations;
	/** @type {Set<string>} ids */
	#running = new Set();

	/** @param {CheckOperations} operations */
	constructor(operations) {
		this.#operations = operations;
	}

	/**
	 * @param {string} id
	 * @returns {boolean} whether a check is running in this process
	 */
	isRunning(id) {
		return this.#running.has(id);
	}

	/**
	 * @param {import('./database.js').Row} row
	 * @param {Buffer} binding
	 * @param {VerifyFunction} verify
	 * @returns {Promise<{ taken: boolean, error?: unknown }>} taken: false if another process verifies it. error: that of the
	 *     function, or of an answer that is not valid
	 * @throws an error of PostgreSQL
	 */
	async run({ id, provider }, binding, verify) {
		this.#running.add(id);
		const rowKey = { id, binding };
		try {
			const taken = await this.#operations.takeCheck(rowKey);
			if (!taken) return { taken: false };
			const end = await this.#verify({ ...rowKey, provider }, taken, verify);
			const problem = 'problem' in end && end.problem ? this.#operations.sealProblem(rowKey, end.problem) : null;
			await this.#operations.endCheck(rowKey, taken.lease, problem, !('problem' in end));
			return { taken: true, ...'error' in end && { error: end.error } };
		} finally {
			this.#running.delete(id);
		}
	}

	/**
	 * @param {RowKey & { provider: string }} row
	 * @param {import('./database.js').TakenCheck} taken
	 * @param {VerifyFunction} verify
	 * @returns {Promise<{ problem: import('./form-types.js').Problem | undefined } | { error: unknown } | {}>} an empty object: the
	 *     time limit has passed, and the page is open again
	 */
	async #verify({ provider, ...rowKey }, { result, left_ms: left }, verify) {
		const controller = new AbortController();
		/** @type {NodeJS.Timeout | undefined} */
		let timer;
		/** @type {Promise<{}>} */
		const overdue = new Promise((resolve) => {
			timer = setTimeout(() => {
				process.emitWarning(`verify of elicitation ${rowKey.id} took longer than its time limit`,
					{ type: 'UrlModeWarning', code: 'URLMODE_VERIFY' });
				controller.abort(new Error('the time limit has passed'));
				resolve({});
			}, Math.max(0, Number(left)));
		});
		const ask = async () => {
			try {
				const values = this.#operations.openValues(rowKey, result);
				return { problem: checkProblem(await verify({ elicitationId: rowKey.id, provider, values, signal: controller.signal })) };
			} catch (error) {
				return { error };
			}
		};
		try {
			return await Promise.race([ask(), overdue]);
		} finally {
			clearTimeout(timer);
		}
	}
}
