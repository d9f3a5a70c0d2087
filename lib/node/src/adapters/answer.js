// Whether the answer to a tool call was written, and is no error. A tool only returns
// its result. What becomes of it afterwards, and that the client is gone by then, is
// known to the HTTP response alone, and no framework hands that to its tools.
//
// Node announces each request that reaches an HTTP server, with its response,
// before anything handles it. All that is then done for the request finds the response
// in its asynchronous context, whichever framework is between.
//
//   the response finishes after the tool       the answer was written, unless
//                                              it is an error: the framework
//                                              refused the result, or the tool
//                                              threw after it had one
//   the client closes its connection before    it was not: the client is gone
//   the same, of a stream with an event store  it was not; the client may fetch it,
//                                              so that the call goes on
//   the server ends the response before the    it was not: an event store keeps
//   tool, to be polled (SEP-1699)              the answer, and may replay it
//   that was 202, or there is none (stdio)     the transport says whether it
//                                              has written the answer
//
// Where there is no Node.js, the transport says it.

import { connectionOfCall } from '#call-context';
import { CLAIM_LEASE_MS } from '../core/contract-limits.js';
import { backgroundTimer } from '../core/runtime.js';
import { ClientGone } from './client-gone.js';
import { restoreOwn } from './own-answer.js';
import { isErrorAnswer } from './error-answer.js';

export { isClientGone } from './client-gone.js';

/**
 * @typedef {object} Answer
 * @property {AbortSignal} signal aborts when the client is gone, see `isClientGone`
 * @property {(claim?: import('../core/tasks.js').TaskClaim) => Promise<Written>} written called when the tool has its result,
 *     before it returns that, with the claim that it was made of. Resolves when the answer was written, or will not be
 * @property {() => boolean} isCut whether the client has closed its connection, although it may fetch the answer on another one
 * @property {(own: import('./own-answer.js').OwnAnswer) => void} isOwn says what the adapter answers in place of the body. What the framework
 *     makes of it is restored, if the framework tells its tools its transport
 *
 * @typedef {'written' | 'kept' | 'failed' | 'lost'} Written kept: with a task, and who reads it confirms the claim. failed: it was
 *     written, and is an error
 *
 * @typedef {TransportStreams & { send(message: Message, ...rest: unknown[]): Promise<void> }} TransportLike the
 *     used part of a transport of the official SDKs
 * @typedef {{ jsonrpc?: '2.0', id?: unknown, method?: unknown, params?: unknown, result?: SentResult, error?: unknown }} Message
 * @typedef {{ isError?: unknown, content?: { text?: unknown }[], [key: string]: unknown }} SentResult
 * @typedef {object} TransportStreams
 * @property {import('node:stream').Readable} [_stdin] of stdio
 * @property {import('node:stream').Writable} [_stdout]
 * @property {(() => void) | undefined} [onclose]
 */

/**
 * Watches the answer to the tool call that calls this.
 *
 * @param {TransportLike} [transport] of the session, if the framework tells its tools
 * @param {string | number} [requestId]
 * @param {AbortSignal} [signal] of the request
 * @returns {Answer}
 */
export function watchAnswer(transport, requestId, signal) {
	const connection = connectionOfCall();
	const channel = transport && get(channels, transport, () => new Channel(transport));
	const isOwn = (/** @type {import('./own-answer.js').OwnAnswer} */ own) => channel?.isOwn(requestId, own);
	return {
		signal: connection?.signal ?? channel?.signal ?? new AbortController().signal,
		isCut: () => connection?.isCut ?? false,
		isOwn,
		written: async () => {
			if (signal?.aborted) return 'lost';
			const sent = channel?.written(requestId);
			const written = !connection || connection.isAccepted ? sent ?? 'written' : connection.written(requestId);
			return signal ? untilCancelled(Promise.resolve(written), signal, channel, requestId) : written;
		},
	};
}

/**
 * A framework does not answer a call that was cancelled, but it may abort the signal of one that it is answering. Its transport says which of
 * the two it is. Where that is not known, the answer has as long as a lease.
 *
 * @param {Promise<Written>} written
 * @param {AbortSignal} signal
 * @param {Channel | undefined} channel
 * @param {unknown} requestId
 * @returns {Promise<Written>}
 */
function untilCancelled(written, signal, channel, requestId) {
	return new Promise((resolve, reject) => {
		const onAbort = () => {
			if (!channel) backgroundTimer(() => resolve('lost'), CLAIM_LEASE_MS);
			else if (channel.awaits(requestId)) {
				resolve('lost');
				channel.lose(requestId);
			}
		};
		signal.addEventListener('abort', onAbort);
		written.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
	});
}

/** @type {WeakMap<TransportLike, Channel>} */
const channels = new WeakMap();

/** A transport that writes answers where no HTTP response waits for them. */
class Channel {
	#abort = new AbortController();
	/** @type {Map<unknown, ((written: Written) => void)[]>} by the id of the request */
	#awaited = new Map();
	/** @type {Map<unknown, import('./own-answer.js').OwnAnswer>} by the id of the request */
	#own = new Map();

	/** @param {TransportLike} transport */
	constructor(transport) {
		transport._stdin?.once('end', () => this.#abort.abort(new ClientGone()));
		const { send, onclose } = transport;
		transport.onclose = () => {
			for (const requestId of [...this.#awaited.keys()]) this.lose(requestId);
			onclose?.call(transport);
		};
		transport.send = async (message, ...rest) => {
			const isAnswer = message.method === undefined && message.id !== undefined;
			if (!isAnswer) return send.call(transport, message, ...rest);
			const own = this.#own.get(message.id);
			this.#own.delete(message.id);
			const report = this.#take(message.id);
			try {
				await send.call(transport, own ? restoreOwn(message, own) : message, ...rest);
			} catch (error) {
				report('lost');
				throw error;
			}
			// stdio does not look at what becomes of its bytes.
			const written = isErrorAnswer(message) ? 'failed' : 'written';
			if (transport._stdout) transport._stdout.write('', (error) => report(error ? 'lost' : written));
			else report(written);
		};
	}

	get signal() {
		return this.#abort.signal;
	}

	/**
	 * @param {unknown} requestId
	 * @param {import('./own-answer.js').OwnAnswer} own
	 */
	isOwn(requestId, own) {
		this.#own.set(requestId, own);
	}

	/** @param {unknown} requestId */
	written(requestId) {
		return /** @type {Promise<Written>} */ (new Promise((resolve) => {
			this.#awaited.set(requestId, [...this.#awaited.get(requestId) ?? [], resolve]);
		}));
	}

	/** @param {unknown} requestId of a call whose answer was not begun */
	awaits(requestId) {
		return this.#awaited.has(requestId);
	}

	/** @param {unknown} requestId of a call that is not answered any more */
	lose(requestId) {
		this.#own.delete(requestId);
		this.#take(requestId)('lost');
	}

	/**
	 * @param {unknown} requestId
	 * @returns {(written: Written) => void}
	 */
	#take(requestId) {
		const awaited = this.#awaited.get(requestId) ?? [];
		this.#awaited.delete(requestId);
		return (written) => awaited.forEach((resolve) => resolve(written));
	}
}

/**
 * @template {object} K
 * @template V
 * @param {WeakMap<K, V>} map
 * @param {K} key
 * @param {() => V} make
 */
function get(map, key, make) {
	const value = map.get(key) ?? make();
	map.set(key, value);
	return value;
}
