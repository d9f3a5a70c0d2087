// On mcp-use 2.x.

import { MCPServer } from 'mcp-use';
import { withElicitation } from 'urlmode/mcp-use';

import { serve } from './serve.mjs';

export default serve((request, tools) => {
	const server = new MCPServer({ name: 'reports', version: '1.0.0', skills: false, logging: { enabled: false } });
	for (const [name, { options, body }] of Object.entries(tools)) {
		server.tool({ name, description: name }, (args, call) => withElicitation({ ...options, call, typed: false }, body));
	}
	return server.fetch(request);
});
