// The adapter for the official SDK 1.x: the README example as a server, with the
// official client, nginx, the programs and PostgreSQL.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import {
	elicitationsOf, makeExampleProject, deleteElicitations, goToCheckout, openAdapterFixture, pay, refuse, settle, signIn, rowState, startExample,
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

beforeEach(() => deleteElicitations(fixture));

for (const frameworks of ['newest', 'oldest']) {
	const project = makeExampleProject('sdk', frameworks);

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

		test('oauth: the user signs in, the client is notified, and the code is exchanged for real tokens', async () => {
			const client = await connect();
			const result = client.call('connect_account');
			const { url, elicitationId, message } = await client.nextRequest();
			assert.equal(message, 'Connect your Demo Account.');
			assert.match((await signIn(fixture, url)).text, /close this/i);
			assert.deepEqual(await result, { text: 'Connected the account of Ada Lovelace.', isError: false });
			assert.deepEqual(client.completed, [elicitationId]);
			assert.equal(await rowState(fixture, elicitationId), 'completed accept');
		});

		test('payment: the webhook completes it', async () => {
			const client = await connect();
			const result = client.call('buy_report');
			const { url } = await client.nextRequest();
			await pay(fixture, url);
			assert.deepEqual(await result, { text: 'Paid with cs_test_1.', isError: false });
		});

		test('payment: a failed one returns the reason', async () => {
			const client = await connect();
			const result = client.call('buy_report');
			const { url } = await client.nextRequest();
			await pay(fixture, url, 'failed');
			assert.deepEqual(await result, { text: 'Not done: the payment failed.', isError: true });
			assert.equal(client.completed.length, 1);
		});

		test('a client that responds only after the completion notification', async () => {
			const told = deferred();
			const client = await connect({
				onElicit: async () => {
					await told.promise;
					return 'accept';
				},
			});
			const result = client.call('connect_account');
			const { url } = await client.nextRequest();
			await signIn(fixture, url);
			await until('it is told', () => client.completed.length === 1);
			told.resolve();
			assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
		});

		test('only the session of the call is notified', async () => {
			const client = await connect();
			const other = await connect();
			const stranger = await connect(GRACE);
			const result = client.call('connect_account');
			await signIn(fixture, (await client.nextRequest()).url);
			await result;
			assert.equal(client.completed.length, 1);
			assert.deepEqual([other.completed, stranger.completed], [[], []]);
		});

		for (const [answer, expected, row] of [
			['decline', 'Not done: the user refused.', 'completed decline refused'],
			['cancel', 'Not done: the user dismissed the request.', 'completed cancel dismissed'],
		]) {
			test(`the user answers ${answer}: the call ends at once, and the row has the same outcome`, async () => {
				const client = await connect({ onElicit: () => answer });
				const start = performance.now();
				assert.deepEqual(await client.call('connect_account'), { text: expected, isError: true });
				assert.ok(performance.now() - start < 3_000);
				assert.equal(await rowState(fixture, client.requests[0].elicitationId), row);
				assert.deepEqual(client.completed, []);
			});
		}

		test('the user refuses on the confirm page', async () => {
			const client = await connect();
			const result = client.call('connect_account');
			await refuse(fixture, (await client.nextRequest()).url);
			assert.deepEqual(await result, { text: 'Not done: the user refused.', isError: true });
			assert.equal(await rowState(fixture, client.requests[0].elicitationId), 'completed decline access_denied');
		});

		test('a client that cancels its request cancels the elicitation', async () => {
			const client = await connect();
			const controller = new AbortController();
			const result = client.call('connect_account', { signal: controller.signal });
			const { elicitationId } = await client.nextRequest();
			controller.abort('enough');
			await assert.rejects(result);
			await until('the row says so', async () => await rowState(fixture, elicitationId) === 'completed cancel aborted');
		});

		test('a client that ends its session cancels the elicitation', async () => {
			const client = await connect();
			const result = client.call('connect_account');
			result.catch(() => {});
			const { elicitationId } = await client.nextRequest();
			await client.endSession();
			await until('the row says so', async () => await rowState(fixture, elicitationId) === 'completed cancel client_gone');
		});

		test('progress is sent if the call has a progress token', async () => {
			const client = await connect();
			const heard = [];
			const result = client.call('buy_report', { onProgress: ({ message }) => heard.push(message) });
			const { url } = await client.nextRequest();
			const id = await goToCheckout(fixture, url);
			await until('the first is heard', () => heard.length >= 1);
			await settle(fixture, id, 'processing');
			await until('both are heard', () => heard.length >= 2);
			await settle(fixture, id, 'settled');
			await result;
			assert.deepEqual(heard, ['The page is open in the browser.', 'The provider is working on it.']);
		});

		test('a client without elicitation.url gets the link as text, and its next call the outcome', async () => {
			const client = await connect({ capabilities: {} });
			const first = await client.call('connect_account');
			assert.equal(first.isError, false);
			assert.match(first.text, /Connect your Demo Account\.[^]*Open this link[^]*call this tool again/);
			const [url] = /http:\S+/.exec(first.text);
			await signIn(fixture, url);
			assert.equal((await client.call('connect_account')).text, 'Connected the account of Ada Lovelace.');
			assert.match((await client.call('connect_account')).text, /Open this link/, 'it was used');
		});

		test('a client whose elicitation capability is {} gets the link as text', async () => {
			const client = await connect({ capabilities: { elicitation: {} } });
			assert.match((await client.call('connect_account')).text, /Open this link/);
			assert.deepEqual(client.requests, []);
		});

		describe('-32042', () => {
			const required = (error) => {
				assert.equal(error.code, -32042);
				const [elicitation] = error.data.elicitations;
				assert.equal(elicitation.mode, 'url');
				return elicitation;
			};

			test('the error is thrown once, the client is notified, and its next call returns the outcome', async () => {
				const client = await connect();
				const elicitation = await client.call('read_report').then(() => assert.fail('it was not thrown'), required);
				await pay(fixture, elicitation.url);
				await until('the client is notified', () => client.completed.length === 1);
				assert.deepEqual(client.completed, [elicitation.elicitationId]);
				assert.equal((await client.call('read_report')).text, 'Paid with cs_test_1.');
				await client.call('read_report').then(() => assert.fail('read twice for one payment'), required);
				for (const { id } of await elicitationsOf(fixture, 'ada@example.org')) {
					await fixture.urlmode.abandon(id, { subject: 'ada@example.org' });
				}
			});

			test('the next call may be on another instance in another session', async () => {
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

			test('another user cannot use the elicitation', async () => {
				const client = await connect(GRACE);
				const elicitation = await client.call('read_report').then(() => assert.fail('it was not thrown'), required);
				await pay(fixture, elicitation.url);
				const other = await connect(ADA);
				const another = await other.call('read_report').then(() => assert.fail('it was not thrown'), required);
				assert.notEqual(another.elicitationId, elicitation.elicitationId);
				assert.equal((await client.call('read_report')).text, 'Paid with cs_test_1.');
			});
		});

		test('after an instance was killed, a call on another resumes its elicitation', async () => {
			const client = await connect(GRACE);
			const result = client.call('buy_report');
			result.catch(() => {});
			const { url, elicitationId } = await client.nextRequest();
			await a.kill();
			const other = await connect({ ...GRACE, url: b.url });
			const again = other.call('buy_report');
			assert.equal((await other.nextRequest()).elicitationId, elicitationId);
			await pay(fixture, url);
			assert.equal((await again).text, 'Paid with cs_test_1.');
			a = await startExample(fixture, project);
		});

		test('an instance that is stopped cancels its elicitations and exits by itself', async () => {
			const client = await connect();
			const result = client.call('connect_account');
			result.catch(() => {});
			const { elicitationId } = await client.nextRequest();
			const start = performance.now();
			assert.equal(await a.stop(), 0, a.output);
			assert.ok(performance.now() - start < 5_000);
			assert.equal(await rowState(fixture, elicitationId), 'completed cancel closed');
			a = await startExample(fixture, project);
		});
	});
}
