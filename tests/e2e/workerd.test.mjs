// The example for edge runtimes in workerd: it has fetch and Web Crypto, and neither Node.js nor PostgreSQL. A real client
// buys the report from the call to the result.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { elicitationsOf, makeExampleProject, pay, signIn, USERS } from '../support/adapters.mjs';
import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { openProvider } from '../support/demo.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { bundleForEdge, startWorker } from '../support/workerd.mjs';

const edge = (file) => readFileSync(new URL(`../support/edge/${file}`, import.meta.url), 'utf8');
const project = makeExampleProject('edge', 'newest');
let fixture, instances;

before(async () => {
	fixture = await openFixture({ name: 'workerd', own: true, env: { API: '1' } });
	const { URLMODE_API_URL, URLMODE_API_KEY } = fixture.stack.env;
	const env = { URLMODE_API_URL, URLMODE_API_KEY, APP_USERS: JSON.stringify(USERS), APP_CHECKOUT: 'http://localhost:9/pay' };
	fixture.closeAtEnd(await openProvider(fixture.stack));
	instances = [];
	for (let n = 0; n < 2; n += 1) instances.push(fixture.closeAtEnd(await startWorker(project, env)));
});

after(() => fixture?.close());

const undelivered = async () => (await fixture.urlmode.undelivered()).length;

test('a payment goes from the call to the result, also where another instance is called again', { timeout: 120_000 }, async () => {
	const [subject] = Object.values(USERS);
	const client = fixture.closeAtEnd(await connectSdk2(project, { url: instances[0].url, token: 'token-of-ada', onElicit: async ({ url }) => {
		await pay(fixture, url);
		return 'accept';
	} }));
	const { content: [{ text }] } = await client.callRaw('buy_report', { args: {} });
	assert.equal(text, 'Paid with cs_test_1.');
	const [{ status, action, client_id: of }] = await elicitationsOf(fixture, subject);
	assert.deepEqual([status, action, of], ['completed', 'accept', null]);
	await until('the claim has its end', async () => await undelivered() === 0);
	assert.deepEqual(await fixture.urlmode.unclaimed(), []);

	// The handle of one instance is opened by the other, and of another user by none.
	const again = await client.callRaw('buy_report', { args: {}, options: { allowInputRequired: true } });
	assert.equal(again.resultType, 'input_required');
	assert.match(again.requestState, /^umh_/);
	const other = fixture.closeAtEnd(await connectSdk2(project, { url: instances[1].url, token: 'token-of-ada' }));
	const eve = fixture.closeAtEnd(await connectSdk2(project, { url: instances[1].url, token: 'token-of-grace' }));
	const answered = { name: 'buy_report', arguments: {}, inputResponses: { urlmode: { action: 'accept' } }, requestState: again.requestState };
	const foreign = await eve.callWith(answered, { allowInputRequired: true }).catch((error) => error);
	assert.match(foreign.message ?? foreign.content[0].text, /The requestState does not belong to this call/);
	const waiting = other.callWith(answered, { allowInputRequired: true });
	const { params: { url } } = again.inputRequests.urlmode;
	await pay(fixture, url, 'paid', { amount: 1050, currency: 'EUR', reference: 'cs_test_2' });
	assert.equal((await waiting).content[0].text, 'Paid with cs_test_2.');
});

test('what a client has declined is known to each request, of each instance', { timeout: 120_000 }, async () => {
	const answers = [];
	for (const { url } of [...instances, instances[0]]) {
		const client = fixture.closeAtEnd(await connectSdk2(project, { url, token: 'token-of-grace', onElicit: () => 'decline' }));
		const { text } = await client.call('buy_report');
		answers.push([client.requests.length, /http:\S+/.test(text)]);
	}
	assert.deepEqual(answers, [[1, true], [0, true], [0, true]]);
});

/** Each adapter, on the framework's own server. A client of one without sessions has the link as text, and calls again. */
const ADAPTERS = { sdk: connectSdk1, sdk2: connectSdk2, 'mcp-use': connectSdk2, 'mcp-lite': connectSdk1 };

for (const [name, connect] of Object.entries(ADAPTERS)) {
	test(`${name}: a payment, and an account`, { timeout: 240_000 }, async () => {
		const { URLMODE_API_URL, URLMODE_API_KEY, URLMODE_DEMO_ISSUER: APP_ISSUER } = fixture.stack.env;
		const own = makeExampleProject(`edge-${name}`, 'newest', { source: edge(`${name}.mjs`), files: { 'serve.mjs': edge('serve.mjs') } });
		const { url } = fixture.closeAtEnd(await startWorker(own, {
			URLMODE_API_URL, URLMODE_API_KEY, APP_ISSUER, APP_CHECKOUT: 'http://localhost:9/pay', APP_USERS: JSON.stringify({ token: `user-of-${name}` }),
		}, { node: name === 'mcp-use' }));
		const users = { buy_report: (link) => pay(fixture, link, 'paid', { amount: 1050, currency: 'EUR', reference: `cs_${name}` }), connect_account: (link) => signIn(fixture, link) };
		for (const [tool, said] of Object.entries({ buy_report: `Paid with cs_${name}.`, connect_account: 'Connected the account of Ada Lovelace.' })) {
			const client = fixture.closeAtEnd(await connect(own, { url, token: 'token', onElicit: async ({ url: link }) => {
				await users[tool](link);
				return 'accept';
			} }));
			let { text } = await client.call(tool);
			if (text !== said) {
				const link = /https?:\S+/.exec(text)?.[0] ?? assert.fail(text);
				await users[tool](link);
				({ text } = await client.call(tool));
			}
			assert.equal(text, said);
			assert.equal(client.requests.length, connect === connectSdk2 ? 1 : 0);
		}
		assert.deepEqual((await elicitationsOf(fixture, `user-of-${name}`)).map(({ status, action }) => [status, action]), Array(2).fill(['completed', 'accept']));
	});
}

test('no adapter brings a module of Node.js or pg to an edge runtime', async () => {
	for (const adapter of ['sdk', 'sdk2', 'mcp-use', 'mcp-lite', 'http']) {
		const file = join(project.folder, `${adapter}.mjs`);
		// Where the framework is not there, the adapter is bundled without it.
		writeFileSync(file, `export * from 'urlmode/${adapter}';\n`);
		const { outside, inside } = await bundleForEdge(file, `${file}.js`);
		assert.deepEqual(outside, [], adapter);
		assert.ok(!inside.some((name) => /node_modules\/pg\/|\/core\/(?:keys|database|listener)\.js$/.test(name)), adapter);
	}
});
