// Sends progress while a call waits: when the status changes, and at regular
// intervals, so that the client's timeout for a silent request does not end it.

import { PROGRESS_MESSAGES } from './messages.js';

const INTERVAL_MS = 15_000;

export class Heartbeat {
	/** Whether progress could not be sent. */
	failed = false;
	#send;
	#onFailure;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	#count = 0;
	#stopped = false;
	/** @type {keyof typeof PROGRESS_MESSAGES} */
	#status = 'pending';

	/**
	 * @param {import('./types.js').Call['progress']} send undefined if the client wants no progress
	 * @param {(error: unknown) => void} onFailure called when progress cannot be sent, because the client is gone
	 * @param {number} [interval] milliseconds
	 */
	constructor(send, onFailure, interval = INTERVAL_MS) {
		this.#send = send;
		this.#onFailure = onFailure;
		if (send) this.#timer = setInterval(() => void this.#sendProgress(), interval);
	}

	/** @param {import('../types.js').Progress} status */
	report = (status) => {
		this.#status = status;
		void this.#sendProgress();
	};

	stop() {
		clearInterval(this.#timer);
		this.#stopped = true;
	}

	async #sendProgress() {
		if (!this.#send || this.#stopped) return;
		try {
			await this.#send(this.#count += 1, PROGRESS_MESSAGES[this.#status]);
		} catch (error) {
			if (this.#stopped) return;
			this.failed = true;
			this.#onFailure(error);
		}
	}
}
