// Requests and configurations for nginx that browsers and operators do not use.

import { once } from 'node:events';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';

import { familyOf } from './processes.mjs';
import { until } from './wait.mjs';

/**
 * Sends bytes as they are, and reads until the other side closes.
 *
 * @param {import('./stack.mjs').Stack} stack
 * @param {string | Buffer} bytes
 * @returns {Promise<string>}
 */
export async function sendRaw(stack, bytes) {
	const socket = connect(Number(new URL(stack.baseUrl).port), '127.0.0.1');
	const chunks = [];

	socket.on('data', (chunk) => chunks.push(chunk));
	socket.on('error', () => {}); // a reset, after the answer
	socket.write(bytes);
	await once(socket, 'close');
	return Buffer.concat(chunks).toString('latin1');
}

/**
 * Has nginx read its configuration again, with some of a snippet's text
 * replaced.
 *
 * @param {import('./stack.mjs').Stack} stack of the test's own
 * @param {string} snippet its file name
 * @param {[string | RegExp, string][]} changes
 */
export async function changeNginx(stack, snippet, changes) {
	const folder = path.join(stack.runDir, 'urlmode');
	const copy = `${folder}.copy`;
	await cp(folder, copy, { recursive: true, dereference: true });
	await rm(folder, { recursive: true });
	await cp(copy, folder, { recursive: true });
	await rm(copy, { recursive: true });

	const file = path.join(folder, snippet);
	let text = await readFile(file, 'utf8');
	for (const [from, to] of changes) {
		if (!text.match(from)) {
			throw new Error(`${snippet} has no ${from}`);
		}
		text = text.replace(from, to);
	}
	await writeFile(file, text);
	await reloadNginx(stack);
}

/** Reloads nginx, and waits until the old workers have exited. */
export async function reloadNginx(stack) {
	const master = await stack.pid('nginx');
	const before = await familyOf(master);

	process.kill(master, 'SIGHUP');
	await until('nginx has other workers', async () => {
		const now = await familyOf(master);
		return now.length === before.length
			&& now.every(({ pid }) => pid === master || !before.some((old) => old.pid === pid));
	});
}
