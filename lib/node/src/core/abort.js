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
