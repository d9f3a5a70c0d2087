// On the official SDK 1.x, without sessions: what a client can do is not known, so it has the link as text.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { withElicitation } from 'urlmode/sdk';

import { serve } from './serve.mjs';

export default serve(async (request, tools) => {
	const server = new McpServer({ name: 'reports', version: '1.0.0' });
	for (const [name, { options, body }] of Object.entries(tools)) {
		server.registerTool(name, { description: name }, (call) => withElicitation({ ...options, server, call }, body));
	}
	const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: undefined });
	await server.connect(transport);
	return transport.handleRequest(request);
});
