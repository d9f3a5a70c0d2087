// The adapters with urlmode/http, as servers use them that have neither the keys file nor a connection to PostgreSQL: the
// table of tests/scenarios with the newest version of each framework, in Node.js and in Deno. In Node.js sdk2 runs all of
// it; otherwise it is what depends on the framework. workerd.test.mjs has the runtime that has fetch alone.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';

import { UrlMode } from '../../lib/node/src/http/index.js';
import { round, run } from '../../lib/node/test/support/calls.js';
import { AdapterServers, describeScenarios, SCENARIO_CLIENTS } from '../support/adapter-scenarios.mjs';
import { APP, makeExampleProject, pay, PRICE, SCENARIO_USERS, startExample } from '../support/adapters.mjs';
import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { openProvider } from '../support/demo.mjs';
import { openFixture } from '../support/fixture.mjs';
import { appOverHttp, exampleOverHttp, waitsOverHttp } from '../support/over-http.mjs';
import { readScenarios } from '../support/scenarios.mjs';

const FRAMEWORKS = {
	sdk: [connectSdk1, 'request', ['text', 'resumes', 'stops', 'typed', 'names', 'sessions', 'notifications', 'late notifications', 'error']],
	sdk2: [connectSdk2, 'retry', ['text', 'resumes', 'stops', 'typed', 'names']],
	'mcp-use': [connectSdk2, 'retry', ['text', 'resumes', 'stops', 'typed', 'names']],
	'mcp-lite': [connectSdk1, 'link', ['text', 'resumes', 'stops', 'typed']],
};

const RUNTIMES = {
	'Node.js': undefined,
	// Its package links the program of this machine, where npm has run no script.
	Deno: [createRequire(import.meta.url)('deno/install_api.cjs').runInstall(), 'run', '--allow-all', '--no-lock', '--node-modules-dir=manual', '--import', './waits.mjs', 'server.mjs'],
};

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'adapters-http', own: true, env: { API: '1' } });
	fixture.closeAtEnd(await openProvider(fixture.stack));
});

after(() => fixture?.close());

for (const [name, [connect, way, has]] of Object.entries(FRAMEWORKS)) {
	const project = makeExampleProject(name, 'newest', { source: exampleOverHttp(name), files: { 'app.mjs': appOverHttp(APP), 'waits.mjs': waitsOverHttp() } });
	for (const [runtime, command] of Object.entries(RUNTIMES)) {
		const env = { APP_USERS: JSON.stringify(SCENARIO_USERS), APP_CLIENTS: JSON.stringify(SCENARIO_CLIENTS) };
		const servers = new AdapterServers(() => fixture, () => startExample(fixture, project, { command, env }));
		describeScenarios(`${name} over HTTP, in ${runtime}`, {
			fixture: () => fixture, servers, scenarios: readScenarios(), way, has, whole: name === 'sdk2' && !command, sticky: name === 'mcp-lite',
			connect: (options) => connect(project, options),
		});
	}
}

test('a body asks for something itself, and one payment is delivered once, on any instance', async () => {
	const { URLMODE_API_URL: url, URLMODE_API_KEY: key } = fixture.stack.env;
	const instances = [1, 2].map(() => fixture.closeAtEnd(new UrlMode({ url, key })));
	const options = { provider: 'stripe', kind: 'payment', subject: 'ada', item: 'rounds', expected: PRICE, message: 'Please.', targetUrl: ({ elicitationId }) => `https://checkout.example/pay?reference=${elicitationId}` };
	const call = (instance, state, body, more) => run(
		round({ state, action: 'accept' }), { ...options, urlmode: instances[instance], roundTimeout: 60_000, ...more }, body);
	const asked = await call(0);
	await pay(fixture, asked.toolResult.inputRequests.urlmode.params.url, 'paid', { ...PRICE, reference: 'cs_rounds' });

	const own = { resultType: 'input_required', inputRequests: { q1: { method: 'elicitation/create', params: { mode: 'form', message: 'Which?' } } } };
	const given = [];
	const first = await call(1, asked.toolResult.requestState, async (accepted) => {
		given.push(accepted);
		return { ...own, requestState: 'theirs' };
	});
	const { requestState } = first.toolResult;
	assert.match(requestState, /^umh_[\w-]+\.1\.[\w-]+$/);
	assert.doesNotMatch(Buffer.from(requestState, 'base64url').toString('latin1'), /theirs/);
	assert.equal((await call(0, undefined, () => assert.fail('it is held'), { roundTimeout: 1 })).action, 'pending');

	// It is of this handle, this user and this item, and comes once.
	const [handle, left] = [requestState.slice(0, requestState.lastIndexOf('.')), requestState.slice(requestState.lastIndexOf('.') + 1)];
	for (const [state, more] of [
		[`${requestState.slice(0, -4)}AAAA`], [requestState, { subject: 'eve' }], [requestState, { item: 'other' }],
		[`${asked.toolResult.requestState}.${left}`], [`${handle.slice(0, -1)}2.${left}`], [`${handle}.${handle.slice(4, -2)}`],
	]) await assert.rejects(call(0, state, () => assert.fail('no such round'), more), /requestState does not belong/);
	const done = await call(0, requestState, async (accepted) => {
		given.push(accepted);
		return { content: [{ type: 'text', text: 'The report.' }] };
	});
	assert.deepEqual([done.text, done.reference, done.requestState], ['The report.', 'cs_rounds', 'theirs']);
	assert.ok(given[1].fence > given[0].fence);
	await call(1, requestState, () => assert.fail('it is done'));
});
