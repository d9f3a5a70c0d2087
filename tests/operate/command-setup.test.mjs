// urlmode setup on a cluster whose roles have no passwords: what it writes, what
// it leaves alone, and that no secret is seen on the way.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, mkdirSync, writeFileSync, lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';

import pg from 'pg';
import { UrlMode } from 'urlmode';

import { asUser, COMMAND, installCommand, noteArguments, ROOT, urlmode } from '../support/command.mjs';
import { freePorts } from '../stack/harness.mjs';
import { startOpenIdProvider } from '../support/openid-provider.mjs';
import { startStack } from '../support/stack.mjs';
import { until } from '../support/wait.mjs';

const HOST = 'https://callback.example:8443';
const ROLES = ['urlmode_cgi', 'urlmode_server', 'urlmode_operator'];
const FILES = ['config.json', 'keys', 'operator.env', 'server.env'];
const DATABASE = 'callbacks';
const IS_ROOT = process.getuid() === 0;
const CONSOLE = path.join(ROOT, 'build/bin/console');

let stack;
let folder;
let etc;
let nginx;
let admin;

before(async () => {
	stack = await startStack({ name: 'operate-command-setup' });
	await stack.sql("ALTER SYSTEM SET log_statement = 'all'");
	await stack.sql('SELECT pg_reload_conf()');
	admin = new URL(stack.env.URLMODE_ADMIN_DATABASE_URL);
	admin.pathname = `/${DATABASE}`;
});

beforeEach(async () => {
	folder = mkdtempSync(path.join(tmpdir(), 'urlmode setup '));
	chmodSync(folder, 0o755);
	etc = path.join(folder, 'etc/urlmode');
	nginx = path.join(folder, 'nginx');
	mkdirSync(nginx);
	if (!isKept) await stack.sql(`DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`);
	await Promise.all(ROLES.map((role) => stack.sql(`ALTER ROLE ${role} PASSWORD NULL`)));
});

after(() => stack?.close());

/** For tests that look at files alone: each finds the database of the one before, since to make it takes the longest. */
let isKept = false;
function keepDatabase() {
	before(() => { isKept = true; });
	after(() => { isKept = false; });
}

const env = () => ({ URLMODE_ADMIN_DATABASE_URL: admin.href });
const folders = () => [...asUser(), '--etc', etc, '--nginx', nginx];
const options = () => ['--user-check', 'remote-user', ...folders()];
const setup = (args = [], more = {}, command = undefined) => urlmode(['setup', ...options(), ...args, HOST], { ...env(), ...more }, command);

async function done(...all) {
	const said = await setup(...all);
	assert.deepEqual([said.status, said.err], [0, '']);
	return said.out;
}

const read = (name) => readFileSync(path.join(etc, name), 'utf8');
const config = () => JSON.parse(read('config.json'));
const urlIn = (name) => /_DATABASE_URL=(.*)/.exec(read(name))[1];
const urls = () => [config().database_url, urlIn('server.env'), urlIn('operator.env')];

/** Every file below a folder, with what it is. */
function everything(below = folder) {
	return readdirSync(below, { withFileTypes: true }).flatMap((entry) => {
		const file = path.join(below, entry.name);
		const { mode, uid, gid, mtimeMs } = lstatSync(file);
		return [[file, mode, uid, gid, entry.isFile() ? [mtimeMs, readFileSync(file, 'utf8')] : []],
			...entry.isDirectory() ? everything(file) : []];
	});
}

const passwords = () => stack.sql(
	'SELECT rolname, rolpassword FROM pg_authid WHERE rolname = ANY ($1) ORDER BY rolname', [ROLES]);
const databases = () => stack.sql('SELECT datname FROM pg_database ORDER BY datname');

async function loginOf(connectionString) {
	const client = new pg.Client({ connectionString });
	await client.connect();
	const { rows: [{ login }] } = await client.query('SELECT current_user AS login');
	await client.end();
	return login;
}

test('a dry run says every step, and changes nothing', async () => {
	const before = [everything(), await passwords(), await databases()];
	const out = await done(['--dry-run', '--oauth', 'github']);
	for (const step of [`create ${etc}`, `create ${etc}/keys`, `create database ${DATABASE}`, 'apply 001_schema.sql',
		...ROLES.map((role) => `make a password for ${role}`), ...FILES.map((name) => `create ${etc}/${name}`), `create ${nginx}/urlmode`]) {
		assert.ok(out.includes(`would ${step}`), `${step} is not in ${out}`);
	}
	assert.deepEqual([everything(), await passwords(), await databases()], before);
});

test('writes what is missing: each file with its mode, each role with its password', async () => {
	const out = await done(['--oauth', 'github', '--oauth', 'google', '--user-check', 'session-ticket']);

	assert.deepEqual(readdirSync(etc).sort(), FILES);
	assert.equal(statSync(etc).mode & 0o777, 0o750);
	assert.deepEqual(FILES.map((name) => (statSync(path.join(etc, name)).mode & 0o777).toString(8)), ['640', '640', '600', '600']);
	if (IS_ROOT) {
		const group = Number(execFileSync('id', ['-g', 'postgres'], { encoding: 'utf8' }));
		assert.deepEqual(FILES.map((name) => statSync(path.join(etc, name)).uid), [0, 0, 0, 0]);
		assert.deepEqual(FILES.map((name) => statSync(path.join(etc, name)).gid), [group, group, 0, 0]);
	}
	assert.deepEqual({ ...config(), database_url: '' }, {
		base_url: HOST, keys_file: 'keys', database_url: '', user_check: 'session-ticket',
		providers: { github: { kind: 'oauth' }, google: { kind: 'oauth' } },
	});
	assert.deepEqual(await Promise.all(urls().map(loginOf)), ROLES);
	assert.equal(new Set(urls().map((url) => new URL(url).password)).size, 3, 'each has its own');
	assert.ok(urls().every((url) => /^[0-9a-f]{48}$/.test(new URL(url).password)));
	assert.match(read('server.env'), new RegExp(`^URLMODE_BASE_URL=${HOST}$`, 'm'));
	execFileSync(path.join(ROOT, 'build/bin/connect'), ['--check'], { env: { URLMODE_CONFIG: path.join(etc, 'config.json') } });
	assert.match(out, /Next:[^]*server\.env[^]*urlmode check\n$/);
});

/** The databases to which PUBLIC can connect. */
const open = async () => (await stack.sql(`SELECT datname FROM pg_database d WHERE datallowconn AND EXISTS (
	SELECT FROM aclexplode(coalesce(datacl, acldefault('d', datdba))) WHERE grantee = 0 AND privilege_type = 'CONNECT')`)).map(({ datname }) => datname);

test('no login of urlmode can connect to another database, unless others log in to the cluster', async () => {
	await stack.sql('CREATE DATABASE "the shop\'s"');
	await stack.sql("CREATE ROLE shop LOGIN");
	try {
		assert.match(await done(), /^other roles may need to connect to .*the shop's/m);
		assert.ok((await open()).includes("the shop's"));
		await stack.sql('DROP ROLE shop');
		assert.match(await done(['--dry-run']), /^would withdraw CONNECT from PUBLIC for .*the shop's/m);
		assert.ok((await open()).includes("the shop's"));
		assert.match(await done(), /^withdraw CONNECT from PUBLIC for .*the shop's/m);
		assert.deepEqual(await open(), []);
		assert.doesNotMatch(await done(), /CONNECT/);
		const url = new URL(config().database_url);
		url.pathname = '/postgres';
		await assert.rejects(loginOf(url.href), /permission denied for database/);
	} finally {
		await stack.sql('DROP DATABASE "the shop\'s"');
		await stack.sql('GRANT CONNECT ON DATABASE postgres TO PUBLIC');
	}
});

describe('the console', () => {
	keepDatabase();

	const its = (name) => path.join(`${etc}-console`, name);
	const args = (...more) => ['--console', ...IS_ROOT ? ['--console-user', 'postgres'] : [], ...more];

	test('a dry run says its steps, it needs an operator, and without --console there is nothing of it', async () => {
		const out = await done(args('--operator', 'ada', '--dry-run'));
		for (const step of [`create ${etc}-console`, `create ${its('keys')} with a new key`, `create ${its('console.json')}`, `create ${nginx}/sites-available/urlmode-console.conf`,
			`enable ${nginx}/sites-available/urlmode-console.conf`]) assert.ok(out.includes(`would ${step}`), `${step} is not in ${out}`);
		assert.doesNotMatch(await done(), /urlmode-console/);
		assert.ok(!existsSync(`${etc}-console`));
		const { status, err } = await setup(args());
		assert.equal(status, 1);
		assert.match(err, /^urlmode: who may open the console\? Say --operator NAME, once for each$/m);
	});

	test('has a folder of its own, with the login of operators, keys of its own, and a site on loopback; again, nothing changes', async () => {
		const out = await done(args('--operator', 'ada', '--operator', 'grace "g"'));
		assert.deepEqual(readdirSync(`${etc}-console`).sort(), ['console.json', 'keys']);
		assert.deepEqual([statSync(`${etc}-console`).mode & 0o777, statSync(its('console.json')).mode & 0o777, statSync(its('keys')).mode & 0o777], [0o750, 0o640, 0o640]);
		const { database_url: url, ...rest } = JSON.parse(readFileSync(its('console.json'), 'utf8'));
		assert.deepEqual(rest, { base_url: 'http://127.0.0.1:8082', keys_file: 'keys', user_check: 'remote-user', console: { operators: ['ada', 'grace "g"'] } });
		assert.equal(await loginOf(url), 'urlmode_operator');
		assert.notEqual(readFileSync(its('keys'), 'utf8'), read('keys'));
		execFileSync(CONSOLE, ['--check'], { env: { URLMODE_CONFIG: its('console.json') } });
		const site = readFileSync(path.join(nginx, 'sites-enabled/urlmode-console.conf'), 'utf8');
		assert.match(site, /^\tlisten 127\.0\.0\.1:8082;$/m);
		assert.match(site, /^\tauth_basic_user_file urlmode-console\.htpasswd;\n\tset \$urlmode_console_user \$remote_user;$/m);
		assert.match(out, /For the console:[^]*urlmode-console\.socket[^]*urlmode-console\.htpasswd NAME\n[^]*ssh -L 8082:127\.0\.0\.1:8082 callback\.example,[^]*\/console\/\n$/);
		const before = everything();
		assert.match(await done(args()), /^keep .*\/urlmode-console\/console\.json$/m);
		assert.deepEqual(everything(), before);
	});
});

describe('the api', () => {
	keepDatabase();

	const api = (name) => path.join(`${etc}-api`, name);
	const apiUser = () => (IS_ROOT ? ['--api-user', 'postgres'] : []);

	test('a dry run says its steps, and without --api there is nothing of it', async () => {
		const out = await done(['--api', ...apiUser(), '--dry-run']);
		for (const step of [`create ${etc}-api`, `create ${api('keys')}, a copy of ${etc}/keys`, `create ${api('api.json')}`, `create ${nginx}/sites-available/urlmode-api.conf`,
			`enable ${nginx}/sites-available/urlmode-api.conf`]) assert.ok(out.includes(`would ${step}`), `${step} is not in ${out}`);
		assert.doesNotMatch(await done(), /api/);
		assert.ok(!existsSync(`${etc}-api`));
	});

	test('has a folder of its own, with the login of servers, a copy of the keys, and a site on loopback; again, nothing changes', async () => {
		const out = await done(['--api', '--oauth', 'github', ...apiUser()]);
		assert.deepEqual(readdirSync(`${etc}-api`).sort(), ['api.json', 'keys']);
		assert.deepEqual([statSync(`${etc}-api`).mode & 0o777, statSync(api('api.json')).mode & 0o777, statSync(api('keys')).mode & 0o777], [0o750, 0o640, 0o640]);
		const { database_url: url, listen_url: listen, ...rest } = JSON.parse(readFileSync(api('api.json'), 'utf8'));
		assert.deepEqual(rest, { base_url: HOST, keys_file: 'keys', api_keys_file: 'api-keys' });
		assert.deepEqual([await loginOf(url), listen], ['urlmode_server', url]);
		assert.equal(readFileSync(api('keys'), 'utf8'), read('keys'));
		execFileSync(path.join(ROOT, 'build/bin/api'), ['--check'], { env: { URLMODE_CONFIG: api('api.json') } });
		const site = readFileSync(path.join(nginx, 'sites-enabled/urlmode-api.conf'), 'utf8');
		assert.match(site, /^\tlisten 127\.0\.0\.1:8081;$/m);
		assert.match(out, /For the api:[^]*urlmode-api\.socket[^]*It listens at 127\.0\.0\.1:8081[^]*urlmode api-key add NAME\n$/);
		const before = everything();
		assert.match(await done(['--api', ...apiUser()]), /^keep .*\/urlmode-api\/api\.json$/m);
		assert.deepEqual(everything(), before);

		// The command finds its files by themselves, and keys changes both copies.
		const command = (...args) => urlmode(args, { URLMODE_CONFIG: path.join(etc, 'config.json') });
		const added = await command('api-key', 'add', 'shop', '--tenant', 'acme');
		assert.deepEqual([added.status, added.err], [0, '']);
		assert.match(readFileSync(api('api-keys'), 'utf8'), /^shop acme [0-9a-f]{64}\n$/);
		assert.equal(statSync(api('api-keys')).mode & 0o777, 0o640);
		assert.equal((await command('keys', 'rotate')).err, '');
		assert.match(read('keys'), /^2 /m);
		assert.equal(readFileSync(api('keys'), 'utf8'), read('keys'));
	});

	test('without the password of its login says where it is', async () => {
		await done();
		rmSync(path.join(etc, 'server.env'));
		const { status, err } = await setup(['--api', ...apiUser()]);
		assert.equal(status, 1);
		assert.match(err, /server\.env is not here, with the password of urlmode_server/);
		assert.ok(!existsSync(api('api.json')));
	});

	test('has the login of servers as it is, whatever characters it has', async () => {
		await done();
		const url = 'postgresql://urlmode_server@localhost/urlmode?password=a"b\\c';
		writeFileSync(path.join(etc, 'server.env'), read('server.env').replace(/^URLMODE_DATABASE_URL=.*$/m, () => `URLMODE_DATABASE_URL=${url}`));
		await done(['--api', ...apiUser()]);
		const { database_url: database, listen_url: listen } = JSON.parse(readFileSync(api('api.json'), 'utf8'));
		assert.deepEqual([database, listen], [url, url]);
	});

	test('gets the snippets that an older nginx/urlmode lacks', async () => {
		await done();
		rmSync(path.join(nginx, 'urlmode/api.conf'));
		await done(['--api', ...apiUser()]);
		assert.deepEqual(readdirSync(path.join(nginx, 'urlmode')).sort(), readdirSync(path.join(ROOT, 'nginx/urlmode')).sort());
	});
});

describe('another deployment', () => {
	const other = Object.assign(new URL('postgresql://x'), {});
	let systemd;
	let otherEtc;

	beforeEach(async () => {
		other.href = admin.href;
		other.pathname = '/callbacks_b';
		systemd = path.join(folder, 'systemd');
		mkdirSync(systemd);
		otherEtc = path.join(folder, 'etc/urlmode-b');
		await stack.sql('DROP DATABASE IF EXISTS callbacks_b WITH (FORCE)');
		await Promise.all(ROLES.map((role) => stack.sql(`DROP ROLE IF EXISTS ${role.replace('_', '_b_')}`)));
	});

	const apiUser = () => (IS_ROOT ? ['--api-user', 'postgres'] : []);
	const withConsole = () => ['--console', '--operator', 'ada', '--console-port', '8092', ...IS_ROOT ? ['--console-user', 'postgres'] : []];
	const setupOther = (args = [], { url = other, command, deployment = 'b', to = otherEtc } = {}) => urlmode(['setup', '--deployment', deployment, '--user-check', 'basic', ...asUser(),
		'--etc', to, '--nginx', nginx, '--systemd', systemd, '--api', ...apiUser(), ...args, 'https://b.example:8443'], { URLMODE_ADMIN_DATABASE_URL: url.href }, command);

	test('has roles, folders, units and a site of its own, beside the first one; again, nothing changes', async () => {
		await done(['--api', ...apiUser(), '--user-check', 'basic']);
		const said = await setupOther(['--api-port', '8091', ...withConsole()]);
		assert.deepEqual([said.status, said.err], [0, '']);
		assert.match(said.out, /enable --now urlmode-b\.target[^]*urlmode --deployment b check[^]*It listens at 127\.0\.0\.1:8091[^]*urlmode --deployment b api-key add NAME\n/);

		const file = (name) => readFileSync(path.join(otherEtc, name), 'utf8');
		const { database_url: url, metrics_file: counters } = JSON.parse(file('config.json'));
		assert.equal(counters, '/run/urlmode-b/metrics/counters');
		const own = [url, .../_DATABASE_URL=(.*)/.exec(file('server.env')).slice(1), .../_DATABASE_URL=(.*)/.exec(file('operator.env')).slice(1)];
		assert.deepEqual(await Promise.all(own.map(loginOf)), ROLES.map((role) => role.replace('_', '_b_')));
		assert.equal(JSON.parse(readFileSync(path.join(`${otherEtc}-api`, 'api.json'), 'utf8')).database_url, own[1]);
		for (const [theirs, database] of [[urls(), 'callbacks_b'], [own, DATABASE]]) {
			for (const each of theirs) await assert.rejects(loginOf(Object.assign(new URL(each), { pathname: `/${database}` }).href), /permission denied for database/);
		}

		// Nothing in a unit is the first one's, but for the programs and the pages of the manual.
		const units = readdirSync(path.join(ROOT, 'nginx/systemd')).filter((name) => name.startsWith('urlmode'));
		assert.deepEqual(readdirSync(systemd).sort(), units.map((name) => name.replace('urlmode', 'urlmode-b')).sort());
		for (const name of units) {
			const lines = (from) => readFileSync(from, 'utf8').split('\n').filter((line) => !/^#/.test(line));
			const [before, after] = [lines(path.join(ROOT, 'nginx/systemd', name)), lines(path.join(systemd, name.replace('urlmode', 'urlmode-b')))];
			assert.equal(after.length, before.length);
			assert.deepEqual(after.filter((line) => /urlmode(?!-b\b)/.test(line.replace(/^Documentation=.*|^Description=urlmode b|\/usr\/local\/(lib|sbin)\/urlmode( --deployment b )?/, ''))), [], name);
		}

		// Nor in what nginx has, but for the path of its errors and a name for people.
		const files = [...readdirSync(path.join(nginx, 'urlmode-b')).map((name) => `urlmode-b/${name}`), ...readdirSync(path.join(nginx, 'sites-available')).map((name) => `sites-available/${name}`).filter((name) => name.includes('-b'))];
		assert.ok(files.length >= 15, `${files}`);
		for (const name of files) {
			const lines = readFileSync(path.join(nginx, name), 'utf8').split('\n').filter((line) => !/^\s*#/.test(line));
			assert.deepEqual(lines.filter((line) => /urlmode(?![_-]b\b|_b_|-error\/)/.test(line.replace('"urlmode console"', ''))), [], name);
		}

		const before = everything();
		const again = await setupOther(['--api-port', '8091', ...withConsole()]);
		assert.deepEqual([again.status, again.err, again.out.match(/^(create|write|make|enable|set) .*/gm)], [0, '', null]);
		assert.deepEqual(everything(), before);
	});

	test('nginx takes both sites, and the pages of both', async () => {
		await done(['--api', ...apiUser(), '--user-check', 'basic']);
		assert.equal((await setupOther(['--api-port', '8091', '--oauth', 'github', ...withConsole()])).status, 0);
		const pages = await urlmode(['--deployment', 'b', 'pages'], { URLMODE_CONFIG: path.join(otherEtc, 'config.json') });
		assert.deepEqual([pages.status, pages.err], [0, '']);
		writeFileSync(path.join(nginx, 'urlmode-b/pages.conf'), pages.out);
		execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=b.example', '-keyout', path.join(folder, 'key.pem'), '-out', path.join(folder, 'cert.pem')], { stdio: 'ignore' });
		const [first, second] = ['urlmode', 'urlmode-b'].map((name) => readFileSync(path.join(nginx, `sites-available/${name}.conf`), 'utf8'));
		assert.deepEqual([first, second].map((site) => /ssl_reject_handshake/.test(site)), [true, false], 'one default of a port');
		let sites = 0;
		for (const name of readdirSync(path.join(nginx, 'sites-available'))) {
			const site = path.join(nginx, 'sites-available', name);
			// Where somebody else may listen, and without folders that are not there.
			writeFileSync(site, readFileSync(site, 'utf8').replace(/listen \S+?( ssl)?( http2)?;/g, (_, ssl = '') => `listen unix:${folder}/${sites += 1}.sock${ssl};`)
				.replace(/ssl_certificate [^;]*/g, `ssl_certificate "${folder}/cert.pem"`).replace(/ssl_certificate_key [^;]*/g, `ssl_certificate_key "${folder}/key.pem"`)
				.replaceAll('/var/log/nginx/', `${folder}/`).replace(/access_log (.*) (\w+);/g, 'access_log "$1" $2;').replaceAll('listen unix:', 'listen "unix:').replace(/\.sock( ssl)?;/g, '.sock"$1;'));
		}
		writeFileSync(path.join(nginx, 'nginx.conf'), `pid "${folder}/pid"; error_log stderr; events {} http { include sites-available/*.conf; }`);
		execFileSync('nginx', ['-t', '-q', '-c', path.join(nginx, 'nginx.conf'), '-e', 'stderr'], { env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` } });
	});

	test('setup takes no database of another deployment, no name of a unit, and no port of another api', async () => {
		await done();
		const before = [everything(), await databases()];
		for (const [args, more, said] of [
			[[], {}, /--api-port/], [['--api-port', '8091'], { deployment: 'api' }, /a deployment has a name/], [['--api-port', '8091'], { deployment: 'B' }, /a deployment has a name/],
		]) {
			const { status, err } = await setupOther(args, more);
			assert.equal(status, 64);
			assert.match(err, said);
			assert.deepEqual([everything(), await databases()], before);
		}
		const { status, err } = await setupOther(['--api-port', '8091'], { url: admin });
		assert.equal(status, 1);
		assert.match(err, /the database callbacks is another deployment's \(urlmode_cgi\)/);
		assert.equal((await stack.sql("SELECT FROM pg_roles WHERE rolname = 'urlmode_b_cgi'")).length, 0);
	});

	test('an upgrade writes units and snippets again, and keeps what was changed', async () => {
		const installed = path.join(folder, 'installed');
		const command = await installCommand(installed);
		assert.equal((await setupOther(['--api-port', '8091'], { command })).status, 0);
		const upgrade = () => urlmode(['setup', '--upgrade', '--systemd', systemd, '--nginx', nginx], {}, command);
		const before = everything(systemd);
		assert.deepEqual(await upgrade(), { status: 0, out: '', err: '' });
		assert.deepEqual(everything(systemd), before);
		for (const name of ['systemd/urlmode@.service', 'systemd/urlmode-api.service', 'urlmode/server.conf']) {
			const source = path.join(installed, 'nginx', name);
			writeFileSync(source, `${readFileSync(source, 'utf8')}# of /etc/urlmode, newer\nX=/run/urlmode/\n`);
		}
		writeFileSync(path.join(installed, 'nginx/systemd/urlmode-new.timer'), '[Timer]\n');
		writeFileSync(path.join(systemd, 'urlmode-a.target'), '# Made by urlmode setup --deployment a, and again by upgrades\n');
		const changed = path.join(systemd, 'urlmode-b-api.service');
		writeFileSync(changed, `${readFileSync(changed, 'utf8')}MemoryMax=1G\n`);
		const { status, out } = await upgrade();
		assert.equal(status, 0);
		assert.match(readFileSync(path.join(systemd, 'urlmode-b@.service'), 'utf8'), /newer\nX=\/run\/urlmode-b\/\n$/);
		assert.match(readFileSync(path.join(nginx, 'urlmode-b/server.conf'), 'utf8'), /newer\nX=\/run\/urlmode-b\/\n$/);
		for (const each of ['a', 'b']) assert.match(readFileSync(path.join(systemd, `urlmode-${each}-new.timer`), 'utf8'), /\[Timer\]\n$/);
		assert.match(readFileSync(changed, 'utf8'), /MemoryMax=1G\n$/);
		assert.match(readFileSync(`${changed}.new`, 'utf8'), /newer\nX=/);
		assert.match(out, /keep .*urlmode-b-api\.service, which was changed, and write .*urlmode-b-api\.service\.new/);
	});
});

test('openid: the entry is what the discovery document says, and nothing is begun without it', async () => {
	const provider = await startOpenIdProvider('keycloak', 'callbacks');
	const args = (...more) => ['--oauth', 'github', '--user-check', 'openid', '--client-id', 'callbacks', ...more];
	try {
		const out = await done(args('--issuer', provider.issuer, '--console', '--operator', 'ada', ...IS_ROOT ? ['--console-user', 'postgres'] : []));
		const { claim, ...openid } = provider.openid;
		assert.equal(config().user_check, 'openid');
		assert.deepEqual(config().openid, {
			...openid, jwks_file: '/var/lib/urlmode/jwks.json', refresh_file: '/run/urlmode/metrics/jwks-refresh',
		});
		// The console's operators sign in there as well, and nginx asks for no password.
		const console = JSON.parse(readFileSync(`${etc}-console/console.json`, 'utf8'));
		assert.deepEqual([console.user_check, console.openid], ['openid', { ...openid, jwks_file: '/var/lib/urlmode/jwks.json' }]);
		assert.doesNotMatch(readFileSync(path.join(nginx, 'sites-available/urlmode-console.conf'), 'utf8'), /auth_basic|remote_user|remote-user/);
		assert.match(out, /Register http:\/\/127\.0\.0\.1:8082\/console\/signin at /);
		rmSync(etc, { recursive: true });
		provider.discovery = { response_modes_supported: ['query', 'fragment'] };
		for (const [more, said] of [[['--issuer', provider.issuer], /does not answer with an id token by form_post/],
			[['--issuer', `${provider.issuer}/`], /that of another issuer/], [[], /needs --issuer and --client-id/]]) {
			const { status, err } = await setup(args(...more));
			assert.notEqual(status, 0);
			assert.match(err, said);
			assert.ok(!existsSync(etc));
		}
	} finally {
		await provider.close();
	}
});

test('what it wrote is enough for an MCP server and for the operator', async () => {
	await done(['--oauth', 'github']);
	const server = new UrlMode({ databaseUrl: urlIn('server.env'), keysFile: path.join(etc, 'keys'), baseUrl: HOST });
	const { elicitationId } = await server.create({ provider: 'github', kind: 'oauth', subject: 'ada', targetUrl: 'https://github.example/' });
	await server.close();
	const { status, out } = await urlmode(['show', elicitationId], { URLMODE_CONFIG: path.join(etc, 'config.json') });
	assert.equal(status, 0);
	assert.match(out, /subject +ada/);
});

test('no secret is printed, is on a command line, or reaches the log of PostgreSQL', async () => {
	const noting = await noteArguments(path.join(folder, 'bin'),
		['psql', 'openssl', 'env', 'sh', 'setsid', 'sed', 'awk', 'cat', 'mktemp', 'ln', 'chmod', 'chown', 'rm', 'grep', 'tr', 'head']);
	const { out, err } = await setup([], { PATH: noting.PATH });
	const notes = await noting.notes();
	const log = (await stack.logs()).get('postgres.log');

	assert.match(notes, /^psql .*password urlmode_server/m);
	assert.match(log, /CREATE DATABASE callbacks/);
	assert.doesNotMatch(log, /(?:ALTER|CREATE) (?:ROLE|USER)[^\n]*PASSWORD '/i);
	for (const secret of [...urls().map((url) => new URL(url).password), admin.password, /^1 (\S+)/m.exec(read('keys'))[1]]) {
		for (const [name, text] of Object.entries({ out, err, notes, log })) {
			assert.ok(!text.includes(secret), `a secret is in ${name}`);
		}
	}
});

test('again it keeps everything as it is', async () => {
	await done(['--oauth', 'github']);
	const before = [everything(), await passwords()];
	const out = await done(['--oauth', 'other', '--user-check', 'confirm']);
	assert.deepEqual([everything(), await passwords()], before);
	for (const kept of [...FILES, 'database callbacks', 'schema urlmode', 'nginx/urlmode', 'sites-available/urlmode.conf']) {
		assert.match(out, new RegExp(`^keep .*${kept}`, 'm'));
	}
	assert.doesNotMatch(out, /^(create|apply|set|make) /m);
});

test('what is there already is not overwritten, whatever it is', async () => {
	mkdirSync(path.join(nginx, 'urlmode'), { recursive: true });
	mkdirSync(path.join(nginx, 'sites-available'));
	mkdirSync(etc, { recursive: true });
	const mine = [path.join(nginx, 'sites-available/urlmode.conf'), ...FILES.map((name) => path.join(etc, name))];
	for (const file of mine) {
		writeFileSync(file, 'mine');
	}
	await done();
	assert.deepEqual(mine.map((file) => readFileSync(file, 'utf8')), mine.map(() => 'mine'));
	assert.deepEqual(readdirSync(path.join(nginx, 'urlmode')), []);
	assert.deepEqual((await passwords()).map(({ rolpassword }) => rolpassword), [null, null, null]);
});

describe('a failure', () => {
	/** A folder for PATH in which this program fails. */
	function failing(name) {
		const bin = path.join(folder, `failing-${name}`);
		mkdirSync(bin);
		writeFileSync(path.join(bin, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
		return { PATH: `${bin}:${process.env.PATH}` };
	}

	for (const [name, broken] of [
		['of psql\'s \\password', 'setsid'], ['of a file\'s name', 'ln'], ['of random bytes', 'openssl'], ['of PostgreSQL', 'psql'],
	]) {
		test(`${name}: says so; the next run goes on`, async () => {
			assert.notEqual((await setup([], failing(broken))).status, 0);
			await done(['--oauth', 'github']);
			assert.deepEqual(readdirSync(etc).sort(), FILES, 'nothing is left of the first run');
			assert.deepEqual(await Promise.all(urls().map(loginOf)), ROLES);
		});
	}

	test('after the passwords were set: the same ones are taken', async () => {
		assert.notEqual((await setup(['--database-host', '127.0.0.1:1'])).status, 0);
		const before = await passwords();
		assert.ok(before.every(({ rolpassword }) => rolpassword?.startsWith('SCRAM-SHA-256$')));
		await done();
		assert.deepEqual(await passwords(), before);
		assert.deepEqual(readdirSync(etc).sort(), FILES);
		assert.equal(await loginOf(config().database_url), 'urlmode_cgi');
	});

	test('a password that is set, and whose file is not here, is not overwritten', async () => {
		await stack.sql("ALTER ROLE urlmode_server PASSWORD 'of another host'");
		const before = (await passwords()).find(({ rolname }) => rolname === 'urlmode_server');
		const { status, err } = await setup();
		assert.equal(status, 1);
		assert.match(err, /urlmode_server has a password, and .*server\.env is not here: copy the file/);
		assert.deepEqual((await passwords()).find(({ rolname }) => rolname === 'urlmode_server'), before);
		assert.deepEqual(readdirSync(etc).sort(), FILES.filter((name) => name !== 'server.env'), 'the rest is there');
	});

	test('a configuration that cannot be connected with is said', async () => {
		const { status, err } = await urlmode(['setup', ...options(), HOST], { URLMODE_ADMIN_DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/x' });
		assert.equal(status, 1);
		assert.match(err, /cannot be reached as an administrator/);
	});

	for (const name of ["x'; DROP DATABASE urlmode; --", 'a b', '"']) {
		test(`a database of the name ${name} is refused`, async () => {
			const { status, err } = await urlmode(['setup', ...options(), HOST], {
				URLMODE_ADMIN_DATABASE_URL: `${stack.env.URLMODE_ADMIN_DATABASE_URL.replace(/[^/]*$/, '')}${encodeURIComponent(name)}`,
			});
			assert.equal(status, 1);
			assert.match(err, /name of the database/);
		});
	}
});

test('the units may send to the database, where it is on another host', async () => {
	const systemd = path.join(folder, 'systemd');
	const may = async (...args) => {
		const { out, err } = await setup(['--dry-run', '--systemd', systemd, ...args]);
		assert.equal(err, '');
		return [...out.matchAll(/^would let (\S+) send to (.*)$/gm)].map(([, unit, to]) => [unit, to]);
	};
	const all = (to) => ['urlmode@.service', 'urlmode-purge.service', 'urlmode-api.service', 'urlmode-console.service'].map((unit) => [unit, to]);
	assert.deepEqual(await may('--database-host', '192.0.2.7:5432'), [], 'there is no systemd');
	mkdirSync(systemd);
	assert.deepEqual(await may(), [], 'it is here');
	assert.deepEqual(await may('--database-host', '192.0.2.7:5432'), all('192.0.2.7'));
	assert.deepEqual(await may('--database-host', '1.db.example.com'), all('any'));
	assert.deepEqual(await may('--database-host', 'db.example.com', '--database-network', '192.0.2.0/24'), all('192.0.2.0/24'));
	const { out } = await setup(['--dry-run', '--systemd', systemd, '--database-host', 'db.example.com']);
	assert.match(out, /^The address of db\.example\.com may change, .*: the units may send to any address\./m);

	// Nobody listens there.
	await setup(['--systemd', systemd, '--database-host', '0.0.0.0:1']);
	for (const [unit] of all()) {
		assert.equal(readFileSync(path.join(systemd, `${unit}.d/database.conf`), 'utf8'), '[Service]\nIPAddressAllow=0.0.0.0\n');
	}
});

describe('how users sign in', () => {
	keepDatabase();

	const site = () => readFileSync(path.join(nginx, 'sites-available/urlmode.conf'), 'utf8');

	test('is asked for, and nothing is written without an answer', async () => {
		const args = ['setup', ...folders(), HOST];
		const { status, err } = await urlmode(args, env());
		assert.equal(status, 64);
		assert.match(err, /how do users sign in\? Say --user-check HOW/);
		assert.ok(!existsSync(etc));
		assert.match((await urlmode([...args, '--dry-run'], env())).out, /^would ask how users sign in/m);
	});

	/** What setup says on a terminal, to a user who answers this. */
	const onTerminal = async (input) => {
		const line = [COMMAND, 'setup', ...folders(), HOST].map((word) => `'${word}'`).join(' ');
		const child = spawn('script', ['-qec', line, '/dev/null'], { env: { ...process.env, ...env() } });
		let out = '';
		child.stdout.setEncoding('utf8').on('data', (data) => { out += data; });
		child.stdin.end(input);
		await once(child, 'close');
		return out;
	};

	test('is asked on a terminal', async () => {
		const out = await onTerminal('basic\n');
		assert.match(out, /nginx asks for a name and a password[^]*One of these: [^]*htpasswd -B -c FILE NAME/);
		assert.equal(config().user_check, 'remote-user');
		assert.match(site(), /^\tinclude urlmode\/server\.conf;\n\tinclude urlmode\/auth-basic\.conf;$/m);
	});

	test('is asked on a terminal, with the OpenID provider', async () => {
		const provider = await startOpenIdProvider('authentik', 'callbacks');
		try {
			const out = await onTerminal(`openid\n${provider.issuer}\ncallbacks\n`);
			assert.match(out, /One of these: [^]*The issuer, as [^]*The id of the client/);
			const { issuer, client_id: clientId } = config().openid;
			assert.deepEqual([config().user_check, issuer, clientId], ['openid', provider.issuer, 'callbacks']);
		} finally {
			await provider.close();
		}
	});

	for (const [how, check, snippet] of [
		['oauth2-proxy', 'remote-user', 'auth-request.conf'], ['basic', 'remote-user', 'auth-basic.conf'],
		['remote-user', 'remote-user'], ['session-ticket', 'session-ticket'], ['confirm', 'confirm'],
	]) {
		test(`${how} is written into the configuration and the site`, async () => {
			await done(['--user-check', how]);
			assert.equal(config().user_check, check);
			assert.deepEqual([.../include urlmode\/(auth-.*);/.exec(site())?.slice(1) ?? []], snippet ? [snippet] : []);
		});
	}
});

describe('nginx', () => {
	keepDatabase();

	test('gets its snippets and a site for the host', async () => {
		const out = await done();
		const site = readFileSync(path.join(nginx, 'sites-available/urlmode.conf'), 'utf8');
		assert.match(site, /^\tlisten 8443 ssl( http2)?;/m); // as this nginx has it
		assert.match(site, /server_name callback\.example;/);
		assert.match(site, /ssl_certificate \/etc\/letsencrypt\/live\/callback\.example\/fullchain\.pem;/);
		assert.doesNotMatch(site, /callback\.example\.com|443 ssl(?<!8443 ssl)/);
		assert.deepEqual(readdirSync(path.join(nginx, 'urlmode')).sort(), readdirSync(path.join(ROOT, 'nginx/urlmode')).sort());
		assert.match(out, /no certificate at \/etc\/letsencrypt\/live\/callback\.example\/fullchain\.pem yet/);
		assert.ok(!existsSync(path.join(nginx, 'sites-enabled/urlmode.conf')));
	});

	test('refuses no other names where the host is an address, for which browsers send none', async () => {
		assert.equal((await urlmode(['setup', ...options(), 'https://192.0.2.1'], env())).status, 0);
		const site = readFileSync(path.join(nginx, 'sites-available/urlmode.conf'), 'utf8');
		assert.deepEqual(site.match(/server_name .*/g), ['server_name 192.0.2.1;', 'server_name 192.0.2.1;']);
		assert.doesNotMatch(site, /ssl_reject_handshake|Who asks/);
	});

	test('refuses other names once, where another site does not do it', async () => {
		mkdirSync(path.join(nginx, 'conf.d'));
		writeFileSync(path.join(nginx, 'conf.d/none.conf'), 'server {\n\tlisten 443 ssl default_server;\n\tssl_reject_handshake on;\n}\n');
		await done();
		assert.doesNotMatch(readFileSync(path.join(nginx, 'sites-available/urlmode.conf'), 'utf8'), /ssl_reject_handshake/);
	});

	test('gets http2 as its version has it, and refuses other names where it can', async () => {
		const bin = path.join(folder, 'bin');
		mkdirSync(bin);
		for (const [version, lines, servers = 2] of [['1.18.0', ['listen 8443 ssl http2;', 'listen [::]:8443 ssl http2;'], 1], ['1.22.1', ['listen 8443 ssl http2;', 'listen [::]:8443 ssl http2;']], ['1.25.0', ['listen 8443 ssl http2;', 'listen [::]:8443 ssl http2;']],
			['1.25.1', ['listen 8443 ssl;', 'listen [::]:8443 ssl;', 'http2 on;']], ['1.26.3', ['listen 8443 ssl;', 'listen [::]:8443 ssl;', 'http2 on;']]]) {
			writeFileSync(path.join(bin, 'nginx'), `#!/bin/sh\necho 'nginx version: nginx/${version} (Debian)' >&2\n`, { mode: 0o755 });
			rmSync(path.join(nginx, 'sites-available'), { recursive: true, force: true });
			await done([], { PATH: `${bin}:${process.env.PATH}` });
			const text = readFileSync(path.join(nginx, 'sites-available/urlmode.conf'), 'utf8');
			assert.deepEqual(text.match(/^\t(listen .*ssl.*|http2 .*)$/gm).map((line) => line.trim()), Array(servers).fill(lines).flat(), version);
			assert.equal(text.includes('ssl_reject_handshake on;'), servers === 2, version);
		}
	});

	test('answers the challenge of ACME on port 80, before and after, and redirects the rest', async () => {
		await done();
		const [port] = await freePorts(1);
		const [plain] = readFileSync(path.join(nginx, 'sites-available/urlmode.conf'), 'utf8').match(/^server \{(?:(?!^\})[^])*listen 80;[^]*?^\}/m);
		mkdirSync(path.join(folder, 'html/.well-known/acme-challenge'), { recursive: true });
		writeFileSync(path.join(folder, 'html/.well-known/acme-challenge/token'), 'token.thumbprint');
		writeFileSync(path.join(folder, 'acme.conf'), `daemon off; pid "${folder}/pid"; error_log stderr; events {} http { access_log off;
			log_format urlmode ''; ${plain.replace('listen 80', `listen 127.0.0.1:${port}`).replace(/listen \[::\]:80;/, '')
		.replace('root /var/www/html', `root "${folder}/html"`).replace(/access_log [^;]*;/, 'access_log off;')} }`);
		const child = spawn('nginx', ['-p', folder, '-c', path.join(folder, 'acme.conf'), '-e', 'stderr'], { env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }, stdio: 'ignore' });
		const ended = once(child, 'exit');
		try {
			const get = (where) => fetch(`http://127.0.0.1:${port}${where}`, { redirect: 'manual', headers: { Host: 'callback.example' } });
			await until('nginx answers', () => get('/').then(() => true, () => false));
			const challenge = await get('/.well-known/acme-challenge/token');
			assert.deepEqual([challenge.status, await challenge.text()], [200, 'token.thumbprint']);
			const other = await get('/done?x=1');
			assert.deepEqual([other.status, other.headers.get('location')], [308, 'https://callback.example/done?x=1']);
		} finally {
			child.kill();
			await ended;
		}
	});

	test('enables the site as soon as there is a certificate', async () => {
		await done();
		const file = path.join(nginx, 'sites-available/urlmode.conf');
		writeFileSync(path.join(folder, 'cert.pem'), 'a certificate');
		writeFileSync(file, readFileSync(file, 'utf8').replace(/ssl_certificate [^;]*/, `ssl_certificate ${path.join(folder, 'cert.pem')}`));
		assert.match(await done(), /^enable [^]*4\. Reload nginx/m);
		assert.equal(readFileSync(path.join(nginx, 'sites-enabled/urlmode.conf'), 'utf8'), readFileSync(file, 'utf8'));
	});

	test('without sites-enabled is told in conf.d', async () => {
		mkdirSync(path.join(nginx, 'conf.d'));
		assert.match(await done(), /ln -s \.\.\/sites-available\/urlmode\.conf .*\/conf\.d\/$/m);
		const file = path.join(nginx, 'sites-available/urlmode.conf');
		writeFileSync(file, 'ssl_certificate /dev/null;\n');
		await done();
		assert.equal(readFileSync(path.join(nginx, 'conf.d/urlmode.conf'), 'utf8'), 'ssl_certificate /dev/null;\n');
		assert.ok(!existsSync(path.join(nginx, 'sites-enabled')));
	});

	test('one that is disabled by a link that leads nowhere stays so', async () => {
		await done();
		mkdirSync(path.join(nginx, 'sites-enabled'));
		symlinkSync('/nonexistent', path.join(nginx, 'sites-enabled/urlmode.conf'));
		assert.match(await done(), /^keep .*sites-enabled/m);
	});

	test('that is not there is said, and the rest is written', async () => {
		rmSync(nginx, { recursive: true });
		assert.match(await done(), /There is no nginx in/);
		assert.deepEqual(readdirSync(etc).sort(), FILES);
	});
});

if (IS_ROOT) {
	test('root creates the user of the programs, who owns nothing', async () => {
		const bin = path.join(folder, 'bin');
		mkdirSync(bin);
		writeFileSync(path.join(bin, 'useradd'), `#!/bin/sh\necho "$@" >'${folder}/useradd'\nexit 1\n`, { mode: 0o755 });
		const args = ['setup', '--user-check', 'confirm', '--user', 'urlmode-of-tests', '--etc', etc, '--nginx', nginx, HOST];
		assert.match((await urlmode([...args, '--dry-run'], env())).out, /^would create the user urlmode-of-tests$/m);
		assert.equal((await urlmode(args, { ...env(), PATH: `${bin}:${process.env.PATH}` })).status, 1);
		assert.match(readFileSync(path.join(folder, 'useradd'), 'utf8'), /--system --user-group .*--shell \/usr\/sbin\/nologin urlmode-of-tests$/m);
		assert.ok(!existsSync(etc), 'without the user nothing is written');
	});

	test('root without an address becomes the user postgres', async () => {
		const command = await installCommand(path.join(folder, 'installed'));
		const { status, out, err } = await urlmode(['setup', ...options(), HOST], {
			PGHOST: '127.0.0.1', PGPORT: admin.port, PGPASSWORD: admin.password,
		}, command);
		assert.equal(status, 0, err);
		assert.match(out, /^keep database urlmode$/m);
		assert.deepEqual(await Promise.all(urls().map(loginOf)), ROLES);
	});
}

test('an administrator who is no superuser is enough', async () => {
	await stack.service('restart', 'postgres');
	await stack.sql('CREATE DATABASE other');
	const other = new URL(admin);
	other.pathname = '/other';
	const client = new pg.Client({ connectionString: other.href });
	await client.connect();
	await client.query('DROP DATABASE urlmode WITH (FORCE)');
	for (const role of [...ROLES, 'urlmode_owner']) {
		await client.query(`DROP ROLE ${role}`);
	}
	await client.query("CREATE ROLE deployer LOGIN CREATEROLE CREATEDB PASSWORD 'not secret'");
	await client.query('GRANT CONNECT ON DATABASE postgres TO deployer');
	await client.end();
	const url = new URL(admin);
	url.username = 'deployer';
	url.password = 'not secret';

	const said = await setup([], { URLMODE_ADMIN_DATABASE_URL: url.href });
	assert.deepEqual([said.status, said.err], [0, '']);
	assert.deepEqual(await Promise.all(urls().map(loginOf)), ROLES);
	const again = await setup([], { URLMODE_ADMIN_DATABASE_URL: url.href });
	assert.deepEqual([again.status, again.err], [0, '']);
});
