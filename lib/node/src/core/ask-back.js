// Asks the server back, by a function of the caller: `recheck`, about an event that
// proves nothing, and `verify`, about what a user has typed. For one elicitation each
// runs in one process at a time: a process takes a lease in the row before it begins,
// and ends it with what the function has said, or with its failure.

import { RECHECK_LEASE_MS } from './contract-limits.js';
import { TEXTS } from './contract-texts.js';
import { checkEntries, hasEntries } from './entries.js';
import { ElicitationMismatchError, ElicitationReferenceError } from './errors.js';
import { backgroundTimer, warn } from './runtime.js';

/**
 * @typedef {import('./database.js').Row} Row
 * @typedef {import('./database.js').RowKey} RowKey
 * @typedef {import('./database.js').TakenRecheck} TakenRecheck
 * @typedef {import('./database.js').TakenCheck} TakenCheck
 * @typedef {import('./types.js').RecheckFunction} RecheckFunction
 * @typedef {import('./form-types.js').VerifyFunction} VerifyFunction
 * @typedef {import('./form-types.js').Problem} Problem
 * @typedef {import('./entries.js').Entries} Entries
 *
 * @typedef {object} RecheckOperations
 * @property {(rowKey: RowKey, lease: number, age: number | null) => Promise<TakenRecheck | undefined>} beginRecheck
 * @property {(rowKey: RowKey, taken: TakenRecheck, failed: boolean) => Promise<void>} endRecheck
 * @property {(rowKey: RowKey, taken: TakenRecheck, entries: Entries) => Promise<string[]>} answerRecheck what each payment and
 *     then each refund has done
 * @property {(rowKey: RowKey, answer: import('./types.js').Answer) => Promise<unknown>} complete
 *
 * @typedef {object} CheckOperations
 * @property {(rowKey: RowKey) => Promise<TakenCheck | undefined>} takeCheck
 * @property {(rowKey: RowKey, lease: number, problem: Buffer | null, failed: boolean) => Promise<unknown>} endCheck
 * @property {(rowKey: RowKey, result: Buffer) => import('./form-types.js').Values} openValues
 * @property {(rowKey: RowKey, problem: Problem) => Buffer} sealProblem
 * @property {(value: unknown) => Problem | undefined} checkProblem
 */

/**
 * @typedef {RowKey & Pick<Row, 'status'> & { provider?: string }} Asked the row, of which a check names the provider
 */

/**
 * One of the two questions.
 *
 * @template Taken, Ask, Answer
 * @typedef {object} Question
 * @property {(rowKey: RowKey, age: number | null) => Promise<Taken | undefined>} take undefined: another process asks, or there is
 *     nothing to ask
 * @property {(taken: Taken) => number} lasts milliseconds
 * @property {(row: Asked, taken: Taken, ask: Ask, signal: AbortSignal) => Promise<Answer>} ask
 * @property {(rowKey: RowKey, lasts: number) => Error | undefined} overdue its error, if it takes longer. undefined: none that the
 *     caller hears of
 * @property {(rowKey: RowKey, taken: Taken, answer: Answer | undefined) => Promise<unknown>} end undefined: it has failed
 */

const WARNING = 'URLMODE_RECHECK';

/**
 * Whether an event has asked for a recheck that nobody has answered. A payment
 * that has ended may have been paid late, or have gone back.
 *
 * @param {Row} row
 */
export function needsRecheck({ rechecks, rechecked, status, kind }) {
	return rechecks > rechecked && (status !== 'completed' || kind === 'payment');
}

/**
 * Whether a user has typed something that nobody has verified.
 *
 * @param {Row} row
 */
export function needsCheck({ kind, status }) {
	return kind === 'input' && status === 'processing';
}

/** @template Taken, Ask, Answer */
export class AskBack {
	#question;
	/** @type {Map<string, Row['status']>} by id */
	#running = new Map();

	/** @param {Question<Taken, Ask, Answer>} question */
	constructor(question) {
		this.#question = question;
	}

	/**
	 * @param {string} id
	 * @returns {Row['status'] | undefined} of the row, when this process began to ask what it is asking
	 */
	begunOn(id) {
		return this.#running.get(id);
	}

	/**
	 * @param {Asked} row
	 * @param {Ask} ask
	 * @param {number | null} [age] before a claim: how old the last answer may be, in milliseconds
	 * @param {AbortSignal} [signal] ends it as its time limit does
	 * @returns {Promise<{ taken: boolean, error?: unknown }>} taken: false if another process asks. error: that of the
	 *     function, of an answer that is not valid, or of what has ended it
	 * @throws an error of PostgreSQL
	 */
	async run(row, ask, age = null, signal = undefined) {
		const { id, binding } = row;
		const rowKey = { id, binding };
		this.#running.set(id, row.status);
		try {
			const taken = await this.#question.take(rowKey, age);
			if (!taken) return { taken: false };
			return { taken: true, ...await this.answer(row, taken, ask, signal) };
		} finally {
			this.#running.delete(id);
		}
	}

	/**
	 * As `run`, of what was taken before.
	 *
	 * @param {Asked} row
	 * @param {Taken} taken
	 * @param {Ask} ask
	 * @param {AbortSignal} [signal]
	 * @returns {Promise<{ error?: unknown }>}
	 */
	async answer(row, taken, ask, signal) {
		const { answer, ...failure } = await this.#ask(row, taken, ask, signal);
		await this.#question.end({ id: row.id, binding: row.binding }, taken, answer);
		return failure;
	}

	/**
	 * The function may never settle: its time limit and the signal end what awaits it.
	 *
	 * @param {Asked} row
	 * @param {Taken} taken
	 * @param {Ask} ask
	 * @param {AbortSignal} [signal]
	 * @returns {Promise<{ answer?: Answer | undefined, error?: unknown }>} empty: it took too long
	 */
	async #ask(row, taken, ask, signal) {
		const lasts = this.#question.lasts(taken);
		const controller = new AbortController();
		/** @type {(failure: { error?: unknown }) => void} */
		let end;
		/** @type {Promise<{ error?: unknown }>} */
		const ended = new Promise((resolve) => (end = resolve));
		const timer = backgroundTimer(() => {
			const error = this.#question.overdue(row, lasts);
			controller.abort(error ?? new Error('the time limit has passed'));
			end(error ? { error } : {});
		}, lasts);
		const onAbort = () => {
			controller.abort(signal?.reason);
			end({ error: signal?.reason });
		};
		signal?.addEventListener('abort', onAbort, { once: true });
		const answered = async () => {
			try {
				return { answer: await this.#question.ask(row, taken, ask, controller.signal) };
			} catch (error) {
				return { error };
			}
		};
		try {
			return await Promise.race([answered(), ended]);
		} finally {
			clearTimeout(timer);
			signal?.removeEventListener('abort', onAbort);
		}
	}
}

/**
 * Asks the provider about an event that proves nothing.
 *
 * @param {RecheckOperations} operations
 * @returns {AskBack<TakenRecheck, RecheckFunction, Entries | true>}
 */
export function rechecker({ beginRecheck, answerRecheck, endRecheck, complete }) {
	return new AskBack({
		take: (rowKey, age) => beginRecheck(rowKey, RECHECK_LEASE_MS, age),
		lasts: () => RECHECK_LEASE_MS,
		ask: async ({ id, binding }, { provider, event_type: type, unproven_references: references, expected, checkout }, recheck, signal) => {
			const answer = await recheck({
				elicitationId: id, provider, type: type ?? undefined, reference: references.at(-1), references,
				expected: expected ?? undefined,
				...checkout !== null && { checkout },
				signal,
			});
			// Nobody awaits it any more, and the row may have another lease.
			signal.throwIfAborted();
			if (hasEntries(answer)) return checkEntries(answer);
			try {
				if (answer) await complete({ id, binding }, answer);
			} catch (error) {
				if (!isForeignPayment(error)) throw error;
				// A stranger may have sent the reference. The wait continues.
				warn(`recheck changed nothing: ${error.message}`, WARNING);
			}
			return true;
		},
		overdue: ({ id }, lasts) => new Error(TEXTS.recheckOverdue(id, lasts / 1_000)),
		end: async (rowKey, taken, answer) => {
			if (!answer || answer === true) return endRecheck(rowKey, taken, !answer);
			const outcomes = await answerRecheck(rowKey, taken, answer);
			[...answer.payments, ...answer.refunds].forEach(({ reference }, n) => warnOf(rowKey.id, reference, outcomes[n]));
		},
	});
}

/**
 * @param {string} id
 * @param {string} reference
 * @param {string | undefined} outcome of its entry
 */
function warnOf(id, reference, outcome) {
	const why = outcome === 'foreign' ? TEXTS.entryIsForeign
		: outcome === 'reference_taken' ? TEXTS.entryIsTaken : undefined;
	if (why) warn(TEXTS.recheckNotRecorded(id, reference, why), WARNING);
}

/**
 * Verifies what a user has typed.
 *
 * @param {CheckOperations} operations
 * @returns {AskBack<TakenCheck, VerifyFunction, { problem: Problem | undefined }>}
 */
export function checker({ takeCheck, endCheck, openValues, sealProblem, checkProblem }) {
	return new AskBack({
		take: takeCheck,
		lasts: ({ left_ms: left }) => Math.max(0, Number(left)),
		ask: async ({ id, binding, provider = '' }, { result }, verify, signal) => {
			const values = openValues({ id, binding }, result);
			return { problem: checkProblem(await verify({ elicitationId: id, provider, values, signal })) };
		},
		overdue: ({ id }) => {
			warn(TEXTS.verifyOverdue(id), 'URLMODE_VERIFY');
			return undefined; // The page is open again, and the wait continues.
		},
		end: (rowKey, { lease }, answer) => endCheck(
			rowKey, lease, answer?.problem ? sealProblem(rowKey, answer.problem) : null, !answer),
	});
}

/**
 * @param {unknown} error
 * @returns {error is Error}
 */
function isForeignPayment(error) {
	return error instanceof ElicitationMismatchError || error instanceof ElicitationReferenceError;
}
