// A double of FrontMCP, on the official SDK 1.x. It implements only what FrontMCP
// documents about tools with `this.elicit`, and about the elicitation store that
// uses a storage.

import { randomUUID } from 'node:crypto';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

const TTL_MS = 300_000;

/** Documented: thrown when nobody answered within the ttl. */
export class ElicitationTimeoutError extends Error {
	constructor(elicitId, ttl) {
		super(`Elicitation ${elicitId} timed out after ${ttl}ms`);
		Object.assign(this, { elicitId, ttl });
	}
}

/** Documented: thrown for a client without elicitation. */
export class ElicitationNotSupportedError extends Error {}

/** Documented: pending:{sessionId} is a key, result:{elicitId} is a channel, both with a prefix. */
export function createElicitationStoreFromStorage(storage, { keyPrefix = 'mcp:elicit:' } = {}) {
	if (!storage.supportsPubSub()) {
		throw new ElicitationNotSupportedError('the storage has no publish and subscribe');
	}
	const own = storage.namespace(keyPrefix.replace(/:$/, ''));
	const pending = own.namespace('pending');

	return {
		setPending: (record) => pending.set(record.sessionId, JSON.stringify(record), {
			ttlSeconds: Math.max(1, Math.ceil((record.expiresAt - Date.now()) / 1000)),
		}),
		async getPending(sessionId) {
			const text = await pending.get(sessionId);
			return text === null ? null : JSON.parse(text);
		},
		deletePending: (sessionId) => pending.delete(sessionId),
		subscribeResult: (elicitId, callback) => own.subscribe(`result:${elicitId}`, (text) => callback(JSON.parse(text))),
		publishResult: async (elicitId, sessionId, result) => {
			await own.publish(`result:${elicitId}`, JSON.stringify(result));
			await pending.delete(sessionId);
		},
	};
}

export class ToolContext {
	/**
	 * Documented: a session has one open elicitation, and a new one cancels it;
	 * the response arrives through the store on any instance; after the ttl it
	 * throws.
	 */
	async elicit(message, schema, { mode = 'form', ttl = TTL_MS, elicitationId } = {}) {
		const { sdk, store, sessionId, extra } = this.context;
		if (mode === 'url' && !elicitationId) {
			throw new TypeError('elicitationId is required when mode is "url"');
		}
		if (!sdk.getClientCapabilities()?.elicitation?.[mode]) {
			throw new ElicitationNotSupportedError(`the client does not support ${mode} elicitation`);
		}
		const earlier = await store.getPending(sessionId);
		if (earlier) {
			await store.publishResult(earlier.elicitId, sessionId, { status: 'cancel' });
		}
		const elicitId = elicitationId ?? `elicit-${randomUUID()}`;
		await store.setPending({ elicitId, sessionId, message, mode, createdAt: Date.now(), expiresAt: Date.now() + ttl });

		let done;
		const result = new Promise((resolve) => {
			done = resolve;
		});
		const unsubscribe = await store.subscribeResult(elicitId, done);
		// The documented parameters have no URL, so it is taken from the message.
		sdk.request(
			{ method: 'elicitation/create', params: { mode, message, elicitationId: elicitId, url: /https?:\S+/.exec(message)?.[0] } },
			ANY, { relatedRequestId: extra.requestId, timeout: ttl },
		).then(
			({ action, content }) => store.publishResult(elicitId, sessionId, { status: action, content }),
			() => {},
		);
		let timer;
		const late = new Promise((_, reject) => {
			timer = setTimeout(() => reject(new ElicitationTimeoutError(elicitId, ttl)), ttl);
		});
		try {
			return await Promise.race([result, late]);
		} finally {
			clearTimeout(timer);
			await unsubscribe();
		}
	}
}

/** Used instead of a schema: accepts every value. */
const ANY = { parse: (value) => value, safeParse: (data) => ({ success: true, data }), parseAsync: async (value) => value };

/**
 * Serves tools. Not documented: FrontMCP uses decorators for this.
 *
 * @param {{ name: string, tools: (typeof ToolContext & { tool: { name: string, description: string } })[], store: object,
 *     subjectOf: (authorization: string) => string | undefined }} options
 */
export function createHandler({ name, tools, store, subjectOf }) {
	const sessions = new Map();

	async function open(subject) {
		const sessionId = randomUUID();
		const server = new McpServer({ name, version: '1.0.0' });
		for (const Tool of tools) {
			server.registerTool(Tool.tool.name, { description: Tool.tool.description }, (extra) => {
				const tool = new Tool();
				tool.context = { sdk: server.server, store, sessionId, extra, authInfo: { subject, sessionId } };
				return tool.execute({});
			});
		}
		const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => sessionId });
		transport.onclose = () => sessions.delete(sessionId);
		await server.connect(transport);
		sessions.set(sessionId, { subject, transport });
		return { subject, transport };
	}

	return async (request, response) => {
		const subject = subjectOf(request.headers.authorization);
		const id = request.headers['mcp-session-id'];
		const session = subject && (id === undefined ? await open(subject) : sessions.get(id));
		if (!session || session.subject !== subject) {
			response.writeHead(subject ? 404 : 401).end();
			return;
		}
		await session.transport.handleRequest(request, response);
	};
}
