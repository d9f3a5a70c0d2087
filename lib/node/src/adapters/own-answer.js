// What an adapter answers to a call in place of the body, and what the official SDKs
// make of it: a result that does not fit the tool's output schema becomes an error
// result, and so does the error -32042, if the server has another copy of its class.
// The SDKs have one copy for ES modules, of which this package is, and one for CommonJS.
// Therefore the answer is restored when it is sent.

import { toTyped } from './typed.js';

/**
 * @typedef {import('./answer.js').Message} Message
 * @typedef {import('./types.js').ToolResult | import('./types.js').InputRequired | Error} OwnAnswer a result, or the error that was thrown
 */

/** How both SDKs begin what they say of a result that does not fit. */
const DOES_NOT_FIT = /^(MCP error -?\d+: )?Output validation error: /;

/**
 * @param {Message} message the answer that the SDK sends
 * @param {OwnAnswer} own
 * @returns {Message}
 */
export function restoreOwn(message, own) {
	const { result } = message;
	const said = result?.isError === true && result.content?.[0]?.text;
	if (typeof said !== 'string') return message;
	if (own instanceof Error) {
		const { code, message: reason, data } = /** @type {Error & { code?: unknown, data?: unknown }} */ (own);
		return said === reason ? { jsonrpc: '2.0', id: message.id, error: { code, message: reason, data } } : message;
	}
	return DOES_NOT_FIT.test(said) ? { ...message, result: { ...result, ...toTyped(own) } } : message;
}
