// An MCP server on mcp-lite, with its sessions in PostgreSQL, on any number of
// instances.
import { serve } from '@hono/node-server';
import { McpServer, StreamableHttpTransport } from 'mcp-lite';
import { UrlMode } from 'urlmode';
import {
	askApproval, collectInput, PostgresClientRequestAdapter, PostgresSessionAdapter, requirePaid, withAccount, withElicitation,
} from 'urlmode/mcp-lite';

import {
	client, createCheckout, deletion, isTrusted, issuer, keyForm, manageUrl, port, settings, subjectOf, terms, verifyKey,
} from './app.mjs';

const urlmode = new UrlMode(settings);
const requests = new PostgresClientRequestAdapter(urlmode);
const sessions = new PostgresSessionAdapter(urlmode);
const transport = new StreamableHttpTransport({ sessionAdapter: sessions, clientRequestAdapter: requests });
const server = new McpServer({ name: 'reports', version: '1.0.0' });
/** @param {{ authInfo?: { extra?: Record<string, unknown> } }} [options] */
const subjectIn = (options) => String(options?.authInfo?.extra?.subject);

server.tool('connect_account', {
	description: 'Connects your Demo Account.',
	handler: (args, call) => withAccount({
		urlmode, call, typed: false, subject: subjectIn(call), provider: 'demo', description: 'openid-connect',
		variables: { issuer }, client, scopes: ['openid', 'profile'], message: 'Connect your Demo Account.',
	}, async (connected) => {
		// Keep connected.tokens, and never send them to the client.
		return { content: [{ type: 'text', text: `Connected the account of ${connected.account?.name}.` }] };
	}),
});

server.tool('buy_report', {
	description: 'Buys the report.',
	handler: (args, call) => withElicitation({
		urlmode, call, typed: false, subject: subjectIn(call), provider: 'stripe', kind: 'payment',
		expected: { amount: 1050, currency: 'EUR' },
		message: 'The report costs 10.50 EUR.', item: 'report:2026', targetUrl: createCheckout,
	}, async ({ reference }) => ({ content: [{ type: 'text', text: `Paid with ${reference}.` }] })),
});

server.tool('buy_summary', {
	description: 'Buys the summary, as data.',
	outputSchema: { type: 'object', properties: { reference: { type: 'string' } }, required: ['reference'], additionalProperties: false },
	handler: (args, call) => withElicitation({
		urlmode, call, typed: true, subject: subjectIn(call), provider: 'stripe', kind: 'payment',
		expected: { amount: 1050, currency: 'EUR' },
		message: 'The summary costs 10.50 EUR.', item: 'summary:2026', targetUrl: createCheckout,
	}, async ({ reference }) => ({ content: [{ type: 'text', text: `Paid with ${reference}.` }], structuredContent: { reference } })),
});

server.tool('ask_analyst', {
	description: 'Asks the analyst, for subscribers.',
	handler: (args, call) => requirePaid({
		urlmode, call, typed: false, subject: subjectIn(call), provider: 'stripe', item: 'analyst', expected: { amount: 1050, currency: 'EUR' },
		message: 'The analyst costs 10.50 EUR a month.', targetUrl: createCheckout, manageUrl,
	}, async ({ status }) => ({ content: [{ type: 'text', text: `Buy low, sell high. (${status})` }] })),
});

server.tool('store_key', {
	description: 'Stores your API key.',
	handler: (args, call) => collectInput({
		urlmode, call, typed: false, subject: subjectIn(call), provider: 'intake', form: keyForm, verify: verifyKey, message: 'Your API key is needed.',
	}, async ({ values }) => ({ content: [{ type: 'text', text: `Stored a key of ${String(values.api_key).length} characters.` }] })),
});

server.tool('accept_terms', {
	description: 'Accepts the terms.',
	handler: (args, call) => askApproval({
		urlmode, call, typed: false, subject: subjectIn(call), provider: 'approvals', form: terms, message: 'The terms must be accepted.',
	}, async ({ approver }) => ({ content: [{ type: 'text', text: `Accepted by ${approver}.` }] })),
});

server.tool('delete_reports', {
	description: 'Deletes all reports, if somebody else agrees.',
	handler: (args, call) => askApproval({
		urlmode, call, typed: false, subject: subjectIn(call), provider: 'approvals', form: deletion, approver: 'others', ttl: 86_400_000,
		message: 'Somebody else must agree.',
	}, async ({ approver }) => ({ content: [{ type: 'text', text: `Deleted, as ${approver} has agreed.` }] })),
});

server.tool('name_report', {
	description: 'Asks for a name, by a form.',
	handler: async (args, ctx) => {
		const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
		const { action, content } = await ctx.elicit({ message: 'What is it called?', schema }, { timeout_ms: 60_000 });
		return { content: [{ type: 'text', text: action === 'accept' ? `Called ${content?.name}.` : 'Not called anything.' }] };
	},
});

// A client's response is acknowledged after it was stored, and a session belongs to its user.
const handle = sessions.wrap(requests.wrap(transport.bind(server)), subjectIn);
const http = serve({
	hostname: '127.0.0.1',
	port,
	fetch(request) {
		if (!isTrusted(Object.fromEntries(request.headers))) return new Response(null, { status: 403 });
		const subject = subjectOf(request.headers.get('authorization'));
		if (!subject) return new Response(null, { status: 401 });
		return handle(request, { authInfo: { token: '', scopes: [], extra: { subject } } });
	},
}, (address) => console.log(`http://127.0.0.1:${address.port}/mcp`));

process.once('SIGTERM', async () => {
	http.close();
	await urlmode.close(); // also rejects the requests to clients
	/** @type {import('node:http').Server} */ (http).closeAllConnections();
});
