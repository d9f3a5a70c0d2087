// A refund affects only the payment that it names, refunds are added, and they can be
// reversed.

import assert from 'node:assert/strict';
import test from 'node:test';

import { internalsOf } from '../src/core/internals.js';
import { payment, until } from './support/database.js';
import { newReference, start } from './support/refunds.js';

test('refunds add up, each once, and all of it makes the payment unclaimable', async (t) => {
	const { urlmode, pay, refund, outcomeOf, listed, owner, id, create } = await start(t);
	await pay();
	await refund('a', 500);
	await refund('a', 500);
	const { action, reason, refundedAmount } = await outcomeOf();
	assert.deepEqual([action, reason, refundedAmount], ['cancel', 'held', 500]);
	assert.equal((await create()).elicitationId, id, 'nobody is asked to pay again');
	assert.deepEqual((await listed()).map(({ refunded, held }) => [refunded, held]), [[500, true]]);
	assert.equal(await urlmode.claim(id, owner), false);

	await refund('b', 550);
	assert.deepEqual(await listed(), []);
	assert.equal((await outcomeOf()).refunded, true);
	assert.notEqual((await create()).elicitationId, id);
});

test('a total that went back counts once, the largest, whatever order its events come in', async (t) => {
	const { pay, refund, listed } = await start(t);
	await refund(undefined, 300);
	await refund(undefined, 200);
	await pay();
	assert.deepEqual((await listed()).map(({ refunded }) => refunded), [300]);
	await refund(undefined, 1_049);
	assert.deepEqual((await listed()).map(({ refunded, held }) => [refunded, held]), [[1_049, true]]);
});

test('a refund touches no other payment than the one that it names', async (t) => {
	const { callback, id, pay, outcomeOf, listed } = await start(t);
	await callback.event(id, 'refunded', { reference: newReference(), refund: newReference() });
	await pay();
	await callback.event(id, 'refunded', { reference: newReference() });
	assert.equal((await outcomeOf()).action, 'accept');
	assert.deepEqual((await listed()).map(({ refunded, held }) => [refunded, held]), [[0, false]]);
});

test('a refund that names no payment is of the only one before it; otherwise all are held', async (t) => {
	const one = await start(t);
	await one.pay();
	await one.callback.event(one.id, 'refunded', { refund: newReference(), amount: 1_050 });
	assert.deepEqual(await one.listed(), []);

	const two = await start(t);
	await two.pay();
	await two.pay({ reference: newReference() });
	await two.callback.event(two.id, 'refunded', { refund: newReference(), amount: 1_050 });
	await two.pay({ reference: newReference() });
	assert.deepEqual((await two.listed()).map(({ refunded, held }) => [refunded, held]), [[0, true], [0, true], [0, true]]);
	const [unknown] = (await two.urlmode.refunds()).filter(({ elicitationId }) => elicitationId === two.id);
	assert.deepEqual([unknown.amount, unknown.payment], [1_050, undefined]);
});

test('what went back can come again, also where that is told first', async (t) => {
	const { urlmode, owner, id, pay, refund, reversal, outcomeOf } = await start(t);
	await pay();
	await reversal('early');
	await refund('early', 1_050);
	await refund('late', 1_050);
	assert.equal((await outcomeOf()).refunded, true);
	await reversal('late');
	assert.equal((await outcomeOf()).action, 'accept');
	assert.equal(await urlmode.claim(id, owner), true);
});

test('a total that is told again after it came again is held until the operator decides', async (t) => {
	const { pay, refund, callback, id, reference, outcomeOf, listed, decide } = await start(t);
	const total = (effect, amount) => callback.event(id, effect, { reference, amount });
	await total('refund_reversed', 500);
	await refund(undefined, 500);
	await pay();
	assert.equal((await outcomeOf()).action, 'accept', 'the reversal was told first');
	await total('refunded', 500);
	assert.equal((await outcomeOf()).reason, 'held', 'the same refund once more, or another one');
	assert.deepEqual((await listed()).map(({ refunded, held }) => [refunded, held]), [[0, true]]);
	await total('refund_reversed', 500);
	assert.equal((await outcomeOf()).reason, 'held');
	assert.equal(await decide('released'), 'released');
	assert.equal((await outcomeOf()).action, 'accept');
	await total('refunded', 500);
	assert.equal((await outcomeOf()).reason, 'held');
	assert.equal(await decide('voided'), 'voided');
	assert.deepEqual(await listed(), []);
});

test('totals under both names of a payment count once', async (t) => {
	const { urlmode, callback, owner, listed } = await start(t);
	const [checkout, named] = [newReference(), newReference()];
	const { elicitationId: id } = await urlmode.create({ ...payment, ...owner, targetUrl: () => ({ url: payment.targetUrl, checkout }) });
	await callback.paid(id, { ...owner, reference: checkout, checkout });
	for (const reference of [checkout, named]) await callback.event(id, 'refunded', { reference, amount: 500 });
	await callback.paid(id, { ...owner, reference: named, checkout });
	assert.deepEqual((await listed()).map(({ reference, refunded }) => [reference, refunded]), [[named, 500]]);
});

test('a total counts once, whether or not its events name the payment', async (t) => {
	const { callback, id, pay, refund, listed, urlmode } = await start(t);
	await pay();
	await callback.event(id, 'refunded', { amount: 500 });
	await refund(undefined, 500);
	await callback.event(id, 'refunded', { amount: 500 });
	assert.deepEqual((await listed()).map(({ refunded, held }) => [refunded, held]), [[500, true]]);
	assert.equal((await urlmode.refunds()).filter(({ elicitationId }) => elicitationId === id).length, 1);
	await refund(undefined, 1_050);
	assert.deepEqual(await listed(), []);
});

/** Two payments of one owner, each for an elicitation of its own. */
async function startTwo(t) {
	const fixture = await start(t);
	const { urlmode, callback, owner, id, pay, reference } = fixture;
	const { elicitationId: other } = await urlmode.create({ ...payment, ...owner, item: 'report:43' });
	const references = [reference, newReference()];
	const payOther = (ref = references[1]) => callback.paid(other, { ...owner, reference: ref });
	await pay();
	const states = async () => {
		const { rows } = await fixture.admin.query(`SELECT refunded::int, held, refunded_at IS NOT NULL AS gone FROM urlmode.payment
			WHERE reference = ANY ($1) ORDER BY array_position($1, reference::text)`, [references]);
		return rows.map(({ refunded, held, gone }) => (gone ? 'gone' : held ? `held ${refunded}` : `offered ${refunded}`));
	};
	const own = newReference();
	const tell = (named, more) => callback.event(named, 'refunded', { refund: own, amount: 1_050, currency: 'EUR', ...more });
	return { ...fixture, other, references, payOther, states, own, tell };
}

test('a refund that is told of two elicitations holds the payments of both, until an event names its payment', async (t) => {
	const { urlmode, id, other, references, payOther, states, own, tell, listed } = await startTwo(t);
	await payOther();
	await tell(id);
	assert.deepEqual(await states(), ['gone', 'offered 0']);
	await tell(other);
	assert.deepEqual(await states(), ['held 0', 'held 0']);
	assert.equal((await listed()).length, 2);
	const told = async () => (await urlmode.refunds()).filter(({ reference }) => reference === own)
		.map(({ elicitationId, payment: paid }) => [elicitationId, paid?.reference]).sort();
	assert.deepEqual(await told(), [[id, undefined], [other, undefined]].sort());
	await tell(id, { reference: references[1] });
	assert.deepEqual(await states(), ['offered 0', 'gone']);
	assert.deepEqual(await told(), [[other, references[1]]]);
	await tell(id);
	assert.deepEqual(await states(), ['offered 0', 'gone'], 'what was named stays');
});

test('a refund that moves to another payment leaves nothing at the one that it was of', async (t) => {
	const { urlmode, callback, owner, references: [, reference], payOther, states, tell } = await startTwo(t);
	await payOther();
	const { elicitationId: third } = await urlmode.create({ ...payment, ...owner });
	await tell(third, { reference: newReference() });
	assert.deepEqual(await states(), ['offered 0', 'offered 0']);
	await tell(third, { reference });
	assert.deepEqual(await states(), ['offered 0', 'gone']);
	await callback.paid(third, { ...owner });
	const { elicitationId: fourth } = await urlmode.create({ ...payment, ...owner });
	const paid = newReference();
	await callback.paid(fourth, { ...owner, reference: paid });
	await tell(third, { reference: paid });
	assert.deepEqual(await states(), ['offered 0', 'offered 0']);
});

test('a refund that named another elicitation before its payment was proved can move, too', async (t) => {
	const { id, other, references: [first, second], payOther, states, tell } = await startTwo(t);
	await tell(id, { reference: second });
	await payOther();
	assert.deepEqual(await states(), ['offered 0', 'gone']);
	await tell(other, { reference: first });
	assert.deepEqual(await states(), ['gone', 'offered 0']);
});

test('a refund stays when another elicitation that it was told of is deleted', async (t) => {
	const { admin, id, other, references, payOther, states, tell } = await startTwo(t);
	await tell(id, { reference: references[1] });
	await payOther();
	assert.deepEqual(await states(), ['offered 0', 'gone']);
	await admin.query('UPDATE urlmode.payment SET claimed_at = now() WHERE elicitation = $1', [id]);
	await admin.query('DELETE FROM urlmode.elicitation WHERE id = $1', [id]);
	await admin.query('SELECT urlmode.apply_refunds(ARRAY[$1::uuid])', [other]);
	assert.deepEqual(await states(), ['offered 0', 'gone']);
});

test('a refund stays until all elicitations that it was told of are deleted', async (t) => {
	const { urlmode, admin, callback, owner, id, other, references, payOther, states, own, tell } = await startTwo(t);
	const { elicitationId: unpaid } = await urlmode.create({ ...payment, ...owner });
	for (const named of [unpaid, other]) await tell(named);
	await admin.query('DELETE FROM urlmode.elicitation WHERE id = $1', [unpaid]);
	await payOther();
	assert.deepEqual(await states(), ['offered 0', 'held 0']);

	await callback.event(id, 'refunded', { reference: newReference(), refund: own });
	await tell(id, { reference: references[1] });
	await admin.query('UPDATE urlmode.payment SET claimed_at = now() WHERE elicitation = ANY ($1)', [[id, other]]);
	for (const each of [other, id]) await admin.query('DELETE FROM urlmode.elicitation WHERE id = $1', [each]);
	assert.deepEqual((await urlmode.refunds()).filter(({ reference }) => reference === own).map(({ elicitationId }) => elicitationId), [other]);
});

test('of an elicitation that is deleted, what may have gone back of its payment stays, and that of others goes', async (t) => {
	const { admin, callback, id, pay } = await start(t);
	await pay();
	const [unnamed, strange] = [newReference(), newReference()];
	await callback.event(id, 'refunded', { refund: unnamed, amount: 100, currency: 'EUR' });
	await callback.event(id, 'refunded', { refund: strange, reference: newReference(), amount: 100, currency: 'EUR' });
	await admin.query('UPDATE urlmode.payment SET claimed_at = now() WHERE elicitation = $1', [id]);
	await admin.query('DELETE FROM urlmode.elicitation WHERE id = $1', [id]);
	const { rows } = await admin.query('SELECT reference FROM urlmode.refund WHERE reference = ANY ($1)', [[unnamed, strange]]);
	assert.deepEqual(rows, [{ reference: unnamed }]);
});

test('what goes back is told to those who wait for its payment, whichever elicitation the event names', async (t) => {
	const { urlmode, id, other, references: [reference], own, tell } = await startTwo(t);
	const told = [];
	urlmode.on('refunded', (event) => told.push(event));
	await until('it listens', () => internalsOf(urlmode).listener.listening);
	assert.equal(await tell(other, { reference }), 'refunded');
	await until('it is told', () => told.length === 1);
	assert.deepEqual(told.map(({ elicitationId, reference: ref }) => [elicitationId, ref]), [[id, own]]);
});

test('a refund that is told of two elicitations is reported for both', async (t) => {
	const { urlmode, callback, owner } = await start(t);
	const ids = [];
	for (let n = 0; n < 2; n += 1) ids.push((await urlmode.create({ ...payment, ...owner })).elicitationId);
	const told = [];
	urlmode.on('refunded', ({ elicitationId }) => told.push(elicitationId));
	await until('it listens', () => internalsOf(urlmode).listener.listening);
	const refund = newReference();
	for (const id of ids) await callback.event(id, 'refunded', { refund, amount: 100, currency: 'EUR' });
	await until('both are told', () => ids.every((id) => told.includes(id)));
});

test('all of a refund comes again, also after a part of it', async (t) => {
	const { pay, refund, reversal, listed } = await start(t);
	await pay();
	await refund('a', undefined);
	await reversal('a', 300);
	assert.deepEqual((await listed()).map(({ refunded }) => refunded), [750]);
	await reversal('a', undefined);
	assert.deepEqual((await listed()).map(({ refunded, held }) => [refunded, held]), [[0, false]]);
});

test('a total that nobody can compare holds again when it grows after the decision', async (t) => {
	const { pay, refund, outcomeOf, decide } = await start(t);
	await pay();
	await refund(undefined, 100, { currency: 'USD' });
	assert.equal(await decide('released'), 'released');
	assert.equal((await outcomeOf()).action, 'accept');
	await refund(undefined, 1_000, { currency: 'USD' });
	assert.equal((await outcomeOf()).reason, 'held');
});

test('a call that comes back after its lease does not deliver what the operator has voided', async (t) => {
	const { urlmode, admin, owner, id, pay, refund, decide } = await start(t);
	await pay();
	const claimed = await urlmode.beginClaim(id, owner);
	await refund('a', 100);
	await admin.query("UPDATE urlmode.lease SET ends_at = now() - interval '1 s' WHERE elicitation = $1", [id]);
	assert.equal(await decide('voided'), 'voided');
	await assert.rejects(claimed.fulfil('done'), { code: 'CLAIM_LOST' });
});

test('a reversal finds its refund, whichever elicitation the events name', async (t) => {
	const { urlmode, callback, owner, id, pay, reference, outcomeOf } = await start(t);
	const { elicitationId: other } = await urlmode.create({ ...payment, ...owner });
	await pay();
	const refund = { reference, refund: newReference(), amount: 100, currency: 'EUR' };
	await callback.event(other, 'refunded', refund);
	assert.equal((await outcomeOf()).reason, 'held');
	await callback.event(null, 'refund_reversed', refund);
	assert.equal((await outcomeOf()).action, 'accept');
	assert.equal(await urlmode.claim(id, owner), true);
});

test('the operator releases or voids what is held, and what goes back after that holds it again', async (t) => {
	const { urlmode, admin, owner, id, create, pay, refund, outcomeOf, decide, reference } = await start(t);
	await pay();
	assert.equal(await decide('released'), 'not_held');
	await refund('a', 100);
	assert.equal(await decide('voided'), 'voided');
	assert.notEqual((await create()).elicitationId, id);
	assert.equal(await decide('released'), 'released');
	assert.equal((await outcomeOf()).action, 'accept');
	await refund('b', 100);
	assert.equal((await outcomeOf()).reason, 'held');
	assert.equal(await decide('released'), 'released');
	assert.equal(await urlmode.claim(id, owner), true);
	assert.equal(await decide('voided'), 'claimed');
	assert.equal(await decide('voided', newReference()), 'unknown');
	const { rows } = await admin.query('SELECT reference, decision, refunded, decided_by, note FROM urlmode.show_decisions($1)', [id]);
	const trail = [['voided', '100'], ['released', '100'], ['released', '200']];
	assert.deepEqual(rows, trail.map(([decision, refunded]) => ({ reference, decision, refunded, decided_by: 'ann', note: 'asked the shop' })));
});

test('what goes back after the claim reaches the server, also when the elicitation was purged', async (t) => {
	const { urlmode, another, callback, admin, owner, id, pay, reference, refund } = await start(t);
	const instances = [urlmode, another()];
	const told = instances.map((instance) => {
		const events = [];
		instance.on('refunded', (event) => events.push(event));
		return events;
	});
	await until('they listen', () => instances.every((instance) => internalsOf(instance).listener.listening));
	await pay();
	await urlmode.claim(id, owner);
	const since = new Date(Date.now() - 60_000);
	assert.equal(await refund('a', 100), 'refunded');
	await until('it is told', () => told.every((events) => events.length === 1));
	await admin.query('DELETE FROM urlmode.elicitation WHERE id = $1', [id]);
	assert.equal(await callback.event(null, 'refunded', { reference, refund: `${reference}-b`, amount: 50, currency: 'EUR' }), 'refunded');
	await until('it is told', () => told.every((events) => events.length === 2));

	const common = { elicitationId: id, provider: 'demo', currency: 'EUR', reversed: 0 };
	const of = (refunded) => ({ reference, amount: 1_050, refunded, held: true, claimed: true });
	const without = ({ receivedAt, changedAt, ...rest }) => rest;
	const mine = (rows) => rows.filter(({ elicitationId }) => elicitationId === id).map(without);
	const gone = { subject: undefined, session: undefined, resumeKey: undefined };
	assert.deepEqual(told[0].map(without), [
		{ ...common, ...owner, resumeKey: undefined, reference: `${reference}-a`, amount: 100, payment: of(100) },
		{ ...common, ...gone, reference: `${reference}-b`, amount: 50, payment: of(150) },
	]);
	assert.deepEqual(mine(await urlmode.refunds({ since, provider: 'demo' })), [
		{ ...common, ...gone, reference: `${reference}-a`, amount: 100, payment: of(150) },
		{ ...common, ...gone, reference: `${reference}-b`, amount: 50, payment: of(150) },
	]);
	assert.deepEqual(mine(await urlmode.refunds({ since: new Date(Date.now() + 60_000) })), []);
	assert.equal(await callback.event(null, 'refunded', { reference: newReference(), amount: 50 }), 'unknown');
});

test('what goes back of a purged elicitation and names it alone is of its payment', async (t) => {
	const { urlmode, callback, admin, owner, id, pay } = await start(t);
	// Its provider has no references of payments.
	await pay({ reference: '' });
	await urlmode.claim(id, owner);
	await admin.query('DELETE FROM urlmode.elicitation WHERE id = $1', [id]);
	const refunded = async () => (await admin.query('SELECT refunded FROM urlmode.payment WHERE elicitation = $1', [id])).rows;
	assert.equal(await callback.event(id, 'refunded', { amount: 100 }), 'refunded');
	assert.equal(await callback.event(id, 'refunded', { refund: newReference(), amount: 200 }), 'refunded');
	assert.deepEqual(await refunded(), [{ refunded: '300' }]);
	assert.equal((await urlmode.refunds()).filter(({ elicitationId, payment }) => elicitationId === id && payment.reference === id).length, 2);
});

test('more of a payment that is captured in parts replaces what was captured before', async (t) => {
	const { pay, refund, listed, outcomeOf } = await start(t);
	await pay({ amount: 300 });
	await refund('a', 300);
	await pay({ amount: 700 });
	assert.deepEqual((await listed()).map(({ amount, refunded, matches }) => [amount, refunded, matches]), [[700, 300, false]]);
	await pay({ amount: 600 });
	assert.deepEqual((await listed()).map(({ amount }) => amount), [700]);
	await pay();
	assert.equal((await outcomeOf()).reason, 'held');
});

test('a payment is not accepted without a sealed result', async (t) => {
	const { pay, listed } = await start(t);
	assert.equal(await pay({ result: null }), 'recheck');
	assert.deepEqual(await listed(), []);
});
