// The presets read the answers that their providers show in their documentation: whose
// account it is, which token is used, what stays beside it, and for how long it is valid.

import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { OUTCOME, startProvider } from './support/described-provider.js';

const SLACK = {
	ok: true, access_token: 'xoxb-bot', token_type: 'bot', scope: 'commands,incoming-webhook', bot_user_id: 'U0KRQLJ9H', app_id: 'A0KRD7HC3',
	team: { name: 'Slack Pickleball Team', id: 'T9TK3CUKW' }, enterprise: { name: 'slack-pickleball', id: 'E12345678' },
	authed_user: { id: 'U1234', scope: 'chat:write', access_token: 'xoxp-user', token_type: 'user' },
};
const NOTION = {
	access_token: 'ntn_token', token_type: 'bearer', refresh_token: 'nrt_token', bot_id: 'b3414d65-1224-5d1d-9c4b-1a4d2a9b3c5f', duplicated_template_id: null,
	workspace_icon: 'https://website.domain/images/image.png', workspace_id: 'j565j4d7-x2882-61bs-564a-jj9d9ui-c36hxfr7x', workspace_name: "Ada's Notion",
};
/** Minus the seconds in which the test runs. */
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

for (const { preset, of = preset, answer, token, account, scopes, also = () => {} } of [
	{ preset: 'notion', of: 'Notion, granted by a user', token: 'ntn_token', account: { id: NOTION.bot_id, name: NOTION.workspace_name },
		answer: { ...NOTION, owner: { type: 'user', user: { object: 'user', id: 'e79a0b74-3aba-4149-9f74-0bb5791a6ee6', name: 'Ada' } } } },
	{ preset: 'notion', of: 'Notion, granted for a workspace', token: 'ntn_token', account: { id: NOTION.bot_id, name: NOTION.workspace_name },
		answer: { ...NOTION, owner: { type: 'workspace', workspace: true } } },
	{ preset: 'slack', of: 'Slack, the token of the user, and that of the bot beside it', answer: SLACK, token: 'xoxp-user', scopes: ['chat:write'],
		account: { id: 'U1234', name: 'Slack Pickleball Team' },
		also: ({ outer }) => assert.deepEqual([outer.access_token, outer.bot_user_id], ['xoxb-bot', 'U0KRQLJ9H']) },
	{ preset: 'slack', of: 'Slack, the token of the user alone', token: 'xoxp-user', scopes: ['chat:write'], account: { id: 'U1234', name: 'Slack Pickleball Team' },
		answer: { ok: true, app_id: 'A0KRD7HC3', team: SLACK.team, authed_user: SLACK.authed_user },
		also: ({ outer }) => assert.equal(outer, undefined) },
	{ preset: 'slack-bot', of: 'Slack, the token of the bot, and that of the user beside it', answer: SLACK, token: 'xoxb-bot',
		scopes: ['commands', 'incoming-webhook'], account: { id: 'U0KRQLJ9H', name: 'Slack Pickleball Team' },
		also: ({ authed_user: user }) => assert.equal(user.access_token, 'xoxp-user') },
	{ preset: 'square', answer: { access_token: 'EAAAEO', token_type: 'bearer', expires_at: inAnHour(), merchant_id: 'MLQ1', refresh_token: 'EQAAEO', short_lived: false },
		token: 'EAAAEO', account: { id: 'MLQ1' }, also: ({ expires_in: seconds }) => assert.ok(seconds > 3_500 && seconds <= 3_600, String(seconds)) },
	{ preset: 'tiktok', answer: {
		access_token: 'act.1', expires_in: 86_400, open_id: 'afd97af1-b87b-48b9-ac98-410aghda5344', refresh_expires_in: 31_536_000, refresh_token: 'rft.1',
		scope: 'user.info.basic,video.list', token_type: 'Bearer',
	}, token: 'act.1', scopes: ['user.info.basic', 'video.list'], account: { id: 'afd97af1-b87b-48b9-ac98-410aghda5344' } },
	{ preset: 'asana', answer: {
		access_token: 'f6ds', expires_in: 3_600, token_type: 'bearer', refresh_token: 'hjkl',
		data: { id: 4_673_218_951, gid: '4673218951', name: 'Greg Sanchez', email: 'gsanchez@example.com' },
	}, token: 'f6ds', account: { id: '4673218951', name: 'Greg Sanchez' } },
	{ preset: 'dropbox', answer: {
		access_token: 'sl.1', expires_in: 14_400, token_type: 'bearer', scope: 'account_info.read files.content.read', uid: '1234', account_id: 'dbid:AAH4f99', refresh_token: 'x',
	}, token: 'sl.1', scopes: ['account_info.read', 'files.content.read'], account: { id: 'dbid:AAH4f99' } },
	{ preset: 'salesforce', answer: {
		access_token: '00DB', refresh_token: '5Aep', signature: 'CMJ4', scope: 'refresh_token api id', instance_url: 'https://acme.my.salesforce.com',
		id: 'https://login.salesforce.com/id/00DB0000000TfcRMAS/005B0000005Bk90IAC', token_type: 'Bearer', issued_at: '1558553873237',
	}, token: '00DB', scopes: ['refresh_token', 'api', 'id'], account: { id: 'https://login.salesforce.com/id/00DB0000000TfcRMAS/005B0000005Bk90IAC' },
	also: ({ instance_url: url }) => assert.equal(url, 'https://acme.my.salesforce.com') },
	...['17841405793187218', '"17841400000000000"'].map((id) => ({
		preset: 'instagram', of: `Instagram, with the id ${id}`, token: 'long-lived', account: { id: id.replaceAll('"', '') }, answer: (path) => (path.startsWith('/exchange')
			? { access_token: 'long-lived', token_type: 'bearer', expires_in: 5_183_944 }
			: `{"data":[{"access_token":"short-lived","user_id":${id},"permissions":"instagram_business_basic"}]}`),
	})),
]) {
	test(`${of}: whose account it is, and its token`, async (t) => {
		const { oauth } = JSON.parse(readFileSync(new URL(`../../providers/${preset}.json`, import.meta.url)));
		const { open } = await startProvider(t, (origin) => ({
			...oauth, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`, revocation_endpoint: `${origin}/revoke`, variables: undefined,
			...oauth.long_lived && { long_lived: Object.fromEntries(Object.entries(oauth.long_lived).map(([name, request]) => [name, { ...request, endpoint: `${origin}/${name}` }])) },
		}), typeof answer === 'function' ? answer : () => answer);
		const connected = await (await open({ scopes: ['asked'] })).connect({ ...OUTCOME, result: { code: 'c' } });
		assert.deepEqual(connected.account, account, JSON.stringify(connected));
		assert.equal(connected.tokens.access_token, token);
		assert.equal(connected.tokens.token_type, 'bearer');
		assert.deepEqual(connected.scopes, scopes ?? ['asked'], 'what the provider does not say is taken as granted');
		also(connected.tokens);
	});
}

const TOKENS = { access_token: 'access', token_type: 'bearer', refresh_token: 'refresh' };

for (const [what, failed, detail] of [['503', 503, 'status_503'], ['429', 429, 'status_429'], ['no JSON', '<html>', 'no_json']]) {
	test(`an endpoint that fails to say whose account it is (${what}): it is asked once more, and then the tokens are revoked`, async (t) => {
		for (const [failures, isInUse, expected, revoked] of [
			[1, false, { id: '5' }, []], [2, false, detail, ['refresh', 'access']], [2, true, detail, []],
		]) {
			let asked = 0;
			const { open, requests } = await startProvider(t, (origin) => ({ account: { endpoint: `${origin}/me`, id: '/id' } }),
				(path) => (path !== '/me' ? TOKENS : ++asked > failures ? { id: 5 } : failed));
			const end = await (await open()).connect({ ...OUTCOME, result: { code: 'c' } }, async () => isInUse);
			assert.deepEqual(end.account ?? end, typeof expected === 'string' ? { reason: 'exchange_failed', detail: expected } : expected);
			assert.deepEqual(requests.filter(({ path }) => path === '/revoke').map(({ body }) => new URLSearchParams(body).get('token')), revoked);
			assert.equal(asked, 2);
		}
	});
}

const revokedOf = (requests) => requests.filter(({ path }) => path === '/revoke').map(({ body }) => new URLSearchParams(body).get('token'));

for (const [what, answer, options, expected] of [
	['lack a required scope', { ...TOKENS, scope: 'read' }, { requiredScopes: ['write'] }, { reason: 'scope_missing', detail: 'write' }],
	['cannot be made long-lived', (path) => (path === '/exchange' ? 503 : TOKENS), {}, { reason: 'exchange_failed', detail: 'no_long_lived_token' }],
]) {
	test(`tokens that ${what} are revoked, but not where the user may have others`, async (t) => {
		for (const [isInUse, revoked] of [[async () => false, ['refresh', 'access']], [async () => true, []], [undefined, []]]) {
			const { open, requests } = await startProvider(t, (origin) => ({
				...typeof answer === 'function' && { long_lived: { exchange: { endpoint: `${origin}/exchange`, parameters: { token: '{access_token}' } } } },
			}), typeof answer === 'function' ? answer : () => answer);
			const { reason, detail } = await (await open(options)).connect({ ...OUTCOME, result: { code: 'c' } }, isInUse);
			assert.equal(reason, expected.reason);
			assert.match(detail, new RegExp(`^${expected.detail}`));
			assert.deepEqual(revokedOf(requests), revoked);
		}
	});
}

const VECTORS = JSON.parse(readFileSync(new URL('../../../tests/vectors/id-tokens.json', import.meta.url), 'utf8'));

/** A provider that is discovered, and signs its id tokens. */
async function startDiscovered(t, { account, changed = (token) => token, claims = () => ({}), userinfo = {}, signer }) {
	const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
	const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');
	let issuer;
	const fixture = await startProvider(t, (origin) => ({
		issuer: origin, authorization_endpoint: undefined, token_endpoint: undefined, revocation_endpoint: undefined, account,
	}), (path) => {
		switch (path) {
		case '/.well-known/openid-configuration': return {
			issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, revocation_endpoint: `${issuer}/revoke`,
			userinfo_endpoint: `${issuer}/userinfo`, jwks_uri: `${issuer}/jwks`, response_types_supported: ['code'], id_token_signing_alg_values_supported: ['RS256'],
		};
		case '/jwks': return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] };
		case '/userinfo': return userinfo;
		default: {
			const now = Math.floor(Date.now() / 1_000);
			const signed = `${encode({ alg: 'RS256', kid: 'one' })}.${encode({ iss: issuer, aud: 'client', sub: '5', iat: now, exp: now + 60, ...claims(now) })}`;
			return { ...TOKENS, id_token: changed(`${signed}.${sign('sha256', Buffer.from(signed), signer ?? privateKey).toString('base64url')}`) };
		}
		}
	});
	issuer = fixture.origin;
	return fixture;
}

test('tokens whose id token is not genuine are revoked, but not where the user may have others', async (t) => {
	const otherKey = { signer: generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey };
	for (const [isInUse, revoked, forged = { changed: (token) => token.replace(/.{8}$/, 'AAAAAAAA') }] of [
		[async () => false, ['refresh', 'access']], [async () => true, []], [undefined, []],
		[async () => false, ['refresh', 'access'], otherKey], [undefined, [], { changed: (token) => token.replace(/[^.]+$/, '') }],
	]) {
		const { open, requests } = await startDiscovered(t, { account: { from: 'id_token', id: '/sub' }, ...forged });
		const { reason } = await (await open()).connect({ ...OUTCOME, result: { code: 'c' } }, isInUse);
		assert.deepEqual([reason, revokedOf(requests)], ['exchange_failed', revoked]);
	}
});

test('what an id token says', async (t) => {
	for (const { what, claims = {}, at = {}, without = [], refused = false } of VECTORS) {
		const { open } = await startDiscovered(t, {
			account: { from: 'id_token', id: '/sub' },
			claims: (now) => ({
				...JSON.parse(JSON.stringify(claims).replaceAll('{client}', 'client')),
				...Object.fromEntries(Object.entries(at).map(([name, after]) => [name, now + after])),
				...Object.fromEntries(without.map((name) => [name, undefined])),
			}),
		});
		const { account, reason } = await (await open()).connect({ ...OUTCOME, result: { code: 'c' } });
		assert.deepEqual([account?.id, reason], refused ? [undefined, 'exchange_failed'] : ['5', undefined], what);
	}
});

test('an id of userinfo that is larger than JavaScript can count is the account, with each of its digits', async (t) => {
	const { open } = await startDiscovered(t, { account: { from: 'userinfo', id: '/id' }, userinfo: '{"sub":"5","id":17841405793187218901,"small":7}' });
	const { account } = await (await open()).connect({ ...OUTCOME, result: { code: 'c' } });
	assert.deepEqual(account, { id: '17841405793187218901' });
});

test('both requests for whose account it is have one limit of time', async (t) => {
	const { timeout } = AbortSignal;
	const limits = [];
	const { open } = await startProvider(t, (origin) => ({ account: { endpoint: `${origin}/me`, id: '/id' } }), (path) => (path === '/me' ? 503 : TOKENS));
	const provider = await open();
	t.mock.method(AbortSignal, 'timeout', (time) => limits.push(time) && timeout.call(AbortSignal, time));
	const end = await provider.connect({ ...OUTCOME, result: { code: 'c' } }, async () => true);
	assert.deepEqual([end.detail, limits], ['status_503', [30_000, 30_000]]); // of the token request, and of these
});
