// What a client has answered to being asked to open an elicitation. Clients decline, dismiss
// and fail by themselves, so an answer ends the ask and not the elicitation. It is
// remembered with the elicitation, for the client's name and version, so that this client
// gets the link as text from then on.

import { sharedOf } from '../core/internals.js';
import { ownerOf } from './asking.js';

/**
 * @typedef {import('./asking.js').ElicitOptions} ElicitOptions
 * @typedef {'client_declined' | 'client_dismissed' | 'client_failed'} ClientReason why a call ends with the link
 */

/**
 * @param {ElicitOptions} options
 * @param {import('./types.js').ClientLike} client
 * @param {string} id
 * @param {boolean} awaited whether the answer comes with the next call, as in protocol revision 2026-07-28
 * @returns {Promise<'' | import('../core/internals.js').AskAnswer>} empty: it can be asked; otherwise it gets the link. `asked`: it was asked
 *     before, and has not seen the link
 */
export async function beginAsk(options, { name, version }, id, awaited) {
	return sharedOf(options.urlmode).asks.begin({ id, ...ownerOf(options), client: { name, version } }, awaited);
}

/**
 * @param {ElicitOptions} options
 * @param {import('./types.js').ClientLike} client
 * @param {string} id
 * @param {'accepted' | import('../core/internals.js').AskAnswer} answer
 */
export async function endAsk(options, { name, version }, id, answer) {
	try {
		await sharedOf(options.urlmode).asks.end({ id, ...ownerOf(options), client: { name, version } }, answer);
	} catch {
		// Without the memory the client is asked again.
	}
}

/** @type {{ [answer: string]: { answer: 'declined' | 'dismissed', reason: ClientReason } }} by the action of the client's response */
export const REFUSALS = {
	decline: { answer: 'declined', reason: 'client_declined' },
	cancel: { answer: 'dismissed', reason: 'client_dismissed' },
};
