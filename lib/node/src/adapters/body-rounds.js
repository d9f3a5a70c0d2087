// A body may ask its user for something itself (protocol revision 2026-07-28), as a gateway passes on what a server behind it
// asks for. What it asks goes to the client as it is, and its requestState sealed in ours. The claim is held until the
// client comes back, and the final result alone ends it.

import { CallContext } from '#call-context';
import { BODY_STATE_MAX, CLAIM_HOLD_MS } from '../core/contract-limits.js';
import { sharedOf } from '../core/internals.js';
import { byteLength } from '../core/runtime.js';
import { requestOf } from './ask-by-retry.js';
import { ownerOf } from './asking.js';

/**
 * @typedef {import('./types.js').AnyElicitOptions} ElicitOptions
 * @typedef {import('./types.js').Retry} Retry
 * @typedef {import('../core/types.js').BegunClaim} BegunClaim
 */

/**
 * What the client has sent to a body, in place of what it has sent with the call, which is ours. A body may also make
 * calls of its own, of a server in the same process: these have what they were sent.
 *
 * @type {CallContext<{ sent: unknown, retry: Retry }>}
 */
const bodies = new CallContext();

/**
 * @param {Pick<import('./types.js').Call, 'retry'>} call
 * @returns {Retry | undefined}
 */
export function retryOf({ retry }) {
	const body = bodies.getStore();
	return retry && { ...body && body.sent === retry.state ? body.retry : retry, sent: retry.state };
}

/**
 * @template R
 * @param {Retry | undefined} retry of the call
 * @param {import('../core/internals.js').LeftRound | undefined} left by the round before of this body
 * @param {() => R} body
 */
export function runBody(retry, left, body) {
	if (!retry) return body();
	const own = { state: left?.state || undefined, answer: left && retry.answer, answers: left && retry.answers };
	return bodies.run({ sent: retry.sent, retry: own }, body);
}

/**
 * @param {unknown} result
 * @returns {result is { requestState?: unknown }}
 */
export function requiresInput(result) {
	return typeof result === 'object' && result !== null
		&& ('resultType' in result && result.resultType === 'input_required' || 'inputRequests' in result);
}

/**
 * Holds the claim for the next round, and seals what that needs.
 *
 * @param {ElicitOptions} options
 * @param {Retry | undefined} retry of the call
 * @param {object} elicitation
 * @param {BegunClaim} claimed
 * @param {{ requestState?: unknown }} result
 * @throws {TypeError} it cannot ask
 */
export async function holdForBody(options, retry, elicitation, claimed, result) {
	const { requestState: state = '' } = result;
	if (!retry || options.kind === 'oauth') throw new TypeError('only for clients of protocol revision 2026-07-28, and not for an account, can the function ask for input itself');
	if (typeof state !== 'string' || byteLength(state) > BODY_STATE_MAX) throw new TypeError(`the requestState of the function must be text of at most ${BODY_STATE_MAX} bytes`);
	const { handles } = sharedOf(options.urlmode);
	const handled = /** @type {import('../core/internals.js').HandledElicitation} */ (/** @type {unknown} */ (elicitation));
	const { reference, fence } = claimed;
	const left = { ...reference !== undefined && { reference }, ...fence !== undefined && { fence }, state };
	const sealed = await handles.sealRound(`${await handles.seal(requestOf(options), handled)}.1`, handled, ownerOf(options), left);
	await claimed.hold(CLAIM_HOLD_MS);
	return { ...result, requestState: sealed };
}
