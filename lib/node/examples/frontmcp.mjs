// An MCP server on FrontMCP.
import { createServer } from 'node:http';

import { createElicitationStoreFromStorage, createHandler, ToolContext } from '@frontmcp/sdk';
import { UrlMode } from 'urlmode';
import { connectAccount, elicitUrl, PostgresStorage } from 'urlmode/frontmcp';
import { z } from 'zod';

import { client, createCheckout, issuer, subjectOf } from './app.mjs';

const { PORT, URLMODE_DATABASE_URL = '', URLMODE_KEYS_FILE = '', URLMODE_BASE_URL = '' } = process.env;
const urlmode = new UrlMode({ databaseUrl: URLMODE_DATABASE_URL, keysFile: URLMODE_KEYS_FILE, baseUrl: URLMODE_BASE_URL });
const storage = new PostgresStorage(urlmode);
await storage.connect();
const store = createElicitationStoreFromStorage(storage);

class ConnectAccount extends ToolContext {
	static tool = { name: 'connect_account', description: 'Connects your Demo Account.' };

	async execute() {
		const connected = await connectAccount({
			tool: this, schema: z.any(), storage, urlmode, subject: this.context.authInfo.subject,
			session: this.context.authInfo.sessionId, provider: 'demo', description: 'openid-connect',
			variables: { issuer }, client, scopes: ['openid', 'profile'], message: 'Connect your Demo Account.',
		});
		if (connected.action !== 'accept') return connected.toolResult;
		// Keep connected.tokens, and never send them to the client.
		return { content: [{ type: 'text', text: `Connected the account of ${connected.account?.name}.` }] };
	}
}

class BuyReport extends ToolContext {
	static tool = { name: 'buy_report', description: 'Buys the report.' };

	async execute() {
		const outcome = await elicitUrl({
			tool: this, schema: z.any(), storage, urlmode, subject: this.context.authInfo.subject,
			session: this.context.authInfo.sessionId, provider: 'stripe', kind: 'payment',
			expected: { amount: 1050, currency: 'EUR' }, message: 'The report costs 10.50 EUR.', targetUrl: createCheckout,
		});
		if (outcome.action !== 'accept') return outcome.toolResult;
		return { content: [{ type: 'text', text: `Paid with ${outcome.reference}.` }] };
	}
}

const http = createServer(createHandler({ name: 'reports', tools: [ConnectAccount, BuyReport], store, subjectOf }));
http.listen(PORT, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
