// Elicits as in protocol revision 2025-11-25: the server sends its client an
// elicitation request, and the tool call waits.
//
// The client's response only says whether the user agrees to open the page. It
// may arrive at once, or after the elicitation is completed. The outcome is that
// of the row.

import { ElicitationClientGoneError, ElicitationTimeoutError } from '../errors.js';
import { Heartbeat } from './heartbeat.js';
import {
	canBeOpened, claimOutcome, createElicitation, findOutcome, ownerOf, toElicitResult, toOpenResult,
} from './elicitation.js';
import { followSignals } from './signals.js';

const TIMEOUT_MS = 300_000;

/** Ends the wait when the user has refused in the client what is open in the browser. */
const REFUSED = Symbol('refused');

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
 */

/**
 * @param {import('./types.js').BaseElicitOptions} options
 * @param {Channel} channel
 * @returns {Promise<import('./types.js').ElicitResult>}
 */
export async function elicitByRequest(options, channel) {
	const elicitation = await createElicitation(options);
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
	#refusedByUser = false;
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
		this.#responded = !asks;
		const request = asks ? this.#sendRequest() : Promise.resolve();
		try {
			return await this.#toResult(await waiting, request);
		} catch (error) {
			this.#requestAbort.abort();
			if (this.#failure) throw this.#failure.error;
			if (error === REFUSED) return await this.#toRefusedResult();
			if (error instanceof ElicitationTimeoutError) return this.#toTimeoutResult(error);
			throw error;
		} finally {
			heartbeat.stop();
			signal?.removeEventListener('abort', onAbort);
			this.#waitAbort.release();
		}
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

	/** After the user has refused what is open in the browser: it can still be finished there. */
	async #toRefusedResult() {
		const found = await findOutcome(this.#options, this.#id);
		return typeof found === 'object' ? claimOutcome(this.#options, this.#channel, found, this.#elicitation)
			: toOpenResult(this.#options, this.#elicitation, found);
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
			if (this.#requestAbort.signal.aborted) return;
			await this.#fail(this.#channel.isGone(error) ? 'client_gone' : 'client_error', error);
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
		if (!this.#refusedByUser) this.#waitAbort.controller.abort(REFUSED);
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
