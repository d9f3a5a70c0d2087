// A PostgreSQL of the test's own, that it may stop and start: Debian's
// binaries, run as the user postgres when the tests run as root.

import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { scratchFolder } from './keys.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const SQL = join(ROOT, 'sql');
/** Those that were made before, by what they were made of: to make and migrate one takes three times as long as the rest. */
const KEPT = join(ROOT, 'build/test/clusters');

export class Cluster {
	#bin;
	#data;
	#identity;
	#isRunning = false;
	#options = '';
	#password;
	#passwordFile;

	/**
	 * Made, started and migrated; stopped and gone after the test.
	 *
	 * @param {import('node:test').TestContext} t
	 * @param {(data: string, identity: { uid?: number, gid?: number }) => string} [prepare] changes the new cluster, and
	 *     returns options of postgres
	 */
	static async start(t, prepare) {
		const kept = await Cluster.#kept(t);
		const cluster = await Cluster.#prepare(t, readFileSync(join(kept, 'password'), 'utf8'));
		await run('cp', ['-a', join(kept, 'data'), cluster.#data]);
		if (prepare) cluster.#options = prepare(cluster.#data, cluster.#identity);
		await cluster.start();
		return cluster;
	}

	/** The folder of one of this version of PostgreSQL and of sql/, which is made if it is not there, and of which each test has a copy. */
	static async #kept(t) {
		const files = readdirSync(SQL, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).sort();
		const hash = createHash('sha256').update((await run('pg_config', ['--version'])).stdout);
		for (const file of files) hash.update(readFileSync(file));
		const name = hash.digest('hex').slice(0, 16);
		const folder = join(KEPT, name);
		if (existsSync(folder)) return folder;

		mkdirSync(KEPT, { recursive: true });
		for (const old of readdirSync(KEPT).filter((each) => !each.startsWith(name))) rmSync(join(KEPT, old), { recursive: true, force: true });
		const cluster = await Cluster.#prepare(t);
		await cluster.#run('initdb', '-D', cluster.#data, '-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', cluster.#passwordFile,
			'-E', 'UTF8', '--locale=C.UTF-8', '-N');
		await cluster.start();
		await run(join(SQL, 'migrate'), { env: { ...process.env, URLMODE_ADMIN_DATABASE_URL: cluster.adminUrl } });
		await run('psql', ['-qd', cluster.adminUrl, '-c', `ALTER ROLE urlmode_server PASSWORD '${cluster.#password}'`]);
		await cluster.stop();
		const made = `${folder}.${process.pid}`;
		mkdirSync(made);
		await run('cp', ['-a', cluster.#data, cluster.#passwordFile, made]);
		try {
			renameSync(made, folder);
		} catch {
			rmSync(made, { recursive: true }); // Another test has made it meanwhile.
		}
		return folder;
	}

	/**
	 * A standby that follows a primary, started with these options of postgres.
	 *
	 * @param {{ adminUrl: string }} primary
	 */
	static async standbyOf(t, primary, options = '') {
		const cluster = await Cluster.#prepare(t, new URL(primary.adminUrl).password);
		cluster.#options = options;
		await cluster.#run('pg_basebackup', '-d', primary.adminUrl, '-D', cluster.#data, '-R', '-c', 'fast', '-N');
		await cluster.start();
		return cluster;
	}

	static async #prepare(t, password = randomBytes(12).toString('hex')) {
		const cluster = new Cluster();
		// Before its folder goes: hooks run in the order they are set.
		t.after(() => cluster.#isRunning && cluster.stop('immediate').catch(() => {}));
		const folder = scratchFolder(t);
		cluster.#bin = (await run('pg_config', ['--bindir'])).stdout.trim();
		cluster.#identity = await identity();
		if (cluster.#identity.uid !== undefined) chownSync(folder, cluster.#identity.uid, cluster.#identity.gid);
		cluster.#data = join(folder, 'data');
		cluster.#password = password;
		cluster.#passwordFile = join(folder, 'password');
		writeFileSync(cluster.#passwordFile, password);
		cluster.port = await freePort();
		cluster.serverUrl = cluster.urlOf('urlmode_server');
		cluster.adminUrl = cluster.urlOf('postgres');
		return cluster;
	}

	/** For a role; with several clusters, or further parameters. */
	urlOf(role, { hosts = `127.0.0.1:${this.port}`, query = '' } = {}) {
		return `postgresql://${role}:${this.#password}@${hosts}/postgres${query}`;
	}

	/** Resolves when it takes connections. */
	async start() {
		const options = `-p ${this.port} -c unix_socket_directories= -c listen_addresses=127.0.0.1 -c fsync=off ${this.#options}`;
		this.#isRunning = true;
		await this.#run('pg_ctl', 'start', '-D', this.#data, '-w', '-l', join(this.#data, 'log'), '-o', options);
	}

	/** @param {'fast' | 'immediate'} mode */
	async stop(mode = 'fast') {
		await this.#run('pg_ctl', 'stop', '-D', this.#data, '-w', '-m', mode);
		this.#isRunning = false;
	}

	/** Resolves when the standby takes writes. */
	async promote() {
		await this.#run('pg_ctl', 'promote', '-D', this.#data, '-w');
	}

	/** pg_ctl leaves the server with its descriptors: none of ours may be waited for. */
	async #run(program, ...args) {
		const child = spawn(join(this.#bin, program), args.map(String), { ...this.#identity, cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] });
		const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
		if (code !== 0) throw new Error(`${program} ended with ${code}`);
	}
}

export async function identity() {
	if (process.getuid() !== 0) return {};
	const id = async (flag) => Number((await run('id', [flag, 'postgres'])).stdout);
	return { uid: await id('-u'), gid: await id('-g') };
}

/**
 * Below the ports that the kernel gives to clients: from there one could take
 * it while the server is down, or, trying to reach it, connect to itself.
 */
export async function freePort() {
	for (;;) {
		const port = 15_000 + Math.floor(Math.random() * 15_000);
		const server = createServer();
		const free = await new Promise((resolve) => {
			server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
		});
		if (!free) continue;
		await new Promise((resolve) => server.close(resolve));
		return port;
	}
}
