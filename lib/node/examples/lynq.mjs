// An MCP server on lynq.
import { createServer } from 'node:http';

import { createMCPServer } from '@lynq/lynq';
import { oauth } from '@lynq/lynq/oauth';
import { payment } from '@lynq/lynq/payment';
import { buildAuthorizationUrl, fetchUserInfo } from 'openid-client';
import { UrlMode } from 'urlmode';
import { connectAccount, elicitUrl, urlWay } from 'urlmode/lynq';
import { exchangeCode } from 'urlmode/oauth';

import { client, configuration, createCheckout, issuer, subjectOf } from './app.mjs';

const { PORT, URLMODE_DATABASE_URL = '', URLMODE_KEYS_FILE = '', URLMODE_BASE_URL = '' } = process.env;
const urlmode = new UrlMode({ databaseUrl: URLMODE_DATABASE_URL, keysFile: URLMODE_KEYS_FILE, baseUrl: URLMODE_BASE_URL });
const server = createMCPServer({ name: 'reports', version: '1.0.0' });
const subject = (sessionId) => server.session(sessionId).get('subject');

const account = urlWay(server, {
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
const report = urlWay(server, { ...price, subject, sessionKey: 'payment' });

server.tool('connect_account', account.resume, oauth({ buildUrl: account.buildUrl }),
	{ description: 'Connects your Demo Account.' },
	(args, c) => c.text(`Connected the account of ${c.session.get('user').name}.`));

server.tool('buy_report', report.resume, payment({ buildUrl: report.buildUrl }),
	{ description: 'Buys the report.' },
	(args, c) => c.text(`Paid with ${c.session.get('payment').reference}.`));

server.tool('buy_again', { description: 'Buys the report, each time.' }, async (args, c) => {
	const outcome = await elicitUrl(server, { c, ...price, subject: subject(c.sessionId) }); // c.elicit.url that returns an outcome
	return outcome.action === 'accept' ? c.text(`Paid with ${outcome.reference}.`) : outcome.toolResult;
});

server.tool('connect_again', { description: 'Connects your Demo Account, each time.' }, async (args, c) => {
	const connected = await connectAccount(server, {
		urlmode, c, subject: subject(c.sessionId), message: 'Connect your Demo Account.',
		provider: 'demo', description: 'openid-connect', variables: { issuer }, client, scopes: ['openid', 'profile'],
	});
	return connected.action === 'accept' ? c.text(`Connected the account of ${connected.account?.name}.`) : connected.toolResult;
});

const handle = server.http({
	onRequest(request, sessionId, session) {
		const caller = subjectOf(request.headers.authorization);
		if (!caller || (session.get('subject') ?? caller) !== caller) throw new Error('not this user\'s session');
		session.set('subject', caller);
	},
});
const http = createServer(handle);
http.listen(PORT, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
