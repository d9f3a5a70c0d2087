// What package.test.mjs does in a clean root, the folder ROOT. No systemd runs
// there; the database is the stack's. An ordinary user is root there, and has no
// right on the files that are its own outside.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { UrlMode } from 'urlmode';

import { Browser } from '../support/browser.mjs';
import { comeBack, goOn } from '../support/flow.mjs';
import { holdPorts, spawnNginx } from '../support/held-ports.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

const { ROOT, PACKAGES, VERSION, NEXT, KEYS, URLMODE_DATABASE_URL, URLMODE_PROGRAMS_DATABASE_URL } = process.env;
const PROGRAMS = ['connect', 'form', 'oauth-return', 'payment-return', 'signin-return', 'status', 'webhook'];
const ports = await holdPorts(1);
const [{ port: PORT }] = ports;
const BASE = `http://127.0.0.1:${PORT}`;

const execute = promisify(execFile);
const inside = (file) => path.join(ROOT, file);
const has = (file) => existsSync(inside(file));
// An ordinary user's processes may have numbers of their own in there.
const PROC = has('proc/self') ? inside('proc') : '/proc';

// mmdebstrap's own apt works from outside; this one is inside.
const env = { ...process.env, DEBIAN_FRONTEND: 'readline', PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LC_ALL: 'C.UTF-8' };
for (const name of Object.keys(env)) {
	if (/^(APT_|URLMODE_|TMPDIR|NODE_)/.test(name)) delete env[name];
}

async function run(...command) {
	const { stdout, stderr } = await execute('chroot', [ROOT, ...command], { env, maxBuffer: 1 << 24 });
	return stdout + stderr;
}

let nginx;
let urlmode;

/** The ids of the supervisors that spawn-fcgi has started. */
const supervisors = () => Promise.all(PROGRAMS.map(async (name) =>
	Number(await readFile(inside(`run/urlmode/${name}.pid`), 'utf8').catch(() => 0))));

/** The ids of the programs, which are what the supervisors have started. */
async function programs() {
	const children = await Promise.all((await supervisors()).filter(Boolean).map((pid) =>
		readFile(path.join(PROC, `${pid}/task/${pid}/children`), 'utf8').catch(() => '')));
	return children.join('').split(' ').filter(Boolean).map(Number);
}

async function stopPrograms() {
	for (const pid of (await supervisors()).filter(Boolean)) {
		process.kill(pid);
	}
	await until('the programs have ended', async () => (await programs()).length === 0);
}

after(async () => {
	await urlmode?.close();
	await stopPrograms().catch(() => {});
	nginx?.kill();
});

test('installing asks nothing, starts nothing, and says the next step', async () => {
	await copyFile(path.join(PACKAGES, 'first.deb'), inside('first.deb'));
	const said = await run('sh', '-c', 'exec apt-get install -q -y --no-install-recommends ./first.deb </dev/null');
	assert.match(said, /^urlmode is not set up yet; next: urlmode setup https:\/\/HOST$/m);
	for (const user of ['urlmode', 'urlmode-api', 'urlmode-console']) assert.equal((await run('getent', 'passwd', user)).split(':').at(-1).trim(), '/usr/sbin/nologin');
	assert.equal((await run('stat', '-c', '%a %U %G', '/etc/urlmode', '/var/log/urlmode', '/run/urlmode', '/etc/urlmode-api', '/var/log/urlmode-api', '/run/urlmode-api',
		'/etc/urlmode-console', '/var/log/urlmode-console', '/run/urlmode-console')), ['urlmode', 'urlmode-api', 'urlmode-console'].map((user) =>
		`750 root ${user}\n750 ${user} ${user}\n755 root root\n`).join(''));
	assert.ok(await readlink(inside('etc/systemd/system/multi-user.target.wants/urlmode.target')));
	assert.equal(await run('/usr/lib/urlmode/connect', '--version'), `connect (urlmode) ${VERSION}\n`);
	assert.equal(await run('urlmode', 'version'), `urlmode ${VERSION}\n`);
	assert.deepEqual((await supervisors()).filter(Boolean), []);
});

test('its documents lead to what is installed', async () => {
	const documents = inside('usr/share/doc/urlmode');
	assert.match(await readFile(path.join(documents, 'nginx/README.md'), 'utf8'), /\]\(monitoring\/README\.md\)/);
	const { stdout } = await execute('python3', ['-B', fileURLToPath(new URL('../../nginx/dist/documents.py', import.meta.url)), 'check', documents]).catch((error) => error);
	assert.equal(stdout, '');
});

/** The example of a configuration, with what a site has to change. */
async function setUp() {
	const example = JSON.parse(await readFile(inside('usr/share/doc/urlmode/examples/config.json'), 'utf8'));
	await writeFile(inside('etc/urlmode/keys'), KEYS);
	await writeFile(inside('etc/urlmode/config.json'), JSON.stringify({
		...example, base_url: BASE, database_url: URLMODE_PROGRAMS_DATABASE_URL, user_check: 'confirm',
	}));
	await run('chown', 'root:urlmode', '/etc/urlmode/keys', '/etc/urlmode/config.json');
	await run('chmod', '640', '/etc/urlmode/keys', '/etc/urlmode/config.json');
	await rm(inside('etc/nginx/sites-enabled/default'));
	await writeFile(inside('etc/nginx/sites-enabled/urlmode.conf'), `
		include urlmode/http.conf;
		include urlmode/upstreams.conf;
		server {
			listen 127.0.0.1:${PORT};
			access_log /var/log/nginx/urlmode.access.log urlmode;
			include urlmode/server.conf;
		}
	`);
}

test('an elicitation goes all the way, with what is installed', async () => {
	await setUp();
	await run('runuser', '-u', 'urlmode', '--', '/usr/lib/urlmode/connect', '--check');
	await run('/usr/share/doc/urlmode/examples/start-without-systemd');
	nginx = spawnNginx(ports, 'chroot', [ROOT, 'nginx', '-g', 'daemon off;'], env);
	await until('it serves', async () => (await request(`${BASE}/healthz`).catch(() => ({}))).status === 200);
	urlmode = new UrlMode({ databaseUrl: URLMODE_DATABASE_URL, keysFile: inside('etc/urlmode/keys'), baseUrl: BASE, name: 'Tests' });
	await walk();
});

async function walk() {
	const browser = new Browser();
	const flow = await goOn(urlmode, browser, { provider: 'github' });
	const [outcome, hop] = await Promise.all([
		urlmode.waitForCompletion(flow.id, flow.owner), comeBack(browser, flow.returnTo({ code: 'the code' })),
	]);
	assert.deepEqual([hop.status, new URL(hop.location, BASE).pathname], [303, '/done']);
	assert.deepEqual([outcome.action, outcome.result.code], ['accept', 'the code']);
	await browser.close();
}

/** As if systemd ran, and did nothing of what it is told to do. */
async function pretendSystemd() {
	await mkdir(inside('run/systemd/system'), { recursive: true });
	await writeFile(inside('usr/local/bin/deb-systemd-invoke'), '#!/bin/sh\necho "$*" >>/called\n', { mode: 0o755 });
	await symlink('/bin/true', inside('usr/local/bin/systemctl'));
}

async function endSystemd() {
	await Promise.all(['run/systemd', 'usr/local/bin/systemctl'].map((name) => rm(inside(name), { recursive: true })));
}

/** What it was told since the last time, without what a target does that is active. */
async function calledSystemd() {
	const lines = await readFile(inside('called'), 'utf8').catch(() => '');
	await rm(inside('called'), { force: true });
	return lines.split('\n').filter((line) => line && line !== 'start urlmode.target');
}

/** What systemd would do: the programs end, and others start at the same sockets. */
async function restart() {
	const before = await programs();
	assert.equal(before.length, PROGRAMS.length);
	before.forEach((pid) => process.kill(pid));
	await until('other programs run', async () => {
		const now = await programs();
		return now.length === PROGRAMS.length && !now.some((pid) => before.includes(pid));
	});
}

test('an upgrade under load loses no request, and what was changed stays', async () => {
	const next = path.join(PACKAGES, 'next.deb');
	await until('the next version is built', () => existsSync(next), { timeout: 120_000 });
	await copyFile(next, inside('next.deb'));
	const snippet = inside('etc/nginx/urlmode/server.conf');
	await writeFile(snippet, `${await readFile(snippet, 'utf8')}# changed here\n`);
	await pretendSystemd();

	let walked = 0;
	let upgraded = false;
	const walkers = Promise.all(Array.from({ length: 16 }, async () => {
		for (; !upgraded; walked++) await walk();
	}));
	const upgrade = (async () => {
		// A build of a later commit, however its hash sorts, is an upgrade for apt.
		// apt gives dpkg a path of its own, without what stands for systemd here.
		const said = await run('apt-get', 'install', '-o', 'DPkg::Path=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', '-q', '-y', '--no-install-recommends', '/next.deb');
		assert.match(said, /^1 upgraded, 0 newly installed/m);
		assert.deepEqual(await calledSystemd(), PROGRAMS.map((name) => `try-restart urlmode@${name}.service`));
		for (let times = 0; times < 3; times++) await restart();
		const enough = walked + 32;
		await until('it still goes on', () => walked >= enough);
	})().finally(() => { upgraded = true; });
	await Promise.all([walkers, upgrade]);

	assert.equal(await run('/usr/lib/urlmode/connect', '--version'), `connect (urlmode) ${NEXT}\n`);
	for (const pid of await programs()) {
		assert.match(await readlink(path.join(PROC, `${pid}/exe`)), /\/urlmode\/[a-z-]+$/, 'it is the new file');
	}
	assert.match(await readFile(snippet, 'utf8'), /# changed here/);
});

test('programs that would not start again are not restarted', async () => {
	await run('chmod', 'o+r', '/etc/urlmode/config.json');
	const said = await run('/var/lib/dpkg/info/urlmode.postinst', 'configure', VERSION);
	assert.match(said, /others may read or write it/);
	assert.match(said, /^urlmode: the programs of before still run/m);
	assert.deepEqual(await calledSystemd(), []);
	await endSystemd();
});

test('the api is restarted where it is set up, and would start', async () => {
	await pretendSystemd();
	await run('chmod', 'o=', '/etc/urlmode/config.json');
	await run('sh', '-c', `cd /etc/urlmode-api
		echo '{ "base_url": "${BASE}", "keys_file": "keys", "database_url": "host=/nonexistent" }' >api.json
		cp ../urlmode/keys keys && chgrp urlmode-api api.json keys && chmod 640 api.json keys`);
	const configure = () => run('/var/lib/dpkg/info/urlmode.postinst', 'configure', VERSION);
	await configure();
	assert.deepEqual(await calledSystemd(), [...PROGRAMS.map((name) => `try-restart urlmode@${name}.service`), 'try-restart urlmode-api.service']);
	await run('chmod', 'o+r', '/etc/urlmode-api/api.json');
	assert.match(await configure(), /^urlmode: the api of before still runs/m);
	assert.deepEqual(await calledSystemd(), PROGRAMS.map((name) => `try-restart urlmode@${name}.service`));
	await endSystemd();
});

test('removed, the configuration is still there', async () => {
	await stopPrograms();
	await run('dpkg', '-r', 'urlmode');
	assert.deepEqual(['usr/lib/urlmode', 'usr/share/urlmode', 'etc/urlmode/keys', 'etc/nginx/urlmode/http.conf'].map(has),
		[false, false, true, true]);
});

test('purged, the configuration, the keys and the logs are gone, and it says what is left', async () => {
	const said = await run('dpkg', '-P', 'urlmode');
	assert.match(said, /^The database urlmode is left as it is/m);
	for (const name of ['urlmode-api', 'urlmode-console']) assert.deepEqual([`etc/${name}`, `var/log/${name}`, `run/${name}`].map(has), [false, false, false]);
	assert.deepEqual(['etc/urlmode', 'var/log/urlmode', 'run/urlmode', 'etc/nginx/urlmode',
		'etc/systemd/system/multi-user.target.wants/urlmode.target'].map(has), [false, false, false, false, false]);
});
