// The official TypeScript SDK 1.x, @modelcontextprotocol/sdk: protocol
// revision 2025-11-25.

import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';

import { connectAccount as connect } from './connect-account.js';
import { elicitByLink, waitOneRound } from './elicit-by-link.js';
import { canBeOpened, claimOutcome, createElicitation, ownerOf, toOpenResult } from './elicitation.js';
import { elicitByRequest } from './elicit-by-request.js';

/** The SDK's ErrorCode.ConnectionClosed. */
const CONNECTION_CLOSED = -32000;

/**
 * @typedef {import('./types.js').ElicitResult} ElicitResult
 * @typedef {import('./types.js').BaseElicitOptions & { extra: CallExtra }} ElicitOptions `extra` is the last argument of the
 *     tool's callback
 * @typedef {import('./types.js').AccountResult} AccountResult
 * @typedef {import('./types.js').AccountOptions & { extra: CallExtra }} AccountOptions
 *
 * @typedef {object} CallExtra the used part of the SDK's RequestHandlerExtra
 * @property {AbortSignal} signal
 * @property {string | number} requestId
 * @property {{ progressToken?: string | number | undefined } | undefined} [_meta]
 * @property {(notification: ProgressNotification) => Promise<void>} sendNotification
 *
 * @typedef {object} ProgressNotification
 * @property {'notifications/progress'} method
 * @property {{ progressToken: string | number, progress: number, message: string }} params
 *
 * @typedef {object} ServerLike the used part of the SDK's Server
 * @property {object | undefined} [transport]
 * @property {(() => void) | undefined} [onclose]
 * @property {() => { elicitation?: { url?: object | undefined } | undefined } | undefined} getClientCapabilities
 * @property {(params: ElicitParams, options: RequestOptions) => Promise<{ action: 'accept' | 'decline' | 'cancel' }>
 *     } elicitInput
 * @property {(id: string, options?: { relatedRequestId?: string | number }) => () => Promise<void>
 *     } createElicitationCompletionNotifier
 *
 * @typedef {{ mode: 'url', elicitationId: string, url: string, message: string }} ElicitParams
 * @typedef {{ signal: AbortSignal, timeout: number, relatedRequestId: string | number }} RequestOptions
 */

/**
 * Sends the client an elicitation request in URL mode, waits until the
 * elicitation is completed, and notifies the client in the same session. If the
 * client does not support elicitation.url, the result contains the link as text,
 * and a later call waits.
 *
 * @param {ServerLike | { server: ServerLike }} server the McpServer of the calling session, or its `server`
 * @param {ElicitOptions} options
 * @returns {Promise<ElicitResult>}
 * @throws {import('../errors.js').ElicitationClientGoneError} if the session or its connection was closed
 * @throws {import('../errors.js').UrlModeClosedError} if `close` was called
 * @throws the signal's reason, if the client cancelled the call
 */
export async function elicitUrl(server, { extra, ...options }) {
	const { sdkServer, call } = describeCall(server, extra);
	if (!sdkServer.getClientCapabilities()?.elicitation?.url) return elicitByLink(options, call);
	const stopWatching = onClose(sdkServer, call.close);
	try {
		return await elicitByRequest(options, {
			...call,
			elicit: (params, { signal, timeout }) =>
				sdkServer.elicitInput(params, { signal, timeout, relatedRequestId: extra.requestId }),
			complete: (id) => sdkServer.createElicitationCompletionNotifier(id, { relatedRequestId: extra.requestId })(),
		});
	} finally {
		stopWatching();
	}
}

/**
 * Fails the call with the error that a URL must be visited first (-32042). When
 * the elicitation is completed, the client is notified in the same session, and
 * its next call gets the outcome. A call that comes before that waits for up to
 * `legTimeout`.
 *
 * @param {ServerLike | { server: ServerLike }} server the McpServer of the calling session, or its `server`
 * @param {ElicitOptions} options
 * @returns {Promise<ElicitResult>}
 * @throws {UrlElicitationRequiredError} which the SDK sends to the client
 */
export async function requireUrl(server, { extra, ...options }) {
	const { sdkServer, call } = describeCall(server, extra);
	if (!sdkServer.getClientCapabilities()?.elicitation?.url) return elicitByLink(options, call);
	const elicitation = await createElicitation(options);
	const { elicitationId, url, resumed } = elicitation;
	const waited = resumed ? await waitOneRound(options, call, elicitationId) : 'pending';
	if (typeof waited === 'object') return claimOutcome(options, call, waited, elicitation);
	if (!canBeOpened(elicitation, waited)) return toOpenResult(options, elicitation, waited);
	void notifyWhenCompleted(sdkServer, options, elicitationId);
	throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId, url, message: options.message }]);
}

/**
 * Connects an account at a provider of lib/providers with `elicitUrl`, and
 * exchanges the code.
 *
 * @param {ServerLike | { server: ServerLike }} server the McpServer of the calling session, or its `server`
 * @param {AccountOptions} options
 * @returns {Promise<AccountResult>}
 * @throws {import('../errors.js').ProviderUnavailableError}
 * @throws the errors of `elicitUrl`
 */
export async function connectAccount(server, { extra, ...options }) {
	return connect(options, (wish) => elicitUrl(server, { ...wish, extra }));
}

/**
 * The same with `requireUrl`.
 *
 * @param {ServerLike | { server: ServerLike }} server the McpServer of the calling session, or its `server`
 * @param {AccountOptions} options
 * @returns {Promise<AccountResult>}
 * @throws {UrlElicitationRequiredError} which the SDK sends to the client
 */
export async function requireAccount(server, { extra, ...options }) {
	return connect(options, (wish) => requireUrl(server, { ...wish, extra }));
}

/** @type {WeakMap<ServerLike, Set<string>>} the elicitations of which a session will be notified */
const notifying = new WeakMap();

/**
 * Waits independently of any call, until the session is closed.
 *
 * @param {ServerLike} server
 * @param {import('./types.js').BaseElicitOptions} options
 * @param {string} id
 */
async function notifyWhenCompleted(server, options, id) {
	const known = notifying.get(server) ?? new Set();
	notifying.set(server, known);
	if (known.has(id)) return;
	known.add(id);
	const closing = new AbortController();
	const stopWatching = onClose(server, () => closing.abort());
	try {
		await options.urlmode.waitForCompletion(id, { ...ownerOf(options), timeout: Infinity, signal: closing.signal,
			recheck: options.recheck });
		await server.createElicitationCompletionNotifier(id)();
	} catch {
		// The client's next call reports the error.
	} finally {
		stopWatching();
		known.delete(id);
	}
}

/**
 * @param {ServerLike | { server: ServerLike }} server
 * @param {CallExtra} extra
 */
function describeCall(server, extra) {
	const sdkServer = 'server' in server ? server.server : server;
	const progressToken = extra._meta?.progressToken;
	const closing = new AbortController();
	// Older versions of the SDK do not abort calls when their transport closes.
	extra.signal.addEventListener('abort', () => closing.abort(extra.signal.reason), { once: true });
	if (extra.signal.aborted) closing.abort(extra.signal.reason);
	return {
		sdkServer,
		call: {
			signal: closing.signal,
			close: () => closing.abort(new Error('the session was closed')),
			progress: progressToken === undefined ? undefined
				/** @type {(progress: number, message: string) => Promise<void>} */
				: (/** @type {number} */ progress, /** @type {string} */ message) => extra.sendNotification({
					method: 'notifications/progress', params: { progressToken, progress, message },
				}),
			isGone: (/** @type {unknown} */ error) => sdkServer.transport === undefined
				|| (typeof error === 'object' && error !== null && 'code' in error && error.code === CONNECTION_CLOSED),
		},
	};
}

/** @type {WeakMap<ServerLike, Set<() => void>>} */
const closeWatchers = new WeakMap();

/**
 * @param {ServerLike} server
 * @param {() => void} watcher called when the session is closed
 * @returns {() => void} removes the watcher
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
