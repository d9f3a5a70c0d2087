// Changes a stack: its configuration, restarted programs, and nginx with further snippets.

import { readdirSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SNIPPETS = fileURLToPath(new URL('../../nginx/urlmode', import.meta.url));

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Where the programs are that the stacks run. */
export const BIN = path.resolve(ROOT, process.env.PROGRAM_DIR ?? 'build/bin');

/** Every program of the callback host. */
export const PROGRAMS = readdirSync(fileURLToPath(new URL('../../cgi-bin', import.meta.url)))
	.filter((name) => name.endsWith('.c') && !['api.c', 'console.c'].includes(name)).map((name) => path.basename(name, '.c'));

/**
 * Changes the programs' configuration, and starts them anew.
 *
 * @param {import('../support/stack.mjs').Stack} stack of the test's own
 * @param {(config: object) => void} change
 */
export async function configure(stack, change) {
	const file = stack.env.URLMODE_CONFIG;
	const config = JSON.parse(await readFile(file, 'utf8'));

	change(config);
	await writeFile(file, JSON.stringify(config));
	await stack.service('restart', ...PROGRAMS);
}

/**
 * Starts nginx anew with snippets behind server.conf.
 *
 * @param {import('../support/stack.mjs').Stack} stack of the test's own
 * @param {{ snippets?: string[], edit?: Record<string, (text: string) => string>,
 *     files?: Record<string, string> }} setup
 *     edit: what a deployment changes in a snippet, by its name; files: beside
 *     nginx.conf, by their names
 */
export async function setUpNginx(stack, { snippets = [], edit = {}, files = {} } = {}) {
	const folder = path.join(stack.runDir, 'urlmode');
	const conf = path.join(stack.runDir, 'nginx.conf');
	const server = 'include urlmode/server.conf;';

	await rm(folder, { recursive: true });
	await cp(SNIPPETS, folder, { recursive: true });
	for (const [name, change] of Object.entries(edit)) {
		await rewrite(path.join(folder, name), change);
	}
	for (const [name, text] of Object.entries(files)) {
		await writeFile(path.join(stack.runDir, name), text, { mode: 0o644 });
	}
	const text = await readFile(conf, 'utf8');
	await writeFile(conf, text.replace(new RegExp(`${server}[^}]*`), [
		server, ...snippets.map((name) => `include urlmode/${name};`), '',
	].join('\n')));
	await stack.service('restart', 'nginx');
}

/** A change that finds nothing to change is a test that tests nothing. */
async function rewrite(file, change) {
	const before = await readFile(file, 'utf8');
	const after = change(before);
	if (after === before) {
		throw new Error(`${path.basename(file)} is as it was`);
	}
	await writeFile(file, after);
}
