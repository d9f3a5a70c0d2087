// Accounts that stay connected, at real OpenID providers: every preset is refreshed and
// disconnected, and the token endpoint rotates, detects reuse, is slow, and fails.

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Vault } from 'urlmode/vault';

import { openAccounts, signIn, startConnecting } from '../support/accounts.mjs';
import { PRESETS, readOAuth, SECRET } from '../support/dressed-provider.mjs';
import { until } from '../support/wait.mjs';

const KEYS = `1 ${randomBytes(32).toString('base64')}\n`;

let fixture;
let providers;
/** All that a log must not contain. */
const secrets = new Set([SECRET, KEYS.split(' ')[1].trim()]);
/** Whose requests have more of that. */
const dressed = [];
/** All that was said of accounts: events and errors. */
const said = [];

before(async () => {
	({ fixture, providers } = await openAccounts('accounts-kept'));
});

after(() => fixture?.close());

/** A vault of another MCP server. */
function openVault(provider, urlmode = fixture.openUrlMode(), keys = KEYS) {
	const { file: description, client, variables } = provider;
	const vault = new Vault(urlmode, { keys, providers: { account: { description, client, variables } } });
	for (const name of ['connected', 'refreshed', 'failed', 'reconnect', 'disconnected', 'not_stored', 'unopened']) vault.on(name, (event) => said.push(name, JSON.stringify(event)));
	return vault;
}

function note({ access_token: access, refresh_token: refresh, id_token: id }) {
	for (const token of [access, refresh, id]) if (token) secrets.add(token);
}

/** An account that is in the vault, and whose token has expired. */
async function keep(preset, { behaviour, ...options } = {}) {
	const provider = providers.dress(preset, { behaviour: { ...behaviour, note } });
	dressed.push(provider);
	const subject = `user-${randomUUID()}`;
	const { asked, result } = startConnecting(fixture, provider, { subject, ...options });
	const browser = fixture.browser();
	const posting = await signIn(fixture, (await asked).url, { browser });
	if (posting.forms[0]?.fields.some(([name]) => name === 'code')) await browser.submit(posting);
	const connected = await result;
	assert.equal(connected.action, 'accept', connected.text);
	const vault = openVault(provider);
	const key = { subject, provider: 'account' };
	await vault.store(key, connected);
	const change = (text) => fixture.stack.sql(`UPDATE urlmode.account SET ${text} WHERE subject = $1`, [subject]);
	const expire = () => change("expires_at = now(), refreshed_at = now() - interval '1 hour', pause_until = NULL");
	await expire();
	const token = async (from = vault, more = {}) => {
		try {
			return (await from.accessToken({ ...key, ...more })).accessToken;
		} catch (error) {
			said.push(error.stack, JSON.stringify(error));
			return error.code;
		}
	};
	const refreshes = () => provider.exchanges.filter(({ form }) => form.grant_type === 'refresh_token').map(({ form }) => form.refresh_token);
	return { provider, vault, key, change, expire, token, refreshes, tokens: connected.tokens };
}

describe('each preset', () => {
	for (const preset of PRESETS.filter((name) => !readOAuth(name).long_lived?.renewal)) {
		const oauth = readOAuth(preset);
		const isRevoked = oauth.token_endpoint === undefined || oauth.revocation_endpoint !== undefined;

		test(`${preset}: the token is refreshed, with the refresh token that came last, and ${isRevoked ? 'revoked' : 'deleted'}`, async () => {
			const { provider, vault, key, token, expire, refreshes, tokens } = await keep(preset,
				{ scopes: oauth.token_endpoint === undefined ? ['openid', 'read'] : ['read'] });
			const first = await token();
			assert.ok(await provider.knows(first), first);
			await expire();
			const second = await token();
			assert.ok(await provider.knows(second), second);
			assert.equal(new Set([tokens.access_token, first, second]).size, 3);
			assert.equal(refreshes()[0], tokens.refresh_token);
			assert.equal(new Set(refreshes()).size, 2, 'they rotate');
			assert.equal(provider.exchanges.length, 3);

			assert.deepEqual(await vault.disconnect(key), isRevoked ? { revoked: true } : { revoked: false, detail: 'no_endpoint' });
			assert.equal(await provider.knows(second), !isRevoked);
			assert.equal(await token(), 'ACCOUNT_NOT_CONNECTED');
		});
	}
});

describe('a long-lived token', () => {
	const halfOver = "expires_at = now() + interval '29 days', refreshed_at = now() - interval '31 days', pause_until = NULL";

	test('is renewed with itself when half of its life is over, and not after it has expired', async () => {
		const { provider, vault, key, token, change, expire, tokens } = await keep('instagram', { scopes: ['read'] });
		assert.deepEqual([tokens.refresh_token, tokens.expires_in], [tokens.access_token, 5_184_000]);
		await change("expires_at = now() + interval '31 days', refreshed_at = now() - interval '29 days'");
		assert.equal(await token(), tokens.access_token);
		// It is still valid, so it is given at once, and renewed meanwhile.
		const renewed = async (earlier) => {
			await change(halfOver);
			assert.equal(await token(), earlier);
			return until('it is renewed', async () => {
				const now = await token();
				return now !== earlier && now;
			});
		};
		const second = await renewed(tokens.access_token);
		assert.ok(await provider.knows(second), second);
		const third = await renewed(second);
		assert.deepEqual(provider.lengthened.map(({ method, grant }) => [method, grant]),
			[['GET', 'ig_exchange_token'], ['GET', 'ig_refresh_token'], ['GET', 'ig_refresh_token']]);
		assert.deepEqual([provider.lengthened[1].token, provider.lengthened[2].token, new Set([tokens.access_token, second, third]).size],
			[tokens.access_token, second, 3]);
		await expire();
		await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_RECONNECT', reason: 'expired' });
		assert.equal(provider.lengthened.length, 3);
		assert.equal(provider.exchanges.length, 1, 'its token endpoint knows no refresh');
	});

	test('that is not renewed is used while it is valid, and nothing that is said has it or the secret', async () => {
		const { provider, vault, token, change, tokens } = await keep('instagram', { scopes: ['read'], behaviour: { refusesLonger: false } });
		const details = [];
		vault.on('failed', ({ detail }) => details.push(detail));
		provider.behave({ refusesLonger: true });
		await change(halfOver);
		for (let n = 0; n < 3; n += 1) assert.equal(await token(), tokens.access_token);
		await until('it has failed', () => details.length > 0);
		assert.equal(provider.lengthened.length, 2, 'then it pauses');
		assert.deepEqual(details, ['no_long_lived_token, status 400, application/json with error']);
	});

	test('that is not given: the account is not connected', async () => {
		for (const preset of ['instagram', 'meta']) {
			const provider = providers.dress(preset, { behaviour: { refusesLonger: true, note } });
			const { asked, result } = startConnecting(fixture, provider, { scopes: ['read'] });
			await signIn(fixture, (await asked).url, { browser: fixture.browser() });
			const { action, toolResult, text } = await result;
			said.push(JSON.stringify(toolResult));
			assert.notEqual(action, 'accept');
			assert.match(text, /exchange_failed|could not/i);
		}
	});
});

describe('refresh tokens', () => {
	test('that a provider does not replace are used again', async () => {
		const { token, expire, refreshes, provider } = await keep('google', { scopes: ['openid'], behaviour: { rotates: false } });
		for (let n = 0; n < 3; n += 1) {
			assert.ok(await provider.knows(await token()));
			await expire();
		}
		assert.deepEqual([refreshes().length, new Set(refreshes()).size], [3, 1]);
	});

	test('whose reuse ends the whole family: the account is to be connected again, after one request', async () => {
		const { provider, vault, key, token, expire, refreshes, tokens } = await keep('x');
		const second = await token();
		assert.ok(await provider.knows(second));
		// Somebody has kept the first one, and uses it.
		assert.equal(await provider.useAgain(tokens.refresh_token), 'invalid_grant');
		assert.equal(await provider.knows(second), false, 'the provider ends all of them');
		await expire();
		for (let n = 0; n < 3; n += 1) assert.equal(await token(), 'ACCOUNT_RECONNECT');
		assert.equal(refreshes().length, 2);
		assert.deepEqual((await vault.listAccounts(key)).map(({ state, reason }) => [state, reason]), [['reconnect', 'invalid_grant']]);
	});

	test('whose answer is lost: the old one is sent once more at once, and refused', async () => {
		const { provider, token, refreshes } = await keep('x');
		provider.behave({ losesAnswers: 1 });
		for (let n = 0; n < 3; n += 1) assert.equal(await token(), 'ACCOUNT_RECONNECT');
		assert.deepEqual([refreshes().length, new Set(refreshes()).size], [2, 1]);
	});

	test('that cannot be stored are revoked, and those that do not open are named', async () => {
		const { provider, token, vault } = await keep('x');
		assert.deepEqual(await openVault(provider, undefined, `2 ${randomBytes(32).toString('base64')}\n`).reseal().then(({ sealed }) => sealed), 0);
		provider.behave({ tokens: { more: 'x'.repeat(70_000) } });
		const told = new Promise((resolve) => vault.once('not_stored', resolve));
		assert.equal(await token(), 'ACCOUNT_RECONNECT');
		assert.equal((await told).revoked, true);
	});

	test('whose answer is lost, of a provider with a grace: it is given again', async () => {
		const { provider, token, refreshes } = await keep('xero', { behaviour: { hasGrace: true } });
		provider.behave({ losesAnswers: 1 });
		assert.ok(await provider.knows(await token()));
		assert.equal(refreshes().length, 2);
	});
});

describe('a token endpoint', () => {
	test('that is slow is asked once: the others wait, and read', async () => {
		const { provider, vault, token, refreshes } = await keep('x');
		let go;
		provider.behave({ before: () => new Promise((resolve) => (go = resolve)) });
		const vaults = [vault, ...Array.from({ length: 3 }, () => openVault(provider))];
		const calls = Array.from({ length: 20 }, (_, n) => token(vaults[n % vaults.length]));
		await until('it is asked', () => go);
		assert.equal(await Promise.race([...calls, sleep(1_500, 'all wait')]), 'all wait');
		go();
		const [first, ...others] = await Promise.all(calls);
		assert.ok(await provider.knows(first), first);
		assert.ok(others.every((other) => other === first));
		assert.equal(refreshes().length, 1);
	});

	test('that never answers is waited for as long as the lease lasts longer, and the token that is still valid is used', async (t) => {
		const { provider, token, change, refreshes, tokens } = await keep('x');
		await change("expires_at = now() + interval '50 s', refreshed_at = now() - interval '1 hour'");
		provider.behave({ before: () => new Promise(() => {}) });
		const { timeout } = AbortSignal;
		const limits = [];
		t.mock.method(AbortSignal, 'timeout', (ms) => {
			limits.push(ms);
			return timeout.call(AbortSignal, 500);
		});
		assert.equal(await token(undefined, { validFor: 60_000 }), tokens.access_token);
		assert.equal(Math.max(...limits), 30_000);
		assert.ok(said.slice(-4).some((text) => text.includes('OAUTH_TIMEOUT')), said.slice(-4).join('\n'));
		await change('expires_at = now(), pause_until = NULL');
		provider.behave({ before: undefined });
		await change('pause_until = NULL');
		assert.equal(await token(), 'ACCOUNT_RECONNECT', 'it may have replaced the refresh token twice');
		assert.equal(refreshes().length, 2);
	});

	test('that never answers, and never replaces a refresh token, is asked again and again', async (t) => {
		const { provider, token, change, refreshes } = await keep('dropbox');
		const { timeout } = AbortSignal;
		t.mock.method(AbortSignal, 'timeout', () => timeout.call(AbortSignal, 500));
		provider.behave({ before: () => new Promise(() => {}) });
		for (let n = 0; n < 3; n += 1) {
			await change('expires_at = now(), pause_until = NULL');
			assert.equal(await token(), 'ACCOUNT_UNAVAILABLE');
		}
		t.mock.restoreAll();
		provider.behave({ before: undefined });
		await change('pause_until = NULL');
		assert.ok(await provider.knows(await token()));
		assert.equal(refreshes().length, 4);
	});

	for (const [what, before, detail, end = 'ACCOUNT_UNAVAILABLE'] of [
		['says that it is overloaded', (response) => response.writeHead(503).end('of-the-test'), 'OAUTH_RESPONSE_IS_NOT_CONFORM, status 503, no known type'],
		['has a page for people', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>of-the-test'), 'OAUTH_INVALID_RESPONSE, status 200, text/html', 'ACCOUNT_RECONNECT'],
		['reports an error', (response) => response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"server_error"}'), 'server_error, status 500'],
		['ends the connection', (response) => response.destroy(), 'UND_ERR_SOCKET', 'ACCOUNT_RECONNECT'],
	]) {
		test(`that ${what}: it is asked again at once, and once`, async () => {
			const { provider, token, expire, refreshes } = await keep('x');
			provider.behave({ answer: before });
			for (let n = 0; n < 3; n += 1) assert.equal(await token(), end);
			assert.equal(refreshes().length, 2);
			assert.ok(said.some((text) => text.includes(`"detail":"${detail}"`)), said.slice(-8).join('\n'));
			if (end === 'ACCOUNT_RECONNECT') return;
			provider.behave({ answer: undefined });
			await expire();
			assert.ok(await provider.knows(await token()));
		});
	}
});

test('no token and no secret is in a log, an event or an error', () => {
	const kinds = ['code', 'code_verifier', 'client_assertion', 'client_secret'];
	const sent = dressed.flatMap(({ exchanges }) => exchanges.flatMap(({ form }) => kinds.map((kind) => form[kind])));
	for (const secret of sent) if (secret) secrets.add(secret);
	assert.ok(secrets.size > 150, 'there are some');
	for (const name of ['not_stored', 'unopened', 'failed', 'reconnect']) assert.ok(said.includes(name), `${name} was told`);
	const folder = join(fixture.stack.env.URLMODE_RUN_DIR, 'log');
	const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
	const texts = [...files.map(({ parentPath, path, name }) => readFileSync(join(parentPath ?? path, name), 'utf8')), ...said];
	assert.ok(files.length > 2);
	for (const secret of secrets) assert.ok(!texts.some((text) => text.includes(secret)));
	assert.ok(!texts.some((text) => text.includes('of-the-test')));
});
