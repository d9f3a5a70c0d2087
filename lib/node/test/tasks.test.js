// What is kept of the run of a task: whatever its tool has returned, the tool is not run again for it. And how many
// clients of one user listen.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { looks } from '../src/adapters/task-looks.js';
import { notifyOfTasks } from '../src/adapters/task-notifications.js';
import { TaskServer } from '../src/adapters/tasks.js';
import { TASK_OWNER_LISTENS_MAX } from '../src/core/contract-limits.js';
import { breakQueries, payment, setUp, until } from './support/database.js';

const UNKEPT = 'The result of the tool cannot be kept: call the tool without a task';
const ENDED = { content: [{ type: 'text', text: 'Done.' }] };
const throws = () => {
	throw new Error('of the tool');
};

/** A task whose payment is proved, so that whoever asks for it runs its tool. */
async function start(t) {
	const { urlmode, callback, admin } = await setUp(t);
	const owner = { subject: `user-${randomUUID()}` };
	const server = new TaskServer(urlmode, (code, message) => Object.assign(new Error(message), { code }));
	const { elicitationId } = await urlmode.create({ ...payment, ...owner });
	const { taskId } = await server.create(owner, { name: 'buy' }, { awaited: { elicitationId, kind: 'payment', text: 'Pay.' } },
		{ requestState: 'state', inputRequests: {} });
	await callback.open(elicitationId, owner);
	const reference = `pay_${randomUUID()}`;
	await callback.paid(elicitationId, { ...owner, reference });
	let runs = 0;
	let written;
	let answer = 'lost';
	return {
		runs: () => runs,
		/** What the claim of the payment hears of the answer. */
		written: () => written,
		/** What becomes of the answers to tasks/get from now on. */
		answers: (now) => {
			answer = now;
		},
		elicitationId, owner, urlmode, taskId, goesBack: () => callback.event(elicitationId, 'refunded', { reference }),
		undelivered: async () => (await admin.query('SELECT FROM urlmode.undelivered_of(\'\', NULL, NULL, $1)', [elicitationId])).rowCount,
		get: (tool) => server.get(taskId, { owner, client: {}, written: async () => answer, run: async (_call, _answers, round) => {
			runs += 1;
			written = round.answer.written();
			return tool(round);
		} }),
		endLease: () => admin.query('UPDATE urlmode.task SET leased_until = now() WHERE id = $1', [taskId]),
	};
}

for (const [what, tool] of [
	['throws an error of its own as JSON', () => ({ ...ENDED, _meta: { toJSON: throws } })],
	['throws an error of its own when it is read', () => ({ get content() {
		return throws();
	} })],
	['throws no error when it is read', () => ({ ...ENDED, _meta: { toJSON: () => {
		throw undefined;
	} } })],
	['has a BigInt', () => ({ ...ENDED, _meta: { number: 1n } })],
	['has a cycle', () => {
		const cycle = {};
		return { ...ENDED, _meta: Object.assign(cycle, { cycle }) };
	}],
	['is too deep', () => ({ ...ENDED, _meta: Array.from({ length: 100_000 }).reduce((inner) => [inner], []) })],
	['is an error whose data is no JSON', () => Promise.reject(Object.assign(new Error('no'), { data: { toJSON: throws } }))],
	['is an error without words', () => Promise.reject({ message: { toString: throws } })],
	['asks with a state that is none', () => ({ resultType: 'input_required', requestState: { toString: throws } })],
	['asks for more than is kept', () => ({ resultType: 'input_required', requestState: 'next', inputRequests: { one: 'x'.repeat(300_000) } })],
]) {
	test(`a result that ${what} ends the task, and is none that was delivered`, async (t) => {
		const { get, runs, written, endLease } = await start(t);
		const { status, error } = await get(tool);
		assert.deepEqual([status, error.message, await written()], ['failed', UNKEPT, 'lost']);
		await endLease();
		assert.deepEqual([(await get(tool)).status, runs()], ['failed', 1]);
	});
}

test('a result that was not kept because the connection was lost is made again', async (t) => {
	const { get, runs, written, endLease } = await start(t);
	breakQueries(t, 'end_task', { times: 1 });
	await assert.rejects(get(() => ENDED), /^Error: Connection terminated unexpectedly$/);
	await endLease();
	const { status, result } = await get(() => ENDED);
	assert.deepEqual([status, result, runs(), await written()], ['completed', { ...ENDED, resultType: 'complete' }, 2, 'kept']);
});

test('what a task has is delivered when its client has got it', async (t) => {
	const { get, answers, undelivered, urlmode, elicitationId, owner } = await start(t);
	await get(async ({ answer }) => {
		const claim = await urlmode.beginClaim(elicitationId, { ...owner, timeout: 0 });
		await claim.fulfil(ENDED);
		void answer.written({ id: elicitationId, fence: claim.fence });
		return ENDED;
	});
	for (const answer of ['lost', 'failed']) {
		answers(answer);
		assert.deepEqual([(await get(throws)).status, await undelivered()], ['completed', 1], answer);
	}
	answers('written');
	assert.equal((await get(throws)).status, 'completed');
	await until('it is delivered', async () => await undelivered() === 0);
	assert.equal((await get(throws)).status, 'completed');
	const { state } = await urlmode.beginClaim(elicitationId, { ...owner, timeout: 0 });
	assert.equal(state, 'taken');
});

test('what nobody has read goes to nobody when its money went back', async (t) => {
	const { get, answers, goesBack, urlmode, elicitationId, owner } = await start(t);
	const tool = async ({ answer }) => {
		const claim = await urlmode.beginClaim(elicitationId, { ...owner, timeout: 0 });
		await claim.fulfil(ENDED);
		void answer.written({ id: elicitationId, fence: claim.fence });
		return ENDED;
	};
	assert.deepEqual((await get(tool)).result, { ...ENDED, resultType: 'complete' });
	await goesBack();
	answers('written');
	const { status, result } = await get(throws);
	assert.deepEqual([status, result.isError, result.content.length], ['completed', true, 1]);
	assert.match(result.content[0].text, /the payment was refunded/);
	assert.deepEqual((await get(throws)).result, result);
});

test('close waits for no answer', async (t) => {
	const { get, answers, urlmode } = await start(t);
	answers(new Promise(() => {}));
	assert.equal((await get(() => ENDED)).status, 'completed');
	await urlmode.close();
});

test('what was made for a task whose answer is an error is not delivered by it', async (t) => {
	const { get, answers, written, undelivered, urlmode, elicitationId, owner } = await start(t);
	answers('written');
	const { result } = await get(async ({ answer }) => {
		const claim = await urlmode.beginClaim(elicitationId, { ...owner, timeout: 0 });
		await claim.fulfil(ENDED);
		void answer.written({ id: elicitationId, fence: claim.fence });
		return { ...ENDED, isError: true };
	});
	assert.deepEqual([result.isError, await written(), await undelivered()], [true, 'failed', 1]);
	const { state } = await urlmode.beginClaim(elicitationId, { ...owner, timeout: 0 });
	assert.equal(state, 'fulfilled');
});

test('what has failed on the way to the claim is tried again', async (t) => {
	const { get, runs } = await start(t);
	const { status } = await get((round) => {
		round.isUndone = true;
		return throws();
	});
	assert.equal(status, 'working');
	assert.deepEqual([(await get(() => ENDED)).status, runs()], ['completed', 2]);
});

/** Clients that listen to tasks, beside an SDK that knows of none. `get` answers tasks/get. */
function listening(t, urlmode, get) {
	const acknowledged = { method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } };
	const fetch = notifyOfTasks(urlmode, async (request) => {
		if (looks.getStore()) return Response.json({ result: await get(request) });
		const body = new ReadableStream({ start: (controller) => {
			controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(acknowledged)}\n\n`));
			if (request.headers.get('ends')) controller.close();
		} });
		return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
	});
	const open = new Set();
	t.after(() => Promise.all([...open].map((reader) => reader.cancel())));
	return async (taskIds, user, headers = {}) => {
		const response = await fetch(new Request('https://mcp.example/', {
			method: 'POST', headers: { 'mcp-method': 'subscriptions/listen', 'content-length': '1', user, ...headers },
			body: JSON.stringify({ id: 1, params: { notifications: { taskIds } } }),
		}));
		const reader = response.body.getReader();
		open.add(reader);
		const next = async () => new TextDecoder().decode((await reader.read()).value);
		return { next, listens: (await next()).includes(taskIds[0]), end: () => open.delete(reader) && reader.cancel() };
	};
}

test('a user listens with so many clients at a time, and takes no place of another', async (t) => {
	const { urlmode } = await setUp(t);
	const listen = listening(t, urlmode, async (request) => {
		Object.assign(looks.getStore(), { owner: { subject: request.headers.get('user') } });
		return { status: 'working' };
	});
	const taskIds = [randomUUID()];
	const some = [];
	for (let n = 0; n < TASK_OWNER_LISTENS_MAX; n += 1) some.push(await listen(taskIds, 'ada'));
	assert.deepEqual(some.map(({ listens }) => listens), some.map(() => true));
	assert.deepEqual([(await listen(taskIds, 'ada')).listens, (await listen(taskIds, 'grace')).listens], [false, true]);
	await some[0].end();
	await until('another one may', async () => (await listen(taskIds, 'ada')).listens);
});

test('what a client that listens was told is delivered, and no earlier', async (t) => {
	const { get, answers, undelivered, urlmode, elicitationId, owner, taskId } = await start(t);
	const tool = async ({ answer }) => {
		const claim = await urlmode.beginClaim(elicitationId, { ...owner, timeout: 0 });
		await claim.fulfil(ENDED);
		void answer.written({ id: elicitationId, fence: claim.fence });
		return ENDED;
	};
	const another = randomUUID();
	const asked = [];
	const listen = listening(t, urlmode, async ({ headers }) => {
		asked.push(headers.get('mcp-name'));
		if (asked.at(-1) === taskId) return get(tool);
		Object.assign(looks.getStore(), { owner });
		return { status: 'working' };
	});
	// Their own answers are written. Those to what is asked for a client that listens reach nobody by that.
	answers('written');
	const some = [];
	for (let n = 0; n < TASK_OWNER_LISTENS_MAX; n += 1) some.push(await listen([another], owner.subject));
	const refused = await listen([taskId], owner.subject, { ends: '1' });
	assert.deepEqual([refused.listens, await refused.next()], [false, '']);
	await looks.run({}, () => get(tool));
	await some[0].end();
	let last;
	await until('it may listen', async () => {
		last = await listen([taskId, another], owner.subject);
		return last.listens;
	});
	assert.equal(await undelivered(), 1, 'it has the acknowledgement alone');
	assert.match(await last.next(), /"status":"completed"/);
	assert.match(await last.next(), /"status":"working"/);
	assert.equal(await undelivered(), 1, 'it may be on its way');
	// Who asks for more has handed on what it has got.
	void last.next().catch(() => {});
	await until('it is delivered, and the stream is open', async () => await undelivered() === 0);
});
