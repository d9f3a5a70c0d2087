// A decision: of the user, of named others, or of anyone else.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { KeysFile } from '../src/core/keys.js';
import { openLink } from '../src/core/link.js';
import { approval, setUp } from './support/database.js';

const AT = '2026-11-23T12:00:00.000Z';
const decision = (approver, comment) => ({ approver, ...comment && { comment }, decided_at: AT });

async function start(t, options) {
	const fixture = await setUp(t);
	const owner = { subject: `user-${randomUUID()}` };
	return { ...fixture, owner, created: await fixture.urlmode.create({ ...approval, ...owner, ...options }) };
}

test('the outcome says who has approved, with which comment, and when', async (t) => {
	const { urlmode, callback, owner, created: { elicitationId: id, url, approvalUrl } } = await start(t);
	assert.equal(typeof url, 'string');
	assert.equal(approvalUrl, undefined);
	const waiting = urlmode.waitForCompletion(id, owner);
	assert.equal(await callback.answer(id, { ...owner, result: decision(owner.subject, 'Go on') }), 'completed');
	assert.deepEqual(await waiting, {
		elicitationId: id, action: 'accept', reason: '', result: decision(owner.subject, 'Go on'),
		approver: owner.subject, comment: 'Go on', decidedAt: new Date(AT),
	});
});

test('a refusal says the same', async (t) => {
	const { urlmode, callback, owner, created: { elicitationId: id } } = await start(t, { approver: ['bob', 'grace'] });
	await callback.answer(id, { ...owner, user: 'grace', action: 'decline', result: decision('grace', 'Too dear') });
	const { action, reason, approver, comment, decidedAt } = await urlmode.waitForCompletion(id, owner);
	assert.deepEqual([action, reason, approver, comment, decidedAt], ['decline', 'declined', 'grace', 'Too dear', new Date(AT)]);
});

test('the server cannot approve, and can take its question back', async (t) => {
	const { urlmode, owner, created: { elicitationId: id } } = await start(t);
	await assert.rejects(urlmode.complete(id, { ...owner, action: 'accept' }), { name: 'TypeError', message: /by its approver alone/ });
	await urlmode.complete(id, { ...owner, action: 'decline', reason: 'declined' });
	assert.equal((await urlmode.waitForCompletion(id, owner)).action, 'decline');
});

test('others get a link of their own, which is no link of the user, and the same each time', async (t) => {
	const { urlmode, owner, keysFile, created: { elicitationId: id, url, approvalUrl, ...rest } } = await start(t, { approver: 'others', resumeKey: 'a' });
	assert.equal(url, undefined);
	assert.deepEqual(Object.keys(rest).sort(), ['expiresAt', 'resumed']);
	const keys = new KeysFile(keysFile);
	const state = new URL(approvalUrl).searchParams.get('state');
	assert.equal(openLink(keys, 'demo', state, 'approve').id, id);
	assert.throws(() => openLink(keys, 'demo', state), { code: 'STATE_INVALID' });
	const again = await urlmode.create({ ...approval, ...owner, approver: 'others', resumeKey: 'a' });
	assert.deepEqual([again.elicitationId, again.approvalUrl, again.resumed], [id, approvalUrl, true]);
	assert.notEqual((await urlmode.create({ ...approval, ...owner, approver: ['bob'], resumeKey: 'a' })).elicitationId, id);
	assert.notEqual((await urlmode.create({ ...approval, ...owner, resumeKey: 'a' })).elicitationId, id);
});

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

test('the decision is offered to the next call until one has claimed it', async (t) => {
	const { urlmode, another, callback, owner, created: { elicitationId: id } } = await start(t, { approver: ['bob'], resumeKey: 'a' });
	await callback.answer(id, { ...owner, user: 'bob', result: decision('bob') });
	const next = await another().create({ ...approval, ...owner, approver: ['bob'], resumeKey: 'a' });
	assert.deepEqual([next.elicitationId, next.resumed], [id, true]);
	const claim = await urlmode.beginClaim(id, owner);
	assert.equal(claim.state, 'begun');
	assert.equal((await another().beginClaim(id, owner)).state, 'leased');
	await claim.fulfil('deleted');
	const later = await another().beginClaim(id, owner);
	assert.deepEqual([later.state, later.result], ['fulfilled', 'deleted']);
	await later.confirm();
	assert.notEqual((await urlmode.create({ ...approval, ...owner, approver: ['bob'], resumeKey: 'a' })).elicitationId, id);
});
