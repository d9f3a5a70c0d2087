// mcp-use on Hono's server for Node.

import process from 'node:process';

import { serve } from '@hono/node-server';
import { MCPServer } from 'mcp-use';

import { work } from './work.mjs';

const server = new MCPServer({ name: 'work', version: '1.0.0', skills: false, logging: { enabled: false } });
server.tool({ name: 'work', description: 'Works.' }, () => work());
serve({ fetch: server.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT) }, ({ port }) => {
	console.log(`http://127.0.0.1:${port}/mcp`);
});
