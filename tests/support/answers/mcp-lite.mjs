// mcp-lite on Hono's server for Node.

import process from 'node:process';

import { serve } from '@hono/node-server';
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from 'mcp-lite';

import { work } from './work.mjs';

const server = new McpServer({ name: 'work', version: '1.0.0' });
server.tool('work', { description: 'Works.', handler: () => work() });
const transport = new StreamableHttpTransport({ sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 100 }) });
const handle = transport.bind(server);
serve({ hostname: '127.0.0.1', port: Number(process.env.PORT), fetch: (request) => handle(request) },
	({ port }) => console.log(`http://127.0.0.1:${port}/mcp`));
