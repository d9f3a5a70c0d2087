// PostgreSQL: the functions of schema urlmode that an MCP server may call,
// and how one connects.

import pg from 'pg';

import { ElicitationExistsError, ElicitationNotFoundError, UrlModeClosedError } from './errors.js';

/** The channel that every change of a row is announced on, as {"id":…,"status":…}. */
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
const NOTE_READ = 'SELECT urlmode.mark_read($1::uuid[], $2::bytea[], $3::bigint)';
const FORGET = 'SELECT urlmode.purge_results() AS notes';
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
 * @property {string} expires_in_ms by the server's clock, negative when over
 * @property {string | null} event_type of the last event that wants a recheck
 * @property {string | null} reference the provider's own, of that event
 * @property {number} rechecks how many events have wanted one
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
 * @property {number} ttl milliseconds, negative when over
 *
 * @typedef {object} Completion
 * @property {string} id
 * @property {Buffer} binding
 * @property {import('./types.js').Action} action
 * @property {string} reason
 * @property {Buffer | null} result sealed
 *
 * @typedef {Pick<Row, 'id'> & { binding: Buffer }} Named what names a row
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
		// The error itself may quote the URL, and with it the password.
		throw new TypeError('databaseUrl cannot be read as a URL of PostgreSQL: '
			+ 'percent-encode what is special in user, password and database');
	}
	return config;
}

/**
 * Whether the server understood the statement and will not have it: a right
 * or a migration is missing (SQLSTATE class 42, 3F). Trying again is no use.
 *
 * @param {unknown} error
 */
export function isRefusal(error) {
	return error instanceof pg.DatabaseError && /^(42|3F)/.test(error.code ?? '');
}

/**
 * Reads rows; those that are not there, or not of that binding, are left out.
 *
 * @param {(text: string, values: unknown[], name: string) => Promise<unknown[]>} query
 * @param {Named[]} named
 * @returns {Promise<Row[]>}
 */
export async function read(query, named) {
	const rows = await query(READ, columnsOf(named), READ_NAME);
	return /** @type {Row[]} */ (rows);
}

/** @param {Named[]} named */
function columnsOf(named) {
	return [named.map(({ id }) => id), named.map(({ binding }) => binding)];
}

/** What writes, over a small pool whose idle connections do not keep the process. */
export class Database {
	#pool;
	#closed = false;
	/** @type {Set<Promise<unknown>>} */
	#underWay = new Set();

	/** @param {pg.ClientConfig} config */
	constructor(config) {
		this.#pool = new pg.Pool({
			...config,
			max: POOL_MAX,
			connectionTimeoutMillis: QUERY_TIMEOUT_MS,
			query_timeout: QUERY_TIMEOUT_MS,
			allowExitOnIdle: true,
		});
		// An idle connection that breaks has left the pool by then.
		this.#pool.on('error', () => {});
	}

	/**
	 * @param {NewRow} row
	 * @returns {Promise<number | undefined>} when it expires, in Unix seconds with a fraction; nothing: there is one to
	 *     resume
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
	 * @param {Named} named completed
	 * @returns {Promise<boolean>} false: another call has taken it
	 */
	async claim({ id, binding }) {
		const [answer] = await this.query(CLAIM, [id, binding]);
		return answer?.claimed === true;
	}

	/**
	 * @param {Named} named
	 * @param {'decline' | 'cancel'} action
	 * @param {string} reason
	 * @returns {Promise<'completed' | 'already' | 'processing'>} completed: by this call
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
	 * @param {Named[]} named whose results were read
	 * @param {number} keep milliseconds from now, after which they are dropped
	 */
	async noteRead(named, keep) {
		await this.query(NOTE_READ, [...columnsOf(named), keep]);
	}

	/**
	 * Drops some of the results that are due.
	 *
	 * @returns {Promise<boolean>} whether there may be more
	 */
	async forget() {
		const [answer] = await this.query(FORGET, []);
		return Number(answer?.notes) > 0;
	}

	/** @param {Named[]} named */
	async expire(named) {
		await this.query(EXPIRE, columnsOf(named));
	}

	/**
	 * @param {Completion} completion
	 * @returns {Promise<boolean>} false: it was completed before
	 */
	async complete({ id, binding, action, reason, result }) {
		const [answer] = await this.query(COMPLETE, [id, binding, action, reason, result]);
		if (answer?.outcome === 'unknown') throw new ElicitationNotFoundError(id);
		return answer?.outcome === 'completed';
	}

	/** Lets what is under way end first. */
	async close() {
		this.#closed = true;
		await Promise.allSettled(this.#underWay);
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
		this.#underWay.add(answer);
		try {
			return (await answer).rows;
		} catch (error) {
			// The detail of a failed check is the whole row.
			if (error instanceof pg.DatabaseError) error.detail = undefined;
			throw error;
		} finally {
			this.#underWay.delete(answer);
		}
	}
}
