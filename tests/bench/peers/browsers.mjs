// Browsers that come back: for each number on its input, it sends the request
// of that place in a file, over kept connections. Ends with its input.
//
//   browsers.mjs PORT REQUESTS CONNECTIONS

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const [port, file, connections] = process.argv.slice(2);
const requests = readRequests(readFileSync(file));
const free = [];
const asked = [];

/** What load.c reads: `STATUS CLASS LENGTH\n` and the request, one after another. */
function readRequests(bytes) {
	const all = [];
	for (let at = 0; at < bytes.length;) {
		const start = bytes.indexOf('\n', at) + 1;
		const [status, , length] = bytes.toString('latin1', at, start).split(' ').map(Number);
		all.push({ status, request: bytes.subarray(start, start + length) });
		at = start + length;
	}
	return all;
}

/** Whether it is a whole answer: nginx gives its length, or sends it in chunks. */
function isWhole(answer) {
	const head = answer.indexOf('\r\n\r\n');
	if (head < 0) return false;
	const [, length] = /\r\ncontent-length: (\d+)/i.exec(answer) ?? [];
	return length === undefined ? answer.endsWith('\r\n0\r\n\r\n') : answer.length >= head + 4 + Number(length);
}

function open() {
	const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
	const connection = { socket, status: 0, answer: '' };
	socket.setEncoding('latin1');
	socket.on('data', (part) => {
		connection.answer += part;
		if (!isWhole(connection.answer)) return;
		const status = Number(connection.answer.slice(9, 12));
		if (status !== connection.status) throw new Error(`${status} instead of ${connection.status}`);
		next(connection);
	});
	next(connection);
}

function next(connection) {
	if (asked.length > 0) send(connection, asked.shift());
	else free.push(connection);
}

function send(connection, n) {
	const { status, request } = requests[n];
	Object.assign(connection, { status, answer: '' });
	connection.socket.write(request);
}

for (let n = 0; n < Number(connections); n++) open();
createInterface({ input: process.stdin })
	.on('line', (line) => (free.length > 0 ? send(free.pop(), Number(line)) : asked.push(Number(line))))
	.on('close', () => process.exit());
