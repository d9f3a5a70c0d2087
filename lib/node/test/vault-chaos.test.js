// Processes die in the middle of refreshes: no token is sent by two at once, what a
// provider has given is used, and nothing that is said has a token in it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Vault } from '../src/vault.js';
import { requireUrl, setUp, until } from './support/database.js';
import { keyLine, scratchKeys } from './support/keys.js';
import { TokenEndpoint } from './support/token-endpoint.js';

const PROCESS = fileURLToPath(new URL('support/refresh-process.js', import.meta.url));
const SECRETS = /(access|refresh)-\d|secret-of-the-client/;
const KILLS = 3;

for (const rotates of [true, false]) {
	test(`kill -9 in the middle of refreshes, at a provider ${rotates ? 'whose refresh tokens are good once' : 'that reuses them'}`, async (t) => {
		const { urlmode, admin, keysFile } = await setUp(t);
		const endpoint = await TokenEndpoint.start(t);
		endpoint.rotates = rotates;
		endpoint.expiresIn = 0;
		const subject = `user-${randomUUID()}`;
		const vaultKeys = scratchKeys(t, keyLine(7));
		const vault = new Vault(urlmode, { keysFile: vaultKeys, providers: { demo: endpoint.options } });
		const accounts = ['one', 'two', 'three', 'four'];
		for (const id of accounts) await vault.store({ subject, provider: 'demo' }, { tokens: endpoint.grant(), account: { id }, scopes: [] });

		const inFlight = new Set();
		endpoint.instead = async () => {
			const token = endpoint.asked.at(-1);
			assert.ok(!inFlight.has(token), 'two send the same token at once');
			inFlight.add(token);
			await sleep(30 + Math.random() * 60);
			inFlight.delete(token);
		};
		let said = '';
		const start = () => {
			const child = spawn(process.execPath, [PROCESS, JSON.stringify({
				databaseUrl: requireUrl('URLMODE_DATABASE_URL'), keysFile, vaultKeys, options: endpoint.options, subject, accounts,
			})], { stdio: ['ignore', 'pipe', 'pipe'] });
			for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
			return child;
		};
		let children = [];
		let lostAnswers = 0;
		let reconnected = 0;
		/** The user connects again what says so. */
		const reconnect = async () => {
			for (const { account, state } of await vault.listAccounts({ subject })) {
				if (state === 'connected') continue;
				reconnected += 1;
				await vault.store({ subject, provider: 'demo' }, { tokens: endpoint.grant(), account: { id: account }, scopes: [] });
			}
		};
		t.after(() => children.forEach((child) => child.kill('SIGKILL')));
		for (let n = 0; n < KILLS; n += 1) {
			children = [start(), start(), start()];
			const asked = endpoint.asked.length;
			await until('a refresh is under way', async () => {
				await reconnect();
				const { rows } = await admin.query('SELECT FROM urlmode.account WHERE subject = $1 AND lost > 0', [subject]);
				return rows.length === 0 && endpoint.asked.length > asked + 6 && inFlight.size > 0;
			}, 60_000);
			await Promise.all(children.map((child) => {
				child.kill('SIGKILL');
				return new Promise((resolve) => child.once('exit', resolve));
			}));
			// What the provider is doing it goes on with; the leases of the dead end.
			const { rows } = await admin.query('SELECT FROM urlmode.account WHERE subject = $1 AND sent', [subject]);
			lostAnswers += rows.length;
			await until('the provider is done', () => inFlight.size === 0);
			await admin.query('UPDATE urlmode.account SET leased_until = now() WHERE subject = $1 AND leased_until > now()', [subject]);
		}
		endpoint.instead = undefined;
		await admin.query('UPDATE urlmode.account SET pause_until = NULL WHERE subject = $1', [subject]);

		const ends = await Promise.all(accounts.map((account) => vault.accessToken({ subject, provider: 'demo', account }).then(() => 'used', ({ code }) => code)));
		const lost = ends.filter((end) => end !== 'used');
		assert.ok(lost.every((end) => end === 'ACCOUNT_RECONNECT'), ends.join());
		assert.ok(lostAnswers > 0 && lost.length + reconnected <= lostAnswers, `${lost.length} + ${reconnected} of ${lostAnswers}: only what was lost is connected again`);
		if (!rotates) assert.equal(lost.length + reconnected, 0, 'an answer that is lost takes nothing');
		if (rotates) {
			const times = new Map();
			for (const token of endpoint.asked) times.set(token, (times.get(token) ?? 0) + 1);
			assert.ok(Math.max(...times.values()) <= 2, 'a lost answer is asked for once more, and never again');
		}
		assert.match(said, /refreshed/);
		assert.doesNotMatch(said, SECRETS);
		const logs = join(process.env.URLMODE_RUN_DIR, 'log');
		for (const name of readdirSync(logs, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())) {
			assert.doesNotMatch(readFileSync(join(name.parentPath ?? name.path, name.name), 'utf8'), SECRETS, name.name);
		}
	});
}

test('the clock of a host does not count: the token of a host whose clock is wrong is neither refreshed nor kept too long', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const endpoint = await TokenEndpoint.start(t);
	const subject = `user-${randomUUID()}`;
	const vault = new Vault(urlmode, { keysFile: scratchKeys(t, keyLine(7)), providers: { demo: endpoint.options } });
	await vault.store({ subject, provider: 'demo' }, { tokens: endpoint.grant(), account: { id: 'one' }, scopes: [] });
	const { now } = Date;
	for (const skew of [-7_200_000, 7_200_000]) {
		t.mock.method(Date, 'now', () => now() + skew);
		assert.equal((await vault.accessToken({ subject, provider: 'demo' })).accessToken, 'access-1');
	}
	await admin.query("UPDATE urlmode.account SET expires_at = now(), refreshed_at = now() - interval '1 hour' WHERE subject = $1", [subject]);
	t.mock.method(Date, 'now', () => now() - 7_200_000);
	assert.equal((await vault.accessToken({ subject, provider: 'demo' })).accessToken, 'access-2');
});
