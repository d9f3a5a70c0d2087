// How calls of the adapters end, with simulated clients. The elicitation stays open at the end
// of a call, whatever the client has answered.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { withElicitation as withMcpUse } from '../src/adapters/mcp-use.js';
import { withElicitation as withMcpLite } from '../src/frameworks/mcp-lite.js';
import { verifyRequestState } from '../src/adapters/sdk2.js';
import { checkClients } from '../src/core/arguments.js';
import { linkCall, never, round, sessionCall, signature, start } from './support/calls.js';
import { payment, request, until } from './support/database.js';
import { keyLine, writeKeys } from './support/keys.js';

const GONE = Object.assign(new Error('Connection closed'), { code: 'CONNECTION_CLOSED' });

test('a round that is over ends the call with the link, and the client may still respond', async (t) => {
	const { ask, state, finish } = await start(t);
	const client = sessionCall();
	const first = await ask(client);
	assert.deepEqual([first.action, first.status, await state()], ['pending', 'pending', 'pending']);
	const { asked: [{ url, elicitationId, signal }] } = client;
	assert.equal(signal.aborted, false);
	assert.equal(first.url, url);
	assert.ok(first.text.split('\n').includes(url), 'the link stands alone on its line');
	for (const part of ['Please.', '10.50 EUR', 'a page of callback.example', '5 minutes', 'exactly as it is', 'call this tool again']) {
		assert.ok(first.text.includes(part), `${part} is not in: ${first.text}`);
	}
	assert.deepEqual(client.sent, [], 'nothing was completed');
	await finish(elicitationId, { reference: elicitationId });
	const second = await ask(sessionCall({ answer: () => assert.fail('asked for what is done') }));
	assert.deepEqual([second.action, second.reference, second.elicitationId], ['accept', elicitationId, elicitationId]);
});

test('the link is the same for the same elicitation, and says how long it works', async (t) => {
	const { ask } = await start(t, payment);
	const first = await ask(linkCall(), { ttl: 3 * 60 * 60_000 });
	const second = await ask(linkCall());
	assert.match(first.text, /works for (2|3) hours/);
	assert.deepEqual([second.elicitationId, second.url], [first.elicitationId, first.url]);
	assert.match(first.url, /^https:\/\/callback\.example\/connect\/[a-z]+\?state=[\w-]{43}$/);
	for (const [currency, amount, text] of [['JPY', 1_050, '1050 JPY'], ['KWD', 1_050, '1.050 KWD']]) {
		const { text: said } = await ask(linkCall(), { expected: { amount, currency } });
		assert.ok(said.includes(`To pay ${text},`), said);
	}
});

for (const [kind, wanted] of Object.entries({ payment, signature, oauth: request })) {
	test(`${kind}: whatever ends the call, what the user can still do stays open`, async (t) => {
		const { ask, newest, options, another, finish } = await start(t, wanted);
		const ends = {
			'the client cancels': [(client) => client.controller.abort(new Error('enough')), /enough/],
			'the client is gone': [(client) => client.controller.abort(GONE), { code: 'ELICITATION_CLIENT_GONE' }],
			'the signal of the options': [(client, mine) => mine.abort(new Error('the job was stopped')), /the job was stopped/],
		};
		for (const [end, [act, error]] of Object.entries(ends)) {
			const client = sessionCall();
			const mine = new AbortController();
			const rejected = assert.rejects(ask(client, { signal: mine.signal, roundTimeout: 60_000 }), error, end);
			await until('it is asked', () => client.asked.length === 1);
			act(client, mine);
			await rejected;
			assert.equal(client.asked[0].signal.aborted, true, end);
			assert.equal((await newest()).status, 'pending', end);
		}
		const before = sessionCall();
		before.controller.abort(new Error('at once'));
		await assert.rejects(ask(before), /at once/);
		for (const [answer, reason] of [['cancel', 'client_dismissed'], ['decline', 'client_declined'], [undefined, 'client_failed']]) {
			const ended = await ask(sessionCall({ name: `one with ${reason}`, answer: async () => answer ?? assert.fail('no window') }));
			assert.deepEqual([ended.action, ended.reason, ended.url !== undefined, (await newest()).status], ['pending', reason, true, 'pending']);
		}

		const closing = ask(sessionCall(), { roundTimeout: 60_000, urlmode: another() });
		await sleep(100);
		await options.urlmode.close();
		const next = another();
		const { id, status } = await newest();
		assert.equal(status, 'pending');
		await finish(id);
		assert.equal((await closing).action, 'accept', 'the wait of another instance');
		assert.ok(next);
	});
}

test('close ends the calls that wait with the link', async (t) => {
	const { ask, options, state } = await start(t);
	const client = sessionCall();
	const waiting = ask(client, { roundTimeout: 60_000 });
	await until('it is asked', () => client.asked.length === 1);
	await options.urlmode.close();
	assert.equal((await waiting).action, 'pending');
	assert.equal(client.asked[0].signal.aborted, true);
	assert.equal(await state(), 'pending');
});

test('progress that cannot be sent means that the client is gone', async (t) => {
	const { ask, state } = await start(t);
	const client = sessionCall({ progressToken: 1, notify: () => Promise.reject(new Error('no stream')) });
	await assert.rejects(ask(client, { progressEvery: 50, roundTimeout: 60_000 }), { code: 'ELICITATION_CLIENT_GONE' });
	assert.equal(await state(), 'pending');
});

test('an elicitation that expires ends with that', async (t) => {
	const { ask, state } = await start(t);
	const { text } = await ask(sessionCall(), { ttl: 300, roundTimeout: 10_000 });
	assert.equal(text, 'Not done: nobody completed it in time.');
	assert.equal(await state(), 'completed cancel expired');
});

test('a client that declines too late does not undo a payment', async (t) => {
	const { ask, callback, owner } = await start(t);
	const result = await ask(sessionCall({ answer: async ({ elicitationId }) => {
		await callback.paid(elicitationId, owner);
		return 'decline';
	} }), { roundTimeout: 60_000 });
	assert.equal(result.action, 'accept');
});

test('what a client has answered is remembered for its name and version, and for this elicitation', async (t) => {
	const { ask, admin, newest, finish } = await start(t);
	const answers = { decline: 'declined', cancel: 'dismissed', error: 'failed' };
	const by = (name, answer) => sessionCall({ name, answer: async () => answer });
	for (const action of Object.keys(answers)) {
		const client = sessionCall({ name: action, answer: async () => (action === 'error' ? assert.fail('no window') : action) });
		assert.match((await ask(client, { roundTimeout: 60_000 })).text, /^Please\.\n\nThe client did not open it: .+\. If the user refused, stop, .+ Otherwise show the user the link\.\n\nTo pay/);
		const next = sessionCall({ name: action, answer: () => assert.fail('asked again') });
		const { action: end, reason, text } = await ask(next);
		assert.deepEqual([end, reason, /did not open it/.test(text)], ['pending', undefined, false]);
	}
	const { id } = await newest();
	const { rows } = await admin.query('SELECT answer FROM urlmode.asked_client WHERE elicitation = $1 ORDER BY answered_at', [id]);
	assert.deepEqual(rows.map(({ answer }) => answer), Object.values(answers));
	const other = by('another host', 'accept');
	await ask(other);
	assert.equal(other.asked.length, 1, 'another client is asked');
	await finish(id);
	await ask(by('decline'));
	const anew = by('decline', 'decline');
	assert.equal((await ask(anew, { item: 'another' })).reason, 'client_declined', 'it is asked for another elicitation');
});

test('a client that fails, and does not get the answer to its call, gets the link with its next call', async (t) => {
	const { ask, newest } = await start(t);
	const failing = sessionCall({ answer: async () => assert.fail('no window') });
	failing.server.server.transport.send = async () => assert.fail('the client has closed the stream');
	await assert.rejects(ask(failing), /closed the stream/);
	const from = performance.now();
	const next = await ask(sessionCall({ answer: () => assert.fail('asked again') }), { roundTimeout: 60_000 });
	assert.deepEqual([next.reason, next.url !== undefined, (await newest()).status], ['client_failed', true, 'pending']);
	assert.ok(performance.now() - from < 30_000, 'it has waited for what nobody has been shown');
});

test('a client that declines what is open in the browser gets an answer at once, and it stays', async (t) => {
	const { ask, newest, callback, owner } = await start(t);
	for (const action of ['decline', 'cancel']) {
		const result = await ask(sessionCall({ name: action, answer: async ({ elicitationId }) => {
			await callback.open(elicitationId, owner);
			return action;
		} }), { roundTimeout: 60_000 });
		assert.deepEqual([result.action, result.status], ['pending', 'opened']);
		assert.match(result.text, /can still finish there/);
		assert.equal((await newest()).status, 'opened');
	}
	const asked = await ask(round());
	const refused = await ask(round({ state: asked.toolResult.requestState, action: 'decline' }));
	assert.deepEqual([refused.action, refused.status], ['pending', 'opened']);
});

test('progress is sent on status changes and at intervals, only if the client wants it', async (t) => {
	const { ask, callback, owner } = await start(t, request);
	const client = sessionCall({ progressToken: 'p' });
	const waiting = ask(client, { progressEvery: 100, roundTimeout: 60_000 });
	await until('it beats', () => client.sent.length >= 3);
	const id = client.asked[0].elicitationId;
	await callback.open(id, owner);
	await until('opened is told', () => client.sent.some(({ params }) => params.message === 'The page is open in the browser.'));
	await callback.complete(id, owner);
	await waiting;
	const progress = client.sent.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
	assert.deepEqual(progress.map(({ progress: n }) => n), progress.map((_, n) => n + 1), 'it grows');
	assert.ok(progress.every(({ progressToken }) => progressToken === 'p'));
	assert.ok(client.sent.some(({ method }) => method === 'notifications/elicitation/complete'));
	const count = client.sent.length;
	await sleep(300);
	assert.equal(client.sent.length, count, 'it beats no more');

	const silent = sessionCall({ answer: ({ elicitationId }) => callback.complete(elicitationId, owner).then(() => 'accept') });
	await ask(silent, { progressEvery: 10, roundTimeout: 60_000 });
	assert.deepEqual(silent.sent.map(({ method }) => method), ['notifications/elicitation/complete']);
});

test('a failed attempt is told to the client', async (t) => {
	const { ask, callback, owner } = await start(t);
	const messages = [];
	const client = sessionCall({
		progressToken: 1,
		notify: async ({ params }) => params.message && messages.push(params.message),
		async answer({ elicitationId }) {
			await callback.open(elicitationId, owner);
			await until('opened is told', () => messages.length === 1);
			await callback.event(elicitationId, 'attempt_failed');
			await until('the attempt is told', () => messages.length === 2);
			await callback.paid(elicitationId, owner);
			return 'accept';
		},
	});
	assert.equal((await ask(client, { roundTimeout: 60_000 })).action, 'accept');
	assert.deepEqual(messages, ['The page is open in the browser.', 'An attempt to pay has failed. The user can try again.']);
});

test('rounds: a client that is not known to call again gets the link after one round', async (t) => {
	const { ask, finish } = await start(t, request);
	const first = await ask(round());
	const { requestState, inputRequests } = first.toolResult;
	assert.deepEqual(Object.keys(inputRequests.urlmode.params).sort(), ['message', 'mode', 'url'], 'no elicitationId');
	const from = performance.now();
	const second = await ask(round({ state: requestState, action: 'accept' }));
	assert.ok(performance.now() - from >= 290, 'it did not wait');
	assert.equal(second.action, 'pending');
	assert.equal(second.toolResult.resultType, undefined);
	await finish(second.elicitationId);
	const third = await ask(round());
	assert.deepEqual([third.action, third.returnUrl], ['accept', 'https://callback.example/oauth/demo/return']);
});

test('rounds: a client that is known to calls again, as often as it is known to, and never more than eight times', async (t) => {
	for (const [rounds, count] of [[3, 3], [100, 8]]) {
		const { ask, options } = await start(t, request, { clients: [{ name: 'patient', rounds, versions: { before: '2' } }] });
		let { toolResult } = await ask(round({ name: 'patient' }));
		let calls = 0;
		while (toolResult.resultType) {
			const { requestState, inputRequests } = toolResult;
			assert.equal(inputRequests !== undefined, calls === 0, 'it is asked once, and never with an empty map');
			({ toolResult } = await ask(round({ name: 'patient', state: requestState, action: 'accept' }), { roundTimeout: 20 }));
			calls += 1;
		}
		assert.equal(calls, count);
		assert.ok(toolResult.structuredContent.elicitation.url);
		assert.ok(options);
	}
});

test('rounds: an elicitation that has expired says so', async (t) => {
	const { ask } = await start(t);
	const asked = await ask(round(), { ttl: 200 });
	await sleep(300);
	assert.equal((await ask(round({ state: asked.toolResult.requestState, action: 'accept' }), { ttl: 200, roundTimeout: 60_000 })).text,
		'Not done: nobody completed it in time.');
});

test('rounds: a refusal ends the call, and a call on another instance goes on', async (t) => {
	const { ask, state, newest, finish, another } = await start(t);
	const { toolResult: { requestState } } = await ask(round());
	for (const [action, reason] of [['cancel', 'client_dismissed'], ['decline', 'client_declined']]) {
		const ended = await ask(round({ state: requestState, action }));
		assert.deepEqual([ended.action, ended.reason, ended.url !== undefined, await state()], ['pending', reason, true, 'pending']);
	}
	assert.deepEqual([(await ask(round())).action, (await ask(round({ name: 'other' }))).action], ['pending', 'asked']);
	await finish((await newest()).id);
	assert.equal((await ask(round({ state: requestState }), { urlmode: another() })).action, 'accept');
});

test('rounds: a client that comes back without an answer gets the link at once; one that has accepted is asked again', async (t) => {
	const { ask, newest } = await start(t);
	await ask(round());
	const next = await ask(round(), { roundTimeout: 60_000 });
	assert.deepEqual([next.reason, next.url !== undefined, (await newest()).status], ['client_failed', true, 'pending']);
	const { toolResult: { requestState: state } } = await ask(round({ name: 'able' }));
	assert.equal((await ask(round({ name: 'able', state, action: 'accept' }))).action, 'pending', 'its round is over');
	assert.equal((await ask(round({ name: 'able' }))).action, 'asked');
});

test('a handle stays valid after a key rotation until its key is removed', async (t) => {
	const { ask, keysFile, another } = await start(t, payment, { clients: [{ name: 'patient', round: 50, rounds: 8 }] });
	const [old, fresh] = [keyLine(1), keyLine(2)];
	writeKeys(keysFile, old);
	const first = await ask(round(), { urlmode: another() });
	const retry = ({ toolResult: { requestState: state } } = first, name) => ask(round({ state, name }), { urlmode: another(), roundTimeout: 50 });
	writeKeys(keysFile, fresh + old);
	const { url: asked } = first.toolResult.inputRequests.urlmode.params;
	assert.deepEqual([(await retry()).action, (await retry()).url], ['pending', asked]);
	assert.equal((await retry(await retry(first, 'patient'))).url, asked, 'the next handle has the same link');
	writeKeys(keysFile, fresh);
	await assert.rejects(retry(), { name: 'RequestStateError', reason: 'invalid_request_state' });
});

test('the client id of each call is recorded; with sameClient a handle is for its client', async (t) => {
	const { ask, admin, newest } = await start(t);
	const by = (clientId, call) => ({ ...call, call: { ...call.call, http: { authInfo: { clientId } } } });
	await ask(by('client-of-ada', linkCall()));
	const { rows: [{ client_id: recorded }] } = await admin.query('SELECT client_id FROM urlmode.elicitation WHERE id = $1', [(await newest()).id]);
	assert.equal(recorded, 'client-of-ada');
	assert.equal((await ask(by('', linkCall()))).action, 'pending', 'a server that does not know it');

	for (const sameClient of [false, true]) {
		const more = { sameClient, message: `Compared: ${sameClient}.` };
		const { toolResult: { requestState: state } } = await ask(by('client-of-ada', round()), more);
		assert.equal((await ask(by('client-of-ada', round({ state })), more)).action, 'pending');
		const another = ask(by('another-client', round({ state })), more);
		if (sameClient) await assert.rejects(another, { name: 'RequestStateError', reason: 'invalid_request_state' });
		else assert.equal((await another).action, 'pending');
	}
});

test('the trace of a call is kept with the row; one that is none is as good as no trace', async (t) => {
	const { ask, admin, newest } = await start(t);
	const good = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
	for (const [traceparent, kept] of [[good, good], [good.replace('-01', '-0x'), null], [7, null], [undefined, null]]) {
		const call = linkCall();
		await ask({ ...call, call: { ...call.call, mcpReq: { ...call.call.mcpReq, _meta: { traceparent } } } }, { item: `trace:${traceparent}` });
		const { rows: [row] } = await admin.query('SELECT traceparent FROM urlmode.elicitation WHERE id = $1', [(await newest()).id]);
		assert.equal(row.traceparent, kept);
	}
});

test('a handle is good as long as the user may come back', async (t) => {
	const { ask, newest, finish } = await start(t, request);
	const first = await ask(round());
	await finish((await newest()).id);
	const then = Date.now() + 300 * 24 * 60 * 60 * 1_000;
	t.mock.method(Date, 'now', () => then);
	assert.equal((await ask(round({ state: first.toolResult.requestState }))).result?.code, 'a');
});

test('another price creates another elicitation while nobody has opened the first, and another message does not', async (t) => {
	const { ask, callback, owner } = await start(t);
	const idOf = async (more) => (await ask(linkCall(), { roundTimeout: 50, ...more })).elicitationId;
	const price = { expected: { amount: 100, currency: 'EUR' } };
	const id = await idOf(price);
	assert.equal(await idOf({ ...price, message: 'Something else.' }), id);
	const others = [{ expected: { amount: 5_000, currency: 'EUR' } }, { expected: { amount: 100, currency: 'USD' } }, { expected: 'any' }];
	const ids = [id];
	for (const other of others) ids.push(await idOf(other));
	assert.equal(new Set(ids).size, 4);
	assert.equal(await callback.open(ids[3], owner), 'opened');
	assert.equal(await idOf(price), ids[3]);
	assert.notEqual(await idOf({ item: 'report:43' }), ids[3]);
	await assert.rejects(idOf({ message: '' }), { name: 'TypeError' });
	await assert.rejects(idOf({ item: undefined }), { name: 'TypeError', message: /^item is required .* such as report:42$/ });
});

test('verifyRequestState opens our handles and passes others to the given function', async (t) => {
	const { ask, options: { urlmode } } = await start(t);
	const { toolResult: { requestState } } = await ask(round());
	assert.equal(verifyRequestState(urlmode)(requestState, {}), undefined);
	for (const forged of [`${'A'.repeat(115)}.1`, requestState.replace(/^.{20}/, 'A'.repeat(20))]) {
		assert.throws(() => verifyRequestState(urlmode, () => 'another verifier')(forged, {}), { reason: 'invalid_request_state' });
	}
	assert.throws(() => verifyRequestState(urlmode)('v1.other.state', {}));
	assert.equal(verifyRequestState(urlmode, (state, ctx) => [state, ctx.a])('v1.other.state', { a: 1 })[1], 1);
});

test('what is known of a client goes before what it declares, for the versions of which it is known', async (t) => {
	const { options, ask } = await start(t, request, { clients: [
		{ name: 'boastful', url: false, versions: { from: '1.0', before: '1.1' } }, { name: 'modest', url: true }, { name: 'old', url: false, versions: { before: '0.9' } },
		{ name: 'texter', ask: 'text' }, { name: 'errs', ask: 'error' }, { name: 'asks', ask: 'request' }, { name: 'silent', url: true, ask: 'error' },
	] });
	assert.equal((await ask(round({ name: 'boastful' }))).action, 'pending');
	assert.equal((await ask(round({ name: 'modest', capabilities: {} }))).action, 'pending', 'an answer may only require what its call declares');
	const modest = sessionCall({ name: 'modest', capabilities: {} });
	await ask(modest);
	assert.equal(modest.asked.length, 1);
	assert.equal((await ask(round({ name: 'old' }))).action, 'asked');
	assert.equal((await ask(round({ name: 'unknown', capabilities: { elicitation: {} } }))).action, 'pending');
	assert.ok(options);

	assert.deepEqual([(await ask(round({ name: 'texter' }))).action, (await ask(sessionCall({ name: 'texter' }))).action], ['pending', 'pending']);
	await assert.rejects(ask(sessionCall({ name: 'errs' })), ({ code, data }) => code === -32042 && data.elicitations.length === 1);
	await assert.rejects(ask(sessionCall({ name: 'silent', capabilities: {} }), { ask: 'request' }), { code: -32042 });
	assert.equal((await ask(sessionCall({ name: 'errs', capabilities: {} }))).action, 'pending', 'it does not say that it can');
	const asked = sessionCall({ name: 'asks' });
	await ask(asked, { ask: 'error' });
	assert.equal(asked.asked.length, 1);
	const editor = sessionCall({ name: 'Visual Studio Code' });
	await ask(editor, { ask: 'error' });
	assert.equal(editor.asked.length, 1, 'that it is asked by a request is known of it');
	assert.deepEqual([(await ask(round({ name: 'errs' }))).action, (await ask(round({ name: 'silent', capabilities: {} }))).action], ['asked', 'pending'],
		'2026-07-28 has no such error');
});

test('facts about clients have known members', () => {
	for (const facts of [{ asks: 'error' }, { ask: 'link' }, { url: 'yes' }, { versions: { to: '2' } }, { versions: '2' }, { versions: { from: 2 } }]) {
		assert.throws(() => checkClients([{ name: 'host', ...facts }]), { name: 'TypeError' }, JSON.stringify(facts));
	}
	checkClients([{ name: 'host', versions: { from: '1', before: '2' }, url: true, ask: 'error', rounds: 1, round: 1_000 }]);
});

test('mcp-use: a client of an older protocol revision gets the link as text', async (t) => {
	const { options } = await start(t);
	const call = {
		signal: new AbortController().signal, client: { capabilities: () => ({}), info: () => ({}) }, requestState: () => undefined,
		reportProgress: async () => false,
	};
	assert.match((await withMcpUse({ ...options, typed: false, call }, never)).content[0].text, /opens this link/);
});

test('mcp-use and mcp-lite do not tell whether a tool has an output schema: a call that does not say it is refused, and asks nobody', async (t) => {
	const call = { request: {}, signal: new AbortController().signal, client: { capabilities: () => ({}), info: () => ({}) }, requestState: () => undefined };
	for (const elicit of [withMcpUse, withMcpLite]) {
		const { options, newest } = await start(t);
		for (const typed of [undefined, 'yes']) await assert.rejects(elicit({ ...options, typed, call }, never), /^TypeError: typed must be true or false/);
		assert.equal(await newest(), undefined);
		const { content, isError, structuredContent } = await elicit({ ...options, typed: true, call, roundTimeout: 200 }, never);
		assert.deepEqual([/opens this link/.test(content[0].text), isError, structuredContent], [true, true, undefined]);
	}
});
