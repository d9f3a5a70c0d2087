// lynq keeps its waits in the memory of one process, so a callback that another
// instance receives does not end them. Here the wait is for the row. lynq only
// asks the client, and is told when to stop waiting by itself.
//
// lynq's requests to the client end after 60 seconds, and a client may wait no
// longer for a call. Therefore a call waits for one leg, and the next one goes on.
//
// Compared with lynq 0.13.0.

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

import { connectAccount as connect } from './connect-account.js';
import { elicitByLink } from './elicit-by-link.js';
import { elicitByRequest } from './elicit-by-request.js';
import { createElicitation, ROUND_MS } from './elicitation.js';
import { progressOfCall } from './lynq-progress.js';

export { withProgress } from './lynq-progress.js';

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
 * @typedef {object} StoreLike
 * @property {(key: string) => Promise<unknown>} get
 * @property {(key: string, value: unknown, ttl?: number) => Promise<void>} set
 *
 * @typedef {object} ContextLike the used part of lynq's ToolContext
 * @property {string} sessionId
 * @property {AbortSignal} signal
 * @property {SessionLike} session
 * @property {ElicitLike} elicit
 * @property {StoreLike} userStore
 *
 * @typedef {{ url(message: string, url: string, options?: UrlOptions): Promise<{ action: import('../types.js').Action }> }} ElicitLike
 * @typedef {{ elicitationId?: string, waitForCompletion?: boolean, timeout?: number }} UrlOptions
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
 * @property {(error: unknown) => void} [onError] called with an error of `value`, or of setting it. The tool continues
 *     without a value. By default the call fails with that error
 *
 * @typedef {object} Way
 * @property {(params: { sessionId: string, elicitationId: string }) => Promise<string>} buildUrl for oauth(), payment()
 *     and urlAction()
 * @property {Middleware} resume a middleware to put before them, which does the waiting
 *
 * @typedef {object} Middleware
 * @property {string} name
 * @property {(c: ContextLike, next: () => Promise<CallResult>) => Promise<CallResult>} onCall
 *
 * @typedef {{ content: { type: 'text', text: string }[], isError?: boolean }} CallResult
 */

/** Messages of the SDK for a client that does not support elicitation in URL mode. */
const UNSUPPORTED_MESSAGES = new Set([
	'Client does not support url elicitation.',
	'Client does not support URL elicitation (required for notifications/elicitation/complete)',
]);

/** The SDK's error code of a request that the client has not answered in time. */
const REQUEST_TIMEOUT = -32001;

/** The key of a session under which its user is kept. */
const SUBJECT_KEY = 'urlmode:subject';

/**
 * Calls `c.elicit.url` with one of our elicitations, and returns its outcome.
 *
 * @param {ServerLike} server
 * @param {ElicitOptions} options
 * @returns {Promise<ElicitResult>}
 */
export async function elicitUrl(server, { c, ...options }) {
	return elicitByRequest(options, channelOf(server, c, options, ({ message, url }, { timeout }, id) =>
		c.elicit.url(message, url, { elicitationId: id, waitForCompletion: true, timeout })));
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
 * @property {Map<string, import('../types.js').Elicitation>} elicitations by the id that lynq has made for each
 * @property {ElicitLike} elicit lynq's own
 * @property {StoreLike} userStore lynq's own
 * @property {boolean} persistent whether urlAction looks for the value in the user's store, and not in the session
 * @property {ToolResult | undefined} [toolResult] what to return instead of lynq's own error
 */

class ElicitationMiddleware {
	#server;
	#options;
	/** @type {AsyncLocalStorage<CallState>} */
	#calls = new AsyncLocalStorage();
	/** @type {Map<string, Set<Promise<unknown>>>} by elicitation and session: the calls that it may end */
	#ends = new Map();

	/**
	 * @param {ServerLike} server
	 * @param {WayOptions} options
	 */
	constructor(server, options) {
		this.#server = server;
		this.#options = options;
	}

	/** @param {{ sessionId: string, elicitationId: string }} params */
	async buildUrl({ elicitationId }) {
		const call = this.#calls.getStore();
		if (!call) throw new TypeError('buildUrl is called in a tool that does not have `resume` before oauth(), payment() or urlAction()');
		const elicitation = await createElicitation(call.options);
		call.elicitations.set(elicitationId, elicitation);
		return elicitation.url;
	}

	/**
	 * Gives the rest of the call a `c.elicit.url` that waits for the row, and
	 * sets the value before it returns.
	 *
	 * @param {ContextLike} c
	 * @param {() => Promise<CallResult>} next
	 */
	async onCall(c, next) {
		const { sessionKey, ...options } = this.#options;
		const subject = await options.subject(c.sessionId);
		bindSession(c.session, subject);
		const { elicit, userStore } = c;
		/** @type {CallState} */
		const call = { options: { ...options, subject }, elicitations: new Map(), elicit, userStore, persistent: false };
		c.elicit = {
			...elicit,
			url: (message, url, more) => this.#elicit(c, call, { message, url, ...more }),
		};
		c.userStore = {
			...userStore,
			get(key) {
				call.persistent ||= key === sessionKey;
				return userStore.get(key);
			},
		};
		const result = await this.#calls.run(call, next);
		return result.isError && call.toolResult ? call.toolResult : result;
	}

	/**
	 * @param {ContextLike} c
	 * @param {CallState} call
	 * @param {{ message: string, url: string } & UrlOptions} request of urlAction
	 * @returns {Promise<{ action: import('../types.js').Action }>}
	 */
	async #elicit(c, call, { message, url, ...more }) {
		const elicitation = call.elicitations.get(more.elicitationId ?? '');
		if (!elicitation) return call.elicit.url(message, url, more);
		const { timeout = call.options.ttl ?? Infinity } = call.options;
		const options = { ...call.options, timeout: Math.min(timeout, more.timeout ?? Infinity) };
		const channel = channelOf(this.#server, c, options, (_, { timeout }, id) =>
			call.elicit.url(message, url, { ...more, elicitationId: id, timeout }));
		const { action, reason, toolResult } = await this.#share(c, elicitation.elicitationId, async () => {
			const outcome = await elicitByRequest(options, channel, elicitation);
			if (outcome.action === 'accept') await this.#setValue(c, call, outcome);
			return outcome;
		});
		if (reason === 'claimed' && await this.#hasValue(c, call)) return { action: 'accept' };
		// Of a user's refusal urlAction itself tells, with its option `declineMessage`.
		if (action !== 'decline' && reason !== 'dismissed') call.toolResult = toolResult;
		return { action: action === 'pending' ? 'cancel' : action };
	}

	/**
	 * Of calls that wait for the same elicitation in the same session, one claims
	 * it. The others end after that one has set the value.
	 *
	 * @param {ContextLike} c
	 * @param {string} elicitationId
	 * @param {() => Promise<ElicitResult>} elicit
	 */
	async #share({ sessionId }, elicitationId, elicit) {
		const key = `${elicitationId} ${sessionId}`;
		const ends = this.#ends.get(key) ?? new Set();
		this.#ends.set(key, ends);
		const end = elicit();
		ends.add(end);
		try {
			const outcome = await end;
			if (outcome.reason === 'claimed') await Promise.allSettled(ends);
			return outcome;
		} finally {
			ends.delete(end);
			if (ends.size === 0) this.#ends.delete(key);
		}
	}

	/**
	 * @param {ContextLike} c
	 * @param {CallState} call
	 * @param {Accepted} accepted
	 */
	async #setValue(c, { persistent, userStore }, accepted) {
		const { sessionKey, value, onError } = this.#options;
		try {
			const set = value ? await value(accepted) : accepted.result ?? true;
			if (persistent) await userStore.set(sessionKey, set);
			else c.session.set(sessionKey, set);
		} catch (error) {
			if (!onError) throw error;
			onError(error);
		}
	}

	/**
	 * @param {ContextLike} c
	 * @param {CallState} call
	 */
	async #hasValue(c, { persistent, userStore }) {
		const { sessionKey } = this.#options;
		return Boolean(persistent ? await userStore.get(sessionKey) : c.session.get(sessionKey));
	}
}

/**
 * lynq identifies each request by an id of its own, because several calls may
 * wait for one elicitation, and lynq keeps one wait for an id.
 *
 * @param {ServerLike} server
 * @param {ContextLike} c
 * @param {import('./types.js').BaseElicitOptions} options
 * @param {(params: { message: string, url: string }, options: { timeout: number }, id: string) =>
 *     Promise<{ action: import('../types.js').Action }>} ask
 * @returns {import('./elicit-by-request.js').Channel}
 */
function channelOf(server, c, options, ask) {
	const id = randomUUID();
	const call = { signal: c.signal, progress: progressOfCall(), isGone: () => isSessionGone(server, c) };
	return {
		...call,
		leg: options.legTimeout ?? ROUND_MS,
		async elicit(params, { signal, timeout }) {
			// This is the only way to end lynq's wait from outside.
			signal.addEventListener('abort', () => server.completeElicitation(id), { once: true });
			try {
				return await ask(params, { timeout }, id);
			} catch (error) {
				// The client holds its response until the user is done. The row says when that is.
				if (codeOf(error) === REQUEST_TIMEOUT) return { action: 'accept' };
				throw error;
			}
		},
		complete: async () => server.completeElicitation(id),
		fallbackOf: (error) => (error instanceof Error && UNSUPPORTED_MESSAGES.has(error.message)
			? (elicitation) => elicitByLink(options, call, elicitation) : undefined),
	};
}

/**
 * Values in a session are for its first user only. With `sessionless` lynq has
 * one session, `default`, for all users.
 *
 * @param {SessionLike} session
 * @param {string} subject
 * @throws if the session is another user's
 */
function bindSession(session, subject) {
	const owner = session.get(SUBJECT_KEY);
	if (owner === undefined) session.set(SUBJECT_KEY, subject);
	else if (owner !== subject) throw new Error('This session belongs to another user. Connect again, with a session of your own.');
}

/**
 * After the end of a session lynq makes an empty one for the same id. It aborts
 * the calls of a session that ends for no other reason than those that the
 * client cancels.
 *
 * @param {ServerLike} server
 * @param {ContextLike} c
 */
function isSessionGone(server, { session, sessionId }) {
	const key = 'urlmode:probe';
	const probe = randomUUID();
	session.set(key, probe);
	const gone = server.session(sessionId).get(key) !== probe;
	session.set(key, undefined);
	return gone;
}

/** @param {unknown} error */
function codeOf(error) {
	return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
