// For a client that cannot send its user to a page: the tool's result has the
// link in words, and a later call of the same tool goes on.

import { ElicitationClientGoneError, ElicitationTimeoutError } from '../errors.js';
import { Heartbeat } from './heartbeat.js';
import { claim, LEG_MS, openElicitation, ownerOf, resumeKeyOf } from './open.js';
import { follow } from './signals.js';
import { linkInWords, stillProcessing } from './words.js';

/**
 * @param {import('./types.js').AskOptions} options
 * @param {import('./types.js').Call} call
 * @returns {Promise<import('./types.js').Asked>}
 */
export async function link(options, call) {
	const elicitation = await openElicitation(options, resumeKeyOf(options));
	const { elicitationId, returnUrl } = elicitation;
	const waited = elicitation.resumed ? await waitALeg(options, call, elicitationId) : 'pending';
	if (typeof waited === 'object') return claim(options, waited, elicitation);
	return {
		elicitationId,
		action: 'pending',
		reason: waited === 'processing' ? 'processing' : 'link',
		returnUrl,
		toolResult: waited === 'processing' ? stillProcessing(options.message, true) : linkInWords(options.message, elicitation),
	};
}

/**
 * Waits for as long as one call may. The elicitation stays open when that is
 * over, and ends when the call is cancelled.
 *
 * @param {import('./types.js').AskOptions} options
 * @param {import('./types.js').Call} call
 * @param {string} id
 * @returns {Promise<import('../types.js').Outcome | 'pending' | 'opened' | 'processing'>}
 */
export async function waitALeg(options, call, id) {
	const { urlmode, recheck, legTimeout: timeout = LEG_MS, progressEvery } = options;
	const owner = ownerOf(options);
	const { controller, release } = follow([options.signal, call.signal]);
	const heartbeat = new Heartbeat(call.progress, (error) => controller.abort(error), progressEvery);
	try {
		return await urlmode.waitForCompletion(id, {
			...owner, timeout, signal: controller.signal, onProgress: heartbeat.tell, recheck,
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
