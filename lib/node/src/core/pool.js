// The connections for everything but waiting, and the calls that are in
// progress on them.

import { Socket } from 'node:net';

import pg from 'pg';

import { onAbort } from './abort.js';
import { CALLS_MAX, POOL_MAX, QUERY_MS } from './contract-limits.js';
import { TEXTS } from './contract-texts.js';
import { isDatabaseError, UrlModeBusyError, UrlModeClosedError, UrlModeUnavailableError } from './errors.js';
import { NO_ANSWER, PooledClient, Shared, TAKEN_BACK } from './pooled-client.js';

/** What pg says when one of its time limits has passed. */
const NO_CONNECTION = /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout|timeout expired)$/;

/** A small pool of connections. Idle connections do not keep the process running. */
export class Pool {
	/** @type {import('./types.js').Pool} */
	#pool;
	/** Closes the pool, if it is this one's own. */
	#end = async () => {};
	/** Whether its connections leave out what was taken back when they send. */
	#isOwn;
	#closed = false;
	#brokenOff = false;
	/** @type {Map<Promise<unknown>, (reason: unknown) => void>} the calls in progress, and what rejects each */
	#calls = new Map();
	/** @type {Set<Socket>} of the connections that are open, or being opened */
	#sockets = new Set();
	#shared = new Shared();

	/**
	 * @param {import('./database-url.js').DatabaseConfig} config
	 * @param {import('./types.js').Pool | undefined} [pool] somebody else's, which is used instead of a pool of its own
	 */
	constructor(config, pool) {
		this.#isOwn = !pool;
		this.#pool = pool ?? this.#openPool(config);
	}

	/** @param {import('./database-url.js').DatabaseConfig} config */
	#openPool(config) {
		config.leadership.onDoubt(() => this.#shared.dropIdle());
		const pool = new pg.Pool(/** @type {pg.PoolConfig} */ ({
			...config,
			stream: () => this.#openSocket(),
			Client: /** @type {never} */ (PooledClient),
			shared: this.#shared,
			max: POOL_MAX,
			connectionTimeoutMillis: QUERY_MS,
			query_timeout: QUERY_MS,
			allowExitOnIdle: true,
		}));
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
	 * @param {boolean} [reads] whether its function only reads
	 * @param {AbortSignal} [signal] takes the statement back, as long as it was not sent
	 * @returns {Promise<Record<string, unknown>[]>}
	 * @throws the reason of the signal, if nothing was sent. What was sent ends as it ends
	 */
	async query(text, values, reads, signal) {
		const stop = signal && onAbort(signal, () => this.#shared.takenBack.add(values));
		try {
			const rows = await this.track(() => this.run(text, values, reads));
			if (rows === TAKEN_BACK) throw signal?.reason;
			return rows;
		} finally {
			stop?.();
		}
	}

	/**
	 * @template T
	 * @param {() => Promise<T>} ask what `close` waits for
	 * @returns {Promise<T>}
	 */
	async track(ask) {
		if (this.#closed) throw new UrlModeClosedError();
		if (this.#calls.size >= CALLS_MAX) throw new UrlModeBusyError(TEXTS.callsInProgress);
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
	 * @param {boolean} [reads]
	 * @param {() => number[]} [leave] of a batch: the numbers of its elements that are not to be sent any more
	 * @returns {Promise<Record<string, unknown>[]>}
	 */
	async run(text, values, reads = false, leave) {
		if (leave) this.#shared.leaving.set(values, leave);
		if (!this.#isOwn && this.#shared.isTakenBack(values)) return TAKEN_BACK;
		for (let attempt = 1; ; attempt += 1) {
			try {
				return (await this.#pool.query(text, values)).rows;
			} catch (error) {
				if (this.#canRepeat(values, reads, attempt, error)) continue;
				throw isDatabaseError(error) ? explained(error) : toUnavailable(error);
			}
		}
	}

	/**
	 * Whether a statement can be sent on another connection: it was not sent, because the one that it had was dead;
	 * or its function only reads.
	 *
	 * @param {unknown[]} values
	 * @param {boolean} reads
	 * @param {number} attempt
	 * @param {unknown} error
	 */
	#canRepeat(values, reads, attempt, error) {
		if (this.#brokenOff) return false;
		const progress = this.#shared.progress.get(values);
		this.#shared.progress.delete(values);
		// Each connection can be found dead once.
		if (progress === 'asking') return attempt <= POOL_MAX;
		return progress === 'sent' && attempt === 1 && !isDatabaseError(error) && reads;
	}
}

/** @param {Error & { code: string, detail?: string | undefined }} error of PostgreSQL */
function explained(error) {
	// The detail of a failed check constraint contains the whole row.
	error.detail = undefined;
	// It is there only where it was asked for.
	if (error.code === '3F000' && error.message.includes('urlmode_frameworks')) error.message += ': run urlmode migrate --frameworks';
	return error;
}

/** @param {unknown} error of the connection @returns {unknown} what a caller gets: an error that says what has happened, if it took long */
function toUnavailable(error) {
	const { message } = /** @type {Error} */ (error);
	if (NO_CONNECTION.test(message)) return new UrlModeUnavailableError('notSent', error);
	return message === NO_ANSWER ? new UrlModeUnavailableError('notAnswered', error) : error;
}
