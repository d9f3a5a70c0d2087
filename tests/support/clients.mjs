// MCP clients with either official SDK, in the version that a project has. The
// test decides how their user responds.

import { deferred } from './wait.mjs';

const CALL_TIMEOUT = 60_000;

/**
 * @typedef {object} ClientOptions
 * @property {string} url the server's /mcp
 * @property {string} token the user's access token
 * @property {string} [name] by which the server knows the client
 * @property {Record<string, string>} [headers] further ones, of each request
 * @property {object} [capabilities]
 * @property {object} [tells] what it tells a server of 2025-11-25 instead of them
 * @property {(params: { url: string, message: string, elicitationId?: string }, client: TestClient,
 *     signal: AbortSignal) => string | Promise<string>} [onElicit] returns 'accept', 'decline' or 'cancel'; 'accept' by
 *     default
 * @property {object} [content] what the user fills in on a form
 */

const NAME = 'urlmode-tests';
const URL_CAPABILITY = { elicitation: { url: {} } };

/** The interface of a client for tests. */
class TestClient {
	/** @type {{ url: string, message: string, elicitationId?: string }[]} the elicitation requests that it has received */
	requests = [];
	/** @type {string[]} the elicitations for which it has received a completion notification */
	completed = [];
	#waiting = [];

	/**
	 * @param {ClientOptions['onElicit']} onElicit
	 * @param {object} [content] what the user fills in on a form
	 */
	constructor(onElicit = () => 'accept', content = undefined) {
		this.onElicit = onElicit;
		this.content = content;
	}

	/** Resolves to the next elicitation request, which may have arrived already. */
	async nextRequest() {
		const next = this.requests[this.seen ?? 0];
		this.seen = (this.seen ?? 0) + 1;
		if (next) {
			return next;
		}
		const waiting = deferred();
		this.#waiting.push(waiting);
		return waiting.promise;
	}

	async elicit(params, signal) {
		this.requests.push(params);
		this.#waiting.shift()?.resolve(params);
		const action = await this.onElicit(params, this, signal);
		return { action, ...action === 'accept' && this.content && { content: this.content } };
	}

	/** @returns {Promise<{ text: string, data?: unknown, isError: boolean }>} */
	async call(name, { signal, onProgress, timeout = CALL_TIMEOUT, args = {}, meta } = {}) {
		const result = await this.callRaw(name, { args, meta, options: {
			signal, onprogress: onProgress, timeout, resetTimeoutOnProgress: true,
		} });
		const { structuredContent: data } = result;
		return { text: result.content.map(({ text }) => text).join('\n'), ...data !== undefined && { data }, isError: result.isError === true };
	}
}

/**
 * @param {import('./projects.mjs').Project} project
 * @param {ClientOptions} options
 */
export async function connectSdk1(project, { url, token, headers, capabilities = URL_CAPABILITY, tells, onElicit, content, name = NAME }) {
	const { Client } = project.load('@modelcontextprotocol/sdk/client/index.js');
	const { StreamableHTTPClientTransport } = project.load('@modelcontextprotocol/sdk/client/streamableHttp.js');
	const types = project.load('@modelcontextprotocol/sdk/types.js');
	const test = new TestClient(onElicit, content);
	const client = new Client({ name, version: '1.0.0' }, { capabilities });
	if (capabilities.elicitation) {
		client.setRequestHandler(types.ElicitRequestSchema, ({ params }, { signal }) => test.elicit(params, signal));
	}
	client.setNotificationHandler(types.ElicitationCompleteNotificationSchema, ({ params }) => {
		test.completed.push(params.elicitationId);
	});
	const transport = new StreamableHTTPClientTransport(new URL(url), {
		requestInit: { headers: { Authorization: `Bearer ${token}`, ...headers } }, ...tells && { fetch: telling(tells) },
	});
	client.onerror = () => {};
	await client.connect(transport);
	await client.listTools(); // as hosts do; from then on it compares results with the tools' output schemas
	// A call that nobody answers holds the process until it times out, even when the client is closed.
	const closing = new AbortController();
	test.callRaw = (name, { args, meta, options }) => client.callTool({ name, arguments: args, _meta: meta }, undefined, {
		...options, signal: AbortSignal.any([closing.signal, options?.signal ?? closing.signal]),
	});
	test.sessionId = transport.sessionId;
	test.endSession = () => transport.terminateSession();
	test.close = async () => {
		closing.abort();
		await client.close().catch(() => {});
	};
	return test;
}

/** The SDKs' clients refuse what they do not declare. This one says that it declares something else. */
function telling(capabilities) {
	return (url, init) => {
		const message = init?.body && JSON.parse(init.body);
		if (message?.method !== 'initialize') return fetch(url, init);
		return fetch(url, { ...init, body: JSON.stringify({ ...message, params: { ...message.params, capabilities } }) });
	};
}

/**
 * Uses protocol revision 2026-07-28, or 2025-11-25 with `legacy`.
 *
 * @param {import('./projects.mjs').Project} project
 * @param {ClientOptions & { legacy?: boolean }} options
 */
export async function connectSdk2(project, { url, token, headers, capabilities = URL_CAPABILITY, tells, onElicit, name = NAME, legacy = false }) {
	const { Client, StreamableHTTPClientTransport } = project.load('@modelcontextprotocol/client');
	const test = new TestClient(onElicit);
	const client = new Client({ name, version: '1.0.0' }, {
		capabilities,
		versionNegotiation: { mode: legacy ? 'legacy' : { pin: '2026-07-28' } },
	});
	if (capabilities.elicitation) {
		client.setRequestHandler('elicitation/create', ({ params }, ctx) => test.elicit(params, ctx?.mcpReq?.signal));
	}
	if (legacy) {
		client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
			test.completed.push(params.elicitationId);
		});
	}
	client.onerror = () => {};
	const transport = new StreamableHTTPClientTransport(new URL(url), {
		requestInit: { headers: { Authorization: `Bearer ${token}`, ...headers } }, ...tells && { fetch: telling(tells) },
	});
	await client.connect(transport);
	await client.listTools();
	test.callRaw = (name, { args, meta, options }) => client.callTool({ name, arguments: args, _meta: meta }, options);
	test.callWith = (params, options) => client.callTool(params, options);
	test.endSession = () => transport.terminateSession();
	test.close = async () => {
		await client.close().catch(() => {});
	};
	return test;
}
