// An MCP server on the official TypeScript SDK 2.x (@modelcontextprotocol/server):
// protocol revision 2026-07-28 on any number of instances, and clients of
// 2025-11-25 with sessions in the memory of one process.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import {
	createMcpHandler, isLegacyRequest, McpServer, WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { UrlMode } from 'urlmode';
import { askApproval, collectInput, handleTasks, notifyOfTasks, rejectRequestState, requirePaid, withAccount, withElicitation } from 'urlmode/sdk2';
import { z } from 'zod';

import {
	client, createCheckout, deletion, isTrusted, issuer, keyForm, manageUrl, port, settings, subjectOf, terms, verifyKey,
} from './app.mjs';

const urlmode = new UrlMode(settings);

/** @param {string} subject */
function createReports(subject) {
	const server = new McpServer({ name: 'reports', version: '1.0.0' });

	server.registerTool('connect_account', { description: 'Connects your Demo Account.' }, (call) => withAccount({
		urlmode, server, call, subject, provider: 'demo', description: 'openid-connect',
		variables: { issuer }, client, scopes: ['openid', 'profile'], message: 'Connect your Demo Account.',
	}, async (connected) => {
		// Keep connected.tokens, and never send them to the client.
		return { content: [{ type: 'text', text: `Connected the account of ${connected.account?.name}.` }] };
	}));

	const report = {
		urlmode, server, subject, provider: 'stripe', kind: /** @type {const} */ ('payment'),
		expected: { amount: 1050, currency: 'EUR' },
		message: 'The report costs 10.50 EUR.', item: 'report:2026', targetUrl: createCheckout,
	};
	/** @returns {Promise<import('@modelcontextprotocol/server').CallToolResult>} */
	const paid = async (/** @type {import('urlmode/sdk2').Accepted} */ { reference }) => (
		{ content: [{ type: 'text', text: `Paid with ${reference}.` }] });

	server.registerTool('buy_report', { description: 'Buys the report.' }, (call) => withElicitation({ ...report, call }, paid));

	server.registerTool('read_report', { description: 'Reads the report, once it is paid.' }, (call) =>
		withElicitation({ ...report, call, ask: 'error' }, paid));

	const summary = z.object({ reference: z.string() });
	server.registerTool('buy_summary', { description: 'Buys the summary, as data.', outputSchema: summary }, (call) =>
		withElicitation({ ...report, call, message: 'The summary costs 10.50 EUR.', item: 'summary:2026' }, async ({ reference = '' }) => (
			{ content: [{ type: 'text', text: `Paid with ${reference}.` }], structuredContent: { reference } })));

	server.registerTool('ask_analyst', { description: 'Asks the analyst, for subscribers.' }, (call) => requirePaid({
		urlmode, server, call, subject, provider: 'stripe', item: 'analyst', expected: { amount: 1050, currency: 'EUR' },
		message: 'The analyst costs 10.50 EUR a month.', targetUrl: createCheckout, manageUrl,
	}, async ({ status }) => ({ content: [{ type: 'text', text: `Buy low, sell high. (${status})` }] })));

	server.registerTool('store_key', { description: 'Stores your API key.' }, (call) => collectInput({
		urlmode, server, call, subject, provider: 'intake', form: keyForm, verify: verifyKey, message: 'Your API key is needed.',
	}, async ({ values }) => ({ content: [{ type: 'text', text: `Stored a key of ${String(values.api_key).length} characters.` }] })));

	server.registerTool('accept_terms', { description: 'Accepts the terms.' }, (call) => askApproval({
		urlmode, server, call, subject, provider: 'approvals', form: terms, message: 'The terms must be accepted.',
	}, async ({ approver }) => ({ content: [{ type: 'text', text: `Accepted by ${approver}.` }] })));

	server.registerTool('delete_reports', { description: 'Deletes all reports, if somebody else agrees.' }, (call) => askApproval({
		urlmode, server, call, subject, provider: 'approvals', form: deletion, approver: 'others', ttl: 604_800_000,
		message: 'Somebody else must agree.',
	}, async ({ approver }) => ({ content: [{ type: 'text', text: `Deleted, as ${approver} has agreed.` }] })));

	// A client that declares tasks need not wait, and any instance answers for its tasks.
	handleTasks({ urlmode, server, owner: () => ({ subject }) });
	return server;
}

/**
 * @typedef {import('@modelcontextprotocol/server').McpHandlerRequestOptions} Options
 * @param {Pick<Options, 'authInfo'>} [options]
 */
const subjectIn = (options) => String(options?.authInfo?.extra?.subject);

const modern = createMcpHandler((options) => createReports(subjectIn(options)), { legacy: 'reject' });
const answerNewer = rejectRequestState(notifyOfTasks(urlmode, modern.fetch));
/** @type {Map<string, { subject: string, transport: WebStandardStreamableHTTPServerTransport }>} */
const sessions = new Map();

/**
 * @param {Request} request
 * @param {Options} [options]
 */
async function answerOlder(request, options) {
	const id = request.headers.get('mcp-session-id');
	const subject = subjectIn(options);
	if (id) {
		const session = sessions.get(id);
		// A session id proves nothing: the session must belong to this user.
		return session?.subject === subject ? session.transport.handleRequest(request, options) : new Response(null, { status: 404 });
	}
	const newId = randomUUID();
	const transport = new WebStandardStreamableHTTPServerTransport({
		sessionIdGenerator: () => newId,
		onsessioninitialized: () => void sessions.set(newId, session),
	});
	const session = { subject, transport };
	transport.onclose = () => sessions.delete(newId);
	await createReports(subject).connect(transport);
	return transport.handleRequest(request, options);
}

const handle = toNodeHandler({
	fetch: async (request, options) => (await isLegacyRequest(request) ? answerOlder : answerNewer)(request, options),
});
const http = createServer((request, response) => {
	if (!isTrusted(request.headers)) return void response.writeHead(403).end();
	const subject = subjectOf(request.headers.authorization);
	if (!subject) return void response.writeHead(401).end();
	const auth = { token: '', clientId: '', scopes: [], extra: { subject } };
	return handle(Object.assign(request, { auth }), response);
});
http.listen(port, '127.0.0.1', () => {
	const address = /** @type {import('node:net').AddressInfo} */ (http.address());
	console.log(`http://127.0.0.1:${address.port}/mcp`);
});

process.once('SIGTERM', async () => {
	http.close();
	await urlmode.close();
	await modern.close();
	for (const { transport } of sessions.values()) await transport.close();
	http.closeAllConnections();
});
