// FrontMCP, by a double of its documented interface: npm does not have it.

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
let instance;

before(async () => {
	fixture = await openAdapterFixture('frontmcp');
	project = exampleProject('frontmcp', 'newest', { doubles: { '@frontmcp/sdk': 'frontmcp' } });
	instance = await startExample(fixture, project);
});

after(() => fixture?.close());

beforeEach(() => forgetAll(fixture));

const connect = async (options = {}) => fixture.closeAtEnd(
	await connectSdk1(project, { url: instance.url, ...ADA, ...options }));

const newest = async () => (await elicitationsOf(fixture, 'ada@example.org'))[0].id;

describe('FrontMCP (a double)', { timeout: 120_000 }, () => {
	test('oauth: asked, signed in, and the code exchanged for real tokens', async () => {
		const client = await connect();
		const result = client.call('connect_account');
		await signIn(fixture, (await client.nextAsked()).url);
		assert.deepEqual(await result, { text: 'Connected the account of Ada Lovelace.', isError: false });
	});

	test('payment: paid, and failed', async () => {
		const client = await connect();
		for (const [what, text] of [['paid', 'Paid with cs_test_1.'], ['failed', 'Not done: the payment failed.']]) {
			const result = client.call('buy_report');
			await pay(fixture, (await client.nextAsked()).url, what);
			assert.equal((await result).text, text);
		}
	});

	test('a client that holds its answer: FrontMCP is released by its own channel', async () => {
		const held = deferred();
		const client = await connect({
			onElicit: async () => {
				await held.promise;
				return 'accept';
			},
		});
		const result = client.call('connect_account');
		await signIn(fixture, (await client.nextAsked()).url);
		assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
		held.resolve();
	});

	for (const [answer, text, row] of [
		['decline', 'Not done: the user refused.', 'completed decline refused'],
		['cancel', 'Not done: the user dismissed the request.', 'completed cancel dismissed'],
	]) {
		test(`the user answers ${answer}`, async () => {
			const client = await connect({ onElicit: () => answer });
			assert.deepEqual(await client.call('connect_account'), { text, isError: true });
			assert.equal(await standing(fixture, await newest()), row);
		});
	}

	test('the user refuses on the confirm page', async () => {
		const client = await connect();
		const result = client.call('connect_account');
		await refuse(fixture, (await client.nextAsked()).url);
		assert.equal((await result).text, 'Not done: the user refused.');
	});

	test('one open elicitation a session: the earlier one is superseded, and its call ends at once', async () => {
		const client = await connect();
		const first = client.call('connect_account');
		await client.nextAsked();
		const second = client.call('buy_report');
		const { url } = await client.nextAsked();
		assert.match((await first).text, /a newer request took its place|dismissed/);
		await pay(fixture, url);
		assert.equal((await second).text, 'Paid with cs_test_1.');
	});

	test('sessions of the same user do not supersede each other', async () => {
		const [one, other] = [await connect(), await connect()];
		const results = [one.call('connect_account'), other.call('connect_account')];
		for (const client of [one, other]) {
			await signIn(fixture, (await client.nextAsked()).url);
		}
		for (const result of results) {
			assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
		}
	});

	test('nothing stays in the store', async () => {
		await until('the store is empty', async () => (await fixture.stack.sql(
			"SELECT key FROM urlmode.stored WHERE key LIKE 'mcp:elicit:pending:%' AND expires_at > now() + interval '310 seconds'")).length === 0);
	});
});
