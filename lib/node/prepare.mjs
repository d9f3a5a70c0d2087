// Puts into this folder what the package has beside its own files: the types, and
// what the repository keeps elsewhere. npm runs it before it makes a tarball.

import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const execute = (command, ...args) => execFileSync(command, args, { cwd: HERE, stdio: ['ignore', 2, 2] });

/** Folder of the package → where its files are, and how their names end. @type {Record<string, [string, RegExp]>} */
const COPIES = { contract: ['../contract', /\.schema\.json$/], providers: ['../providers', /\.(json|md)$/], sql: ['../../sql', /\.sql$/] };
const FILES = { 'currencies.json': '../currencies.json', LICENSE: '../../LICENSE', changelog: '../../nginx/debian/changelog' };

for (const name of [...Object.keys(COPIES), ...Object.keys(FILES)]) rmSync(join(HERE, name), { recursive: true, force: true });
if (process.argv[2] !== '--clean') {
	if (!existsSync(join(HERE, 'node_modules/typescript'))) execute('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
	rmSync(join(HERE, 'types'), { recursive: true, force: true });
	execute(process.execPath, 'node_modules/typescript/bin/tsc', '--noCheck'); // make lint checks
	for (const [folder, [from, ending]] of Object.entries(COPIES)) {
		const filter = (/** @type {string} */ file) => ending.test(file) || statSync(file).isDirectory();
		cpSync(join(HERE, from), join(HERE, folder), { recursive: true, filter });
	}
	for (const [file, from] of Object.entries(FILES)) copyFileSync(join(HERE, from), join(HERE, file));
}
