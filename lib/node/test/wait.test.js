import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { connectionsOf, listenerOf, notify, payment, PRICE, request, setUp, until } from './support/database.js';
import { keyLine, writeKeys } from './support/keys.js';

const owner = { subject: 'user-42' };
const statusOf = async (admin, id) => (await admin.query(
	'SELECT status, action, reason FROM urlmode.elicitation WHERE id = $1', [id])).rows[0];

test('two waits for one elicitation both resolve, each with an outcome of its own', async (t) => {
	const { urlmode, another, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	const waiting = [urlmode, urlmode, another()].map((instance) => instance.waitForCompletion(elicitationId, owner));
	await until('the waits are open', () => urlmode.openWaits === 2);
	await callback.complete(elicitationId, { result: { code: 'a' } });
	const outcomes = await Promise.all(waiting);
	assert.equal(urlmode.openWaits, 0);
	assert.deepEqual(outcomes[0], outcomes[1]);
	assert.deepEqual(outcomes[0], outcomes[2]);
	assert.notEqual(outcomes[0].result, outcomes[1].result);
});

test('each status is reported once and in order, including one reached before the wait', async (t) => {
	const { urlmode, admin, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	const [early, late] = [[], []];
	const first = urlmode.waitForCompletion(elicitationId, { ...owner, onProgress: (status) => early.push(status) });
	assert.equal(await callback.open(elicitationId), 'opened');
	await until('opened is told', () => early.length === 1);
	await notify(admin, elicitationId, 'opened');
	const second = urlmode.waitForCompletion(elicitationId, { ...owner, onProgress: (status) => late.push(status) });
	await until('opened is told to the second', () => late.length === 1);
	await callback.event(elicitationId, 'processing');
	await until('processing is told', () => early.length === 2 && late.length === 2);
	await notify(admin, elicitationId, 'processing');
	await sleep(50);
	await urlmode.complete(elicitationId, { ...owner, action: 'accept' });
	await Promise.all([first, second]);
	assert.deepEqual(early, ['opened', 'processing']);
	assert.deepEqual(late, ['opened', 'processing']);
});

test('an error of onProgress ends its wait and no other', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	const failure = new Error('the client is gone');
	const other = urlmode.waitForCompletion(elicitationId, owner);
	const sync = urlmode.waitForCompletion(elicitationId, { ...owner, onProgress() { throw failure; } });
	const async = urlmode.waitForCompletion(elicitationId, { ...owner, onProgress: () => Promise.reject(failure) });
	const ends = Promise.all([assert.rejects(sync, failure), assert.rejects(async, failure)]);
	await callback.open(elicitationId);
	await ends;
	await callback.complete(elicitationId);
	assert.equal((await other).action, 'accept');
});

test('a timeout rejects, and the elicitation stays open', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	for (const timeout of [200, 1]) {
		await assert.rejects(urlmode.waitForCompletion(elicitationId, { ...owner, timeout }), {
			name: 'ElicitationTimeoutError', code: 'ELICITATION_TIMEOUT',
			message: `elicitation ${elicitationId} was not completed within ${timeout} ms`,
		});
	}
	await callback.complete(elicitationId);
	assert.equal((await urlmode.waitForCompletion(elicitationId, owner)).action, 'accept');
});

test('timeout 0 checks once', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	const progress = [];
	const check = () => urlmode.waitForCompletion(elicitationId,
		{ ...owner, timeout: 0, onProgress: (status) => progress.push(status) });
	await assert.rejects(check(), { code: 'ELICITATION_TIMEOUT', message: `elicitation ${elicitationId} is not completed yet` });
	await callback.open(elicitationId);
	await assert.rejects(check(), { code: 'ELICITATION_TIMEOUT' });
	assert.deepEqual(progress, ['opened']);
	await callback.complete(elicitationId);
	assert.equal((await check()).action, 'accept');
	await assert.rejects(urlmode.waitForCompletion(randomUUID(), { ...owner, timeout: 0 }),
		{ code: 'ELICITATION_NOT_FOUND' });
});

test('a timeout longer than setTimeout allows does not end early', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const warnings = [];
	const onWarning = (warning) => warnings.push(warning.name);
	process.on('warning', onWarning);
	t.after(() => process.off('warning', onWarning));
	const { elicitationId } = await urlmode.create({ ...request, ttl: 60 * 24 * 60 * 60 * 1_000 });
	const waits = [2 ** 31, Number.MAX_SAFE_INTEGER, Infinity].map((timeout) =>
		urlmode.waitForCompletion(elicitationId, { ...owner, timeout }));
	await sleep(300);
	await callback.complete(elicitationId);
	for (const { action } of await Promise.all(waits)) assert.equal(action, 'accept');
	assert.deepEqual(warnings, []);
});

test('an abort rejects with its reason, before and during the wait', async (t) => {
	const { urlmode, admin, applicationName } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	const reason = new Error('the client cancelled its request');
	await assert.rejects(urlmode.waitForCompletion(elicitationId, { ...owner, signal: AbortSignal.abort(reason) }), reason);
	assert.equal((await connectionsOf(admin, applicationName)).length, 1, 'an aborted wait opened a connection');

	const controller = new AbortController();
	const waits = Array.from({ length: 50 }, () =>
		urlmode.waitForCompletion(elicitationId, { ...owner, signal: controller.signal }));
	setTimeout(() => controller.abort(reason), 100);
	for (const { reason: why } of await Promise.allSettled(waits)) assert.equal(why, reason);
	assert.deepEqual(await statusOf(admin, elicitationId), { status: 'pending', action: null, reason: '' });
});

test('close ends open waits, leaves no connection, and can be called again', async (t) => {
	const { urlmode, admin, applicationName } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	const waits = [1, 2].map(() => urlmode.waitForCompletion(elicitationId, owner));
	const ended = Promise.all(waits.map((wait) => assert.rejects(wait, { name: 'UrlModeClosedError', code: 'URLMODE_CLOSED' })));
	await listenerOf(admin, applicationName);
	const late = urlmode.create(request);
	const closing = urlmode.close();
	assert.equal(urlmode.close(), closing);
	await ended;
	await closing;
	assert.ok((await late).elicitationId, 'what was under way ended first');
	await until('all connections are gone', async () => (await connectionsOf(admin, applicationName)).length === 0);
	for (const call of [() => urlmode.create(request), () => urlmode.waitForCompletion(elicitationId, owner),
		() => urlmode.complete(elicitationId, { ...owner, action: 'accept' }), () => urlmode.cancel(elicitationId, owner)]) {
		await assert.rejects(call(), { code: 'URLMODE_CLOSED' });
	}
});

test('close resolves while a connection is being opened', async (t) => {
	const { urlmode, another, admin, applicationName } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	await urlmode.close();
	for (const delay of [0, 1, 2, 5]) {
		const instance = another();
		const ended = assert.rejects(instance.waitForCompletion(elicitationId, owner), { code: 'URLMODE_CLOSED' });
		await sleep(delay);
		await instance.close();
		await ended;
	}
	await until('all connections are gone', async () => (await connectionsOf(admin, applicationName)).length === 0);
});

test('an elicitation that nobody completes in time is cancelled with reason expired', async (t) => {
	const { urlmode, another, admin, callback } = await setUp(t);
	for (const opened of [false, true]) {
		const { elicitationId } = await urlmode.create({ ...request, ttl: 400 });
		if (opened) await callback.open(elicitationId);
		const waits = [urlmode, another()].map((instance) => instance.waitForCompletion(elicitationId, owner));
		for (const outcome of await Promise.all(waits)) {
			assert.deepEqual(outcome,
				{ elicitationId, action: 'cancel', reason: 'expired', result: undefined });
		}
		assert.deepEqual(await statusOf(admin, elicitationId),
			{ status: 'completed', action: 'cancel', reason: 'expired' });
	}
});

test('an elicitation that expired before the wait returns expired, also with timeout 0', async (t) => {
	const { urlmode } = await setUp(t);
	const { elicitationId } = await urlmode.create({ ...request, ttl: 1 });
	await sleep(20);
	const outcome = await urlmode.waitForCompletion(elicitationId, { ...owner, timeout: 0 });
	assert.equal(outcome.reason, 'expired');
});

test('a processing elicitation does not expire', async (t) => {
	const { urlmode, admin, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create({ ...payment, ttl: 300 });
	await callback.event(elicitationId, 'processing');
	const waiting = urlmode.waitForCompletion(elicitationId, { ...owner, timeout: 10_000 });
	await sleep(600);
	assert.equal((await statusOf(admin, elicitationId)).status, 'processing');
	await urlmode.complete(elicitationId, { ...owner, action: 'accept', ...PRICE, reference: elicitationId });
	assert.equal((await waiting).action, 'accept');
	assert.equal(await callback.complete(elicitationId), 'already');
});

test('a wait of another subject or session rejects', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create({ ...request, session: 's' });
	const mine = urlmode.waitForCompletion(elicitationId, { ...owner, session: 's' });
	for (const stranger of [{ subject: 'user-43', session: 's' }, { ...owner }, { ...owner, session: 't' }]) {
		const expected = { name: 'ElicitationNotFoundError', code: 'ELICITATION_NOT_FOUND' };
		await assert.rejects(urlmode.waitForCompletion(elicitationId, stranger), expected);
		await assert.rejects(urlmode.complete(elicitationId, { ...stranger, action: 'accept' }), expected);
		await assert.rejects(urlmode.cancel(elicitationId, stranger), expected);
	}
	await callback.complete(elicitationId, { session: 's' });
	assert.equal((await mine).action, 'accept');
	await assert.rejects(urlmode.waitForCompletion(elicitationId, owner), { code: 'ELICITATION_NOT_FOUND' });
});

test('a wait before the row exists rejects, and a later one resolves', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const id = randomUUID();
	await assert.rejects(urlmode.waitForCompletion(id, owner), { code: 'ELICITATION_NOT_FOUND' });
	await urlmode.create({ ...request, id });
	const waiting = urlmode.waitForCompletion(id.toUpperCase(), owner);
	await callback.complete(id);
	assert.equal((await waiting).elicitationId, id);
});

test('complete and cancel resolve to whether they completed the elicitation', async (t) => {
	const { urlmode, another, admin } = await setUp(t);
	const first = await urlmode.create(request);
	const waiting = urlmode.waitForCompletion(first.elicitationId, owner);
	const result = { receipt: 'r-1', lines: [1, { two: 2 }] };
	assert.equal(await another().complete(first.elicitationId, { ...owner, action: 'accept', reason: 'by_api', result }), true);
	assert.deepEqual(await waiting, { elicitationId: first.elicitationId, action: 'accept', reason: 'by_api', result });
	assert.equal(await urlmode.complete(first.elicitationId, { ...owner, action: 'decline' }), false);
	assert.equal(await urlmode.cancel(first.elicitationId, owner), false);
	assert.equal((await statusOf(admin, first.elicitationId)).action, 'accept');

	for (const [options, reason] of [[owner, 'cancelled'], [{ ...owner, reason: 'superseded' }, 'superseded']]) {
		const { elicitationId } = await urlmode.create(request);
		assert.equal(await urlmode.cancel(elicitationId, options), true);
		assert.deepEqual(await statusOf(admin, elicitationId), { status: 'completed', action: 'cancel', reason });
	}
	await assert.rejects(urlmode.cancel(randomUUID(), owner), { code: 'ELICITATION_NOT_FOUND' });
});

test('of ten completions at once exactly one succeeds', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	const answers = await Promise.all([
		...Array.from({ length: 5 }, () => urlmode.complete(elicitationId, { ...owner, action: 'accept' })),
		...Array.from({ length: 4 }, () => urlmode.cancel(elicitationId, owner)),
		callback.complete(elicitationId).then((outcome) => outcome === 'completed'),
	]);
	assert.equal(answers.filter(Boolean).length, 1, String(answers));
});

test('mistakes in a call are TypeErrors that say what to do', async (t) => {
	const { urlmode } = await setUp(t);
	const id = randomUUID();
	const circular = {};
	circular.self = circular;
	for (const [call, message] of [
		[() => urlmode.waitForCompletion('x', owner), /^the elicitation id must be a UUID/],
		[() => urlmode.waitForCompletion(id), /^subject must be/],
		[() => urlmode.waitForCompletion(id, { ...owner, timeout: -1 }), /^timeout must be/],
		[() => urlmode.waitForCompletion(id, { ...owner, timeout: NaN }), /^timeout must be/],
		[() => urlmode.waitForCompletion(id, { ...owner, timeout: '1' }), /^timeout must be/],
		[() => urlmode.waitForCompletion(id, { ...owner, signal: {} }), /^signal must be/],
		[() => urlmode.waitForCompletion(id, { ...owner, onProgress: 'log' }), /^onProgress must be/],
		[() => urlmode.waitForCompletion(id, { ...owner, recheck: {} }), /^recheck must be/],
		[() => urlmode.complete(id, owner), /^action must be one of accept, decline, cancel/],
		[() => urlmode.complete(id, { ...owner, action: 'accept', reason: 'Not a code' }), /^reason must be/],
		[() => urlmode.complete(id, { ...owner, action: 'accept', result: 'text' }), /^result must be/],
		[() => urlmode.complete(id, { ...owner, action: 'accept', result: null }), /^result must be/],
		[() => urlmode.complete(id, { ...owner, action: 'accept', result: 1n }), /^result must be/],
		[() => urlmode.complete(id, { ...owner, action: 'accept', result: [1] }), /^result must be/],
		[() => urlmode.complete(id, { ...owner, action: 'accept', result: circular }), /circular/],
		[() => urlmode.complete(id, { ...owner, action: 'accept', result: { a: 'x'.repeat(65_536) } }), /^result must have at most/],
	]) {
		await assert.rejects(call(), (error) => error instanceof TypeError && message.test(error.message));
	}
});

test('a result of the largest size is accepted', async (t) => {
	const { urlmode } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	const result = { a: 'x'.repeat(65_506 - '{"a":""}'.length) };
	await urlmode.complete(elicitationId, { ...owner, action: 'accept', result });
	assert.deepEqual((await urlmode.waitForCompletion(elicitationId, owner)).result, result);
});

test('a result sealed with an old key opens while that key is in the file', async (t) => {
	const old = keyLine(1);
	const { urlmode, callback, keysFile } = await setUp(t);
	writeKeys(keysFile, old);
	callback.keys.find(99);
	await sleep(1_100);
	const { elicitationId } = await urlmode.create({ ...request, pkce: true });
	writeKeys(keysFile, keyLine(2) + old);
	await callback.complete(elicitationId, { result: { code: 'a' } });
	const outcome = await urlmode.waitForCompletion(elicitationId, owner);
	assert.deepEqual(outcome.result, { code: 'a' });
	assert.equal(outcome.codeVerifier.length, 43);
});

test('a wait rejects if the key of the result is missing', async (t) => {
	const { urlmode, callback, keysFile } = await setUp(t);
	const made = await urlmode.create({ ...request, pkce: true });
	const sealed = await urlmode.create(request);
	const declined = await urlmode.create({ ...request, pkce: true });
	await callback.complete(made.elicitationId);
	await callback.complete(sealed.elicitationId, { result: { code: 'secret-code' } });
	await callback.complete(declined.elicitationId, { action: 'decline', reason: 'access_denied' });
	writeKeys(keysFile, keyLine(2));
	await sleep(1_100);
	for (const { elicitationId } of [made, sealed]) {
		await assert.rejects(urlmode.waitForCompletion(elicitationId, owner), {
			name: 'ElicitationSealError', code: 'ELICITATION_SEAL',
			message: `the sealed data of elicitation ${elicitationId} cannot be opened: the keys file has no key 1`,
		});
	}
	const outcome = await urlmode.waitForCompletion(declined.elicitationId, owner);
	assert.equal(outcome.action, 'decline', 'a decline needs no verifier');
});
