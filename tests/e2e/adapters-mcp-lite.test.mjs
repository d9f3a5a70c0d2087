// The mcp-lite adapter on two instances behind a load balancer without sticky
// sessions: forms whose responses arrive on any instance.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { makeExampleProject, openAdapterFixture, startExample } from '../support/adapters.mjs';
import { connectSdk1 } from '../support/clients.mjs';
import { startBalancer } from '../support/instances.mjs';

const ADA = { token: 'token-of-ada' };

let fixture;

before(async () => {
	fixture = await openAdapterFixture('mcp-lite');
});

after(() => fixture?.close());

for (const frameworks of ['newest', 'oldest']) {
	const project = makeExampleProject('mcp-lite', frameworks);

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

		test('the response to a form may arrive on the other instance', async () => {
			for (let round = 0; round < 20; round += 1) {
				const client = await connect({ onElicit: () => 'accept', content: { name: `round ${round}` } });
				const first = balancer.seen.length;
				assert.equal((await client.call('name_report')).text, `Called round ${round}.`);
				const [call, answer] = balancer.seen.slice(first);
				assert.notEqual(call, answer, 'the answer came in where the call was');
			}
			assert.deepEqual(await fixture.stack.sql('SELECT * FROM urlmode_frameworks.client_request'), [], 'nothing is left');
		});

		test('a form can be declined', async () => {
			const client = await connect({ onElicit: () => 'decline' });
			assert.equal((await client.call('name_report')).text, 'Not called anything.');
		});

		test('many forms at once each get their own response', async () => {
			const calls = await Promise.all(Array.from({ length: 20 }, async (_, index) => {
				const client = await connect({ onElicit: () => 'accept', content: { name: `form ${index}` } });
				return client.call('name_report');
			}));
			assert.deepEqual(calls.map(({ text }) => text), calls.map((_, index) => `Called form ${index}.`));
		});
	});
}
