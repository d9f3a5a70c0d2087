// The way from a return to the wait that it ends, in every order of events:
// completion.pml says what is modelled and what must hold. MODEL=all looks at
// more faults at once (make model), which takes minutes and some gigabytes.

import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';

import { check } from './spin.mjs';

const FAULTS = [
	[],
	['CRASHES=1'],
	['RECONNECTS=1'],
	['FAILURES=2', 'LOSSES=1'],
	['EXPIRIES=1', 'FAILURES=1'],
	['LOSSES=1', 'SILENCES=1', 'FORGERIES=1'],
	['MINE=0', 'FORGERIES=1', 'LOSSES=1'],
];
const MORE_FAULTS = [
	['CRASHES=1', 'FAILURES=1'],
	['CRASHES=1', 'LOSSES=1', 'SILENCES=1'],
	['CRASHES=1', 'FORGERIES=1'],
	['RECONNECTS=1', 'FAILURES=1', 'LOSSES=1'],
	['RECONNECTS=1', 'EXPIRIES=1'],
	['RECONNECTS=1', 'CRASHES=1'],
	['FAILURES=2', 'EXPIRIES=1', 'LOSSES=1'],
	['FORGERIES=2', 'LOSSES=2', 'SILENCES=1'],
	['MINE=0', 'FORGERIES=2', 'LOSSES=1'],
];

for (const faults of process.env.MODEL === 'all' ? [...FAULTS, ...MORE_FAULTS] : FAULTS) {
	test(`in every order of events with ${faults.join(', ') || 'no fault'}, each wait ends with its row's outcome`, async (t) => {
		const { error, states } = await check('completion.pml', faults);

		assert.equal(error, undefined);
		assert.ok(states > 1_000, 'the model does not move');
		t.diagnostic(`${states} states`);
	});
}

const WRONG_OUTCOME = /assertion violated \(outcome==row\[0\]\)/;
const WRONG_ORDER = /assertion violated \(row\[0\]==.*arrivals/;
const NOT_DURABLE = /assertion violated \(row\[.*!=\d\)/;
const NEVER_ENDS = /invalid end state/;
const NEVER_ANSWERED = /assertion violated .*answered/;
const NOT_MINE = /assertion violated 0/; // MINE

const MISTAKES = [
	['ACK_BEFORE_COMMIT', ['CRASHES=1'], NOT_DURABLE],
	['FAILED_IS_COMMITTED', ['FAILURES=1'], NOT_DURABLE],
	['NO_RETRY', ['RECONNECTS=1'], NEVER_ANSWERED],
	['SAME_ROW_IN_BOTH_BATCHES', ['FAILURES=1'], WRONG_ORDER],
	['PUT_BACK_LAST', ['FAILURES=1'], WRONG_ORDER],
	['NOTIFY_BEFORE_COMMIT', ['FAILURES=1'], WRONG_OUTCOME],
	['ANNOUNCE_ALL', ['SILENCES=1'], WRONG_OUTCOME],
	['COMPLETE_TWICE', [], WRONG_OUTCOME],
	['TRUST_ANYTHING', ['FORGERIES=1'], WRONG_OUTCOME],
	['TRUST_ANY_SEAL', ['FORGERIES=1'], WRONG_OUTCOME],
	['TRUST_WITHOUT_OWNER', ['MINE=0'], NOT_MINE],
	['READ_BEFORE_LISTEN', [], NEVER_ENDS],
	['DEAF_WHILE_READING', [], NEVER_ENDS],
	['NO_READ_AFTER_RECONNECT', ['LOSSES=1'], NEVER_ENDS],
	['NO_ROUTINE_READ', ['SILENCES=1'], NEVER_ENDS],
];

for (const [mistake, faults, expected] of MISTAKES) {
	test(`the model finds the mistake ${mistake}`, async () => {
		const { error } = await check('completion.pml', [`MISTAKE=${mistake}`, ...faults]);

		assert.match(error ?? 'nothing found', expected);
	});
}
