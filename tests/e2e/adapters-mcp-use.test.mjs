// The mcp-use adapter over Hono, on two instances behind a load balancer without
// sticky sessions.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import {
	elicitationsOf, makeExampleProject, deleteElicitations, openAdapterFixture, pay, settle, signIn, rowState, startExample,
} from '../support/adapters.mjs';
import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { startBalancer } from '../support/instances.mjs';
import { until } from '../support/wait.mjs';

const ADA = { token: 'token-of-ada' };

let fixture;

before(async () => {
	fixture = await openAdapterFixture('mcp-use');
});

after(() => fixture?.close());

beforeEach(() => deleteElicitations(fixture));

for (const frameworks of ['newest', 'oldest']) {
	const project = makeExampleProject('mcp-use', frameworks);

	describe(`mcp-use ${project.versionOf('mcp-use')}`, { timeout: 120_000 }, () => {
		let instances;
		let balancer;

		before(async () => {
			instances = await Promise.all([startExample(fixture, project), startExample(fixture, project)]);
			balancer = fixture.closeAtEnd(await startBalancer(instances.map(({ url }) => url)));
		});

		after(() => Promise.all((instances ?? []).map((instance) => instance.kill())));

		const connect = async (options = {}) => fixture.closeAtEnd(
			await connectSdk2(project, { url: balancer.url, ...ADA, ...options }));

		const newest = async () => (await elicitationsOf(fixture, 'ada@example.org'))[0].id;

		test('oauth: the call is made on one instance and the retry on the other', async () => {
			const client = await connect();
			const first = balancer.seen.length;
			const result = client.call('connect_account');
			await signIn(fixture, (await client.nextRequest()).url);
			assert.deepEqual(await result, { text: 'Connected the account of Ada Lovelace.', isError: false });
			const [call, retry] = balancer.seen.slice(first);
			assert.notEqual(call, retry);
		});

		test('a requestState of another call is a JSON-RPC error that says what to do', async () => {
			const client = await connect();
			const { requestState } = await client.callRaw('connect_account', { args: {}, options: { allowInputRequired: true } });
			for (const [name, state] of [['buy_report', requestState], ['connect_account', `${requestState}-TAMPERED`]]) {
				await assert.rejects(client.callWith({ name, arguments: {}, requestState: state }, { allowInputRequired: true }), {
					code: -32602, data: { reason: 'invalid_request_state' }, message: /Call the tool again without requestState/,
				});
			}
		});

		test('payment: the webhook completes it, and progress is sent', async () => {
			const client = await connect();
			const heard = [];
			const result = client.call('buy_report', { onProgress: ({ message }) => heard.push(message) });
			const id = await pay(fixture, (await client.nextRequest()).url, 'processing');
			await until('it is heard', () => heard.includes('The provider is working on it.'));
			await settle(fixture, id, 'settled');
			assert.deepEqual(await result, { text: 'Paid with cs_test_1.', isError: false });
		});

		for (const [answer, expected, row] of [
			['decline', 'Not done: the user refused.', 'completed decline refused'],
			['cancel', 'Not done: the user dismissed the request.', 'completed cancel dismissed'],
		]) {
			test(`the user answers ${answer}, and the row has the same outcome`, async () => {
				const client = await connect({ onElicit: () => answer });
				assert.deepEqual(await client.call('connect_account'), { text: expected, isError: true });
				assert.equal(await rowState(fixture, await newest()), row);
			});
		}

		test('a client that cancels its call cancels the elicitation', async () => {
			const client = await connect();
			const controller = new AbortController();
			const result = client.call('connect_account', { signal: controller.signal });
			await client.nextRequest();
			const id = await newest();
			await new Promise((resolve) => setTimeout(resolve, 500));
			controller.abort('enough');
			await assert.rejects(result);
			await until('the row says so', async () => await rowState(fixture, id) === 'completed cancel client_gone');
		});

		test('after an instance was killed, the retry on another returns the outcome', async () => {
			const client = await connect({ onElicit: async () => {
				const index = balancer.seen.at(-1);
				await instances[index].kill();
				balancer.drop(index);
				return 'accept';
			} });
			const result = client.call('connect_account');
			await signIn(fixture, (await client.nextRequest()).url);
			assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
			instances = await Promise.all([startExample(fixture, project), startExample(fixture, project)]);
			await balancer.close();
			balancer = fixture.closeAtEnd(await startBalancer(instances.map(({ url }) => url)));
		});

		for (const [kind, connectTo] of [
			['of this protocol', connectSdk2], ['of an older one', connectSdk1],
		]) {
			test(`a client ${kind} without elicitation.url gets the link as text, and its next call the outcome`, async () => {
				const client = fixture.closeAtEnd(await connectTo(project, { url: balancer.url, ...ADA, capabilities: {} }));
				const { text, isError } = await client.call('connect_account');
				assert.equal(isError, false);
				await signIn(fixture, /http:\S+/.exec(text)[0]);
				assert.equal((await client.call('connect_account')).text, 'Connected the account of Ada Lovelace.');
			});
		}

		test('an instance that is stopped exits by itself, and its elicitation continues on another', async () => {
			const client = await connect();
			client.call('buy_report').catch(() => {});
			const { url } = await client.nextRequest();
			const [stopped, other] = instances;
			await new Promise((resolve) => setTimeout(resolve, 300));
			assert.equal(await stopped.stop(), 0, stopped.output);
			await pay(fixture, url);
			const again = fixture.closeAtEnd(await connectSdk2(project, { url: other.url, ...ADA }));
			const { text } = await again.call('buy_report');
			assert.match(text, /Paid with cs_test_1\.|Not done: another call has already used the outcome\./);
		});
	});
}
