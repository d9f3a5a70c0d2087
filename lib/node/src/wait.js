// One call of waitForCompletion: settled once, by whatever comes first.

import { setMaxListeners } from 'node:events';

import { ElicitationTimeoutError } from './errors.js';

/** What setTimeout takes; a longer time is waited in pieces. */
export const TIMER_MAX_MS = 2 ** 31 - 1;

const STATUSES = ['pending', 'opened', 'processing'];

/** How long an end waits for its row to say so. */
const GRACE_MS = 2_000;

/**
 * @typedef {object} WaitOptions
 * @property {number} timeout milliseconds
 * @property {AbortSignal} [signal]
 * @property {import('./types.js').WaitOptions['onProgress']} [onProgress]
 * @property {import('./types.js').RecheckFunction} [recheck]
 * @property {(reason: string) => Promise<unknown>} [abandon] ends the elicitation with the wait
 * @property {(row: import('./database.js').Row) => void} [onRow] each time that the row is read
 */

export class Wait {
	#id;
	#options;
	#onSettled;
	/** @type {(outcome: import('./types.js').Outcome) => void} */
	#resolve = () => {};
	/** @type {(reason: unknown) => void} */
	#reject = () => {};
	#settled = false;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	#reported = 0;
	/** How many of the row's rechecks the recheck function was asked about, or is now. */
	#rechecks = 0;
	/** @type {import('./types.js').Recheck | undefined} not yet asked */
	#question;
	#asking = false;
	/** @type {Promise<void> | undefined} */
	#ending;
	/** What the row will say when this wait has ended its elicitation. */
	#ownReason = '';

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
		if (options.signal) {
			// One signal may end thousands of waits: that is no leak to warn of.
			setMaxListeners(0, options.signal);
			options.signal.addEventListener('abort', this.#onAbort, { once: true });
		}
	}

	/** Whether one look at the row is all that is asked for. */
	get once() {
		return this.#options.timeout === 0;
	}

	get settled() {
		return this.#settled;
	}

	/** @param {import('./database.js').Row} row */
	see(row) {
		this.#options.onRow?.(row);
	}

	/** @param {import('./types.js').Outcome} outcome */
	resolve(outcome) {
		if (this.#ownReason !== '' && outcome.reason === this.#ownReason) return;
		if (this.#settle()) this.#resolve(outcome);
	}

	/** @param {unknown} reason */
	reject(reason) {
		if (this.#settle()) this.#reject(reason);
	}

	rejectTimeout() {
		void this.end('timeout', new ElicitationTimeoutError(this.#id, this.#options.timeout,
			/** @type {'pending' | 'opened' | 'processing'} */ (STATUSES[Math.max(0, this.#reported)])));
	}

	/**
	 * Ends the wait for a reason of this side's own. Where the elicitation
	 * ends with it, its row says so first, if it can; what completed it
	 * meanwhile goes before a timeout.
	 *
	 * @param {'timeout' | 'aborted' | 'closed'} reason
	 * @param {unknown} error
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
		if (this.#options.abandon && !this.#settled) {
			this.#ownReason = reason;
			/** @type {NodeJS.Timeout | undefined} */
			let timer;
			const overdue = new Promise((resolve) => {
				timer = setTimeout(resolve, GRACE_MS);
			});
			const outcome = await Promise.race([this.#options.abandon(reason).catch(() => undefined), overdue]);
			// Completed just now: that is about to be read.
			if (outcome === 'already' && reason === 'timeout') await Promise.race([this.promise.catch(() => {}), overdue]);
			clearTimeout(timer);
		}
		this.reject(error);
	}

	/**
	 * Tells each status at most once, and never an earlier one after a later.
	 *
	 * @param {'pending' | 'opened' | 'processing'} status
	 */
	async progress(status) {
		const rank = STATUSES.indexOf(status);
		if (this.#settled || rank <= this.#reported) return;
		this.#reported = rank;
		try {
			await this.#options.onProgress?.(/** @type {import('./types.js').Progress} */ (status));
		} catch (error) {
			this.reject(error);
		}
	}

	/**
	 * Asks the recheck function, one call at a time: once for each event that
	 * wants it, and for those that come during a call once together.
	 *
	 * @param {import('./types.js').Recheck} question
	 * @param {number} rechecks how many events have wanted it
	 * @param {(answer: import('./types.js').Answer) => Promise<unknown>} complete
	 */
	async recheck(question, rechecks, complete) {
		const ask = this.#options.recheck;
		if (!ask || rechecks <= this.#rechecks) return;
		this.#rechecks = rechecks;
		this.#question = question;
		if (this.#asking) return;
		this.#asking = true;
		try {
			while (this.#question && !this.#settled) {
				const next = this.#question;
				this.#question = undefined;
				const answer = await ask(next);
				if (answer) {
					await complete(answer);
					break;
				}
			}
		} catch (error) {
			this.reject(error);
		}
		this.#asking = false;
	}

	#onAbort = () => void this.end('aborted', this.#options.signal?.reason);

	/** @param {number} deadline by performance.now() */
	#startTimer(deadline) {
		const rest = deadline - performance.now();
		if (rest <= 0) {
			this.rejectTimeout();
			return;
		}
		this.#timer = setTimeout(() => this.#startTimer(deadline), Math.min(Math.ceil(rest), TIMER_MAX_MS));
	}

	/** @returns {boolean} false: something else came first */
	#settle() {
		if (this.#settled) return false;
		this.#settled = true;
		clearTimeout(this.#timer);
		this.#options.signal?.removeEventListener('abort', this.#onAbort);
		this.#onSettled(this);
		return true;
	}
}
