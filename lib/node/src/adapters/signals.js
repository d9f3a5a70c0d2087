/**
 * Returns a controller that aborts when any of the signals does. `release`
 * removes its listeners, so that a signal that outlives the call keeps no
 * reference to it.
 *
 * @param {(AbortSignal | undefined)[]} signals
 */
export function followSignals(signals) {
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
