// Elicits as in protocol revision 2026-07-28, in which the server sends no
// requests. A call returns that it requires input, with a handle of ours in
// `requestState`. The client asks its user, and calls again with that handle, on
// any instance. That call waits for the row.
//
// Clients call again at once, but at most ten times. Therefore a call that finds
// the elicitation open waits, as long as clients allow a call to be silent.

import { ElicitationNotFoundError, StateTokenError } from '../errors.js';
import { internalsOf } from '../internals.js';
import { bindingOf, GRACE_MAX_SECONDS, mintState, openState } from '../token.js';
import { waitOneRound } from './elicit-by-link.js';
import {
	canBeOpened, claimOutcome, createElicitation, findOutcome, ownerOf, resumeKeyOf, toElicitResult, toOpenResult,
} from './elicitation.js';
import { refuseRequestState } from './request-state.js';

/** The key of our request in a result's inputRequests. */
export const INPUT_KEY = 'urlmode';

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
 * @throws {import('../errors.js').RequestStateError}
 */
export async function elicitByRetry(options, round) {
	if (round.state === undefined || round.state === null) return startElicitation(options, round);
	try {
		return await resumeElicitation(options, round, openHandle(options, round.state));
	} catch (error) {
		if (error instanceof StateTokenError) {
			refuseRequestState(error.code === 'STATE_EXPIRED' ? 'expired_request_state' : 'invalid_request_state');
		}
		// The row is deleted some time after its end.
		if (error instanceof ElicitationNotFoundError) refuseRequestState('expired_request_state');
		throw error;
	}
}

/**
 * @param {import('./types.js').BaseElicitOptions} options
 * @param {Round} round
 * @param {ReturnType<typeof openHandle>} handle
 * @returns {Promise<import('./types.js').MultiRoundResult>}
 */
async function resumeElicitation(options, round, { id, returnUrl, expiresAt }) {
	const elicitation = { elicitationId: id, returnUrl, expiresAt };
	const refusal = parseRefusal(round.answer);
	if (refusal) {
		const reason = refusal === 'decline' ? 'refused' : 'dismissed';
		const refused = await options.urlmode.abandon(id, { ...ownerOf(options), action: refusal, reason });
		if (refused) return toElicitResult({ elicitationId: id, action: refusal, reason, result: undefined }, elicitation);
	}
	// After a refusal of what is open in the browser, this call does not wait for it.
	const found = refusal ? await findOutcome(options, id) : await waitOneRound(options, round, id);
	if (typeof found === 'object') return claimOutcome(options, round, found, elicitation);
	if (refusal || !canBeOpened(elicitation, found)) return toOpenResult(options, elicitation, found);
	return {
		...pendingResult(elicitation),
		toolResult: { resultType: 'input_required', requestState: String(round.state) },
	};
}

/**
 * @param {import('./types.js').BaseElicitOptions} options
 * @param {Round} round
 * @returns {Promise<import('./types.js').MultiRoundResult>}
 */
async function startElicitation(options, round) {
	const elicitation = await createElicitation(options);
	const { elicitationId, url, expiresAt } = elicitation;
	let found = elicitation.resumed ? await findOutcome(options, elicitationId) : 'pending';
	if (typeof found === 'string' && !canBeOpened(elicitation, found)) {
		found = await waitOneRound(options, round, elicitationId);
		if (typeof found === 'string') return toOpenResult(options, elicitation, found);
	}
	if (typeof found === 'object') return claimOutcome(options, round, found, elicitation);
	return {
		...pendingResult(elicitation),
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

/** @param {{ elicitationId: string, returnUrl: string }} elicitation */
function pendingResult({ elicitationId, returnUrl }) {
	return { elicitationId, action: /** @type {const} */ ('pending'), reason: 'asked', returnUrl };
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
	const expires = Math.ceil(expiresAt.getTime() / 1_000) + GRACE_MAX_SECONDS;
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
	const { id, binding, expires } = openState(keys, 'retry', handleContext(options), String(state));
	if (!bindingOf(subject, session).equals(binding)) throw new StateTokenError('STATE_INVALID');
	return {
		id,
		returnUrl: `${baseUrl}/${options.kind === 'oauth' ? 'oauth' : 'payment'}/${options.provider}/return`,
		expiresAt: new Date((expires - GRACE_MAX_SECONDS) * 1_000),
	};
}

/**
 * Whether a requestState has the form of our handles, whether valid or not.
 *
 * @param {string} state
 */
export function looksLikeHandle(state) {
	return /^[A-Za-z0-9_-]{115}$/.test(state);
}
