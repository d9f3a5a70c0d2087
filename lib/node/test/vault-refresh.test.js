// A refresh whose steps take long or fail: what is left of its lease and of the life of
// its token, and whom it asks.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';

import pg from 'pg';

import { Vault } from '../src/vault.js';
import { breakQueries } from './support/database.js';
import { scratchFolder } from './support/keys.js';
import { provider, setUpVault } from './support/vault.js';

const SOON = "expires_at = now() + interval '30 s', refreshed_at = now() - interval '1 hour', pause_until = NULL";

test('a token is valid from its request on, however late it can be stored', async (t) => {
	const { vault, endpoint, key, row } = await setUpVault(t, { expired: true });
	let arrived;
	endpoint.instead = async () => void (arrived = Date.now());
	const left = breakQueries(t, 'store_refreshed', { times: 5 });
	const began = Date.now();
	const { expiresAt } = await vault.accessToken(key);
	assert.equal(left(), -1);
	assert.ok((await row()).refreshed_at - arrived > 1_000, 'it could be stored late');
	const validFrom = expiresAt - 3_600_000;
	assert.ok(validFrom > began - 500 && validFrom < arrived + 500, `${validFrom - began}, ${validFrom - arrived}`);
});

for (const [code, what] of [
	['28000', 'a role that may not log in'], ['28P01', 'another password'], ['3D000', 'a database that is being restored'],
	['XX000', 'a pooler without a server'],
]) {
	test(`tokens are kept in memory while PostgreSQL takes no connection: ${what}`, async (t) => {
		const { vault, endpoint, key, row } = await setUpVault(t, { expired: true });
		const told = [];
		for (const name of ['not_stored', 'failed', 'reconnect']) vault.on(name, (event) => told.push([name, event]));
		const left = breakQueries(t, 'store_refreshed', { times: 2, code });
		assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
		assert.deepEqual([left(), (await row()).state, endpoint.revoked, told], [-1, 'connected', [], []]);
	});
}

for (const [what, expiresIn] of [['is no time', -1], ['PostgreSQL cannot add to a time', 1e15], ['is the greatest number of some', 9223372036854775807n]]) {
	test(`tokens that come with an expires_in that ${what} are stored, and the old refresh token is not sent again`, async (t) => {
		const { vault, endpoint, key, row } = await setUpVault(t, { expired: true });
		endpoint.instead = async (_request, response) => {
			const tokens = JSON.stringify({ ...endpoint.grant(), expires_in: 'here' }).replace('"here"', String(expiresIn));
			return response.writeHead(200, { 'content-type': 'application/json' }).end(tokens);
		};
		const { accessToken, expiresAt } = await vault.accessToken(key);
		assert.deepEqual([accessToken, expiresAt, (await row()).state, endpoint.asked], ['access-2', undefined, 'connected', ['refresh-1']]);
		await vault.store(key, { tokens: { ...endpoint.grant(), expires_in: Number(expiresIn) }, account: { id: 'acme' }, scopes: [] });
		assert.equal((await vault.accessToken(key)).accessToken, 'access-3');
	});
}

test('"sent" that is answered late is committed again before the request', async (t) => {
	const { vault, endpoint, key, row } = await setUpVault(t, { expired: true });
	const { query } = pg.Pool.prototype;
	const { now } = performance;
	let late = 0;
	let marks = 0;
	t.mock.method(performance, 'now', () => now.call(performance) + late);
	t.mock.method(pg.Pool.prototype, 'query', async function (text, values) {
		const answer = await query.call(this, text, values);
		if (text.includes('mark_sending') && (marks += 1) === 1) late = 25_000;
		return answer;
	});
	let seen;
	endpoint.instead = async () => void (seen = [marks, (await row()).sent]);
	assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
	assert.deepEqual([seen, endpoint.asked], [[2, true], ['refresh-1']]);
});

for (const [what, lose] of [
	['has ended', 'leased_until = now()'],
	['is that of another instance', "lease = lease + 1, leased_until = now() + interval '1 s'"],
]) {
	test(`a lease that ${what} before "sent" is committed: the token is not sent under it`, async (t) => {
		const { vault, endpoint, key, change } = await setUpVault(t, { expired: true });
		const { query } = pg.Pool.prototype;
		let marks = 0;
		t.mock.method(pg.Pool.prototype, 'query', async function (text, values) {
			if (text.includes('mark_sending') && (marks += 1) === 1) await change(lose);
			return query.call(this, text, values);
		});
		let seen;
		endpoint.instead = async () => void (seen = marks);
		assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
		assert.deepEqual([seen, endpoint.asked], [2, ['refresh-1']]);
	});
}

test('the version grows with all tokens that are stored, so that a late answer is of none that comes after', async (t) => {
	const { vault, endpoint, key, change, row } = await setUpVault(t, { expired: true });
	const versions = [(await row()).version];
	for (let n = 0; n < 2; n += 1) {
		await vault.accessToken(key);
		versions.push((await row()).version);
		await change('expires_at = now()');
	}
	await vault.store(key, { tokens: endpoint.grant(), account: { id: 'acme' }, scopes: [] });
	versions.push((await row()).version);
	const [first] = versions.map(BigInt);
	assert.deepEqual(versions.map((version) => BigInt(version) - first), [0n, 1n, 2n, 3n]);
});

/** A provider that is known by its issuer, and whose metadata nobody can read. */
async function startDown(t) {
	const asked = [];
	const server = createServer(({ url }, response) => {
		asked.push(url);
		response.writeHead(503).end();
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => server.close());
	const file = join(scratchFolder(t), 'down.json');
	writeFileSync(file, JSON.stringify({ oauth: {
		issuer: `http://127.0.0.1:${server.address().port}`, pkce: 'S256', token_endpoint_auth_method: 'client_secret_post',
	} }));
	return { asked, options: { description: file, client: { id: 'a', secret: 'secret-of-the-client' } } };
}

test('the metadata of a provider that is away are not asked for with each call, and the token that is still valid is used', async (t) => {
	const { urlmode, keysFile, key, change, row } = await setUpVault(t);
	const { asked, options } = await startDown(t);
	const vault = new Vault(urlmode, { keysFile, providers: { [provider]: options } });
	const details = [];
	vault.on('failed', ({ detail }) => details.push(detail));
	await change(SOON);
	for (let n = 0; n < 4; n += 1) assert.equal((await vault.accessToken({ ...key, validFor: 60_000 })).accessToken, 'access-1');
	assert.deepEqual([asked.length, details], [1, ['PROVIDER_UNAVAILABLE']]);
	await change('expires_at = now(), pause_until = NULL');
	await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE', detail: 'PROVIDER_UNAVAILABLE' });
	const { sent, leased_until: leasedUntil, lost, failures } = await row();
	assert.deepEqual([sent, leasedUntil, lost, failures], [false, null, 0, 2]);
});

test('a description that is wrong is an error of the call, and keeps no lease', async (t) => {
	const { urlmode, keysFile, key, change, row } = await setUpVault(t, { expired: true });
	const file = join(scratchFolder(t), 'wrong.json');
	writeFileSync(file, '{}');
	const vault = new Vault(urlmode, { keysFile, providers: { [provider]: { description: file, client: { id: 'a' } } } });
	await assert.rejects(vault.accessToken(key), /^TypeError: .*wrong\.json does not say how an account is connected/);
	assert.equal((await row()).leased_until, null);
	await change('pause_until = NULL');
	const none = new Vault(urlmode, { keysFile, providers: {} });
	await assert.rejects(none.accessToken(key), /^TypeError: providers\.demo is missing$/);
	assert.equal((await row()).pause_until, null);
});

for (const carriesOut of [false, true]) {
	test(`the deletion of a disconnected account ${carriesOut ? 'is carried out, and its answer lost' : 'fails while PostgreSQL is away'}: it is made`, async (t) => {
		const { vault, endpoint, key, row } = await setUpVault(t);
		const left = breakQueries(t, 'delete_account', { times: 2, carriesOut });
		assert.deepEqual(await vault.disconnect(key), { revoked: true });
		assert.deepEqual([left() < 0, await row(), endpoint.revoked], [true, undefined, ['refresh-1', 'access-1']]);
	});
}

test('a renewal that the provider refuses for good: the account must be connected again, and it is asked once', async (t) => {
	const { vault, endpoint, key, change, row } = await setUpVault(t);
	const { oauth } = JSON.parse(readFileSync(endpoint.file));
	const request = { endpoint: `${endpoint.issuer}/renew`, parameters: { refresh_token: '{access_token}' } };
	writeFileSync(endpoint.file, JSON.stringify({ oauth: { ...oauth, long_lived: { exchange: request, renewal: request } } }));
	const tokens = { access_token: 'long', refresh_token: 'long', token_type: 'bearer', expires_in: 1_000 };
	await vault.store(key, { tokens, account: { id: 'acme' }, scopes: [] });
	await change("expires_at = now() + interval '400 s', refreshed_at = now() - interval '600 s'");
	assert.equal((await vault.accessToken(key)).accessToken, 'long', 'while it is valid');
	await once(vault, 'reconnect');
	for (let n = 0; n < 2; n += 1) await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_RECONNECT', reason: 'invalid_grant' });
	assert.deepEqual([endpoint.asked, (await row()).reason], [['long'], 'invalid_grant']);
});

test('the end of a refresh that failed counts once, if its answer is lost', async (t) => {
	const { vault, endpoint, key, row } = await setUpVault(t, { expired: true });
	endpoint.instead = (_request, _response, answer) => void answer(400, { error: 'temporarily_unavailable' }) ?? true;
	breakQueries(t, 'end_refresh', { times: 2, carriesOut: true });
	await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE' });
	assert.equal((await row()).failures, 1);
});
