// The connections for everything but waiting, and the calls that are in
// progress on them.

import { Socket } from 'node:net';

import pg from 'pg';

import { Client } from './connection.js';
import { CALLS_MAX, POOL_MAX, QUERY_MS } from './contract-limits.js';
import { isDatabaseError, UrlModeBusyError, UrlModeClosedError } from './errors.js';

/** A small pool of connections. Idle connections do not keep the process running. */
export class Pool {
	/** @type {import('./types.js').Pool} */
	#pool;
	/** Closes the pool, if it is this one's own. */
	#end = async () => {};
	#closed = false;
	#brokenOff = false;
	/** @type {Map<Promise<unknown>, (reason: unknown) => void>} the calls in progress, and what rejects each */
	#calls = new Map();
	/** @type {Set<Socket>} of the connections that are open, or being opened */
	#sockets = new Set();

	/**
	 * @param {import('./database-url.js').DatabaseConfig} config
	 * @param {import('./types.js').Pool | undefined} [pool] somebody else's, which is used instead of a pool of its own
	 */
	constructor(config, pool) {
		this.#pool = pool ?? this.#openPool(config);
	}

	/** @param {import('./database-url.js').DatabaseConfig} config */
	#openPool(config) {
		const pool = new pg.Pool({
			...config,
			stream: () => this.#openSocket(),
			Client: /** @type {never} */ (Client),
			max: POOL_MAX,
			connectionTimeoutMillis: QUERY_MS,
			query_timeout: QUERY_MS,
			allowExitOnIdle: true,
		});
		// The pool has removed the broken idle connection already.
		pool.on('error', () => {});
		this.#end = () => pool.end();
		return pool;
	}

	get brokenOff() {
		return this.#brokenOff;
	}

	#openSocket() {
		const socket = new Socket();
		this.#sockets.add(socket);
		return socket.once('close', () => this.#sockets.delete(socket));
	}

	/** Waits for the queries in progress first, until `breakOff`. */
	async close() {
		this.#closed = true;
		await Promise.allSettled(this.#calls.keys());
		await this.#inProgress(this.#end).catch(() => {});
	}

	/** Rejects the queries in progress, and drops all connections: PostgreSQL does not answer, and nobody can wait longer. */
	breakOff() {
		this.#closed = true;
		this.#brokenOff = true;
		for (const reject of this.#calls.values()) reject(new UrlModeClosedError());
		for (const socket of this.#sockets) socket.destroy();
	}

	/**
	 * @param {string} text
	 * @param {unknown[]} values
	 * @returns {Promise<Record<string, unknown>[]>}
	 */
	query(text, values) {
		return this.track(() => this.run(text, values));
	}

	/**
	 * @template T
	 * @param {() => Promise<T>} ask what `close` waits for
	 * @returns {Promise<T>}
	 */
	async track(ask) {
		if (this.#closed) throw new UrlModeClosedError();
		if (this.#calls.size >= CALLS_MAX) throw new UrlModeBusyError(`${CALLS_MAX} calls are in progress`);
		return this.#inProgress(ask);
	}

	/**
	 * @template T
	 * @param {() => Promise<T>} ask what `breakOff` rejects
	 * @returns {Promise<T>}
	 */
	async #inProgress(ask) {
		/** @type {(reason: unknown) => void} */
		let breakOff = () => {};
		/** @type {Promise<T>} */
		const answer = new Promise((resolve, reject) => {
			breakOff = reject;
			ask().then(resolve, reject);
		});
		this.#calls.set(answer, breakOff);
		try {
			return await answer;
		} finally {
			this.#calls.delete(answer);
		}
	}

	/**
	 * @param {string} text
	 * @param {unknown[]} values
	 * @returns {Promise<Record<string, unknown>[]>}
	 */
	async run(text, values) {
		try {
			return (await this.#pool.query(text, values)).rows;
		} catch (error) {
			// The detail of a failed check constraint contains the whole row.
			if (isDatabaseError(error)) error.detail = undefined;
			// It is there only where it was asked for.
			if (isDatabaseError(error) && error.code === '3F000' && error.message.includes('urlmode_frameworks')) {
				error.message += ': run urlmode migrate --frameworks';
			}
			throw error;
		}
	}
}
