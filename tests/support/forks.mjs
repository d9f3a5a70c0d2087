// Instances of an example server in Python. They are forks of one process, which has loaded the framework (waits.py).

import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';

import { listen } from '../demo/process.mjs';
import { environment, Instance } from './instances.mjs';

/** What an Instance needs of a child process. Both kinds of its output come in one stream. */
class Fork extends EventEmitter {
	exitCode = null;
	signalCode = null;
	stderr = Readable.from([]);

	constructor(pid) {
		super();
		this.pid = pid;
	}

	/** `status`: negative if a signal has ended it. */
	end(status) {
		if (status < 0) this.signalCode = -status;
		else this.exitCode = status;
		this.emit('close', this.exitCode, this.signalCode);
	}

	kill(signal) {
		if (this.exitCode === null && this.signalCode === null) process.kill(this.pid, signal);
	}
}

export class Forks {
	#process;
	#ended;
	#forks = new Map();
	#starts = new Map();

	/**
	 * @param {import('./projects.mjs').Project} project
	 * @param {import('./stack.mjs').Stack} stack
	 * @param {{ command: string[], env: Record<string, string> }} options
	 */
	constructor(project, stack, { command: [program, ...args], env }) {
		this.#process = spawn(program, args, { cwd: project.folder, env: environment(stack, env), stdio: ['pipe', 'pipe', 'inherit'] });
		this.#process.stdin.on('error', () => {});
		this.#ended = new Promise((resolve) => {
			this.#process.once('exit', resolve);
		});
		createInterface({ input: this.#process.stdout }).on('line', (line) => {
			const [, pid, verb, number] = /^(\d+) (on|ended) (-?\d+)$/.exec(line) ?? [];
			if (verb === 'ended') this.#forks.get(pid).end(Number(number));
			if (verb !== 'on') return;
			this.#forks.set(pid, new Fork(Number(pid)));
			this.#starts.get(number)(this.#forks.get(pid));
		});
	}

	/** @returns {Promise<Instance>} */
	async start() {
		const server = createServer();
		const port = await listen(server, 0);
		const forked = new Promise((resolve) => {
			this.#starts.set(String(port), resolve);
		});
		this.#process.stdin.write(`${port}\n`);
		const ended = this.#ended.then(() => Promise.reject(new Error('the process that starts instances has ended')));
		const [[output], fork] = await Promise.race([Promise.all([once(server, 'connection'), forked]), ended]).finally(() => server.close());
		fork.stdout = output.on('error', () => {});
		const instance = new Instance(fork);
		await instance.started();
		return instance;
	}

	async close() {
		this.#process.stdin.end();
		await this.#ended;
	}
}
