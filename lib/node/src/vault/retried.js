// Keeps new tokens in memory while PostgreSQL is away, and writes them later.

import { setTimeout as sleep } from 'node:timers/promises';

import { COMMIT_RETRY_MAX_MS, COMMIT_RETRY_MIN_MS } from '../core/contract-limits.js';
import { LASTING_CLASSES } from '../core/contract-words.js';
import { AccountSizeError, isDatabaseError, UrlModeClosedError } from '../core/errors.js';
import { jittered } from '../core/jitter.js';

/** The SQLSTATE serialization_failure. */
const CHANGED = '40001';

/**
 * Repeats a change of a row while PostgreSQL is away. It may be made twice, if the answer to the first was lost. The last attempt
 * begins after the time is over: the process may have stood still in the one before.
 *
 * @template R
 * @param {() => Promise<R>} change
 * @param {number} time milliseconds
 * @param {(error: unknown) => boolean} [isFinal] the errors after which it is not repeated
 * @returns {Promise<R>}
 */
export async function retried(change, time, isFinal = isLasting) {
	const until = performance.now() + time;
	for (let delay = COMMIT_RETRY_MIN_MS; ; delay = Math.min(delay * 2, COMMIT_RETRY_MAX_MS)) {
		const isLast = performance.now() > until;
		try {
			return await change();
		} catch (error) {
			if (isFinal(error) || isLast) throw error;
			await sleep(jittered(delay));
		}
	}
}

/**
 * Whether another attempt would fail as well: the tokens are too large, PostgreSQL refuses the value, or this UrlMode is
 * closed.
 *
 * @param {unknown} error
 */
function isLasting(error) {
	return error instanceof UrlModeClosedError || error instanceof AccountSizeError || (isDatabaseError(error) && LASTING_CLASSES.includes(error.code.slice(0, 2)));
}

/**
 * Whether the account has changed since it was read.
 *
 * @param {unknown} error
 */
export function isChanged(error) {
	return isDatabaseError(error) && error.code === CHANGED;
}

/**
 * Whether it is certain that these tokens are not stored, and will not be: they are too large, or PostgreSQL refuses them.
 *
 * @param {unknown} error of `retried`
 */
export function isRefused(error) {
	return error instanceof AccountSizeError || (isDatabaseError(error) && isLasting(error));
}
