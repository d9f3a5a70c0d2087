// Functions for whole providers: a claim asks before it begins, and events for which nobody waits are
// asked about as well.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { linkCall, start as startCalls } from './support/calls.js';
import { payment, PRICE, setUp, until } from './support/database.js';

const owner = { subject: 'user-42' };

/** A provider of its own, so that no other test's rows are asked about. What it has is in `payments` and `refunds`. */
async function start(t, options = {}) {
	const provider = `p${randomUUID().slice(0, 8)}`;
	const api = { payments: [], refunds: [], asked: [], failure: undefined };
	const recheck = ({ elicitationId, type }) => {
		api.asked.push(type);
		if (api.failure) throw api.failure;
		return { payments: api.payments.map((each) => ({ elicitationId, ...PRICE, status: 'paid', ...each })), refunds: api.refunds };
	};
	const fixture = await setUp(t, { rechecks: { [provider]: recheck }, ...options });
	const create = async (more) => {
		const { elicitationId } = await fixture.urlmode.create({ ...payment, provider, ...more });
		await fixture.callback.open(elicitationId, { provider });
		return elicitationId;
	};
	const event = (id, type) => fixture.callback.event(id, 'recheck', { provider, type });
	return { ...fixture, provider, api, recheck, create, event };
}

const pass = ({ admin }, id, seconds) => admin.query(
	"UPDATE urlmode.recheck SET answered_at = answered_at - $2 * interval '1 second', recheck_at = recheck_at - $2 * interval '1 second' WHERE elicitation = $1",
	[id, seconds]);

test('a refund after the delivery is asked for without a wait and without a call', async (t) => {
	const fixture = await start(t);
	const { urlmode, api, create, event, provider } = fixture;
	const told = [];
	urlmode.on('refunded', (refund) => told.push(refund));
	const id = await create();
	const reference = `tr_${randomUUID()}`;
	api.payments = [{ reference }];
	await event(id, 'paid');
	assert.equal((await urlmode.waitForCompletion(id, owner)).reference, reference, 'a wait without a function has that of the provider');
	assert.equal(await urlmode.claim(id, owner), true);
	assert.deepEqual([api.asked, await urlmode.recheckDue()], [['paid'], 0]);

	api.refunds = [{ reference: `re_${reference}`, payment: reference, amount: PRICE.amount, status: 'processing' }];
	await event(id, 'refund');
	assert.deepEqual([await urlmode.recheckDue(), api.asked], [1, ['paid', 'refund']]);
	const [refund] = await urlmode.refunds({ provider });
	assert.deepEqual([refund.reference, refund.payment.refunded, refund.payment.claimed], [`re_${reference}`, PRICE.amount, true]);
	await until('it is reported', () => told.some(({ reference: each }) => each === refund.reference));
	const { rows } = await fixture.admin.query('SELECT type FROM urlmode.ledger WHERE payment = $1 ORDER BY id', [reference]);
	assert.deepEqual(rows.map(({ type }) => type), ['paid', 'claimed', 'delivered', 'refunded']);
});

test('what was paid when nobody waited any more is listed', async (t) => {
	const { urlmode, api, create, event, provider } = await start(t);
	const id = await create();
	const reference = `tr_${randomUUID()}`;
	api.payments = [{ reference }];
	await event(id, 'paid');
	assert.equal(await urlmode.recheckDue(), 1);
	assert.deepEqual((await urlmode.unclaimed({ provider })).map((each) => each.reference), [reference]);
});

test('a function that fails is asked again later, after the others; the error names the elicitation', async (t) => {
	const fixture = await start(t);
	const { urlmode, api, create, event } = fixture;
	const [first, second] = [await create(), await create()];
	api.failure = new Error('the provider cannot be asked');
	await event(first, 'first');
	await assert.rejects(urlmode.recheckDue(), ({ message, cause }) => message.includes(first) && cause === api.failure);
	assert.equal(await urlmode.recheckDue(), 0, 'it has failed just now');
	api.failure = undefined;
	await event(second, 'second');
	await pass(fixture, first, 60);
	assert.equal(await urlmode.recheckDue(), 2);
	assert.deepEqual(api.asked, ['first', 'second', 'first']);
});

test('a function that never settles holds up neither other providers nor a claim', async (t) => {
	const other = await start(t);
	const answered = `tr_${randomUUID()}`;
	other.api.payments = [{ reference: answered }];
	let [called, signal] = [() => {}];
	const hangs = (request) => {
		({ signal } = request);
		called();
		return new Promise(() => {});
	};
	const hung = await start(t, { rechecks: {} });
	const { urlmode } = await setUp(t, {
		keysFile: other.settings.keysFile, rechecks: { [hung.provider]: hangs, [other.provider]: other.recheck },
	});
	const isCalled = () => new Promise((resolve) => (called = resolve));
	const id = await hung.create();
	await hung.event(id, 'paid');
	await pass(hung, id, 60);
	await other.event(await other.create(), 'paid');

	t.mock.timers.enable({ apis: ['setTimeout'] });
	let isAsked = isCalled();
	const sweep = urlmode.recheckDue();
	sweep.catch(() => {});
	await isAsked;
	t.mock.timers.tick(60_000);
	await assert.rejects(sweep, new RegExp(`${id} at ${hung.provider} has failed: recheck of .* has not answered within 60 s`));
	t.mock.timers.reset();
	assert.deepEqual([other.api.asked, signal.aborted], [['paid'], true]);

	await hung.urlmode.complete(id, { ...owner, action: 'accept', ...PRICE, reference: `tr_${id}` });
	await pass(hung, id, 61);
	const stop = new AbortController();
	isAsked = isCalled();
	const claim = hung.urlmode.beginClaim(id, { ...owner, recheck: hangs, signal: stop.signal });
	await isAsked;
	stop.abort(new Error('the client is gone'));
	await assert.rejects(claim, { message: 'the client is gone' });
	assert.equal(signal.reason.message, 'the client is gone');
	await pass(hung, id, 61);
	assert.equal((await hung.urlmode.beginClaim(id, { ...owner, recheck: hung.recheck })).state, 'begun', 'the next call can ask at once');
});

test('several instances ask once, and those without a function for the provider do not', async (t) => {
	const { urlmode, another, api, create, event, settings } = await start(t);
	const id = await create();
	await event(id, 'paid');
	const [one, two] = await Promise.all([urlmode.recheckDue(), another().recheckDue()]);
	assert.deepEqual([one + two, api.asked], [1, ['paid']]);
	await event(id, 'again');
	const without = await setUp(t, { keysFile: settings.keysFile, rechecks: { other: () => assert.fail('of another provider') } });
	assert.equal(await without.urlmode.recheckDue(), 0);
	assert.equal(await (await setUp(t)).urlmode.recheckDue(), 0);
	assert.equal(await urlmode.recheckDue(), 1);
});

test('it is asked once a minute', async (t) => {
	t.mock.timers.enable({ apis: ['setInterval'] });
	const { api, create, event } = await start(t);
	await event(await create(), 'paid');
	t.mock.timers.tick(90_000);
	await until('the provider is asked', () => api.asked.length === 1);
});

test('a claim with both ends at once asks before it begins, and does not begin if that fails', async (t) => {
	const fixture = await start(t, { rechecks: {} });
	const { urlmode, api, recheck, create, event } = fixture;
	const id = await create();
	const reference = `tr_${randomUUID()}`;
	api.payments = [{ reference }];
	await event(id, 'paid');
	await urlmode.waitForCompletion(id, { ...owner, recheck });
	api.failure = new Error('the provider cannot be asked');
	await pass(fixture, id, 61);
	await assert.rejects(urlmode.claim(id, { ...owner, recheck }), api.failure);
	assert.equal((await urlmode.unclaimed({ provider: fixture.provider })).length, 1, 'it was not claimed');

	api.failure = undefined;
	api.refunds = [{ reference: `re_${reference}`, payment: reference, amount: PRICE.amount, status: 'paid' }];
	assert.equal(await urlmode.claim(id, { ...owner, recheck }), false, 'it went back, after the second in which nobody asks');
	assert.deepEqual(api.asked, ['paid', 'paid', 'paid']);
	await assert.rejects(urlmode.claim(id, { ...owner, recheck: 1 }), { message: 'recheck must be a function' });
	await assert.rejects(urlmode.claim(id, { ...owner, recheckAfter: -1 }), /recheckAfter must be/);
});

test('it does not ask if the last answer is younger, or nobody can ask', async (t) => {
	const fixture = await start(t);
	const { urlmode, api, recheck, create, event, settings } = fixture;
	const ids = [await create(), await create(), await create()];
	for (const id of ids) {
		api.payments = [{ reference: `tr_${id}` }];
		await event(id, 'paid');
		await urlmode.waitForCompletion(id, owner);
	}
	assert.equal(await urlmode.claim(ids[0], { ...owner, recheck }), true);
	assert.equal(api.asked.length, 3);
	await pass(fixture, ids[1], 61);
	const without = await setUp(t, { keysFile: settings.keysFile, rechecks: { other: recheck } });
	assert.equal(await without.urlmode.claim(ids[1], owner), true);
	assert.equal(api.asked.length, 3);
	api.payments = [{ reference: `tr_${ids[2]}` }];
	await pass(fixture, ids[2], 61);
	const claim = await urlmode.beginClaim(ids[2], owner);
	assert.deepEqual([claim.state, api.asked.length], ['begun', 4], 'that of the provider is the default');
});

test('a claim waits for the answer that another instance asks for', async (t) => {
	const fixture = await start(t, { rechecks: {} });
	const { urlmode, api, recheck, create, event } = fixture;
	const id = await create();
	api.payments = [{ reference: `tr_${id}` }];
	await event(id, 'paid');
	await urlmode.waitForCompletion(id, { ...owner, recheck });
	await event(id, 'again');
	/** @type {PromiseWithResolvers<void>} */
	const gate = {};
	gate.promise = new Promise((resolve) => Object.assign(gate, { resolve }));
	const slow = async (request) => {
		await gate.promise;
		return recheck(request);
	};
	const asking = fixture.another().waitForCompletion(id, { ...owner, recheck: slow });
	await until('it asks', async () => (await fixture.admin.query('SELECT FROM urlmode.recheck WHERE elicitation = $1 AND recheck_at > now()', [id])).rowCount === 1);
	const claiming = urlmode.claim(id, { ...owner, recheck: () => assert.fail('two ask at the same time') });
	gate.resolve();
	assert.deepEqual([(await asking).action, await claiming], ['accept', true]);
});

test('an adapter goes on with what only the function of the provider can prove', async (t) => {
	const provider = `p${randomUUID().slice(0, 8)}`;
	const rechecks = { [provider]: ({ elicitationId }) => ({ payments: [{ elicitationId, reference: `tr_${elicitationId}`, ...PRICE, status: 'paid' }] }) };
	const { ask, newest, callback, urlmode, owner } = await startCalls(t, { ...payment, provider }, { rechecks });
	await ask(linkCall());
	const { id } = await newest();
	await urlmode.cancel(id, owner);
	await callback.event(id, 'recheck', { provider });
	assert.equal((await ask(linkCall())).reference, `tr_${id}`);
});

test('functions are checked', async (t) => {
	for (const [rechecks, reason] of [
		[1, 'rechecks must be an object with functions'], [{ demo: 1 }, 'rechecks.demo must be a function'], [{ 'a b': () => {} }, /^provider must be/],
	]) {
		await assert.rejects(setUp(t, { rechecks }), { message: reason });
	}
});
