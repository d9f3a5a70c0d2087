// Random histories of subscriptions: after each step the database says what the model says.
//
//     COUNT=10000 SEED=1 node --test tests/model/subscriptions.test.mjs
//
// A history that fails is printed with its seed, as short as it still fails.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { shrink } from './shrink.mjs';
import { makeHistory } from './subscription-history.mjs';
import { openStage, run } from './subscription-runner.mjs';

const COUNT = Number(process.env.COUNT ?? 100);
const SEED = Number(process.env.SEED ?? 1);

test(`${COUNT} histories of subscriptions from seed ${SEED} on`, async (t) => {
	const stage = await openStage(t);
	try {
		for (let seed = SEED; seed < SEED + COUNT; seed += 1) {
			const steps = makeHistory(seed);
			const error = await failure(stage, steps);
			if (error) assert.fail(await report(stage, seed, steps, error));
		}
	} finally {
		await stage.close();
	}
});

const failure = (stage, steps) => run(stage, steps).then(() => undefined, (reason) => reason);

async function report(stage, seed, steps, first) {
	const what = (error) => error?.message.split('\n')[0].replaceAll(/[\da-f-]{36}|\d+/g, '');
	const shortest = await shrink(steps, async (part) => what(await failure(stage, part)) === what(first));
	const error = await failure(stage, shortest) ?? first;
	return [
		`SEED=${seed} COUNT=1 fails. Of its ${steps.length} steps these are enough:`, ...shortest.map((step) => `  ${JSON.stringify(step)}`),
		`at ${JSON.stringify(error.step)}:`, ...error === first ? ['(not each time)'] : [], error.stack,
	].join('\n');
}
