import assert from 'node:assert/strict';
import test from 'node:test';

import { Forgetting } from '../src/forgetting.js';

const MINUTES = 60_000 * 2;

/** Lets what is waiting for a promise go on. */
const settle = () => new Promise(setImmediate);

test('it begins with the first use, goes on while there is more, and ends with the last', async (t) => {
	t.mock.timers.enable({ apis: ['setInterval'] });
	const answers = [true, true, false, false];
	let calls = 0;
	const forgetting = new Forgetting(async () => {
		calls += 1;
		return answers.shift() ?? false;
	});
	t.mock.timers.tick(MINUTES);
	assert.equal(calls, 0);

	forgetting.start();
	forgetting.start();
	t.mock.timers.tick(60_000 * 1.25);
	await settle();
	assert.equal(calls, 3, 'until there is no more');

	t.mock.timers.tick(60_000 * 1.25);
	await settle();
	assert.ok(calls >= 4);

	forgetting.stop();
	const ended = calls;
	t.mock.timers.tick(MINUTES);
	assert.equal(calls, ended);
});

test('what goes wrong is tried again, and only a refusal is warned of, once', async (t) => {
	t.mock.timers.enable({ apis: ['setInterval'] });
	const warnings = [];
	t.mock.method(process, 'emitWarning', (message, { code }) => warnings.push([message, code]));
	const { default: pg } = await import('pg');
	const refusal = Object.assign(new pg.DatabaseError('permission denied', 1, 'error'), { code: '42501' });
	const errors = [new Error('connection lost'), refusal, refusal];
	let calls = 0;
	const forgetting = new Forgetting(async () => {
		calls += 1;
		throw errors.shift() ?? new Error('connection lost');
	});
	forgetting.start();
	while (calls < 4) {
		t.mock.timers.tick(60_000 * 1.25);
		await settle();
	}
	forgetting.stop();
	assert.deepEqual(warnings, [['results are not dropped: permission denied', 'URLMODE_FORGETTING']]);
});
