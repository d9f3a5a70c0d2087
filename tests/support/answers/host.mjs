// A host with an official client, in a process of its own: for each line on standard
// input it calls the tool and prints what it returns, or the error.

import process from 'node:process';
import { createInterface } from 'node:readline';

const [url, client] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport } = client === 'sdk' ? {
	...await import('@modelcontextprotocol/sdk/client/index.js'), ...await import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
} : await import('@modelcontextprotocol/client');
const host = new Client({ name: 'host', version: '1.0.0' }, {
	...client === '2026-07-28' && { versionNegotiation: { mode: { pin: client } } },
	...client === '2025-11-25' && { versionNegotiation: { mode: 'legacy' } },
});
const headers = { authorization: `Bearer ${process.env.HOST_TOKEN}` };
await host.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
const call = { name: 'work', arguments: {} };
for await (const _ of createInterface({ input: process.stdin })) {
	const calling = client === 'sdk' ? host.callTool(call, undefined, { timeout: 120_000 }) : host.callTool(call, { timeout: 120_000 });
	console.log(await calling.then(({ content, isError }) => `${isError ? 'error: ' : ''}${content[0].text}`, (error) => `error: ${error.message}`));
}
process.exit();
