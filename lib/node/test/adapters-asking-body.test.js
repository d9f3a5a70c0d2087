// A body that asks for something itself, or calls a tool that does: what was paid is delivered once, on any instance.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { withElicitation } from '../src/adapters/sdk2.js';
import { linkCall, round, start } from './support/calls.js';

/** What a server behind a gateway asks for, and its own state. */
const question = (requestState) => ({ resultType: 'input_required', inputRequests: { q1: { method: 'elicitation/create', params: { mode: 'form', message: 'Which?' } } }, requestState });

test('a body asks for something itself, and one payment is delivered once, on any instance', async (t) => {
	const { ask, newest, callback, owner, urlmode, admin } = await start(t);
	const asked = await ask(round());
	const { id } = await newest();
	await callback.paid(id, { ...owner, reference: `pay_${id}` });
	const given = [];
	const body = async (accepted) => {
		given.push(accepted);
		return accepted.requestState === 'theirs' ? { content: [{ type: 'text', text: 'The report.' }] } : question('theirs');
	};
	const { toolResult } = await ask(round({ state: asked.toolResult.requestState, action: 'accept' }), {}, body);
	assert.deepEqual(Object.keys(toolResult.inputRequests), ['q1']);
	assert.doesNotMatch(toolResult.requestState, /theirs/);
	// Meanwhile it is nobody else's.
	assert.deepEqual((await urlmode.unclaimed()).filter(({ subject }) => subject === owner.subject), []);
	assert.equal((await ask(linkCall(), {}, () => assert.fail('it is held'))).action, 'pending');
	const next = () => {
		const client = round({ state: toolResult.requestState });
		client.call.mcpReq.inputResponses = { q1: { action: 'accept', content: { which: 'this' } } };
		return client;
	};
	const done = await ask(next(), {}, body);
	assert.deepEqual([done.text, done.reference, done.requestState, done.inputResponses.q1.content], ['The report.', `pay_${id}`, 'theirs', { which: 'this' }]);
	assert.equal(given.length, 2);
	assert.ok(given[1].fence > given[0].fence);
	// A state that comes again runs nothing.
	await ask(next(), {}, () => assert.fail('it is done'));
	assert.equal((await admin.query('SELECT count(*)::int AS rows FROM urlmode.elicitation WHERE subject = $1', [owner.subject])).rows[0].rows, 1);
	await assert.rejects(ask(round({ state: `${toolResult.requestState.slice(0, -4)}AAAA` })), /requestState does not belong/);
});

test('a body that cannot ask for something itself fails, and what was paid stays for the next call', async (t) => {
	const { ask, newest, callback, owner } = await start(t);
	await ask(linkCall());
	const { id } = await newest();
	await callback.paid(id, { ...owner, reference: `pay_${id}` });
	await assert.rejects(ask(linkCall(), {}, async () => question('theirs')), /only for clients of protocol revision 2026-07-28/);
	assert.equal((await ask(linkCall())).reference, `pay_${id}`);
});

test('the state of a body has 8192 bytes at most, and what was paid stays for the next call', async (t) => {
	const { ask, newest, callback, owner } = await start(t);
	const asked = await ask(round());
	const { id } = await newest();
	await callback.paid(id, { ...owner, reference: `pay_${id}` });
	const again = (bytes, seen = []) => ask(round({ state: asked.toolResult.requestState, action: 'accept' }), {}, async ({ requestState }) => {
		seen.push(requestState);
		return question(bytes);
	});
	await assert.rejects(again('x'.repeat(8193)), { name: 'TypeError', message: /at most 8192 bytes/ });
	await assert.rejects(again('é'.repeat(4097)), /at most 8192 bytes/);
	const state = 'é'.repeat(4096);
	const { toolResult } = await again(state);
	const seen = [];
	await ask(round({ state: toolResult.requestState }), {}, async ({ requestState, reference }) => {
		seen.push(requestState, reference);
		return { content: [{ type: 'text', text: 'The report.' }] };
	});
	assert.deepEqual(seen, [state, `pay_${id}`]);
});

test('a body asks its user with withElicitation: each thing is paid once, and the first is not asked for again', async (t) => {
	const { ask, options, callback, owner, admin } = await start(t);
	const openOf = async () => (await admin.query("SELECT id FROM urlmode.elicitation WHERE subject = $1 AND status <> 'completed'", [owner.subject])).rows[0].id;
	let client;
	const body = async () => withElicitation({ ...options, item: 'second', server: client.server, call: client.call }, async ({ reference }) => (
		{ content: [{ type: 'text', text: `Both, by ${reference}.` }] }));
	const call = (more) => {
		client = round(more);
		return ask(client, { item: 'first' }, body);
	};
	const first = await call();
	await callback.paid(await openOf(), owner);
	const second = await call({ state: first.toolResult.requestState, action: 'accept' });
	const reference = randomUUID();
	await callback.paid(await openOf(), { ...owner, reference });
	const done = await call({ state: second.toolResult.requestState, action: 'accept' });
	assert.equal(done.text, `Both, by ${reference}.`);
	assert.equal((await admin.query('SELECT count(*)::int AS rows FROM urlmode.elicitation WHERE subject = $1', [owner.subject])).rows[0].rows, 2);
});

test('a body calls a tool of another server in this process, which has its own requestState', async (t) => {
	const { ask, options, newest, callback, owner } = await start(t);
	const asked = await ask(round(), { item: 'outer' });
	await callback.paid((await newest()).id, owner);
	const patient = { item: 'outer', roundTimeout: 60_000 };
	const second = await ask(round({ state: asked.toolResult.requestState, action: 'accept' }), patient, () => question('theirs'));
	const done = await ask(round({ state: second.toolResult.requestState }), patient, async () => {
		const { server, call } = round();
		const { resultType } = await withElicitation({ ...options, item: 'inner', server, call }, () => assert.fail('nobody has paid'));
		return { content: [{ type: 'text', text: resultType }] };
	});
	assert.equal(done.text, 'input_required');
});

test('a body cannot take the state of a call for another tool', async (t) => {
	const { ask, newest, callback, owner } = await start(t);
	const asked = await ask(round(), { item: 'first' });
	await callback.paid((await newest()).id, owner);
	await ask(round({ state: asked.toolResult.requestState, action: 'accept' }), { item: 'first' }, async () => ({ content: [{ type: 'text', text: 'Done.' }] }));
	await assert.rejects(ask(round({ state: asked.toolResult.requestState }), { item: 'second' }), /requestState does not belong/);
});
