// The body of a call runs once for each outcome, under a lease, and later calls get its result
// until an answer was written.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { withElicitation as withSdk1 } from '../src/adapters/sdk.js';
import { forSession } from '../src/frameworks/lynq.js';
import { linkCall, round, run, sessionCall, signature, start } from './support/calls.js';
import { payment, PRICE, purgeResults, request, until } from './support/database.js';

const notAsked = () => sessionCall({ answer: () => assert.fail('asked for what is done') });

/** Each client that the next call can be of. */
const NEXT = { 'in a session': notAsked, 'by a link': linkCall, 'in rounds': round };

test('the client gives up, the user pays, and the next call delivers instead of asking again', async (t) => {
	for (const [way, next] of Object.entries(NEXT)) {
		const { ask, opening, newest, callback, owner } = await start(t);
		const client = opening();
		const aborted = assert.rejects(ask(client, { roundTimeout: 60_000 }), /timed out/);
		await until('it is opened', async () => (await newest())?.status === 'opened');
		client.controller.abort(new Error('the request timed out'));
		await aborted;
		const { id } = await newest();
		assert.equal(await callback.paid(id, { ...owner, reference: `pay_${id}` }), 'accept');
		const result = await ask(next());
		assert.deepEqual([result.action, result.reference, result.late], ['accept', `pay_${id}`, undefined], way);
	}
});

test('a call of the SDK 1.x leaves nothing that follows its signal or its session', async (t) => {
	const { options } = await start(t);
	const { signal } = new AbortController();
	const server = { transport: { send: async () => {} }, getClientCapabilities: () => ({}), getClientVersion: () => undefined };
	const { structuredContent } = await withSdk1({ ...options, server, call: { requestId: 1, signal } }, async () => ({ content: [] }));
	assert.equal(structuredContent.elicitation.status, 'pending');
	assert.deepEqual(getEventListeners(signal, 'abort'), []);
	const abort = t.mock.method(AbortController.prototype, 'abort');
	server.onclose();
	assert.equal(abort.mock.callCount(), 0);
});

test('a call that is cancelled at the moment at which its payment arrives claims nothing', async (t) => {
	const { ask, callback, owner, urlmode } = await start(t);
	const client = sessionCall({ async answer({ elicitationId }) {
		await callback.paid(elicitationId, owner);
		return 'accept';
	} });
	const { waitForCompletion } = urlmode;
	urlmode.waitForCompletion = async (...wait) => {
		const outcome = await waitForCompletion.apply(urlmode, wait);
		client.controller.abort(new Error('enough'));
		return outcome;
	};
	await assert.rejects(ask(client, { roundTimeout: 60_000 }), /enough/);
	urlmode.waitForCompletion = waitForCompletion;
	assert.equal((await ask(notAsked())).action, 'accept');
});

for (const [amount, said] of [[100, /need not pay again/], [PRICE.amount, /was refunded/]]) {
	test(`a payment of which ${amount} go back after the call has read it is not called used`, async (t) => {
		const { ask, callback, owner, urlmode } = await start(t);
		const client = sessionCall({ async answer({ elicitationId }) {
			await callback.paid(elicitationId, { ...owner, reference: `pay_${elicitationId}` });
			return 'accept';
		} });
		const { beginClaim } = urlmode;
		urlmode.beginClaim = async (id, ...rest) => {
			await callback.event(id, 'refunded', { reference: `pay_${id}`, refund: randomUUID(), amount, currency: PRICE.currency });
			return beginClaim.call(urlmode, id, ...rest);
		};
		const { action, text } = await ask(client, { roundTimeout: 60_000 }, () => assert.fail('nothing is delivered'));
		assert.equal(action, 'refused');
		assert.match(text, said);
	});
}

for (const [kind, wanted] of Object.entries({ payment, signature })) {
	test(`${kind}: a body that throws runs again in the next call, and one that returns does not`, async (t) => {
		const { ask, newest, finish } = await start(t, wanted);
		await ask(linkCall());
		await finish((await newest()).id);
		await assert.rejects(ask(notAsked(), {}, async () => {
			throw new Error('out of paper');
		}), /out of paper/);
		const fences = [];
		const result = await ask(notAsked(), {}, async ({ fence, signal }) => {
			fences.push(fence);
			assert.equal(signal.aborted, false);
		});
		assert.equal(result.action, 'accept');
		assert.ok(fences[0] > 0);
		await until('it was written, and the next one is new', async () => (await ask(linkCall())).action === 'pending');
	});
}

test('of two identical calls in parallel, one delivers, and the other is told', async (t) => {
	const { ask, newest, callback, owner } = await start(t);
	const clients = [sessionCall(), sessionCall()];
	let bodies = 0;
	const calls = clients.map((client) => ask(client, { roundTimeout: 20_000 }, () => {
		bodies += 1;
		return sleep(200);
	}));
	await until('both are asked', () => clients.every(({ asked }) => asked.length === 1));
	await callback.paid((await newest()).id, owner);
	const results = await Promise.all(calls);
	assert.equal(bodies, 1);
	assert.equal(results.filter(({ action }) => action === 'accept').length, 1);
	const other = results.find(({ action }) => action !== 'accept');
	// Until the first answer counts as written, the other call is given the same result.
	if (other.action !== 'repeated') assert.equal(other.action, 'refused');
	assert.match(other.text, other.action === 'repeated' ? /^Done with / : /another call has already used/);
});

test('a call that comes while another one does the work says so', async (t) => {
	const { ask, newest, finish } = await start(t);
	await ask(linkCall());
	await finish((await newest()).id);
	let end;
	const first = ask(notAsked(), {}, () => new Promise((resolve) => {
		end = resolve;
	}));
	await until('it works', () => end);
	// A round that ends before the outcome was read says something else.
	const isTold = /Another call of this tool is working on it\..* call this tool again/s;
	await until('the second is told', async () => isTold.test((await ask(notAsked(), { roundTimeout: 300 })).text));
	end();
	assert.equal((await first).action, 'accept');
});

/** Serves one tool over HTTP, as a framework does: the response ends when the tool has. */
async function serve(t, tool) {
	const server = createServer(async (_, response) => {
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		response.flushHeaders();
		try {
			response.end(JSON.stringify(await tool()));
		} catch (error) {
			response.end(JSON.stringify({ error: error.code ?? error.message }));
		}
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => new Promise((resolve) => {
		server.close(resolve);
		server.closeAllConnections();
	}));
	const { port } = server.address();
	return {
		call: async () => (await fetch(`http://127.0.0.1:${port}/`)).json(),
		/** A host that quits when this resolves. */
		quit: (when) => new Promise((resolve) => {
			const sent = httpRequest({ port, host: '127.0.0.1' }, async () => {
				await when;
				sent.destroy();
			});
			sent.once('close', resolve).on('error', () => {}).end();
		}),
	};
}

for (const [way, callOf] of Object.entries({ request: sessionCall, link: linkCall })) {
	test(`${way}: a host that quits while the body runs gets its result by the next call, and the body runs once`, async (t) => {
		const { options, newest, finish, ask } = await start(t);
		await ask(linkCall());
		await finish((await newest()).id);
		let bodies = 0;
		let running;
		const runs = new Promise((resolve) => {
			running = resolve;
		});
		const ended = [];
		const server = await serve(t, async () => {
			const { action, text } = await run(callOf(), options, async () => {
				bodies += 1;
				running();
				await sleep(300);
			});
			ended.push(action);
			return { action, text };
		});
		await server.quit(runs);
		await until('the first call has ended', () => ended.length === 1);
		const next = await server.call();
		assert.equal(next.action, 'repeated');
		assert.match(next.text, /^Done with /);
		assert.equal(bodies, 1);
		options.roundTimeout = 300;
		await until('the next call asks anew', async () => (await server.call()).action === 'pending');
	});
}

test('a host that quits while its user pays: the call ends, and the next one has what was paid', async (t) => {
	const { options, newest, callback, owner } = await start(t);
	const ends = [];
	const server = await serve(t, async () => {
		const client = sessionCall();
		try {
			const { action } = await run(client, { ...options, roundTimeout: 60_000 });
			return { action };
		} catch (error) {
			ends.push(error.code);
			throw error;
		}
	});
	await server.quit((async () => {
		await until('it is asked', async () => await newest() !== undefined);
		await callback.open((await newest()).id, owner);
	})());
	await until('the call has ended', () => ends.length === 1);
	assert.deepEqual(ends, ['ELICITATION_CLIENT_GONE']);
	await callback.paid((await newest()).id, owner);
	assert.equal((await server.call()).action, 'accept');
});

test('what is paid after the end is the result of the next call, late', async (t) => {
	const { ask, newest, admin, callback, owner } = await start(t);
	await ask(sessionCall(), { ttl: 100, roundTimeout: 60_000 });
	const { id } = await newest();
	await until('its time is over', async () => (await admin.query(`SELECT FROM urlmode.elicitation e WHERE e.id = $1
		AND (e.status = 'completed' OR urlmode.closes_at(e.kind, e.status, e.expires_at, e.grace) < now())`, [id])).rowCount === 1);
	assert.equal(await callback.paid(id, owner), 'late');
	for (const [way, next] of Object.entries(NEXT)) {
		const result = await ask(next());
		assert.deepEqual([result.action, result.late, result.elicitationId], ['accept', true, id], way);
		await callback.paid(id, owner);
	}
});

test('what is paid while a call is told that it was declined stays for the next call', async (t) => {
	const { ask, callback, owner } = await start(t);
	const client = sessionCall({ async notify({ params: { elicitationId } }) {
		// The client is notified after the outcome was read, and before it is claimed.
		assert.equal(await callback.paid(elicitationId, owner), 'late');
	} });
	const first = ask(client, { roundTimeout: 60_000 });
	await until('it is asked', () => client.asked.length === 1);
	const { elicitationId } = client.asked[0];
	await callback.open(elicitationId, owner);
	await until('it is declined', async () => await callback.complete(elicitationId, { ...owner, action: 'decline', reason: 'cancelled' }) === 'completed');
	assert.equal((await first).action, 'refused');
	const next = await ask(notAsked());
	assert.deepEqual([next.action, next.late, next.elicitationId], ['accept', true, elicitationId]);
});

test('two payments for one elicitation are delivered by one call each', async (t) => {
	const { ask, newest, callback, owner } = await start(t);
	await ask(linkCall());
	const references = [`pay_${randomUUID()}`, `pay_${randomUUID()}`];
	for (const reference of references) await callback.paid((await newest()).id, { ...owner, reference });
	const delivered = [(await ask(notAsked())).reference, (await ask(notAsked())).reference];
	assert.deepEqual(delivered.sort(), references.sort());
});

test('after the link has expired, the next call only waits', async (t) => {
	const { ask, newest, admin, opening, owner, callback } = await start(t);
	const asked = await ask(round());
	await ask(opening());
	await admin.query("UPDATE urlmode.elicitation SET expires_at = now() - interval '1 s' WHERE subject = $1", [owner.subject]);
	const { id } = await newest();
	for (const [way, next] of Object.entries(NEXT)) {
		const result = await ask(next());
		assert.deepEqual([result.action, result.status, result.elicitationId, result.url], ['pending', 'opened', id, undefined], way);
		assert.match(result.text, /It goes on without this call\. .* call this tool again with the same arguments later/);
	}
	const waiting = ask(notAsked(), { roundTimeout: 60_000 });
	await sleep(50);
	await callback.paid(id, owner);
	assert.equal((await waiting).action, 'accept');
	assert.match((await ask(round({ state: asked.toolResult.requestState }))).text, /another call has already used/);
});

test('what was refunded before a call claimed it is not delivered, and the next call asks anew', async (t) => {
	const { ask, newest, callback, finish } = await start(t);
	const asked = await ask(round());
	const { id } = await newest();
	const reference = randomUUID();
	await finish(id, { reference });
	await callback.event(id, 'refunded', { reference });
	assert.match((await ask(round({ state: asked.toolResult.requestState }))).text, /the payment was refunded/);
	assert.equal((await ask(round())).action, 'asked');
	assert.notEqual((await newest()).id, id);
});

test('-32042: the error says where to go, and a payment is delivered although it was read long ago', async (t) => {
	const { options, callback, admin, owner, newest } = await start(t);
	const notified = [];
	const server = {
		transport: { send: async ({ params }) => void notified.push(params.elicitationId) },
		getClientCapabilities: () => ({ elicitation: { url: {} } }), getClientVersion: () => undefined,
	};
	const call = () => withSdk1({ ...options, ask: 'error', server, call: { requestId: 1, signal: new AbortController().signal } },
		async ({ reference }) => reference);
	await assert.rejects(call(), { code: -32042 });
	const { id } = await newest();
	await callback.paid(id, { ...owner, reference: `pay_${id}` });
	await until('the client is notified', () => notified.length === 1);
	await admin.query("UPDATE urlmode.purge_queue SET due_at = now() - interval '1 s' WHERE $1 = ANY (ids)", [id]);
	await purgeResults(admin);
	assert.equal(await call(), `pay_${id}`);
	assert.deepEqual(notified, [id], 'once');
});

test('every way passes recheck on', async (t) => {
	const recheck = async ({ reference, expected }) => ({ action: 'accept', ...expected, reference });
	for (const next of Object.values(NEXT)) {
		const { ask, newest, callback } = await start(t);
		await ask(linkCall(), { recheck });
		const reference = `tr_${randomUUID()}`;
		await callback.event((await newest()).id, 'recheck', { reference });
		assert.equal((await ask(next(), { recheck })).reference, reference);
	}
});

test('the next call asks the provider about an event that proves nothing before it asks the user again', async (t) => {
	const { ask, newest, callback, options, owner } = await start(t);
	await ask(sessionCall(), { ttl: 100, roundTimeout: 60_000 });
	const { id } = await newest();
	await callback.event(id, 'recheck', { reference: `pay_${id}` });
	const down = () => {
		throw new Error('the API is down');
	};
	for (let n = 0; n < 2; n += 1) {
		assert.match((await ask(notAsked(), { recheck: down })).text, /nobody completed it in time/, 'nobody knows yet whether it was paid');
	}
	const again = sessionCall({ answer: async () => 'accept' });
	await ask(again);
	assert.equal(again.asked.length, 1, 'who cannot ask the provider asks the user again');
	await options.urlmode.cancel((await newest()).id, owner);
	assert.match((await ask(notAsked())).text, /the user cancelled/);
	await callback.client.query('RESET ROLE');
	await callback.client.query('UPDATE urlmode.recheck SET recheck_at = NULL WHERE elicitation = $1', [id]);
	const result = await ask(notAsked(), { recheck: () => ({ action: 'accept', ...PRICE, reference: `pay_${id}` }) });
	assert.deepEqual([result.action, result.late, result.reference], ['accept', true, `pay_${id}`]);
});

/** A call of a tool with lynq's urlAction, which asks the client by `ask`. */
function lynqCall(account, session, ask) {
	const c = { sessionId: 's', signal: new AbortController().signal, session, userStore: {}, elicit: { url: ask } };
	return account.resume.onCall(c, async () => {
		const elicitationId = randomUUID();
		const url = await account.buildUrl({ sessionId: 's', elicitationId });
		const { action } = await c.elicit.url('Pay.', url, { elicitationId, waitForCompletion: true, timeout: 300_000 });
		const done = action === 'accept' && session.get('payment');
		return { content: [{ type: 'text', text: done ? 'Done.' : 'Not done.' }], isError: !done };
	});
}

async function startLynq(t, more = {}) {
	const fixture = await start(t);
	const values = new Map();
	const session = { get: (key) => values.get(key), set: (key, value) => values.set(key, value) };
	const { subject, ...rest } = fixture.options;
	const way = forSession({ session: () => session, completeElicitation: () => {} },
		{ ...rest, subject: () => subject, sessionKey: 'payment', ...more });
	return { ...fixture, values, call: (ask) => lynqCall(way, session, ask) };
}

test('lynq: what is opened stays when a round is over, and the next call goes on with it', async (t) => {
	const { callback, newest, owner, call, values } = await startLynq(t);
	const asked = [];
	const open = async (message, url, { elicitationId }) => {
		asked.push(elicitationId);
		await callback.open((await newest()).id, owner);
		return new Promise(() => {});
	};
	assert.match((await call(open)).content[0].text, /call this tool again/);
	const { id, status } = await newest();
	assert.equal(status, 'opened');
	assert.match((await call(open)).content[0].text, /call this tool again/);
	assert.equal((await newest()).id, id);
	assert.equal(new Set(asked).size, 2);
	await callback.event(id, 'processing');
	assert.match((await call(() => assert.fail('asked again'))).content[0].text, /It goes on without this call/);
	await callback.paid(id, owner);
	assert.equal((await call(() => assert.fail('asked again'))).content[0].text, 'Done.');
	assert.equal(typeof values.get('payment').reference, 'string');
});

test('lynq: a request that the client has not answered within the SDK\'s timeout ends nothing', async (t) => {
	const { callback, newest, owner, call } = await startLynq(t, { roundTimeout: 90_000 });
	const result = call(async () => {
		setTimeout(async () => {
			const { id } = await newest();
			await callback.open(id, owner);
			await callback.paid(id, owner);
		}, 100);
		throw Object.assign(new Error('MCP error -32001: Request timed out'), { code: -32001 });
	});
	assert.equal((await result).content[0].text, 'Done.');
});

test('an account is claimed once, before the body runs', async (t) => {
	const { ask, newest, finish } = await start(t, request);
	await ask(linkCall());
	await finish((await newest()).id);
	await assert.rejects(ask(notAsked(), {}, async () => {
		throw new Error('the code was refused');
	}), /the code was refused/);
	assert.equal((await ask(linkCall())).action, 'pending', 'another one');
});
