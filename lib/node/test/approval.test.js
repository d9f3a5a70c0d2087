// Who may decide: the user, named others, or anyone else. What comes of it is in tests/waiting/scenarios.json.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { approval, setUp } from './support/database.js';

const decision = (approver) => ({ approver, decided_at: '2026-11-23T12:00:00.000Z' });

async function start(t, options) {
	const fixture = await setUp(t);
	const owner = { subject: `user-${randomUUID()}` };
	return { ...fixture, owner, created: await fixture.urlmode.create({ ...approval, ...owner, ...options }) };
}

test('the row says who may decide', async (t) => {
	for (const [approver, decides] of [
		[undefined, { owner: 'completed', bob: 'wrong_user' }], ['starter', { bob: 'wrong_user' }],
		['others', { owner: 'own_request', bob: 'completed' }], [['bob'], { owner: 'wrong_user', grace: 'wrong_user', bob: 'completed' }],
	]) {
		const { callback, owner, created: { elicitationId: id } } = await start(t, { approver });
		for (const [user, outcome] of Object.entries(decides).reverse().sort(([, one]) => (one === 'completed' ? 1 : -1))) {
			const name = user === 'owner' ? owner.subject : user;
			assert.equal(await callback.answer(id, { ...owner, user: name, fourEyes: true, result: decision(name) }), outcome, `${approver} ${user}`);
		}
	}
});
