// The official TypeScript SDK 2.x, @modelcontextprotocol/server: protocol
// revision 2026-07-28, and older clients over the same server.

import { link } from './link.js';
import { push } from './push.js';
import { INPUT, looksLikeHandle, retry } from './retry.js';

/** Where a request says what its client can do, since it has no session that knows. */
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/**
 * @typedef {import('./types.js').AskedInLegs} Asked
 * @typedef {import('./types.js').AskOptions & { ctx: ContextLike }} ElicitOptions `ctx` is what the tool's callback is
 *     called with, beside its arguments
 *
 * @typedef {object} ServerLike what is used of the SDK's Server
 * @property {() => unknown} getClientCapabilities
 *
 * @typedef {object} ContextLike what is used of the SDK's ServerContext, which a tool's callback is called with
 * @property {RequestLike} mcpReq
 *
 * @typedef {object} RequestLike
 * @property {string | number} id
 * @property {AbortSignal} signal
 * @property {{ progressToken?: string | number }} [_meta]
 * @property {{ [key: string]: unknown }} [envelope] of a request of protocol revision 2026-07-28 alone
 * @property {{ [key: string]: unknown }} [inputResponses]
 * @property {() => unknown} requestState
 * @property {(notification: Notification) => Promise<void>} notify
 * @property {(params: ElicitParams, options: RequestOptions) => Promise<{ action: 'accept' | 'decline' | 'cancel' }>
 *     } elicitInput
 *
 * @typedef {object} Notification
 * @property {string} method
 * @property {{ [key: string]: unknown }} params
 *
 * @typedef {{ mode: 'url', elicitationId: string, url: string, message: string }} ElicitParams
 * @typedef {{ signal: AbortSignal, timeout: number, relatedRequestId: string | number }} RequestOptions
 */

/**
 * Asks the user to go to a page, and waits until the browser, or the
 * provider, has completed it: over several calls where the protocol wants
 * that, so return `toolResult` unless `action` is accept. A client that
 * cannot send its user to a page gets a result with the link in words.
 *
 * @param {ServerLike | { server: ServerLike }} server that the call came to: the McpServer, or its `server`
 * @param {ElicitOptions} options the same in each of the calls
 * @returns {Promise<Asked>}
 * @throws {import('../errors.js').ElicitationClientGoneError} the client has closed its connection or session
 * @throws {import('../errors.js').UrlModeClosedError} `close` was called
 */
export async function elicitUrl(server, { ctx: { mcpReq }, ...options }) {
	const call = {
		signal: mcpReq.signal,
		progress: progressOf(mcpReq),
		isGone: isConnectionClosed,
	};
	const older = mcpReq.envelope === undefined;
	const inner = 'server' in server ? server.server : server;
	const capabilities = older ? inner.getClientCapabilities() : mcpReq.envelope?.[CAPABILITIES];
	if (!supportsUrl(capabilities)) return link(options, call);
	if (older) return push(options, olderChannel(mcpReq, call));
	return retry(options, { ...call, state: mcpReq.requestState(), answer: mcpReq.inputResponses?.[INPUT] });
}

/**
 * For a server that has a `requestState.verify` for handles of its own: ours
 * are looked at by `elicitUrl`, the others by `verify`.
 *
 * @template C
 * @param {(state: string, ctx: C) => unknown} [verify] for what is not ours; without it that is refused
 * @returns {(state: string, ctx: C) => unknown} for ServerOptions
 */
export function verifyRequestState(verify) {
	return (state, ctx) => {
		if (looksLikeHandle(state)) return undefined;
		if (!verify) throw new Error('unknown requestState');
		return verify(state, ctx);
	};
}

/**
 * A client of 2025-11-25 is asked by a request, in its session.
 *
 * @param {RequestLike} mcpReq
 * @param {Required<import('./types.js').Call>} call
 * @returns {import('./push.js').Channel}
 */
function olderChannel(mcpReq, call) {
	return {
		...call,
		elicit: (params, { signal, timeout }) =>
			mcpReq.elicitInput(params, { signal, timeout, relatedRequestId: mcpReq.id }),
		complete: (elicitationId) => mcpReq.notify({ method: 'notifications/elicitation/complete', params: { elicitationId } }),
	};
}

/** @param {RequestLike} mcpReq */
function progressOf({ _meta, notify }) {
	const progressToken = _meta?.progressToken;
	if (progressToken === undefined) return undefined;
	return (/** @type {number} */ progress, /** @type {string} */ message) =>
		notify({ method: 'notifications/progress', params: { progressToken, progress, message } });
}

/** @param {unknown} capabilities */
export function supportsUrl(capabilities) {
	const { elicitation } = /** @type {{ elicitation?: { url?: unknown } }} */ (capabilities ?? {});
	return typeof elicitation?.url === 'object' && elicitation.url !== null;
}

/** @param {unknown} error */
function isConnectionClosed(error) {
	return typeof error === 'object' && error !== null && 'code' in error && error.code === 'CONNECTION_CLOSED';
}
