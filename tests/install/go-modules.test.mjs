// The modules in Go as their users get them: with a path and a version of their own, through a proxy of files as a release has
// it. The user's commands and programs are those of lib/go/README.md, in its order.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { GO_ENV } from '../support/go.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATH = 'modules.example/team/urlmode/lib/go';
const VERSION = `1.2.${Date.now()}`; // which no run has had before
const MODULES = ['', '/mcp', '/mcpgo', '/vault'];

const folder = await mkdtemp(join(tmpdir(), 'go-modules-'));
// With the modules of others that the other tests have.
const CACHE = GO_ENV.GOMODCACHE;
after(async () => {
	for (const each of [folder, join(CACHE, 'modules.example'), join(CACHE, 'cache/download/modules.example')]) await rm(each, { recursive: true, force: true });
});
const tree = join(folder, 'tree');
const user = join(folder, 'user');
const AUTHOR = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.com', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.com' };

const run = async (cwd, env, program, ...given) => (await promisify(execFile)(program, given, { cwd, env: { ...process.env, ...env }, maxBuffer: 1 << 26 })).stdout;
const git = (...given) => run(tree, AUTHOR, 'git', ...given);
const make = (...given) => run(tree, { ...AUTHOR, MAKEFLAGS: '' }, 'make', '-s', ...given);

/** The commands and the programs of README, in its order. */
async function readme() {
	const text = await readFile(join(tree, 'lib/go/README.md'), 'utf8');
	return [...text.matchAll(/^ {4}(go [^\n]*)$|```go\n(.*?)```/gms)].map(([, command, program]) => ({ command, program }));
}

before(async () => {
	const files = (await promisify(execFile)('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, maxBuffer: 1 << 26 })).stdout.split('\0').filter(Boolean);
	for (const file of files) await cp(join(ROOT, file), join(tree, file), { verbatimSymlinks: true }).catch((error) => assert.equal(error.code, 'ENOENT'));
	await git('init', '-q');
	await git('add', '-A');
	await git('commit', '-qm', 'All.');
});

test('a path and a version are commits, with a tag for each module', async () => {
	const old = /^module (.*)$/m.exec(await readFile(join(tree, 'lib/go/go.mod'), 'utf8'))[1];
	for (const [target, wrong] of [['go-path', 'GO_PATH=x'], ['go-path', 'GO_PATH=https://github.com/a/b'], ['go-version', 'GO_VERSION=v1.0.0'], ['go-version', 'GO_VERSION=2.0.0']]) {
		await assert.rejects(make(target, wrong), /publish: GO_/);
	}
	await make('go-path', `GO_PATH=${PATH}`);
	await make('go-version', `GO_VERSION=${VERSION}`);
	await assert.rejects(make('go-version', `GO_VERSION=${VERSION}`), /there is a tag/);
	await assert.rejects(git('grep', '-lF', old), 'nothing has the old path');
	assert.equal(await git('status', '--porcelain'), '');
	assert.equal((await git('log', '--format=%s')).trim(), [`go: The modules have version ${VERSION}`, `go: The modules are ${PATH}`, 'All.'].join('\n'));
	assert.deepEqual((await git('tag')).trim().split('\n'), MODULES.map((module) => `lib/go${module}/v${VERSION}`).sort());
	assert.equal(await run(tree, {}, 'gofmt', '-l', 'lib/go'), '');
	const license = await readFile(join(ROOT, 'LICENSE'), 'utf8');
	for (const module of MODULES) {
		assert.equal(await readFile(join(tree, `lib/go${module}/LICENSE`), 'utf8'), license);
		assert.doesNotMatch(await readFile(join(tree, `lib/go${module}/go.mod`), 'utf8'), /^replace/m);
	}
});

test('a user gets each of them, in the order of README', async () => {
	const proxy = join(folder, 'proxy');
	// As a release has them.
	await run(tree, {}, 'python3', '-B', 'nginx/dist/archives.py', 'goproxy', '.', proxy, `v${VERSION}`, '1767225600');
	// Those of others come from where they always come from, if no other test has brought them yet.
	const others = (await run(folder, GO_ENV, 'go', 'env', 'GOPROXY')).trim();
	const env = {
		...GO_ENV, GOFLAGS: GO_ENV.GOFLAGS.replace('-mod=readonly', ''), GOPROXY: `file://${proxy},${others}`, GONOSUMDB: PATH, GOSUMDB: 'off', GONOPROXY: '', GOPRIVATE: '',
	};
	await mkdir(user);
	const go = (...given) => run(user, env, 'go', ...given);
	let count = 0;
	const got = [];
	for (const { command, program } of await readme()) {
		if (command) {
			await go(...command.replace(/ +#.*/, '').split(' ').slice(1));
			if (command.startsWith('go get')) got.push(command.split(' ').at(-1));
			continue;
		}
		const at = join(user, `step${count++}`);
		await mkdir(at);
		await writeFile(join(at, 'main.go'), program);
		await go('get', `./${at.slice(user.length + 1)}`); // what it needs of others, such as pgx
		await go('vet', `./${at.slice(user.length + 1)}`);
	}
	assert.deepEqual(got.sort(), MODULES.map((module) => `${PATH}${module}@latest`).sort());
	assert.ok(count > 5, `${count} programs`);
	await mkdir(join(user, 'mark3labs'));
	await writeFile(join(user, 'mark3labs/main.go'), `package main\n\nimport "${PATH}/mcpgo"\n\nfunc main() { println(mcpgo.New != nil) }\n`);
	await go('build', './step0', './mark3labs');
	await go('mod', 'verify');
	assert.equal(await go('run', `${PATH}/cmd/urlmode@latest`, '--version'), `urlmode v${VERSION}\n`);
	// The server that `new` has written, with the copies of the examples.
	const made = join(user, 'reports');
	assert.match(await readFile(join(made, 'go.mod'), 'utf8'), new RegExp(`^require ${PATH} v${VERSION}$`, 'm'));
	await run(made, env, 'go', 'get', '.');
	await run(made, env, 'go', 'vet', './...');
	// Its schema, for a database of a test.
	const shipped = (await go('list', '-f', '{{.Dir}}', `${PATH}/urlmodetest`)).trim();
	for (const each of ['', 'tables', 'functions']) {
		const names = async (at) => (await readdir(join(at, each))).filter((name) => name.endsWith('.sql'));
		assert.deepEqual(await names(join(shipped, 'sql')), await names(join(ROOT, 'sql')));
	}
	const sums = await readFile(join(user, 'go.sum'), 'utf8');
	for (const module of MODULES) assert.match(sums, new RegExp(`^${PATH}${module} v${VERSION} h1:`, 'm'));
	const required = await readFile(join(user, 'go.mod'), 'utf8');
	assert.doesNotMatch(required, /replace/);
});
