// What goes back of a payment, as an application sees it. What it does to the payment, and by which of
// its names it is found, is in tests/sql/refunds.sql.

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

test('what goes back is told to those who wait for its payment, whichever elicitation the event names', async (t) => {
	const { urlmode, callback, owner, id, pay, reference } = await start(t);
	await pay();
	const { elicitationId: other } = await urlmode.create({ ...payment, ...owner, item: 'report:43' });
	const [told, refund] = [[], newReference()];
	urlmode.on('refunded', (event) => told.push(event));
	await until('it listens', () => internalsOf(urlmode).listener.listening);
	assert.equal(await callback.event(other, 'refunded', { reference, refund, amount: 1_050, currency: 'EUR' }), 'refunded');
	await until('it is told', () => told.length === 1);
	assert.deepEqual(told.map(({ elicitationId, reference: ref }) => [elicitationId, ref]), [[id, refund]]);
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

	const common = { elicitationId: id, provider: 'demo', item: 'report:42', currency: 'EUR', reversed: 0 };
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

