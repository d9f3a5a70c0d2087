// The lab's PostgreSQL: it is restarted, and replaced by its standby.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { ROOT } from '../stack/harness.mjs';
import { familyOf, isThere } from '../support/processes.mjs';
import { until } from '../support/wait.mjs';

const BIN = execFileSync('sh', ['-c', '. tests/stack/versions && printf /usr/lib/postgresql/$postgresql/bin'], { cwd: ROOT, encoding: 'utf8' });
const run = promisify(execFile);

export class Database {
	#stack;
	#standby;
	#isPromoted = false;

	/** @param {import('../support/stack.mjs').Stack} stack */
	constructor(stack) {
		this.#stack = stack;
	}

	/** The processes of the server that takes writes. */
	async family() {
		return familyOf(this.#isPromoted ? this.#standby.pid : await this.#stack.pid('postgres'));
	}

	/** Ends it with this signal to its first process, or SIGKILL to all, and starts it again. */
	async restart(signal) {
		const family = await this.family();
		for (const { pid } of signal === 'SIGKILL' ? family : family.slice(0, 1)) {
			try {
				process.kill(pid, signal);
			} catch {
				// it ended with the first
			}
		}
		await until('PostgreSQL has ended', async () => !(await isThere(family[0])));
		await this.ensure();
	}

	/** Starts it if it has ended; as often as it takes, since its process may be counted as there until somebody reaps it. */
	async ensure() {
		await until('PostgreSQL has started', () => this.#stack.service('start', 'postgres').then(() => true, () => false), { every: 200 });
	}

	/** Makes a standby without which no transaction is committed. */
	async addStandby(port) {
		const admin = new URL(this.#stack.env.URLMODE_ADMIN_DATABASE_URL);
		const primary = path.join(this.#stack.runDir, 'pg');
		const folder = path.join(this.#stack.runDir, 'standby');
		await appendFile(path.join(primary, 'pg_hba.conf'), 'host replication postgres 127.0.0.1/32 scram-sha-256\n');
		await this.#stack.sql('SELECT pg_reload_conf()');
		const as = await this.#stack.user();
		await run(`${BIN}/pg_basebackup`, ['-D', folder, '-R', '-X', 'stream', '-c', 'fast', '-d', admin.href.replace(/\/urlmode$/, '/')],
			as);
		this.#standby = spawn(`${BIN}/postgres`, ['-D', folder, '-p', String(port), '-k', folder], {
			...as, cwd: folder, env: { ...process.env, LD_PRELOAD: '' }, stdio: 'ignore',
		});
		await until('the standby streams', async () => (
			await this.#stack.sql("SELECT FROM pg_stat_replication WHERE state = 'streaming'")).length > 0);
		await this.#stack.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
		await this.#stack.sql('SELECT pg_reload_conf()');
		await until('the standby is synchronous', async () => (
			await this.#stack.sql("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")).length > 0);
		this.standbyPort = port;
	}

	/** Kills the primary; the standby takes its place. */
	async failOver() {
		const family = await this.family();
		for (const { pid } of family) {
			try {
				process.kill(pid, 'SIGKILL');
			} catch {
				// it ended with the first
			}
		}
		const folder = path.join(this.#stack.runDir, 'standby');
		// What is in the primary's settings was copied: nobody stands by for this one.
		await appendFile(path.join(folder, 'postgresql.auto.conf'), "synchronous_standby_names = ''\n");
		await run(`${BIN}/pg_ctl`, ['promote', '-D', folder, '-w'], await this.#stack.user());
		this.#isPromoted = true;
	}

	async close() {
		if (!this.#standby) return;
		const ended = new Promise((resolve) => this.#standby.once('exit', resolve));
		if (this.#standby.exitCode === null && this.#standby.kill('SIGINT')) await ended;
	}
}
