// Stacks for the tests of the stack itself.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRATCH = path.join(ROOT, 'build/test/scratch');

/** A folder of its own under build/, empty. */
export async function scratch(name) {
	const folder = path.join(SCRATCH, name);
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	return folder;
}

/**
 * Runs a script of tests/stack, with an environment that names no stack but
 * this one.
 *
 * @param {string} name
 * @param {string[]} args
 * @param {Record<string, string>} env RUN_DIR, PORT and so on
 * @returns {Promise<{ status: number, stdout: string, stderr: string }>}
 */
export function script(name, args, env) {
	const file = path.join(ROOT, 'tests/stack', name);
	return new Promise((resolve) => {
		execFile(file, args, { cwd: ROOT, env: stackEnv(env) }, (error, stdout, stderr) => {
			resolve({ status: error ? error.code : 0, stdout, stderr });
		});
	});
}

function stackEnv(env) {
	const { PATH, HOME, PROGRAM_DIR = path.join(ROOT, 'build/bin') } = process.env;
	return { PATH, HOME, PROGRAM_DIR, DEMO: '0', PORT: '0', ...env };
}

/** `tests/stack/run` in a process group of its own, and what it printed. */
export async function foreground(env) {
	const child = spawn(path.join(ROOT, 'tests/stack/run'), { cwd: ROOT, env: stackEnv(env), detached: true });
	let output = '';
	const ended = once(child, 'close').then(([code]) => code);
	const ready = new Promise((resolve) => {
		for (const stream of [child.stdout, child.stderr]) {
			stream.setEncoding('utf8').on('data', (text) => {
				output += text;
				if (output.includes('Ctrl-C')) {
					resolve();
				}
			});
		}
	});
	await Promise.race([ready, ended]);
	return { child, ended, output: () => output };
}

/** The variables of RUN_DIR/env. */
export async function variables(runDir) {
	const text = await readFile(path.join(runDir, 'env'), 'utf8');
	return Object.fromEntries([...text.matchAll(/^export (\w+)='(.*)'$/gm)]
		.map(([, name, value]) => [name, value.replaceAll(String.raw`'\''`, '\'')]));
}

/** Ids of the processes that work in a folder; every part of a stack does. */
export async function processesIn(folder) {
	const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
	const folders = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => '')));
	return ids.filter((_, index) => (`${folders[index]}/`).startsWith(`${folder}/`)).map(Number);
}

/** A PROGRAM_DIR in which every program is fake-program.mjs. */
export async function fakePrograms() {
	const folder = await scratch('fake-programs');
	const sources = (await readdir(path.join(ROOT, 'cgi-bin'))).filter((name) => name.endsWith('.c'));
	await Promise.all(sources.map((name) => symlink(
		path.join(ROOT, 'tests/stack/fake-program.mjs'),
		path.join(folder, path.basename(name, '.c')),
	)));
	return folder;
}

/**
 * One HTTP request.
 *
 * @param {string} url
 * @param {import('node:http').RequestOptions & { body?: string }} [options]
 * @returns {Promise<{ status: number, headers: Record<string, string>, text: string }>}
 */
export function fetchRaw(url, { body, ...options } = {}) {
	return new Promise((resolve, reject) => {
		const { origin } = new URL(url);
		// Node's URL would resolve the path; it is to go out as it stands.
		const sent = request(origin, { path: url.slice(origin.length), ...options }, async (response) => {
			let text = '';
			response.setEncoding('utf8').on('data', (chunk) => {
				text += chunk;
			});
			response.on('close', () => resolve({ status: response.statusCode, headers: response.headers, text }));
			response.on('error', () => {});
		});
		sent.on('error', reject);
		sent.end(body);
	});
}

/** What a server answers to bytes that are no proper request. */
export async function talk(port, bytes) {
	const socket = connect(port, '127.0.0.1');
	let text = '';
	socket.setEncoding('latin1').on('data', (chunk) => {
		text += chunk;
	});
	socket.on('error', () => {});
	socket.write(bytes);
	await once(socket, 'close');
	return text;
}

/** Calls until it succeeds, for a minute at most. */
export async function until(attempt) {
	for (const deadline = Date.now() + 60_000; ;) {
		try {
			return await attempt();
		} catch (error) {
			if (Date.now() > deadline) {
				throw error;
			}
			await sleep(20);
		}
	}
}

/** Ports that nothing listens on. */
export async function freePorts(count) {
	const { stdout } = await promisify(execFile)('node', [path.join(ROOT, 'tests/stack/ports.mjs'), '0', String(count - 1)]);
	return stdout.trim().split(' ').map(Number);
}
