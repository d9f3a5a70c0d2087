// One timer for thousands of deadlines. It fires at the earliest of them; the
// function that it calls then sets it again for the others.

import { ALARM_MIN_MS } from './contract-limits.js';
import { TIMER_MAX_MS } from './wait.js';

export class Alarm {
	#callback;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	#at = Infinity;

	/** @param {() => void} callback */
	constructor(callback) {
		this.#callback = callback;
	}

	/**
	 * Does not keep the process running. Changes nothing if the alarm goes off
	 * earlier anyway.
	 *
	 * @param {number} at by performance.now()
	 */
	set(at) {
		if (at >= this.#at) return;
		clearTimeout(this.#timer);
		this.#at = at;
		const delay = Math.min(Math.max(Math.ceil(at - performance.now()), ALARM_MIN_MS), TIMER_MAX_MS);
		this.#timer = setTimeout(() => this.#goOff(), delay).unref();
	}

	stop() {
		clearTimeout(this.#timer);
		this.#at = Infinity;
	}

	#goOff() {
		this.#at = Infinity;
		this.#callback();
	}
}
