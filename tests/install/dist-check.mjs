// `make dist-check`: what is in build/dist is what the commit makes in another folder too, and each artifact is installed in an
// empty place, where an elicitation goes all the way. As root, with the environment of a stack.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import pg from 'pg';
import { UrlMode } from 'urlmode';

import { nextBuild, sources } from './debian.mjs';
import { ROOT } from '../stack/harness.mjs';
import { Browser } from '../support/browser.mjs';
import { comeBack, goOn } from '../support/flow.mjs';
import { GO_ENV } from '../support/go.mjs';
import { holdPorts } from '../support/held-ports.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

const DIST = path.join(ROOT, 'build/dist');
const PYTHON = path.join(ROOT, 'build/python/bin/python');
const RELEASES = { bookworm: '12', trixie: '13' };
const { URLMODE_ADMIN_DATABASE_URL: ADMIN, URLMODE_DATABASE_URL, URLMODE_KEYS_FILE, URLMODE_BASE_URL } = process.env;

const env = { ...process.env };
delete env.NODE_TEST_CONTEXT;
const run = async (cwd, program, ...given) => (await promisify(execFile)(program, given, { cwd, env, maxBuffer: 1 << 26 })).stdout;
const runWith = async (more, cwd, program, ...given) => (await promisify(execFile)(program, given, { cwd, env: { ...env, ...more }, maxBuffer: 1 << 26 })).stdout;

const versions = Object.fromEntries(await Promise.all(['debian', 'npm', 'python', 'go'].map(async (kind) => [kind, (await run(ROOT, 'nginx/dist/version', kind)).trim()])));
const names = Object.fromEntries((await readFile(path.join(ROOT, 'nginx/dist/names'), 'utf8')).split('\n').filter((line) => /^[a-z]+=/.test(line)).map((line) => line.split('=')));
const artifacts = (await readdir(DIST)).filter((name) => !/^(sbom|SHA256SUMS.*)$/.test(name));
/** The one with this ending, which those of the chart and of the source have as well when they are a release. */
function artifact(ending) {
	const found = artifacts.filter((name) => name.endsWith(ending) && !name.startsWith('urlmode-chart-'));
	assert.equal(found.length, 1, `artifacts that end with ${ending}: ${found.join(' ')}`);
	return path.join(DIST, found[0]);
}

/** The commands of README's table for a row, which work as they stand where DIST is the folder of the artifacts. */
async function readme(row) {
	const line = (await readFile(path.join(ROOT, 'README.md'), 'utf8')).split('\n').find((each) => each.startsWith(`| ${row} |`));
	const commands = [...(line ?? assert.fail(`README has no row: ${row}`)).matchAll(/`([^`]+)`/g)].map(([, command]) => command);
	return (cwd, more = {}) => runWith({ DIST, ...more }, cwd, 'sh', '-euc', commands.join('\n'));
}

const folder = await mkdtemp(path.join(tmpdir(), 'dist-'));
chmodSync(folder, 0o755);
after(() => rm(folder, { recursive: true, force: true }));
async function empty(name) {
	const at = path.join(folder, name);
	await mkdir(at);
	return at;
}

/** What the provider of the stack sends with its answers. */
const STACK = { issuer: process.env.URLMODE_DEMO_ISSUER };

/** From the link to the resolved promise. */
async function walk(urlmode, { browser = new Browser(), issuer }) {
	const flow = await goOn(urlmode, browser, { issuer });
	const waits = urlmode.waitForCompletion(flow.id, flow.owner);
	const hop = await comeBack(browser, flow.returnTo({ code: 'the code' }));
	assert.equal(hop.status, 303, `the return ended with ${hop.status}`);
	const outcome = await waits;
	assert.deepEqual([outcome.action, outcome.result.code], ['accept', 'the code']);
	await browser.close();
}

/** An SDK in another language: a program that prints the elicitation and then its outcome, each as JSON in a line. */
function elsewhere(cwd, more, program, ...given) {
	let lines;
	return {
		async create({ subject }) {
			const child = spawn(program, given, { cwd, env: { ...env, ...more, SUBJECT: subject }, stdio: ['ignore', 'pipe', 'inherit'] });
			lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
			return JSON.parse((await lines.next()).value);
		},
		waitForCompletion: async () => JSON.parse((await lines.next()).value),
	};
}

/** An empty database of the stack's cluster. */
async function database(name) {
	const client = new pg.Client({ connectionString: ADMIN });
	await client.connect();
	await client.query(`CREATE DATABASE ${name}`);
	await client.end();
	return Object.assign(new URL(ADMIN), { pathname: `/${name}` }).href;
}

const tables = (await readdir(path.join(ROOT, 'sql/tables'))).sort();

test('the commit makes the same bytes in another folder', async () => {
	const other = path.join(folder, 'another folder');
	await run(folder, 'git', 'clone', '-q', ROOT, other);
	assert.equal(await run(other, 'git', 'rev-parse', 'HEAD'), await run(ROOT, 'git', 'rev-parse', 'HEAD'));
	await mkdir(path.join(other, 'build'));
	await symlink(path.join(ROOT, 'build/python'), path.join(other, 'build/python'));
	await symlink(path.join(ROOT, 'lib/node/node_modules'), path.join(other, 'lib/node/node_modules'));
	await runWith({ KEY: '' }, other, 'nginx/dist/dist');
	await run(folder, 'diff', '-r', '--exclude=SHA256SUMS.asc', DIST, path.join(other, 'build/dist'));
});

test('the sums are those of the artifacts, and the signature, if there is one, is good', async (t) => {
	await run(DIST, 'sha256sum', '--check', '--strict', 'SHA256SUMS');
	if (existsSync(path.join(DIST, 'SHA256SUMS.asc'))) await run(DIST, 'gpg', '--verify', 'SHA256SUMS.asc', 'SHA256SUMS');
	else t.diagnostic('it is not signed');
	for (const name of artifacts) for (const form of ['cdx', 'spdx']) assert.ok(existsSync(path.join(DIST, `sbom/${name}.${form}.json`)), `${name} has no ${form}`);
});

test('the package for Node', async () => {
	const project = await empty('node');
	await run(project, 'npm', 'init', '-y');
	await (await readme('an MCP server in Node.js'))(project);
	const installed = path.join(project, 'node_modules', names.npm);
	assert.equal(await run(project, 'npx', '--no-install', 'urlmode', '--version'), `urlmode ${versions.npm}\n`);
	await run(folder, PYTHON, '-B', path.join(ROOT, 'nginx/dist/documents.py'), 'check', installed);
	const said = await run(project, 'npx', '--no-install', 'urlmode', 'new', 'sdk2', 'made');
	const { dependencies } = JSON.parse(await readFile(path.join(project, 'made/package.json'), 'utf8'));
	assert.match(dependencies.urlmode, /^file:/, 'not of a registry, where anybody may have the name');
	const commands = said.match(/^ {4}.*$/gm);
	assert.match(commands.pop(), /^ {4}node --env-file=\.env server\.mjs /);
	await runWith({ npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }, project, 'sh', '-euc', commands.join('\n'));
	for (const installedThere of ['node_modules/urlmode/package.json', '.env']) assert.ok(existsSync(path.join(project, 'made', installedThere)), installedThere);
	const { UrlMode: Installed } = await import(path.join(installed, 'src/index.js'));
	const urlmode = new Installed({ databaseUrl: URLMODE_DATABASE_URL, keysFile: URLMODE_KEYS_FILE, baseUrl: URLMODE_BASE_URL, name: 'Tests' });
	await walk(urlmode, STACK);
	await urlmode.close();
});

const PROGRAM = `
import asyncio, json, os
from urlmode import UrlMode

async def main():
    of = os.environ
    async with UrlMode(database_url=of["URLMODE_DATABASE_URL"], keys_file=of["URLMODE_KEYS_FILE"], base_url=of["URLMODE_BASE_URL"]) as urlmode:
        made = await urlmode.create(provider="demo", kind="oauth", subject=of["SUBJECT"], target_url="http://localhost:9/authorize?client_id=tests")
        print(json.dumps({"elicitationId": made.elicitation_id, "url": made.url, "returnUrl": made.return_url}), flush=True)
        outcome = await urlmode.wait_for_completion(made.elicitation_id, subject=of["SUBJECT"])
        print(json.dumps({"action": outcome.action, "result": outcome.result}), flush=True)

asyncio.run(main())
`;

for (const [what, ending] of [['wheel', '.whl'], ['source distribution', `-${versions.python}.tar.gz`]]) {
	test(`the ${what} for Python`, async () => {
		const project = await empty(`python${ending}`);
		const python = path.join(project, 'env/bin/python');
		if (ending === '.whl') await (await readme('an MCP server in [Python](lib/python/README.md)'))(project);
		else {
			await run(project, 'python3', '-m', 'venv', 'env');
			await run(project, python, '-m', 'pip', 'install', '-q', '--disable-pip-version-check', `${names.python}[binary] @ file://${artifact(ending)}`);
		}
		assert.equal(await run(project, python, '-m', 'urlmode', '--version'), `urlmode ${versions.python}\n`);
		const installed = (await run(project, python, '-c', 'import urlmode; print(urlmode.__path__[0])')).trim();
		await run(folder, PYTHON, '-B', path.join(ROOT, 'nginx/dist/documents.py'), 'check', installed);
		assert.ok(existsSync(path.join(installed, '_shipped/python/REFERENCE.md')) && existsSync(path.join(installed, '_shipped/node/REFERENCE.md')));
		const url = await database(`python_${ending.length}`);
		assert.deepEqual((await runWith({ URLMODE_ADMIN_DATABASE_URL: url }, project, python, '-m', 'urlmode', 'migrate')).trim().split('\n'), tables);
		await run(project, python, '-m', 'urlmode', 'new', 'fastmcp', 'made');
		assert.match(await readFile(path.join(project, 'made/requirements.txt'), 'utf8'), new RegExp(`^${names.python}\\[binary,fastmcp,oauth\\] @ file://`));
		await assert.rejects(run(project, python, '-c', 'import urlmode.fastmcp'), /urlmode\.fastmcp needs urlmode with its extra, urlmode\[fastmcp\]/);
		await walk(elsewhere(project, {}, python, '-c', PROGRAM), STACK);
	});
}

test('the modules for Go', async () => {
	const at = await empty('go');
	const cache = path.join(folder, 'go-modules');
	const others = `file://${GO_ENV.GOMODCACHE}/cache/download,${(await runWith(GO_ENV, at, 'go', 'env', 'GOPROXY')).trim()}`;
	const more = {
		...GO_ENV, GOFLAGS: GO_ENV.GOFLAGS.replace('-mod=readonly', ''), GOPROXY: others, GOMODCACHE: cache, GOSUMDB: 'off', GONOPROXY: '', GOPRIVATE: '',
	};
	await runWith(more, at, 'go', 'mod', 'init', 'example.com/project');
	await (await readme('an MCP server in [Go](lib/go/README.md)'))(at, more);
	assert.match(await readFile(path.join(at, 'go.mod'), 'utf8'), new RegExp(`\\b${names.go} ${versions.go}( |$)`, 'm'));
	more.GOPROXY = `file://${path.join(at, 'goproxy')},${others}`;
	await writeFile(path.join(at, 'main.go'), `package main

import (
	"context"
	"encoding/json"
	"os"

	"${names.go}"
	_ "${names.go}/mcp"
	_ "${names.go}/mcpgo"
	_ "${names.go}/vault"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	instance := must(urlmode.New(ctx, urlmode.Config{
		DatabaseURL: os.Getenv("URLMODE_DATABASE_URL"), KeysFile: os.Getenv("URLMODE_KEYS_FILE"), BaseURL: os.Getenv("URLMODE_BASE_URL"),
	}))
	defer instance.Close()
	owner := urlmode.Owner{Subject: os.Getenv("SUBJECT")}
	made := must(instance.Create(ctx, urlmode.Request{Provider: "demo", Kind: urlmode.OAuth, Owner: owner,
		Target: func(context.Context, urlmode.TargetArguments) (urlmode.Target, error) {
			return urlmode.Target{URL: "http://localhost:9/authorize?client_id=tests"}, nil
		}}))
	out := json.NewEncoder(os.Stdout)
	_ = out.Encode(map[string]any{"elicitationId": made.ElicitationID, "url": made.URL, "returnUrl": made.ReturnURL})
	outcome := must(instance.Wait(ctx, made.ElicitationID, owner))
	_ = out.Encode(map[string]any{"action": outcome.Action, "result": outcome.Result})
}
`);
	for (const module of ['/mcp', '/mcpgo', '/vault']) await runWith(more, at, 'go', 'get', `${names.go}${module}@latest`);
	await runWith(more, at, 'go', 'mod', 'tidy');
	await runWith(more, at, 'go', 'build', '-o', 'program', '.');
	await runWith(more, at, 'go', 'mod', 'verify');
	await run(folder, PYTHON, '-B', path.join(ROOT, 'nginx/dist/documents.py'), 'check', path.join(cache, `${names.go}@${versions.go}`));
	assert.doesNotMatch(await readFile(path.join(at, 'go.mod'), 'utf8'), /replace/);
	await walk(elsewhere(at, {}, './program'), STACK);
});

test('the source is built without a repository, and knows its version; an elicitation goes all the way through it, with the migrations', async (t) => {
	const at = await empty('source');
	for (const each of ['-source.tar.gz', '-sql.tar.gz']) await run(at, 'tar', '-xf', artifact(each));
	const tree = path.join(at, `urlmode-${versions.npm}`);
	await rm(path.join(tree, 'sql'), { recursive: true });
	await rename(path.join(at, `urlmode-${versions.npm}-sql`), path.join(tree, 'sql'));
	const more = { MAKEFLAGS: '', MAKELEVEL: '', RUN_DIR: path.join(at, 'run'), PORT: '0', DEMO: '0', PROGRAM_DIR: path.join(tree, 'build/bin') };
	await runWith(more, tree, 'make', '-s', 'build');
	assert.equal(await run(tree, 'build/bin/connect', '--version'), `connect (urlmode) ${versions.debian}\n`);

	t.after(() => runWith(more, tree, 'tests/stack/down'));
	await runWith(more, tree, 'tests/stack/up');
	const its = Object.fromEntries((await run(tree, 'sh', '-ac', '. "$0"; exec env -0', path.join(at, 'run/env'))).split('\0').map((each) => each.split(/=(.*)/s)));
	assert.notEqual(its.URLMODE_DATABASE_URL, URLMODE_DATABASE_URL);
	const urlmode = new UrlMode({ databaseUrl: its.URLMODE_DATABASE_URL, keysFile: its.URLMODE_KEYS_FILE, baseUrl: its.URLMODE_BASE_URL, name: 'Tests' });
	t.after(() => urlmode.close());
	await walk(urlmode, { issuer: its.URLMODE_DEMO_ISSUER });
});

test('the migrations', async () => {
	const at = await empty('sql');
	await run(at, 'tar', '-xf', artifact('-sql.tar.gz'));
	const [sql] = await readdir(at);
	const url = await database('only_sql');
	assert.deepEqual((await runWith({ URLMODE_ADMIN_DATABASE_URL: url }, at, `./${sql}/migrate`)).trim().split('\n'), tables);
});

test('the chart', async () => {
	const file = artifacts.find((name) => name.startsWith('urlmode-chart-'));
	const about = await run(DIST, 'tar', '-xOf', file, 'urlmode/Chart.yaml');
	assert.match(about, new RegExp(`^version: ${versions.npm}$`, 'm'));
	// Without a cluster Helm takes one for it that is older than the chart.
	const [, oldest] = /^kubeVersion: ">=(.*)-0"$/m.exec(about);
	assert.match(await run(DIST, path.join(ROOT, 'build/go/bin/helm'), 'template', file, '--kube-version', oldest), new RegExp(`image: ${names.image}:${versions.npm}$`, 'm'));
});

for (const [release, number] of Object.entries(RELEASES)) {
	test(`the package for Debian ${number}`, async () => {
		const at = await empty(`debian-${number}`);
		const deb = artifact(`+deb${number}_${(await run(ROOT, 'dpkg', '--print-architecture')).trim()}.deb`);
		await run(at, 'cp', deb, 'first.deb');
		await run(at, 'dpkg-deb', '-R', deb, 'next');
		await run(folder, PYTHON, '-B', path.join(ROOT, 'nginx/dist/documents.py'), 'check', path.join(at, 'next/usr/share/doc/urlmode'));
		const control = path.join(at, 'next/DEBIAN/control');
		await writeFile(control, (await readFile(control, 'utf8')).replace(/^Version: (.*)$/m, (_, version) => `Version: ${nextBuild(version)}`));
		await run(at, 'dpkg-deb', '-b', '-Znone', '--root-owner-group', 'next', 'next.deb');
		const { stdout, stderr } = await promisify(execFile)('mmdebstrap', [
			'--variant=apt', '--format=null', '--dpkgopt=force-unsafe-io', '--include=nginx,multiwatch,spawn-fcgi',
			`--customize-hook=ROOT="$1" node --test --test-reporter=spec '${fileURLToPath(new URL('clean-root.mjs', import.meta.url))}'`,
			release, '-', ...await sources(release),
		], { cwd: ROOT, maxBuffer: 1 << 26, env: {
			...env, PATH: `${env.PATH}:/usr/sbin:/sbin`, PACKAGES: at, VERSION: versions.debian, NEXT: versions.debian,
			KEYS: await readFile(URLMODE_KEYS_FILE, 'utf8'),
		} }).catch((error) => error);
		assert.match(stdout + stderr, /^ℹ fail 0$/m, stdout + stderr);
	});
}

describe('the image', () => {
	const name = `${names.image}:${versions.npm}`;
	// Nothing of this machine's own containers; and no file system that a container of tests cannot mount. A runroot may have 50 characters.
	const podman = (...args) => run(folder, 'podman', '--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'running'), '--storage-driver', 'vfs', ...args);
	let loaded;

	/** Where its files are. */
	const load = () => (loaded ??= podman('load', '--quiet', '--input', artifact('.tar')).then(() => podman('image', 'mount', name)).then((at) => at.trim()));

	after(() => loaded && podman('image', 'umount', '--all'));

	test('has the settings of the Containerfile, labels, and a bill of materials inside', async () => {
		const image = await load();
		const [{ Config: config }] = JSON.parse(await podman('image', 'inspect', name));
		assert.deepEqual(config.Cmd, ['/usr/lib/urlmode/status', '--help']);
		assert.equal(config.User, '65532:65532');
		assert.equal(config.Labels['org.opencontainers.image.version'], versions.npm);
		const { components } = JSON.parse(await readFile(path.join(image, 'usr/share/doc/urlmode/sbom.cdx.json'), 'utf8'));
		const [, codename] = /^FROM debian:(\w+) AS build$/m.exec(await readFile(path.join(ROOT, 'nginx/containers/Containerfile'), 'utf8'));
		assert.match(components.find(({ name }) => name === 'libpq5').purl, new RegExp(`distro=debian-${RELEASES[codename]}$`));
	});

	test('an elicitation goes all the way through its programs', async (t) => {
		const image = await load();
		process.env.ROOT = folder;
		const { ENVIRONMENT, Pod, allServe, makeCertificate } = await import('./pod.mjs');
		const ports = await holdPorts(2);
		const base = `https://127.0.0.1:${ports[0].port}`;
		const certificate = await makeCertificate(folder);
		const ca = certificate['tls.crt'];
		const pod = new Pod({ image, folder: path.join(folder, 'pod'), ports });
		pod.mountSecret('secret', { keys: await readFile(URLMODE_KEYS_FILE, 'utf8'), 'config.json': JSON.stringify({
			base_url: base, keys_file: 'keys', user_check: 'confirm', providers: { demo: { kind: 'oauth', display_name: 'Demo' } } }) });
		pod.mountSecret('certificate', certificate);
		await pod.prepare();
		pod.startPrograms(ENVIRONMENT);
		t.after(() => pod.stopPrograms());
		pod.startNginx();
		t.after(() => pod.stopNginx());
		await until('it is ready', async () => allServe(await request(`${base}/healthz`, { ca }).catch(() => ({ status: 0 }))));
		const urlmode = new UrlMode({ databaseUrl: URLMODE_DATABASE_URL, keysFile: URLMODE_KEYS_FILE, baseUrl: base, name: `Tests ${randomUUID()}` });
		await walk(urlmode, { browser: new Browser({ ca }) });
		await urlmode.close();
	});
});
