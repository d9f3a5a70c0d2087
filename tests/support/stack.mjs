// The stack under test: PostgreSQL, nginx and the FastCGI programs, as
// tests/stack/up starts them in a run directory.
//
//     const stack = await useStack({ name: 'oauth' });
//     stack.baseUrl; stack.env.URLMODE_DATABASE_URL; await stack.sql('SELECT …');
//     await stack.close();

import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { open, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import pg from 'pg';

import { processOf } from './processes.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const UP = path.join(ROOT, 'tests/stack/up');
const DOWN = path.join(ROOT, 'tests/stack/down');
const SERVICE = path.join(ROOT, 'tests/stack/service');

const execute = promisify(execFile);

/** The stack that URLMODE_BASE_URL and the related variables name, or else a new one. */
export async function useStack(options) {
	return process.env.URLMODE_BASE_URL
		? new Stack(urlmodeVariables(process.env))
		: startStack(options);
}

/**
 * Starts a new stack on free ports with an empty database. Stops and removes
 * what an earlier run has left in its directory.
 *
 * @param {{ name: string, runDir?: string, demo?: boolean,
 *     env?: Record<string, string>, user?: { uid: number, gid: number } }} options
 *     name: of the directory under build/test/stacks; demo: with the processes of
 *     the demo; env: further variables for tests/stack/up, such as PROGRAM_DIR;
 *     user: who starts it, if not the caller
 * @returns {Promise<Stack>}
 */
export async function startStack({
	name, runDir = path.join(ROOT, 'build/test/stacks', name), demo = false, env = {}, user = undefined,
}) {
	const stackEnv = {
		...process.env,
		RUN_DIR: runDir,
		PORT: '0',
		DEMO: demo ? '1' : '0',
		...env,
	};
	const down = () => script(DOWN, stackEnv, [], user);

	await down();
	if (existsSync(path.join(runDir, 'pid'))) {
		await rm(runDir, { recursive: true });
	}
	try {
		await script(UP, stackEnv, [], user);
		return new Stack(await readEnv(path.join(runDir, 'env')), down);
	} catch (error) {
		await down().catch(() => {});
		throw error;
	}
}

export class Stack {
	#down;
	#pool;
	/** What was read of each log, which tests ask for again and again. */
	#known = new Map();
	#reading = Promise.resolve();

	/**
	 * @param {Record<string, string>} env the URLMODE_… variables
	 * @param {() => Promise<void>} [down] stops the stack; undefined if this process has not started it
	 */
	constructor(env, down) {
		this.env = env;
		this.#down = down;
	}

	get baseUrl() {
		return this.env.URLMODE_BASE_URL;
	}

	get runDir() {
		return this.env.URLMODE_RUN_DIR;
	}

	/** Runs a query as the database administrator and returns its rows. */
	async sql(text, values) {
		this.#pool ??= new pg.Pool({
			connectionString: this.env.URLMODE_ADMIN_DATABASE_URL,
			max: 2,
			allowExitOnIdle: true,
		}).on('error', () => {});
		return (await this.#pool.query(text, values)).rows;
	}

	/** The row of an elicitation, or undefined. */
	async elicitation(id) {
		const [row] = await this.sql('SELECT * FROM urlmode.elicitation WHERE id = $1', [id]);
		return row;
	}

	/** Everything that was logged: file name → text. */
	async logs() {
		const directory = path.join(this.runDir, 'log');
		const names = (await readdir(directory)).sort();
		const texts = await Promise.all(names.map((name) => readFile(path.join(directory, name), 'utf8')));
		return new Map(names.map((name, index) => [name, texts[index]]));
	}

	/** The log of the programs, one object a line: requests and `notice`. */
	async programLog() {
		return (await this.#jsonLines()).filter(({ program }) => program !== undefined);
	}

	/** The log of nginx, one object a request. */
	async accessLog() {
		return (await this.#jsonLines()).filter(({ upstream_status: status }) => status !== undefined);
	}

	/** The objects of every log: one call after the other, so that each line is taken once. */
	#jsonLines() {
		this.#reading = this.#reading.catch(() => {}).then(async () => {
			const directory = path.join(this.runDir, 'log');
			const names = (await readdir(directory)).sort();
			return (await Promise.all(names.map((name) => this.#objectsOf(path.join(directory, name))))).flat();
		});
		return this.#reading;
	}

	async #objectsOf(file) {
		const handle = await open(file);
		try {
			const { ino, size } = await handle.stat();
			let known = this.#known.get(file);
			if (known?.ino !== ino || size < known.size) {
				known = { ino, size: 0, objects: [] };
				this.#known.set(file, known);
			}
			const more = Buffer.alloc(size - known.size);
			await handle.read(more, 0, more.length, known.size);
			// The last line is still being written, unless it ends.
			const end = more.lastIndexOf('\n') + 1;
			const lines = more.toString('utf8', 0, end).split('\n').filter((line) => line.startsWith('{'));
			for (const line of lines) known.objects.push(JSON.parse(line));
			known.size += end;
			return known.objects;
		} finally {
			await handle.close();
		}
	}

	/** The process id in RUN_DIR/pid/NAME.pid. */
	async pid(name) {
		return Number.parseInt(await readFile(path.join(this.runDir, 'pid', `${name}.pid`), 'utf8'), 10);
	}

	/** The process id of a FastCGI program, or undefined while its supervisor starts it. */
	async program(name) {
		const supervisor = await this.pid(name);
		const children = await readFile(`/proc/${supervisor}/task/${supervisor}/children`, 'latin1').catch(() => '');
		const all = await Promise.all(children.split(' ').filter(Boolean).map(processOf));
		return all.find((process) => process !== undefined);
	}

	/** `service('stop', 'postgres')`: stop, start or restart parts, one after the other. */
	async service(action, ...names) {
		await script(SERVICE, { ...process.env, RUN_DIR: this.runDir }, [action, ...names]);
	}

	/** For child_process.spawn: the user that the stack runs as. */
	async user() {
		const { uid, gid } = await stat(path.join(this.runDir, 'pid'));
		return process.getuid() === 0 ? { uid, gid } : {};
	}

	/** Closes what was opened here, and stops the stack if it was started here. */
	async close() {
		await this.#pool?.end();
		await this.#down?.();
	}
}

async function script(file, env, args = [], user = undefined) {
	try {
		const [command, ...all] = [...user ? as(user) : [], file, ...args];
		await execute(command, all, { cwd: ROOT, env });
	} catch (error) {
		throw new Error(`${path.basename(file)} failed: ${(error.stderr || error.message).trim()}`);
	}
}

/** Another user may read the tree, wherever root has put it; tests/stack/lib.sh lets postgres do so as well. */
function as({ uid, gid }) {
	return process.getuid() !== 0 ? [] : [
		'setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...isReadable(ROOT) ? [] : [
			'--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search',
		],
	];
}

/** Whether every user can read a folder. */
function isReadable(folder) {
	return (statSync(folder).mode & 0o005) === 0o005 && (folder === '/' || isReadable(path.dirname(folder)));
}

/** Reads a file of shell assignments with a shell. */
async function readEnv(file) {
	const { stdout } = await execute('sh', ['-c', 'set -a; . "$1"; env -0', 'sh', file], { env: {} });
	const pairs = stdout.split('\0').filter(Boolean).map((pair) => {
		const equals = pair.indexOf('=');
		return [pair.slice(0, equals), pair.slice(equals + 1)];
	});
	return urlmodeVariables(Object.fromEntries(pairs));
}

function urlmodeVariables(env) {
	return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('URLMODE_')));
}
