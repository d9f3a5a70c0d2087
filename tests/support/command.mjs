// The operator's command, nginx/command/urlmode, as an operator runs it.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const COMMAND = path.join(ROOT, 'nginx/command/urlmode');

/** The day of the release, of which `check` and the tests of descriptions look: they do not fail as time passes. */
export const RELEASE = '2026-11-28';

/** The options of `events` that list more than all tests leave in a database. */
export const ALL = ['--limit', '20000'];

/** Without what the caller's environment says of urlmode and of PostgreSQL. */
function environment(more) {
	const kept = Object.entries(process.env).filter(([name]) => !/^(URLMODE_|PG)/.test(name));
	return { ...Object.fromEntries(kept), ...more };
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} [env] beside PATH and the like
 * @param {string} [command]
 * @param {string} [cwd]
 * @returns {Promise<{ status: number, out: string, err: string }>}
 */
export function urlmode(args, env = {}, command = COMMAND, cwd = ROOT) {
	return new Promise((resolve) => {
		const child = execFile(command, args, { cwd, env: environment(env), maxBuffer: 1 << 24 }, (error, out, err) => {
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
	const place = (name) => process.env.PATH.split(':').map((each) => path.join(each, name)).find((file) => existsSync(file));
	await Promise.all(names.map(async (name) => {
		const text = `#!/bin/sh\nprintf '%s\\n' "${name} $*" >>'${notes}'\nexec ${place(name)} "$@"\n`;
		await writeFile(path.join(folder, name), text, { mode: 0o755 });
	}));
	return { PATH: `${folder}:${process.env.PATH}`, notes: () => readFile(notes, 'utf8') };
}

/** The program of the command that is written in C. */
export const OPERATE = process.env.OPERATE ?? path.join(ROOT, 'build/libexec/operate');

/**
 * Installs the command into a folder, as `make install` does.
 *
 * @param {string} folder
 * @returns {Promise<string>} the command
 */
export async function installCommand(folder) {
	const source = path.join(ROOT, 'nginx/command');
	const at = (name) => path.join(folder, name);
	const places = {
		commanddir: at('libexec'), operate: at('libexec/operate'), programsdir: path.join(ROOT, 'build/bin'), sqldir: at('sql'), nginxdir: at('nginx'), unitsdir: at('nginx/systemd'),
		changelog: at('changelog'), sysconfdir: at('etc'), runstatedir: at('run'), localstatedir: at('var'),
	};
	const substitute = async (name, to, mode) => {
		const text = await readFile(path.join(source, name), 'utf8');
		await writeFile(to, text.replaceAll(/@(\w+)@/g, (whole, place) => places[place] ?? whole), { mode });
	};

	await cp(source, at('libexec'), { recursive: true });
	await cp(path.join(ROOT, 'sql'), at('sql'), { recursive: true });
	await cp(path.join(ROOT, 'nginx'), at('nginx'), { recursive: true });
	await rm(at('libexec/urlmode'));
	await cp(OPERATE, at('libexec/operate'));
	await substitute('paths.sh.in', at('libexec/paths.sh'));
	await substitute('urlmode', at('urlmode'), 0o755);
	return at('urlmode');
}
