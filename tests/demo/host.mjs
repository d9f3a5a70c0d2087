// The demo's page and the MCP host behind it. Each load of the page gets its own
// MCP client session, whose id only that page knows.
//
//     URLMODE_DEMO_MCP_URL=http://127.0.0.1:9001/mcp URLMODE_DATABASE_URL= HOST_PORT=9002 node host.mjs

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';

import { HostSession } from './host-session.mjs';
import { closeServer, env, isMain, listen, run } from './process.mjs';
import { RowWatcher } from './row-watcher.mjs';
import { demoUsers } from './users.mjs';

const PAGE = fileURLToPath(new URL('page', import.meta.url));
const TOOLS = ['connect_account', 'buy_report', 'store_key', 'delete_archive'];
const FILES = { '/': 'index.html', '/page.css': 'page.css', '/page.js': 'page.js' };
const HEADERS = {
	'Cache-Control': 'no-store',
	'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; "
		+ "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	'Cross-Origin-Opener-Policy': 'same-origin',
	'Referrer-Policy': 'no-referrer',
	'X-Content-Type-Options': 'nosniff',
};

/**
 * Starts the host.
 *
 * @param {{ mcpUrl: string, port?: number, token?: string, databaseUrl?: string }} options
 *     port: 0 for a free one; token: the access token of the user of the page;
 *     databaseUrl: where rows are watched, so that the page can show them
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function startHost({ mcpUrl, port = 0, token = [...demoUsers.keys()][0], databaseUrl }) {
	const rows = databaseUrl === undefined ? undefined : await RowWatcher.open(databaseUrl);
	const sessions = new Map();
	const app = createMcpExpressApp();

	app.disable('x-powered-by');
	app.use((_request, response, next) => {
		response.set(HEADERS);
		next();
	});
	for (const [path, file] of Object.entries(FILES)) {
		app.get(path, (_request, response) => response.sendFile(file, { root: PAGE }));
	}
	app.post('/sessions', fromThisPage, async (_request, response) => {
		const session = await HostSession.open({ url: mcpUrl, token, rows });
		const id = randomUUID();
		sessions.set(id, session);
		session.once('abandoned', () => {
			sessions.delete(id);
			session.close();
		});
		response.status(201).json({ id });
	});
	app.param('id', (_request, response, next, id) => {
		response.locals.session = sessions.get(id);
		next(response.locals.session ? undefined : 'route');
	});
	app.get('/sessions/:id/view', (request, response) => {
		sendViews(response.locals.session, request, response);
	});
	app.post('/sessions/:id/start', fromThisPage, (request, response) => {
		if (!TOOLS.includes(request.body.tool)) {
			response.status(400).end();
			return;
		}
		response.locals.session.start(request.body.tool);
		response.status(204).end();
	});
	app.post('/sessions/:id/stop', fromThisPage, (_request, response) => {
		response.locals.session.stop();
		response.status(204).end();
	});
	app.post('/sessions/:id/answer', fromThisPage, (request, response) => {
		response.locals.session.answer(request.body.action === 'accept' ? 'accept' : 'decline');
		response.status(204).end();
	});
	app.use((error, _request, response, _next) => {
		response.status(502).json({ error: error.message });
	});

	const server = createServer(app);
	const url = `http://127.0.0.1:${await listen(server, port)}/`;

	async function close() {
		await Promise.all([...sessions.values()].map((session) => session.close()));
		await closeServer(server);
		await rows?.close();
	}
	return { url, close };
}

/** Rejects requests that other sites make a browser send. */
function fromThisPage(request, response, next) {
	if ((request.get('Sec-Fetch-Site') ?? 'same-origin') === 'same-origin') {
		next();
	} else {
		response.status(403).end();
	}
}

/** Sends the whole view as server-sent events, now and after every change. */
function sendViews(session, request, response) {
	response.set('Content-Type', 'text/event-stream').flushHeaders();
	const leave = session.watch((view) => response.write(`data: ${JSON.stringify(view)}\n\n`));
	request.on('close', leave);
}

if (isMain(import.meta.url)) {
	await run('Demo page', () => startHost({
		mcpUrl: env('URLMODE_DEMO_MCP_URL'),
		databaseUrl: env('URLMODE_DATABASE_URL'),
		port: Number(env('HOST_PORT')),
	}));
}
