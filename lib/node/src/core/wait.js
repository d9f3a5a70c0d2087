// One call of waitForCompletion. Whatever happens first settles it.

import { onAbort } from './abort.js';
import { ABANDON_MS } from './contract-limits.js';
import { OPEN_STATUSES } from './contract-words.js';
import { ElicitationTimeoutError } from './errors.js';

/** The longest delay that setTimeout accepts. Longer times are divided into several delays. */
export const TIMER_MAX_MS = 2 ** 31 - 1;

const nothing = () => {};

/**
 * @typedef {object} WaitOptions
 * @property {number} timeout milliseconds
 * @property {AbortSignal | undefined} [signal]
 * @property {import('./types.js').WaitOptions['onProgress']} [onProgress]
 * @property {(provider: string) => import('./types.js').RecheckFunction | undefined} [recheckOf] this provider
 * @property {import('./form-types.js').VerifyFunction | undefined} [verify]
 * @property {((reason: string) => Promise<import('./database.js').AbandonOutcome>) | undefined} [abandon] completes the elicitation
 *     when the wait ends without an outcome, if nobody has opened it; `completed`: by this call
 * @property {(row: import('./database.js').Row) => void} [onRow] called each time that the row was read
 */

export class Wait {
	#id;
	#options;
	#onSettled;
	/** @type {(outcome: import('./types.js').Outcome) => void} */
	#resolve = nothing;
	/** @type {(reason: unknown) => void} */
	#reject = nothing;
	/** @type {'waiting' | 'abandoning' | 'settled'} */
	#state = 'waiting';
	/** @type {import('./runtime.js').Timer | undefined} */
	#timer;
	#stopFollowing = nothing;
	#reportedRank = 0;
	/** @type {import('./types.js').OpenStatus} when the row was last read */
	#status = 'pending';
	/** @type {number | undefined} how many failed attempts this wait knows of */
	#failedAttempts;
	/** @type {Promise<void> | undefined} */
	#ending;
	/** @type {import('./types.js').Outcome | undefined} read while this wait was abandoning the elicitation */
	#heldOutcome;

	/**
	 * @param {string} id
	 * @param {WaitOptions} options
	 * @param {(wait: Wait) => void} onSettled
	 */
	constructor(id, options, onSettled) {
		this.#id = id;
		this.#options = options;
		this.#onSettled = onSettled;
		/** @type {Promise<import('./types.js').Outcome>} */
		this.promise = new Promise((resolve, reject) => {
			this.#resolve = resolve;
			this.#reject = reject;
		});
		if (options.timeout > 0 && options.timeout < Infinity) this.#startTimer(performance.now() + options.timeout);
		if (options.signal) this.#stopFollowing = onAbort(options.signal, (reason) => void this.end('aborted', reason));
	}

	/** Whether its recheck function was called. A wait that checks once calls it once. */
	rechecked = false;

	/** Whether the row is read only once. */
	get checksOnce() {
		return this.#options.timeout === 0;
	}

	/**
	 * @param {string} provider
	 * @returns its recheck function, if it may be called now
	 */
	recheckOf(provider) {
		return this.#state === 'settled' || (this.checksOnce && this.rechecked) ? undefined : this.#options.recheckOf?.(provider);
	}

	/** The verify function, if it may be called now. */
	get verify() {
		return this.#state === 'settled' ? undefined : this.#options.verify;
	}

	/** Whether the row was read since the wait began. */
	hasRead = false;

	/** @param {import('./database.js').Row} row */
	observe(row) {
		this.hasRead = true;
		this.#options.onRow?.(row);
	}

	/** @param {import('./types.js').Outcome} outcome */
	resolve(outcome) {
		if (this.#state === 'abandoning') this.#heldOutcome = outcome;
		else if (this.#settle()) this.#resolve(outcome);
	}

	/** @param {unknown} reason */
	reject(reason) {
		if (this.#settle()) this.#reject(reason);
	}

	timeOut() {
		void this.end('timeout');
	}

	/**
	 * Ends the wait without an outcome. With the option `abandon`, the
	 * elicitation is completed first, if nobody has opened it.
	 *
	 * @param {'timeout' | 'aborted' | 'closed'} reason
	 * @param {unknown} [error] an ElicitationTimeoutError by default
	 */
	end(reason, error) {
		this.#ending ??= this.#end(reason, error);
		return this.#ending;
	}

	/**
	 * @param {'timeout' | 'aborted' | 'closed'} reason
	 * @param {unknown} error
	 */
	async #end(reason, error) {
		let status = this.#status;
		if (this.#options.abandon && this.#state === 'waiting') {
			const outcome = await this.#abandon(this.#options.abandon, reason);
			if (outcome === 'opened' || outcome === 'processing') status = outcome;
		}
		this.reject(error ?? new ElicitationTimeoutError(this.#id, this.#options.timeout, status));
	}

	/**
	 * Abandons the elicitation. If somebody else has completed it meanwhile,
	 * the wait resolves with that outcome. After an abort or `close` only an
	 * accept or a decline does so, because other waits that end at the same
	 * moment cancel the same elicitation.
	 *
	 * @param {NonNullable<WaitOptions['abandon']>} abandon
	 * @param {'timeout' | 'aborted' | 'closed'} reason
	 */
	async #abandon(abandon, reason) {
		/** @type {import('./runtime.js').Timer | undefined} */
		let timer;
		/** @type {Promise<undefined>} */
		const overdue = new Promise((resolve) => {
			timer = setTimeout(resolve, ABANDON_MS, undefined);
		});
		this.#state = 'abandoning';
		const result = await Promise.race([abandon(reason).catch(() => undefined), overdue]);
		if (this.#state === 'abandoning') {
			this.#state = 'waiting';
			const held = this.#heldOutcome;
			if (held && result !== 'completed' && (reason === 'timeout' || held.action !== 'cancel')) this.resolve(held);
			// Somebody else has completed it just now: the row is about to be read.
			else if (result === 'already' && reason === 'timeout') await Promise.race([this.promise.catch(() => {}), overdue]);
		}
		clearTimeout(timer);
		return result;
	}

	/**
	 * Reports each status at most once, and never an earlier one after a later
	 * one; and each attempt that has failed since the wait began.
	 *
	 * @param {import('./types.js').OpenStatus} status
	 * @param {number} failedAttempts
	 */
	progress(status, failedAttempts) {
		this.#status = status;
		const rank = OPEN_STATUSES.indexOf(status);
		if (rank > this.#reportedRank) {
			this.#reportedRank = rank;
			void this.#report(/** @type {import('./types.js').Progress} */ (status));
		}
		for (let known = this.#failedAttempts ?? failedAttempts; known < failedAttempts; known += 1) {
			void this.#report('attempt_failed');
		}
		this.#failedAttempts = failedAttempts;
	}

	/** @param {import('./types.js').Progress} progress */
	async #report(progress) {
		if (this.#state === 'settled') return;
		try {
			await this.#options.onProgress?.(progress);
		} catch (error) {
			this.reject(error);
		}
	}

	/** @param {number} deadline by performance.now() */
	#startTimer(deadline) {
		const rest = deadline - performance.now();
		if (rest <= 0) {
			this.timeOut();
			return;
		}
		this.#timer = setTimeout(() => this.#startTimer(deadline), Math.min(Math.ceil(rest), TIMER_MAX_MS));
	}

	/** @returns {boolean} false if the wait was settled before */
	#settle() {
		if (this.#state === 'settled') return false;
		this.#state = 'settled';
		clearTimeout(this.#timer);
		this.#stopFollowing();
		this.#onSettled(this);
		return true;
	}
}
