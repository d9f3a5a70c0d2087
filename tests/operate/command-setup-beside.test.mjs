// urlmode setup: what stands beside the callbacks, the console and the api.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { ROOT, urlmode } from '../support/command.mjs';
import {
	done, env, etc, everything, HOST, IS_ROOT, keepDatabase, loginOf, nginx, openSetup, read, setup,
} from '../support/setup.mjs';

const CONSOLE = path.join(ROOT, 'build/bin/console');

openSetup('operate-command-setup-beside');

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
