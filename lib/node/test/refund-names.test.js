// Refunds of payments that have two names, or that come from other elicitations,
// in other currencies, or at other times than their payments.

import assert from 'node:assert/strict';
import test from 'node:test';

import { bindingOf } from '../src/core/token.js';
import { payment, PRICE } from './support/database.js';
import { newReference, start } from './support/refunds.js';

/** An elicitation with a checkout of its own, whose payment has another reference. */
async function startCheckout(t, checkout = newReference()) {
	const fixture = await start(t);
	const { urlmode, callback, admin, owner } = fixture;
	const reference = newReference();
	const { elicitationId: id } = await urlmode.create({ ...payment, ...owner, targetUrl: () => ({ url: payment.targetUrl, checkout }) });
	return {
		...fixture, id, checkout, reference,
		pay: (more) => callback.paid(id, { ...owner, reference, checkout, ...more }),
		settle: (ref = checkout) => urlmode.complete(id, { ...owner, action: 'accept', ...PRICE, reference: ref }),
		tell: (effect, named, amount, more) => callback.event(id, effect, { reference: named, amount, ...more }),
		reasons: async () => (await admin.query('SELECT unclear FROM urlmode.show_refunds($1)', [id])).rows.map(({ unclear }) => unclear),
	};
}

test('one batch proves a payment and tells what goes back of it for another elicitation, in either order', async (t) => {
	for (const order of [[0, 1], [1, 0]]) {
		const { urlmode, callback, admin, owner, id, reference, create } = await start(t);
		const { elicitationId: named } = await urlmode.create({ ...payment, ...owner });
		const both = [[id, 'paid', 1_050, null], [named, 'refunded', 500, `${reference}-a`]];
		const columns = [0, 1, 2, 3].map((column) => order.map((n) => both[n][column]));
		await callback.client.query(`SELECT urlmode.record_events(ids => $1::uuid[], providers => ARRAY['demo', 'demo'],
			identities => ARRAY[$5 || '1', $5 || '2'], types => ARRAY['', ''], effects => $2::text[], amounts => $3::bigint[],
			currencies => ARRAY['EUR', 'EUR'], refs => ARRAY[$5, $5], results => ARRAY['r', 'r']::bytea[], refunds => $4::text[])`,
		[...columns, reference]);
		assert.equal((await create()).elicitationId, id);
		const told = async () => (await urlmode.refunds()).filter(({ elicitationId }) => elicitationId === id)
			.map(({ payment: paid }) => [paid.reference, paid.refunded, paid.held]);
		assert.deepEqual(await told(), [[reference, 500, true]]);
		await admin.query('DELETE FROM urlmode.elicitation WHERE id = $1', [named]);
		assert.deepEqual(await told(), [[reference, 500, true]]);
	}
});

test('what went back of a payment that nobody knew counts once its webhook names the payment', async (t) => {
	const { callback, urlmode, owner, pay, settle, reference, listed } = await startCheckout(t);
	await settle();
	assert.equal(await callback.event(null, 'refunded', { reference, refund: newReference(), amount: 500, currency: 'EUR' }), 'unknown');
	assert.equal(await pay(), 'repeated');
	assert.deepEqual((await listed()).map((one) => [one.reference, one.refunded, one.held]), [[reference, 500, true]]);
	assert.equal(await urlmode.claim((await listed())[0].elicitationId, owner), false);
});

test('a call whose lease has ended does not go on with what went back meanwhile', async (t) => {
	for (const amount of [1_050, 100]) {
		const { urlmode, admin, owner, id, pay, refund, reversal } = await start(t);
		await pay();
		const { rows: [{ fence }] } = await admin.query(
			"SELECT b.fence FROM urlmode.begin_claim($1, $2, NULL, 60000) b", [id, bindingOf(owner.subject, '')]);
		const renew = async () => (await admin.query(
			'SELECT urlmode.renew_claim($1, $2, $3, 60000) AS done', [id, bindingOf(owner.subject, ''), fence])).rows[0].done;
		await refund('a', amount);
		assert.equal(await renew(), true, 'it may have delivered');
		await admin.query("UPDATE urlmode.lease SET ends_at = now() - interval '1 s' WHERE elicitation = $1", [id]);
		assert.equal(await renew(), false);
		await reversal('a');
		assert.equal(await renew(), true);
		assert.equal((await urlmode.unclaimed()).some(({ elicitationId }) => elicitationId === id), false);
	}
});

test('totals under both names of a payment keep what came again', async (t) => {
	const { pay, tell, checkout, reference, listed } = await startCheckout(t);
	await pay({ reference: checkout });
	await tell('refunded', checkout, 100);
	await tell('refund_reversed', checkout, 100);
	await tell('refunded', reference, 40);
	await pay();
	assert.deepEqual((await listed()).map((one) => [one.reference, one.refunded, one.held]), [[reference, 0, true]]);
});

test('totals under both names of a payment in two currencies are not compared', async (t) => {
	const { pay, tell, checkout, reference, listed, reasons } = await startCheckout(t);
	await pay({ reference: checkout });
	await tell('refunded', checkout, 1_050, { currency: 'USD' });
	await tell('refunded', reference, 40, { currency: 'EUR' });
	await pay();
	assert.deepEqual((await listed()).map((one) => [one.reference, one.refunded, one.held]), [[reference, 40, true]]);
	assert.deepEqual(await reasons(), ['other currency']);
});

test('what was voided is listed again when more of it is captured', async (t) => {
	const { pay, refund, listed, decide, outcomeOf } = await start(t);
	await pay({ amount: 600 });
	await refund('a', 100);
	assert.equal(await decide('voided'), 'voided');
	assert.deepEqual(await listed(), []);
	await pay();
	assert.deepEqual((await listed()).map(({ amount, refunded, held }) => [amount, refunded, held]), [[1_050, 100, true]]);
	assert.equal(await decide('released'), 'released');
	assert.equal((await outcomeOf()).action, 'accept');
});

test('a refund that names the checkout is of its only payment, which has another name', async (t) => {
	for (const isFirst of [false, true]) {
		const fixture = await startCheckout(t);
		const { id, pay, tell, checkout, reference, listed, decide, reasons } = fixture;
		const refund = newReference();
		if (!isFirst) await pay();
		await tell('refunded', checkout, 1_000, { refund });
		if (isFirst) await pay();
		assert.deepEqual((await listed()).map(({ refunded, held }) => [refunded, held]), [[1_000, true]]);
		assert.deepEqual(await toldOf(fixture, [id]), [[id, refund, 1_000, reference]]);
		assert.deepEqual(await reasons(), [null]);
		assert.equal(await decide('released', reference), 'released');
		assert.deepEqual((await listed()).map(({ held }) => held), [false]);
	}
});

/** What was told of these elicitations: of which, which refund, how much, of which payment. */
async function toldOf({ urlmode }, ids) {
	return (await urlmode.refunds()).filter(({ elicitationId }) => ids.includes(elicitationId))
		.map(({ elicitationId, reference, amount, payment: paid }) => [elicitationId, reference, amount, paid?.reference]);
}

test('a refund that names the checkout alone is of its payment, whichever comes first', async (t) => {
	for (const order of ['payment', 'refund', 'refund before the row']) {
		const checkout = newReference();
		const early = await start(t);
		const refund = newReference();
		const tell = (effect) => early.callback.event(null, effect, { reference: checkout, refund, amount: 1_050, currency: 'EUR' });
		if (order === 'refund before the row') assert.equal(await tell('refunded'), 'unknown');
		const fixture = await startCheckout(t, checkout);
		if (order === 'payment') await fixture.pay();
		if (order !== 'refund before the row') assert.equal(await tell('refunded'), 'refunded');
		if (order !== 'payment') await fixture.pay();
		const { id, listed, urlmode, owner, reference } = fixture;
		assert.deepEqual(await listed(), [], order);
		assert.deepEqual(await toldOf(fixture, [id]), [[id, refund, 1_050, reference]], order);
		assert.equal(await urlmode.claim(id, owner), false);
		assert.equal(await tell('refund_reversed'), 'refund_reversed');
		assert.deepEqual((await listed()).map(({ held }) => held), [false], order);
		assert.equal(await urlmode.claim(id, owner), true);
	}
});

test('a refund that names a checkout which only its payment has told of is of that payment', async (t) => {
	for (const isFirst of [false, true]) {
		const fixture = await start(t);
		const [checkout, refund] = [newReference(), newReference()];
		const tell = () => fixture.callback.event(null, 'refunded', { reference: checkout, refund, amount: 400, currency: 'EUR' });
		if (isFirst) assert.equal(await tell(), 'unknown');
		await fixture.pay({ checkout });
		if (!isFirst) assert.equal(await tell(), 'refunded');
		assert.deepEqual((await fixture.listed()).map(({ refunded, held }) => [refunded, held]), [[400, true]]);
		assert.deepEqual(await toldOf(fixture, [fixture.id]), [[fixture.id, refund, 400, fixture.reference]]);
	}
});

test('a refund that names a checkout of several elicitations holds the payments of all', async (t) => {
	const [one, checkout] = [await startCheckout(t), newReference()];
	const rows = [await startCheckout(t, checkout), await startCheckout(t, checkout)];
	for (const row of [one, ...rows]) await row.pay();
	await one.callback.event(null, 'refunded', { reference: checkout, refund: newReference(), amount: 100, currency: 'EUR' });
	for (const { listed } of rows) assert.deepEqual((await listed()).map(({ refunded, held }) => [refunded, held]), [[0, true]]);
	assert.deepEqual((await one.listed()).map(({ held }) => held), [false]);
	assert.deepEqual((await toldOf(one, rows.map(({ id }) => id))).map(([id]) => id).sort(), rows.map(({ id }) => id).sort());

	const other = await startCheckout(t, checkout);
	await other.pay();
	await other.tell('refunded', checkout, 100, { refund: newReference() });
	await other.decide('released', rows[0].reference);
	assert.deepEqual((await rows[0].listed()).map(({ held }) => held), [false], 'what names an elicitation is of no other');
	assert.deepEqual((await other.listed()).map(({ held }) => held), [true]);
});

test('a payment that is written down without its checkout gets it with the next event', async (t) => {
	const fixture = await start(t);
	const { urlmode, callback, owner, id, reference, listed } = fixture;
	const checkout = newReference();
	assert.equal(await urlmode.complete(id, { ...owner, action: 'accept', ...PRICE, reference }), true);
	assert.equal(await fixture.pay({ checkout }), 'repeated');
	await callback.event(null, 'refunded', { reference: checkout, refund: newReference(), amount: 1_050, currency: 'EUR' });
	assert.deepEqual(await listed(), []);
	assert.equal(await urlmode.claim(id, owner), false);
});

test('the whole of a checkout counts also after a part of it, by whichever name', async (t) => {
	const { pay, settle, listed, urlmode, owner, id, reference } = await startCheckout(t);
	await pay({ amount: 600 });
	assert.deepEqual((await listed()).map((one) => [one.amount, one.matches]), [[600, false]]);
	await settle();
	assert.deepEqual((await listed()).map((one) => [one.reference, one.amount, one.matches]), [[reference, 1_050, true]]);
	assert.equal(await urlmode.claim(id, owner), true);
	assert.equal(await settle(), false);
});

test('a payment that the caller has read by its checkout is claimed after it has its own reference', async (t) => {
	const { settle, urlmode, owner, admin, id, checkout, reference } = await startCheckout(t);
	assert.equal(await settle(), true);
	const { reference: read } = await urlmode.waitForCompletion(id, { ...owner, timeout: 0 });
	assert.equal(read, checkout);
	await settle(reference);
	const begin = async () => (await admin.query(
		'SELECT outcome FROM urlmode.begin_claim($1, $2, $3, 60000)', [id, bindingOf(owner.subject, owner.session), read])).rows[0].outcome;
	assert.deepEqual([await begin(), await begin()], ['begun', 'leased']);
});

test('an attempt to pay is found by its checkout, if it is of one elicitation', async (t) => {
	const { callback, checkout, id, urlmode, owner } = await startCheckout(t);
	assert.equal(await callback.event(null, 'expired', { reference: checkout }), 'cancel');
	assert.equal((await urlmode.waitForCompletion(id, { ...owner, timeout: 0 })).reason, 'expired');
	const shared = newReference();
	for (let n = 0; n < 2; n += 1) await startCheckout(t, shared);
	assert.equal(await callback.event(null, 'expired', { reference: shared }), 'unknown');
});

test('what goes back of a checkout is told also when its elicitation was deleted', async (t) => {
	const fixture = await startCheckout(t);
	const { admin, urlmode, owner, callback, id, checkout, reference, pay } = fixture;
	await pay();
	assert.equal(await urlmode.claim(id, owner), true);
	const tell = (effect, refund, amount) => callback.event(null, effect, { reference: checkout, refund, amount, currency: 'EUR' });
	const [before, after] = [newReference(), newReference()];
	await tell('refunded', before, 100);
	await admin.query('DELETE FROM urlmode.elicitation WHERE id = $1', [id]);
	assert.deepEqual(await toldOf(fixture, [id]), [[id, before, 100, reference]]);
	assert.equal(await tell('refunded', after, 200), 'refunded');
	assert.deepEqual(await toldOf(fixture, [id]), [[id, before, 100, reference], [id, after, 200, reference]]);
	assert.equal(await tell('refund_reversed', before, 100), 'refund_reversed');
	assert.deepEqual((await toldOf(fixture, [id])).map(([, refund]) => refund), [after, before]);
});

test('a refund that names its payment holds it as long as it is known by its checkout', async (t) => {
	const { settle, pay, tell, reference, listed, reasons } = await startCheckout(t);
	await settle();
	await tell('refunded', reference, 400, { refund: newReference() });
	assert.deepEqual((await listed()).map(({ refunded, held }) => [refunded, held]), [[0, true]]);
	assert.deepEqual(await reasons(), ['payment not known']);
	await pay();
	assert.deepEqual((await listed()).map(({ refunded, held }) => [refunded, held]), [[400, true]]);
	assert.deepEqual(await reasons(), [null]);
});

test('a total in a second currency is not compared with the first', async (t) => {
	const { id, admin, pay, refund, callback, reference, listed, decide } = await start(t);
	await pay();
	await refund(undefined, 100, { currency: 'EUR' });
	assert.equal(await decide('released'), 'released');
	for (const effect of ['refunded', 'refund_reversed']) {
		await callback.event(id, effect, { reference, amount: 1_050, currency: 'USD' });
		assert.deepEqual((await listed()).map(({ refunded, held }) => [refunded, held]), [[100, true]]);
		assert.deepEqual((await admin.query('SELECT unclear FROM urlmode.show_refunds($1)', [id])).rows, [{ unclear: 'other currency' }]);
		assert.equal(await decide('released'), 'released');
	}
});

test('what comes again of a deleted elicitation is voided by the operator, and not released', async (t) => {
	for (const held of [false, true]) {
		const { admin, pay, refund, callback, id, reference, decide } = await start(t);
		await pay();
		await refund('a', 1_050);
		await admin.query('DELETE FROM urlmode.elicitation WHERE id = $1', [id]);
		await callback.event(null, 'refund_reversed', { reference, refund: `${reference}-a`, amount: held ? 500 : 1_050 });
		// No call can be given it: it stands in no list of what waits for one, and the refund says that it came again.
		assert.equal((await admin.query('SELECT FROM urlmode.list_unclaimed(most => NULL) WHERE reference = $1', [reference])).rowCount, 0);
		const { rows } = await admin.query('SELECT reversed FROM urlmode.refunds() WHERE payment = $1', [reference]);
		assert.deepEqual(rows.map(({ reversed }) => Number(reversed)), [held ? 500 : 1_050]);
		assert.equal(await decide('released'), 'deleted');
		assert.equal(await decide('voided'), 'voided');
		assert.equal(await decide('voided'), 'not_held');
		assert.equal(await decide('released'), 'deleted');
	}
});

test('an accept whose payment is held or went back is announced without its outcome', async (t) => {
	const cases = {
		'nothing went back': async () => {},
		'a part went back before': ({ refund }) => refund('a', 400),
		'all of it went back before': ({ refund }) => refund('a', 1_050),
		'what nobody knew went back before': async ({ callback, reference }) => {
			assert.equal(await callback.event(null, 'refunded', { reference, refund: newReference(), amount: 400, currency: 'EUR' }), 'unknown');
		},
	};
	for (const [what, before] of Object.entries(cases)) {
		const fixture = await start(t);
		const { id, admin, owner, reference, urlmode, pay } = fixture;
		const told = [];
		admin.on('notification', ({ payload }) => told.push(...[JSON.parse(payload)].flat().filter((one) => one.id === id)));
		await admin.query('LISTEN urlmode');
		const waiting = urlmode.waitForCompletion(id, { ...owner, timeout: 20_000 });
		await assert.rejects(urlmode.waitForCompletion(id, { ...owner, timeout: 0 }), { name: 'ElicitationTimeoutError' });
		await before(fixture);
		assert.equal(await pay({ outcome: { action: 'accept', reason: '', reference, result: { reference } } }), 'accept');
		await admin.query('SELECT 1');
		const isFree = what === 'nothing went back';
		assert.deepEqual(told.some(({ outcome }) => outcome !== undefined), isFree, what);
		const outcome = await waiting;
		assert.deepEqual([outcome.action === 'accept' && !outcome.refunded, await urlmode.claim(id, owner)], [isFree, isFree], what);
	}
});

test('a batch that also tells what goes back announces no outcome', async (t) => {
	const shared = newReference();
	for (const names of ['the payment', 'the checkout', 'a checkout of both']) {
		const paid = await startCheckout(t, shared + names);
		const other = names === 'a checkout of both' ? await startCheckout(t, shared + names) : paid;
		const { admin, callback, id, reference, checkout, listed } = paid;
		await admin.query('LISTEN urlmode');
		const told = [];
		admin.on('notification', ({ payload }) => told.push(...[JSON.parse(payload)].flat().filter((one) => one.id === id)));
		const { rows } = await callback.client.query(`SELECT outcome FROM urlmode.record_events(ids => ARRAY[$1::uuid, NULL],
			providers => ARRAY['demo', 'demo'], identities => ARRAY[$2 || '1', $2 || '2'], types => ARRAY['', ''],
			effects => ARRAY['paid', 'refunded'], amounts => ARRAY[1050, 400], currencies => ARRAY['EUR', 'EUR'], refs => ARRAY[$2, $3],
			results => ARRAY['r', NULL]::bytea[], outcomes => ARRAY['o', NULL]::bytea[], refunds => ARRAY[NULL, $2 || 'r'],
			checkouts => ARRAY[$4, NULL])`, [id, reference, names === 'the payment' ? reference : checkout, checkout]);
		assert.deepEqual(rows.map(({ outcome }) => outcome), ['accept', 'refunded'], names);
		await admin.query('SELECT 1');
		assert.deepEqual(told.map(({ outcome }) => outcome).filter(Boolean), [], names);
		assert.ok(told.length > 0);
		assert.deepEqual((await listed()).map(({ held }) => held), [true], names);
		assert.deepEqual(await other.listed(), other === paid ? await listed() : []);
	}
});
