// urlmode setup on a cluster whose roles have no passwords: what it writes, what
// it leaves alone, and that no secret is seen on the way.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import pg from 'pg';
import { UrlMode } from 'urlmode';

import { COMMAND, installCommand, noteArguments, ROOT, urlmode } from '../support/command.mjs';
import { freePorts } from '../stack/harness.mjs';
import { startOpenIdProvider } from '../support/openid-provider.mjs';
import {
	admin, config, DATABASE, databases, done, env, etc, everything, FILES, folder, folders, HOST, IS_ROOT, keepDatabase, loginOf, nginx, openSetup, options, passwords, read, ROLES, setup, stack, urlIn, urls,
} from '../support/setup.mjs';
import { until } from '../support/wait.mjs';

openSetup('operate-command-setup');

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

	test('refuses other names once a port, where another site does not do it', async () => {
		mkdirSync(path.join(nginx, 'conf.d'));
		for (const [port, refuses] of [[8443, false], [443, true], [18443, true]]) {
			rmSync(path.join(nginx, 'sites-available'), { recursive: true, force: true });
			writeFileSync(path.join(nginx, 'conf.d/none.conf'),
				`server {\n\tlisten [::]:${port} ssl default_server;\n\tssl_reject_handshake on;\n}\nserver {\n\tlisten 8443 ssl;\n}\n`);
			await done();
			assert.equal(readFileSync(path.join(nginx, 'sites-available/urlmode.conf'), 'utf8').includes('ssl_reject_handshake on;'), refuses, port);
		}
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
