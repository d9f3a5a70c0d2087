// Every preset of lib/providers with an `oauth` part: an account is connected at a
// real OpenID provider that is dressed up as the provider of the preset.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { revokeToken } from 'urlmode/oauth';

import { openAccounts, signIn, startConnecting } from '../support/accounts.mjs';
import { PRESETS, readOAuth, SECRET } from '../support/dressed-provider.mjs';

let fixture;
let providers;

before(async () => {
	({ fixture, providers } = await openAccounts('accounts'));
});

after(() => fixture?.close());

/** Connects the account of Ada Lovelace. */
async function connect(provider, options) {
	const { asked, result } = startConnecting(fixture, provider, options);
	const browser = fixture.browser();
	const posting = await signIn(fixture, (await asked).url, { browser });
	// A response that is posted as a form.
	const last = posting.forms[0]?.fields.some(([name]) => name === 'code') ? await browser.submit(posting) : posting;
	assert.match(last.text, /close this/i, last.text);
	return result;
}

describe('each preset', () => {
	for (const preset of PRESETS) {
		const oauth = readOAuth(preset);
		const isDiscovered = oauth.token_endpoint === undefined;

		test(`${preset}: the code is exchanged, and it is known whose account it is`, async () => {
			const provider = providers.dress(preset);
			const scopes = isDiscovered ? ['openid', 'profile', 'read'] : ['read', 'write'];
			const connected = await connect(provider, { scopes, requiredScopes: ['read'] });

			assert.equal(connected.action, 'accept', connected.text);
			assert.ok(await provider.knows(connected.tokens.access_token));
			assert.equal(connected.tokens.token_type, 'bearer');
			assert.deepEqual(connected.scopes.toSorted(), scopes.toSorted());
			assert.match(connected.account?.id ?? (oauth.account ? '' : 'x'.repeat(43)), /^[\w-]{43}$/);
			assert.equal(connected.account?.name, oauth.account?.name && 'Ada Lovelace');
			assert.equal(connected.claims?.sub, isDiscovered ? connected.account.id : undefined);
			assert.deepEqual(connected.variables, oauth.variables ? provider.variables : {});

			assert.equal(provider.exchanges.length, 1);
			assert.equal(provider.lengthened.length, oauth.long_lived ? 1 : 0);
			assert.ok(!provider.lengthened.some(({ token }) => token === connected.tokens.access_token), 'the long-lived token is the one that is used');
			const [{ form, authorization }] = provider.exchanges;
			const [{ code_challenge: challenge }] = provider.authorizations;
			assert.equal(form.code_verifier !== undefined && challenge !== undefined, oauth.pkce === 'S256');
			assert.equal(form.client_secret, oauth.token_endpoint_auth_method === 'client_secret_post' ? SECRET : undefined);
			assert.ok(oauth.lifetimes?.access, 'the table says how long its tokens live');
			assert.equal(authorization !== undefined, oauth.token_endpoint_auth_method === 'client_secret_basic');
		});
	}

	for (const preset of PRESETS.filter((name) => readOAuth(name).revocation_endpoint)) {
		test(`${preset}: the token is revoked`, async () => {
			const provider = providers.dress(preset);
			const { tokens } = await connect(provider);
			const account = { provider: 'account', description: provider.file, client: provider.client, variables: provider.variables };
			await revokeToken(account, tokens.access_token);
			assert.equal(await provider.knows(tokens.access_token), false);
		});
	}
});

describe('quirks', () => {
	test('a response that is posted as a form', async () => {
		const provider = providers.dress('openid-connect', { oauth: { response_mode: 'form_post' } });
		const { asked, result } = startConnecting(fixture, provider, { scopes: ['openid'] });
		const browser = fixture.browser();
		const posting = await signIn(fixture, (await asked).url, { browser });
		assert.ok(posting.forms[0].fields.some(([name]) => name === 'code'));
		assert.match((await browser.submit(posting)).text, /close this/i);
		assert.equal((await result).action, 'accept');
	});

	test('tokens that are answered as a form', async () => {
		const { action, tokens } = await connect(providers.dress('github', { behaviour: { form: true } }));
		assert.equal(action, 'accept');
		assert.equal(typeof tokens.expires_in, 'number');
	});

	test('scopes that are answered as a list, and joined with commas', async () => {
		for (const scope of [['read', 'write'], 'read,write']) {
			const { scopes } = await connect(providers.dress('linear', { behaviour: { tokens: { scope } } }), { scopes: ['read', 'write'] });
			assert.deepEqual(scopes, ['read', 'write']);
		}
	});

	test('an id token that nobody can verify is left out', async () => {
		const { action, tokens, claims } = await connect(providers.dress('linkedin'), { scopes: ['openid', 'profile'] });
		assert.deepEqual([action, tokens.id_token, claims], ['accept', undefined, undefined]);
	});

	test('a provider that does not say whose account it is: the tokens are there', async (t) => {
		const warnings = [];
		t.mock.method(process, 'emitWarning', (text) => warnings.push(text));
		const { action, account, tokens } = await connect(providers.dress('github', { behaviour: { accountStatus: 403 } }));
		assert.deepEqual([action, account, typeof tokens.access_token], ['accept', undefined, 'string']);
		assert.deepEqual(warnings, ['account did not say whose account was connected (status_403)']);
	});

	test('a public client, which has no secret, with PKCE', async () => {
		const provider = providers.dress('openid-connect', { oauth: { token_endpoint_auth_method: 'none' } });
		assert.equal((await connect(provider, { scopes: ['openid'] })).action, 'accept');
	});

	test('further parameters, over those of the description', async () => {
		const provider = providers.dress('notion');
		assert.equal((await connect(provider, { parameters: { extra: 'a b&c' } })).action, 'accept');
		assert.equal(provider.authorizations[0].extra, 'a b&c');
	});
});
