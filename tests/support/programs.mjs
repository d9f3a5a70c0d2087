// The client programs of tests/clients, which call a tool once.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { PYTHON } from './python.mjs';

const CLIENT = fileURLToPath(new URL('../clients/python/client.py', import.meta.url));
export const GO_CLIENTS = fileURLToPath(new URL('../../build/go/clients', import.meta.url));

/** Those in Go by the arguments before the URL and the revision. */
const GO = { 'go-sdk': 'official', 'mcp-go': 'mcp-go' };

/**
 * Calls a tool.
 *
 * @param {'python' | keyof GO} client
 * @param {{ url: string, revision: string, token: string, tool: string, action?: 'accept' | 'decline' }} options
 * @param {(url: string) => Promise<void>} [onAsk] what its user does when it asks them to open a URL
 * @returns {Promise<{ text?: string, error?: unknown, asked: number }>}
 */
export async function callTool(client, options, onAsk = async () => {}) {
	const { action = 'accept', ...call } = options;
	return client === 'python' ? callInPython({ ...call, action }, onAsk) : callInGo(GO[client], { ...call, action }, onAsk);
}

async function callInGo(name, { url, revision, token, tool, action }, onAsk) {
	const child = spawn(GO_CLIENTS, [name, url, revision], {
		stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, TOKEN: token, TOOL: tool, ACTION: action },
	});
	try {
		let said;
		for await (const line of createInterface({ input: child.stdout })) {
			const { url: asked, ...rest } = JSON.parse(line);
			if (asked) await onAsk(asked);
			else said = rest;
		}
		return said;
	} finally {
		child.kill('SIGKILL');
	}
}

/** The program in Python, which makes all calls of this process, since it takes a second to start. */
let python;

function startPython() {
	const child = spawn(PYTHON, [CLIENT], { stdio: ['pipe', 'pipe', 'inherit'] });
	const calls = new Map();
	const fail = (error) => calls.forEach(({ reject }) => reject(error));
	child.once('error', fail).once('exit', (code) => fail(new Error(`client.py has ended with ${code}`)));
	child.stdin.on('error', fail);
	createInterface({ input: child.stdout }).on('line', (line) => {
		const { id, ...said } = JSON.parse(line);
		calls.get(id)?.onLine(said);
	});
	process.once('exit', () => child.kill('SIGKILL'));
	child.stdin.unref();
	child.stdout.unref();
	return { child, calls };
}

async function callInPython(call, onAsk) {
	python ??= startPython();
	const { child, calls } = python;
	const id = randomUUID();
	child.ref();
	try {
		return await new Promise((resolve, reject) => {
			let asking = Promise.resolve();
			const onLine = ({ url, ...said }) => {
				asking = asking.then(() => (url ? onAsk(url) : resolve(said)));
				asking.catch(reject);
			};
			calls.set(id, { onLine, reject });
			child.stdin.write(`${JSON.stringify({ ...call, id })}\n`);
		});
	} finally {
		calls.delete(id);
		// No call is under way: the program does not keep this process alive.
		if (calls.size === 0) child.unref();
	}
}
