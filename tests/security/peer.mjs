// A peer on a program's own socket that speaks FastCGI (specification 1.0,
// section 3.3) as it likes.

import { once } from 'node:events';
import { createConnection } from 'node:net';

export const BEGIN = 1;
export const END = 3;
export const PARAMS = 4;
export const STDIN = 5;
const STDOUT = 6;
export const STDERR = 7;
export const GET_VALUES = 9;

const KEEP_CONN = 1;
const NONE = Buffer.alloc(0);

/** One record; what its header says can be another thing than what it has. */
export function record(type, content = NONE, { id = 1, version = 1, padding = 0, length = content.length } = {}) {
	const header = Buffer.of(version, type, id >> 8, id & 255, length >> 8 & 255, length & 255, padding, 0);
	return Buffer.concat([header, content, Buffer.alloc(padding)]);
}

export const begin = ({ role = 1, flags = KEEP_CONN, ...options } = {}) => (
	record(BEGIN, Buffer.of(role >> 8, role & 255, flags, 0, 0, 0, 0, 0), options));

function length(bytes) {
	if (bytes < 128) {
		return Buffer.of(bytes);
	}
	const four = Buffer.alloc(4);
	four.writeUInt32BE(bytes + 0x8000_0000);
	return four;
}

export function pair(name, value) {
	return Buffer.concat([length(Buffer.byteLength(name)), length(Buffer.byteLength(value)), Buffer.from(name), Buffer.from(value)]);
}

export const pairs = (params) => Buffer.concat(Object.entries(params).map(([name, value]) => pair(name, value)));

/** The parameters as nginx passes them. */
export function parameters({ path = '/done', method = 'GET', query = '', cookie = '', ...more } = {}) {
	return {
		GATEWAY_INTERFACE: 'CGI/1.1', SERVER_PROTOCOL: 'HTTP/1.1', REQUEST_METHOD: method, SCRIPT_NAME: path,
		QUERY_STRING: query, CONTENT_TYPE: '', CONTENT_LENGTH: '', REMOTE_ADDR: '127.0.0.1', HTTP_COOKIE: cookie, ...more,
	};
}

/** A request as nginx sends it. */
export function request(params = parameters(), body = NONE) {
	return Buffer.concat([
		begin(), record(PARAMS, pairs(params)), record(PARAMS), ...body.length > 0 ? [record(STDIN, body)] : [], record(STDIN),
	]);
}

export class Peer {
	#socket;
	#received = [];
	#wake = () => {};

	constructor(socket) {
		this.#socket = socket;
		/** Everything that had come when it was closed. */
		this.closed = new Promise((resolve) => {
			socket.on('close', () => {
				this.#wake();
				resolve(this.bytes);
			});
		});
		socket.on('data', (chunk) => {
			this.#received.push(chunk);
			this.#wake();
		});
		// The other side may close while something is on its way.
		socket.on('error', () => {});
	}

	/** @param {string} path of the socket, at most 107 bytes */
	static async connect(path) {
		const socket = createConnection({ path });
		await once(socket, 'connect');
		return new Peer(socket);
	}

	/** Everything that has come. */
	get bytes() {
		return Buffer.concat(this.#received);
	}

	get isOpen() {
		return !this.#socket.destroyed;
	}

	send(...parts) {
		this.#socket.write(Buffer.concat(parts));
		return this;
	}

	/** Reads nothing from now on. */
	deafen() {
		this.#socket.pause();
		return this;
	}

	/** A request's answer: the text of its STDOUT, after its END. */
	async answer() {
		for (;;) {
			const { text, rest } = takeAnswer(this.bytes);
			if (rest !== undefined) {
				this.#received = [rest];
				return text;
			}
			if (!this.isOpen) {
				throw new Error('closed without an answer');
			}
			await new Promise((resolve) => {
				this.#wake = resolve;
			});
		}
	}

	close() {
		this.#socket.destroy();
		return this.closed;
	}
}

function takeAnswer(bytes) {
	const parts = [];
	for (let at = 0; bytes.length - at >= 8;) {
		const end = at + 8 + bytes.readUInt16BE(at + 4);
		if (bytes.length < end + bytes[at + 6]) {
			break;
		}
		if (bytes[at + 1] === STDOUT) {
			parts.push(bytes.subarray(at + 8, end));
		}
		const next = end + bytes[at + 6];
		if (bytes[at + 1] === END) {
			return { text: Buffer.concat(parts).toString(), rest: bytes.subarray(next) };
		}
		at = next;
	}
	return {};
}
