// Emits the package's types, and compiles TypeScript servers against them: alone,
// and with the adapters and the oldest and newest frameworks. The examples and the
// code in the documents are compiled, too.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { example, makeProject } from '../support/projects.mjs';

const execute = promisify(execFile);
const PACKAGE = fileURLToPath(new URL('../../lib/node', import.meta.url));
const ts = createRequire(join(PACKAGE, 'package.json'))('typescript');

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
import { askApproval, collectInput, withAccount, withElicitation, type Accepted } from 'urlmode/sdk';
const server = new McpServer({ name: 'a', version: '1.0.0' });
server.registerTool('a', { description: 'a', inputSchema: {} }, (_args, call) => withElicitation({ ...options, server, call }, async ({ result, returnUrl }) => {
	const code: unknown = result?.code;
	return { content: [{ type: 'text' as const, text: String(code) + returnUrl }] };
}));
const price = { ...options, pkce: undefined, kind: 'payment' as const, item: 'report:42' };
server.registerTool('b', { description: 'b', inputSchema: {} }, (_args, call) => withElicitation(
	{ ...price, expected: { amount: 1, currency: 'EUR' }, server: server.server, call, ask: 'error', roundTimeout: 1_000 },
	({ signal, fence, reference }: Accepted) => ({ content: [{ type: 'text' as const, text: \`\${signal.aborted} \${fence} \${reference}\` }] })));
const deliver = (reference: string, fence: number) => ({ content: [{ type: 'text' as const, text: reference + fence }] });
server.registerTool('paid', { description: 'b', inputSchema: {} }, (_args, call) => withElicitation(
	{ ...price, expected: { amount: 1, currency: 'EUR' }, server, call }, ({ reference, fence }) => deliver(reference, fence)));
server.registerTool('signed', { description: 'b', inputSchema: {} }, (_args, call) => withElicitation(
	{ ...price, kind: 'signature', server, call }, ({ elicitationId, fence }) => deliver(elicitationId, fence)));
// @ts-expect-error an account has no payment
void withElicitation({ ...options, server, call: undefined as never }, ({ reference, fence }) => deliver(reference, fence));
// @ts-expect-error the callback's own argument is required
void withElicitation({ ...options, server }, () => {});
// @ts-expect-error a payment needs what must be paid
void withElicitation({ ...price, server, call: undefined as never }, () => {});
// @ts-expect-error a payment is for something
void urlmode.create({ ...price, item: undefined, expected: 'any' });
// @ts-expect-error only an account has PKCE
void urlmode.create({ ...price, expected: 'any', pkce: true });
// @ts-expect-error only a payment has a price
void urlmode.create({ ...options, expected: 'any' });
const account = { urlmode, subject: 'user-42', provider: 'github', client: { id: 'a', secret: 'b' }, scopes: ['repo'], message: 'Please.' };
server.registerTool('c', { description: 'c', inputSchema: {} }, (_args, call) => withAccount({ ...account, server, call }, async (connected) => {
	const token: string = connected.tokens.access_token;
	return { content: [{ type: 'text' as const, text: (connected.account?.name ?? '') + token.length + connected.scopes.join() }] };
}));
// @ts-expect-error the client is required
void withAccount({ ...account, client: undefined, server, call: undefined as never }, () => {});
const page = { urlmode, subject: 'user-42', provider: 'key', message: 'Please.', form: { title: 'Your key', fields: [{ name: 'api_key', type: 'secret' as const, label: 'API key' }] } };
server.registerTool('d', { description: 'd', inputSchema: {} }, (_args, call) => collectInput({
	...page, server, call, verify: ({ values: { api_key: key } }) => (String(key).startsWith('sk-') ? undefined : { field: 'api_key', problem: 'It begins with sk-.' }),
}, async ({ values, fence }) => ({ content: [{ type: 'text' as const, text: \`\${typeof values.api_key} \${fence}\` }] })));
const decision = { urlmode, subject: 'user-42', provider: 'deletion', message: 'Please.', form: { title: 'Delete it?' } };
server.registerTool('e', { description: 'e', inputSchema: {} }, (_args, call) => askApproval({
	...decision, server, call, approver: ['grace'], sendLink: ({ approvalUrl }: { approvalUrl: string }) => console.log(approvalUrl.length),
}, ({ approver, comment, decidedAt }) => ({ content: [{ type: 'text' as const, text: approver + (comment ?? '') + decidedAt.getTime() }] })));
// @ts-expect-error the user of the call gets the link from the client
void askApproval({ ...decision, server, call: undefined as never, sendLink: () => {} }, () => {});
// @ts-expect-error an approval is not verified
void askApproval({ ...decision, server, call: undefined as never, verify: () => undefined }, () => {});
// @ts-expect-error the form has no fields
void collectInput({ ...page, form: { title: 'a' }, server, call: undefined as never }, () => {});
`,
	'sdk2.ts': `${COMMON}
import { z } from 'zod';
import { McpServer } from '@modelcontextprotocol/server';
import { verifyRequestState, withAccount, withElicitation } from 'urlmode/sdk2';
const server = new McpServer({ name: 'a', version: '1.0.0' }, { requestState: { verify: verifyRequestState(urlmode) } });
server.registerTool('a', { description: 'a' }, (call) => withElicitation({ ...options, server, call },
	({ codeVerifier }) => ({ content: [{ type: 'text' as const, text: codeVerifier ?? '' }] })));
server.registerTool('b', { description: 'b' }, (call) => withAccount({
	urlmode, server, call, subject: 'user-42', provider: 'shopify', variables: { shop: 'a' }, client: { id: 'a', secret: 'b' }, message: 'Please.',
}, () => ({ content: [] })));
server.registerPrompt('c', { description: 'c', argsSchema: z.object({ about: z.string() }) }, (_args, call) => withElicitation({ ...options, server, call },
	({ elicitationId }) => ({ messages: [{ role: 'user' as const, content: { type: 'text' as const, text: elicitationId } }] })));
server.registerResource('d', 'd://d', {}, (uri, call) => withElicitation({ ...options, server, call },
	({ elicitationId }) => ({ contents: [{ uri: uri.href, text: elicitationId }] })));
`,
	'mcp-use.ts': `${COMMON}
import { MCPServer } from 'mcp-use';
import { z } from 'zod';
import { withElicitation } from 'urlmode/mcp-use';
const server = new MCPServer({ name: 'a', version: '1.0.0' });
server.tool({ name: 'a', description: 'a' }, (args, call) => withElicitation({ ...options, typed: false, call }, () => ({ content: [] })));
const outputSchema = z.object({ text: z.string() });
const report = () => ({ content: [], structuredContent: { text: 'a' } });
server.tool({ name: 'b', description: 'b', outputSchema }, (args, call) => withElicitation({ ...options, typed: true, call }, report));
// @ts-expect-error the schema does not take a link
server.tool({ name: 'c', description: 'c', outputSchema }, (args, call) => withElicitation({ ...options, typed: false, call }, report));
// @ts-expect-error mcp-use does not tell whether the tool has an output schema
void withElicitation({ ...options, call: undefined as never }, () => {});
`,
	'mcp-lite.ts': `${COMMON}
import { StreamableHttpTransport, McpServer, type ClientRequestAdapter, type SessionAdapter } from 'mcp-lite';
import { PostgresClientRequestAdapter, PostgresSessionAdapter, withElicitation } from 'urlmode/mcp-lite';
const requests = new PostgresClientRequestAdapter(urlmode, { defaultTimeoutMs: 1_000 });
const clientRequestAdapter: ClientRequestAdapter = requests;
const sessionAdapter: SessionAdapter = new PostgresSessionAdapter(urlmode, { ttl: 1_000 });
const transport = new StreamableHttpTransport({ sessionAdapter, clientRequestAdapter });
const server = new McpServer({ name: 'a', version: '1.0.0' });
server.tool('a', { description: 'a', handler: (args: unknown, call) => withElicitation({ ...options, typed: false, call }, () => ({ content: [] })) });
// @ts-expect-error mcp-lite does not tell whether the tool has an output schema
void withElicitation({ ...options, call: undefined as never }, () => {});
export const handle: (request: Request) => Promise<Response> = requests.wrap(transport.bind(server));
`,
	'oauth.ts': `${COMMON}
import { discovery, type TokenEndpointResponse } from 'openid-client';
import { exchangeCode, revokeToken } from 'urlmode/oauth';
export const revoked: Promise<void> = revokeToken({ provider: 'x', client: { id: 'a' } }, 'token');
export async function connect(id: string): Promise<TokenEndpointResponse> {
	const configuration = await discovery(new URL('https://provider.example'), 'client');
	const outcome = await urlmode.waitForCompletion(id, { subject: options.subject });
	return exchangeCode(configuration, outcome, 'https://callback.example/oauth/demo/return');
}
`,
	'others.ts': `${COMMON}
import { PostgresStorage, urlPlugin, withElicitation } from 'urlmode/frontmcp';
import { forSession, type SessionElicitation } from 'urlmode/lynq';
const storage = new PostgresStorage(urlmode);
export const value: Promise<string | null> = storage.namespace('a', 'b').get('key');
abstract class ToolContext {
	protected async elicit(message: string, schema: object, options?: { mode?: 'form' | 'url' }): Promise<{ status: 'accept' }> {
		return { status: 'accept' };
	}
}
export class Tool extends ToolContext {
	async execute(): Promise<string> {
		const result = await withElicitation({ ...options, call: this }, ({ elicitationId }) => elicitationId);
		await withElicitation({ ...options, pkce: undefined, kind: 'payment', expected: 'any', call: this }, () => 'its item is made of the tool');
		return typeof result === 'string' ? result : result.content[0]?.text ?? '';
	}
}
const Plugin = (metadata: { name: string; description?: string }): ClassDecorator => () => {};
const hook = <Name extends 'elicitation:request' | 'tools:call-tool'>(name: Name) => (stage: 'parseInput', options: { priority?: number } = {}): MethodDecorator => () => {};
const FlowHooksOf = <Name extends 'elicitation:request' | 'tools:call-tool'>(name: Name) => ({ Will: hook(name), Did: hook(name) });
export const plugin: new () => object = urlPlugin({ Plugin, FlowHooksOf, z: { unknown: () => ({}) } }, { store: storage });
const { subject, ...rest } = options;
export const way: SessionElicitation = forSession(
	{ session: () => ({ get: () => subject, set: () => {} }), completeElicitation: () => {} },
	{ ...rest, subject: async () => subject, sessionKey: 'user', value: ({ result }) => result?.code },
);
type LynqResult = { [key: string]: unknown; content: ({ type: 'text'; text: string } | { type: 'image'; data: string })[]; isError?: boolean };
interface LynqContext {
	toolName: string;
	args: Record<string, unknown>;
	sessionId: string;
	signal: AbortSignal;
	session: { get<T = unknown>(key: string): T | undefined; set(key: string, value: unknown): void };
	elicit: { form(message: string): Promise<unknown>; url(message: string, url: string): Promise<{ action: 'accept' | 'decline' | 'cancel' }> };
	userStore: { get<T = unknown>(key: string): Promise<T | undefined>; set(key: string, value: unknown, ttl?: number): Promise<void> };
}
interface LynqMiddleware {
	name: string;
	onCall?(c: LynqContext, next: () => Promise<LynqResult>): Promise<LynqResult>;
}
export const middleware: LynqMiddleware = way.resume;
urlmode.on('completed', ({ action, reason, elicitationId }) => console.log(action.length, reason, elicitationId));
urlmode.on('created', ({ expiresAt, kind }) => console.log(expiresAt.getTime(), kind));
`,
};

/** The examples, as far as npm has their frameworks. Their JSDoc says the types that TypeScript cannot infer. */
const EXAMPLES = Object.fromEntries(['app', 'mollie', 'paid', 'sdk', 'sdk2', 'mcp-use', 'mcp-lite'].map((name) => [`${name}.mjs`, example(`${name}.mjs`)]));

/** What the reader of a block of code has already, by the words with which the block begins. */
const BEFORE = {
	'import { spanEvents': `declare const urlmode: import('urlmode').UrlMode, trace: import('urlmode/otel').Trace;\n`,
	'import { Vault': `
		declare const urlmode: import('urlmode').UrlMode, id: string, secret: string;
	`,
	'import': '',
	'const urlmode': `
		import { UrlMode } from 'urlmode';
		declare const databaseUrl: string, keysFile: string, baseUrl: string, id: string, secret: string;
	`,
	'const outcome': `
		declare const urlmode: import('urlmode').UrlMode, elicitationId: string, subject: string;
		declare const deliver: (subject: string, reference?: string) => Promise<void>;
	`,
	'const claim': `
		declare const urlmode: import('urlmode').UrlMode, elicitationId: string, subject: string, outcome: import('urlmode').Outcome;
		declare const deliver: (subject: string, reference: string | undefined, options: { signal: AbortSignal }) => Promise<unknown>;
	`,
	'for (const p': `
		declare const urlmode: import('urlmode').UrlMode;
		declare const deliver: (subject: string, reference: string, options: { signal: AbortSignal }) => Promise<void>;
		declare const refund: (reference: string, amount: number, currency: string) => Promise<string>;
	`,
	'for await (const {': `
		declare const urlmode: import('urlmode').UrlMode, db: { query: (statement: string, values: unknown[]) => Promise<unknown> };
	`,
	'for await (const entry': `
		declare const urlmode: import('urlmode').UrlMode;
		declare const addPurchase: (entry: import('urlmode').LedgerEntry, credits: number) => Promise<void>;
		declare const setRefunded: (entry: import('urlmode').LedgerEntry) => Promise<void>;
	`,
	'const targetUrl': `
		import { withElicitation, type AccountOptions } from 'urlmode/sdk';
		import type { TargetArguments } from 'urlmode';
		declare const urlmode: import('urlmode').UrlMode, subject: string, item: string, report: { content: { type: 'text', text: string }[] }, PAID: Error;
		declare const server: AccountOptions['server'], call: AccountOptions['call'], createCheckout: (made: TargetArguments) => Promise<string>;
		const offer = {
			urlmode, server, subject, provider: 'stripe', kind: 'payment' as const, expected: { amount: 1050, currency: 'EUR' }, message: 'It costs 10.50 EUR.',
		};
		export const tool = async () => {
	`,
	'if (response.status': `
		import { TokenRefusedError } from 'urlmode';
		declare const response: Response;
	`,
	'server.registerPrompt': `
		import { McpServer } from '@modelcontextprotocol/server';
		import { withElicitation } from 'urlmode/sdk2';
		declare const urlmode: import('urlmode').UrlMode;
		const server = new McpServer({ name: 'a', version: '1.0.0' });
		const report = { urlmode, subject: 'user-42', provider: 'stripe', kind: 'payment' as const, expected: { amount: 1050, currency: 'EUR' }, message: 'Please.', targetUrl: 'https://x' };
	`,
	'return useAccount': `
		import { useAccount, type UseAccountOptions } from 'urlmode/sdk';
		declare const server: UseAccountOptions['server'], call: UseAccountOptions['call'], vault: import('urlmode/vault').Vault;
		declare const subject: string;
		export const tool = () => {
	`,
	'const { elicitationId': `
		declare const urlmode: import('urlmode').UrlMode, subject: string;
		declare const ask: (url: string) => Promise<void>, store: (values: unknown) => Promise<void>;
		declare const isValid: (value: unknown, signal: AbortSignal) => Promise<boolean>;
	`,
	'return ': `
		import { askApproval, collectInput, requirePaid, withAccount, withElicitation, type AccountOptions } from 'urlmode/sdk';
		declare const isValid: (value: unknown) => Promise<boolean>, store: (subject: string, value: unknown) => Promise<void>;
		declare const mail: (subjects: string[], url: string) => Promise<void>;
		declare const server: AccountOptions['server'], call: AccountOptions['call'], urlmode: import('urlmode').UrlMode;
		declare const subject: string, id: string, secret: string;
		declare const makeSession: (...from: (string | undefined)[]) => Promise<string>, makePortalSession: (subscription: string | null | undefined) => Promise<string>;
		declare const keep: (subject: string, id: string | undefined, tokens: { access_token: string }) => Promise<void>;
		export const tool = () => {
	`,
};
/** The code of the documents, as TypeScript. */
const DOCUMENTED = Object.fromEntries(['README.md', 'REFERENCE.md', 'ADAPTERS.md', 'VAULT.md'].flatMap((document) => {
	const text = readFileSync(join(PACKAGE, document), 'utf8');
	return [...text.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code], index) => {
		const [words, before] = Object.entries(BEFORE).find(([words]) => code.startsWith(words)) ?? assert.fail(`${document}: ${code}`);
		return [`${document}-${index}.ts`, `${before}${code}${/=> \{\s*$/.test(before) ? '};' : ''}\nexport {};\n`];
	});
}));

const MODULES = [
	['--module', 'node16'], ['--module', 'esnext', '--moduleResolution', 'bundler'],
];

const FOLDER = fileURLToPath(new URL('../../build/test/projects/', import.meta.url));
const TYPES = join(FOLDER, 'types');

/** What every compilation reads, the types of Node.js and of the frameworks, takes longer to parse than to use. */
const parsed = new Map();

/** As tsc does with these files and options. */
function compile(folder, files, ...options) {
	assert.equal(messagesOf(folder, files, ...options), '');
}

function messagesOf(folder, files, ...options) {
	const { options: given, errors } = ts.parseCommandLine(['--noEmit', '--strict', '--target', 'es2022', '--types', 'node', ...options]);
	const host = Object.assign(ts.createCompilerHost(given), { getCurrentDirectory: () => folder });
	const { getSourceFile } = host;
	host.getSourceFile = (file, how, ...rest) => {
		const key = `${file} ${JSON.stringify(how)}`;
		if (!parsed.has(key)) parsed.set(key, getSourceFile(file, how, ...rest));
		return parsed.get(key);
	};
	const program = ts.createProgram({ rootNames: files.map((file) => join(folder, file)), options: given, host });
	return ts.formatDiagnostics([...errors, ...ts.getPreEmitDiagnostics(program)], host);
}

/** The emitted types in a project, and those of Node.js and of others beside them. */
function addTypes(modules, ...others) {
	cpSync(TYPES, join(modules, 'urlmode/types'), { recursive: true });
	mkdirSync(join(modules, '@types'), { recursive: true });
	for (const name of ['@types/node', 'undici-types', ...others]) {
		if (!existsSync(join(modules, name))) {
			symlinkSync(join(PACKAGE, 'node_modules', name), join(modules, name));
		}
	}
}

before(async () => {
	rmSync(TYPES, { recursive: true, force: true });
	// `make lint` checks them.
	await execute(process.execPath, [join(PACKAGE, 'node_modules/typescript/bin/tsc'), '-p', PACKAGE, '--noCheck', '--outDir', TYPES]);
}, { timeout: 240_000 });

test('the emitted types contain no any, and every entry point has some', () => {
	for (const file of readdirSync(TYPES, { recursive: true }).filter((name) => name.endsWith('.d.ts'))) {
		const code = readFileSync(join(TYPES, file), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
		assert.doesNotMatch(code, /(?<!["'])\bany\b(?!["'])/, `${file} has an any`);
	}
	const { exports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
	for (const { types: declared } of Object.values(exports)) {
		assert.ok(!declared || existsSync(join(TYPES, '..', declared)), `${declared} is missing`);
	}
});

test('a server compiles beside no other types than those of Node.js', { timeout: 240_000 }, () => {
	const folder = join(FOLDER, 'types-alone');
	const modules = join(folder, 'node_modules');
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(join(modules, 'urlmode'), { recursive: true });
	cpSync(join(PACKAGE, 'package.json'), join(modules, 'urlmode/package.json'));
	addTypes(modules);
	cpSync(new URL('consumer.ts', import.meta.url), join(folder, 'consumer.ts'));
	writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
	for (const module of MODULES) {
		compile(folder, ['consumer.ts'], '--lib', 'es2022', '--exactOptionalPropertyTypes', ...module);
		// So it is by default from TypeScript 6 on: the README says what to name.
		assert.match(messagesOf(folder, ['consumer.ts'], '--lib', 'es2022', ...module, '--types', ''), /Buffer|node:/);
	}
});

for (const frameworks of ['newest', 'oldest']) {
	test(`servers compile with the ${frameworks} frameworks`, { timeout: 240_000 }, () => {
		const { folder } = makeProject({ name: 'types', frameworks, files: CONSUMERS });
		addTypes(join(folder, 'node_modules'));
		compile(folder, Object.keys(CONSUMERS), '--module', 'nodenext', '--skipLibCheck', '--exactOptionalPropertyTypes');
	});
}

// A bundler finds whatever Node.js does.
test('the examples and the code of the documents compile', { timeout: 240_000 }, () => {
	const files = { ...EXAMPLES, ...DOCUMENTED };
	const { folder } = makeProject({ name: 'types-examples', frameworks: 'newest', files });
	addTypes(join(folder, 'node_modules'), '@types/pg');
	compile(folder, Object.keys(files), '--allowJs', '--checkJs', '--skipLibCheck', '--lib', 'es2023', ...MODULES[0]);
});
