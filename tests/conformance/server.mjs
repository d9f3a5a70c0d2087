// The server that MCP's conformance suite is run against: what its scenarios
// want, beside tools that elicit with urlmode. Both protocol revisions, as in
// lib/node/examples/sdk2.mjs. The user is always the same, and finishes whatever
// is begun half a second later, or when the tool says.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import {
	createMcpHandler, createRequestStateCodec, isLegacyRequest, McpServer, WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { UrlMode } from 'urlmode';
import { handleTasks, rejectRequestState, verifyRequestState, withElicitation } from 'urlmode/sdk2';

import { isTrusted } from './app.mjs';
import { registerContent } from './content.mjs';
import { registerInputs } from './inputs.mjs';
import { registerTasks, REQUIRED } from './tasks.mjs';

const { PORT, URLMODE_DATABASE_URL = '', URLMODE_KEYS_FILE = '', URLMODE_BASE_URL = '' } = process.env;
const USER_TAKES_MS = 500;
const urlmode = new UrlMode({ databaseUrl: URLMODE_DATABASE_URL, keysFile: URLMODE_KEYS_FILE, baseUrl: URLMODE_BASE_URL });
const subject = 'conformance';
const codec = createRequestStateCodec({ key: Buffer.alloc(32, 'not a secret') });

/** How long the user takes for an elicitation, if a tool says it. */
const takes = new Map();
urlmode.on('created', ({ elicitationId }) => setTimeout(async () => {
	await urlmode.complete(elicitationId, { subject, action: 'accept', result: {} }).catch(console.error);
}, takes.get(elicitationId) ?? USER_TAKES_MS));

function createConformanceServer() {
	const server = new McpServer({ name: 'urlmode-conformance', version: '1.0.0' }, {
		// What it offers does not change.
		capabilities: { logging: {}, resources: { subscribe: true }, tools: { listChanged: false }, prompts: { listChanged: false } },
		requestState: { verify: verifyRequestState(urlmode, codec.verify) },
	});
	registerContent(server);
	registerInputs(server, codec);
	server.registerTool('test_elicitation_url', { description: 'Asks the user to go to a URL.' }, (call) => withElicitation({
		urlmode, server, call, subject, provider: 'demo', kind: 'oauth', message: 'Please go there.',
		targetUrl: 'https://provider.example/authorize', roundTimeout: 5_000,
	}, async () => ({ content: [{ type: 'text', text: 'The user was there.' }] })));
	registerTasks(server, { urlmode, subject, takes });
	handleTasks({ urlmode, server, owner: () => ({ subject }), required: REQUIRED });
	return server;
}

const modern = createMcpHandler(createConformanceServer, { legacy: 'reject' });
const answerNewer = rejectRequestState(modern.fetch);
const sessions = new Map();

async function answerOlder(request, options) {
	const id = request.headers.get('mcp-session-id');
	if (id) return sessions.get(id)?.handleRequest(request, options) ?? new Response(null, { status: 404 });
	const transport = new WebStandardStreamableHTTPServerTransport({
		sessionIdGenerator: randomUUID,
		onsessioninitialized: (newId) => void sessions.set(newId, transport),
	});
	transport.onclose = () => sessions.delete(transport.sessionId);
	await createConformanceServer().connect(transport);
	return transport.handleRequest(request, options);
}

const handle = toNodeHandler({
	fetch: async (request, options) => (await isLegacyRequest(request) ? answerOlder : answerNewer)(request, options),
});
const http = createServer((request, response) => {
	if (!isTrusted(request.headers)) return void response.writeHead(403).end();
	return handle(request, response);
});
http.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
