// The official TypeScript SDK 2.x, @modelcontextprotocol/server: protocol
// revision 2026-07-28, and older clients over the same server.

import { ProtocolError, UrlElicitationRequiredError } from '@modelcontextprotocol/server';

import { TaskServer } from '#tasks';
import { makeAdapter } from './adapter.js';
import { watchAnswer } from './answer.js';
import { INPUT_KEY } from './ask-by-retry.js';
import { sendCompletion } from './notices.js';
import { hasLenientTool } from './typed.js';
import { RPC_CAPABILITY_MISSING, RPC_HEADER_MISMATCH } from '../core/contract-limits.js';
import { TEXTS } from '../core/contract-texts.js';
import { traceparentOf } from '../core/traceparent.js';

export { verifyRequestState } from './ask-by-retry.js';
export { rejectRequestState } from './request-state.js';
export { notifyOfTasks } from './task-notifications.js';

/** Where a request states what its client is, because there is no session. */
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';

/** The extension, as clients and servers declare it. */
const TASKS = 'io.modelcontextprotocol/tasks';

/**
 * Calls that can become tasks, and runs of tasks, by the signals of their requests: the SDK passes these on as they are.
 *
 * @type {WeakMap<AbortSignal, import('./types.js').TaskRound>}
 */
const rounds = new WeakMap();

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
 * @property {{ authInfo?: { clientId: string } | undefined, req?: { headers: { get: (name: string) => string | null } } } | undefined} [http]
 *
 * @typedef {object} RequestLike
 * @property {string | number} id
 * @property {string} [method]
 * @property {AbortSignal} signal
 * @property {{ progressToken?: string | number | undefined, [key: string]: unknown } | undefined} [_meta]
 * @property {{ [key: string]: unknown } | undefined} [envelope] only in requests of protocol revision 2026-07-28
 * @property {{ [key: string]: unknown } | undefined} [inputResponses]
 * @property {() => unknown} requestState
 * @property {(notification: Notification) => Promise<void>} notify
 * @property {(request: ElicitRequest, options: RequestOptions) => Promise<{ action: import('../core/types.js').Action }>} send
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
		progress: progressOf(mcpReq), isGone: isConnectionClosed, task: rounds.get(mcpReq.signal),
		typed: hasLenientTool(server), method: mcpReq.method,
	};
	if (mcpReq.envelope) {
		return {
			...call, client: clientOf(mcpReq.envelope),
			retry: { state: mcpReq.requestState(), answer: mcpReq.inputResponses?.[INPUT_KEY], answers: mcpReq.inputResponses },
		};
	}
	return {
		...call,
		client: { ...sdkServer.getClientVersion(), capabilities: sdkServer.getClientCapabilities() },
		// elicitInput would refuse what the client does not declare.
		request: (params, options) => mcpReq.send({ method: 'elicitation/create', params }, options),
		required: (elicitations, message) => new UrlElicitationRequiredError(elicitations, message),
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

/** @param {{ [key: string]: unknown }} envelope */
function clientOf(envelope) {
	const { name, version } = /** @type {{ name?: string, version?: string }} */ (envelope[CLIENT_INFO] ?? {});
	return { name, version, capabilities: envelope[CAPABILITIES] };
}

/**
 * @typedef {object} TaskOptions
 * @property {import('../core/urlmode.js').UrlMode} urlmode of `urlmode`
 * @property {ServerLike | { server: ServerLike }} server the McpServer, with all of its tools, or its `server`
 * @property {(call: ContextLike) => import('../core/types.js').Owner} owner of a request: the same as of what its tools ask for
 * @property {string[]} [required] tools that are for clients with tasks alone: others are refused with -32021
 *
 * @typedef {object} TaskedServer the used part of the SDK's Server, also what its types do not say
 * @property {(capabilities: { extensions: { [name: string]: {} } }) => void} registerCapabilities
 * @property {(method: string, schemas: { params: unknown }, handler: (params: { [key: string]: unknown }, call: ContextLike) => Promise<{}>) => void} setRequestHandler
 * @property {Map<string, Handler>} [_requestHandlers]
 *
 * @typedef {(request: { method: string, params: { [key: string]: unknown } }, call: ContextLike) => Promise<{ [key: string]: unknown }>} Handler
 */

/**
 * Makes the calls of this server that wait for an elicitation into tasks, for clients that
 * declare the extension io.modelcontextprotocol/tasks.
 *
 * @param {TaskOptions} options
 * @returns {boolean} false: this version of the SDK refuses tasks/get, as 2.0 does, and nothing has changed
 * @throws {TypeError} the server has no tools yet, or the UrlMode has no database
 */
export function handleTasks({ urlmode, server: given, owner, required = [] }) {
	const server = /** @type {TaskedServer} */ (/** @type {unknown} */ ('server' in given ? given.server : given));
	const { _requestHandlers: handlers } = server;
	const callTool = handlers?.get('tools/call');
	if (!handlers || !callTool) throw new TypeError('handleTasks takes a server that has its tools');
	const tasks = new TaskServer(urlmode, (code, message) => new ProtocolError(code, message));
	if (!('_customSchemaRequestMethods' in server)) return false;

	server.registerCapabilities({ extensions: { [TASKS]: {} } });
	// Set as it is: the SDK knows no other results of a call than its own.
	handlers.set('tools/call', async (request, call) => {
		const { mcpReq } = call;
		if (!declaresTasks(mcpReq) && required.includes(String(request.params.name))) throw tasksRequired();
		const kept = { .../** @type {{ name: string, arguments?: unknown }} */ (request.params), responses: mcpReq.inputResponses };
		if (!declaresTasks(mcpReq) || mcpReq.requestState() !== undefined || !tasks.takes(kept)) return callTool(request, call);
		/** @type {import('./types.js').TaskRound} */
		const round = {};
		rounds.set(mcpReq.signal, round);
		const result = await callTool(request, call);
		return round.awaited && result.resultType === 'input_required' ? tasks.create(owner(call), kept, round, result) : result;
	});
	/**
	 * @param {string} method
	 * @param {(params: { [key: string]: unknown }, asking: import('./tasks.js').Asking, call: ContextLike) => Promise<{}>} handle
	 */
	const answer = (method, handle) => server.setRequestHandler(method, { params: ANY }, async (params, call) => {
		const { mcpReq, http } = call;
		if (!mcpReq.envelope) throw new ProtocolError(-32601, 'Method not found');
		if (!declaresTasks(mcpReq)) throw tasksRequired();
		const { taskId } = /** @type {{ taskId?: unknown }} */ (params);
		const named = http?.req?.headers.get('mcp-name') ?? taskId;
		if (typeof taskId === 'string' && named !== taskId) throw new ProtocolError(RPC_HEADER_MISMATCH, TEXTS.taskName);
		const { transport } = /** @type {ServerLike} */ (/** @type {unknown} */ (server));
		return handle(params, {
			owner: owner(call), client: clientOf(mcpReq.envelope), run: runOf(callTool, call), written: () => watchAnswer(transport, mcpReq.id, mcpReq.signal).written(),
		}, call);
	});
	answer('tasks/get', ({ taskId }, asking) => tasks.get(taskId, asking));
	answer('tasks/update', ({ taskId, inputResponses }, asking, { mcpReq }) => tasks.update(taskId, mcpReq.inputResponses ?? inputResponses, asking));
	answer('tasks/cancel', ({ taskId }, asking) => tasks.cancel(taskId, asking));
	return true;
}

function tasksRequired() {
	return new ProtocolError(RPC_CAPABILITY_MISSING, TEXTS.taskCapability, { requiredCapabilities: { extensions: { [TASKS]: {} } } });
}

/** A schema of the kind that the SDK takes (Standard Schema): whatever is sent. */
const ANY = { '~standard': { version: 1, vendor: 'urlmode', validate: (/** @type {unknown} */ value) => ({ value }) } };

/** @param {RequestLike} mcpReq */
function declaresTasks({ envelope }) {
	const { extensions } = /** @type {{ extensions?: { [name: string]: unknown } }} */ (envelope?.[CAPABILITIES] ?? {});
	return typeof extensions?.[TASKS] === 'object' && extensions[TASKS] !== null;
}

/**
 * @param {Handler} callTool
 * @param {ContextLike} call the request that the run begins with, which may end before it
 * @returns {import('./tasks.js').Asking['run']}
 */
function runOf(callTool, call) {
	return (kept, answers, round) => {
		const { signal } = new AbortController();
		rounds.set(signal, round);
		const mcpReq = {
			...call.mcpReq, method: 'tools/call', signal, inputResponses: answers, requestState: () => kept.state,
			_meta: { ...call.mcpReq._meta, progressToken: undefined },
		};
		const params = { name: kept.tool, ...kept.arguments !== undefined && { arguments: kept.arguments } };
		return callTool({ method: 'tools/call', params }, { ...call, mcpReq });
	};
}
