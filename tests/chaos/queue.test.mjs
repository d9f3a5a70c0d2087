// PostgreSQL's queue of notifications full, as in a night in which a session that listens does not end its transaction.
// Up to PostgreSQL 16 it has 8 GB; 17 lets it be small. Part of `make chaos`, not of `make test`.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import pg from 'pg';

import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';
import { Lab } from './lab.mjs';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The smallest that PostgreSQL takes: 512 KiB. */
const PAGES = 64;
/** Almost a page. */
const PAYLOAD = 'x'.repeat(7_900);
/** program_limit_exceeded: "too many notifications in the NOTIFY queue". */
const FULL = '54000';

let lab;

before(async () => {
	process.env.POSTGRES_BIN = (await run('tests/stack/postgresql', ['17'], { cwd: ROOT })).stdout.trim();
	lab = await Lab.open({ name: 'queue', seed: 1, languages: ['node', 'python'] });
	await lab.sql(`ALTER SYSTEM SET max_notify_queue_pages = ${PAGES}`);
	await lab.database.restart('SIGINT');
});

after(() => lab?.close());

/** Listens, and then stays in a transaction: what it has not read stays in the queue. */
async function holdQueue() {
	const client = new pg.Client({ connectionString: lab.stack.env.URLMODE_ADMIN_DATABASE_URL });
	await client.connect();
	await client.query('LISTEN chaos');
	await client.query('BEGIN');
	const { rows: [{ pid }] } = await client.query('SELECT pg_backend_pid() AS pid');
	return { pid, end: () => client.end() };
}

const usage = async () => (await lab.sql('SELECT pg_notification_queue_usage() AS usage'))[0].usage;

/** Notifies until so much is in use, or nothing goes in any more. */
async function fill(most) {
	while (await usage() < most) {
		try {
			await lab.sql("SELECT pg_notify('chaos', $1 || n) FROM generate_series(1, 4) n", [PAYLOAD]);
		} catch (error) {
			if (error.code !== FULL) throw error;
			return;
		}
	}
}

const health = async () => JSON.parse((await request(lab.fixture.url('/healthz'))).body).notification_queue;
const notices = async () => (await lab.stack.programLog()).map(({ notice }) => notice ?? '');

test('a full queue of notifications refuses, names who holds it, and empties by itself', async (t) => {
	await lab.warmUp();
	const { recovery, again } = await lab.break('the queue full', async () => {
		const holder = await holdQueue();
		try {
			await fill(0.7);
			await until('/healthz says so', async () => await health() === 'filling');
			// PostgreSQL tells whoever notifies next, once in five seconds: sooner or later a program.
			await until('the log names the session that holds it', async () => (
				(await notices()).some((notice) => /NOTIFY queue is \d+% full/.test(notice) && notice.includes(`PID ${holder.pid} `))));
			await fill(1);
			const { acknowledged } = lab.users;
			await until('a program is refused', async () => (await notices()).some((notice) => notice.includes(FULL)));
			t.diagnostic(`${lab.users.acknowledged - acknowledged} done while it was full`);
		} finally {
			await holder.end();
		}
	});
	t.diagnostic(`users went on after ${recovery} ms; tried again because of ${again}`);
	await until('it is empty again', async () => await health() === undefined);
	assert.deepEqual(await lab.verdict(), { lost: [], doubled: [], differs: [], stuck: [], grown: [] });
});
