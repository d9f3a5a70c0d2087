// A relay to PostgreSQL that can stop to pass data while its connections stay open.

import { connect, createServer } from 'node:net';

export class Proxy {
	#server;
	/** @type {Set<Pair>} */
	#pairs = new Set();

	/** @param {string} url the database behind it, by TCP */
	static async start(t, url) {
		const proxy = new Proxy();
		const { hostname, port } = new URL(url);
		proxy.#server = createServer((near) => proxy.#pairs.add(new Pair(near, connect(Number(port || 5432), hostname))));
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

	/** Whether PostgreSQL owes a connection an answer that will be passed on. */
	get isAsked() {
		return [...this.#pairs].some((pair) => pair.isAsked);
	}

	/** From now on what is connected receives nothing; new connections are fine. */
	silence() {
		for (const pair of this.#pairs) pair.silence();
	}

	/** Breaks what is connected on both sides; new connections are fine. */
	cut() {
		for (const pair of this.#pairs) pair.destroy();
		this.#pairs.clear();
	}
}

const READY = 'Z'.charCodeAt(0);

/** One connection, and what PostgreSQL says on it. */
class Pair {
	#near;
	#far;
	#unread = Buffer.alloc(0);
	/** Until the first ReadyForQuery, and from each request to the next one. */
	isAsked = true;

	constructor(near, far) {
		this.#near = near;
		this.#far = far;
		near.on('data', this.#onAsked);
		far.on('data', this.#onAnswered);
		for (const socket of [near, far]) socket.on('error', () => {}).on('close', () => this.destroy());
	}

	#onAsked = (bytes) => {
		this.isAsked = true;
		this.#far.write(bytes);
	};

	#onAnswered = (bytes) => {
		this.#near.write(bytes);
		this.#unread = Buffer.concat([this.#unread, bytes]);
		// A message is a letter, and a length that counts itself.
		while (this.#unread.length >= 5 && this.#unread.length > this.#unread.readUInt32BE(1)) {
			if (this.#unread[0] === READY) this.isAsked = false;
			this.#unread = this.#unread.subarray(1 + this.#unread.readUInt32BE(1));
		}
	};

	silence() {
		this.isAsked = false;
		this.#near.off('data', this.#onAsked).resume();
		this.#far.off('data', this.#onAnswered).resume();
	}

	destroy() {
		this.isAsked = false;
		this.#near.destroy();
		this.#far.destroy();
	}
}
