// Steps that all adapters share: create an elicitation, look up its outcome,
// and turn the outcome into the result of `elicitUrl`.

import { createHash } from 'node:crypto';

import { ElicitationTimeoutError } from '../errors.js';
import { failureResult, openResult } from './messages.js';

/** How long one call waits, in a flow of several calls. */
export const ROUND_MS = 45_000;

/**
 * @typedef {import('./types.js').BaseElicitOptions} BaseElicitOptions
 * @typedef {import('../types.js').Elicitation} Elicitation
 * @typedef {import('../types.js').OpenStatus} OpenStatus
 * @typedef {import('../types.js').Outcome} Outcome
 */

/** @param {BaseElicitOptions} options */
export function ownerOf({ subject, session = '' }) {
	return { subject, session };
}

/**
 * The resume key by which the next call goes on with what this one has started:
 * the caller's own, or one made of provider, kind, message and price.
 *
 * @param {BaseElicitOptions} options
 */
export function resumeKeyOf({ resumeKey, provider, kind, message, expected }) {
	if (resumeKey !== undefined) return resumeKey;
	const price = expected === 'any' ? [expected] : [expected?.amount, expected?.currency];
	const question = JSON.stringify([message, ...price]);
	return `${provider} ${kind} ${createHash('sha256').update(question).digest('base64url')}`;
}

/**
 * @param {BaseElicitOptions} options
 * @returns {Promise<Elicitation>}
 */
export function createElicitation(options) {
	const { urlmode, provider, kind, targetUrl, ttl, id, expected, pkce, exclusive } = options;
	if (typeof options.message !== 'string' || options.message === '') throw new TypeError('message must be a non-empty string');
	return urlmode.create({
		...ownerOf(options), provider, kind, targetUrl, ttl, id, expected, pkce, exclusive,
		resumeKey: resumeKeyOf(options), canRecheck: options.recheck !== undefined,
	});
}

/**
 * Reads the outcome of an elicitation without waiting, except for a recheck.
 *
 * @param {BaseElicitOptions} options
 * @param {string} id
 * @returns {Promise<Outcome | OpenStatus>} its status if it is not completed
 */
export async function findOutcome(options, id) {
	try {
		return await options.urlmode.waitForCompletion(id, { ...ownerOf(options), timeout: 0, recheck: options.recheck });
	} catch (error) {
		if (error instanceof ElicitationTimeoutError) return error.status;
		throw error;
	}
}

/**
 * Whether the user can be sent to the page. If not, all that is left to do for
 * an open elicitation is to wait.
 *
 * @param {{ expiresAt: Date }} elicitation
 * @param {OpenStatus} status
 */
export function canBeOpened({ expiresAt }, status) {
	return status !== 'processing' && expiresAt.getTime() > Date.now();
}

/**
 * The result of a call that ends before its elicitation does.
 *
 * @param {BaseElicitOptions} options
 * @param {{ elicitationId: string, returnUrl: string }} elicitation
 * @param {OpenStatus} status
 * @returns {import('./types.js').NotAccepted<import('./types.js').ToolResult>}
 */
export function toOpenResult({ message }, { elicitationId, returnUrl }, status) {
	return { elicitationId, action: 'pending', reason: status, returnUrl, toolResult: openResult(message, status) };
}

/**
 * @param {Outcome} outcome
 * @param {{ returnUrl: string }} elicitation
 * @returns {import('./types.js').ElicitResult}
 */
export function toElicitResult(outcome, { returnUrl }) {
	const { action, reason } = outcome;
	if (action === 'accept') return { ...outcome, action, returnUrl };
	return { ...outcome, action, returnUrl, toolResult: failureResult(action, reason) };
}

/**
 * Claims the outcome, so that only one call acts on an accept, and that the call
 * after a refusal asks again. A call that nobody waits for any more claims
 * nothing, and a refusal claims no payment: what was paid stays for the next one.
 *
 * @param {BaseElicitOptions} options
 * @param {Pick<import('./types.js').Call, 'signal'>} call
 * @param {Outcome} outcome
 * @param {{ returnUrl: string }} elicitation
 * @returns {Promise<import('./types.js').ElicitResult>}
 */
export async function claimOutcome(options, { signal }, outcome, elicitation) {
	const { elicitationId, action, reference, refunded } = outcome;
	if (action === 'accept' && signal?.aborted) throw signal.reason;
	const claimed = await options.urlmode.claim(elicitationId, { ...ownerOf(options), action, reference });
	if (claimed || action !== 'accept') return toElicitResult(outcome, elicitation);
	const reason = refunded ? 'refunded' : 'claimed';
	return toElicitResult({ elicitationId, action: 'cancel', reason, result: undefined }, elicitation);
}
