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

for (const isRefundFirst of [true, false]) {
	test(`a renewal that waited for its subscription is compared with a refund of the same moment, ${isRefundFirst ? 'before' : 'after'} it`, async (t) => {
		const { urlmode, admin, adminUrl, keysFile, applicationName } = await setUp(t);
		const owner = { subject: `user-${randomUUID()}`, session: '' };
		const provider = `shop-${randomUUID().slice(0, 8)}`;
		const { elicitationId: id } = await urlmode.create({ ...payment, ...owner, provider, item: 'pro', subscription: true });
		const first = new Callback(await connect(t, adminUrl), keysFile);
		const second = new Callback(await connect(t, named(adminUrl, applicationName)), keysFile);
		const renewal = { provider, reference: 'pay_2', amount: 1_050, currency: 'EUR' };
		await first.event(id, 'renewed', { ...renewal, details: { subscription: { id: 'sub_1' } } });
		// Nobody knows yet that this payment is of the subscription.
		assert.equal(await first.paid(id, { ...owner, provider, reference: 'pay_1', details: { subscription: {} } }), 'accept');
		const [refund, link] = [randomUUID(), randomUUID()];
		const both = [
			(by) => by.event(id, 'refunded', { ...renewal, identity: refund, refund: 're_1' }),
			(by) => by.event(null, 'subscription', { provider, identity: link, details: { subscription: { id: 'sub_1', payment: 'pay_1', status: 'active' } } }),
		];
		if (!isRefundFirst) both.reverse();

		await first.client.query('BEGIN');
		await both[0](first);
		let isDone = false;
		const told = both[1](second).catch(({ code }) => code).finally(() => (isDone = true));
		await until('the other one is over, or waits', async () => isDone || (await admin.query(
			"SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", [applicationName])).rowCount > 0);
		await first.client.query('COMMIT');
		// As the programs do where they cannot have a lock.
		if (await told === '55P03') await both[1](second);
		const { rows } = await admin.query('SELECT reference, refunded::integer FROM urlmode.payment WHERE provider = $1 ORDER BY reference', [provider]);
		assert.deepEqual(rows, [{ reference: 'pay_1', refunded: 0 }, { reference: 'pay_2', refunded: 1_050 }]);
	});
}
