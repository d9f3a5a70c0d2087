// Elicits with a link in the tool's result, for a client that cannot open a URL
// for its user. A later call of the same tool waits for the outcome.

import { ElicitationClientGoneError, ElicitationTimeoutError } from '../errors.js';
import { Heartbeat } from './heartbeat.js';
import { canBeOpened, claimOutcome, createElicitation, ownerOf, ROUND_MS, toOpenResult } from './elicitation.js';
import { followSignals } from './signals.js';
import { linkResult } from './messages.js';

/**
 * @param {import('./types.js').BaseElicitOptions} options
 * @param {import('./types.js').Call} call
 * @param {import('../types.js').Elicitation} [created] the elicitation, if it was created before
 * @returns {Promise<import('./types.js').ElicitResult>}
 */
export async function elicitByLink(options, call, created) {
	const elicitation = created ?? await createElicitation(options);
	const { elicitationId, returnUrl } = elicitation;
	const waited = elicitation.resumed ? await waitOneRound(options, call, elicitationId) : 'pending';
	if (typeof waited === 'object') return claimOutcome(options, call, waited, elicitation);
	if (!canBeOpened(elicitation, waited)) return toOpenResult(options, elicitation, waited);
	return { elicitationId, action: 'pending', reason: 'link', returnUrl, toolResult: linkResult(options.message, elicitation) };
}

/**
 * Waits as long as one call may. After that the elicitation stays open. When
 * the call is cancelled, so is an elicitation that nobody has opened.
 *
 * @param {import('./types.js').BaseElicitOptions} options
 * @param {import('./types.js').Call} call
 * @param {string} id
 * @returns {Promise<import('../types.js').Outcome | import('../types.js').OpenStatus>}
 */
export async function waitOneRound(options, call, id) {
	const { urlmode, recheck, legTimeout: timeout = ROUND_MS, progressEvery } = options;
	const owner = ownerOf(options);
	const { controller, release } = followSignals([options.signal, call.signal]);
	const heartbeat = new Heartbeat(call.progress, (error) => controller.abort(error), progressEvery);
	try {
		return await urlmode.waitForCompletion(id, {
			...owner, timeout, signal: controller.signal, onProgress: heartbeat.report, recheck,
		});
	} catch (error) {
		if (error instanceof ElicitationTimeoutError) return error.status;
		if (!controller.signal.aborted) throw error;
		const gone = call.isGone?.(controller.signal.reason) ?? false;
		await urlmode.abandon(id, { ...owner, reason: gone ? 'client_gone' : 'aborted' }).catch(() => {});
		throw gone ? new ElicitationClientGoneError(id) : error;
	} finally {
		heartbeat.stop();
		release();
	}
}
