// Functions that the demo's programs share.

import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const FORM_MAX = 16_384;

/** True in the file that was started with `node FILE`. */
export function isMain(moduleUrl) {
	return process.argv[1] === fileURLToPath(moduleUrl);
}

/** Returns an environment variable that must be set. */
export function env(name) {
	const value = process.env[name];
	if (!value) {
		throw new Error(`${name} is not set`);
	}
	return value;
}

/**
 * Starts a service, and closes it after SIGINT or SIGTERM.
 * `start` resolves to `{ url, close }`; the one line printed is `NAME ready: URL`.
 */
export async function run(name, start) {
	try {
		const running = await start();
		console.log(`${name} ready: ${running.url}`);
		await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
		await running.close();
	} catch (error) {
		console.error(`${name}: ${error.message}`);
		process.exitCode = 1;
	}
}

/**
 * Listens on 127.0.0.1 (port 0: any free one) and resolves to the port.
 * Rejects if the port is in use.
 */
export async function listen(server, port) {
	server.listen(port, '127.0.0.1');
	await once(server, 'listening');
	return server.address().port;
}

/** Closes an HTTP server and its open connections. */
export async function closeServer(server) {
	server.close();
	server.closeAllConnections();
	await once(server, 'close');
}

/** The form that a request posts. */
export async function readForm(request) {
	let text = '';
	for await (const chunk of request.setEncoding('utf8')) {
		text += chunk;
		if (text.length > FORM_MAX) {
			throw new Error('form too large');
		}
	}
	return new URLSearchParams(text);
}

export function sendPage(response, status, html) {
	response.writeHead(status, {
		'Content-Type': 'text/html; charset=utf-8',
		'Cache-Control': 'no-store',
	});
	response.end(html);
}
