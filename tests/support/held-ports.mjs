// Ports that nobody else can take before nginx listens there: this process does until then, and nginx inherits its sockets, as it does
// from the nginx that it replaces (NGINX in its environment).

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A free port of loopback, at which this process listens on IPv4 and IPv6. */
async function holdPort() {
	const first = createServer().listen(0, '127.0.0.1');
	await once(first, 'listening');
	const { port } = first.address();
	const second = createServer().listen(port, '::1');
	try {
		await once(second, 'listening');
	} catch (error) {
		if (error.code !== 'EADDRINUSE') throw error;
		first.close();
		return holdPort();
	}
	// A process that ends without nginx is not kept by them.
	for (const socket of [first, second]) socket.unref();
	return { port, sockets: [first, second] };
}

/** @returns {Promise<{ port: number, sockets: import('node:net').Server[] }[]>} */
export const holdPorts = (count) => Promise.all(Array.from({ length: count }, holdPort));

/** Starts a program that becomes nginx with these ports, which are its own from then on. Its output is that of this process. */
export function spawnNginx(ports, program, args, env) {
	const sockets = ports.flatMap((each) => each.sockets);
	const child = spawn(program, args, {
		env: { ...env, NGINX: sockets.map((_, index) => `${index + 3};`).join('') }, stdio: ['ignore', 'inherit', 'inherit', ...sockets.map((socket) => socket._handle.fd)],
	});
	for (const socket of sockets) socket.close();
	return child;
}
