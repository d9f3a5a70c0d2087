// A connection to the host that is the right one at this moment, of those in the
// URL. After a failover that is another one.

import pg from 'pg';

import { CONNECT_OF_SEVERAL_MS } from './contract-limits.js';

const QUESTION = "SELECT current_setting('transaction_read_only') AS read_only, pg_is_in_recovery() AS standby";

/**
 * @typedef {import('./database-url.js').DatabaseConfig} DatabaseConfig
 * @typedef {import('./database-url.js').Host} Host
 */

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
async function ask(config) {
	const { host, port, sessionAttrs } = config;
	const own = { ...config, connectionTimeoutMillis: CONNECT_OF_SEVERAL_MS, query_timeout: CONNECT_OF_SEVERAL_MS };
	delete own.stream;
	const client = new pg.Client(own);
	// What happens once it has answered does not matter any more.
	client.on('error', () => {});
	try {
		await client.connect();
		const { rows: [answer] } = await client.query(QUESTION);
		if ((sessionAttrs === 'read-write' && answer.read_only === 'on') || (sessionAttrs === 'primary' && answer.standby)) {
			throw new NotWritableError({ host: String(host), port: Number(port) });
		}
		return { host: String(host), port: Number(port) };
	} finally {
		client.end().catch(() => {});
	}
}
