// The official TypeScript SDK 2.x, @modelcontextprotocol/server: protocol
// revision 2026-07-28, and older clients over the same server.

import { connectAccount as connect } from './connect-account.js';
import { elicitByLink } from './elicit-by-link.js';
import { elicitByRequest } from './elicit-by-request.js';
import { elicitByRetry, INPUT_KEY, looksLikeHandle } from './elicit-by-retry.js';

export { rejectRequestState } from './request-state.js';

/** Where a request states the capabilities of its client, because there is no session. */
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/**
 * @typedef {import('./types.js').MultiRoundResult} ElicitResult
 * @typedef {import('./types.js').BaseElicitOptions & { ctx: ContextLike }} ElicitOptions `ctx` is the last argument of the tool's
 *     callback
 * @typedef {import('./types.js').MultiRoundAccountResult} AccountResult
 * @typedef {import('./types.js').AccountOptions & { ctx: ContextLike }} AccountOptions
 *
 * @typedef {object} ServerLike the used part of the SDK's Server
 * @property {() => unknown} getClientCapabilities
 *
 * @typedef {object} ContextLike the used part of the SDK's ServerContext
 * @property {RequestLike} mcpReq
 *
 * @typedef {object} RequestLike
 * @property {string | number} id
 * @property {AbortSignal} signal
 * @property {{ progressToken?: string | number | undefined } | undefined} [_meta]
 * @property {{ [key: string]: unknown } | undefined} [envelope] only in requests of protocol revision 2026-07-28
 * @property {{ [key: string]: unknown } | undefined} [inputResponses]
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
 * Asks the client to send its user to a page, and waits until the elicitation is
 * completed. Depending on the protocol revision this takes several calls: return
 * `toolResult` unless `action` is accept. If the client does not support
 * elicitation.url, the result contains the link as text.
 *
 * @param {ServerLike | { server: ServerLike }} server the McpServer that received the call, or its `server`
 * @param {ElicitOptions} options the same in all calls
 * @returns {Promise<ElicitResult>}
 * @throws {import('../errors.js').ElicitationClientGoneError} if the client has closed its connection or session
 * @throws {import('../errors.js').RequestStateError} if the call has a requestState of another user or request. With
 *     `rejectRequestState` around the server's `fetch` the client gets it as a JSON-RPC error
 * @throws {import('../errors.js').UrlModeClosedError} if `close` was called
 */
export async function elicitUrl(server, { ctx: { mcpReq }, ...options }) {
	const call = {
		signal: mcpReq.signal,
		progress: progressOf(mcpReq),
		isGone: isConnectionClosed,
	};
	const hasSession = mcpReq.envelope === undefined;
	const sdkServer = 'server' in server ? server.server : server;
	const capabilities = hasSession ? sdkServer.getClientCapabilities() : mcpReq.envelope?.[CAPABILITIES];
	if (!supportsUrl(capabilities)) return elicitByLink(options, call);
	if (hasSession) return elicitByRequest(options, sessionChannel(mcpReq, call));
	return elicitByRetry(options, { ...call, state: mcpReq.requestState(), answer: mcpReq.inputResponses?.[INPUT_KEY] });
}

/**
 * Connects an account at a provider of lib/providers with `elicitUrl`, and
 * exchanges the code.
 *
 * @param {ServerLike | { server: ServerLike }} server the McpServer that received the call, or its `server`
 * @param {AccountOptions} options the same in all calls
 * @returns {Promise<AccountResult>}
 * @throws {import('../errors.js').ProviderUnavailableError}
 * @throws the errors of `elicitUrl`
 */
export async function connectAccount(server, { ctx, ...options }) {
	return connect(options, (wish) => elicitUrl(server, { ...wish, ctx }));
}

/**
 * For a server that has a `requestState.verify` for handles of its own. Our
 * handles are verified by `elicitUrl`, all others by `verify`.
 *
 * @template C
 * @param {(state: string, ctx: C) => unknown} [verify] verifies handles that are not ours. Without it they are rejected
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
 * For a client of 2025-11-25, which receives requests in its session.
 *
 * @param {RequestLike} mcpReq
 * @param {Required<import('./types.js').Call>} call
 * @returns {import('./elicit-by-request.js').Channel}
 */
function sessionChannel(mcpReq, call) {
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
