// FrontMCP: an account and a payment.
import * as frontmcp from '@frontmcp/sdk';
import { UrlMode } from 'urlmode';
import { askApproval, collectInput, PostgresStorage, requirePaid, urlPlugin, withAccount, withElicitation } from 'urlmode/frontmcp';

import { auth, client, createCheckout, deletion, issuer, keyForm, manageUrl, port, settings, terms, verifyKey } from './app.mjs'; // yours

const { App, createElicitationStoreFromStorage, FrontMcpInstance, Tool, ToolContext, z } = frontmcp;
const urlmode = new UrlMode(settings);
const storage = new PostgresStorage(urlmode);
await storage.connect();
const { store } = createElicitationStoreFromStorage(storage); // FrontMCP's elicitations in PostgreSQL, not in memory

/** Who calls the tool, as the access token says. */
const subjectOf = ({ context }) => context.authInfo.extra.user.sub;

class ConnectAccount extends ToolContext {
	execute() {
		return withAccount({
			urlmode, call: this, subject: subjectOf(this), provider: 'demo', description: 'openid-connect',
			variables: { issuer }, client, scopes: ['openid', 'profile'], message: 'Connect your Demo Account.',
		}, async ({ account: { name } }) => {
			// Keep the tokens that come with it, and never send them to the client.
			return { content: [{ type: 'text', text: `Connected the account of ${name}.` }] };
		});
	}
}
Tool({ name: 'connect_account', description: 'Connects your Demo Account.', inputSchema: {} })(ConnectAccount);

class BuyReport extends ToolContext {
	execute() {
		return withElicitation({
			urlmode, call: this, subject: subjectOf(this), provider: 'stripe', kind: 'payment',
			expected: { amount: 1050, currency: 'EUR' }, message: 'The report costs 10.50 EUR.', targetUrl: createCheckout,
		}, async ({ reference }) => ({ content: [{ type: 'text', text: `Paid with ${reference}.` }] }));
	}
}
Tool({ name: 'buy_report', description: 'Buys the report.', inputSchema: {} })(BuyReport);

class BuySummary extends ToolContext {
	execute() {
		return withElicitation({
			urlmode, call: this, subject: subjectOf(this), provider: 'stripe', kind: 'payment',
			expected: { amount: 1050, currency: 'EUR' }, message: 'The summary costs 10.50 EUR.', targetUrl: createCheckout,
		}, ({ reference }) => ({ reference }));
	}
}
Tool({ name: 'buy_summary', description: 'Buys the summary, as data.', inputSchema: {}, outputSchema: { reference: z.string() } })(BuySummary);

class AskAnalyst extends ToolContext {
	execute() {
		return requirePaid({
			urlmode, call: this, subject: subjectOf(this), provider: 'stripe', item: 'analyst', expected: { amount: 1050, currency: 'EUR' },
			message: 'The analyst costs 10.50 EUR a month.', targetUrl: createCheckout, manageUrl,
		}, async ({ status }) => ({ content: [{ type: 'text', text: `Buy low, sell high. (${status})` }] }));
	}
}
Tool({ name: 'ask_analyst', description: 'Asks the analyst, for subscribers.', inputSchema: {} })(AskAnalyst);

class StoreKey extends ToolContext {
	execute() {
		return collectInput({
			urlmode, call: this, subject: subjectOf(this), provider: 'intake', form: keyForm, verify: verifyKey, message: 'Your API key is needed.',
		}, async ({ values }) => ({ content: [{ type: 'text', text: `Stored a key of ${values.api_key.length} characters.` }] }));
	}
}
Tool({ name: 'store_key', description: 'Stores your API key.', inputSchema: {} })(StoreKey);

class AcceptTerms extends ToolContext {
	execute() {
		return askApproval({
			urlmode, call: this, subject: subjectOf(this), provider: 'approvals', form: terms, message: 'The terms must be accepted.',
		}, async ({ approver }) => ({ content: [{ type: 'text', text: `Accepted by ${approver}.` }] }));
	}
}
Tool({ name: 'accept_terms', description: 'Accepts the terms.', inputSchema: {} })(AcceptTerms);

class DeleteReports extends ToolContext {
	execute() {
		return askApproval({
			urlmode, call: this, subject: subjectOf(this), provider: 'approvals', form: deletion, approver: 'others', ttl: 86_400_000,
			message: 'Somebody else must agree.',
		}, async ({ approver }) => ({ content: [{ type: 'text', text: `Deleted, as ${approver} has agreed.` }] }));
	}
}
Tool({ name: 'delete_reports', description: 'Deletes all reports, if somebody else agrees.', inputSchema: {} })(DeleteReports);

class Reports {}
App({ id: 'reports', name: 'Reports', tools: [ConnectAccount, BuyReport, BuySummary, AskAnalyst, StoreKey, AcceptTerms, DeleteReports] })(Reports);

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

process.once('SIGTERM', async () => {
	await urlmode.close();
	process.exit();
});
