// Asks on a page of the callback programs: the steps that all adapters share.

import { runWithElicitation } from './with-elicitation.js';

/**
 * @template R
 * @param {import('./types.js').InputOptions} options
 * @param {import('./types.js').Call} call
 * @param {(input: import('./types.js').Input) => R | Promise<R>} body
 */
export function runWithInput(options, call, body) {
	return runWithElicitation({ ...options, kind: /** @type {const} */ ('input') }, call,
		({ elicitationId, result, signal, fence }) => body({
			elicitationId, values: /** @type {import('../core/form-types.js').Values} */ (result?.values ?? {}), signal, fence,
		}));
}

/**
 * @template R
 * @param {import('./types.js').ApprovalOptions} options
 * @param {import('./types.js').Call} call
 * @param {(approval: import('./types.js').Approval) => R | Promise<R>} body
 */
export function runWithApproval(options, call, body) {
	return runWithElicitation({ ...options, kind: /** @type {const} */ ('approval') }, call,
		(accepted) => {
			const { result, returnUrl, action, ...approval } = accepted;
			return body(/** @type {import('./types.js').Approval} */ (/** @type {unknown} */ (approval)));
		});
}
