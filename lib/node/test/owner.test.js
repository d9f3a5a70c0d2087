// Several elicitations of one owner: exclusive, resumeKey, item, claim and abandon.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { internalsOf } from '../src/core/internals.js';
import { bindingOf } from '../src/core/token.js';
import { payment, PRICE, request, setUp, until } from './support/database.js';

/** A new owner, because other tests use the same database. */
const newOwner = (session = '') => ({ subject: `user-${randomUUID()}`, session });

const statusOf = async (admin, id) => (await admin.query(
	'SELECT status, action, reason FROM urlmode.elicitation WHERE id = $1', [id])).rows[0];

test('exclusive: the earlier elicitation is cancelled with reason superseded, and its wait resolves at once', async (t) => {
	const { urlmode, another, admin } = await setUp(t);
	const owner = newOwner('s');
	const first = await urlmode.create({ ...request, ...owner, exclusive: true });
	const waiting = another().waitForCompletion(first.elicitationId, owner);
	await sleep(100);
	const start = performance.now();
	const second = await urlmode.create({ ...request, ...owner, exclusive: true });
	assert.deepEqual(await waiting,
		{ elicitationId: first.elicitationId, action: 'cancel', reason: 'superseded', result: undefined });
	assert.ok(performance.now() - start < 15_000, 'before the next routine read');
	assert.equal((await statusOf(admin, second.elicitationId)).status, 'pending');
});

test('exclusive: opened accounts, and elicitations created without it, are superseded as well', async (t) => {
	const { urlmode, callback, admin } = await setUp(t);
	const owner = newOwner();
	const open = [];
	for (const wanted of [request, request, payment]) open.push((await urlmode.create({ ...wanted, ...owner })).elicitationId);
	await callback.open(open[1], owner);
	await urlmode.create({ ...request, ...owner, exclusive: true });
	for (const id of open) {
		assert.deepEqual(await statusOf(admin, id), { status: 'completed', action: 'cancel', reason: 'superseded' });
	}
});

test('exclusive: other subjects, other sessions and completed elicitations are not affected', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const owner = newOwner('s');
	const others = [];
	for (const other of [newOwner('s'), { ...owner, session: 'other' }, { ...owner, session: '' }]) {
		others.push((await urlmode.create({ ...request, ...other, exclusive: true })).elicitationId);
	}
	const done = await urlmode.create({ ...request, ...owner, exclusive: true });
	await urlmode.complete(done.elicitationId, { ...owner, action: 'accept' });
	await urlmode.create({ ...request, ...owner, exclusive: true });
	for (const id of others) assert.equal((await statusOf(admin, id)).status, 'pending');
	assert.deepEqual(await statusOf(admin, done.elicitationId), { status: 'completed', action: 'accept', reason: '' });
});

test('exclusive: of many created at once on two instances, exactly one stays open', async (t) => {
	const { urlmode, another, admin } = await setUp(t);
	const owner = newOwner();
	const instances = [urlmode, another()];
	const created = await Promise.all(Array.from({ length: 20 }, (_, n) =>
		instances[n % 2].create({ ...request, ...owner, exclusive: true })));
	const rows = await Promise.all(created.map(({ elicitationId }) => statusOf(admin, elicitationId)));
	assert.equal(rows.filter(({ status }) => status === 'pending').length, 1);
	assert.equal(rows.filter(({ reason }) => reason === 'superseded').length, 19);
});

test('exclusive: without it any number of elicitations can be open', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const owner = newOwner();
	const created = await Promise.all(Array.from({ length: 5 }, () => urlmode.create({ ...request, ...owner })));
	for (const { elicitationId } of created) assert.equal((await statusOf(admin, elicitationId)).status, 'pending');
});

test('exclusive: a create that fails supersedes nothing', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const owner = newOwner();
	const first = await urlmode.create({ ...request, ...owner });
	await assert.rejects(urlmode.create({ ...request, ...owner, exclusive: true, id: first.elicitationId }),
		{ code: 'ELICITATION_EXISTS' });
	assert.equal((await statusOf(admin, first.elicitationId)).status, 'pending');
});

test('resumeKey: a later create of the same owner resumes the open elicitation on any instance', async (t) => {
	const { urlmode, another } = await setUp(t);
	const owner = newOwner('s');
	const first = await urlmode.create({ ...request, ...owner, resumeKey: 'report 7' });
	assert.equal(first.resumed, false);
	const again = await another().create({ ...request, ...owner, resumeKey: 'report 7', targetUrl: () => assert.fail('called') });
	assert.deepEqual({ ...again, url: '' }, { ...first, url: '', resumed: true });
	for (const other of [{ ...owner, resumeKey: 'report 8' }, { ...owner, session: '', resumeKey: 'report 7' },
		{ ...newOwner('s'), resumeKey: 'report 7' }, owner]) {
		assert.notEqual((await urlmode.create({ ...request, ...other })).elicitationId, first.elicitationId);
	}
});

test('resumeKey: of many calls of create at once, one writes a row', async (t) => {
	const { urlmode, another } = await setUp(t);
	const owner = newOwner();
	const instances = [urlmode, another()];
	const created = await Promise.all(Array.from({ length: 20 }, (_, n) =>
		instances[n % 2].create({ ...request, ...owner, resumeKey: 'a' })));
	assert.equal(new Set(created.map(({ elicitationId }) => elicitationId)).size, 1);
	assert.equal(created.filter(({ resumed }) => !resumed).length, 1);
});

test('item: an outcome is resumed until a call claims it', async (t) => {
	const { urlmode, another } = await setUp(t);
	const owner = newOwner();
	const create = () => urlmode.create({ ...payment, ...owner, item: 'report:42' });
	const { elicitationId } = await create();
	await assert.rejects(urlmode.claim(elicitationId, owner), { code: 'ELICITATION_OPEN', message: /is open, perhaps again/ });
	await urlmode.complete(elicitationId, { ...owner, action: 'accept', ...PRICE, reference: elicitationId, result: { paid: 1 } });
	assert.equal((await create()).elicitationId, elicitationId);
	const claims = await Promise.all([urlmode, another(), urlmode].map((instance) => instance.claim(elicitationId, owner)));
	assert.deepEqual(claims.sort(), [false, false, true]);
	assert.notEqual((await create()).elicitationId, elicitationId);
	assert.equal((await urlmode.waitForCompletion(elicitationId, owner)).result.paid, 1, 'a wait still gets it');
	assert.equal(await urlmode.claim(elicitationId, newOwner()), false);
});

test('resumeKey: expired and refused elicitations are not resumed', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const cases = {
		expired: (id) => admin.query("UPDATE urlmode.elicitation SET expires_at = now() - interval '1 s' WHERE id = $1", [id]),
		abandoned: (id, owner) => urlmode.abandon(id, owner),
		superseded: (id, owner) => urlmode.create({ ...request, ...owner, exclusive: true }),
		'a code that is too old': async (id, owner) => {
			await urlmode.complete(id, { ...owner, action: 'accept' });
			await admin.query("UPDATE urlmode.elicitation SET completed_at = now() - interval '11 min' WHERE id = $1", [id]);
		},
		'refused, and past its time': async (id, owner) => {
			await urlmode.complete(id, { ...owner, action: 'decline' });
			await admin.query("UPDATE urlmode.elicitation SET expires_at = now() - interval '1 s' WHERE id = $1", [id]);
		},
	};
	for (const [name, end] of Object.entries(cases)) {
		const owner = newOwner();
		const create = () => urlmode.create({ ...request, ...owner, resumeKey: 'a' });
		const { elicitationId } = await create();
		await end(elicitationId, owner);
		assert.notEqual((await create()).elicitationId, elicitationId, name);
	}
});

test('item: an accepted or processing payment is resumed however late', async (t) => {
	const { urlmode, callback, admin } = await setUp(t);
	for (const move of [
		(id) => callback.event(id, 'processing'),
		(id, owner) => urlmode.complete(id, { ...owner, action: 'accept', ...PRICE, reference: id }),
	]) {
		const owner = newOwner();
		const create = () => urlmode.create({ ...payment, ...owner, item: 'report:42' });
		const { elicitationId } = await create();
		await move(elicitationId, owner);
		await admin.query(`UPDATE urlmode.elicitation SET expires_at = now() - interval '1 d',
			completed_at = completed_at - interval '1 d' WHERE id = $1`, [elicitationId]);
		assert.equal((await create()).elicitationId, elicitationId);
	}
});

test('abandon: completes a pending elicitation, but not one that a user has opened', async (t) => {
	const { urlmode, callback, admin } = await setUp(t);
	const owner = newOwner();
	const ids = [];
	for (let n = 0; n < 4; n += 1) ids.push((await urlmode.create({ ...request, ...owner })).elicitationId);
	await callback.open(ids[1], owner);
	await callback.event(ids[2], 'processing');
	await callback.complete(ids[3], owner);
	const answers = [];
	for (const id of ids) answers.push(await urlmode.abandon(id, { ...owner, reason: 'gone' }));
	assert.deepEqual(answers, [true, false, false, false]);
	assert.deepEqual(await statusOf(admin, ids[0]), { status: 'completed', action: 'cancel', reason: 'gone' });
	assert.equal((await statusOf(admin, ids[1])).status, 'opened');
	assert.equal((await statusOf(admin, ids[2])).status, 'processing');
	assert.equal((await statusOf(admin, ids[3])).action, 'accept');
	await assert.rejects(urlmode.abandon(ids[0], newOwner()), { code: 'ELICITATION_NOT_FOUND' });
	await assert.rejects(urlmode.abandon(ids[0], { ...owner, reason: 'Not a code' }), { name: 'TypeError' });
});

test('abandon: of many calls at once each gets its own answer, and only one has completed a row', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const owner = newOwner();
	const created = await Promise.all(Array.from({ length: 40 }, () => urlmode.create({ ...request, ...owner })));
	const ids = created.map((e) => e.elicitationId);
	await callback.open(ids[7], owner);
	const asked = [...ids, ids[3], randomUUID(), ids[7]];
	const settled = await Promise.allSettled(asked.map((id) => urlmode.abandon(id, owner)));
	for (const [n, { value, reason }] of settled.entries()) {
		if (n === 41) assert.equal(reason.code, 'ELICITATION_NOT_FOUND');
		else if (n !== 3 && n !== 40) assert.equal(value, asked[n] !== ids[7], String(n));
	}
	assert.deepEqual([settled[3].value, settled[40].value].sort(), [false, true]);

	const { elicitationId: id } = await urlmode.create({ ...request, ...owner });
	const binding = bindingOf(owner.subject, owner.session);
	const { database } = internalsOf(urlmode);
	const answers = await Promise.all([Buffer.alloc(16), binding, binding].map((each) =>
		database.abandon({ id, binding: each }, 'cancel', 'gone').catch(({ code }) => code)));
	assert.deepEqual(answers.sort(), ['ELICITATION_NOT_FOUND', 'already', 'completed']);
});

test('abandon: true cancels the elicitation on timeout, abort and close', async (t) => {
	const { urlmode, another, admin } = await setUp(t);
	const owner = newOwner();
	const create = async () => (await urlmode.create({ ...request, ...owner })).elicitationId;

	const timedOut = await create();
	await assert.rejects(urlmode.waitForCompletion(timedOut, { ...owner, timeout: 100, abandon: true }),
		{ code: 'ELICITATION_TIMEOUT', status: 'pending' });
	assert.deepEqual(await statusOf(admin, timedOut), { status: 'completed', action: 'cancel', reason: 'timeout' });

	const aborted = await create();
	const reason = new Error('cancelled by the client');
	const controller = new AbortController();
	const waiting = urlmode.waitForCompletion(aborted, { ...owner, signal: controller.signal, abandon: true });
	setTimeout(() => controller.abort(reason), 50);
	await assert.rejects(waiting, reason);
	assert.deepEqual(await statusOf(admin, aborted), { status: 'completed', action: 'cancel', reason: 'aborted' });

	const before = await create();
	await assert.rejects(
		urlmode.waitForCompletion(before, { ...owner, signal: AbortSignal.abort(reason), abandon: true }), reason);
	assert.equal((await statusOf(admin, before)).reason, 'aborted');

	const closed = await create();
	const other = another();
	const open = other.waitForCompletion(closed, { ...owner, abandon: true });
	await sleep(50);
	const [result] = await Promise.allSettled([open, other.close()]);
	assert.equal(result.reason.code, 'URLMODE_CLOSED');
	assert.deepEqual(await statusOf(admin, closed), { status: 'completed', action: 'cancel', reason: 'closed' });
});

test('abandon: true leaves a processing payment open and returns an outcome that was written just before', async (t) => {
	const { urlmode, callback, admin } = await setUp(t);
	const owner = newOwner();
	const paying = (await urlmode.create({ ...request, ...owner })).elicitationId;
	await callback.event(paying, 'processing');
	await assert.rejects(urlmode.waitForCompletion(paying, { ...owner, timeout: 200, abandon: true }),
		{ code: 'ELICITATION_TIMEOUT', status: 'processing' });
	assert.equal((await statusOf(admin, paying)).status, 'processing');

	// Its notification is held back until the timeout is over.
	const raced = (await urlmode.create({ ...request, ...owner })).elicitationId;
	const { database } = internalsOf(urlmode);
	const { abandon } = database;
	t.mock.method(database, 'abandon', async (...args) => {
		const outcome = await abandon.apply(database, args);
		await admin.query("SELECT pg_notify('urlmode', $1)", [JSON.stringify({ id: raced, status: 'completed' })]);
		return outcome;
	});
	const waiting = urlmode.waitForCompletion(raced, { ...owner, timeout: 3_000, abandon: true });
	await sleep(100);
	await admin.query("UPDATE urlmode.elicitation SET status = 'completed', action = 'accept', completed_at = now() WHERE id = $1",
		[raced]);
	assert.equal((await waiting).action, 'accept');
});

test('abandon: true ends the wait even if PostgreSQL does not answer', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const owner = newOwner();
	const { elicitationId } = await urlmode.create({ ...request, ...owner });
	await admin.query('BEGIN');
	await admin.query('SELECT FROM urlmode.elicitation WHERE id = $1 FOR UPDATE', [elicitationId]);
	const start = performance.now();
	await assert.rejects(urlmode.waitForCompletion(elicitationId, { ...owner, timeout: 100, abandon: true }),
		{ code: 'ELICITATION_TIMEOUT' });
	assert.ok(performance.now() - start < 15_000, 'it gives up after two seconds');
	await admin.query('ROLLBACK');
	await until('the row says so as soon as it can', async () => (await statusOf(admin, elicitationId)).reason === 'timeout');
});
