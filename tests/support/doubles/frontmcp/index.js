// A double of FrontMCP: what the adapter uses, with FrontMCP's signatures and
// failures. Compared with FrontMCP 1.5.6, whose tests are the same as those of
// this double. It has tools, but no other parts of a server, and of the modes of
// `auth` only `transparent`, with the keys beside it.

import { createPublicKey, randomUUID, verify } from 'node:crypto';
import { createServer } from 'node:http';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, InitializeRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

import { Flows, FlowState, metadataOf } from './flows.js';
import { createMemoryStore, MemoryEventStore } from './store.js';
import { ElicitationFallbackRequired, Elicitor } from './tool-context.js';

export { App, FlowHooksOf, Plugin, Tool } from './flows.js';
export { createElicitationStoreFromStorage } from './store.js';
export { ElicitationFallbackRequired, ElicitationTimeoutError, ToolContext } from './tool-context.js';

class Scope {
	/** No option sets it. */
	_elicitationStore = createMemoryStore();
	sessions = new Map();

	get elicitationStore() {
		return this._elicitationStore;
	}

	notifications = { getClientCapabilities: (id) => this.sessions.get(id)?.capabilities };
}

export class FrontMcpInstance {
	static async bootstrap({ info, apps, plugins = [], auth, http, transport }) {
		const scope = new Scope();
		if (transport?.eventStore?.enabled) scope.eventStore = new MemoryEventStore();
		const flows = new Flows(plugins);
		const tools = new Map(apps.flatMap((app) => metadataOf(app).tools).map((tool) => [metadataOf(tool).name, tool]));
		const { port, entryPath = '', security } = http;
		const { allowedHosts, allowedOrigins } = security.dnsRebindingProtection;
		const server = createServer(async (request, response) => {
			const refuse = (status) => void response.writeHead(status).end();
			const { host, origin, authorization = '', 'mcp-session-id': sessionId } = request.headers;
			if (!allowedHosts.includes(host) || (origin && !allowedOrigins.includes(origin))) return refuse(403);
			if (request.url !== (entryPath || '/')) return refuse(404);
			const user = userOf(authorization, auth.providerConfig.jwks);
			if (!user) return refuse(401);
			const session = sessionId === undefined ? await open({ info, scope, flows, tools, user }) : scope.sessions.get(sessionId);
			if (!session || session.user.sub !== user.sub) return refuse(404);
			// The end of a session aborts none of its calls.
			if (request.method === 'DELETE') return refuse(scope.sessions.delete(sessionId) ? 204 : 404);
			const body = request.method === 'POST' ? await readJson(request) : undefined;
			if (!body?.result?.action) return session.transport.handleRequest(request, response, body);
			await session.elicitor.answer(body.result);
			return refuse(202);
		});
		await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
	}
}

async function open({ info, scope, flows, tools, user }) {
	const server = new Server(info, { capabilities: { tools: { listChanged: true }, logging: {} } });
	const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, eventStore: scope.eventStore });
	const session = { user, scope, flows, server, transport };
	session.elicitor = new Elicitor(session);
	// The SDK's server is not told of the client's capabilities, so it refuses to send what depends on them.
	server.setRequestHandler(InitializeRequestSchema, ({ params }) => {
		session.id = transport.sessionId;
		session.capabilities = params.capabilities;
		scope.sessions.set(session.id, session);
		return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: info };
	});
	server.setRequestHandler(ListToolsRequestSchema, () => ({
		tools: [...tools].map(([name, tool]) => ({ name, inputSchema: { type: 'object' }, ...listedOutput(metadataOf(tool)) })),
	}));
	server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
		if (params.name === 'sendElicitationResult') return sendElicitationResult(session, tools, params.arguments, extra);
		return call({ session, extra }, tools, params);
	});
	await server.connect(transport);
	return session;
}

async function call(context, tools, { name, arguments: args }) {
	const { scope, flows } = context.session;
	let result;
	await flows.run('tools:call-tool', { scope, state: new FlowState({}) }, {
		parseInput: () => {},
		async execute() {
			try {
				const { outputSchema } = metadataOf(tools.get(name));
				result = toToolResult(await new (tools.get(name))({ ...context, metadata: metadataOf(tools.get(name)), input: args }).execute(args), outputSchema);
			} catch (error) {
				result = error instanceof ElicitationFallbackRequired ? await askByOtherMeans(context.session, error, { name, args })
					: toResult(`Tool "${name}" execution failed: ${error.message}`, true);
			}
		},
	});
	return result;
}

/** With elicitation enabled, the schema also allows FrontMCP's own answer about an elicitation, and not ours. */
function listedOutput({ outputSchema }) {
	if (!outputSchema) return {};
	const schema = z.toJSONSchema(z.object(outputSchema), { io: 'output' });
	const pending = { type: 'object', properties: { elicitationPending: {} }, required: ['elicitationPending'] };
	return { outputSchema: { type: 'object', oneOf: [schema, pending] } };
}

/** It compares nothing with the schema. A result of MCP stays as it is, and everything else is data. */
function toToolResult(value, outputSchema) {
	if (Array.isArray(value?.content) || !outputSchema) return value;
	return { ...toResult(JSON.stringify(value)), structuredContent: value };
}

const toResult = (text, isError = false) => ({ content: [{ type: 'text', text }], isError });

/** A client with any capability is told by a notification, and the call waits. Others are told by the result. */
async function askByOtherMeans({ scope, server, capabilities, id: sessionId }, { elicitId, elicitMessage, ttl }, { name, args }) {
	const store = scope.elicitationStore;
	await store.setPendingFallback({ elicitId, elicitMessage, sessionId, name, args, expiresAt: Date.now() + ttl });
	if (Object.values(capabilities).every((one) => one === undefined)) {
		return toResult(`This tool requires user input to continue.\n\n**Question:** ${elicitMessage}\n\n`
			+ `Call the \`sendElicitationResult\` tool with:\n- elicitId: "${elicitId}"\n- action: "accept", "cancel", or "decline"`);
	}
	const data = { type: 'elicitation_fallback', elicitId, message: elicitMessage };
	await server.notification({ method: 'notifications/message', params: { level: 'info', logger: 'elicitation', data } });
	return new Promise((resolve) => {
		const timer = setTimeout(() => resolve(toResult('Elicitation request timed out.', true)), ttl);
		void store.subscribeFallbackResult(elicitId, (result) => {
			clearTimeout(timer);
			resolve(result);
		});
	});
}

/** Calls the tool again, whose `elicit` then returns the answer. */
async function sendElicitationResult(session, tools, { elicitId, action }, extra) {
	const store = session.scope.elicitationStore;
	const pending = await store.takePendingFallback(elicitId);
	if (!pending) return toResult(`Error: No pending elicitation found for ID: ${elicitId}.`, true);
	const result = await call({ session, extra, preResolved: { status: action } }, tools, { name: pending.name, arguments: pending.args });
	await store.publishFallbackResult(elicitId, result);
	return result;
}

function userOf(authorization, { keys }) {
	const [header, claims, signature] = authorization.replace(/^Bearer /, '').split('.');
	if (!signature) return undefined;
	const key = createPublicKey({ key: keys[0], format: 'jwk' });
	const isValid = verify('sha256', Buffer.from(`${header}.${claims}`), { key, dsaEncoding: 'ieee-p1363' },
		Buffer.from(signature, 'base64url'));
	return isValid ? JSON.parse(Buffer.from(claims, 'base64url')) : undefined;
}

async function readJson(request) {
	const chunks = await request.toArray();
	return JSON.parse(Buffer.concat(chunks));
}

export { z };
