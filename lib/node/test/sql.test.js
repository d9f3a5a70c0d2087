// The functions of sql/, called at the same time and with several elements at once.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { functionsJson } from '../../contract/functions.mjs';
import { bindingOf, browserOf } from '../src/core/token.js';
import { connect, payment, request, setUp, until } from './support/database.js';

const BINDING = bindingOf('user-42', '');
const BROWSER = browserOf('of the test');

/** Calls of a function for several ids, each with the same arguments. */
const CALLS = {
	open: (client, ids) => client.query(`SELECT outcome FROM urlmode.open($1::uuid[],
		array_fill($2::bytea, ARRAY[cardinality($1)]), array_fill('demo'::text, ARRAY[cardinality($1)]),
		array_fill($3::bytea, ARRAY[cardinality($1)]))`, [ids, BINDING, BROWSER]),
	complete: (client, ids) => client.query(`SELECT outcome FROM urlmode.complete($1::uuid[],
		array_fill($2::bytea, ARRAY[cardinality($1)]), array_fill('demo'::text, ARRAY[cardinality($1)]),
		array_fill('decline'::text, ARRAY[cardinality($1)]), array_fill(''::text, ARRAY[cardinality($1)]),
		array_fill(NULL::bytea, ARRAY[cardinality($1)]))`, [ids, BINDING]),
	abandon: (client, ids) => client.query(`SELECT outcome FROM urlmode.abandon($1::uuid[],
		array_fill($2::bytea, ARRAY[cardinality($1)]), array_fill('cancel'::text, ARRAY[cardinality($1)]),
		array_fill('abandoned'::text, ARRAY[cardinality($1)]))`, [ids, BINDING]),
	expire: (client, ids) => client.query(`SELECT urlmode.expire($1::uuid[],
		array_fill($2::bytea, ARRAY[cardinality($1)])) AS outcome`, [ids, BINDING]),
};

async function createMany(urlmode, count, options = request) {
	return (await Promise.all(Array.from({ length: count }, () => urlmode.create(options)))).map((e) => e.elicitationId);
}

const passExpiry = (admin, ids) => admin.query("UPDATE urlmode.elicitation SET expires_at = now() - interval '1 s' WHERE id = ANY ($1)", [ids]);

for (const [name, call] of Object.entries(CALLS)) {
	test(`${name}: batches with the same rows in opposite order do not deadlock`, async (t) => {
		const { urlmode, admin, adminUrl } = await setUp(t);
		const clients = [await connect(t, adminUrl), await connect(t, adminUrl)];
		// Not `admin`: in a transaction, pg_stat_activity shows the sessions of the first time it was asked.
		const holder = await connect(t, adminUrl);
		for (let round = 0; round < 3; round += 1) {
			const ids = (await createMany(urlmode, 200)).sort();
			if (name === 'expire') await passExpiry(admin, ids);
			// Somebody holds one in the middle, until both wait.
			await holder.query('BEGIN');
			await holder.query('SELECT FROM urlmode.elicitation WHERE id = $1 FOR UPDATE', [ids[100]]);
			const calls = Promise.all([call(clients[0], ids), call(clients[1], ids.toReversed())]);
			await Promise.race([calls.catch(() => {}), until('both wait', async () => (await admin.query(
				`SELECT FROM pg_stat_activity WHERE pid = ANY ($1) AND wait_event_type = 'Lock'`,
				[clients.map(({ processID }) => processID)])).rowCount === 2)]);
			await holder.query('COMMIT');
			await calls;
			await passExpiry(admin, ids); // so that the next round finds room
		}
	});
}

test('of two elements with one id the first counts', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const row = async (id) => (await admin.query('SELECT status, action, reason, browser FROM urlmode.elicitation WHERE id = $1', [id])).rows[0];
	// Whichever order a join happens to have, one of many would show it.
	for (let n = 0; n < 10; n += 1) {
		const [opened, completed, abandoned, other] = await createMany(urlmode, 4);
		const ids = (id) => [id, other, id];
		const bindings = [BINDING, bindingOf('another user', ''), BINDING];
		const demo = ['demo', 'demo', 'demo'];
		const outcomes = async (text, values) => (await admin.query(text, values)).rows.map(({ outcome }) => outcome);

		assert.deepEqual(await outcomes('SELECT outcome FROM urlmode.open($1, $2, $3, $4)',
			[ids(opened), bindings, demo, [BROWSER, BROWSER, browserOf('of another')]]), ['opened', 'unknown', 'opened']);
		assert.deepEqual((await row(opened)).browser, BROWSER);

		const [first, , last] = await outcomes('SELECT outcome FROM urlmode.complete($1, $2, $3, $4, $5, $6)',
			[ids(completed), bindings, demo, ['decline', 'decline', 'cancel'], ['first', '', 'last'], [null, null, null]]);
		assert.deepEqual([first, last, (await row(completed)).reason], ['completed', 'already', 'first']);

		const [kept, , dropped] = await outcomes('SELECT outcome FROM urlmode.abandon($1, $2, $3, $4)',
			[ids(abandoned), bindings, ['decline', 'cancel', 'cancel'], ['first', '', 'last']]);
		assert.deepEqual([kept, dropped, (await row(abandoned)).reason], ['completed', 'already', 'first']);
	}
});

test('expire completes what has expired for its owner alone, and announces it', async (t) => {
	const { urlmode, admin, adminUrl } = await setUp(t);
	const [id] = await createMany(urlmode, 1);
	await passExpiry(admin, [id]);
	const listener = await connect(t, adminUrl);
	const announced = [];
	listener.on('notification', ({ payload }) => announced.push(payload));
	await listener.query('LISTEN urlmode');

	const expire = (subject) => admin.query('SELECT urlmode.expire(ARRAY[$1::uuid], ARRAY[$2::bytea])', [id, bindingOf(subject, '')]);
	assert.equal((await expire('another user')).rowCount, 0);
	assert.equal((await expire('user-42')).rowCount, 1);
	assert.equal((await expire('user-42')).rowCount, 0);
	const expected = JSON.stringify({ id, status: 'completed' });
	await until('it is announced', () => announced.includes(expected));
	assert.equal(announced.filter((payload) => payload === expected).length, 1);
});

test('what a browser or a provider waits for gives up a locked row', async (t) => {
	const { urlmode, admin, callback, adminUrl } = await setUp(t);
	const [id] = await createMany(urlmode, 1, payment);
	const holder = await connect(t, adminUrl);
	await holder.query('BEGIN');
	await holder.query('SELECT FROM urlmode.elicitation WHERE id = $1 FOR UPDATE', [id]);
	for (const client of [admin, callback.client]) await client.query("SET statement_timeout = '30s'");
	await assert.rejects(CALLS.open(admin, [id]), { code: '55P03' });
	await assert.rejects(CALLS.complete(admin, [id]), { code: '55P03' });
	await assert.rejects(callback.paid(id), { code: '55P03' });
	await holder.query('COMMIT');
});

test('notifications go together, up to the longest payload of a notification', async (t) => {
	const { admin, adminUrl } = await setUp(t);
	const listener = await connect(t, adminUrl);
	const lengths = [];
	listener.on('notification', ({ payload }) => payload.startsWith('["boundary') && lengths.push(payload.length));
	await listener.query('LISTEN urlmode');
	const text = (length) => `"boundary${'x'.repeat(length - 10)}"`;
	// With a comma and two brackets, the first two have 7,999 bytes, and the others 8,000.
	for (const [texts, expected] of [[[text(4_000), text(3_996)], [7_999]], [[text(4_000), text(3_997)], [4_002, 3_999]]]) {
		lengths.length = 0;
		await admin.query('SELECT urlmode.notify($1)', [texts]);
		await until('they arrive', () => lengths.length === expected.length);
		assert.deepEqual(lengths, expected);
	}
});

test('functions.json of the contract has the functions of this database', async (t) => {
	const { adminUrl } = await setUp(t);
	const kept = readFileSync(new URL('../../contract/functions.json', import.meta.url), 'utf8');

	assert.ok(kept === functionsJson(adminUrl), 'run make contract with URLMODE_ADMIN_DATABASE_URL');
});
