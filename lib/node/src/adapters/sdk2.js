// The official TypeScript SDK 2.x, @modelcontextprotocol/server: protocol
// revision 2026-07-28, and older clients over the same server.

import { UrlElicitationRequiredError } from '@modelcontextprotocol/server';

import { makeAdapter } from './adapter.js';
import { INPUT_KEY } from './ask-by-retry.js';
import { sendCompletion } from './notices.js';
import { hasLenientTool } from './typed.js';
import { traceparentOf } from '../core/traceparent.js';

export { verifyRequestState } from './ask-by-retry.js';
export { rejectRequestState } from './request-state.js';

/** Where a request states what its client is, because there is no session. */
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';

/**
 * @typedef {import('./types.js').ElicitOptions & CallFields} ElicitOptions
 * @typedef {import('./types.js').AccountOptions & CallFields} AccountOptions
 * @typedef {import('./types.js').InputOptions & CallFields} InputOptions
 * @typedef {import('./types.js').ApprovalOptions & CallFields} ApprovalOptions
 * @typedef {import('./types.js').Accepted} Accepted
 * @typedef {import('./types.js').Input} Input
 * @typedef {import('./types.js').Approval} Approval
 * @typedef {import('./types.js').Account} Account
 * @typedef {import('./types.js').UseAccountOptions & CallFields} UseAccountOptions
 * @typedef {import('./types.js').RequirePaidOptions & CallFields} RequirePaidOptions
 * @typedef {import('./types.js').Entitlement} Entitlement
 *
 * @typedef {object} CallFields
 * @property {ServerLike | { server: ServerLike }} server the McpServer that received the call, or its `server`
 * @property {ContextLike} call the last argument of the tool's callback
 *
 * @typedef {object} ServerLike the used part of the SDK's Server
 * @property {() => unknown} getClientCapabilities
 * @property {() => { name: string, version: string } | undefined} getClientVersion
 * @property {import('./answer.js').TransportLike | undefined} [transport]
 * @property {(() => void) | undefined} [onclose]
 *
 * @typedef {object} ContextLike the used part of the SDK's ServerContext
 * @property {RequestLike} mcpReq
 * @property {{ authInfo?: { clientId: string } | undefined } | undefined} [http]
 *
 * @typedef {object} RequestLike
 * @property {string | number} id
 * @property {AbortSignal} signal
 * @property {{ progressToken?: string | number | undefined, [key: string]: unknown } | undefined} [_meta]
 * @property {{ [key: string]: unknown } | undefined} [envelope] only in requests of protocol revision 2026-07-28
 * @property {{ [key: string]: unknown } | undefined} [inputResponses]
 * @property {() => unknown} requestState
 * @property {(notification: Notification) => Promise<void>} notify
 * @property {(request: ElicitRequest, options: RequestOptions) => Promise<{ action: 'accept' | 'decline' | 'cancel' }>} send
 *
 * @typedef {object} Notification
 * @property {string} method
 * @property {{ [key: string]: unknown }} params
 *
 * @typedef {{ method: 'elicitation/create', params: import('./types.js').UrlRequest }} ElicitRequest
 * @typedef {{ signal: AbortSignal, timeout: number }} RequestOptions
 */

/** @type {typeof makeAdapter<CallFields, import('./types.js').ToolResult | import('./types.js').InputRequired>} */
const make = makeAdapter;

export const { withElicitation, withAccount, useAccount, requirePaid, collectInput, askApproval } = make(({ server, call: { mcpReq, http } }) => {
	const sdkServer = 'server' in server ? server.server : server;
	const call = {
		clientId: http?.authInfo?.clientId, traceparent: traceparentOf(mcpReq._meta), transport: sdkServer.transport, requestId: mcpReq.id, signal: mcpReq.signal,
		progress: progressOf(mcpReq), isGone: isConnectionClosed,
		typed: hasLenientTool(server),
	};
	if (mcpReq.envelope) {
		const { name, version } = /** @type {{ name?: string, version?: string }} */ (mcpReq.envelope[CLIENT_INFO] ?? {});
		return {
			...call, client: { name, version, capabilities: mcpReq.envelope[CAPABILITIES] },
			retry: { state: mcpReq.requestState(), answer: mcpReq.inputResponses?.[INPUT_KEY] },
		};
	}
	return {
		...call,
		client: { ...sdkServer.getClientVersion(), capabilities: sdkServer.getClientCapabilities() },
		// elicitInput would refuse what the client does not declare.
		request: (params, options) => mcpReq.send({ method: 'elicitation/create', params }, options),
		required: (elicitations) => new UrlElicitationRequiredError(elicitations),
		complete: (id) => sendCompletion(sdkServer, id, mcpReq.id),
		session: sdkServer,
	};
});

/** @param {RequestLike} mcpReq */
function progressOf({ _meta, notify }) {
	const progressToken = _meta?.progressToken;
	if (progressToken === undefined) return undefined;
	return (/** @type {number} */ progress, /** @type {string} */ message) =>
		notify({ method: 'notifications/progress', params: { progressToken, progress, message } });
}

/** @param {unknown} error */
function isConnectionClosed(error) {
	return typeof error === 'object' && error !== null && 'code' in error && error.code === 'CONNECTION_CLOSED';
}
