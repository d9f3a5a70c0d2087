// An MCP server on mcp-use 2.x: protocol revision 2026-07-28 on any number of
// instances.
import { serve } from '@hono/node-server';
import { MCPServer } from 'mcp-use';
import { UrlMode } from 'urlmode';
import { askApproval, collectInput, rejectRequestState, requirePaid, withAccount, withElicitation } from 'urlmode/mcp-use';
import { z } from 'zod';

import {
	client, createCheckout, deletion, isTrusted, issuer, keyForm, manageUrl, port, settings, subjectOf, terms, verifyKey,
} from './app.mjs';

const urlmode = new UrlMode(settings);
const server = new MCPServer({
	name: 'reports', version: '1.0.0', skills: false,
	logging: { enabled: false }, // its request log would delay progress until the end
});
/** @param {import('mcp-use').RequestContext} ctx */
const subjectIn = (ctx) => String(subjectOf(ctx.request?.header('authorization')));

server.use('/mcp', async (c, next) => {
	if (!isTrusted(c.req.header())) return c.body(null, 403);
	return subjectOf(c.req.header('authorization')) ? next() : c.body(null, 401);
});

server.tool({ name: 'connect_account', description: 'Connects your Demo Account.' }, (args, call) => withAccount({
	urlmode, call, typed: false, subject: subjectIn(call), provider: 'demo', description: 'openid-connect',
	variables: { issuer }, client, scopes: ['openid', 'profile'], message: 'Connect your Demo Account.',
}, async (connected) => {
	// Keep connected.tokens, and never send them to the client.
	return { content: [{ type: 'text', text: `Connected the account of ${connected.account?.name}.` }] };
}));

server.tool({ name: 'buy_report', description: 'Buys the report.' }, (args, call) => withElicitation({
	urlmode, call, typed: false, subject: subjectIn(call), provider: 'stripe', kind: 'payment',
	expected: { amount: 1050, currency: 'EUR' },
	message: 'The report costs 10.50 EUR.', item: 'report:2026', targetUrl: createCheckout,
}, async ({ reference }) => ({ content: [{ type: 'text', text: `Paid with ${reference}.` }] })));

const summary = z.object({ reference: z.string() });
server.tool({ name: 'buy_summary', description: 'Buys the summary, as data.', outputSchema: summary }, (args, call) => withElicitation({
	urlmode, call, typed: true, subject: subjectIn(call), provider: 'stripe', kind: 'payment',
	expected: { amount: 1050, currency: 'EUR' },
	message: 'The summary costs 10.50 EUR.', item: 'summary:2026', targetUrl: createCheckout,
}, async ({ reference = '' }) => ({ content: [{ type: 'text', text: `Paid with ${reference}.` }], structuredContent: { reference } })));

server.tool({ name: 'ask_analyst', description: 'Asks the analyst, for subscribers.' }, (args, call) => requirePaid({
	urlmode, call, typed: false, subject: subjectIn(call), provider: 'stripe', item: 'analyst', expected: { amount: 1050, currency: 'EUR' },
	message: 'The analyst costs 10.50 EUR a month.', targetUrl: createCheckout, manageUrl,
}, async ({ status }) => ({ content: [{ type: 'text', text: `Buy low, sell high. (${status})` }] })));

server.tool({ name: 'store_key', description: 'Stores your API key.' }, (args, call) => collectInput({
	urlmode, call, typed: false, subject: subjectIn(call), provider: 'intake', form: keyForm, verify: verifyKey, message: 'Your API key is needed.',
}, async ({ values }) => ({ content: [{ type: 'text', text: `Stored a key of ${String(values.api_key).length} characters.` }] })));

server.tool({ name: 'accept_terms', description: 'Accepts the terms.' }, (args, call) => askApproval({
	urlmode, call, typed: false, subject: subjectIn(call), provider: 'approvals', form: terms, message: 'The terms must be accepted.',
}, async ({ approver }) => ({ content: [{ type: 'text', text: `Accepted by ${approver}.` }] })));

server.tool({ name: 'delete_reports', description: 'Deletes all reports, if somebody else agrees.' }, (args, call) => askApproval({
	urlmode, call, typed: false, subject: subjectIn(call), provider: 'approvals', form: deletion, approver: 'others', ttl: 86_400_000,
	message: 'Somebody else must agree.',
}, async ({ approver }) => ({ content: [{ type: 'text', text: `Deleted, as ${approver} has agreed.` }] })));

const http = serve({ fetch: rejectRequestState(server.fetch), hostname: '127.0.0.1', port }, (address) => {
	console.log(`http://127.0.0.1:${address.port}/mcp`);
});

process.once('SIGTERM', async () => {
	http.close();
	await urlmode.close();
	/** @type {import('node:http').Server} */ (http).closeAllConnections();
});
