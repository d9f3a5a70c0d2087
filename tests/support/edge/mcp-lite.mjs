// On mcp-lite, without sessions.

import { McpServer, StreamableHttpTransport } from 'mcp-lite';
import { withElicitation } from 'urlmode/mcp-lite';

import { serve } from './serve.mjs';

export default serve((request, tools) => {
	const server = new McpServer({ name: 'reports', version: '1.0.0' });
	for (const [name, { options, body }] of Object.entries(tools)) {
		server.tool(name, { description: name, handler: (args, call) => withElicitation({ ...options, call, typed: false }, body) });
	}
	return new StreamableHttpTransport().bind(server)(request);
});
