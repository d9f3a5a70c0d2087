// The parts of a failed request to a provider that may be logged. The answers and the
// errors themselves may hold codes and tokens.

import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';

import { ACCOUNT_NAMES_MAX, ACCOUNT_REQUEST_MS, FROZEN_MS, RETRY_AFTER_MAX_MS, THAW_MS } from '../core/contract-limits.js';
import { CODE } from './not-connected.js';

/** An HTTP date, as of RFC 9110 section 5.6.7. */
const DATE = /^[A-Z][a-z]+, /;

/**
 * @typedef {object} Seen the answer to a request
 * @property {string} [answer]
 * @property {string} [error] the provider's code, also where openid-client does not read it, as with status 500
 * @property {boolean} [isSent] it may have arrived
 * @property {import('./types.js').Tokens} [tokens] that the provider has given, also if they are refused then
 * @property {number} [status] as soon as it came, whatever became of the rest
 * @property {number} [limit] milliseconds that it may take, if not as long as any
 * @property {number | undefined} [retryAfter] milliseconds, as the provider says it with a status that is no success
 */

/** @type {AsyncLocalStorage<Seen>} of the request that is under way */
const requests = new AsyncLocalStorage();

/** Errors of connections that could not be made, TLS included: of the requests that were to use them, nothing was sent. */
const connectErrors = new WeakSet();
subscribe('undici:client:connectError', (message) => {
	connectErrors.add(/** @type {{ error: Error }} */ (message).error);
});

/**
 * Whether a request has failed before a byte of it was written.
 *
 * @param {unknown} error of fetch
 */
export function isUnsent(error) {
	const { cause } = /** @type {{ cause?: unknown }} */ (error);
	return cause instanceof Error && connectErrors.has(cause);
}

/**
 * The provider's code of an error (RFC 6749 section 5.2), or one of the system or of openid-client.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function codeOf(error) {
	const { error: refusal, code, cause } = /** @type {{ error?: unknown, code?: unknown, cause?: unknown }} */ (error ?? {});
	if (isCode(refusal)) return refusal;
	const systemCode = cause instanceof Error && 'code' in cause ? cause.code : undefined;
	if (error instanceof DOMException && error.name === 'TimeoutError') return 'TIMEOUT';
	// That of another DOMException is a number.
	return String((typeof systemCode === 'string' ? systemCode : undefined) ?? code ?? 'unknown');
}

/**
 * Runs a request. Its error gets a `detail`: the code, the HTTP status, and the answer, where that is no error of RFC 6749;
 * `lost`: the request may have arrived, and its answer did not come or does not say what was done; and `retryAfter`.
 *
 * @template R
 * @param {() => Promise<R>} request
 * @param {Seen} [seen] what was answered
 * @returns {Promise<R>}
 */
export async function withDetail(request, seen = {}) {
	try {
		return await requests.run(seen, request);
	} catch (error) {
		if (error instanceof Error) {
			const { isSent = false, status = 200, retryAfter } = seen;
			const isRefusal = status !== 408 && status < 500 && 'error' in error && typeof error.error === 'string';
			const lost = isRefusal || !isSent ? undefined : status < 200 || status > 299 ? 'status' : 'answer';
			Object.assign(error, { detail: [seen.error ?? codeOf(error), seen.answer].filter(Boolean).join(', '), lost, retryAfter });
		}
		throw error;
	}
}

/**
 * Whether the endpoint may have carried out the request although nobody knows its answer.
 *
 * @param {unknown} error of `withDetail`
 * @returns {'answer' | 'status' | undefined} status: there is an answer, whose status alone does not say it
 */
export function lostBy(error) {
	return /** @type {{ lost?: 'answer' | 'status' }} */ (error).lost;
}

/**
 * @param {unknown} error of `withDetail`
 * @returns {number | undefined} milliseconds for which the provider wants to be left alone
 */
export function retryAfterOf(error) {
	return /** @type {{ retryAfter?: number }} */ (error).retryAfter;
}

/**
 * @param {Response} response
 * @returns {number | undefined} milliseconds
 */
function readRetryAfter({ headers }) {
	const said = headers.get('retry-after')?.trim() ?? '';
	const time = /^\d+$/.test(said) ? Number(said) * 1_000
		: DATE.test(said) ? Date.parse(said) - (Date.parse(headers.get('date') ?? '') || Date.now()) : NaN;
	return time > 0 ? Math.min(time, RETRY_AFTER_MAX_MS) : undefined;
}

/** How long the request that is under way may take, in milliseconds. */
export function limitOfRequest() {
	return requests.getStore()?.limit ?? ACCOUNT_REQUEST_MS;
}

/**
 * Ends a request after some time. Where the process stood still meanwhile, what came then is read first.
 *
 * @param {number} time milliseconds
 * @returns {AbortSignal}
 */
export function limitedTo(time) {
	const ending = new AbortController();
	const until = performance.now() + time;
	const timeout = AbortSignal.timeout(time);
	timeout.addEventListener('abort', () => {
		setTimeout(() => ending.abort(timeout.reason), performance.now() > until + FROZEN_MS ? THAW_MS : 0).unref();
	});
	return ending.signal;
}

/**
 * Sends a request, and notes how far it came.
 *
 * @param {() => Promise<Response>} send
 * @returns {Promise<Response>}
 */
export async function noteSending(send) {
	const seen = requests.getStore() ?? {};
	seen.isSent = true;
	try {
		const response = await send();
		seen.status = response.status;
		if (!response.ok) seen.retryAfter = readRetryAfter(response);
		return response;
	} catch (error) {
		seen.isSent = !isUnsent(error);
		throw error;
	}
}

/**
 * @param {unknown} error of `withDetail`
 * @returns {string}
 */
export function detailOf(error) {
	const { detail } = /** @type {{ detail?: unknown }} */ (error);
	return typeof detail === 'string' ? detail : codeOf(error);
}

/**
 * Notes what was answered to the request that is under way.
 *
 * @param {Response} response
 * @param {unknown} content its JSON, or form; undefined if it is neither
 */
export function noteAnswer({ status, headers }, content) {
	const seen = requests.getStore();
	if (!seen) return;
	const { error } = /** @type {{ error?: unknown }} */ (content ?? {});
	if (isCode(error)) Object.assign(seen, { answer: `status ${status}`, error });
	else seen.answer = `status ${status}, ${shapeOf(headers.get('content-type') ?? '', content)}`;
}

/**
 * Whatever has a digit may be a code or a token.
 *
 * @param {unknown} text
 * @returns {text is string}
 */
function isCode(text) {
	return typeof text === 'string' && CODE.test(text);
}

/** @param {import('./types.js').Tokens} tokens of the request that is under way */
export function noteTokens(tokens) {
	const seen = requests.getStore();
	if (seen) seen.tokens = tokens;
}

/**
 * @param {string} contentType
 * @param {unknown} content
 */
function shapeOf(contentType, content) {
	const [type] = /^[a-z]+\/[a-z.+-]{1,60}/.exec(contentType) ?? ['no known type'];
	if (typeof content !== 'object' || content === null || Array.isArray(content)) return type;
	const members = Object.entries(content).filter(([name]) => isCode(name)).slice(0, ACCOUNT_NAMES_MAX)
		.map(([name, value]) => (isHarmless(value) ? `${name}=${value}` : name));
	return members.length > 0 ? `${type} with ${members.join(', ')}` : type;
}

/** @param {unknown} value */
function isHarmless(value) {
	return typeof value === 'boolean' || value === null || (Number.isInteger(value) && Math.abs(Number(value)) < 1_000);
}
