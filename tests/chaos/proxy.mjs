// A relay in front of a socket, which can break, slow down or move what is behind it.

import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';

/**
 * @param {{ path: string } | { port: number, host: string }} target where connections lead
 * @param {string} [path] of a unix socket to listen on; otherwise a free port of 127.0.0.1
 * @returns {Promise<Proxy>}
 */
export async function openProxy(target, path) {
	const proxy = new Proxy(target);
	await proxy.listen(path);
	return proxy;
}

class Proxy {
	/** Where the next connections lead. */
	target;
	/** How long each piece takes, in milliseconds. */
	delay = 0;

	#sockets = new Set();
	#server = createServer({ allowHalfOpen: true }, (socket) => this.#relay(socket));
	#path;

	constructor(target) {
		this.target = target;
	}

	get port() {
		return this.#server.address().port;
	}

	async listen(path) {
		this.#path = path;
		await new Promise((resolve, reject) => {
			this.#server.once('error', reject);
			this.#server.listen(path === undefined ? { port: 0, host: '127.0.0.1' } : { path, readableAll: true, writableAll: true }, resolve);
		});
	}

	#relay(front) {
		const back = connect(this.target);
		this.#pipe(front, back);
		this.#pipe(back, front);
	}

	#pipe(from, to) {
		this.#sockets.add(from);
		from.setNoDelay?.(true);
		from.on('data', async (bytes) => {
			if (this.delay > 0) {
				from.pause();
				await new Promise((resolve) => setTimeout(resolve, this.delay));
				from.resume();
			}
			if (!to.write(bytes)) {
				from.pause();
				to.once('drain', () => from.resume());
			}
		});
		from.on('end', () => to.end());
		from.on('error', () => to.destroy());
		from.on('close', () => {
			this.#sockets.delete(from);
			to.destroy();
		});
	}

	/** Resets every connection. */
	reset() {
		for (const socket of this.#sockets) {
			if (socket.resetAndDestroy && socket.remotePort !== undefined) socket.resetAndDestroy();
			else socket.destroy();
		}
	}

	async close() {
		this.reset();
		await new Promise((resolve) => this.#server.close(resolve));
		if (this.#path !== undefined) await rm(this.#path, { force: true });
	}
}
