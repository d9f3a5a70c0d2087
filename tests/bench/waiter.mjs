// The processes that wait, in each language.

import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { buildGo } from '../support/go.mjs';
import { PEERS, ROOT } from './paths.mjs';
import { start, stop } from './processes.mjs';

export const PYTHON = path.join(ROOT, 'build/python/bin/python');
const GO = path.join(ROOT, 'build/go/bench-waiter');
const node = (mode) => ({ command: [process.execPath, path.join(PEERS, 'waiter.mjs'), mode] });

export const WAITERS = {
	node: node('urlmode'),
	api: node('api'),
	plain: node('plain'),
	listen: node('listen'),
	python: { command: [PYTHON, path.join(PEERS, 'waiter.py')], env: { PYTHONPATH: path.join(ROOT, 'lib/python/src') } },
	go: { command: [GO] },
};

/**
 * Builds what is to be built.
 *
 * @returns {Promise<string[]>} the languages that this machine has
 */
export async function prepareWaiters() {
	const hasGo = await buildGo('tests/bench/peers/go', GO);
	return ['node', ...existsSync(PYTHON) ? ['python'] : [], ...hasGo ? ['go'] : []];
}

/**
 * Starts a process, and resolves when it waits.
 *
 * @param {import('./bed.mjs').Bed} bed
 * @param {keyof WAITERS} name
 * @param {{ ids: string, times: string, open: number, log: string, more?: string[] }} options files, how many waits are open at a
 *     time, and further arguments
 * @returns {Promise<{ pid: number, room: number, stdout: import('node:stream').Readable, ended: () => Promise<void>, stop: () => Promise<void> }>}
 *     room: for how many completions there is room, to which those are added that it prints on stdout
 */
export async function startWaiter(bed, name, { ids, times, open, log, more = [] }) {
	const { command, env = {} } = WAITERS[name];
	const child = start([...command, ids, times, String(open), ...more], { log, env: { ...bed.stack.env, ...env }, pipes: true });
	const exit = once(child, 'exit');
	const [room] = await Promise.race([once(child.stdout, 'data'), exit]);
	const fail = (status) => new Error(`the waiter in ${name} ended with ${status}:\n${readFileSync(log, 'utf8')}`);
	if (!Buffer.isBuffer(room)) throw fail(room);
	return {
		pid: child.pid,
		room: Number(room),
		stdout: child.stdout,
		async ended() {
			child.stdout.resume();
			const [status] = await exit;
			if (status !== 0) throw fail(status);
		},
		stop: () => stop(child),
	};
}

/** Times that a program has written: int64 nanoseconds of CLOCK_MONOTONIC. */
export function readTimes(name) {
	const bytes = readFileSync(name);
	return new BigInt64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}
