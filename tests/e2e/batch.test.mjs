// Completions that arrive while a transaction is under way are written
// together in the next two; a row that fails does not fail its neighbours.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { comeBack } from '../support/flow.mjs';
import { countRequests, holdRow, untilHeld, waitLongerForLocks, watchTransactions } from '../support/locks.mjs';
import { openFixture } from '../support/fixture.mjs';

const NEIGHBOURS = 20;

let fixture;
let transactions;

before(async () => {
	fixture = await openFixture({ name: 'batch', own: true });
	transactions = await watchTransactions(fixture.stack);
});

after(() => fixture?.close());

/** Flows that have gone as far as the provider, each in a browser of its own. */
function flows(count) {
	return Promise.all(Array.from({ length: count }, async () => {
		const browser = fixture.browser();
		return { browser, ...await fixture.goOn(browser) };
	}));
}

const comeBackFrom = (flow) => comeBack(flow.browser, flow.returnTo({ code: `code of ${flow.id}` }));

async function assertCompleted(flow, hop) {
	assert.deepEqual([hop.status, hop.location], [303, '/done']);
	const { result } = await fixture.urlmode.waitForCompletion(flow.id, { ...flow.owner, timeout: 0 });
	assert.equal(result.code, `code of ${flow.id}`);
}

/** Makes the row's completion fail inside PostgreSQL. */
async function spoil({ id }) {
	await fixture.stack.sql(`
		CREATE OR REPLACE FUNCTION urlmode.spoil() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF NEW.id = '${id}' THEN RAISE EXCEPTION 'spoiled'; END IF;
			RETURN NEW;
		END $$`);
	await fixture.stack.sql(`
		CREATE OR REPLACE TRIGGER spoil BEFORE UPDATE ON urlmode.elicitation
		FOR EACH ROW EXECUTE FUNCTION urlmode.spoil()`);
}

test('an idle program writes at once, each return in a transaction of its own', async () => {
	const some = await flows(3);

	await transactions();
	for (const flow of some) {
		await assertCompleted(flow, await comeBackFrom(flow));
	}
	assert.deepEqual(await transactions(), [1, 1, 1]);
});

describe('while a transaction is under way', () => {
	let blocker;
	let neighbours;

	before(async () => {
		await waitLongerForLocks(fixture.stack);
	});

	/** What is answered to `late`, which come while the transaction of another is held. */
	async function gather(late) {
		const underWay = await countRequests(fixture.stack, 'oauth-return', '/oauth/');
		const lock = await holdRow(fixture.stack, blocker.id);
		await transactions();

		try {
			const first = comeBackFrom(blocker);
			await untilHeld(fixture.stack, 'oauth-return');
			const hops = late.map(comeBackFrom);
			await underWay(1 + late.length);
			await lock.release();
			await assertCompleted(blocker, await first);
			return await Promise.all(hops);
		} finally {
			await lock.release();
		}
	}

	test('what arrives is written together in the next three', async () => {
		[blocker, ...neighbours] = await flows(1 + NEIGHBOURS);

		const hops = await gather(neighbours);
		// One is sent behind the one that is under way, at once; of the rest one half goes behind that, and then the other.
		const [alone, ...next] = await transactions();
		assert.deepEqual([alone, next.reduce((sum, size) => sum + size, 0)], [1, NEIGHBOURS]);
		assert.ok(next.length <= 3, String(next));
		await Promise.all(neighbours.map((flow, index) => assertCompleted(flow, hops[index])));
	});

	test('a row that fails fails alone', async () => {
		[blocker, ...neighbours] = await flows(1 + NEIGHBOURS);
		const [bad, ...good] = neighbours;
		await spoil(bad);
		const before = await fixture.row(bad.id);

		const [failed, ...hops] = await gather([bad, ...good]);
		assert.equal(failed.status, 500);
		assert.match(failed.body, /<code>internal_error<\/code>/);
		assert.equal(await fixture.row(bad.id), before);
		await Promise.all(good.map((flow, index) => assertCompleted(flow, hops[index])));
	});
});

test('a row that somebody holds locked is tried again beside its neighbours, which are not held up', async () => {
	await fixture.stack.sql(`ALTER FUNCTION urlmode.complete SET lock_timeout = '20ms'`);
	const [held, ...others] = await flows(5);
	const lock = await holdRow(fixture.stack, held.id);
	const before = await fixture.row(held.id);

	try {
		const stuck = comeBackFrom(held);
		const hops = await Promise.all(others.map(comeBackFrom));
		await Promise.all(others.map((flow, index) => assertCompleted(flow, hops[index])));

		const away = await stuck;
		assert.equal(away.status, 503);
		assert.match(away.body, /<code>unavailable<\/code>/);
		assert.equal(away.headers['retry-after'], '3');
		assert.equal(await fixture.row(held.id), before);
	} finally {
		await lock.release();
	}
	await assertCompleted(held, await comeBackFrom(held));
});
