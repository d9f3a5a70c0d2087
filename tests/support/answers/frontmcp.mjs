// FrontMCP, with the access tokens of the test.

import process from 'node:process';

import { App, FrontMcpInstance, Tool, ToolContext } from '@frontmcp/sdk';

import { work } from './work.mjs';

const { PORT, AUTH } = process.env;

class Work extends ToolContext {
	execute() {
		return work();
	}
}
Tool({ name: 'work', description: 'Works.', inputSchema: {} })(Work);

class Works {}
App({ id: 'work', name: 'Work', tools: [Work] })(Works);

await FrontMcpInstance.bootstrap({
	info: { name: 'work', version: '1.0.0' }, apps: [Works], auth: JSON.parse(AUTH),
	http: { port: Number(PORT), entryPath: '/mcp', security: {
		bindAddress: 'loopback',
		dnsRebindingProtection: { enabled: true, allowedHosts: [`127.0.0.1:${PORT}`], allowedOrigins: [`http://127.0.0.1:${PORT}`] },
	} },
});
console.log(`http://127.0.0.1:${PORT}/mcp`);
