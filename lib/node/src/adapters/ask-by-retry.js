// Asks as in protocol revision 2026-07-28, in which the server sends no
// requests. A call returns that it requires input, with a handle of ours in
// `requestState`. The client asks its user, and calls again with that handle, on
// any instance. That call waits for the row.
//
// A client that calls again and again gives up after some rounds, and some take an
// answer without a request for the result. Therefore a call whose round is over
// ends with the link as text, except for clients that clients.js names.

import { createHash } from 'node:crypto';

import { checkRequest } from '../core/create-options.js';
import { ElicitationNotFoundError, StateTokenError } from '../core/errors.js';
import { internalsOf } from '../core/internals.js';
import { kidOf } from '../core/link.js';
import { bindingOf, GRACE_MAX_SECONDS, mintState, openState } from '../core/token.js';
import { canBeOpened, endPending, findOutcome, resumeOrCreate, ownerOf, resumeKeyOf, waitOneRound } from './asking.js';
import { failureResult } from './messages.js';
import { refuseRequestState } from './request-state.js';

/** The key of our request in a result's inputRequests. */
export const INPUT_KEY = 'urlmode';

/**
 * @typedef {import('./asking.js').ElicitOptions} ElicitOptions
 * @typedef {import('./asking.js').Round & { retry: import('./types.js').Retry }} Round
 * @typedef {import('./types.js').Completed} Completed
 * @typedef {import('./types.js').Ended} Ended
 * @typedef {{ id: string, rounds: number, kid: number }} Handle `rounds`: how often the client was asked to call again, as it says
 *     itself. `kid`: of the key that has sealed it, which is that of the link
 */

/**
 * @param {ElicitOptions} options
 * @param {Round} round
 * @returns {Promise<Completed | Ended>}
 * @throws {import('../core/errors.js').RequestStateError}
 */
export async function askByRetry(options, round) {
	const { state } = round.retry;
	if (state === undefined || state === null) return startElicitation(options, round);
	try {
		return await resumeElicitation(options, round, openHandle(options, String(state)));
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
 * @param {Handle & { expiresAt: Date }} handle
 * @returns {Promise<Completed | Ended>}
 */
async function resumeElicitation(options, round, { id, rounds, kid, expiresAt }) {
	const { subject, session } = ownerOf(options);
	const elicitation = internalsOf(options.urlmode).urls.toElicitation({
		id, provider: options.provider, kind: options.kind, binding: bindingOf(subject, session), expires: expiresAt.getTime() / 1_000,
		linkKid: kid, resumed: true,
	});
	const refusal = parseRefusal(round.retry.answer);
	if (refusal === 'decline') await options.urlmode.abandon(id, { ...ownerOf(options), action: refusal, reason: 'refused' });
	// After a refusal of what is open in the browser, this call does not wait for it.
	const found = refusal ? await findOutcome(options, id) : await waitOneRound(options, round, id);
	if (typeof found === 'object') return { outcome: found, elicitation };
	if (refusal && found === 'pending') return { action: 'cancel', reason: 'dismissed', toolResult: failureResult('cancel', 'dismissed') };
	if (refusal || rounds >= round.rounds || !canBeOpened(elicitation, found)) return endPending(options, elicitation, found);
	return endAsked({ resultType: 'input_required', requestState: mintHandle(options, { id, rounds: rounds + 1, kid }, expiresAt) });
}

/**
 * @param {ElicitOptions} options
 * @param {Round} round
 * @returns {Promise<Completed | Ended>}
 */
async function startElicitation(options, round) {
	const begun = await resumeOrCreate(options);
	if (begun.outcome) return begun;
	const { elicitation } = begun;
	const { elicitationId: id, url = '', expiresAt } = elicitation;
	if (!canBeOpened(elicitation, begun.found)) {
		const found = await waitOneRound(options, round, id);
		return typeof found === 'object' ? { outcome: found, elicitation } : endPending(options, elicitation, found);
	}
	return endAsked({
		resultType: 'input_required',
		inputRequests: { [INPUT_KEY]: /** @type {never} */ (elicitationRequest(options.message, url)) },
		requestState: mintHandle(options, { id, rounds: 1, kid: kidOf(new URL(url).searchParams.get('state') ?? '') }, expiresAt),
	});
}

/**
 * @param {string} message
 * @param {string} url
 */
function elicitationRequest(message, url) {
	return { method: 'elicitation/create', params: { mode: 'url', message, url } };
}

/**
 * @param {import('./types.js').InputRequired} toolResult
 * @returns {Ended}
 */
function endAsked(toolResult) {
	return { action: 'pending', reason: 'asked', toolResult };
}

/** @param {unknown} answer */
function parseRefusal(answer) {
	const action = typeof answer === 'object' && answer !== null && 'action' in answer ? answer.action : undefined;
	return action === 'decline' || action === 'cancel' ? action : undefined;
}

/**
 * A handle is bound to one owner, one item or resume key, and all that the call asks for. A
 * handle for a cheap item cannot complete an expensive one.
 *
 * @param {ElicitOptions} options
 * @returns {[Buffer, ...Buffer[]]} of new handles, then of those of packages that send no items
 */
function purposesOf(options) {
	const { item, request, earlierRequest } = checkRequest(options);
	const key = resumeKeyOf(options);
	/** @type {(asked: Buffer, key: string) => Buffer} */
	const of = (asked, key) => createHash('sha256').update(asked).update(key).digest().subarray(0, 16);
	return item === null || earlierRequest === null ? [of(request, key)] : [of(request, ''), of(earlierRequest, key)];
}

/**
 * @param {ElicitOptions} options
 * @param {Handle} handle
 * @param {Date} expiresAt
 */
function mintHandle(options, { id, rounds, kid }, expiresAt) {
	const { subject, session } = ownerOf(options);
	const expires = Math.ceil(expiresAt.getTime() / 1_000) + GRACE_MAX_SECONDS;
	const { keys } = internalsOf(options.urlmode);
	const sealed = mintState({ minting: keys.find(kid) ?? keys.minting }, 'retry', '',
		{ id, expires, binding: bindingOf(subject, session), browser: purposesOf(options)[0] });
	return `${sealed}.${rounds}`;
}

const HANDLE = /^([A-Za-z0-9_-]{115})\.([1-9])$/;

/**
 * @param {ElicitOptions} options
 * @param {string} state
 * @throws {StateTokenError}
 */
function openHandle(options, state) {
	const { subject, session } = ownerOf(options);
	const [, sealed = '', rounds] = HANDLE.exec(state) ?? [];
	const { id, binding, browser, expires } = openState(internalsOf(options.urlmode).keys, 'retry', '', sealed);
	if (!bindingOf(subject, session).equals(binding) || !purposesOf(options).some((purpose) => purpose.equals(browser))) throw new StateTokenError('STATE_INVALID');
	return { id, rounds: Number(rounds), kid: kidOf(sealed), expiresAt: new Date((expires - GRACE_MAX_SECONDS) * 1_000) };
}

/** @param {unknown} error of openState */
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
 * @param {import('../core/urlmode.js').UrlMode} urlmode
 * @param {(state: string, ctx: C) => unknown} [verify] verifies handles that are not ours. Without it they are rejected
 * @returns {(state: string, ctx: C) => unknown} for ServerOptions
 */
export function verifyRequestState(urlmode, verify) {
	return (state, ctx) => {
		const [, sealed] = HANDLE.exec(state) ?? [];
		if (sealed !== undefined) {
			try {
				openState(internalsOf(urlmode).keys, 'retry', '', sealed);
			} catch (error) {
				refuseHandle(error);
				throw error;
			}
			return undefined;
		}
		if (!verify) throw new Error('unknown requestState');
		return verify(state, ctx);
	};
}
