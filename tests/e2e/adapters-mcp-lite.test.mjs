// mcp-lite on two instances behind a balancer that is not sticky: the URL way
// by a link in words, and forms whose answers come in anywhere.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import {
	exampleProject, forgetAll, openAdapterFixture, pay, refuse, settle, signIn, startExample,
} from '../support/adapters.mjs';
import { connectSdk1 } from '../support/clients.mjs';
import { startBalancer } from '../support/instances.mjs';
import { until } from '../support/wait.mjs';

const ADA = { token: 'token-of-ada' };

let fixture;

before(async () => {
	fixture = await openAdapterFixture('mcp-lite');
});

after(() => fixture?.close());

beforeEach(() => forgetAll(fixture));

for (const frameworks of ['newest', 'oldest']) {
	const project = exampleProject('mcp-lite', frameworks);

	describe(`mcp-lite ${project.versionOf('mcp-lite')}`, { timeout: 120_000 }, () => {
		let instances;
		let balancer;

		before(async () => {
			instances = await Promise.all([startExample(fixture, project), startExample(fixture, project)]);
			balancer = fixture.closeAtEnd(await startBalancer(instances.map(({ url }) => url)));
		});

		after(() => Promise.all((instances ?? []).map((instance) => instance.kill())));

		const connect = async (options = {}) => fixture.closeAtEnd(
			await connectSdk1(project, { url: balancer.url, ...ADA, capabilities: { elicitation: {} }, ...options }));

		const linkIn = ({ text }) => /http:\S+/.exec(text)[0];

		test('oauth: the link in words, and the next call, on another instance, goes on', async () => {
			const client = await connect();
			const first = await client.call('connect_account');
			assert.match(first.text, /Open this link[^]*call this tool again/);
			const again = client.call('connect_account');
			await signIn(fixture, linkIn(first));
			assert.equal((await again).text, 'Connected the account of Ada Lovelace.');
		});

		test('payment, with progress while it waits', async () => {
			const client = await connect();
			const first = await client.call('buy_report');
			const heard = [];
			const again = client.call('buy_report', { onProgress: ({ message }) => heard.push(message) });
			const id = await pay(fixture, linkIn(first), 'processing');
			await until('it is heard', () => heard.includes('The provider is working on it.'));
			await settle(fixture, id, 'settled');
			assert.equal((await again).text, 'Paid with cs_test_1.');
		});

		test('a refusal is said in words', async () => {
			const client = await connect();
			const first = await client.call('connect_account');
			await refuse(fixture, linkIn(first));
			assert.deepEqual(await client.call('connect_account'), { text: 'Not done: the user refused.', isError: true });
		});

		test('a form whose answer comes in on the other instance', async () => {
			for (let round = 0; round < 20; round += 1) {
				const client = await connect({ onElicit: () => 'accept', content: { name: `round ${round}` } });
				const first = balancer.seen.length;
				assert.equal((await client.call('name_report')).text, `Called round ${round}.`);
				const [call, answer] = balancer.seen.slice(first);
				assert.notEqual(call, answer, 'the answer came in where the call was');
			}
			assert.deepEqual(await fixture.stack.sql('SELECT * FROM urlmode.client_request'), [], 'nothing is left');
		});

		test('a form that is declined', async () => {
			const client = await connect({ onElicit: () => 'decline' });
			assert.equal((await client.call('name_report')).text, 'Not called anything.');
		});

		test('many forms at once, each with its own answer', async () => {
			const calls = await Promise.all(Array.from({ length: 20 }, async (_, index) => {
				const client = await connect({ onElicit: () => 'accept', content: { name: `form ${index}` } });
				return client.call('name_report');
			}));
			assert.deepEqual(calls.map(({ text }) => text), calls.map((_, index) => `Called form ${index}.`));
		});

		test('an instance that is stopped ends by itself', async () => {
			const client = await connect();
			await client.call('connect_account');
			assert.equal(await instances[0].stop(), 0, instances[0].output);
		});
	});
}
