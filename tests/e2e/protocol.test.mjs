// The SQL of lib/PROTOCOL.md is a whole SDK: each statement is run as it
// stands there, for a payment.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import pg from 'pg';

import { KeysFile } from '../../lib/node/src/core/keys.js';
import { RESULT_INFO } from '../../lib/node/src/core/contract-seals.js';
import { unseal } from '../../lib/node/src/core/seal.js';
import { mintLink } from '../../lib/node/src/core/link.js';
import { bindingOf } from '../../lib/node/src/core/token.js';
import { pay } from '../support/adapters.mjs';
import { openFixture } from '../support/fixture.mjs';
import { deferred } from '../support/wait.mjs';

const PROTOCOL = readFileSync(new URL('../../lib/PROTOCOL.md', import.meta.url), 'utf8');
const [CREATE, LISTEN, EXPIRE, READ, MARK_READ, CLAIM] = [...PROTOCOL.matchAll(/^```sql\n([^]*?)^```$/gm)].map(([, sql]) => sql);

let fixture;
let client;

before(async () => {
	fixture = await openFixture({ name: 'protocol' });
	client = new pg.Client({ connectionString: fixture.stack.env.URLMODE_DATABASE_URL });
	await client.connect();
});

after(async () => {
	await client?.end();
	await fixture?.close();
});

test('create, wait, read, open and claim, with the statements of the protocol alone', { timeout: 120_000 }, async () => {
	const [id, subject] = [randomUUID(), `user-${randomUUID()}`];
	const keys = new KeysFile(fixture.stack.env.URLMODE_KEYS_FILE);
	const binding = bindingOf(subject, '');
	const read = async () => {
		await client.query(EXPIRE, [id, binding]);
		return (await client.query(READ, [id, binding])).rows[0];
	};

	const { rows: [{ outcome }] } = await client.query(CREATE, [id, 'stripe', 'payment', subject, '', binding, 'a test',
		`https://checkout.example/pay?reference=${id}`, JSON.stringify({ amount: 1050, currency: 'EUR' }), 60_000]);
	assert.equal(outcome, 'created');
	const state = mintLink(keys.minting, 'stripe', id);
	const news = deferred();
	client.on('notification', ({ payload }) => payload.includes(id) && payload.includes('completed') && news.resolve());
	await client.query(LISTEN);
	const first = await read();
	assert.equal(first.status, 'pending');
	assert.ok(Number(first.closes_in_ms) > 0 && Number(first.closes_in_ms) <= 60_000);

	const paid = `cs_${id}`; // other tests on this stack pay with references of their own
	await pay(fixture, fixture.url(`/connect/stripe?state=${state}`), 'paid', { amount: 1050, currency: 'EUR', reference: paid });
	await news.promise;
	const { status, action, result, payment_reference: reference } = await read();
	assert.deepEqual([status, action, reference], ['completed', 'accept', paid]);
	assert.equal(unseal(keys, { id, binding, use: RESULT_INFO }, result).amount, 1050);
	await client.query(MARK_READ, [id, binding]);
	const claims = await Promise.all([1, 2].map(() => client.query(CLAIM, [id, binding, reference, action])));
	assert.deepEqual(claims.map(({ rows: [claimed] }) => claimed.outcome), ['claimed', 'taken']);
	assert.equal((await client.query(READ, [id, bindingOf('somebody', '')])).rows.length, 0);
});
