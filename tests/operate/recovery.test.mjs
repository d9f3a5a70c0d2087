// What DATABASE.md says of a failover with an asynchronous standby, and of a restore to an
// earlier time: which payments are lost, and what the operator's command shows afterwards.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import test from 'node:test';

import { Cluster, identity } from '../../lib/node/test/support/cluster.js';
import { Callback, connect, setUp } from '../../lib/node/test/support/database.js';
import { scratchFolder } from '../../lib/node/test/support/keys.js';
import { urlmode as command } from '../support/command.mjs';
import { until } from '../support/wait.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };
const PAYMENT = { provider: 'shop', kind: 'payment', subject: 'user-42', expected: PRICE, targetUrl: 'https://shop.example/pay' };

/** A webhook of the shop. */
function tell(callback, id, effect = 'paid') {
	const reference = `pay-${id}`;
	return callback.event(id, effect, { provider: 'shop', ...PRICE, reference, ...effect === 'paid' && { result: { reference } } });
}

/** Creates payments, and opens them in a browser. */
async function begin({ urlmode, callback }, count) {
	const created = [];
	for (let i = 0; i < count; i += 1) {
		const { elicitationId: id } = await urlmode.create({ ...PAYMENT, item: `report:${randomUUID()}` });
		assert.equal(await callback.open(id, { provider: 'shop' }), 'opened');
		created.push(id);
	}
	return created;
}

/** What the operator's command says of a database, as JSON. */
async function said(cluster, ...args) {
	const { status, out, err } = await command([...args, '--json'], { URLMODE_OPERATOR_DATABASE_URL: cluster.urlOf('urlmode_operator') });
	assert.equal(status, 0, err);
	return JSON.parse(out);
}

/** Gives the operator the password of the administrator. */
async function letOperatorIn(admin, cluster) {
	await admin.query(`ALTER ROLE urlmode_operator PASSWORD '${new URL(cluster.adminUrl).password}'`);
}

const statusOf = async (cluster, id) => (await said(cluster, 'show', id)).elicitation.status;

test('failover to an asynchronous standby that was behind: what is lost, and what tells of it', async (t) => {
	const primary = await Cluster.start(t);
	const before = await setUp(t, primary);
	await letOperatorIn(before.admin, primary);
	const [kept, paidLate] = await begin(before, 2);
	await tell(before.callback, kept);
	const standby = await Cluster.standbyOf(t, primary);
	await standby.stop();
	// From here on nothing reaches the standby.
	await tell(before.callback, paidLate);
	const [unwritten, refundedLater] = await begin(before, 2);
	await tell(before.callback, refundedLater);
	await primary.stop('immediate');
	await standby.start();
	await standby.promote();

	const callback = await Callback.start(t, standby.adminUrl, before.keysFile);
	assert.equal(await statusOf(standby, kept), 'completed');
	assert.equal(await statusOf(standby, paidLate), 'opened', 'its webhook was acknowledged, and the commit is lost');
	for (const id of [unwritten, refundedLater]) {
		const { status, err } = await command(['show', id], { URLMODE_OPERATOR_DATABASE_URL: standby.urlOf('urlmode_operator') });
		assert.deepEqual([status, /there is no elicitation/.test(err)], [1, true]);
	}
	assert.deepEqual((await said(standby, 'events')).map(({ elicitation }) => elicitation), [kept]);

	// What the provider tells afterwards is kept: a payment and a refund of rows that are lost.
	assert.equal(await tell(callback, unwritten), 'unknown');
	assert.equal(await tell(callback, refundedLater, 'refunded'), 'unknown');
	assert.deepEqual((await said(standby, 'events', '--unknown')).map(({ effect, elicitation, amount }) => [effect, elicitation, amount]),
		[['paid', unwritten, 1050], ['refunded', refundedLater, 1050]]);
	// What it is asked to send again, or what the server learns from its API, repairs the rest.
	assert.equal(await tell(callback, paidLate), 'accept');
	assert.equal(await statusOf(standby, paidLate), 'completed');
});

test('a restore to an earlier time: the payments after it are gone, and are accepted when they are told again', async (t) => {
	const archive = scratchFolder(t);
	const { uid, gid } = await identity();
	if (uid !== undefined) chownSync(archive, uid, gid);
	mkdirSync(`${archive}/wal`);
	if (uid !== undefined) chownSync(`${archive}/wal`, uid, gid);
	const primary = await Cluster.start(t, () => `-c archive_mode=on -c "archive_command=cp %p ${archive}/wal/%f"`);
	const before = await setUp(t, primary);
	await letOperatorIn(before.admin, primary);
	const restored = await Cluster.standbyOf(t, primary,
		`-c "restore_command=cp ${archive}/wal/%f %p" -c recovery_target_name=before -c recovery_target_action=promote`);
	await restored.stop();
	const ids = await begin(before, 3);
	await tell(before.callback, ids[0]);
	await before.admin.query("SELECT pg_create_restore_point('before')");
	await tell(before.callback, ids[1]);
	const { rows: [{ last }] } = await before.admin.query('SELECT pg_walfile_name(pg_switch_wal() - 1) AS last');
	await until('the last segment is archived', async () =>
		(await before.admin.query('SELECT last_archived_wal >= $1 AS done FROM pg_stat_archiver', [last])).rows[0].done);
	await primary.stop('immediate');
	await restored.start();
	const admin = await connect(t, restored.adminUrl);
	await until('it takes writes', async () => !(await admin.query('SELECT pg_is_in_recovery() AS standby')).rows[0].standby);

	assert.deepEqual([await statusOf(restored, ids[0]), await statusOf(restored, ids[1]), await statusOf(restored, ids[2])],
		['completed', 'opened', 'opened']);
	assert.deepEqual((await said(restored, 'events', '--unclaimed')).map(({ elicitation }) => elicitation), [ids[0]]);
	const callback = await Callback.start(t, restored.adminUrl, before.keysFile);
	assert.equal(await tell(callback, ids[1]), 'accept');
	assert.deepEqual((await said(restored, 'events', '--unclaimed')).map(({ elicitation }) => elicitation), [ids[0], ids[1]]);
});
