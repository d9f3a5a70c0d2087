// What image.test.mjs does in a root of Debian, the folder ROOT: the steps of the
// Containerfile, and then a pod of the image. Each program has namespaces, a user and
// a read-only root of its own; nginx is this machine's. The database is the stack's.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { UrlMode } from 'urlmode';
import { parseAllDocuments } from 'yaml';

import { Browser } from '../support/browser.mjs';
import { comeBack, goOn } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

const { ROOT, PORT, KEYS, URLMODE_DATABASE_URL, URLMODE_PROGRAMS_DATABASE_URL, URLMODE_ADMIN_DATABASE_URL } = process.env;
const STEPS = JSON.parse(process.env.STEPS);
const TREE = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAMS = ['connect', 'form', 'oauth-return', 'payment-return', 'status', 'webhook'];
const BASE = `https://127.0.0.1:${PORT}`;
const IMAGE = path.join(ROOT, 'image');
const POD = path.join(ROOT, 'pod');
const [USER, GROUP] = [12345, 65532]; // any user, and the group of the volumes
const SIZE_MAX = 36; // MB
const ANYWHERE = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(APT_|URLMODE_|PG|TMPDIR|NODE_)/.test(name)));

const execute = promisify(execFile);
const inPod = (name) => path.join(POD, name);
const inImage = (...command) => execute('/usr/sbin/chroot', [IMAGE, ...command], { env: { PATH: '/usr/sbin:/usr/bin' } }).then(({ stdout }) => stdout);

test('the steps of the Containerfile', async () => {
	const [copy, run, from, image, ...rest] = STEPS;
	assert.deepEqual([copy, from, image], ['COPY . /source', 'FROM scratch', 'COPY --from=build /image /']);
	assert.deepEqual(rest, ['ENV PATH=/usr/sbin:/usr/bin', 'USER 65532:65532', 'STOPSIGNAL SIGTERM', 'CMD ["/usr/lib/urlmode/status", "--help"]']);
	const ignored = readFileSync(path.join(TREE, 'nginx/containers/Containerfile.dockerignore'), 'utf8').split('\n');
	const copied = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
	await execute('sh', ['-c', `mkdir "$1/source" && cd "$2" && tar -c --exclude=lib/node --no-same-owner ${copied.join(' ')} | tar -x --no-same-owner -C "$1/source"`, 'sh', ROOT, TREE]);
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
			/^\/usr\/lib\/urlmode\/(connect|form|oauth-return|payment-return|status|webhook)$/, /^\/usr\/libexec\/urlmode\/operate$/,
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

/** A secret as Kubernetes mounts it: links, of which ..data is swapped. */
function mountSecret(name, files) {
	const folder = inPod(name);
	const version = `..${Date.now()}`;
	mkdirSync(path.join(folder, version), { recursive: true });
	for (const [file, text] of Object.entries(files)) {
		const to = path.join(folder, version, file);
		writeFileSync(to, text);
		chownSync(to, 0, GROUP);
		chmodSync(to, 0o440);
		if (!existsSync(path.join(folder, file))) symlinkSync(`..data/${file}`, path.join(folder, file));
	}
	symlinkSync(version, path.join(folder, '..data_tmp'));
	renameSync(path.join(folder, '..data_tmp'), path.join(folder, '..data'));
}

/**
 * A container of the image: its own namespaces but that of the network, a root that
 * is read-only but for its mounts, a user without a name and without capabilities.
 */
function container(command, { env = {}, mounts = {} } = {}) {
	const root = inPod('root');
	mkdirSync(root, { recursive: true });
	const child = spawn('unshare', ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child', 'sh', '-euc', `
		mount --bind "$IMAGE" "$CONTAINER"
		mount -o remount,bind,ro "$CONTAINER"
		mount -t proc proc "$CONTAINER/proc"
		mount --rbind /dev "$CONTAINER/dev"
		${Object.entries(mounts).map(([to, from]) => `mount --bind '${inPod(from)}' "$CONTAINER${to}"`).join('\n')}
		exec env -i ${Object.entries(env).map(([name, value]) => `'${name}=${value}'`).join(' ')} \\
			/usr/bin/setpriv --no-new-privs /usr/sbin/chroot --userspec=${USER}:${GROUP} --groups=${GROUP} "$CONTAINER" "$@"`,
	'container', ...command], { env: { ...ANYWHERE, IMAGE, CONTAINER: root }, stdio: ['ignore', 'pipe', 'pipe'] });
	const output = { text: '' };
	for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => { output.text += bytes; });
	const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
	return { child, output, ended };
}

/** The process in a container that is the first there. */
async function first({ child }) {
	const pids = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
	return Number(pids[0]);
}

const secret = '/etc/urlmode';
const CONFIG = {
	base_url: BASE, keys_file: 'keys', user_check: 'confirm',
	providers: { demo: { kind: 'oauth', display_name: 'Demo' } },
};
const environment = { URLMODE_CONFIG: `${secret}/config.json`, URLMODE_CGI_DATABASE_URL: URLMODE_PROGRAMS_DATABASE_URL };

const start = (name, env = environment) => container([`/usr/lib/urlmode/${name}`, '--listen', `/run/urlmode/${name}.sock`],
	{ env, mounts: { '/run/urlmode': 'run', '/etc/urlmode': 'secret' } });

describe('a pod', () => {
	let urlmode;
	let nginx;
	let programs = {};
	let ca;

	before(async () => {
		mkdirSync(path.join(IMAGE, 'etc/urlmode'));
		mkdirSync(inPod('run/metrics'), { recursive: true });
		for (const folder of ['run', 'run/metrics']) { // as fsGroup does
			chownSync(inPod(folder), USER, GROUP);
			chmodSync(inPod(folder), 0o2770);
		}
		mkdirSync(inPod('tmp'), { mode: 0o777 });
		chmodSync(inPod('tmp'), 0o1777);
		chmodSync(ROOT, 0o755);
		mountSecret('secret', { keys: KEYS, 'config.json': JSON.stringify(CONFIG) });
		await execute('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1',
			'-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', inPod('tls.key'), '-out', inPod('tls.crt')]);
		ca = readFileSync(inPod('tls.crt'), 'utf8');
		mountSecret('certificate', { 'tls.crt': ca, 'tls.key': readFileSync(inPod('tls.key'), 'utf8') });
		startPrograms(environment);
		await startNginx();
		urlmode = new UrlMode({ databaseUrl: URLMODE_DATABASE_URL, keysFile: path.join(inPod('secret'), 'keys'), baseUrl: BASE, name: 'Tests' });
	});

	after(async () => {
		await urlmode?.close();
		nginx?.kill('SIGQUIT');
		await stopPrograms().catch(() => {});
	});

	function startPrograms(env) {
		for (const name of PROGRAMS) programs[name] = start(name, env);
	}

	/** How long each took to end, and its exit status. */
	async function stopPrograms() {
		const took = [];
		for (const program of Object.values(programs)) {
			process.kill(await first(program), 'SIGTERM');
			const began = performance.now();
			took.push({ status: await program.ended, ms: performance.now() - began });
		}
		return took;
	}

	/** nginx.conf of the image and the snippet of kubernetes.yaml, at other places and for another node. */
	async function startNginx() {
		const folder = inPod('nginx');
		cpSync(path.join(IMAGE, 'etc/nginx'), folder, { recursive: true });
		const change = (name, edit) => writeFileSync(path.join(folder, name), edit(readFileSync(path.join(folder, name), 'utf8')));
		change('nginx.conf', (text) => text.replaceAll('/tmp/', `${inPod('tmp')}/`).replaceAll('/certificate/', `${inPod('certificate')}/`)
			.replace('listen 8443 ssl', `listen 127.0.0.1:${PORT} ssl`).replace('/dev/stdout', `${inPod('tmp')}/access.log`));
		change('urlmode/upstreams.conf', (text) => text.replaceAll('/run/urlmode/', `${inPod('run')}/`));
		const [{ data }] = parseAllDocuments(readFileSync(path.join(TREE, 'nginx/containers/kubernetes.yaml'), 'utf8')).map((document) => document.toJS())
			.filter(({ kind }) => kind === 'ConfigMap');
		writeFileSync(path.join(folder, 'urlmode/monitoring.conf'), data['monitoring.conf'].replace('10.0.0.0/8', '127.0.0.2'));
		nginx = spawn('setpriv', [`--reuid=${USER}`, `--regid=${GROUP}`, '--clear-groups', '--no-new-privs', 'nginx', '-e', 'stderr', '-p', folder, '-c', `${folder}/nginx.conf`, '-g', 'daemon off;'],
			{ env: { ...ANYWHERE, PATH: `${process.env.PATH}:/usr/sbin` }, stdio: 'inherit' });
		await until('it is ready', async () => (await get('/healthz').catch(() => ({}))).status === 200);
	}

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
		for (const program of Object.values(programs)) {
			const pid = await first(program);
			const status = readFileSync(`/proc/${pid}/status`, 'utf8');
			assert.match(status, /^NSpid:.*\t1$/m);
			for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) assert.match(status, new RegExp(`^${set}:\t0{16}$`, 'm'));
			assert.match(status, new RegExp(`^Uid:\t${USER}\t`, 'm'));
			const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n').map((line) => line.split(' ')).filter(([, , , , place]) => place?.startsWith('/'));
			assert.deepEqual(mounts.filter(([, , , , place, options]) => !/^ro\b/.test(options) && !/^\/(run\/urlmode|etc\/urlmode|proc|dev)(\/|$)/.test(place)).map(([, , , , place]) => place), []);
		}
	});

	test('secrets of the environment are not in it any longer', async () => {
		const [, password] = /:([^:@/]+)@/.exec(URLMODE_PROGRAMS_DATABASE_URL);
		for (const program of Object.values(programs)) {
			assert.ok(!readFileSync(`/proc/${await first(program)}/environ`, 'latin1').includes(password));
		}
	});

	test('a probe from the address of a node gets 200, and one from elsewhere 403', async () => {
		for (const route of ['/healthz', '/healthz/live', '/metrics']) {
			assert.equal((await get(route, { localAddress: '127.0.0.2' })).status, 200);
			assert.equal((await get(route, { localAddress: '127.0.0.3' })).status, 403);
		}
		const { programs: health } = JSON.parse((await get('/healthz')).body);
		assert.deepEqual(Object.keys(health).sort(), [...PROGRAMS].sort(), 'they share their counters');
	});

	test('keys that are swapped by their link are read', async () => {
		const more = `9 ${Buffer.alloc(32, 9).toString('base64')}\n`;
		mountSecret('secret', { keys: KEYS + more, 'config.json': JSON.stringify(CONFIG) });
		await until('both programs of the way have the new key', async () => {
			await walk();
			return ['connect', 'oauth-return'].every((name) => programs[name].output.text.includes('the keys were read again'));
		});
		mountSecret('secret', { keys: more + KEYS, 'config.json': JSON.stringify(CONFIG) });
		await walk();
	});

	test('each line of the log is JSON, on standard error', async () => {
		for (const { output } of Object.values(programs)) {
			for (const line of output.text.split('\n').slice(0, -1)) JSON.parse(line);
		}
		assert.match(programs['oauth-return'].output.text, /"outcome":"completed"/);
	});

	test('SIGTERM ends each program, and those that start then have keys of the environment', async () => {
		const ended = await stopPrograms();
		assert.deepEqual(ended.map(({ status }) => status), PROGRAMS.map(() => 0));
		assert.deepEqual(readdirSync(inPod('run')).filter((name) => name.endsWith('.sock')), []);
		const { keys_file: _, ...config } = CONFIG;
		mountSecret('secret', { keys: KEYS, 'config.json': JSON.stringify(config) });
		startPrograms({ ...environment, URLMODE_KEYS: KEYS.trim().replaceAll('\n', ',') });
		await until('they are ready', async () => (await get('/healthz')).status === 200);
		await walk();
	});

	test('a program that cannot start says so in a line of its log', async () => {
		const { ended, output } = start('connect', { ...environment, URLMODE_KEYS: '1 AAAA' });
		assert.equal(await ended, 1);
		assert.match(JSON.parse(output.text).notice, /^URLMODE_KEYS:1: the key is under 32 bytes$/);
	});

	test('the command migrates, as any user', async () => {
		const { ended, output } = container(['/usr/sbin/urlmode', 'migrate'], { env: { URLMODE_ADMIN_DATABASE_URL, PATH: '/usr/bin' }, mounts: { '/tmp': 'tmp' } });
		assert.equal(await ended, 0, output.text);
	});
});
