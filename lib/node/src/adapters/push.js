// The way of protocol revision 2025-11-25: the server asks its client with a
// request of its own, and the tool call waits.
//
// The client's answer only says whether the user agrees to go to the page; it
// may come at once, or when all is over. The row says how it ended.

import { ElicitationClientGoneError, ElicitationTimeoutError } from '../errors.js';
import { Heartbeat } from './heartbeat.js';
import { claim, lookAt, openElicitation, ownerOf, toAsked } from './open.js';
import { follow } from './signals.js';
import { notDone, stillProcessing } from './words.js';

const TIMEOUT_MS = 300_000;

/** What a client that held its answer until now has to give it. */
const ANSWER_MS = 1_000;

/**
 * How one framework asks.
 *
 * @typedef {import('./types.js').Call & Required<Pick<import('./types.js').Call, 'isGone'>> & PushOnly} Channel
 * @typedef {object} PushOnly
 * @property {(params: { mode: 'url', elicitationId: string, url: string, message: string },
 *     options: { signal: AbortSignal, timeout: number }) => Promise<{ action: import('../types.js').Action }>} elicit
 * @property {(elicitationId: string) => Promise<unknown>} complete tells the client that it is over
 */

/**
 * @param {import('./types.js').AskOptions} options
 * @param {Channel} channel
 * @returns {Promise<import('./types.js').Asked>}
 */
export async function push(options, channel) {
	const elicitation = await openElicitation(options);
	if (elicitation.resumed) {
		const outcome = await lookAt(options, elicitation.elicitationId);
		if (outcome) return claim(options, outcome, elicitation);
	}
	return new Push(options, channel, elicitation).run();
}

class Push {
	#options;
	#channel;
	#elicitation;
	#timeout;
	/** Ends the wait. */
	#ending;
	/** Ends the request to the client. */
	#asking = new AbortController();
	#answered = false;
	#refused = false;
	/** @type {{ reason: string, error: unknown } | undefined} */
	#failure;

	/**
	 * @param {import('./types.js').AskOptions} options
	 * @param {Channel} channel
	 * @param {import('../types.js').Elicitation} elicitation
	 */
	constructor(options, channel, elicitation) {
		this.#options = options;
		this.#channel = channel;
		this.#elicitation = elicitation;
		this.#timeout = options.timeout ?? options.ttl ?? TIMEOUT_MS;
		this.#ending = follow([options.signal]);
	}

	async run() {
		const { urlmode, recheck, progressEvery } = this.#options;
		const { signal, progress } = this.#channel;
		const heartbeat = new Heartbeat(progress, (error) => void this.#fail('client_gone', error), progressEvery);
		const waiting = urlmode.waitForCompletion(this.#id, {
			...ownerOf(this.#options), timeout: this.#timeout, signal: this.#ending.controller.signal,
			onProgress: heartbeat.tell, recheck, abandon: true,
		});
		const onAbort = () => void this.#onAbort(signal?.reason);
		signal?.addEventListener('abort', onAbort, { once: true });
		if (signal?.aborted) onAbort();
		const asking = this.#ask();
		try {
			return await this.#settle(await waiting, asking);
		} catch (error) {
			this.#asking.abort();
			if (this.#failure) throw this.#failure.error;
			if (error instanceof ElicitationTimeoutError) return this.#timedOut(error);
			throw error;
		} finally {
			heartbeat.stop();
			signal?.removeEventListener('abort', onAbort);
			this.#ending.release();
		}
	}

	get #id() {
		return this.#elicitation.elicitationId;
	}

	/**
	 * @param {import('../types.js').Outcome} outcome
	 * @param {Promise<void>} asking
	 */
	async #settle(outcome, asking) {
		if (this.#failure?.reason === outcome.reason) throw this.#failure.error;
		if (!this.#refused) await this.#channel.complete(this.#id).catch(() => {});
		if (!this.#answered) {
			const timer = setTimeout(() => this.#asking.abort(), ANSWER_MS);
			void asking.then(() => clearTimeout(timer));
		}
		return this.#options.resumeKey === undefined ? toAsked(outcome, this.#elicitation)
			: claim(this.#options, outcome, this.#elicitation);
	}

	/**
	 * @param {ElicitationTimeoutError} error
	 * @returns {import('./types.js').Asked}
	 */
	#timedOut({ status }) {
		const { returnUrl } = this.#elicitation;
		if (status === 'processing') {
			return {
				elicitationId: this.#id, action: 'pending', reason: 'processing', returnUrl,
				toolResult: stillProcessing(this.#options.message, this.#options.resumeKey !== undefined),
			};
		}
		return {
			elicitationId: this.#id, action: 'cancel', reason: 'timeout', returnUrl,
			toolResult: notDone('cancel', 'timeout'),
		};
	}

	async #ask() {
		const { url } = this.#elicitation;
		try {
			const { action } = await this.#channel.elicit(
				{ mode: 'url', elicitationId: this.#id, url, message: this.#options.message },
				{ signal: this.#asking.signal, timeout: this.#timeout + 2 * ANSWER_MS });
			this.#answered = true;
			if (action !== 'accept') await this.#refuse(action);
		} catch (error) {
			this.#answered = true;
			if (this.#asking.signal.aborted) return;
			await this.#fail(this.#channel.isGone(error) ? 'client_gone' : 'client_error', error);
		}
	}

	/**
	 * The user does not go there, or leaves. A payment that is under way goes
	 * on all the same.
	 *
	 * @param {'decline' | 'cancel'} action
	 */
	async #refuse(action) {
		const reason = action === 'decline' ? 'refused' : 'dismissed';
		this.#refused = true;
		this.#refused = await this.#options.urlmode.abandon(this.#id, { ...ownerOf(this.#options), action, reason });
	}

	/** @param {unknown} reason */
	async #onAbort(reason) {
		// A transport that closes aborts its calls before it says that it is closed.
		await null;
		if (this.#channel.isGone(reason)) await this.#fail('client_gone', reason);
		else this.#ending.controller.abort(reason);
	}

	/**
	 * @param {'client_gone' | 'client_error'} reason
	 * @param {unknown} error
	 */
	async #fail(reason, error) {
		this.#failure ??= { reason, error: reason === 'client_gone' ? new ElicitationClientGoneError(this.#id) : error };
		await this.#options.urlmode.abandon(this.#id, { ...ownerOf(this.#options), reason }).catch(() => {});
		this.#ending.controller.abort(this.#failure.error);
	}
}
