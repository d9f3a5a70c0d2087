// Asks as in protocol revision 2026-07-28, in which the server sends no
// requests. A call returns that it requires input, with a handle of ours in
// `requestState`. The client asks its user, and calls again with that handle, on
// any instance. That call waits for the row.
//
// A client that calls again and again gives up after some rounds, and some take an
// answer without a request for the result. Therefore a call whose round is over
// ends with the link as text, except for clients that clients.js names.

import { ACTIONS } from '../core/contract-words.js';
import { ElicitationNotFoundError, StateTokenError } from '../core/errors.js';
import { sharedOf } from '../core/internals.js';
import { canBeOpened, endPending, findOutcome, ownerOf, resumeKeyOf, waitOneRound } from './asking.js';
import { endAsk, REFUSALS } from './asks.js';
import { refuseRequestState } from './request-state.js';

/** The key of our request in a result's inputRequests. */
export const INPUT_KEY = 'urlmode';

/**
 * @typedef {import('./asking.js').ElicitOptions} ElicitOptions
 * @typedef {import('./asking.js').Round & { retry: import('./types.js').Retry }} Round
 * @typedef {import('./types.js').Completed} Completed
 * @typedef {import('./types.js').Ended} Ended
 * @typedef {{ elicitation: import('../core/internals.js').HandledElicitation, rounds: number, left?: import('../core/internals.js').LeftRound
 *     }} Handle `rounds`: how often the client was asked to call again, as it says itself. `left`: by a body that has asked for something itself
 */

/** @param {import('./types.js').Retry} retry */
export function isRetried({ state }) {
	return state !== undefined && state !== null;
}

/**
 * Goes on with what an earlier call has asked for.
 *
 * @param {ElicitOptions} options
 * @param {Round} round
 * @returns {Promise<Completed | Ended>}
 * @throws {import('../core/errors.js').RequestStateError}
 */
export async function continueByRetry(options, round) {
	try {
		return await resumeElicitation(options, round, await openHandle(options, String(round.retry.state)));
	} catch (error) {
		refuseHandle(error);
		// The row is deleted some time after its end.
		if (error instanceof ElicitationNotFoundError) refuseRequestState('expired_request_state');
		throw error;
	}
}

/**
 * @param {ElicitOptions} options
 * @param {Round} round
 * @param {Handle} handle
 * @returns {Promise<Completed | Ended>}
 */
async function resumeElicitation(options, round, { elicitation, rounds, left }) {
	const { elicitationId: id } = elicitation;
	if (left) {
		const found = await findOutcome(options, id);
		return typeof found === 'object' ? { outcome: found, elicitation, left } : endPending(options, elicitation, found);
	}
	const action = actionOf(round.retry.answer);
	const refusal = REFUSALS[action];
	const remembered = action && endAsk(options, round.client, id, refusal?.answer ?? 'accepted');
	// This call does not wait for what its client has not opened.
	const found = refusal ? await findOutcome(options, id) : await waitOneRound(options, round, id);
	await remembered;
	if (typeof found === 'object') return { outcome: found, elicitation };
	if (refusal) return endPending(options, elicitation, found, refusal.reason);
	if (rounds >= round.rounds || !canBeOpened(elicitation, found)) return endPending(options, elicitation, found);
	return endAsked({ resultType: 'input_required', requestState: await mintHandle(options, { elicitation, rounds: rounds + 1 }) });
}

/**
 * @param {ElicitOptions} options
 * @param {import('./asking.js').Begun} begun
 * @returns {Promise<Ended>}
 */
export async function askByRetry(options, { elicitation }) {
	const { url = '' } = elicitation;
	return endAsked({
		resultType: 'input_required',
		inputRequests: { [INPUT_KEY]: /** @type {never} */ (elicitationRequest(options.message, url)) },
		requestState: await mintHandle(options, { elicitation: /** @type {never} */ (elicitation), rounds: 1 }),
	});
}

/**
 * @param {string} message
 * @param {string} url
 */
export function elicitationRequest(message, url) {
	return { method: 'elicitation/create', params: { mode: 'url', message, url } };
}

/**
 * @param {import('./types.js').InputRequired} toolResult
 * @returns {Ended}
 */
function endAsked(toolResult) {
	return { action: 'pending', reason: 'asked', toolResult };
}

/**
 * @param {unknown} answer
 * @returns {string} empty: the client has answered nothing that it may answer
 */
function actionOf(answer) {
	const action = typeof answer === 'object' && answer !== null && 'action' in answer ? answer.action : undefined;
	return ACTIONS.find((known) => known === action) ?? '';
}

/** @param {ElicitOptions} options */
export function requestOf(options) {
	return { options, key: resumeKeyOf(options) };
}

/**
 * @param {ElicitOptions} options
 * @param {Handle} handle
 */
export async function mintHandle(options, { elicitation, rounds }) {
	return `${await sharedOf(options.urlmode).handles.seal(requestOf(options), elicitation)}.${rounds}`;
}

/**
 * @param {ElicitOptions} options
 * @param {string} state
 * @returns {Promise<Handle>}
 * @throws {StateTokenError}
 */
async function openHandle(options, state) {
	const { handles } = sharedOf(options.urlmode);
	const [, sealed, rounds, round] = handles.pattern.exec(state) ?? [];
	if (sealed === undefined) throw new StateTokenError('STATE_INVALID');
	const elicitation = await handles.open(requestOf(options), sealed);
	return { elicitation, rounds: Number(rounds), ...round !== undefined && { left: await handles.openRound(state, elicitation, ownerOf(options)) } };
}

/** @param {unknown} error of `openHandle` */
function refuseHandle(error) {
	if (error instanceof StateTokenError) {
		refuseRequestState(error.code === 'STATE_EXPIRED' ? 'expired_request_state' : 'invalid_request_state');
	}
}

/**
 * For a server that has a `requestState.verify` for handles of its own. Our
 * handles are opened, and `withElicitation` compares whose they are and what
 * for. All others are verified by `verify`.
 *
 * @template C
 * @param {import('./types.js').UrlModeLike} urlmode
 * @param {(state: string, ctx: C) => unknown} [verify] verifies handles that are not ours. Without it they are rejected
 * @returns {(state: string, ctx: C) => unknown} for ServerOptions
 */
export function verifyRequestState(urlmode, verify) {
	const { handles } = sharedOf(urlmode);
	const refuse = (/** @type {unknown} */ error) => {
		refuseHandle(error);
		throw error;
	};
	return (state, ctx) => {
		const [, sealed] = handles.pattern.exec(state) ?? [];
		if (sealed !== undefined) {
			try {
				const checked = handles.check(sealed);
				return checked instanceof Promise ? checked.then(() => undefined, refuse) : undefined;
			} catch (error) {
				return refuse(error);
			}
		}
		if (!verify) throw new Error('unknown requestState');
		return verify(state, ctx);
	};
}
