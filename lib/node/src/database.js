// Calls the functions of the schema urlmode that an MCP server may call.

import pg from 'pg';

import { ElicitationExistsError, ElicitationNotFoundError, UrlModeClosedError } from './errors.js';

/** The channel on which every change of a row is announced, as {"id":…,"status":…}. */
export const CHANNEL = 'urlmode';

const POOL_MAX = 4;
const QUERY_TIMEOUT_MS = 30_000;

const CREATE = `SELECT extract(epoch FROM urlmode.create_elicitation(
	$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)) AS expires`;
const RESUME = `SELECT id, provider, kind, extract(epoch FROM expires_at) AS expires, expires_in_ms
	FROM urlmode.resume($1, $2)`;
const CLAIM = 'SELECT urlmode.claim($1, $2) AS claimed';
const ABANDON = `SELECT outcome FROM urlmode.abandon(
	ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY[$3::text], ARRAY[$4::text])`;
const NOTIFY = 'SELECT pg_notify($1, $2)';
const READ_NAME = 'urlmode_read';
const READ = `SELECT id, provider, status, action, reason, result, verifier, expires_in_ms, event_type, reference, rechecks
	FROM urlmode.read($1::uuid[], $2::bytea[])`;
const MARK_READ = 'SELECT urlmode.mark_read($1::uuid[], $2::bytea[], $3::bigint)';
const PURGE = 'SELECT urlmode.purge_results() AS notes';
const EXPIRE = 'SELECT urlmode.expire($1::uuid[], $2::bytea[])';
const COMPLETE = `SELECT outcome FROM urlmode.complete(
	ARRAY[$1::uuid], ARRAY[$2::bytea], NULL, ARRAY[$3::text], ARRAY[$4::text], ARRAY[$5::bytea])`;

/**
 * A row as the waiting side sees it.
 *
 * @typedef {object} Row
 * @property {string} id
 * @property {string} provider
 * @property {'pending' | 'opened' | 'processing' | 'completed'} status
 * @property {import('./types.js').Action | null} action
 * @property {string} reason
 * @property {Buffer | null} result sealed
 * @property {Buffer | null} verifier sealed
 * @property {string} expires_in_ms by PostgreSQL's clock; negative if it has expired
 * @property {string | null} event_type of the last event that requires a recheck
 * @property {string | null} reference the provider's reference in that event
 * @property {number} rechecks how many events have required a recheck
 *
 * @typedef {object} NewRow
 * @property {string} id
 * @property {string} provider
 * @property {import('./types.js').Kind} kind
 * @property {string} subject
 * @property {string} session
 * @property {Buffer} binding
 * @property {string} requester
 * @property {string} targetUrl
 * @property {import('./types.js').Expected | null} expected
 * @property {Buffer | null} verifier sealed
 * @property {number} ttl milliseconds
 * @property {boolean} exclusive
 * @property {string | null} resumeKey
 *
 * @typedef {object} Resumed
 * @property {string} id
 * @property {string} provider
 * @property {import('./types.js').Kind} kind
 * @property {number} expires Unix seconds with a fraction
 * @property {number} ttl milliseconds; negative if it has expired
 *
 * @typedef {object} Completion
 * @property {string} id
 * @property {Buffer} binding
 * @property {import('./types.js').Action} action
 * @property {string} reason
 * @property {Buffer | null} result sealed
 *
 * @typedef {Pick<Row, 'id'> & { binding: Buffer }} RowKey identifies a row
 */

/**
 * @param {unknown} url
 * @returns {pg.ClientConfig} for one connection
 */
export function checkDatabaseUrl(url) {
	if (typeof url !== 'string' || !/^postgres(ql)?:\/\//.test(url)) {
		throw new TypeError('databaseUrl must be a URL: postgresql://user:password@host:port/database');
	}
	const config = {
		connectionString: url,
		fallback_application_name: 'urlmode',
		connectionTimeoutMillis: 10_000,
		keepAlive: true,
		keepAliveInitialDelayMillis: 10_000,
	};
	try {
		new pg.Client(config);
	} catch (error) {
		// The original error may quote the URL, and with it the password.
		throw new TypeError('databaseUrl is not a valid PostgreSQL URL: '
			+ 'percent-encode special characters in the user name, password and database name');
	}
	return config;
}

/**
 * Whether the server refused the statement because a privilege or a migration
 * is missing (SQLSTATE class 42 or 3F), so that it would refuse it again.
 *
 * @param {unknown} error
 */
export function isRefusal(error) {
	return error instanceof pg.DatabaseError && /^(42|3F)/.test(error.code ?? '');
}

/**
 * Reads rows. A row that does not exist, or that has another binding, is left out.
 *
 * @param {(text: string, values: unknown[], name: string) => Promise<unknown[]>} query
 * @param {RowKey[]} rowKeys
 * @returns {Promise<Row[]>}
 */
export async function readRows(query, rowKeys) {
	const rows = await query(READ, toColumns(rowKeys), READ_NAME);
	return /** @type {Row[]} */ (rows);
}

/** @param {RowKey[]} rowKeys */
function toColumns(rowKeys) {
	return [rowKeys.map(({ id }) => id), rowKeys.map(({ binding }) => binding)];
}

/** A small pool of connections for everything but waiting. Idle connections do not keep the process running. */
export class Database {
	#pool;
	#closed = false;
	/** @type {Set<Promise<unknown>>} */
	#queries = new Set();

	/** @param {pg.ClientConfig} config */
	constructor(config) {
		this.#pool = new pg.Pool({
			...config,
			max: POOL_MAX,
			connectionTimeoutMillis: QUERY_TIMEOUT_MS,
			query_timeout: QUERY_TIMEOUT_MS,
			allowExitOnIdle: true,
		});
		// The pool has removed the broken idle connection already.
		this.#pool.on('error', () => {});
	}

	/**
	 * @param {NewRow} row
	 * @returns {Promise<number | undefined>} when it expires, in Unix seconds with a fraction; undefined if another call
	 *     of the same owner has created one that can be resumed
	 */
	async create(row) {
		try {
			const [answer] = await this.query(CREATE, [row.id, row.provider, row.kind, row.subject, row.session,
				row.binding, row.requester, row.targetUrl, row.expected, row.verifier, row.ttl, row.exclusive,
				row.resumeKey]);
			return answer?.expires === null ? undefined : Number(answer?.expires);
		} catch (error) {
			if (error instanceof pg.DatabaseError && error.code === '23505') throw new ElicitationExistsError(row.id);
			throw error;
		}
	}

	/**
	 * @param {Buffer} binding
	 * @param {string} resumeKey
	 * @returns {Promise<Resumed | undefined>}
	 */
	async resume(binding, resumeKey) {
		const [row] = await this.query(RESUME, [binding, resumeKey]);
		if (!row) return undefined;
		const { id, provider, kind, expires, expires_in_ms: ttl } = /** @type {Record<string, string>} */ (row);
		return /** @type {Resumed} */ ({ id, provider, kind, expires: Number(expires), ttl: Number(ttl) });
	}

	/**
	 * @param {RowKey} rowKey of a completed elicitation
	 * @returns {Promise<boolean>} false if another call has claimed it
	 */
	async claim({ id, binding }) {
		const [answer] = await this.query(CLAIM, [id, binding]);
		return answer?.claimed === true;
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {'decline' | 'cancel'} action
	 * @param {string} reason
	 * @returns {Promise<'completed' | 'already' | 'processing'>} `completed`: by this call
	 */
	async abandon({ id, binding }, action, reason) {
		const [answer] = await this.query(ABANDON, [id, binding, action, reason]);
		if (answer?.outcome === 'unknown') throw new ElicitationNotFoundError(id);
		return /** @type {'completed' | 'already' | 'processing'} */ (answer?.outcome);
	}

	/**
	 * @param {string} channel
	 * @param {string} payload
	 */
	async notify(channel, payload) {
		await this.query(NOTIFY, [channel, payload]);
	}

	/**
	 * @param {RowKey[]} rowKeys whose results were read
	 * @param {number} keep milliseconds from now until the results are purged
	 */
	async markRead(rowKeys, keep) {
		await this.query(MARK_READ, [...toColumns(rowKeys), keep]);
	}

	/**
	 * Purges some of the results that are due.
	 *
	 * @returns {Promise<boolean>} whether more may be due
	 */
	async purgeResults() {
		const [answer] = await this.query(PURGE, []);
		return Number(answer?.notes) > 0;
	}

	/** @param {RowKey[]} rowKeys */
	async expire(rowKeys) {
		await this.query(EXPIRE, toColumns(rowKeys));
	}

	/**
	 * @param {Completion} completion
	 * @returns {Promise<boolean>} false if it was completed before
	 */
	async complete({ id, binding, action, reason, result }) {
		const [answer] = await this.query(COMPLETE, [id, binding, action, reason, result]);
		if (answer?.outcome === 'unknown') throw new ElicitationNotFoundError(id);
		return answer?.outcome === 'completed';
	}

	/** Waits for the queries in progress first. */
	async close() {
		this.#closed = true;
		await Promise.allSettled(this.#queries);
		await this.#pool.end();
	}

	/**
	 * @param {string} text
	 * @param {unknown[]} values
	 * @returns {Promise<Record<string, unknown>[]>}
	 */
	async query(text, values) {
		if (this.#closed) throw new UrlModeClosedError();
		const answer = this.#pool.query(text, values);
		this.#queries.add(answer);
		try {
			return (await answer).rows;
		} catch (error) {
			// The detail of a failed check constraint contains the whole row.
			if (error instanceof pg.DatabaseError) error.detail = undefined;
			throw error;
		} finally {
			this.#queries.delete(answer);
		}
	}
}
