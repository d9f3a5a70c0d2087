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
	for (const [approver, decides, fourEyes] of [
		[undefined, { owner: 'completed', bob: 'wrong_user' }], ['starter', { bob: 'wrong_user' }],
		['others', { owner: 'own_request', bob: 'completed' }], [['bob'], { owner: 'wrong_user', grace: 'wrong_user', bob: 'completed' }],
		[['bob'], { owner: 'wrong_user', bob: 'completed' }, true], ['others', { owner: 'own_request', bob: 'completed' }, true],
	]) {
		const { callback, owner, created: { elicitationId: id } } = await start(t, { approver, ...fourEyes && { fourEyes } });
		for (const [user, outcome] of Object.entries(decides).reverse().sort(([, one]) => (one === 'completed' ? 1 : -1))) {
			const name = user === 'owner' ? owner.subject : user;
			if (fourEyes) assert.equal(await callback.answer(id, { ...owner, user: name, result: decision(name) }), outcome === 'wrong_user' ? outcome : 'four_eyes_not_set_up');
			assert.equal(await callback.answer(id, { ...owner, user: name, fourEyes: true, result: decision(name) }), outcome, `${approver} ${user}`);
		}
	}
});

test('a fresh sign-in is a part of the form, and the outcome says when and how', async (t) => {
	const { urlmode, callback, owner, created: { elicitationId: id } } = await start(t, { stepUp: true });
	const signedIn = { ...decision(owner.subject), signed_in_at: '2026-11-23T11:59:58.000Z', signed_in_by: 'pwd otp' };
	assert.equal(await callback.answer(id, { ...owner, result: signedIn }), 'completed');
	const { signedInAt, signedInBy } = await urlmode.waitForCompletion(id, owner);
	assert.deepEqual([signedInAt, signedInBy], [new Date('2026-11-23T11:59:58.000Z'), 'pwd otp']);
	await assert.rejects(urlmode.create({ ...approval, ...owner, kind: 'input', form: { title: 'T', fields: [] }, stepUp: true }), /stepUp is only allowed/);
});
