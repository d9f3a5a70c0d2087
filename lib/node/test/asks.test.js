// What clients have answered is remembered in the database; where there is only the api, in the process. Both say the same.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { sharedOf } from '../src/core/internals.js';
import { Asks } from '../src/http/asks.js';
import { payment, setUp } from './support/database.js';

test('the memory of a process says what that of the database says', async (t) => {
	const { urlmode } = await setUp(t);
	const owner = { session: '', subject: `user-${randomUUID()}` };
	const create = async (item) => (await urlmode.create({ ...payment, ...owner, item })).elicitationId;
	const [one, other] = [await create('one'), await create('other')];
	const clients = Array.from({ length: 10 }, (_, n) => ({ name: 'host', version: `${n}` }));
	const said = async (asks) => {
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
		return answers;
	};
	const inDatabase = await said(sharedOf(urlmode).asks);
	assert.deepEqual(inDatabase.slice(0, 10), ['', 'declined', '', '', '', '', '', 'asked', 'failed', '']);
	assert.deepEqual(inDatabase.slice(10), ['', '', ...Array(8).fill('dismissed'), 'failed']);
	assert.deepEqual(await said(new Asks()), inDatabase);
});
