// mcp-lite 0.8 to 0.10. Keeps its sessions and its requests to clients in
// PostgreSQL instead of the memory of one process, so that any instance can
// receive a client's response.

import { connectAccount as connect } from './connect-account.js';
import { elicitByLink } from './elicit-by-link.js';

export { PostgresClientRequestAdapter } from './client-requests.js';
export { PostgresSessionAdapter } from './sessions.js';

/**
 * @typedef {import('./types.js').ElicitResult} ElicitResult
 * @typedef {import('./types.js').BaseElicitOptions & { ctx: ContextLike }} ElicitOptions `ctx` is the last argument of the tool's
 *     handler
 * @typedef {import('./types.js').AccountResult} AccountResult
 * @typedef {import('./types.js').AccountOptions & { ctx: ContextLike }} AccountOptions
 *
 * @typedef {object} ContextLike the used part of mcp-lite's MCPServerContext
 * @property {((update: { progress: number, message?: string }) => Promise<void> | void) | undefined} [progress]
 */

/**
 * mcp-lite does not support elicitation in URL mode. Therefore the result of the
 * first call contains the link as text, and each later call waits for up to
 * `legTimeout` until the elicitation is completed.
 *
 * @param {ElicitOptions} options
 * @returns {Promise<ElicitResult>}
 * @throws {import('../errors.js').UrlModeClosedError} if `close` was called
 */
export async function elicitUrl({ ctx, ...options }) {
	const { progress } = ctx;
	return elicitByLink(options, {
		signal: undefined,
		progress: progress && (async (count, message) => progress({ progress: count, message })),
	});
}

/**
 * Connects an account at a provider of lib/providers with `elicitUrl`, and
 * exchanges the code.
 *
 * @param {AccountOptions} options the same in all calls
 * @returns {Promise<AccountResult>}
 * @throws {import('../errors.js').ProviderUnavailableError}
 * @throws the errors of `elicitUrl`
 */
export async function connectAccount({ ctx, ...options }) {
	return connect(options, (wish) => elicitUrl({ ...wish, ctx }));
}
