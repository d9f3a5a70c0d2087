// The one connection of a process that listens for notifications, and that
// reads the rows of all waits. It exists while somebody uses it. When it is
// lost, it is opened again, with increasing delays, for as long as it is used.
//
// Rows are read over the same connection for two reasons. An answer shows that
// the connection is alive, so notifications can arrive as well; and many calls
// of `create` at once, which use the pool, do not delay the reads.
//
// A pooler between the two ends may send each transaction to another server.
// LISTEN then succeeds, but no notification arrives. Such a pooler reports
// process ids of its own. When the process id does not match, a NOTIFY over
// another connection tests whether notifications arrive.

import { randomBytes, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Socket } from 'node:net';

import pg from 'pg';

import { Client } from './connection.js';
import { hold } from './contract-database.js';
import { BACKEND_PID, CHANNEL, PROBE_CHANNEL } from './contract-statements.js';
import { TEXTS } from './contract-texts.js';
import { UNLISTENABLE_CLASSES } from './contract-words.js';
import { parseNotifications } from './notification.js';
import {
	BACKOFF_MAX_MS, BACKOFF_MIN_MS, BACKOFF_OF_SEVERAL_MAX_MS, DISCONNECT_MS, LISTEN_CHECK_MS, LISTEN_QUERY_MS, PING_MS, PROBE_MS,
} from './contract-limits.js';
import { isRefusal } from './database.js';
import { jittered } from './jitter.js';


/**
 * @typedef {object} Connection
 * @property {pg.Client & { processID?: number | null }} client
 * @property {Socket} socket
 * @property {boolean} isConnecting the socket has a host, so it can keep the process running or not
 * @property {boolean} listening LISTEN was sent, and rows can be read
 * @property {Map<string, Promise<unknown>>} channels those for which LISTEN was sent, and when each is in force
 * @property {boolean} receivesNotifications it is known that notifications arrive
 * @property {boolean | undefined} isHeld whether it has the lock of this instance; undefined: that is not decided yet
 * @property {Promise<unknown>} lastStatement resolves when the last statement has ended
 * @property {string} statementSuffix makes the names of prepared statements unique
 * @property {NodeJS.Timeout} [check]
 *
 * @typedef {{ text: string, values?: unknown[], name?: string, query_timeout?: number }} Statement as pg takes it; name: of the
 *     prepared statement
 *
 * @typedef {object} Events
 * @property {[]} listening LISTEN is in force. Every row that is waited for must be read now
 * @property {[]} receiving notifications arrive, so polling is not necessary
 * @property {[]} held it is decided whether the connection has the lock of this instance
 * @property {[notifications: import('./notification.js').Notification[]]} notified what the database announces of rows
 * @property {[payload: string, channel: string]} notification of another channel
 * @property {[error: unknown]} lost the connection was lost or could not be opened. Another attempt follows
 *
 * @typedef {object} ListenerOptions
 * @property {boolean} [listen] false: never listens, only reads
 * @property {(channel: string, payload: string) => Promise<unknown>} [notify] sends a notification over another connection
 */

/** In the options of a pool: the class of another listener, which connects to nothing (urlmode/testing). */
export const LISTENER = Symbol('listener');

/** @extends {EventEmitter<Events>} */
export class Listener extends EventEmitter {
	#config;
	#listen;
	#notify;
	/** @type {Connection | undefined} */
	#connection;
	#channels = new Set([CHANNEL]);
	/** @type {Map<unknown, boolean>} who uses the connection, and whether the process is kept running for them */
	#users = new Map();
	/** @type {NodeJS.Timeout | undefined} */
	#retry;
	/** Failed attempts and lost connections since the last answer. */
	#failures = 0;
	#probeId = '';
	#warned = false;
	/** Of the advisory lock that the connection has, so that others see when this instance ends: a positive bigint, as text. */
	#lock = (randomBytes(8).readBigUInt64BE() >> 1n).toString();

	/**
	 * @param {import('./database-url.js').DatabaseConfig} config
	 * @param {ListenerOptions} [options]
	 */
	constructor(config, { listen = true, notify } = {}) {
		super();
		this.setMaxListeners(0);
		this.#config = config;
		this.#listen = listen;
		this.#notify = notify;
		// The host that it listens to may not be the one that leads.
		config.leadership.onDoubt(() => this.#connection && this.#onLost(this.#connection, new Error(TEXTS.commitsUnanswered)));
	}

	get listening() {
		return this.#connection?.listening ?? false;
	}

	/** Whether notifications are known to arrive. While this is false, rows must be polled. */
	get receivesNotifications() {
		return this.#connection?.receivesNotifications ?? false;
	}

	/**
	 * The key of the advisory lock by which others see that this instance is there. There is none behind a pooler, or if
	 * the connection is not open in time. Only while it is used (`acquire`).
	 *
	 * @param {number} time milliseconds
	 * @returns {Promise<string | null>}
	 */
	async holder(time) {
		const until = performance.now() + time;
		while (this.#connection?.isHeld === undefined && this.#listen && performance.now() < until) {
			await once(this, 'held', { signal: AbortSignal.timeout(Math.max(1, Math.ceil(until - performance.now()))) }).catch(() => {});
		}
		return this.#connection?.isHeld ? this.#lock : null;
	}

	/**
	 * Calls each of these functions for its event.
	 *
	 * @param {{ [Event in keyof Events]?: (...values: Events[Event]) => void }} handlers
	 * @returns {() => void} ends that
	 */
	attach(handlers) {
		const all = /** @type {[keyof Events, (...values: any[]) => void][]} */ (Object.entries(handlers));
		for (const [event, handler] of all) this.on(event, handler);
		return () => all.forEach(([event, handler]) => this.off(event, handler));
	}

	/**
	 * Listens to another channel as well. While there is no connection, the next
	 * `listening` says that it is in force; otherwise it is when this resolves.
	 *
	 * @param {string} channel an SQL identifier
	 */
	async addChannel(channel) {
		this.#channels.add(channel);
		const connection = this.#connection;
		if (!this.#listen || !connection?.listening) return;
		try {
			await this.#listenTo(connection, channel);
		} catch (error) {
			if (!isRefusal(error)) this.#onLost(connection, error);
			throw error;
		}
	}

	/**
	 * @param {Connection} connection
	 * @param {string} channel
	 */
	#listenTo(connection, channel) {
		const answer = connection.channels.get(channel) ?? runStatement(connection, { text: `LISTEN ${channel}` });
		connection.channels.set(channel, answer);
		return answer;
	}

	/**
	 * Opens the connection if there is none, and keeps the process running.
	 *
	 * @param {unknown} user who needs the connection until `release`
	 * @param {boolean} [keepsRunning] false: does not keep the process running
	 */
	acquire(user, keepsRunning = true) {
		const isFirst = this.#users.size === 0;
		this.#users.set(user, keepsRunning);
		if (isFirst && !this.#connection) void this.#connect();
		this.#updateRef();
	}

	/**
	 * When nobody uses the connection any more, it stays open for the next
	 * user, but does not keep the process running.
	 *
	 * @param {unknown} user
	 */
	release(user) {
		if (!this.#users.delete(user)) return;
		if (this.#users.size === 0) {
			clearTimeout(this.#retry);
			this.#retry = undefined;
		}
		this.#updateRef();
	}

	/** Lets the process end, unless somebody keeps it running. */
	#updateRef() {
		const action = [...this.#users.values()].includes(true) ? 'ref' : 'unref';
		if (this.#connection?.isConnecting) this.#connection.socket[action]();
		this.#retry?.[action]();
	}

	/**
	 * Runs a statement. Only allowed while `listening`.
	 *
	 * @param {string} text
	 * @param {unknown[]} values
	 * @param {string} [name] of the prepared statement, at most 26 characters. Statements are only
	 *     prepared when no pooler changes the server behind the connection
	 * @returns {Promise<unknown[]>}
	 * @throws if the statement is refused or the connection is lost. In the second case `lost` is emitted
	 */
	async query(text, values, name) {
		const connection = this.#connection;
		if (!connection?.listening) throw new Error(TEXTS.listenerLost);
		const prepared = name && connection.receivesNotifications ? `${name}_${connection.statementSuffix}` : undefined;
		return this.#answerOf(connection, { text, values, ...prepared && { name: prepared } });
	}

	/**
	 * @param {Connection} connection
	 * @param {Statement} statement
	 */
	async #answerOf(connection, statement) {
		try {
			const rows = await runStatement(connection, statement);
			this.#failures = 0;
			return rows;
		} catch (error) {
			if (!isRefusal(error)) this.#onLost(connection, error);
			throw error;
		}
	}

	async close() {
		for (const user of this.#users.keys()) this.release(user);
		const connection = this.#connection;
		this.#connection = undefined;
		clearInterval(connection?.check);
		if (connection?.listening) await disconnect(connection);
		else connection?.socket.destroy();
	}

	async #connect() {
		const socket = new Socket();
		const client = new Client({ query_timeout: LISTEN_QUERY_MS, ...this.#config, stream: () => socket });
		/** @type {Connection} */
		const connection = {
			client, socket, isConnecting: false, listening: false, channels: new Map(), receivesNotifications: false, isHeld: undefined, lastStatement: Promise.resolve(),
			statementSuffix: randomUUID(),
		};
		this.#connection = connection;
		client.on('error', (error) => this.#onLost(connection, error));
		client.on('end', () => this.#onLost(connection, new Error('the listening connection ended')));
		client.on('notification', ({ channel, payload = '' }) => {
			if (channel === CHANNEL) this.emit('notified', parseNotifications(payload));
			else if (channel === PROBE_CHANNEL) this.#onProbe(connection, payload);
			else this.emit('notification', payload, channel);
		});
		let listens = this.#listen;
		try {
			await client.chooseHost();
			if (this.#connection !== connection) return;
			connection.isConnecting = true;
			const connecting = client.connect();
			// Not before: without a handle, a socket would delay it until it is connected.
			this.#updateRef();
			await connecting;
			if (listens) listens = await this.#listenToChannels(connection);
		} catch (error) {
			this.#onLost(connection, error);
			return;
		}
		if (this.#connection !== connection) return;
		connection.listening = true;
		connection.check = setInterval(() => this.#check(connection), jittered(LISTEN_CHECK_MS)).unref();
		this.emit('listening');
		if (listens) await this.#probeNotifications(connection);
		else this.#warnPolling('PostgreSQL is polled');
		connection.isHeld ??= false;
		this.emit('held');
	}

	/** @param {Connection} connection that may have died in silence: then no answer comes, and it is lost */
	#check(connection) {
		if (this.#users.size === 0 || !connection.listening) return;
		this.#answerOf(connection, { text: 'SELECT', query_timeout: PING_MS }).catch(() => {});
	}

	/**
	 * @param {Connection} connection
	 * @returns {Promise<boolean>} false if the server does not support LISTEN
	 */
	async #listenToChannels(connection) {
		try {
			// Also to those that are added meanwhile. When none is left, addChannel takes over.
			for (const channel of this.#channels) await this.#listenTo(connection, channel);
			connection.listening = true;
			return true;
		} catch (error) {
			if (error instanceof pg.DatabaseError && UNLISTENABLE_CLASSES.includes((error.code ?? '').slice(0, 2))) return false;
			throw error;
		}
	}

	/**
	 * Finds out whether notifications arrive, after LISTEN was sent.
	 *
	 * @param {Connection} connection
	 */
	async #probeNotifications(connection) {
		try {
			const [answer] = await runStatement(connection, { text: BACKEND_PID });
			if (answer?.pid === connection.client.processID) {
				this.#setReceiving(connection);
				connection.isHeld = await hold((text, values) => runStatement(connection, { text, values }), { holder: this.#lock });
				return;
			}
			await runStatement(connection, { text: `LISTEN ${PROBE_CHANNEL}` });
			this.#probeId = randomUUID();
			setTimeout(() => {
				if (this.#connection === connection && !connection.receivesNotifications) {
					this.#warnPolling(TEXTS.noNotifications);
				}
			}, PROBE_MS).unref();
			await this.#notify?.(PROBE_CHANNEL, this.#probeId);
		} catch {
			// A lost connection is handled by its own events. Without an answer, rows are polled.
		}
	}

	/**
	 * @param {Connection} connection
	 * @param {string} payload
	 */
	#onProbe(connection, payload) {
		if (payload === this.#probeId) this.#setReceiving(connection);
	}

	/** @param {Connection} connection */
	#setReceiving(connection) {
		if (this.#connection !== connection || connection.receivesNotifications) return;
		connection.receivesNotifications = true;
		this.emit('receiving');
	}

	/** @param {string} cause */
	#warnPolling(cause) {
		if (this.#warned) return;
		this.#warned = true;
		process.emitWarning(TEXTS.polling(cause),
			{ type: 'UrlModeWarning', code: 'URLMODE_POLLING' });
	}

	/**
	 * @param {Connection} connection
	 * @param {unknown} error
	 */
	#onLost(connection, error) {
		if (this.#connection !== connection) return;
		this.#connection = undefined;
		clearInterval(connection.check);
		// Not client.end(): the other side may never answer it.
		connection.socket.destroy();
		if (this.#users.size === 0) return;
		this.#failures += 1;
		if (this.#failures === 2) warnReconnecting(error);
		const most = this.#config.hosts.length > 1 ? BACKOFF_OF_SEVERAL_MAX_MS : BACKOFF_MAX_MS;
		const delay = Math.min(most, BACKOFF_MIN_MS * 2 ** (this.#failures - 1));
		this.#retry = setTimeout(() => {
			this.#retry = undefined;
			void this.#connect();
		}, jittered(delay));
		this.#updateRef();
		this.emit('lost', error);
	}
}

/**
 * Runs one statement after another.
 *
 * @param {Connection} connection
 * @param {Statement} statement
 * @returns {Promise<Record<string, unknown>[]>}
 */
async function runStatement(connection, statement) {
	const answer = connection.lastStatement.then(() => connection.client.query(statement));
	connection.lastStatement = answer.catch(() => {});
	return (await answer).rows;
}

/** @param {unknown} error */
function warnReconnecting(error) {
	const reason = error instanceof Error ? error.message || ('code' in error && error.code) : error;
	process.emitWarning(`PostgreSQL cannot be reached (${reason}); waits continue, and so do the attempts to connect`,
		{ type: 'UrlModeWarning', code: 'URLMODE_RECONNECTING' });
}

/** @param {Connection} connection */
async function disconnect({ client, socket }) {
	const timer = setTimeout(() => socket.destroy(), DISCONNECT_MS);
	await client.end();
	clearTimeout(timer);
}
