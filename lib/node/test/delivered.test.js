// A payment is used up when a successful answer was sent, and not before.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

import { withElicitation } from '../src/adapters/sdk.js';
import { linkCall, start } from './support/calls.js';
import { until } from './support/database.js';

test('a body that answers with an error was not done: the next call runs it again, with the same reference', async (t) => {
	const { ask, newest, callback, owner } = await start(t);
	await ask(linkCall());
	const { id } = await newest();
	await callback.paid(id, { ...owner, reference: `pay_${id}` });
	const failing = await ask(linkCall(), {}, () => ({ content: [{ type: 'text', text: 'The printer is on fire.' }], isError: true }));
	assert.deepEqual([failing.text, failing.reference], ['The printer is on fire.', `pay_${id}`]);
	const again = await ask(linkCall());
	assert.deepEqual([again.action, again.reference], ['accept', `pay_${id}`]);
	assert.equal((await ask(linkCall())).action, 'pending', 'it is paid for once');
});

test('a result that the output schema refuses, and a tool that throws, have delivered nothing: the next call has the result', async (t) => {
	const { options, newest, callback, owner, admin } = await start(t);
	let runs = 0;
	const server = new McpServer({ name: 'deliveries', version: '1.0.0' });
	const buy = (call) => withElicitation({ ...options, server, call }, () => {
		runs += 1;
		return { content: [{ type: 'text', text: 'The report.' }], structuredContent: { pages: 12 } };
	});
	server.registerTool('refused', { outputSchema: { pages: z.string() } }, buy);
	server.registerTool('throws', {}, async (call) => {
		const result = await buy(call);
		throw new Error(`after ${result.content[0].text}`);
	});
	server.registerTool('answers', { outputSchema: { pages: z.number() } }, buy);
	const client = new Client({ name: 'tests', version: '1.0.0' });
	const [one, other] = InMemoryTransport.createLinkedPair();
	await Promise.all([server.connect(one), client.connect(other)]);
	t.after(() => client.close());
	const call = async (name) => {
		const { content, isError, structuredContent } = await client.callTool({ name });
		return { text: content[0].text, isError, structuredContent };
	};

	assert.match((await call('answers')).text, /http/);
	const { id } = await newest();
	await callback.paid(id, owner);
	assert.match((await call('refused')).text, /Output validation error/);
	assert.equal((await call('throws')).text, 'after The report.');
	assert.deepEqual(await call('answers'), { text: 'The report.', isError: undefined, structuredContent: { pages: 12 } });
	assert.equal(runs, 1);
	await until('it is confirmed', async () => (await admin.query('SELECT FROM urlmode.lease WHERE elicitation = $1', [id])).rows.length === 0);
	assert.match((await call('answers')).text, /http/, 'the next one is paid for again');
});
