// The handle in requestState (protocol revision 2026-07-28): whose it is, for
// which call, and how often it is worth something.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import { makeExampleProject, deleteElicitations, openAdapterFixture, pay, startExample } from '../support/adapters.mjs';
import { connectSdk2 } from '../support/clients.mjs';
import { until } from '../support/wait.mjs';

const ADA = { token: 'token-of-ada' };
const GRACE = { token: 'token-of-grace' };

let fixture;

before(async () => {
	fixture = await openAdapterFixture('request-state');
});

after(() => fixture?.close());

beforeEach(() => deleteElicitations(fixture));

for (const [framework, name] of [['@modelcontextprotocol/server', 'sdk2'], ['mcp-use', 'mcp-use']]) {
	const project = makeExampleProject(name, 'newest');

	describe(`${framework} ${project.versionOf(framework)}`, { timeout: 120_000 }, () => {
		let instance;

		before(async () => {
			instance = await startExample(fixture, project);
		});

		const connect = async (options = {}) => fixture.closeAtEnd(
			await connectSdk2(project, { url: instance.url, ...ADA, ...options }));

		/** Sends a first call without the SDK and returns the server's result. */
		async function begin(client, name) {
			const answer = await client.callRaw(name, { args: {}, options: { allowInputRequired: true } });
			assert.equal(answer.resultType, 'input_required');
			return answer.requestState;
		}

		const again = (client, name, requestState) => client.callWith({
			name, arguments: {}, inputResponses: { urlmode: { action: 'accept' } }, requestState,
		}, { allowInputRequired: true });

		const textOf = (result) => result.content[0].text;

		/** The client gets a JSON-RPC error that tells its user what to do. */
		const refuses = (result, label) => assert.rejects(result, {
			code: -32602, data: { reason: 'invalid_request_state' },
			message: /The requestState does not belong to this call\. Call the tool again without requestState/,
		}, label);

		test('contains no secret and is valid for its user only', async () => {
			const client = await connect();
			const state = await begin(client, 'connect_account');
			assert.match(state, /^[\w-]{115}\.1$/);
			assert.ok(!Buffer.from(state, 'base64url').includes('ada'));
			const grace = await connect(GRACE);
			await refuses(again(grace, 'connect_account', state));
		});

		test('is valid for its own request only', async () => {
			const client = await connect();
			const state = await begin(client, 'connect_account');
			await refuses(again(client, 'buy_report', state));
		});

		test('is rejected when a bit of it is changed or it has another form', async () => {
			const client = await connect();
			const bytes = Buffer.from(await begin(client, 'connect_account'), 'base64url');
			bytes[20] ^= 1;
			for (const state of [bytes.toString('base64url'), 'nonsense', '']) {
				await refuses(again(client, 'connect_account', state), state);
			}
		});

		test('can be used once', async () => {
			const client = await connect();
			const answer = await client.callRaw('buy_report', { args: {}, options: { allowInputRequired: true } });
			await pay(fixture, answer.inputRequests.urlmode.params.url);
			const results = await Promise.all([1, 2, 3].map(() => again(client, 'buy_report', answer.requestState)));
			// Until an answer was written, each is given the same one.
			assert.ok(results.map(textOf).includes('Paid with cs_test_1.'));
			await until('it is used', async () => (
				textOf(await again(client, 'buy_report', answer.requestState)) === 'Not done: another call has already used the outcome.'));
		});
	});
}
