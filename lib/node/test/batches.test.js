import assert from 'node:assert/strict';
import test from 'node:test';

import pg from 'pg';

import { Batches } from '../src/core/batches.js';

/** Batches whose statements are answered by hand. */
function batches(limits) {
	const statements = [];
	const asked = new Batches((elements) => new Promise((resolve, reject) => {
		statements.push({ elements, answer: () => resolve(elements.map((element) => `${element}!`)), reject });
	}), limits);
	return { asked, statements, sent: () => statements.map(({ elements }) => elements) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('one alone is asked for at once, and what comes meanwhile goes together', async () => {
	const { asked, statements, sent } = batches({ size: 10, atOnce: 1, waitMs: 60_000 });
	const first = asked.ask('a');
	await turn();
	assert.deepEqual(sent(), [['a']]);
	const others = ['b', 'c', 'd'].map((element) => asked.ask(element));
	await turn();
	assert.deepEqual(sent(), [['a']]);
	statements[0].answer();
	assert.equal(await first, 'a!');
	await turn();
	assert.deepEqual(sent(), [['a'], ['b', 'c', 'd']]);
	statements[1].answer();
	assert.deepEqual(await Promise.all(others), ['b!', 'c!', 'd!']);
	const last = asked.ask('e');
	await turn();
	statements[2].answer();
	assert.equal(await last, 'e!');
});

test('no statement has more than its size, and no more are under way than allowed', async () => {
	const { asked, statements, sent } = batches({ size: 2, atOnce: 2, waitMs: 60_000 });
	const answers = Promise.all(['a', 'b', 'c', 'd', 'e'].map((element) => asked.ask(element)));
	await turn();
	assert.deepEqual(sent(), [['a', 'b'], ['c', 'd']]);
	statements[1].answer();
	await turn();
	assert.deepEqual(sent(), [['a', 'b'], ['c', 'd'], ['e']]);
	statements[0].answer();
	statements[2].answer();
	assert.deepEqual(await answers, ['a!', 'b!', 'c!', 'd!', 'e!']);

	await turn();
	const more = ['f', 'g', 'h', 'i', 'j', 'k'].map((element) => asked.ask(element));
	await turn();
	assert.deepEqual(sent().slice(3), [['f', 'g'], ['h', 'i']], 'nor after the first ones were answered');
	for (const n of [3, 4, 5]) {
		statements[n].answer();
		await turn();
	}
	assert.equal((await Promise.all(more)).length, 6);
});

/** As PostgreSQL would refuse it. */
function refusal(code) {
	return Object.assign(new pg.DatabaseError('refused', 7, 'error'), { code, severity: 'ERROR' });
}

for (const code of ['22001', '23505', '23514', '40P01', '55P03', 'P0001']) {
	test(`what is refused for the sake of one element (${code}) is tried again without it`, async () => {
		let statements = 0;
		const asked = new Batches(async (elements) => {
			statements += 1;
			if (elements.includes(5)) throw refusal(code);
			return elements.map((element) => element * 2);
		}, { size: 64, atOnce: 1, waitMs: 60_000 });
		const settled = await Promise.allSettled(Array.from({ length: 64 }, (_, n) => asked.ask(n)));
		for (const [n, { value, reason }] of settled.entries()) {
			if (n === 5) assert.equal(reason.code, code);
			else assert.equal(value, n * 2);
		}
		assert.equal(statements, 1 + 2 * 6);
	});
}

for (const error of [refusal('42501'), refusal('57P01'), refusal('53200'), new Error('Connection terminated unexpectedly')]) {
	test(`${error.code ?? error.message}: all fail, and nothing is tried again`, async () => {
		const { asked, statements } = batches({ size: 10, atOnce: 1, waitMs: 60_000 });
		const settled = Promise.allSettled([1, 2, 3].map((element) => asked.ask(element)));
		await turn();
		statements[0].reject(error);
		assert.deepEqual((await settled).map(({ reason }) => reason), [error, error, error]);
		assert.equal(statements.length, 1);
		const next = asked.ask(4);
		await turn();
		statements[1].answer();
		assert.equal(await next, '4!');
	});
}

test('what was not sent in time is rejected, and never sent', async (t) => {
	t.mock.timers.enable({ apis: ['setTimeout'] });
	let now = 0;
	t.mock.method(performance, 'now', () => now);
	/** @param {number} milliseconds */
	const pass = async (milliseconds) => {
		now += milliseconds;
		t.mock.timers.tick(milliseconds);
		await turn();
	};
	const { asked, statements, sent } = batches({ size: 1, atOnce: 1, waitMs: 100 });
	const ended = [];
	const ask = (element) => asked.ask(element).then((answer) => ended.push(answer), ({ code }) => ended.push(`${element} ${code}`));
	void ask('a');
	void ask('b');
	await pass(60);
	void ask('c');
	await pass(40);
	assert.deepEqual(ended, ['b URLMODE_BUSY']);
	statements[0].answer();
	await turn();
	assert.deepEqual(sent(), [['a'], ['c']]);
	await pass(1_000);
	assert.deepEqual(ended, ['b URLMODE_BUSY', 'a!'], 'what was sent is waited for');
	void ask('d');
	await pass(99);
	void ask('e');
	await pass(1);
	assert.deepEqual(ended, ['b URLMODE_BUSY', 'a!', 'd URLMODE_BUSY']);
	await pass(99);
	assert.deepEqual(ended, ['b URLMODE_BUSY', 'a!', 'd URLMODE_BUSY', 'e URLMODE_BUSY']);
	statements[1].answer();
	await turn();
	assert.deepEqual([sent().length, ended.at(-1)], [2, 'c!']);
});

test('what is tried again in halves is tried only for those who still wait', async (t) => {
	let now = 0;
	t.mock.method(performance, 'now', () => now);
	const { asked, statements, sent } = batches({ size: 4, atOnce: 1, waitMs: 100 });
	const settled = Promise.allSettled([1, 2].map((element) => asked.ask(element)));
	await turn();
	now = 100;
	statements[0].reject(refusal('57014'));
	assert.deepEqual((await settled).map(({ reason }) => reason.code), ['URLMODE_BUSY', 'URLMODE_BUSY']);
	assert.equal(sent().length, 1);
});
