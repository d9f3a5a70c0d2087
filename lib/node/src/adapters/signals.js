// Aborting for one of several reasons.

/**
 * A controller that follows the signals, until `release`: one that lives
 * longer than the call keeps nothing of it.
 *
 * @param {(AbortSignal | undefined)[]} signals
 */
export function follow(signals) {
	const controller = new AbortController();
	/** @type {(() => void)[]} */
	const releases = [];
	for (const signal of signals) {
		if (!signal) continue;
		const onAbort = () => controller.abort(signal.reason);
		if (signal.aborted) onAbort();
		signal.addEventListener('abort', onAbort, { once: true });
		releases.push(() => signal.removeEventListener('abort', onAbort));
	}
	return { controller, release: () => releases.forEach((release) => release()) };
}
