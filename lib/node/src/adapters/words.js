// What a user, or the model that speaks to one, is told in words.

/** @type {Record<string, string>} */
const REASONS = {
	refused: 'the user refused',
	access_denied: 'the user refused',
	cancelled: 'the user cancelled',
	dismissed: 'the user dismissed the request',
	expired: 'nobody completed it in time',
	timeout: 'nobody completed it in time',
	superseded: 'a newer request took its place',
	claimed: 'an earlier call went on with it',
	invalid_state: 'this call does not belong to it',
	payment_failed: 'the payment failed',
	amount_mismatch: 'another amount was paid than asked for',
	provider_error: 'the provider reported an error',
};

/** Of progress, while a call waits. */
export const PROGRESS = {
	pending: 'Waiting for the user to open the page.',
	opened: 'The page is open in the browser.',
	processing: 'The provider is working on it.',
};

/**
 * @param {string} text
 * @param {boolean} isError
 * @returns {import('./types.js').ToolResult}
 */
function result(text, isError) {
	return { content: [{ type: 'text', text }], ...isError && { isError } };
}

/**
 * @param {string} message
 * @param {import('../types.js').Elicitation} elicitation
 */
export function linkInWords(message, { url, expiresAt }) {
	const until = expiresAt.toISOString().slice(0, 16).replace('T', ' ');
	return result(`${message}\n\nOpen this link in a browser: ${url}\n\n`
		+ `It is good until ${until} UTC. When the page says that it is done, call this tool again with the same arguments.`,
	false);
}

/**
 * @param {string} message
 * @param {boolean} again whether a later call finds it
 */
export function stillProcessing(message, again) {
	return result(`${message}\n\nThe provider is still working on it.${
		again ? ' Call this tool again later, with the same arguments.' : ''}`, false);
}

/**
 * @param {'decline' | 'cancel'} action
 * @param {string} reason
 */
export function notDone(action, reason) {
	const known = Object.hasOwn(REASONS, reason) ? REASONS[reason] : reason;
	return result(`Not done: ${known || (action === 'decline' ? 'the user refused' : 'it was cancelled')}.`, true);
}
