// A pod of the image, as kubernetes.yaml describes one: nginx and the programs, with a
// folder of sockets that they share and secrets that are mounted. Each program has
// namespaces, a user and a read-only root of its own; nginx is this machine's.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { parse } from 'yaml';

import { spawnNginx } from '../support/held-ports.mjs';
import { objectsOf, readContainers } from '../support/kubernetes.mjs';

const execute = promisify(execFile);

export const PROGRAMS = ['connect', 'form', 'oauth-return', 'payment-return', 'signin-return', 'status', 'webhook'];
export const [USER, GROUP] = [12345, 65532]; // any user, and the group of the volumes
/** The address of the node that a pod runs on. */
export const NODE_ADDRESS = '127.0.0.2';
export const ENVIRONMENT = { URLMODE_CONFIG: '/etc/urlmode/config.json', URLMODE_CGI_DATABASE_URL: process.env.URLMODE_PROGRAMS_DATABASE_URL };
/** The environment, without what leads a program to the stack of the tests. */
export const ANYWHERE = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(APT_|URLMODE_|PG|TMPDIR|NODE_)/.test(name)));

const objects = objectsOf(readContainers('kubernetes.yaml'));
const { spec: { template: { spec: POD } } } = objects.find(({ kind }) => kind === 'Deployment');

export const deployment = objects.find(({ kind }) => kind === 'Deployment').spec;
export const containers = Object.fromEntries(POD.containers.map((container) => [container.name, container]));
export const compose = () => parse(readContainers('compose.yaml'), { merge: true });
/** The limit of a container, in KB. */
export const memoryLimit = (name) => Number(/^(\d+)Mi$/.exec(containers[name].resources.limits.memory)[1]) * 1024;

/** The files of a certificate for 127.0.0.1, which is its own authority. */
export async function makeCertificate(folder) {
	const file = (name) => path.join(folder, name);
	await execute('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1',
		'-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', file('tls.key'), '-out', file('tls.crt')]);
	return Object.fromEntries(['tls.crt', 'tls.key'].map((name) => [name, readFileSync(file(name), 'utf8')]));
}

/** The memory that the processes of a container have together: a control group of version 1 or 2, for which it takes root. */
class MemoryGroup {
	static #top = '/sys/fs/cgroup';
	static #isFirst = existsSync(path.join(MemoryGroup.#top, 'memory/memory.limit_in_bytes'));
	static #made = 0;
	#folder = path.join(MemoryGroup.#top, MemoryGroup.#isFirst ? 'memory' : '', `urlmode-${process.pid}-${MemoryGroup.#made++}`);

	constructor(name, bytes) {
		Object.assign(this, { name, limit: bytes });
		mkdirSync(this.#folder);
		writeFileSync(path.join(this.#folder, MemoryGroup.#isFirst ? 'memory.limit_in_bytes' : 'memory.max'), String(bytes));
		this.processes = path.join(this.#folder, 'cgroup.procs');
	}

	/** Bytes at most, with the pages of files, which are given back when there is no other; and how many processes were killed. */
	read() {
		const file = (name) => readFileSync(path.join(this.#folder, name), 'utf8');
		const [peak, events] = MemoryGroup.#isFirst ? ['memory.max_usage_in_bytes', 'memory.oom_control'] : ['memory.peak', 'memory.events'];
		return { name: this.name, limit: this.limit, peak: Number(file(peak)), killed: Number(/^oom_kill (\d+)$/m.exec(file(events))[1]) };
	}

	remove() {
		rmdirSync(this.#folder);
	}
}

export class Pod {
	programs = {};
	#groups = [];
	#limited;
	#image;
	#folder;
	#ports;
	#nginx;
	#ended;

	/**
	 * @param {{ image: string, folder: string, ports?: Awaited<ReturnType<typeof import('../support/held-ports.mjs').holdPorts>>, limited?: boolean }} options
	 *     ports: two for nginx, of which the second one is for monitoring; limited: each container has the memory of kubernetes.yaml
	 */
	constructor({ image, folder, ports = [], limited = false }) {
		this.#limited = limited;
		this.#image = image;
		this.#folder = folder;
		this.#ports = ports;
		[this.port, this.monitoring] = ports.map(({ port }) => port);
		for (const name of ['root', 'run', 'nginx', 'config', 'tmp', 'jwks']) mkdirSync(this.inside(name), { recursive: true });
		for (const name of ['run', 'nginx', 'jwks']) { // as fsGroup does
			chownSync(this.inside(name), 0, GROUP);
			chmodSync(this.inside(name), 0o2777);
		}
		chmodSync(this.inside('tmp'), 0o1777);
	}

	/** The container that prepares the volumes, with the snippets of kubernetes.yaml for another node. */
	async prepare() {
		const { data } = objects.find(({ kind }) => kind === 'ConfigMap');
		for (const [name, text] of Object.entries(data)) writeFileSync(this.inside(`config/${name}`), text.replace('10.0.0.0/8', NODE_ADDRESS));
		const [{ command }] = POD.initContainers;
		const { ended, output } = this.container(command, {
			env: { PATH: '/usr/sbin:/usr/bin' }, mounts: { '/config': 'config', '/nginx': 'nginx', '/run/urlmode': 'run' },
		});
		assert.deepEqual([await ended, output.text], [0, '']);
	}

	/** A program and its arguments that enter the group of a container first. */
	#within(name, ...command) {
		if (!this.#limited || !containers[name]) return command;
		const group = new MemoryGroup(name, memoryLimit(name) * 1024);
		this.#groups.push(group);
		return ['sh', '-euc', 'echo $$ >"$0"; exec "$@"', group.processes, ...command];
	}

	/** What each limited container has used. */
	memory() {
		return this.#groups.map((group) => group.read());
	}

	/** At the end of its processes. */
	forgetMemory() {
		for (const group of this.#groups.splice(0)) group.remove();
	}

	inside(name) {
		return path.join(this.#folder, name);
	}

	/** A secret as Kubernetes mounts it: links, of which ..data is swapped. */
	mountSecret(name, files) {
		const folder = this.inside(name);
		const version = `..${process.hrtime.bigint()}`;
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
	container(command, { name = undefined, env = {}, mounts = {}, user = `${USER}:${GROUP}` } = {}) {
		const [program, ...args] = this.#within(name, 'unshare', '--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child', 'sh', '-euc', `
			mount --bind "$IMAGE" "$CONTAINER"
			mount -t proc proc "$CONTAINER/proc"
			mount --rbind /dev "$CONTAINER/dev"
			${Object.entries(mounts).map(([to, from]) => `mkdir -p "$CONTAINER${to}"; mount --bind '${this.inside(from)}' "$CONTAINER${to}"`).join('\n')}
			mount -o remount,bind,ro "$CONTAINER"
			exec env -i ${Object.entries(env).map(([name, value]) => `'${name}=${value}'`).join(' ')} \\
				/usr/bin/setpriv --no-new-privs /usr/sbin/chroot --userspec=${user} --groups=${user.split(':')[1]} "$CONTAINER" "$@"`,
		'container', ...command);
		const child = spawn(program, args, { env: { ...ANYWHERE, IMAGE: this.#image, CONTAINER: this.inside('root') }, stdio: ['ignore', 'pipe', 'pipe'] });
		const output = { text: '' };
		for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => { output.text += bytes; });
		const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
		return { child, output, ended };
	}

	start(name, env) {
		return this.container([`/usr/lib/urlmode/${name}`, '--listen', `/run/urlmode/${name}.sock`],
			{ name, env, mounts: { '/run/urlmode': 'run', '/etc/urlmode': 'secret' } });
	}

	startPrograms(env) {
		for (const name of PROGRAMS) this.programs[name] = this.start(name, env);
	}

	/** The exit status of each. */
	async stopPrograms() {
		const statuses = [];
		for (const program of Object.values(this.programs)) {
			if (program.child.exitCode === null) process.kill(first(program), 'SIGTERM');
			statuses.push(await program.ended);
		}
		return statuses;
	}

	/** With the files that were prepared, at other places. Of IPv4 it has no other names: a request to an address has none. */
	startNginx() {
		const folder = this.inside('nginx');
		const change = (name, edit) => writeFileSync(path.join(folder, name), edit(readFileSync(path.join(folder, name), 'utf8')));
		change('nginx.conf', (text) => text.replaceAll('/tmp/', `${this.inside('tmp')}/`).replaceAll('/certificate/', `${this.inside('certificate')}/`)
			.replace('/dev/stdout', `${this.inside('tmp')}/access.log`));
		const places = (text) => text.replaceAll(/(\[::\]:|\b)(8443|8080)\b/g, (_, any, port) => `${any ? '[::1]' : '127.0.0.1'}:${port === '8443' ? this.port : this.monitoring}`);
		for (const name of ['listen', 'listen-monitoring']) change(`urlmode/${name}.conf`, places);
		change('urlmode/other-names.conf', (text) => places(text.replace(/listen 8443.*/, '')));
		// A loaded machine shakes hands and sends slowly.
		for (const name of ['nginx.conf', 'urlmode/server.conf']) change(name, (text) => text.replaceAll(/(client_(header|body)_timeout) 10s/g, '$1 120s'));
		change('urlmode/upstreams.conf', (text) => text.replaceAll('/run/urlmode/', `${this.inside('run')}/`));
		const [program, ...args] = this.#within('nginx', 'setpriv', `--reuid=${USER}`, `--regid=${GROUP}`, '--clear-groups', '--no-new-privs', ...containers.nginx.command, '-p', folder, '-c', `${folder}/nginx.conf`);
		this.#nginx = spawnNginx(this.#ports, program, args, { ...ANYWHERE, PATH: `${process.env.PATH}:/usr/sbin` });
		this.#ended = once(this.#nginx, 'close').then(([status]) => status);
	}

	/** Its workers. */
	nginxWorkers() {
		return readFileSync(`${PROC}/${this.#nginx.pid}/task/${this.#nginx.pid}/children`, 'utf8').trim().split(' ').map(Number);
	}

	/** Ends it as the signal of its image does: it finishes its requests. Its exit status. */
	stopNginx() {
		this.#nginx?.kill('SIGQUIT');
		return this.#ended;
	}
}

/** Whether an answer of /healthz names all programs: a program that has not started yet is no reason for 503. */
export function allServe({ status, body }) {
	return status === 200 && Object.keys(JSON.parse(body).programs).length === PROGRAMS.length;
}

/** An ordinary user's processes have numbers of their own in the root that mmdebstrap makes. */
export const PROC = existsSync(path.join(process.env.ROOT, 'proc/self')) ? path.join(process.env.ROOT, 'proc') : '/proc';

/** The process in a container that is the first there. */
export function first({ child }) {
	return Number(readFileSync(`${PROC}/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')[0]);
}
