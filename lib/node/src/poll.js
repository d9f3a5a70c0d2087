// Calls a function again and again: soon at first, then at growing intervals
// up to a limit, with jitter.

import { jittered } from './jitter.js';

const MIN_MS = 250;
const MAX_MS = 5_000;
const GROWTH = 1.5;

export class Poll {
	#callback;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	#interval = MIN_MS;

	/** @param {() => void} callback */
	constructor(callback) {
		this.#callback = callback;
	}

	get running() {
		return this.#timer !== undefined;
	}

	/** Starts again with the shortest interval, and goes on until `stop`. */
	start() {
		this.stop();
		this.#interval = MIN_MS;
		this.#schedule();
	}

	stop() {
		clearTimeout(this.#timer);
		this.#timer = undefined;
	}

	#schedule() {
		this.#timer = setTimeout(() => {
			this.#interval = Math.min(MAX_MS, this.#interval * GROWTH);
			this.#schedule();
			this.#callback();
		}, jittered(this.#interval)).unref();
	}
}
