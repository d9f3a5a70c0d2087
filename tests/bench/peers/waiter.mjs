// A process that waits for every id of a file, OPEN of them at a time, and
// writes when each was there, as int64 nanoseconds of CLOCK_MONOTONIC in the
// order of the file. Prints for how many completions there is room: first when
// it waits, then for every 64 that were there. waiter.py and go/main.go do the
// same with the packages in Python and Go.
//
//   waiter.mjs urlmode|api|plain|listen IDS TIMES OPEN

import { readFileSync, writeFileSync } from 'node:fs';

import { openSide } from './sides.mjs';

// What is completed but not resolved yet: it measures the SDK, not
// how long a queue can get.
const AHEAD = 512;
const TOLD_EVERY = 64;

const [mode, idsFile, timesFile, open] = process.argv.slice(2);
const elicitations = readFileSync(idsFile, 'utf8').trim().split('\n').map((line) => {
	const [id, subject] = line.split(' ');
	return { id, subject };
});
const times = new BigInt64Array(elicitations.length);

const side = await openSide(mode);
let begun = 0;
let over = 0;

/** One wait after the other. */
async function wait() {
	while (begun < elicitations.length) {
		const n = begun++;
		await side.wait(elicitations[n]);
		times[n] = process.hrtime.bigint();
		if (++over % TOLD_EVERY === 0) console.log(TOLD_EVERY);
	}
}

const waits = Array.from({ length: Number(open) }, wait);
// The package reads each row once, after it listens; then all is quiet.
setTimeout(() => console.log(AHEAD), 1_500);
await Promise.all(waits);
writeFileSync(timesFile, Buffer.from(times.buffer));
await side.close();
