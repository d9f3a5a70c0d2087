// A call of an adapter ends, and what the user has begun does not: the next call
// with the same arguments goes on with it.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { claimOutcome } from '../src/adapters/elicitation.js';
import { urlWay } from '../src/adapters/lynq.js';
import { requireUrl } from '../src/adapters/sdk.js';
import { elicitUrl } from '../src/adapters/sdk2.js';
import { payment, PRICE, request, setUp, until } from './support/database.js';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const URL_CAPABILITY = { elicitation: { url: {} } };
const signature = { ...request, kind: 'signature' };
const never = () => new Promise(() => {});
const textOf = ({ toolResult }) => toolResult.content[0].text;

/** Says in plain words that it goes on, and what to do. */
const GOES_ON = /It goes on without this call\. .* call this tool again later with the same arguments/;

/** A client of 2025-11-25. `answer` returns its response. */
function pushClient(answer = never, capabilities = URL_CAPABILITY) {
	const controller = new AbortController();
	const asked = [];
	const elicitInput = async (params) => {
		asked.push(params);
		return { action: await answer(params) };
	};
	return {
		asked, controller, server: { server: { getClientCapabilities: () => capabilities } },
		ctx: { mcpReq: { id: 1, signal: controller.signal, requestState: () => undefined, notify: async () => {}, elicitInput } },
	};
}

/** A call of 2026-07-28. */
function roundOf({ state, action } = {}) {
	const controller = new AbortController();
	return {
		controller, server: { server: { getClientCapabilities: () => undefined } },
		ctx: {
			mcpReq: {
				id: 1, signal: controller.signal, envelope: { [CAPABILITIES]: URL_CAPABILITY }, requestState: () => state,
				inputResponses: action && { urlmode: { action } }, notify: async () => {},
			},
		},
	};
}

async function start(t, wish = payment) {
	const fixture = await setUp(t);
	const { urlmode, callback, admin } = fixture;
	const owner = { subject: `user-${randomUUID()}` };
	const options = { ...wish, ...owner, urlmode, message: 'Please.', legTimeout: 300 };
	const ask = (client, more) => elicitUrl(client.server, { ...options, ctx: client.ctx, ...more });
	const newest = async () => (await admin.query(
		'SELECT id, status, reason FROM urlmode.elicitation WHERE subject = $1 ORDER BY created_at DESC LIMIT 1', [owner.subject])).rows[0];
	/** A client whose user goes on to the provider and stays there. */
	const opening = () => pushClient(async ({ elicitationId }) => {
		await callback.open(elicitationId, owner);
		return 'accept';
	});
	const finish = (id, more) => (wish.kind === 'oauth' ? callback.complete(id, { ...owner, result: { code: 'a' }, ...more })
		: callback.paid(id, { ...owner, ...more }));
	return { ...fixture, owner, options, ask, newest, opening, finish };
}

for (const [kind, wish] of Object.entries({ payment, signature, oauth: request })) {
	test(`${kind}: a timeout of an opened one returns pending, and the next call goes on with a fresh link`, async (t) => {
		const { ask, opening, newest, finish } = await start(t, wish);
		const first = await ask(opening(), { timeout: 200 });
		assert.deepEqual([first.action, first.reason], ['pending', 'opened']);
		assert.match(textOf(first), /the user has opened the page and can still finish there/);
		assert.match(textOf(first), GOES_ON);
		const { id, status } = await newest();
		assert.equal(status, 'opened');

		const client = pushClient();
		const second = ask(client);
		await until('it is asked again', () => client.asked.length === 1);
		assert.equal(client.asked[0].elicitationId, id);
		assert.match(client.asked[0].url, /\/connect\/demo\?state=/);
		await finish(id);
		const result = await second;
		assert.deepEqual([result.action, result.elicitationId], ['accept', id]);
		assert.equal((await ask(pushClient(async () => 'decline'))).action, 'decline', 'it was claimed: this is a new one');
	});

	test(`${kind}: a client that cancels or is gone leaves what is opened`, async (t) => {
		const { ask, opening, newest, urlmode } = await start(t, wish);
		const client = opening();
		const cancelled = assert.rejects(ask(client), /enough/);
		await until('it is opened', async () => (await newest())?.status === 'opened');
		client.controller.abort(new Error('enough'));
		await cancelled;
		assert.equal((await newest()).status, 'opened');

		const gone = pushClient();
		const rejected = assert.rejects(ask(gone), { code: 'ELICITATION_CLIENT_GONE' });
		await until('it is asked', () => gone.asked.length === 1);
		gone.controller.abort(Object.assign(new Error('Connection closed'), { code: 'CONNECTION_CLOSED' }));
		await rejected;
		assert.equal((await newest()).status, 'opened');

		const failing = pushClient(async () => {
			throw new Error('no window');
		});
		await assert.rejects(ask(failing), /no window/);
		assert.equal((await newest()).status, 'opened');

		const closing = pushClient();
		const closed = assert.rejects(ask(closing), { code: 'URLMODE_CLOSED' });
		await until('it is asked', () => closing.asked.length === 1);
		await urlmode.close();
		await closed;
		assert.equal((await newest()).status, 'opened');
	});
}

test('the client gives up, the user pays, and the next call delivers instead of asking again', async (t) => {
	const { ask, opening, newest, callback, owner } = await start(t);
	const client = opening();
	const aborted = assert.rejects(ask(client), /timed out/);
	await until('it is opened', async () => (await newest())?.status === 'opened');
	client.controller.abort(new Error('the request timed out'));
	await aborted;
	const { id } = await newest();
	assert.equal(await callback.paid(id, { ...owner, reference: `pay_${id}` }), 'accept');
	const result = await ask(pushClient(() => assert.fail('asked to pay again')));
	assert.deepEqual([result.action, result.result.reference, result.late], ['accept', `pay_${id}`, undefined]);
});

test('what is paid after the end is the result of the next call, late', async (t) => {
	const { ask, newest, callback, owner } = await start(t);
	assert.equal((await ask(pushClient(), { timeout: 100 })).reason, 'timeout');
	const { id } = await newest();
	assert.equal(await callback.paid(id, owner), 'late');
	for (const [adapter, client] of Object.entries({
		'in a session': pushClient(() => assert.fail('asked to pay again')), 'by a link': pushClient(never, {}), 'in rounds': roundOf(),
	})) {
		const result = await ask(client);
		assert.deepEqual([result.action, result.late, result.elicitationId], ['accept', true, id], adapter);
		await callback.paid(id, owner);
	}
});

test('what is paid while a call is told that it was declined stays for the next call', async (t) => {
	const { ask, opening, callback, owner } = await start(t);
	const client = opening();
	// The client is notified after the outcome was read, and before it is claimed.
	client.ctx.mcpReq.notify = async ({ params: { elicitationId } }) => {
		assert.equal(await callback.paid(elicitationId, owner), 'late');
	};
	const first = ask(client);
	await until('it is asked', () => client.asked.length === 1);
	const { elicitationId } = client.asked[0];
	await until('it is declined', async () => await callback.complete(elicitationId, { ...owner, action: 'decline', reason: 'cancelled' }) === 'completed');
	assert.equal((await first).action, 'decline');
	const next = await ask(pushClient(() => assert.fail('asked to pay again')));
	assert.deepEqual([next.action, next.late, next.elicitationId], ['accept', true, elicitationId]);
});

test('of two identical calls in parallel, one delivers', async (t) => {
	const { ask, newest, callback, owner } = await start(t);
	const clients = [pushClient(), pushClient()];
	const calls = clients.map((client) => ask(client));
	await until('both are asked', () => clients.every(({ asked }) => asked.length === 1));
	assert.equal(clients[0].asked[0].elicitationId, clients[1].asked[0].elicitationId);
	await callback.paid((await newest()).id, owner);
	const results = await Promise.all(calls);
	assert.deepEqual(results.map(({ action, reason }) => `${action} ${reason}`.trim()).sort(), ['accept', 'cancel claimed']);
});

test('two payments for one elicitation are delivered by one call each', async (t) => {
	const { ask, newest, callback, owner } = await start(t);
	const client = pushClient();
	const first = ask(client);
	await until('it is asked', () => client.asked.length === 1);
	const { id } = await newest();
	const references = [`pay_${randomUUID()}`, `pay_${randomUUID()}`];
	for (const reference of references) await callback.paid(id, { ...owner, reference });
	const delivered = [(await first).reference];
	delivered.push((await ask(pushClient(() => assert.fail('asked to pay again')))).reference);
	assert.deepEqual(delivered.sort(), references.sort());
});

test('a user who refuses in the client what is open in the browser gets an answer at once, and it stays', async (t) => {
	const { ask, newest, callback, owner } = await start(t);
	for (const action of ['decline', 'cancel']) {
		const client = pushClient(async ({ elicitationId }) => {
			await callback.open(elicitationId, owner);
			return action;
		});
		const result = await ask(client, { timeout: 60_000 });
		assert.deepEqual([result.action, result.reason], ['pending', 'opened']);
		assert.match(textOf(result), GOES_ON);
		assert.equal((await newest()).status, 'opened');
	}
	const begun = await ask(roundOf());
	const refused = await ask(roundOf({ state: begun.toolResult.requestState, action: 'decline' }));
	assert.deepEqual([refused.action, refused.reason], ['pending', 'opened']);
	assert.match(textOf(refused), GOES_ON);
});

test('after the link has expired, the next call only waits', async (t) => {
	const { ask, newest, admin, opening, owner, options, callback } = await start(t);
	const begun = await ask(roundOf());
	await ask(opening(), { timeout: 100 });
	await admin.query("UPDATE urlmode.elicitation SET expires_at = now() - interval '1 s' WHERE subject = $1", [owner.subject]);
	const { id } = await newest();
	for (const [adapter, client] of Object.entries({
		'in a session': pushClient(() => assert.fail('asked again')), 'by a link': pushClient(never, {}), 'in rounds': roundOf(),
	})) {
		const result = await ask(client, { timeout: 200 });
		assert.deepEqual([result.action, result.reason, result.elicitationId], ['pending', 'opened', id], adapter);
		assert.doesNotMatch(textOf(result), /https:/, adapter);
		assert.match(textOf(result), GOES_ON, adapter);
	}
	const required = await requireUrl(pushClient().server, { ...options, extra: { signal: new AbortController().signal } });
	assert.deepEqual([required.action, required.reason], ['pending', 'opened']);
	const waiting = ask(pushClient(() => assert.fail('asked again')));
	await sleep(50);
	await callback.paid(id, owner);
	assert.equal((await waiting).action, 'accept');
	assert.equal((await ask(roundOf({ state: begun.toolResult.requestState }))).reason, 'claimed');
});

test('what was refunded before a call claimed it is not delivered, and the next call asks anew', async (t) => {
	const { ask, newest, callback, owner, finish } = await start(t);
	const begun = await ask(roundOf());
	const { id } = await newest();
	const reference = randomUUID();
	await finish(id, { reference });
	await callback.event(id, 'refunded', { reference });
	const result = await ask(roundOf({ state: begun.toolResult.requestState }));
	assert.deepEqual([result.action, result.reason], ['cancel', 'refunded']);
	assert.match(textOf(result), /the payment was refunded/);
	assert.ok((await ask(roundOf())).toolResult);
	assert.notEqual((await newest()).id, id);
});

test('rounds: a payment that is processing returns pending with a text, and a first call goes on with it', async (t) => {
	const { ask, callback, owner } = await start(t);
	const begun = await ask(roundOf());
	await callback.event(begun.elicitationId, 'processing');
	for (const round of [roundOf({ state: begun.toolResult.requestState }), roundOf()]) {
		const result = await ask(round);
		assert.deepEqual([result.action, result.reason], ['pending', 'processing']);
		assert.match(textOf(result), GOES_ON);
	}
	setTimeout(() => callback.paid(begun.elicitationId, owner), 100);
	assert.equal((await ask(roundOf())).action, 'accept');
});

test('rounds: a first call goes on with an open elicitation, with a fresh link', async (t) => {
	const { ask, callback, owner } = await start(t, request);
	const first = await ask(roundOf());
	await callback.open(first.elicitationId, owner);
	const again = await ask(roundOf());
	assert.equal(again.elicitationId, first.elicitationId);
	assert.match(again.toolResult.inputRequests.urlmode.params.url, /\/connect\/demo\?state=/);
	const controller = roundOf({ state: again.toolResult.requestState });
	setTimeout(() => controller.controller.abort(new Error('enough')), 100);
	await assert.rejects(ask(controller), /enough/);
	await callback.complete(first.elicitationId, { ...owner, result: { code: 'a' } });
	assert.equal((await ask(roundOf())).action, 'accept');
});

test('requireUrl: a payment is delivered although it was read long ago', async (t) => {
	const { options, callback, admin, owner, newest } = await start(t);
	const client = pushClient();
	const server = { ...client.server.server, createElicitationCompletionNotifier: () => async () => {} };
	const call = () => requireUrl(server, { ...options, extra: { signal: new AbortController().signal } });
	await assert.rejects(call(), { code: -32042 });
	const { id } = await newest();
	await callback.paid(id, { ...owner, reference: `pay_${id}` });
	await sleep(300); // the notification reads the row, and would mark its result
	await admin.query("UPDATE urlmode.purge_queue SET due_at = now() - interval '1 s' WHERE $1 = ANY (ids)", [id]);
	await admin.query('SELECT urlmode.purge_results()');
	const result = await call();
	assert.deepEqual([result.action, result.result?.reference], ['accept', `pay_${id}`]);
});

test('the next call asks the provider about an event that proves nothing before it asks the user again', async (t) => {
	const { ask, newest, callback } = await start(t);
	await ask(pushClient(), { timeout: 100 });
	const { id } = await newest();
	await callback.event(id, 'recheck', { reference: `pay_${id}` });
	const asked = [];
	const recheck = (answer) => (question) => {
		asked.push(question.references);
		return answer;
	};
	const down = () => {
		throw new Error('the API is down');
	};
	const client = () => pushClient(() => assert.fail('asked to pay again'));
	for (let n = 0; n < 2; n += 1) {
		const refused = await ask(client(), { recheck: down });
		assert.deepEqual([refused.action, refused.reason], ['cancel', 'timeout'], 'nobody knows yet whether it was paid');
	}
	const anew = await ask(pushClient(async () => 'decline'));
	assert.equal(anew.reason, 'refused', 'who cannot ask the provider asks the user again');
	const lease = async () => callback.client.query('RESET ROLE').then(() => callback.client.query(
		'UPDATE urlmode.elicitation SET recheck_at = NULL WHERE id = $1', [id]));
	await lease();
	const result = await ask(client(), { recheck: recheck({ action: 'accept', ...PRICE, reference: `pay_${id}` }) });
	assert.deepEqual([result.action, result.late, result.reference], ['accept', true, `pay_${id}`]);
	assert.deepEqual(asked, [[`pay_${id}`]]);
});

test('a failed attempt is told to the client', async (t) => {
	const { ask, callback, owner } = await start(t);
	const sent = [];
	const client = pushClient(async ({ elicitationId }) => {
		await callback.open(elicitationId, owner);
		await until('opened is told', () => sent.length === 1);
		await callback.event(elicitationId, 'attempt_failed');
		await until('the attempt is told', () => sent.length === 2);
		await callback.paid(elicitationId, owner);
		return 'accept';
	});
	client.ctx.mcpReq._meta = { progressToken: 1 };
	client.ctx.mcpReq.notify = async ({ params }) => params.message && sent.push(params.message);
	assert.equal((await ask(client)).action, 'accept');
	assert.deepEqual(sent, ['The page is open in the browser.', 'An attempt to pay has failed. The user can try again.']);
});

/** A call of a tool with lynq's urlAction, which asks the client by `ask`. */
function lynqCall(way, session, ask) {
	const c = { sessionId: 's', signal: new AbortController().signal, session, userStore: {}, elicit: { url: ask } };
	return way.resume.onCall(c, async () => {
		const elicitationId = randomUUID();
		const url = await way.buildUrl({ sessionId: 's', elicitationId });
		const { action } = await c.elicit.url('Pay.', url, { elicitationId, waitForCompletion: true, timeout: 300_000 });
		const done = action === 'accept' && session.get('payment');
		return { content: [{ type: 'text', text: done ? 'Done.' : 'Not done.' }], isError: !done };
	});
}

test('lynq: what is opened stays when a leg is over, and the next call goes on with it', async (t) => {
	const { options, callback, newest, owner } = await start(t);
	const values = new Map();
	const session = { get: (key) => values.get(key), set: (key, value) => values.set(key, value) };
	const { subject, ...rest } = options;
	const way = urlWay({ session: () => session, completeElicitation: () => {} },
		{ ...rest, subject: () => subject, sessionKey: 'payment', legTimeout: 300 });
	const asked = [];
	const open = async (message, url, { elicitationId }) => {
		asked.push(elicitationId);
		await callback.open((await newest()).id, owner);
		return new Promise(() => {});
	};
	assert.match((await lynqCall(way, session, open)).content[0].text, GOES_ON);
	const { id, status } = await newest();
	assert.equal(status, 'opened');
	assert.match((await lynqCall(way, session, open)).content[0].text, GOES_ON);
	assert.equal((await newest()).id, id);
	assert.equal(new Set(asked).size, 2);
	await callback.event(id, 'processing');
	assert.match((await lynqCall(way, session, () => assert.fail('asked again'))).content[0].text, GOES_ON);
	await callback.paid(id, owner);
	assert.equal((await lynqCall(way, session, () => assert.fail('asked again'))).content[0].text, 'Done.');
	assert.equal(typeof values.get('payment').reference, 'string');
});

test('lynq: a request that the client has not answered within the SDK\'s timeout ends nothing', async (t) => {
	const { options, callback, newest, owner } = await start(t);
	const values = new Map();
	const session = { get: (key) => values.get(key), set: (key, value) => values.set(key, value) };
	const { subject, ...rest } = options;
	const way = urlWay({ session: () => session, completeElicitation: () => {} },
		{ ...rest, subject: () => subject, sessionKey: 'payment', legTimeout: 90_000 });
	const result = lynqCall(way, session, async () => {
		setTimeout(async () => {
			const { id } = await newest();
			await callback.open(id, owner);
			await callback.paid(id, owner);
		}, 100);
		throw Object.assign(new Error('MCP error -32001: Request timed out'), { code: -32001 });
	});
	assert.equal((await result).content[0].text, 'Done.');
});

test('a call that was cancelled claims no accept, so that the next one gets it', async () => {
	const outcome = { elicitationId: 'e', action: 'accept', reason: '', result: undefined };
	const options = { subject: 'user-42', urlmode: { claim: async () => assert.fail('it was claimed') } };
	const call = { signal: AbortSignal.abort(new Error('the client cancelled')) };
	await assert.rejects(claimOutcome(options, call, outcome, { returnUrl: '' }), /the client cancelled/);
});
