// mcp-use 2.x: protocol revision 2026-07-28, over Hono.

import { link } from './link.js';
import { INPUT, retry } from './retry.js';
import { supportsUrl } from './sdk2.js';

/**
 * @typedef {import('./types.js').AskedInLegs} Asked
 * @typedef {import('./types.js').AskOptions & { ctx: ContextLike }} ElicitOptions `ctx` is what the tool's callback is
 *     called with, beside its arguments
 *
 * @typedef {object} ContextLike what is used of mcp-use's RequestContext
 * @property {AbortSignal} signal
 * @property {{ capabilities(): object }} client
 * @property {{ [key: string]: unknown }} [inputResponses]
 * @property {() => unknown} requestState
 * @property {(progress: number, total?: number, message?: string) => Promise<boolean>} reportProgress
 */

/**
 * Asks the user to go to a page, and waits until the browser, or the
 * provider, has completed it: over several calls, so return `toolResult`
 * unless `action` is accept. A client that cannot send its user to a page,
 * and any of an older protocol, since mcp-use has no sessions, gets a result
 * with the link in words.
 *
 * @param {ElicitOptions} options the same in each of the calls
 * @returns {Promise<Asked>}
 * @throws {import('../errors.js').ElicitationClientGoneError} the client has closed its connection
 * @throws {import('../errors.js').UrlModeClosedError} `close` was called
 */
export async function elicitUrl({ ctx, ...options }) {
	const call = {
		signal: ctx.signal,
		progress: (/** @type {number} */ progress, /** @type {string} */ message) =>
			ctx.reportProgress(progress, undefined, message),
		// There is no other way for a client to cancel a call.
		isGone: () => ctx.signal.aborted,
	};
	if (!supportsUrl(ctx.client.capabilities())) return link(options, call);
	return retry(options, { ...call, state: ctx.requestState(), answer: ctx.inputResponses?.[INPUT] });
}

export { verifyRequestState } from './sdk2.js';
