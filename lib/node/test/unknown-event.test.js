// A signed payment or refund of an unknown elicitation is kept, and a later event or
// elicitation finds it.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import pg from 'pg';

import { payment, purgeResults, requireUrl, setUp } from './support/database.js';

const newReference = () => `pay_${randomUUID()}`;

async function start(t) {
	const fixture = await setUp(t);
	const owner = { subject: `user-${randomUUID()}`, session: '' };
	const outcomeOf = (id) => fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 0 });
	const listed = async (id) => (await fixture.admin.query('SELECT effect, amount FROM urlmode.list_unknown(most => 10000) WHERE elicitation = $1', [id])).rows;
	return { ...fixture, owner, outcomeOf, listed };
}

test('a payment that came before its row pays for it', async (t) => {
	const { urlmode, callback, owner, outcomeOf, listed } = await start(t);
	const id = randomUUID();
	const reference = newReference();
	const identity = randomUUID();
	for (let times = 0; times < 2; times += 1) assert.equal(await callback.paid(id, { ...owner, reference, identity }), 'unknown');
	assert.deepEqual(await listed(id), [{ effect: 'paid', amount: '1050' }]);
	assert.equal(await callback.event(id, 'refunded', { reference, refund: newReference(), amount: 100 }), 'unknown');

	await urlmode.create({ ...payment, ...owner, id, item: 'report:42' });
	const { action, reason, refundedAmount } = await outcomeOf(id);
	assert.deepEqual([action, reason, refundedAmount], ['cancel', 'held', 100]);
	assert.deepEqual(await listed(id), []);
	assert.equal(await callback.paid(id, { ...owner, reference, identity }), 'seen');
});

test('a payment of another price, or of another provider, does not pay for it', async (t) => {
	const { urlmode, callback, owner, outcomeOf } = await start(t);
	const [dear, other] = [randomUUID(), randomUUID()];
	await callback.paid(dear, owner);
	await callback.paid(other, { ...owner, provider: 'shop' });
	for (const id of [dear, other]) await urlmode.create({ ...payment, ...owner, id, ...id === dear && { expected: { amount: 9_999, currency: 'EUR' } } });
	assert.equal((await outcomeOf(dear)).reason, 'amount_mismatch');
	await assert.rejects(outcomeOf(other), { code: 'ELICITATION_TIMEOUT' });
});

test('what went back before its payment, and names it alone, counts when it is proved', async (t) => {
	const { urlmode, callback, owner, outcomeOf } = await start(t);
	const { elicitationId: id } = await urlmode.create({ ...payment, ...owner });
	const reference = newReference();
	assert.equal(await callback.event(null, 'refunded', { reference, refund: newReference(), amount: 100, currency: 'EUR' }), 'unknown');
	await callback.paid(id, { ...owner, reference });
	assert.equal((await outcomeOf(id)).refundedAmount, 100);
});

test('what went back of a payment that is not proved yet is kept while others are created and paid', async (t) => {
	const { urlmode, admin, callback, owner, outcomeOf } = await start(t);
	const [reference, other] = [newReference(), newReference()];
	const kept = async () => (await admin.query('SELECT received_at, expires_at FROM urlmode.unknown_event WHERE reference = $1', [reference])).rows;
	assert.equal(await callback.event(null, 'refunded', { reference, refund: newReference(), amount: 100, currency: 'EUR' }), 'unknown');
	const before = await kept();
	assert.equal(before.length, 1);
	const { elicitationId: first } = await urlmode.create({ ...payment, ...owner });
	await callback.paid(first, { ...owner, reference: other });
	assert.deepEqual(await kept(), before, 'since the same time, and no longer');
	assert.equal((await outcomeOf(first)).refundedAmount, undefined);
	const { elicitationId: second } = await urlmode.create({ ...payment, ...owner });
	await callback.paid(second, { ...owner, reference });
	assert.equal((await outcomeOf(second)).refundedAmount, 100);
});

test('what went back is of the payment that it names, whatever elicitation it names, before and after it is proved', async (t) => {
	const { urlmode, callback, owner, outcomeOf, listed } = await start(t);
	const { elicitationId: id } = await urlmode.create({ ...payment, ...owner });
	const reference = newReference();
	const stranger = randomUUID();
	const refund = () => callback.event(stranger, 'refunded', { reference, refund: newReference(), amount: 100, currency: 'EUR' });
	assert.equal(await refund(), 'unknown');
	assert.equal((await listed(stranger)).length, 1);
	await callback.paid(id, { ...owner, reference });
	assert.equal((await outcomeOf(id)).refundedAmount, 100);
	assert.equal(await refund(), 'refunded');
	assert.equal((await outcomeOf(id)).refundedAmount, 200);
	assert.deepEqual(await listed(stranger), []);
});

test('what goes back of a checkout is of its payment, also if it names an elicitation that nobody knows', async (t) => {
	const { urlmode, callback, owner, admin, listed } = await start(t);
	for (const isFirst of [false, true]) {
		const [checkout, stranger] = [newReference(), randomUUID()];
		const create = () => urlmode.create({ ...payment, ...owner, targetUrl: () => ({ url: payment.targetUrl, checkout }) });
		const tell = () => callback.event(stranger, 'refunded', { reference: checkout, refund: newReference(), amount: 100, currency: 'EUR' });
		if (isFirst) assert.equal(await tell(), 'unknown');
		const { elicitationId: id } = await create();
		if (!isFirst) assert.equal(await tell(), 'refunded');
		await callback.paid(id, { ...owner, reference: newReference(), checkout });
		assert.equal(await urlmode.claim(id, owner), false);
		assert.deepEqual(await listed(stranger), []);
		assert.equal((await admin.query('SELECT urlmode.match_unmatched() AS found')).rows[0].found, '0');
	}
});

test('what was kept does not fail a call while its payment is locked, and the next purge finds it', async (t) => {
	const { urlmode, admin, callback, owner, outcomeOf, listed } = await start(t);
	const references = [newReference(), newReference()];
	const [paidBefore, id] = [await urlmode.create({ ...payment, ...owner }), randomUUID()];
	await callback.paid(paidBefore.elicitationId, { ...owner, reference: references[0] });
	const { elicitationId: open } = await urlmode.create({ ...payment, ...owner });
	// A refund of each: the one names an elicitation, the other its payment alone.
	await admin.query(`INSERT INTO urlmode.unknown_event (provider, identity, type, effect, elicitation, reference, refund, amount, currency)
		SELECT 'demo', r, 't', 'refunded', e, r, 're_' || r, 100, 'EUR' FROM unnest($1::text[], $2::uuid[]) AS u (r, e)`, [references, [id, null]]);
	const other = new pg.Client({ connectionString: requireUrl('URLMODE_ADMIN_DATABASE_URL') });
	await other.connect();
	t.after(() => other.end());
	await other.query('BEGIN');
	await other.query('SELECT FROM urlmode.payment WHERE reference = $1 FOR UPDATE', [references[0]]);
	await other.query(`INSERT INTO urlmode.refund (provider, reference, elicitations) VALUES ('demo', 're_' || $1, ARRAY[$2::uuid])`, [references[1], open]);
	await urlmode.create({ ...payment, ...owner, id });
	assert.equal(await urlmode.complete(open, { ...owner, action: 'accept', ...payment.expected, reference: references[1] }), true);
	assert.equal((await listed(id)).length, 1);
	await other.query('ROLLBACK');
	await purgeResults(admin);
	for (const paid of [paidBefore.elicitationId, open]) assert.equal((await outcomeOf(paid)).refundedAmount, 100);
	assert.deepEqual(await listed(id), []);
});

test('an event that comes while its row is created is found by the next purge', async (t) => {
	const { urlmode, admin, callback, owner, outcomeOf } = await start(t);
	const id = randomUUID();
	const other = new pg.Client({ connectionString: requireUrl('URLMODE_ADMIN_DATABASE_URL') });
	await other.connect();
	t.after(() => other.end());
	await other.query('BEGIN');
	await other.query(`INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expected, expires_at)
		SELECT $1, provider, kind, $3, $4, requester, target_url, expected, expires_at FROM urlmode.elicitation WHERE id = $2`,
	[id, (await urlmode.create({ ...payment, ...owner })).elicitationId, owner.subject, (await import('../src/core/token.js')).bindingOf(owner.subject, '')]);
	assert.equal(await callback.paid(id, owner), 'unknown');
	await other.query('COMMIT');
	await purgeResults(admin);
	assert.equal((await outcomeOf(id)).action, 'accept');
});

test('of each provider the last thousand are kept, for thirty days; what proves nothing is not kept', async (t) => {
	const { admin, callback, owner } = await start(t);
	const provider = `p${randomUUID()}`;
	await admin.query(`INSERT INTO urlmode.unknown_event (provider, identity, type, effect, elicitation, amount, currency, received_at)
		SELECT $1, 'old-' || n, 't', 'paid', gen_random_uuid(), 1, 'EUR', now() - n * interval '1 second' FROM generate_series(1, 1000) n`, [provider]);
	const last = randomUUID();
	await callback.paid(last, { ...owner, provider });
	await callback.event(null, 'refunded', { provider, reference: newReference(), amount: 1, currency: 'EUR' });
	for (const effect of ['failed', 'other_mode', 'other_account', 'recheck', 'ignore']) {
		await callback.event(randomUUID(), effect, { provider, amount: 1_050, currency: 'EUR', reference: newReference() });
	}
	await callback.event(randomUUID(), 'paid', { provider, result: {} });
	const { rows: [kept] } = await admin.query(`SELECT count(*) FILTER (WHERE effect = 'paid')::integer AS paid, count(*) FILTER (WHERE effect <> 'paid')::integer AS back,
		bool_or(elicitation = $2) AS last, bool_or(identity = 'old-1000') AS oldest FROM urlmode.unknown_event WHERE provider = $1`, [provider, last]);
	assert.deepEqual(kept, { paid: 1_000, back: 1, last: true, oldest: false });

	await admin.query("UPDATE urlmode.unknown_event SET expires_at = now() - interval '1 second' WHERE provider = $1", [provider]);
	while ((await admin.query("SELECT urlmode.purge(kind => 'stored')::integer AS taken")).rows[0].taken > 0);
	assert.equal((await admin.query('SELECT FROM urlmode.unknown_event WHERE provider = $1', [provider])).rows.length, 0);
});

test('an amount below zero is not kept', async (t) => {
	const { callback } = await setUp(t);
	const refund = { reference: `pay_${randomUUID()}`, amount: -1, currency: 'EUR' };
	await assert.rejects(callback.event(null, 'refunded', refund), { code: '23514' });
	await assert.rejects(callback.paid(randomUUID(), refund), { code: '23514' });
});
