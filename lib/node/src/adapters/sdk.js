// The official TypeScript SDK 1.x, @modelcontextprotocol/sdk: protocol
// revision 2025-11-25.

import { ElicitResultSchema, UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';

import { makeAdapter } from './adapter.js';
import { sendCompletion } from './notices.js';
import { onClose } from './server-close.js';
import { followSignals } from './signals.js';
import { hasLenientTool } from './typed.js';
import { RPC_CONNECTION_CLOSED } from '../core/contract-limits.js';
import { traceparentOf } from '../core/traceparent.js';

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
 * @property {ServerLike | { server: ServerLike }} server the McpServer of the calling session, or its `server`
 * @property {CallExtra} call the last argument of the tool's callback
 *
 * @typedef {object} CallExtra the used part of the SDK's RequestHandlerExtra
 * @property {AbortSignal} signal
 * @property {string | number} requestId
 * @property {{ clientId: string } | undefined} [authInfo]
 * @property {{ progressToken?: string | number | undefined, [key: string]: unknown } | undefined} [_meta]
 * @property {(notification: ProgressNotification) => Promise<void>} sendNotification
 * @property {(request: ElicitRequest, schema: typeof ElicitResultSchema, options: RequestOptions) =>
 *     Promise<{ action: import('../core/types.js').Action }>} sendRequest
 *
 * @typedef {object} ProgressNotification
 * @property {'notifications/progress'} method
 * @property {{ progressToken: string | number, progress: number, message: string }} params
 *
 * @typedef {object} ServerLike the used part of the SDK's Server
 * @property {import('./answer.js').TransportLike | undefined} [transport]
 * @property {(() => void) | undefined} [onclose]
 * @property {() => { elicitation?: { url?: object | undefined } | undefined } | undefined} getClientCapabilities
 * @property {() => { name: string, version: string } | undefined} getClientVersion
 *
 * @typedef {{ method: 'elicitation/create', params: import('./types.js').UrlRequest }} ElicitRequest
 * @typedef {{ signal: AbortSignal, timeout: number }} RequestOptions
 */

/** @type {typeof makeAdapter<CallFields, import('./types.js').ToolResult>} */
const make = makeAdapter;

export const { withElicitation, withAccount, useAccount, requirePaid, collectInput, askApproval } = make(({ server, call }) => {
	const sdkServer = 'server' in server ? server.server : server;
	const progressToken = call._meta?.progressToken;
	const end = endOfCall(sdkServer, call.signal);
	return {
		client: { ...sdkServer.getClientVersion(), capabilities: sdkServer.getClientCapabilities() },
		clientId: call.authInfo?.clientId,
		traceparent: traceparentOf(call._meta),
		signal: end.signal,
		requestSignal: call.signal,
		release: end.release,
		progress: progressToken === undefined ? undefined
			: (progress, message) => call.sendNotification({ method: 'notifications/progress', params: { progressToken, progress, message } }),
		isGone: (error) => sdkServer.transport === undefined
			|| (typeof error === 'object' && error !== null && 'code' in error && error.code === RPC_CONNECTION_CLOSED),
		transport: sdkServer.transport,
		requestId: call.requestId,
		typed: hasLenientTool(server),
		// elicitInput would refuse what the client does not declare.
		request: (params, options) => call.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema, options),
		required: (elicitations, message) => new UrlElicitationRequiredError(elicitations, message),
		complete: (id) => sendCompletion(sdkServer, id, call.requestId),
		session: sdkServer,
	};
});

/**
 * Older versions of the SDK do not abort calls when their transport closes.
 *
 * @param {ServerLike} server
 * @param {AbortSignal} signal
 */
function endOfCall(server, signal) {
	const { controller, release } = followSignals([signal]);
	const stopWatching = onClose(server, () => controller.abort(new Error('the session was closed')));
	return {
		signal: controller.signal,
		release() {
			stopWatching();
			release();
		},
	};
}
