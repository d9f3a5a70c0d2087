// The keys of the vault: which are needed, and accounts that are sealed anew.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { Vault } from '../src/vault.js';
import { setUp, until } from './support/database.js';
import { keyLine, scratchKeys, writeKeys } from './support/keys.js';
import { provider, setUpVault } from './support/vault.js';

test('keys: which are needed, sealing anew, and a key that is missing', async (t) => {
	const { vault, endpoint, key, keysFile, admin, subject } = await setUpVault(t);
	const old = readFileSync(keysFile, 'utf8');
	for (let n = 0; n < 150; n += 1) await vault.store(key, { tokens: endpoint.grant(), account: { id: `account-${n}` }, scopes: [] });
	// Only those of this test: the others are sealed with the keys of theirs.
	await admin.query('DELETE FROM urlmode.account WHERE subject <> $1', [subject]);
	assert.deepEqual(await vault.keysInUse(), [{ kid: 7, accounts: 151 }]);
	writeKeys(keysFile, keyLine(8) + old);
	await until('the new key mints', async () => {
		await vault.store(key, { tokens: endpoint.grant(), account: { id: 'new' }, scopes: [] });
		return (await vault.keysInUse()).some(({ kid }) => kid === 8);
	});
	assert.deepEqual(await vault.keysInUse(), [{ kid: 7, accounts: 151 }, { kid: 8, accounts: 1 }]);
	const { rows: [first] } = await admin.query("SELECT tokens FROM urlmode.account WHERE subject = $1 AND account = 'account-0'", [subject]);
	await vault.store(key, { tokens: endpoint.grant(), account: { id: 'account-0' }, scopes: [] });
	const { rows: [{ done }] } = await admin.query("SELECT urlmode.reseal_account($1, $2, 'account-0', $3, $3) AS done", [subject, provider, first.tokens]);
	assert.equal(done, false, 'tokens that were replaced meanwhile stay');
	assert.deepEqual(await vault.reseal(), { sealed: 150, unopened: 0 });
	assert.deepEqual(await vault.keysInUse(), [{ kid: 8, accounts: 152 }]);
	assert.match((await vault.accessToken({ ...key, account: 'acme' })).accessToken, /^access-1$/);
	writeKeys(keysFile, keyLine(9, randomBytes(32)));
	await until('the old keys are gone', () => vault.accessToken(key).then(() => false, ({ code }) => code === 'ACCOUNT_SEAL'));
	await assert.rejects(vault.accessToken(key), { message: "the tokens of an account at demo cannot be opened: the vault's keys file has no key 8" });
});

test('sealing anew goes on after accounts that do not open, names them and counts them', async (t) => {
	const { vault, endpoint, key, keysFile, admin, subject } = await setUpVault(t);
	const old = readFileSync(keysFile, 'utf8');
	for (let n = 100; n < 230; n += 1) await vault.store(key, { tokens: endpoint.grant(), account: { id: `broken-${n}` }, scopes: [] });
	await admin.query('DELETE FROM urlmode.account WHERE subject <> $1', [subject]);
	await admin.query("UPDATE urlmode.account SET tokens = set_byte(tokens, 40, get_byte(tokens, 40) # 1) WHERE account LIKE 'broken-%'");
	await vault.store(key, { tokens: endpoint.grant(), account: { id: 'zulu' }, scopes: [] });
	writeKeys(keysFile, keyLine(8) + old);
	const unopened = [];
	vault.on('unopened', (event) => unopened.push(event));
	const sums = await until('the new key mints', async () => {
		const found = await vault.reseal();
		return found.sealed > 0 && found;
	});
	assert.deepEqual(sums, { sealed: 2, unopened: 130 });
	assert.deepEqual(unopened.slice(-130).map(({ account }) => account), Array.from({ length: 130 }, (_, n) => `broken-${n + 100}`));
	assert.deepEqual(unopened.at(-1), { subject, provider, account: 'broken-229', reason: 'they are not genuine' });
	assert.deepEqual(await vault.keysInUse(), [{ kid: 7, accounts: 130 }, { kid: 8, accounts: 2 }]);
});

test('the vault has no key of the callback hosts, under whatever number', async (t) => {
	const callbackKeys = keyLine(1) + keyLine(2);
	const { urlmode } = await setUp(t, { keysFile: scratchKeys(t, callbackKeys) });
	for (const keys of [callbackKeys, `${keyLine(9)}200 ${callbackKeys.split(/\s/)[3]}\n`]) {
		assert.throws(() => new Vault(urlmode, { keys, providers: {} }), { code: 'URLMODE_KEYS_FILE', message: /^keys: the vault must have keys of its own/ });
		const keysFile = scratchKeys(t, keys);
		assert.throws(() => new Vault(urlmode, { keysFile, providers: {} }), ({ message }) => message.startsWith(`${keysFile}: the vault must`));
	}
	new Vault(urlmode, { keys: keyLine(1), providers: {} });
});

test('tokens are sealed anew while several instances refresh them: none is lost', async (t) => {
	const { vault, endpoint, key, keysFile, admin, subject, openVault, another } = await setUpVault(t, { expiresIn: 0 });
	const accounts = ['acme', 'beta', 'gamma'];
	for (const id of accounts.slice(1)) await vault.store(key, { tokens: endpoint.grant(0), account: { id }, scopes: [] });
	await admin.query('DELETE FROM urlmode.account WHERE subject <> $1', [subject]);
	endpoint.expiresIn = 0;
	endpoint.instead = () => new Promise((resolve) => setTimeout(resolve, 10, false));
	const stopping = new AbortController();
	const errors = [];
	const using = [vault, openVault(another())].flatMap((each) => accounts.map(async (account) => {
		while (!stopping.signal.aborted) await each.accessToken({ ...key, account }).catch(({ code }) => errors.push(code));
	}));
	let content = readFileSync(keysFile, 'utf8');
	for (const kid of [8, 9, 10]) {
		const asked = endpoint.asked.length;
		content = keyLine(kid) + content;
		writeKeys(keysFile, content);
		await until('all are sealed with the new key', async () => {
			await vault.reseal();
			const [{ kid: only }, ...others] = await vault.keysInUse();
			return only === kid && others.length === 0 && endpoint.asked.length > asked + 6;
		});
	}
	stopping.abort();
	await Promise.all(using);
	assert.deepEqual([...new Set(errors)], []);
	assert.deepEqual((await vault.listAccounts(key)).map(({ state }) => state), ['connected', 'connected', 'connected']);
	assert.equal(new Set(endpoint.asked).size, endpoint.asked.length, 'no refresh token was sent twice');
});
