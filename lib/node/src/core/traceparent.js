// The trace of a call: W3C Trace Context section 3.2, version 00.

import { TEXTS } from './contract-texts.js';

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * @param {unknown} value
 * @returns {string}
 */
export function checkTraceparent(value) {
	if (typeof value !== 'string' || !TRACEPARENT.test(value)) throw new TypeError(TEXTS.traceparentForm);
	return value;
}

/**
 * The trace context that a client sends with its call. A malformed one is ignored.
 *
 * @param {{ [key: string]: unknown } | undefined} meta `_meta` of the request
 * @returns {string | undefined}
 */
export function traceparentOf(meta) {
	const value = meta?.traceparent;
	return typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined;
}
