// The SDK: one process with many open waits, in each language: how
// fast they are resolved, with their results opened, and what they take.

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { withListeners } from '../listeners.mjs';
import { FOLDER, PEERS } from '../paths.mjs';
import { start, stop } from '../processes.mjs';
import { median, quantiles } from '../statistics.mjs';
import { readTimes, startWaiter, WAITERS } from '../waiter.mjs';
import { pss } from './memory.mjs';

const COMPLETER = path.join(PEERS, 'completer.mjs');
const file = (name) => path.join(FOLDER, `waiting.${name}`);
/** How long a process with open waits is watched, until it has read all rows; of so many sizes the median counts. */
const WATCHED_MS = 12_000;
const WATCHED_LAST = 15;
/** sysconf(_SC_CLK_TCK), on each Linux */
const TICKS = 100;

/**
 * @param {import('../bed.mjs').Bed} bed
 * @param {'node' | 'api' | 'python' | 'go'} language
 * @param {{ count: number, open: number }} options open: waits at a time
 * @returns {Promise<{ rate: number, cpu: number, p50: number, p99: number }>} cpu: µs of processor time for each
 */
export async function waiting(bed, language, { count, open }) {
	await fill(bed, count);
	const completer = await startCompleter(bed);
	const waiter = await startWaiter(bed, language, { ids: file('ids'), times: file('resolved'), open, log: file('log') });
	const before = processorTime(waiter.pid);
	let after = before;
	waiter.stdout.on('data', () => after = processorTime(waiter.pid) ?? after);
	completer.stdin.write(`${waiter.room}\n`);
	waiter.stdout.pipe(completer.stdin);
	await Promise.all([waiter.ended(), ended(completer)]);

	const sent = readTimes(file('sent'));
	const resolved = readTimes(file('resolved'));
	const last = resolved.reduce((a, b) => a > b ? a : b);
	return {
		rate: count / (Number(last - sent[0]) / 1e9),
		cpu: 1e6 * (after - before) / count,
		...quantiles([...resolved].map((at, n) => Number(at - sent[n]) / 1e6)),
	};
}

/** The same completions where a listener in C reads what is announced, and nobody waits: as fast as PostgreSQL notifies. */
export async function announced(bed, { count }) {
	await fill(bed, count);
	return withListeners(bed, { count: 1, channel: 'urlmode' }, async () => {
		const completer = await startCompleter(bed);
		completer.stdin.write(`${count}\n`);
		await ended(completer);
		const sent = readTimes(file('sent'));
		return { rate: count / (Number(sent.at(-1) - sent[0]) / 1e9) };
	});
}

/**
 * The memory of a process with open waits, and of an interpreter without them, MB.
 *
 * @param {{ open: number, bare?: string[], more?: string[] }} options bare: the command of an interpreter that does nothing; more:
 *     arguments of the waiting process; of: whose memory it is, if not that of the waiting process
 */
export async function memoryOfWaits(bed, language, { open, bare, more, of = ({ pid }) => pid }) {
	await fill(bed, open);
	const waiter = await startWaiter(bed, language, { ids: file('ids'), times: file('resolved'), open, log: file('log'), more });
	const sizes = [];
	try {
		for (const end = performance.now() + WATCHED_MS; performance.now() < end; await sleep(200)) sizes.push(pss(of(waiter)));
	} finally {
		await waiter.stop();
	}
	return { size: median(sizes.slice(-WATCHED_LAST)), interpreter: bare ? await memoryOfBare(bare) : 0 };
}

/** The processor time of a process, in seconds; undefined when it has ended. */
function processorTime(pid) {
	try {
		const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /, '').split(' ');
		return (Number(fields[11]) + Number(fields[12])) / TICKS;
	} catch {
		return undefined;
	}
}

async function memoryOfBare(command) {
	const child = start(command, { log: file('bare.log'), env: WAITERS.python.env });
	try {
		await sleep(3_000);
		return pss(child.pid);
	} finally {
		await stop(child);
	}
}

async function fill(bed, count) {
	await bed.fill('urlmode', { to: count });
	writeFileSync(file('ids'), bed.elicitations.slice(0, count).map(({ id, subject }) => `${id} ${subject}\n`).join(''));
}

async function startCompleter(bed) {
	const completer = start([process.execPath, COMPLETER, file('ids'), file('sent')], { log: file('completer.log'), env: bed.stack.env, pipes: true });
	completer.stdin.on('error', () => {}); // It has ended.
	const first = await Promise.race([once(completer.stdout, 'data'), once(completer, 'exit')]);
	if (!Buffer.isBuffer(first[0])) throw new Error(`the completer ended:\n${readFileSync(file('completer.log'), 'utf8')}`);
	return completer;
}

async function ended(child) {
	const [status] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
	if (status !== 0) throw new Error(`the completer failed:\n${readFileSync(file('completer.log'), 'utf8')}`);
}
