// lynq keeps its waits in the memory of one process, so a callback that another
// instance receives does not end them. This adapter ends them when the row is
// completed. After an accept it first sets the session's value. After a refusal
// it only ends the wait, and lynq finds that the value is missing.
//
// Written against lynq's documented interface.

import { AsyncLocalStorage } from 'node:async_hooks';

import { connectAccount as connect } from './connect-account.js';
import { elicitByLink } from './elicit-by-link.js';
import { elicitByRequest } from './elicit-by-request.js';
import { canBeOpened, claimOutcome, createElicitation, findOutcome, ownerOf, toOpenResult } from './elicitation.js';
import { linkResult } from './messages.js';

/**
 * @typedef {import('./types.js').ElicitResult} ElicitResult
 * @typedef {import('./types.js').Accepted} Accepted
 * @typedef {import('./types.js').ToolResult} ToolResult
 *
 * @typedef {object} ServerLike the used part of lynq's MCPServer
 * @property {(sessionId: string) => SessionLike} session
 * @property {(elicitationId: string) => void} completeElicitation
 *
 * @typedef {object} SessionLike
 * @property {(key: string) => unknown} get
 * @property {(key: string, value: unknown) => void} set
 *
 * @typedef {object} ContextLike the used part of lynq's ToolContext
 * @property {string} sessionId
 * @property {AbortSignal} signal
 * @property {SessionLike} session
 * @property {{ url(message: string, url: string, options: UrlOptions): Promise<{ action: import('../types.js').Action }>
 *     }} elicit
 *
 * @typedef {{ elicitationId: string, waitForCompletion: boolean, timeout: number }} UrlOptions
 *
 * @typedef {import('./types.js').BaseElicitOptions & { c: ContextLike }} ElicitOptions `c` is the last argument of the tool's
 *     handler
 * @typedef {import('./types.js').AccountResult} AccountResult
 * @typedef {import('./types.js').AccountOptions & { c: ContextLike }} AccountOptions
 *
 * @typedef {Omit<import('./types.js').BaseElicitOptions, 'subject' | 'session' | 'id'> & WayFields} WayOptions
 * @typedef {object} WayFields
 * @property {(sessionId: string) => string | Promise<string>} subject returns the user of a session, according to
 *     the server's own authorization
 * @property {string} sessionKey the same as for urlAction: `user` for oauth(), `payment` for payment()
 * @property {(accepted: Accepted) => unknown} [value] returns the value to set under that key, or a promise of it.
 *     By default the value is the result, or true if there is none
 * @property {(error: unknown) => void} [onError] called with an error of `value` or of the wait. The tool continues
 *     without a value
 *
 * @typedef {object} Way
 * @property {(params: { sessionId: string, elicitationId: string }) => Promise<string>} buildUrl for oauth(), payment()
 *     and urlAction()
 * @property {Middleware} resume a middleware to put before them. It resumes what an earlier call has started, returns the
 *     link as text to a client that does not support elicitation.url, and cancels an elicitation that nobody has opened
 *     and that nobody waits for any more
 *
 * @typedef {object} Middleware
 * @property {string} name
 * @property {(c: ContextLike, next: () => Promise<CallResult>) => Promise<CallResult>} onCall
 *
 * @typedef {{ content: { type: 'text', text: string }[], isError?: boolean }} CallResult
 */

const TIMEOUT_MS = 300_000;

/** Messages of the SDK for a client that does not support elicitation in URL mode. */
const UNSUPPORTED_MESSAGES = new Set([
	'Client does not support url elicitation.',
	'Client does not support URL elicitation (required for notifications/elicitation/complete)',
]);

/** lynq's message when its own wait times out. */
const TIMEOUT_MESSAGE = 'Elicitation timed out';

/**
 * Calls `c.elicit.url` with one of our elicitations, and returns its outcome.
 *
 * @param {ServerLike} server
 * @param {ElicitOptions} options
 * @returns {Promise<ElicitResult>}
 */
export async function elicitUrl(server, { c, ...options }) {
	const call = { signal: c.signal, progress: undefined };
	try {
		return await elicitByRequest(options, {
			...call,
			isGone: () => false,
			elicit({ elicitationId, message, url }, { signal, timeout }) {
				// This is the only way to end lynq's wait from outside.
				signal.addEventListener('abort', () => server.completeElicitation(elicitationId), { once: true });
				return c.elicit.url(message, url, { elicitationId, waitForCompletion: true, timeout });
			},
			complete: async (elicitationId) => server.completeElicitation(elicitationId),
		});
	} catch (error) {
		if (failureOf(error) !== 'unsupported') throw error;
		return elicitByLink(options, call);
	}
}

/**
 * Connects an account at a provider of lib/providers with `elicitUrl`, and
 * exchanges the code.
 *
 * @param {ServerLike} server
 * @param {AccountOptions} options
 * @returns {Promise<AccountResult>}
 * @throws {import('../errors.js').ProviderUnavailableError}
 * @throws the errors of `elicitUrl`
 */
export async function connectAccount(server, { c, ...options }) {
	return connect(options, (wish) => elicitUrl(server, { ...wish, c }));
}

/**
 * Returns what oauth(), payment() and urlAction() need to wait for one kind of
 * elicitation.
 *
 * @param {ServerLike} server
 * @param {WayOptions} options
 * @returns {Way}
 */
export function urlWay(server, options) {
	const middleware = new ElicitationMiddleware(server, options);
	return {
		buildUrl: (params) => middleware.buildUrl(params),
		resume: { name: `urlmode:${options.provider}`, onCall: (c, next) => middleware.onCall(c, next) },
	};
}

/**
 * @typedef {object} CallState the state of one tool call
 * @property {import('./types.js').BaseElicitOptions} options
 * @property {import('../types.js').Elicitation} elicitation
 * @property {AbortController} ended
 */

class ElicitationMiddleware {
	#server;
	#options;
	/** @type {AsyncLocalStorage<CallState>} */
	#calls = new AsyncLocalStorage();

	/**
	 * @param {ServerLike} server
	 * @param {WayOptions} options
	 */
	constructor(server, options) {
		this.#server = server;
		this.#options = options;
	}

	/** @param {{ sessionId: string, elicitationId: string }} params */
	async buildUrl({ sessionId, elicitationId }) {
		const call = this.#calls.getStore();
		const options = call?.options ?? await this.#optionsFor(sessionId);
		const elicitation = call?.elicitation ?? await createElicitation({ ...options, id: elicitationId });
		// lynq identifies its wait by its own id, which differs from ours if the elicitation was resumed.
		void this.#wait(options, elicitation, { sessionId, elicitationId, signal: call?.ended.signal });
		return elicitation.url;
	}

	/**
	 * @param {ContextLike} c
	 * @param {() => Promise<CallResult>} next
	 */
	async onCall(c, next) {
		const { sessionKey } = this.#options;
		if (c.session.get(sessionKey)) return next();
		const options = await this.#optionsFor(c.sessionId);
		const elicitation = await createElicitation(options);
		const found = elicitation.resumed ? await findOutcome(options, elicitation.elicitationId) : 'pending';
		if (typeof found === 'object') {
			const result = await claimOutcome(options, c, found, elicitation);
			if (result.action !== 'accept') return result.toolResult;
			c.session.set(sessionKey, await this.#valueOf(result));
			return next();
		}
		if (!canBeOpened(elicitation, found)) return toOpenResult(options, elicitation, found).toolResult;
		return this.#runCall(c, next, { options, elicitation, ended: new AbortController() });
	}

	/**
	 * Runs the rest of the call. If nobody has opened the elicitation by then,
	 * it is completed with the reason why the call has ended.
	 *
	 * @param {ContextLike} c
	 * @param {() => Promise<CallResult>} next
	 * @param {CallState} call
	 */
	async #runCall(c, next, call) {
		const { options, elicitation, ended } = call;
		/** @type {{ action: 'decline' | 'cancel', reason: string } | undefined} undefined: it stays open */
		let completion = { action: 'decline', reason: 'refused' };
		const onAbort = () => ended.abort(c.signal.reason);
		c.signal.addEventListener('abort', onAbort, { once: true });
		try {
			return await this.#calls.run(call, next);
		} catch (error) {
			const failure = failureOf(error);
			if (failure === 'unsupported') {
				completion = undefined;
				return linkResult(options.message, elicitation);
			}
			completion = { action: 'cancel', reason: failure };
			throw error;
		} finally {
			c.signal.removeEventListener('abort', onAbort);
			if (c.signal.aborted) completion = { action: 'cancel', reason: 'aborted' };
			ended.abort();
			if (completion) {
				// Has no effect if the elicitation is opened or completed already.
				await options.urlmode.abandon(elicitation.elicitationId, { ...ownerOf(options), ...completion }).catch(() => {});
			}
		}
	}

	/**
	 * @param {import('./types.js').BaseElicitOptions} options
	 * @param {import('../types.js').Elicitation} elicitation
	 * @param {{ sessionId: string, elicitationId: string, signal: AbortSignal | undefined }} lynqWait
	 */
	async #wait(options, elicitation, { sessionId, elicitationId, signal }) {
		const { urlmode, timeout = options.ttl ?? TIMEOUT_MS, recheck } = options;
		try {
			const outcome = await urlmode.waitForCompletion(elicitation.elicitationId, {
				...ownerOf(options), timeout, signal, recheck,
			});
			const result = await claimOutcome(options, { signal }, outcome, elicitation);
			if (result.action === 'accept') {
				this.#server.session(sessionId).set(this.#options.sessionKey, await this.#valueOf(result));
			}
		} catch (error) {
			if (!signal?.aborted) this.#options.onError?.(error);
		}
		this.#server.completeElicitation(elicitationId);
	}

	/** @param {Accepted} accepted */
	async #valueOf(accepted) {
		return this.#options.value ? this.#options.value(accepted) : accepted.result ?? true;
	}

	/**
	 * @param {string} sessionId
	 * @returns {Promise<import('./types.js').BaseElicitOptions>}
	 */
	async #optionsFor(sessionId) {
		return { ...this.#options, subject: await this.#options.subject(sessionId) };
	}
}

/**
 * lynq and the SDK throw errors without a class or code of their own, so only
 * the message tells them apart.
 *
 * @param {unknown} error
 * @returns {'unsupported' | 'timeout' | 'failed'}
 */
function failureOf(error) {
	if (!(error instanceof Error)) return 'failed';
	if (UNSUPPORTED_MESSAGES.has(error.message)) return 'unsupported';
	return error.message === TIMEOUT_MESSAGE ? 'timeout' : 'failed';
}
