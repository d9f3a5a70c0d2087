// Whether what answers a call is an error.

/** @typedef {{ id?: unknown, method?: unknown, result?: { isError?: unknown } | null | undefined, error?: unknown }} Message */

/**
 * @param {Message} message
 * @returns {boolean}
 */
export function isErrorAnswer({ method, result, error }) {
	return method === undefined && (error !== undefined || result?.isError === true);
}
