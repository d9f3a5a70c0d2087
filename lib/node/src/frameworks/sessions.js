// mcp-lite's SessionAdapter on PostgreSQL, so that every instance knows all
// sessions and the events that were sent in them.

import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomUUID } from 'node:crypto';

import { internalsOf } from '../core/internals.js';

const TTL_MS = 24 * 60 * 60 * 1_000;
const EVENTS_MAX = 100;

const CREATE = 'SELECT urlmode_frameworks.mcp_session_create($1, $2, $3)';
const USE = 'SELECT urlmode_frameworks.mcp_session_use($1, $2) AS meta';
const APPEND = 'SELECT urlmode_frameworks.mcp_event_append($1, $2, $3, $4) AS n';
const SINCE = 'SELECT * FROM urlmode_frameworks.mcp_events($1, $2, $3)';
const DELETE = 'SELECT urlmode_frameworks.mcp_session_delete($1)';

/**
 * @typedef {object} SessionMeta as in mcp-lite
 * @property {string} protocolVersion
 * @property {unknown} [clientInfo]
 * @property {{ elicitation?: Record<string, never>, roots?: Record<string, never>, sampling?: Record<string, never>,
 *     [key: string]: unknown }} [clientCapabilities]
 *
 * @typedef {object} EventData
 * @property {string} id
 * @property {unknown} message
 *
 * @typedef {object} StreamData
 * @property {number} nextEventId
 * @property {EventData[]} eventBuffer
 *
 * @typedef {object} SessionData
 * @property {SessionMeta} meta
 * @property {Map<string, StreamData>} streams
 */

export class PostgresSessionAdapter {
	#database;
	#ttl;
	#maxEvents;
	/** @type {AsyncLocalStorage<string>} the user of the request */
	#subjects = new AsyncLocalStorage();

	/**
	 * @param {import('../core/urlmode.js').UrlMode} urlmode whose connections it uses
	 * @param {{ ttl?: number, maxEventBufferSize?: number }} [options] ttl: milliseconds after which an unused session
	 *     ends, a day by default; maxEventBufferSize: how many messages of each stream are kept, 100 by default
	 */
	constructor(urlmode, { ttl = TTL_MS, maxEventBufferSize = EVENTS_MAX } = {}) {
		this.#database = internalsOf(urlmode).database;
		this.#ttl = ttl;
		this.#maxEvents = maxEventBufferSize;
	}

	/**
	 * Wraps the transport's handler, so that a session belongs to the user who
	 * has begun it: for everybody else it does not exist. mcp-lite itself serves
	 * requests, and takes responses, in sessions that do not exist.
	 *
	 * @template O
	 * @param {(request: Request, options?: O) => Promise<Response>} handler the transport's handler, bound to a server
	 * @param {(options: O | undefined) => string} subjectOf the user, according to the server's own authorization
	 * @returns {(request: Request, options?: O) => Promise<Response>}
	 */
	wrap(handler, subjectOf) {
		return (request, options) => this.#subjects.run(subjectOf(options), async () => {
			const id = request.headers.get('mcp-session-id');
			if (id !== null && !await this.has(id)) return new Response(null, { status: 404 });
			return handler(request, options);
		});
	}

	/** @returns {string} */
	generateSessionId() {
		return randomUUID();
	}

	/**
	 * @param {string} id
	 * @param {SessionMeta} meta
	 * @returns {Promise<SessionData>}
	 */
	async create(id, meta) {
		await this.#database.query(CREATE, [this.#keyOf(id), JSON.stringify(meta), this.#ttl]);
		return { meta, streams: new Map() };
	}

	/**
	 * @param {string} id
	 * @returns {Promise<boolean>}
	 */
	async has(id) {
		return await this.#use(id) !== undefined;
	}

	/**
	 * @param {string} id
	 * @returns {Promise<SessionData | undefined>}
	 */
	async get(id) {
		const meta = await this.#use(id);
		if (meta === undefined) return undefined;
		/** @type {Map<string, StreamData>} */
		const streams = new Map();
		for (const { stream, n, message } of await this.#events(id, null, 0)) {
			const data = streams.get(stream) ?? { nextEventId: 1, eventBuffer: [] };
			data.eventBuffer.push({ id: formatEventId(n, stream), message });
			data.nextEventId = n + 1;
			streams.set(stream, data);
		}
		return { meta, streams };
	}

	/**
	 * @param {string} id
	 * @param {string} stream
	 * @param {unknown} message
	 * @returns {Promise<string | undefined>} the event's id; undefined if the session does not exist
	 */
	async appendEvent(id, stream, message) {
		const [answer] = await this.#database.query(APPEND, [this.#keyOf(id), stream, JSON.stringify(message), this.#maxEvents]);
		return answer?.n === null ? undefined : formatEventId(Number(answer?.n), stream);
	}

	/**
	 * @param {string} id
	 * @param {string} lastEventId
	 * @param {(eventId: string, message: unknown) => Promise<void> | void} write
	 */
	async replay(id, lastEventId, write) {
		const { stream, n: after } = parseEventId(lastEventId);
		for (const { n, message } of await this.#events(id, stream, after)) await write(formatEventId(n, stream), message);
	}

	/** @param {string} id */
	async delete(id) {
		await this.#database.query(DELETE, [this.#keyOf(id)]);
	}

	/** @param {string} id of a session */
	#keyOf(id) {
		const subject = this.#subjects.getStore();
		return createHash('sha256').update(subject === undefined ? id : `${id}\0${subject}`).digest();
	}

	/**
	 * @param {string} id
	 * @returns {Promise<SessionMeta | undefined>}
	 */
	async #use(id) {
		const [answer] = await this.#database.query(USE, [this.#keyOf(id), this.#ttl]);
		return /** @type {SessionMeta | null} */ (answer?.meta) ?? undefined;
	}

	/**
	 * @param {string} id
	 * @param {string | null} stream
	 * @param {number} after
	 */
	async #events(id, stream, after) {
		const rows = await this.#database.query(SINCE, [this.#keyOf(id), stream, after], true);
		return rows.map(({ stream_name: name, n, message }) => ({ stream: String(name), n: Number(n), message }));
	}
}

/**
 * @param {number} n
 * @param {string} stream
 */
function formatEventId(n, stream) {
	return `${n}#${stream}`;
}

/** @param {string} id */
function parseEventId(id) {
	const [, n, stream] = /^([1-9][0-9]{0,15})#([^]*)$/.exec(id) ?? [];
	if (n === undefined || stream === undefined) throw new Error('an event id must be NUMBER#STREAM');
	return { n: Number(n), stream };
}
