// Asks as in protocol revision 2025-11-25: the server sends its client an
// elicitation request, and the tool call waits for one round.
//
// The client's response only says whether the client opens the page. It
// may arrive at once, or after the elicitation is completed, or after the call has
// ended. The outcome is that of the row, which no response ends: a client may decline
// without a word to its user.

import { RESPONSE_MS } from '../core/contract-limits.js';
import { endPending, findOutcome, isGone, waitOneRound } from './asking.js';
import { endAsk, REFUSALS } from './asks.js';
import { ElicitationClientGoneError } from '../core/errors.js';
import { sharedOf } from '../core/internals.js';
import { backgroundTimer } from '../core/runtime.js';
import { noticeOf } from './notices.js';

/**
 * @typedef {import('./asking.js').ElicitOptions} ElicitOptions
 * @typedef {import('./asking.js').Round & { request: import('./types.js').RequestFunction }} Round
 * @typedef {import('./types.js').Completed} Completed
 * @typedef {import('./types.js').Ended} Ended
 * @typedef {import('../core/types.js').AnyElicitation} Elicitation
 */

/**
 * @param {ElicitOptions} options
 * @param {Round} call
 * @param {import('./asking.js').Begun} begun
 * @returns {Promise<Completed | Ended>}
 */
export function askByRequest(options, call, { elicitation }) {
	return new ElicitationRequest(options, call, elicitation).run();
}

class ElicitationRequest {
	#options;
	#call;
	#elicitation;
	/** Ends the wait. */
	#stop = new AbortController();
	/** Takes the request back. */
	#withdraw = new AbortController();
	#responded = false;
	#notice;
	#callEnded = false;

	/**
	 * @param {ElicitOptions} options
	 * @param {Round} call
	 * @param {Elicitation} elicitation
	 */
	constructor(options, call, elicitation) {
		this.#options = options;
		this.#call = call;
		this.#elicitation = elicitation;
		this.#notice = noticeOf(call.session, elicitation.elicitationId);
	}

	/** @returns {Promise<Completed | Ended>} */
	async run() {
		const elicitation = this.#elicitation;
		const { elicitationId: id } = elicitation;
		const waiting = waitOneRound(this.#options, this.#call, id, this.#stop.signal);
		try {
			const end = await Promise.race([waiting, this.#ask()]);
			if (typeof end === 'object' && 'toolResult' in end) return end;
			if (typeof end === 'object') {
				await this.#notify();
				return { outcome: end, elicitation };
			}
			this.#notifyLater();
			return endPending(this.#options, elicitation, end);
		} catch (error) {
			this.#withdraw.abort();
			if (!(error instanceof ElicitationClientGoneError)) this.#notifyLater();
			throw error;
		} finally {
			this.#callEnded = true;
			waiting.catch(() => {});
			this.#stop.abort();
		}
	}

	/** @returns {Promise<Ended>} settles only if the client's response ends the call */
	async #ask() {
		const { elicitationId, url = '', expiresAt } = this.#elicitation;
		const { closers, isClosed } = sharedOf(this.#options.urlmode);
		// A request that nobody answers would keep the process running.
		const withdraw = async () => this.#withdraw.abort();
		closers.add(withdraw);
		if (isClosed()) await withdraw();
		try {
			const { action } = await this.#call.request({ mode: 'url', elicitationId, url, message: this.#options.message },
				{ signal: this.#withdraw.signal, timeout: Math.max(0, expiresAt.getTime() - Date.now()) + RESPONSE_MS });
			this.#responded = true;
			const refusal = REFUSALS[action];
			if (refusal && !this.#withdraw.signal.aborted) return await this.#endForRefusal(refusal);
		} catch (error) {
			this.#responded = true;
			if (!this.#withdraw.signal.aborted && !this.#callEnded) return await this.#endForError(error);
		} finally {
			closers.delete(withdraw);
		}
		return new Promise(() => {});
	}

	/**
	 * The client has declined or dismissed the request, which says nothing of its user.
	 *
	 * @param {typeof REFUSALS[string]} refusal
	 * @returns {Promise<Ended>}
	 */
	async #endForRefusal({ answer, reason }) {
		const { elicitationId } = this.#elicitation;
		// A client dismisses by itself what it was asked for a call that has ended.
		if (answer !== 'dismissed' || !this.#callEnded) await endAsk(this.#options, this.#call.client, elicitationId, answer);
		if (this.#callEnded) return new Promise(() => {});
		return this.#endUnopened(reason);
	}

	/**
	 * A client that cannot ask its user gets the link as text: with this call or, if it
	 * does not get the answer to this call, with the next one.
	 *
	 * @param {unknown} error
	 * @returns {Promise<Ended>}
	 */
	async #endForError(error) {
		const { elicitationId } = this.#elicitation;
		if (isGone(this.#call, error)) throw new ElicitationClientGoneError(elicitationId);
		if (this.#call.isForFramework?.(error)) throw error;
		const remember = (/** @type {'asked' | 'failed'} */ answer) => endAsk(this.#options, this.#call.client, elicitationId, answer);
		await remember('asked');
		void this.#call.answer.written().then((written) => (written === 'lost' ? undefined : remember('failed')), () => {});
		return this.#endUnopened('client_failed');
	}

	/**
	 * @param {import('./asks.js').ClientReason} reason
	 * @returns {Promise<Ended>}
	 */
	async #endUnopened(reason) {
		const found = await findOutcome(this.#options, this.#elicitation.elicitationId);
		// The wait ends with this outcome.
		if (typeof found === 'object') return new Promise(() => {});
		// Somebody has opened it all the same.
		if (found !== 'pending') this.#notifyLater();
		return endPending(this.#options, this.#elicitation, found, reason);
	}

	async #notify() {
		const { complete } = this.#call;
		if (complete) await this.#notice.send(() => complete(this.#elicitation.elicitationId));
		if (!this.#responded) backgroundTimer(() => this.#withdraw.abort(), RESPONSE_MS);
	}

	#notifyLater() {
		const { session } = this.#call;
		if (session) void this.#notice.sendWhenCompleted(this.#options, session);
	}
}
