// Holds the programs' transactions with locks, so that a test can order concurrent
// requests.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import pg from 'pg';

import { request } from './http.mjs';
import { familyOf, isThere, openFiles } from './processes.mjs';
import { until } from './wait.mjs';

/**
 * Locks rows, as another transaction would, until the answer's `release`, or a
 * COMMIT by its `query`.
 *
 * @param {import('./stack.mjs').Stack} stack
 * @param {...string} ids
 * @returns {Promise<{ query: (sql: string, values?: unknown[]) => Promise<pg.QueryResult>, release: () => Promise<void> }>}
 */
export async function holdRow(stack, ...ids) {
	const client = new pg.Client({ connectionString: stack.env.URLMODE_ADMIN_DATABASE_URL });
	await client.connect();
	await client.query('BEGIN');
	await client.query('SELECT FROM urlmode.elicitation WHERE id = ANY ($1) FOR UPDATE', [ids]);
	let released;

	return {
		query: (sql, values) => client.query(sql, values),
		release() {
			released ??= client.end();
			return released;
		},
	};
}

/**
 * The start of a query for the connections that listen. Each has the advisory lock of its instance, whatever its last statement
 * was.
 */
export const LISTENING = `SELECT pid FROM pg_stat_activity JOIN pg_locks l USING (pid)
	WHERE l.locktype = 'advisory' AND l.mode = 'ShareLock'`;

/** Waits until a program's transaction waits for a lock. */
export function untilHeld(stack, program) {
	return until(`${program} waits for a lock`, async () => {
		const [backend] = await stack.sql(`
			SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`, [program]);
		return backend;
	});
}

/**
 * The programs give up a lock after 20 ms. With this they wait as long as
 * their requests do (UM_STORE_WAIT_MS); for a stack of the test's own.
 */
export async function waitLongerForLocks(stack, time = '60s') {
	for (const { signature } of await stack.sql(`
		SELECT oid::regprocedure AS signature FROM pg_proc
		WHERE pronamespace = 'urlmode'::regnamespace AND proconfig::text LIKE '%lock_timeout%'`)) {
		await stack.sql(`ALTER FUNCTION ${signature} SET lock_timeout = '${time}'`);
	}
}

/**
 * Starts a program anew, so that each connection of the web server to it is
 * one request under way, and answers what waits until so many are.
 *
 * @param {import('./stack.mjs').Stack} stack
 * @param {string} name
 * @param {string} refused a path of its, which it refuses without the database
 * @returns {Promise<(count: number) => Promise<void>>}
 */
export async function countRequests(stack, name, refused) {
	await restart(stack, name);
	// nginx tells of its end: a program that cannot dump core, because the hard limit is 0, shows its files to root alone.
	const connections = async () => {
		const { stdout } = await promisify(execFile)('ss', ['-xH', 'src', `sock/${name}.sock`]);
		const ends = new Set(stdout.split('\n').map((line) => `socket:[${line.trim().split(/\s+/).at(-1)}]`));
		const files = await Promise.all((await familyOf(await stack.pid('nginx'))).map(({ pid }) => openFiles(pid)));
		return files.flat().filter((file) => ends.has(file)).length;
	};

	return async (count) => {
		await until(`${count} requests are under way`, async () => await connections() >= count);
		// Before it answers this, the program has read everything that it had accepted.
		await request(stack.baseUrl + refused);
		await request(stack.baseUrl + refused);
	};
}

/** Kills a program, and waits until its new process is connected to the database. */
async function restart(stack, name) {
	const connected = async () => (await stack.sql(`
		SELECT FROM pg_stat_activity WHERE application_name = $1 AND state = 'idle'`, [name])).length === 1;
	const before = await stack.program(name);

	process.kill(before.pid, 'SIGTERM');
	await until(`${name} is another process`, async () => {
		const now = await stack.program(name);
		return !await isThere(before) && now && await connected();
	});
}

/**
 * From now on counts the transactions that change elicitations.
 *
 * @param {import('./stack.mjs').Stack} stack of the test's own
 * @returns {Promise<() => Promise<number[]>>} how many rows each changed since the last call, in their order
 */
export async function watchTransactions(stack) {
	await stack.sql(`
		CREATE TABLE urlmode.seen (n bigint GENERATED ALWAYS AS IDENTITY, rows bigint);
		ALTER TABLE urlmode.seen OWNER TO urlmode_owner;
		CREATE FUNCTION urlmode.see() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			INSERT INTO urlmode.seen (rows) SELECT count(*) FROM changed;
			RETURN NULL;
		END $$;
		CREATE TRIGGER see AFTER UPDATE ON urlmode.elicitation
		REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION urlmode.see()`);
	return async () => {
		const rows = await stack.sql('DELETE FROM urlmode.seen RETURNING n, rows::int AS rows');
		return rows.sort((a, b) => a.n - b.n).map((row) => row.rows);
	};
}
