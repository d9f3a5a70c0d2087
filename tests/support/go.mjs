// Go, and the example servers in Go as they are for tests.

import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = new URL('../../', import.meta.url);
const EXAMPLES = new URL('lib/go/examples/', ROOT);
const BUILT = new URL('build/go/servers/', ROOT);
const path = (url) => fileURLToPath(url);

/** The modules and the cache of the tests are in build/go, as those of the suite `go`. */
export const GO_ENV = {
	...process.env, GOMODCACHE: path(new URL('build/go/modules', ROOT)), GOCACHE: path(new URL('build/go/cache', ROOT)), GOTOOLCHAIN: 'local',
	GOWORK: 'off',
	// As tests/run says.
	GOFLAGS: process.env.GOFLAGS ?? '-modcacherw -mod=readonly -buildvcs=false -p=2 -gcflags=all=-dwarf=false -ldflags=-s',
};

/**
 * Builds a program.
 *
 * @param {string} folder of its module, from the top of the tree
 * @param {string} file the program
 * @returns {Promise<boolean>} false: this machine has no Go
 */
export async function buildGo(folder, file) {
	try {
		await promisify(execFile)('go', ['build', '-o', file, '.'], { cwd: path(new URL(folder, ROOT)), env: GO_ENV });
		return true;
	} catch (error) {
		if (error.code === 'ENOENT') return false;
		throw error;
	}
}

/** The wait of a call, in the adapter. */
const WAIT = 'outcome, err := k.a.instance.WaitWith(waiting, id, k.request.Owner, options)';

/**
 * Builds an example server of which some files are other ones.
 *
 * @param {string} server
 * @param {string} name of the program
 * @param {Record<string, (text: string) => string>} files by their paths from the top of the tree: what becomes of their text
 * @param {string[]} [options]
 * @returns {Promise<string>} its path
 */
export async function buildGoServer(server, name, files, options = []) {
	const folder = new URL(`${name}-source/`, BUILT);
	await mkdir(folder, { recursive: true });
	const replaced = await Promise.all(Object.entries(files).map(async ([file, change]) => {
		const source = new URL(file, ROOT);
		const text = await readFile(source, 'utf8');
		const changed = new URL(file.replaceAll('/', '-'), folder);
		if (change(text) === text) throw new Error(`${file} is not what it was`);
		await writeFile(changed, change(text));
		return [path(source), path(changed)];
	}));
	const overlay = new URL('overlay.json', folder);
	await writeFile(overlay, JSON.stringify({ Replace: Object.fromEntries(replaced) }));
	const built = path(new URL(name, BUILT));
	await promisify(execFile)('go', ['build', '-overlay', path(overlay), ...options, '-o', built, `./${server}`], { cwd: path(EXAMPLES), env: GO_ENV });
	return built;
}

/**
 * Builds the example servers with the oldest and the newest versions of the SDKs. They print when a call begins to wait for
 * an elicitation, and when the wait ends.
 *
 * @returns {Promise<URL>} the folder with `oldest-sdk`, `newest-mcpgo` …
 */
export async function buildGoServers() {
	const says = { 'lib/go/adapter/asking.go': (text) => text.replace('import (', 'import (\n\t"os"')
		.replace(WAIT, `os.Stdout.WriteString("waits for " + id + "\\n")\n\t${WAIT}\n\tos.Stdout.WriteString("no longer waits for " + id + "\\n")`) };
	for (const version of ['oldest', 'newest']) {
		for (const server of ['sdk', 'mcpgo']) await buildGoServer(server, `${version}-${server}`, says, version === 'oldest' ? ['-modfile=oldest.mod'] : []);
	}
	return BUILT;
}
