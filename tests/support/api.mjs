// Calls of the api through nginx, as a server without a package makes them.

import { createHash, randomBytes } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { startStack } from './stack.mjs';
import { until } from './wait.mjs';

/** A stack with the api, and the calls of its first key. */
export async function startApi(name, env = {}) {
	const stack = await startStack({ name, env: { API: '1', ...env } });
	return new Api(stack, stack.env.URLMODE_API_KEY);
}

export class Api {
	/**
	 * @param {import('./stack.mjs').Stack} stack
	 * @param {string} key
	 */
	constructor(stack, key) {
		this.stack = stack;
		this.key = key;
	}

	close() {
		return this.stack.close();
	}

	/** The file of the keys. */
	get keysFile() {
		return path.join(this.stack.runDir, 'api-keys');
	}

	/**
	 * @param {string} method
	 * @param {unknown} body
	 * @param {RequestInit} [options]
	 * @returns {Promise<{ status: number, body: any, headers: Headers }>}
	 */
	async call(method, body, options = {}) {
		const answer = await fetch(`${this.stack.env.URLMODE_API_URL}/v1/${method}`, {
			method: 'POST', headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
			body: typeof body === 'string' ? body : JSON.stringify(body), ...options,
		});
		const text = await answer.text();
		return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
	}

	/** The body of an answer with this status. */
	async ok(method, body, status = 200) {
		const answer = await this.call(method, body);
		if (answer.status !== status) throw new Error(`${method}: ${answer.status} ${JSON.stringify(answer.body)}`);
		return answer.body;
	}

	/** The error of a call: its status, code and member. */
	async error(method, body, options) {
		const { status, body: { error: { code, member, message } } } = await this.call(method, body, options);
		if (typeof message !== 'string' || !message.endsWith('.') && member === undefined && !message.startsWith('the body')) throw new Error(`no sentence: ${message}`);
		return member === undefined ? [status, code] : [status, code, member];
	}

	/** Adds a key, and waits until the program knows it. @returns {Promise<Api>} */
	async as(name, tenant = '-') {
		const key = `umk_${randomBytes(32).toString('base64url')}`;
		await appendFile(this.keysFile, `${name} ${tenant} ${createHash('sha256').update(key).digest('hex')}\n`);
		const other = new Api(this.stack, key);
		await until('the key is known', async () => (await other.call('create', {})).status !== 401);
		return other;
	}

	/** Removes the key of this name. */
	async remove(name) {
		const lines = (await readFile(this.keysFile, 'utf8')).split('\n');
		await writeFile(this.keysFile, lines.filter((line) => !line.startsWith(`${name} `)).join('\n'));
	}
}
