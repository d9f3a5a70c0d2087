// On the official SDK 2.x.

import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { withElicitation } from 'urlmode/sdk2';

import { serve } from './serve.mjs';

export default serve((request, tools) => createMcpHandler(() => {
	const server = new McpServer({ name: 'reports', version: '1.0.0' });
	for (const [name, { options, body }] of Object.entries(tools)) {
		server.registerTool(name, { description: name }, (call) => withElicitation({ ...options, server, call }, body));
	}
	return server;
}, { legacy: 'reject' }).fetch(request));
