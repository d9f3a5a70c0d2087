// The FrontMCP adapter with FrontMCP built from its sources, where FRONTMCP_DIR
// names them, and otherwise with a double of it.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import {
	elicitationsOf, goToCheckout, makeExampleProject, deleteElicitations, openAdapterFixture, pay, refuse, settle, signIn, rowState,
	startExample,
} from '../support/adapters.mjs';
import { describeBuild, FRONTMCP } from '../support/builds.mjs';
import { connectSdk1 } from '../support/clients.mjs';
import { frontMcpExample } from '../support/frontmcp.mjs';
import { example } from '../support/projects.mjs';
import { deferred, until } from '../support/wait.mjs';

const { example: files, tokenOf, env } = frontMcpExample();
const ADA = { token: tokenOf('ada@example.org') };
const GRACE = { token: tokenOf('grace@example.org') };

let fixture;
let project;
let instance;

before(async () => {
	fixture = await openAdapterFixture('frontmcp');
	project = makeExampleProject('frontmcp', 'newest', {
		...files, source: example('frontmcp.mjs').replaceAll('call: this,', 'call: this, progressEvery: 500,'),
	});
	instance = await startExample(fixture, project, { env: await env() });
});

after(() => fixture?.close());

beforeEach(() => deleteElicitations(fixture));

const connect = async (options = {}) => fixture.closeAtEnd(
	await connectSdk1(project, { url: instance.url, ...ADA, ...options }));

/** Until FrontMCP, which sends a request first, waits for its answer. Only the double says when. */
const frontMcpWaits = ({ elicitationId }) => (process.env.FRONTMCP_DIR ? sleep(500)
	: until('FrontMCP waits', () => instance.output.includes(`FrontMCP waits for the answer to ${elicitationId}`)));

const newest = async () => (await elicitationsOf(fixture, 'ada@example.org'))[0].id;

describe(describeBuild('FrontMCP', FRONTMCP['@frontmcp/sdk']), { timeout: 120_000 }, () => {
	test('a client that does not respond: FrontMCP\'s wait ends through its own channel', async () => {
		const held = deferred();
		const client = await connect({
			onElicit: async () => {
				await held.promise;
				return 'accept';
			},
		});
		const result = client.call('connect_account');
		await signIn(fixture, (await client.nextRequest()).url);
		assert.equal((await result).text, 'Connected the account of Ada Lovelace.');
		held.resolve();
	});

	test('a second elicitation in a session supersedes the first, whose call ends at once', async () => {
		const client = await connect({ onElicit: () => new Promise(() => {}) }); // a response would end FrontMCP's first wait
		const first = client.call('connect_account');
		await frontMcpWaits(await client.nextRequest());
		const second = client.call('buy_report');
		const { url } = await client.nextRequest();
		assert.match((await first).text, /a newer request replaced it|dismissed/);
		await pay(fixture, url);
		assert.equal((await second).text, 'Paid with cs_test_1.');
	});

	test('two sessions of a user ask for the same thing, and do not supersede each other', async () => {
		const [one, other] = [await connect(), await connect()];
		const results = [one.call('connect_account'), other.call('connect_account')];
		const urls = [];
		for (const client of [one, other]) urls.push((await client.nextRequest()).url);
		await signIn(fixture, urls[1]);
		const texts = (await Promise.all(results)).map(({ text }) => text).sort();
		assert.deepEqual(texts, ['Connected the account of Ada Lovelace.', 'Not done: another call has already used the outcome.']);
		assert.equal((await elicitationsOf(fixture, 'ada@example.org')).length, 1);
	});

	test('the client is sent the URL', async () => {
		const client = await connect();
		const result = client.call('buy_report');
		const request = await client.nextRequest();
		assert.equal(request.message, 'The report costs 10.50 EUR.');
		assert.equal(request.requestedSchema, undefined);
		const [{ item }] = await fixture.stack.sql('SELECT item FROM urlmode.elicitation WHERE id = $1', [await newest()]);
		assert.equal(item, 'buy_report', 'the tool with its arguments');
		await pay(fixture, request.url);
		await result;
	});

	test('a client without elicitation.url: FrontMCP asks by its own means, and its answer finds the row', async () => {
		const client = await connect({ capabilities: {} });
		const { text } = await client.call('buy_report');
		const url = /http:\S+/.exec(text)[0];
		const elicitId = /elicitId: "([^"]+)"/.exec(text)[1];
		assert.equal(await rowState(fixture, await newest()), 'pending');
		const id = await goToCheckout(fixture, url);
		assert.equal(id, await newest());
		const result = client.call('sendElicitationResult', { args: { elicitId, action: 'accept' } });
		await settle(fixture, id);
		assert.equal((await result).text, 'Paid with cs_test_1.');
		assert.equal((await elicitationsOf(fixture, 'ada@example.org')).length, 1);
	});

	test('a client that FrontMCP tells of the question: the first call ends with the answer, too', async () => {
		const client = await connect({ capabilities: { roots: {} } });
		const first = client.call('buy_report');
		const readQuestion = () => fixture.stack.sql("SELECT value FROM urlmode_frameworks.stored WHERE key LIKE 'mcp:elicit:fallback:%'");
		await until('the question is in PostgreSQL', async () => (await readQuestion()).length === 1);
		const [{ value }] = await readQuestion();
		const elicitId = await newest();
		const second = client.call('sendElicitationResult', { args: { elicitId, action: 'accept' } });
		await pay(fixture, /http:[^\s"\\]+/.exec(value)[0]);
		for (const result of [first, second]) assert.equal((await result).text, 'Paid with cs_test_1.');
		assert.equal((await elicitationsOf(fixture, 'ada@example.org')).length, 1);
	});

	test('an answer that another instance has received ends the wait', async () => {
		const client = await connect({ onElicit: () => new Promise(() => {}) });
		const result = client.call('buy_report');
		const { elicitationId } = await client.nextRequest();
		await frontMcpWaits({ elicitationId });
		await fixture.stack.sql('SELECT urlmode_frameworks.publish($1, $2)', [`mcp:elicit:result:${elicitationId}`, '{"status":"decline"}']);
		assert.match((await result).text, /The client did not open it: it declined[^]*http:\S+/);
		assert.equal(await rowState(fixture, await newest()), 'pending');
	});

	test('an answer by FrontMCP\'s own means ends the call, and the link stays', async () => {
		const client = await connect({ capabilities: {} });
		const elicitId = /elicitId: "([^"]+)"/.exec((await client.call('buy_report')).text)[1];
		const { text } = await client.call('sendElicitationResult', { args: { elicitId, action: 'decline' } });
		assert.match(text, /The client did not open it: it declined[^]*http:\S+/);
		assert.equal(await rowState(fixture, await newest()), 'pending');
	});

	test('a payment that nobody waited for is used by the next call, and by no other user\'s', async () => {
		const client = await connect();
		const controller = new AbortController();
		const first = client.call('buy_report', { signal: controller.signal });
		first.catch(() => {});
		const id = await goToCheckout(fixture, (await client.nextRequest()).url);
		controller.abort('enough');
		await until('the server waits no longer', () => instance.waitsFor(id) === 0); // a call that waits claims the payment
		await settle(fixture, id);
		const grace = await connect({ ...GRACE, onElicit: () => 'decline' });
		assert.match((await grace.call('buy_report')).text, /The client did not open it: it declined/);
		assert.equal((await client.call('buy_report')).text, 'Paid with cs_test_1.');
		assert.equal(client.requests.length, 1);
	});

	test('no entry remains in the store', async () => {
		await until('the store is empty', async () => (await fixture.stack.sql(
			"SELECT key FROM urlmode_frameworks.stored WHERE key LIKE 'mcp:elicit:pending:%' AND expires_at > now() + interval '310 seconds'")).length === 0);
	});
});
