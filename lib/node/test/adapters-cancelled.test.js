// A call that is cancelled at the moment at which its payment arrives.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { elicitByRequest } from '../src/adapters/elicit-by-request.js';

const ID = '7f1c5b2e-6a0d-4c1b-9d5e-2f3a4b5c6d7e';

/** A call whose wait resolves to an accept; `claims` counts its claims. */
function call({ cancelled }) {
	const controller = new AbortController();
	const urlmode = {
		claims: 0,
		create: async () => ({ elicitationId: ID, url: 'http://localhost:9/', returnUrl: '', expiresAt: new Date(Date.now() + 60_000), resumed: false }),
		async waitForCompletion() {
			if (cancelled) controller.abort(new Error('cancelled'));
			return { elicitationId: ID, action: 'accept', reason: '', result: {}, reference: 'r' };
		},
		async claim() {
			this.claims += 1;
			return true;
		},
		abandon: async () => false,
	};
	const options = { urlmode, subject: 'ada', provider: 'stripe', kind: 'payment', message: 'Pay.', expected: 'any', targetUrl: '' };
	const channel = {
		signal: controller.signal, elicit: async () => ({ action: 'accept' }), complete: async () => {}, isGone: () => false,
	};
	return { urlmode, result: elicitByRequest(options, channel) };
}

test('a call that was cancelled claims nothing: the next one gets what was paid', async () => {
	const { urlmode, result } = call({ cancelled: true });
	await assert.rejects(result, { message: 'cancelled' });
	assert.equal(urlmode.claims, 0);
});

test('a call that goes on claims what was paid', async () => {
	const { urlmode, result } = call({ cancelled: false });
	assert.equal((await result).action, 'accept');
	assert.equal(urlmode.claims, 1);
});
