// The official TypeScript SDK 1.x, @modelcontextprotocol/sdk: protocol
// revision 2025-11-25.

import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';

import { link, waitALeg } from './link.js';
import { claim, openElicitation, ownerOf, resumeKeyOf } from './open.js';
import { push } from './push.js';

/** ErrorCode.ConnectionClosed of the SDK. */
const CONNECTION_CLOSED = -32000;

/**
 * @typedef {import('./types.js').Asked} Asked
 * @typedef {import('./types.js').AskOptions & { extra: CallExtra }} ElicitOptions `extra` is what the tool's callback is
 *     called with, beside its arguments
 *
 * @typedef {object} CallExtra what is used of the SDK's RequestHandlerExtra
 * @property {AbortSignal} signal
 * @property {string | number} requestId
 * @property {{ progressToken?: string | number }} [_meta]
 * @property {(notification: ProgressNotification) => Promise<void>} sendNotification
 *
 * @typedef {object} ProgressNotification
 * @property {'notifications/progress'} method
 * @property {{ progressToken: string | number, progress: number, message: string }} params
 *
 * @typedef {object} ServerLike what is used of the SDK's Server
 * @property {object | undefined} [transport]
 * @property {(() => void) | undefined} [onclose]
 * @property {() => { elicitation?: { url?: object } } | undefined} getClientCapabilities
 * @property {(params: ElicitParams, options: RequestOptions) => Promise<{ action: 'accept' | 'decline' | 'cancel' }>
 *     } elicitInput
 * @property {(id: string, options?: { relatedRequestId?: string | number }) => () => Promise<void>
 *     } createElicitationCompletionNotifier
 *
 * @typedef {{ mode: 'url', elicitationId: string, url: string, message: string }} ElicitParams
 * @typedef {{ signal: AbortSignal, timeout: number, relatedRequestId: string | number }} RequestOptions
 */

/**
 * Asks the user by the client's elicitation, in URL mode, and waits until the
 * browser, or the provider, has completed it. Tells the client that it is
 * over, in the session that asked. A client without elicitation.url gets a
 * result with the link in words, and a later call goes on.
 *
 * @param {ServerLike | { server: ServerLike }} server of the session that calls: the McpServer, or its `server`
 * @param {ElicitOptions} options
 * @returns {Promise<Asked>}
 * @throws {import('../errors.js').ElicitationClientGoneError} the session or its connection was closed
 * @throws {import('../errors.js').UrlModeClosedError} `close` was called
 * @throws the signal's reason, when the client cancelled the call
 */
export async function elicitUrl(server, { extra, ...options }) {
	const { inner, call } = partsOf(server, extra);
	if (!inner.getClientCapabilities()?.elicitation?.url) return link(options, call);
	const stopWatching = onClose(inner, call.close);
	try {
		return await push(options, {
			...call,
			elicit: (params, { signal, timeout }) =>
				inner.elicitInput(params, { signal, timeout, relatedRequestId: extra.requestId }),
			complete: (id) => inner.createElicitationCompletionNotifier(id, { relatedRequestId: extra.requestId })(),
		});
	} finally {
		stopWatching();
	}
}

/**
 * Answers the call with the error that says that a URL must be visited first
 * (-32042), unless that has been done: the call that comes after it goes on.
 * Tells the client, in the session that asked, when it is completed. One that
 * calls again too early waits for up to `legTimeout`.
 *
 * @param {ServerLike | { server: ServerLike }} server of the session that calls: the McpServer, or its `server`
 * @param {ElicitOptions} options
 * @returns {Promise<Asked>}
 * @throws {UrlElicitationRequiredError} for the SDK to send
 */
export async function requireUrl(server, { extra, ...options }) {
	const { inner, call } = partsOf(server, extra);
	if (!inner.getClientCapabilities()?.elicitation?.url) return link(options, call);
	const elicitation = await openElicitation(options, resumeKeyOf(options));
	const { elicitationId, url, resumed } = elicitation;
	const waited = resumed ? await waitALeg(options, call, elicitationId) : 'pending';
	if (typeof waited === 'object') return claim(options, waited, elicitation);
	void announce(inner, options, elicitationId);
	throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId, url, message: options.message }]);
}

/** @type {WeakMap<ServerLike, Set<string>>} which elicitations a session will be told of */
const announcing = new WeakMap();

/**
 * Waits beside all calls, until the session is closed.
 *
 * @param {ServerLike} server
 * @param {import('./types.js').AskOptions} options
 * @param {string} id
 */
async function announce(server, options, id) {
	const known = announcing.get(server) ?? new Set();
	announcing.set(server, known);
	if (known.has(id)) return;
	known.add(id);
	const closing = new AbortController();
	const stopWatching = onClose(server, () => closing.abort());
	try {
		await options.urlmode.waitForCompletion(id, { ...ownerOf(options), timeout: Infinity, signal: closing.signal,
			recheck: options.recheck });
		await server.createElicitationCompletionNotifier(id)();
	} catch {
		// The next call finds out by itself.
	} finally {
		stopWatching();
		known.delete(id);
	}
}

/**
 * @param {ServerLike | { server: ServerLike }} server
 * @param {CallExtra} extra
 */
function partsOf(server, extra) {
	const inner = 'server' in server ? server.server : server;
	const progressToken = extra._meta?.progressToken;
	const closing = new AbortController();
	// Older versions of the SDK abort no call when their transport closes.
	extra.signal.addEventListener('abort', () => closing.abort(extra.signal.reason), { once: true });
	if (extra.signal.aborted) closing.abort(extra.signal.reason);
	return {
		inner,
		call: {
			signal: closing.signal,
			close: () => closing.abort(new Error('the session is closed')),
			progress: progressToken === undefined ? undefined
				/** @type {(progress: number, message: string) => Promise<void>} */
				: (/** @type {number} */ progress, /** @type {string} */ message) => extra.sendNotification({
					method: 'notifications/progress', params: { progressToken, progress, message },
				}),
			isGone: (/** @type {unknown} */ error) => inner.transport === undefined
				|| (typeof error === 'object' && error !== null && 'code' in error && error.code === CONNECTION_CLOSED),
		},
	};
}

/** @type {WeakMap<ServerLike, Set<() => void>>} */
const closeWatchers = new WeakMap();

/**
 * @param {ServerLike} server
 * @param {() => void} watcher called when the session is closed
 * @returns {() => void} ends that
 */
function onClose(server, watcher) {
	let watchers = closeWatchers.get(server);
	if (!watchers) {
		const all = new Set();
		const previous = server.onclose;
		server.onclose = () => {
			for (const each of all) each();
			previous?.();
		};
		closeWatchers.set(server, all);
		watchers = all;
	}
	watchers.add(watcher);
	return () => watchers.delete(watcher);
}
