// The lynq adapter with lynq built from its sources, where LYNQ_DIR names them,
// and otherwise with a double of it.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import {
	elicitationsOf, goToCheckout, makeExampleProject, deleteElicitations, openAdapterFixture, pay, PRICE, refuse, settle, signIn, rowState,
	startExample,
} from '../support/adapters.mjs';
import { describeBuild, LYNQ } from '../support/builds.mjs';
import { connectSdk1 } from '../support/clients.mjs';
import { example } from '../support/projects.mjs';
import { deferred, until } from '../support/wait.mjs';

const ADA = { token: 'token-of-ada' };

let fixture;
let project;
let a;
let b;

before(async () => {
	fixture = await openAdapterFixture('lynq');
	project = makeExampleProject('lynq', 'newest', { doubles: LYNQ, source: example('lynq-hono.mjs') });
	[a, b] = await Promise.all([startExample(fixture, project), startExample(fixture, project)]);
});

after(() => fixture?.close());

beforeEach(() => deleteElicitations(fixture));

const connect = async (options = {}) => fixture.closeAtEnd(await connectSdk1(project, { url: a.url, ...ADA, ...options }));

const newest = async () => (await elicitationsOf(fixture, 'ada@example.org'))[0].id;

describe(describeBuild('lynq', LYNQ['@lynq/lynq']), { timeout: 120_000 }, () => {
	test('oauth(): the session gets its user, the tool runs, and later calls need no elicitation', async () => {
		const client = await connect();
		const result = client.call('connect_account');
		const { url, elicitationId } = await client.nextRequest();
		await signIn(fixture, url);
		assert.deepEqual(await result, { text: 'Connected the account of Ada Lovelace.', isError: false });
		await until('the client is told', () => client.completed.length === 1);
		assert.deepEqual(client.completed, [elicitationId]);
		assert.equal((await client.call('connect_account')).text, 'Connected the account of Ada Lovelace.');
		assert.equal(client.requests.length, 1);
		assert.equal((await elicitationsOf(fixture, 'ada@example.org')).length, 1);
	});

	test('payment(): the webhook completes it', async () => {
		const client = await connect();
		const result = client.call('buy_report');
		await pay(fixture, (await client.nextRequest()).url);
		assert.equal((await result).text, 'Paid with cs_test_1.');
	});

	test('a refusal or a failure ends the wait at once without a value in the session', async () => {
		for (const [tool, text, end] of [
			['connect_account', 'Authentication cancelled.', refuse],
			['buy_report', 'Not done: the payment failed.', (_, url) => pay(fixture, url, 'failed')],
		]) {
			const client = await connect();
			const result = client.call(tool);
			const { url } = await client.nextRequest();
			const start = performance.now();
			await end(fixture, url);
			assert.deepEqual(await result, { text, isError: true });
			assert.ok(performance.now() - start < 20_000, 'not a round');
			await deleteElicitations(fixture);
		}
	});

	test('a client that declines gets the link, and the elicitation stays', async () => {
		const client = await connect({ onElicit: () => 'decline' });
		const { text, isError } = await client.call('connect_account');
		assert.match(text, /The client did not open it: it declined[^]*http:\S+/);
		assert.deepEqual([isError, await rowState(fixture, await newest())], [false, 'pending']);
	});

	test('after an instance was killed, a call on another uses the payment', async () => {
		const client = await connect();
		client.call('buy_report').catch(() => {});
		const { url } = await client.nextRequest();
		await a.kill();
		await pay(fixture, url);
		const other = await connect({ url: b.url });
		assert.equal((await other.call('buy_report')).text, 'Paid with cs_test_1.');
		assert.deepEqual(other.requests, []);
		a = await startExample(fixture, project);
	});

	test('a client without elicitation.url gets the link as text, and its next call the outcome', async () => {
		const client = await connect({ capabilities: {} });
		const { text, isError } = await client.call('connect_account');
		assert.equal(isError, false);
		await signIn(fixture, /http:\S+/.exec(text)[0]);
		assert.equal((await client.call('connect_account')).text, 'Connected the account of Ada Lovelace.');
	});

	test('who has no token is answered 401, who has another user\'s session 404, and a web page 403', async () => {
		const client = await connect();
		const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
		const statusOf = async (headers) => (await fetch(a.url, {
			method: 'POST', body,
			headers: {
				'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
				'mcp-session-id': client.sessionId, ...headers,
			},
		})).status;
		const over = new AbortController();
		const ended = assert.rejects(client.call('buy_again', { signal: over.signal }));
		await client.nextRequest();
		over.abort();
		await ended;
		assert.equal(await statusOf({}), 401);
		assert.equal(await statusOf({ Authorization: 'Bearer token-of-grace' }), 404);
		assert.equal(await statusOf({ Authorization: 'Bearer token-of-ada', Origin: 'https://evil.example' }), 403);
		assert.equal(await statusOf({ Authorization: 'Bearer token-of-ada' }), 200);
	});

	test('on Express: the tool runs once it is paid', async () => {
		const express = makeExampleProject('lynq-express', 'newest', { doubles: LYNQ, source: example('lynq-express.mjs') });
		const { url } = await startExample(fixture, express);
		// Not Ada, whose cancelled call for the same thing may not have ended yet.
		const client = await connect({ url, token: 'token-of-grace' });
		const messages = [];
		const result = client.call('buy_report', { onProgress: ({ message }) => messages.push(message) });
		const id = await goToCheckout(fixture, (await client.nextRequest()).url);
		await until('it is told', () => messages.includes('The page is open in the browser.'));
		await settle(fixture, id);
		assert.equal((await result).text, 'Paid with cs_test_1.');
		assert.equal((await fetch(url, { method: 'POST' })).status, 401);
	});
});
