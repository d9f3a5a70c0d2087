// What image.test.mjs does in a root of Debian, the folder ROOT: the steps of the
// Containerfile, then a pod of the image (pod.mjs), and a rolling update of such pods.
// The database is the stack's.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { UrlMode } from 'urlmode';

import { ANYWHERE, ENVIRONMENT, NODE_ADDRESS, PROC, PROGRAMS, Pod, USER, allServe, compose, first, makeCertificate } from './pod.mjs';
import { rolling } from './rolling.mjs';
import { Browser } from '../support/browser.mjs';
import { comeBack, goOn } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

const { ROOT, PORT, KEYS, URLMODE_DATABASE_URL, URLMODE_PROGRAMS_DATABASE_URL, URLMODE_ADMIN_DATABASE_URL } = process.env;
const STEPS = JSON.parse(process.env.STEPS);
const TREE = fileURLToPath(new URL('../..', import.meta.url));
const BASE = `https://127.0.0.1:${PORT}`;
const IMAGE = path.join(ROOT, 'image');
const SIZE_MAX = 36; // MB

const execute = promisify(execFile);
const inImage = (...command) => execute('/usr/sbin/chroot', [IMAGE, ...command], { env: { PATH: '/usr/sbin:/usr/bin' } }).then(({ stdout }) => stdout);

test('the steps of the Containerfile', async () => {
	const [copy, run, from, image, ...rest] = STEPS;
	assert.deepEqual([copy, from, image], ['COPY . /source', 'FROM scratch', 'COPY --from=build /image /']);
	assert.deepEqual(rest, ['ENV PATH=/usr/sbin:/usr/bin', 'USER 65532:65532', 'STOPSIGNAL SIGTERM', 'CMD ["/usr/lib/urlmode/status", "--help"]']);
	const ignored = readFileSync(path.join(TREE, 'nginx/containers/Containerfile.dockerignore'), 'utf8').split('\n');
	const copied = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
	await execute('sh', ['-c', `mkdir "$1/source" && cd "$2" && tar -c --exclude=lib/node --no-same-owner ${copied.join(' ')} | tar -x --no-same-owner -C "$1/source"`, 'sh', ROOT, TREE]);
	// On the same release the object files come from this tree, as in make-install.test.mjs. The root compiles what
	// names a folder, and links everything.
	if (process.env.SAME_RELEASE) {
		await execute('sh', ['-c', 'cd "$2" && tar -c build/obj/lib build/obj/cgi-bin build/obj/nginx build/texts build/flags | tar -x --no-same-owner -C "$1/source"', 'sh', ROOT, TREE]);
	}
	await execute('chroot', [ROOT, 'sh', '-c', run.replace(/^RUN /, '')], { env: { ...ANYWHERE, PATH: '/usr/sbin:/usr/bin:/sbin:/bin', MAKEFLAGS: '' }, maxBuffer: 1 << 26 });
});

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
			/^\/usr\/lib\/urlmode\/(api|connect|form|oauth-return|payment-return|signin-return|status|webhook)$/, /^\/usr\/libexec\/urlmode\/operate$/,
			/^\/usr\/sbin\/urlmode$/, /^\/usr\/share\/urlmode\/(command|nginx|providers|sql)\//, /^\/usr\/share\/urlmode\/changelog$/,
			/^\/etc\/nginx\/(nginx\.conf|urlmode\/[a-z-]+\.conf)$/, /^\/etc\/(passwd|group|nsswitch\.conf|os-release|ssl\/certs\/ca-certificates\.crt)$/,
			/^\/usr\/lib(64)?\/[^ ]*\.so[^/]*$/, /^\/usr\/bin\/[a-z]+$/, /^\/(bin|lib|lib64|sbin)$/,
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
		for (const name of PROGRAMS) {
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
	providers: { demo: { kind: 'oauth', display_name: 'Demo' } },
};

describe('a pod', () => {
	let urlmode;
	let pod;
	let ca;

	before(async () => {
		chmodSync(ROOT, 0o755);
		const certificate = await makeCertificate(ROOT);
		ca = certificate['tls.crt'];
		pod = new Pod({ image: IMAGE, folder: path.join(ROOT, 'pod'), port: PORT });
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
			assert.equal((await get(route, { localAddress: NODE_ADDRESS })).status, 200);
			assert.equal((await get(route, { localAddress: '127.0.0.3' })).status, 403);
		}
		const { programs: health } = JSON.parse((await get('/healthz')).body);
		assert.deepEqual(Object.keys(health).sort(), [...PROGRAMS].sort(), 'they share their counters');
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
