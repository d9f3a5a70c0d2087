// An MCP client. The caller decides how its user responds to elicitations.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
	ElicitationCompleteNotificationSchema, ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const CALL_TIMEOUT = 330_000;

/**
 * Connects the official SDK's client, with a session of its own.
 *
 * @param {{ url: string, token: string,
 *     onElicit?: (params: { elicitationId: string, url: string, message: string },
 *         signal: AbortSignal) => string | Promise<string>,
 *     onComplete?: (elicitationId: string) => void,
 *     capabilities?: object }} options
 *     url: the server's /mcp; token: the user's access token; onElicit: answers
 *     'accept', 'decline' or 'cancel'; onComplete: for
 *     notifications/elicitation/complete
 * @returns {Promise<McpClient>}
 */
export async function connectClient({
	url, token, onElicit, onComplete, capabilities = { elicitation: { url: {} } },
}) {
	const client = new Client({ name: 'urlmode-tests', version: '1.0.0' }, { capabilities });

	if (onElicit) {
		client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => (
			{ action: await onElicit(params, signal) }
		));
	}
	if (onComplete) {
		client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
			onComplete(params.elicitationId);
		});
	}
	const transport = new StreamableHTTPClientTransport(new URL(url), {
		requestInit: { headers: { Authorization: `Bearer ${token}` } },
	});
	await client.connect(transport);
	return new McpClient(client, transport);
}

class McpClient {
	#client;
	#transport;
	#sending = new Set();

	constructor(client, transport) {
		this.#client = client;
		this.#transport = transport;
		const send = transport.send.bind(transport);
		transport.send = (...args) => {
			const sent = send(...args).finally(() => this.#sending.delete(sent));
			this.#sending.add(sent);
			return sent;
		};
	}

	/** Waits until the server has received everything that was sent, such as a cancellation. */
	async sent() {
		await Promise.allSettled(this.#sending);
	}

	get sessionId() {
		return this.#transport.sessionId;
	}

	/**
	 * Calls a tool. `signal` cancels the request at the server as well;
	 * `onProgress` takes `{ progress, message }`.
	 * @returns {Promise<{ text: string, isError: boolean, open?: object }>} open: what the call has left open
	 */
	async callTool(name, { signal, onProgress, timeout = CALL_TIMEOUT } = {}) {
		const result = await this.#client.callTool({ name, arguments: {} }, undefined, {
			signal,
			onprogress: onProgress,
			timeout,
			resetTimeoutOnProgress: true,
		});
		return {
			text: result.content.map(({ text }) => text).join('\n'),
			isError: result.isError === true,
			...result.structuredContent?.elicitation && { open: result.structuredContent.elicitation },
		};
	}

	/** Also ends the session on the server. */
	async close() {
		await this.#transport.terminateSession().catch(() => {});
		await this.#client.close();
	}
}
