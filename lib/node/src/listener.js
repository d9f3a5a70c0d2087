// The one connection of a process that listens, for all waiters, and reads
// their rows. It is there while somebody waits: a lost one is tried again,
// with backoff, until there is one or nobody waits any more.
//
// It reads over the same connection because the two stand and fall together:
// an answer to a read proves that notifications can arrive as well, and a
// burst of `create` in the pool does not delay it.

import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';

import pg from 'pg';

import { CHANNEL, isRefusal } from './database.js';
import { jittered } from './jitter.js';

const BACKOFF_MIN_MS = 100;
const BACKOFF_MAX_MS = 5_000;
const QUERY_TIMEOUT_MS = 10_000;
const GOODBYE_MS = 1_000;

/**
 * @typedef {object} Connection
 * @property {pg.Client} client
 * @property {Socket} socket
 * @property {boolean} listening
 *
 * @typedef {object} Events
 * @property {[]} listening LISTEN is in force: now read every row that is waited for
 * @property {[payload: string]} notification
 * @property {[error: unknown]} lost a connection, or an attempt at one; another follows
 */

/** @extends {EventEmitter<Events>} */
export class Listener extends EventEmitter {
	#config;
	/** @type {Connection | undefined} */
	#connection;
	#wanted = false;
	/** @type {NodeJS.Timeout | undefined} */
	#retry;
	/** Attempts and connections since one last answered. */
	#failures = 0;

	/** @param {pg.ClientConfig} config */
	constructor(config) {
		super();
		this.#config = config;
	}

	get listening() {
		return this.#connection?.listening ?? false;
	}

	/**
	 * Whether somebody waits. Then the connection holds the process;
	 * otherwise it is kept for the next wait, but does not.
	 *
	 * @param {boolean} wanted
	 */
	want(wanted) {
		if (this.#wanted === wanted) return;
		this.#wanted = wanted;
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
	 * Only while `listening`, and one at a time.
	 *
	 * @param {string} text
	 * @param {unknown[]} values
	 * @returns {Promise<unknown[]>}
	 * @throws when the statement is refused, or the connection lost: `lost` is emitted then
	 */
	async query(text, values) {
		const connection = this.#connection;
		if (!connection?.listening) throw new Error('the listening connection is lost');
		try {
			const { rows } = await connection.client.query(text, values);
			this.#failures = 0;
			return rows;
		} catch (error) {
			if (!isRefusal(error)) this.#lose(connection, error);
			throw error;
		}
	}

	async close() {
		this.want(false);
		const connection = this.#connection;
		this.#connection = undefined;
		if (connection?.listening) await sayGoodbye(connection);
		else connection?.socket.destroy();
	}

	async #connect() {
		const socket = new Socket();
		const client = new pg.Client({ query_timeout: QUERY_TIMEOUT_MS, ...this.#config, stream: () => socket });
		const connection = { client, socket, listening: false };
		this.#connection = connection;
		client.on('error', (error) => this.#lose(connection, error));
		client.on('end', () => this.#lose(connection, new Error('the listening connection ended')));
		client.on('notification', ({ payload = '' }) => this.emit('notification', payload));
		try {
			await client.connect();
			await client.query(`LISTEN ${CHANNEL}`);
		} catch (error) {
			this.#lose(connection, error);
			return;
		}
		if (this.#connection !== connection) return;
		connection.listening = true;
		this.emit('listening');
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
