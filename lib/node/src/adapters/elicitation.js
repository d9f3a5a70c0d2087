// Steps that all adapters share: create an elicitation, look up its outcome,
// and turn the outcome into the result of `elicitUrl`.

import { createHash } from 'node:crypto';

import { ElicitationTimeoutError } from '../errors.js';
import { failureResult } from './messages.js';

/** How long one call waits, in a flow of several calls. */
export const ROUND_MS = 45_000;

/**
 * @typedef {import('./types.js').BaseElicitOptions} BaseElicitOptions
 * @typedef {import('../types.js').Elicitation} Elicitation
 * @typedef {import('../types.js').Outcome} Outcome
 */

/** @param {BaseElicitOptions} options */
export function ownerOf({ subject, session = '' }) {
	return { subject, session };
}

/**
 * The resume key: the caller's own, or one made of provider, kind, message and
 * price.
 *
 * @param {BaseElicitOptions} options
 */
export function resumeKeyOf({ resumeKey, provider, kind, message, expected }) {
	if (resumeKey !== undefined) return resumeKey;
	const question = JSON.stringify([message, expected?.amount, expected?.currency]);
	return `${provider} ${kind} ${createHash('sha256').update(question).digest('base64url')}`;
}

/**
 * @param {BaseElicitOptions} options
 * @param {string} [resumeKey]
 * @returns {Promise<Elicitation>}
 */
export function createElicitation(options, resumeKey) {
	const { urlmode, provider, kind, targetUrl, ttl, id, expected, pkce, exclusive } = options;
	if (typeof options.message !== 'string' || options.message === '') throw new TypeError('message must be a non-empty string');
	return urlmode.create({
		...ownerOf(options), provider, kind, targetUrl, ttl, id, expected, pkce, exclusive,
		resumeKey: resumeKey ?? options.resumeKey,
	});
}

/**
 * Reads the outcome of an elicitation without waiting.
 *
 * @param {BaseElicitOptions} options
 * @param {string} id
 * @returns {Promise<Outcome | undefined>} undefined if it is not completed
 */
export async function findOutcome(options, id) {
	try {
		return await options.urlmode.waitForCompletion(id, { ...ownerOf(options), timeout: 0 });
	} catch (error) {
		if (error instanceof ElicitationTimeoutError) return undefined;
		throw error;
	}
}

/**
 * @param {Outcome} outcome
 * @param {{ returnUrl: string }} elicitation
 * @returns {import('./types.js').ElicitResult}
 */
export function toElicitResult(outcome, { returnUrl }) {
	const { action } = outcome;
	if (action === 'accept') return { ...outcome, action, returnUrl };
	const { elicitationId, reason, result } = outcome;
	return { elicitationId, action, reason, result, returnUrl, toolResult: failureResult(action, reason) };
}

/**
 * Claims the outcome, so that only one call uses it. For elicitations that
 * later calls can resume.
 *
 * @param {BaseElicitOptions} options
 * @param {Outcome} outcome
 * @param {{ returnUrl: string }} elicitation
 * @returns {Promise<import('./types.js').ElicitResult>}
 */
export async function claimOutcome(options, outcome, elicitation) {
	const { elicitationId } = outcome;
	if (await options.urlmode.claim(elicitationId, ownerOf(options))) return toElicitResult(outcome, elicitation);
	return toElicitResult({ elicitationId, action: 'cancel', reason: 'claimed', result: undefined }, elicitation);
}
