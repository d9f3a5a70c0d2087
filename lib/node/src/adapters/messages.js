// The messages that a user, or the model that talks to the user, reads.

/** @type {Record<string, string>} */
const REASON_TEXTS = {
	refused: 'the user refused',
	access_denied: 'the user refused',
	cancelled: 'the user cancelled',
	dismissed: 'the user dismissed the request',
	expired: 'nobody completed it in time',
	timeout: 'nobody completed it in time',
	superseded: 'a newer request replaced it',
	claimed: 'another call has already used the outcome',
	refunded: 'the payment was refunded',
	payment_failed: 'the payment failed',
	amount_mismatch: 'the amount paid differs from the price',
	provider_error: 'the provider reported an error',
	issuer_missing: 'the response did not say which provider it is from',
	issuer_mismatch: 'the response is from another provider',
	exchange_refused: 'the provider did not grant access',
	exchange_failed: 'the provider could not be asked for access',
	scope_missing: 'not everything was granted that is needed',
};

/** Sent as progress while a call waits. */
export const PROGRESS_MESSAGES = {
	pending: 'Waiting for the user to open the page.',
	opened: 'The page is open in the browser.',
	attempt_failed: 'An attempt to pay has failed. The user can try again.',
	processing: 'The provider is working on it.',
};

/**
 * @param {string} text
 * @param {boolean} isError
 * @returns {import('./types.js').ToolResult}
 */
function textResult(text, isError) {
	return { content: [{ type: 'text', text }], ...isError && { isError } };
}

/**
 * @param {string} message
 * @param {import('../types.js').Elicitation} elicitation
 */
export function linkResult(message, { url, expiresAt }) {
	const until = expiresAt.toISOString().slice(0, 16).replace('T', ' ');
	return textResult(`${message}\n\nOpen this link in a browser: ${url}\n\n`
		+ `The link is valid until ${until} UTC. When the page says that it is done, call this tool again with the same arguments.`,
	false);
}

/**
 * Says that the call has ended, and that what the user has begun has not.
 *
 * @param {string} message
 * @param {import('../types.js').OpenStatus} status
 */
export function openResult(message, status) {
	const text = status === 'processing' ? 'The provider is still working on it.'
		: 'It is not finished yet: the user has opened the page and can still finish there.';
	return textResult(`${message}\n\n${text} It goes on without this call. To learn how it ends, call this tool again later with `
		+ 'the same arguments: that continues the same request and does not start another one.', false);
}

/**
 * @param {'decline' | 'cancel'} action
 * @param {string} reason
 */
export function failureResult(action, reason) {
	const text = Object.hasOwn(REASON_TEXTS, reason) ? REASON_TEXTS[reason] : reason;
	return textResult(`Not done: ${text || (action === 'decline' ? 'the user refused' : 'it was cancelled')}.`, true);
}
