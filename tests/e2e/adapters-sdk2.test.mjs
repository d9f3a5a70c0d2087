// The official SDK 2.x: protocol revision 2026-07-28 on two instances behind
// a balancer that is not sticky, and older clients over the same server.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import {
	elicitationsOf, exampleProject, forgetAll, openAdapterFixture, pay, refuse, settle, signIn, standing, startExample,
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

beforeEach(() => forgetAll(fixture));

for (const frameworks of ['newest', 'oldest']) {
	const project = exampleProject('sdk2', frameworks);
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

		test('oauth: the call on one instance, the retry on the other', async () => {
			const client = await connect();
			const first = balancer.seen.length;
			const result = client.call('connect_account');
			const { url, elicitationId, message } = await client.nextAsked();
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
			await pay(fixture, (await client.nextAsked()).url);
			assert.deepEqual(await result, { text: 'Paid with cs_test_1.', isError: false });
		});

		test('payment that fails', async () => {
			const client = await connect();
			const result = client.call('buy_report');
			await pay(fixture, (await client.nextAsked()).url, 'failed');
			assert.deepEqual(await result, { text: 'Not done: the payment failed.', isError: true });
		});

		test('a client that holds its answer until all is over', async () => {
			const over = deferred();
			const client = await connect({
				onElicit: async () => {
					await over.promise;
					return 'accept';
				},
			});
			const result = client.call('connect_account');
			await signIn(fixture, (await client.nextAsked()).url);
			over.resolve();
			assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
		});

		for (const [answer, expected, row] of [
			['decline', 'Not done: the user refused.', 'completed decline refused'],
			['cancel', 'Not done: the user dismissed the request.', 'completed cancel dismissed'],
		]) {
			test(`the user answers ${answer}`, async () => {
				const client = await connect({ onElicit: () => answer });
				assert.deepEqual(await client.call('connect_account'), { text: expected, isError: true });
				assert.equal(await standing(fixture, await newest()), row);
			});
		}

		test('the user refuses on the confirm page', async () => {
			const client = await connect();
			const result = client.call('connect_account');
			await refuse(fixture, (await client.nextAsked()).url);
			assert.deepEqual(await result, { text: 'Not done: the user refused.', isError: true });
		});

		test('the client cancels its call', async () => {
			const client = await connect();
			const controller = new AbortController();
			const result = client.call('connect_account', { signal: controller.signal });
			await client.nextAsked();
			const id = await newest();
			await until('the retry waits', async () => instances.length > 0 && balancer.seen.length > 0);
			await new Promise((resolve) => setTimeout(resolve, 500));
			controller.abort('enough');
			await assert.rejects(result);
			await until('the row says so', async () => await standing(fixture, id) === 'completed cancel client_gone');
		});

		test('a killed instance: the retry goes to another', async () => {
			const client = await connect({ onElicit: async () => {
				// The instance that was called dies while the user is away.
				const index = balancer.seen.at(-1);
				await instances[index].kill();
				balancer.drop(index);
				return 'accept';
			} });
			const result = client.call('connect_account');
			await signIn(fixture, (await client.nextAsked()).url);
			assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
			const dead = instances.findIndex((_, index) => index === balancer.seen.at(-2));
			instances[dead] = await startExample(fixture, project);
			await balancer.close();
			balancer = fixture.closeAtEnd(await startBalancer(instances.map(({ url }) => url)));
		});

		test('a client that cannot be sent to a URL gets the link in words, and its next call goes on', async () => {
			for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }]) {
				const client = await connect({ capabilities });
				const { text, isError } = await client.call('connect_account');
				assert.equal(isError, false);
				assert.match(text, /Open this link[^]*call this tool again/);
				await signIn(fixture, /http:\S+/.exec(text)[0]);
				assert.equal((await client.call('connect_account')).text, 'Connected the account of Ada Lovelace.');
			}
		});

		test('progress is told where it is asked for', async () => {
			const client = await connect();
			const heard = [];
			const result = client.call('buy_report', { onProgress: ({ message }) => heard.push(message) });
			const id = await pay(fixture, (await client.nextAsked()).url, 'processing');
			await until('it is heard', () => heard.includes('The provider is working on it.'));
			await settle(fixture, id, 'settled');
			assert.equal((await result).text, 'Paid with cs_test_1.');
		});

		describe('the handle in requestState', () => {
			/** A first call, by hand: what the server answers to it. */
			async function begin(client, name) {
				const answer = await client.callRaw(name, { args: {}, options: { allowInputRequired: true } });
				assert.equal(answer.resultType, 'input_required');
				return answer.requestState;
			}

			const again = (client, name, requestState) => client.callWith({
				name, arguments: {}, inputResponses: { urlmode: { action: 'accept' } }, requestState,
			}, { allowInputRequired: true });

			const textOf = (result) => result.content[0].text;

			test('is no secret of the elicitation, and good for its user alone', async () => {
				const client = await connect();
				const state = await begin(client, 'connect_account');
				assert.match(state, /^[\w-]{115}$/);
				assert.ok(!Buffer.from(state, 'base64url').includes('ada'));
				const grace = await connect(GRACE);
				assert.match(textOf(await again(grace, 'connect_account', state)), /does not belong/);
			});

			test('is good for what it was given for alone', async () => {
				const client = await connect();
				const state = await begin(client, 'connect_account');
				assert.match(textOf(await again(client, 'buy_report', state)), /does not belong/);
			});

			test('is refused when a bit of it is changed, and when it is no handle at all', async () => {
				const client = await connect();
				const bytes = Buffer.from(await begin(client, 'connect_account'), 'base64url');
				bytes[20] ^= 1;
				for (const state of [bytes.toString('base64url'), 'nonsense', '']) {
					assert.match(textOf(await again(client, 'connect_account', state)), /does not belong/, state);
				}
			});

			test('is used once', async () => {
				const client = await connect();
				const answer = await client.callRaw('buy_report', { args: {}, options: { allowInputRequired: true } });
				await pay(fixture, answer.inputRequests.urlmode.params.url);
				const results = await Promise.all([1, 2, 3].map(() => again(client, 'buy_report', answer.requestState)));
				const texts = results.map(textOf).sort();
				assert.deepEqual(texts, ['Not done: an earlier call went on with it.',
					'Not done: an earlier call went on with it.', 'Paid with cs_test_1.']);
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

				test('asked, signed in, told', async () => {
					const client = await connect();
					const result = client.call('connect_account');
					const { url, elicitationId } = await client.nextAsked();
					await signIn(fixture, url);
					assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
					assert.deepEqual(client.completed, [elicitationId]);
					assert.equal(await standing(fixture, elicitationId), 'completed accept');
				});

				test('holds its answer until it is told', async () => {
					const told = deferred();
					const client = await connect({
						onElicit: async () => {
							await told.promise;
							return 'accept';
						},
					});
					const result = client.call('buy_report');
					await pay(fixture, (await client.nextAsked()).url);
					await until('it is told', () => client.completed.length === 1);
					told.resolve();
					assert.equal((await result).text, 'Paid with cs_test_1.');
				});

				test('its user declines', async () => {
					const client = await connect({ onElicit: () => 'decline' });
					assert.equal((await client.call('connect_account')).text, 'Not done: the user refused.');
					assert.equal(await standing(fixture, client.asked[0].elicitationId), 'completed decline refused');
				});

				test('cancels its request', async () => {
					const client = await connect();
					const controller = new AbortController();
					const result = client.call('connect_account', { signal: controller.signal });
					const { elicitationId } = await client.nextAsked();
					controller.abort('enough');
					await assert.rejects(result);
					await until('the row says so', async () => await standing(fixture, elicitationId) === 'completed cancel aborted');
				});

				test('without elicitation.url it gets the link in words', async () => {
					const client = await connect({ capabilities: {} });
					const { text } = await client.call('connect_account');
					await signIn(fixture, /http:\S+/.exec(text)[0]);
					assert.equal((await client.call('connect_account')).text, 'Connected the account of Ada Lovelace.');
				});
			});
		}

		test('an instance that is stopped: its waits end, their rows say so, and it ends by itself', async () => {
			const client = fixture.closeAtEnd(await connectSdk2(project, { url: instance.url, ...ADA, legacy: true }));
			client.call('connect_account').catch(() => {});
			const { elicitationId } = await client.nextAsked();
			assert.equal(await instance.stop(), 0, instance.output);
			assert.equal(await standing(fixture, elicitationId), 'completed cancel closed');
		});
	});
}
