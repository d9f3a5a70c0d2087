// What the adapters do at the edges, with clients that the test plays: each
// end of a wait is a distinct outcome, and the row says which.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { elicitUrl as elicitUrlMcpUse } from '../src/adapters/mcp-use.js';
import { elicitUrl, verifyRequestState } from '../src/adapters/sdk2.js';
import { keyLine, writeKeys } from './support/keys.js';
import { request, setUp, until } from './support/database.js';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const able = { elicitation: { url: {} } };

/** A client of 2025-11-25 and what it was sent; `answer` is how it answers. */
function older({ answer = () => 'accept', capabilities = able, progressToken, notify = async () => {} } = {}) {
	const controller = new AbortController();
	const sent = [];
	const asked = [];
	const server = { server: { getClientCapabilities: () => capabilities } };
	const ctx = {
		mcpReq: {
			id: 1,
			signal: controller.signal,
			_meta: { progressToken },
			requestState: () => undefined,
			async notify(notification) {
				sent.push(notification);
				await notify(notification);
			},
			async elicitInput(params, { signal }) {
				asked.push({ ...params, signal });
				return { action: await answer(params, signal) };
			},
		},
	};
	return { server, ctx, controller, sent, asked };
}

/** A call of 2026-07-28. */
function modern({ state, action, capabilities = able, signal = new AbortController().signal } = {}) {
	return {
		server: { server: { getClientCapabilities: () => undefined } },
		ctx: {
			mcpReq: {
				id: 1,
				signal,
				envelope: { [CAPABILITIES]: capabilities },
				inputResponses: action && { urlmode: { action } },
				requestState: () => state,
				notify: async () => {},
				elicitInput: () => assert.fail('the protocol has no requests of the server'),
			},
		},
	};
}

const never = () => new Promise(() => {});

async function setUpAdapter(t, options) {
	const scene = await setUp(t, options);
	const subject = `user-${randomUUID()}`;
	const asking = { ...request, urlmode: scene.urlmode, subject, message: 'Please.' };
	/** Where the newest elicitation of this subject stands. */
	const standing = async () => {
		const { rows } = await scene.admin.query(
			'SELECT status, action, reason FROM urlmode.elicitation WHERE subject = $1 ORDER BY created_at DESC LIMIT 1', [subject]);
		return [rows[0].status, rows[0].action, rows[0].reason].filter(Boolean).join(' ');
	};
	return { ...scene, subject, asking, standing };
}

const textOf = ({ toolResult }) => toolResult.content[0].text;

test('timeout: cancel, timeout; the client is told to stop; the row says so', async (t) => {
	const { asking, standing } = await setUpAdapter(t);
	const client = older({ answer: (_, signal) => new Promise((resolve, reject) => {
		signal.addEventListener('abort', () => reject(new Error('cancelled')));
	}) });
	const asked = await elicitUrl(client.server, { ...asking, ctx: client.ctx, timeout: 200 });
	assert.deepEqual([asked.action, asked.reason, textOf(asked)], ['cancel', 'timeout', 'Not done: nobody completed it in time.']);
	assert.equal(await standing(), 'completed cancel timeout');
	assert.equal(client.asked[0].signal.aborted, true);
	assert.deepEqual(client.sent, [], 'nothing was completed');
});

test('expiry: cancel, expired', async (t) => {
	const { asking, standing } = await setUpAdapter(t);
	const client = older({ answer: never });
	const asked = await elicitUrl(client.server, { ...asking, ctx: client.ctx, ttl: 300, timeout: 10_000 });
	assert.deepEqual([asked.action, asked.reason], ['cancel', 'expired']);
	assert.equal(await standing(), 'completed cancel expired');
});

test('timeout while the provider is at it: pending, and the payment goes on', async (t) => {
	const { asking, standing, callback, urlmode } = await setUpAdapter(t);
	const ask = (more) => {
		const client = older();
		return elicitUrl(client.server, { ...asking, ...more, ctx: client.ctx, kind: 'payment', timeout: 1_000,
			targetUrl: async ({ elicitationId }) => {
				setTimeout(() => callback.event(elicitationId, 'processing'), 300);
				return request.targetUrl;
			} });
	};
	const asked = await ask({ resumeKey: 'a' });
	assert.deepEqual([asked.action, asked.reason], ['pending', 'processing']);
	assert.match(textOf(asked), /still working on it\. Call this tool again later/);
	assert.equal(await standing(), 'processing');
	await callback.event(asked.elicitationId, 'paid');
	const client = older({ answer: () => assert.fail('asked again') });
	const again = await elicitUrl(client.server, { ...asking, ctx: client.ctx, kind: 'payment', resumeKey: 'a' });
	assert.equal(again.action, 'accept');
	assert.equal(again.elicitationId, asked.elicitationId);
	const unnamed = await ask({ subject: `user-${randomUUID()}` });
	assert.doesNotMatch(textOf(unnamed), /again/, 'a later call would not find it, and make the user pay twice');
	await urlmode.close();
});

test('abort by a signal of the server\'s own: its reason, and the row says aborted', async (t) => {
	const { asking, standing } = await setUpAdapter(t);
	const reason = new Error('the job was stopped');
	const controller = new AbortController();
	const client = older({ answer: never });
	const asking2 = elicitUrl(client.server, { ...asking, ctx: client.ctx, signal: controller.signal });
	setTimeout(() => controller.abort(reason), 100);
	await assert.rejects(asking2, reason);
	assert.equal(await standing(), 'completed cancel aborted');
});

test('a call that was cancelled before it began', async (t) => {
	const { asking, standing } = await setUpAdapter(t);
	const client = older({ answer: never });
	client.controller.abort(new Error('at once'));
	await assert.rejects(elicitUrl(client.server, { ...asking, ctx: client.ctx }), /at once/);
	assert.equal(await standing(), 'completed cancel aborted');
});

test('the client gone: by its connection, and by progress that cannot be sent', async (t) => {
	const { asking, standing } = await setUpAdapter(t);
	const gone = Object.assign(new Error('Connection closed'), { code: 'CONNECTION_CLOSED' });
	const client = older({ answer: never });
	const waiting = elicitUrl(client.server, { ...asking, ctx: client.ctx });
	setTimeout(() => client.controller.abort(gone), 100);
	await assert.rejects(waiting, { code: 'ELICITATION_CLIENT_GONE' });
	assert.equal(await standing(), 'completed cancel client_gone');

	const mute = older({ answer: never, progressToken: 1, notify: async () => {
		throw new Error('no stream');
	} });
	await assert.rejects(elicitUrl(mute.server, { ...asking, ctx: mute.ctx, progressEvery: 50 }),
		{ code: 'ELICITATION_CLIENT_GONE' });
	assert.equal(await standing(), 'completed cancel client_gone');
});

test('a client that answers with an error: the error, and the row says client_error', async (t) => {
	const { asking, standing } = await setUpAdapter(t);
	const failure = Object.assign(new Error('this URL is blocked here'), { code: -32602 });
	const client = older({ answer: () => Promise.reject(failure) });
	await assert.rejects(elicitUrl(client.server, { ...asking, ctx: client.ctx }), failure);
	assert.equal(await standing(), 'completed cancel client_error');
});

test('the server closing: UrlModeClosedError, and the row says closed', async (t) => {
	const { asking, standing, urlmode } = await setUpAdapter(t);
	const client = older({ answer: never });
	const waiting = elicitUrl(client.server, { ...asking, ctx: client.ctx });
	const rejected = assert.rejects(waiting, { code: 'URLMODE_CLOSED' });
	await until('the client is asked', () => client.asked.length === 1);
	await urlmode.close();
	await rejected;
	assert.equal(await standing(), 'completed cancel closed');
});

test('what was paid is not undone by a client that declines too late', async (t) => {
	const { asking, callback, subject } = await setUpAdapter(t);
	const client = older({ answer: async ({ elicitationId }) => {
		await callback.complete(elicitationId, { subject, result: { code: 'a' } });
		return 'decline';
	} });
	const asked = await elicitUrl(client.server, { ...asking, ctx: client.ctx });
	assert.equal(asked.action, 'accept');
});

test('progress: what happens, and in between that it still waits; only where it is asked for', async (t) => {
	const { asking, callback, subject } = await setUpAdapter(t);
	const client = older({ progressToken: 'p', answer: never });
	const waiting = elicitUrl(client.server, { ...asking, ctx: client.ctx, progressEvery: 100 });
	await until('it beats', () => client.sent.length >= 3);
	const id = client.asked[0].elicitationId;
	await callback.open(id, { subject });
	await until('opened is told', () => client.sent.at(-1).params.message === 'The page is open in the browser.');
	await callback.complete(id, { subject });
	await waiting;
	const progress = client.sent.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
	assert.deepEqual(progress.map(({ progress: n }) => n), progress.map((_, n) => n + 1), 'it grows');
	assert.ok(progress.every(({ progressToken }) => progressToken === 'p'));
	assert.equal(client.sent.at(-1).method, 'notifications/elicitation/complete');
	const count = client.sent.length;
	await sleep(300);
	assert.equal(client.sent.length, count, 'it beats no more');

	const silent = older({ answer: ({ elicitationId }) => callback.complete(elicitationId, { subject }).then(() => 'accept') });
	await elicitUrl(silent.server, { ...asking, ctx: silent.ctx, progressEvery: 10 });
	assert.deepEqual(silent.sent.map(({ method }) => method), ['notifications/elicitation/complete']);
});

test('recheck asks the provider, in every way of waiting', async (t) => {
	const { asking, callback } = await setUpAdapter(t);
	const recheck = async ({ reference }) => ({ action: 'accept', result: { reference } });
	const client = older({ answer: async ({ elicitationId }) => {
		await callback.event(elicitationId, 'recheck', { reference: 'tr_1' });
		return 'accept';
	} });
	const asked = await elicitUrl(client.server, { ...asking, ctx: client.ctx, kind: 'payment', recheck });
	assert.deepEqual(asked.result, { reference: 'tr_1' });

	const first = await elicitUrl(modern().server, { ...asking, ctx: modern().ctx, kind: 'payment' });
	await callback.event(first.elicitationId, 'recheck', { reference: 'tr_2' });
	const second = modern({ state: first.toolResult.requestState, action: 'accept' });
	const done = await elicitUrl(second.server, { ...asking, ctx: second.ctx, kind: 'payment', recheck });
	assert.deepEqual(done.result, { reference: 'tr_2' });
});

test('legs: each blocks, asks for another while it is open, and the last one has the outcome', async (t) => {
	const { asking, callback, subject } = await setUpAdapter(t);
	const ask = ({ ctx, server }) => elicitUrl(server, { ...asking, ctx, legTimeout: 300 });
	const first = await ask(modern());
	assert.deepEqual([first.action, first.reason], ['pending', 'asked']);
	const { requestState, inputRequests } = first.toolResult;
	assert.deepEqual(Object.keys(inputRequests.urlmode.params).sort(), ['message', 'mode', 'url'], 'no elicitationId');
	for (let leg = 0; leg < 3; leg += 1) {
		const start = performance.now();
		const asked = await ask(modern({ state: requestState, action: leg === 0 ? 'accept' : undefined }));
		assert.ok(performance.now() - start >= 290, 'it did not block');
		assert.deepEqual(asked.toolResult, { resultType: 'input_required', requestState });
	}
	setTimeout(() => callback.complete(first.elicitationId, { subject, result: { code: 'a' } }), 100);
	const asked = await ask(modern({ state: requestState }));
	assert.equal(asked.action, 'accept');
	assert.equal(asked.result.code, 'a');
	assert.equal(asked.returnUrl, 'https://callback.example/oauth/demo/return');
});

test('legs: a refusal ends it, and a row that expired says so', async (t) => {
	const { asking, standing } = await setUpAdapter(t);
	const first = await elicitUrl(modern().server, { ...asking, ctx: modern().ctx });
	const refused = modern({ state: first.toolResult.requestState, action: 'decline' });
	const asked = await elicitUrl(refused.server, { ...asking, ctx: refused.ctx });
	assert.deepEqual([asked.action, asked.reason], ['decline', 'refused']);
	assert.equal(await standing(), 'completed decline refused');

	const brief = { ...asking, ttl: 200 };
	const second = await elicitUrl(modern().server, { ...brief, ctx: modern().ctx });
	await sleep(300);
	const late = modern({ state: second.toolResult.requestState, action: 'accept' });
	const over = await elicitUrl(late.server, { ...brief, ctx: late.ctx });
	assert.deepEqual([over.action, over.reason], ['cancel', 'expired']);
});

test('legs: server closing leaves the row open, for a retry elsewhere', async (t) => {
	const { asking, another, standing, callback, subject } = await setUpAdapter(t);
	const first = await elicitUrl(modern().server, { ...asking, ctx: modern().ctx });
	const leg = modern({ state: first.toolResult.requestState, action: 'accept' });
	const waiting = assert.rejects(elicitUrl(leg.server, { ...asking, ctx: leg.ctx }), { code: 'URLMODE_CLOSED' });
	await sleep(100);
	await asking.urlmode.close();
	await waiting;
	assert.equal(await standing(), 'pending');
	await callback.complete(first.elicitationId, { subject, result: { code: 'b' } });
	const elsewhere = modern({ state: first.toolResult.requestState });
	const asked = await elicitUrl(elsewhere.server, { ...asking, urlmode: another(), ctx: elsewhere.ctx });
	assert.equal(asked.result.code, 'b');
});

test('a handle outlives a rotation of keys, and not the dropping of its key', async (t) => {
	const { asking, keyFile, keysFile, another } = await setUpAdapter(t);
	const [old, fresh] = [keyLine(1), keyLine(2)];
	writeKeys(keyFile ?? keysFile, old);
	const first = await elicitUrl(modern().server, { ...asking, urlmode: another(), ctx: modern().ctx });
	const retry = () => {
		const leg = modern({ state: first.toolResult.requestState });
		return elicitUrl(leg.server, { ...asking, urlmode: another(), ctx: leg.ctx, legTimeout: 50 });
	};
	writeKeys(keysFile, fresh + old);
	assert.equal((await retry()).action, 'pending');
	writeKeys(keysFile, fresh);
	assert.equal((await retry()).reason, 'invalid_state');
});

test('a link in words waits a leg when it is called again, and shows the link once more', async (t) => {
	const { asking, standing } = await setUpAdapter(t);
	const ask = () => {
		const client = older({ capabilities: {} });
		return elicitUrl(client.server, { ...asking, ctx: client.ctx, legTimeout: 200 });
	};
	const first = await ask();
	const start = performance.now();
	const second = await ask();
	assert.ok(performance.now() - start >= 190);
	assert.equal(second.elicitationId, first.elicitationId);
	assert.match(textOf(second), /Open this link in a browser: https:\/\/callback\.example\/connect\/demo\?state=/);
	assert.equal(await standing(), 'pending');
});

test('what may be asked for is not mixed up: another price, another message, is another elicitation', async (t) => {
	const { asking } = await setUpAdapter(t);
	const ask = async (more) => {
		const client = older({ capabilities: {} });
		return (await elicitUrl(client.server, { ...asking, kind: 'payment', ...more, ctx: client.ctx, legTimeout: 50 })).elicitationId;
	};
	const price = { expected: { amount: 100, currency: 'EUR' } };
	const id = await ask(price);
	assert.equal(await ask(price), id);
	assert.notEqual(await ask({ expected: { amount: 5_000, currency: 'EUR' } }), id);
	assert.notEqual(await ask({ expected: { amount: 100, currency: 'USD' } }), id);
	assert.notEqual(await ask({ ...price, message: 'Something else.' }), id);
	await assert.rejects(ask({ message: '' }), { name: 'TypeError' });
});

test('verifyRequestState passes ours on, and others to whoever knows them', async (t) => {
	const { asking } = await setUpAdapter(t);
	const first = await elicitUrl(modern().server, { ...asking, ctx: modern().ctx });
	const { requestState } = first.toolResult;
	assert.equal(verifyRequestState()(requestState, {}), undefined);
	assert.throws(() => verifyRequestState()('v1.other.state', {}));
	assert.equal(verifyRequestState((state, ctx) => [state, ctx.a])('v1.other.state', { a: 1 })[1], 1);
});

test('mcp-use: a client of an older protocol gets the link in words', async (t) => {
	const { asking } = await setUpAdapter(t);
	const ctx = {
		signal: new AbortController().signal, client: { capabilities: () => ({}) }, requestState: () => undefined,
		reportProgress: async () => false,
	};
	assert.match(textOf(await elicitUrlMcpUse({ ...asking, ctx })), /Open this link/);
});
