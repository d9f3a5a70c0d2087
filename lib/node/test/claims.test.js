// A claim ends in two steps: the work is done once, and later calls get its result until an
// answer was written.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

import { Claims } from '../src/core/claims.js';
import { Rechecks } from '../src/core/rechecks.js';
import { bindingOf } from '../src/core/token.js';
import { accepted, KINDS, RESULT } from './support/accepted.js';
import { connect, connectionsOf, payment, request, setUp, until } from './support/database.js';
import { scratchFolder } from './support/keys.js';

test('the leases of two payments of one elicitation never have the same number', async (t) => {
	const { id, owner, sql, callback, begin } = await accepted(t);
	await callback.paid(id, owner);
	const first = await begin();
	// As if the clock had been set back since.
	const [{ fence }] = await sql(`UPDATE urlmode.lease SET fence = fence + 60000000 WHERE elicitation = $1 RETURNING fence`, id);
	const second = await begin();
	assert.notEqual(second.reference, first.reference);
	assert.ok(second.fence > Number(fence));
});

for (const [kind, how] of Object.entries(KINDS)) {
	test(`${kind}: the work is done once, and its result is given to each call until one is confirmed`, async (t) => {
		const { begin, another, isListed, isResumed, id, owner, sql } = await accepted(t, how);
		const first = await begin();
		assert.equal(first.state, 'begun');
		assert.equal((await begin({}, another())).state, 'leased');
		assert.equal(await isListed(), false, 'a call is at it');
		assert.ok(await isResumed(), 'nobody is asked again meanwhile');
		assert.equal(await first.fulfil(RESULT), true);
		assert.equal(await first.release(), false, 'what is fulfilled cannot be given back');
		assert.deepEqual(await sql('SELECT urlmode.renew_claim($1, $2, $3, 1000) AS renewed',
			id, bindingOf(owner.subject, ''), first.fence), [{ renewed: false }]);

		const again = await begin({}, another());
		assert.deepEqual([again.state, again.result, again.fence], ['fulfilled', RESULT, first.fence]);
		assert.ok(await isResumed());
		assert.equal(await isListed(), false, 'it was delivered');
		assert.equal(await again.confirm(), true);
		assert.equal(await again.confirm(), true, 'it can be repeated');
		assert.equal((await begin()).state, 'taken');
		assert.equal(await isResumed(), false);
		assert.deepEqual(await sql('SELECT FROM urlmode.lease WHERE elicitation = $1', id), [], 'what is sealed does not stay');
	});

	test(`${kind}: a lease that ends gives it to the next call, and the earlier call can do nothing any more`, async (t) => {
		const { begin, isListed, isResumed, endLease, id, owner, sql } = await accepted(t, how);
		const dead = await begin();
		await endLease();
		assert.equal(await isListed(), kind === 'payment');
		assert.ok(await isResumed());
		const next = await begin();
		assert.equal(next.state, 'begun');
		assert.ok(next.fence > dead.fence);
		assert.equal(next.reference, dead.reference);

		const key = [id, bindingOf(owner.subject, ''), dead.fence];
		const refused = async (...values) => {
			const [row] = await sql(`SELECT urlmode.renew_claim($1, $2, $3, 1000) AS renewed,
				urlmode.fulfil_claim($1, $2, $3, 'x') AS fulfilled, urlmode.confirm_claim($1, $2, $3) AS confirmed,
				urlmode.release_claim($1, $2, $3) AS released`, ...values);
			assert.deepEqual(row, { renewed: false, fulfilled: false, confirmed: false, released: false });
		};
		await refused(...key);
		await refused(id, bindingOf('somebody else', ''), next.fence);
		await assert.rejects(dead.fulfil('from the dead'), { code: 'CLAIM_LOST' });
		assert.equal((await begin()).state, 'leased', 'the next call is at it');
		assert.equal(await next.fulfil(RESULT), true);
		assert.deepEqual((await begin()).result, RESULT);
	});
}

test('the operator is shown where the claim of a payment stands', async (t) => {
	const { begin, sql, id } = await accepted(t);
	const shown = async () => (await sql(`SELECT leased_until > now() AS leased, fulfilled_at IS NOT NULL AS fulfilled,
		claimed_at IS NOT NULL AS claimed FROM urlmode.show_payments($1)`, id))[0];
	assert.deepEqual(await shown(), { leased: null, fulfilled: false, claimed: false });
	const claim = await begin();
	assert.deepEqual(await shown(), { leased: true, fulfilled: false, claimed: false });
	await claim.fulfil(RESULT);
	assert.deepEqual(await shown(), { leased: null, fulfilled: true, claimed: false });
	await claim.confirm();
	assert.deepEqual(await shown(), { leased: null, fulfilled: false, claimed: true });
});

test('the lease is renewed while the work goes on', async (t) => {
	const { begin, another, isListed } = await accepted(t);
	const other = another();
	const claim = await begin({ lease: 1_000 });
	for (let n = 0; n < 5; n += 1) {
		await sleep(500);
		assert.equal((await begin({}, other)).state, 'leased');
		assert.equal(await isListed(), false);
	}
	assert.equal(claim.signal.aborted, false);
	await claim.fulfil(RESULT);
	await sleep(1_200);
	assert.equal(claim.signal.aborted, false, 'nothing is renewed any more, and nothing lost');
	assert.equal((await begin()).state, 'fulfilled');
});

test('a call whose lease is not renewed is told, and cannot fulfil what another has begun', async (t) => {
	const { begin, another, admin, id } = await accepted(t);
	const other = another();
	const claim = await begin({ lease: 1_000 });
	// PostgreSQL does not answer the renewals.
	await admin.query('BEGIN');
	await admin.query('SELECT FROM urlmode.lease WHERE elicitation = $1 FOR UPDATE', [id]);
	await until('the signal aborts', () => claim.signal.aborted);
	assert.equal(claim.signal.reason.code, 'CLAIM_LOST');
	await admin.query('UPDATE urlmode.lease SET ends_at = now() WHERE elicitation = $1', [id]);
	await admin.query('COMMIT');
	const next = await until('the next call begins', async () => {
		const tried = await begin({}, other);
		return tried.state === 'begun' && tried;
	});
	await assert.rejects(claim.fulfil(RESULT), { code: 'CLAIM_LOST' });
	assert.equal(await next.fulfil('mine'), true);
	assert.equal((await begin()).result, 'mine');
});

test('a call that has done its work after its lease is not done again, if no other has begun', async (t) => {
	const { begin, endLease, isListed } = await accepted(t);
	const claim = await begin();
	await endLease();
	assert.equal(await claim.fulfil(RESULT), true);
	assert.equal(await isListed(), false);
	assert.deepEqual((await begin()).result, RESULT);
});

test('a call that another has overtaken is told with its next renewal', async (t) => {
	const { begin, endLease, another } = await accepted(t);
	const claim = await begin({ lease: 30_000 });
	await endLease();
	assert.equal((await begin({}, another())).state, 'begun');
	await until('the signal aborts, before the lease would have ended', () => claim.signal.aborted, 25_000);
	assert.equal(claim.signal.reason.code, 'CLAIM_LOST');
});

test('who waits for another call stops with its signal, or at its time limit', async (t) => {
	const { begin } = await accepted(t);
	await begin();
	const { state, until: end } = await begin({ timeout: 100 });
	assert.equal(state, 'leased');
	assert.ok(end > new Date() && end <= new Date(Date.now() + 30_000));
	const reason = new Error('enough');
	const controller = new AbortController();
	setTimeout(() => controller.abort(reason), 100);
	await assert.rejects(begin({ timeout: Infinity, signal: controller.signal }), reason);
	await assert.rejects(begin({ signal: controller.signal }), reason);
});

test('a claim with an id can be begun again by the same caller', async (t) => {
	const { begin, another } = await accepted(t);
	const claimId = randomUUID();
	const first = await begin({ claimId });
	const again = await begin({ claimId: claimId.toUpperCase() }, another());
	assert.deepEqual([again.state, again.fence, again.reference], ['begun', first.fence, first.reference]);
	assert.equal((await begin({ claimId: randomUUID() })).state, 'leased');
	await assert.rejects(begin({ claimId: 'mine' }), { message: 'claimId must be a UUID' });
});

test('what unclaimed lists is delivered or refunded under a lease, and says which', async (t) => {
	const { begin, callback, id, owner, sql, urlmode, isListed } = await accepted(t);
	const part = `part-${randomUUID()}`;
	await callback.paid(id, { ...owner, reference: part, amount: 1 });
	assert.equal((await begin({ reference: part })).state, 'changed');
	const lost = await begin({ reference: part, anyPayment: true });
	assert.equal(lost.state, 'begun');
	await sql('UPDATE urlmode.lease SET ends_at = now() WHERE elicitation = $1', id);
	assert.ok((await urlmode.unclaimed()).some(({ reference }) => reference === part), 'who has died between claim and deed has lost nothing');
	const refunding = await begin({ reference: part, anyPayment: true });
	await assert.rejects(refunding.end('lost'), { name: 'TypeError' });
	await assert.rejects(refunding.end('delivered', 're_1'), { name: 'TypeError' });
	await refunding.end('refunded', 're_1');
	await refunding.end('refunded', 're_1');
	await assert.rejects(lost.end('refunded', 're_2'), { code: 'CLAIM_LOST' });
	const [ended] = await sql('SELECT claim_end, claim_refund FROM urlmode.payment WHERE reference = $1', part);
	assert.deepEqual(ended, { claim_end: 'refunded', claim_refund: 're_1' });
	const delivering = await begin({ anyPayment: true });
	await delivering.end('delivered');
	assert.equal(await isListed(), false);
});

test('the loop over unclaimed that REFERENCE.md shows lists again what it could not do, and passes on that the money went back', async (t) => {
	const [, section] = readFileSync(new URL('../REFERENCE.md', import.meta.url), 'utf8').split('\n### unclaimed(options)\n');
	const [, code] = /^```js\n([^]*?)^```$/m.exec(section);
	const loop = Object.getPrototypeOf(async () => {}).constructor('urlmode', 'deliver', 'refund', code);
	const { callback, id, owner, sql, urlmode, begin } = await accepted(t);
	const part = `part-${randomUUID()}`;
	await callback.paid(id, { ...owner, reference: part, amount: 700 });
	await sql("UPDATE urlmode.payment SET proven_at = proven_at - interval '2 hours' WHERE elicitation = $1", id);
	const listed = async () => (await urlmode.unclaimed()).filter(({ elicitationId }) => elicitationId === id);
	const mine = { unclaimed: listed, beginClaim: (...args) => urlmode.beginClaim(...args) };
	const whole = (await listed()).find(({ matches }) => matches).reference;
	const fails = () => Promise.reject(new Error('the shop is closed'));
	await assert.rejects(loop(mine, fails, fails), /the shop is closed/);
	assert.equal((await listed()).length, 2, 'nobody has to wait for the end of the process');
	const done = [];
	let told;
	await loop(mine, async (...args) => {
		done.push(args.slice(0, 2));
		const { signal } = args[2];
		await callback.event(id, 'refunded', { reference: whole, ...owner });
		await until('the signal aborts', () => signal.aborted);
		told = signal.reason.code;
	}, async (...args) => {
		done.push(args);
		return `re_${args[0]}`;
	});
	assert.deepEqual([told, done], ['CLAIM_REFUNDED', [[owner.subject, whole], [part, 700, 'EUR']]]);
	assert.deepEqual([await listed(), (await begin()).state], [[], 'taken']);
	const ends = await sql('SELECT reference, claim_end, claim_refund FROM urlmode.payment WHERE elicitation = $1', id);
	assert.deepEqual(new Map(ends.map(({ reference, ...end }) => [reference, end])), new Map([
		[whole, { claim_end: 'delivered', claim_refund: null }], [part, { claim_end: 'refunded', claim_refund: `re_${part}` }],
	]));
});

test('a call is told that all that was paid went back while it works', async (t) => {
	const { begin, callback, id, owner } = await accepted(t);
	const claim = await begin({ lease: 1_000 });
	await callback.event(id, 'refunded', { reference: claim.reference, ...owner });
	await until('the signal aborts', () => claim.signal.aborted);
	assert.equal(claim.signal.reason.code, 'CLAIM_REFUNDED');
	await sleep(1_500);
	assert.equal(await claim.fulfil(RESULT), true, 'it can go on');

	const other = await accepted(t);
	const quick = await other.begin({ lease: 3_600_000 });
	await other.callback.event(other.id, 'refunded', { reference: quick.reference, ...other.owner });
	assert.equal(await quick.fulfil(RESULT), true);
	assert.equal(quick.signal.reason.code, 'CLAIM_REFUNDED', 'the end says it as well');

	// Twenty minutes before it is renewed; the notification of another payment says nothing.
	const slow = await accepted(t);
	const told = await slow.begin({ lease: 3_600_000 });
	const foreign = await accepted(t);
	await foreign.callback.event(foreign.id, 'refunded', { reference: (await foreign.begin({ lease: 3_600_000 })).reference, ...foreign.owner });
	await sleep(1_000);
	assert.equal(told.signal.aborted, false);
	await slow.callback.event(slow.id, 'refunded', { reference: told.reference, ...slow.owner });
	await until('the notification has it renewed', () => told.signal.aborted);
	assert.equal(told.signal.reason.code, 'CLAIM_REFUNDED');
});

test('who begins at once after an answer was written waits for its confirmation', async (t) => {
	const { begin, admin, id } = await accepted(t);
	const claim = await begin();
	await claim.fulfil(RESULT);
	await admin.query('BEGIN');
	await admin.query('SELECT FROM urlmode.elicitation WHERE id = $1 FOR UPDATE', [id]);
	const confirmed = claim.confirm();
	const next = begin();
	await admin.query('COMMIT');
	assert.equal(await confirmed, true);
	assert.equal((await next).state, 'taken');
});

test('without fulfil, confirm alone is the last end', async (t) => {
	const { begin, isListed } = await accepted(t);
	assert.equal(await (await begin()).confirm(), true);
	assert.equal((await begin()).state, 'taken');
	assert.equal(await isListed(), false);
});

test('claim takes nothing that a call is at, or has done; and what it takes no call can end', async (t) => {
	const { urlmode, begin, owner, id, endLease } = await accepted(t);
	const claim = await begin();
	assert.equal(await urlmode.claim(id, owner), false);
	await endLease();
	assert.equal(await urlmode.claim(id, owner), true);
	await assert.rejects(claim.fulfil(RESULT), { code: 'CLAIM_LOST' });
	assert.equal(await claim.confirm(), false);

	const other = await accepted(t);
	await (await other.begin()).fulfil(RESULT);
	assert.equal(await other.urlmode.claim(other.id, other.owner), false);
});

test('what is not an accept is not begun: it says so', async (t) => {
	const { urlmode, begin, callback, owner, id, outcomeOf } = await accepted(t);
	const { reference } = await outcomeOf();
	assert.equal((await begin({ reference: 'no such payment' })).state, 'taken');
	const part = `part-${randomUUID()}`;
	await callback.paid(id, { ...owner, reference: part, amount: 1 });
	assert.equal((await begin({ reference: part })).state, 'changed', 'what does not match is no accept');
	await callback.event(id, 'refunded', { reference, ...owner });
	assert.equal((await begin({ reference })).state, 'taken');

	const { elicitationId: next } = await urlmode.create({ ...payment, ...owner });
	const beginNext = () => urlmode.beginClaim(next, owner);
	await assert.rejects(beginNext(), { name: 'ElicitationOpenError', code: 'ELICITATION_OPEN' });
	await urlmode.cancel(next, owner);
	assert.equal((await beginNext()).state, 'changed');
	await assert.rejects(urlmode.beginClaim(next, { subject: 'somebody else' }), { code: 'ELICITATION_NOT_FOUND' });
	for (const [options, message] of [
		[{ lease: 999 }, /^lease must be/], [{ lease: 3_600_001 }, /^lease must be/], [{ timeout: -1 }, /^timeout must be/],
		[{ reference: '' }, /^reference must have/], [{ signal: {} }, /^signal must be/],
	]) await assert.rejects(urlmode.beginClaim(next, { ...owner, ...options }), { name: 'TypeError', message });
});

test('close tells the calls that are under way', async (t) => {
	const { begin, another } = await accepted(t);
	const other = another();
	// Nobody waits for the end of the lease.
	const claim = await begin({ lease: 3_600_000 }, other);
	await other.close();
	assert.equal(claim.signal.reason.code, 'URLMODE_CLOSED');
	await assert.rejects(claim.fulfil(RESULT), { code: 'URLMODE_CLOSED' });
	await assert.rejects(begin({}, other), { code: 'URLMODE_CLOSED' });
});

test('after a failover that has lost the payment, it is not claimed', async (t) => {
	const { urlmode, begin, owner, id, outcomeOf, sql } = await accepted(t);
	const { reference } = await outcomeOf();
	await sql(`UPDATE urlmode.elicitation SET status = 'opened', action = NULL, completed_at = NULL WHERE id = $1`, id);
	await sql('DELETE FROM urlmode.payment WHERE elicitation = $1', id);
	await assert.rejects(urlmode.claim(id, { ...owner, reference }), { code: 'ELICITATION_OPEN' });
	await assert.rejects(begin({ reference }), { code: 'ELICITATION_OPEN' });
	await urlmode.cancel(id, owner);
	assert.equal(await urlmode.claim(id, { ...owner, reference }), false, 'a payment that had come late');
});

/** How often the work is done, and what the next call is given, when a process dies at this step. */
for (const [dieAt, works, next] of [
	['before it begins', 1, 'begun'],
	['when it has begun', 1, 'begun'],
	['when its work is done', 2, 'begun'],
	['when it is fulfilled', 1, 'fulfilled'],
	['when it is confirmed', 1, 'taken'],
]) {
	test(`a process that dies ${dieAt}`, { timeout: 120_000 }, async (t) => {
		const { id, owner, settings, outcomeOf, isListed } = await accepted(t);
		const { reference } = await outcomeOf();
		const effects = join(scratchFolder(t), 'effects');
		writeFileSync(effects, '');
		/** @returns what it says at its end, or undefined if it has died */
		const run = async (more) => {
			const child = spawn(process.execPath, [fileURLToPath(new URL('support/claim-process.js', import.meta.url)),
				JSON.stringify({ ...settings, id, owner, reference, effects, ...more })], { stdio: ['ignore', 'pipe', 'inherit'] });
			let said = '';
			child.stdout.on('data', (data) => { said += data; });
			const [, signal] = await once(child, 'close');
			return signal === 'SIGKILL' ? undefined : JSON.parse(said);
		};
		assert.equal(await run({ dieAt }), undefined);
		// Two at the same time, as two instances have them.
		const calls = await Promise.all([run(), run()]);
		const states = calls.map(({ state }) => state);
		assert.ok(states.includes(next) && states.every((state) => [next, 'fulfilled', 'taken'].includes(state)), states.join());
		assert.equal(states.filter((state) => state === 'begun').length, Number(next === 'begun'));
		assert.deepEqual(readFileSync(effects, 'utf8').trim().split('\n'), Array(works).fill(reference), 'with the same reference');
		const results = new Set(calls.filter(({ state }) => state !== 'taken').map(({ result }) => result.by));
		assert.ok(results.size <= 1, 'both are given the same result');
		assert.equal(await isListed(), false);
	});
}

for (const claimId of [undefined, randomUUID()]) {
	test(`an aborted call ${claimId ? 'leaves an account to another that may have the same claim' : 'gives the account back that it has claimed'}`, async () => {
		let answer;
		const answered = new Promise((resolve) => (answer = resolve));
		const statements = [];
		const query = async (text) => {
			statements.push(/\w+(?=\()/.exec(text)[0]);
			if (text.includes('begin_lease')) return answered;
			return [{ answer: true }];
		};
		const claims = new Claims({ query }, undefined, 60_000, undefined, new Rechecks(new Map()), undefined);
		const controller = new AbortController();
		const begun = claims.begin({ id: randomUUID(), binding: Buffer.alloc(16) }, { reference: null, lease: 30_000, timeout: 0, claimId, signal: controller.signal });
		await new Promise((resolve) => setImmediate(resolve));
		controller.abort(new Error('the client is gone'));
		await assert.rejects(begun, /the client is gone/);
		// Otherwise a server that is stopped would lose the account.
		const closed = claims.close();
		answer([{ outcome: 'claimed', claimed_reference: null, fence: null, fulfilled: null, leased_ms: null }]);
		await closed;
		assert.deepEqual(statements.slice(1), claimId ? [] : ['release_unsent']);
	});
}

test('a storm of claims that are aborted takes no account with it, and leaves nothing in the queue', async (t) => {
	const { urlmode, callback, admin, adminUrl, applicationName } = await setUp(t);
	// Not `admin`: in a transaction, pg_stat_activity shows the statements of the first time it was asked.
	const lock = await connect(t, adminUrl);
	const owners = Array.from({ length: 30 }, () => ({ subject: `user-${randomUUID()}`, session: '' }));
	const ids = await Promise.all(owners.map(async (owner) => {
		const { elicitationId: id } = await urlmode.create({ ...request, ...owner });
		await callback.complete(id, { ...owner, result: { code: 'c' } });
		return id;
	}));
	const gone = new Error('the client is gone');
	const controller = new AbortController();
	await lock.query('BEGIN; LOCK TABLE urlmode.elicitation IN ACCESS EXCLUSIVE MODE');
	const settled = Promise.allSettled(ids.map((id, n) => urlmode.beginClaim(id, { ...owners[n], signal: controller.signal })));
	await until('one waits for the lock', async () => (await connectionsOf(admin, applicationName))
		.some(({ query, wait_event_type: event }) => event === 'Lock' && query.includes('begin_lease')));
	controller.abort(gone);
	for (const { reason } of await settled) assert.equal(reason, gone);
	await lock.query('ROLLBACK');
	for (const [n, id] of ids.entries()) {
		// What was sent before is being given back.
		await until('it can be claimed', async () => (await urlmode.beginClaim(id, owners[n])).state === 'begun');
	}
	const { rows: [{ count }] } = await admin.query("SELECT count(*) FROM urlmode.elicitation WHERE id = ANY ($1) AND exchange = 'exchanging'", [ids]);
	assert.equal(Number(count), ids.length);
});
