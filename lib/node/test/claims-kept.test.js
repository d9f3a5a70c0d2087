// What a claim has made is kept until an answer was written, and is purged then.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { accepted, KINDS, RESULT } from './support/accepted.js';
import { payment, purgeResults, until } from './support/database.js';

for (const [kind, how] of Object.entries(KINDS)) {
	test(`${kind}: its result is kept until the claim has its last end, and purged ten minutes later`, async (t) => {
		const { begin, outcomeOf, sql, id, urlmode } = await accepted(t, how);
		const expected = (await outcomeOf()).result;
		assert.ok(expected);
		const pass = async (time) => {
			await sleep(200); // until what was read is written down
			await sql('UPDATE urlmode.purge_queue SET due_at = due_at - $2::interval WHERE $1 = ANY (ids)', id, time);
			await urlmode.purge({ kind: 'result' });
		};
		const claim = await begin({ lease: 3_600_000 });
		await pass('2 days');
		assert.deepEqual((await outcomeOf()).result, expected, 'under a lease');
		await claim.fulfil(RESULT);
		await pass('2 days');
		assert.deepEqual((await outcomeOf()).result, expected, 'until an answer was written');
		await claim.confirm();
		await pass('9 minutes');
		assert.deepEqual((await outcomeOf()).result, expected);
		await pass('1 minute');
		assert.equal((await outcomeOf()).result, undefined);
	});

	test(`${kind}: the result of a claim that is never confirmed is purged with keepUnclaimed, and not before`, async (t) => {
		const { begin, isResumed, admin, sql, id, outcomeOf } = await accepted(t, how);
		await (await begin()).fulfil(RESULT);
		const purge = () => purgeResults(admin);
		await sql(`UPDATE urlmode.kept_result SET kept_at = now() - interval '29 days 23 hours' WHERE elicitation = $1`, id);
		await purge();
		assert.equal((await begin()).state, 'fulfilled');
		await sql(`UPDATE urlmode.kept_result SET kept_at = now() - interval '30 days' WHERE elicitation = $1`, id);
		await purge();
		if (kind === 'payment') {
			assert.ok(await isResumed());
			const next = await begin();
			assert.equal(next.state, 'begun', 'nobody knows that it was delivered: it is done again for the same payment');
			await next.confirm();
		} else {
			await purge();
			assert.equal((await outcomeOf()).result, undefined);
		}
		assert.equal((await begin()).state, 'taken');
		assert.equal(await isResumed(), false);
	});
}

test('signature: its result is purged with keepUnclaimed, if no call claims it', async (t) => {
	const { admin, sql, id, outcomeOf } = await accepted(t, KINDS.signature);
	const pass = async (ago) => {
		await sql(`UPDATE urlmode.elicitation SET completed_at = now() - $2::interval WHERE id = $1`, id, ago);
		await sql(`UPDATE urlmode.purge_queue SET due_at = now() WHERE $1 = ANY (ids)`, id);
		await purgeResults(admin);
	};
	await pass('29 days');
	assert.ok((await outcomeOf()).result);
	await pass('30 days');
	assert.equal((await outcomeOf()).result, undefined);
});

for (const [what, result] of Object.entries({
	'is larger than the limit': 'x'.repeat(16_777_251),
	'is no JSON': { n: 1n },
})) {
	test(`a result that ${what} is not kept: its claim stays open until the answer was written`, async (t) => {
		const { begin, isListed, another, isResumed, sql, id } = await accepted(t);
		const other = another();
		const endsAt = async () => (await sql('SELECT ends_at FROM urlmode.lease WHERE elicitation = $1', id))[0].ends_at.getTime();
		const first = await begin({ lease: 3_000 });
		assert.equal(await first.fulfil(result), false);
		const end = await endsAt();
		await until('it is renewed', async () => await endsAt() > end);
		assert.equal((await begin({}, other)).state, 'leased');
		assert.equal(await first.release(), true);
		assert.equal(await isListed(), true);
		const second = await begin({}, other);
		assert.deepEqual([second.state, second.reference], ['begun', first.reference], 'nobody has the answer: the work is done again for the same payment');
		assert.equal(await second.fulfil(result), false);
		assert.equal(await first.confirm(), false, 'it was released');
		assert.equal(await second.confirm(), true);
		assert.equal((await begin()).state, 'taken');
		assert.equal(await isResumed(), false);
	});
}

test('the largest result, and none at all, are kept', async (t) => {
	for (const result of ['x'.repeat(16_777_250 - '{"result":""}'.length), undefined]) {
		const { begin } = await accepted(t);
		assert.equal(await (await begin()).fulfil(result), true);
		assert.equal((await begin()).result, result);
	}
});

test('a result whose answer fails a second time is made again, for the same payment', async (t) => {
	const { begin, isListed, urlmode, id } = await accepted(t);
	const first = await begin();
	await first.fulfil(RESULT);
	const listed = async () => (await urlmode.undelivered({ provider: payment.provider })).find(({ elicitationId }) => elicitationId === id);
	const { reference, kind, hasResult, givenAt, fulfilledAt, amount } = await listed();
	assert.deepEqual([reference, kind, hasResult, givenAt], [first.reference, 'payment', true, undefined]);
	assert.ok(fulfilledAt instanceof Date && amount > 0);
	const again = await begin();
	assert.ok((await listed()).givenAt instanceof Date);
	assert.equal(await again.release(), true);
	assert.deepEqual([await again.confirm(), await first.confirm(), await isListed(), await listed()], [false, false, true, undefined]);
	const next = await begin();
	assert.deepEqual([next.state, next.reference], ['begun', first.reference]);
	assert.ok(next.fence > first.fence);
});
