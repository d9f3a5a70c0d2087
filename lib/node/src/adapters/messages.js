// The messages that a user, or the model that talks to the user, reads.

import { hasPrice } from '../core/arguments.js';
import { sharedOf } from '../core/internals.js';
import { formatPrice } from '../core/currency.js';
import { INPUT_PROGRESS, NOT_OPENED, OPEN, PROGRESS, REASONS, TASKS, TEXTS } from './contract-messages.js';

/**
 * Sent as progress while a call waits.
 *
 * @param {import('../core/types.js').Kind} kind
 * @param {keyof typeof PROGRESS} status
 * @returns {string}
 */
export function progressMessage(kind, status) {
	return { ...PROGRESS, ...kind === 'input' && INPUT_PROGRESS }[status];
}

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
 * @param {object} urlmode
 * @param {string} url of the page
 */
function nameOf(urlmode, url) {
	return sharedOf(urlmode).name ?? new URL(url).host;
}

/**
 * Ends a call whose elicitation is open. The link stands alone on its line, so
 * that a model passes it on as it is.
 *
 * @param {ElicitOptions} options
 * @param {{ elicitationId: string, url: string, expiresAt: Date }} elicitation
 * @param {import('../core/types.js').OpenStatus} status
 * @param {import('./asks.js').ClientReason} [answer] of the client, which did not open it
 */
export function linkResult(options, { elicitationId, url, expiresAt }, status, answer) {
	const { urlmode, message, kind, expected } = options;
	const price = hasPrice(expected) ? ` ${formatPrice(expected)}` : '';
	const opened = status === 'opened' ? ` ${OPEN.opened}` : '';
	const time = formatTime(expiresAt.getTime() - Date.now());
	const said = answer ? TEXTS.notOpened(message, NOT_OPENED[answer]) : message;
	const text = TEXTS.link(said, TASKS[kind], price, nameOf(urlmode, url), url, time, opened);
	return { ...textResult(text, false), structuredContent: { elicitation: {
		elicitationId, status, kind, message, url, expiresAt: expiresAt.toISOString(), ...answer && { reason: answer }, ...typeof expected === 'object' && { expected },
	} } };
}

/**
 * Ends a call that waits for a decision of somebody else. The link is for them.
 *
 * @param {ElicitOptions} options
 * @param {{ elicitationId: string, approvalUrl: string, expiresAt: Date }} elicitation
 * @param {import('../core/types.js').OpenStatus} status
 */
export function approversResult({ urlmode, message, kind, sendLink, ...more }, { elicitationId, approvalUrl, expiresAt }, status) {
	const { approver } = /** @type {import('../core/types.js').OthersFields} */ (more);
	const name = nameOf(urlmode, approvalUrl);
	const who = approver === 'others' ? TEXTS.otherApprover(name) : approver.join(' or ');
	const text = TEXTS.approvers(message, who, sendLink ? TEXTS.linkSent : TEXTS.linkToPassOn, name, approvalUrl,
		formatTime(expiresAt.getTime() - Date.now()), status === 'opened' ? TEXTS.openedByNobody : TEXTS.nobodyYet);
	return { ...textResult(text, false), structuredContent: { elicitation: {
		elicitationId, status, kind, message, approver, approvalUrl, expiresAt: expiresAt.toISOString(),
	} } };
}

/**
 * Says that the call has ended, and that what the user has begun has not.
 *
 * @param {ElicitOptions} options
 * @param {{ elicitationId: string }} elicitation
 * @param {keyof typeof OPEN} status
 */
export function openResult({ message, kind }, { elicitationId }, status) {
	const state = kind === 'input' && status === 'processing' ? INPUT_PROGRESS.processing : OPEN[status];
	const text = TEXTS.open(message, state);
	return { ...textResult(text, false), structuredContent: { elicitation: { elicitationId, status, kind, message } } };
}

/**
 * Ends a call of a user whose subscription has a problem. The link stands alone on its line.
 *
 * @param {{ message: string }} options
 * @param {'past_due' | 'paused'} reason
 * @param {string} url
 */
export function manageResult({ message }, reason, url) {
	return textResult(TEXTS.manage(message, REASONS[reason], url), true);
}

/**
 * @param {import('../core/types.js').Outcome} outcome of an approval that was refused
 */
export function declinedResult({ approver, comment }) {
	return textResult(TEXTS.declined(String(approver), comment ? TEXTS.comment(comment) : ''), true);
}

/**
 * @param {import('../core/contract-words.js').EndAction} action
 * @param {string} reason
 * @param {string} [detail] without a secret
 */
export function failureResult(action, reason, detail) {
	const known = Object.hasOwn(REASONS, reason) ? REASONS[/** @type {keyof typeof REASONS} */ (reason)] : reason;
	const why = known || (action === 'decline' ? TEXTS.refused : TEXTS.cancelled);
	return textResult(TEXTS.failure(why, detail ? TEXTS.detail(detail) : ''), true);
}

/** @param {number} ms */
function formatTime(ms) {
	const minutes = Math.max(1, Math.round(ms / 60_000));
	for (const [unit, length] of /** @type {const} */ ([['day', 1_440], ['hour', 60]])) {
		if (minutes >= 2 * length) return `${Math.floor(minutes / length)} ${unit}s`;
	}
	return minutes === 1 ? 'one minute' : `${minutes} minutes`;
}
