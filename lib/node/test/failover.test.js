// Several hosts, of which one accepts writes: a primary and a standby that is promoted.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { checkDatabaseUrl } from '../src/core/database-url.js';
import { Client } from '../src/core/connection.js';
import { internalsOf } from '../src/core/internals.js';
import { Listener } from '../src/core/listener.js';
import { Cluster } from './support/cluster.js';
import { Callback, connect, request, setUp, until } from './support/database.js';

const owner = { subject: 'user-42' };

const inUrl = (...clusters) => clusters.map(({ port }) => `127.0.0.1:${port}`).join(',');

async function startBoth(t) {
	const primary = await Cluster.start(t);
	return { primary, standby: await Cluster.standbyOf(t, primary) };
}

/** Resolves when the standby has all that the primary has. */
async function caughtUp(t, primary, standby) {
	const [one, other] = [await connect(t, primary.adminUrl), await connect(t, standby.adminUrl)];
	const { rows: [{ lsn }] } = await one.query('SELECT pg_current_wal_lsn() AS lsn');
	await until('it has caught up', async () => (await other.query('SELECT pg_last_wal_replay_lsn() >= $1 AS yes', [lsn])).rows[0].yes);
}

/** Which of the clusters the URL leads to. */
async function reaches(url) {
	const client = new Client(checkDatabaseUrl(url));
	client.on('error', () => {});
	try {
		await client.connect();
		return client.port;
	} finally {
		await client.end().catch(() => {});
	}
}

test('the host that takes writes is found, whatever the order, and no other', async (t) => {
	const { primary, standby } = await startBoth(t);
	const url = (hosts, query = '') => primary.urlOf('urlmode_server', { hosts, query });
	for (const query of ['', '?target_session_attrs=read-write', '?target_session_attrs=primary']) {
		assert.equal(await reaches(url(inUrl(primary, standby), query)), primary.port);
		assert.equal(await reaches(url(inUrl(standby, primary), query)), primary.port);
		assert.equal(await reaches(url(`127.0.0.1:1,${inUrl(standby, primary)}`, query)), primary.port);
	}
	assert.equal(await reaches(url(inUrl(standby, primary), '?target_session_attrs=any')), standby.port);
	assert.equal(await reaches(url(`127.0.0.1:1,${inUrl(standby, primary)}`, '?target_session_attrs=any')), standby.port);
	await assert.rejects(reaches(url(`${inUrl(standby)},127.0.0.1:1`)), { message: `127.0.0.1:${standby.port} is read-only` });
	await assert.rejects(reaches(url(inUrl(standby), '?target_session_attrs=read-write')), /is read-only/);
	await assert.rejects(reaches(url('127.0.0.1:1,127.0.0.1:2')), { code: 'ECONNREFUSED' });
});

test('who stops to listen while the host is chosen connects to none', async (t) => {
	const connect = t.mock.method(pg.Client.prototype, 'connect', async () => {});
	let choose;
	t.mock.method(Client.prototype, 'chooseHost', () => new Promise((resolve) => (choose = resolve)));
	const listener = new Listener(checkDatabaseUrl('postgresql://u@one.invalid,two.invalid/urlmode'));
	listener.acquire(t);
	await listener.close();
	choose();
	await new Promise(setImmediate);
	assert.equal(connect.mock.callCount(), 0);
});

test('a host that does not answer delays nothing', async (t) => {
	const primary = await Cluster.start(t);
	// No time passes for time limits. The other address is reserved for documentation (RFC 5737): nobody answers.
	t.mock.timers.enable({ apis: ['setTimeout'] });
	assert.equal(await reaches(primary.urlOf('urlmode_server', { hosts: `192.0.2.1,${inUrl(primary)}` })), primary.port);
});

test('the environment says what the URL leaves out', async (t) => {
	const { primary, standby } = await startBoth(t);
	const env = { PGHOST: '127.0.0.1,127.0.0.1', PGPORT: `${standby.port},${primary.port}`, PGTARGETSESSIONATTRS: 'read-write' };
	Object.assign(process.env, env);
	t.after(() => Object.keys(env).forEach((name) => delete process.env[name]));
	assert.equal(await reaches(primary.urlOf('urlmode_server', { hosts: '' })), primary.port);
	process.env.PGTARGETSESSIONATTRS = 'any';
	assert.equal(await reaches(primary.urlOf('urlmode_server', { hosts: '' })), standby.port);
	assert.equal(await reaches(primary.serverUrl), primary.port, 'the URL goes first');
});

for (const order of ['primary first', 'standby first']) {
	test(`waits are back soon after a promotion, ${order}`, async (t) => {
		const { primary, standby } = await startBoth(t);
		const hosts = order === 'primary first' ? inUrl(primary, standby) : inUrl(standby, primary);
		const { urlmode, keysFile } = await setUp(t, {
			...primary, databaseUrl: primary.urlOf('urlmode_server', { hosts, query: '?application_name=server' }),
		});
		const ids = (await Promise.all(Array.from({ length: 20 }, () => urlmode.create(request)))).map((e) => e.elicitationId);
		const waits = ids.map((id) => urlmode.waitForCompletion(id, owner));
		await caughtUp(t, primary, standby);
		await primary.stop('immediate');
		await sleep(2_000);
		const begin = performance.now();
		await standby.promote();

		const promoted = performance.now();
		await until('it listens again', () => internalsOf(urlmode).listener.receivesNotifications);
		const took = performance.now() - promoted;
		t.diagnostic(`promotion ${Math.round(promoted - begin)} ms, then ${Math.round(took)} ms`);
		assert.ok((await urlmode.create(request)).elicitationId);

		const callback = await Callback.start(t, standby.adminUrl, keysFile);
		for (const id of ids) await callback.complete(id, { action: 'decline', reason: 'access_denied' });
		for (const { action } of await Promise.all(waits)) assert.equal(action, 'decline');
	});
}
