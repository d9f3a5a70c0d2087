// mcp-use 2.x: protocol revision 2026-07-28, over Hono.

import { connectAccount as connect } from './connect-account.js';
import { elicitByLink } from './elicit-by-link.js';
import { elicitByRetry, INPUT_KEY } from './elicit-by-retry.js';
import { supportsUrl } from './sdk2.js';

/**
 * @typedef {import('./types.js').MultiRoundResult} ElicitResult
 * @typedef {import('./types.js').BaseElicitOptions & { ctx: ContextLike }} ElicitOptions `ctx` is the last argument of the tool's
 *     callback
 * @typedef {import('./types.js').MultiRoundAccountResult} AccountResult
 * @typedef {import('./types.js').AccountOptions & { ctx: ContextLike }} AccountOptions
 *
 * @typedef {object} ContextLike the used part of mcp-use's RequestContext
 * @property {AbortSignal} signal
 * @property {{ capabilities(): object }} client
 * @property {{ [key: string]: unknown } | undefined} [inputResponses]
 * @property {() => unknown} requestState
 * @property {(progress: number, total?: number, message?: string) => Promise<boolean>} reportProgress
 */

/**
 * Asks the client to send its user to a page, and waits until the elicitation is
 * completed. This takes several calls: return `toolResult` unless `action` is
 * accept. If the client does not support elicitation.url, the result contains
 * the link as text. So it does for every client of an older protocol revision,
 * because mcp-use has no sessions.
 *
 * @param {ElicitOptions} options the same in all calls
 * @returns {Promise<ElicitResult>}
 * @throws {import('../errors.js').ElicitationClientGoneError} if the client has closed its connection
 * @throws {import('../errors.js').RequestStateError} if the call has a requestState of another user or request. With
 *     `rejectRequestState` around the server's `fetch` the client gets it as a JSON-RPC error
 * @throws {import('../errors.js').UrlModeClosedError} if `close` was called
 */
export async function elicitUrl({ ctx, ...options }) {
	const call = {
		signal: ctx.signal,
		progress: (/** @type {number} */ progress, /** @type {string} */ message) =>
			ctx.reportProgress(progress, undefined, message),
		// Closing the connection is the only way for a client to cancel a call.
		isGone: () => ctx.signal.aborted,
	};
	if (!supportsUrl(ctx.client.capabilities())) return elicitByLink(options, call);
	return elicitByRetry(options, { ...call, state: ctx.requestState(), answer: ctx.inputResponses?.[INPUT_KEY] });
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

export { rejectRequestState, verifyRequestState } from './sdk2.js';
