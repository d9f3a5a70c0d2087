/** The used part of the suite's src/connection: calls of protocol revision 2026-07-28. */

import { DRAFT_PROTOCOL_VERSION, type SpecVersion } from './types.ts';

export interface RunContext {
  serverUrl: string;
  specVersion: SpecVersion;
}

let lastId = 0;

export async function sendStatelessRequest(serverUrl: string, method: string, params: Record<string, unknown> = {}) {
  const id = (lastId += 1);
  const response = await fetch(serverUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json', accept: 'application/json, text/event-stream',
      'mcp-protocol-version': DRAFT_PROTOCOL_VERSION, 'mcp-method': method, 'mcp-name': String(params.name ?? '')
    },
    body: JSON.stringify({
      jsonrpc: '2.0', id, method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': DRAFT_PROTOCOL_VERSION,
          'io.modelcontextprotocol/clientInfo': { name: 'conformance', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': {},
          ...(params._meta as object | undefined)
        }
      }
    })
  });
  const text = await response.text();
  const messages = response.headers.get('content-type')?.startsWith('text/event-stream')
    ? text.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6)) : [text];
  const body = messages.filter(Boolean).map((message) => JSON.parse(message)).find((message) => message.id === id);
  return { status: response.status, headers: response.headers, body: body as { result?: unknown; error?: unknown } | undefined };
}
