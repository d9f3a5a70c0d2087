// The official SDK 1.x: the example of the README as a server of its own, the
// official client, nginx, the programs and PostgreSQL.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import {
	elicitationsOf, exampleProject, forgetAll, openAdapterFixture, pay, refuse, settle, signIn, standing, startExample,
} from '../support/adapters.mjs';
import { connectSdk1 } from '../support/clients.mjs';
import { deferred, until } from '../support/wait.mjs';

const ADA = { token: 'token-of-ada' };
const GRACE = { token: 'token-of-grace' };

let fixture;

before(async () => {
	fixture = await openAdapterFixture('sdk');
});

after(() => fixture?.close());

beforeEach(() => forgetAll(fixture));

for (const frameworks of ['newest', 'oldest']) {
	const project = exampleProject('sdk', frameworks);

	describe(`@modelcontextprotocol/sdk ${project.versionOf('@modelcontextprotocol/sdk')}`, { timeout: 120_000 }, () => {
		let a;
		let b;

		before(async () => {
			[a, b] = await Promise.all([startExample(fixture, project), startExample(fixture, project)]);
		});

		after(async () => {
			await Promise.all([a?.kill(), b?.kill()]);
		});

		const connect = async (options = {}) => fixture.closeAtEnd(await connectSdk1(project, { url: a.url, ...ADA, ...options }));

		test('oauth: asked, signed in, told, and the code exchanged for real tokens', async () => {
			const client = await connect();
			const result = client.call('connect_account');
			const { url, elicitationId, message } = await client.nextAsked();
			assert.equal(message, 'Connect your Demo Account.');
			assert.match((await signIn(fixture, url)).text, /close this/i);
			assert.deepEqual(await result, { text: 'Connected the account of Ada Lovelace.', isError: false });
			assert.deepEqual(client.completed, [elicitationId]);
			assert.equal(await standing(fixture, elicitationId), 'completed accept');
		});

		test('payment: the webhook completes it', async () => {
			const client = await connect();
			const result = client.call('buy_report');
			const { url } = await client.nextAsked();
			await pay(fixture, url);
			assert.deepEqual(await result, { text: 'Paid with cs_test_1.', isError: false });
		});

		test('payment that fails', async () => {
			const client = await connect();
			const result = client.call('buy_report');
			const { url } = await client.nextAsked();
			await pay(fixture, url, 'failed');
			assert.deepEqual(await result, { text: 'Not done: the payment failed.', isError: true });
			assert.equal(client.completed.length, 1);
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
			const { url } = await client.nextAsked();
			await signIn(fixture, url);
			await until('it is told', () => client.completed.length === 1);
			told.resolve();
			assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
		});

		test('only the session that asked is told', async () => {
			const client = await connect();
			const other = await connect();
			const stranger = await connect(GRACE);
			const result = client.call('connect_account');
			await signIn(fixture, (await client.nextAsked()).url);
			await result;
			assert.equal(client.completed.length, 1);
			assert.deepEqual([other.completed, stranger.completed], [[], []]);
		});

		for (const [answer, expected, row] of [
			['decline', 'Not done: the user refused.', 'completed decline refused'],
			['cancel', 'Not done: the user dismissed the request.', 'completed cancel dismissed'],
		]) {
			test(`the user answers ${answer}: at once, and the row says so`, async () => {
				const client = await connect({ onElicit: () => answer });
				const start = performance.now();
				assert.deepEqual(await client.call('connect_account'), { text: expected, isError: true });
				assert.ok(performance.now() - start < 3_000);
				assert.equal(await standing(fixture, client.asked[0].elicitationId), row);
				assert.deepEqual(client.completed, []);
			});
		}

		test('the user refuses on the confirm page', async () => {
			const client = await connect();
			const result = client.call('connect_account');
			await refuse(fixture, (await client.nextAsked()).url);
			assert.deepEqual(await result, { text: 'Not done: the user refused.', isError: true });
			assert.equal(await standing(fixture, client.asked[0].elicitationId), 'completed decline access_denied');
		});

		test('the client cancels its request', async () => {
			const client = await connect();
			const controller = new AbortController();
			const result = client.call('connect_account', { signal: controller.signal });
			const { elicitationId } = await client.nextAsked();
			controller.abort('enough');
			await assert.rejects(result);
			await until('the row says so', async () => await standing(fixture, elicitationId) === 'completed cancel aborted');
		});

		test('the client ends its session', async () => {
			const client = await connect();
			const result = client.call('connect_account');
			result.catch(() => {});
			const { elicitationId } = await client.nextAsked();
			await client.endSession();
			await until('the row says so', async () => await standing(fixture, elicitationId) === 'completed cancel client_gone');
		});

		test('progress is told where it is asked for', async () => {
			const client = await connect();
			const heard = [];
			const result = client.call('buy_report', { onProgress: ({ message }) => heard.push(message) });
			const { url } = await client.nextAsked();
			const id = await pay(fixture, url, 'processing');
			await until('both are heard', () => heard.length >= 2);
			await settle(fixture, id, 'settled');
			await result;
			assert.deepEqual(heard, ['The page is open in the browser.', 'The provider is working on it.']);
		});

		test('a client without elicitation.url gets the link in words, and its next call goes on', async () => {
			const client = await connect({ capabilities: {} });
			const first = await client.call('connect_account');
			assert.equal(first.isError, false);
			assert.match(first.text, /Connect your Demo Account\.[^]*Open this link[^]*call this tool again/);
			const [url] = /http:\S+/.exec(first.text);
			await signIn(fixture, url);
			assert.equal((await client.call('connect_account')).text, 'Connected the account of Ada Lovelace.');
			assert.match((await client.call('connect_account')).text, /Open this link/, 'it was used');
		});

		test('a client whose elicitation is a bare {} cannot be sent to a URL', async () => {
			const client = await connect({ capabilities: { elicitation: {} } });
			assert.match((await client.call('connect_account')).text, /Open this link/);
			assert.deepEqual(client.asked, []);
		});

		describe('-32042', () => {
			const required = (error) => {
				assert.equal(error.code, -32042);
				const [elicitation] = error.data.elicitations;
				assert.equal(elicitation.mode, 'url');
				return elicitation;
			};

			test('thrown once; the client is told; the call after it goes on', async () => {
				const client = await connect();
				const elicitation = await client.call('read_report').then(() => assert.fail('it was not thrown'), required);
				await pay(fixture, elicitation.url);
				await until('the client is told', () => client.completed.length === 1);
				assert.deepEqual(client.completed, [elicitation.elicitationId]);
				assert.equal((await client.call('read_report')).text, 'Paid with cs_test_1.');
				await client.call('read_report').then(() => assert.fail('read twice for one payment'), required);
				for (const { id } of await elicitationsOf(fixture, 'ada@example.org')) {
					await fixture.urlmode.abandon(id, { subject: 'ada@example.org' });
				}
			});

			test('on another instance, in another session', async () => {
				const client = await connect(GRACE);
				const elicitation = await client.call('read_report').then(() => assert.fail('it was not thrown'), required);
				await a.kill();
				await pay(fixture, elicitation.url);
				const other = await connect({ ...GRACE, url: b.url });
				assert.equal((await other.call('read_report')).text, 'Paid with cs_test_1.');
				a = await startExample(fixture, project);
			});

			test('a client that calls again too early waits', async () => {
				const client = await connect(GRACE);
				const elicitation = await client.call('read_report').then(() => assert.fail('it was not thrown'), required);
				const again = client.call('read_report');
				await pay(fixture, elicitation.url);
				assert.equal((await again).text, 'Paid with cs_test_1.');
			});

			test('another user does not go on with it', async () => {
				const client = await connect(GRACE);
				const elicitation = await client.call('read_report').then(() => assert.fail('it was not thrown'), required);
				await pay(fixture, elicitation.url);
				const other = await connect(ADA);
				const another = await other.call('read_report').then(() => assert.fail('it was not thrown'), required);
				assert.notEqual(another.elicitationId, elicitation.elicitationId);
				assert.equal((await client.call('read_report')).text, 'Paid with cs_test_1.');
			});
		});

		test('a killed instance: the call on another goes on with what it asked', async () => {
			const client = await connect(GRACE);
			const result = client.call('buy_report');
			result.catch(() => {});
			const { url, elicitationId } = await client.nextAsked();
			await a.kill();
			const other = await connect({ ...GRACE, url: b.url });
			const again = other.call('buy_report');
			assert.equal((await other.nextAsked()).elicitationId, elicitationId);
			await pay(fixture, url);
			assert.equal((await again).text, 'Paid with cs_test_1.');
			a = await startExample(fixture, project);
		});

		test('an instance that is stopped: its waits end, their rows say so, and it ends by itself', async () => {
			const client = await connect();
			const result = client.call('connect_account');
			result.catch(() => {});
			const { elicitationId } = await client.nextAsked();
			const start = performance.now();
			assert.equal(await a.stop(), 0, a.output);
			assert.ok(performance.now() - start < 5_000);
			assert.equal(await standing(fixture, elicitationId), 'completed cancel closed');
			a = await startExample(fixture, project);
		});
	});
}
