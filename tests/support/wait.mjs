// Waits for conditions, however slow the machine is.

import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT = 30_000;

/**
 * Tries a condition again and again until it is true.
 *
 * @template T
 * @param {string} what the condition is, for the error message
 * @param {() => T | Promise<T>} condition
 * @param {{ timeout?: number, every?: number }} [options] milliseconds
 * @returns {Promise<T>} the last value of the condition
 */
export async function until(what, condition, { timeout = TIMEOUT, every = 10 } = {}) {
	const deadline = performance.now() + timeout;

	for (;;) {
		const answer = await condition();
		if (answer) {
			return answer;
		}
		if (performance.now() > deadline) {
			throw new Error(`waited ${timeout} ms in vain until ${what}`);
		}
		await sleep(every);
	}
}

/** A promise and the functions that settle it. */
export function deferred() {
	const parts = {};
	parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
	return parts;
}
