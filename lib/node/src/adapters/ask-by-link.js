// Asks with a link as text in the tool's result, or with the error -32042. A
// later call of the same tool waits for the outcome.

import { canBeOpened, endPending, ownerOf, waitOneRound } from './asking.js';
import { linkResult } from './messages.js';
import { noticeOf } from './notices.js';

/**
 * @typedef {import('./asking.js').ElicitOptions} ElicitOptions
 * @typedef {import('../core/types.js').AnyElicitation} Elicitation
 * @typedef {import('./asking.js').Begun} Begun
 * @typedef {import('./asking.js').Round} Round
 */

/**
 * @param {ElicitOptions} options
 * @param {Round} call
 * @param {Begun} begun
 * @returns {Promise<import('./types.js').Completed | import('./types.js').Ended>}
 */
export async function askByLink(options, call, begun) {
	const { elicitation } = begun;
	if (!elicitation.resumed) await sendToApprovers(options, elicitation);
	const found = elicitation.resumed ? await waitOneRound(options, call, elicitation.elicitationId) : begun.found;
	return typeof found === 'object' ? { outcome: found, elicitation } : endPending(options, elicitation, found);
}

/**
 * @param {ElicitOptions} options
 * @param {Elicitation} elicitation
 */
export async function sendToApprovers(options, { elicitationId, approvalUrl, expiresAt }) {
	if (approvalUrl === undefined) return;
	try {
		await options.sendLink?.({ elicitationId, approvalUrl, expiresAt });
	} catch (error) {
		// Otherwise the next call would go on with what nobody has been told of.
		await options.urlmode.abandon(elicitationId, { ...ownerOf(options), reason: 'not_sent' });
		throw error;
	}
}

/**
 * For a client that can open the page. When the elicitation is completed, it is
 * notified in the same session.
 *
 * @param {ElicitOptions} options
 * @param {Round & Required<Pick<Round, 'required' | 'session'>>} call
 * @param {Begun} begun
 * @returns {Promise<import('./types.js').Completed | import('./types.js').Ended>}
 * @throws the error -32042
 */
export async function askByError(options, call, begun) {
	const { elicitation } = begun;
	const { elicitationId, url = '', resumed } = elicitation;
	const found = resumed ? await waitOneRound(options, call, elicitationId) : begun.found;
	if (typeof found === 'object') return { outcome: found, elicitation };
	if (!canBeOpened(elicitation, found)) return endPending(options, elicitation, found);
	void noticeOf(call.session, elicitationId).sendWhenCompleted(options, call.session);
	// A client that takes this for a failure shows its message to the model.
	const { content: [{ text } = { text: '' }] } = linkResult(options, { ...elicitation, url }, found);
	throw call.required([{ mode: 'url', elicitationId, url, message: options.message }], text);
}
