// The adapter for the official SDK 2.x: protocol revision 2026-07-28 on two
// instances behind a load balancer without sticky sessions, and older clients
// with the same server.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import {
	elicitationsOf, makeExampleProject, deleteElicitations, openAdapterFixture, pay, refuse, settle, signIn, rowState, startExample,
} from '../support/adapters.mjs';
import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { startBalancer } from '../support/instances.mjs';
import { deferred, until } from '../support/wait.mjs';

const ADA = { token: 'token-of-ada' };
const GRACE = { token: 'token-of-grace' };

let fixture;

before(async () => {
	fixture = await openAdapterFixture('sdk2');
});

after(() => fixture?.close());

beforeEach(() => deleteElicitations(fixture));

for (const frameworks of ['newest', 'oldest']) {
	const project = makeExampleProject('sdk2', frameworks);
	const version = project.versionOf('@modelcontextprotocol/server');

	describe(`@modelcontextprotocol/server ${version}, 2026-07-28`, { timeout: 180_000 }, () => {
		let instances;
		let balancer;

		before(async () => {
			instances = await Promise.all([startExample(fixture, project), startExample(fixture, project)]);
			balancer = fixture.closeAtEnd(await startBalancer(instances.map(({ url }) => url)));
		});

		after(() => Promise.all((instances ?? []).map((instance) => instance.kill())));

		const connect = async (options = {}) => fixture.closeAtEnd(
			await connectSdk2(project, { url: balancer.url, ...ADA, ...options }));

		/** The newest elicitation of a user. */
		const newest = async (subject = 'ada@example.org') => (await elicitationsOf(fixture, subject))[0].id;

		test('oauth: the call is made on one instance and the retry on the other', async () => {
			const client = await connect();
			const first = balancer.seen.length;
			const result = client.call('connect_account');
			const { url, elicitationId, message } = await client.nextRequest();
			assert.equal(elicitationId, undefined, 'this protocol has no such thing');
			assert.equal(message, 'Connect your Demo Account.');
			await signIn(fixture, url);
			assert.deepEqual(await result, { text: 'Connected the account of Ada Lovelace.', isError: false });
			const [call, retry] = balancer.seen.slice(first);
			assert.notEqual(call, retry);
		});

		test('payment: the webhook completes it', async () => {
			const client = await connect();
			const result = client.call('buy_report');
			await pay(fixture, (await client.nextRequest()).url);
			assert.deepEqual(await result, { text: 'Paid with cs_test_1.', isError: false });
		});

		test('payment: a failed one returns the reason', async () => {
			const client = await connect();
			const result = client.call('buy_report');
			await pay(fixture, (await client.nextRequest()).url, 'failed');
			assert.deepEqual(await result, { text: 'Not done: the payment failed.', isError: true });
		});

		test('a client that responds only after completion', async () => {
			const over = deferred();
			const client = await connect({
				onElicit: async () => {
					await over.promise;
					return 'accept';
				},
			});
			const result = client.call('connect_account');
			await signIn(fixture, (await client.nextRequest()).url);
			over.resolve();
			assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
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

		test('the user refuses on the confirm page', async () => {
			const client = await connect();
			const result = client.call('connect_account');
			await refuse(fixture, (await client.nextRequest()).url);
			assert.deepEqual(await result, { text: 'Not done: the user refused.', isError: true });
		});

		test('a client that cancels its call cancels the elicitation', async () => {
			const client = await connect();
			const controller = new AbortController();
			const result = client.call('connect_account', { signal: controller.signal });
			await client.nextRequest();
			const id = await newest();
			await until('the retry waits', async () => instances.length > 0 && balancer.seen.length > 0);
			await new Promise((resolve) => setTimeout(resolve, 500));
			controller.abort('enough');
			await assert.rejects(result);
			await until('the row says so', async () => await rowState(fixture, id) === 'completed cancel client_gone');
		});

		test('after an instance was killed, the retry on another returns the outcome', async () => {
			const client = await connect({ onElicit: async () => {
				// The instance that was called is killed while the user is in the browser.
				const index = balancer.seen.at(-1);
				await instances[index].kill();
				balancer.drop(index);
				return 'accept';
			} });
			const result = client.call('connect_account');
			await signIn(fixture, (await client.nextRequest()).url);
			assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
			const dead = instances.findIndex((_, index) => index === balancer.seen.at(-2));
			instances[dead] = await startExample(fixture, project);
			await balancer.close();
			balancer = fixture.closeAtEnd(await startBalancer(instances.map(({ url }) => url)));
		});

		test('a client without elicitation.url gets the link as text, and its next call the outcome', async () => {
			for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }]) {
				const client = await connect({ capabilities });
				const { text, isError } = await client.call('connect_account');
				assert.equal(isError, false);
				assert.match(text, /Open this link[^]*call this tool again/);
				await signIn(fixture, /http:\S+/.exec(text)[0]);
				assert.equal((await client.call('connect_account')).text, 'Connected the account of Ada Lovelace.');
			}
		});

		test('progress is sent if the call has a progress token', async () => {
			const client = await connect();
			const heard = [];
			const result = client.call('buy_report', { onProgress: ({ message }) => heard.push(message) });
			const id = await pay(fixture, (await client.nextRequest()).url, 'processing');
			await until('it is heard', () => heard.includes('The provider is working on it.'));
			await settle(fixture, id, 'settled');
			assert.equal((await result).text, 'Paid with cs_test_1.');
		});

		describe('the handle in requestState', () => {
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
				assert.match(state, /^[\w-]{115}$/);
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
				const texts = results.map(textOf).sort();
				assert.deepEqual(texts, ['Not done: another call has already used the outcome.',
					'Not done: another call has already used the outcome.', 'Paid with cs_test_1.']);
			});
		});
	});

	describe(`@modelcontextprotocol/server ${version}, clients of 2025-11-25`, { timeout: 120_000 }, () => {
		let instance;

		before(async () => {
			instance = await startExample(fixture, project);
		});

		after(() => instance?.kill());

		for (const [kind, connectTo] of [
			['of the same SDK', (options) => connectSdk2(project, { ...options, legacy: true })],
			['of the SDK 1.x', (options) => connectSdk1(project, options)],
		]) {
			describe(kind, () => {
				const connect = async (options = {}) => fixture.closeAtEnd(await connectTo({ url: instance.url, ...ADA, ...options }));

				test('gets the request, and after the sign-in the notification', async () => {
					const client = await connect();
					const result = client.call('connect_account');
					const { url, elicitationId } = await client.nextRequest();
					await signIn(fixture, url);
					assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
					assert.deepEqual(client.completed, [elicitationId]);
					assert.equal(await rowState(fixture, elicitationId), 'completed accept');
				});

				test('may respond only after the notification', async () => {
					const told = deferred();
					const client = await connect({
						onElicit: async () => {
							await told.promise;
							return 'accept';
						},
					});
					const result = client.call('buy_report');
					await pay(fixture, (await client.nextRequest()).url);
					await until('it is told', () => client.completed.length === 1);
					told.resolve();
					assert.equal((await result).text, 'Paid with cs_test_1.');
				});

				test('declines for its user', async () => {
					const client = await connect({ onElicit: () => 'decline' });
					assert.equal((await client.call('connect_account')).text, 'Not done: the user refused.');
					assert.equal(await rowState(fixture, client.requests[0].elicitationId), 'completed decline refused');
				});

				test('cancels its request', async () => {
					const client = await connect();
					const controller = new AbortController();
					const result = client.call('connect_account', { signal: controller.signal });
					const { elicitationId } = await client.nextRequest();
					controller.abort('enough');
					await assert.rejects(result);
					await until('the row says so', async () => await rowState(fixture, elicitationId) === 'completed cancel aborted');
				});

				test('gets the link as text without elicitation.url', async () => {
					const client = await connect({ capabilities: {} });
					const { text } = await client.call('connect_account');
					await signIn(fixture, /http:\S+/.exec(text)[0]);
					assert.equal((await client.call('connect_account')).text, 'Connected the account of Ada Lovelace.');
				});
			});
		}

		test('an instance that is stopped cancels its elicitations and exits by itself', async () => {
			const client = fixture.closeAtEnd(await connectSdk2(project, { url: instance.url, ...ADA, legacy: true }));
			client.call('connect_account').catch(() => {});
			const { elicitationId } = await client.nextRequest();
			assert.equal(await instance.stop(), 0, instance.output);
			assert.equal(await rowState(fixture, elicitationId), 'completed cancel closed');
		});
	});
}
