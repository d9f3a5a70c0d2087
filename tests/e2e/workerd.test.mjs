// The example for edge runtimes in workerd: it has fetch and Web Crypto, and neither Node.js nor PostgreSQL. A real client
// buys the report from the call to the result.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { elicitationsOf, makeExampleProject, pay, USERS } from '../support/adapters.mjs';
import { connectSdk2 } from '../support/clients.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { bundleForEdge, startWorker } from '../support/workerd.mjs';

const project = makeExampleProject('edge', 'newest');
let fixture, instances;

before(async () => {
	fixture = await openFixture({ name: 'workerd', own: true, env: { API: '1' } });
	const { URLMODE_API_URL, URLMODE_API_KEY } = fixture.stack.env;
	const env = { URLMODE_API_URL, URLMODE_API_KEY, APP_USERS: JSON.stringify(USERS), APP_CHECKOUT: 'http://localhost:9/pay' };
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
