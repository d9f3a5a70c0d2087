// A hundred thousand deliveries, replayed from a file in random order with a
// tenth of them twice, leave the rows that they leave in their order; and the
// programs do not grow over it. SOAK_DELIVERIES= takes fewer or more.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { memoryOf } from '../support/processes.mjs';
import { replay, writeDeliveries } from '../support/replay.mjs';
import { openFixture } from '../support/fixture.mjs';

const DELIVERIES = Number(process.env.SOAK_DELIVERIES ?? 100_000);
const PROCESSES = 2;

/**
 * What a process may grow by, in KiB: its heap is still finding its size. Ten
 * bytes lost with each delivery would be more.
 */
const GROWTH = 512;

let fixture;

before(async () => {
	// Otherwise glibc keeps twice the size of the largest batch, once there was one, for the next.
	const malloc = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' };
	fixture = await openFixture({ name: 'soak', own: true, env: { PROCESSES: String(PROCESSES), ...malloc } });
});

after(() => fixture?.close());

test(`${DELIVERIES} deliveries in any order`, async (t) => {
	const file = path.join(fixture.stack.runDir, 'deliveries');
	const say = (what, { deliveries, again, seconds }) => t.diagnostic(
		`${what}: ${deliveries} deliveries in ${seconds.toFixed(1)} s, ${Math.round(deliveries / seconds)} a second, ${again} sent again`);

	const memory = async () => memoryOf(await fixture.stack.pid('webhook'));

	await writeDeliveries(fixture, file, DELIVERIES);
	const inOrder = await replay(fixture, file);
	say('in order', inOrder);

	const before = await memory();
	const shuffled = await replay(fixture, file, { seed: 11 });
	say('shuffled', shuffled);
	const then = await memory();

	assert.equal(before.size, PROCESSES);
	assert.deepEqual([...then.keys()], [...before.keys()], 'a program was started again');
	for (const [pid, { pss, anonymous }] of then) {
		const { pss: pssBefore, anonymous: anonymousBefore } = before.get(pid);
		t.diagnostic(`webhook ${pid}: PSS ${pssBefore} KiB, then ${pss} KiB; its own ${anonymousBefore}, then ${anonymous}`);
		assert.ok(anonymous - anonymousBefore <= GROWTH, `webhook grew from ${anonymousBefore} to ${anonymous} KiB`);
	}
	assert.ok(shuffled.deliveries > DELIVERIES * 1.09);
	assert.deepEqual(shuffled.rows.filter((row, n) => row !== inOrder.rows[n]).slice(0, 10), []);
});
