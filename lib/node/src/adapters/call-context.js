// The HTTP response that a call of a tool is answered with, in Node.js. See answer.js.

import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';

import { ClientGone } from './client-gone.js';
import { SentAnswer } from './sent-answer.js';

/** @typedef {import('./answer.js').Written} Written */

export { AsyncLocalStorage as CallContext };

/**
 * A connection to PostgreSQL that is opened for one request outlives it, with its context.
 *
 * @type {AsyncLocalStorage<WeakRef<import('node:http').ServerResponse>>}
 */
const responses = new AsyncLocalStorage();

subscribe('http.server.request.start', (message) => {
	const { request, response } = /** @type {{ request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse }} */ (message);
	responses.enterWith(new WeakRef(response));
	if (request.headers['mcp-session-id'] !== undefined) watchEvents(response);
});

/**
 * Streams of which the client has the id of an event: in its session, it gets what comes after that on another connection.
 *
 * @type {WeakSet<import('node:http').ServerResponse>}
 */
const resumable = new WeakSet();

/**
 * From its beginning, since the first event says nothing but its id.
 *
 * @param {import('node:http').ServerResponse} response
 */
function watchEvents(response) {
	const write = /** @type {(...parts: unknown[]) => never} */ (response.write);
	response.write = (/** @type {unknown[]} */ ...parts) => {
		if (!resumable.has(response) && hasEventId(parts[0])) resumable.add(response);
		return write.apply(response, parts);
	};
}

/** @param {unknown} sent a part of server-sent events, perhaps, which have a line for each field */
function hasEventId(sent) {
	return /^id:/m.test(sent instanceof Uint8Array ? Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength).toString('latin1') : String(sent));
}

/** @returns {Connection | undefined} on which the client of this call waits for its answer */
export function connectionOfCall() {
	const response = responses.getStore()?.deref();
	// A response that has ended belongs to an earlier call, whose context this one has got from a queue.
	if (!response || response.writableEnded) return undefined;
	const connection = connections.get(response) ?? new Connection(response);
	connections.set(response, connection);
	return connection;
}

/** @type {WeakMap<import('node:http').ServerResponse, Connection>} */
const connections = new WeakMap();

/** An HTTP connection on which a client waits for its answer. */
class Connection {
	#abort = new AbortController();
	#response;
	/** Not `writableFinished`, which is also true of a response that was ended after its connection was closed. */
	#isFinished = false;
	/** Whether the client has closed it, although it may fetch the answer on another one. */
	isCut = false;
	/** @type {Promise<boolean>} */
	#finished;

	/** @param {import('node:http').ServerResponse} response that has not ended */
	constructor(response) {
		this.#response = response;
		this.#finished = new Promise((resolve) => {
			const onClose = () => {
				resolve(false);
				this.isCut = !this.#isFinished;
				if (this.isCut && !resumable.has(response)) this.#abort.abort(new ClientGone());
			};
			const { socket } = response;
			// Before Node takes the socket away from the response. It also finishes one whose rest the client did not wait for.
			response.prependOnceListener('finish', () => {
				if (socket?.destroyed || socket?.errored) return;
				this.#isFinished = true;
				resolve(true);
			}).once('close', onClose);
			if (response.destroyed) onClose();
		});
	}

	/** @returns {AbortSignal} aborts when nobody can get the answer any more */
	get signal() {
		return this.#abort.signal;
	}

	/** @returns {Promise<boolean>} whether the system has taken what was written to it so far */
	async isSent() {
		const { socket, writableEnded, headersSent } = this.#response;
		if (!socket || writableEnded || !headersSent) return this.#finished;
		// A middleware may have another `write` of the response, which tells nobody.
		const taken = new Promise((resolve) => void socket.write('', (error) => resolve(!error)));
		// HTTP/2 lends its socket to nobody.
		return Promise.race([taken, this.#finished]).catch(() => this.#finished);
	}

	/** Whether the response has ended without the answer, which comes on another one. */
	get isAccepted() {
		return this.#response.writableEnded && this.#response.statusCode === 202;
	}

	/**
	 * @param {unknown} [requestId]
	 * @returns {Promise<Written>}
	 */
	async written(requestId) {
		if (this.#response.writableEnded) return 'lost';
		const sent = new SentAnswer(this.#response);
		if (!await this.#finished) return 'lost';
		return sent.isError(requestId) ? 'failed' : 'written';
	}
}
