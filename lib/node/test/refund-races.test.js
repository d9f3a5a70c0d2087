// What goes back, what is claimed and what the operator decides at the same time: one
// transaction has done its part and has not committed yet, and the other one waits for it.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { bindingOf } from '../src/core/token.js';
import { Callback, connect, named, payment, setUp, until } from './support/database.js';

const newReference = () => `pay_${randomUUID()}`;

/** A payment of 10.50 that was proved, and two who do something about it. */
async function start(t) {
	const fixture = await setUp(t);
	const { urlmode, callback, admin, adminUrl, keysFile, applicationName } = fixture;
	const owner = { subject: `user-${randomUUID()}`, session: '' };
	const { elicitationId: id } = await urlmode.create({ ...payment, ...owner });
	const reference = newReference();
	await callback.paid(id, { ...owner, reference });
	const first = new Callback(await connect(t, adminUrl), keysFile);
	const second = new Callback(await connect(t, named(adminUrl, applicationName)), keysFile);

	const sql = async ({ client }, text, ...values) => (await client.query(`SELECT ${text} AS outcome`, values)).rows[0].outcome;
	const isWaiting = async () => (await admin.query(
		"SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", [applicationName])).rowCount > 0;
	return {
		...fixture, owner, id, reference, binding: bindingOf(owner.subject, ''),
		refund: (own, amount) => (who) => who.event(id, 'refunded', { reference, refund: `${reference}-${own}`, amount, currency: 'EUR' }),
		claim: (held) => (who) => sql(who, 'urlmode.claim($1, $2, NULL, 600000, $3, $4)', id, bindingOf(owner.subject, ''), 'accept', held),
		begin: (who) => sql(who, '(SELECT b.outcome FROM urlmode.begin_claim($1, $2, NULL, 60000) b)', id, bindingOf(owner.subject, '')),
		fulfil: (fence) => (who) => sql(who, 'urlmode.fulfil_lease($1, $2, $3, $4)', id, bindingOf(owner.subject, ''), fence, Buffer.from('the report')),
		decide: (decision) => (who) => sql(who, "urlmode.decide_payment('demo', $1, $2, 'ann')", reference, decision),
		state: async () => (await admin.query(`SELECT refunded::int, held, refunded_at IS NOT NULL AS gone, claimed_at IS NOT NULL AS claimed
			FROM urlmode.payment WHERE reference = $1`, [reference])).rows[0],
		/** Returns what both were told: `one` did its part before `other` began, and commits when `other` waits for it. */
		race: async (one, other) => {
			await first.client.query('BEGIN');
			const before = await one(first);
			const after = patiently(() => other(second));
			await until('the other waits', isWaiting);
			await first.client.query('COMMIT');
			return [before, await after];
		},
	};
}

/** As the programs do: who has waited for a lock for too long begins anew. */
async function patiently(act) {
	for (;;) {
		try {
			return await act();
		} catch (error) {
			if (error.code !== '55P03') throw error;
		}
	}
}

test('a call does not claim what goes back at the same time', async (t) => {
	const { refund, claim, race, state } = await start(t);
	assert.deepEqual(await race(refund('a', 100), claim(false)), ['refunded', 'taken']);
	assert.deepEqual(await state(), { refunded: 100, held: true, gone: false, claimed: false });
});

test('a call does not begin to deliver what goes back at the same time', async (t) => {
	const { refund, begin, race } = await start(t);
	assert.deepEqual(await race(refund('a', 1_050), begin), ['refunded', 'taken']);
});

test('what goes back while it is claimed is told as claimed', async (t) => {
	const { urlmode, id, refund, claim, race, state } = await start(t);
	assert.deepEqual(await race(claim(false), refund('a', 100)), ['claimed', 'refunded']);
	assert.deepEqual(await state(), { refunded: 100, held: true, gone: false, claimed: true });
	const [told] = (await urlmode.refunds()).filter(({ elicitationId }) => elicitationId === id);
	assert.deepEqual([told.amount, told.payment.claimed], [100, true]);
});

test('a call does not claim what is held because of another elicitation at the same time', async (t) => {
	const { urlmode, callback, admin, owner, id, claim, decide, race, state } = await start(t);
	const { elicitationId: other } = await urlmode.create({ ...payment, ...owner });
	const own = newReference();
	const tell = (named) => (who) => who.event(named, 'refunded', { refund: own, amount: 100, currency: 'EUR' });
	await tell(id)(callback);
	assert.equal(await decide('released')({ client: admin }), 'released');
	assert.deepEqual(await race(tell(other), claim(false)), ['refunded', 'taken']);
	assert.deepEqual(await state(), { refunded: 0, held: true, gone: false, claimed: false });
});

test('two refunds at the same time add up', async (t) => {
	const { refund, race, state } = await start(t);
	assert.deepEqual(await race(refund('a', 500), refund('b', 550)), ['refunded', 'refunded']);
	assert.deepEqual(await state(), { refunded: 1_050, held: false, gone: true, claimed: false });
});

test('two elicitations that are told of one refund at the same time are both held', async (t) => {
	const { urlmode, callback, admin, owner, id, race } = await start(t);
	const { elicitationId: other } = await urlmode.create({ ...payment, ...owner });
	await callback.paid(other, owner);
	const own = newReference();
	const tell = (named) => (who) => who.event(named, 'refunded', { refund: own, amount: 1_050, currency: 'EUR' });
	assert.deepEqual(await race(tell(id), tell(other)), ['refunded', 'refunded']);
	const { rows } = await admin.query('SELECT held FROM urlmode.payment WHERE elicitation = ANY ($1)', [[id, other]]);
	assert.deepEqual(rows, [{ held: true }, { held: true }]);
});

test('what goes back while the operator releases holds the payment again', async (t) => {
	const { callback, refund, decide, race, state } = await start(t);
	await refund('a', 100)(callback);
	assert.deepEqual(await race(decide('released'), refund('b', 100)), ['released', 'refunded']);
	assert.deepEqual(await state(), { refunded: 200, held: true, gone: false, claimed: false });
});

test('what the operator voids stays void when its refund is told of another elicitation at the same time', async (t) => {
	const { urlmode, callback, owner, id, decide, race, state } = await start(t);
	const { elicitationId: other } = await urlmode.create({ ...payment, ...owner });
	const own = newReference();
	const tell = (named) => (who) => who.event(named, 'refunded', { refund: own, amount: 100, currency: 'EUR' });
	await tell(id)(callback);
	assert.deepEqual(await race(decide('voided'), tell(other)), ['voided', 'refunded']);
	assert.deepEqual(await state(), { refunded: 0, held: false, gone: true, claimed: false });
});

test('what goes back while the operator decides is in the trail of a later decision', async (t) => {
	const { callback, admin, id, refund, decide, race, state } = await start(t);
	await refund('a', 100)(callback);
	assert.deepEqual(await race(refund('b', 200), decide('voided')), ['refunded', 'voided']);
	assert.deepEqual(await state(), { refunded: 300, held: false, gone: true, claimed: false });
	const { rows } = await admin.query('SELECT decision, refunded::int FROM urlmode.show_decisions($1)', [id]);
	assert.deepEqual(rows, [{ decision: 'voided', refunded: 300 }]);
});

test('of a call that claims and the operator who voids, the first one decides', async (t) => {
	const one = await start(t);
	await one.refund('a', 100)(one.callback);
	assert.deepEqual(await one.race(one.decide('voided'), one.claim(true)), ['voided', 'taken']);
	assert.deepEqual(await one.state(), { refunded: 100, held: false, gone: true, claimed: false });

	const two = await start(t);
	await two.refund('a', 100)(two.callback);
	assert.deepEqual(await two.race(two.claim(true), two.decide('voided')), ['claimed', 'claimed']);
	assert.deepEqual(await two.state(), { refunded: 100, held: true, gone: false, claimed: true });
});

test('neither a call nor the operator takes what is fulfilled at the same time, after its lease', async (t) => {
	for (const [take, outcome] of [['claim', 'taken'], ['begin', 'fulfilled'], ['void', 'claimed']]) {
		const one = await start(t);
		const { admin, id, binding } = one;
		assert.equal(await one.begin({ client: admin }), 'begun');
		const { rows: [{ fence }] } = await admin.query('UPDATE urlmode.lease SET ends_at = now() WHERE elicitation = $1 RETURNING fence', [id]);
		await one.refund('a', 100)(one.callback);
		if (take === 'begin') await one.decide('released')({ client: admin });
		const takes = { claim: one.claim(true), begin: one.begin, void: one.decide('voided') }[take];
		assert.deepEqual(await one.race(one.fulfil(fence), takes), ['fulfilled', outcome], take);
		const { rows } = await admin.query('SELECT urlmode.confirm_claim($1, $2, $3) AS confirmed', [id, binding, fence]);
		assert.deepEqual(rows, [{ confirmed: true }], take);
	}
});

test('a refund that names another elicitation finds the payment that is proved at the same time', async (t) => {
	const { urlmode, owner, race, admin } = await start(t);
	const [{ elicitationId: paid }, { elicitationId: told }] = [await urlmode.create({ ...payment, ...owner }), await urlmode.create({ ...payment, ...owner })];
	const prove = (reference) => (who) => who.paid(paid, { ...owner, reference });
	const refund = (reference) => (who) => who.event(told, 'refunded', { reference, refund: `${reference}-a`, amount: 100, currency: 'EUR' });
	const state = async (reference) => (await admin.query(
		'SELECT refunded::int, held FROM urlmode.payment WHERE reference = $1', [reference])).rows;
	const [one, two] = [newReference(), newReference()];
	await race(prove(one), refund(one));
	assert.deepEqual(await state(one), [{ refunded: 100, held: true }]);
	await race(refund(two), prove(two));
	assert.deepEqual(await state(two), [{ refunded: 100, held: true }]);
	const mine = (await urlmode.refunds()).filter(({ elicitationId }) => elicitationId === paid);
	assert.deepEqual(mine.map(({ reference }) => reference).sort(), [`${one}-a`, `${two}-a`].sort());
});

test('two elicitations that are settled with the payments of each other do not wait for each other', async (t) => {
	const { urlmode, owner, callback, id, reference, refund, admin, applicationName, adminUrl } = await start(t);
	const { elicitationId: other } = await urlmode.create({ ...payment, ...owner });
	const others = newReference();
	await callback.paid(other, { ...owner, reference: others });
	await refund('a', 100)(callback);
	await callback.event(other, 'refunded', { reference: others, refund: newReference(), amount: 100 });
	const settle = (who, which, ref) => who.query(`SELECT urlmode.settle($1, $2, 'accept', '', 'r', 1050, 'EUR', $3) AS outcome`,
		[which, bindingOf(owner.subject, ''), ref]);
	const [first, second] = [await connect(t, adminUrl), await connect(t, named(adminUrl, applicationName))];
	await first.query('BEGIN');
	assert.equal((await settle(first, id, others)).rows[0].outcome, 'reference_taken');
	await second.query('BEGIN');
	// It has the row of the other's payment, and needs nothing that the first has.
	await second.query("SET LOCAL lock_timeout = '1s'");
	assert.equal((await settle(second, other, reference)).rows[0].outcome, 'reference_taken');
	for (const client of [first, second]) await client.query('COMMIT');
});

test('a release does not cover what is told of two elicitations while the operator decides', async (t) => {
	const { urlmode, callback, admin, adminUrl, applicationName, keysFile, owner, id, reference, decide, state } = await start(t);
	const { elicitationId: other } = await urlmode.create({ ...payment, ...owner });
	const own = newReference();
	const tell = (which, amount) => (who) => who.event(which, 'refunded', { refund: own, amount, currency: 'EUR' });
	for (const which of [id, other]) await tell(which, 100)(callback);
	const holder = await connect(t, adminUrl);
	const [operator, program] = [await connect(t, named(adminUrl, applicationName)), await connect(t, named(adminUrl, applicationName))];
	const waiting = async () => (await admin.query(
		"SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", [applicationName])).rowCount;
	await holder.query('BEGIN');
	await holder.query('SELECT FROM urlmode.payment WHERE reference = $1 FOR UPDATE', [reference]);
	const decided = decide('released')({ client: operator });
	await until('the operator waits', async () => await waiting() === 1);
	const told = patiently(() => tell(other, 200)(new Callback(program, keysFile)));
	await until('the program waits as well', async () => await waiting() === 2);
	await holder.query('COMMIT');
	assert.deepEqual(await Promise.all([decided, told]), ['released', 'refunded']);
	assert.deepEqual(await state(), { refunded: 0, held: true, gone: false, claimed: false });
});
