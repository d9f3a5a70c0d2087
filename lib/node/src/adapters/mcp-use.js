// mcp-use 2.x: protocol revision 2026-07-28, over Hono. It has no sessions, so a
// client of an older revision gets the link as text.

import { makeAdapter } from './adapter.js';
import { INPUT_KEY } from './ask-by-retry.js';
import { traceparentOf } from '../core/traceparent.js';
import { checkTyped } from './typed.js';

export { verifyRequestState } from './ask-by-retry.js';
export { rejectRequestState } from './request-state.js';

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
 * @property {ContextLike} call the last argument of the tool's callback
 * @property {boolean} typed whether the tool has an output schema, which mcp-use does not tell
 *
 * @typedef {object} ContextLike the used part of mcp-use's RequestContext
 * @property {AbortSignal} signal
 * @property {{ header(name: string): string | undefined } | undefined} [req]
 * @property {unknown} [method] of the request; mcp-use 2 tells its middleware, which has the same context
 * @property {{ capabilities(): object, info(): { name?: string, version?: string } }} client
 * @property {{ clientId?: string | undefined } | undefined} [auth]
 * @property {{ [key: string]: unknown } | undefined} [inputResponses]
 * @property {() => unknown} requestState
 * @property {(progress: number, total?: number, message?: string) => Promise<boolean>} reportProgress
 */

/**
 * mcp-use knows the results of prompts and resources by these.
 *
 * @type {Record<string, object>}
 */
const BESIDE = { 'prompts/get': { messages: [] }, 'resources/read': { contents: [] } };

/** @type {typeof makeAdapter<CallFields, import('./types.js').ToolResult | import('./types.js').InputRequired>} */
const make = makeAdapter;

export const { withElicitation, withAccount, useAccount, requirePaid, collectInput, askApproval } = make(({ call, typed }) => {
	checkTyped(typed);
	const { name, version } = call.client.info();
	const method = typeof call.method === 'string' ? call.method : call.req?.header('mcp-method');
	return {
		client: { name, version, capabilities: call.client.capabilities() },
		clientId: call.auth?.clientId,
		method, beside: BESIDE[String(method)],
		// mcp-use shows the headers of the request, and not its _meta.
		traceparent: traceparentOf({ traceparent: call.req?.header('traceparent') }),
		signal: call.signal,
		progress: (progress, message) => call.reportProgress(progress, undefined, message),
		// Closing the connection is the only way for a client to cancel a call.
		isGone: () => call.signal.aborted,
		retry: { state: call.requestState(), answer: call.inputResponses?.[INPUT_KEY], answers: call.inputResponses },
	};
});
