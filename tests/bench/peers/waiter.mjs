// A process that waits: for every id of a file, and writes when each was
// there, as int64 nanoseconds of CLOCK_MONOTONIC in the order of the file.
//
//   waiter.mjs urlmode|plain|listen IDS TIMES

import { readFileSync, writeFileSync } from 'node:fs';

import { openSide } from './sides.mjs';

const [mode, idsFile, timesFile] = process.argv.slice(2);
const elicitations = readFileSync(idsFile, 'utf8').trim().split('\n').map((line) => {
	const [id, subject] = line.split(' ');
	return { id, subject };
});
const times = new BigInt64Array(elicitations.length);

const side = await openSide(mode);
const waits = elicitations.map(async (elicitation, index) => {
	await side.wait(elicitation);
	times[index] = process.hrtime.bigint();
});
// The package reads each row once, after it listens; then all is quiet.
setTimeout(() => process.send('ready'), 1_000);
await Promise.all(waits);
writeFileSync(timesFile, Buffer.from(times.buffer));
await side.close();
process.disconnect();
