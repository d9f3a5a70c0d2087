// Sends progress while a call waits: when the status changes, and at regular
// intervals, so that the client's timeout for a silent request does not end it.

import { HEARTBEAT_MS } from '../core/contract-limits.js';
import { progressMessage } from './messages.js';


export class Heartbeat {
	/** Whether progress could not be sent. */
	failed = false;
	#send;
	#onFailure;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	#count = 0;
	#stopped = false;
	/** @type {'pending' | import('../core/types.js').Progress} */
	#status = 'pending';
	#kind;

	/**
	 * @param {import('./types.js').Call['progress']} send undefined if the client wants no progress
	 * @param {import('../core/types.js').Kind} kind
	 * @param {(error: unknown) => void} onFailure called when progress cannot be sent, because the client is gone
	 * @param {number} [interval] milliseconds
	 */
	constructor(send, kind, onFailure, interval = HEARTBEAT_MS) {
		this.#send = send;
		this.#kind = kind;
		this.#onFailure = onFailure;
		if (send) this.#timer = setInterval(() => void this.#sendProgress(), interval);
	}

	/** @param {import('../core/types.js').Progress} status */
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
			await this.#send(this.#count += 1, progressMessage(this.#kind, this.#status));
		} catch (error) {
			if (this.#stopped) return;
			this.failed = true;
			this.#onFailure(error);
		}
	}
}
