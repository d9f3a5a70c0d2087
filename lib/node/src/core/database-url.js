// The URL of the database, as libpq reads it: several hosts, the parameters of
// TLS, and the environment for the parts that the URL leaves out. A parameter of the
// URL that cannot be obeyed is an error that names it: it must not only look as if
// it were in force.

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { checkServerIdentity } from 'node:tls';

import { Leadership } from './connection.js';
import { CONNECT_MS, KEEPALIVE_MS } from './contract-limits.js';
import { TEXTS } from './contract-texts.js';

const FORM = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^@?#]*))?(?:\?([^#]*))?$/;
const HOST = /^(\[[0-9a-fA-F:.%]+\]|[^:@[\]]*)(?::(\d*))?$/;
const DEFAULT_HOST = 'localhost';
const DEFAULT_PORT = '5432';

/** Which parameters there are, and in which variable of the environment each may be. */
const PARAMETERS = /** @type {const} */ ({
	host: 'PGHOST', port: 'PGPORT', dbname: 'PGDATABASE', user: 'PGUSER', password: 'PGPASSWORD',
	application_name: 'PGAPPNAME', options: 'PGOPTIONS', connect_timeout: 'PGCONNECT_TIMEOUT',
	target_session_attrs: 'PGTARGETSESSIONATTRS', sslmode: 'PGSSLMODE', sslrootcert: 'PGSSLROOTCERT',
	sslcert: 'PGSSLCERT', sslkey: 'PGSSLKEY', ssl: undefined,
});

/** urlmode writes, so what libpq has for servers that are only read is left out. */
const SESSION_ATTRS = /** @type {const} */ (['any', 'read-write', 'primary']);
/** Not allow and prefer, which do without TLS when somebody on the way says so. */
const SSL_MODES = /** @type {const} */ (['disable', 'require', 'verify-ca', 'verify-full']);

/**
 * @typedef {keyof typeof PARAMETERS} Parameter
 * @typedef {Partial<Record<Parameter, string>>} Parameters
 * @typedef {{ host: string, port: number }} Host
 * @typedef {import('pg').ClientConfig & { hosts: Host[], sessionAttrs: (typeof SESSION_ATTRS)[number], leadership: Leadership }} DatabaseConfig
 *     for one connection. sessionAttrs: the state that the chosen host must have. leadership: of all connections with it
 */

/**
 * @param {unknown} url
 * @returns {DatabaseConfig}
 * @throws {TypeError} without the URL, which contains a password
 */
export function checkDatabaseUrl(url) {
	const [, userInfo = '', hostList = '', dbname = '', query = ''] = (typeof url === 'string' && FORM.exec(url)) || refuse(
		'must be a URL: postgresql://user:password@host:port/database');
	const given = readQuery(query);
	const [user = '', password = ''] = userInfo.split(/:(.*)/s);
	const parts = splitHosts(hostList);
	/** @param {Parameter} name */
	const parameter = (name) => given[name] || (PARAMETERS[name] && process.env[PARAMETERS[name]]) || undefined;
	const hosts = pairHosts(given.host ?? (parts.hosts || parameter('host') || DEFAULT_HOST),
		given.port ?? (parts.ports || parameter('port') || DEFAULT_PORT));
	return {
		hosts,
		leadership: new Leadership(),
		sessionAttrs: choose('target_session_attrs', parameter('target_session_attrs') ?? (hosts.length > 1 ? 'read-write' : 'any'),
			SESSION_ATTRS),
		...hosts[0],
		user: decode(user) || parameter('user'),
		password: decode(password) || parameter('password'),
		database: decode(dbname) || parameter('dbname'),
		application_name: parameter('application_name'),
		options: parameter('options'),
		ssl: readSsl(parameter, hosts),
		fallback_application_name: 'urlmode',
		connectionTimeoutMillis: readSeconds(parameter('connect_timeout')) * 1_000,
		keepAlive: true,
		// Node.js then asks ten times, each second.
		keepAliveInitialDelayMillis: KEEPALIVE_MS,
	};
}

/**
 * The configuration of a connection that is not of the pool.
 *
 * @param {import('./types.js').Pool} pool
 * @param {unknown} databaseUrl
 * @returns {DatabaseConfig}
 */
export function checkPool(pool, databaseUrl) {
	if (databaseUrl !== undefined) throw new TypeError(TEXTS.poolOrUrl);
	if (typeof pool?.query !== 'function' || typeof pool.options !== 'object') throw new TypeError('pool must be a pg.Pool');
	const options = /** @type {import('pg').PoolConfig} */ (pool.options);
	// The password is not enumerable.
	return { ...options, password: options.password, hosts: [{ host: options.host ?? '', port: options.port ?? 0 }], sessionAttrs: 'any', leadership: new Leadership() };
}

/**
 * @param {string} query
 * @returns {Parameters}
 */
function readQuery(query) {
	/** @type {Parameters} */
	const given = {};
	for (const [name, value = ''] of query.split('&').filter(Boolean).map((part) => part.split(/=(.*)/s).map(decode))) {
		if (!/^\w+$/.test(name ?? '')) refuse('has a parameter that is not valid');
		if (!Object.hasOwn(PARAMETERS, name ?? '')) refuse(`has the parameter ${name}, which is not supported`);
		given[/** @type {Parameter} */ (name)] = value;
	}
	return given;
}

/** @param {string} list host:port,host:port */
function splitHosts(list) {
	const parts = list.split(',').map((part) => HOST.exec(part) ?? refuse('has a host or port that is not valid'));
	const ports = parts.map(([, , port = '']) => port);
	return {
		hosts: parts.map(([, host = '']) => decode(host.replace(/^\[(.*)\]$/, '$1'))).join(','),
		ports: ports.some(Boolean) ? ports.join(',') : '',
	};
}

/**
 * @param {string} hostList
 * @param {string} portList one for each host, or one for all
 * @returns {Host[]}
 */
function pairHosts(hostList, portList) {
	const hosts = hostList.split(',');
	const ports = portList.split(',');
	if (ports.length !== 1 && ports.length !== hosts.length) refuse(`has ${hosts.length} hosts and ${ports.length} ports`);
	return hosts.map((host, n) => {
		const port = Number((ports.length === 1 ? ports[0] : ports[n]) || DEFAULT_PORT);
		if (!Number.isInteger(port) || port < 1 || port > 65_535) refuse('has a host or port that is not valid');
		return { host: host || DEFAULT_HOST, port };
	});
}

/**
 * TLS as libpq does it, where node-postgres takes require and verify-ca for
 * verify-full, and knows no default place of the certificates.
 *
 * @param {(name: Parameter) => string | undefined} parameter
 * @param {Host[]} hosts
 */
function readSsl(parameter, hosts) {
	const mode = choose('sslmode', parameter('sslmode') ?? (parameter('ssl') === 'true' ? 'require' : 'disable'), SSL_MODES);
	// Like libpq: a unix socket needs none.
	if (mode === 'disable' || hosts.every(({ host }) => host.startsWith('/'))) return false;
	if (hosts.some(({ host }) => host.startsWith('/'))) refuse(`has sslmode=${mode}, and a unix socket beside other hosts`);
	const root = parameter('sslrootcert');
	const ca = root === 'system' ? undefined : readFile('sslrootcert', root, 'root.crt');
	if (mode.startsWith('verify') && ca === undefined && root !== 'system') {
		refuse(`has sslmode=${mode}, and there is no root certificate: set sslrootcert, or to "system" for those of Node.js`);
	}
	if (root === 'system' && mode !== 'verify-full') refuse('has sslrootcert=system, which needs sslmode=verify-full');
	return {
		...ca !== undefined && { ca },
		cert: readFile('sslcert', parameter('sslcert'), 'postgresql.crt'),
		key: readFile('sslkey', parameter('sslkey'), 'postgresql.key'),
		// With a root certificate, require verifies it as well.
		rejectUnauthorized: mode !== 'require' || ca !== undefined,
		checkServerIdentity: mode === 'verify-full' ? checkServerIdentity : () => undefined,
	};
}

/**
 * @param {Parameter} name
 * @param {string | undefined} file
 * @param {string} standard where libpq looks in the home directory, if there is such a file
 */
function readFile(name, file, standard) {
	const inHome = path.join(homedir(), '.postgresql', standard);
	try {
		if (file !== undefined) return readFileSync(file, 'utf8');
		return existsSync(inHome) ? readFileSync(inHome, 'utf8') : undefined;
	} catch (error) {
		return refuse(`has ${name}=${file ?? inHome}, which cannot be read: ${/** @type {NodeJS.ErrnoException} */ (error).code}`);
	}
}

/** @param {string | undefined} text */
function readSeconds(text) {
	if (text === undefined) return CONNECT_MS / 1_000;
	const seconds = /^\d{1,4}$/.test(text) ? Number(text) : refuse('has a connect_timeout that is no number of seconds');
	return seconds || CONNECT_MS / 1_000;
}

/**
 * @template {string} T
 * @param {string} name
 * @param {string} value
 * @param {readonly T[]} allowed
 * @returns {T}
 */
function choose(name, value, allowed) {
	return allowed.find((each) => each === value) ?? refuse(`has ${name}=${value}: supported are ${allowed.join(', ')}`);
}

/** @param {string} text */
function decode(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return refuse('is not a valid PostgreSQL URL: percent-encode special characters in the user name, password and database name');
	}
}

/**
 * @param {string} why
 * @returns {never}
 */
function refuse(why) {
	throw new TypeError(`databaseUrl ${why}`);
}
