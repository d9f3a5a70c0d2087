// A primary that takes writes and does not commit, beside the one that leads.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from '../src/core/connection.js';
import { COMMIT_UNANSWERED_MS } from '../src/core/contract-limits.js';
import { checkDatabaseUrl } from '../src/core/database-url.js';
import { internalsOf } from '../src/core/internals.js';
import { startPair } from './support/pair.js';
import { Proxy } from './support/proxy.js';
import { Callback, connect, request, setUp, until } from './support/database.js';

const owner = { subject: 'user-42' };

/** For what writes. A wait that looks at its row again goes on. */
const LOCK = 'LOCK TABLE urlmode.elicitation IN SHARE MODE';

test('what is slow is waited for; a commit that hangs leads to the host that leads', async (t) => {
	const pair = await startPair(t);
	const { urlmode, keysFile } = await setUp(t, { ...pair.primary, databaseUrl: pair.urlOf('urlmode_server') });
	// One address, behind which is whoever leads: a balancer, or a name.
	const balancer = await Proxy.start(t, pair.primary.serverUrl);
	const { urlmode: balanced } = await setUp(t, { ...pair.primary, serverUrl: balancer.url });
	assert.ok((await balanced.create(request)).elicitationId);
	const before = await urlmode.create(request);
	const wait = urlmode.waitForCompletion(before.elicitationId, owner);

	const admin = await connect(t, pair.primary.adminUrl);
	// Not in the transaction that holds the lock, which sees the sessions as they were when it first looked.
	const observer = await connect(t, pair.primary.adminUrl);
	const waiting = async () => (await observer.query("SELECT FROM pg_stat_activity WHERE wait_event = 'relation'")).rowCount;
	// Also where the functions are older than the package, and cannot say it.
	for (const name of ['leader', 'leader_of_later']) {
		if (name !== 'leader') await admin.query(`ALTER FUNCTION urlmode.leader RENAME TO ${name}`);
		await admin.query(`BEGIN; ${LOCK}`);
		const slow = urlmode.create(request);
		await until('it waits for the lock', waiting);
		await sleep(COMMIT_UNANSWERED_MS + 2_000);
		await admin.query('COMMIT');
		assert.ok((await slow).elicitationId);
		if (name !== 'leader') await admin.query(`ALTER FUNCTION urlmode.${name} RENAME TO leader`);
	}

	// What waits for a lock when it is asked about, and in its commit when it is asked again.
	const id = randomUUID();
	await admin.query(`BEGIN; ${LOCK}`);
	const calls = [[urlmode, id], [balanced, randomUUID()]].map(([one, own]) => assert.rejects(
		one.create({ ...request, subject: own, id: own }), { name: 'UrlModeUnavailableError', maybeDone: true }));
	await until('they wait for the lock', async () => await waiting() === 2);
	await pair.part();
	await sleep(COMMIT_UNANSWERED_MS + 2_000);
	await admin.query('ROLLBACK');
	await until('both commits hang', async () => await pair.hung() === 2);
	balancer.lead(pair.standby.serverUrl);
	await Promise.all(calls);
	assert.equal(await pair.hung(), 2, 'they were closed, and not cancelled, which would have committed them');
	const on = async (url) => (await (await connect(t, url)).query('SELECT FROM urlmode.elicitation WHERE id = $1', [id])).rowCount;
	assert.equal(await on(pair.primary.adminUrl), 0);

	// Where the leader does not answer in time, on a busy machine, the old primary is tried once more.
	const atLeader = async (create) => {
		for (let tries = 1; ; tries += 1) {
			const asked = performance.now();
			const made = await create().catch((error) => error);
			if (made.elicitationId) return made.elicitationId;
			assert.ok(made.maybeDone && tries < 5 && performance.now() - asked > COMMIT_UNANSWERED_MS, made);
		}
	};
	assert.equal(await atLeader(() => urlmode.create({ ...request, subject: id, id })), id, 'the same is asked again');
	assert.ok(await atLeader(() => balanced.create(request)));
	assert.equal(await on(pair.standby.adminUrl), 1);
	const hung = await pair.hung();
	await until('it listens again', () => internalsOf(urlmode).listener.receivesNotifications);
	const callback = await Callback.start(t, pair.standby.adminUrl, keysFile);
	await callback.complete(before.elicitationId, { action: 'decline', reason: 'access_denied' });
	assert.equal((await wait).action, 'decline');
	assert.equal(await pair.hung(), hung);
});

test('as long as a host says nothing, the leader is looked for: it may be the old primary, and come back as it was', async (t) => {
	const pair = await startPair(t);
	const config = checkDatabaseUrl(pair.urlOf('urlmode_server'));
	async function reaches() {
		const client = new Client(config);
		client.on('error', () => {}); // its host stops
		await client.connect();
		client.end().catch(() => {});
		return client.port;
	}
	config.leadership.doubt();
	assert.equal(await reaches(), pair.primary.port);
	assert.equal(config.leadership.isDoubted, false, 'both have answered');

	await pair.part();
	config.leadership.doubt();
	await pair.primary.stop('immediate');
	assert.equal(await reaches(), pair.standby.port);
	await pair.primary.start();
	for (let n = 0; n < 5; n += 1) assert.equal(await reaches(), pair.standby.port);
});
