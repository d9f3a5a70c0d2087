// Progress and trace for tools of lynq, which passes on neither the _meta of a call
// nor a way to send a notification. Both are in the HTTP messages: _meta in the
// body of the request, and the event stream in the response.
//
// Compared with lynq 0.13.0.

import { AsyncLocalStorage } from 'node:async_hooks';

import { traceparentOf } from '../core/traceparent.js';

/**
 * @typedef {(request: Request) => Promise<Response>} Handler
 * @typedef {{ progressToken?: unknown, traceparent?: unknown }} Meta
 * @typedef {{ method: string, params: { _meta?: Meta } }} ToolCall
 * @typedef {(progress: number, message: string) => Promise<void>} SendProgress
 * @typedef {{ traceparent: string | undefined, progress: SendProgress | undefined }} CallMessage
 */

/** @type {AsyncLocalStorage<CallMessage>} */
const calls = new AsyncLocalStorage();

/** @returns {CallMessage} without `progress` if the client of this call wants none */
export function messageOfCall() {
	return calls.getStore() ?? { traceparent: undefined, progress: undefined };
}

/**
 * Returns the server with an `http` that lets `withElicitation` and `forSession` send
 * progress to clients that want it, and keep the trace of the call.
 *
 * @template {object} Options
 * @template {{ http(options?: Options): Handler }} Server
 * @param {Server} server lynq's MCPServer
 * @returns {Server}
 */
export function withProgress(server) {
	return { ...server, http: (/** @type {Options | undefined} */ options) => addProgress(server.http(options)) };
}

/**
 * @param {Handler} handle
 * @returns {Handler}
 */
function addProgress(handle) {
	return async (request) => {
		const meta = await readMeta(request);
		const { progressToken } = meta;
		const traceparent = traceparentOf(meta);
		if (progressToken === undefined) return calls.run({ traceparent, progress: undefined }, () => handle(request));
		const events = new Events();
		/** @type {SendProgress} */
		const send = async (progress, message) => {
			events.add({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress, message } });
		};
		const response = await calls.run({ traceparent, progress: send }, () => handle(request));
		const { body, headers, status } = response;
		if (!body || !headers.get('content-type')?.startsWith('text/event-stream')) return response;
		return new Response(events.insertInto(body), { headers, status });
	};
}

/**
 * @param {Request} request
 * @returns {Promise<Meta>} of a tool call
 */
async function readMeta(request) {
	if (request.method !== 'POST') return {};
	try {
		const { method, params } = /** @type {ToolCall} */ (await request.clone().json());
		return (method === 'tools/call' && params._meta) || {};
	} catch {
		// lynq handles requests that are no call of a tool.
		return {};
	}
}

/** Server-sent events between those of a stream, each chunk of which has whole events. */
class Events {
	/** @type {TransformStreamDefaultController<Uint8Array> | undefined} */
	#controller;
	/** @type {TransformStream<Uint8Array, Uint8Array>} */
	#stream = new TransformStream({
		start: (controller) => {
			this.#controller = controller;
		},
	});

	/** @param {object} message */
	add(message) {
		try {
			this.#controller?.enqueue(new TextEncoder().encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`));
		} catch {
			// The stream has ended, or the client has closed it. This does not cancel the call.
		}
	}

	/** @param {ReadableStream<Uint8Array>} stream */
	insertInto(stream) {
		return stream.pipeThrough(this.#stream);
	}
}
