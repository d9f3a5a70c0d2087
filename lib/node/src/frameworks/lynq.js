// lynq keeps its waits in the memory of one process, so a callback that another
// instance receives does not end them. Here the wait is for the row. lynq only
// asks the client, and is told when to stop waiting by itself.
//
// Compared with lynq 0.13.0.

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

import { makeAdapter } from '../adapters/adapter.js';
import { createElicitation } from '../adapters/asking.js';
import { runWithElicitation } from '../adapters/with-elicitation.js';
import { messageOfCall } from './lynq-progress.js';
import { nameItem } from './tool-item.js';

export { withProgress } from './lynq-progress.js';

/**
 * @typedef {import('../adapters/types.js').ElicitOptions & CallFields} ElicitOptions
 * @typedef {import('../adapters/types.js').AccountOptions & CallFields} AccountOptions
 * @typedef {import('../adapters/types.js').InputOptions & CallFields} InputOptions
 * @typedef {import('../adapters/types.js').ApprovalOptions & CallFields} ApprovalOptions
 * @typedef {import('../adapters/types.js').Accepted} Accepted
 * @typedef {import('../adapters/types.js').Input} Input
 * @typedef {import('../adapters/types.js').Approval} Approval
 * @typedef {import('../adapters/types.js').Account} Account
 * @typedef {import('../adapters/types.js').UseAccountOptions & CallFields} UseAccountOptions
 * @typedef {import('../adapters/types.js').RequirePaidOptions & CallFields} RequirePaidOptions
 * @typedef {import('../adapters/types.js').Entitlement} Entitlement
 * @typedef {import('../adapters/types.js').ToolResult} ToolResult
 *
 * @typedef {object} CallFields
 * @property {ServerLike} server lynq's MCPServer
 * @property {ContextLike} call the last argument of the tool's handler
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
 * @property {string} toolName
 * @property {unknown} args
 * @property {string} sessionId
 * @property {AbortSignal} signal
 * @property {SessionLike} session
 * @property {ElicitLike} elicit
 * @property {StoreLike} userStore
 *
 * @typedef {{ url(message: string, url: string, options?: UrlOptions): Promise<{ action: import('../core/types.js').Action }> }} ElicitLike
 * @typedef {{ elicitationId?: string, waitForCompletion?: boolean, timeout?: number }} UrlOptions
 *
 * @typedef {import('../adapters/types.js').ElicitOptions extends infer O ? O extends unknown
 *     ? Omit<import('./tool-item.js').WithoutItem<O>, 'subject' | 'session' | 'id'> & SessionFields : never : never} SessionOptions `item` is the tool with its
 *     arguments by default
 * @typedef {object} SessionFields
 * @property {(sessionId: string) => string | Promise<string>} subject returns the user of a session, according to
 *     the server's own authorization
 * @property {string} sessionKey the same as for urlAction: `user` for oauth(), `payment` for payment()
 * @property {(accepted: Accepted) => unknown} [value] returns the value to set under that key, or a promise of it.
 *     By default the value is the result, or true if there is none. It is kept as JSON until the answer was written
 * @property {(error: unknown) => void} [onError] called with an error of `value`. The tool continues
 *     without a value. By default the call fails with that error
 *
 * @typedef {object} SessionElicitation
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

/** The SDK's error code of a request that the client has not answered in time. */
const REQUEST_TIMEOUT = -32001;

/** The key of a session under which its user is kept. */
const SUBJECT_KEY = 'urlmode:subject';

/** @type {typeof makeAdapter<CallFields, ToolResult>} */
const make = makeAdapter;

export const { withElicitation, withAccount, useAccount, requirePaid, collectInput, askApproval } = make(({ server, call }) => describeCall(server, call,
	({ message, url }, { timeout }, id) => call.elicit.url(message, url, { elicitationId: id, waitForCompletion: true, timeout })));

/**
 * Returns what oauth(), payment() and urlAction() need to wait for one kind of
 * elicitation.
 *
 * @param {ServerLike} server of `lynq`
 * @param {SessionOptions} options what is asked for, and of whom
 * @returns {SessionElicitation}
 */
export function forSession(server, options) {
	const middleware = new ElicitationMiddleware(server, options);
	return {
		buildUrl: (params) => middleware.buildUrl(params),
		resume: { name: `urlmode:${options.provider}`, onCall: (c, next) => middleware.onCall(c, next) },
	};
}

/**
 * @typedef {object} CallState the state of one tool call
 * @property {import('../adapters/types.js').ElicitOptions} options
 * @property {Map<string, import('../core/types.js').AnyElicitation>} elicitations by the id that lynq has made for each
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
	 * @param {SessionOptions} options
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
		return /** @type {string} */ (elicitation.url);
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
		const named = /** @type {ElicitOptions} */ (nameItem({ ...options, subject }, { name: c.toolName, args: c.args }));
		/** @type {CallState} */
		const call = { options: named, elicitations: new Map(), elicit, userStore, persistent: false };
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
	 * @returns {Promise<{ action: import('../core/types.js').Action }>}
	 */
	async #elicit(c, call, { message, url, ...more }) {
		const elicitation = call.elicitations.get(more.elicitationId ?? '');
		if (!elicitation) return call.elicit.url(message, url, more);
		const described = describeCall(this.#server, c, (_, { timeout }, id) =>
			call.elicit.url(message, url, { ...more, elicitationId: id, timeout }));
		const end = await this.#share(c, elicitation.elicitationId, async () => {
			const result = await runWithElicitation(call.options, described, (accepted) => this.#valueOf(accepted), elicitation);
			if (result.accepted) await this.#setValue(c, call, result.result);
			return result;
		});
		if (end.accepted) return { action: 'accept' };
		const { action, reason, toolResult } = end;
		if (reason === 'claimed' && await this.#hasValue(c, call)) return { action: 'accept' };
		// Of a user's refusal urlAction itself tells, with its option `declineMessage`.
		if (action !== 'decline') call.toolResult = /** @type {ToolResult} */ (toolResult);
		return { action: action === 'pending' ? 'cancel' : action };
	}

	/**
	 * Of calls that wait for the same elicitation in the same session, one claims
	 * it. The others end after that one has set the value.
	 *
	 * @param {ContextLike} c
	 * @param {string} elicitationId
	 * @template R
	 * @param {() => Promise<import('../adapters/with-elicitation.js').Result<R>>} elicit
	 */
	async #share({ sessionId }, elicitationId, elicit) {
		const key = `${elicitationId} ${sessionId}`;
		const ends = this.#ends.get(key) ?? new Set();
		this.#ends.set(key, ends);
		const end = elicit();
		ends.add(end);
		try {
			const outcome = await end;
			if (!outcome.accepted && outcome.reason === 'claimed') await Promise.allSettled(ends);
			return outcome;
		} finally {
			ends.delete(end);
			if (ends.size === 0) this.#ends.delete(key);
		}
	}

	/**
	 * @param {Accepted} accepted
	 * @returns {Promise<{ value?: unknown }>} without a value after an error that `onError` was called with
	 */
	async #valueOf(accepted) {
		const { value, onError } = this.#options;
		try {
			return { value: value ? await value(accepted) : accepted.result ?? true };
		} catch (error) {
			if (!onError) throw error;
			onError(error);
			return {};
		}
	}

	/**
	 * @param {ContextLike} c
	 * @param {CallState} call
	 * @param {{ value?: unknown }} result
	 */
	async #setValue(c, { persistent, userStore }, { value }) {
		const { sessionKey } = this.#options;
		if (value === undefined) return;
		if (persistent) await userStore.set(sessionKey, value);
		else c.session.set(sessionKey, value);
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
 * wait for one elicitation, and lynq keeps one wait for an id. It ends its
 * requests after 60 seconds.
 *
 * @param {ServerLike} server
 * @param {ContextLike} c
 * @param {(params: { message: string, url: string }, options: { timeout: number }, id: string) =>
 *     Promise<{ action: import('../core/types.js').Action }>} ask
 * @returns {import('../adapters/types.js').Call}
 */
function describeCall(server, c, ask) {
	const id = randomUUID();
	return {
		// lynq does not say what the client can do. A request to one that cannot open a URL fails.
		client: { capabilities: { elicitation: { url: {} } } },
		signal: c.signal,
		...messageOfCall(),
		isGone: () => isSessionGone(server, c),
		async request(params, { signal, timeout }) {
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
