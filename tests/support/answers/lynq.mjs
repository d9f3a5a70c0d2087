// lynq on Hono's server for Node.

import process from 'node:process';

import { serve } from '@hono/node-server';
import { mountLynq } from '@lynq/hono';
import { createMCPServer } from '@lynq/lynq';
import { Hono } from 'hono';

import { work } from './work.mjs';

const server = createMCPServer({ name: 'work', version: '1.0.0' });
server.tool('work', { description: 'Works.' }, () => work());
const app = new Hono();
mountLynq(app, server);
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT) }, ({ port }) => {
	console.log(`http://127.0.0.1:${port}/mcp`);
});
