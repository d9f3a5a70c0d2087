// Calls that ask on a page of the callback programs, with simulated clients.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import test from 'node:test';

import { askApproval, collectInput, withElicitation } from '../src/adapters/sdk2.js';
import { askApproval as askApprovalByLink, collectInput as collectInputByLink } from '../src/frameworks/mcp-lite.js';
import { linkCall, round, sessionCall } from './support/calls.js';
import { approval, input, setUp, until } from './support/database.js';

const KEY = 'sk-0123456789';
const { kind: _, ...key } = input;
const { kind: __, ...deletion } = approval;
const text = (said) => ({ content: [{ type: 'text', text: said }] });
const saidBy = (result) => result.content[0].text;
const decision = (approver, comment) => ({ approver, ...comment && { comment }, decided_at: '2026-11-23T12:00:00.000Z' });

async function start(t, options) {
	const fixture = await setUp(t);
	const owner = { subject: `user-${randomUUID()}` };
	const { admin, callback, urlmode } = fixture;
	const all = { urlmode, ...options, ...owner, message: 'Please.', roundTimeout: 300 };
	const newest = async () => (await admin.query(
		'SELECT * FROM urlmode.elicitation JOIN urlmode.form ON elicitation = id WHERE subject = $1 ORDER BY created_at DESC LIMIT 1', [owner.subject])).rows[0];
	return {
		...fixture, owner, options: all, newest,
		type: async (value = KEY) => callback.answer((await newest()).id, { ...owner, result: { values: { api_key: value } } }),
		decide: async (user, more) => callback.answer((await newest()).id, { ...owner, user, fourEyes: true, result: decision(user, more?.comment), ...more }),
		collect: ({ server, call }, more, body = ({ values }) => text(`Stored ${values.api_key.length} characters.`)) => collectInput({ ...all, ...more, server, call }, body),
		async approve({ server, call }, more) {
			const result = await askApproval({ ...all, ...more, server, call }, ({ approver, comment }) => text(`Deleted: ${approver} ${comment ?? '-'}.`));
			await server.server.transport?.send({ id: call.mcpReq.id, result });
			return result;
		},
	};
}

test('the body gets what the user typed, once, and then it is gone', async (t) => {
	const { collect, type, newest } = await start(t, key);
	let seen;
	const client = sessionCall({ answer: async () => {
		assert.equal(await type(), 'completed');
		return 'accept';
	} });
	const result = await collect(client, { roundTimeout: 20_000 }, ({ signal, ...given }) => {
		seen = given;
		return text('Stored.');
	});
	assert.equal(saidBy(result), 'Stored.');
	assert.deepEqual(Object.keys(seen).sort(), ['elicitationId', 'fence', 'values']);
	assert.deepEqual(seen.values, { api_key: KEY });
	assert.equal(JSON.stringify(client.asked).includes(KEY), false);
	await client.server.server.transport.send({ id: 1, result });
	await until('the claim is final', async () => (await newest()).result === null);
});

test('if the body throws, the next call is given the same values', async (t) => {
	const { collect, type } = await start(t, key);
	await collect(linkCall());
	await type();
	await assert.rejects(collect(linkCall(), {}, () => { throw new Error('the vault is full'); }), /the vault is full/);
	assert.equal(saidBy(await collect(linkCall())), 'Stored 13 characters.');
});

test('a client without URL mode gets the link as text, and the next call verifies what was typed', async (t) => {
	const { collect, type, owner, callback, newest } = await start(t, key);
	const verify = ({ values }) => (values.api_key === KEY ? undefined : { field: 'api_key', problem: 'Unknown key' });
	const first = await collect(linkCall(), { verify });
	assert.match(saidBy(first), /^Please\.\n\nTo fill in the form, the user opens this link in a browser/);
	assert.equal(first.structuredContent.elicitation.kind, 'input');
	assert.equal(await type('wrong'), 'processing');
	assert.equal((await newest()).verify_ms, 30_000);
	let second;
	await until('it has been verified, during that call or after it', async () => {
		second = saidBy(await collect(linkCall(), { verify }));
		return !second.includes('is being verified');
	});
	assert.match(second, /the user has opened the page and can still finish there/);
	assert.deepEqual((await callback.lookUpForm((await newest()).id, owner)).problem, { field: 'api_key', problem: 'Unknown key' });
	await type();
	assert.equal(saidBy(await collect(linkCall(), { verify, roundTimeout: 20_000 })), 'Stored 13 characters.');
});

test('a call that verifies does not go on with an elicitation that does not', async (t) => {
	const { collect, type, newest, options, owner } = await start(t, key);
	await collect(linkCall());
	await type('wrong');
	const { id } = await newest();
	assert.equal((await collect(linkCall(), { verify: () => assert.fail('nothing to verify') })).structuredContent.elicitation.status, 'pending');
	assert.notEqual((await newest()).id, id);
	assert.equal(saidBy(await collect(linkCall())), 'Stored 5 characters.');
	const { server, call } = linkCall();
	await withElicitation({ ...options, ...owner, kind: 'input', resumeKey: 'own', verify: () => {}, server, call }, () => text('Stored.'));
	assert.equal((await newest()).verify_ms, 30_000, 'with any function of an adapter');
});

test('progress says that it is verified, and that it was not accepted', async (t) => {
	const { collect, type, callback, newest, owner } = await start(t, key);
	const client = sessionCall({ progressToken: 1 });
	const heard = () => client.sent.map(({ params }) => params?.message);
	const result = collect(client, {
		roundTimeout: 20_000,
		verify: async ({ values }) => {
			await until('it is heard', () => heard().includes('What the user typed is being verified.'));
			return values.api_key === KEY ? undefined : { field: 'api_key', problem: 'Unknown key' };
		},
	});
	await until('it is asked', () => client.asked.length === 1);
	await type('wrong');
	await until('it is heard', () => heard().includes('What the user typed was not accepted. The user can try again.'));
	await until('the form is open', async () => (await callback.lookUpForm((await newest()).id, owner)).outcome === 'opened');
	await type();
	assert.equal(saidBy(await result), 'Stored 13 characters.');
	assert.equal(JSON.stringify(client.sent).includes(KEY), false);
});

for (const ask of ['request', 'error']) {
	test(`what is typed after the call has ended is verified while the session lives: ${ask}`, async (t) => {
		const { collect, type, newest } = await start(t, key);
		const client = sessionCall({ answer: () => 'accept' });
		const seen = [];
		const verify = ({ values }) => void seen.push(values.api_key);
		await collect(client, { ask, verify }).catch((error) => assert.equal(error.code, -32042));
		await type();
		await until('it is verified', async () => (await newest()).status === 'completed');
		assert.deepEqual(seen, [KEY]);
		await until('the client is told', () => client.sent.some(({ method }) => method === 'notifications/elicitation/complete'));
	});
}

test('a round that ends while it is verified says so', async (t) => {
	const { collect, type } = await start(t, key);
	await collect(linkCall(), { verify: () => {} });
	await type();
	let end;
	const result = collect(linkCall(), { verify: () => new Promise((resolve) => (end = resolve)) });
	await until('it is verified', () => end);
	// On a slow machine a round may end before it has read the row.
	await until('a round says so', async () => (
		saidBy(await collect(linkCall(), { verify: () => assert.fail('twice') }))
			.includes('What the user typed is being verified. It goes on without this call.')));
	end();
	await result;
});

test('five wrong tries are said in plain words', async (t) => {
	const { collect, type, newest } = await start(t, key);
	const result = collect(sessionCall(), { roundTimeout: 20_000, verify: () => ({ field: 'api_key', problem: 'No.' }) });
	await until('there is a row', newest);
	for (let tries = 1; tries <= 5; tries += 1) {
		await until('the form is open', async () => ['pending', 'opened'].includes((await newest()).status));
		await type(`wrong ${tries}`);
	}
	assert.equal(saidBy(await result), 'Not done: what the user typed was not accepted five times.');
});

test('the user approves, or declines with a comment', async (t) => {
	const { approve, decide, owner, newest } = await start(t, deletion);
	const first = await approve(linkCall());
	assert.match(saidBy(first), /To decide, the user opens this link/);
	await decide(owner.subject);
	assert.equal(saidBy(await approve(linkCall())), `Deleted: ${owner.subject} -.`);
	await until('the claim is final', async () => (await newest()).claimed_at);
	await approve(linkCall());
	await decide(owner.subject, { action: 'decline', comment: 'Not yet' });
	const refused = await approve(linkCall());
	assert.deepEqual([saidBy(refused), refused.isError], [`Not done: ${owner.subject} declined: “Not yet”.`, true]);
});

test('what an approver has declined is told to the next call, if the client of this one is gone', async (t) => {
	const { approve, decide, newest } = await start(t, { ...deletion, approver: ['bob'] });
	await approve(linkCall());
	await decide('bob', { action: 'decline', comment: 'No' });
	const gone = linkCall();
	gone.controller.abort(new Error('the client has cancelled the call'));
	await assert.rejects(approve(gone), /the client has cancelled the call/);
	assert.equal((await newest()).claimed_at, null);
	assert.equal(saidBy(await approve(linkCall())), 'Not done: bob declined: “No”.');
});

test('the same, where that client might come back for the answer', async (t) => {
	const { approve, decide, newest } = await start(t, { ...deletion, approver: ['bob'] });
	await approve(linkCall());
	await decide('bob', { action: 'decline', comment: 'No' });
	let ended;
	const server = createServer(async (_, response) => {
		response.write('id: 1\ndata: \n\n');
		await once(response, 'close');
		ended = await approve(linkCall()).then(saidBy, ({ constructor }) => constructor.name);
	});
	t.after(() => server.close());
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const stream = request({ port: server.address().port, host: '127.0.0.1', headers: { 'mcp-session-id': '1' } }, (response) => {
		response.on('error', () => {}).once('data', () => stream.destroy());
	}).on('error', () => {}).end();
	await until('the call has ended', () => ended);
	assert.deepEqual([ended, (await newest()).claimed_at], ['ElicitationClientGoneError', null]);
	assert.equal(saidBy(await approve(linkCall())), 'Not done: bob declined: “No”.');
});

for (const [client, makeCall] of Object.entries({ 'with URL mode': sessionCall, 'of 2026-07-28': round, 'without URL mode': linkCall })) {
	test(`a client ${client} is told who is asked, and its next call finds the decision`, async (t) => {
		const { approve, decide, owner } = await start(t, { ...deletion, approver: ['bob', 'grace'] });
		const call = makeCall();
		const first = await approve(call);
		assert.equal(call.asked.length, 0, 'the page is not for its user');
		const { elicitation } = first.structuredContent;
		assert.deepEqual({ ...elicitation, elicitationId: '', approvalUrl: '', expiresAt: '' }, {
			elicitationId: '', status: 'pending', kind: 'approval', message: 'Please.', approver: ['bob', 'grace'], approvalUrl: '', expiresAt: '',
		});
		assert.ok(saidBy(first).split('\n').includes(elicitation.approvalUrl));
		for (const part of ['The decision is for bob or grace. Show the user this link to pass on', 'Nobody has decided yet.', 'call this tool again']) {
			assert.ok(saidBy(first).includes(part), saidBy(first));
		}
		const second = await approve(makeCall());
		assert.deepEqual(second.structuredContent.elicitation, elicitation);
		assert.equal(await decide(owner.subject), 'wrong_user');
		await decide('grace', { comment: 'All right' });
		assert.equal(saidBy(await approve(makeCall())), 'Deleted: grace All right.');
	});
}

test('the link is sent once; if that fails, the call rejects, and the next one sends another', async (t) => {
	const { approve, newest, decide } = await start(t, { ...deletion, approver: 'others' });
	const sent = [];
	await assert.rejects(approve(linkCall(), { sendLink: () => { throw new Error('no mail'); } }), /no mail/);
	assert.deepEqual([(await newest()).action, (await newest()).reason], ['cancel', 'not_sent']);
	const sendLink = async (asked) => void sent.push(asked);
	const first = await approve(linkCall(), { sendLink });
	assert.match(saidBy(first), /somebody else who can sign in at callback\.example, who has been sent this link/);
	await approve(linkCall(), { sendLink });
	const { id, expires_at: expiresAt } = await newest();
	assert.equal(sent.length, 1);
	assert.deepEqual([sent[0].elicitationId, sent[0].approvalUrl], [id, first.structuredContent.elicitation.approvalUrl]);
	assert.ok(Math.abs(sent[0].expiresAt - expiresAt) < 10);
	await decide('bob');
	assert.equal(saidBy(await approve(linkCall(), { sendLink })), 'Deleted: bob -.');
});

test('a requestState is bound to the form', async (t) => {
	const { collect } = await start(t, key);
	const { requestState } = await collect(round());
	assert.equal(typeof requestState, 'string');
	const form = { ...key.form, title: 'Another' };
	await assert.rejects(collect(round({ state: requestState }), { form }), { code: 'REQUEST_STATE' });
	const { resultType, structuredContent } = await collect(round({ state: requestState }));
	assert.ok(resultType === undefined && structuredContent.elicitation.kind === 'input');
});

test('the adapters of links have both functions', async (t) => {
	const { options, type } = await start(t, key);
	const asked = await collectInputByLink({ ...options, typed: false, call: { request: {} } }, () => text('Stored.'));
	assert.match(saidBy(asked), /To fill in the form/);
	await type();
	assert.equal(saidBy(await collectInputByLink({ ...options, typed: false, call: { request: {} } }, () => text('Stored.'))), 'Stored.');
	const { form, ...rest } = { ...options, ...deletion };
	assert.match(saidBy(await askApprovalByLink({ ...rest, form, typed: false, call: { request: {} } }, () => text('Deleted.'))), /To decide/);
});
