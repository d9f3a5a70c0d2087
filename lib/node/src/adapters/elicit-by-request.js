// Elicits as in protocol revision 2025-11-25: the server sends its client an
// elicitation request, and the tool call waits.
//
// The client's response only says whether the user agrees to open the page. It
// may arrive at once, or after the elicitation is completed. The outcome is that
// of the row.

import { ElicitationClientGoneError, ElicitationTimeoutError } from '../errors.js';
import { LEAVE_OPEN } from '../wait.js';
import { Heartbeat } from './heartbeat.js';
import {
	canBeOpened, claimOutcome, createElicitation, findOutcome, ownerOf, toElicitResult, toOpenResult,
} from './elicitation.js';
import { linkResult } from './messages.js';
import { followSignals } from './signals.js';

const TIMEOUT_MS = 300_000;

/** How long a client that has not responded may take to do so after completion. */
const RESPONSE_MS = 1_000;

/**
 * How one framework sends requests to the client.
 *
 * @typedef {import('./types.js').Call & Required<Pick<import('./types.js').Call, 'isGone'>> & ChannelFields} Channel
 * @typedef {object} ChannelFields
 * @property {(params: { mode: 'url', elicitationId: string, url: string, message: string },
 *     options: { signal: AbortSignal, timeout: number }) => Promise<{ action: import('../types.js').Action }>} elicit
 * @property {(elicitationId: string) => Promise<unknown>} complete tells the client that the elicitation is completed
 * @property {number} [leg] milliseconds that one call may wait, where the framework cannot keep the call alive. What is
 *     open by then stays open, and the next call goes on with it
 * @property {(error: unknown) => Fallback | undefined} [fallbackOf] returns what to do instead if the error means that
 *     the client cannot be asked. The elicitation stays open
 *
 * @typedef {(elicitation: import('../types.js').Elicitation) => Promise<import('./types.js').ElicitResult>} Fallback
 */

/**
 * @param {import('./types.js').BaseElicitOptions} options
 * @param {Channel} channel
 * @param {import('../types.js').Elicitation} [created] the elicitation, if it was created before
 * @returns {Promise<import('./types.js').ElicitResult>}
 */
export async function elicitByRequest(options, channel, created) {
	const elicitation = created ?? await createElicitation(options);
	const found = elicitation.resumed ? await findOutcome(options, elicitation.elicitationId) : 'pending';
	if (typeof found === 'object') return claimOutcome(options, channel, found, elicitation);
	return new ElicitationRequest(options, channel, elicitation).run(canBeOpened(elicitation, found));
}

class ElicitationRequest {
	#options;
	#channel;
	#elicitation;
	#timeout;
	/** Aborts the wait. */
	#waitAbort;
	/** Aborts the request to the client. */
	#requestAbort = new AbortController();
	#responded = false;
	#callEnded = false;
	#refusedByUser = false;
	/** @type {Fallback | undefined} */
	#fallback;
	/** @type {{ error: unknown, abandoned: Promise<boolean> } | undefined} abandoned: whether it completed the row */
	#failure;

	/**
	 * @param {import('./types.js').BaseElicitOptions} options
	 * @param {Channel} channel
	 * @param {import('../types.js').Elicitation} elicitation
	 */
	constructor(options, channel, elicitation) {
		this.#options = options;
		this.#channel = channel;
		this.#elicitation = elicitation;
		this.#timeout = options.timeout ?? options.ttl ?? TIMEOUT_MS;
		this.#waitAbort = followSignals([options.signal]);
	}

	/** @param {boolean} asks whether the client is asked, too: the user can be sent to the page */
	async run(asks) {
		const { urlmode, recheck, progressEvery } = this.#options;
		const { signal, progress } = this.#channel;
		const heartbeat = new Heartbeat(progress, (error) => void this.#fail('client_gone', error), progressEvery);
		const waiting = urlmode.waitForCompletion(this.#id, {
			...ownerOf(this.#options), timeout: this.#timeout, signal: this.#waitAbort.controller.signal,
			onProgress: heartbeat.report, recheck, abandon: true,
		});
		const onAbort = () => void this.#onAbort(signal?.reason);
		signal?.addEventListener('abort', onAbort, { once: true });
		if (signal?.aborted) onAbort();
		const legTimer = this.#startLeg();
		this.#responded = !asks;
		const request = asks ? this.#sendRequest() : Promise.resolve();
		try {
			return await this.#toResult(await waiting, request);
		} catch (error) {
			if (error === LEAVE_OPEN) return await this.#leaveOpen();
			this.#requestAbort.abort();
			if (this.#failure) throw this.#failure.error;
			if (error instanceof ElicitationTimeoutError) return this.#toTimeoutResult(error);
			throw error;
		} finally {
			heartbeat.stop();
			clearTimeout(legTimer);
			signal?.removeEventListener('abort', onAbort);
			this.#waitAbort.release();
		}
	}

	/** @returns {NodeJS.Timeout | undefined} */
	#startLeg() {
		const { leg = Infinity } = this.#channel;
		if (leg >= this.#timeout) return undefined;
		return setTimeout(() => this.#waitAbort.controller.abort(LEAVE_OPEN), leg);
	}

	get #id() {
		return this.#elicitation.elicitationId;
	}

	/**
	 * @param {import('../types.js').Outcome} outcome
	 * @param {Promise<void>} request
	 */
	async #toResult(outcome, request) {
		if (this.#failure && await this.#failure.abandoned) throw this.#failure.error;
		if (!this.#refusedByUser) await this.#channel.complete(this.#id).catch(() => {});
		if (!this.#responded) {
			const timer = setTimeout(() => this.#requestAbort.abort(), RESPONSE_MS);
			void request.then(() => clearTimeout(timer));
		}
		// Nobody reads the result of this call any more. The next one gets what was paid.
		const { signal } = this.#channel;
		if (outcome.action === 'accept' && signal?.aborted) throw this.#failure?.error ?? signal.reason;
		return claimOutcome(this.#options, this.#channel, outcome, this.#elicitation);
	}

	/** @param {ElicitationTimeoutError} error */
	#toTimeoutResult({ status }) {
		if (status !== 'pending') return toOpenResult(this.#options, this.#elicitation, status);
		return toElicitResult({ elicitationId: this.#id, action: 'cancel', reason: 'timeout', result: undefined }, this.#elicitation);
	}

	/**
	 * The call ends, and the elicitation does not: the leg is over, the client
	 * cannot be asked, or the user has refused in the client what is open in the
	 * browser and can still be finished there. The client may still respond.
	 */
	async #leaveOpen() {
		this.#callEnded = true;
		if (this.#fallback) return this.#fallback(this.#elicitation);
		const found = await findOutcome(this.#options, this.#id);
		if (typeof found === 'object') return claimOutcome(this.#options, this.#channel, found, this.#elicitation);
		const result = toOpenResult(this.#options, this.#elicitation, found);
		return found === 'pending' ? { ...result, toolResult: linkResult(this.#options.message, this.#elicitation) } : result;
	}

	async #sendRequest() {
		const { url } = this.#elicitation;
		try {
			const { action } = await this.#channel.elicit(
				{ mode: 'url', elicitationId: this.#id, url, message: this.#options.message },
				{ signal: this.#requestAbort.signal, timeout: this.#timeout + 2 * RESPONSE_MS });
			this.#responded = true;
			if (action !== 'accept') await this.#abandonForUser(action);
		} catch (error) {
			this.#responded = true;
			if (this.#requestAbort.signal.aborted || this.#callEnded) return;
			this.#fallback = this.#channel.fallbackOf?.(error);
			if (this.#fallback) this.#waitAbort.controller.abort(LEAVE_OPEN);
			else await this.#fail(this.#channel.isGone(error) ? 'client_gone' : 'client_error', error);
		}
	}

	/**
	 * The user has declined or dismissed the request. What they have opened in
	 * the browser stays open there, but this call no longer waits for it.
	 *
	 * @param {'decline' | 'cancel'} action
	 */
	async #abandonForUser(action) {
		const reason = action === 'decline' ? 'refused' : 'dismissed';
		this.#refusedByUser = true;
		const { urlmode } = this.#options;
		this.#refusedByUser = await urlmode.abandon(this.#id, { ...ownerOf(this.#options), action, reason });
		if (!this.#refusedByUser) this.#waitAbort.controller.abort(LEAVE_OPEN);
	}

	/** @param {unknown} reason */
	async #onAbort(reason) {
		// A transport that closes aborts its calls before it reports that it is closed.
		await null;
		if (this.#channel.isGone(reason)) await this.#fail('client_gone', reason);
		else this.#waitAbort.controller.abort(reason);
	}

	/**
	 * Cancels the elicitation, if nobody has opened it, and ends the wait with an
	 * error.
	 *
	 * @param {'client_gone' | 'client_error'} reason
	 * @param {unknown} error
	 */
	async #fail(reason, error) {
		this.#failure ??= {
			error: reason === 'client_gone' ? new ElicitationClientGoneError(this.#id) : error,
			abandoned: this.#options.urlmode.abandon(this.#id, { ...ownerOf(this.#options), reason }).catch(() => false),
		};
		await this.#failure.abandoned;
		this.#waitAbort.controller.abort(this.#failure.error);
	}
}
