// A signed payment or refund of an unknown elicitation is kept, and a later event or
// elicitation finds it (tests/sql/unknown.sql): here also while another transaction is open.

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

test('an amount below zero is not kept', async (t) => {
	const { callback } = await setUp(t);
	const refund = { reference: `pay_${randomUUID()}`, amount: -1, currency: 'EUR' };
	await assert.rejects(callback.event(null, 'refunded', refund), { code: '23514' });
	await assert.rejects(callback.paid(randomUUID(), refund), { code: '23514' });
});
