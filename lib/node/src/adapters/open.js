// The elicitation of a call, and what the call is told of its outcome.

import { createHash } from 'node:crypto';

import { ElicitationTimeoutError } from '../errors.js';
import { notDone } from './words.js';

/** How long a call waits that may be called again. */
export const LEG_MS = 45_000;

/**
 * @typedef {import('./types.js').AskOptions} AskOptions
 * @typedef {import('../types.js').Elicitation} Elicitation
 * @typedef {import('../types.js').Outcome} Outcome
 */

/** @param {AskOptions} options */
export function ownerOf({ subject, session = '' }) {
	return { subject, session };
}

/**
 * What an elicitation is for where the caller does not say: the same
 * question, to be paid the same.
 *
 * @param {AskOptions} options
 */
export function resumeKeyOf({ resumeKey, provider, kind, message, expected }) {
	if (resumeKey !== undefined) return resumeKey;
	const question = JSON.stringify([message, expected?.amount, expected?.currency]);
	return `${provider} ${kind} ${createHash('sha256').update(question).digest('base64url')}`;
}

/**
 * @param {AskOptions} options
 * @param {string} [resumeKey]
 * @returns {Promise<Elicitation>}
 */
export function openElicitation(options, resumeKey) {
	const { urlmode, provider, kind, targetUrl, ttl, id, expected, pkce, exclusive } = options;
	if (typeof options.message !== 'string' || options.message === '') throw new TypeError('message must be a text');
	return urlmode.create({
		...ownerOf(options), provider, kind, targetUrl, ttl, id, expected, pkce, exclusive,
		resumeKey: resumeKey ?? options.resumeKey,
	});
}

/**
 * One look at where an elicitation stands.
 *
 * @param {AskOptions} options
 * @param {string} id
 * @returns {Promise<Outcome | undefined>} nothing: it is open
 */
export async function lookAt(options, id) {
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
 * @returns {import('./types.js').Asked}
 */
export function toAsked(outcome, { returnUrl }) {
	const { action } = outcome;
	if (action === 'accept') return { ...outcome, action, returnUrl };
	const { elicitationId, reason, result } = outcome;
	return { elicitationId, action, reason, result, returnUrl, toolResult: notDone(action, reason) };
}

/**
 * For an elicitation that later calls find again: only one of them goes on
 * with its outcome.
 *
 * @param {AskOptions} options
 * @param {Outcome} outcome
 * @param {{ returnUrl: string }} elicitation
 * @returns {Promise<import('./types.js').Asked>}
 */
export async function claim(options, outcome, elicitation) {
	const { elicitationId } = outcome;
	if (await options.urlmode.claim(elicitationId, ownerOf(options))) return toAsked(outcome, elicitation);
	return toAsked({ elicitationId, action: 'cancel', reason: 'claimed', result: undefined }, elicitation);
}
