// What came back is not kept for longer than it is of use: every process with
// a UrlMode has the database drop what is due, now and then.

import { isRefusal } from './database.js';
import { jittered } from './jitter.js';

const EVERY_MS = 60_000;

export class Forgetting {
	#forget;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	#busy = false;
	#warned = false;

	/** @param {() => Promise<boolean>} forget drops some of what is due; true: there may be more */
	constructor(forget) {
		this.#forget = forget;
	}

	/** From the first call on, until `stop`. Keeps no process. */
	start() {
		this.#timer ??= setInterval(() => void this.#run(), jittered(EVERY_MS)).unref();
	}

	stop() {
		clearInterval(this.#timer);
	}

	async #run() {
		if (this.#busy) return;
		this.#busy = true;
		try {
			while (await this.#forget());
		} catch (error) {
			// PostgreSQL may be away; what is due then is due the next time.
			if (isRefusal(error) && !this.#warned) {
				this.#warned = true;
				process.emitWarning(`results are not dropped: ${/** @type {Error} */ (error).message}`,
					{ type: 'UrlModeWarning', code: 'URLMODE_FORGETTING' });
			}
		} finally {
			this.#busy = false;
		}
	}
}
