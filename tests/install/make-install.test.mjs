// The tree without tests/, below a path with a space: it is built, installed and
// uninstalled without anything being installed for that. With tests/ the same
// tree brings its stack up, and walks the demo.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';

import { ROOT, scratch } from '../stack/harness.mjs';

const PREFIX = '/opt/um';
const FOLDERS = [`PREFIX=${PREFIX}`, 'sysconfdir=/opt/um/etc', 'localstatedir=/opt/um/var', 'runstatedir=/opt/um/run'];
const INSTALLERS = ['apt-get', 'dpkg', 'npm', 'sudo'];

const execute = promisify(execFile);
let tree;
let target;
let env;

before(async () => {
	const folder = await scratch('make-install');
	[tree, target] = [path.join(folder, 'a tree'), path.join(folder, 'its target')];
	const bin = path.join(folder, 'bin');
	await Promise.all([mkdir(tree), mkdir(bin)]);
	await execute('sh', ['-c', `cd "$1" && tar -c --exclude=node_modules --exclude=.git --exclude=./build \\
		--exclude=./tests . | tar -x -C "$2"`, 'sh', ROOT, tree]);
	// The object files are those of this tree: make compiles again what names a folder, and whatever needs a file
	// that is not in the other one.
	await execute('sh', ['-c', `cd "$1" && tar -c build/obj/lib build/obj/cgi-bin build/obj/nginx build/texts build/flags | tar -x -C "$2"`, 'sh', ROOT, tree]);
	for (const name of INSTALLERS) {
		await writeFile(path.join(bin, name), `#!/bin/sh\necho "$0 $*" >>'${folder}/called'\nexit 1\n`);
		await chmod(path.join(bin, name), 0o755);
	}
	const { URLMODE_ADMIN_DATABASE_URL } = process.env;
	env = { PATH: `${bin}:${process.env.PATH}:/usr/sbin:/sbin`, HOME: folder, URLMODE_ADMIN_DATABASE_URL };
});

async function make(...args) {
	const { stdout, stderr } = await execute('make', args, { cwd: tree, env, maxBuffer: 1 << 24 });
	return stdout + stderr;
}

/** `make install`, by somebody whose files nobody else can read. */
async function install() {
	const umask = process.umask(0o077);
	try {
		return await make('install', `DESTDIR=${target}`, ...FOLDERS);
	} finally {
		process.umask(umask);
	}
}

const run = (file, args = [], more = {}) => execute(file, args, { env: { ...env, ...more } })
	.then(({ stdout }) => stdout, ({ stdout, stderr }) => stdout + stderr);

/** Every file below a folder, from there. */
async function files(folder) {
	const entries = await readdir(folder, { withFileTypes: true, recursive: true });
	return entries.filter((entry) => !entry.isDirectory())
		.map((entry) => path.join(entry.parentPath, entry.name).slice(folder.length));
}

const at = (file) => path.join(target, PREFIX, file);

test('it is built', async () => {
	await make('build');
	assert.match(await run(path.join(tree, 'build/bin/connect'), ['--version']), /^connect \(urlmode\) \d/);
});

test('it migrates a database', async () => {
	await make('migrate');
});

test('it is installed, and every file names the folders', async () => {
	await install();
	for (const file of await files(target)) {
		const { mode } = await stat(target + file);
		assert.ok([0o644, 0o755].includes(mode & 0o777), `${file} has mode ${mode.toString(8)}`);
		if (!file.startsWith(`${PREFIX}/share/doc/`) || file.includes('/examples/')) {
			const [other] = /\/usr\/local|@[a-z]+dir@|(?<!\/opt\/um)\/(?:etc|run|var\/log)\/urlmode/
				.exec(await readFile(target + file, 'latin1')) ?? [];
			assert.equal(other, undefined, file);
		}
	}
	assert.match(await readFile(at('lib/systemd/system/urlmode@.service'), 'utf8'), /^ExecStart=\/opt\/um\/lib\/urlmode\/%i$/m);
});

test('an installed program reads the installed descriptions', async () => {
	const example = JSON.parse(await readFile(at('share/doc/urlmode/examples/config.json'), 'utf8'));
	const config = path.join(target, 'config.json');
	await writeFile(config, JSON.stringify(example), { mode: 0o600 });
	const said = await run(at('lib/urlmode/connect'), ['--check'], { URLMODE_CONFIG: config });
	assert.ok(said.includes(`${PREFIX}/share/urlmode/providers/stripe.json`), said);
	assert.ok((await run(at('lib/urlmode/connect'), ['--help'])).includes(`${PREFIX}/etc/urlmode/config.json`));
	await writeFile(config, JSON.stringify({ ...example, providers_dir: at('share/urlmode/providers'),
		keys_file: 'keys' }), { mode: 0o600 });
	await writeFile(path.join(target, 'keys'), `1 ${Buffer.alloc(32).toString('base64')}\n`, { mode: 0o600 });
	assert.equal(await run(at('lib/urlmode/connect'), ['--check'], { URLMODE_CONFIG: config }), '');
	assert.equal(await run(at('libexec/urlmode/operate'), ['keys', path.join(target, 'keys')]), '1\n');
	assert.deepEqual((await readdir(at('lib/urlmode'))).sort(), ['api', 'connect', 'console', 'form', 'oauth-return', 'payment-return', 'signin-return', 'status', 'webhook']);
	await Promise.all([config, path.join(target, 'keys')].map((file) => rm(file)));
});

test('the manual pages have no mistake', async () => {
	const pages = (await files(target)).filter((file) => /\/man\d\//.test(file)).map((file) => target + file);
	assert.ok(pages.length >= 2);
	assert.equal(await run('mandoc', ['-Tlint', '-Wwarning', ...pages]), '');
	for (const page of pages) { // as lintian does
		assert.equal(await run('sh', ['-c', 'man --warnings -E UTF-8 -l -Tutf8 -Z "$1" 2>&1 >/dev/null', 'sh', page],
			{ LC_ALL: 'C.UTF-8', MANROFFSEQ: '', MANWIDTH: '80' }), '', page);
	}
});

test('what was changed is kept, and the new file is beside it', async () => {
	const snippet = at('etc/nginx/urlmode/server.conf');
	const own = '# changed here\n';
	await appendFile(snippet, own);
	assert.match(await install(), /server\.conf was changed and is kept/);
	assert.ok((await readFile(snippet, 'utf8')).endsWith(own));
	await rm(snippet);
	await install();
	assert.equal(existsSync(`${snippet}.new`), false);
});

test('uninstalled, nothing is left', async () => {
	await writeFile(path.join(target, 'another'), '');
	await make('uninstall', `DESTDIR=${target}`, ...FOLDERS);
	assert.deepEqual(await files(target), ['/another']);
	const folders = await readdir(target, { recursive: true });
	assert.deepEqual(folders.filter((name) => path.basename(name) === 'urlmode'), []);
});

test('nothing was called that installs packages', () => {
	assert.equal(existsSync(path.join(path.dirname(tree), 'called')), false);
});

/** The packages of a folder, but for our own, which leads to this tree's. */
async function linkPackages(folder) {
	const [from, to] = [ROOT, tree].map((top) => path.join(top, folder, 'node_modules'));
	await mkdir(to);
	for (const name of await readdir(from)) {
		await symlink(name === 'urlmode' ? '../../lib/node' : path.join(from, name), path.join(to, name));
	}
}

test('with tests/, its stack comes up and the demo is walked', async () => {
	await execute('sh', ['-c', 'cd "$1" && tar -c --exclude=node_modules tests | tar -x -C "$2"', 'sh', ROOT, tree]);
	await Promise.all(['tests', 'lib/node'].map(linkPackages));
	const { stdout } = await execute('node', ['tests/demo/walk.mjs'], { cwd: tree, env: { ...env, PATH: process.env.PATH } });
	assert.match(stdout, /You had paid it before\./);
	await execute('node', ['tests/deliveries/make.mjs'], { cwd: tree });
	// The whole file runs in unit; here, one test of it has to find its files.
	const { stdout: said } = await execute('node', ['--test', '--test-reporter=tap', '--test-name-pattern=github.json: each', 'tests/unit/check-delivery.test.mjs'], { cwd: tree, env: { ...env, PATH: process.env.PATH } });
	assert.match(said, /^# pass [1-9]/m);
});
