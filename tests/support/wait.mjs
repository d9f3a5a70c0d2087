// Waits for conditions, however slow the machine is.

import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT = 30_000;

const EVERY_FIRST = 5;
const EVERY_LAST = 100;

/**
 * Tries a condition again and again until it is true: less and less often, unless told.
 *
 * @template T
 * @param {string} what the condition is, for the error message
 * @param {() => T | Promise<T>} condition
 * @param {{ timeout?: number, every?: number }} [options] milliseconds
 * @returns {Promise<T>} the last value of the condition
 */
export async function until(what, condition, { timeout = TIMEOUT, every = undefined } = {}) {
	const deadline = performance.now() + timeout;

	for (let pause = every ?? EVERY_FIRST; ; pause = every ?? Math.min(pause * 1.5, EVERY_LAST)) {
		const answer = await condition();
		if (answer) {
			return answer;
		}
		if (performance.now() > deadline) {
			throw new Error(`waited ${timeout} ms in vain until ${what}`);
		}
		await sleep(pause);
	}
}

/** A promise and the functions that settle it. */
export function deferred() {
	const parts = {};
	parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
	return parts;
}
