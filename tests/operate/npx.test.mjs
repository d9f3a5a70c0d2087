// The command of the package: npx urlmode.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { functionsVersion } from '../../lib/node/src/commands/migrations.js';
import { configure } from '../security/deployment.mjs';
import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';
import { startOpenIdProvider } from '../support/openid-provider.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMMAND = join(ROOT, 'lib/node/bin/urlmode.mjs');
const NAMES = ['accounts', 'check', 'keys', 'migrate', 'new', 'unclaimed', 'vault'];

let fixture;
let folder;

before(async () => {
	fixture = await openFixture({ name: 'npx' });
});

after(() => fixture?.close());

beforeEach((t) => {
	folder = mkdtempSync(join(tmpdir(), 'urlmode-npx-'));
	t.after?.(() => rmSync(folder, { recursive: true, force: true }));
});

/** Runs the command, and resolves to its status and what it has written. */
function run(args, env = {}) {
	return new Promise((resolve) => {
		execFile(process.execPath, [COMMAND, ...args], { cwd: folder, env: { ...process.env, ...fixture.stack.env, ...env } },
			(error, stdout, stderr) => resolve({ status: error ? error.code : 0, stdout, stderr }));
	});
}

test('each command has a help, and the README has each form of it', async () => {
	const { stdout } = await run([]);
	const forms = [];
	assert.deepEqual([...stdout.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name).sort(), NAMES);
	for (const name of NAMES) {
		const help = await run([name, '--help']);
		assert.equal(help.status, 0);
		assert.match(help.stdout, new RegExp(`^usage: urlmode ${name} `));
		const [usage] = help.stdout.split('\n\n');
		forms.push(...[...usage.matchAll(/\burlmode (.*)/g)].map(([, form]) => form.replaceAll(/ \[--.*?\]/g, '')));
	}
	const readme = readFileSync(join(ROOT, 'lib/node/README.md'), 'utf8');
	assert.deepEqual([...readme.matchAll(/^\| `npx urlmode (.*?)` \|/gm)].map(([, form]) => form).sort(), forms.sort());
});

test('it says its version', async () => {
	const { version } = JSON.parse(readFileSync(join(ROOT, 'lib/node/package.json'), 'utf8'));
	assert.deepEqual(await run(['--version']), { status: 0, stdout: `urlmode ${version}\n`, stderr: '' });
});

test('a command line that makes no sense is refused with status 64', async () => {
	for (const args of [['nothing'], ['constructor'], ['check', '--nothing'], ['check', 'x'], ['migrate', 'x'], ['keys'], ['keys', 'new'],
		['keys', 'list', 'a', 'b'], ['new', 'nothing'], ['new', 'constructor'], ['new', '../app'], ['new', 'sdk', 'a', 'b'], ['unclaimed', '--since', 'soon'],
		['unclaimed', '--provider'], ['accounts', 'x'], ['accounts', '--state', 'gone'], ['vault'], ['vault', 'nothing'], ['vault', 'keys', 'x']]) {
		const { status, stdout, stderr } = await run(args);
		assert.deepEqual([status, stdout], [64, ''], args.join(' '));
		assert.match(stderr, /^urlmode: .+\n$/);
	}
	const { stderr } = await run(['\x1b[2Jx']);
	assert.doesNotMatch(stderr, /\x1b/);
});

describe('new', () => {
	const examples = readdirSync(join(ROOT, 'lib/node/examples')).filter((file) => file.endsWith('.mjs') && !['app.mjs', 'edge.mjs', 'mollie.mjs'].includes(file));
	const ofEnvironment = (text) => /\n(?:URLMODE|PORT|APP)[^]*/.exec(text)[0].match(/^[A-Z_]+(?==)/gm);

	test('without a framework it lists them, and says which npm does not have', async () => {
		const { status, stdout } = await run(['new']);
		assert.equal(status, 0);
		assert.deepEqual([...stdout.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => `${name}.mjs`).sort(), examples.sort());
		assert.match(stdout, /^ {2}frontmcp +FrontMCP; npm does not have @frontmcp\/sdk$/m);
		assert.doesNotMatch(stdout, /mcp-use.*npm does not have/);
	});

	test('the variables of .env.example are those that app.mjs reads', () => {
		const [, read] = /const \{([^}]*)\} = process\.env;/.exec(readFileSync(join(ROOT, 'lib/node/examples/app.mjs'), 'utf8').replaceAll("'{}'", "''"));
		const names = ofEnvironment(readFileSync(join(ROOT, 'lib/node/examples/.env.example'), 'utf8'));
		assert.deepEqual(names, read.match(/[A-Z][A-Z_]+(?=[ ,])/g));
	});

	test('a server says by its name which variable is missing', async () => {
		await run(['new', 'sdk', 'server']);
		const code = `process.env.URLMODE_KEYS_FILE = process.env.URLMODE_BASE_URL = ''; await import(${JSON.stringify(join(ROOT, 'lib/node/examples/app.mjs'))});`;
		const error = await new Promise((resolve) => {
			execFile(process.execPath, ['--input-type=module', '--eval', code], { env: { ...process.env, URLMODE_DATABASE_URL: 'postgresql://h/d' } },
				(failure, stdout, stderr) => resolve(stderr));
		});
		assert.match(error, /Error: set URLMODE_KEYS_FILE, URLMODE_BASE_URL: /);
	});

	for (const name of examples) {
		test(`writes ${name} with what it imports`, async () => {
			assert.equal((await run(['new', name.replace('.mjs', ''), 'server'])).status, 0);
			const read = (file) => readFileSync(join(folder, 'server', file), 'utf8');
			assert.equal(read('server.mjs'), readFileSync(join(ROOT, 'lib/node/examples', name), 'utf8'));
			assert.equal(read('app.mjs'), readFileSync(join(ROOT, 'lib/node/examples/app.mjs'), 'utf8'));
			assert.equal(read('.env.example'), readFileSync(join(ROOT, 'lib/node/examples/.env.example'), 'utf8'));
			assert.match(read('server.mjs'), /process\.once\('SIGTERM'/);
			const { dependencies } = JSON.parse(read('package.json'));
			assert.equal(resolve(folder, 'server', dependencies.urlmode.replace('file:', '')), join(ROOT, 'lib/node'), 'not of a registry, where anybody may have the name');
			const imported = [...read('server.mjs').matchAll(/ from '((?:@[^/']+\/)?[^./:'][^/:']*)[^:']*'/g)].map(([, from]) => from);
			const others = imported.filter((from) => from !== 'urlmode' && !/^(@lynq|@frontmcp)/.test(from));
			assert.deepEqual(others.filter((from) => !(from in dependencies)), []);
		});
	}

	for (const [name, at, resolved, from] of [
		['urlmode', 'urlmode', 'file:../urlmode.tgz', 'file:../urlmode.tgz'],
		['@team/urlmode', '@team/urlmode', 'file:../urlmode.tgz', 'file:../urlmode.tgz'],
		['@team/urlmode', 'urlmode', 'file:archives/urlmode.tgz', 'file:../project/archives/urlmode.tgz'],
		['@team/urlmode', 'other/node_modules/urlmode', 'git+ssh://git@git.example.com/urlmode.git#0123', 'git+ssh://git@git.example.com/urlmode.git#0123'],
		['urlmode', 'urlmode', 'https://files.example.com/urlmode-1.2.3.tgz', 'https://files.example.com/urlmode-1.2.3.tgz'],
		['urlmode', 'urlmode', 'https://registry.example.com/urlmode/-/urlmode-1.2.3.tgz', '1.2.3'],
		['@team/urlmode', '@team/urlmode', 'https://registry.example.com/@team/urlmode/-/urlmode-1.2.3.tgz', 'npm:@team/urlmode@1.2.3'],
		['urlmode', '.pnpm/urlmode@1.2.3/node_modules/urlmode', undefined, 'file:../project/node_modules/.pnpm/urlmode@1.2.3/node_modules/urlmode'],
	]) {
		test(`the server needs ${name} from where it was installed: ${at}, ${resolved}`, async () => {
			const modules = join(folder, 'project/node_modules');
			const installed = join(modules, at);
			for (const each of ['src', 'examples']) cpSync(join(ROOT, 'lib/node', each), join(installed, each), { recursive: true });
			writeFileSync(join(installed, 'package.json'), JSON.stringify({ name, version: '1.2.3', type: 'module' }));
			writeFileSync(join(modules, '.package-lock.json'), JSON.stringify({ packages: { [`node_modules/${at}`]: { resolved } } }));
			execFileSync(process.execPath, ['--input-type=module', '--eval', "const { run } = await import(process.argv[1]); await run(['sdk', 'made']);", join(installed, 'src/commands/new.js')], { cwd: folder });
			const { dependencies } = JSON.parse(readFileSync(join(folder, 'made/package.json'), 'utf8'));
			assert.equal(dependencies.urlmode, from);
		});
	}

	for (const made of ['server', "Ada's server", '.']) {
		test(`what it prints is run as it stands: ${made}`, async () => {
			const { stdout } = await run(['new', 'sdk', ...made === '.' ? [] : [made]]);
			mkdirSync(join(folder, 'bin'));
			for (const name of ['npm', 'node']) writeFileSync(join(folder, 'bin', name), '#!/bin/sh\nprintf "%s|%s|%s\\n" "${0##*/}" "$*" "$PWD"\n', { mode: 0o755 });
			const commands = stdout.match(/^ {4}.*$/gm).join('\n');
			const said = execFileSync('sh', ['-euc', commands], { cwd: folder, encoding: 'utf8', env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}` } });
			const at = join(realpathSync(folder), made);
			assert.equal(said, `npm|install|${at}\nnode|--env-file=.env server.mjs|${at}\n`);
			assert.equal(readFileSync(join(at, '.env'), 'utf8'), readFileSync(join(ROOT, 'lib/node/examples/.env.example'), 'utf8'));
		});
	}

	test('overwrites nothing, and adds packages to a package.json', async () => {
		writeFileSync(join(folder, 'app.mjs'), 'mine');
		writeFileSync(join(folder, 'package.json'), '{\n  "name": "mine",\n  "dependencies": {\n    "urlmode": "file:../urlmode.tgz"\n  }\n}\n');
		const { status, stdout } = await run(['new', 'sdk']);
		assert.equal(status, 0);
		assert.match(stdout, /app\.mjs exists, and stays as it is/);
		assert.equal(readFileSync(join(folder, 'app.mjs'), 'utf8'), 'mine');
		assert.ok(existsSync(join(folder, 'server.mjs')));
		const text = readFileSync(join(folder, 'package.json'), 'utf8');
		const { name, dependencies } = JSON.parse(text);
		assert.deepEqual([name, dependencies.urlmode], ['mine', 'file:../urlmode.tgz']);
		assert.match(text, /^ {4}"@modelcontextprotocol\/sdk": /m);
	});
});

describe('keys', () => {
	test('new writes a file for its owner only, and never over another one', async () => {
		assert.equal((await run(['keys', 'new', 'keys'])).status, 0);
		const file = join(folder, 'keys');
		assert.equal(statSync(file).mode & 0o777, 0o600);
		const text = readFileSync(file, 'utf8');
		assert.match(text, /^1 [A-Za-z0-9+/]{43}=\n$/);
		assert.equal((await run(['keys', 'new', 'keys'])).status, 1);
		assert.equal(readFileSync(file, 'utf8'), text);
	});

	test('list shows which key seals, and no secret', async () => {
		const secrets = ['a', 'b', 'c'].map((letter) => Buffer.alloc(32, letter).toString('base64'));
		const file = join(folder, 'keys');
		writeFileSync(file, `7 ${secrets[0]}\n3 ${secrets[1]}\n200 ${secrets[2]}\n`, { mode: 0o600 });
		const { stdout } = await run(['keys', 'list'], { URLMODE_KEYS_FILE: file });
		assert.equal(stdout, `${file}:\n  key 7 seals and opens\n  key 3 opens\n  key 200 opens\n`);
		chmodSync(file, 0o604);
		const { status, stderr } = await run(['keys', 'list', file]);
		assert.equal(status, 1);
		assert.match(stderr, /other users may read or write it/);
	});
});

describe('migrate', () => {
	/** A database of its own, in which nothing is. */
	async function createDatabase(t) {
		const name = `npx_${randomUUID().replaceAll('-', '')}`;
		await fixture.stack.sql(`CREATE DATABASE ${name}`);
		t.after(() => fixture.stack.sql(`DROP DATABASE ${name} WITH (FORCE)`));
		const url = new URL(fixture.stack.env.URLMODE_ADMIN_DATABASE_URL);
		url.pathname = `/${name}`;
		return { URLMODE_ADMIN_DATABASE_URL: url.href };
	}
	const files = readdirSync(join(ROOT, 'sql/tables')).filter((file) => file.endsWith('.sql')).sort();
	const lines = (text) => text.split('\n').filter(Boolean);

	test('applies each migration once, and sql/migrate finds nothing left to do', async (t) => {
		const env = await createDatabase(t);
		assert.deepEqual(lines((await run(['migrate', '--dry-run'], env)).stdout),
			[...files, `functions of version ${functionsVersion()}`].map((what) => `${what} would be applied`));
		const runs = await Promise.all([run(['migrate'], env), run(['migrate'], env)]);
		assert.deepEqual(runs.map(({ status, stderr }) => [status, stderr]), [[0, ''], [0, '']]);
		assert.deepEqual(lines(runs.map(({ stdout }) => stdout).join('')).sort(), files, 'two at the same time do it once');
		assert.equal((await run(['migrate', '--dry-run'], env)).stdout, '');
		const shell = await new Promise((resolve) => {
			execFile(join(ROOT, 'sql/migrate'), { env: { ...process.env, ...env } }, (error, stdout) => resolve(error ?? stdout));
		});
		assert.equal(shell, '');
	});

	test('says what is missing', async () => {
		const { status, stderr } = await run(['migrate'], { URLMODE_ADMIN_DATABASE_URL: '' });
		assert.equal(status, 1);
		assert.match(stderr, /URLMODE_ADMIN_DATABASE_URL is not set/);
	});
});

describe('check', () => {
	/** The severity of each check, and the status. */
	async function check(args = [], env = {}) {
		const { status, stdout } = await run(['check', '--json', ...args], env);
		const report = JSON.parse(stdout);
		return { ...report, exit: status, of: Object.fromEntries(report.findings.map(({ check: name, severity }) => [name, severity])) };
	}

	test('finds nothing wrong with the stack', async () => {
		const report = await check(['--provider', 'demo']);
		assert.deepEqual(report.of, { keys: 'ok', database: 'ok', schema: 'ok', walk: 'ok', callback: 'ok', same_keys: 'ok' });
		assert.deepEqual([report.exit, report.status, report.errors, report.warnings], [0, 'ok', 0, 0]);
		assert.match((await run(['check'])).stdout, /^ok {7}keys {11}key \d+ seals.*\n[^]*0 errors, 0 warnings, 0 skipped\n$/);
		assert.deepEqual(await fixture.stack.sql("SELECT count(*)::int AS rows FROM urlmode.elicitation WHERE tenant = 'urlmode-check'"), [{ rows: 0 }]);
	});

	test('other keys than those of the callback programs, and an unknown provider, are errors', async () => {
		await run(['keys', 'new', 'keys']);
		const other = await check(['--provider', 'demo'], { URLMODE_KEYS_FILE: join(folder, 'keys') });
		assert.deepEqual([other.exit, other.of.same_keys], [2, 'error']);
		assert.equal((await check(['--provider', 'nobody'])).of.same_keys, 'error');
	});

	test('where users sign in at an OpenID provider, same keys are ok and other keys an error', async (t) => {
		const own = await openFixture({ name: 'npx-openid', own: true });
		t.after(() => own.close());
		const provider = own.closeAtEnd(await startOpenIdProvider('google'));
		const jwks = join(own.stack.runDir, 'jwks.json');
		writeFileSync(jwks, JSON.stringify(provider.jwks));
		await configure(own.stack, (config) => {
			config.user_check = 'openid';
			config.openid = { ...provider.openid, jwks_file: jwks, refresh_file: join(own.stack.runDir, 'refresh') };
		});
		const sameKeys = async (env) => (await check(['--provider', 'demo'], { ...own.stack.env, ...env })).of.same_keys;
		assert.equal(await sameKeys(), 'ok');
		await run(['keys', 'new', 'keys']);
		assert.equal(await sameKeys({ URLMODE_KEYS_FILE: join(folder, 'keys') }), 'error');
	});

	test('a role without rights, an empty database and a host that is not urlmode are errors', async (t) => {
		const cgi = await check([], { URLMODE_DATABASE_URL: fixture.stack.env.URLMODE_PROGRAMS_DATABASE_URL });
		assert.deepEqual([cgi.exit, cgi.of.role], [2, 'error']);
		const empty = new URL(fixture.stack.env.URLMODE_ADMIN_DATABASE_URL);
		empty.pathname = '/template1';
		assert.equal((await check([], { URLMODE_DATABASE_URL: empty.href })).of.schema, 'error');
		const { createServer } = await import('node:http');
		const other = createServer((request, response) => response.end('hello')).listen(0, '127.0.0.1');
		t.after(() => other.close());
		await new Promise((resolve) => other.once('listening', resolve));
		const report = await check([], { URLMODE_BASE_URL: `http://127.0.0.1:${other.address().port}` });
		assert.equal(report.of.callback, 'error');
	});

	test('a migration that is not applied is an error, whatever is in it', async () => {
		const name = 'frameworks/010_client_request.sql';
		const [{ applied_at }] = await fixture.stack.sql('DELETE FROM urlmode.migration WHERE name = $1 RETURNING applied_at', [name]);
		try {
			const { findings, exit } = await check();
			assert.equal(exit, 2);
			assert.equal(findings.find(({ check: one }) => one === 'schema').message, `not applied: ${name}`);
		} finally {
			await fixture.stack.sql('INSERT INTO urlmode.migration VALUES ($1, $2)', [name, applied_at]);
		}
	});

	test('a migration that is not as it was applied is an error', async () => {
		const name = '045_refresh.sql';
		const [{ digest }] = await fixture.stack.sql('SELECT digest FROM urlmode.migration WHERE name = $1', [name]);
		await fixture.stack.sql('UPDATE urlmode.migration SET digest = $1 WHERE name = $2', ['0'.repeat(64), name]);
		try {
			const { findings, exit } = await check();
			assert.equal(exit, 2);
			assert.equal(findings.find(({ check: one }) => one === 'schema').message, `not as it was applied: ${name}`);
		} finally {
			await fixture.stack.sql('UPDATE urlmode.migration SET digest = $1 WHERE name = $2', [digest, name]);
		}
	});

	test('functions of an older version are an error, and newer ones are not', async () => {
		const setVersion = (version) => fixture.stack.sql(
			`CREATE OR REPLACE FUNCTION urlmode.functions_version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT ${version}'`);
		try {
			await setVersion(0);
			const { findings, exit } = await check();
			assert.equal(exit, 2);
			assert.match(findings.find(({ check: one }) => one === 'schema').message, /^the functions have version 0, and not \d+$/);
			await setVersion(900);
			assert.equal((await check()).exit, 0);
		} finally {
			await setVersion(functionsVersion());
		}
	});

	test('no message contains a password or a key', async () => {
		const password = 'secret-of-the-test';
		const url = new URL(fixture.stack.env.URLMODE_DATABASE_URL);
		url.password = password;
		url.port = '1';
		const { status, stdout } = await run(['check'], { URLMODE_DATABASE_URL: url.href });
		assert.equal(status, 2);
		assert.doesNotMatch(stdout, new RegExp(password));
	});
});

test('unclaimed lists what was paid and not claimed, without its result', async () => {
	const subject = `npx-${randomUUID()}`;
	const { UrlMode } = await import('urlmode');
	const { URLMODE_DATABASE_URL: databaseUrl, URLMODE_KEYS_FILE: keysFile } = fixture.stack.env;
	const urlmode = fixture.closeAtEnd(new UrlMode({ databaseUrl, keysFile, baseUrl: fixture.stack.baseUrl }));
	const { elicitationId } = await urlmode.create({
		provider: 'stripe', kind: 'payment', subject, item: 'report:42', expected: { amount: 1050, currency: 'EUR' }, targetUrl: 'https://checkout.example/',
	});
	const stripe = sender(fixture, 'stripe');
	const reference = `cs_${randomUUID()}`;
	await stripe.send(stripe.event(elicitationId, 'paid', { reference, amount: 1050, currency: 'EUR' }));

	const payments = JSON.parse((await run(['unclaimed', '--json', '--provider', 'stripe'])).stdout);
	const mine = payments.find((payment) => payment.elicitationId === elicitationId);
	assert.deepEqual([mine.subject, mine.reference, mine.amount, mine.currency, mine.matches, 'result' in mine],
		[subject, reference, 1050, 'EUR', true, false]);
	assert.match((await run(['unclaimed'])).stdout, new RegExp(`  stripe  ${reference}  1050 EUR  ${elicitationId}  ${subject}\n`));
	assert.equal((await run(['unclaimed', '--json', '--since', '2999-01-01'])).stdout, '[]\n');
	await urlmode.claim(elicitationId, { subject, reference });
	assert.doesNotMatch((await run(['unclaimed'])).stdout, new RegExp(elicitationId));
});

test('accounts and vault: whose accounts there are, which keys are needed, and sealing anew; never a token', async () => {
	const { UrlMode } = await import('urlmode');
	const { Vault } = await import('urlmode/vault');
	const { URLMODE_DATABASE_URL: databaseUrl, URLMODE_KEYS_FILE: keysFile } = fixture.stack.env;
	const urlmode = fixture.closeAtEnd(new UrlMode({ databaseUrl, keysFile, baseUrl: fixture.stack.baseUrl }));
	await fixture.stack.sql('DELETE FROM urlmode.account');
	const file = join(folder, 'vault-keys');
	const env = { URLMODE_VAULT_KEYS_FILE: file };
	const line = (kid) => `${kid} ${randomBytes(32).toString('base64')}\n`;
	const old = line(3);
	writeFileSync(file, old, { mode: 0o600 });
	const subject = `npx-${randomUUID()}`;
	const vault = new Vault(urlmode, { keysFile: file, providers: {} });
	for (const id of ['one', 'two']) {
		await vault.store({ subject, provider: 'github' }, { tokens: { access_token: `of-the-test-${id}`, token_type: 'bearer' }, account: { id }, scopes: ['repo'] });
	}
	await fixture.stack.sql("UPDATE urlmode.account SET state = 'reconnect', reason = 'invalid_grant' WHERE account = 'one'");

	const said = [];
	const say = async (...args) => {
		const answer = await run(args, env);
		said.push(answer.stdout, answer.stderr);
		return [answer.status, answer.stdout];
	};
	const [, json] = await say('accounts', '--json', '--subject', subject);
	assert.deepEqual(JSON.parse(json).map(({ account, state, reason, scopes }) => [account, state, reason, scopes]),
		[['two', 'connected', '', ['repo']], ['one', 'reconnect', 'invalid_grant', ['repo']]]);
	assert.match((await say('accounts', '--state', 'reconnect', '--provider', 'github'))[1],
		new RegExp(`^\\S+Z  github  one  ${subject}  reconnect \\(invalid_grant\\)  refreshed \\S+Z  repo\n$`));
	assert.deepEqual(await say('accounts', '--subject', 'nobody'), [0, '']);

	assert.deepEqual(await say('vault', 'keys'), [0, `${file}:\n  key 3 seals and opens: 2 accounts\n`]);
	writeFileSync(file, line(4) + old);
	assert.deepEqual(await say('vault', 'keys'), [0, `${file}:\n  key 3 opens: 2 accounts\n  key 4 seals and opens: 0 accounts\n`]);
	assert.deepEqual(await say('vault', 'reseal'), [0, `2 accounts sealed with the first key of ${file}\n`]);
	assert.deepEqual(await say('vault', 'keys'), [0, `${file}:\n  key 3 opens: 0 accounts, it can be removed\n  key 4 seals and opens: 2 accounts\n`]);
	await fixture.stack.sql("UPDATE urlmode.account SET tokens = set_byte(tokens, 40, get_byte(tokens, 40) # 1) WHERE account = 'one'");
	writeFileSync(file, line(5) + readFileSync(file, 'utf8'));
	assert.deepEqual(await say('vault', 'reseal'), [1, `1 account sealed with the first key of ${file}\n`]);
	assert.deepEqual(said.at(-1).split('\n').toSorted(), ['', '1 account not sealed anew', `not sealed anew: github  one  ${subject}: they are not genuine`]);
	writeFileSync(file, line(6) + line(5));
	assert.deepEqual(await say('vault', 'keys'), [1, `${file}:\n  key 5 opens: 1 account\n  key 6 seals and opens: 0 accounts\n  key 4 is missing: 1 account cannot be opened\n`]);
	assert.ok(said.every((text) => !/of-the-test/.test(text) && !text.includes(old.split(' ')[1].trim())));
});
