// A client of the SDK 1.x cancels a call whose tool is still at work after its body has run.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { withElicitation } from '../src/adapters/sdk.js';
import { start } from './support/calls.js';
import { until } from './support/database.js';

test('what is too large to be kept is made again by the next call, which waits for nothing', async (t) => {
	const { options, finish } = await start(t);
	options.roundTimeout = 60_000;
	const server = new McpServer({ name: 'shop', version: '1.0.0' });
	const references = [];
	const signals = [];
	let goOn;
	const held = new Promise((resolve) => { goOn = resolve; });
	server.registerTool('buy', { description: 'Buys.' }, async (call) => {
		signals.push(call.signal);
		const result = await withElicitation({ ...options, server, call }, ({ reference }) => {
			references.push(reference);
			return { content: [{ type: 'text', text: 'x'.repeat(17_000_000) }] };
		});
		if (references.length === 1) await held;
		return result;
	});
	const client = new Client({ name: 'tests', version: '1.0.0' }, { capabilities: { elicitation: { url: {} } } });
	client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
		await finish(params.elicitationId);
		return { action: 'accept' };
	});
	const [one, other] = InMemoryTransport.createLinkedPair();
	await Promise.all([server.connect(one), client.connect(other)]);
	t.after(() => client.close());

	const cancelling = new AbortController();
	const cancelled = assert.rejects(client.callTool({ name: 'buy' }, undefined, { signal: cancelling.signal, timeout: 120_000 }));
	await until('the body has run', () => references.length === 1);
	cancelling.abort();
	await cancelled;
	await until('the server knows', () => signals[0].aborted);
	goOn();
	const { content: [{ text }] } = await client.callTool({ name: 'buy' }, undefined, { timeout: 120_000 });
	assert.deepEqual([text.length, references.length, references[0] === references[1]], [17_000_000, 2, true]);
});
