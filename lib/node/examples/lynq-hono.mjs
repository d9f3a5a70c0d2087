// lynq on Hono: an account and a payment, with lynq's own middlewares and without.
import { serve } from '@hono/node-server';
import { mountLynq } from '@lynq/hono';
import { createMCPServer } from '@lynq/lynq';
import { oauth } from '@lynq/lynq/oauth';
import { payment } from '@lynq/lynq/payment';
import { Hono } from 'hono';
import { buildAuthorizationUrl, fetchUserInfo } from 'openid-client';
import { UrlMode } from 'urlmode';
import { askApproval, collectInput, forSession, requirePaid, withAccount, withElicitation, withProgress } from 'urlmode/lynq';
import { exchangeCode } from 'urlmode/oauth';

import {
	client, configuration, createCheckout, deletion, issuer, keyForm, manageUrl, port, settings, subjectOf, terms, verifyKey,
} from './app.mjs'; // yours

const urlmode = new UrlMode(settings);
const server = createMCPServer({ name: 'reports', version: '1.0.0' });
const subject = (sessionId) => server.session(sessionId).get('subject');

const account = forSession(server, {
	urlmode, subject, provider: 'demo', kind: 'oauth', pkce: true, message: 'Connect your Demo Account.', sessionKey: 'user',
	targetUrl: ({ returnUrl }) => buildAuthorizationUrl(configuration, { redirect_uri: returnUrl, scope: 'openid profile' }),
	async value(accepted) { // the value of `user` in the session
		const tokens = await exchangeCode(configuration, accepted, accepted.returnUrl);
		const { sub, name } = await fetchUserInfo(configuration, tokens.access_token, tokens.claims().sub);
		return { sub, name };
	},
});
const price = {
	urlmode, provider: 'stripe', kind: 'payment', expected: { amount: 1050, currency: 'EUR' },
	message: 'The report costs 10.50 EUR.', targetUrl: createCheckout,
};
const report = forSession(server, { ...price, subject, sessionKey: 'payment' });

server.tool('connect_account', account.resume, oauth({ buildUrl: account.buildUrl }),
	{ description: 'Connects your Demo Account.' },
	(args, c) => c.text(`Connected the account of ${c.session.get('user').name}.`));

server.tool('buy_report', report.resume, payment({ buildUrl: report.buildUrl }),
	{ description: 'Buys the report.' },
	(args, c) => c.text(`Paid with ${c.session.get('payment').reference}.`));

server.tool('buy_again', { description: 'Buys the report, each time.' }, async (args, c) => {
	const call = { server, call: c, subject: subject(c.sessionId) };
	return withElicitation({ ...price, ...call, item: 'report:2026' }, async ({ reference }) => c.text(`Paid with ${reference}.`));
});

server.tool('connect_again', { description: 'Connects your Demo Account, each time.' }, async (args, c) => {
	return withAccount({
		urlmode, server, call: c, subject: subject(c.sessionId), message: 'Connect your Demo Account.',
		provider: 'demo', description: 'openid-connect', variables: { issuer }, client, scopes: ['openid', 'profile'],
	}, async ({ account: { name } }) => c.text(`Connected the account of ${name}.`));
});

server.tool('ask_analyst', { description: 'Asks the analyst, for subscribers.' }, async (args, c) => requirePaid({
	urlmode, server, call: c, subject: subject(c.sessionId), provider: 'stripe', item: 'analyst', expected: { amount: 1050, currency: 'EUR' },
	message: 'The analyst costs 10.50 EUR a month.', targetUrl: createCheckout, manageUrl,
}, async ({ status }) => c.text(`Buy low, sell high. (${status})`)));

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
		session.enableTools('connect_account', 'buy_report'); // lynq hides the tools of oauth() and payment()
	}
	return session.get('subject') === caller;
}

const app = new Hono();
app.use('/mcp', async (c, next) => {
	const caller = subjectOf(c.req.header('authorization'));
	if (!caller) return c.body(null, 401, { 'WWW-Authenticate': 'Bearer' });
	if (c.req.header('origin')) return c.body(null, 403); // no web page calls this server
	const sessionId = c.req.header('mcp-session-id');
	if (sessionId && !belongsTo(server.session(sessionId), caller)) return c.body(null, 404);
	return next();
});
mountLynq(app, withProgress(server)); // accepts local Host headers; others with { allowedHosts: ['mcp.example.com'] }
const http = serve({ fetch: app.fetch, hostname: '127.0.0.1', port },
	(address) => console.log(`http://127.0.0.1:${address.port}/mcp`));

process.once('SIGTERM', async () => {
	http.close();
	await urlmode.close();
	http.closeAllConnections();
	process.exit(); // a request of lynq's to a client would hold the process for a minute
});
