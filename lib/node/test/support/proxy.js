// A relay to PostgreSQL that can stop to pass data while its connections stay open.

import { connect, createServer } from 'node:net';

export class Proxy {
	#server;
	#to;
	#pairs = new Set();
	#silent = new Set();

	/** @param {string} url the database behind it, by TCP */
	static async start(t, url) {
		const proxy = new Proxy();
		proxy.lead(url);
		proxy.#server = createServer((near) => {
			const { hostname, port } = proxy.#to;
			proxy.#join(near, connect(Number(port || 5432), hostname));
		});
		await new Promise((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
		const own = new URL(url);
		own.hostname = '127.0.0.1';
		own.port = proxy.#server.address().port;
		proxy.url = own.href;
		t.after(() => {
			proxy.cut();
			proxy.#server.close();
		});
		return proxy;
	}

	/** From now on new connections lead to this database; what is connected stays where it is. */
	lead(url) {
		this.#to = new URL(url);
	}

	/** Whether nothing is passed on of a client's connection from this port. */
	isSilent(port) {
		return this.#silent.has(port);
	}

	/** From now on what is connected receives nothing; new connections are fine. */
	silence() {
		for (const [near, far] of this.#pairs) {
			this.#silent.add(near.remotePort);
			near.unpipe(far);
			far.unpipe(near);
			near.resume();
			far.resume();
		}
	}

	/** Breaks what is connected on both sides; new connections are fine. */
	cut() {
		for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
		this.#pairs.clear();
	}

	#join(near, far) {
		const pair = [near, far];
		this.#pairs.add(pair);
		// A port that is used again belongs to another connection.
		this.#silent.delete(near.remotePort);
		for (const socket of pair) socket.on('error', () => {});
		near.pipe(far);
		far.pipe(near);
	}
}
