// urlmode setup: another deployment on the same host and the same cluster.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, test } from 'node:test';

import { asUser, installCommand, ROOT, urlmode } from '../support/command.mjs';
import {
	admin, DATABASE, databases, done, env, everything, folder, folders, IS_ROOT, loginOf, nginx, openSetup, ROLES, setup, stack, urls,
} from '../support/setup.mjs';

openSetup('operate-command-setup-deployment');

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
		for (const name of ['conf.d', 'sites-enabled']) mkdirSync(path.join(nginx, name));
		await done(['--api', ...apiUser(), '--user-check', 'basic']);
		assert.deepEqual(readdirSync(path.join(nginx, 'conf.d')), []);
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
		writeFileSync(path.join(nginx, 'nginx.conf'), `pid "${folder}/pid"; error_log stderr; events {} http { include conf.d/*.conf; include sites-available/*.conf; }`);
		const tried = spawnSync('nginx', ['-t', '-q', '-c', path.join(nginx, 'nginx.conf'), '-e', 'stderr'], { env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }, encoding: 'utf8' });
		assert.deepEqual([tried.status, tried.stderr.match(/.*variables_hash.*/)], [0, null], tried.stderr);
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
