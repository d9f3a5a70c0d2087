// Asks as in protocol revision 2025-11-25: the server sends its client an
// elicitation request, and the tool call waits for one round.
//
// The client's response only says whether the user agrees to open the page. It
// may arrive at once, or after the elicitation is completed, or after the call has
// ended. The outcome is that of the row.

import { RESPONSE_MS } from '../core/contract-limits.js';
import { canBeOpened, endPending, findOutcome, resumeOrCreate, isGone, ownerOf, waitOneRound } from './asking.js';
import { ElicitationClientGoneError } from '../core/errors.js';
import { internalsOf } from '../core/internals.js';
import { failureResult } from './messages.js';
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
 * @param {Elicitation} [created] the elicitation, if it was created before
 * @returns {Promise<Completed | Ended>}
 */
export async function askByRequest(options, call, created) {
	const begun = await resumeOrCreate(options, created);
	if (begun.outcome) return begun;
	const { elicitation } = begun;
	if (canBeOpened(elicitation, begun.found)) return new ElicitationRequest(options, call, elicitation).run();
	const found = await waitOneRound(options, call, elicitation.elicitationId);
	return typeof found === 'object' ? { outcome: found, elicitation } : endPending(options, elicitation, found);
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
		const { closers, isClosed } = internalsOf(this.#options.urlmode);
		// A request that nobody answers would keep the process running.
		const withdraw = async () => this.#withdraw.abort();
		closers.add(withdraw);
		if (isClosed()) await withdraw();
		try {
			const { action } = await this.#call.request({ mode: 'url', elicitationId, url, message: this.#options.message },
				{ signal: this.#withdraw.signal, timeout: Math.max(0, expiresAt.getTime() - Date.now()) + RESPONSE_MS });
			this.#responded = true;
			if (action !== 'accept') return await this.#endForUser(action);
		} catch (error) {
			this.#responded = true;
			if (!this.#withdraw.signal.aborted && !this.#callEnded) return this.#endForError(error);
		} finally {
			closers.delete(withdraw);
		}
		return new Promise(() => {});
	}

	/**
	 * The user has declined or dismissed the request in the client. Only a refusal
	 * ends the elicitation, if nobody has opened it: a client may dismiss a request
	 * by itself, because the call has ended.
	 *
	 * @param {'decline' | 'cancel'} action
	 * @returns {Promise<Ended>}
	 */
	async #endForUser(action) {
		const { elicitationId } = this.#elicitation;
		const owner = ownerOf(this.#options);
		if (action === 'decline') {
			// The wait ends with this outcome.
			const end = () => this.#options.urlmode.abandon(elicitationId, { ...owner, action, reason: 'refused' });
			if (await this.#notice.refuse(end)) return new Promise(() => {});
		}
		const status = await findOutcome(this.#options, elicitationId);
		if (typeof status === 'object') return new Promise(() => {});
		if (status !== 'pending') {
			this.#notifyLater();
			return endPending(this.#options, this.#elicitation, status);
		}
		return { action: 'cancel', reason: 'dismissed', toolResult: failureResult('cancel', 'dismissed') };
	}

	/**
	 * A client that cannot ask its user gets the link as text.
	 *
	 * @param {unknown} error
	 * @returns {Ended}
	 */
	#endForError(error) {
		if (isGone(this.#call, error)) throw new ElicitationClientGoneError(this.#elicitation.elicitationId);
		if (this.#call.isForFramework?.(error)) throw error;
		return endPending(this.#options, this.#elicitation, 'pending');
	}

	async #notify() {
		const { complete } = this.#call;
		if (complete) await this.#notice.send(() => complete(this.#elicitation.elicitationId));
		if (!this.#responded) setTimeout(() => this.#withdraw.abort(), RESPONSE_MS).unref();
	}

	#notifyLater() {
		const { session } = this.#call;
		if (session) void this.#notice.sendWhenCompleted(this.#options, session);
	}
}
