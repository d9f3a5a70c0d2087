// The odd answers of token endpoints, which all languages read alike (lib/PROTOCOL.md, "The vault").

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { AccountProvider } from '../src/accounts/provider.js';
import { codeOf, lostBy } from '../src/accounts/request.js';
import { scratchFolder } from './support/keys.js';

const CASES = JSON.parse(readFileSync(new URL('../../../tests/vectors/token-answers.json', import.meta.url)));
const READ = ['access_token', 'refresh_token', 'expires_in', 'scope'];

/** What the endpoint sends. */
function bytesOf({ status = 200, type = 'application/json', headers = [], body = '', hex, before = '', length, repeat, raw }) {
	if (raw !== undefined) return Buffer.from(raw);
	const fill = (text) => Object.entries(repeat ?? {}).reduce((filled, [mark, [part, times, end]]) => filled.replace(mark, part.repeat(times) + end.repeat(times)), text);
	const content = hex === undefined ? Buffer.from(fill(body)) : Buffer.from(hex, 'hex');
	const lines = [...type ? [`Content-Type: ${type}`] : [], ...headers.map(fill), `Content-Length: ${length ?? content.length}`, 'Connection: close'];
	return Buffer.concat([Buffer.from(`${before}HTTP/1.1 ${status} Odd\r\n${lines.join('\r\n')}\r\n\r\n`), content]);
}

function readTokens(tokens) {
	return { tokens: Object.fromEntries(READ.filter((name) => tokens[name] !== undefined).map((name) => [name, tokens[name]])) };
}

function readError(error) {
	const lost = lostBy(error);
	if (lost !== undefined) return lost === 'status' ? lost : 'lost';
	return typeof error.error === 'string' ? { refused: codeOf(error) } : 'failed';
}

test('odd answers of token endpoints are read as in the other languages', async (t) => {
	let bytes;
	const server = createServer((socket) => {
		socket.on('error', () => {}).once('data', () => socket.end(bytes));
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => server.close());
	const origin = `http://127.0.0.1:${server.address().port}`;
	const file = join(scratchFolder(t), 'odd.json');
	writeFileSync(file, JSON.stringify({ oauth: {
		authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`, pkce: 'S256', token_endpoint_auth_method: 'client_secret_post',
	} }));
	const provider = await AccountProvider.open({ provider: 'odd', description: file, client: { id: 'a', secret: 'b' } });
	const different = [];
	for (const { name, is, ...answer } of CASES) {
		bytes = bytesOf(answer);
		const read = await provider.refresh('old').then(readTokens, readError);
		if (!isDeepStrictEqual(read, is)) different.push({ name, read, is });
	}
	assert.deepEqual(different, []);
});
