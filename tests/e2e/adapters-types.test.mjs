// Compiles TypeScript servers against the types of the adapters and of the oldest
// and newest frameworks.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { makeProject } from '../support/projects.mjs';

const execute = promisify(execFile);
const PACKAGE = fileURLToPath(new URL('../../lib/node', import.meta.url));
const TSC = join(PACKAGE, 'node_modules/typescript/bin/tsc');

const COMMON = `
import { UrlMode } from 'urlmode';
const urlmode = new UrlMode({ databaseUrl: 'postgresql://x', keysFile: '/keys', baseUrl: 'https://callback.example' });
const options = {
	urlmode, subject: 'user-42', provider: 'demo', kind: 'oauth' as const, pkce: true, message: 'Please.',
	targetUrl: ({ returnUrl }: { returnUrl: string }) => new URL(\`https://provider.example/?redirect_uri=\${returnUrl}\`),
};
`;

/** Servers as a reader of the README may write them, by file. */
const CONSUMERS = {
	'sdk.ts': `${COMMON}
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { elicitUrl, requireUrl, type ElicitResult } from 'urlmode/sdk';
const server = new McpServer({ name: 'a', version: '1.0.0' });
server.registerTool('a', { description: 'a', inputSchema: {} }, async (_args, extra) => {
	const result: ElicitResult = await elicitUrl(server, { ...options, extra });
	if (result.action !== 'accept') return result.toolResult;
	const code: unknown = result.result?.code;
	return { content: [{ type: 'text' as const, text: String(code) + result.returnUrl }] };
});
server.registerTool('b', { description: 'b', inputSchema: {} }, async (_args, extra) => {
	const result = await requireUrl(server.server, { ...options, extra, legTimeout: 1_000, resumeKey: 'b' });
	return result.action === 'accept' ? { content: [] } : result.toolResult;
});
// @ts-expect-error the callback's own argument is required
void elicitUrl(server, options);
`,
	'sdk2.ts': `${COMMON}
import { McpServer } from '@modelcontextprotocol/server';
import { elicitUrl, verifyRequestState } from 'urlmode/sdk2';
const server = new McpServer({ name: 'a', version: '1.0.0' }, { requestState: { verify: verifyRequestState() } });
server.registerTool('a', { description: 'a' }, async (ctx) => {
	const result = await elicitUrl(server, { ...options, ctx });
	if (result.action !== 'accept') return result.toolResult;
	return { content: [{ type: 'text' as const, text: result.codeVerifier ?? '' }] };
});
`,
	'mcp-use.ts': `${COMMON}
import { MCPServer } from 'mcp-use';
import { elicitUrl } from 'urlmode/mcp-use';
const server = new MCPServer({ name: 'a', version: '1.0.0' });
server.tool({ name: 'a', description: 'a' }, async (args, ctx) => {
	const result = await elicitUrl({ ...options, ctx });
	return result.action === 'accept' ? { content: [] } : result.toolResult;
});
`,
	'mcp-lite.ts': `${COMMON}
import { StreamableHttpTransport, McpServer, type ClientRequestAdapter, type SessionAdapter } from 'mcp-lite';
import { elicitUrl, PostgresClientRequestAdapter, PostgresSessionAdapter } from 'urlmode/mcp-lite';
const requests = new PostgresClientRequestAdapter(urlmode, { defaultTimeoutMs: 1_000 });
const clientRequestAdapter: ClientRequestAdapter = requests;
const sessionAdapter: SessionAdapter = new PostgresSessionAdapter(urlmode, { ttl: 1_000 });
const transport = new StreamableHttpTransport({ sessionAdapter, clientRequestAdapter });
const server = new McpServer({ name: 'a', version: '1.0.0' });
server.tool('a', {
	description: 'a',
	handler: async (args: unknown, ctx) => {
		const result = await elicitUrl({ ...options, ctx });
		return result.action === 'accept' ? { content: [] } : result.toolResult;
	},
});
export const handle: (request: Request) => Promise<Response> = requests.wrap(transport.bind(server));
`,
	'oauth.ts': `${COMMON}
import { discovery, type TokenEndpointResponse } from 'openid-client';
import { exchangeCode } from 'urlmode/oauth';
export async function connect(id: string): Promise<TokenEndpointResponse> {
	const configuration = await discovery(new URL('https://provider.example'), 'client');
	const outcome = await urlmode.waitForCompletion(id, { subject: options.subject });
	return exchangeCode(configuration, outcome, 'https://callback.example/oauth/demo/return');
}
`,
	'others.ts': `${COMMON}
import { elicitUrl, PostgresStorage } from 'urlmode/frontmcp';
import { urlWay, type Way } from 'urlmode/lynq';
const storage = new PostgresStorage(urlmode);
export const value: Promise<string | null> = storage.namespace('a', 'b').get('key');
export async function run(tool: Parameters<typeof elicitUrl>[0]['tool']): Promise<string> {
	const result = await elicitUrl({ ...options, tool, schema: undefined, storage });
	return result.action === 'accept' ? result.elicitationId : result.toolResult.content[0]?.text ?? '';
}
const { subject, ...rest } = options;
export const way: Way = urlWay(
	{ session: () => ({ get: () => subject, set: () => {} }), completeElicitation: () => {} },
	{ ...rest, subject: async () => subject, sessionKey: 'user', value: ({ result }) => result?.code },
);
urlmode.on('completed', ({ action, reason, elicitationId }) => console.log(action.length, reason, elicitationId));
urlmode.on('created', ({ expiresAt, kind }) => console.log(expiresAt.getTime(), kind));
`,
};

for (const frameworks of ['newest', 'oldest']) {
	describe(`${frameworks} frameworks`, { timeout: 240_000 }, () => {
		const project = makeProject({ name: 'types', frameworks, files: CONSUMERS });
		const types = join(project.folder, 'node_modules/urlmode/types');

		for (const name of ['@types/node', 'undici-types']) {
			const link = join(project.folder, 'node_modules', name);
			mkdirSync(join(link, '..'), { recursive: true });
			if (!existsSync(link)) {
				symlinkSync(join(PACKAGE, 'node_modules', name), link);
			}
		}

		test('the emitted types of the adapters contain no any', async () => {
			await execute(process.execPath, [TSC, '-p', PACKAGE, '--outDir', types]);
			for (const file of readdirSync(types, { recursive: true }).filter((name) => name.endsWith('.d.ts'))) {
				const code = readFileSync(join(types, file), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
				assert.doesNotMatch(code, /(?<!["'])\bany\b(?!["'])/, `${file} has an any`);
			}
			const { exports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
			for (const { types: declared } of Object.values(exports)) {
				assert.ok(!declared || existsSync(join(project.folder, 'node_modules/urlmode', declared)), `${declared} is missing`);
			}
		});

		for (const file of Object.keys(CONSUMERS)) {
			test(`${file} compiles`, async () => {
				await execute(process.execPath, [TSC, '--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext',
					'--skipLibCheck', '--types', 'node', file], { cwd: project.folder })
					.catch(({ stdout, message }) => assert.fail(stdout || message));
			});
		}
	});
}
