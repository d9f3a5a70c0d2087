// The official TypeScript SDK 1.x. ANSWERS: stream, json, or replay: an event store
// keeps the answers.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import process from 'node:process';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

import { EventStore } from './event-store.mjs';
import { work } from './work.mjs';

const { PORT, ANSWERS } = process.env;
const sessions = new Map();

async function openSession() {
	const server = new McpServer({ name: 'work', version: '1.0.0' });
	const id = randomUUID();
	const transport = new StreamableHTTPServerTransport({
		sessionIdGenerator: () => id, onsessioninitialized: () => void sessions.set(id, transport),
		enableJsonResponse: ANSWERS === 'json', ...ANSWERS === 'replay' && { eventStore: new EventStore() },
	});
	server.registerTool('work', { description: 'Works.' }, ({ requestId }) => work(server.server.transport, requestId));
	await server.connect(transport);
	return transport;
}

const http = createServer(async (request, response) => {
	const id = request.headers['mcp-session-id'];
	const transport = id === undefined ? await openSession() : sessions.get(id);
	await transport.handleRequest(request, response);
});
http.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
