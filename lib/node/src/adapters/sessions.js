// mcp-lite's SessionAdapter on PostgreSQL: a session is known to every
// instance, and so is what was sent in it.

import { createHash, randomUUID } from 'node:crypto';

import { partsOf } from '../parts.js';

const TTL_MS = 24 * 60 * 60 * 1_000;
const EVENTS = 100;

const CREATE = 'SELECT urlmode.mcp_session_create($1, $2, $3)';
const USE = 'SELECT urlmode.mcp_session_use($1, $2) AS meta';
const APPEND = 'SELECT urlmode.mcp_event_append($1, $2, $3, $4) AS n';
const SINCE = 'SELECT * FROM urlmode.mcp_events($1, $2, $3)';
const DELETE = 'SELECT urlmode.mcp_session_delete($1)';

/**
 * @typedef {object} SessionMeta mcp-lite's own
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

	/**
	 * @param {import('../urlmode.js').UrlMode} urlmode whose connections it uses
	 * @param {{ ttl?: number, maxEventBufferSize?: number }} [options] ttl: milliseconds that a session lasts when nobody
	 *     uses it, a day by default; maxEventBufferSize: messages that are kept of each stream, 100 by default
	 */
	constructor(urlmode, { ttl = TTL_MS, maxEventBufferSize = EVENTS } = {}) {
		this.#database = partsOf(urlmode).database;
		this.#ttl = ttl;
		this.#maxEvents = maxEventBufferSize;
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
		await this.#database.query(CREATE, [keyOf(id), JSON.stringify(meta), this.#ttl]);
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
			data.eventBuffer.push({ id: eventId(n, stream), message });
			data.nextEventId = n + 1;
			streams.set(stream, data);
		}
		return { meta, streams };
	}

	/**
	 * @param {string} id
	 * @param {string} stream
	 * @param {unknown} message
	 * @returns {Promise<string | undefined>} the event's id; nothing: there is no such session
	 */
	async appendEvent(id, stream, message) {
		const [answer] = await this.#database.query(APPEND, [keyOf(id), stream, JSON.stringify(message), this.#maxEvents]);
		return answer?.n === null ? undefined : eventId(Number(answer?.n), stream);
	}

	/**
	 * @param {string} id
	 * @param {string} lastEventId
	 * @param {(eventId: string, message: unknown) => Promise<void> | void} write
	 */
	async replay(id, lastEventId, write) {
		const { stream, n: after } = parseEventId(lastEventId);
		for (const { n, message } of await this.#events(id, stream, after)) await write(eventId(n, stream), message);
	}

	/** @param {string} id */
	async delete(id) {
		await this.#database.query(DELETE, [keyOf(id)]);
	}

	/**
	 * @param {string} id
	 * @returns {Promise<SessionMeta | undefined>}
	 */
	async #use(id) {
		const [answer] = await this.#database.query(USE, [keyOf(id), this.#ttl]);
		return /** @type {SessionMeta | null} */ (answer?.meta) ?? undefined;
	}

	/**
	 * @param {string} id
	 * @param {string | null} stream
	 * @param {number} after
	 */
	async #events(id, stream, after) {
		const rows = await this.#database.query(SINCE, [keyOf(id), stream, after]);
		return rows.map(({ stream_name: name, n, message }) => ({ stream: String(name), n: Number(n), message }));
	}
}

/** @param {string} id of a session */
function keyOf(id) {
	return createHash('sha256').update(id).digest();
}

/**
 * @param {number} n
 * @param {string} stream
 */
function eventId(n, stream) {
	return `${n}#${stream}`;
}

/** @param {string} id */
function parseEventId(id) {
	const [, n, stream] = /^([1-9][0-9]{0,15})#([^]*)$/.exec(id) ?? [];
	if (n === undefined || stream === undefined) throw new Error('not an event id: NUMBER#STREAM');
	return { n: Number(n), stream };
}
