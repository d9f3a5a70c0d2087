// The processes that the benchmark starts: each is ended by its own process
// id, at the latest when the benchmark ends, however it ends.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ROOT } from './paths.mjs';

// Where nginx is, of whoever's PATH that is not.
process.env.PATH += ':/usr/sbin';

const running = new Set();

process.on('exit', () => running.forEach(kill));

// Ctrl-C does not reach other sessions, and would end this process without `exit`.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
	process.on(signal, () => {
		if (process.listenerCount(signal) === 1) process.exit(1);
	});
}

/** A child, and all of its session where it has one. */
function kill(child) {
	try {
		process.kill(-child.pid, 'SIGKILL');
	} catch {
		child.kill('SIGKILL');
	}
}

/**
 * In a session of its own, as every service of the stack is, and of a machine:
 * Linux shares the processor out among sessions first (sched(7), autogroup).
 *
 * @param {string[]} command
 * @param {{ log: string, env?: Record<string, string>, cwd?: string, pipes?: boolean }} options
 *     pipes: its standard input and output are pipes, and only its errors go to the log
 */
export function start(command, { log, env = {}, cwd, pipes = false }) {
	const out = openSync(log, 'w');
	const child = spawn(command[0], command.slice(1), {
		cwd, env: { ...process.env, ...env }, stdio: pipes ? ['pipe', 'pipe', out] : ['ignore', out, out], detached: true,
	});
	closeSync(out);
	running.add(child);
	child.on('exit', () => running.delete(child));
	child.on('error', () => running.delete(child));
	return child;
}

export async function stop(child) {
	if (!running.has(child)) return;
	child.kill('SIGTERM');
	const killer = setTimeout(() => kill(child), 5_000);
	await once(child, 'exit');
	clearTimeout(killer);
}

/** Runs to its end with `input`, and answers what it printed; a status but 0 throws. */
export async function run(command, { env = {}, seconds = 120, input = '' } = {}) {
	const child = spawn(command[0], command.slice(1), {
		env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'], timeout: seconds * 1_000,
	});
	const printed = { out: '', err: '' };
	running.add(child);
	child.stdin.on('error', () => {}).end(input);
	child.stdout.on('data', (data) => printed.out += data);
	child.stderr.on('data', (data) => printed.err += data);
	const [status, signal] = await once(child, 'close');
	running.delete(child);
	if (status !== 0) throw new Error(`${command.join(' ')}: ${status ?? signal}\n${printed.out}${printed.err}`.trim());
	return printed.out;
}

/** @param {number} count loopback ports */
export async function freePorts(count) {
	const printed = await run([process.execPath, path.join(ROOT, 'tests/stack/ports.mjs'), '0', String(count - 1)]);
	return printed.trim().split(' ').map(Number);
}

/** Until something listens on a port, or on a unix socket, and `child` lives. */
export async function listening(child, where, log) {
	for (let tries = 0; tries < 400; tries++) {
		if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended:\n${readFileSync(log, 'utf8')}`);
		const socket = connect(where);
		const there = await Promise.race([
			once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false),
		]).catch(() => false);
		socket.destroy();
		if (there) return;
		await sleep(25);
	}
	throw new Error(`${child.spawnfile} does not listen: ${log}`);
}
