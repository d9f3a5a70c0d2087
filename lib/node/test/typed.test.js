// Tools with an output schema, in servers and clients of the official SDK 1.x. The client has
// listed the tools, and compares results with their schemas.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';

import { withElicitation } from '../src/adapters/sdk.js';
import { start } from './support/calls.js';

/** Calls a tool whose user gets the link as text. */
async function call({ options }, outputSchema, { more, also, change = (result) => result } = {}) {
	const server = new McpServer({ name: 'typed', version: '1.0.0' });
	const tool = async (extra) => change(await withElicitation({ ...options, ...more, server, call: extra }, () => assert.fail('nobody has paid')));
	server.registerTool('buy', { outputSchema }, tool);
	if (also) server.registerTool('other', { outputSchema: also }, tool);
	const client = new Client({ name: 'tests', version: '1.0.0' });
	const [one, other] = InMemoryTransport.createLinkedPair();
	await Promise.all([server.connect(one), client.connect(other)]);
	await client.listTools();
	try {
		return await client.callTool({ name: 'buy' });
	} finally {
		await client.close();
	}
}

const LINK = /^https?:\S+\/connect\/\S+$/m;
const isErrorWithLink = ({ content, isError, structuredContent }, about) => {
	assert.match(content[0].text, LINK, about);
	assert.deepEqual([isError, structuredContent], [true, undefined], about);
};

test('the link reaches the client of a tool with any output schema', async (t) => {
	const tools = await start(t);
	for (const [about, schema] of Object.entries({
		'a required member': { report: z.string() },
		'no required member, of which clients are told that there is no other': { report: z.string().optional() },
		'the same of zod 3': { report: z3.string().optional() },
		'an object that refuses others': z.strictObject({ report: z.string().optional() }),
	})) isErrorWithLink(await call(tools, schema), about);
});

test('a schema that allows the member elicitation has it', async (t) => {
	const tools = await start(t);
	for (const [about, schema] of Object.entries({
		'it names the member': { report: z.string().optional(), elicitation: z.looseObject({}).optional() },
		'it allows every member': z.looseObject({ report: z.string().optional() }),
		'no schema': undefined,
	})) {
		const { content, isError, structuredContent } = await call(tools, schema);
		assert.match(content[0].text, LINK, about);
		assert.deepEqual([isError, structuredContent.elicitation.status], [undefined, 'pending'], about);
	}
});

test('beside a tool whose schema takes the member and hides it, no answer is data, unless the tool says that it is not typed', async (t) => {
	const tools = await start(t);
	const also = { report: z.string().optional() };
	isErrorWithLink(await call(tools, undefined, { also }));
	assert.equal((await call(tools, undefined, { also, more: { typed: false } })).structuredContent.elicitation.status, 'pending');
});

test('a tool that says that it is typed has an error result, whatever its framework knows', async (t) => {
	isErrorWithLink(await call(await start(t), undefined, { more: { typed: true } }));
});

test('what the tool makes of the answer stays', async (t) => {
	const tools = await start(t);
	const change = () => ({ content: [{ type: 'text', text: 'Come back later.' }], isError: true });
	assert.equal((await call(tools, { report: z.string() }, { change })).content[0].text, 'Come back later.');
	const { content } = await call(tools, { report: z.string() }, { change: () => ({ content: [], structuredContent: { report: 'none yet' } }) });
	assert.deepEqual(content, []);
});
