import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import test from 'node:test';

import { PaymentReports } from '../src/core/payments.js';

test('forged notifications cost one query at a time, and hide no genuine one', async (t) => {
	t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: 7_200_000 });
	const listener = Object.assign(new EventEmitter(), { acquire() {}, release() {}, listening: true });
	const reported = [];
	const times = new Set();
	let running = 0;
	let most = 0;
	let reads = 0;
	const money = new PaymentReports(listener, {
		member: 'late',
		read: async ({ id, since }) => {
			reads += 1;
			running += 1;
			most = Math.max(most, running);
			await new Promise(setImmediate);
			running -= 1;
			if (since) times.add(since.getTime());
			if (id === 'fails') throw new Error('unavailable');
			return id === 'genuine' || since ? [{ name: 'genuine' }] : [];
		},
		nameOf: ({ name }) => name,
		stateOf: () => '',
		report: ({ name }) => reported.push(name),
	});
	money.start();
	listener.emit('notified', [{ id: 'fails', late: true }, { id: 'other', refunded: true }]);
	for (let n = 0; n < 55_000; n += 100) {
		listener.emit('notified', Array.from({ length: 100 }, (_, m) => ({ id: `forged-${n + m}`, late: true })));
	}
	listener.emit('notified', [{ id: 'genuine', late: true }]);
	while (running > 0) await new Promise(setImmediate);
	money.close();

	assert.deepEqual(reported, ['genuine'], 'although there was no room for it');
	assert.deepEqual([...times], [3_600_000], 'what came in the last hour is read');
	assert.equal(most, 1);
	assert.ok(reads < 1_100, `${reads} queries`);
});
