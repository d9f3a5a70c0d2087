// What a description can say of requests and answers: the token endpoint of each
// test takes only what its provider takes.

import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import test from 'node:test';

import { findMistakes } from '../src/accounts/check-description.js';
import { OUTCOME, SECRET, startProvider as start } from './support/described-provider.js';

const RETURN_URL = OUTCOME.returnUrl;
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' });

function read(token) {
	const [head, claims, signature] = token.split('.');
	const good = verify('sha256', Buffer.from(`${head}.${claims}`), { key: publicKey, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
	return { good, head: JSON.parse(Buffer.from(head, 'base64url')), claims: JSON.parse(Buffer.from(claims, 'base64url')) };
}

test('private_key_jwt (RFC 7523): each request is signed anew', async (t) => {
	const { open, origin, formOf } = await start(t, { token_endpoint_auth_method: 'private_key_jwt' });
	const provider = await open({ client: { id: 'client', privateKey: PEM, keyId: 'key-1' } });
	assert.ok('tokens' in await provider.connect({ ...OUTCOME, result: { code: 'c' } }));
	await provider.refresh('refresh');
	const assertions = [0, 1].map((n) => {
		const form = formOf(n);
		assert.equal(form.client_assertion_type, 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
		assert.equal(form.client_secret, undefined);
		return read(form.client_assertion);
	});
	for (const { good, head, claims } of assertions) {
		assert.ok(good);
		assert.deepEqual(head, { alg: 'ES256', typ: 'JWT', kid: 'key-1' });
		assert.deepEqual([claims.iss, claims.sub, claims.aud, claims.exp - claims.iat], ['client', 'client', `${origin}/token`, 300]);
		assert.ok(Math.abs(claims.iat - Date.now() / 1_000) < 60);
	}
	assert.notEqual(assertions[0].claims.jti, assertions[1].claims.jti);
});

test('a client secret that is signed for each request, as Apple wants it', async (t) => {
	const { open, formOf } = await start(t, {
		signed_secret: { issuer: '{team}', audience: 'https://appleid.example' }, variables: { team: { as: 'label' } },
	});
	const provider = await open({ client: { id: 'client', privateKey: PEM, keyId: 'key-1' }, variables: { team: 'TEAM123456' } });
	await provider.connect({ ...OUTCOME, result: { code: 'c' } });
	const { good, head, claims } = read(formOf().client_secret);
	assert.ok(good);
	assert.deepEqual([head.alg, head.kid, claims.iss, claims.sub, claims.aud], ['ES256', 'key-1', 'TEAM123456', 'client', 'https://appleid.example']);
	assert.equal(formOf().client_id, 'client');
});

for (const [what, client, message] of [
	['a secret in place of a key', { id: 'a', secret: SECRET }, /^client\.secret must not be given/],
	['no key', { id: 'a' }, /^client\.privateKey must be a private key as PEM/],
	['a key that is none', { id: 'a', privateKey: 'of-the-test' }, /^client\.privateKey must be a private key as PEM/],
	['a key of an unknown kind', { id: 'a', privateKey: generateKeyPairSync('ed448').privateKey.export({ type: 'pkcs8', format: 'pem' }) }, /^client\.privateKey must be/],
	['an empty id of a key', { id: 'a', privateKey: PEM, keyId: '' }, /^client\.keyId must be a non-empty string/],
]) {
	test(`${what} is refused, and not repeated`, async (t) => {
		const { open } = await start(t, { token_endpoint_auth_method: 'private_key_jwt' });
		await assert.rejects(open({ client }), (error) => {
			assert.ok(error instanceof TypeError);
			assert.match(error.message, message);
			return !/of-the-test|BEGIN|secret-of/.test(error.message);
		});
	});
}

test('a key where the provider knows none is refused', async (t) => {
	const { open } = await start(t, {});
	await assert.rejects(open({ client: { id: 'a', privateKey: PEM } }), /client\.privateKey must not be given/);
});

test('parameters with names of the provider, as TikTok has them', async (t) => {
	const { open, formOf, requests } = await start(t, { parameter_names: { client_id: 'client_key' } });
	const provider = await open();
	const { searchParams } = provider.authorizationUrl(RETURN_URL);
	assert.deepEqual([searchParams.get('client_key'), searchParams.has('client_id')], ['client', false]);
	await provider.connect({ ...OUTCOME, result: { code: 'c' } });
	await provider.refresh('refresh');
	await provider.revoke('refresh');
	assert.deepEqual(requests.map(({ path }) => path), ['/token', '/token', '/revoke']);
	for (const n of [0, 1, 2]) assert.deepEqual([formOf(n).client_key, formOf(n).client_id, formOf(n).client_secret], ['client', undefined, SECRET]);
});

test('a token request as JSON', async (t) => {
	const { open, requests } = await start(t, { token_request: 'json' });
	await (await open()).connect({ ...OUTCOME, result: { code: 'c' } });
	assert.match(requests[0].headers['content-type'], /^application\/json/);
	assert.deepEqual(JSON.parse(requests[0].body), {
		grant_type: 'authorization_code', code: 'c', redirect_uri: RETURN_URL, code_verifier: OUTCOME.codeVerifier, client_id: 'client', client_secret: SECRET,
	});
});

test('the host of the token endpoint comes back with the user, among those of the description', async (t) => {
	const { open, requests } = await start(t, (origin) => ({
		token_endpoint: `${origin}/{host}/token`, revocation_endpoint: `${origin}/{host}/revoke`,
		variables: { host: { as: 'labels', default: 'accounts.example', among: ['accounts.example', 'accounts.example.eu'], return_parameter: 'accounts-server' } },
	}));
	const provider = await open();
	const there = await provider.connect({ ...OUTCOME, result: { code: 'c', 'accounts-server': 'https://accounts.example.eu' } });
	assert.deepEqual([there.variables, requests[0].path], [{ host: 'accounts.example.eu' }, '/accounts.example.eu/token']);
	assert.deepEqual((await provider.connect({ ...OUTCOME, result: { code: 'c' } })).variables, {});
	assert.equal(requests[1].path, '/accounts.example/token');
	for (const host of ['https://evil.example', 'https://accounts.example@evil.example', 'https://accounts.example.eu:1', '', 'constructor']) {
		assert.deepEqual(await provider.connect({ ...OUTCOME, result: { code: 'c', 'accounts-server': host } }),
			{ reason: 'exchange_failed', detail: 'accounts-server' }, host);
	}
	assert.equal(requests.length, 2, 'code and secret were sent nowhere else');
	await assert.rejects(open({ variables: { host: 'evil.example' } }), /^TypeError: variables\.host must be one of accounts\.example, accounts\.example\.eu$/);
});

test("further parameters of the return are there, and can name the account, as QuickBooks' realmId", async (t) => {
	const { open } = await start(t, { account: { from: 'return', id: '/realmId' } });
	const { account, returned } = await (await open()).connect({ ...OUTCOME, result: { code: 'c', realmId: '1234', list: ['a'] } });
	assert.deepEqual([account, returned], [{ id: '1234' }, { realmId: '1234' }]);
});

test('two tokens of one answer are told apart, and both kept, as those of Slack', async (t) => {
	const answer = { access_token: 'xoxb-bot', token_type: 'bot', bot_user_id: 'U0BOT', authed_user: { id: 'U1', access_token: 'xoxp-user', token_type: 'user' } };
	const user = await start(t, { token_response: { member: '/authed_user', token_type: 'bearer' }, account: { from: 'token_response', id: '/authed_user/id' } }, answer);
	const { tokens, account } = await (await user.open()).connect({ ...OUTCOME, result: { code: 'c' } });
	assert.deepEqual([tokens.access_token, tokens.outer.access_token, account], ['xoxp-user', 'xoxb-bot', { id: 'U1' }]);
	const bot = await start(t, { token_response: { token_type: 'bearer' }, account: { from: 'token_response', id: '/bot_user_id' } }, answer);
	const other = await (await bot.open()).connect({ ...OUTCOME, result: { code: 'c' } });
	assert.deepEqual([other.tokens.access_token, other.tokens.authed_user.access_token, other.account], ['xoxb-bot', 'xoxp-user', { id: 'U0BOT' }]);
});

for (const method of ['GET', 'POST']) {
	const parameters = { grant_type: 'x_exchange', id: '{client_id}', client_secret: '{client_secret}', token: 'it is {access_token}' };

	test(`a token that is exchanged for a long-lived one with ${method}`, async (t) => {
		const { open, requests } = await start(t, (origin) => ({ long_lived: { exchange: { method, endpoint: `${origin}/longer`, parameters } } }),
			{ expires_in: '5184000', user: 1 });
		const { tokens } = await (await open()).connect({ ...OUTCOME, result: { code: 'c' } });
		assert.deepEqual(tokens, { access_token: 'access', token_type: 'bearer', expires_in: 5_184_000, user: 1 });
		const [, { path, body }] = requests;
		const sent = Object.fromEntries(method === 'GET' ? new URL(path, 'http://x').searchParams : new URLSearchParams(body));
		assert.deepEqual(sent, { grant_type: 'x_exchange', id: 'client', client_secret: SECRET, token: 'it is access' });
		assert.equal(method === 'GET' ? body : path, method === 'GET' ? '' : '/longer');
	});

	test(`a ${method} for a long-lived token that fails: neither the token nor the secret is said`, async (t) => {
		for (const [endpoint, detail] of [['http://127.0.0.1:2/longer', 'ECONNREFUSED'], [undefined, 'no_long_lived_token, status 200, application/json with empty=true']]) {
			const { open, requests } = await start(t, (origin) => ({ long_lived: { exchange: { method, endpoint: endpoint ?? `${origin}/empty`, parameters } } }),
				(path) => (path.startsWith('/empty') ? { empty: true } : { access_token: 'access', token_type: 'bearer' }));
			const said = [];
			t.mock.method(process, 'emitWarning', (text) => said.push(text));
			const end = await (await open()).connect({ ...OUTCOME, result: { code: 'c' } });
			assert.deepEqual([end, said], [{ reason: 'exchange_failed', detail }, []]);
			assert.equal(requests.length, endpoint ? 1 : 2);
		}
	});
}

test('the address that says whose account it is has a query, as that of PayPal', async (t) => {
	const { open, requests } = await start(t, (origin) => ({ account: { endpoint: `${origin}/userinfo?schema=openid`, id: '/user_id' } }), { user_id: '42' });
	const { account } = await (await open()).connect({ ...OUTCOME, result: { code: 'c' } });
	assert.deepEqual([account, requests[1].path], [{ id: '42' }, '/userinfo?schema=openid']);
	const query = { authorization_endpoint: 'https://x.example/?a=b', token_endpoint: 'https://x.example/?a=b', pkce: 'S256', token_endpoint_auth_method: 'none' };
	assert.deepEqual(findMistakes({ ...query, account: { endpoint: 'https://x.example/?{a}=b#c', id: '/user_id' } }).map(({ pointer }) => pointer),
		['/authorization_endpoint', '/token_endpoint', '/account/endpoint']);
});

test('a header with the id of the client, as Twitch wants it', async (t) => {
	const { open, requests } = await start(t, (origin) => ({
		account: { endpoint: `${origin}/me`, headers: { 'client-id': '{client_id}' }, id: '/data/0/id' },
	}), { data: [{ id: '42' }] });
	const { account } = await (await open()).connect({ ...OUTCOME, result: { code: 'c' } });
	assert.deepEqual([account, requests[1].headers['client-id'], requests[1].headers.authorization], [{ id: '42' }, 'client', 'Bearer access']);
});
