// `make bench` and `make bench-quick`: everything side by side, one after
// another and over again, so that what the machine does meanwhile meets all
// of them alike. README.md says what is compared with what; the results are in
// build/bench/.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { Bed } from './bed.mjs';
import { describe } from './machine.mjs';
import { FOLDER } from './paths.mjs';
import { Results } from './results.mjs';
import { plots, table } from './report.mjs';
import { round, rounds } from './rounds.mjs';
import { prepareWaiters } from './waiter.mjs';

const USAGE = `usage: node tests/bench/bench.mjs [options], after \`make bench-build\`

  --quick        everything shorter and once: two minutes
  --only REGEX   only what has such a name, as it is shown while it runs
  --repeats N    so often (3; quick: 1)
`;

let options;
try {
	({ values: options } = parseArgs({
		options: {
			quick: { type: 'boolean' }, only: { type: 'string' }, repeats: { type: 'string' }, help: { type: 'boolean' },
		},
	}));
} catch (error) {
	console.error(`${error.message}\n\n${USAGE}`);
	process.exit(2);
}
if (options.help) {
	console.log(USAGE);
	process.exit();
}
const languages = await prepareWaiters();
const plan = rounds(options, languages);
const began = Date.now();

const say = (text) => process.stderr.write(`${String(Math.round((Date.now() - began) / 1_000)).padStart(5)} s  ${text}\n`);

for (const language of ['python', 'go'].filter((each) => !languages.includes(each))) say(`without ${language}: this machine has none`);
mkdirSync(FOLDER, { recursive: true });
say('a stack, the peers, and what they are to complete');
const bed = await Bed.open(plan.elicitations);
const results = new Results();
try {
	const machine = await describe(bed);
	for (let repeat = 1; repeat <= plan.repeats; repeat++) {
		await round(bed, { ...plan, repeat, say, results });
	}
	const text = table(results, machine, plan);
	writeFileSync(path.join(FOLDER, 'results.json'), `${JSON.stringify({ machine, results }, undefined, '\t')}\n`);
	writeFileSync(path.join(FOLDER, 'table.md'), text);
	for (const [name, svg] of plots(results)) writeFileSync(path.join(FOLDER, `${name}.svg`), svg);
	console.log(text);
} finally {
	await bed.close();
}
