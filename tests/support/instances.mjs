// Instances of an example MCP server as separate processes, which a test can stop
// or kill, and a load balancer that sends each request to the next instance.

import { spawn } from 'node:child_process';
import { createServer, request as httpRequest } from 'node:http';
import { createInterface } from 'node:readline';

import { listen } from '../demo/process.mjs';

const START_TIMEOUT = 120_000;

/**
 * Starts `server.mjs` of a project, which prints its URL.
 *
 * @param {import('./projects.mjs').Project} project
 * @param {import('./stack.mjs').Stack} stack
 * @param {{ file?: string, env?: Record<string, string>, node?: string, command?: string[] }} [options]
 * @returns {Promise<Instance>}
 */
export async function startInstance(project, stack, { file = 'server.mjs', env = {}, node = process.execPath, command = [node, '--import', './waits.mjs', file] } = {}) {
	const child = spawn(command[0], command.slice(1), {
		cwd: project.folder,
		env: environment(stack, env),
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const instance = new Instance(child);
	await instance.started();
	return instance;
}

/** The variables of an instance. */
export const environment = (stack, env) => ({ ...process.env, ...stack.env, PORT: '0', MCP_USE_ANONYMIZED_TELEMETRY: 'false', ...env });

export class Instance {
	#child;
	#output = [];
	#url;
	#ended;
	/** How many calls wait for each elicitation, as waits.mjs says. */
	#waits = new Map();

	constructor(child) {
		this.#child = child;
		this.#ended = new Promise((resolve) => {
			child.once('error', resolve);
			child.once('close', (code, signal) => resolve(code ?? signal));
		});
		this.#url = new Promise((resolve) => {
			for (const stream of [child.stdout, child.stderr]) {
				createInterface({ input: stream }).on('line', (line) => {
					this.#output.push(line);
					const [, ended, id] = /^(no longer )?waits for (\S+)$/.exec(line) ?? [];
					if (id) this.#waits.set(id, (this.#waits.get(id) ?? 0) + (ended ? -1 : 1));
					const url = /http:\/\/127\.0\.0\.1:\d+\/\S*/.exec(line)?.[0];
					if (url) {
						resolve(url);
					}
				});
			}
		});
	}

	async started() {
		const timeout = new Promise((resolve) => setTimeout(resolve, START_TIMEOUT, 'time').unref());
		const first = await Promise.race([this.#url, this.#ended, timeout]);
		if (typeof first !== 'string' || !first.startsWith('http')) {
			this.#child.kill('SIGKILL');
			throw new Error(`the server did not start (${first}):\n${this.output}`);
		}
		this.url = first;
	}

	/** Everything that it has printed. */
	get output() {
		return this.#output.join('\n');
	}

	/**
	 * How many calls wait for an elicitation.
	 *
	 * @param {string} id
	 */
	waitsFor(id) {
		return this.#waits.get(id) ?? 0;
	}

	get isRunning() {
		return this.#child.exitCode === null && this.#child.signalCode === null;
	}

	/** @param {NodeJS.Signals} name such as SIGSTOP and SIGCONT */
	signal(name) {
		this.#child.kill(name);
	}

	/** Kills the process at once. */
	async kill() {
		this.#child.kill('SIGKILL');
		await this.#ended;
	}

	/**
	 * Stops the process as an operator does, with SIGTERM.
	 *
	 * @returns {Promise<number | string>} its exit code
	 */
	async stop() {
		this.#child.kill('SIGTERM');
		return this.#ended;
	}

	async close() {
		await this.kill();
	}
}

/**
 * Starts a load balancer without sticky sessions: each request goes to the next backend.
 *
 * @param {string[]} backends URLs with the path that they serve
 * @returns {Promise<{ url: string, seen: number[], drop: (index: number) => void, close: () => Promise<void> }>}
 *     seen: the backend of each request; drop: removes a backend
 */
export async function startBalancer(backends) {
	const alive = new Set(backends.keys());
	const seen = [];
	let next = 0;
	const server = createServer((request, response) => {
		const candidates = [...alive];
		const index = candidates[next % candidates.length];
		next += 1;
		seen.push(index);
		const target = new URL(request.url, backends[index]);
		const onward = httpRequest(target, { method: request.method, headers: { ...request.headers, host: target.host } },
			(answer) => {
				response.writeHead(answer.statusCode, answer.headers);
				answer.pipe(response);
				answer.once('error', () => response.destroy());
			});
		onward.once('error', () => response.destroy());
		response.once('close', () => onward.destroy());
		request.pipe(onward);
	});
	const port = await listen(server, 0);
	return {
		url: `http://127.0.0.1:${port}${new URL(backends[0]).pathname}`,
		seen,
		drop: (index) => alive.delete(index),
		close: () => new Promise((resolve) => {
			server.close(resolve);
			server.closeAllConnections();
		}),
	};
}
