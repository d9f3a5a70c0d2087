// The real PostgreSQL of the tests. Functions complete rows as the callback programs do, and
// break connections as an administrator can.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { UrlMode } from '../../src/index.js';
import { internalsOf } from '../../src/core/internals.js';
import { KeysFile } from '../../src/core/keys.js';
import { EVENT_OUTCOME_INFO, FORM_INFO, PROBLEM_INFO, RESULT_INFO } from '../../src/core/contract-seals.js';
import { seal, unseal } from '../../src/core/seal.js';
import { bindingOf, browserOf } from '../../src/core/token.js';
import { scratchKeys } from './keys.js';

/** @param {string} name */
export function requireUrl(name) {
	const url = process.env[name];
	if (!url) {
		throw new Error(`${name} is not set: these tests need a PostgreSQL with the migrations of sql/ applied, `
			+ 'as URLMODE_DATABASE_URL (role urlmode_server) and URLMODE_ADMIN_DATABASE_URL (a superuser)');
	}
	return url;
}

/** The same database under a name of its own in pg_stat_activity. */
export function named(url, applicationName) {
	const own = new URL(url);
	own.searchParams.set('application_name', applicationName);
	return own.href;
}

export async function connect(t, url) {
	const client = new pg.Client({ connectionString: url });
	client.on('error', () => {});
	await client.connect();
	t.after(() => client.end());
	return client;
}

/**
 * A UrlMode, and the hands of others on its rows.
 *
 * @param {import('node:test').TestContext} t
 */
export async function setUp(t, { serverUrl = requireUrl('URLMODE_DATABASE_URL'),
	adminUrl = requireUrl('URLMODE_ADMIN_DATABASE_URL'), keysFile = scratchKeys(t), ...options } = {}) {
	const applicationName = `urlmode-test-${randomUUID()}`;
	const settings = {
		databaseUrl: named(serverUrl, applicationName), keysFile, baseUrl: 'https://callback.example', ...options,
	};
	const urlmode = new UrlMode(settings);
	t.after(() => urlmode.close());
	/** @type {pg.Client | undefined} */
	let admin;
	// One owner can have a hundred open, and most tests are about the same one.
	t.after(() => admin?.query(`ROLLBACK; RESET ROLE; SET lock_timeout = '1s';
		DELETE FROM urlmode.elicitation WHERE subject = 'user-42' AND status <> 'completed'`).catch(() => {}));
	admin = await connect(t, adminUrl);
	await waitLongerForLocks(admin);
	return {
		urlmode, settings, keysFile, applicationName, adminUrl,
		another: () => {
			const other = new UrlMode(settings);
			t.after(() => other.close());
			return other;
		},
		admin,
		callback: await Callback.start(t, adminUrl, keysFile),
	};
}

/**
 * The functions that the programs call give up a lock after 20 ms, and the
 * programs try again. A test that calls them itself waits for a second.
 *
 * @param {pg.Client} admin
 */
export async function waitLongerForLocks(admin) {
	const { rows } = await admin.query(`SELECT oid::regprocedure AS signature FROM pg_proc
		WHERE pronamespace = 'urlmode'::regnamespace AND 'lock_timeout=20ms' = ANY (proconfig)`);
	for (const { signature } of rows) await admin.query(`ALTER FUNCTION ${signature} SET lock_timeout = '1s'`);
}

/** What the callback programs do, with their role. */
export class Callback {
	constructor(client, keysFile) {
		this.client = client;
		this.keys = new KeysFile(keysFile);
	}

	static async start(t, adminUrl, keysFile) {
		const client = await connect(t, adminUrl);
		await client.query('SET ROLE urlmode_cgi');
		return new Callback(client, keysFile);
	}

	async open(id, { provider = 'demo', subject = 'user-42', session = '', grace = 60_000 } = {}) {
		const { rows } = await this.client.query(`SELECT outcome FROM urlmode.open(ids => ARRAY[$1::uuid],
			bindings => ARRAY[$2::bytea], providers => ARRAY[$3], browsers => ARRAY[$4::bytea], graces_ms => ARRAY[$5::bigint])`,
		[id, bindingOf(subject, session), provider, browserOf('of the test'), grace]);
		return rows[0].outcome;
	}

	async complete(id, { provider = 'demo', subject = 'user-42', session = '', action = 'accept', reason = '',
		result = undefined } = {}) {
		const binding = bindingOf(subject, session);
		const sealed = result && seal(this.keys, { id, binding, use: RESULT_INFO }, JSON.stringify(result));
		const { rows } = await this.client.query(`SELECT outcome FROM urlmode.complete(ids => ARRAY[$1::uuid],
			bindings => ARRAY[$2::bytea], providers => ARRAY[$3], actions => ARRAY[$4], reasons => ARRAY[$5],
			results => ARRAY[$6::bytea])`, [id, binding, provider, action, reason, sealed ?? null]);
		return rows[0].outcome;
	}

	/** The page of a form: what the user sends. */
	async answer(id, { provider = 'demo', subject = 'user-42', session = '', user = subject, fourEyes = false, action = 'accept',
		reason = action === 'accept' ? '' : 'declined', result = undefined, kind = result && 'values' in result ? 'input' : 'approval' } = {}) {
		const binding = bindingOf(subject, session);
		const sealed = result && seal(this.keys, { id, binding, use: RESULT_INFO }, JSON.stringify(result));
		const { rows } = await this.client.query(`SELECT outcome FROM urlmode.answer_form(ids => ARRAY[$1::uuid],
			bindings => ARRAY[$2::bytea], providers => ARRAY[$3], browsers => ARRAY[$4::bytea], subjects => ARRAY[$5],
			four_eyes => ARRAY[$6::boolean], actions => ARRAY[$7], reasons => ARRAY[$8], results => ARRAY[$9::bytea], outcomes => ARRAY[NULL::bytea],
			kinds => ARRAY[$10], shown => ARRAY[NULL::bytea])`,
		[id, binding, provider, browserOf('of the test'), user, fourEyes, action, reason, sealed ?? null, kind]);
		return rows[0].outcome;
	}

	/** The page: what it shows. */
	async lookUpForm(id, { provider = 'demo', subject = 'user-42', session = '', user = subject, fourEyes = false, kind = 'input' } = {}) {
		const binding = bindingOf(subject, session);
		const { rows } = await this.client.query(`SELECT * FROM urlmode.look_up_form(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY[$3],
			ARRAY[$4], ARRAY[$5], ARRAY[$6::boolean])`, [id, binding, provider, kind, user, fourEyes]);
		const open = (use, sealed) => sealed && unseal(this.keys, { id, binding, use }, sealed);
		return { ...rows[0], form: open(FORM_INFO, rows[0].form), problem: open(PROBLEM_INFO, rows[0].problem) };
	}

	/** A webhook's event; `effect` as its description reads it. */
	async event(id, effect, { provider = 'demo', type = `type.${effect}`, reference = null, amount = null,
		currency = null, identity = randomUUID(), subject = 'user-42', session = '', result = undefined, refund = null, checkout = null,
		outcome = undefined, details = null } = {}) {
		const context = { id, binding: bindingOf(subject, session), use: RESULT_INFO };
		const sealed = result && seal(this.keys, context, JSON.stringify(result));
		const { rows } = await this.client.query(`SELECT outcome FROM urlmode.receive_events(ids => ARRAY[$1::uuid],
			providers => ARRAY[$2], identities => ARRAY[$3], types => ARRAY[$4], effects => ARRAY[$5],
			amounts => ARRAY[$6::bigint], currencies => ARRAY[$7], refs => ARRAY[$8], results => ARRAY[$9::bytea],
			refunds => ARRAY[$10], checkouts => ARRAY[$11], outcomes => ARRAY[$12::bytea], details => ARRAY[$13::jsonb])`,
		[id, provider, identity, type, effect, amount, currency, reference, sealed ?? null, refund, checkout,
			outcome && seal(this.keys, { ...context, use: EVENT_OUTCOME_INFO }, JSON.stringify(outcome)), details && JSON.stringify(details)]);
		return rows[0].outcome;
	}

	/** A webhook's event that proves the price of `payment`, below, or by its effect that something was signed. */
	paid(id, { reference = `pay_${randomUUID()}`, effect = 'paid', ...options } = {}) {
		return this.event(id, effect, { ...PRICE, reference, result: { reference }, ...options });
	}
}

/** Fails the queries with this text, before or after they are carried out. */
export function breakQueries(t, text, { times, after = async () => {}, carriesOut = false, code = undefined }) {
	const { query } = pg.Pool.prototype;
	let left = times;
	t.mock.method(pg.Pool.prototype, 'query', async function (statement, values) {
		if (!statement.includes(text) || left-- <= 0) return query.call(this, statement, values);
		if (carriesOut) await query.call(this, statement, values);
		await after();
		// With a code: PostgreSQL refuses the new connection.
		throw code ? Object.assign(new Error('of the test'), { severity: 'FATAL', code }) : new Error('Connection terminated unexpectedly');
	});
	return () => left;
}

/** What `create` is called with where the test is about something else. */
export const request = {
	provider: 'demo', kind: 'oauth', subject: 'user-42', targetUrl: 'https://provider.example/authorize?client_id=a',
};

export const PRICE = { amount: 1_050, currency: 'EUR' };

const newItem = () => `report:${randomUUID()}`;

/** The same for a payment, and for a signature. Each use is for another item. */
export const payment = { ...request, kind: 'payment', expected: PRICE, get item() { return newItem(); } };
export const signature = { ...request, kind: 'signature', get item() { return newItem(); } };

/** The same for something that the user types, and for a decision. */
export const input = {
	provider: 'demo', kind: 'input', subject: 'user-42',
	form: { title: 'Your key', fields: [{ name: 'api_key', type: 'secret', label: 'API key', required: true }] },
};
export const approval = { provider: 'demo', kind: 'approval', subject: 'user-42', form: { title: 'Delete it?', comment: 'optional' } };

/** What every server does now and then, until nothing is due, also of the rows of other tests. */
export async function purgeResults(admin) {
	while ((await admin.query('SELECT urlmode.purge_results() AS taken')).rows[0].taken !== '0');
}

export async function notify(admin, id, status) {
	await admin.query("SELECT pg_notify('urlmode', $1)", [JSON.stringify({ id, status })]);
}

export async function connectionsOf(admin, applicationName) {
	const { rows } = await admin.query('SELECT pid, query, wait_event_type FROM pg_stat_activity WHERE application_name = $1',
		[applicationName]);
	return rows;
}

/** The process id of the connection that listens, once it has the advisory lock of its instance: whatever it runs then. */
export async function listenerOf(admin, applicationName) {
	return until('a connection listens', async () => (await admin.query(`SELECT pid FROM pg_stat_activity JOIN pg_locks l USING (pid)
		WHERE application_name = $1 AND l.locktype = 'advisory' AND l.mode = 'ShareLock'`, [applicationName])).rows[0]?.pid);
}

/** How many functions a UrlMode calls when it is closed, and for each event of its listening connection. */
export function calledBy(urlmode) {
	const { listener, closers } = internalsOf(urlmode);
	const called = listener.eventNames().map((name) => [name, listener.listenerCount(name)]);
	return Object.fromEntries([['close', closers.size], ...called]);
}

/**
 * Ends sessions, and waits until they are gone, as PostgreSQL itself does from 14 on.
 *
 * @param {(sql: string, values: unknown[]) => Promise<{ pid: number }[]>} query
 * @param {string} whose condition on pg_stat_activity
 */
export async function terminate(query, whose, values = []) {
	const ended = await query(`SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${whose}`, values);
	const pids = ended.map(({ pid }) => pid);
	await until('they are gone', async () => (await query('SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1)', [pids])).length === 0);
	return pids.length;
}

/** Asks again until the answer is something; says what did not happen when it takes too long. */
export async function until(what, ask, timeout = 15_000) {
	const deadline = performance.now() + timeout;
	for (;;) {
		const answer = await ask();
		if (answer) return answer;
		if (performance.now() > deadline) throw new Error(`did not happen within ${timeout} ms: ${what}`);
		await sleep(20);
	}
}
