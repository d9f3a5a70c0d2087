// An MCP server on the official TypeScript SDK 2.x for a runtime that has fetch and nothing else, such as workerd. It
// needs the api, and neither Node.js nor PostgreSQL. Its environment:
//
//     URLMODE_API_URL, URLMODE_API_KEY    the api, and a key of it
//     APP_USERS     the subject of each access token, {"a-token": "ada@example.org"}
//     APP_CHECKOUT  the page on which the report is paid

import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { UrlMode } from 'urlmode/http';
import { withElicitation } from 'urlmode/sdk2';

/**
 * @typedef {{ URLMODE_API_URL: string, URLMODE_API_KEY: string, APP_USERS: string, APP_CHECKOUT: string }} Environment
 *
 * @param {UrlMode} urlmode
 * @param {string} subject
 * @param {Environment} env
 */
function createReports(urlmode, subject, env) {
	const server = new McpServer({ name: 'reports', version: '1.0.0' });
	server.registerTool('buy_report', { description: 'Buys the report.' }, (call) => withElicitation({
		urlmode, server, call, subject, provider: 'stripe', kind: /** @type {const} */ ('payment'), item: 'report:2026',
		expected: { amount: 1050, currency: 'EUR' }, message: 'The report costs 10.50 EUR.',
		targetUrl: ({ elicitationId }) => `${env.APP_CHECKOUT}?reference=${elicitationId}`,
	}, async ({ reference }) => ({ content: [{ type: /** @type {const} */ ('text'), text: `Paid with ${reference}.` }] })));
	return server;
}

/**
 * @param {Request} request
 * @param {Environment} env
 */
function subjectOf(request, env) {
	const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
	return new Map(Object.entries(JSON.parse(env.APP_USERS))).get(token);
}

export default {
	/**
	 * @param {Request} request
	 * @param {Environment} env
	 * @param {{ waitUntil(promise: Promise<unknown>): void }} context
	 */
	async fetch(request, env, context) {
		const subject = subjectOf(request, env);
		if (subject === undefined) return new Response(null, { status: 401 });
		// What one request waits for, no other may wait for there.
		const urlmode = new UrlMode({ url: env.URLMODE_API_URL, key: env.URLMODE_API_KEY });
		const response = await createMcpHandler(() => createReports(urlmode, subject, env), { legacy: 'reject' }).fetch(request);
		if (!response.body) return response;
		// The claim is confirmed after the answer was written.
		const { readable, writable } = new TransformStream();
		context.waitUntil(response.body.pipeTo(writable).then(() => urlmode.close(), () => urlmode.close()));
		return new Response(readable, response);
	},
};
