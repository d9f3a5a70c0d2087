// Random histories, run against the model and the real thing.
//
//     node --test tests/model/model.test.mjs
//     COUNT=10000 SEED=1 node --test tests/model/model.test.mjs
//     SERVERS=go,node node --test tests/model/model.test.mjs
//
// SERVERS are the languages of the two servers, one in Python and one in Node by default; `http` is one over the api.
// A history that fails is printed with its seed, as short as it still fails.
// COUNT=1 with that seed runs it again.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makeHistory } from './history.mjs';
import { run } from './runner.mjs';
import { shrink } from './shrink.mjs';
import { Stage } from './stage.mjs';

const COUNT = Number(process.env.COUNT ?? 100);
const SEED = Number(process.env.SEED ?? 1);
const SERVERS = (process.env.SERVERS ?? 'python,node').split(',');

// Rechecks that name somebody else's payment warn.
process.removeAllListeners('warning');

test(`${COUNT} histories from seed ${SEED} on, with servers in ${SERVERS.join(' and ')}`, async (t) => {
	const stage = await Stage.open(t, SERVERS);
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

/** How long a step may take in a history that has failed already, in milliseconds. Over HTTP a recheck is asked for every two seconds. */
const IMPATIENT = SERVERS.includes('http') ? 5_000 : 1_000;

async function failure(stage, steps, patience) {
	const error = await run(stage, steps, patience).then(() => undefined, (reason) => reason);
	return stage.failure ? Object.assign(stage.failure, { step: error?.step }) : error;
}

async function report(stage, seed, steps, first) {
	if (stage.failure) return `SEED=${seed} COUNT=1 fails, at ${JSON.stringify(first.step)}:\n${first.message}`;
	// Another error may have another cause. Names and times differ from run to run.
	const what = (error) => error?.message.split('\n')[0].replaceAll(/[\da-f-]{36}|\d+/g, '');
	const fails = async (part) => what(await failure(stage, part, IMPATIENT)) === what(first);
	const shortest = await shrink(steps, fails);
	const error = await failure(stage, shortest, IMPATIENT) ?? first;
	return [
		`SEED=${seed} COUNT=1 fails. Of its ${steps.length} steps these are enough:`,
		...shortest.map((step) => `  ${JSON.stringify(step)}`),
		`at ${JSON.stringify(error.step)}:`,
		...error === first ? ['(not each time)'] : [],
		error.stack,
	].join('\n');
}
