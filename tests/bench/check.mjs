// `make bench-check`: fails when a completion takes over 2% more instructions
// than instructions.json says, which has the figures of the last release or of
// a feature that was worth more; `--write` replaces them.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { Bed } from './bed.mjs';
import { instructions } from './instructions.mjs';
import { FOLDER } from './paths.mjs';
import { deliveries } from './scenarios/webhooks.mjs';

const FIGURES = new URL('instructions.json', import.meta.url);
const MORE = 1.02;

const known = JSON.parse(readFileSync(FIGURES, 'utf8'));
const file = path.join(FOLDER, 'instructions.requests');

mkdirSync(FOLDER, { recursive: true });
const bed = await Bed.open(2_000, { peers: false });
const now = {};
try {
	await bed.fill('urlmode');
	now['oauth-return'] = await instructions(bed, 'oauth-return', async (from, to) => {
		await bed.writeReturns(file, from, to);
		return file;
	});
	await bed.fill('payment');
	now.webhook = await instructions(bed, 'webhook', (from, to) => deliveries(bed, from, to));
} finally {
	await bed.close();
}

for (const [program, count] of Object.entries(now)) {
	const ratio = count / known[program];
	const verdict = ratio > MORE ? 'over 2% more' : ratio < 1 / MORE ? 'less: make it the figure (--write)' : 'as it was';
	console.log(`${program}: ${count} instructions a completion, ${known[program]} known, ${(100 * (ratio - 1)).toFixed(1)}%: ${verdict}`);
	if (ratio > MORE) process.exitCode = 1;
}
if (process.argv[2] === '--write') {
	writeFileSync(FIGURES, `${JSON.stringify(now, undefined, '\t')}\n`);
	process.exitCode = 0;
}
