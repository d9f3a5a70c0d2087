// The cluster of nginx/DATABASE.md's recipe on the loopback device: etcd, three Patronis with
// their PostgreSQLs, and HAProxy, with the files of nginx/examples/patroni. What a member says
// to etcd, and what the others read from it, goes through relays, so that it can be cut off.

import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';

import { openProxy } from '../chaos/proxy.mjs';
import { request } from '../support/http.mjs';
import { familyOf } from '../support/processes.mjs';
import { until } from '../support/wait.mjs';

const RECIPE = new URL('../../nginx/examples/patroni/', import.meta.url);
const NAMES = ['db1', 'db2', 'db3'];
/** How long the cluster may take to be whole, in milliseconds. */
const PATIENCE = 180_000;

const recipe = (name) => readFileSync(new URL(name, RECIPE), 'utf8');

export class Patronis {
	#folder;
	#as;
	#admin;
	#etcd;
	#haproxy;
	/** Takes connections, and never says anything. */
	#silence = createServer((socket) => socket.on('error', () => {}).unref());

	/**
	 * Makes a cluster of a data directory, whose server has ended. The directory is db1's from then on.
	 *
	 * @param {{ folder: string, data: string, bin: string, admin: URL, as: { uid?: number, gid?: number } }} options
	 *     admin: the superuser's URL; as: who owns the directory
	 */
	static async start(options) {
		const cluster = new Patronis();
		await cluster.#start(options);
		return cluster;
	}

	async #start({ folder, data, bin, admin, as }) {
		this.#folder = folder;
		this.#as = as;
		this.#admin = admin;
		this.#makeFolder(folder);
		await new Promise((resolve) => this.#silence.listen(0, '127.0.0.1', resolve));
		const [etcd, peers, way, ...rest] = ports(3 + 2 * NAMES.length);
		this.port = way;
		const own = `http://127.0.0.1:${peers}`;
		const clients = `http://127.0.0.1:${etcd}`;
		this.#etcd = this.#run('etcd', ['etcd', '--name', 'one', '--data-dir', path.join(folder, 'etcd'), '--listen-client-urls', clients,
			'--advertise-client-urls', clients, '--listen-peer-urls', own, '--initial-advertise-peer-urls', own, '--initial-cluster', `one=${own}`]);
		this.members = await Promise.all(NAMES.map(async (name, n) => ({
			name, port: rest[2 * n], rest: rest[2 * n + 1], data: n === 0 ? data : path.join(folder, name),
			toEtcd: await openProxy({ host: '127.0.0.1', port: etcd }),
			fromStandbys: await openProxy({ host: '127.0.0.1', port: rest[2 * n] }),
			fromPatronis: await openProxy({ host: '127.0.0.1', port: rest[2 * n + 1] }),
		})));
		// What the stack has set is Patroni's to set.
		writeFileSync(path.join(data, 'stack.conf'), '');
		await until('etcd serves', () => succeeds(`${clients}/health`));
		for (const member of this.members) {
			this.#configure(member, bin);
			this.startPatroni(member);
			if (member === this.members[0]) await until('db1 leads', async () => await this.leader() === member, { timeout: PATIENCE });
		}
		this.#haproxy = this.#run('haproxy', ['haproxy', '-db', '-f', this.#write('haproxy.cfg', this.members.reduce(
			(text, { name, port, rest: check }) => text.replace(new RegExp(`(server ${name}) .*`), `$1 127.0.0.1:${port} check port ${check}`),
			recipe('haproxy.cfg').replace('bind 127.0.0.1:5000', `bind 127.0.0.1:${way}`)))]);
		await this.untilWhole();
	}

	/** The recipe, but for names and places, and without a watchdog, which would reset this machine. */
	#configure({ name, port, rest, data, toEtcd, fromStandbys, fromPatronis }, bin) {
		const config = parse(recipe('patroni.yml'));
		const superuser = { username: this.#admin.username, password: this.#admin.password };
		Object.assign(config, { name, etcd3: { hosts: `127.0.0.1:${toEtcd.port}`, use_proxies: true }, watchdog: { mode: 'off' } });
		config.restapi = { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${fromPatronis.port}` };
		Object.assign(config.postgresql, {
			listen: `127.0.0.1:${port}`, connect_address: `127.0.0.1:${fromStandbys.port}`, data_dir: data, bin_dir: bin,
			authentication: { superuser, replication: superuser, rewind: superuser },
			pg_hba: ['host replication all 127.0.0.1/32 scram-sha-256', 'host all all 127.0.0.1/32 scram-sha-256'],
			pgpass: path.join(this.#folder, `${name}.pgpass`),
			parameters: { unix_socket_directories: this.#folder },
		});
		this.#write(`${name}.yml`, JSON.stringify(config));
	}

	#makeFolder(folder) {
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		if (this.#as.uid !== undefined) chownSync(folder, this.#as.uid, this.#as.gid);
	}

	#write(name, text) {
		const file = path.join(this.#folder, name);
		writeFileSync(file, text, { mode: 0o600 });
		if (this.#as.uid !== undefined) chownSync(file, this.#as.uid, this.#as.gid);
		return file;
	}

	#run(name, [command, ...args]) {
		const log = openSync(path.join(this.#folder, `${name}.log`), 'a');
		return spawn(command, args, {
			...this.#as, cwd: this.#folder, stdio: ['ignore', log, log],
			env: { PATH: `${process.env.PATH}:/usr/sbin`, HOME: this.#folder, LC_ALL: 'C.UTF-8' },
		});
	}

	startPatroni(member) {
		member.patroni = this.#run(member.name, ['patroni', path.join(this.#folder, `${member.name}.yml`)]);
	}

	/** For a role: the member's own address, or those of all. */
	urlOf(url, members = this.members) {
		const { username, password, pathname } = new URL(url);
		return `postgresql://${username}:${password}@${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}${pathname}`;
	}

	/** The member of which its Patroni says that it leads, or undefined. */
	async leader() {
		const says = await Promise.all(this.members.map(({ rest }) => succeeds(`http://127.0.0.1:${rest}/primary`)));
		return this.members.find((_, n) => says[n]);
	}

	/** Until one leads, and the others follow it, one of them synchronously. */
	async untilWhole() {
		await until('the cluster is whole', async () => {
			const leader = await this.leader();
			if (leader === undefined) return false;
			const { members } = JSON.parse((await request(`http://127.0.0.1:${leader.rest}/cluster`)).body);
			const [{ timeline }] = members.filter(({ role }) => role === 'leader');
			return members.length === NAMES.length && members.some(({ role }) => role === 'sync_standby')
				&& members.every((each) => ['running', 'streaming'].includes(each.state) && each.timeline === timeline && (each.lag ?? 0) === 0);
		}, { timeout: PATIENCE, every: 500 });
	}

	/** The host of a member loses its power. */
	async crash(member) {
		member.patroni.kill('SIGKILL');
		await this.#killPostgres(member);
	}

	async #killPostgres({ data }) {
		for (const { pid } of await familyOf(postmaster(data))) {
			try {
				process.kill(pid, 'SIGKILL');
			} catch {
				// it ended with the first
			}
		}
	}

	/** Patroni alone is gone. Its PostgreSQL goes on. */
	killPatroni(member) {
		member.patroni.kill('SIGKILL');
	}

	/** An operator has another member lead. */
	async switchOver(leader) {
		const { status, body } = await request(`http://127.0.0.1:${leader.rest}/switchover`, {
			method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ leader: leader.name }), timeout: 60_000,
		});
		if (status !== 200) throw new Error(`no switchover: ${status} ${body}`);
	}

	/** Programs and HAProxy still reach the member. It reaches etcd no more, and the others do not reach it. */
	cutOff(member) {
		for (const relay of relaysOf(member)) {
			relay.before = relay.target;
			relay.target = { host: '127.0.0.1', port: this.#silence.address().port };
			relay.stopCarrying();
		}
	}

	mend(member) {
		for (const relay of relaysOf(member)) {
			relay.target = relay.before;
			relay.reset();
			relay.dropStopped();
		}
	}

	async close() {
		const ends = (child) => child && new Promise((resolve) => (child.exitCode ?? child.signalCode) !== null ? resolve() : child.once('exit', resolve));
		for (const member of this.members ?? []) {
			member.patroni?.kill('SIGKILL');
			await this.#killPostgres(member).catch(() => {}); // it may have none
			await Promise.all(relaysOf(member).map((relay) => relay.close()));
		}
		for (const child of [this.#haproxy, this.#etcd]) child?.kill('SIGKILL');
		await Promise.all([this.#haproxy, this.#etcd].map(ends));
		this.#silence.close();
	}
}

const relaysOf = ({ toEtcd, fromStandbys, fromPatronis }) => [toEtcd, fromStandbys, fromPatronis];

/** The first process of the server of a data directory. */
function postmaster(data) {
	return Number.parseInt(readFileSync(path.join(data, 'postmaster.pid'), 'utf8'), 10);
}

async function succeeds(url) {
	return request(url, { agent: false, timeout: 2_000 }).then(({ status }) => status === 200, () => false);
}

function ports(count) {
	const script = fileURLToPath(new URL('../stack/ports.mjs', import.meta.url));
	return execFileSync(process.execPath, [script, '0', String(count - 1)], { encoding: 'utf8' }).trim().split(' ').map(Number);
}
