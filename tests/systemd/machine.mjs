// A Debian with systemd in a folder, which tests/systemd/boot starts: what the operator of
// a host types there, and what a browser and a provider send to it.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { ROOT, scratch } from '../stack/harness.mjs';
import { until } from '../support/wait.mjs';

const execute = promisify(execFile);
const BOOT = fileURLToPath(new URL('boot', import.meta.url));
// Of prepare.mjs.
const MADE = path.join(ROOT, 'build/systemd');
const OPTIONS = { maxBuffer: 1 << 26 };
// Milliseconds for one command.
const LIMIT = 240_000;
const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' };

export class Machine {
	#systemd;

	/** @param {string} folder its root */
	constructor(folder) {
		this.folder = folder;
	}

	/** A new one that has been started. */
	static async make(name) {
		const machine = new Machine(await scratch(name));
		await execute('tar', ['-x', '-f', path.join(MADE, 'root.tar'), '-C', machine.folder]);
		await Promise.all(['first.deb', 'next.deb'].map((name) => copyFile(path.join(MADE, name), machine.file(`root/${name}`))));
		await writeFile(machine.file('etc/hosts'), readFileSync('/etc/hosts'));
		await machine.boot();
		return machine;
	}

	/** A file of it, from outside. */
	file(name) {
		return path.join(this.folder, name);
	}

	/** Starts systemd, and waits until it has started what it starts at boot. */
	async boot() {
		this.#systemd = spawn(BOOT, [this.folder, `urlmode-tests-${process.pid}`], { stdio: ['ignore', 'inherit', 'inherit'] });
		this.ended = once(this.#systemd, 'exit');
		await until('systemd runs', async () => /^(running|degraded)/.test((await this.run('systemctl', 'is-system-running', '--wait')).out), { timeout: 120_000, every: 200 });
	}

	/** As an operator does it: the units are stopped in order. */
	async powerOff() {
		await this.run('systemctl', 'poweroff');
		await this.ended;
	}

	/** Ends it at once, with all its processes. */
	async destroy() {
		if (this.#systemd?.exitCode === null) {
			this.#systemd.kill('SIGKILL');
			await this.ended;
		}
		rmSync(this.folder, { recursive: true, force: true });
	}

	/** Process 1 of it, by its number outside. */
	async init() {
		const children = await readFileSync(`/proc/${this.#systemd.pid}/task/${this.#systemd.pid}/children`, 'utf8');
		return children.trim();
	}

	/**
	 * Runs a command in it as root.
	 * @returns {Promise<{ status: number, out: string, err: string }>}
	 */
	async run(...command) {
		const init = await this.init();
		return new Promise((resolve) => {
			const child = execFile('nsenter', [`--target=${init}`, '--cgroup', '--ipc', '--mount', '--pid', '--uts', '--wdns=/root', '--', ...command],
				{ ...OPTIONS, env: ENVIRONMENT, timeout: LIMIT, killSignal: 'SIGKILL' }, (error, out, err) => resolve({ status: error ? error.code : 0, out, err }));
			child.stdin.end();
		});
	}

	/** Lines of a shell in it, as the guide has them. They must succeed. */
	async sh(lines) {
		const { status, out, err } = await this.run('sh', '-euc', lines);
		if (status !== 0) {
			throw new Error(`${lines}\n${out}${err}`);
		}
		return out + err;
	}
}
