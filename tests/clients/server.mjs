// An MCP server whose only tool answers in one way, as often as SHAPES says, and
// from then on with "done".

import { createServer } from 'node:http';

export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';

const state = (round) => ({ resultType: 'input_required', requestState: `state ${round}` });
const elicitation = { mode: 'url', url: 'https://callback.example/connect/stripe', message: 'Please.' };
const fail = (code, message, data) => ({ error: { code, message, data } });
const text = (said, more) => ({ result: { resultType: 'complete', content: [{ type: 'text', text: said }], ...more } });

/** What the tool answers, and how often. */
const SHAPES = {
	'state': [4, (round) => ({ result: state(round) })],
	'empty-map': [4, (round) => ({ result: { ...state(round), inputRequests: {} } })],
	'requests': [1, (round) => ({ result: { ...state(round), inputRequests: { urlmode: { method: 'elicitation/create', params: elicitation } } } })],
	'requests-again': [Infinity, (round) => ({ result: { ...state(round), inputRequests: { urlmode: { method: 'elicitation/create', params: elicitation } } } })],
	'pending': [1, () => text('pending', { structuredContent: { elicitation: { status: 'pending' } } })],
	'-32021': [1, () => fail(-32021, 'Missing required client capability', { requiredCapabilities: { elicitation: { url: {} } } })],
	'-32042': [1, () => fail(-32042, 'URL elicitation required', { elicitations: [{ ...elicitation, elicitationId: 'an-id' }] })],
};

const serverInfo = { name: 'answers', version: '1.0.0' };
const capabilities = { tools: {} };
const cached = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const tools = [{ name: 'work', description: 'Works.', inputSchema: { type: 'object' } }];

function answer(revision, shape, { method, params }, calls) {
	// A client of an older revision gets that one.
	if (method === 'initialize') return { result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } };
	if (method === 'server/discover' && revision === MODERN) return { result: { supportedVersions: [revision], capabilities, serverInfo, ...cached } };
	if (method === 'tools/list') return { result: { tools, ...cached } };
	if (method !== 'tools/call') return fail(-32601, 'Method not found');
	calls.push(params);
	const [times, respond] = SHAPES[shape];
	return calls.length <= times ? respond(calls.length) : text('done');
}

/**
 * @returns {Promise<{ url: string, calls: Record<string, unknown>[], close: () => void }>} `calls`: the parameters of each call
 *     of the tool
 */
export async function startServer(revision, shape) {
	const calls = [];
	const http = createServer(async (request, response) => {
		let body = '';
		for await (const chunk of request) body += chunk;
		const message = request.method === 'POST' ? JSON.parse(body) : undefined;
		if (!message) return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
		if (message.id === undefined) return void response.writeHead(202).end();
		const answered = answer(revision, shape, message, calls);
		const status = { [-32601]: 404, [-32021]: 400 }[answered.error?.code] ?? 200;
		response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answered }));
	});
	await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${http.address().port}/mcp`, calls,
		close() {
			http.closeAllConnections();
			http.close();
		},
	};
}
