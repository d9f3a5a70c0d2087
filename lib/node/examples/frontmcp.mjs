// FrontMCP: an account and a payment.
import * as frontmcp from '@frontmcp/sdk';
import { UrlMode } from 'urlmode';
import { connectAccount, elicitUrl, PostgresStorage, urlPlugin } from 'urlmode/frontmcp';
import { z } from 'zod';

import { auth, client, createCheckout, issuer } from './app.mjs'; // yours

const { App, createElicitationStoreFromStorage, FrontMcpInstance, Tool, ToolContext } = frontmcp;
const urlmode = new UrlMode({
	databaseUrl: process.env.URLMODE_DATABASE_URL,
	keysFile: process.env.URLMODE_KEYS_FILE,
	baseUrl: process.env.URLMODE_BASE_URL,
});
const storage = new PostgresStorage(urlmode);
await storage.connect();
const { store } = createElicitationStoreFromStorage(storage); // FrontMCP's elicitations in PostgreSQL, not in memory

/** Who calls the tool, as the access token says. */
const ownerOf = ({ context }) => ({ subject: context.authInfo.extra.user.sub, session: context.sessionId });

class ConnectAccount extends ToolContext {
	async execute() {
		const connected = await connectAccount({
			tool: this, schema: z.any(), urlmode, ...ownerOf(this), provider: 'demo', description: 'openid-connect',
			variables: { issuer }, client, scopes: ['openid', 'profile'], message: 'Connect your Demo Account.',
		});
		if (connected.action !== 'accept') return connected.toolResult;
		// Keep connected.tokens, and never send them to the client.
		return { content: [{ type: 'text', text: `Connected the account of ${connected.account.name}.` }] };
	}
}
Tool({ name: 'connect_account', description: 'Connects your Demo Account.', inputSchema: {} })(ConnectAccount);

class BuyReport extends ToolContext {
	async execute() {
		const outcome = await elicitUrl({
			tool: this, schema: z.any(), urlmode, ...ownerOf(this), provider: 'stripe', kind: 'payment',
			expected: { amount: 1050, currency: 'EUR' }, message: 'The report costs 10.50 EUR.', targetUrl: createCheckout,
		});
		if (outcome.action !== 'accept') return outcome.toolResult;
		return { content: [{ type: 'text', text: `Paid with ${outcome.result.reference}.` }] };
	}
}
Tool({ name: 'buy_report', description: 'Buys the report.', inputSchema: {} })(BuyReport);

class Reports {}
App({ id: 'reports', name: 'Reports', tools: [ConnectAccount, BuyReport] })(Reports);

const port = Number(process.env.PORT);
await FrontMcpInstance.bootstrap({
	info: { name: 'reports', version: '1.0.0' },
	apps: [Reports],
	plugins: [urlPlugin(frontmcp, { store })],
	elicitation: { enabled: true },
	auth, // for example { mode: 'transparent', provider: 'https://login.example.com' }
	http: {
		port,
		entryPath: '/mcp',
		security: {
			bindAddress: 'loopback',
			dnsRebindingProtection: { enabled: true, allowedHosts: [`127.0.0.1:${port}`], allowedOrigins: [`http://127.0.0.1:${port}`] },
		},
	},
});
console.log(`http://127.0.0.1:${port}/mcp`);
