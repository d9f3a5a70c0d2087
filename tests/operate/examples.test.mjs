// The example servers refuse what is sent by the pages of other sites, users
// without a token, and users in somebody else's session.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';

import { makeExampleProject, openAdapterFixture, startExample } from '../support/adapters.mjs';

const ADA = 'Bearer token-of-ada';
const GRACE = 'Bearer token-of-grace';
const INITIALIZE = {
	method: 'initialize',
	params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'tests', version: '1.0.0' } },
};
const DISCOVER = {
	method: 'server/discover',
	params: { _meta: {
		'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {},
		'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1.0.0' },
	} },
};

let fixture;

before(async () => {
	fixture = await openAdapterFixture('examples');
});

after(() => fixture?.close());

/** Sends one JSON-RPC request; fetch would set Host itself. */
function send(url, message, headers) {
	return new Promise((resolve, reject) => {
		const sent = request(url, {
			method: 'POST',
			headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: ADA, ...headers },
		}, (response) => {
			response.resume();
			resolve({ status: response.statusCode, session: response.headers['mcp-session-id'] });
		});
		sent.once('error', reject);
		sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }));
	});
}

for (const [name, message, more, hasSessions] of [
	['sdk', INITIALIZE, {}, true],
	['sdk2', INITIALIZE, {}, true],
	['sdk2', DISCOVER, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' }, false],
	['mcp-use', DISCOVER, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' }, false],
	['mcp-lite', INITIALIZE, {}, true],
]) {
	describe(`${name}.mjs, ${message.method}`, { timeout: 60_000 }, () => {
		let url;

		before(async () => {
			({ url } = await startExample(fixture, makeExampleProject(name, 'newest')));
		});

		const statusOf = async (headers) => (await send(url, message, { ...more, ...headers })).status;

		test('another host, and a page of another site, are refused', async () => {
			const { host, port } = new URL(url);
			for (const bad of ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, 'localhost.']) {
				assert.equal(await statusOf({ host: bad }), 403, bad);
			}
			for (const bad of ['http://evil.example', `http://127.0.0.1.evil.example:${port}`, 'null', 'file://']) {
				assert.equal(await statusOf({ origin: bad }), 403, bad);
			}
			for (const good of [{}, { host: `localhost:${port}` }, { origin: `http://${host}` }, { origin: 'http://[::1]:9' }]) {
				assert.equal(await statusOf(good), 200, JSON.stringify(good));
			}
		});

		test('a user without a token that it knows is refused', async () => {
			for (const authorization of ['', 'Bearer', 'Bearer unknown', 'Basic token-of-ada']) {
				assert.equal(await statusOf({ authorization }), 401, authorization);
			}
		});

		if (hasSessions) test('a session exists for its own user only', async () => {
			const { session } = await send(url, INITIALIZE, {});
			const list = (headers) => send(url, { method: 'tools/list', params: {} },
				{ 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18', ...headers });
			assert.equal((await list()).status, 200);
			assert.equal((await list({ authorization: GRACE })).status, 404);
			assert.equal((await list({ 'mcp-session-id': randomUUID() })).status, 404);
			assert.equal((await list()).status, 200);
		});
	});
}
