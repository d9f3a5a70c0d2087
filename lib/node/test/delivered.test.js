// A payment is used up when a successful answer was sent, and not before.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import test from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
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

test('a result that the output schema refuses, and a tool that throws, have delivered nothing: the next call has the result, and then makes it again', async (t) => {
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
	const listed = async () => (await options.urlmode.undelivered()).filter(({ elicitationId }) => elicitationId === id);
	assert.match((await call('refused')).text, /Output validation error/);
	assert.equal((await listed()).length, 1);
	assert.equal((await call('throws')).text, 'after The report.');
	assert.equal(runs, 1, 'the result that was kept has failed a second time');
	await until('it is released', async () => (await listed()).length === 0);
	assert.match((await call('refused')).text, /Output validation error/);
	assert.equal(runs, 2, 'so it was made again');
	assert.deepEqual(await call('answers'), { text: 'The report.', isError: undefined, structuredContent: { pages: 12 } });
	assert.equal(runs, 2);
	await until('it is confirmed', async () => (await admin.query('SELECT FROM urlmode.lease WHERE elicitation = $1', [id])).rows.length === 0);
	assert.match((await call('answers')).text, /http/, 'the next one is paid for again');
});

for (const [what, size, runsAtEnd] of [['is kept for the next call', 1_000_000, 1], ['is too large to be kept is made again', 17_000_000, 2]]) {
	test(`a result whose client gives up ${what}, for the same payment`, async (t) => {
		const { options, newest, callback, owner, admin } = await start(t);
		let runs = 0;
		let arrived;
		const arrival = new Promise((resolve) => { arrived = resolve; });
		let goOn;
		const wait = new Promise((resolve) => { goOn = resolve; });
		const references = new Set();
		const http = createServer(async (request, response) => {
			const text = await textOf(request);
			const server = new McpServer({ name: 'reports', version: '1.0.0' });
			server.registerTool('buy', {}, (call) => withElicitation({ ...options, server, call }, async ({ reference }) => {
				references.add(reference);
				runs += 1;
				if (runs === 1) {
					arrived();
					await wait;
				}
				return { content: [{ type: 'text', text: 'x'.repeat(size) }] };
			}));
			const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
			await server.connect(transport);
			await transport.handleRequest(request, response, JSON.parse(text));
		});
		http.listen(0, '127.0.0.1');
		await once(http, 'listening');
		t.after(() => {
			http.closeAllConnections();
			http.close();
		});
		const call = async (signal) => {
			const answer = await fetch(`http://127.0.0.1:${http.address().port}`, {
				method: 'POST', signal, headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
				body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'buy', arguments: {} } }),
			});
			return (await answer.json()).result.content[0].text;
		};
		assert.match(await call(), /http/);
		const { id } = await newest();
		await callback.paid(id, owner);
		const leaving = new AbortController();
		const first = call(leaving.signal);
		await arrival;
		leaving.abort();
		await assert.rejects(first);
		goOn();
		assert.equal((await until('the next call has it', async () => {
			const text = await call();
			return text.startsWith('x') && text;
		})).length, size);
		assert.deepEqual([runs, references.size], [runsAtEnd, 1]);
		await until('it is confirmed', async () => (await admin.query('SELECT FROM urlmode.lease WHERE elicitation = $1', [id])).rows.length === 0);
		assert.match(await call(), /http/, 'the next one is paid for again');
	});
}
