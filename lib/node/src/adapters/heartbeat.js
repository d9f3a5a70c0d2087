// Progress while a call waits: what happened, and in between that it still
// waits, so that a client's time limit for a silent request does not end it.

import { PROGRESS } from './words.js';

const EVERY_MS = 15_000;

export class Heartbeat {
	#send;
	#onFailure;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	#count = 0;
	#stopped = false;
	/** @type {keyof typeof PROGRESS} */
	#status = 'pending';

	/**
	 * @param {import('./types.js').Call['progress']} send undefined: the call wants none
	 * @param {(error: unknown) => void} onFailure what could not be sent has nobody to take it
	 * @param {number} [every] milliseconds
	 */
	constructor(send, onFailure, every = EVERY_MS) {
		this.#send = send;
		this.#onFailure = onFailure;
		if (send) this.#timer = setInterval(() => void this.#beat(), every);
	}

	/** @param {'opened' | 'processing'} status */
	tell = (status) => {
		this.#status = status;
		void this.#beat();
	};

	stop() {
		clearInterval(this.#timer);
		this.#stopped = true;
	}

	async #beat() {
		if (!this.#send || this.#stopped) return;
		try {
			await this.#send(this.#count += 1, PROGRESS[this.#status]);
		} catch (error) {
			if (!this.#stopped) this.#onFailure(error);
		}
	}
}
