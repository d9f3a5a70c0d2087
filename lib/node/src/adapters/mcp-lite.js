// mcp-lite 0.8 to 0.10: what it keeps in one process's memory, on PostgreSQL,
// so that any instance may take a client's answer.

import { link } from './link.js';

export { PostgresClientRequestAdapter } from './client-requests.js';
export { PostgresSessionAdapter } from './sessions.js';

/**
 * @typedef {import('./types.js').Asked} Asked
 * @typedef {import('./types.js').AskOptions & { ctx: ContextLike }} ElicitOptions `ctx` is what the tool's handler is
 *     called with, beside its arguments
 *
 * @typedef {object} ContextLike what is used of mcp-lite's MCPServerContext
 * @property {(update: { progress: number, message?: string }) => Promise<void> | void} [progress]
 */

/**
 * mcp-lite has no elicitation in URL mode: the first call's result has the
 * link in words, and a later call waits until the browser, or the provider,
 * has completed it, for up to `legTimeout` at a time.
 *
 * @param {ElicitOptions} options
 * @returns {Promise<Asked>}
 * @throws {import('../errors.js').UrlModeClosedError} `close` was called
 */
export async function elicitUrl({ ctx, ...options }) {
	const { progress } = ctx;
	return link(options, {
		signal: undefined,
		progress: progress && (async (count, message) => progress({ progress: count, message })),
	});
}
