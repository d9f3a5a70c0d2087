// How the waits of the adapters can end, with simulated clients. Each end has an
// outcome of its own, and the row has the same reason.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { elicitUrl as elicitUrlMcpUse } from '../src/adapters/mcp-use.js';
import { elicitUrl, verifyRequestState } from '../src/adapters/sdk2.js';
import { keyLine, writeKeys } from './support/keys.js';
import { payment, request, setUp, until } from './support/database.js';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const URL_CAPABILITY = { elicitation: { url: {} } };

/** A client of 2025-11-25, and what the server has sent it. `answer` returns its response. */
function sessionClient({ answer = () => 'accept', capabilities = URL_CAPABILITY, progressToken, notify = async () => {} } = {}) {
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
function statelessCall({ state, action, capabilities = URL_CAPABILITY, signal = new AbortController().signal } = {}) {
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

async function setUpAdapter(t, settings) {
	const fixture = await setUp(t, settings);
	const subject = `user-${randomUUID()}`;
	const options = { ...request, urlmode: fixture.urlmode, subject, message: 'Please.' };
	/** The state of the newest elicitation of this subject. */
	const readState = async () => {
		const { rows } = await fixture.admin.query(
			'SELECT status, action, reason FROM urlmode.elicitation WHERE subject = $1 ORDER BY created_at DESC LIMIT 1', [subject]);
		return [rows[0].status, rows[0].action, rows[0].reason].filter(Boolean).join(' ');
	};
	return { ...fixture, subject, options, readState };
}

const textOf = ({ toolResult }) => toolResult.content[0].text;

test('a timeout cancels the elicitation and the request to the client', async (t) => {
	const { options, readState } = await setUpAdapter(t);
	const client = sessionClient({ answer: (_, signal) => new Promise((resolve, reject) => {
		signal.addEventListener('abort', () => reject(new Error('cancelled')));
	}) });
	const result = await elicitUrl(client.server, { ...options, ctx: client.ctx, timeout: 200 });
	assert.deepEqual([result.action, result.reason, textOf(result)], ['cancel', 'timeout', 'Not done: nobody completed it in time.']);
	assert.equal(await readState(), 'completed cancel timeout');
	assert.equal(client.asked[0].signal.aborted, true);
	assert.deepEqual(client.sent, [], 'nothing was completed');
});

test('an elicitation that expires is cancelled with reason expired', async (t) => {
	const { options, readState } = await setUpAdapter(t);
	const client = sessionClient({ answer: never });
	const result = await elicitUrl(client.server, { ...options, ctx: client.ctx, ttl: 300, timeout: 10_000 });
	assert.deepEqual([result.action, result.reason], ['cancel', 'expired']);
	assert.equal(await readState(), 'completed cancel expired');
});

test('a timeout while a payment is processing returns pending, and the payment continues', async (t) => {
	const { options, readState, callback, subject } = await setUpAdapter(t);
	const ask = () => {
		const client = sessionClient();
		return elicitUrl(client.server, { ...options, ...payment, subject, ctx: client.ctx, timeout: 1_000,
			targetUrl: async ({ elicitationId }) => {
				setTimeout(() => callback.event(elicitationId, 'processing'), 300);
				return request.targetUrl;
			} });
	};
	const result = await ask();
	assert.deepEqual([result.action, result.reason], ['pending', 'processing']);
	assert.match(textOf(result), /still working on it\. It goes on without this call\. .* call this tool again later with the same arguments/);
	assert.equal(await readState(), 'processing');
	const client = sessionClient({ answer: () => assert.fail('asked again') });
	const waiting = elicitUrl(client.server, { ...options, ...payment, subject, ctx: client.ctx });
	await sleep(100);
	await callback.paid(result.elicitationId, { subject });
	const again = await waiting;
	assert.equal(again.action, 'accept');
	assert.equal(again.elicitationId, result.elicitationId);
});

test('aborting the option signal rejects with its reason and cancels the elicitation with reason aborted', async (t) => {
	const { options, readState } = await setUpAdapter(t);
	const reason = new Error('the job was stopped');
	const controller = new AbortController();
	const client = sessionClient({ answer: never });
	const waiting = elicitUrl(client.server, { ...options, ctx: client.ctx, signal: controller.signal });
	setTimeout(() => controller.abort(reason), 100);
	await assert.rejects(waiting, reason);
	assert.equal(await readState(), 'completed cancel aborted');
});

test('a call that was cancelled before it began rejects and cancels the elicitation', async (t) => {
	const { options, readState } = await setUpAdapter(t);
	const client = sessionClient({ answer: never });
	client.controller.abort(new Error('at once'));
	await assert.rejects(elicitUrl(client.server, { ...options, ctx: client.ctx }), /at once/);
	assert.equal(await readState(), 'completed cancel aborted');
});

test('a closed connection, or progress that cannot be sent, cancels the elicitation with reason client_gone', async (t) => {
	const { options, readState } = await setUpAdapter(t);
	const gone = Object.assign(new Error('Connection closed'), { code: 'CONNECTION_CLOSED' });
	const client = sessionClient({ answer: never });
	const waiting = elicitUrl(client.server, { ...options, ctx: client.ctx });
	setTimeout(() => client.controller.abort(gone), 100);
	await assert.rejects(waiting, { code: 'ELICITATION_CLIENT_GONE' });
	assert.equal(await readState(), 'completed cancel client_gone');

	const mute = sessionClient({ answer: never, progressToken: 1, notify: async () => {
		throw new Error('no stream');
	} });
	await assert.rejects(elicitUrl(mute.server, { ...options, ctx: mute.ctx, progressEvery: 50 }),
		{ code: 'ELICITATION_CLIENT_GONE' });
	assert.equal(await readState(), 'completed cancel client_gone');
});

test('an error response of the client rejects and cancels the elicitation with reason client_error', async (t) => {
	const { options, readState } = await setUpAdapter(t);
	const failure = Object.assign(new Error('this URL is blocked here'), { code: -32602 });
	const client = sessionClient({ answer: () => Promise.reject(failure) });
	await assert.rejects(elicitUrl(client.server, { ...options, ctx: client.ctx }), failure);
	assert.equal(await readState(), 'completed cancel client_error');
});

test('close rejects with UrlModeClosedError and cancels the elicitation with reason closed', async (t) => {
	const { options, readState, urlmode } = await setUpAdapter(t);
	const client = sessionClient({ answer: never });
	const waiting = elicitUrl(client.server, { ...options, ctx: client.ctx });
	const rejected = assert.rejects(waiting, { code: 'URLMODE_CLOSED' });
	await until('the client is asked', () => client.asked.length === 1);
	await urlmode.close();
	await rejected;
	assert.equal(await readState(), 'completed cancel closed');
});

test('a client that declines too late does not undo a payment', async (t) => {
	const { options, callback, subject } = await setUpAdapter(t);
	const client = sessionClient({ answer: async ({ elicitationId }) => {
		await callback.complete(elicitationId, { subject, result: { code: 'a' } });
		return 'decline';
	} });
	const result = await elicitUrl(client.server, { ...options, ctx: client.ctx });
	assert.equal(result.action, 'accept');
});

test('progress is sent on status changes and at intervals, only if the client wants it', async (t) => {
	const { options, callback, subject } = await setUpAdapter(t);
	const client = sessionClient({ progressToken: 'p', answer: never });
	const waiting = elicitUrl(client.server, { ...options, ctx: client.ctx, progressEvery: 100 });
	await until('it beats', () => client.sent.length >= 3);
	const id = client.asked[0].elicitationId;
	await callback.open(id, { subject });
	await until('opened is told', () => client.sent.some(({ params }) => params.message === 'The page is open in the browser.'));
	await callback.complete(id, { subject });
	await waiting;
	const progress = client.sent.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
	assert.deepEqual(progress.map(({ progress: n }) => n), progress.map((_, n) => n + 1), 'it grows');
	assert.ok(progress.every(({ progressToken }) => progressToken === 'p'));
	assert.ok(client.sent.some(({ method }) => method === 'notifications/elicitation/complete'));
	const count = client.sent.length;
	await sleep(300);
	assert.equal(client.sent.length, count, 'it beats no more');

	const silent = sessionClient({ answer: ({ elicitationId }) => callback.complete(elicitationId, { subject }).then(() => 'accept') });
	await elicitUrl(silent.server, { ...options, ctx: silent.ctx, progressEvery: 10 });
	assert.deepEqual(silent.sent.map(({ method }) => method), ['notifications/elicitation/complete']);
});

test('every adapter passes recheck on', async (t) => {
	const { options: base, callback, subject } = await setUpAdapter(t);
	const options = { ...base, ...payment, subject };
	const [one, two] = [`tr_${randomUUID()}`, `tr_${randomUUID()}`];
	const recheck = async ({ reference, expected }) => ({ action: 'accept', ...expected, reference, result: { reference } });
	const client = sessionClient({ answer: async ({ elicitationId }) => {
		await callback.event(elicitationId, 'recheck', { reference: one });
		return 'accept';
	} });
	const result = await elicitUrl(client.server, { ...options, ctx: client.ctx, recheck });
	assert.deepEqual(result.result, { reference: one });

	const first = await elicitUrl(statelessCall().server, { ...options, ctx: statelessCall().ctx });
	await callback.event(first.elicitationId, 'recheck', { reference: two });
	const second = statelessCall({ state: first.toolResult.requestState, action: 'accept' });
	const done = await elicitUrl(second.server, { ...options, ctx: second.ctx, recheck });
	assert.deepEqual(done.result, { reference: two });
});

test('rounds: each call waits and requires another while the elicitation is open, and the last returns the outcome', async (t) => {
	const { options, callback, subject } = await setUpAdapter(t);
	const ask = ({ ctx, server }) => elicitUrl(server, { ...options, ctx, legTimeout: 300 });
	const first = await ask(statelessCall());
	assert.deepEqual([first.action, first.reason], ['pending', 'asked']);
	const { requestState, inputRequests } = first.toolResult;
	assert.deepEqual(Object.keys(inputRequests.urlmode.params).sort(), ['message', 'mode', 'url'], 'no elicitationId');
	for (let round = 0; round < 3; round += 1) {
		const start = performance.now();
		const result = await ask(statelessCall({ state: requestState, action: round === 0 ? 'accept' : undefined }));
		assert.ok(performance.now() - start >= 290, 'it did not block');
		assert.deepEqual(result.toolResult, { resultType: 'input_required', requestState });
	}
	setTimeout(() => callback.complete(first.elicitationId, { subject, result: { code: 'a' } }), 100);
	let result;
	// However slowly it is completed: a client calls again for as long as it is asked to.
	do result = await ask(statelessCall({ state: requestState })); while (result.action === 'pending');
	assert.equal(result.action, 'accept');
	assert.equal(result.result.code, 'a');
	assert.equal(result.returnUrl, 'https://callback.example/oauth/demo/return');
});

test('rounds: a refusal completes the elicitation, and an expired one returns expired', async (t) => {
	const { options, readState } = await setUpAdapter(t);
	const first = await elicitUrl(statelessCall().server, { ...options, ctx: statelessCall().ctx });
	const refused = statelessCall({ state: first.toolResult.requestState, action: 'decline' });
	const result = await elicitUrl(refused.server, { ...options, ctx: refused.ctx });
	assert.deepEqual([result.action, result.reason], ['decline', 'refused']);
	assert.equal(await readState(), 'completed decline refused');

	const brief = { ...options, ttl: 200 };
	const second = await elicitUrl(statelessCall().server, { ...brief, ctx: statelessCall().ctx });
	await sleep(300);
	const late = statelessCall({ state: second.toolResult.requestState, action: 'accept' });
	const over = await elicitUrl(late.server, { ...brief, ctx: late.ctx });
	assert.deepEqual([over.action, over.reason], ['cancel', 'expired']);
});

test('rounds: close leaves the elicitation open for a retry on another instance', async (t) => {
	const { options, another, readState, callback, subject } = await setUpAdapter(t);
	const first = await elicitUrl(statelessCall().server, { ...options, ctx: statelessCall().ctx });
	const round = statelessCall({ state: first.toolResult.requestState, action: 'accept' });
	const waiting = assert.rejects(elicitUrl(round.server, { ...options, ctx: round.ctx }), { code: 'URLMODE_CLOSED' });
	await sleep(100);
	await options.urlmode.close();
	await waiting;
	assert.equal(await readState(), 'pending');
	await callback.complete(first.elicitationId, { subject, result: { code: 'b' } });
	const elsewhere = statelessCall({ state: first.toolResult.requestState });
	const result = await elicitUrl(elsewhere.server, { ...options, urlmode: another(), ctx: elsewhere.ctx });
	assert.equal(result.result.code, 'b');
});

test('a handle stays valid after a key rotation until its key is removed', async (t) => {
	const { options, keyFile, keysFile, another } = await setUpAdapter(t);
	const [old, fresh] = [keyLine(1), keyLine(2)];
	writeKeys(keyFile ?? keysFile, old);
	const first = await elicitUrl(statelessCall().server, { ...options, urlmode: another(), ctx: statelessCall().ctx });
	const retry = () => {
		const round = statelessCall({ state: first.toolResult.requestState });
		return elicitUrl(round.server, { ...options, urlmode: another(), ctx: round.ctx, legTimeout: 50 });
	};
	writeKeys(keysFile, fresh + old);
	assert.equal((await retry()).action, 'pending');
	writeKeys(keysFile, fresh);
	await assert.rejects(retry(), { name: 'RequestStateError', reason: 'invalid_request_state' });
});

test('a handle is good as long as the user may come back', async (t) => {
	const { options, callback, subject } = await setUpAdapter(t);
	const first = await elicitUrl(statelessCall().server, { ...options, ctx: statelessCall().ctx });
	await callback.complete(first.elicitationId, { subject, result: { code: 'c' } });
	const then = Date.now() + 300 * 24 * 60 * 60 * 1_000;
	t.mock.method(Date, 'now', () => then);
	const round = statelessCall({ state: first.toolResult.requestState });
	const result = await elicitUrl(round.server, { ...options, ctx: round.ctx });
	assert.equal(result.result?.code, 'c', result.reason);
});

test('the call after a link waits for one round and returns the link again', async (t) => {
	const { options, readState } = await setUpAdapter(t);
	const ask = () => {
		const client = sessionClient({ capabilities: {} });
		return elicitUrl(client.server, { ...options, ctx: client.ctx, legTimeout: 200 });
	};
	const first = await ask();
	const start = performance.now();
	const second = await ask();
	assert.ok(performance.now() - start >= 190);
	assert.equal(second.elicitationId, first.elicitationId);
	assert.match(textOf(second), /Open this link in a browser: https:\/\/callback\.example\/connect\/demo\?state=/);
	assert.equal(await readState(), 'pending');
});

test('another price or another message creates another elicitation', async (t) => {
	const { options, subject } = await setUpAdapter(t);
	const ask = async (more) => {
		const client = sessionClient({ capabilities: {} });
		return (await elicitUrl(client.server, { ...options, ...payment, subject, ...more, ctx: client.ctx, legTimeout: 50 })).elicitationId;
	};
	const price = { expected: { amount: 100, currency: 'EUR' } };
	const id = await ask(price);
	assert.equal(await ask(price), id);
	assert.notEqual(await ask({ expected: { amount: 5_000, currency: 'EUR' } }), id);
	assert.notEqual(await ask({ expected: { amount: 100, currency: 'USD' } }), id);
	assert.notEqual(await ask({ expected: 'any' }), id);
	assert.notEqual(await ask({ ...price, message: 'Something else.' }), id);
	await assert.rejects(ask({ message: '' }), { name: 'TypeError' });
});

test('verifyRequestState accepts our handles and passes others to the given function', async (t) => {
	const { options } = await setUpAdapter(t);
	const first = await elicitUrl(statelessCall().server, { ...options, ctx: statelessCall().ctx });
	const { requestState } = first.toolResult;
	assert.equal(verifyRequestState()(requestState, {}), undefined);
	assert.throws(() => verifyRequestState()('v1.other.state', {}));
	assert.equal(verifyRequestState((state, ctx) => [state, ctx.a])('v1.other.state', { a: 1 })[1], 1);
});

test('mcp-use: a client of an older protocol revision gets the link as text', async (t) => {
	const { options } = await setUpAdapter(t);
	const ctx = {
		signal: new AbortController().signal, client: { capabilities: () => ({}) }, requestState: () => undefined,
		reportProgress: async () => false,
	};
	assert.match(textOf(await elicitUrlMcpUse({ ...options, ctx })), /Open this link/);
});
