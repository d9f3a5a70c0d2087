// What every adapter does with a tool call: it asks the user in the way that the
// client takes, waits, claims the outcome, and runs the body under that claim.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { CLAIM_ATTEMPTS, CLAIM_LEASE_MS, VERIFY_MS } from '../core/contract-limits.js';
import { ElicitationClientGoneError, ElicitationOpenError } from '../core/errors.js';
import { askByError, askByLink } from './ask-by-link.js';
import { askByRequest } from './ask-by-request.js';
import { askByRetry } from './ask-by-retry.js';
import { describeClient } from './clients.js';
import { watchAnswer } from './answer.js';
import { findOutcome, isGone, ownerOf } from './asking.js';
import { declinedResult, failureResult, openResult } from './messages.js';
import { authorizationDetail, NotConnected, warnNotConnected } from '../accounts/not-connected.js';
import { followSignals } from './signals.js';
import { toTyped } from './typed.js';

/** The error code of protocol revision 2025-11-25 for a call that requires its user to open a URL. */
const URL_REQUIRED = -32042;

/**
 * @typedef {import('./types.js').Accepted} Accepted
 * @typedef {import('./types.js').Call} Call
 * @typedef {import('./types.js').Completed} Completed
 * @typedef {import('./types.js').AnyElicitOptions} ElicitOptions
 * @typedef {import('./types.js').Ended} Ended
 * @typedef {import('./asking.js').Round} Round
 */

/**
 * @template R
 * @typedef {{ accepted: true, result: R } | { accepted: false, action: 'decline' | 'cancel' | 'pending', reason: string, elicitationId?: string,
 *     toolResult: import('./types.js').ToolResult | import('./types.js').InputRequired }} Result
 */



/**
 * @template R
 * @param {ElicitOptions} given
 * @param {Call} call
 * @param {(accepted: Accepted) => R | Promise<R>} body
 * @param {import('../core/types.js').AnyElicitation} [created] the elicitation, if it was created before
 * @param {<T>(begin: () => Promise<T>) => Promise<T>} [during] has the claim and its body as one piece of work
 * @returns {Promise<Result<R>>}
 */
export async function runWithElicitation(given, call, body, created, during = (begin) => begin()) {
	const { verifyTimeout = VERIFY_MS } = /** @type {{ verifyTimeout?: number }} */ (given);
	const options = { clientId: call.clientId || undefined, traceparent: call.traceparent, ...given, verifyTimeout: given.verify && verifyTimeout };
	const { declares, takesUrl, rounds, roundMs } = describeClient(options, call.client);
	const round = { ...call, deadline: performance.now() + roundMs, rounds, answer: watchAnswer(call.transport, call.requestId) };
	try {
		const result = await askAndClaim(options, round, { declares, takesUrl }, body, created, during);
		if (result.accepted) return result;
		const toolResult = given.typed ?? call.typed ? toTyped(result.toolResult) : result.toolResult;
		if (given.typed !== false) round.answer.isOwn(toolResult);
		return { ...result, toolResult };
	} catch (error) {
		if (isRequired(error)) round.answer.isOwn(error);
		throw error;
	}
}

/**
 * @template R
 * @param {ElicitOptions} options
 * @param {Round} round
 * @param {{ declares: boolean, takesUrl: boolean }} client
 * @param {(accepted: Accepted) => R | Promise<R>} body
 * @param {import('../core/types.js').AnyElicitation | undefined} created
 * @param {<T>(begin: () => Promise<T>) => Promise<T>} during
 * @returns {Promise<Result<R>>}
 */
async function askAndClaim(options, round, client, body, created, during) {
	for (let attempt = 1; ; attempt += 1) {
		const end = await ask(options, round, client, created);
		if (!end.outcome) return { accepted: false, ...end };
		const result = await during(() => claim(options, round, end, body));
		if (result) return result;
		if (attempt === CLAIM_ATTEMPTS) throw new ElicitationOpenError(end.elicitation.elicitationId);
	}
}

/**
 * @param {unknown} error
 * @returns {error is Error} whether it is that of `required`
 */
function isRequired(error) {
	return error instanceof Error && 'code' in error && error.code === URL_REQUIRED;
}

/**
 * @param {ElicitOptions} options
 * @param {Round} round
 * @param {{ declares: boolean, takesUrl: boolean }} client
 * @param {import('../core/types.js').AnyElicitation} [created]
 * @returns {Promise<Completed | Ended>}
 */
function ask(options, round, { declares, takesUrl }, created) {
	const { request, required, retry, session } = round;
	// The page is for somebody else than the user of this client.
	if (isByOthers(options)) return askByLink(options, round, created);
	// An answer may only require what its call declares (-32021), a request what the client is known to do.
	if (takesUrl && declares && retry) return askByRetry(options, { ...round, retry });
	if (takesUrl && required && session && options.ask === 'error') return askByError(options, { ...round, required, session });
	if (takesUrl && request) return askByRequest(options, { ...round, request }, created);
	return askByLink(options, round, created);
}

/** @param {ElicitOptions} options */
function isByOthers(options) {
	return options.kind === 'approval' && options.approver !== undefined && options.approver !== 'starter';
}

/**
 * @template R
 * @param {ElicitOptions} options
 * @param {Round} round
 * @param {Completed} completed
 * @param {(accepted: Accepted) => R | Promise<R>} body
 * @returns {Promise<Result<R> | undefined>} undefined: the outcome is not there any more
 */
async function claim(options, round, { outcome, elicitation, isEarlier }, body) {
	const { urlmode } = options;
	const { elicitationId: id, action, reason, reference, refunded, from, ...accepted } = outcome;
	const owner = ownerOf(options);
	if (action !== 'accept') {
		// What an approver has said is told to the next call, if nobody hears it from this one.
		if (outcome.approver) throwIfGone(round, id);
		// The call after a refusal asks again. A refusal claims no payment: what was paid stays for the next one.
		await urlmode.claim(id, { ...owner, action, reference });
		const detail = reason === 'provider_error' ? authorizationDetail(accepted.result) : undefined;
		if (options.kind === 'oauth' && detail) warnNotConnected(options.provider, id, reason, detail);
		const toolResult = outcome.approver ? declinedResult(outcome) : failureResult(action, reason, detail);
		return { accepted: false, action, reason, toolResult };
	}
	throwIfGone(round, id);
	const { controller, release } = followSignals([round.signal, round.answer.signal]);
	const claimed = await urlmode.beginClaim(id, {
		...owner, reference, timeout: Math.max(0, round.deadline - performance.now()), signal: controller.signal,
		recheck: options.recheck,
	}).catch((error) => {
		if (error instanceof ElicitationOpenError) return { state: /** @type {const} */ ('changed') };
		throwIfGone(round, id);
		throw error;
	}).finally(release);
	switch (claimed.state) {
	case 'changed': return undefined;
	case 'leased': return { accepted: false, action: 'pending', reason: 'claimed', toolResult: openResult(options, elicitation, 'claimed') };
	case 'taken': {
		// The call that has used it was answered just now. This one is about something new; of an account about the same.
		if (isEarlier && !refunded && options.kind !== 'oauth') return undefined;
		// Or it went back after this call had read it, in part or all of it.
		const now = await findOutcome(options, id);
		const back = typeof now === 'object' && (now.reason === 'held' || now.refunded) ? now : undefined;
		const why = back?.reason === 'held' ? 'held' : refunded || back ? 'refunded' : 'claimed';
		return { accepted: false, action: 'cancel', reason: why, elicitationId: id, toolResult: failureResult('cancel', why) };
	}
	case 'fulfilled':
		endWithAnswer(round, claimed, { failed: 'release' });
		return { accepted: true, result: /** @type {R} */ (claimed.result) };
	}
	/** @type {R} */
	let result;
	try {
		result = await body({
			...accepted, action, ...reference !== undefined && { reference }, elicitationId: id, returnUrl: elicitation.returnUrl ?? '',
			signal: claimed.signal, fence: claimed.fence,
		});
	} catch (error) {
		// It was not done: the next call does it.
		const refused = error instanceof NotConnected ? error : undefined;
		await claimed.release(refused?.reason).catch(() => {});
		if (!refused) throw error;
		const { reason, detail } = refused;
		warnNotConnected(options.provider, id, reason, detail);
		return { accepted: false, action: 'cancel', reason, toolResult: failureResult('cancel', reason, detail) };
	}
	// It says that it was not done.
	if (isErrorResult(result)) {
		await claimed.release().catch(() => {});
		return { accepted: true, result };
	}
	const isKept = await claimed.fulfil(result);
	// That of an account is final.
	if (options.kind !== 'oauth') endWithAnswer(round, claimed, isKept ? {} : { failed: 'release', lost: 'release' });
	return { accepted: true, result };
}

/** @param {unknown} result */
function isErrorResult(result) {
	return typeof result === 'object' && result !== null && 'isError' in result && result.isError === true;
}

/**
 * Nobody reads the answer of a call whose client is gone, so it does nothing
 * that the next one can do.
 *
 * @param {Round} round
 * @param {string} id
 */
function throwIfGone(round, id) {
	const { signal, answer } = round;
	const ended = [answer.signal, signal].find((each) => each?.aborted);
	if (isGone(round, ended?.reason)) throw new ElicitationClientGoneError(id);
	ended?.throwIfAborted();
}

/**
 * Until the answer was written, and was no error, the next call is given the same result. It makes it again where
 * that result has failed twice, or is not kept.
 *
 * @param {Round} round
 * @param {{ confirm: () => Promise<boolean>, release: () => Promise<boolean> }} claimed
 * @param {{ failed?: 'release', lost?: 'release' }} otherwise what becomes of the claim without such an answer
 */
function endWithAnswer({ answer, signal }, claimed, otherwise) {
	const end = async () => {
		const written = signal?.aborted ? 'lost' : await Promise.race([answer.written(), ...signal && otherwise.lost ? [unanswered(signal)] : []]);
		if (written === 'written') await claimed.confirm();
		else if (otherwise[written]) await claimed.release();
	};
	void end().catch(() => {}); // The next call is given the result again, or makes it when the lease has ended.
}

/**
 * A framework does not answer a call that was cancelled. It may abort the signal of one that it is answering.
 *
 * @param {AbortSignal} signal
 * @returns {Promise<'lost'>}
 */
async function unanswered(signal) {
	await once(signal, 'abort');
	await sleep(CLAIM_LEASE_MS, undefined, { ref: false });
	return 'lost';
}
