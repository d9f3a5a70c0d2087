// The client of the Tasks extension, @modelcontextprotocol/ext-tasks, over the official SDK's. The SDK's client
// refuses what a task looks like, so that these requests are sent beside it.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';

const PROTOCOL = '2026-07-28';
export const TASKS = 'io.modelcontextprotocol/tasks';
const META = 'io.modelcontextprotocol';

/**
 * @param {{ url: string, token: string, name?: string, capabilities?: object, onElicit?: (params: any) => string | Promise<string> }} options
 */
export async function connectTasks({ url, token, name = 'urlmode-tasks', capabilities = { elicitation: { url: {} } }, onElicit = () => 'accept' }) {
	const all = { ...capabilities, extensions: { [TASKS]: {} } };
	const clientInfo = { name, version: '1.0.0' };
	const client = new Client(clientInfo, { capabilities: all, versionNegotiation: { mode: { pin: PROTOCOL } } });
	const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
	await client.connect(transport);
	const asked = [];
	const send = (request, options) => sendRequest(url, token, request, options);
	const framed = (method, params, declared) => ({ method, params: { ...params, _meta: {
		[`${META}/protocolVersion`]: PROTOCOL, [`${META}/clientInfo`]: clientInfo, [`${META}/clientCapabilities`]: declared,
	} } });
	const session = createTaskSessionFromClient(client, {
		endpointId: 'urlmode', rawDispatch: send, v2RequestFraming: { protocolVersion: PROTOCOL, clientInfo, clientCapabilities: all },
		onInputRequest: async ({ params }) => {
			asked.push(params);
			return { action: await onElicit(params) };
		},
	});
	return {
		session, asked, client,
		/** A request as it is, with the capabilities of this client or others. */
		request: (method, params, { declared = all, headers } = {}) => send(framed(method, params, declared), { headers }),
		/** The messages of a stream. */
		async* listen(params, { signal } = {}) {
			const response = await post(url, token, framed('subscriptions/listen', params, all), { signal });
			let rest = '';
			for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
				const events = (rest + chunk).split(/\r?\n\r?\n/);
				rest = events.pop();
				for (const event of events) if (event.includes('data: ')) yield JSON.parse(/^data: (.*)$/m.exec(event)[1]);
			}
		},
		close: async () => {
			await session.close().catch(() => {});
			await client.close().catch(() => {});
		},
	};
}

let lastId = 0;

async function post(url, token, request, { signal, headers } = {}) {
	const { method, params = {} } = request;
	const named = params.name ?? params.taskId;
	return fetch(url, {
		method: 'POST', signal,
		headers: {
			'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', Authorization: `Bearer ${token}`, 'MCP-Protocol-Version': PROTOCOL,
			'Mcp-Method': method, ...named !== undefined && { 'Mcp-Name': String(named) }, ...headers,
		},
		body: JSON.stringify({ jsonrpc: '2.0', id: lastId += 1, ...request }),
	});
}

async function sendRequest(url, token, request, options) {
	const text = await (await post(url, token, request, options)).text();
	const message = JSON.parse(/^data: (\{"(?:jsonrpc|result|id).*"(?:result|error)".*)$/m.exec(text)?.[1] ?? text);
	return message.error ? { kind: 'error', error: message.error } : { kind: 'result', result: message.result };
}
