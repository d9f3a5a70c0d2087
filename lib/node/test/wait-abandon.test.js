// A wait abandons its elicitation while an outcome is read: the outcome of the row decides how
// the wait ends.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Wait } from '../src/core/wait.js';

const ID = '6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11';
const accepted = { elicitationId: ID, action: 'accept', reason: '', result: undefined };
const cancelled = { elicitationId: ID, action: 'cancel', reason: 'timeout', result: undefined };

/** Ends a wait for `reason`; `outcome` is read before the database answers `result`. */
function endWhile(reason, result, outcome, error = new Error(reason)) {
	const wait = new Wait(ID, { timeout: Infinity, abandon: async () => {
		wait.resolve(outcome);
		return result;
	} }, () => {});
	void wait.end(reason, error);
	return wait.promise;
}

for (const reason of ['timeout', 'aborted', 'closed']) {
	test(`${reason}: a wait that has completed the row itself rejects`, async () => {
		await assert.rejects(endWhile(reason, 'completed', { ...cancelled, reason }), { message: reason });
	});

	test(`${reason}: an accept that came first is the outcome`, async () => {
		assert.equal(await endWhile(reason, 'already', accepted), accepted);
	});
}

test('timeout: a cancellation by somebody else is the outcome', async () => {
	const superseded = { ...cancelled, reason: 'superseded' };
	assert.equal(await endWhile('timeout', 'already', superseded), superseded);
});

test('aborted, closed: a cancellation that came first does not replace the error', async () => {
	for (const reason of ['aborted', 'closed']) {
		await assert.rejects(endWhile(reason, 'already', { ...cancelled, reason }), { message: reason });
	}
});
