// The messages that a user, or the model that talks to the user, reads.

import { internalsOf } from '../internals.js';
import { formatPrice } from '../price.js';

/** @type {Record<string, string>} */
const REASON_TEXTS = {
	refused: 'the user refused',
	access_denied: 'the user refused',
	cancelled: 'the user cancelled',
	dismissed: 'the user dismissed the request',
	expired: 'nobody completed it in time',
	superseded: 'a newer request replaced it',
	claimed: 'another call has already used the outcome',
	refunded: 'the payment was refunded',
	held: 'it was paid, and a part of it may have gone back. The user need not pay again: the operator of this service decides about it, '
		+ 'and then this tool can be called again with the same arguments',
	refused_input: 'what the user typed was not accepted five times',
	not_checked: 'what the user typed could not be verified ten times',
	payment_failed: 'the payment failed',
	amount_mismatch: 'the amount paid differs from the price',
	provider_error: 'the provider reported an error',
	issuer_missing: 'the response did not say which provider it is from',
	issuer_mismatch: 'the response is from another provider',
	exchange_refused: 'the provider did not grant access',
	exchange_failed: 'the provider could not be asked for access',
	scope_missing: 'not everything was granted that is needed',
	other_account: 'another account was connected than the one that is needed. It is kept as well. The user can connect the right one: call this '
		+ 'tool again with the same arguments',
};

const PROGRESS_MESSAGES = {
	pending: 'Waiting for the user to open the page.',
	opened: 'The page is open in the browser.',
	attempt_failed: 'An attempt to pay has failed. The user can try again.',
	processing: 'The provider is working on it.',
};
const INPUT_MESSAGES = {
	attempt_failed: 'What the user typed was not accepted. The user can try again.',
	processing: 'What the user typed is being verified.',
};

/**
 * Sent as progress while a call waits.
 *
 * @param {import('../types.js').Kind} kind
 * @param {keyof typeof PROGRESS_MESSAGES} status
 * @returns {string}
 */
export function progressMessage(kind, status) {
	return { ...PROGRESS_MESSAGES, ...kind === 'input' && INPUT_MESSAGES }[status];
}

/** What the user does on the page. */
const TASKS = {
	oauth: 'connect the account',
	payment: 'pay',
	signature: 'sign',
	input: 'fill in the form',
	approval: 'decide',
};

const OPEN_TEXTS = {
	pending: 'The link is no longer valid, and nobody has opened it.',
	opened: 'It is not finished yet: the user has opened the page and can still finish there.',
	processing: 'The provider is still working on it.',
	claimed: 'Another call of this tool is working on it.',
};

const AGAIN = 'call this tool again with the same arguments';

/** @typedef {import('./types.js').AnyElicitOptions} ElicitOptions */

/**
 * @param {string} text
 * @param {boolean} isError
 * @returns {import('./types.js').ToolResult}
 */
function textResult(text, isError) {
	return { content: [{ type: 'text', text }], ...isError && { isError } };
}

/**
 * Ends a call whose elicitation is open. The link stands alone on its line, so
 * that a model passes it on as it is.
 *
 * @param {ElicitOptions} options
 * @param {{ elicitationId: string, url: string, expiresAt: Date }} elicitation
 * @param {import('../types.js').OpenStatus} status
 */
export function linkResult(options, { elicitationId, url, expiresAt }, status) {
	const { urlmode, message, kind, expected } = options;
	const price = typeof expected === 'object' ? ` ${formatPrice(expected)}` : '';
	const opened = status === 'opened' ? ` ${OPEN_TEXTS.opened}` : '';
	const text = `${message}\n\n`
		+ `To ${TASKS[kind]}${price}, the user opens this link in a browser, which is a page of ${internalsOf(urlmode).name}:\n\n${url}\n\n`
		+ `The link works for ${formatTime(expiresAt.getTime() - Date.now())}.${opened}\n\n`
		+ `Show the user the link exactly as it is, alone on its line. When the user says that it is done, ${AGAIN}: `
		+ 'that continues this request, and asks for nothing that is done.';
	return { ...textResult(text, false), structuredContent: { elicitation: {
		elicitationId, status, kind, message, url, expiresAt: expiresAt.toISOString(), ...typeof expected === 'object' && { expected },
	} } };
}

/**
 * Ends a call that waits for a decision of somebody else. The link is for them.
 *
 * @param {ElicitOptions} options
 * @param {{ elicitationId: string, approvalUrl: string, expiresAt: Date }} elicitation
 * @param {import('../types.js').OpenStatus} status
 */
export function approversResult({ urlmode, message, kind, sendLink, ...more }, { elicitationId, approvalUrl, expiresAt }, status) {
	const { approver } = /** @type {import('../types.js').OthersFields} */ (more);
	const { name } = internalsOf(urlmode);
	const who = approver === 'others' ? `somebody else who can sign in at ${name}` : approver.join(' or ');
	const asked = sendLink ? `The decision is for ${who}, who has been sent this link` : `The decision is for ${who}. Show the user this link to pass on`;
	const text = `${message}\n\n${asked}, which is a page of ${name}:\n\n${approvalUrl}\n\n`
		+ `The link works for ${formatTime(expiresAt.getTime() - Date.now())}. ${status === 'opened' ? 'It was opened, and nobody' : 'Nobody'} has decided yet. `
		+ `To learn the decision, ${AGAIN} later: that continues this request, and asks nobody again.`;
	return { ...textResult(text, false), structuredContent: { elicitation: {
		elicitationId, status, kind, message, approver, approvalUrl, expiresAt: expiresAt.toISOString(),
	} } };
}

/**
 * Says that the call has ended, and that what the user has begun has not.
 *
 * @param {ElicitOptions} options
 * @param {{ elicitationId: string }} elicitation
 * @param {keyof typeof OPEN_TEXTS} status
 */
export function openResult({ message, kind }, { elicitationId }, status) {
	const state = kind === 'input' && status === 'processing' ? INPUT_MESSAGES.processing : OPEN_TEXTS[status];
	const text = `${message}\n\n${state} It goes on without this call. To learn how it ends, ${AGAIN} later: `
		+ 'that continues the same request and does not start another one.';
	return { ...textResult(text, false), structuredContent: { elicitation: { elicitationId, status, kind, message } } };
}

/**
 * @param {import('../types.js').Outcome} outcome of an approval that was refused
 */
export function declinedResult({ approver, comment }) {
	return textResult(`Not done: ${approver} declined${comment ? `: “${comment}”` : ''}.`, true);
}

/**
 * @param {'decline' | 'cancel'} action
 * @param {string} reason
 * @param {string} [detail] without a secret
 */
export function failureResult(action, reason, detail) {
	const text = Object.hasOwn(REASON_TEXTS, reason) ? REASON_TEXTS[reason] : reason;
	const what = text || (action === 'decline' ? 'the user refused' : 'it was cancelled');
	return textResult(`Not done: ${what}${detail ? ` (${detail})` : ''}.`, true);
}

/** @param {number} ms */
function formatTime(ms) {
	const minutes = Math.max(1, Math.round(ms / 60_000));
	for (const [unit, length] of /** @type {const} */ ([['day', 1_440], ['hour', 60]])) {
		if (minutes >= 2 * length) return `${Math.floor(minutes / length)} ${unit}s`;
	}
	return minutes === 1 ? 'one minute' : `${minutes} minutes`;
}
