// The api and its database: the role of its login, and rows that another transaction has locked. Everything goes through nginx.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { startApi } from '../support/api.mjs';
import { holdRow } from '../support/locks.mjs';
import { until } from '../support/wait.mjs';

let api;

before(async () => {
	api = await startApi('api-store');
});

after(() => api?.close());

const PRICE = { amount: 1_050, currency: 'EUR' };

async function paid() {
	const { id } = await api.ok('create', { provider: 'stripe', kind: 'payment', subject: 'ada', item: randomUUID(), expected: PRICE, target_url: 'https://checkout.stripe.com/c/pay' }, 201);
	await api.ok('complete', { id, subject: 'ada', action: 'accept', ...PRICE, reference: `pi_${id}` });
	return { id, subject: 'ada' };
}

test('a row that another transaction has locked delays its own calls, and no others', async () => {
	const [locked, ...others] = await Promise.all(Array.from({ length: 6 }, paid));
	const held = await holdRow(api.stack, locked.id);
	let released = false;
	try {
		// Each is sent while the one that waits is tried again and again.
		const waiting = api.ok('begin_claim', { ...locked, lease_ms: 30_000 }).then((answer) => ({ ...answer, released }));
		for (const other of others) assert.equal((await api.ok('begin_claim', { ...other, lease_ms: 30_000 })).state, 'begun');
		const settled = await Promise.all(others.map((other) => api.ok('claim', { ...other, action: 'accept' }).catch(({ message }) => message)));
		assert.ok(settled.every((answer) => /taken/.test(answer)), 'they are leased');
		released = true;
		await held.release();
		assert.deepEqual([(await waiting).state, (await waiting).released], ['begun', true]);
	} finally {
		await held.release();
	}
});

test('a login of another role is refused, in words that say which one it needs', async () => {
	const { stack } = api;
	const file = path.join(stack.runDir, 'api.json');
	const before = await readFile(file, 'utf8');
	const { database_url: callback } = JSON.parse(await readFile(stack.env.URLMODE_CONFIG, 'utf8'));
	const said = async () => (await stack.programLog()).some(({ notice }) => notice?.includes('the login may not execute urlmode.read: give the api urlmode_server'));
	await writeFile(file, JSON.stringify({ ...JSON.parse(before), database_url: callback }));
	try {
		await stack.service('restart', 'api');
		await until('it says so', said);
		const { status, body: { error }, headers } = await api.call('paid', { subject: 'ada', item: 'a' });
		assert.deepEqual([status, error.code], [503, 'unavailable']);
		assert.ok(Number(headers.get('retry-after')) > 0);
	} finally {
		await writeFile(file, before);
		await stack.service('restart', 'api');
	}
	await until('it is served again', async () => (await api.call('paid', { subject: 'ada', item: 'a' })).status === 200);
});
