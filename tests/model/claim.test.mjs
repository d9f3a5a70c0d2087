// Calls that claim one outcome, in every order of events: claim.pml says what is
// modelled and what must hold.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { check } from './spin.mjs';

const FAULTS = [
	[],
	['DEATHS=1'],
	['DEATHS=2', 'LOSSES=1'],
	['LAPSES=1'],
	['LAPSES=2', 'FAILURES=1'],
	['DEATHS=1', 'LAPSES=1', 'LOSSES=1', 'FAILURES=1'],
	['DEATHS=1', 'LAPSES=1', 'CLAIMS=1'],
	['CALLS=4', 'LAPSES=1'],
];

for (const faults of FAULTS) {
	test(`in every order of events with ${faults.join(', ') || 'no fault'}, the work is done once, and answered`, async (t) => {
		const { error, states } = await check('claim.pml', faults);

		assert.equal(error, undefined);
		assert.ok(states > 50, 'the model does not move');
		t.diagnostic(`${states} states`);
	});
}

const DONE_TWICE = /assertion violated \(committed==255\)/;
const DONE_TWICE_WITHOUT_EXCUSE = /assertion violated lapsed/;
const NOT_COMMITTED = /assertion violated \(result==committed\)/;
const NOT_ANSWERED = /assertion violated .*answers>0/;
const NEVER_FREE = /invalid end state/;

const MISTAKES = [
	['TWO_AT_ONCE', [], DONE_TWICE_WITHOUT_EXCUSE],
	['SAME_FENCE', ['LAPSES=1'], DONE_TWICE],
	['FULFIL_WITHOUT_FENCE', ['LAPSES=1'], DONE_TWICE],
	['RELEASE_WITHOUT_FENCE', ['LAPSES=1', 'FAILURES=1'], DONE_TWICE_WITHOUT_EXCUSE],
	['DONE_AGAIN', [], DONE_TWICE],
	['CONFIRM_UNWRITTEN', [], NOT_ANSWERED],
	['CLAIM_WHAT_IS_LEASED', ['CLAIMS=1'], DONE_TWICE_WITHOUT_EXCUSE],
	['CLAIM_WHAT_IS_FULFILLED', ['CLAIMS=1'], DONE_TWICE],
	['LEASE_FOR_EVER', ['DEATHS=1'], NEVER_FREE],
	['NOT_KEPT', ['DEATHS=1'], NEVER_FREE],
];

for (const [mistake, faults, expected] of MISTAKES) {
	test(`the model finds the mistake ${mistake}`, async () => {
		const { error } = await check('claim.pml', [`MISTAKE=${mistake}`, ...faults]);

		assert.match(error ?? 'nothing found', expected);
	});
}
