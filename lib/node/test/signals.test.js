// A controller that follows several signals: it aborts with the first of them, and leaves no
// listener behind.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import test from 'node:test';

import { followSignals } from '../src/adapters/signals.js';

test('the first signal that aborts is followed, with its reason, also one that has aborted before', () => {
	const sources = [new AbortController(), new AbortController()];
	const { controller } = followSignals([sources[0].signal, undefined, sources[1].signal]);
	assert.equal(controller.signal.aborted, false);
	sources[1].abort(new Error('second'));
	sources[0].abort(new Error('first'));
	assert.equal(controller.signal.reason.message, 'second');
	assert.equal(followSignals([AbortSignal.abort(new Error('before'))]).controller.signal.reason.message, 'before');
});

test('a signal that outlives its calls has no listener of theirs', () => {
	const { signal } = new AbortController();
	const followed = [followSignals([signal]), followSignals([signal])];
	assert.equal(getEventListeners(signal, 'abort').length, 2);
	for (const { release } of followed) release();
	assert.deepEqual(getEventListeners(signal, 'abort'), []);
});
