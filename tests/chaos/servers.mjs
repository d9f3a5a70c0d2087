// The MCP servers of the lab: processes that wait for the same elicitations.

import { fork } from 'node:child_process';

export class Server {
	#child;
	#calls = new Map();
	#last = 0;

	/** @param {Record<string, string>} env where the database and the keys are */
	constructor(env) {
		this.#child = fork(new URL('instance.mjs', import.meta.url), { env: { ...process.env, LD_PRELOAD: '', ...env } });
		this.#child.on('message', ({ call, value, error }) => {
			const { resolve, reject } = this.#calls.get(call);
			this.#calls.delete(call);
			if (error === undefined) resolve(value);
			else reject(new Error(error));
		});
	}

	/**
	 * @param {'create' | 'wait' | 'claim'} act
	 * @param {object} [message]
	 */
	ask(act, message = {}) {
		this.#last += 1;
		const call = this.#last;
		return new Promise((resolve, reject) => {
			this.#calls.set(call, { resolve, reject });
			this.#child.send({ call, act, ...message });
		});
	}

	/** How many questions have no answer. */
	get open() {
		return this.#calls.size;
	}

	close() {
		this.#child.kill('SIGKILL');
	}
}
