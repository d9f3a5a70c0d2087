// A PostgreSQL of the test's own, that it may stop and start: Debian's
// binaries, run as the user postgres when the tests run as root.

import { execFile, spawn } from 'node:child_process';
import { chownSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { scratchFolder } from './keys.js';

const run = promisify(execFile);
const MIGRATE = fileURLToPath(new URL('../../../../sql/migrate', import.meta.url));

export class Cluster {
	#bin;
	#data;
	#identity;

	/** Made, started and migrated; stopped and gone after the test. */
	static async start(t) {
		const cluster = new Cluster();
		// Before its folder goes: hooks run in the order they are set.
		t.after(() => cluster.stop('immediate').catch(() => {}));
		await cluster.#make(scratchFolder(t));
		await cluster.start();
		await run(MIGRATE, { env: { ...process.env, URLMODE_ADMIN_DATABASE_URL: cluster.adminUrl } });
		return cluster;
	}

	async #make(folder) {
		this.#bin = (await run('pg_config', ['--bindir'])).stdout.trim();
		this.#identity = await identity();
		if (this.#identity.uid !== undefined) chownSync(folder, this.#identity.uid, this.#identity.gid);
		this.#data = join(folder, 'data');
		this.port = await freePort();
		await this.#run('initdb', '-D', this.#data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-N');
		this.serverUrl = `postgresql://urlmode_server@127.0.0.1:${this.port}/postgres`;
		this.adminUrl = `postgresql://postgres@127.0.0.1:${this.port}/postgres`;
	}

	/** Resolves when it takes connections. */
	async start() {
		const options = `-p ${this.port} -k ${this.#data} -c listen_addresses=127.0.0.1 -c fsync=off`;
		await this.#run('pg_ctl', 'start', '-D', this.#data, '-w', '-l', join(this.#data, 'log'), '-o', options);
	}

	/** @param {'fast' | 'immediate'} mode */
	async stop(mode = 'fast') {
		await this.#run('pg_ctl', 'stop', '-D', this.#data, '-w', '-m', mode);
	}

	/** pg_ctl leaves the server with its descriptors: none of ours may be waited for. */
	async #run(program, ...args) {
		const child = spawn(join(this.#bin, program), args, { ...this.#identity, cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] });
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
