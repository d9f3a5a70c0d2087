// Prompts and resources ask as tools do (SDK 2.x, whose requests say what they are for).

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { createMcpHandler, InMemoryTransport, McpServer } from '@modelcontextprotocol/server';

import { withElicitation } from '../src/adapters/sdk2.js';
import { start } from './support/calls.js';

const REVISION = '2026-07-28';
const LINK = /https:\/\/\S+\/connect\/\S+/;

/** A server that sells a prompt and a resource. */
function createShop(options) {
	const server = new McpServer({ name: 'shop', version: '1.0.0' });
	const buy = (call, item, body) => withElicitation({ ...options, item, server, call }, body);
	server.registerPrompt('advice', { description: 'Advice.' }, (call) => buy(call, 'advice', async ({ reference }) => (
		{ messages: [{ role: 'user', content: { type: 'text', text: `Advice, by ${reference}.` } }] })));
	server.registerResource('report', 'shop://report', {}, (uri, call) => buy(call, 'report', async ({ reference }) => (
		{ contents: [{ uri: uri.href, text: `The report, by ${reference}.` }] })));
	return server;
}

const REQUESTS = {
	prompt: { method: 'prompts/get', params: { name: 'advice' }, name: 'advice', textOf: ({ messages: [{ content }] }) => content.text },
	resource: { method: 'resources/read', params: { uri: 'shop://report' }, name: 'shop://report', textOf: ({ contents: [{ text }] }) => text },
};

/** A request of 2026-07-28. */
async function ask(handler, { method, params, name }, capabilities, more = {}) {
	const answer = await handler.fetch(new Request('http://shop.example/mcp', {
		method: 'POST',
		headers: {
			'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': REVISION, 'mcp-method': method, 'mcp-name': name,
		},
		body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {
			...params, ...more, _meta: {
				'io.modelcontextprotocol/protocolVersion': REVISION, 'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
				'io.modelcontextprotocol/clientCapabilities': capabilities,
			},
		} }),
	}));
	const text = await answer.text();
	return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
}

/** The client of a session of 2025-11-25. */
async function connect(t, server, capabilities, elicit) {
	const [client, theirs] = InMemoryTransport.createLinkedPair();
	const answers = new Map();
	client.onmessage = async ({ id, method, params, ...end }) => {
		if (method === 'elicitation/create') await client.send({ jsonrpc: '2.0', id, result: { action: await elicit(params) } });
		else answers.get(id)?.(end);
	};
	await client.start();
	await server.connect(theirs);
	t.after(() => client.close());
	let last = 0;
	const request = (method, params) => new Promise((resolve, reject) => {
		answers.set(last += 1, resolve);
		client.send({ jsonrpc: '2.0', id: last, method, params }).catch(reject);
	});
	await request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'tests', version: '1' } });
	await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
	return request;
}

for (const [what, wanted] of Object.entries(REQUESTS)) {
	test(`a ${what} asks in rounds, and is delivered once for one payment`, async (t) => {
		const { options, newest, finish } = await start(t);
		const handler = createMcpHandler(() => createShop(options), { legacy: 'reject' });
		const url = { elicitation: { url: {} } };
		const { result: asked } = await ask(handler, wanted, url);
		assert.equal(asked?.resultType, 'input_required');
		const [[key, { method, params }]] = Object.entries(asked.inputRequests);
		assert.deepEqual([method, params.mode], ['elicitation/create', 'url']);
		const { id } = await newest();
		await finish(id, { reference: `pay_${randomUUID()}` });
		const { result } = await ask(handler, wanted, url, { requestState: asked.requestState, inputResponses: { [key]: { action: 'accept' } } });
		assert.match(wanted.textOf(result), /, by pay_/);
	});

	test(`a ${what} for a client that cannot be asked is an error with the link, until it is paid`, async (t) => {
		const { options, newest, finish } = await start(t);
		const handler = createMcpHandler(() => createShop(options), { legacy: 'reject' });
		const { error } = await ask(handler, wanted, {});
		assert.equal(error.code, -32603);
		assert.match(error.message, LINK);
		const { id } = await newest();
		assert.equal(error.data.elicitation.elicitationId, id);
		await finish(id);
		const { result } = await ask(handler, wanted, {});
		assert.match(wanted.textOf(result), /, by /);
	});

	test(`a ${what} asks a client of 2025-11-25 by a request, and what that declines is an error with the link`, async (t) => {
		const { options, newest, finish } = await start(t);
		options.roundTimeout = 60_000;
		const actions = ['decline', 'accept'];
		const request = await connect(t, createShop(options), { elicitation: { url: {} } }, async ({ mode, elicitationId }) => {
			assert.equal(mode, 'url');
			if (actions[0] === 'accept') await finish(elicitationId);
			return actions.shift();
		});
		const { error } = await request(wanted.method, wanted.params);
		assert.match(error.message, LINK);
		assert.equal(error.data.elicitation.reason, 'client_declined');
		await finish((await newest()).id);
		const { result } = await request(wanted.method, wanted.params);
		assert.match(wanted.textOf(result), /, by /);
		// What is bought next is asked for by a request again.
		options.resumeKey = 'another';
		assert.match(wanted.textOf((await request(wanted.method, wanted.params)).result), /, by /);
		assert.deepEqual(actions, []);
	});
}
