// Tells a client that listens to its tasks when they move (`notifications/tasks`, SEP-2663). The SDK knows no such
// notifications, and answers `subscriptions/listen` before any server of ours sees it. So the stream
// that it answers with is passed on, and ours are written between: each is what `tasks/get` answers, asked by the same
// `fetch` when the elicitation of the task has moved.

import { connectionOfCall } from '#call-context';
import { LISTEN_REQUEST_MAX, RPC_CAPABILITY_MISSING, TASK_IDS_MAX, TASK_LISTENS_MAX, TASK_LOOK_MS, TASK_OWNER_LISTENS_MAX, TASK_POLL_MS } from '../core/contract-limits.js';
import { sharedOf } from '../core/internals.js';
import { looks } from './task-looks.js';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const OPEN = ['working', 'input_required'];
const UUID = /^[0-9a-f-]{36}$/;

/**
 * @typedef {{ [key: string]: unknown }} Json
 * @typedef {import('./types.js').UrlModeLike} UrlModeLike
 * @typedef {{ result?: Json, error?: { code: number, message: string, data?: unknown } }} Answer
 * @typedef {{ taskId: string, look: import('./task-looks.js').Look, result: Json }} Listened
 */

/** How many clients listen, of all servers of this process; and of each user. */
let listens = 0;
/** @type {Map<string, number>} */
const ownListens = new Map();

/**
 * Wraps the server's `fetch`, beside `handleTasks`.
 *
 * @template {unknown[]} R
 * @param {UrlModeLike} urlmode of `urlmode`
 * @param {(request: Request, ...rest: R) => Response | Promise<Response>} fetch that of the server
 * @returns {(request: Request, ...rest: R) => Promise<Response>}
 */
export function notifyOfTasks(urlmode, fetch) {
	return async (request, ...rest) => {
		const isListen = request.headers.get('mcp-method') === 'subscriptions/listen' && Number(request.headers.get('content-length') ?? Infinity) <= LISTEN_REQUEST_MAX;
		const message = isListen ? await readMessage(request, rest[0]) : undefined;
		const { taskIds } = /** @type {{ taskIds?: unknown }} */ (message?.params?.notifications ?? {});
		if (!message || !Array.isArray(taskIds) || taskIds.length === 0 || isFull('')) return fetch(request, ...rest);
		const get = (/** @type {string} */ taskId, /** @type {import('./task-looks.js').Look} */ look) => looks.run(look, async () => answerOf(
			await fetch(requestFor(request, message, taskId), .../** @type {R} */ (/** @type {unknown} */ ([withoutBody(rest[0]), ...rest.slice(1)])))));
		/** @type {Listened[]} */
		const tasks = [];
		for (const taskId of new Set(taskIds.slice(0, TASK_IDS_MAX))) {
			if (typeof taskId !== 'string' || !UUID.test(taskId)) continue;
			/** @type {import('./task-looks.js').Look} */
			const look = {};
			const { result, error } = await get(taskId, look);
			// It does not declare the extension.
			if (error?.code === RPC_CAPABILITY_MISSING) return Response.json({ jsonrpc: '2.0', id: message.id, error });
			if (!result) continue;
			if (isFull(String(look.owner?.subject))) return fetch(request, ...rest);
			tasks.push({ taskId, look, result });
		}
		const response = await fetch(request, ...rest);
		const who = tasks[0]?.look.owner?.subject;
		if (who === undefined || isFull(who) || !response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
		const listening = new Listening(urlmode, message.id, who, get, request.signal);
		return new Response(listening.stream(response.body, tasks), { status: response.status, headers: response.headers });
	};
}

/** @param {string} who the subject of a user; empty: no more of any user */
function isFull(who) {
	return listens >= TASK_LISTENS_MAX || (ownListens.get(who) ?? 0) >= TASK_OWNER_LISTENS_MAX;
}

/**
 * @param {string} who
 * @param {1 | -1} more
 */
function count(who, more) {
	listens += more;
	const own = (ownListens.get(who) ?? 0) + more;
	if (own > 0) ownListens.set(who, own);
	else ownListens.delete(who);
}

/** A client that listens to its tasks. */
class Listening {
	#urlmode;
	#id;
	#who;
	#get;
	#stop = new AbortController();
	/** @type {(event: string) => void} */
	#write = () => {};
	/** @type {(() => void)[]} */
	#taken = [];
	#connection = connectionOfCall();

	/**
	 * @param {UrlModeLike} urlmode of `urlmode`
	 * @param {unknown} id of its request
	 * @param {string} who the subject of its user
	 * @param {(taskId: string, look: import('./task-looks.js').Look) => Promise<Answer>} get
	 * @param {AbortSignal} signal aborts when the client is gone
	 */
	constructor(urlmode, id, who, get, signal) {
		this.#urlmode = urlmode;
		this.#id = id;
		this.#who = who;
		this.#get = get;
		signal.addEventListener('abort', () => this.#stop.abort(), { once: true });
	}

	/**
	 * @param {ReadableStream<Uint8Array>} theirs the stream of the SDK
	 * @param {Listened[]} tasks
	 * @returns {ReadableStream<Uint8Array>}
	 */
	stream(theirs, tasks) {
		const encoder = new TextEncoder();
		return new ReadableStream({
			start: (controller) => {
				this.#write = (event) => {
					if (!this.#stop.signal.aborted) controller.enqueue(encoder.encode(`${event}\n\n`));
				};
				void this.#run(theirs, tasks).catch(() => {}).finally(() => {
					if (!this.#stop.signal.aborted) controller.close();
					this.#stop.abort();
				});
			},
			// Who asks for more has handed on all of it.
			pull: () => this.#taken.splice(0).forEach((resolve) => resolve()),
			cancel: () => this.#stop.abort(),
		}, { highWaterMark: 0 });
	}

	/**
	 * @param {ReadableStream<Uint8Array>} theirs
	 * @param {Listened[]} tasks
	 */
	async #run(theirs, tasks) {
		const { closers } = sharedOf(this.#urlmode);
		const closing = new AbortController();
		const close = async () => closing.abort();
		closers.add(close);
		count(this.#who, 1);
		const keepAlive = setInterval(() => this.#write(': keepalive'), TASK_LOOK_MS / 2);
		try {
			let last = '';
			/** @type {Promise<unknown>[]} */
			let following = [];
			for await (const event of eventsOf(theirs, this.#stop.signal)) {
				const data = dataOf(event);
				// Theirs is the last word, which ours come before.
				if (data?.result !== undefined) last = event;
				else if (data?.method !== 'notifications/subscriptions/acknowledged') this.#write(event);
				else {
					this.#write(eventFor({ ...data, params: { ...data.params, notifications: { ...data.params.notifications, taskIds: tasks.map(({ taskId }) => taskId) } } }));
					following = tasks.map((task) => this.#follow(task, AbortSignal.any([this.#stop.signal, closing.signal])));
				}
			}
			await Promise.all(following);
			if (last) this.#write(last);
		} finally {
			clearInterval(keepAlive);
			closers.delete(close);
			count(this.#who, -1);
		}
	}

	/**
	 * @param {Listened} task
	 * @param {AbortSignal} signal
	 */
	async #follow({ taskId, look, result }, signal) {
		let last = '';
		for (let details = result; ;) {
			const { resultType, _meta, ...params } = details;
			const now = JSON.stringify(params);
			if (now !== last) this.#write(eventFor({ jsonrpc: '2.0', method: 'notifications/tasks', params: { ...params, _meta: { [SUBSCRIPTION]: this.#id } } }));
			last = now;
			if (look.confirm && await this.#isSent(signal)) await look.confirm();
			if (!OPEN.includes(String(params.status)) || signal.aborted) return;
			await Promise.all([pause(TASK_POLL_MS, signal), this.#moved(look, signal)]);
			if (signal.aborted) return;
			const answer = await this.#get(taskId, look);
			if (!answer.result) return; // It is over.
			details = answer.result;
		}
	}

	/**
	 * Whether what was written just now has left this process. Without Node.js, whether somebody has taken it.
	 *
	 * @param {AbortSignal} signal
	 */
	#isSent(signal) {
		return new Promise((resolve) => {
			this.#taken.push(async () => resolve(await this.#connection?.isSent() ?? true));
			signal.addEventListener('abort', () => resolve(false), { once: true });
			if (signal.aborted) resolve(false);
		});
	}

	/**
	 * Until the elicitation has moved. What other instances do with the task alone is seen a little later.
	 *
	 * @param {import('./task-looks.js').Look} look
	 * @param {AbortSignal} signal
	 */
	async #moved({ elicitationId, owner, status, isBusy }, signal) {
		const stop = new AbortController();
		const until = AbortSignal.any([signal, stop.signal]);
		const waiting = elicitationId === undefined || owner === undefined ? new Promise(() => {}) : new Promise((resolve, reject) => {
			const onProgress = (/** @type {string} */ now) => (now === status || now === 'attempt_failed' ? undefined : resolve(now));
			this.#urlmode.waitForCompletion(elicitationId, { ...owner, timeout: Infinity, signal: until, onProgress }).then(resolve, reject);
		});
		await Promise.race([waiting, pause(isBusy ? TASK_POLL_MS : TASK_LOOK_MS, until)]).catch(() => {});
		stop.abort();
	}
}

/**
 * @param {Request} request
 * @param {unknown} options of the SDK's handler, which may have the body
 * @returns {Promise<{ id: unknown, params?: { notifications?: Json, _meta?: unknown } } | undefined>}
 */
async function readMessage(request, options) {
	const { parsedBody } = /** @type {{ parsedBody?: unknown }} */ (options ?? {});
	try {
		return /** @type {never} */ (parsedBody ?? await request.clone().json());
	} catch {
		return undefined;
	}
}

/** @param {unknown} options */
function withoutBody(options) {
	return typeof options === 'object' && options !== null ? { ...options, parsedBody: undefined } : options;
}

/**
 * @param {Request} request
 * @param {{ params?: { _meta?: unknown } }} message
 * @param {string} taskId
 */
function requestFor(request, { params }, taskId) {
	const headers = new Headers(request.headers);
	headers.set('mcp-method', 'tasks/get');
	headers.set('mcp-name', taskId);
	headers.delete('content-length');
	return new Request(request.url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: taskId, method: 'tasks/get', params: { taskId, _meta: params?._meta } }) });
}

/**
 * @param {Response} response
 * @returns {Promise<Answer>}
 */
async function answerOf(response) {
	const text = await response.text();
	if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return JSON.parse(text || '{}');
	return text.split('\n\n').map(dataOf).find((data) => data && !data.method) ?? {};
}

/**
 * @param {ReadableStream<Uint8Array>} stream of server-sent events
 * @param {AbortSignal} signal
 */
async function* eventsOf(stream, signal) {
	const reader = stream.getReader();
	const decoder = new TextDecoder();
	signal.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true });
	for (let rest = ''; ;) {
		const { done, value } = await reader.read();
		if (done) return;
		const events = (rest + decoder.decode(value, { stream: true })).split('\n\n');
		rest = events.pop() ?? '';
		yield* events;
	}
}

/**
 * @param {string} event
 * @returns {{ method?: string, params: { notifications?: Json }, result?: Json } | undefined}
 */
function dataOf(event) {
	const [, data] = /^data: (.*)$/m.exec(event) ?? [];
	return data === undefined ? undefined : JSON.parse(data);
}

/** @param {object} message */
function eventFor(message) {
	return `event: message\ndata: ${JSON.stringify(message)}`;
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(ms, signal) {
	return new Promise((resolve) => {
		const end = () => {
			clearTimeout(timer);
			signal.removeEventListener('abort', end);
			resolve();
		};
		const timer = setTimeout(end, ms);
		signal.addEventListener('abort', end);
		if (signal.aborted) end();
	});
}
