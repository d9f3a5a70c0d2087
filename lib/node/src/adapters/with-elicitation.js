// What every adapter does with a tool call: it asks the user in the way that the
// client takes, waits, claims the outcome, and runs the body under that claim.

import { CLAIM_ATTEMPTS, VERIFY_MS } from '../core/contract-limits.js';
import { ElicitationClientGoneError, ElicitationOpenError, RequestStateError } from '../core/errors.js';
import { askByError, askByLink } from './ask-by-link.js';
import { askByRequest } from './ask-by-request.js';
import { askByRetry, continueByRetry, isRetried } from './ask-by-retry.js';
import { askByTask } from './ask-by-task.js';
import { holdForBody, requiresInput, retryOf, runBody } from './body-rounds.js';
import { describeClient } from './clients.js';
import { watchAnswer } from './answer.js';
import { canBeOpened, endPending, findOutcome, isGone, ownerOf, resumeOrCreate } from './asking.js';
import { beginAsk } from './asks.js';
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
 *
 * @typedef {object} How
 * @property {<T>(begin: () => Promise<T>) => Promise<T>} [during] has the claim and its body as one piece of work
 * @property {((id: string) => Promise<boolean>) | undefined} [isGivenBack] waits for the call that has claimed the outcome; true: it can be claimed again
 */

/**
 * @template R
 * @typedef {{ accepted: true, result: R } | { accepted: false, action: import('../core/contract-words.js').EndAction | 'pending', reason: string, elicitationId?: string,
 *     toolResult: import('./types.js').ToolResult | import('./types.js').InputRequired }} Result
 */



/**
 * @template R
 * @param {ElicitOptions} given
 * @param {Call} call
 * @param {(accepted: Accepted) => R | Promise<R>} body
 * @param {import('../core/types.js').AnyElicitation} [created] the elicitation, if it was created before
 * @param {How} [how]
 * @returns {Promise<Result<R>>}
 */
export async function runWithElicitation(given, call, body, created, how = {}) {
	const { verifyTimeout = VERIFY_MS } = /** @type {{ verifyTimeout?: number }} */ (given);
	const options = { clientId: call.clientId || undefined, traceparent: call.traceparent, ...given, verifyTimeout: given.verify && verifyTimeout };
	const { rounds, roundMs, ...client } = describeClient(options, call.client);
	const round = {
		...call, retry: retryOf(call), deadline: performance.now() + roundMs, rounds: call.task ? 0 : rounds,
		answer: call.task?.answer ?? watchAnswer(call.transport, call.requestId, call.requestSignal ?? call.signal),
	};
	let isBegun = false;
	const begin = (/** @type {Accepted} */ accepted) => {
		isBegun = true;
		return body(accepted);
	};
	try {
		const result = await askAndClaim(options, round, client, begin, created, how);
		if (result.accepted) return result;
		if (isWaiting(round, result)) return { ...result, toolResult: { resultType: 'input_required', requestState: String(round.retry?.state) } };
		const toolResult = given.typed ?? call.typed ? toTyped(result.toolResult) : result.toolResult;
		if (given.typed !== false) round.answer.isOwn(toolResult);
		return { ...result, toolResult };
	} catch (error) {
		if (isRequired(error)) round.answer.isOwn(error);
		// What cannot pass by itself ends a task as well.
		if (call.task && !isBegun && !(error instanceof RequestStateError || error instanceof TypeError)) call.task.isUndone = true;
		throw error;
	}
}

/**
 * @template R
 * @param {ElicitOptions} options
 * @param {Round} round
 * @param {import('./clients.js').Client} client
 * @param {(accepted: Accepted) => R | Promise<R>} body
 * @param {import('../core/types.js').AnyElicitation | undefined} created
 * @param {How} how
 * @returns {Promise<Result<R>>}
 */
async function askAndClaim(options, round, client, body, created, how) {
	for (let attempt = 1; ; attempt += 1) {
		const end = await ask(options, round, client, created);
		if (!end.outcome) return { accepted: false, ...end };
		const result = await claimAgain(options, round, end, body, how);
		if (result) return result;
		if (attempt === CLAIM_ATTEMPTS) throw new ElicitationOpenError(end.elicitation.elicitationId);
	}
}

/**
 * Claims the outcome; once more where the call that had claimed it has given it back.
 *
 * @template R
 * @param {ElicitOptions} options
 * @param {Round} round
 * @param {Completed} completed
 * @param {(accepted: Accepted) => R | Promise<R>} body
 * @param {How} how
 * @returns {Promise<Result<R> | undefined>} undefined: the outcome is not there any more
 */
async function claimAgain(options, round, completed, body, { during = (begin) => begin(), isGivenBack }) {
	for (let attempt = 1; ; attempt += 1) {
		const result = await during(() => claim(options, round, completed, body));
		const taken = result?.accepted === false && result.reason === 'claimed' ? result.elicitationId : undefined;
		if (taken === undefined || !isGivenBack || !await isGivenBack(taken) || attempt === CLAIM_ATTEMPTS) return result;
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
 * Whether a run of a task goes on waiting. What it waits for is the requestState that it was given, also of a body that has asked for
 * something itself.
 *
 * @param {Round} round
 * @param {{ action: string, toolResult: object }} result
 */
function isWaiting({ task, retry }, { action, toolResult }) {
	return task?.answer !== undefined && retry !== undefined && isRetried(retry) && action === 'pending' && !('resultType' in toolResult);
}

/**
 * @param {ElicitOptions} options
 * @param {Round} round
 * @param {import('./clients.js').Client} client
 * @param {import('../core/types.js').AnyElicitation} [created]
 * @returns {Promise<Completed | Ended>}
 */
async function ask(options, round, client, created) {
	const { request, required, retry, session, task } = round;
	const way = wayOf(options, round, client);
	if ((way === 'retry' || task) && retry && isRetried(retry)) return continueByRetry(options, { ...round, retry });
	const begun = await resumeOrCreate(options, created, round.signal);
	if (begun.outcome) return begun;
	const { elicitation, found } = begun;
	if (task) return askByTask(options, { ...round, task }, begun, way === 'retry');
	if (way === 'text' || !canBeOpened(elicitation, found)) return askByLink(options, round, begun);
	const isRetry = way === 'retry';
	// What this call has created, nobody was asked to open before.
	const earlier = elicitation.resumed || isRetry ? await beginAsk(options, round.client, elicitation.elicitationId, isRetry) : '';
	// It has not seen the link. What is open in a browser is waited for.
	if (earlier === 'asked' && found === 'pending') return endPending(options, elicitation, found, 'client_failed');
	if (earlier) return askByLink(options, round, begun);
	if (isRetry) return askByRetry(options, begun);
	if (way === 'error' && required && session) return askByError(options, { ...round, required, session }, begun);
	if (request) return askByRequest(options, { ...round, request }, begun);
	return askByLink(options, round, begun);
}

/**
 * @param {ElicitOptions} options
 * @param {Round} round
 * @param {import('./clients.js').Client} client
 * @returns {'retry' | 'request' | 'error' | 'text'} how the client is asked
 */
function wayOf(options, { request, required, retry, session }, { declares, takesUrl, ask: known }) {
	// The page is for somebody else than the user of this client.
	if (isByOthers(options) || !takesUrl) return 'text';
	// An answer may only require what its call declares (-32021), a request what the client is known to do.
	if (retry) return declares ? 'retry' : 'text';
	const wanted = known ?? options.ask;
	if (wanted === 'error' && required && session) return 'error';
	// A client that shows the page of an error alone would not show that of a request.
	return request && known !== 'error' ? 'request' : 'text';
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
async function claim(options, round, { outcome, elicitation, isEarlier, left }, body) {
	const { urlmode } = options;
	const { elicitationId: id, action, reason, reference, refunded, from, ...accepted } = outcome;
	const owner = ownerOf(options);
	if (action !== 'accept') {
		// What an approver has said is told to the next call, if nobody hears it from this one.
		if (outcome.approver) {
			throwIfGone(round, id);
			if (round.answer.isCut()) throw new ElicitationClientGoneError(id);
		}
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
		...owner, reference: left?.reference ?? reference, fence: left?.fence, timeout: Math.max(0, round.deadline - performance.now()), signal: controller.signal,
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
		endWithAnswer(round, id, claimed, { failed: 'release' });
		return { accepted: true, result: /** @type {R} */ (claimed.result) };
	}
	/** @type {R} */
	let result;
	try {
		const sent = left && { requestState: left.state, inputResponses: round.retry?.answers };
		result = await runBody(round.retry, left, () => body({
			...accepted, action, ...reference !== undefined && { reference }, elicitationId: id, returnUrl: elicitation.returnUrl ?? '',
			signal: claimed.signal, fence: claimed.fence, ...sent,
		}));
		// It has not ended: its claim goes on with the next call.
		if (requiresInput(result)) {
			const asks = await holdForBody(options, round.retry, elicitation, claimed, result);
			return { accepted: true, result: /** @type {R} */ (asks) };
		}
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
	if (options.kind !== 'oauth') endWithAnswer(round, id, claimed, isKept ? {} : { failed: 'release', lost: 'release' });
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
 * @param {string} id
 * @param {{ fence: number | undefined, confirm: () => Promise<boolean>, release: () => Promise<boolean> }} claimed
 * @param {{ failed?: 'release', lost?: 'release' }} otherwise what becomes of the claim without such an answer
 */
function endWithAnswer({ answer }, id, claimed, otherwise) {
	const end = async () => {
		const claim = claimed.fence === undefined ? undefined : { id, fence: claimed.fence };
		const written = await answer.written(claim);
		if (written === 'written') await claimed.confirm();
		else if (written !== 'kept' && otherwise[written]) await claimed.release();
	};
	void end().catch(() => {}); // The next call is given the result again, or makes it when the lease has ended.
}
