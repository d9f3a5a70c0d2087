// The time from a callback to the promise that is resolved in another process, in each language, at a low rate.

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { load } from '../load.mjs';
import { BIN, FOLDER, PEERS } from '../paths.mjs';
import { listening, run, start, stop } from '../processes.mjs';
import { quantiles } from '../statistics.mjs';
import { readTimes, startWaiter } from '../waiter.mjs';

// The first requests of a connection, of a program, of a prepared statement.
const UNCOUNTED = 100;

const SIDES = {
	urlmode: { schema: 'urlmode', waiter: 'node', send: sendReturns('urlmode') },
	api: { schema: 'urlmode', waiter: 'api', send: sendReturns('urlmode') },
	python: { schema: 'urlmode', waiter: 'python', send: sendReturns('urlmode') },
	go: { schema: 'urlmode', waiter: 'go', send: sendReturns('urlmode') },
	hono: { schema: 'bench', waiter: 'plain', send: sendReturns('hono') },
	batched: { schema: 'bench', waiter: 'plain', send: sendReturns('batched') },
	floor: { schema: 'bench', waiter: 'listen', send: sendStatements },
};

const file = (name) => path.join(FOLDER, `latency.${name}`);

/**
 * @param {import('../bed.mjs').Bed} bed
 * @param {'urlmode' | 'api' | 'python' | 'go' | 'hono' | 'batched' | 'floor'} side
 * @param {{ rate: number, count: number }} options
 * @returns {Promise<{ p50: number, p99: number }>} milliseconds
 */
export async function latency(bed, side, { rate, count }) {
	const { schema, waiter: name, send } = SIDES[side];
	const elicitations = bed.elicitations.slice(0, count);

	await bed.fill(schema, { to: count });
	writeFileSync(file('ids'), elicitations.map(({ id, subject }) => `${id} ${subject}\n`).join(''));
	const waiter = await startWaiter(bed, name, { ids: file('ids'), times: file('resolved'), open: count, log: file('log') });
	await send(bed, rate, count);
	await waiter.ended();

	const sent = readTimes(file('sent'));
	return quantiles([...readTimes(file('resolved'))].map((at, n) => Number(at - sent[n]) / 1e6).slice(UNCOUNTED));
}

function sendReturns(side) {
	return async (bed, rate, count) => {
		const port = side === 'urlmode' ? bed.port : bed.peer(side).port;
		await bed.writeReturns(file('requests'), 0, count);
		await load({ port, file: file('requests'), rate, connections: 8, times: file('sent') });
	};
}

async function sendStatements(bed, rate, count) {
	const ids = bed.elicitations.slice(0, count).map(({ id }) => `${id}\n`).join('');
	writeFileSync(file('floor'), ids);
	await run([path.join(BIN, 'floor'), String(rate), file('floor'), file('sent')], { env: bed.stack.env });
}

/** @param {{ rate: number, count: number }} options */
export async function redis({ rate, count }) {
	const socket = file('redis.sock');
	const server = start(['redis-server', '--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no'],
		{ log: file('redis.log'), cwd: FOLDER });
	try {
		await listening(server, { path: socket }, file('redis.log'));
		const printed = await run([process.execPath, path.join(PEERS, 'redis.mjs'), socket, String(rate), String(count)]);
		return quantiles(JSON.parse(printed).slice(UNCOUNTED));
	} finally {
		await stop(server);
	}
}
