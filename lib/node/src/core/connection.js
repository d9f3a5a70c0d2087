// A connection to the host that is the right one at this moment, of those in the
// URL. After a failover that is another one.
//
// A primary that was cut off from its cluster still takes writes, but its commits wait for a standby without end. So a
// statement that is not answered for ten seconds has its server asked, on another connection, what its process does, and again
// every ten seconds. One that is only slow, or waits for a lock, goes on: it would be slow on another connection as well. Where it waits in its commit, or
// where nobody answers, all connections are closed, and never cancelled: PostgreSQL commits what waits for a standby when it is
// cancelled. The next connection is made to the host that leads: that with the highest timeline of those that take writes. Only
// a promotion raises a timeline, so that no load makes connections go to and fro.

import pg from 'pg';

import { leader } from './contract-database.js';
import { CONNECT_OF_SEVERAL_MS } from './contract-limits.js';
import { isDatabaseError } from './errors.js';

const QUESTION = "SELECT current_setting('transaction_read_only') AS read_only, pg_is_in_recovery() AS standby";

/**
 * @typedef {import('./database-url.js').DatabaseConfig} DatabaseConfig
 * @typedef {import('./database-url.js').Host} Host
 */

/** What the connections of one instance know of the host that leads. */
export class Leadership {
	/** Whether a commit was not answered: the leader is looked for, until all hosts have answered and one of them takes writes. */
	isDoubted = false;
	/** @type {Set<() => void>} */
	#leave = new Set();

	/** @param {() => void} leave closes connections that were made before */
	onDoubt(leave) {
		this.#leave.add(leave);
	}

	doubt() {
		this.isDoubted = true;
		for (const leave of this.#leave) leave();
	}
}

export class Client extends pg.Client {
	#config;
	#chosen = false;

	/** @param {DatabaseConfig} config */
	constructor(config) {
		super(config);
		// pg.Pool hides the password from a copy of its options.
		this.#config = { ...config, password: config.password };
		this.#chosen = config.hosts.length === 1 && config.sessionAttrs === 'any';
	}

	/**
	 * Finds the host to which `connect` connects. All are asked at the same time,
	 * so that one that is dead delays nothing.
	 */
	async chooseHost() {
		if (this.#chosen) return;
		const { host, port } = await findHost(this.#config);
		Object.assign(this, { host, port });
		this.#chosen = true;
	}

	/** Whether its statement is still being carried out, and does not wait in its commit. */
	async isAtWork() {
		const { processID } = /** @type {{ processID?: number }} */ (/** @type {unknown} */ (this));
		const process = Number(processID);
		return answerOf({ ...this.#config, host: this.host, port: this.port }, async (client) => {
			const { works, pid } = await leader(queryOf(client), { process });
			// A pooler has process ids of its own, and follows a failover itself.
			return works ?? pid !== /** @type {any} */ (client).processID;
		}).catch(cannotSay);
	}

	doubt() {
		this.#config.leadership.doubt();
	}

	/**
	 * @override
	 * @overload
	 * @returns {Promise<pg.Client>}
	 */
	/**
	 * @override
	 * @overload
	 * @param {(error: Error) => void} callback as pg.Pool passes it
	 * @returns {void}
	 */
	/**
	 * @override
	 * @param {(error: Error) => void} [callback]
	 * @returns {Promise<pg.Client> | void}
	 */
	connect(callback) {
		if (this.#chosen) return callback ? super.connect(callback) : super.connect();
		const connected = this.chooseHost().then(() => super.connect());
		if (!callback) return connected;
		connected.then(() => callback(/** @type {never} */ (undefined)), callback);
	}
}

/**
 * @param {DatabaseConfig} config
 * @returns {Promise<Host>}
 */
async function findHost(config) {
	const leads = config.leadership.isDoubted && config.hosts.length > 1 ? await findLeader(config) : undefined;
	if (leads) return leads;
	const answers = config.hosts.map((host) => ask({ ...config, ...host }));
	// If any host will do, the first one in the URL is preferred. Only one accepts writes.
	if (config.sessionAttrs !== 'any') return Promise.any(answers).catch(toSingleError);
	let failure;
	for (const answer of await Promise.allSettled(answers)) {
		if (answer.status === 'fulfilled') return answer.value;
		failure ??= answer.reason;
	}
	throw failure;
}

/**
 * @param {DatabaseConfig} config
 * @returns {Promise<Host | undefined>} undefined: no host takes writes, or says so
 */
async function findLeader(config) {
	const asked = config.hosts.map((host) => answerOf({ ...config, ...host }, async (client) => {
		const { timeline } = await leader(queryOf(client), { process: 0 });
		return { host, timeline: timeline ?? '', isSilent: false };
	}).catch(() => ({ host, timeline: '', isSilent: true })));
	const answers = await Promise.all(asked);
	const leaders = answers.filter(({ timeline }) => timeline !== '');
	// Who says nothing may be the old primary, and come back as it was.
	if (leaders.length === 1 && !answers.some(({ isSilent }) => isSilent)) config.leadership.isDoubted = false;
	return leaders.sort((one, other) => (one.timeline < other.timeline ? 1 : one.timeline > other.timeline ? -1 : 0))[0]?.host;
}

/**
 * Whether a server that answers cannot say it: it has no connection left (SQLSTATE 53), or its functions are older (42).
 *
 * @param {unknown} error
 */
const cannotSay = (error) => isDatabaseError(error) && /^(42|53)/.test(error.code);

/** @param {pg.Client} client @returns {import('./contract-calls.js').Query} */
const queryOf = (client) => async (text, values) => (await client.query(text, values)).rows;

/**
 * @param {AggregateError} failures
 * @returns {never} the most telling one: a host that answers says more than one that does not
 */
function toSingleError({ errors }) {
	throw errors.find((error) => error instanceof NotWritableError) ?? errors[0];
}

class NotWritableError extends Error {
	/** @param {Host} host */
	constructor({ host, port }) {
		super(`${host}:${port} is read-only`);
	}
}

/**
 * @param {DatabaseConfig} config
 * @returns {Promise<Host>} rejects if it is not what it must be
 */
function ask(config) {
	const { host, port, sessionAttrs } = config;
	return answerOf(config, async (client) => {
		const { rows: [answer] } = await client.query(QUESTION);
		if ((sessionAttrs === 'read-write' && answer.read_only === 'on') || (sessionAttrs === 'primary' && answer.standby)) {
			throw new NotWritableError({ host: String(host), port: Number(port) });
		}
		return { host: String(host), port: Number(port) };
	});
}

/**
 * @template T
 * @param {DatabaseConfig} config
 * @param {(client: pg.Client) => Promise<T>} question on a connection of its own
 * @returns {Promise<T>}
 */
async function answerOf(config, question) {
	const own = { ...config, connectionTimeoutMillis: CONNECT_OF_SEVERAL_MS, query_timeout: CONNECT_OF_SEVERAL_MS };
	delete own.stream;
	const client = new pg.Client(own);
	// What happens once it has answered does not matter any more.
	client.on('error', () => {});
	try {
		await client.connect();
		return await question(client);
	} finally {
		client.end().catch(() => {});
	}
}
