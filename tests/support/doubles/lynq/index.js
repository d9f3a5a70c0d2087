// A double of lynq's server, on the official SDK 1.x. It implements only what
// lynq documents about tools with middlewares, sessions, `c.elicit.url` and
// `completeElicitation`. As in lynq, its waits are in the memory of one process.

import { randomUUID } from 'node:crypto';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

/** Documented: a wait for completion ends with this error, 300 seconds by default. */
const TIMEOUT_MS = 300_000;

export function createMCPServer({ name, version }) {
	const tools = [];
	const sessions = new Map();
	const waits = new Map();

	const server = {
		/** tool(name, ...middlewares, config, handler) */
		tool(toolName, ...rest) {
			const handler = rest.pop();
			const { description } = rest.pop();
			tools.push({ toolName, description, middlewares: rest, handler });
		},

		session(id) {
			return sessions.get(id)?.session ?? emptySession(id, sessions);
		},

		/** Ignores an unknown, late or repeated id. */
		completeElicitation(id) {
			const wait = waits.get(id);
			waits.delete(id);
			wait?.notify().catch(() => {});
			wait?.resolve();
		},

		/** Documented for the web standard handler; here for that of Node.js, which the tests use. */
		http({ onRequest } = {}) {
			return async (request, response) => {
				const id = request.headers['mcp-session-id'];
				if (id !== undefined && !sessions.get(id)?.transport) {
					response.writeHead(404).end();
					return;
				}
				const sessionId = id ?? randomUUID();
				try {
					await onRequest?.(request, sessionId, server.session(sessionId));
				} catch {
					response.writeHead(401).end();
					return;
				}
				const entry = sessions.get(sessionId);
				entry.transport ??= await connect(sessionId);
				await entry.transport.handleRequest(request, response);
			};
		},

		async close() {
			for (const { transport } of sessions.values()) {
				await transport?.close();
			}
		},
	};

	async function connect(sessionId) {
		const mcp = new McpServer({ name, version });
		for (const { toolName, description, middlewares, handler } of tools) {
			mcp.registerTool(toolName, { description }, (extra) => {
				const c = contextOf(mcp.server, sessionId, extra, toolName);
				const run = (index) => (index === middlewares.length ? handler({}, c)
					: middlewares[index].onCall(c, async () => run(index + 1)));
				return run(0);
			});
		}
		const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => sessionId });
		transport.onclose = () => sessions.delete(sessionId);
		await mcp.connect(transport);
		return transport;
	}

	function contextOf(sdk, sessionId, extra, toolName) {
		return {
			toolName,
			args: {},
			sessionId,
			session: server.session(sessionId),
			signal: extra.signal,
			text: (text) => ({ content: [{ type: 'text', text }] }),
			error: (text) => ({ content: [{ type: 'text', text }], isError: true }),
			elicit: {
				async url(message, url, { elicitationId = randomUUID(), waitForCompletion = false, timeout = TIMEOUT_MS } = {}) {
					// Before the request to the client, so that no completion is missed.
					const completed = waitForCompletion && new Promise((resolve) => {
						waits.set(elicitationId, { resolve, notify: notifierOf(sdk, elicitationId) });
					});
					const { action } = await sdk.elicitInput({ mode: 'url', message, url, elicitationId });
					if (action === 'accept' && completed) {
						await within(timeout, completed, () => waits.delete(elicitationId));
					} else {
						waits.delete(elicitationId);
					}
					return { action };
				},
			},
		};
	}

	return server;
}

/** Does nothing for a client that cannot be notified. */
function notifierOf(sdk, id) {
	return sdk.getClientCapabilities()?.elicitation?.url ? sdk.createElicitationCompletionNotifier(id) : async () => {};
}

function emptySession(id, sessions) {
	const values = new Map();
	const grants = new Set();
	const session = {
		get: (key) => values.get(key),
		set: (key, value) => void values.set(key, value),
		authorize: (name) => void grants.add(name),
		revoke: (name) => void grants.delete(name),
	};
	sessions.set(id, { session });
	return session;
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
