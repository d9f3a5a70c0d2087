// Steps that all ways of asking share: create an elicitation, look up its
// outcome, and wait as long as one call may.

import { ElicitationClientGoneError, ElicitationTimeoutError, UrlModeClosedError } from '../core/errors.js';
import { sharedOf } from '../core/internals.js';
import { sha256Base64url } from '../core/plain-sha256.js';
import { isClientGone } from './answer.js';
import { Heartbeat } from './heartbeat.js';
import { approversResult, linkResult, openResult } from './messages.js';
import { followSignals } from './signals.js';

/**
 * @typedef {import('./types.js').AnyElicitOptions} ElicitOptions
 * @typedef {import('./types.js').Ended} Ended
 * @typedef {import('../core/types.js').AnyElicitation} Elicitation
 * @typedef {import('../core/types.js').OpenStatus} OpenStatus
 * @typedef {import('../core/types.js').Outcome} Outcome
 *
 * @typedef {import('./types.js').Call & { deadline: number, rounds: number, answer: import('./answer.js').Answer
 *     }} Round a call, and until when it may wait, by performance.now()
 */

/** @param {ElicitOptions} options */
export function ownerOf({ subject, session = '' }) {
	return { subject, session };
}

/**
 * The resume key by which the next call goes on with what this one has started: the caller's own, or provider and kind. What
 * else the call asks for is compared beside it. A payment or signature is found by its item, and by this key where it has none.
 *
 * @param {ElicitOptions} options
 */
export function resumeKeyOf(options) {
	const { resumeKey, provider, kind } = options;
	return kind === 'payment' || kind === 'signature' ? earlierKeyOf(options) : resumeKey ?? `${provider} ${kind}`;
}

/**
 * The resume key of packages that send no items: the caller's own, or one made of provider, kind, message and price.
 *
 * @param {ElicitOptions} options
 */
export function earlierKeyOf({ resumeKey, provider, kind, message, expected }) {
	if (resumeKey !== undefined) return resumeKey;
	const price = expected === 'any' ? [expected] : [expected?.amount, expected?.currency];
	const question = JSON.stringify([message, ...price]);
	return `${provider} ${kind} ${sha256Base64url(question)}`;
}

/**
 * @param {ElicitOptions} options
 * @param {AbortSignal} [signal] of the call: what was not sent by then is not created
 * @returns {Promise<Elicitation>}
 */
export function createElicitation(options, signal) {
	const { urlmode, message, ask, typed, roundTimeout, signal: _, recheck, verify, sendLink, progressEvery, ...rest } = options;
	if (typeof message !== 'string' || message === '') throw new TypeError('message must be a non-empty string');
	const create = /** @type {(options: import('../core/types.js').AnyCreateOptions) => Promise<Elicitation>} */ (urlmode.create.bind(urlmode));
	return create({ ...rest, signal, resumeKey: resumeKeyOf(options), canRecheck: recheck !== undefined || sharedOf(urlmode).recheckOf(rest.provider) !== undefined });
}

/**
 * @typedef {{ outcome?: undefined, elicitation: Elicitation, found: OpenStatus }} Begun an elicitation without an outcome
 */

/**
 * The elicitation with which a call continues, and its outcome if it has one.
 *
 * @param {ElicitOptions} options
 * @param {Elicitation} [created] the elicitation, if it was created before
 * @param {AbortSignal} [signal] of the call
 * @returns {Promise<Begun | import('./types.js').Completed>}
 */
export async function resumeOrCreate(options, created, signal) {
	const elicitation = created ?? await createElicitation(options, signal);
	const found = elicitation.resumed ? await findOutcome(options, elicitation.elicitationId) : 'pending';
	return typeof found === 'object' ? { outcome: found, elicitation, isEarlier: created === undefined } : { elicitation, found };
}

/**
 * Reads the outcome of an elicitation without waiting, except for a recheck.
 *
 * @param {ElicitOptions} options
 * @param {string} id
 * @returns {Promise<Outcome | OpenStatus>} its status if it is not completed
 */
export async function findOutcome(options, id) {
	try {
		return await options.urlmode.waitForCompletion(id, { ...ownerOf(options), timeout: 0, recheck: options.recheck });
	} catch (error) {
		if (error instanceof ElicitationTimeoutError) return error.status;
		throw error;
	}
}

/**
 * Waits as long as this call may. What happens to the call does not happen to
 * the elicitation, which stays open.
 *
 * @param {ElicitOptions} options
 * @param {Round} call
 * @param {string} id
 * @param {AbortSignal} [stop] ends the wait when nobody needs it any more
 * @returns {Promise<Outcome | OpenStatus>}
 * @throws {ElicitationClientGoneError}
 */
export async function waitOneRound(options, call, id, stop) {
	const { urlmode, recheck, verify, progressEvery, kind } = options;
	const { controller, release } = followSignals([options.signal, call.signal, call.answer.signal, stop]);
	const heartbeat = new Heartbeat(call.progress, kind, (error) => controller.abort(error), progressEvery);
	try {
		return await urlmode.waitForCompletion(id, {
			...ownerOf(options), timeout: Math.max(0, call.deadline - performance.now()),
			signal: controller.signal, onProgress: heartbeat.report, recheck, verify,
		});
	} catch (error) {
		if (error instanceof ElicitationTimeoutError) return error.status;
		// The next call, on another instance, goes on with it.
		if (error instanceof UrlModeClosedError) return 'pending';
		if (!controller.signal.aborted || stop?.aborted) throw error;
		// A transport that closes aborts its calls before it reports that it is closed.
		await null;
		throw isGone(call, controller.signal.reason) || heartbeat.failed ? new ElicitationClientGoneError(id) : error;
	} finally {
		heartbeat.stop();
		release();
	}
}

/**
 * @param {Pick<Round, 'isGone'>} call
 * @param {unknown} reason
 */
export function isGone({ isGone: knows }, reason) {
	return isClientGone(reason) || (knows?.(reason) ?? false);
}

/**
 * Whether the user can be sent to the page. If not, all that is left to do for
 * an open elicitation is to wait.
 *
 * @param {{ expiresAt: Date }} elicitation
 * @param {OpenStatus} status
 */
export function canBeOpened({ expiresAt }, status) {
	return status !== 'processing' && expiresAt.getTime() > Date.now();
}

/**
 * The end of a call whose elicitation is open: with the link, as long as somebody
 * can open it.
 *
 * @param {ElicitOptions} options
 * @param {Elicitation} elicitation
 * @param {OpenStatus} status
 * @param {import('./asks.js').ClientReason} [answer] of the client, which did not open it
 * @returns {Ended}
 */
export function endPending(options, elicitation, status, answer) {
	const isOpen = canBeOpened(elicitation, status);
	const describe = !isOpen ? openResult : elicitation.approvalUrl === undefined ? linkResult : approversResult;
	const why = isOpen ? answer : undefined;
	return { action: 'pending', reason: why ?? status, toolResult: describe(options, /** @type {never} */ (elicitation), status, why) };
}
