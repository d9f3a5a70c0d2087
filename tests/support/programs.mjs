// The client programs of tests/clients, which call a tool once.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const CLIENT = fileURLToPath(new URL('../clients/python/client.py', import.meta.url));
const PYTHON = fileURLToPath(new URL('../../build/python/bin/python', import.meta.url));
export const GO_CLIENTS = fileURLToPath(new URL('../../build/go/clients', import.meta.url));

/** Their commands, before the URL and the revision. */
export const CLIENTS = { python: [PYTHON, CLIENT], 'go-sdk': [GO_CLIENTS, 'official'], 'mcp-go': [GO_CLIENTS, 'mcp-go'] };

/**
 * Calls a tool.
 *
 * @param {keyof CLIENTS} client
 * @param {{ url: string, revision: string, token: string, tool: string, action?: 'accept' | 'decline' }} options
 * @param {(url: string) => Promise<void>} [onAsk] what its user does when it asks them to open a URL
 * @returns {Promise<{ text?: string, error?: unknown, asked: number }>}
 */
export async function callTool(client, { url, revision, token, tool, action = 'accept' }, onAsk = async () => {}) {
	const [program, ...args] = CLIENTS[client];
	const child = spawn(program, [...args, url, revision], {
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
