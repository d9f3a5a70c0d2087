// urlmode check: checks the setup of an MCP server. Each check adds findings;
// the report has the form of the same command on the callback host.

import { createHash, randomUUID } from 'node:crypto';

import { Client } from '../core/connection.js';
import { createElicitation, settle } from '../core/contract-calls.js';
import * as sql from '../core/contract-database.js';
import { CHECK_CLOCK_MS, CHECK_MS } from '../core/contract-limits.js';
import { CHANNEL, CHECK_FUNCTIONS, CHECK_SESSION } from '../core/contract-statements.js';
import { TEXTS } from './contract-texts.js';
import { checkDatabaseUrl } from '../core/database-url.js';
import { KeysFile } from '../core/keys.js';
import { mintLink } from '../core/link.js';
import { checkBaseUrl } from '../core/url.js';
import { BASE_URL, DATABASE_URL, KEYS_FILE, required } from './environment.js';
import { kidsOf } from './keys.js';
import { functionsVersion, hasFrameworks, migrationDigests, readMigrations } from './migrations.js';
import { printable } from './printable.js';
import { UsageError } from './usage-error.js';

export { CHECK_HELP as help } from './contract-texts.js';

export const options = {
	provider: { type: /** @type {const} */ ('string') },
	json: { type: /** @type {const} */ ('boolean') },
};

// The provider, the tenant and the subject of elicitations that a check makes.
const OF_CHECK = 'urlmode-check';

/**
 * @typedef {'ok' | 'warning' | 'error' | 'skipped'} Severity
 * @typedef {{ check: string, severity: Severity, message: string, advice: string }} Finding
 */

class Report {
	/** @type {Finding[]} */
	findings = [];

	/**
	 * @param {string} check
	 * @param {Severity} severity
	 * @param {string} message
	 * @param {string} [advice]
	 */
	add(check, severity, message, advice = '') {
		this.findings.push({ check, severity, message: printable(message), advice });
	}

	/**
	 * @template T
	 * @param {string} check
	 * @param {string} advice
	 * @param {() => T | Promise<T>} look
	 * @returns {Promise<T | undefined>} undefined if it has failed, which is then a finding
	 */
	async try(check, advice, look) {
		try {
			return await look();
		} catch (error) {
			this.add(check, 'error', reasonOf(error), advice);
			return undefined;
		}
	}

	/** @param {Severity} severity */
	count(severity) {
		return this.findings.filter((finding) => finding.severity === severity).length;
	}

	print() {
		for (const { check, severity, message, advice } of this.findings) {
			process.stdout.write(`${severity.padEnd(8)} ${check.padEnd(14)} ${message}\n`);
			if (advice) process.stdout.write(`${''.padEnd(23)} -> ${advice}\n`);
		}
		process.stdout.write(`${this.count('error')} errors, ${this.count('warning')} warnings, ${this.count('skipped')} skipped\n`);
	}

	printJson() {
		const [errors, warnings, skipped] = [this.count('error'), this.count('warning'), this.count('skipped')];
		const status = errors ? 'error' : warnings ? 'warning' : 'ok';
		process.stdout.write(`${JSON.stringify({ status, errors, warnings, skipped, findings: this.findings })}\n`);
	}
}

/** @param {unknown} error */
function reasonOf(error) {
	const { cause, code, message } = /** @type {Error & { cause?: Error, code?: string }} */ (error);
	return cause?.message || message || code || 'it failed';
}

/**
 * @param {string[]} args
 * @param {{ provider?: unknown, json?: unknown }} options
 */
export async function run(args, { provider, json }) {
	if (args.length > 0) throw new UsageError('urlmode check takes no argument');
	const report = new Report();
	const keys = await report.try('keys', 'see urlmode keys --help', () => checkKeys(report));
	await report.try('database', TEXTS.checkDatabaseAdvice, () => checkDatabase(report));
	if (!report.count('error')) {
		await report.try('walk', TEXTS.checkWalkAdvice, () => checkWalk(report));
	}
	await report.try('callback', TEXTS.checkCallbackAdvice,
		() => checkCallback(report, keys, String(provider ?? OF_CHECK)));
	if (json) report.printJson();
	else report.print();
	return report.count('error') ? 2 : report.count('warning') ? 1 : 0;
}

/** @param {Report} report */
function checkKeys(report) {
	const keys = new KeysFile(required('URLMODE_KEYS_FILE', KEYS_FILE));
	report.add('keys', 'ok', TEXTS.checkKeys(keys.minting.kid, kidsOf(keys).length));
	return keys;
}

/** @param {Report} report */
async function checkDatabase(report) {
	const url = required('URLMODE_DATABASE_URL', DATABASE_URL);
	const client = new Client({
		...checkDatabaseUrl(url), application_name: 'urlmode check', connectionTimeoutMillis: CHECK_MS, query_timeout: CHECK_MS,
	});
	client.on('error', () => {});
	await client.connect();
	try {
		const { rows: [row] } = await client.query(CHECK_SESSION);
		const ahead = row.now - Date.now() / 1_000;
		report.add('database', row.is_standby ? 'error' : 'ok', `reached as ${row.name}`,
			row.is_standby ? TEXTS.checkStandbyAdvice : '');
		if (Math.abs(ahead) * 1_000 > CHECK_CLOCK_MS) {
			report.add('clock', 'warning', TEXTS.checkClock(ahead.toFixed(1)), 'synchronize both clocks');
		}
		if (!row.has_schema) {
			report.add('schema', 'error', TEXTS.checkNoSchema, 'run urlmode migrate');
			return;
		}
		await checkSchema(report, client);
		if (!row.has_settings) {
			report.add('role', 'warning', TEXTS.checkRole(row.name),
				'ALTER ROLE … SET enable_seqscan = off, and jit = off, as README.md says');
		}
	} finally {
		await client.end();
	}
}

/**
 * What a server does, with its login: each step is committed.
 *
 * @param {Report} report
 */
async function checkWalk(report) {
	const client = new Client({
		...checkDatabaseUrl(required('URLMODE_DATABASE_URL', DATABASE_URL)), application_name: 'urlmode check',
		connectionTimeoutMillis: CHECK_MS, query_timeout: CHECK_MS,
	});
	client.on('error', () => {});
	await client.connect();
	/** @type {sql.Query} */
	const query = async (text, values) => (await client.query(text, values)).rows;
	const id = randomUUID();
	// The owner, of a tenant (lib/PROTOCOL.md).
	const binding = createHash('sha256').update(`urlmode binding v2\0${OF_CHECK}\0${OF_CHECK}\0`).digest().subarray(0, 16);
	try {
		await client.query(`LISTEN ${CHANNEL}`);
		const heard = new Promise((resolve, reject) => {
			client.on('notification', ({ payload }) => payload?.includes(`"id":"${id}","status":"completed"`) && resolve(undefined));
			setTimeout(() => reject(new Error(TEXTS.checkNotHeard)), CHECK_MS).unref();
		});
		heard.catch(() => {});
		await createElicitation(query, [{
			id, provider: OF_CHECK, kind: 'approval', subject: OF_CHECK, session: '', binding, requester: 'urlmode check', targetUrl: null,
			expected: null, verifier: null, ttlMs: 60_000, exclusive: false, resumeKey: null, canRecheck: false, request: binding, checkout: null,
			clientId: null, linkKid: 0, form: Buffer.from('nobody opens it'), approvers: null, verifyMs: null, traceparent: null, tenant: OF_CHECK, item: null,
		}]);
		await settle(query, { id, binding, action: 'cancel', reason: '', result: null, amount: null, currency: null, reference: null });
		await heard;
		report.add('walk', 'ok', TEXTS.checkHeard);
	} finally {
		await sql.endWalk(query, { id }).catch(() => {});
		await client.end();
	}
}

/**
 * @param {Report} report
 * @param {Client} client
 */
async function checkSchema(report, client) {
	const { rows: functions } = await client.query(CHECK_FUNCTIONS);
	const refused = functions.filter(({ mine, server }) => server && !mine);
	if (refused.length > 0) {
		report.add('role', 'error', `no right to execute ${refused.map(({ name }) => name).join(', ')}`, TEXTS.checkLoginAdvice(refused[0].server));
		return;
	}
	const canList = functions.some(({ name, mine }) => name === 'list_migrations' && mine);
	/** @type {sql.Query} */
	const query = async (text, values) => (await client.query(text, values)).rows;
	const applied = canList ? await sql.listMigrations(query) : [];
	const migrations = readMigrations(hasFrameworks(applied));
	const missing = migrations.filter(({ name }) => !applied.includes(name));
	const names = missing.map(({ name }) => name).join(', ');
	const version = functions.some(({ name }) => name === 'functions_version') ? await sql.functionsVersion(query) : 0;
	const own = functionsVersion();
	const ownDigests = migrationDigests();
	const digests = functions.some(({ name, mine }) => name === 'migration_digests' && mine) ? await sql.migrationDigests(query) : [];
	const changed = digests.filter(({ name, digest }) => (ownDigests[name] ?? digest) !== digest);
	if (changed.length > 0) report.add('schema', 'error', TEXTS.checkChanged(changed.map(({ name }) => name).join(', ')), TEXTS.checkChangedAdvice);
	else if (missing.length > 0) report.add('schema', 'error', `not applied: ${canList ? names : 'the last migrations'}`, 'run urlmode migrate');
	else if (version < own) report.add('schema', 'error', `the functions have version ${version}, and not ${own}`, 'run urlmode migrate');
	else report.add('schema', 'ok', `${migrations.length} migrations are applied`);
}

/**
 * @param {Report} report
 * @param {KeysFile | undefined} keys
 * @param {string} provider
 */
async function checkCallback(report, keys, provider) {
	const { origin: baseUrl } = checkBaseUrl(required('URLMODE_BASE_URL', BASE_URL));
	const get = (/** @type {string} */ path) => fetch(baseUrl + path, { redirect: 'manual', signal: AbortSignal.timeout(CHECK_MS) });
	const done = await get('/done');
	if (done.status !== 200 || !/^[0-9a-f]{32}$/.test(done.headers.get('x-request-id') ?? '')) {
		report.add('callback', 'error', TEXTS.checkDonePage(baseUrl, done.status), TEXTS.checkNginxAdvice);
		return;
	}
	report.add('callback', 'ok', `urlmode answers at ${baseUrl}`);
	if (!keys) {
		report.add('same_keys', 'skipped', 'not compared');
		return;
	}
	// A good link of no elicitation: the programs say that they do not know it, or that the state is not good. With
	// user_check openid they redirect to the sign-in, once they have opened the state.
	const state = mintLink(keys.minting, provider, randomUUID());
	const answer = await get(`/connect/${encodeURIComponent(provider)}?state=${state}`);
	const page = await answer.text();
	const says = (/** @type {string} */ code) => new RegExp(`\\b${code}\\b`).test(page);
	if (answer.status === 303 || ['unknown_elicitation', 'sign_in_required', 'sign_in_not_set_up'].some(says)) {
		report.add('same_keys', 'ok', TEXTS.checkSameKeys);
	} else if (says('state_invalid')) {
		report.add('same_keys', 'error', TEXTS.checkOtherKeys, TEXTS.checkOtherKeysAdvice);
	} else if (says('unknown_provider') && provider === OF_CHECK) {
		report.add('same_keys', 'skipped', 'not compared: the callback programs are of an older version', 'name a provider with --provider');
	} else if (says('unknown_provider')) {
		report.add('same_keys', 'error', TEXTS.checkNoProvider(provider), TEXTS.checkNoProviderAdvice);
	} else report.add('same_keys', 'warning', TEXTS.checkOtherAnswer, 'see their log');
}
