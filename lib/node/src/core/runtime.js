// What Node.js has and other runtimes have not, or have in another way.

/** @typedef {ReturnType<typeof setTimeout>} Timer */

const encoder = new TextEncoder();

/**
 * How many bytes a text has in UTF-8.
 *
 * @param {string} text
 */
export function byteLength(text) {
	return encoder.encode(text).length;
}

/**
 * For the operator: a warning of the process, or a line of the console where there is none.
 *
 * @param {string} message
 * @param {string} code
 */
export function warn(message, code) {
	const warnings = /** @type {{ process?: { emitWarning?: (message: string, options: object) => void } }} */ (globalThis).process;
	if (warnings?.emitWarning) warnings.emitWarning(message, { type: 'UrlModeWarning', code });
	else console.warn(`UrlModeWarning: [${code}] ${message}`);
}

/**
 * A timer that does not keep the process running.
 *
 * @param {() => void} callback
 * @param {number} ms
 * @returns {Timer}
 */
export function backgroundTimer(callback, ms) {
	const timer = setTimeout(callback, ms);
	// In other runtimes it is a number.
	/** @type {{ unref?: () => void }} */ (timer).unref?.();
	return timer;
}

/**
 * @param {number} ms
 * @param {AbortSignal} [signal] ends the pause. Whoever waits looks at it
 * @returns {Promise<void>}
 */
export function pause(ms, signal) {
	return new Promise((resolve) => {
		const end = () => {
			clearTimeout(timer);
			signal?.removeEventListener('abort', end);
			resolve();
		};
		const timer = setTimeout(end, ms);
		signal?.addEventListener('abort', end);
		if (signal?.aborted) end();
	});
}

/**
 * The function, which keeps the asynchronous context of its caller (AsyncLocalStorage, and so the span of a trace) when another call
 * calls it later: what follows a promise has the context of who has said so. It is called soon, in the order of its calls.
 *
 * @template T
 * @param {(value: T) => void} report
 * @returns {(value: T) => void}
 */
export function inThisContext(report) {
	/** @type {T[]} */
	const values = [];
	/** @type {() => void} */
	let wake;
	const follow = () => {
		new Promise((resolve) => (wake = () => resolve(undefined))).then(() => {
			follow();
			values.splice(0).forEach(report);
		});
	};
	follow();
	return (value) => {
		values.push(value);
		wake();
	};
}
