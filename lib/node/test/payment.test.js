// No payment is lost: a proved payment is offered to one call, or listed, even if the wait and
// the elicitation ended in another way.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { bindingOf } from '../src/core/token.js';
import { listenerOf, payment, PRICE, purgeResults, request, setUp, signature, until } from './support/database.js';
import { keyLine, writeKeys } from './support/keys.js';

/** A new owner, because other tests use the same database. */
const newOwner = (session = '') => ({ subject: `user-${randomUUID()}`, session });

const newReference = () => `pay_${randomUUID()}`;

const rowOf = async (admin, id) => (await admin.query('SELECT * FROM urlmode.elicitation WHERE id = $1', [id])).rows[0];
const statusOf = async (admin, id) => (await rowOf(admin, id)).status;

/** An elicitation of a new owner, which a later call for the same thing finds. */
async function start(t, { wanted = payment, settings = {}, ...options } = {}) {
	const fixture = await setUp(t, settings);
	const owner = newOwner('s');
	const thing = wanted.kind === 'oauth' ? { resumeKey: 'report' } : { item: 'report:42' };
	const create = (more) => fixture.urlmode.create({ ...wanted, ...owner, ...thing, ...options, ...more });
	const { elicitationId: id } = await create();
	const outcomeOf = (more) => fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 0, ...more });
	const unclaimed = async () => (await fixture.urlmode.unclaimed()).filter(({ subject }) => subject === owner.subject);
	return { ...fixture, owner, create, id, outcomeOf, unclaimed };
}

for (const [name, wanted] of Object.entries({ payment, signature, account: request })) {
	test(`the end of a wait does not end a ${name} that is opened`, async (t) => {
		const { urlmode, another, callback, admin, owner, id, create } = await start(t, { wanted });
		await callback.open(id, owner);
		const wait = (options, instance = urlmode) =>
			instance.waitForCompletion(id, { ...owner, abandon: true, timeout: 60_000, ...options });

		await assert.rejects(wait({ timeout: 50 }), { code: 'ELICITATION_TIMEOUT', status: 'opened' });
		const reason = new Error('the client cancelled its request');
		const controller = new AbortController();
		setTimeout(() => controller.abort(reason), 50);
		await assert.rejects(wait({ signal: controller.signal }), reason);
		await assert.rejects(wait({ signal: AbortSignal.abort(reason) }), reason);
		const other = another();
		const closed = assert.rejects(wait({}, other), { code: 'URLMODE_CLOSED' });
		await sleep(50);
		await other.close();
		await closed;
		assert.equal(await urlmode.abandon(id, owner), false);

		assert.equal(await statusOf(admin, id), 'opened');
		assert.equal((await create()).elicitationId, id, 'the next call goes on with it');
	});
}

test('a timeout has the status that the row has, also one that the wait has not seen', async (t) => {
	const { urlmode, callback, owner, id } = await start(t);
	await callback.client.query('BEGIN'); // its notification is held back
	await callback.open(id, owner);
	const waiting = urlmode.waitForCompletion(id, { ...owner, abandon: true, timeout: 100, onProgress: () => {} });
	setTimeout(() => callback.client.query('COMMIT'), 300);
	await assert.rejects(waiting, { code: 'ELICITATION_TIMEOUT', status: 'opened' });
});

test('after an attempt that failed, a timeout says opened again', async (t) => {
	const { urlmode, callback, owner, id } = await start(t);
	await callback.open(id, owner);
	await callback.event(id, 'processing');
	const progress = [];
	const waiting = urlmode.waitForCompletion(id, { ...owner, timeout: 5_000, onProgress: (status) => progress.push(status) });
	waiting.catch(() => {});
	await until('it is told', () => progress.includes('processing'));
	await callback.event(id, 'attempt_failed');
	await assert.rejects(waiting, { code: 'ELICITATION_TIMEOUT', status: 'opened' });
});

test('exclusive supersedes no payment or signature that is opened or processing', async (t) => {
	const { urlmode, callback, admin, owner } = await start(t);
	const ids = [];
	for (const wanted of [payment, payment, signature]) {
		ids.push((await urlmode.create({ ...wanted, ...owner })).elicitationId);
	}
	for (const id of ids) await callback.open(id, owner);
	await callback.event(ids[1], 'processing');
	await urlmode.create({ ...request, ...owner, exclusive: true });
	const rows = await Promise.all(ids.map((id) => statusOf(admin, id)));
	assert.deepEqual(rows, ['opened', 'processing', 'opened']);
});

test('an opened payment outlives its expiry by the grace of its provider, and then expires', async (t) => {
	const { urlmode, callback, admin, owner, id, outcomeOf } = await start(t);
	const expired = (ago) => admin.query('UPDATE urlmode.elicitation SET expires_at = now() - $2::interval WHERE id = $1', [id, ago]);
	await callback.open(id, { ...owner, grace: 600_000 });
	await expired('1 minute');
	await assert.rejects(outcomeOf(), { code: 'ELICITATION_TIMEOUT', status: 'opened' });
	await expired('9 minutes 59.5 seconds');
	const outcome = await urlmode.waitForCompletion(id, { ...owner, timeout: 10_000 });
	assert.deepEqual([outcome.action, outcome.reason], ['cancel', 'expired']);
});

test('a payment that is processing outlives its grace by a month, and then expires', async (t) => {
	const { urlmode, callback, admin, owner, id, outcomeOf } = await start(t);
	await callback.open(id, { ...owner, grace: 100 });
	await callback.event(id, 'processing');
	const endsIn = (rest) => admin.query(
		"UPDATE urlmode.elicitation SET expires_at = now() - interval '30 days' + $2::interval WHERE id = $1", [id, rest]);
	await endsIn('1 minute');
	await assert.rejects(outcomeOf(), { code: 'ELICITATION_TIMEOUT', status: 'processing' });
	await endsIn('500 ms');
	const { action, reason } = await urlmode.waitForCompletion(id, { ...owner, timeout: 10_000 });
	assert.deepEqual([action, reason], ['cancel', 'expired']);
	await callback.paid(id, owner);
	assert.equal((await outcomeOf()).late, true);
});

test('cancel ends what is opened, and the outcome and the event say what it cut off', async (t) => {
	const { urlmode, callback, owner, id, outcomeOf } = await start(t);
	const events = [];
	urlmode.on('completed', (event) => events.push(event));
	await callback.event(id, 'processing');
	assert.equal(await urlmode.cancel(id, owner), true);
	assert.equal((await outcomeOf()).from, 'processing');
	await until('it is told', () => events.length === 1);
	assert.deepEqual(events[0],
		{ elicitationId: id, provider: 'demo', ...owner, status: 'completed', action: 'cancel', reason: 'cancelled', from: 'processing' });
});

for (const [name, end] of Object.entries({
	'its expiry': async ({ urlmode, admin, id, owner }) => {
		await admin.query("UPDATE urlmode.elicitation SET expires_at = now() - interval '1 s', grace = '0' WHERE id = $1", [id]);
		assert.equal((await urlmode.waitForCompletion(id, owner)).reason, 'expired');
	},
	'a decline in the browser': ({ callback, id, owner }) => callback.complete(id, { ...owner, action: 'decline', reason: 'cancelled' }),
	'a cancellation by the server': ({ urlmode, id, owner }) => urlmode.cancel(id, owner),
	'an event that it failed': ({ callback, id }) => callback.event(id, 'failed'),
	'a call that has given up': ({ urlmode, id, owner }) => urlmode.abandon(id, owner),
})) {
	test(`what is paid after ${name} is an accept for the next call, once`, async (t) => {
		const fixture = await start(t);
		const { urlmode, another, callback, owner, id, create, outcomeOf, unclaimed } = fixture;
		/** Whether the page says that the payment came after the end. */
		const isLate = async () => (await callback.client.query('SELECT late FROM urlmode.look_up(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY[$3])',
			[id, bindingOf(owner.subject, owner.session), 'demo'])).rows[0].late;
		await end(fixture);
		assert.equal(await isLate(), false);
		const reference = newReference();
		assert.equal(await callback.paid(id, { ...owner, reference }), 'late');
		assert.equal(await isLate(), true);

		assert.equal((await create({ targetUrl: () => assert.fail('the user is asked to pay again') })).elicitationId, id);
		assert.deepEqual(await outcomeOf(),
			{ elicitationId: id, action: 'accept', reason: '', late: true, result: { reference }, reference, ...PRICE, expected: PRICE });
		const claims = await Promise.all([urlmode, another(), urlmode].map((instance) => instance.claim(id, owner)));
		assert.deepEqual(claims.sort(), [false, false, true]);
		assert.deepEqual(await unclaimed(), []);
		assert.notEqual((await create()).elicitationId, id, 'it was delivered, and can be bought again');
	});
}

test('an attempt to pay that goes on after the end is waited for if it has a name, until it fails', async (t) => {
	for (const reference of [newReference(), null]) {
		const { callback, owner, id, outcomeOf } = await start(t);
		await callback.complete(id, { ...owner, action: 'decline', reason: 'cancelled' });
		await callback.event(id, 'processing', { reference });
		if (reference) {
			await assert.rejects(outcomeOf(), { code: 'ELICITATION_TIMEOUT', status: 'processing' });
			await callback.event(id, 'attempt_failed', { reference });
		}
		assert.equal((await outcomeOf()).action, 'decline');
	}
});

test('mistakes in what is to be listed or claimed', async (t) => {
	const { urlmode, owner, id } = await start(t);
	for (const [call, message] of [
		[() => urlmode.unclaimed({ since: '2026-01-01' }), /^since must be a Date/],
		[() => urlmode.unclaimed({ provider: 'A' }), /^provider must be/],
		[() => urlmode.claim(id, { ...owner, reference: '' }), /^reference must have/],
		[() => urlmode.claim(id, { ...owner, action: 'paid' }), /^action must be/],
	]) await assert.rejects(call(), (error) => error instanceof TypeError && message.test(error.message));
});

test('a payment that no key opens any more is listed all the same', async (t) => {
	const { callback, owner, id, unclaimed, keysFile } = await start(t);
	await callback.paid(id, owner);
	writeKeys(keysFile, keyLine(2));
	await sleep(1_100);
	const [row] = await unclaimed();
	assert.deepEqual([row.elicitationId, row.result], [id, undefined]);
});

test('the result of a payment is kept until it is claimed, however often it was read', async (t) => {
	const { urlmode, callback, admin, owner, id, outcomeOf, unclaimed } = await start(t);
	const purge = async () => {
		await admin.query("UPDATE urlmode.purge_queue SET due_at = now() - interval '1 s' WHERE $1 = ANY (ids)", [id]);
		await purgeResults(admin);
	};
	const reference = newReference();
	await callback.paid(id, { ...owner, reference });
	for (let n = 0; n < 2; n += 1) {
		assert.deepEqual((await outcomeOf()).result, { reference });
		await sleep(200); // until a read would be marked
		await purge();
	}
	assert.deepEqual((await unclaimed())[0].result, { reference });
	assert.equal(await urlmode.claim(id, owner), true);
	assert.deepEqual((await outcomeOf()).result, { reference }, 'for a retried call');
	await purge();
	const outcome = await outcomeOf();
	assert.deepEqual([outcome.action, outcome.result, outcome.reference], ['accept', undefined, reference]);
});

test('keepUnclaimed: the result of a payment that nobody claims is purged, its reference and amount stay', async (t) => {
	t.mock.timers.enable({ apis: ['setInterval'] });
	const { callback, admin, owner, id, unclaimed } = await start(t, { settings: { keepUnclaimed: 7 * 24 * 60 * 60_000 } });
	const reference = newReference();
	await callback.paid(id, { ...owner, reference });
	t.mock.timers.tick(120_000);
	await sleep(200);
	assert.deepEqual((await unclaimed())[0].result, { reference });
	await admin.query("UPDATE urlmode.payment SET proven_at = now() - interval '7 days 2 min' WHERE elicitation = $1", [id]);
	await until('it is purged', async () => {
		t.mock.timers.tick(120_000);
		return (await unclaimed())[0].result === undefined;
	});
	const [row] = await unclaimed();
	assert.deepEqual([row.reference, row.amount, row.currency], [reference, PRICE.amount, PRICE.currency]);
});

test('the result of a payment that went back, and that no call has claimed, is purged a day later', async (t) => {
	const { callback, admin, owner, id } = await start(t);
	const reference = newReference();
	await callback.paid(id, { ...owner, reference });
	await callback.event(id, 'refunded', { reference });
	await admin.query("UPDATE urlmode.purge_queue SET due_at = due_at - interval '25 hours' WHERE $1 = ANY (ids)", [id]);
	await purgeResults(admin);
	const { rows } = await admin.query(`SELECT e.result AS of_row, p.result AS of_payment
		FROM urlmode.elicitation e JOIN urlmode.payment p ON p.elicitation = e.id WHERE e.id = $1`, [id]);
	assert.deepEqual(rows, [{ of_row: null, of_payment: null }]);
});

test('a purge leaves out what is being claimed', async (t) => {
	const { urlmode, callback, admin, owner, id, unclaimed } = await start(t);
	await callback.paid(id, owner);
	await admin.query("UPDATE urlmode.payment SET proven_at = now() - interval '31 days' WHERE elicitation = $1", [id]);
	await callback.client.query('RESET ROLE');
	await callback.client.query('BEGIN');
	await callback.client.query('SELECT FROM urlmode.elicitation WHERE id = $1 FOR UPDATE', [id]);
	const claiming = urlmode.claim(id, owner);
	await admin.query("SET statement_timeout = '5s'");
	await purgeResults(admin);
	assert.notEqual((await unclaimed())[0].result, undefined);
	await callback.client.query('COMMIT');
	assert.equal(await claiming, true);
});

test('what complete needs to accept a payment is named', async (t) => {
	const { urlmode, owner, id } = await start(t);
	const reference = newReference();
	const complete = (answer) => urlmode.complete(id, { ...owner, action: 'accept', ...answer });
	for (const answer of [{}, { reference }, PRICE, { amount: 1_050, reference }, { currency: 'EUR', reference }]) {
		await assert.rejects(complete(answer), {
			name: 'TypeError',
			message: 'to accept a payment, amount (in minor units), currency and reference are required: '
				+ 'what was paid, according to the provider',
		});
	}
	for (const [answer, message] of [
		[{ ...PRICE, reference: '' }, /^reference must have/], [{ ...PRICE, reference: 7 }, /^reference must be/],
		[{ amount: 10.5, currency: 'EUR', reference }, /^amount must be/], [{ amount: 1, currency: 'euro', reference }, /^currency must be/],
	]) await assert.rejects(complete(answer), (error) => error instanceof TypeError && message.test(error.message));
	await assert.rejects(complete({ ...PRICE, reference, amount: 0 }), { name: 'ElicitationMismatchError', code: 'ELICITATION_MISMATCH' });
	await complete({ ...PRICE, reference });
	const second = (await urlmode.create({ ...payment, ...owner })).elicitationId;
	await assert.rejects(urlmode.complete(second, { ...owner, action: 'accept', ...PRICE, reference }),
		{ name: 'ElicitationReferenceError', code: 'ELICITATION_REFERENCE' });
});

test("expected: 'any' accepts every positive amount, and expected.amount 0 only zero", async (t) => {
	const { urlmode, owner } = await start(t);
	const accept = async (expected, amount) => {
		const { elicitationId } = await urlmode.create({ ...payment, ...owner, expected });
		return urlmode.complete(elicitationId, { ...owner, action: 'accept', amount, currency: 'JPY', reference: newReference() });
	};
	assert.equal(await accept('any', 1), true);
	await assert.rejects(accept('any', 0), { code: 'ELICITATION_MISMATCH' });
	assert.equal(await accept({ amount: 0, currency: 'JPY' }, 0), true);
	await assert.rejects(accept({ amount: 0, currency: 'JPY' }, 1), { code: 'ELICITATION_MISMATCH' });
});

test('late: after a lost connection it listens again', async (t) => {
	const { urlmode, callback, admin, owner, id, applicationName } = await start(t);
	const events = [];
	urlmode.on('late', (event) => events.push(event));
	const pid = await listenerOf(admin, applicationName);
	await admin.query('SELECT pg_terminate_backend($1)', [pid]);
	await until('another connection listens', async () => {
		const now = await listenerOf(admin, applicationName);
		return now !== pid;
	});
	await sleep(50);
	await urlmode.cancel(id, owner);
	await callback.paid(id, owner);
	await until('it is told', () => events.length === 1);
	await urlmode.complete(id, { ...owner, action: 'accept', ...PRICE, reference: newReference() });
	await until('what the server has learned itself is told as well', () => events.length === 2);
});

test('nobody is sent to pay for what was paid late', async (t) => {
	const { urlmode, callback, admin, owner, id, create } = await start(t);
	await urlmode.cancel(id, owner);
	await urlmode.claim(id, { ...owner, action: 'cancel' });
	const { elicitationId: second } = await create();
	await callback.paid(id, owner);
	assert.equal(await callback.open(second, owner), 'completed');
	assert.equal(await statusOf(admin, second), 'pending');
	assert.equal(await urlmode.claim(id, owner), true);
	assert.equal(await callback.open(second, owner), 'opened');
});
