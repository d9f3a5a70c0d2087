// mcp-lite 0.8 to 0.10. It has no elicitation in URL mode, so its clients get
// the link as text. Its sessions and its requests to clients can be kept in
// PostgreSQL instead of the memory of one process, so that any instance can
// receive a client's response.

import { makeAdapter } from '../adapters/adapter.js';
import { checkTyped } from '../adapters/typed.js';
import { traceparentOf } from '../core/traceparent.js';

export { PostgresClientRequestAdapter, PostgresSessionAdapter } from '#postgres-adapters';

/**
 * @typedef {import('../adapters/types.js').ElicitOptions & CallFields} ElicitOptions
 * @typedef {import('../adapters/types.js').AccountOptions & CallFields} AccountOptions
 * @typedef {import('../adapters/types.js').InputOptions & CallFields} InputOptions
 * @typedef {import('../adapters/types.js').ApprovalOptions & CallFields} ApprovalOptions
 * @typedef {import('../adapters/types.js').Accepted} Accepted
 * @typedef {import('../adapters/types.js').Input} Input
 * @typedef {import('../adapters/types.js').Approval} Approval
 * @typedef {import('../adapters/types.js').Account} Account
 * @typedef {import('../adapters/types.js').UseAccountOptions & CallFields} UseAccountOptions
 * @typedef {import('../adapters/types.js').RequirePaidOptions & CallFields} RequirePaidOptions
 * @typedef {import('../adapters/types.js').Entitlement} Entitlement
 *
 * @typedef {object} CallFields
 * @property {ContextLike} call the last argument of the tool's handler
 * @property {boolean} typed whether the tool has an output schema, which mcp-lite does not tell
 *
 * @typedef {object} ContextLike the used part of mcp-lite's MCPServerContext
 * @property {{ params?: unknown }} request
 * @property {{ token?: string, clientId?: string | undefined } | undefined} [authInfo] mcp-lite's own type has no clientId; one of the
 *     official SDKs has
 * @property {((update: { progress: number, message?: string }) => Promise<void> | void) | undefined} [progress]
 */

/** @type {typeof makeAdapter<CallFields, import('../adapters/types.js').ToolResult>} */
const make = makeAdapter;

export const { withElicitation, withAccount, useAccount, requirePaid, collectInput, askApproval } = make(({ call: { request, authInfo, progress }, typed }) => {
	checkTyped(typed);
	return {
		client: {},
		clientId: authInfo?.clientId,
		traceparent: traceparentOf(/** @type {{ _meta?: {} } | undefined} */ (request.params)?._meta),
		signal: undefined,
		progress: progress && (async (count, message) => progress({ progress: count, message })),
	};
});
