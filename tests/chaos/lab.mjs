// A stack under load, with a relay between every two parts that a fault can separate, MCP
// servers in several languages that wait for the same elicitations, and the final checks.

import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import pg from 'pg';

import { keyLine } from '../../lib/node/test/support/keys.js';
import { openFixture } from '../support/fixture.mjs';
import { memoryOf } from '../support/processes.mjs';
import { until } from '../support/wait.mjs';
import { Random } from '../model/random.mjs';
import { Control } from './control.mjs';
import { Database } from './database.mjs';
import { FAULTS, PROGRAMS } from './faults.mjs';
import { Provider } from './provider.mjs';
import { openProxy } from './proxy.mjs';
import { Server } from './servers.mjs';
import { Users } from './users.mjs';
import { wrongStories } from './verdict.mjs';

const run = promisify(execFile);
const BUILD = fileURLToPath(new URL('../../build', import.meta.url));
const USERS = 16;
const RESETS = 8;
const DELAY = 150;
/** How long it may take until something is done again, in milliseconds. */
const RECOVERY = 120_000;

export class Lab {
	#parts = [];
	#random;

	/**
	 * @param {{ name: string, seed: number, languages: string[], standby?: boolean }} options languages: of the servers
	 * @returns {Promise<Lab>}
	 */
	static async open(options) {
		const lab = new Lab(options.seed);
		try {
			await lab.#open(options);
			return lab;
		} catch (error) {
			await lab.close();
			throw error;
		}
	}

	constructor(seed) {
		this.#random = new Random(seed);
	}

	/** One of a list. */
	any(list) {
		return this.#random.pick(list);
	}

	async #open({ name, languages, standby }) {
		const folder = path.join(BUILD, 'test/chaos', name);
		await mkdir(folder, { recursive: true });
		this.control = this.#closeAtEnd(new Control(path.join(folder, 'control')));
		this.programs = await this.#copyPrograms(folder);
		// For all parts of the stack, also those that are started again. No space may be in the name.
		const library = await mkdtemp(path.join(tmpdir(), 'urlmode-chaos-'));
		this.#closeAtEnd({ close: () => rm(library, { recursive: true }) });
		await chmod(library, 0o755);
		await copyFile(path.join(BUILD, 'chaos/faults.so'), path.join(library, 'faults.so'));
		Object.assign(process.env, { LD_PRELOAD: path.join(library, 'faults.so'), CHAOS_CONTROL: this.control.path });
		this.fixture = this.#closeAtEnd(await openFixture({ name: `chaos-${name}`, own: true, env: { PROGRAM_DIR: this.programs, API: '1' } }));
		this.stack = this.fixture.stack;
		this.database = this.#closeAtEnd(new Database(this.stack));
		await this.#putRelaysBetween();
		if (standby) await this.database.addStandby(await freePort());

		// A server over HTTP has only the address of the api, and no vault.
		const env = Object.fromEntries(Object.entries(this.stack.env).filter(([key]) => !key.includes('DATABASE')));
		env.URLMODE_DATABASE_URL = this.#throughRelay(this.stack.env.URLMODE_DATABASE_URL);
		this.servers = languages.map((language) => this.#closeAtEnd(new Server(language, env)));
		this.provider = this.#closeAtEnd(new Provider());
		await this.provider.open();
		const vault = { keys: keyLine(7), issuer: this.provider.issuer };
		await Promise.all(this.servers.filter(({ hasVault }) => hasVault).map((server) => server.openVault(vault)));
		this.users = this.#closeAtEnd(new Users(this.fixture, this.servers, this.provider, (text, values) => this.sql(text, values)));
	}

	#closeAtEnd(part) {
		this.#parts.unshift(part);
		return part;
	}

	/** Programs that can be replaced while they run. */
	async #copyPrograms(folder) {
		const programs = path.join(folder, 'bin');
		await rm(programs, { recursive: true, force: true });
		await mkdir(programs);
		for (const name of PROGRAMS) await copyFile(path.join(BUILD, 'bin', name), path.join(programs, name));
		return programs;
	}

	#throughRelay(url) {
		const through = new URL(url);
		through.port = this.toDatabase.port;
		return through.href;
	}

	async #putRelaysBetween() {
		const { runDir, env } = this.stack;
		const { port } = new URL(env.URLMODE_ADMIN_DATABASE_URL);
		this.toDatabase = this.#closeAtEnd(await openProxy({ host: '127.0.0.1', port: Number(port) }));
		this.toNginx = this.#closeAtEnd(await openProxy({ host: '127.0.0.1', port: Number(new URL(env.URLMODE_BASE_URL).port) }));
		this.toApi = this.#closeAtEnd(await openProxy({ host: '127.0.0.1', port: Number(new URL(env.URLMODE_API_URL).port) }));
		env.URLMODE_BASE_URL = `http://127.0.0.1:${this.toNginx.port}`;
		env.URLMODE_API_URL = `http://127.0.0.1:${this.toApi.port}`;
		for (const file of [env.URLMODE_CONFIG, env.URLMODE_API_CONFIG]) {
			const config = JSON.parse(await readFile(file, 'utf8'));
			config.base_url = env.URLMODE_BASE_URL;
			// By name, for the resolver.
			config.database_url = this.#throughRelay(config.database_url).replace('127.0.0.1', 'localhost');
			await writeFile(file, JSON.stringify(config));
		}

		const relays = path.join(runDir, 'relay');
		await mkdir(relays);
		await chmod(relays, 0o755);
		this.toPrograms = [];
		for (const name of PROGRAMS) {
			await this.stack.service('restart', name);
			this.toPrograms.push(this.#closeAtEnd(
				await openProxy({ path: path.join(runDir, 'sock', `${name}.sock`) }, path.join(relays, `${name}.sock`))));
		}
		for (const name of ['upstreams.conf', 'api-http.conf']) {
			const file = path.join(runDir, name);
			await writeFile(file, (await readFile(file, 'utf8')).replaceAll('unix:sock/', 'unix:relay/'));
		}
		await this.stack.service('restart', 'nginx');
		await this.fixture.untilServing();
	}

	/** As the administrator, of whichever server takes writes. */
	async sql(text, values) {
		const client = new pg.Client({ connectionString: this.#throughRelay(this.stack.env.URLMODE_ADMIN_DATABASE_URL) });
		client.on('error', () => {});
		await client.connect();
		try {
			return (await client.query(text, values)).rows;
		} finally {
			await client.end();
		}
	}

	/** Holds what a statement locks. */
	async holding(statement, time) {
		const client = new pg.Client({ connectionString: this.stack.env.URLMODE_ADMIN_DATABASE_URL });
		await client.connect();
		try {
			await client.query('BEGIN');
			await client.query(statement);
			await sleep(time);
		} finally {
			await client.end();
		}
	}

	async resetting(relays) {
		for (let n = 0; n < RESETS; n += 1) {
			relays.forEach((relay) => relay.reset());
			await sleep(800 * this.#random.number());
		}
	}

	async slowly(relays) {
		relays.forEach((relay) => { relay.delay = DELAY; });
		await sleep(RESETS * 500);
		relays.forEach((relay) => { relay.delay = 0; });
	}

	async failOver() {
		await this.database.failOver();
		this.toDatabase.target = { host: '127.0.0.1', port: this.database.standbyPort };
		this.toDatabase.reset();
	}

	/** Lets the users come, and remembers how large the programs are then. */
	async warmUp() {
		this.users.start(USERS);
		await until('some are done', () => this.users.acknowledged >= 5 * USERS, { timeout: RECOVERY });
		this.#memory = await this.#programMemory();
	}

	#memory;

	/** The memory of its own that the largest process of each program has, in KiB. */
	async #programMemory() {
		const sizes = await Promise.all(PROGRAMS.map(async (name) => (
			[name, Math.max(...[...(await memoryOf(await this.stack.pid(name))).values()].map(({ anonymous }) => anonymous))])));
		return Object.fromEntries(sizes);
	}

	/**
	 * Lets something break, and waits until what is asked for is done again.
	 *
	 * @returns {Promise<{ fault: string, seconds: number, done: number, again: string, recovery: number }>}
	 *     done: stories that were acknowledged meanwhile; again: what had users and the provider try again; recovery: from
	 *     the end of the fault until as many stories are done as there are users, in milliseconds
	 */
	async break(fault, act = FAULTS[fault]) {
		const before = { done: this.users.acknowledged, again: new Map(this.users.again), at: performance.now() };
		await (/clocks/.test(fault) ? this.users.withoutUses(() => act(this)) : act(this));
		const mended = { done: this.users.acknowledged, at: performance.now() };
		await until(`the users go on after “${fault}”`, () => this.users.acknowledged >= mended.done + USERS, { timeout: RECOVERY });
		const again = [...this.users.again].map(([why, n]) => [why, n - (before.again.get(why) ?? 0)]).filter(([, n]) => n > 0);
		return {
			fault, seconds: (mended.at - before.at) / 1_000, done: this.users.acknowledged - before.done,
			again: again.map(([why, n]) => `${n} × ${why}`).join(', '), recovery: Math.round(performance.now() - mended.at),
		};
	}

	/**
	 * Lets everybody come to an end, and looks at every row.
	 *
	 * @returns {Promise<Record<string, string[]>>} what is wrong, in lists that should be empty; and nothing else
	 */
	async verdict() {
		await within(RECOVERY, 'every user and wait comes to its end', this.users.stop());
		const wrong = { ...await wrongStories(this.users.stories, (text, values) => this.sql(text, values)), stuck: [], grown: [] };
		for (const { subject, acknowledged, ends } of this.users.uses) {
			const other = ends.filter((end) => end !== 'reconnect' && !this.provider.isOf(subject, end));
			if (other.length > 0 || !acknowledged) wrong.differs.push(`use of ${subject}: ${ends}`);
			if (ends.includes('reconnect') && !this.provider.hasLost(subject)) wrong.lost.push(`account of ${subject}: ${ends}`);
		}
		wrong.doubled.push(...this.provider.wrong);
		wrong.stuck.push(...await this.#stuck());
		for (const [name, size] of Object.entries(await this.#programMemory())) {
			if (size > this.#memory[name] + 1_024) wrong.grown.push(`${name}: ${this.#memory[name]} KiB, then ${size}`);
		}
		return wrong;
	}

	/** Processes that do not answer, and transactions that nobody ends. */
	async #stuck() {
		await this.fixture.untilServing();
		const idle = await this.sql(`SELECT application_name FROM pg_stat_activity
			WHERE datname = 'urlmode' AND state LIKE 'idle in transaction%' AND state_change < now() - interval '5 seconds'`);
		const open = this.servers.filter(({ open: count }) => count > 0).length;
		return [...idle.map(({ application_name: name }) => `${name} is idle in a transaction`),
			...open > 0 ? [`${open} servers still wait`] : []];
	}

	async close() {
		for (const part of this.#parts) {
			await within(RECOVERY, `${part.constructor.name} is closed`, Promise.resolve(part.close())).catch((error) => console.error(error));
		}
		setTimeout(leave, RECOVERY).unref();
	}
}

/** Ends the process, with the result that its test has, where something that nobody closed keeps it running. */
function leave() {
	console.error('still open:', process.getActiveResourcesInfo().join(', '));
	process.exit();
}

async function within(time, what, promise) {
	const overdue = sleep(time, 'overdue', { ref: false });
	if (await Promise.race([promise, overdue]) === 'overdue') throw new Error(`waited ${time} ms in vain until ${what}`);
}

async function freePort() {
	const { stdout } = await run(process.execPath, [fileURLToPath(new URL('../stack/ports.mjs', import.meta.url)), '0', '0']);
	return Number(stdout.trim().split(' ')[0]);
}
