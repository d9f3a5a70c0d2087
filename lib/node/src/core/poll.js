// Calls a function again and again: soon at first, then at growing intervals
// up to a limit, with jitter.

import { POLL_GROWTH, POLL_MAX_MS, POLL_MIN_MS } from './contract-limits.js';
import { jittered } from './jitter.js';

export class Poll {
	#callback;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	/** when it goes off next */
	#at = Infinity;
	#interval = POLL_MIN_MS;

	/** @param {() => void} callback */
	constructor(callback) {
		this.#callback = callback;
	}

	get running() {
		return this.#timer !== undefined;
	}

	/** Starts again with the shortest interval, and goes on until `stop`. Many calls do not put off the next time. */
	start() {
		this.#interval = POLL_MIN_MS;
		const delay = jittered(POLL_MIN_MS);
		if (performance.now() + delay < this.#at) this.#schedule(delay);
	}

	stop() {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#at = Infinity;
	}

	/** @param {number} delay */
	#schedule(delay) {
		this.stop();
		this.#at = performance.now() + delay;
		this.#timer = setTimeout(() => {
			this.#interval = Math.min(POLL_MAX_MS, this.#interval * POLL_GROWTH);
			this.#schedule(jittered(this.#interval));
			this.#callback();
		}, delay).unref();
	}
}
