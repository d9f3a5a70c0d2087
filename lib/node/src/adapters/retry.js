// The way of protocol revision 2026-07-28: the server asks nothing of its
// own accord. A call answers that it needs input, with a handle of ours in
// `requestState`; the client asks its user and calls again, on whatever
// instance, with that handle; and that call waits for the row.
//
// A client calls again at once, at most ten times. So a call that finds the
// elicitation open waits, for as long as a client lets a call be silent.

import { StateTokenError } from '../errors.js';
import { partsOf } from '../parts.js';
import { bindingOf, mintState, openState } from '../token.js';
import { waitALeg } from './link.js';
import { claim, lookAt, openElicitation, ownerOf, resumeKeyOf, toAsked } from './open.js';
import { notDone } from './words.js';

/** The name of our question among a result's inputRequests. */
export const INPUT = 'urlmode';

/** How long after the expiry a handle still finds its row, in seconds: a payment may take a day. */
const STATE_ALLOWANCE = 86_400;

/**
 * @typedef {import('./types.js').Call & LegOnly} Leg
 * @typedef {object} LegOnly
 * @property {unknown} state the requestState that the client sent
 * @property {unknown} answer its answer to our question
 */

/**
 * @param {import('./types.js').AskOptions} options
 * @param {Leg} leg
 * @returns {Promise<import('./types.js').AskedInLegs>}
 */
export async function retry(options, leg) {
	if (leg.state === undefined || leg.state === null) return begin(options);
	let handle;
	try {
		handle = openHandle(options, leg.state);
	} catch (error) {
		if (!(error instanceof StateTokenError)) throw error;
		return { elicitationId: '', action: 'cancel', reason: 'invalid_state', returnUrl: '',
			toolResult: notDone('cancel', 'invalid_state') };
	}
	const { id, returnUrl } = handle;
	const refusal = refusalIn(leg.answer);
	if (refusal) {
		const reason = refusal === 'decline' ? 'refused' : 'dismissed';
		const refused = await options.urlmode.abandon(id, { ...ownerOf(options), action: refusal, reason });
		if (refused) return toAsked({ elicitationId: id, action: refusal, reason, result: undefined }, { returnUrl });
	}
	const waited = await waitALeg(options, leg, id);
	if (typeof waited === 'object') return claim(options, waited, { returnUrl });
	return { ...pending(id, returnUrl, waited), toolResult: { resultType: 'input_required', requestState: String(leg.state) } };
}

/** @param {import('./types.js').AskOptions} options */
async function begin(options) {
	const elicitation = await openElicitation(options);
	const { elicitationId, returnUrl, url, expiresAt } = elicitation;
	const outcome = elicitation.resumed ? await lookAt(options, elicitationId) : undefined;
	if (outcome) return claim(options, outcome, elicitation);
	return {
		...pending(elicitationId, returnUrl, 'pending'),
		toolResult: {
			resultType: /** @type {const} */ ('input_required'),
			inputRequests: { [INPUT]: /** @type {never} */ (question(options.message, url)) },
			requestState: mintHandle(options, elicitationId, expiresAt),
		},
	};
}

/**
 * @param {string} message
 * @param {string} url
 */
function question(message, url) {
	return { method: 'elicitation/create', params: { mode: 'url', message, url } };
}

/**
 * @param {string} elicitationId
 * @param {string} returnUrl
 * @param {string} status
 */
function pending(elicitationId, returnUrl, status) {
	return {
		elicitationId, action: /** @type {const} */ ('pending'), reason: status === 'processing' ? 'processing' : 'asked',
		returnUrl,
	};
}

/** @param {unknown} answer */
function refusalIn(answer) {
	const action = typeof answer === 'object' && answer !== null && 'action' in answer ? answer.action : undefined;
	return action === 'decline' || action === 'cancel' ? action : undefined;
}

/**
 * A handle is good for one owner, one provider and one question: with that of
 * a cheap thing nobody goes on to a dear one.
 *
 * @param {import('./types.js').AskOptions} options
 */
function contextOf(options) {
	return `${options.provider}\0${resumeKeyOf(options)}`;
}

/**
 * @param {import('./types.js').AskOptions} options
 * @param {string} id
 * @param {Date} expiresAt
 */
function mintHandle(options, id, expiresAt) {
	const { subject, session } = ownerOf(options);
	const expires = Math.ceil(expiresAt.getTime() / 1_000) + STATE_ALLOWANCE;
	return mintState(partsOf(options.urlmode).keys, 'retry', contextOf(options),
		{ id, expires, binding: bindingOf(subject, session) });
}

/**
 * @param {import('./types.js').AskOptions} options
 * @param {unknown} state
 * @throws {StateTokenError}
 */
function openHandle(options, state) {
	const { keys, baseUrl } = partsOf(options.urlmode);
	const { subject, session } = ownerOf(options);
	const { id, binding } = openState(keys, 'retry', contextOf(options), String(state));
	if (!bindingOf(subject, session).equals(binding)) throw new StateTokenError('STATE_INVALID');
	return { id, returnUrl: `${baseUrl}/${options.kind === 'oauth' ? 'oauth' : 'payment'}/${options.provider}/return` };
}

/**
 * Whether a requestState is one of ours, whoever it was made for.
 *
 * @param {string} state
 */
export function looksLikeHandle(state) {
	return /^[A-Za-z0-9_-]{115}$/.test(state);
}
