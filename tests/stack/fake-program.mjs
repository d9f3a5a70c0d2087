#!/usr/bin/env node
// A FastCGI program on the listening socket 0 that misbehaves as it is asked,
// for the tests of what nginx makes of it. The query's `do`:
//
//   echo        answers with the parameters and the body, as JSON
//   stderr      writes to FastCGI's stderr before it answers
//   die         closes the connection in the middle of the answer
//   crash       ends the process in the middle of the request
//   hang        never answers
//   bad-header  answers with what is no header
//   leave       closes a kept connection with the request on it, and answers on a new one

import { createServer } from 'node:net';

const BEGIN = 1;
const END = 3;
const PARAMS = 4;
const STDIN = 5;
const STDOUT = 6;
const STDERR = 7;
const RECORD_MAX = 65_535;

/** Connections that have had a request. */
const served = new WeakSet();

function record(type, id, content) {
	const header = Buffer.alloc(8);
	header[0] = 1;
	header[1] = type;
	header.writeUInt16BE(id, 2);
	header.writeUInt16BE(content.length, 4);
	return Buffer.concat([header, content]);
}

/** A stream of records, each as long as one may be, and the empty one that ends it. */
function stream(type, id, content) {
	const records = [];
	for (let at = 0; at < content.length; at += RECORD_MAX) {
		records.push(record(type, id, content.subarray(at, at + RECORD_MAX)));
	}
	return Buffer.concat([...records, record(type, id, Buffer.alloc(0))]);
}

function readLength(bytes, at) {
	return bytes[at] < 0x80
		? [bytes[at], at + 1]
		: [bytes.readUInt32BE(at) & 0x7fff_ffff, at + 4];
}

function readParams(bytes) {
	const params = {};
	for (let at = 0; at < bytes.length;) {
		let nameLength;
		let valueLength;
		[nameLength, at] = readLength(bytes, at);
		[valueLength, at] = readLength(bytes, at);
		const name = bytes.toString('latin1', at, at += nameLength);
		params[name] = bytes.toString('latin1', at, at += valueLength);
	}
	return params;
}

function answer(socket, id, keep, params, body) {
	const send = (text) => {
		socket.write(Buffer.concat([stream(STDOUT, id, Buffer.from(text)), record(END, id, Buffer.alloc(8))]));
		if (!keep) {
			socket.end();
		}
	};
	const json = JSON.stringify({ params, body: body.toString('latin1') });

	switch (new URLSearchParams(params.QUERY_STRING).get('do')) {
	case 'stderr':
		socket.write(stream(STDERR, id, Buffer.from('a word on stderr\n')));
		send(`Content-Type: application/json\r\n\r\n${json}`);
		break;
	case 'die':
		socket.end(record(STDOUT, id, Buffer.from('Content-Type: text/html\r\nContent-Length: 100\r\n\r\nhalf')));
		break;
	case 'crash':
		process.exit(1);
		break;
	case 'hang':
		break;
	case 'leave':
		if (served.has(socket)) socket.destroy();
		else send(`Content-Type: application/json\r\n\r\n${json}`);
		break;
	case 'bad-header':
		send('this is\0no header\n\n');
		break;
	default:
		send(`Content-Type: application/json\r\n\r\n${json}`);
	}
	served.add(socket);
}

createServer((socket) => {
	const params = [];
	const body = [];
	let bytes = Buffer.alloc(0);
	let keep = false;

	socket.on('error', () => socket.destroy());
	socket.on('data', (chunk) => {
		bytes = Buffer.concat([bytes, chunk]);
		while (bytes.length >= 8 && bytes.length >= 8 + bytes.readUInt16BE(4) + bytes[6]) {
			const length = bytes.readUInt16BE(4);
			const id = bytes.readUInt16BE(2);
			const type = bytes[1];
			const content = bytes.subarray(8, 8 + length);

			bytes = bytes.subarray(8 + length + bytes[6]);
			if (type === BEGIN) {
				keep = (content[2] & 1) !== 0;
			} else if (type === PARAMS) {
				params.push(content);
			} else if (type === STDIN && length > 0) {
				body.push(content);
			} else if (type === STDIN) {
				answer(socket, id, keep, readParams(Buffer.concat(params.splice(0))), Buffer.concat(body.splice(0)));
			}
		}
	});
}).listen({ fd: 0 });

process.on('SIGTERM', () => process.exit(0));
