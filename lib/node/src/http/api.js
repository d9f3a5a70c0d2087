// One call of the program `api`: a POST with a JSON object, and its answer.

import { CLOSE_MS } from '../core/contract-limits.js';
import { UrlModeBusyError, UrlModeClosedError, UrlModeError, UrlModeUnavailableError } from '../core/errors.js';
import { jittered } from '../core/jitter.js';
import { pause } from '../core/runtime.js';

/** How long one answer may take, with more time for a long body, and for how long a call is tried again. */
const ANSWER_MS = 10_000;
const BYTES_PER_MS = 50;
const TRIES_MS = 10_000;
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 2_000;

/** Statuses of nginx, where the program does not answer it. */
const NO_ANSWER = [502, 504];
/** What has not reached anybody, as Node.js says it. Others do not tell. */
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH'];

/**
 * @typedef {{ [name: string]: ReturnType<typeof JSON.parse> }} Members
 *
 * @typedef {object} CallOptions
 * @property {boolean} [repeatable] true by default: the same call has the same effect, so that it is made again after a lost connection
 * @property {number} [answerMs] without the time that the body takes
 * @property {number} [triesMs]
 * @property {AbortSignal | undefined} [signal] ends the call with its reason
 * @property {string} [suffix] JSON of the last member, `"name":…`, that is there already
 */

/** The api has refused a call. `reason` is its code, such as `unauthorized` (lib/PROTOCOL.md). */
export class UrlModeApiError extends UrlModeError {
	/**
	 * @param {number} status
	 * @param {{ code?: unknown, message?: unknown, left_ms?: unknown, recheck?: Members | undefined }} error
	 */
	constructor(status, { code, message, left_ms: left, recheck }) {
		super('URLMODE_API', typeof message === 'string' ? message : `the api has answered with status ${status}`);
		this.status = status;
		this.reason = typeof code === 'string' ? code : 'internal_error';
		/** For how many milliseconds another call works for it at most. */
		this.leftMs = Number(left ?? 0);
		/** The lease of a recheck that comes first. */
		this.recheck = recheck;
	}
}

/**
 * Whether a lease is another call's, or went with its row, which was purged.
 *
 * @param {unknown} error
 */
export function isLost(error) {
	return error instanceof UrlModeApiError && ['lost', 'not_found'].includes(error.reason);
}

/** There was no answer that says what became of the call. */
class NoAnswer extends Error {
	/**
	 * @param {unknown} cause
	 * @param {boolean} isSent whether it may have been carried out
	 */
	constructor(cause, isSent) {
		super('no answer', { cause });
		this.isSent = isSent;
	}

	retryAfterMs = 0;
}

export class Api {
	#url;
	#key;
	#fetch;
	#closing = new AbortController();
	#isClosed = false;
	/** @type {Set<AbortController>} of the requests that are under way: more than one signal should have listeners */
	#requests = new Set();
	/** @type {Set<Promise<unknown>>} */
	#calls = new Set();

	/**
	 * @param {object} options
	 * @param {string} options.url without a slash at its end
	 * @param {string} options.key
	 * @param {typeof fetch} options.fetch
	 */
	constructor({ url, key, fetch }) {
		this.#url = url;
		this.#key = key;
		this.#fetch = fetch;
	}

	/** Waits for the calls that are under way, for two seconds at most. */
	async close() {
		this.#isClosed = true;
		const overdue = setTimeout(() => {
			this.#closing.abort(new UrlModeClosedError());
			for (const request of this.#requests) request.abort();
		}, CLOSE_MS);
		await Promise.allSettled(this.#calls);
		clearTimeout(overdue);
	}

	/**
	 * @param {string} method
	 * @param {Members} members those that are undefined are left out
	 * @param {CallOptions} [options]
	 * @returns {Promise<Members>}
	 * @throws {UrlModeApiError}
	 * @throws {TypeError} the call has a mistake
	 * @throws {UrlModeBusyError}
	 * @throws {UrlModeUnavailableError}
	 */
	call(method, members, options = {}) {
		const call = this.#call(method, members, options);
		const done = () => this.#calls.delete(call);
		this.#calls.add(call);
		call.then(done, done);
		return call;
	}

	/**
	 * @param {string} method
	 * @param {Members} members
	 * @param {CallOptions} options
	 */
	async #call(method, members, { repeatable = true, answerMs = ANSWER_MS, triesMs = TRIES_MS, signal, suffix }) {
		const json = JSON.stringify(members);
		const body = suffix === undefined ? json : `${json.slice(0, -1)},${suffix}}`;
		const longest = answerMs + body.length / BYTES_PER_MS;
		const until = performance.now() + triesMs;
		for (let delay = RETRY_MIN_MS; ; delay = Math.min(RETRY_MAX_MS, 2 * delay)) {
			signal?.throwIfAborted();
			if (this.#isClosed) throw new UrlModeClosedError();
			const answer = await this.#ask(method, body, longest, signal);
			if (!(answer instanceof NoAnswer)) return answer;
			signal?.throwIfAborted();
			this.#closing.signal.throwIfAborted();
			const after = jittered(Math.max(delay, answer.retryAfterMs));
			if (answer.isSent && !repeatable || performance.now() + after > until) {
				const { cause, isSent } = answer;
				if (cause instanceof UrlModeApiError && cause.status === 429) throw new UrlModeBusyError(cause.message);
				throw new UrlModeUnavailableError(isSent ? 'notAnswered' : 'notSent', cause);
			}
			await pause(after, signal);
		}
	}

	/**
	 * @param {string} method
	 * @param {string} body
	 * @param {number} answerMs
	 * @param {AbortSignal | undefined} signal
	 * @returns {Promise<Members | NoAnswer>}
	 */
	async #ask(method, body, answerMs, signal) {
		let answer, text;
		const controller = new AbortController();
		const end = () => controller.abort();
		const timer = setTimeout(end, answerMs);
		this.#requests.add(controller);
		signal?.addEventListener('abort', end);
		try {
			answer = await this.#fetch(`${this.#url}/v1/${method}`, {
				method: 'POST', body, signal: controller.signal,
				headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
			});
			text = await answer.text();
		} catch (error) {
			return new NoAnswer(error, !NOT_SENT.includes(codeOf(error)));
		} finally {
			clearTimeout(timer);
			this.#requests.delete(controller);
			signal?.removeEventListener('abort', end);
		}
		const value = parse(text);
		if (answer.ok && value) return value;
		const error = new UrlModeApiError(answer.status, value?.error ?? {});
		// A body that was cut is none.
		if (answer.ok || NO_ANSWER.includes(answer.status)) return new NoAnswer(error, true);
		if (answer.status !== 503 && error.reason !== 'too_many') {
			throw ['invalid_request', 'too_large'].includes(error.reason) ? new TypeError(error.message, { cause: error }) : error;
		}
		const none = new NoAnswer(error, false);
		none.retryAfterMs = 1_000 * Number(answer.headers.get('retry-after') ?? 0) || 0;
		return none;
	}
}

/** @param {unknown} error of fetch */
function codeOf(error) {
	const { cause } = /** @type {{ cause?: { code?: unknown } }} */ (error);
	return String(cause?.code);
}

/**
 * @param {string} text
 * @returns {Members | undefined} undefined if it is no JSON object
 */
function parse(text) {
	try {
		const value = JSON.parse(text);
		return typeof value === 'object' && value !== null ? value : undefined;
	} catch {
		return undefined;
	}
}
