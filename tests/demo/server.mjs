// The demo MCP server: Streamable HTTP with sessions, and four tools. The tools, which are the part to
// learn from, are in connect-account.mjs, buy-report.mjs, store-key.mjs and delete-archive.mjs.
//
//     URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= URLMODE_DEMO_ISSUER= \
//     URLMODE_DEMO_CHECKOUT_URL= SERVER_PORT=9001 node server.mjs

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { UrlMode } from 'urlmode';

import { registerBuyReport } from './buy-report.mjs';
import { connectCheckout } from './checkout.mjs';
import { registerConnectAccount } from './connect-account.mjs';
import { registerDeleteArchive } from './delete-archive.mjs';
import { OpenIdClient } from './openid.mjs';
import { closeServer, env, isMain, listen, run } from './process.mjs';
import { registerStoreKey } from './store-key.mjs';
import { demoUsers } from './users.mjs';

const TOKEN_LIFETIME_S = 3600;

/**
 * Starts the server.
 *
 * @param {{ databaseUrl: string, keysFile: string, baseUrl: string, issuer: string, checkoutUrl: string,
 *     port?: number, users?: Map<string, string>, ttl?: number }} options
 *     port: 0 for a free one; users: access token → subject; ttl: the milliseconds
 *     that the user has
 * @returns {Promise<{ url: string, urlmode: UrlMode, close: () => Promise<void> }>}
 */
export async function startServer({
	databaseUrl, keysFile, baseUrl, issuer, checkoutUrl, port = 0, users = demoUsers, ttl,
}) {
	const urlmode = new UrlMode({ databaseUrl, keysFile, baseUrl, name: 'urlmode demo server' });
	const parts = {
		urlmode, openid: new OpenIdClient(issuer), accounts: new Map(), keys: new Map(), ttl, stripe: connectCheckout(checkoutUrl),
	};
	const sessions = new Map();
	const app = createMcpExpressApp();

	app.all('/mcp', requireBearerAuth({ verifier: verifierOf(users) }), async (request, response) => {
		const id = request.headers['mcp-session-id'];
		const session = id === undefined
			? await openSession(sessions, parts, request.auth)
			: sessions.get(id);

		// A session id proves nothing: the session must belong to this user.
		if (session?.subject !== request.auth.extra.subject) {
			response.status(404).json({
				jsonrpc: '2.0',
				error: { code: -32001, message: 'Session not found' },
				id: null,
			});
			return;
		}
		await session.transport.handleRequest(request, response, request.body);
	});

	const server = createServer(app);
	const url = `http://127.0.0.1:${await listen(server, port)}/mcp`;

	async function close() {
		await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
		await closeServer(server);
		await urlmode.close();
	}
	return { url, urlmode, close };
}

function verifierOf(users) {
	return {
		async verifyAccessToken(token) {
			const subject = users.get(token);
			if (subject === undefined) {
				throw new InvalidTokenError('Unknown access token');
			}
			return {
				token,
				clientId: 'demo-host',
				scopes: [],
				expiresAt: Math.floor(Date.now() / 1000) + TOKEN_LIFETIME_S,
				extra: { subject },
			};
		},
	};
}

async function openSession(sessions, parts, { extra: { subject } }) {
	const mcp = new McpServer({ name: 'urlmode-demo', version: '1.0.0' });
	const transport = new StreamableHTTPServerTransport({
		sessionIdGenerator: randomUUID,
		onsessioninitialized: (id) => sessions.set(id, session),
	});
	const session = { subject, transport };

	registerConnectAccount(mcp, parts);
	registerBuyReport(mcp, parts);
	registerStoreKey(mcp, parts);
	registerDeleteArchive(mcp, parts);
	await mcp.connect(transport);
	mcp.server.onclose = () => sessions.delete(transport.sessionId);
	return session;
}

if (isMain(import.meta.url)) {
	await run('MCP server', () => startServer({
		databaseUrl: env('URLMODE_DATABASE_URL'),
		keysFile: env('URLMODE_KEYS_FILE'),
		baseUrl: env('URLMODE_BASE_URL'),
		issuer: env('URLMODE_DEMO_ISSUER'),
		checkoutUrl: env('URLMODE_DEMO_CHECKOUT_URL'),
		port: Number(env('SERVER_PORT')),
	}));
}
