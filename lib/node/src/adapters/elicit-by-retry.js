// Elicits as in protocol revision 2026-07-28, in which the server sends no
// requests. A call returns that it requires input, with a handle of ours in
// `requestState`. The client asks its user, and calls again with that handle, on
// any instance. That call waits for the row.
//
// Clients call again at once, but at most ten times. Therefore a call that finds
// the elicitation open waits, as long as clients allow a call to be silent.

import { StateTokenError } from '../errors.js';
import { internalsOf } from '../internals.js';
import { bindingOf, mintState, openState } from '../token.js';
import { waitOneRound } from './elicit-by-link.js';
import { claimOutcome, createElicitation, findOutcome, ownerOf, resumeKeyOf, toElicitResult } from './elicitation.js';
import { failureResult } from './messages.js';

/** The key of our request in a result's inputRequests. */
export const INPUT_KEY = 'urlmode';

/** How many seconds a handle outlives its elicitation, because a payment may take a day. */
const HANDLE_GRACE_SECONDS = 86_400;

/**
 * @typedef {import('./types.js').Call & RoundFields} Round
 * @typedef {object} RoundFields
 * @property {unknown} state the requestState that the client sent
 * @property {unknown} answer its response to our request
 */

/**
 * @param {import('./types.js').BaseElicitOptions} options
 * @param {Round} round
 * @returns {Promise<import('./types.js').MultiRoundResult>}
 */
export async function elicitByRetry(options, round) {
	if (round.state === undefined || round.state === null) return startElicitation(options);
	let handle;
	try {
		handle = openHandle(options, round.state);
	} catch (error) {
		if (!(error instanceof StateTokenError)) throw error;
		return { elicitationId: '', action: 'cancel', reason: 'invalid_state', returnUrl: '',
			toolResult: failureResult('cancel', 'invalid_state') };
	}
	const { id, returnUrl } = handle;
	const refusal = parseRefusal(round.answer);
	if (refusal) {
		const reason = refusal === 'decline' ? 'refused' : 'dismissed';
		const refused = await options.urlmode.abandon(id, { ...ownerOf(options), action: refusal, reason });
		if (refused) return toElicitResult({ elicitationId: id, action: refusal, reason, result: undefined }, { returnUrl });
	}
	const waited = await waitOneRound(options, round, id);
	if (typeof waited === 'object') return claimOutcome(options, waited, { returnUrl });
	return {
		...pendingResult(id, returnUrl, waited),
		toolResult: { resultType: 'input_required', requestState: String(round.state) },
	};
}

/** @param {import('./types.js').BaseElicitOptions} options */
async function startElicitation(options) {
	const elicitation = await createElicitation(options);
	const { elicitationId, returnUrl, url, expiresAt } = elicitation;
	const outcome = elicitation.resumed ? await findOutcome(options, elicitationId) : undefined;
	if (outcome) return claimOutcome(options, outcome, elicitation);
	return {
		...pendingResult(elicitationId, returnUrl, 'pending'),
		toolResult: {
			resultType: /** @type {const} */ ('input_required'),
			inputRequests: { [INPUT_KEY]: /** @type {never} */ (elicitationRequest(options.message, url)) },
			requestState: mintHandle(options, elicitationId, expiresAt),
		},
	};
}

/**
 * @param {string} message
 * @param {string} url
 */
function elicitationRequest(message, url) {
	return { method: 'elicitation/create', params: { mode: 'url', message, url } };
}

/**
 * @param {string} elicitationId
 * @param {string} returnUrl
 * @param {string} status
 */
function pendingResult(elicitationId, returnUrl, status) {
	return {
		elicitationId, action: /** @type {const} */ ('pending'), reason: status === 'processing' ? 'processing' : 'asked',
		returnUrl,
	};
}

/** @param {unknown} answer */
function parseRefusal(answer) {
	const action = typeof answer === 'object' && answer !== null && 'action' in answer ? answer.action : undefined;
	return action === 'decline' || action === 'cancel' ? action : undefined;
}

/**
 * A handle is bound to one owner, one provider and one resume key. A handle for
 * a cheap item cannot complete an expensive one.
 *
 * @param {import('./types.js').BaseElicitOptions} options
 */
function handleContext(options) {
	return `${options.provider}\0${resumeKeyOf(options)}`;
}

/**
 * @param {import('./types.js').BaseElicitOptions} options
 * @param {string} id
 * @param {Date} expiresAt
 */
function mintHandle(options, id, expiresAt) {
	const { subject, session } = ownerOf(options);
	const expires = Math.ceil(expiresAt.getTime() / 1_000) + HANDLE_GRACE_SECONDS;
	return mintState(internalsOf(options.urlmode).keys, 'retry', handleContext(options),
		{ id, expires, binding: bindingOf(subject, session) });
}

/**
 * @param {import('./types.js').BaseElicitOptions} options
 * @param {unknown} state
 * @throws {StateTokenError}
 */
function openHandle(options, state) {
	const { keys, baseUrl } = internalsOf(options.urlmode);
	const { subject, session } = ownerOf(options);
	const { id, binding } = openState(keys, 'retry', handleContext(options), String(state));
	if (!bindingOf(subject, session).equals(binding)) throw new StateTokenError('STATE_INVALID');
	return { id, returnUrl: `${baseUrl}/${options.kind === 'oauth' ? 'oauth' : 'payment'}/${options.provider}/return` };
}

/**
 * Whether a requestState has the form of our handles, whether valid or not.
 *
 * @param {string} state
 */
export function looksLikeHandle(state) {
	return /^[A-Za-z0-9_-]{115}$/.test(state);
}
