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
	invalid_state: 'the requestState is not valid for this call',
	payment_failed: 'the payment failed',
	amount_mismatch: 'the amount paid differs from the price',
	provider_error: 'the provider reported an error',
};

/** Sent as progress while a call waits. */
export const PROGRESS_MESSAGES = {
	pending: 'Waiting for the user to open the page.',
	opened: 'The page is open in the browser.',
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
 * @param {string} message
 * @param {boolean} resumable whether a later call resumes the elicitation
 */
export function processingResult(message, resumable) {
	return textResult(`${message}\n\nThe provider is still working on it.${
		resumable ? ' Call this tool again later, with the same arguments.' : ''}`, false);
}

/**
 * @param {'decline' | 'cancel'} action
 * @param {string} reason
 */
export function failureResult(action, reason) {
	const text = Object.hasOwn(REASON_TEXTS, reason) ? REASON_TEXTS[reason] : reason;
	return textResult(`Not done: ${text || (action === 'decline' ? 'the user refused' : 'it was cancelled')}.`, true);
}
