// Waits that a signal ends.

/**
 * Waits for a promise, and rejects with the reason of the signal if that aborts first. What the promise stands for goes on.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export async function orAborted(promise, signal) {
	if (!signal) return promise;
	/** @type {() => void} */
	let abort = () => {};
	const aborted = new Promise((_, reject) => {
		abort = () => reject(signal.reason);
		signal.addEventListener('abort', abort);
		if (signal.aborted) abort();
	});
	try {
		return await Promise.race([promise, /** @type {Promise<never>} */ (aborted)]);
	} finally {
		signal.removeEventListener('abort', abort);
	}
}

/** @type {WeakMap<AbortSignal, Followers>} */
const followers = new WeakMap();

/** The functions that are called when a signal aborts. */
class Followers {
	/** @type {Set<(reason: unknown) => void>} */
	#all = new Set();
	#signal;

	/** @param {AbortSignal} signal */
	constructor(signal) {
		this.#signal = signal;
	}

	/** @param {(reason: unknown) => void} follower */
	add(follower) {
		if (this.#all.size === 0) this.#signal.addEventListener('abort', this, { once: true });
		this.#all.add(follower);
	}

	/** @param {(reason: unknown) => void} follower */
	delete(follower) {
		if (this.#all.delete(follower) && this.#all.size === 0) this.#signal.removeEventListener('abort', this);
	}

	/** Called by the signal. */
	handleEvent() {
		for (const follower of this.#all) follower(this.#signal.reason);
	}
}

/**
 * Calls a function when the signal aborts. One signal may end thousands of waits, and has one listener for all of
 * them: Node.js would report more as a leak.
 *
 * @param {AbortSignal} signal
 * @param {(reason: unknown) => void} follower another one for each call
 * @returns {() => void} stops that
 */
export function onAbort(signal, follower) {
	const all = followers.get(signal) ?? new Followers(signal);
	followers.set(signal, all);
	all.add(follower);
	return () => all.delete(follower);
}
