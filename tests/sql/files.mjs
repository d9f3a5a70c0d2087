// The files of this folder, each run by psql in an empty database that sql/migrate has made.

import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(FOLDER, '../..');
const OUT = join(ROOT, 'build/test/sql-files');

export const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.sql') && name !== 'support.sql')
	.map((name) => name.slice(0, -4)).sort();

/** Nothing of the caller's, and nothing that differs between machines, is in the output. */
const SETTINGS = {
	PGOPTIONS: '-c search_path=test,pg_catalog -c client_min_messages=warning -c timezone=UTC -c datestyle=ISO -c synchronous_commit=off -c jit=off -c lc_messages=C',
	PGCLIENTENCODING: 'UTF8', PSQLRC: '/dev/null', PAGER: '',
};
const ARGUMENTS = ['-X', '-q', '-a', '-v', 'VERBOSITY=terse', '-P', 'format=unaligned', '-P', 'fieldsep= | ', '-P', 'footer=off', '-P', 'null=-'];

/** An id of support.sql is its number. */
const withNumbers = (text) => text.replaceAll(/"0{8}-0000-0000-0000-0*(\d+)"/g, '$1');

/** In one line, and by the number of the elicitation: in which order rows are announced is not promised. */
function withNotifications(text) {
	return text.replaceAll(/(?:^Asynchronous notification .*\n)+/gm, (lines) => lines.trimEnd().split('\n').map((line) => {
		const [, channel, payload = ''] = /^Asynchronous notification "(\w+)" (?:with payload "(.*)" )?received/.exec(line);
		const all = withNumbers(payload).match(/\{[^}]*\}/g) ?? [payload];
		const first = all.map((one) => [Number(/"id":(\d+)/.exec(one)?.[1]), one]).sort(([a], [b]) => a - b);
		return [first[0][0], channel, first.map(([, one]) => one).join(', ')];
	}).sort(([a], [b]) => a - b).map(([, channel, all], n) => `${n === 0 ? `${channel}: ` : '; '}${all}`).join('').concat('\n')).replaceAll(/(.{1,4}?)\1{99,}/g, (all, part) => `${part}*${all.length / part.length}`);
}

export class SqlFiles {
	#admin;
	#name;
	/** The folder of what they print. */
	#out;

	/**
	 * Makes a database for the files, with the schema and the functions of support.sql.
	 *
	 * @param {string} adminUrl of a superuser, and any database of the cluster
	 * @param {string} [sql] the folder with the schema
	 */
	static async open(adminUrl, sql = join(ROOT, 'sql')) {
		const files = new SqlFiles();
		files.#admin = adminUrl;
		files.#name = `sql_${randomBytes(6).toString('hex')}`;
		files.#out = join(OUT, files.#name);
		mkdirSync(files.#out, { recursive: true });
		await files.#query(adminUrl, '-c', `CREATE DATABASE ${files.#name}`);
		try {
			await run(join(sql, 'migrate'), { env: { ...process.env, URLMODE_ADMIN_DATABASE_URL: files.url } });
			await files.#query(files.url, '-f', join(FOLDER, 'support.sql'));
		} catch (error) {
			await files.close();
			throw error;
		}
		return files;
	}

	/** The database, which also has the functions of support.sql. */
	get url() {
		const url = new URL(this.#admin);
		url.pathname = `/${this.#name}`;
		return url.href;
	}

	/** What psql prints for a file, with its statements, in so many milliseconds. It begins in an empty database. */
	async run(name, ms = 300_000) {
		await this.#query(this.url, '-c', 'SELECT test.reset()');
		const out = join(this.#out, `${name}.out`);
		const input = openSync(join(FOLDER, `${name}.sql`));
		const output = openSync(out, 'w');
		// Errors stand between the results.
		const psql = spawn('psql', [...ARGUMENTS, '-d', this.url], {
			cwd: FOLDER, env: { ...process.env, ...SETTINGS, PGAPPNAME: `test of ${name}` }, stdio: [input, output, output],
		});
		closeSync(input);
		closeSync(output);
		const timer = setTimeout(() => this.#query(this.#admin, '-c', `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = '${this.#name}' AND application_name = 'test of ${name}'`), ms);
		await new Promise((resolve, reject) => psql.once('error', reject).once('exit', resolve));
		clearTimeout(timer);
		const text = withNotifications(readFileSync(out, 'utf8'));
		writeFileSync(out, text);
		return text;
	}

	/** How the output of the last run of a file differs from NAME.out, as `diff -u` says it; empty: not at all. */
	async diffOf(name) {
		const expected = join(FOLDER, `${name}.out`);
		const args = ['-u', '--label', `tests/sql/${name}.out`, '--label', 'the output', existsSync(expected) ? expected : '/dev/null', join(this.#out, `${name}.out`)];
		return run('diff', args).then(() => '', (error) => error.stdout || error.message);
	}

	/** Whether psql prints for a file what it must, in so many milliseconds. */
	async passes(name, ms) {
		await this.run(name, ms);
		return await this.diffOf(name) === '';
	}

	async close() {
		rmSync(this.#out, { recursive: true, force: true });
		await this.#query(this.#admin, '-c', `DROP DATABASE IF EXISTS ${this.#name}`);
	}

	async #query(url, ...args) {
		await run('psql', ['-Xq', '-v', 'ON_ERROR_STOP=1', '-d', url, ...args], { env: { ...process.env, ...SETTINGS } });
	}
}
