// lynq, by a double of its documented interface: npm does not have it.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import {
	elicitationsOf, exampleProject, forgetAll, openAdapterFixture, pay, refuse, signIn, standing, startExample,
} from '../support/adapters.mjs';
import { connectSdk1 } from '../support/clients.mjs';
import { deferred, until } from '../support/wait.mjs';

const ADA = { token: 'token-of-ada' };

let fixture;
let project;
let a;
let b;

before(async () => {
	fixture = await openAdapterFixture('lynq');
	project = exampleProject('lynq', 'newest', { doubles: { '@lynq/lynq': 'lynq' } });
	[a, b] = await Promise.all([startExample(fixture, project), startExample(fixture, project)]);
});

after(() => fixture?.close());

beforeEach(() => forgetAll(fixture));

const connect = async (options = {}) => fixture.closeAtEnd(await connectSdk1(project, { url: a.url, ...ADA, ...options }));

const newest = async () => (await elicitationsOf(fixture, 'ada@example.org'))[0].id;

describe('lynq (a double)', { timeout: 120_000 }, () => {
	test('oauth(): the session gets its user, then the tool goes on; later calls need nothing', async () => {
		const client = await connect();
		const result = client.call('connect_account');
		const { url, elicitationId } = await client.nextAsked();
		await signIn(fixture, url);
		assert.deepEqual(await result, { text: 'Connected the account of Ada Lovelace.', isError: false });
		await until('the client is told', () => client.completed.length === 1);
		assert.deepEqual(client.completed, [elicitationId]);
		assert.equal((await client.call('connect_account')).text, 'Connected the account of Ada Lovelace.');
		assert.equal(client.asked.length, 1);
		assert.equal((await elicitationsOf(fixture, 'ada@example.org')).length, 1);
	});

	test('payment(): the webhook completes it', async () => {
		const client = await connect();
		const result = client.call('buy_report');
		await pay(fixture, (await client.nextAsked()).url);
		assert.equal((await result).text, 'Paid with cs_test_1.');
	});

	test('a refusal or a failure releases the tool at once, without the key', async () => {
		for (const [tool, end] of [['connect_account', refuse], ['buy_report', (_, url) => pay(fixture, url, 'failed')]]) {
			const client = await connect();
			const result = client.call(tool);
			const { url } = await client.nextAsked();
			const start = performance.now();
			await end(fixture, url);
			assert.deepEqual(await result, { text: 'Action was not completed.', isError: true });
			assert.ok(performance.now() - start < 5_000);
			await forgetAll(fixture);
		}
	});

	test('the user declines in the client: the row says so', async () => {
		const client = await connect({ onElicit: () => 'decline' });
		assert.deepEqual(await client.call('connect_account'), { text: 'Authentication cancelled.', isError: true });
		assert.equal(await standing(fixture, await newest()), 'completed decline refused');
	});

	test('the client cancels its call: the row says so', async () => {
		const client = await connect();
		const controller = new AbortController();
		const result = client.call('connect_account', { signal: controller.signal });
		await client.nextAsked();
		controller.abort('enough');
		await assert.rejects(result);
		// lynq itself waits on; what is released is the row, and with it lynq's wait.
		await until('the row says so', async () => (await standing(fixture, await newest())).startsWith('completed cancel'));
	});

	test('a client that holds its answer until it is told', async () => {
		const told = deferred();
		const client = await connect({
			onElicit: async () => {
				await told.promise;
				return 'accept';
			},
		});
		const result = client.call('connect_account');
		await signIn(fixture, (await client.nextAsked()).url);
		await until('it is told', () => client.completed.length === 1);
		told.resolve();
		assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
	});

	test('a killed instance: the call on another goes on with what was paid', async () => {
		const client = await connect();
		client.call('buy_report').catch(() => {});
		const { url } = await client.nextAsked();
		await a.kill();
		await pay(fixture, url);
		const other = await connect({ url: b.url });
		assert.equal((await other.call('buy_report')).text, 'Paid with cs_test_1.');
		assert.deepEqual(other.asked, []);
		a = await startExample(fixture, project);
	});

	test('a client without elicitation.url gets the link in words, and its next call goes on', async () => {
		const client = await connect({ capabilities: {} });
		const { text, isError } = await client.call('connect_account');
		assert.equal(isError, false);
		await signIn(fixture, /http:\S+/.exec(text)[0]);
		assert.equal((await client.call('connect_account')).text, 'Connected the account of Ada Lovelace.');
	});

	describe('elicitUrl, around c.elicit.url', () => {
		test('gives the outcome, each time anew', async () => {
			const client = await connect();
			for (let round = 0; round < 2; round += 1) {
				const result = client.call('buy_again');
				await pay(fixture, (await client.nextAsked()).url);
				assert.equal((await result).text, 'Paid with cs_test_1.');
			}
			assert.equal(new Set(client.asked.map(({ elicitationId }) => elicitationId)).size, 2);
		});

		test('releases lynq when the payment fails, and when the user declines', async () => {
			const client = await connect();
			const result = client.call('buy_again');
			await pay(fixture, (await client.nextAsked()).url, 'failed');
			assert.equal((await result).text, 'Not done: the payment failed.');
			const other = await connect({ onElicit: () => 'cancel' });
			assert.equal((await other.call('buy_again')).text, 'Not done: the user dismissed the request.');
			assert.equal(await standing(fixture, await newest()), 'completed cancel dismissed');
		});

		test('without elicitation.url: the link in words', async () => {
			const client = await connect({ capabilities: {} });
			const { text } = await client.call('buy_again');
			await pay(fixture, /http:\S+/.exec(text)[0]);
			assert.equal((await client.call('buy_again')).text, 'Paid with cs_test_1.');
		});
	});
});
