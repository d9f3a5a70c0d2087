// Two callback hosts and four MCP servers on one PostgreSQL, with and without a
// synchronous standby, and with a pooler before the callback hosts: elicitations
// a second over the whole way, and what each leaves in the WAL.
//
//     make bench-build && node tests/bench/growing.mjs
//
// All of it runs on one machine, with what asks for it: what comes out is less
// than separate machines would do.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { Cluster } from '../../lib/node/test/support/cluster.js';
import { startPgBouncer } from '../../lib/node/test/support/pgbouncer.js';
import { configure } from '../security/deployment.mjs';
import { startStack } from '../support/stack.mjs';
import { Bed } from './bed.mjs';
import { describe } from './machine.mjs';
import { FOLDER } from './paths.mjs';
import { run } from './processes.mjs';
import { median } from './statistics.mjs';

const SERVER = fileURLToPath(new URL('peers/server.mjs', import.meta.url));
const SERVERS = 4;
const ROUNDS = 3;
const TIME = { seconds: 6, warmUp: 2 };
const EACH = 15_000;

const say = (text) => process.stderr.write(`${text}\n`);
const figure = (number) => Math.round(number).toLocaleString('en');

const bed = await Bed.open(SERVERS * EACH, { peers: false });
try {
	const second = await secondHost();
	const ports = [bed.port, Number(new URL(second.baseUrl).port)];
	const standby = await startStandby();
	const direct = JSON.parse(readFileSync(bed.stack.env.URLMODE_CONFIG, 'utf8')).database_url;
	say(JSON.stringify(await describe(bed), undefined, '\t'));

	for (const [name, { names = '', url = direct }] of Object.entries({
		'without a standby': {},
		'with a synchronous standby': { names: '*' },
		'with a synchronous standby, and PgBouncer before the callback hosts': { names: '*', url: await startPgBouncer(bed, direct) },
	})) {
		await bed.sql(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
		await bed.sql('SELECT pg_reload_conf()');
		for (const stack of [bed.stack, second]) {
			await configure(stack, (config) => {
				config.database_url = url;
			});
			await serves(stack);
		}
		const rounds = [];
		for (let n = 0; n < ROUNDS; n++) rounds.push(await round(ports));
		const of = (key) => median(rounds.map((each) => each[key]));
		say(`${name}: ${figure(of('rate'))} elicitations a second; p50 ${of('p50').toFixed(1)} ms, p99 ${of('p99').toFixed(1)} ms; `
			+ `${figure(of('wal'))} bytes of WAL, ${figure(of('rows'))} bytes of table and indexes each; ${of('connections')} connections`);
	}
	const [{ state }] = await bed.sql("SELECT string_agg(sync_state, ',') AS state FROM pg_stat_replication");
	say(`the standby is ${state}, and has all: ${await standby.hasAll()}`);
} finally {
	await bed.close();
}

/** A stack whose programs have the database, keys and providers of the first; its own PostgreSQL is idle. */
async function secondHost() {
	const stack = await startStack({ name: 'bench', runDir: path.join(FOLDER, 'second') });
	bed.after(() => stack.close());
	const first = bed.stack.env;
	writeFileSync(stack.env.URLMODE_KEYS_FILE, readFileSync(first.URLMODE_KEYS_FILE));
	const { providers } = JSON.parse(readFileSync(first.URLMODE_CONFIG, 'utf8'));
	const { demo, ...others } = JSON.parse(readFileSync(stack.env.URLMODE_CONFIG, 'utf8')).providers;
	await configure(stack, (config) => {
		config.providers = { ...others, demo: { ...demo, ...providers.demo } };
	});
	return stack;
}

async function startStandby() {
	const standby = await Cluster.standbyOf(bed, { adminUrl: bed.stack.env.URLMODE_ADMIN_DATABASE_URL }, '-c fsync=on');
	return {
		async hasAll() {
			const [{ lag }] = await bed.sql('SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn)::float AS lag FROM pg_stat_replication');
			return standby.port && lag === 0;
		},
	};
}

async function serves(stack) {
	for (let tries = 0; tries < 100; tries++) {
		if ((await fetch(`${stack.baseUrl}/healthz`).catch(() => ({}))).ok) return;
		await new Promise((resolve) => { setTimeout(resolve, 50); });
	}
	throw new Error('a callback host has no database');
}

/** The servers, each with calls of its own, whose browsers come back to one of the two hosts. */
async function round(ports) {
	await bed.fill('urlmode', { to: 0 });
	const before = await usage();
	const servers = await Promise.all(Array.from({ length: SERVERS }, async (_, n) => {
		const [ids, requests] = ['ids', 'requests'].map((what) => path.join(FOLDER, `growing-${n}.${what}`));
		const own = bed.elicitations.slice(n * EACH, (n + 1) * EACH);
		writeFileSync(ids, own.map(({ id, subject }) => `${id} ${subject}\n`).join(''));
		await bed.writeReturns(requests, n * EACH, (n + 1) * EACH);
		return () => run([process.execPath, SERVER, 'urlmode', ids, '16', String(TIME.seconds), String(TIME.warmUp),
			String(ports[n % ports.length]), requests], { env: bed.stack.env });
	}));
	const connections = watchConnections();
	const results = (await Promise.all(servers.map((start) => start()))).map((text) => JSON.parse(text));
	const after = await usage();
	const done = results.reduce((sum, each) => sum + each.done, 0);
	if (await bed.completed('urlmode') !== done) throw new Error('not every elicitation is completed');
	return {
		rate: results.reduce((sum, { rate }) => sum + rate, 0),
		p50: median(results.map(({ p50 }) => p50)),
		p99: Math.max(...results.map(({ p99 }) => p99)),
		wal: (after.wal - before.wal) / done,
		rows: (after.rows - before.rows) / done,
		connections: await connections(),
	};
}

async function usage() {
	return (await bed.sql(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float AS wal,
		pg_total_relation_size('urlmode.elicitation')::float AS rows`))[0];
}

/** The most connections of programs and servers that there are, until it is asked. */
function watchConnections() {
	let most = 0;
	const timer = setInterval(async () => {
		const [{ n }] = await bed.sql("SELECT count(*)::integer AS n FROM pg_stat_activity WHERE usename LIKE 'urlmode%'");
		most = Math.max(most, n);
	}, 1_000);
	return async () => {
		clearInterval(timer);
		return most;
	};
}
