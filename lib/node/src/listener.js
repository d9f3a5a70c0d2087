// The one connection of a process that listens, for all waiters, and reads
// their rows. It is there while somebody waits: a lost one is tried again,
// with backoff, until there is one or nobody waits any more.
//
// It reads over the same connection because the two stand and fall together:
// an answer to a read proves that notifications can arrive as well, and a
// burst of `create` in the pool does not delay it.
//
// That holds between two ends of one connection. A pooler in the middle may
// send each transaction to another server, and then LISTEN is answered and
// nothing ever arrives. Such a one gives out process ids of its own; what is
// behind it is put to the test with a NOTIFY from elsewhere.

import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';

import pg from 'pg';

import { CHANNEL, isRefusal } from './database.js';
import { jittered } from './jitter.js';

const BACKOFF_MIN_MS = 100;
const BACKOFF_MAX_MS = 5_000;
const QUERY_TIMEOUT_MS = 10_000;
const GOODBYE_MS = 1_000;
const PROBE_CHANNEL = 'urlmode_probe';
const PROBE_MS = 3_000;

/**
 * @typedef {object} Connection
 * @property {pg.Client & { processID?: number | null }} client
 * @property {Socket} socket
 * @property {boolean} listening it can be read from, and LISTEN was sent
 * @property {boolean} hears notifications do arrive
 * @property {Promise<unknown>} idle when the last statement has ended
 * @property {string} mark its own, in the names of what it prepares
 *
 * @typedef {object} Events
 * @property {[]} listening LISTEN is in force: now read every row that is waited for
 * @property {[]} hearing notifications do arrive: no need to poll
 * @property {[payload: string, channel: string]} notification
 * @property {[error: unknown]} lost a connection, or an attempt at one; another follows
 *
 * @typedef {object} ListenerOptions
 * @property {boolean} [listen] false: only reads
 * @property {(channel: string, payload: string) => Promise<unknown>} [notify] over another connection
 */

/** @extends {EventEmitter<Events>} */
export class Listener extends EventEmitter {
	#config;
	#listen;
	#notify;
	/** @type {Connection | undefined} */
	#connection;
	#channels = new Set([CHANNEL]);
	/** @type {Set<unknown>} */
	#wanters = new Set();
	/** @type {NodeJS.Timeout | undefined} */
	#retry;
	/** Attempts and connections since one last answered. */
	#failures = 0;
	#probe = '';
	#warned = false;

	/**
	 * @param {pg.ClientConfig} config
	 * @param {ListenerOptions} [options]
	 */
	constructor(config, { listen = true, notify } = {}) {
		super();
		this.setMaxListeners(0);
		this.#config = config;
		this.#listen = listen;
		this.#notify = notify;
	}

	get #wanted() {
		return this.#wanters.size > 0;
	}

	get listening() {
		return this.#connection?.listening ?? false;
	}

	/** Whether notifications do arrive; until that is known, and where they do not, rows must be polled. */
	get hears() {
		return this.#connection?.hears ?? false;
	}

	/**
	 * Listens to another channel as well, from now on.
	 *
	 * @param {string} channel an SQL identifier
	 */
	async add(channel) {
		if (this.#channels.has(channel)) return;
		this.#channels.add(channel);
		if (this.#listen && this.listening) await this.query(`LISTEN ${channel}`, []);
	}

	/**
	 * Whether somebody waits. Then the connection holds the process;
	 * otherwise it is kept for the next wait, but does not.
	 *
	 * @param {boolean} wanted
	 * @param {unknown} [who] one of several that may want it
	 */
	want(wanted, who = this) {
		const before = this.#wanted;
		if (wanted) this.#wanters.add(who);
		else this.#wanters.delete(who);
		if (this.#wanted === before) return;
		if (!wanted) {
			clearTimeout(this.#retry);
			this.#retry = undefined;
			this.#connection?.socket.unref();
		} else if (this.#connection) {
			this.#connection.socket.ref();
		} else {
			void this.#connect();
		}
	}

	/**
	 * Only while `listening`.
	 *
	 * @param {string} text
	 * @param {unknown[]} values
	 * @param {string} [name] at most 26 characters: prepares the statement, once a connection, where no pooler changes the server behind it
	 * @returns {Promise<unknown[]>}
	 * @throws when the statement is refused, or the connection lost: `lost` is emitted then
	 */
	async query(text, values, name) {
		const connection = this.#connection;
		if (!connection?.listening) throw new Error('the listening connection is lost');
		try {
			const prepared = name && connection.hears ? `${name}_${connection.mark}` : undefined;
			const rows = await run(connection, text, values, prepared);
			this.#failures = 0;
			return rows;
		} catch (error) {
			if (!isRefusal(error)) this.#lose(connection, error);
			throw error;
		}
	}

	async close() {
		for (const who of this.#wanters) this.want(false, who);
		const connection = this.#connection;
		this.#connection = undefined;
		if (connection?.listening) await sayGoodbye(connection);
		else connection?.socket.destroy();
	}

	async #connect() {
		const socket = new Socket();
		const client = new pg.Client({ query_timeout: QUERY_TIMEOUT_MS, ...this.#config, stream: () => socket });
		/** @type {Connection} */
		const connection = { client, socket, listening: false, hears: false, idle: Promise.resolve(), mark: randomUUID() };
		this.#connection = connection;
		client.on('error', (error) => this.#lose(connection, error));
		client.on('end', () => this.#lose(connection, new Error('the listening connection ended')));
		client.on('notification', ({ channel, payload = '' }) => {
			if (channel === PROBE_CHANNEL) this.#onProbe(connection, payload);
			else this.emit('notification', payload, channel);
		});
		let listens = this.#listen;
		try {
			await client.connect();
			if (listens) listens = await this.#sendListen(connection);
		} catch (error) {
			this.#lose(connection, error);
			return;
		}
		if (this.#connection !== connection) return;
		connection.listening = true;
		this.emit('listening');
		if (listens) await this.#prove(connection);
		else this.#warn('PostgreSQL is polled');
	}

	/**
	 * @param {Connection} connection
	 * @returns {Promise<boolean>} false: whoever answers there knows no LISTEN
	 */
	async #sendListen(connection) {
		try {
			for (const channel of [...this.#channels]) await run(connection, `LISTEN ${channel}`);
			return true;
		} catch (error) {
			if (error instanceof pg.DatabaseError && /^(0A|42)/.test(error.code ?? '')) return false;
			throw error;
		}
	}

	/** @param {Connection} connection that has sent LISTEN */
	async #prove(connection) {
		try {
			const [answer] = await run(connection, 'SELECT pg_backend_pid() AS pid');
			if (answer?.pid === connection.client.processID) {
				this.#hear(connection);
				return;
			}
			await run(connection, `LISTEN ${PROBE_CHANNEL}`);
			this.#probe = randomUUID();
			setTimeout(() => {
				if (this.#connection === connection && !connection.hears) {
					this.#warn('LISTEN does not reach PostgreSQL, as behind a transaction pooler; it is polled');
				}
			}, PROBE_MS).unref();
			await this.#notify?.(PROBE_CHANNEL, this.#probe);
		} catch {
			// A connection that is lost says so by itself; without an answer it is polled.
		}
	}

	/**
	 * @param {Connection} connection
	 * @param {string} payload
	 */
	#onProbe(connection, payload) {
		if (payload === this.#probe) this.#hear(connection);
	}

	/** @param {Connection} connection */
	#hear(connection) {
		if (this.#connection !== connection || connection.hears) return;
		connection.hears = true;
		this.emit('hearing');
	}

	/** @param {string} what */
	#warn(what) {
		if (this.#warned) return;
		this.#warned = true;
		process.emitWarning(`${what}, with backoff; waits are resolved a little later`,
			{ type: 'UrlModeWarning', code: 'URLMODE_POLLING' });
	}

	/**
	 * @param {Connection} connection
	 * @param {unknown} error
	 */
	#lose(connection, error) {
		if (this.#connection !== connection) return;
		this.#connection = undefined;
		// Not a goodbye: the other side may never answer one.
		connection.socket.destroy();
		if (!this.#wanted) return;
		this.#failures += 1;
		if (this.#failures === 2) warn(error);
		const delay = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** (this.#failures - 1));
		this.#retry = setTimeout(() => {
			this.#retry = undefined;
			void this.#connect();
		}, jittered(delay));
		this.emit('lost', error);
	}
}

/**
 * One statement after another.
 *
 * @param {Connection} connection
 * @param {string} text
 * @param {unknown[]} [values]
 * @param {string} [name] of a statement that is prepared
 * @returns {Promise<Record<string, unknown>[]>}
 */
async function run(connection, text, values, name) {
	const answer = connection.idle.then(() => connection.client.query({ name, text, values }));
	connection.idle = answer.catch(() => {});
	return (await answer).rows;
}

/** @param {unknown} error */
function warn(error) {
	const reason = error instanceof Error ? error.message || ('code' in error && error.code) : error;
	process.emitWarning(`PostgreSQL cannot be reached (${reason}); waits go on, and so do the attempts`,
		{ type: 'UrlModeWarning', code: 'URLMODE_RECONNECTING' });
}

/** @param {Connection} connection */
async function sayGoodbye({ client, socket }) {
	const timer = setTimeout(() => socket.destroy(), GOODBYE_MS);
	await client.end();
	clearTimeout(timer);
}
