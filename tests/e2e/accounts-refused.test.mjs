// Accounts that are not connected: what a provider, another user or the network
// does wrong, and what is said of it.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';

import { withAccount } from 'urlmode/sdk';

import { comeBack } from '../support/flow.mjs';
import { goToProvider, openAccounts, signIn, signInAndStay, startConnecting } from '../support/accounts.mjs';
import { SECRET } from '../support/dressed-provider.mjs';

const OPENID = { scopes: ['openid', 'read'] };

let fixture;
let providers;
let warnings;

before(async () => {
	({ fixture, providers } = await openAccounts('accounts-refused'));
});

after(() => fixture?.close());

const onWarning = (warning) => warnings.push(warning);
beforeEach(() => {
	warnings = [];
	process.on('warning', onWarning);
});
afterEach(() => process.off('warning', onWarning));

/** The user signs in, and the return is as `change` makes it. */
async function connect(provider, options, change = (url) => url) {
	const { asked, result } = startConnecting(fixture, provider, options);
	const browser = fixture.browser();
	const url = await signInAndStay(fixture, (await asked).url, { browser });
	await comeBack(browser, change(new URL(url)));
	return { url, id: (await asked).elicitationId, account: await result };
}

/** It was refused with this reason and detail; and nothing that was said has a secret in it. */
async function assertRefused({ url, id, account }, provider, reason, detail) {
	assert.match(account.text, /^Not done: /);
	assert.equal(account.tokens, undefined);
	assert.equal(account.toolResult.isError, true);
	await new Promise(setImmediate);
	const said = warnings.filter(({ code }) => code === 'URLMODE_ACCOUNT').map(({ message }) => message);
	const [, ...found] = /^no account was connected at account: (\w+) \((.*)\), elicitation (.*)$/.exec(said[0] ?? '') ?? [];
	assert.deepEqual([said.length, found[0], found[2]], [1, reason, id]);
	assert.match(found[1], detail instanceof RegExp ? detail : new RegExp(`^${detail}$`));
	assert.ok(account.text.endsWith(` (${found[1]}).`), account.text);
	const all = JSON.stringify([account, said]);
	const verifiers = provider.exchanges.map(({ form }) => form.code_verifier);
	for (const secret of [url.searchParams.get('code'), url.searchParams.get('state'), SECRET, ...verifiers, 'of-the-test']) {
		assert.ok(!secret || !all.includes(secret), 'a secret is in what was said');
	}
}

describe('who the response is from', () => {
	test('another issuer: the code is not sent anywhere', async () => {
		const provider = providers.dress('openid-connect');
		const flow = await connect(provider, OPENID, (url) => {
			url.searchParams.set('iss', 'https://other.example');
			return url;
		});
		await assertRefused(flow, provider, 'issuer_mismatch', 'iss');
		assert.equal(provider.exchanges.length, 0);
	});

	test('no issuer, from a provider that sends it', async () => {
		const provider = providers.dress('openid-connect');
		const flow = await connect(provider, OPENID, (url) => {
			url.searchParams.delete('iss');
			return url;
		});
		await assertRefused(flow, provider, 'issuer_missing', 'iss');
		assert.equal(provider.exchanges.length, 0);
	});

	test('no issuer, where only the description says that it is sent', async () => {
		const provider = providers.dress('google', {
			oauth: { authorization_response_iss_parameter_supported: true }, behaviour: { sendsIss: false },
		});
		await assertRefused(await connect(provider, OPENID), provider, 'issuer_missing', 'iss');
	});

	test('another issuer, from a provider that need not send it', async () => {
		const provider = providers.dress('google');
		const flow = await connect(provider, OPENID, (url) => {
			url.searchParams.set('iss', 'https://other.example');
			return url;
		});
		await assertRefused(flow, provider, 'issuer_mismatch', 'iss');
	});

	test('an iss of a provider whose issuer nobody knows is not looked at', async () => {
		const { account } = await connect(providers.dress('github'), {}, (url) => {
			url.searchParams.set('iss', 'https://other.example');
			return url;
		});
		assert.equal(account.action, 'accept');
	});
});

describe('flows that are mixed up', () => {
	test("another user's code: its verifier is not this one's", async () => {
		const provider = providers.dress('github');
		const stolen = await signInAndStay(fixture, (await startConnecting(fixture, provider).asked).url);
		const flow = await connect(provider, {}, (url) => {
			url.searchParams.set('code', stolen.searchParams.get('code'));
			return url;
		});
		await assertRefused(flow, provider, 'exchange_refused', 'invalid_grant, status 400');
	});

	test("another user's state: the browser is told, and neither call gets anything", async () => {
		const provider = providers.dress('notion');
		const theirs = startConnecting(fixture, provider);
		const their = await signInAndStay(fixture, (await theirs.asked).url);
		const mine = startConnecting(fixture, provider);
		const browser = fixture.browser();
		const my = await signInAndStay(fixture, (await mine.asked).url, { browser });
		const state = my.searchParams.get('state');

		my.searchParams.set('state', their.searchParams.get('state'));
		const hop = await comeBack(browser, my);
		assert.equal(hop.status, 403);
		assert.match(hop.body, /wrong_browser/);
		assert.equal(provider.exchanges.length, 0);
		assert.equal(await Promise.race([theirs.result, mine.result, 'both wait']), 'both wait');
		my.searchParams.set('state', state);
		await comeBack(browser, my);
		assert.equal((await mine.result).action, 'accept');
	});

	test('an id token for another request: its nonce is not this one\'s', async () => {
		const tokens = {};
		const provider = providers.dress('google', { behaviour: { tokens } });
		tokens.id_token = (await connect(provider, OPENID)).account.tokens.id_token;
		await assertRefused(await connect(provider, OPENID), provider, 'exchange_failed', /^OAUTH_JWT_CLAIM_COMPARISON_FAILED, status 200/);
	});

	test('no id token, although there must be one', async () => {
		const provider = providers.dress('google', { behaviour: { tokens: { id_token: undefined } } });
		await assertRefused(await connect(provider, OPENID), provider, 'exchange_failed', /^OAUTH_INVALID_RESPONSE, status 200/);
	});

	test('an id token that is changed', async () => {
		const id_token = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"of-the-test"}').toString('base64url')}.`;
		const provider = providers.dress('google', { behaviour: { tokens: { id_token } } });
		await assertRefused(await connect(provider, OPENID), provider, 'exchange_failed', /^OAUTH_INVALID_RESPONSE, status 200/);
	});
});

describe('userinfo', () => {
	test('of another user: nothing is connected, and the tokens are revoked', async () => {
		const revoked = [];
		const userinfo = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"sub":"of-the-test"}');
		const provider = providers.dress('openid-connect', { behaviour: { userinfo, change: ({ access_token: token }) => void revoked.push(token) } });
		await assertRefused(await connect(provider, OPENID), provider, 'exchange_failed', 'another_sub');
		assert.deepEqual([revoked.length, await provider.knows(revoked[0])], [1, false]);
	});

	test('that fails: the id token says whose account it is', async () => {
		const provider = providers.dress('openid-connect', { behaviour: { userinfo: (response) => response.writeHead(503).end() } });
		const { account } = await connect(provider, OPENID);
		assert.deepEqual([account.action, account.account], ['accept', { id: account.claims.sub }]);
		await new Promise(setImmediate);
		assert.deepEqual(warnings.map(({ message }) => message), ['userinfo of account failed (OAUTH_RESPONSE_IS_NOT_CONFORM)']);
	});
});

describe('the signature of an id token', () => {
	/** The token with one bit of its signature changed; all else is as it was. */
	const change = ({ id_token: token }) => {
		const [header, claims, signature] = token.split('.');
		const bytes = Buffer.from(signature, 'base64url');
		bytes[0] ^= 1;
		return { id_token: [header, claims, bytes.toString('base64url')].join('.') };
	};

	test('is verified', async () => {
		const provider = providers.dress('google', { behaviour: { change } });
		await assertRefused(await connect(provider, OPENID), provider, 'exchange_failed', /^OAUTH_INVALID_RESPONSE, status 200/);
	});
});

describe('the clock of this host', () => {
	for (const [what, seconds, isAccepted] of [
		['is slow', -7_200, true],
		['is somewhat fast: an id token that has just expired', 615, true],
		['is fast by more than is tolerated', 700, false],
	]) {
		test(what, async (t) => {
			const { now } = Date;
			// From the answer of the provider on, whose id tokens are valid for ten minutes.
			const change = () => void t.mock.method(Date, 'now', () => now() + seconds * 1_000);
			const provider = providers.dress('google', { behaviour: { change } });
			const flow = await connect(provider, OPENID);
			t.mock.restoreAll();
			if (isAccepted) assert.equal(flow.account.action, 'accept', flow.account.text);
			else await assertRefused(flow, provider, 'exchange_failed', /^OAUTH_JWT_TIMESTAMP_CHECK_FAILED, status 200/);
		});
	}
});

describe('an exchange that fails', () => {
	for (const [name, preset, change, reason, detail] of [
		['another secret', 'spotify', ({ client }) => ({ client: { ...client, secret: 'of-the-test' } }), 'exchange_refused', 'invalid_client, status 401'],
		['another secret, answered with 200', 'slack', ({ client }) => ({ client: { ...client, secret: 'of-the-test' } }), 'exchange_refused', 'invalid_client, status 200'],
		['another secret in the body', 'atlassian', ({ client }) => ({ client: { ...client, secret: 'of-the-test' } }), 'exchange_refused', 'invalid_client, status 401'],
		['fewer scopes than are required', 'x', () => ({ scopes: ['read', 'write'], requiredScopes: ['read', 'write'] }), 'scope_missing', 'write'],
	]) {
		test(name, async () => {
			const provider = providers.dress(preset, { behaviour: { refusesWith200: preset === 'slack', ...preset === 'x' && { tokens: { scope: 'read' } } } });
			await assertRefused(await connect(provider, change(provider)), provider, reason, detail);
		});
	}

	const json = (status, answer) => (response) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
	for (const [name, answer, reason, detail] of [
		['an answer that is no JSON', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>of-the-test'),
			'exchange_failed', 'OAUTH_INVALID_RESPONSE, status 200, text/html'],
		['an answer without a token', json(200, { refresh_token: 'of-the-test' }), 'exchange_failed',
			'OAUTH_INVALID_RESPONSE, status 200, application/json with refresh_token'],
		['an answer that is a list', json(200, [{ access_token: 'of-the-test' }]), 'exchange_failed', 'OAUTH_INVALID_RESPONSE, status 200, application/json'],
		['a token of another type', json(200, { access_token: 'of-the-test', token_type: 'mac' }), 'exchange_failed',
			'OAUTH_INVALID_RESPONSE, status 200, application/json with access_token, token_type'],
		['a token without a type', json(200, { access_token: 'of-the-test' }), 'exchange_failed',
			'OAUTH_INVALID_RESPONSE, status 200, application/json with access_token'],
		['an error without a word', json(500, { secret: 'of-the-test' }), 'exchange_failed',
			'OAUTH_RESPONSE_IS_NOT_CONFORM, status 500, application/json with secret'],
		['an error that is no word, as Figma has it', json(400, { error: true, status: 400, message: 'of-the-test' }), 'exchange_failed',
			'OAUTH_RESPONSE_IS_NOT_CONFORM, status 400, application/json with error=true, status=400, message'],
		['an error that is a sentence', json(400, { error: 'the code of-the-test is wrong', code: 'of-the-test' }), 'exchange_refused',
			'OAUTH_RESPONSE_BODY_ERROR, status 400, application/json with error, code'],
		['an error that repeats a token', json(400, { error: 'of-the-test-1' }), 'exchange_refused',
			'OAUTH_RESPONSE_BODY_ERROR, status 400, application/json with error'],
		['a redirect', (response) => response.writeHead(307, { location: 'https://other.example/of-the-test' }).end(),
			'exchange_failed', 'OAUTH_RESPONSE_IS_NOT_CONFORM, status 307, no known type'],
		['a connection that breaks', (response) => response.destroy(), 'exchange_failed', 'UND_ERR_SOCKET'],
	]) {
		test(name, async () => {
			const provider = providers.dress('github', { behaviour: { answer } });
			await assertRefused(await connect(provider), provider, reason, detail);
			assert.equal(provider.exchanges.length, 1, 'a code is sent once');
		});
	}

	test('an endpoint that never answers: there is a time limit, and the code is sent once', async (t) => {
		const provider = providers.dress('github', { behaviour: { before: () => new Promise(() => {}) } });
		const { timeout } = AbortSignal;
		const limits = [];
		t.mock.method(AbortSignal, 'timeout', (ms) => {
			if (ms < 30_000) return timeout.call(AbortSignal, ms); // the browser's
			limits.push(ms);
			return timeout.call(AbortSignal, 500);
		});
		await assertRefused(await connect(provider), provider, 'exchange_failed', 'OAUTH_TIMEOUT');
		assert.deepEqual([limits, provider.exchanges.length], [[30_000], 1]);
	});

	test('a host that refuses the connection is asked once more, and then it is said', async (t) => {
		const provider = providers.dress('github');
		const { fetch } = globalThis;
		let refused = 0;
		t.mock.method(globalThis, 'fetch', (...args) => (String(args[0]).endsWith('/exchange') && ++refused
			? fetch('http://127.0.0.1:2/exchange', args[1]) : fetch(...args)));
		await assertRefused(await connect(provider), provider, 'exchange_failed', 'ECONNREFUSED');
		assert.deepEqual([refused, provider.exchanges.length], [2, 0]);
	});

	test('a user who refuses at the provider', async () => {
		const provider = providers.dress('github');
		const { asked, result } = startConnecting(fixture, provider);
		const browser = fixture.browser();
		const url = await signInAndStay(fixture, (await asked).url, { browser });
		url.searchParams.delete('code');
		url.searchParams.set('error', 'access_denied');
		await comeBack(browser, url);
		assert.equal((await result).text, 'Not done: the user refused.');
		assert.deepEqual([provider.exchanges.length, warnings.length], [0, 0]);
	});

	test('a provider whose metadata cannot be read: nobody is asked', async () => {
		const provider = providers.dress('openid-connect');
		provider.variables.issuer = `${provider.variables.issuer}/elsewhere`;
		const subject = `user-${randomUUID()}`;
		await assert.rejects(startConnecting(fixture, provider, { subject }).result, {
			code: 'PROVIDER_UNAVAILABLE', message: 'the metadata of account cannot be read: OAUTH_RESPONSE_IS_NOT_CONFORM',
		});
		assert.deepEqual(await fixture.stack.sql('SELECT id FROM urlmode.elicitation WHERE subject = $1', [subject]), []);
	});
});

test('metadata that could not be read are asked for again, and those that were read are not', async () => {
	const provider = providers.dress('openid-connect', { behaviour: { isDown: true } });
	await assert.rejects(startConnecting(fixture, provider, OPENID).result, { code: 'PROVIDER_UNAVAILABLE' });
	provider.behave({ isDown: false });
	assert.equal((await connect(provider, OPENID)).account.action, 'accept');
	provider.behave({ isDown: true });
	const { asked, result } = startConnecting(fixture, provider, { ...OPENID, roundTimeout: 200 });
	assert.match((await asked).url, /\/connect\/account\?state=/);
	assert.equal((await result).action, 'pending');
});

describe('a code is exchanged once', () => {
	test('two calls for the same thing, on two instances', async () => {
		const provider = providers.dress('github');
		const subject = `user-${randomUUID()}`;
		const one = startConnecting(fixture, provider, { subject });
		const { url } = await one.asked;
		const other = startConnecting(fixture, provider, { subject, urlmode: fixture.openUrlMode() });
		const { elicitationId } = await other.asked;
		assert.equal(elicitationId, (await one.asked).elicitationId);
		await signIn(fixture, url);
		const results = await Promise.all([one.result, other.result]);
		assert.deepEqual(results.map(({ action }) => action).toSorted(), ['accept', 'refused']);
		assert.equal(provider.exchanges.length, 1);
	});

	test('a call that ends before the user comes back: the next one exchanges the code', async () => {
		const provider = providers.dress('github');
		const subject = `user-${randomUUID()}`;
		const first = startConnecting(fixture, provider, { subject, roundTimeout: 1_500 });
		const there = await goToProvider(fixture, (await first.asked).url);
		assert.equal((await first.result).action, 'pending');
		await there.browser.submit(there.page, { button: 'sign-in', fields: { name: 'Ada Lovelace' } });
		assert.equal((await startConnecting(fixture, provider, { subject }).result).action, 'accept');
		assert.equal(provider.exchanges.length, 1);
	});

	test('-32042: the call after the sign-in exchanges the code, and the one after that asks again', async () => {
		const provider = providers.dress('github');
		const server = { getClientCapabilities: () => ({ elicitation: { url: {} } }), getClientVersion: () => undefined, transport: { send: async () => {} } };
		const call = (signal = new AbortController().signal) => withAccount({
			urlmode: fixture.urlmode, server, ask: 'error', subject: 'ada', provider: 'account', description: provider.file, client: provider.client,
			scopes: ['read'], message: 'Connect your account.', call: { signal, requestId: 1 },
		}, (connected) => connected);
		const urls = [];
		const isAsked = ({ elicitations: [{ url }] }) => urls.push(url) > 0;
		await assert.rejects(call(), isAsked);
		await signIn(fixture, urls[0]);
		// The other one waits, for as long as a call may.
		const over = new AbortController();
		const withTokens = async (result) => {
			const connected = await result;
			assert.ok(connected.tokens);
			over.abort();
			return connected;
		};
		const results = await Promise.allSettled([call(over.signal), call(over.signal)].map(withTokens));
		const [connected, ...others] = results.map(({ value }) => value).filter(Boolean);
		assert.ok(await provider.knows(connected.tokens.access_token));
		assert.deepEqual([others, provider.exchanges.length], [[], 1]);
		await assert.rejects(call(), isAsked);
		server.onclose();
	});

	test('other scopes are another question', async () => {
		const provider = providers.dress('github');
		const subject = `user-${randomUUID()}`;
		const calls = [['read'], ['read', 'write']].map((scopes) => startConnecting(fixture, provider, { subject, scopes }));
		const [one, other] = await Promise.all(calls.map(({ asked }) => asked));
		assert.notEqual(one.elicitationId, other.elicitationId);
		await signIn(fixture, other.url);
		assert.deepEqual((await calls[1].result).scopes, ['read', 'write']);
		await signIn(fixture, one.url);
		assert.deepEqual((await calls[0].result).scopes, ['read']);
	});
});
