// What the demo's three programs share when they run as processes of their own.

import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** True in the file that was started with `node FILE`. */
export function isMain(moduleUrl) {
	return process.argv[1] === fileURLToPath(moduleUrl);
}

/** An environment variable that must be there. */
export function env(name) {
	const value = process.env[name];
	if (!value) {
		throw new Error(`${name} is not set`);
	}
	return value;
}

/**
 * Runs what `start` starts until SIGINT or SIGTERM, then closes it.
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
 * Rejects when the port is taken.
 */
export async function listen(server, port) {
	server.listen(port, '127.0.0.1');
	await once(server, 'listening');
	return server.address().port;
}

/** Closes an HTTP server together with the connections that are open. */
export async function closeServer(server) {
	server.close();
	server.closeAllConnections();
	await once(server, 'close');
}
