// One call of waitForCompletion: settled once, by whatever comes first.

import { setMaxListeners } from 'node:events';

import { ElicitationTimeoutError } from './errors.js';

/** What setTimeout takes; a longer time is waited in pieces. */
export const TIMER_MAX_MS = 2 ** 31 - 1;

const STATUSES = ['pending', 'opened', 'processing'];

export class Wait {
	#id;
	#options;
	#onSettled;
	/** @type {(outcome: import('./urlmode.js').Outcome) => void} */
	#resolve = () => {};
	/** @type {(reason: unknown) => void} */
	#reject = () => {};
	#settled = false;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	#reported = 0;
	/** How many of the row's rechecks the recheck function was asked about, or is now. */
	#rechecks = 0;
	/** @type {import('./urlmode.js').Recheck | undefined} not yet asked */
	#question;
	#asking = false;

	/**
	 * @param {string} id
	 * @param {Pick<import('./urlmode.js').WaitOptions, 'signal' | 'onProgress' | 'recheck'> & { timeout: number }} options
	 * @param {(wait: Wait) => void} onSettled
	 */
	constructor(id, options, onSettled) {
		this.#id = id;
		this.#options = options;
		this.#onSettled = onSettled;
		/** @type {Promise<import('./urlmode.js').Outcome>} */
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

	/** @param {import('./urlmode.js').Outcome} outcome */
	resolve(outcome) {
		if (this.#settle()) this.#resolve(outcome);
	}

	/** @param {unknown} reason */
	reject(reason) {
		if (this.#settle()) this.#reject(reason);
	}

	rejectTimeout() {
		this.reject(new ElicitationTimeoutError(this.#id, this.#options.timeout));
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
			await this.#options.onProgress?.(/** @type {import('./urlmode.js').Progress} */ (status));
		} catch (error) {
			this.reject(error);
		}
	}

	/**
	 * Asks the recheck function, one call at a time: once for each event that
	 * wants it, and for those that come during a call once together.
	 *
	 * @param {import('./urlmode.js').Recheck} question
	 * @param {number} rechecks how many events have wanted it
	 * @param {(answer: import('./urlmode.js').Answer) => Promise<unknown>} complete
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

	#onAbort = () => this.reject(this.#options.signal?.reason);

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
