// The operator's command, nginx/command/urlmode, as an operator runs it.

import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const COMMAND = path.join(ROOT, 'nginx/command/urlmode');

/** Without what the caller's environment says of urlmode and of PostgreSQL. */
function environment(more) {
	const kept = Object.entries(process.env).filter(([name]) => !/^(URLMODE_|PG)/.test(name));
	return { ...Object.fromEntries(kept), ...more };
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} [env] beside PATH and the like
 * @param {string} [command]
 * @returns {Promise<{ status: number, out: string, err: string }>}
 */
export function urlmode(args, env = {}, command = COMMAND) {
	return new Promise((resolve) => {
		const child = execFile(command, args, { env: environment(env), maxBuffer: 1 << 24 }, (error, out, err) => {
			resolve({ status: error ? error.code : 0, out, err });
		});
		child.stdin.end();
	});
}

/** The user of the stack's programs: root's is postgres. */
export const asUser = () => (process.getuid() === 0 ? ['--user', 'postgres'] : []);

/**
 * A folder for PATH in which each program notes its arguments and goes on as itself.
 *
 * @param {string} folder
 * @param {string[]} names
 */
export async function noteArguments(folder, names) {
	await mkdir(folder);
	const notes = path.join(folder, 'notes');
	await Promise.all(names.map(async (name) => {
		const file = path.join(folder, name);
		await writeFile(file, `#!/bin/sh
printf '%s\\n' "${name} $*" >>'${notes}'
PATH=\${PATH#'${folder}:'} exec ${name} "$@"
`);
		await chmod(file, 0o755);
	}));
	return { PATH: `${folder}:${process.env.PATH}`, notes: () => readFile(notes, 'utf8') };
}
