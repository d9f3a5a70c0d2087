/** The used part of the suite's src/connection/sdk-client.ts: a client of protocol revision 2025-11-25. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export async function connectToServer(serverUrl: string, { capabilities = {} }: { capabilities?: object } = {}, _specVersion?: string) {
  const client = new Client({ name: 'conformance', version: '1.0.0' }, { capabilities });
  await client.connect(new StreamableHTTPClientTransport(new URL(serverUrl)));
  return { client, close: () => client.close() };
}
