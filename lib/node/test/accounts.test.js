// Accounts: descriptions, their variables, and options that do not fit them. tests/e2e tests
// the exchange itself, with real providers.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { findMistakes } from '../src/accounts/check-description.js';
import { fillIn, readDescription } from '../src/accounts/description.js';
import { findText } from '../src/accounts/pointer.js';
import { AccountProvider } from '../src/accounts/provider.js';
import { parse, toTokenResponse } from '../src/accounts/token-response.js';
import { withAccount } from '../src/frameworks/mcp-lite.js';
import { scratchFolder } from './support/keys.js';

const CLIENT = { id: 'client', secret: 'secret-of-the-client' };
const RETURN_URL = 'https://callback.example/oauth/account/return';

const open = (provider, options) => AccountProvider.open({ provider, client: CLIENT, ...options });
const requestOf = async (provider, options) => (await open(provider, options)).authorizationUrl(RETURN_URL);

test('the authorization request of a provider, with its own words', async () => {
	const slack = await requestOf('slack', { scopes: ['chat:write', 'users:read'], parameters: { team: 'T1' } });
	assert.equal(slack.origin + slack.pathname, 'https://slack.com/oauth/v2/authorize');
	assert.deepEqual(Object.fromEntries(slack.searchParams), {
		response_type: 'code', client_id: 'client', redirect_uri: RETURN_URL, user_scope: 'chat:write,users:read', team: 'T1',
	});
	const notion = await requestOf('notion');
	assert.equal(notion.searchParams.get('owner'), 'user');
	assert.equal(notion.searchParams.has('scope'), false);
	const dropbox = await requestOf('dropbox', { parameters: { token_access_type: 'online' } });
	assert.equal(dropbox.searchParams.get('token_access_type'), 'online');
});

test('variables are filled in, where they belong', async () => {
	const shop = await requestOf('shopify', { variables: { shop: 'my-shop' } });
	assert.equal(shop.href.split('?')[0], 'https://my-shop.myshopify.com/admin/oauth/authorize');
	assert.equal((await requestOf('salesforce')).host, 'login.salesforce.com');
	assert.equal((await requestOf('salesforce', { variables: { domain: 'acme--uat.sandbox.my' } })).host, 'acme--uat.sandbox.my.salesforce.com');
	const entra = await readDescription('microsoft-entra');
	assert.equal(fillIn(entra, {}).issuer, 'https://login.microsoftonline.com/common/v2.0');
	assert.equal(fillIn(entra, { tenant: 'contoso.example' }).issuer, 'https://login.microsoftonline.com/contoso.example/v2.0');
	const openid = await readDescription('openid-connect');
	assert.equal(fillIn(openid, { issuer: 'https://id.example/realms/a' }).issuer, 'https://id.example/realms/a');
});

for (const [preset, name, values] of [
	['shopify', 'shop', ['evil.example/', 'a.b', 'a/b', 'a#', 'a?', 'a@b', 'a:1', '-a', 'a-', '', 'a\n', 'é', 'a'.repeat(64), '{shop}', 7, null, ['a']]],
	['salesforce', 'domain', ['evil.example/', '.a', 'a.', 'a..b', 'a/b', 'a@b', 'a:1', 'a\0', `${'a.'.repeat(127)}a`]],
	['microsoft-entra', 'tenant', ['a/b', '../a', '..', 'a?b']],
	['openid-connect', 'issuer', ['http://id.example', 'id.example', 'https://', 'https://a?b', 'https://a#b', 'https://{a}', 'javascript:1', 'http://localhost.evil.example']],
]) {
	test(`${name} of ${preset} cannot lead elsewhere`, async () => {
		const oauth = await readDescription(preset);
		for (const value of values) {
			assert.throws(() => fillIn(oauth, { [name]: value }), { name: 'TypeError', message: new RegExp(`^variables\\.${name} (must be|is required)`) },
				String(value));
		}
		assert.throws(() => fillIn(oauth, { other: 'x' }), { message: 'variables.other is not one of this description' });
	});
}

for (const [what, options, message] of [
	['no such description', { provider: 'nobody' }, /^there is no description nobody: .*nobody\.json does not exist$/],
	['a description that is no name', { description: '..' }, /^description must be the name of a description, or a path with a slash$/],
	['a description without accounts', { provider: 'plaid' }, /plaid\.json does not say how an account is connected: it has no oauth$/],
	['no client', { client: undefined }, /^client\.id must be a non-empty string$/],
	['an empty secret', { client: { id: 'a', secret: '' } }, /^client\.secret must be a non-empty string, or left out$/],
	['no secret, without PKCE', { client: { id: 'a' } }, /^client\.secret is required: this provider has no PKCE$/],
	['scopes that are a text', { scopes: 'read write' }, /^scopes must be a list of scopes, without spaces and commas in them$/],
	['a scope that is two', { scopes: ['read write'] }, /^scopes must be/],
	['scopes that are two with a comma', { requiredScopes: ['read,write'] }, /^requiredScopes must be/],
	['a variable that is missing', { provider: 'shopify' }, /^variables\.shop is required$/],
	['a variable that there is not', { variables: { shop: 'a' } }, /^variables\.shop is not one of this description$/],
	['a parameter that comes from elsewhere', { parameters: { state: 'a' } }, /^parameters\.state is not a text, or comes from elsewhere$/],
	['a parameter that is no text', { parameters: { a: 1 } }, /^parameters\.a is not a text/],
]) {
	test(`options that do not fit: ${what}`, async () => {
		const wanted = { provider: 'notion', client: CLIENT, message: 'Please.', subject: 'user-42', typed: false, call: { request: {} }, urlmode: undefined, ...options };
		await assert.rejects(withAccount(wanted, async () => {}), (error) => {
			assert.ok(error instanceof TypeError);
			assert.match(error.message, message);
			assert.ok(!error.message.includes(CLIENT.secret));
			return true;
		});
	});
}

test('a file of the site is checked, and a mistake is named with file and place', async (t) => {
	const file = join(scratchFolder(t), 'own.json');
	const oauth = { issuer: 'https://id.example', pkce: 'S256', token_endpoint_auth_method: 'none' };
	writeFileSync(file, JSON.stringify({ oauth }));
	assert.deepEqual(await readDescription(file), oauth);
	for (const [content, place] of [
		[JSON.stringify({ oauth: { ...oauth, pkec: 'S256' } }), '/oauth/pkec'],
		[JSON.stringify({ oauth: { ...oauth, pkce: 'plain' } }), '/oauth/pkce'],
		[JSON.stringify({ oauth: { ...oauth, issuer: 'https://{a}.example' } }), '/oauth/variables'],
		[JSON.stringify({ oauth: { ...oauth, pkec: 1, pkce: 'plain', scope: { separator: ';', parameter: '' }, account: {} } }), '; /oauth/pkce must be one of S256, none; '
			+ '/oauth/scope/parameter does not match: a text that is not empty, without NUL; /oauth/scope/separator must be one of " ", ","; '
			+ '/oauth/account/id is missing; /oauth/account must have either from or endpoint'],
		[JSON.stringify({ oauth: { pkce: 'none', token_endpoint_auth_method: 'none', variables: { a: { as: 'label' } } } }),
			': /oauth/issuer is missing; /oauth/pkce must be S256'],
		[JSON.stringify({ oauth: { ...oauth, variables: { a: { as: 'label' } } } }), ': /oauth/variables must be those that the addresses name'],
		// Members that are wrong by themselves, and others that do not fit together.
		[JSON.stringify({ oauth: {
			authorization_endpoint: 'https://{shop}.example/a', token_endpoint: 'https://id.example/t?x', pkce: 'S256', token_endpoint_auth_method: 'none',
			signed_secret: { issuer: 'i', audience: 'https://id.example' }, account: { from: 'id_token', id: '/sub' }, 'pk/ce': 1,
			variables: { region: { as: 'label', return_parameter: 'r' } },
		} }), '; /oauth/token_endpoint does not match: https, or http on loopback; {name} stands for a variable; /oauth/variables/region/among is missing; '
			+ '/oauth/account/from must be one of token_response, return; /oauth/token_endpoint_auth_method must be client_secret_post'],
		// An address that is wrong may have been the one with the variable.
		[JSON.stringify({ oauth: {
			issuer: 'ftp://{shop}.example', pkce: 'S256', token_endpoint_auth_method: 'client_secret_pots', variables: { shop: { as: 'label' } },
			signed_secret: { issuer: 'i', audience: 'https://id.example' }, account: { from: 'nowhere', id: 'sub' },
		} }), ': /oauth/issuer does not match: https, or http on loopback; {name} stands for a variable; /oauth/token_endpoint_auth_method must be one of '
			+ 'client_secret_basic, client_secret_post, private_key_jwt, none; /oauth/account/from must be one of id_token, userinfo, token_response, return; '
			+ '/oauth/account/id does not match: a JSON pointer (RFC 6901)'],
		[JSON.stringify({ oauth: { ...oauth, variables: 'none', account: null, pkce: 'none' } }), '/oauth/variables must be an object; /oauth/account must be an object'],
		['{', 'cannot be read as JSON'],
	]) {
		writeFileSync(file, content);
		await assert.rejects(readDescription(file), ({ message }) => message.startsWith(file) && message.includes(place));
	}
	await assert.rejects(open('account', { description: `${file}.none` }), /^TypeError: there is no description .* does not exist$/);
	assert.deepEqual(findMistakes([]).map(({ pointer }) => pointer), ['']);
});

test('an outcome without a code is no account, and nobody is asked', async () => {
	const provider = await open('notion');
	for (const result of [undefined, {}, { code: ['a', 'b'] }]) {
		assert.deepEqual(await provider.connect({ elicitationId: 'id', returnUrl: RETURN_URL, result }), { reason: 'exchange_failed', detail: 'code_missing' });
	}
});

test('what pointers find', () => {
	const document = { a: { 'b/c': 'text', 'd~e': 7 }, list: ['x'], empty: '', none: null, fraction: 1.5 };
	for (const [pointer, expected] of [['/a/b~1c', 'text'], ['/a/d~0e', '7'], ['/list/0', 'x'], ['/list/1', undefined], ['/empty', undefined],
		['/none', undefined], ['/none/a', undefined], ['/fraction', undefined], ['/a', undefined], ['', undefined], ['/toString', undefined],
		['/a/constructor/name', undefined], [undefined, undefined]]) {
		assert.equal(findText(document, pointer), expected, pointer);
	}
});

test('a whole number that JavaScript cannot hold is read as a text, digit by digit', () => {
	for (const [text, expected] of [
		['{"user_id":17841405793187218}', { user_id: '17841405793187218' }], ['[-17841405793187218,9007199254740991,9007199254740992]', ['-17841405793187218', 9007199254740991, '9007199254740992']],
		['{"a":"17841405793187218 \\" 17841405793187218","b\\\\":17841405793187218}', { a: '17841405793187218 " 17841405793187218', 'b\\': '17841405793187218' }],
		['{"17841405793187218":1.78414057931872180000}', { '17841405793187218': 1.7841405793187218 }], ['[17841405793187218e2,1E+400,12]', [1784140579318721800, Infinity, 12]],
		['{"a":17841405793187218', undefined], ['"\\"\\"\\"\\"17841405793187218', undefined], ['17841405793187218', '17841405793187218'],
	]) assert.deepEqual(parse(text), expected, text);
	const long = `{"a":"${'x'.repeat(1_000_000)}","id":17841405793187218}`;
	assert.equal(parse(long).id, '17841405793187218');
});

test('answers of token endpoints, as RFC 6749 has them', async (t) => {
	t.mock.method(Date, 'now', () => Date.parse('2026-11-23T12:00:00Z'));
	const json = (value, status = 200) => Response.json(value, { status });
	const at = (date, value) => Response.json(value, { headers: { date } });
	const form = (text) => new Response(text, { headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' } });
	for (const [response, rules, status, expected] of [
		[json({ access_token: 'a', token_type: 'Bearer', refresh_token: null, id_token: 'i' }), {}, 200, { access_token: 'a', token_type: 'Bearer' }],
		[json({ access_token: 'a' }), { token_type: 'bearer' }, 200, { access_token: 'a', token_type: 'bearer' }],
		[json({ ok: true, user: { access_token: 'u', scope: ['a', 'b'] }, access_token: 'bot' }), { member: '/user' }, 200,
			{ ok: true, user: { access_token: 'u', scope: ['a', 'b'] }, access_token: 'u', scope: 'a b',
				outer: { ok: true, user: { access_token: 'u', scope: ['a', 'b'] }, access_token: 'bot' } }],
		[json({ user: { access_token: 'u' }, access_token: null }), { member: '/user' }, 200, { user: { access_token: 'u' }, access_token: 'u' }],
		[json({ error: 'bad_refresh_token' }), { invalid_grant: ['bad_refresh_token'] }, 400, { error: 'invalid_grant' }],
		[json({ access_token: 'a', urlmode_variables: { host: 'evil.example' } }), {}, 200, { access_token: 'a' }],
		[json({ ok: true }), { member: '/user' }, 200, { ok: true }],
		[json({ access_token: 'a', expires_at: '2026-11-23T13:00:00Z' }), {}, 200, { access_token: 'a', expires_at: '2026-11-23T13:00:00Z', expires_in: 3_600 }],
		[json({ access_token: 'a', expires_at: '2026-11-23T13:00:00Z', expires_in: 60 }), {}, 200, { access_token: 'a', expires_at: '2026-11-23T13:00:00Z', expires_in: 60 }],
		...[-1, '', ' ', '-5', 'never', '3600s', true, [], {}, '1e999', 1e15, '9223372036854775807'].map((seconds) => [json({ access_token: 'a', expires_in: seconds }), {}, 200, { access_token: 'a' }]),
		...[0, '0', 59.5, '3600'].map((seconds) => [json({ access_token: 'a', expires_in: seconds }), {}, 200, { access_token: 'a', expires_in: Number(seconds) }]),
		// The clock of this host is two hours fast.
		[at('Mon, 23 Nov 2026 10:00:00 GMT', { access_token: 'a', expires_at: '2026-11-23T11:00:00Z' }), {}, 200, { access_token: 'a', expires_at: '2026-11-23T11:00:00Z', expires_in: 3_600 }],
		[at('soon', { access_token: 'a', expires_at: '2026-11-23T13:00:00Z' }), {}, 200, { access_token: 'a', expires_at: '2026-11-23T13:00:00Z', expires_in: 3_600 }],
		[json({ access_token: 'a', expires_at: '2999-11-23T13:00:00Z' }), {}, 200, { access_token: 'a', expires_at: '2999-11-23T13:00:00Z' }],
		[json({ access_token: 'a', expires_at: 'tomorrow' }), {}, 200, { access_token: 'a', expires_at: 'tomorrow' }],
		[json({ access_token: 'a', expires_at: 1_763_900_000 }), {}, 200, { access_token: 'a', expires_at: 1_763_900_000 }],
		[form('access_token=a&scope=repo%2Cgist&token_type=bearer'), {}, 200, { access_token: 'a', scope: 'repo,gist', token_type: 'bearer' }],
		[form('error=bad_verification_code'), {}, 400, { error: 'bad_verification_code' }],
		[json({ ok: false, error: 'invalid_code' }), {}, 400, { ok: false, error: 'invalid_code' }],
		[json({ error: 'invalid_grant' }, 401), {}, 401, { error: 'invalid_grant' }],
		[new Response('<html>', { status: 502 }), {}, 502, {}],
		[new Response('null'), {}, 200, {}],
	]) {
		const read = await toTokenResponse(response, rules, false);
		assert.deepEqual([read.status, await read.json()], [status, expected]);
	}
	assert.equal((await (await toTokenResponse(json({ id_token: 'i' }), {}, true)).json()).id_token, 'i');
});
