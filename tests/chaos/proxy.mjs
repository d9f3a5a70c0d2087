// A relay in front of a socket, which can break, slow down or move what is behind it.

import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';

/**
 * @param {{ path: string } | { port: number, host: string }} target where connections lead
 * @param {string | { host: string, port: number }} [place] the path of a unix socket to listen on, or an address; otherwise a
 *     free port of 127.0.0.1
 * @returns {Promise<Proxy>}
 */
export async function openProxy(target, place) {
	const proxy = new Proxy(target);
	await proxy.listen(place);
	return proxy;
}

class Proxy {
	/** Where the next connections lead. */
	target;
	/** How long each piece takes, in milliseconds. */
	delay = 0;
	/** How many pieces it has carried. */
	carried = 0;

	#sockets = new Set();
	/** Connections whose ends do not learn any more what the other end does. */
	#stopped = new Set();
	#server = createServer({ allowHalfOpen: true }, (socket) => this.#relay(socket));
	#path;

	constructor(target) {
		this.target = target;
	}

	get port() {
		return this.#server.address().port;
	}

	async listen(place = { port: 0, host: '127.0.0.1' }) {
		if (typeof place === 'string') this.#path = place;
		await new Promise((resolve, reject) => {
			this.#server.once('error', reject);
			this.#server.listen(this.#path === undefined ? place : { path: this.#path, readableAll: true, writableAll: true }, resolve);
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
		// Node.js never closes one that is destroyed while it is being reset. It must not keep the process running.
		from.unref();
		from.on('data', async (bytes) => {
			if (this.#stopped.has(from)) return;
			this.carried += 1;
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
		const unlessStopped = (act) => () => this.#stopped.has(from) || act();
		from.on('end', unlessStopped(() => to.end()));
		from.on('error', unlessStopped(() => to.destroy()));
		from.on('close', () => {
			this.#sockets.delete(from);
			unlessStopped(() => to.destroy())();
			this.#stopped.delete(from);
		});
	}

	/** From now on, the connections of this moment are open, and carry nothing. */
	stopCarrying() {
		this.#stopped = new Set(this.#sockets);
	}

	/** Ends those that carry nothing. */
	dropStopped() {
		for (const socket of this.#stopped) socket.destroy();
	}

	/** Resets every connection. */
	reset() {
		for (const socket of this.#sockets) {
			if (socket.resetAndDestroy && socket.remotePort !== undefined) socket.resetAndDestroy();
			else socket.destroy();
		}
	}

	/** Does not wait for ends that do not read. */
	async close() {
		this.#server.close();
		for (const socket of this.#sockets) socket.destroy();
		if (this.#path !== undefined) await rm(this.#path, { force: true });
	}
}
