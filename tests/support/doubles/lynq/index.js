// A double of lynq: what the adapter uses, with lynq's signatures and failures.
// Compared with lynq 0.13.0, whose tests are the same as those of this double.

import { randomUUID } from 'node:crypto';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';

import { error, text, userStoreOf } from './helpers.js';

const TIMEOUT_MS = 300_000;

export function createMCPServer({ name, version }) {
	const tools = new Map();
	const sessions = new Map();
	const stored = new Map();
	const waits = new Map();

	/** Makes a session that it does not know, also one that has ended. */
	function sessionOf(id) {
		if (!sessions.has(id)) sessions.set(id, { values: new Map(), grants: new Set(), enabled: new Set() });
		return sessionApi(sessions.get(id));
	}

	/** A tool is hidden until each middleware whose onRegister answers false is authorized, or the tool is enabled. */
	function isVisible({ toolName, hiddenBy }, id) {
		sessionOf(id);
		const { grants, enabled } = sessions.get(id);
		return enabled.has(toolName) || hiddenBy.every((middleware) => grants.has(middleware));
	}

	function connectServer() {
		const sdk = new Server({ name, version }, { capabilities: { tools: { listChanged: true } } });
		sdk.setRequestHandler(ListToolsRequestSchema, (request, { sessionId = 'default' }) => ({
			tools: [...tools.values()].filter((tool) => isVisible(tool, sessionId))
				.map(({ toolName, description }) => ({ name: toolName, description, inputSchema: { type: 'object' } })),
		}));
		sdk.setRequestHandler(CallToolRequestSchema, async ({ params }, { sessionId = 'default', signal }) => {
			const tool = tools.get(params.name);
			if (!tool || !isVisible(tool, sessionId)) throw new McpError(ErrorCode.MethodNotFound, `Tool not available: ${params.name}`);
			const args = params.arguments ?? {};
			const session = sessionOf(sessionId);
			const middlewares = tool.middlewares.filter(({ onCall }) => onCall);
			const c = {
				toolName: params.name, args, sessionId, session, signal, text, error,
				elicit: { url: (...request) => elicitUrl(sdk, ...request) },
				userStore: userStoreOf(session, stored),
			};
			let index = 0;
			const next = async () => {
				const middleware = middlewares[index];
				index += 1;
				return middleware ? middleware.onCall(c, next) : tool.handler(args, c);
			};
			return next();
		});
		return sdk;
	}

	/** The request to the client has the SDK's timeout, and no progress. It needs the client's GET stream. */
	async function elicitUrl(sdk, message, url, { elicitationId = randomUUID(), waitForCompletion = false, timeout = TIMEOUT_MS } = {}) {
		const completed = waitForCompletion && new Promise((resolve) => {
			waits.set(elicitationId, { resolve, notify: notifierOf(sdk, elicitationId) });
		});
		const { action } = await sdk.elicitInput({ mode: 'url', message, url, elicitationId });
		if (action === 'accept' && completed) await within(timeout, completed, () => waits.delete(elicitationId));
		else waits.delete(elicitationId);
		return { action };
	}

	return {
		/** tool(name, ...middlewares, config, handler) */
		tool(toolName, ...rest) {
			const handler = rest.pop();
			const { description } = rest.pop();
			const hiddenBy = rest.filter((middleware) => middleware.onRegister?.({ name: toolName }) === false);
			tools.set(toolName, { toolName, description, middlewares: rest, handler, hiddenBy: hiddenBy.map((one) => one.name) });
		},

		session: sessionOf,

		/** Ignores an unknown, late or repeated id. */
		completeElicitation(id) {
			const wait = waits.get(id);
			waits.delete(id);
			wait?.notify().catch(() => {});
			wait?.resolve();
		},

		/** Returns a handler of web requests. What `onRequest` throws is answered 400, or thrown by the handler. */
		http({ sessionless = false, onRequest } = {}) {
			const transports = new Map();
			const endSession = (id) => {
				transports.delete(id);
				sessions.delete(id);
			};
			return async (request) => {
				const id = request.headers.get('mcp-session-id');
				if (id && !sessionless) {
					const known = transports.get(id);
					if (!known) return Response.json({ jsonrpc: '2.0', error: { code: -32000, message: 'Session not found' } }, { status: 404 });
					await onRequest?.(request, id, sessionOf(id));
					return known.handleRequest(request);
				}
				const transport = new WebStandardStreamableHTTPServerTransport(sessionless ? { sessionIdGenerator: undefined } : {
					sessionIdGenerator: randomUUID,
					onsessioninitialized(started) {
						transports.set(started, transport);
						onRequest?.(request, started, sessionOf(started));
					},
					onsessionclosed: endSession,
				});
				await connectServer().connect(transport);
				return transport.handleRequest(request);
			};
		},
	};
}

function sessionApi({ values, grants, enabled }) {
	return {
		get: (key) => values.get(key),
		set: (key, value) => void values.set(key, value),
		authorize: (middleware) => void grants.add(middleware),
		revoke: (middleware) => void grants.delete(middleware),
		enableTools: (...names) => names.forEach((one) => enabled.add(one)),
	};
}

/** Does nothing for a client that cannot be notified. */
function notifierOf(sdk, id) {
	try {
		return sdk.createElicitationCompletionNotifier(id);
	} catch {
		return async () => {};
	}
}

/** The timer starts after the user has accepted. */
async function within(timeout, promise, onTimeout) {
	let timer;
	const late = new Promise((_, reject) => {
		timer = setTimeout(() => {
			onTimeout();
			reject(new Error('Elicitation timed out'));
		}, timeout);
	});
	try {
		await Promise.race([promise, late]);
	} finally {
		clearTimeout(timer);
	}
}
