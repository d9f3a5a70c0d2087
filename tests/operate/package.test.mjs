// The package as a new user gets it: packed in a fresh clone, installed into an
// empty folder in each documented way, and looked at by those who know what
// packages should be.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

import { goToCheckout, PRICE, settle } from '../support/adapters.mjs';
import { connectSdk2 } from '../support/clients.mjs';
import { openFixture } from '../support/fixture.mjs';
import { makeProject } from '../support/projects.mjs';

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = join(ROOT, 'lib/node');
const README = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
const TIMEOUT = { timeout: 480_000 };
/** What npm has fetched before is good enough. */
const npm = (cwd, ...args) => execute('npm', [...args, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], { cwd });

let folder;
let clone;
let tarball;

before(async () => {
	folder = mkdtempSync(join(tmpdir(), 'urlmode-package-'));
	clone = join(folder, 'urlmode');
	// With what is not committed yet, and without what is ignored.
	const { stdout } = await execute('git', ['ls-files', '-co', '--exclude-standard', '-z', 'lib', 'sql', 'LICENSE', 'nginx/debian/changelog'], { cwd: ROOT, maxBuffer: 1e7 });
	mkdirSync(clone);
	const files = stdout.split('\0').filter((file) => file && existsSync(join(ROOT, file)));
	writeFileSync(join(folder, 'files'), files.join('\0'));
	await execute('sh', ['-c', `tar -C "$1" --null -T "$2" -c | tar -C "$3" -x`, 'sh', ROOT, join(folder, 'files'), clone]);
	await npm(folder, 'pack', './urlmode/lib/node');
	[tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
}, TIMEOUT);

after(() => rmSync(folder, { recursive: true, force: true }));

test('packing leaves nothing behind but the types', () => {
	assert.deepEqual(['providers', 'sql', 'LICENSE', 'changelog'].filter((name) => existsSync(join(clone, 'lib/node', name))), []);
});

test('the tarball holds the license, the migrations, the descriptions, the examples and the types', async () => {
	const { stdout } = await execute('tar', ['-tzf', join(folder, tarball)]);
	const files = stdout.split('\n');
	const from = (path) => readdirSync(join(ROOT, path));
	for (const file of ['LICENSE', 'changelog', 'README.md', 'REFERENCE.md', 'ADAPTERS.md', 'VAULT.md', 'bin/urlmode.mjs', 'types/index.d.ts',
		...readdirSync(join(ROOT, 'sql'), { recursive: true }).filter((name) => name.endsWith('.sql')).map((name) => `sql/${name}`),
		...from('lib/providers').filter((name) => name.endsWith('.json')).map((name) => `providers/${name}`),
		...from('lib/node/examples').map((name) => `examples/${name}`)]) {
		assert.ok(files.includes(`package/${file}`), file);
	}
	assert.deepEqual(files.filter((file) => /\/(test|node_modules)\//.test(file)), []);
});

test('publint finds nothing', async () => {
	const data = readFileSync(join(folder, tarball));
	const { messages, pkg } = await publint({ pack: { tarball: data.buffer.slice(data.byteOffset, data.byteOffset + data.length) }, strict: true });
	assert.deepEqual(messages.map((message) => formatMessage(message, pkg)), []);
});

test('arethetypeswrong finds nothing, for modules', TIMEOUT, async () => {
	const attw = join(ROOT, 'tests/node_modules/@arethetypeswrong/cli/dist/index.js');
	await execute(process.execPath, [attw, join(folder, tarball), '--profile', 'esm-only', '--format', 'ascii', '--no-color'])
		.catch(({ stdout }) => assert.fail(stdout));
});

describe('installed', TIMEOUT, () => {
	test('it has what it depends on, its types, and a command', async () => {
		const project = mkdtempSync(join(folder, 'project-'));
		await npm(project, 'install', `../${tarball}`);
		writeFileSync(join(project, 'alone.mjs'), `
			import { withAccount } from 'urlmode/mcp-lite';
			const said = (promise) => promise.catch(({ message }) => message);
			const connect = withAccount({ provider: 'notion', typed: false, call: { request: {} }, client: { id: 'a', secret: 'b' }, message: 'Please.' }, () => {});
			console.log(JSON.stringify(await Promise.all([connect, import('urlmode/oauth'), import('urlmode/sdk'), import('urlmode/sdk2')].map(said))));
		`);
		const [account, ...others] = JSON.parse((await execute(process.execPath, [join(project, 'alone.mjs')])).stdout);
		assert.equal(account, 'accounts require the package openid-client, version 6: npm install openid-client@6');
		assert.deepEqual(others.map((text) => /^Cannot find package '(.*?)'/.exec(text)?.[1]), ['openid-client', '@modelcontextprotocol/sdk', '@modelcontextprotocol/server']);
		await npm(project, 'install', 'openid-client@6');
		const installed = join(project, 'node_modules/urlmode');
		writeFileSync(join(project, 'index.mjs'), `
			import { UrlMode } from 'urlmode';
			import { withAccount } from 'urlmode/mcp-lite';
			const connect = (provider) => withAccount({ provider, typed: false, call: { request: {} }, client: { id: 'a' }, message: 'Please.' }, () => {}).catch(({ message }) => message);
			console.log(JSON.stringify([typeof UrlMode, await connect('notion'), await connect('nobody')]));
		`);
		const { stdout } = await execute(process.execPath, [join(project, 'index.mjs')]);
		assert.deepEqual(JSON.parse(stdout), ['function', 'client.secret is required: this provider has no PKCE',
			`there is no description nobody: ${join(installed, 'providers/nobody.json')} does not exist`]);
		assert.ok(existsSync(join(project, 'node_modules/pg')));
		assert.equal(readFileSync(join(installed, 'LICENSE'), 'utf8'), readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
		const { exports, peerDependenciesMeta, scripts } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
		assert.deepEqual([peerDependenciesMeta['@types/node'].optional, existsSync(join(project, 'node_modules/@types/node'))], [true, false]);
		// npm would run it where a project takes the package from a folder or a repository.
		assert.deepEqual(Object.keys(scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name)), []);
		for (const { types } of Object.values(exports)) assert.ok(!types || existsSync(join(installed, types)), types);
		const help = await execute('npx', ['--no-install', 'urlmode', 'migrate', '--help'], { cwd: project });
		assert.match(help.stdout, /^usage: urlmode migrate/);
	});

	test('the five steps of the README lead from an empty folder to a tool call that returns', async (t) => {
		const fixture = await openFixture({ name: 'package' });
		t.after(() => fixture.close());
		const project = mkdtempSync(join(folder, 'steps-'));
		const [, block] = /^## From an empty folder\n\n```sh\n([^]*?)^```$/m.exec(README);
		const steps = block.trimEnd().split('\n').map((line) => line.replace(/ +#.*/, '').replace('../urlmode/build/dist/urlmode-VERSION.tgz', `../${tarball}`));
		assert.equal(steps.length, 5);
		const env = { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
		const said = [];
		for (const step of steps.slice(0, 4)) said.push((await execute('sh', ['-c', step], { cwd: project, env })).stdout);
		assert.deepEqual([...said[1].matchAll(/^ {4}(.*?)(?: +#.*)?$/gm)].map(([, command]) => command), steps.slice(2), 'new prints these steps');

		const { URLMODE_DATABASE_URL, URLMODE_KEYS_FILE } = fixture.stack.env;
		const values = {
			URLMODE_DATABASE_URL, URLMODE_KEYS_FILE, URLMODE_BASE_URL: fixture.stack.baseUrl, PORT: '0', APP_USERS: '{"token": "ada-of-the-package@example.org"}',
		};
		const example = readFileSync(join(project, '.env'), 'utf8');
		writeFileSync(join(project, '.env'), example.replaceAll(/^(\w+)=.*$/gm, (line, name) => (name in values ? `${name}=${values[name]}` : line)));
		const [node, ...args] = steps[4].split(' ');
		const settings = Object.keys(values);
		const server = spawn(node, args, {
			cwd: project, stdio: ['ignore', 'pipe', 'inherit'],
			env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !settings.includes(name))),
		});
		t.after(() => server.kill('SIGKILL'));
		const url = await new Promise((resolve) => createInterface({ input: server.stdout }).once('line', resolve));

		const client = await connectSdk2(makeProject({ name: 'package', frameworks: 'newest' }), { url, token: 'token' });
		t.after(() => client.close());
		const call = client.call('buy_report');
		const { url: link } = await client.nextRequest();
		const reference = `cs_package_${process.pid}_${Date.now()}`;
		await settle(fixture, await goToCheckout(fixture, link), 'paid', { ...PRICE, reference });
		assert.equal((await call).text, `Paid with ${reference}.`);
	});

	test('the README names this way, and not the one that makes a link', () => {
		assert.match(README, /^ {4}make -C urlmode dist PARTS=npm /m);
		assert.match(README, /^ {4}npm install \.\/urlmode\/build\/dist\/urlmode-VERSION\.tgz$/m);
		assert.doesNotMatch(README, /npm install \.\/(urlmode\/)?lib\/node/);
	});
});
