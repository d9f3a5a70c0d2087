// A database that accepts no writes, as during a failover or when a provider has locked its
// disk: writes are tried again at intervals, and continue when they are possible.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { Cluster } from './support/cluster.js';
import { payment, PRICE, request, setUp } from './support/database.js';

const owner = { subject: 'user-42' };
const SECONDS = 3;
/** Each of what is under way tries once a second; a loop without a pause would be thousands. */
const STATEMENTS_MAX = 60;

test('expiry, recheck and the mark of a result that was read wait for a database that writes, and do not hurry', async (t) => {
	const cluster = await Cluster.start(t);
	const { urlmode, admin, callback } = await setUp(t, { serverUrl: cluster.serverUrl, adminUrl: cluster.adminUrl });
	await admin.query('SET default_transaction_read_only = off');
	const setReadOnly = async (value) => {
		await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
		await admin.query('SELECT pg_reload_conf()');
	};

	const expiring = (await urlmode.create({ ...request, ttl: 1_500 })).elicitationId;
	const done = (await urlmode.create(request)).elicitationId;
	const asked = (await urlmode.create(payment)).elicitationId;
	const reference = `tr_${randomUUID()}`;
	await callback.open(asked);
	await callback.complete(done, { result: { code: 'c' } });
	await setReadOnly('on');
	await callback.client.query('SET default_transaction_read_only = off');
	await callback.event(asked, 'recheck', { reference });

	const { query } = pg.Client.prototype;
	let statements = 0;
	t.mock.method(pg.Client.prototype, 'query', function (...args) {
		statements += 1;
		return query.apply(this, args);
	});
	let rechecks = 0;
	const settled = [];
	const waits = {
		expiring: urlmode.waitForCompletion(expiring, owner),
		asked: urlmode.waitForCompletion(asked, {
			...owner,
			async recheck() {
				rechecks += 1;
				return { action: 'accept', ...PRICE, reference, result: { reference } };
			},
		}),
	};
	for (const [name, wait] of Object.entries(waits)) wait.then(() => settled.push(name), (error) => settled.push(`${name}: ${error}`));
	assert.equal((await urlmode.waitForCompletion(done, owner)).result.code, 'c', 'what is completed can be read');
	await assert.rejects(urlmode.create(request), { code: '25006' });
	await sleep(SECONDS * 1_000);
	assert.deepEqual(settled, [], 'nothing has ended meanwhile');
	assert.equal(rechecks, 0, 'nobody asks a provider whose answer could not be written down');
	assert.ok(statements < STATEMENTS_MAX, `${statements} statements in ${SECONDS} seconds`);

	await setReadOnly('off');
	assert.equal((await waits.expiring).reason, 'expired');
	assert.equal((await waits.asked).reference, reference);
});
