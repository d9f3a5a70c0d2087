// lynq on Express: a payment before the tool runs, and pages of urlmode's own.
import { mountLynq } from '@lynq/express';
import { createMCPServer } from '@lynq/lynq';
import { payment } from '@lynq/lynq/payment';
import express from 'express';
import { UrlMode } from 'urlmode';
import { askApproval, collectInput, forSession, withProgress } from 'urlmode/lynq';

import { createCheckout, deletion, keyForm, port, settings, subjectOf, terms, verifyKey } from './app.mjs'; // yours

const urlmode = new UrlMode(settings);
const server = createMCPServer({ name: 'reports', version: '1.0.0' });
const subject = (sessionId) => server.session(sessionId).get('subject');

const report = forSession(server, {
	urlmode, provider: 'stripe', kind: 'payment', expected: { amount: 1050, currency: 'EUR' },
	message: 'The report costs 10.50 EUR.', targetUrl: createCheckout,
	subject, sessionKey: 'payment',
});

server.tool('buy_report', report.resume, payment({ buildUrl: report.buildUrl }),
	{ description: 'Buys the report.' },
	(args, c) => c.text(`Paid with ${c.session.get('payment').reference}.`));

server.tool('store_key', { description: 'Stores your API key.' }, async (args, c) => collectInput({
	urlmode, server, call: c, subject: subject(c.sessionId), provider: 'intake', form: keyForm, verify: verifyKey,
	message: 'Your API key is needed.',
}, async ({ values }) => c.text(`Stored a key of ${values.api_key.length} characters.`)));

server.tool('accept_terms', { description: 'Accepts the terms.' }, async (args, c) => askApproval({
	urlmode, server, call: c, subject: subject(c.sessionId), provider: 'approvals', form: terms, message: 'The terms must be accepted.',
}, async ({ approver }) => c.text(`Accepted by ${approver}.`)));

server.tool('delete_reports', { description: 'Deletes all reports, if somebody else agrees.' }, async (args, c) => askApproval({
	urlmode, server, call: c, subject: subject(c.sessionId), provider: 'approvals', form: deletion, approver: 'others', ttl: 86_400_000,
	message: 'Somebody else must agree.',
}, async ({ approver }) => c.text(`Deleted, as ${approver} has agreed.`)));

/** A session belongs to the user who sends the first request in it. */
function belongsTo(session, caller) {
	if (session.get('subject') === undefined) {
		session.set('subject', caller);
		session.enableTools('buy_report'); // lynq hides the tools of payment()
	}
	return session.get('subject') === caller;
}

const app = express();
app.use('/mcp', (request, response, next) => {
	const caller = subjectOf(request.headers.authorization);
	if (!caller) return response.set('WWW-Authenticate', 'Bearer').sendStatus(401);
	if (request.headers.origin) return response.sendStatus(403); // no web page calls this server
	const sessionId = request.headers['mcp-session-id'];
	if (sessionId && !belongsTo(server.session(sessionId), caller)) return response.sendStatus(404);
	return next();
}, express.json());
mountLynq(app, withProgress(server)); // accepts local Host headers; others with { allowedHosts: ['mcp.example.com'] }
const http = app.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));

process.once('SIGTERM', async () => {
	http.close();
	await urlmode.close();
	http.closeAllConnections();
	process.exit(); // a request of lynq's to a client would hold the process for a minute
});
