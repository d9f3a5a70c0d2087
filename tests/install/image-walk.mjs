// What image.test.mjs does in a root of Debian, the folder ROOT: the steps of the
// Containerfile, then a pod of the image (pod.mjs), and a rolling update of such pods.
// The database is the stack's.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import tls from 'node:tls';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { UrlMode } from 'urlmode';

import { steps } from './image-steps.mjs';
import { ENVIRONMENT, NODE_ADDRESS, PROC, PROGRAMS, Pod, USER, allServe, compose, containers, first, makeCertificate, memoryLimit } from './pod.mjs';
import { rolling } from './rolling.mjs';
import { Browser } from '../support/browser.mjs';
import { comeBack, goOn } from '../support/flow.mjs';
import { holdPorts } from '../support/held-ports.mjs';
import { request } from '../support/http.mjs';
import { startOpenIdProvider } from '../support/openid-provider.mjs';
import { until } from '../support/wait.mjs';

const { ROOT, KEYS, URLMODE_DATABASE_URL, URLMODE_PROGRAMS_DATABASE_URL, URLMODE_ADMIN_DATABASE_URL } = process.env;
const ports = await holdPorts(2);
const [{ port: PORT }] = ports;
const BASE = `https://127.0.0.1:${PORT}`;
const IMAGE = path.join(ROOT, 'image');
const SIZE_MAX = 36; // MB

const execute = promisify(execFile);
const inImage = (...command) => execute('/usr/sbin/chroot', [IMAGE, ...command], { env: { PATH: '/usr/sbin:/usr/bin' } }).then(({ stdout }) => stdout);

steps();

describe('the image', () => {
	const files = () => readdirSync(IMAGE, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
		.map((entry) => path.join(entry.parentPath, entry.name).slice(IMAGE.length));

	test(`has at most ${SIZE_MAX} MB`, async (t) => {
		const { stdout } = await execute('du', ['-sm', '--apparent-size', IMAGE]);
		const size = Number.parseInt(stdout, 10);
		t.diagnostic(`${size} MB, ${files().length} files`);
		assert.ok(size <= SIZE_MAX, `${size} MB`);
	});

	test('has the programs, the command, the migrations and the snippets, and of Debian libraries, tools and licences', () => {
		const kinds = [
			/^\/usr\/lib\/urlmode\/(api|connect|console|form|oauth-return|payment-return|signin-return|status|webhook)$/, /^\/usr\/libexec\/urlmode\/operate$/,
			/^\/usr\/sbin\/urlmode$/, /^\/usr\/share\/urlmode\/(command|nginx|providers|sql)\//, /^\/usr\/share\/urlmode\/changelog$/,
			/^\/etc\/nginx\/(nginx(-api)?\.conf|urlmode\/[a-z-]+\.conf)$/, /^\/etc\/(passwd|group|nsswitch\.conf|os-release|ssl\/certs\/ca-certificates\.crt)$/,
			/^\/usr\/lib(64)?\/[^ ]*\.so[^/]*$/, /^\/usr\/bin\/[a-z0-9]+$/, /^\/(bin|lib|lib64|sbin)$/,
			/^\/usr\/share\/doc\/[^/]+\/copyright$/, /^\/var\/lib\/dpkg\/status\.d\/[^/]+$/,
		];
		assert.deepEqual(files().filter((file) => !kinds.some((kind) => kind.test(file))), []);
		for (const kind of kinds) assert.ok(files().some((file) => kind.test(file)), kind);
		assert.ok(existsSync(path.join(IMAGE, 'var/lib/dpkg/status.d/libpq5')), 'scanners find the libraries');
		for (const file of files()) {
			const { mode, uid } = statSync(path.join(IMAGE, file), { throwIfNoEntry: false }) ?? { mode: 0, uid: 0 };
			assert.deepEqual([mode & 0o6022, uid], [0, 0], file);
		}
	});

	test('each program starts without a shell and without any other file of /usr/bin', async () => {
		for (const name of ['api', ...PROGRAMS]) {
			assert.match(await inImage(`/usr/lib/urlmode/${name}`, '--version'), new RegExp(`^${name} \\(urlmode\\) \\d`));
		}
	});

	test('the command finds each tool that it uses', async () => {
		const scripts = files().filter((file) => file.startsWith('/usr/share/urlmode/command/') || file === '/usr/share/urlmode/sql/migrate' || file === '/usr/sbin/urlmode');
		const text = scripts.map((file) => readFileSync(path.join(IMAGE, file), 'utf8')).join('\n');
		const known = readdirSync('/usr/bin').filter((name) => /^[a-z]+$/.test(name));
		// Of what runs as root on a host, and of what the command asks for first.
		const elsewhere = ['runuser', 'systemctl', 'journalctl', 'nginx', 'useradd', 'htpasswd', 'sh', 'test', 'printf', 'kill', 'which', 'echo', 'login', 'look', 'last', 'script', 'service', 'file', 'yes', 'users', 'who', 'size', 'host', 'more', 'time', 'split', 'passwd', 'find', 'ps'];
		const used = known.filter((name) => new RegExp(`(^|[|;(]|&& |\\|\\| |then |if |! |\\$\\(|do )\\s*${name} [-"'$a-z/+]`, 'm').test(text.replaceAll(/^#.*$|^\t*cat <<'END'[^]*?^END$/gm, '')));
		const missing = used.filter((name) => !elsewhere.includes(name) && !existsSync(path.join(IMAGE, 'usr/bin', name)));
		assert.deepEqual(missing, []);
		assert.match(await inImage('/usr/sbin/urlmode', 'version', '--changes'), /^urlmode \(/);
	});
});

const CONFIG = {
	base_url: BASE, keys_file: 'keys', user_check: 'confirm',
	providers: { demo: { kind: 'oauth', display_name: 'Demo' }, shop: { kind: 'payment', description: 'stripe', secrets: ['whsec_test'] } },
};

describe('a pod', () => {
	let urlmode;
	let pod;
	let ca;

	before(async () => {
		chmodSync(ROOT, 0o755);
		const certificate = await makeCertificate(ROOT);
		ca = certificate['tls.crt'];
		pod = new Pod({ image: IMAGE, folder: path.join(ROOT, 'pod'), ports });
		pod.mountSecret('secret', { keys: KEYS, 'config.json': JSON.stringify(CONFIG) });
		pod.mountSecret('certificate', certificate);
		await pod.prepare();
		pod.startPrograms(ENVIRONMENT);
		pod.startNginx();
		await until('it is ready', async () => allServe(await get('/healthz').catch(() => ({}))));
		urlmode = new UrlMode({ databaseUrl: URLMODE_DATABASE_URL, keysFile: pod.inside('secret/keys'), baseUrl: BASE, name: 'Tests' });
	});

	after(async () => {
		await urlmode?.close();
		await pod?.stopNginx();
		await pod?.stopPrograms().catch(() => {});
	});

	const get = (route, options) => request(BASE + route, { ca, ...options });
	const probe = (route, options) => request(`http://127.0.0.1:${pod.monitoring}${route}`, options);

	async function walk() {
		const browser = new Browser({ ca });
		const flow = await goOn(urlmode, browser);
		const [outcome, hop] = await Promise.all([
			urlmode.waitForCompletion(flow.id, flow.owner), comeBack(browser, flow.returnTo({ code: 'the code' })),
		]);
		assert.deepEqual([hop.status, outcome.action, outcome.result.code], [303, 'accept', 'the code']);
		await browser.close();
	}

	test('an elicitation goes all the way', walk);

	test('the programs are the first of their containers, without a capability, and nothing but their mounts is writable', async () => {
		for (const program of Object.values(pod.programs)) {
			const pid = first(program);
			const status = readFileSync(`${PROC}/${pid}/status`, 'utf8');
			assert.match(status, /^NSpid:.*\t1$/m);
			for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) assert.match(status, new RegExp(`^${set}:\t0{16}$`, 'm'));
			assert.match(status, new RegExp(`^Uid:\t${USER}\t`, 'm'));
			const mounts = readFileSync(`${PROC}/${pid}/mountinfo`, 'utf8').split('\n').map((line) => line.split(' ')).filter(([, , , , place]) => place?.startsWith('/'));
			assert.deepEqual(mounts.filter(([, , , , place, options]) => !/^ro\b/.test(options) && !/^\/(run\/urlmode|etc\/urlmode|proc|dev)(\/|$)/.test(place)).map(([, , , , place]) => place), []);
		}
	});

	test('secrets of the environment are not in it any longer', async () => {
		const [, password] = /:([^:@/]+)@/.exec(URLMODE_PROGRAMS_DATABASE_URL);
		for (const program of Object.values(pod.programs)) {
			assert.ok(!readFileSync(`${PROC}/${first(program)}/environ`, 'latin1').includes(password));
		}
	});

	test('a probe from the address of a node gets 200, and one from elsewhere 403', async () => {
		for (const route of ['/healthz', '/healthz/live', '/metrics']) {
			for (const ask of [get, probe]) {
				assert.equal((await ask(route, { localAddress: NODE_ADDRESS })).status, 200);
				assert.equal((await ask(route, { localAddress: '127.0.0.3' })).status, 403);
			}
		}
		assert.equal((await probe('/healthz/ready', { localAddress: NODE_ADDRESS })).status, 200);
		assert.equal((await probe('/done')).status, 404, 'and nothing else has that port');
		const { programs: health } = JSON.parse((await get('/healthz')).body);
		assert.deepEqual(Object.keys(health).sort(), [...PROGRAMS].sort(), 'they share their counters');
	});

	/** The certificate that nginx has for a name, on IPv6; its error in place of that. */
	const certificateFor = (servername) => new Promise((resolve) => {
		const socket = tls.connect({ host: '::1', port: PORT, servername, rejectUnauthorized: false }, () => {
			resolve(socket.getPeerX509Certificate().toString());
			socket.destroy();
		});
		socket.on('error', (error) => resolve(error.code));
	});

	test('another name gets no certificate, and a renewed certificate is used without a restart', async () => {
		assert.equal(await certificateFor('callback.example.com'), ca);
		assert.equal(await certificateFor('other.example.com'), 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
		const renewed = await makeCertificate(ROOT);
		assert.notEqual(renewed['tls.crt'], ca);
		pod.mountSecret('certificate', renewed);
		ca = renewed['tls.crt'];
		assert.equal(await certificateFor('callback.example.com'), ca);
		await walk();
	});

	test('many unsigned posts at once stay below the limits of memory; what is too much is told so', async (t) => {
		const workers = pod.nginxWorkers();
		assert.equal(workers.length, Number(/worker_processes (\d+);/.exec(containers.nginx.command.at(-1))[1]), 'as many as the command says');
		const statuses = [];
		for (const size of [4 << 20, 150_000]) {
			const body = Buffer.alloc(size, 'x');
			statuses.push(...await Promise.all(Array.from({ length: 40 }, async () => (await get('/webhook/shop', { method: 'POST', body, timeout: 120_000 })).status)));
		}
		assert.deepEqual(statuses.filter((status) => status !== 401 && status !== 503), []);
		assert.ok(statuses.includes(401));
		const peak = (pid) => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`${PROC}/${pid}/status`, 'utf8'))[1]);
		const nginx = workers.map(peak).reduce((sum, each) => sum + each);
		const webhook = peak(first(pod.programs.webhook));
		t.diagnostic(`${statuses.filter((status) => status === 503).length} of 80 were too much; webhook ${webhook >> 10} MB, nginx ${nginx >> 10} MB`);
		assert.ok(webhook < memoryLimit('webhook'), `${webhook} KB`);
		assert.ok(nginx < memoryLimit('nginx'), `${nginx} KB`);
	});

	test('the container of openid fetches the keys of its provider for the programs, and ends with SIGTERM', async () => {
		const provider = await startOpenIdProvider('keycloak');
		try {
			const openid = { ...provider.openid, jwks_file: '/var/lib/urlmode/jwks.json', refresh_file: '/run/urlmode/metrics/jwks-refresh' };
			pod.mountSecret('openid', { keys: KEYS, 'config.json': JSON.stringify({ ...CONFIG, database_url: 'dbname=none', user_check: 'openid', openid }) });
			const jwks = pod.container(['/usr/sbin/urlmode', 'jwks', 'refresh', '--keep'],
				{ env: { PATH: '/usr/sbin:/usr/bin' }, mounts: { '/etc/urlmode': 'openid', '/run/urlmode': 'run', '/var/lib/urlmode': 'jwks', '/tmp': 'tmp' } });
			await until('they are there', () => existsSync(pod.inside('jwks/jwks.json')) || jwks.child.exitCode !== null);
			process.kill(first(jwks), 'SIGTERM');
			assert.equal(await jwks.ended, 0, jwks.output.text);
			assert.equal(JSON.parse(readFileSync(pod.inside('jwks/jwks.json'), 'utf8')).keys.at(-1).kid, provider.kid, jwks.output.text);
		} finally {
			await provider.close();
		}
	});

	test('keys that are swapped by their link are read', async () => {
		const more = `9 ${Buffer.alloc(32, 9).toString('base64')}\n`;
		pod.mountSecret('secret', { keys: KEYS + more, 'config.json': JSON.stringify(CONFIG) });
		await until('both programs of the way have the new key', async () => {
			await walk();
			return ['connect', 'oauth-return'].every((name) => pod.programs[name].output.text.includes('the keys were read again'));
		});
		pod.mountSecret('secret', { keys: more + KEYS, 'config.json': JSON.stringify(CONFIG) });
		await walk();
	});

	test('each line of the log is JSON, on standard error', async () => {
		for (const { output } of Object.values(pod.programs)) {
			for (const line of output.text.split('\n').slice(0, -1)) JSON.parse(line);
		}
		assert.match(pod.programs['oauth-return'].output.text, /"outcome":"completed"/);
	});

	test('SIGTERM ends each program; the volumes are prepared again, and those that start then have keys of the environment', async () => {
		assert.deepEqual(await pod.stopPrograms(), PROGRAMS.map(() => 0));
		assert.deepEqual(readdirSync(pod.inside('run')), ['metrics']);
		// As in a pod that gets a new sandbox, with the volumes of the one before.
		await pod.prepare();
		const { keys_file: _, ...config } = CONFIG;
		pod.mountSecret('secret', { keys: KEYS, 'config.json': JSON.stringify(config) });
		pod.startPrograms({ ...ENVIRONMENT, URLMODE_KEYS: KEYS.trim().replaceAll('\n', ',') });
		await until('they are ready', async () => allServe(await get('/healthz')));
		await walk();
	});

	test('a program that cannot start says so in a line of its log', async () => {
		const { ended, output } = pod.start('connect', { ...ENVIRONMENT, URLMODE_KEYS: '1 AAAA' });
		assert.equal(await ended, 1);
		assert.match(JSON.parse(output.text).notice, /^URLMODE_KEYS:1: the key is under 32 bytes$/);
	});

	test('the command migrates, as any user', async () => {
		const { ended, output } = pod.container(['/usr/sbin/urlmode', 'migrate'], { env: { URLMODE_ADMIN_DATABASE_URL, PATH: '/usr/bin' }, mounts: { '/tmp': 'tmp' } });
		assert.equal(await ended, 0, output.text);
	});
});

describe('the containers of compose.yaml', () => {
	const { services, volumes } = compose();
	const folder = path.join(ROOT, 'compose');
	const host = new Pod({ image: IMAGE, folder });
	const mounted = Object.entries(volumes).filter(([, volume]) => volume?.driver_opts);

	/** What a service has, each at its place. */
	const mountsOf = ({ volumes: list }) => Object.fromEntries(list.map((text) => text.split(':')).map(([from, to]) => [to, from]));

	before(async () => {
		mkdirSync(host.inside('secrets/urlmode'), { recursive: true });
		for (const [name, { driver_opts: { type, device, o } }] of mounted) {
			mkdirSync(host.inside(name), { recursive: true });
			await execute('mount', ['-t', type, '-o', o, device, host.inside(name)]);
		}
	});

	after(async () => {
		await host.stopPrograms().catch(() => {});
		for (const [name] of mounted) await execute('umount', ['-l', host.inside(name)]);
	});

	/** In place of the file, with another inode: so `urlmode keys` writes it. */
	function write(name, text) {
		const file = host.inside(`secrets/urlmode/${name}`);
		writeFileSync(`${file}.new`, text);
		chownSync(`${file}.new`, 0, 65532);
		chmodSync(`${file}.new`, 0o440);
		renameSync(`${file}.new`, file);
	}

	test('the volumes are made, and again with each start', async () => {
		const { command, user } = services.volumes;
		for (let times = 0; times < 2; times++) {
			const { ended, output } = host.container(command, { user, mounts: mountsOf(services.volumes), env: { PATH: '/usr/sbin:/usr/bin' } });
			assert.deepEqual([await ended, output.text], [0, '']);
		}
		assert.deepEqual(readdirSync(host.inside('nginx')).sort(), readdirSync(path.join(IMAGE, 'etc/nginx')).sort());
	});

	test('each program listens and counts with the others, and reads keys that were replaced', async () => {
		write('config.json', JSON.stringify(CONFIG));
		write('keys', KEYS);
		for (const name of PROGRAMS) {
			const { command, user, environment } = services[name];
			host.programs[name] = host.container(command, { user, mounts: mountsOf(services[name]), env: { ...environment, URLMODE_CGI_DATABASE_URL: URLMODE_PROGRAMS_DATABASE_URL } });
		}
		await until('all listen', () => PROGRAMS.every((name) => existsSync(host.inside(`run/${name}.sock`))));
		write('keys', `${KEYS}9 ${Buffer.alloc(32, 9).toString('base64')}\n`);
		await until('all have the new key', () => Object.values(host.programs).every(({ output }) => output.text.includes('the keys were read again')));
		assert.match(readdirSync(host.inside(mountsOf(services.connect)['/run/urlmode/metrics'])).join(), /^counters/, 'they share their counters');
		assert.deepEqual(await host.stopPrograms(), PROGRAMS.map(() => 0));
	});
});

rolling({ root: ROOT, image: IMAGE, keys: KEYS, databaseUrl: URLMODE_DATABASE_URL });
