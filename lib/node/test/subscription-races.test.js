// What events say of subscriptions at the same time.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { Callback, connect, named, payment, setUp, until } from './support/database.js';

test("the first payment of a subscription opens its row, also if nobody's rows are too many at the same time", async (t) => {
	const { urlmode, admin, adminUrl, keysFile, applicationName } = await setUp(t);
	const owner = { subject: `user-${randomUUID()}`, session: '' };
	const provider = `shop-${randomUUID().slice(0, 8)}`;
	const { elicitationId: id } = await urlmode.create({ ...payment, ...owner, provider, item: 'pro', subscription: true });
	// The oldest of as many as there may be.
	await admin.query(`INSERT INTO urlmode.entitlement (provider, subscription, first_payment, changed_at)
		SELECT $1, 'sub_' || i, 'pay_' || i, now() - i * interval '1 minute' FROM generate_series(1, 1000) AS i`, [provider]);
	const first = new Callback(await connect(t, adminUrl), keysFile);
	const second = new Callback(await connect(t, named(adminUrl, applicationName)), keysFile);
	await first.client.query('BEGIN');
	assert.equal(await first.paid(id, { ...owner, provider, reference: 'pay_1000', details: { subscription: { id: 'sub_1000' } } }), 'accept');
	let isDone = false;
	const told = second.event(null, 'subscription', { provider, details: { subscription: { id: 'sub_new', payment: 'pay_new', status: 'active' } } })
		.finally(() => (isDone = true));
	await until('the other one is over, or waits', async () => isDone || (await admin.query(
		"SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", [applicationName])).rowCount > 0);
	await first.client.query('COMMIT');
	assert.equal(await told, 'subscription');
	await admin.query('DELETE FROM urlmode.entitlement WHERE provider = $1 AND subject IS NULL', [provider]);
	assert.deepEqual((await urlmode.entitlements({ subject: owner.subject })).map(({ subscription, entitled }) => [subscription, entitled]), [['sub_1000', true]]);
});
