// A stack under load while its parts break: nothing that was acknowledged is lost,
// nothing is done twice, every wait of MCP servers in two languages, and over HTTP, has the right outcome, and
// nothing is stuck. CHAOS=all breaks everything in turn, with a server in Go as well where there is Go, then
// SECONDS (120) long what SEED picks, then fails over to a standby (make chaos). FAULT= has an expression: only the
// faults of these names, in turn.

import assert from 'node:assert/strict';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { buildGo } from '../support/go.mjs';
import { FAULTS } from './faults.mjs';
import { Lab } from './lab.mjs';

const IS_LONG = process.env.CHAOS === 'all';
const SECONDS = Number(process.env.SECONDS ?? 120);
const SEED = Number(process.env.SEED ?? 1);

const FAULT = process.env.FAULT;

/** What is quick to break, and breaks each part once. */
const SHORT = ['programs killed', 'backends terminated', 'PostgreSQL killed', 'rows locked', 'the disk of the data full',
	'clocks that jump', 'connections to PostgreSQL reset', 'connections to programs reset', 'connections to the api reset'];

let lab;

before(async () => {
	const hasGo = IS_LONG && await buildGo('tests/waiting/go', fileURLToPath(new URL('../../build/go/waiting', import.meta.url)));
	const languages = ['node', 'python', 'http', ...hasGo ? ['go'] : []];
	lab = await Lab.open({ name: IS_LONG ? 'long' : 'short', seed: SEED, languages, standby: IS_LONG });
});

after(() => lab?.close());

test(`whatever breaks, every elicitation has its one outcome (SEED=${SEED})`, async (t) => {
	const say = ({ fault, seconds, done, recovery, again }) => t.diagnostic(
		`${fault.padEnd(34)} ${seconds.toFixed(1).padStart(5)} s ${String(done).padStart(6)} done ${String(recovery).padStart(6)} ms  ${again}`);

	await lab.warmUp();
	t.diagnostic(`${'what breaks'.padEnd(34)}   for seconds, stories done meanwhile, until as many are done as users come, tried again because of`);
	const chosen = FAULT ? Object.keys(FAULTS).filter((fault) => new RegExp(FAULT).test(fault)) : IS_LONG ? Object.keys(FAULTS) : SHORT;
	for (const fault of chosen) say(await lab.break(fault));
	if (IS_LONG && !FAULT) {
		for (const end = performance.now() + SECONDS * 1_000; performance.now() < end;) {
			say(await lab.break(lab.any(Object.keys(FAULTS))));
		}
		say(await lab.break('failover to the standby', () => lab.failOver()));
	}
	const wrong = await lab.verdict();
	t.diagnostic(`${lab.users.stories.length} elicitations, servers in ${lab.servers.map(({ language }) => language).join(' and ')} waited for each`);
	const ends = lab.users.uses.flatMap((use) => use.ends);
	t.diagnostic(`${lab.users.uses.length} accounts, ${lab.provider.refreshes} refreshes, ${ends.filter((end) => end === 'reconnect').length} of ${ends.length} uses ask to reconnect`);
	assert.ok(ends.length > 0 && ends.some((end) => end !== 'reconnect'));
	assert.deepEqual(wrong, { lost: [], doubled: [], differs: [], stuck: [], grown: [] });
});
