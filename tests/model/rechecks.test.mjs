// After each step of random histories of rechecks, the database has the state that their model predicts.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makeHistory, run } from './recheck-histories.mjs';

const COUNT = Number(process.env.COUNT ?? 40);
const SEED = Number(process.env.SEED ?? 1);

test(`${COUNT} histories of rechecks from seed ${SEED} on`, async () => {
	for (let seed = SEED; seed < SEED + COUNT; seed += 1) {
		await run(makeHistory(seed)).catch((error) => assert.fail(`SEED=${seed} COUNT=1: ${error.message}`));
	}
});
