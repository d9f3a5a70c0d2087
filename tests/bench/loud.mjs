// One owner with 10,000 rows: how much longer others wait for `create`, and the
// owner itself. Both are measured in one run, in turns, so that the ratio counts.
// Needs a stack: . RUN_DIR/env; node tests/bench/loud.mjs [ROWS]

import { randomUUID } from 'node:crypto';

import { UrlMode } from '../../lib/node/src/index.js';

const ROWS = Number(process.argv[2] ?? 10_000);
const SAMPLES = 300;
const { URLMODE_DATABASE_URL, URLMODE_KEYS_FILE, URLMODE_BASE_URL } = process.env;
const urlmode = new UrlMode({ databaseUrl: URLMODE_DATABASE_URL, keysFile: URLMODE_KEYS_FILE, baseUrl: URLMODE_BASE_URL });
const loud = `loud-${randomUUID()}`;
const create = (subject, more) => urlmode.create({
	provider: 'demo', kind: 'oauth', subject, targetUrl: 'https://provider.example/authorize', resumeKey: randomUUID(), ...more,
});

/** Median milliseconds of a create of each subject in turn. */
async function measure(subjects) {
	const took = subjects.map(() => []);
	for (let n = 0; n < SAMPLES; n += 1) {
		for (const [i, subject] of subjects.entries()) {
			const begun = performance.now();
			await create(subject());
			took[i].push(performance.now() - begun);
		}
	}
	return took.map((all) => all.sort((a, b) => a - b)[all.length / 2]);
}

const other = () => `quiet-${randomUUID()}`;
await measure([other]); // plans, connections and code are warm
const [before] = await measure([other]);
for (let n = 0; n < ROWS; n += 100) await Promise.all(Array.from({ length: 100 }, () => create(loud)));
const [quiet, its] = await measure([other, () => loud]);

// While the loud one goes on creating, a hundred at a time.
let going = true;
const noise = (async () => { while (going) await Promise.all(Array.from({ length: 100 }, () => create(loud).catch(() => {}))); })();
const [meanwhile] = await measure([other]);
going = false;
await noise;
await urlmode.close();

const line = (what, ms) => console.log(`${what.padEnd(58)} ${ms.toFixed(2).padStart(8)} ms ${(ms / before).toFixed(2).padStart(7)}`);
line('create of others, before', before);
line(`create of others, with ${ROWS} rows of one owner`, quiet);
line('create of that owner', its);
line('create of others, while that owner creates 100 at a time', meanwhile);
