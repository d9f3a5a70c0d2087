// An MCP server on the official TypeScript SDK 1.x (@modelcontextprotocol/sdk):
// protocol revision 2025-11-25, with sessions in the memory of one process.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { UrlMode } from 'urlmode';
import { askApproval, collectInput, requirePaid, withAccount, withElicitation } from 'urlmode/sdk';
import { z } from 'zod';

import {
	client, createCheckout, deletion, isTrusted, issuer, keyForm, manageUrl, port, settings, subjectOf, terms, verifyKey,
} from './app.mjs';

const urlmode = new UrlMode(settings);
/**
 * @param {string} said
 * @returns {import('@modelcontextprotocol/sdk/types.js').CallToolResult}
 */
const text = (said) => ({ content: [{ type: 'text', text: said }] });
/** @type {Map<string, Session>} */
const sessions = new Map();

/**
 * @typedef {{ subject: string, transport: StreamableHTTPServerTransport }} Session
 * @param {string} subject
 * @returns {Promise<Session>}
 */
async function openSession(subject) {
	const server = new McpServer({ name: 'reports', version: '1.0.0' });
	const account = {
		urlmode, server, subject, provider: 'demo', description: 'openid-connect', variables: { issuer }, client,
		scopes: ['openid', 'profile'], message: 'Connect your Demo Account.',
	};
	const report = {
		urlmode, server, subject, provider: 'stripe', kind: /** @type {const} */ ('payment'),
		expected: { amount: 1050, currency: 'EUR' },
		message: 'The report costs 10.50 EUR.', item: 'report:2026', targetUrl: createCheckout,
	};

	const paid = (/** @type {import('urlmode/sdk').Accepted} */ { reference }) => text(`Paid with ${reference}.`);

	server.registerTool('connect_account', { description: 'Connects your Demo Account.' }, (call) =>
		withAccount({ ...account, call }, async (connected) => {
			// Keep connected.tokens, and never send them to the client.
			return text(`Connected the account of ${connected.account?.name}.`);
		}));

	server.registerTool('buy_report', { description: 'Buys the report.' }, (call) => withElicitation({ ...report, call }, paid));

	server.registerTool('read_report', { description: 'Reads the report, once it is paid.' }, (call) =>
		withElicitation({ ...report, call, ask: 'error' }, paid));

	server.registerTool('buy_summary', { description: 'Buys the summary, as data.', outputSchema: { reference: z.string() } }, (call) =>
		withElicitation({ ...report, call, message: 'The summary costs 10.50 EUR.', item: 'summary:2026' },
			({ reference = '' }) => ({ ...text(`Paid with ${reference}.`), structuredContent: { reference } })));

	server.registerTool('ask_analyst', { description: 'Asks the analyst, for subscribers.' }, (call) => requirePaid({
		urlmode, server, call, subject, provider: 'stripe', item: 'analyst', expected: { amount: 1050, currency: 'EUR' },
		message: 'The analyst costs 10.50 EUR a month.', targetUrl: createCheckout, manageUrl,
	}, ({ status }) => text(`Buy low, sell high. (${status})`)));

	server.registerTool('store_key', { description: 'Stores your API key.' }, (call) => collectInput({
		urlmode, server, call, subject, provider: 'intake', form: keyForm, verify: verifyKey, message: 'Your API key is needed.',
	}, async ({ values }) => text(`Stored a key of ${String(values.api_key).length} characters.`)));

	server.registerTool('accept_terms', { description: 'Accepts the terms.' }, (call) => askApproval({
		urlmode, server, call, subject, provider: 'approvals', form: terms, message: 'The terms must be accepted.',
	}, async ({ approver }) => text(`Accepted by ${approver}.`)));

	server.registerTool('delete_reports', { description: 'Deletes all reports, if somebody else agrees.' }, (call) => askApproval({
		urlmode, server, call, subject, provider: 'approvals', form: deletion, approver: 'others', ttl: 86_400_000,
		message: 'Somebody else must agree.',
	}, async ({ approver }) => text(`Deleted, as ${approver} has agreed.`)));

	const id = randomUUID();
	const transport = new StreamableHTTPServerTransport({
		sessionIdGenerator: () => id,
		onsessioninitialized: () => void sessions.set(id, session),
	});
	const session = { subject, transport };
	transport.onclose = () => sessions.delete(id);
	await server.connect(transport);
	return session;
}

const http = createServer(async (request, response) => {
	if (!isTrusted(request.headers)) return void response.writeHead(403).end();
	const subject = subjectOf(request.headers.authorization);
	if (!subject) return void response.writeHead(401).end();
	const id = request.headers['mcp-session-id'];
	const session = id === undefined ? await openSession(subject) : sessions.get(String(id));
	// A session id proves nothing: the session must belong to this user.
	if (session?.subject !== subject) return void response.writeHead(404).end();
	await session.transport.handleRequest(request, response);
});
http.listen(port, '127.0.0.1', () => {
	const address = /** @type {import('node:net').AddressInfo} */ (http.address());
	console.log(`http://127.0.0.1:${address.port}/mcp`);
});

process.once('SIGTERM', async () => {
	http.close();
	await urlmode.close(); // ends the calls that wait; what they wait for stays open
	for (const { transport } of sessions.values()) await transport.close();
	http.closeAllConnections();
});
