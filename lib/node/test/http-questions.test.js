// urlmode/http without a database: the functions of the server that the program `api` cannot call, and who asks them when.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { completed, owner, play, shown } from './support/api.js';

test('the functions of rechecks ask the provider before a claim, and a claim waits for another instance that asks', async (t) => {
	const lease = { lease: '7', provider: 'stripe', type: 'payment.updated', references: ['pi_1'], expected: { amount: 1, currency: 'EUR' } };
	const refusals = [];
	const { urlmode, calls } = await play(t, (method) => {
		if (method === 'end_recheck') return { outcomes: [] };
		if (method !== 'claim' && method !== 'begin_claim') return {};
		const error = refusals.shift();
		return error ? [409, { error: { code: 'recheck', message: 'The provider is asked first.', ...error } }] : { state: 'begun', reference: 'pi_1', fence: 3 };
	}, { rechecks: { stripe: async ({ references }) => {
		calls.push({ method: 'asked', body: { references } });
	}, demo: () => assert.fail('not this provider') } });
	const told = () => calls.splice(0).map(({ method, body }) => [method, body.recheck_after_ms ?? body.failed ?? body.references ?? null]);
	const id = randomUUID();
	const options = { ...owner, recheckAfter: 0 };
	refusals.push({ recheck: lease });
	assert.equal((await urlmode.beginClaim(id, options)).state, 'begun');
	assert.deepEqual(told(), [['begin_claim', 0], ['asked', ['pi_1']], ['end_recheck', null], ['begin_claim', 60_000]]);
	refusals.push({ recheck: { ...lease, provider: 'other' } });
	assert.equal((await urlmode.beginClaim(id, options)).state, 'begun');
	assert.deepEqual(told(), [['begin_claim', 0], ['end_recheck', true], ['begin_claim', null]]);
	refusals.push({ left_ms: 10 }, { recheck: lease });
	assert.equal(await urlmode.claim(id, options), true);
	assert.deepEqual(told(), [['claim', 0], ['claim', 0], ['asked', ['pi_1']], ['end_recheck', null], ['claim', 60_000]]);
	refusals.push({ recheck: lease });
	await assert.rejects(urlmode.claim(id, { ...options, recheck: () => Promise.reject(new Error('the provider is down')) }), { message: 'the provider is down' });
	assert.deepEqual(told(), [['claim', 0], ['end_recheck', true]]);
	assert.equal(await urlmode.claim(id, { ...options, action: 'cancel' }), true);
	assert.deepEqual(told(), [['claim', null]]);
});

test('a lease is asked for by calls that end at once, and never by one that is made again', async (t) => {
	const id = randomUUID();
	let isRight = false;
	const { urlmode, calls } = await play(t, async (method, { of, for_ms: waits }, { aborted }) => {
		if (method === 'end_check') {
			isRight = true;
			return { outcome: 'completed' };
		}
		if (isRight) return { elicitations: of.map((each) => completed(each.id, { kind: 'input', result: { values: { a: 'x' } } })) };
		const asked = shown(id, { kind: 'input', status: 'processing', seen: 'p' });
		if (waits === 0) return { elicitations: [{ ...asked, check: { lease: '7', values: { a: 'x' }, left_ms: 60_000 } }] };
		if (of[0].seen === undefined) return { elicitations: [asked] };
		await aborted;
		return { elicitations: [] };
	});
	const verified = [];
	const waiting = urlmode.waitForCompletion(id, { ...owner, verify: async ({ values }) => {
		verified.push(values);
		await urlmode.waitForCompletion(randomUUID(), { ...owner, timeout: 50 }).catch(() => {}); // which has the call made again
	} });
	assert.deepEqual((await waiting).result, { values: { a: 'x' } });
	assert.deepEqual(verified, [{ a: 'x' }], 'once');
	const waits = calls.filter(({ method }) => method === 'wait');
	assert.ok(waits.every(({ body: { of, for_ms: ms } }) => of.every(({ can }) => can === undefined) || ms === 0));
	assert.deepEqual(calls.find(({ method }) => method === 'end_check').body, { id, ...owner, session: '', lease: '7' });
});

test('a wait whose answer the api cannot take goes on', async (t) => {
	const id = randomUUID();
	const ends = [];
	const { urlmode } = await play(t, async (method, { of, lease, for_ms: waits }, { aborted }) => {
		if (method === 'end_check') {
			ends.push(lease);
			return ends.length > 1 ? { outcome: 'completed' } : [503, { error: { code: 'unavailable', message: 'It cannot be done now.' } }, { 'retry-after': '60' }];
		}
		if (ends.length > 1) return { elicitations: of.map((each) => completed(each.id, { kind: 'input', result: { values: { a: 'x' } } })) };
		const asked = shown(id, { kind: 'input', status: 'processing', seen: 'p' });
		if (waits === 0) return { elicitations: [{ ...asked, check: { lease: String(7 + ends.length), values: { a: 'x' }, left_ms: 60_000 } }] };
		if (of[0].seen === undefined) return { elicitations: [asked] };
		await aborted;
		return { elicitations: [] };
	});
	const verified = [];
	assert.equal((await urlmode.waitForCompletion(id, { ...owner, verify: async ({ values }) => void verified.push(values) })).action, 'accept');
	assert.deepEqual([ends, verified.length], [['7', '8'], 2]);
});

test('the provider is asked about an elicitation once at a time, also when another wait has begun since', async (t) => {
	const id = randomUUID();
	const leases = [];
	const asking = [];
	let isPaid = false;
	let isLeased = false;
	const { urlmode } = await play(t, async (method, { of, for_ms: waits }, { aborted }) => {
		if (method === 'end_recheck') return {};
		if (isPaid) return { elicitations: of.map((each) => completed(each.id, { kind: 'payment' })) };
		const asked = shown(id, { kind: 'payment', status: 'opened', seen: 'p' });
		if (of[0].can && !isLeased) {
			isLeased = true;
			leases.push(`${leases.length + 1}-1`);
			return { elicitations: [{ ...asked, recheck: { lease: leases.at(-1), provider: 'demo', type: 'x', references: [], expected: 'any' } }] };
		}
		// Then no other call that asks for a lease is under way.
		while (asking.length === 0) await sleep(5);
		if (of[0].seen === undefined) return { elicitations: [asked] };
		if (waits > 0) await aborted;
		return { elicitations: [] };
	});
	/** It ends by its time, while the function still asks. */
	const endLease = () => { isLeased = false; };
	const recheck = () => new Promise((resolve) => asking.push(resolve));
	const left = new AbortController();
	const first = urlmode.waitForCompletion(id, { ...owner, signal: left.signal, recheck });
	while (asking.length === 0) await sleep(5);
	left.abort(new Error('gone'));
	await assert.rejects(first, { message: 'gone' });
	endLease();
	// Another wait, and one that looks once: their server is asked already.
	const second = urlmode.waitForCompletion(id, { ...owner, recheck });
	await assert.rejects(urlmode.waitForCompletion(id, { ...owner, timeout: 0, recheck }), { name: 'ElicitationTimeoutError' });
	assert.deepEqual([asking.length, leases], [1, ['1-1']]);
	asking[0](undefined);
	// Then it is asked again, if the api says so.
	while (asking.length < 2) await sleep(5);
	isPaid = true;
	asking[1](undefined);
	assert.equal((await second).action, 'accept');
});
