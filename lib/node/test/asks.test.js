// What clients have answered is remembered with the row.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { sharedOf } from '../src/core/internals.js';
import { payment, setUp } from './support/database.js';

test('what clients have answered is remembered for each of them, of the last eight', async (t) => {
	const { urlmode } = await setUp(t);
	const owner = { session: '', subject: `user-${randomUUID()}` };
	const create = async (item) => (await urlmode.create({ ...payment, ...owner, item })).elicitationId;
	const [one, other] = [await create('one'), await create('other')];
	const clients = Array.from({ length: 10 }, (_, n) => ({ name: 'host', version: `${n}` }));
	const { asks } = sharedOf(urlmode);
	const answers = [];
	const begin = async (client, { id = one, awaited = false } = {}) => answers.push(await asks.begin({ id, ...owner, client }, awaited));
	const end = (client, answer, id = one) => asks.end({ id, ...owner, client }, answer);
	await begin(clients[0]);
	await end(clients[0], 'declined');
	for (const client of [clients[0], clients[1], { name: 'host' }, {}]) await begin(client);
	await begin(clients[0], { id: other });
	for (let n = 0; n < 3; n += 1) await begin(clients[1], { awaited: true });
	await end(clients[1], 'accepted');
	await begin(clients[1]);
	for (const client of clients) await end(client, 'dismissed');
	for (const client of clients) await begin(client);
	await end({}, 'failed', other);
	await begin({ name: '', version: '' }, { id: other });
	assert.deepEqual(answers.slice(0, 10), ['', 'declined', '', '', '', '', '', 'asked', 'failed', '']);
	assert.deepEqual(answers.slice(10), ['', '', ...Array(8).fill('dismissed'), 'failed']);
});
