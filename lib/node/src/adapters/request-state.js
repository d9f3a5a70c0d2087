// A requestState that is not valid for its call must be rejected with a JSON-RPC
// error (protocol revision 2026-07-28). A framework turns what a tool throws into
// a result. Therefore the error is also kept beside the HTTP request, and
// `rejectRequestState` answers with it.

import { CallContext } from '#call-context';
import { RPC_INVALID_PARAMS } from '../core/contract-limits.js';
import { RequestStateError } from '../core/errors.js';

/** @type {CallContext<{ refusal?: RequestStateError }>} */
const exchanges = new CallContext();

/**
 * @param {'invalid_request_state' | 'expired_request_state'} reason
 * @returns {never}
 * @throws {RequestStateError}
 */
export function refuseRequestState(reason) {
	const refusal = new RequestStateError(reason);
	const exchange = exchanges.getStore();
	if (exchange) exchange.refusal = refusal;
	throw refusal;
}

/**
 * Wraps the server's `fetch`. If `withElicitation` has refused the requestState of a
 * call, the response is a JSON-RPC error instead of a tool result that reports
 * one. A response that is already streamed stays such a result.
 *
 * @template {unknown[]} R
 * @param {(request: Request, ...rest: R) => Response | Promise<Response>} fetch that of the server
 * @returns {(request: Request, ...rest: R) => Promise<Response>}
 */
export function rejectRequestState(fetch) {
	return async (request, ...rest) => {
		/** @type {{ refusal?: RequestStateError }} */
		const exchange = {};
		const response = await exchanges.run(exchange, async () => fetch(request, ...rest));
		const { refusal } = exchange;
		if (!refusal || !response.headers.get('content-type')?.startsWith('application/json')) return response;
		const { jsonrpc, id } = /** @type {{ jsonrpc: string, id: unknown }} */ (await response.json());
		const { message, reason } = refusal;
		const headers = new Headers(response.headers);
		headers.delete('content-length');
		return new Response(JSON.stringify({ jsonrpc, id, error: { code: RPC_INVALID_PARAMS, message, data: { reason } } }),
			{ status: response.status, headers });
	};
}
