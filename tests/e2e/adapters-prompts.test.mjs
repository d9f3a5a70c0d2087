// Prompts and resources of mcp-use, which is made of the SDK 2.x, ask as its tools do.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';

import { deleteElicitations, elicitationsOf, goToCheckout, makeExampleProject, openAdapterFixture, PRICE, settle, startExample, USERS } from '../support/adapters.mjs';
import { example } from '../support/projects.mjs';

const TOKEN = 'token-of-ada';
const LINK = /http:\S+\/connect\/\S+/;

const SOLD = `
const sell = (call, item, body) => withElicitation({
	urlmode, call, typed: false, subject: subjectIn(call), provider: 'stripe', kind: 'payment', item, expected: { amount: 1050, currency: 'EUR' },
	message: 'It costs 10.50 EUR.', targetUrl: createCheckout,
}, body);
server.prompt({ name: 'advice', description: 'Advice.' }, (args, call) => sell(call, 'advice', async ({ reference }) => (
	{ messages: [{ role: 'user', content: { type: 'text', text: \`Paid with \${reference}.\` } }] })));
server.resource({ name: 'report', uri: 'shop://report' }, (uri, call) => sell(call, 'report', async ({ reference }) => (
	{ contents: [{ uri: uri.href, text: \`Paid with \${reference}.\` }] })));
`;

const GETS = {
	prompt: async (client) => (await client.getPrompt({ name: 'advice' })).messages[0].content.text,
	resource: async (client) => (await client.readResource({ uri: 'shop://report' })).contents[0].text,
};

const source = example('mcp-use.mjs').replace('\nconst summary = ', `${SOLD}$&`);

let fixture;

before(async () => {
	fixture = await openAdapterFixture('prompts');
});

after(() => fixture?.close());

beforeEach(() => deleteElicitations(fixture));

async function payAt(url) {
	const reference = `cs_${randomUUID()}`;
	await settle(fixture, await goToCheckout(fixture, url), 'paid', { ...PRICE, reference });
	return reference;
}

/** A client of either SDK. */
async function connect(project, { url }, { package: name, http = name, options, onElicit }) {
	const { Client } = project.load(name);
	const { StreamableHTTPClientTransport } = project.load(http);
	const client = new Client({ name: 'tests', version: '1.0.0' }, options);
	if (onElicit) client.setRequestHandler('elicitation/create', async ({ params }) => ({ action: await onElicit(params) }));
	await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } } }));
	fixture.closeAtEnd(client);
	return client;
}

const MODERN = { package: '@modelcontextprotocol/client', options: { versionNegotiation: { mode: { pin: '2026-07-28' } } } };
const OLDER = { package: '@modelcontextprotocol/sdk/client/index.js', http: '@modelcontextprotocol/sdk/client/streamableHttp.js', options: {} };

for (const frameworks of ['newest', 'oldest']) {
	const project = makeExampleProject('mcp-use', frameworks, { source });
	let instance;

	describe(`mcp-use ${project.versionOf('mcp-use')}`, { timeout: 120_000 }, () => {
		before(async () => {
			instance = await startExample(fixture, project);
		});

		for (const [what, get] of Object.entries(GETS)) {
			test(`a ${what} asks in rounds`, async () => {
				const asked = [];
				const client = await connect(project, instance, {
					...MODERN, options: { ...MODERN.options, capabilities: { elicitation: { url: {} } } },
					async onElicit({ url }) {
						asked.push(await payAt(url));
						return 'accept';
					},
				});
				const text = await get(client);
				assert.deepEqual([text, asked.length], [`Paid with ${asked[0]}.`, 1]);
			});

			for (const [of, kind] of [['of 2026-07-28', MODERN], ['of an older revision', OLDER]]) {
				test(`a ${what} for a client ${of} that cannot be asked is an error with the link, until it is paid`, async () => {
					const client = await connect(project, instance, kind);
					const error = await get(client).then((text) => assert.fail(text), (reason) => reason);
					assert.equal(error.code, -32603, error);
					const [url] = LINK.exec(error.message);
					assert.equal(error.data.elicitation.url, url);
					const reference = await payAt(url);
					assert.equal(await get(client), `Paid with ${reference}.`);
					assert.equal((await elicitationsOf(fixture, USERS[TOKEN])).length, 1);
				});
			}
		}
	});
}
