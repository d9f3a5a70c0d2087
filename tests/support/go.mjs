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
	GOFLAGS: process.env.GOFLAGS ?? '-modcacherw -mod=readonly -buildvcs=false',
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
const WAIT = 'outcome, err := k.a.instance.WaitWith(waiting, id, k.wish.Owner, options)';

/**
 * Builds the example servers with the oldest and the newest versions of the SDKs. They print when a call begins to wait for
 * an elicitation, and when the wait ends.
 *
 * @returns {Promise<URL>} the folder with `oldest-sdk`, `newest-mcpgo` …
 */
export async function buildGoServers() {
	await mkdir(BUILT, { recursive: true });
	const source = new URL('lib/go/adapter/asking.go', ROOT);
	const text = await readFile(source, 'utf8');
	const said = text.replace(WAIT, `os.Stdout.WriteString("waits for " + id + "\\n")\n\t${WAIT}\n\tos.Stdout.WriteString("no longer waits for " + id + "\\n")`)
		.replace('import (', 'import (\n\t"os"');
	if (said === text || !said.includes('no longer')) throw new Error('the wait of lib/go/adapter/asking.go has changed');
	const changed = new URL('asking.go', BUILT);
	const overlay = new URL('overlay.json', BUILT);
	await writeFile(changed, said);
	await writeFile(overlay, JSON.stringify({ Replace: { [path(source)]: path(changed) } }));
	for (const version of ['oldest', 'newest']) {
		for (const server of ['sdk', 'mcpgo']) {
			await promisify(execFile)('go', ['build', '-overlay', path(overlay), ...version === 'oldest' ? ['-modfile=oldest.mod'] : [],
				'-o', path(new URL(`${version}-${server}`, BUILT)), `./${server}`], { cwd: path(EXAMPLES), env: GO_ENV });
		}
	}
	return BUILT;
}
