// Looking again without being told to: soon at first, then ever later, up to
// a limit, with jitter.

import { jittered } from './jitter.js';

const MIN_MS = 250;
const MAX_MS = 5_000;
const GROWTH = 1.5;

export class Poll {
	#look;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	#pause = MIN_MS;

	/** @param {() => void} look */
	constructor(look) {
		this.#look = look;
	}

	/** Looks soon, and then again and again until `stop`. */
	start() {
		this.stop();
		this.#pause = MIN_MS;
		this.#schedule();
	}

	stop() {
		clearTimeout(this.#timer);
		this.#timer = undefined;
	}

	#schedule() {
		this.#timer = setTimeout(() => {
			this.#pause = Math.min(MAX_MS, this.#pause * GROWTH);
			this.#schedule();
			this.#look();
		}, jittered(this.#pause)).unref();
	}
}
