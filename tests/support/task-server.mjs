// Calls as tasks (SEP-2663) of one server, with the client of the extension, over two instances behind a balancer without sticky sessions.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, beforeEach, describe, test as nodeTest } from 'node:test';

import { listen } from '../demo/process.mjs';
import { PROGRAMS } from '../security/deployment.mjs';
import {
	deleteElicitations, elicitationsOf, goToCheckout, openAdapterFixture, pay, rowState, settle, signIn, tellOfSubscription, USERS,
} from './adapters.mjs';
import { decideAs, FormPage } from './form-page.mjs';
import { startBalancer } from './instances.mjs';
import { connectTasks } from './tasks.mjs';
import { until } from './wait.mjs';

const ADA = 'token-of-ada';
const PAID = { content: [{ type: 'text', text: 'Paid with cs_test_1.' }], resultType: 'complete' };
const UNKNOWN = { code: -32602, message: 'Task not found' };
/** What the tool returns, without what a server says of itself. */
const essence = ({ content, resultType }) => ({ content, resultType });

/**
 * @param {string} name of the server
 * @param {(fixture: Awaited<ReturnType<typeof openAdapterFixture>>, env: { GATE: string }) => Promise<import('./instances.mjs').Instance>} start starts an
 *     instance of the example, in which each body of a payment asks GATE first
 * @param {RegExp} [only] the tests, by their names
 */
export function describeTasks(name, start, only = /./) {
	const test = (what, run) => only.test(what) && nodeTest(what, run);

	describe(`tasks of ${name}`, { timeout: 600_000 }, () => {
		let fixture;
		let balancer;
		let instances = [];
		let backends = [];
		/** The bodies that have begun, and may not go on yet. */
		const gate = { isOpen: true, count: 0, held: [], says: '' };

		before(async () => {
			fixture = await openAdapterFixture(`tasks-${name.toLowerCase().replaceAll(' ', '-')}`);
			const server = createServer((request, response) => {
				gate.count += 1;
				if (gate.isOpen) response.end(gate.says);
				else gate.held.push(response);
			});
			gate.url = `http://127.0.0.1:${await listen(server, 0)}`;
			fixture.closeAtEnd({ close: async () => {
				server.closeAllConnections();
				server.close();
			} });
			await restart();
		});
		after(() => fixture?.close());
		beforeEach(async () => {
			await deleteElicitations(fixture);
			Object.assign(gate, { isOpen: true, count: 0, held: [], says: '' });
		});

		/** Kills all instances at once, and starts others. */
		async function restart() {
			await Promise.all(instances.map((each) => each.kill()));
			await balancer?.close();
			instances = await Promise.all([0, 1].map(() => start(fixture, { GATE: gate.url })));
			backends = instances.map(({ url }) => url);
			balancer = fixture.closeAtEnd(await startBalancer(backends));
		}

		/** The database, nginx and the programs as well. */
		async function restartAll() {
			await fixture.stack.service('restart', 'postgres', 'nginx', ...PROGRAMS);
			await restart();
		}

		const connect = async (options = {}) => fixture.closeAtEnd(await connectTasks({ url: balancer.url, token: ADA, ...options }));
		const begin = async (client, name) => {
			const { result } = await client.request('tools/call', { name, arguments: {} });
			assert.equal(result?.resultType, 'task', JSON.stringify(result));
			return result;
		};
		const get = async (client, { taskId }) => {
			const { result, error } = await client.request('tasks/get', { taskId });
			assert.ok(result, JSON.stringify(error));
			return result;
		};
		const answer = (client, { taskId }, inputResponses) => client.request('tasks/update', { taskId, inputResponses });
		const end = (client, task) => until('the task has ended', async () => {
			const now = await get(client, task);
			return ['working', 'input_required'].includes(now.status) ? undefined : now;
		});
		const linkIn = ({ inputRequests = {} }) => Object.values(inputRequests)[0]?.params.url;
		const released = () => {
			gate.isOpen = true;
			for (const response of gate.held) response.end();
		};
		/** Nobody has a lease any more, as some time after the death of who had it. */
		const endLeases = () => fixture.stack.sql('WITH task AS (UPDATE urlmode.task SET leased_until = now()) UPDATE urlmode.lease SET ends_at = now()');

		/** The clock is moved: all that is written of this user is so much older. */
		const pass = (span) => fixture.stack.sql(`WITH e AS (
				UPDATE urlmode.elicitation SET created_at = created_at - $1::interval, expires_at = expires_at - $1::interval WHERE subject = $2 RETURNING id
			)
			UPDATE urlmode.task SET created_at = created_at - $1::interval, updated_at = updated_at - $1::interval, expires_at = expires_at - $1::interval
			WHERE elicitation IN (SELECT id FROM e)`, [span, USERS[ADA]]);

		test('the client opens the page once, and is given what the tool returns', async () => {
			const client = await connect({ onElicit: async ({ url }) => {
				await pay(fixture, url);
				return 'accept';
			} });
			const execution = await client.session.callTool('buy_report', {});
			assert.equal(execution.kind, 'task');
			const { outcome } = await execution.settle();
			assert.deepEqual(essence(outcome.result), PAID);
			assert.equal(client.asked.length, 1);
			assert.deepEqual(Object.keys(client.asked[0]).sort(), ['message', 'mode', 'url']);
		});

		test('any instance answers, for its owner alone, and what was answered is not asked again', async () => {
			const [one, other] = await Promise.all(backends.map((url) => connect({ url })));
			const grace = await connect({ token: 'token-of-grace' });
			const task = await begin(one, 'buy_report');
			assert.deepEqual([task.status, 'inputRequests' in task, Number.isInteger(task.ttlMs), task.pollIntervalMs > 0], ['input_required', false, true, true]);
			const asked = await get(other, task);
			assert.deepEqual(Object.keys(asked.inputRequests), ['1.urlmode']);
			for (const [method, params] of [['tasks/get', {}], ['tasks/cancel', {}], ['tasks/update', { inputResponses: { '1.urlmode': { action: 'decline' } } }]]) {
				for (const taskId of [task.taskId, 'x', null, { a: 1 }, '00000000-0000-4000-8000-000000000000']) {
					const client = taskId === task.taskId ? grace : one;
					const { error: { code, message } } = await client.request(method, { taskId, ...params }, { headers: { 'Mcp-Name': String(taskId) } });
					assert.deepEqual({ code, message }, UNKNOWN, `${method} ${taskId}`);
				}
				const { error } = await one.request(method, { taskId: task.taskId, ...params }, { declared: { elicitation: { url: {} } } });
				assert.deepEqual([error.code, error.data], [-32021, { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } }]);
				const { error: mismatch } = await one.request(method, { taskId: task.taskId, ...params }, { headers: { 'Mcp-Name': 'another' } });
				assert.equal(mismatch.code, -32020, method);
			}
			// What nobody has asked, and what is no answer, changes nothing.
			for (const responses of [{ other: { action: 'accept' } }, { '2.urlmode': { action: 'accept' } }, { '1.urlmode': { action: 'maybe' } }, {}]) {
				assert.deepEqual((await answer(one, task, responses)).result?.resultType, 'complete', JSON.stringify(responses));
			}
			assert.deepEqual(await get(other, task), asked);
			await answer(other, task, { '1.urlmode': { action: 'accept' } });
			const waiting = await get(one, task);
			assert.deepEqual([waiting.status, 'inputRequests' in waiting], ['working', false]);
			await pay(fixture, linkIn(asked));
			const [first, second] = [await end(one, task), await end(other, task)];
			assert.deepEqual([first.status, essence(first.result), second.result], ['completed', PAID, first.result]);
			assert.equal(gate.count, 1);
		});

		test('the body runs once, however many ask, and after a kill -9 once more', async () => {
			const clients = await Promise.all(backends.map((url) => connect({ url })));
			const task = await begin(clients[0], 'buy_report');
			gate.isOpen = false;
			await pay(fixture, linkIn(await get(clients[0], task)));
			const [{ status }] = await Promise.all([get(clients[0], task), ...clients.map((client) => get(client, task)), get(clients[1], task)]);
			assert.deepEqual([status, gate.count], ['working', 1]);
			await restart();
			const later = await connect();
			await endLeases();
			await until('the body runs again', async () => {
				assert.equal((await get(later, task)).status, 'working');
				return gate.count === 2;
			});
			released();
			assert.deepEqual(essence((await end(later, task)).result), PAID);
			// What is kept outlives all processes.
			await restart();
			assert.deepEqual(essence((await get(await connect(), task)).result), PAID);
			assert.equal(gate.count, 2);
		});

		test('a result that is too large to be kept ends the task, whose body does not run again for it; what was paid is there for the next call', async () => {
			const client = await connect();
			const task = await begin(client, 'buy_report');
			gate.says = 'x'.repeat(17 * 1024 * 1024);
			await pay(fixture, linkIn(await get(client, task)));
			const { status, error } = await end(client, task);
			assert.deepEqual([status, error.message], ['failed', 'The result of the tool cannot be kept: call the tool without a task']);
			await endLeases();
			assert.deepEqual([(await get(client, task)).status, gate.count], ['failed', 1]);
			gate.says = '';
			await until('the next call is given it', async () => {
				const { result } = await client.request('tools/call', { name: 'buy_report', arguments: {} }, { declared: { elicitation: { url: {} } } });
				return result?.content?.[0].text === PAID.content[0].text;
			});
		});

		/** How the claim of the last payment of ada has ended. */
		const claimEnd = async () => (await fixture.stack.sql(
			'SELECT p.claim_end FROM urlmode.payment p JOIN urlmode.elicitation e ON e.id = p.elicitation WHERE e.subject = $1 ORDER BY p.proven_at DESC LIMIT 1', [USERS[ADA]]))[0].claim_end;
		const undelivered = async () => (await fixture.stack.sql('SELECT subject FROM urlmode.undelivered_of(\'\', NULL, NULL, NULL)')).filter(({ subject }) => subject === USERS[ADA]).length;
		/** A task that has ended, whose result nobody has read. */
		const leave = async (client) => {
			const task = await begin(client, 'buy_report');
			gate.isOpen = false;
			await pay(fixture, linkIn(await get(client, task)));
			assert.equal((await get(client, task)).status, 'working');
			released();
			await until('it has ended', async () => (await fixture.stack.sql('SELECT state FROM urlmode.task WHERE id = $1', [task.taskId]))[0].state === 'ended');
			assert.deepEqual([await claimEnd(), await undelivered()], [null, 1]);
			return task;
		};

		test('a result is kept until it was read, by whichever instance, and delivered only then', async () => {
			const task = await leave(await connect());
			await restart();
			await pass('20 days');
			await fixture.stack.sql('SELECT urlmode.purge(7776000000)');
			assert.deepEqual(essence((await get(await connect(), task)).result), PAID);
			await until('it is delivered', async () => await claimEnd() === 'delivered');
			assert.deepEqual([gate.count, await undelivered()], [1, 0]);
			await pass('10 hours');
			assert.deepEqual(essence((await get(await connect(), task)).result), PAID);
		});

		test('a result that nobody has read is that of the next call, which is not asked to pay again', async () => {
			const client = await connect();
			const task = await leave(client);
			const { result } = await client.request('tools/call', { name: 'buy_report', arguments: {} }, { declared: { elicitation: { url: {} } } });
			assert.deepEqual(result.content, PAID.content);
			await until('it is delivered', async () => await claimEnd() === 'delivered');
			assert.deepEqual([essence((await get(client, task)).result), gate.count], [PAID, 1]);
		});

		test('a client that declines ends its own asking', async () => {
			const client = await connect();
			const task = await begin(client, 'buy_report');
			const url = linkIn(await get(client, task));
			await answer(client, task, { '1.urlmode': { action: 'decline' } });
			const now = await get(client, task);
			assert.deepEqual([now.status, 'inputRequests' in now, now.statusMessage.includes(url)], ['working', false, true]);
			// The next call gives it the link as text at once.
			const { status, taskId } = await begin(client, 'buy_report');
			assert.deepEqual([status, taskId === task.taskId], ['working', false]);
			await pay(fixture, url);
			assert.equal((await end(client, task)).status, 'completed');
		});

		test('a client without URL mode is given the link as text', async () => {
			const client = await connect({ capabilities: {} });
			const task = await begin(client, 'buy_report');
			const [, url] = /^(http\S+)$/m.exec(task.statusMessage) ?? [];
			assert.equal(task.status, 'working');
			await pay(fixture, url);
			assert.deepEqual(essence((await end(client, task)).result), PAID);
		});

		test('a cancellation is that of the task alone', async () => {
			const client = await connect();
			const task = await begin(client, 'buy_report');
			const url = linkIn(await get(client, task));
			for (let times = 0; times < 2; times += 1) assert.equal((await client.request('tasks/cancel', { taskId: task.taskId })).result.resultType, 'complete');
			const { status, inputRequests } = await get(client, task);
			assert.deepEqual([status, inputRequests], ['cancelled', undefined]);
			const [{ id }] = await elicitationsOf(fixture, USERS[ADA]);
			assert.equal(await rowState(fixture, id), 'pending');
			await pay(fixture, url);
			const { result } = await client.request('tools/call', { name: 'buy_report', arguments: {} });
			assert.deepEqual(result.content, PAID.content);
		});

		test('an account, a form that is checked, and a subscription, and what nobody does', async () => {
			const client = await connect();
			const account = await begin(client, 'connect_account');
			await signIn(fixture, linkIn(await get(client, account)));
			assert.equal((await end(client, account)).result.content[0].text, 'Connected the account of Ada Lovelace.');

			// Whoever asks for the task checks what was typed.
			const key = await begin(client, 'store_key');
			const page = await FormPage.open(fixture, linkIn(await get(client, key)));
			await page.send('submit', { 'field.api_key': 'pk-1234567' });
			await Promise.all([page.shows('This key is not known.'), until('it is not accepted', async () => (await get(client, key)).status === 'input_required')]);
			await page.send('submit', { 'field.api_key': 'sk-1234567' });
			assert.equal((await end(client, key)).result.content[0].text, 'Stored a key of 10 characters.');

			await fixture.stack.sql('DELETE FROM urlmode.entitlement WHERE subject = $1', [USERS[ADA]]);
			const analyst = await begin(client, 'ask_analyst');
			await tellOfSubscription(fixture, await goToCheckout(fixture, linkIn(await get(client, analyst))), 'subscribed');
			assert.equal((await end(client, analyst)).result.content[0].text, 'Buy low, sell high. (active)');

			const late = await begin(client, 'accept_terms');
			await pass('1 hour');
			const { status, result } = await end(client, late);
			assert.deepEqual([status, result.isError], ['completed', true]);
			assert.match(result.content[0].text, /nobody completed it in time/);
		});

		test('who listens is told what becomes of a task, by whichever instance', async () => {
			const [one, other] = await Promise.all(backends.map((url) => connect({ url })));
			const task = await begin(one, 'buy_report');
			const grace = await connect({ token: 'token-of-grace' });
			const { error } = await one.request('subscriptions/listen', { notifications: { taskIds: [task.taskId] } }, { declared: {} });
			assert.equal(error.code, -32021);
			const unknown = [];
			for await (const message of grace.listen({ notifications: { taskIds: [task.taskId] } })) unknown.push(message);
			assert.deepEqual(unknown.map(({ method, params }) => params?.notifications ?? method), [{}, undefined]);

			const seen = [];
			const listening = (async () => {
				for await (const message of other.listen({ notifications: { taskIds: [task.taskId, 'x', 1] } })) seen.push(message);
			})();
			const told = (id) => seen.filter(({ params }) => params?.taskId === id).map(({ params }) => params);
			await until('it is told how the task is', () => told(task.taskId).length === 1);
			assert.deepEqual(seen[0].params.notifications, { taskIds: [task.taskId] });
			await pay(fixture, linkIn(told(task.taskId)[0]));
			await until('it is told that it is paid', () => told(task.taskId).at(-1).status === 'completed');
			const { _meta, ...last } = told(task.taskId).at(-1);
			await listening;
			await until('it is delivered by that', async () => await claimEnd() === 'delivered');
			const { resultType, _meta: meta, ...now } = await get(one, task);
			assert.deepEqual([last, typeof _meta['io.modelcontextprotocol/subscriptionId']], [now, 'number']);
			assert.equal(seen.at(-1).result.resultType, 'complete');

			// Beside what the SDK knows itself.
			const next = await begin(one, 'accept_terms');
			const stop = new AbortController();
			const both = other.listen({ notifications: { toolsListChanged: true, taskIds: [next.taskId] } }, { signal: stop.signal });
			const [{ value: { params: acknowledged } }, { value: { params: { taskId } } }] = [await both.next(), await both.next()];
			assert.deepEqual([acknowledged.notifications, taskId], [{ toolsListChanged: true, taskIds: [next.taskId] }, next.taskId]);
			stop.abort();
		});

		test('a call of a client without the extension, and what is too large to be kept, are no tasks', async () => {
			const client = await connect();
			const { result } = await client.request('tools/call', { name: 'buy_report', arguments: {} }, { declared: { elicitation: { url: {} } } });
			assert.equal(result.resultType, 'input_required');
			const large = await client.request('tools/call', { name: 'buy_summary', arguments: { text: 'x'.repeat(70_000) } });
			assert.equal(large.result.resultType, 'input_required');
		});

		test('a bank transfer settles after three days, in which everything was restarted', async () => {
			const task = await begin(await connect(), 'buy_report');
			const id = await pay(fixture, linkIn(await get(await connect(), task)), 'processing');
			for (let day = 1; day <= 3; day += 1) {
				await restartAll();
				await pass('1 day');
				const { status, statusMessage, inputRequests } = await get(await connect(), task);
				assert.deepEqual([status, inputRequests], ['working', undefined], `day ${day}`);
				assert.equal(statusMessage, 'The provider is working on it.');
			}
			await settle(fixture, id, 'settled');
			await restartAll();
			assert.deepEqual(essence((await end(await connect(), task)).result), PAID);
			await until('it is delivered', async () => await claimEnd() === 'delivered');
			assert.equal(gate.count, 1);
		});

		test('somebody else decides after three days, in which everything was restarted', async () => {
			const client = await connect();
			const task = await begin(client, 'delete_reports');
			const [, url] = /^(http\S+)$/m.exec(task.statusMessage) ?? [];
			for (let day = 1; day <= 3; day += 1) {
				await restartAll();
				await pass('1 day');
				assert.equal((await get(await connect(), task)).status, 'working', `day ${day}`);
			}
			await decideAs(fixture, url, { approver: 'grace@example.org', answer: 'approve' });
			await restartAll();
			const { status, result } = await end(await connect(), task);
			assert.deepEqual([status, result.content[0].text], ['completed', 'Deleted, as grace@example.org has agreed.']);
		});
	});
}
