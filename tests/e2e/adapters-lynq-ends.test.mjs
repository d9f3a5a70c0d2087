// How calls of lynq's tools end, with lynq built from its sources, where LYNQ_DIR
// names them, and otherwise with a double of it.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import {
	elicitationsOf, goToCheckout, makeExampleProject, deleteElicitations, openAdapterFixture, pay, PRICE, settle, signIn, rowState,
	startExample,
} from '../support/adapters.mjs';
import { describeBuild, LYNQ } from '../support/builds.mjs';
import { connectSdk1 } from '../support/clients.mjs';
import { deferred, until } from '../support/wait.mjs';

const ADA = { token: 'token-of-ada' };
const GRACE = { token: 'token-of-grace' };

const SERVER = `
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { serve } from '@hono/node-server';
import { createMCPServer } from '@lynq/lynq';
import { oauth } from '@lynq/lynq/oauth';
import { payment } from '@lynq/lynq/payment';
import { buildAuthorizationUrl } from 'openid-client';
import { UrlMode } from 'urlmode';
import { forSession, withElicitation } from 'urlmode/lynq';

import { configuration, createCheckout, subjectOf } from './app.mjs';

const urlmode = new UrlMode({
	databaseUrl: process.env.URLMODE_DATABASE_URL,
	keysFile: process.env.URLMODE_KEYS_FILE,
	baseUrl: process.env.URLMODE_BASE_URL,
});
const server = createMCPServer({ name: 'ends', version: '1.0.0' });
const callers = new AsyncLocalStorage();
const subject = () => callers.getStore();
const price = {
	urlmode, subject, provider: 'stripe', kind: 'payment', item: 'report:42', expected: { amount: 1050, currency: 'EUR' },
	message: 'The report costs 10.50 EUR.', targetUrl: createCheckout, sessionKey: 'payment',
};
const paid = async (args, c) => c.text('Paid with ' + (c.session.get('payment') ?? await c.userStore.get('payment')).reference + '.');
const sell = (name, way, options = {}) => server.tool(name, way.resume, payment({ buildUrl: way.buildUrl, ...options }), {}, paid);

const report = forSession(server, price);
sell('buy_report', report);
sell('buy_forever', report, { persistent: true });
sell('buy_slowly', report, { buildUrl: async (params) => {
	const url = await report.buildUrl(params);
	await sleep(300);
	return url;
} });
sell('buy_in_rounds', forSession(server, { ...price, roundTimeout: 400 }));
sell('buy_by_year', forSession(server, { ...price, item: undefined, roundTimeout: 400 }));
sell('buy_without_resume', { resume: { name: 'nothing' }, buildUrl: report.buildUrl });

const account = forSession(server, {
	urlmode, subject, provider: 'demo', kind: 'oauth', pkce: true, message: 'Connect.', sessionKey: 'user',
	targetUrl: ({ returnUrl }) => buildAuthorizationUrl(configuration, { redirect_uri: returnUrl, scope: 'openid profile' }),
	async value({ result }) {
		await sleep(300);
		return { code: typeof result.code };
	},
});
server.tool('connect', account.resume, oauth({ buildUrl: account.buildUrl }), {},
	(args, c) => c.text('The code is a ' + c.session.get('user').code + '.'));
server.tool('buy_again', {}, async (args, c) => {
	const call = { server, call: c, subject: subject() };
	return withElicitation({ ...price, ...call, roundTimeout: 400 }, ({ reference }) => c.text('Paid with ' + reference + '.'));
});

const TOOLS = ['buy_report', 'buy_forever', 'buy_slowly', 'buy_in_rounds', 'buy_by_year', 'buy_without_resume', 'connect'];
const stateful = server.http({ onRequest(request, id, session) {
	session.enableTools(...TOOLS);
	if (request.headers.get('x-user')) session.set('user', { id: request.headers.get('x-user') });
} });
const stateless = server.http({ sessionless: true });
server.session('default').enableTools(...TOOLS);

serve({
	hostname: '127.0.0.1', port: Number(process.env.PORT),
	fetch: (request) => callers.run(subjectOf(request.headers.get('authorization')),
		() => (new URL(request.url).pathname === '/sessionless' ? stateless(request) : stateful(request))),
}, ({ port }) => console.log('http://127.0.0.1:' + port + '/mcp'));
`;

let fixture;
let project;
let instance;

before(async () => {
	fixture = await openAdapterFixture('lynq-ends');
	project = makeExampleProject('lynq-ends', 'newest', { doubles: LYNQ, source: SERVER });
	instance = await startExample(fixture, project);
});

after(() => fixture?.close());

beforeEach(() => deleteElicitations(fixture));

const connect = async (options = {}) => fixture.closeAtEnd(
	await connectSdk1(project, { url: instance.url, ...ADA, ...options }));

const rows = (subject = 'ada@example.org') => elicitationsOf(fixture, subject);

const stateOfNewest = async () => rowState(fixture, (await rows())[0].id);

/** An answer of the client that it holds until the test lets go. */
function held() {
	const answer = deferred();
	return { answer, onElicit: () => answer.promise };
}

describe(describeBuild('lynq', LYNQ['@lynq/lynq']), { timeout: 120_000 }, () => {
	test('what a user has paid in a session that all users share is for no other user', async () => {
		const shared = { url: instance.url.replace('/mcp', '/sessionless') };
		const ada = await connect(shared);
		const { text } = await ada.call('buy_report');
		await pay(fixture, /http:\S+/.exec(text)[0]);
		assert.equal((await ada.call('buy_report')).text, 'Paid with cs_test_1.');
		const grace = await connect({ ...shared, ...GRACE });
		await assert.rejects(grace.call('buy_report'), /belongs to another user/);
		assert.deepEqual(await rows('grace@example.org'), []);
		assert.equal((await ada.call('buy_report')).text, 'Paid with cs_test_1.');
	});

	test('a failed payment says so', async () => {
		const client = await connect();
		const result = client.call('buy_report');
		await pay(fixture, (await client.nextRequest()).url, 'failed');
		assert.deepEqual(await result, { text: 'Not done: the payment failed.', isError: true });
	});

	test('of calls at the same time in one session, each gets what the user has done', async () => {
		const client = await connect();
		const results = [client.call('connect'), client.call('connect'), client.call('connect')];
		const urls = await Promise.all(results.map(async () => (await client.nextRequest()).url));
		assert.equal((await rows()).length, 1);
		await signIn(fixture, urls[0]);
		for (const result of results) assert.deepEqual(await result, { text: 'The code is a string.', isError: false });
	});

	test('a persistent payment is kept in the store of the user', async () => {
		const headers = { 'x-user': 'ada' };
		const client = await connect({ headers });
		const result = client.call('buy_forever');
		await pay(fixture, (await client.nextRequest()).url);
		assert.deepEqual(await result, { text: 'Paid with cs_test_1.', isError: false });
		const other = await connect({ headers });
		assert.equal((await other.call('buy_forever')).text, 'Paid with cs_test_1.');
		assert.equal(other.requests.length, 0);
		assert.equal((await rows()).length, 1);
	});

	test('a client that holds its response: the call ends, what the user does goes on', async () => {
		const { answer, onElicit } = held();
		const client = await connect({ onElicit });
		const { text, isError } = await client.call('buy_in_rounds');
		assert.match(text, /http:\S+[^]*call this tool again/);
		assert.equal(isError, false);
		assert.equal(await stateOfNewest(), 'pending');
		const id = await goToCheckout(fixture, client.requests[0].url);
		assert.match((await client.call('buy_in_rounds')).text, /can still finish there/);
		await settle(fixture, id);
		assert.equal((await client.call('buy_in_rounds')).text, 'Paid with cs_test_1.');
		assert.equal((await rows()).length, 1);
		answer.resolve('accept');
	});

	test('a client that declines after the call has ended', async () => {
		const { answer, onElicit } = held();
		const client = await connect({ onElicit });
		await client.call('buy_in_rounds');
		answer.resolve('decline');
		const answers = () => fixture.stack.sql('SELECT answer FROM urlmode.asked_client');
		await until('it is remembered', async () => (await answers()).some((row) => row.answer === 'declined'));
		assert.equal(await stateOfNewest(), 'pending');
	});

	test('withElicitation has rounds, too, and tells no client of a completion before it', async () => {
		const client = await connect();
		assert.match((await client.call('buy_again')).text, /call this tool again/);
		assert.deepEqual(client.completed, []);
		await pay(fixture, client.requests[0].url, 'paid', { ...PRICE, reference: 'cs_test_2' });
		assert.equal((await client.call('buy_again')).text, 'Paid with cs_test_2.');
		assert.equal(client.requests.length, 1);
	});

	test('without an item, what is bought is the tool with its arguments', async () => {
		const client = await connect({ onElicit: () => new Promise(() => {}) });
		for (const year of [2025, 2026]) await client.call('buy_by_year', { args: { year } });
		const found = await fixture.stack.sql("SELECT item FROM urlmode.elicitation WHERE subject = 'ada@example.org' ORDER BY item");
		assert.deepEqual(found.map(({ item }) => item), ['buy_by_year {"year":2025}', 'buy_by_year {"year":2026}']);
	});

	test('a slow function around buildUrl loses nothing', async () => {
		const client = await connect();
		await client.call('buy_in_rounds');
		await pay(fixture, client.requests[0].url);
		const start = performance.now();
		assert.equal((await client.call('buy_slowly')).text, 'Paid with cs_test_1.');
		assert.ok(performance.now() - start < 20_000, 'not a round');
	});

	test('buildUrl without resume says what is missing', async () => {
		const client = await connect();
		await assert.rejects(client.call('buy_without_resume'), /resume/);
	});
});
