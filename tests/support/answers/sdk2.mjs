// The official TypeScript SDK 2.x: protocol revision 2026-07-28, and 2025-11-25
// with sessions, which keep their answers in an event store where ANSWERS is replay.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import process from 'node:process';

import { toNodeHandler } from '@modelcontextprotocol/node';
import {
	createMcpHandler, isLegacyRequest, McpServer, WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

import { EventStore } from './event-store.mjs';
import { work } from './work.mjs';

function makeServer() {
	const server = new McpServer({ name: 'work', version: '1.0.0' });
	server.registerTool('work', { description: 'Works.' }, ({ mcpReq }) => work(server.server.transport, mcpReq.id));
	return server;
}

const modern = createMcpHandler(makeServer, { legacy: 'reject' });
const sessions = new Map();

async function answerOlder(request, options) {
	const id = request.headers.get('mcp-session-id');
	if (id) return sessions.get(id).handleRequest(request, options);
	const newId = randomUUID();
	const transport = new WebStandardStreamableHTTPServerTransport({
		sessionIdGenerator: () => newId, onsessioninitialized: () => void sessions.set(newId, transport),
		...process.env.ANSWERS === 'replay' && { eventStore: new EventStore() },
	});
	await makeServer().connect(transport);
	return transport.handleRequest(request, options);
}

const http = createServer(toNodeHandler({
	fetch: async (request, options) => (await isLegacyRequest(request) ? answerOlder(request, options) : modern.fetch(request, options)),
}));
http.listen(Number(process.env.PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
