// An account is disconnected while its tokens are refreshed, stored and disconnected by
// others: afterwards nothing of it is in the row, and no token of it is good at the provider.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { connect, until } from './support/database.js';
import { provider, setUpVault } from './support/vault.js';

/** The provider answers a refresh when it is told to. */
async function setUpRefresh(t) {
	const fixture = await setUpVault(t, { expired: true });
	const { endpoint, vault, key, openVault, another } = fixture;
	let answer;
	endpoint.instead = () => new Promise((resolve) => (answer = resolve));
	const token = vault.accessToken(key).then(() => 'used', ({ code }) => code);
	await until('it is asked', () => answer);
	endpoint.instead = undefined;
	const told = [];
	vault.on('disconnected', ({ account, revoked }) => told.push([account, revoked]));
	return { ...fixture, token, told, answer: () => answer(), other: openVault(another()) };
}

for (const [what, replace] of [
	['connected anew', async ({ vault, endpoint, key }) => vault.store(key, { tokens: endpoint.grant(), account: { id: 'acme' }, scopes: [] })],
	['refreshed by one whose lease was lost', async ({ answer, token }) => {
		answer();
		await token;
	}],
]) {
	test(`an account that is ${what} while its old tokens are revoked: the new ones are revoked as well`, async (t) => {
		const fixture = await setUpRefresh(t);
		const { endpoint, key, row, change, other } = fixture;
		await change("leased_until = now() - interval '1 s'");
		endpoint.beforeRevoking = async (token) => {
			if (token !== 'refresh-1') return;
			await replace(fixture);
		};
		assert.deepEqual(await other.disconnect(key), { revoked: true });
		assert.deepEqual(endpoint.revoked.slice(0, 4), ['refresh-1', 'access-1', 'refresh-2', 'access-2']);
		assert.equal(await row(), undefined);
		fixture.answer();
		await fixture.token;
		assert.deepEqual([...endpoint.alive], []);
	});
}

test('tokens that come when their account is disconnected are revoked', async (t) => {
	const { endpoint, key, change, answer, token, told, other, row } = await setUpRefresh(t);
	await change("leased_until = now() - interval '1 s'");
	await other.disconnect(key);
	endpoint.alive.add('refresh-1'); // The provider had taken it before.
	answer();
	assert.equal(await token, 'ACCOUNT_NOT_CONNECTED');
	assert.deepEqual([await row(), [...endpoint.alive].filter((each) => each !== 'refresh-1')], [undefined, []]);
	await until('it is told', () => told.length > 0);
	assert.deepEqual(told, [['acme', true]]);
});

test('what an account that was connected anew has is not revoked by a refresh of the one before', async (t) => {
	const { vault, endpoint, key, change, answer, token, other } = await setUpRefresh(t);
	await change("leased_until = now() - interval '1 s'");
	await other.disconnect(key);
	await vault.store(key, { tokens: endpoint.grant(), account: { id: 'acme' }, scopes: [] });
	endpoint.alive.add('refresh-1');
	answer();
	assert.equal(await token, 'used');
	assert.deepEqual(endpoint.revoked, ['refresh-1', 'access-1']);
	assert.ok(endpoint.alive.has('refresh-2'));
	assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
});

test('a commit that has waited for the deletion knows that the account is gone', async (t) => {
	const { admin, place, row, adminUrl } = await setUpVault(t);
	const { version, tokens } = await row();
	const [deleting, committing] = [await connect(t, adminUrl), await connect(t, adminUrl)];
	await deleting.query('BEGIN');
	await deleting.query('SELECT urlmode.delete_account($1, $2, $3, $4)', [place.subject, provider, place.account, version]);
	const committed = committing.query("SELECT urlmode.commit_refresh($1, $2, $3, $4, '{}', $5) AS outcome", [place.subject, provider, place.account, version, tokens]);
	await until('it waits', async () => (await admin.query(
		"SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = $1", [committing.processID])).rows.length > 0);
	await deleting.query('COMMIT');
	assert.equal((await committed).rows[0].outcome, 'gone');
});

test('of two at once one disconnects, and the other finds nothing', async (t) => {
	const { vault, endpoint, key, openVault, another } = await setUpVault(t);
	endpoint.beforeRevoking = () => sleep(300);
	const ends = await Promise.all([vault, openVault(another())].map((each) => each.disconnect(key).then(({ revoked }) => revoked, ({ code }) => code)));
	assert.deepEqual(ends.toSorted(), ['ACCOUNT_NOT_CONNECTED', true]);
	assert.deepEqual(endpoint.revoked, ['refresh-1', 'access-1']);
});

test('the answer to the deletion is lost, and the account connected anew: the new one is left alone', async (t) => {
	const { vault, endpoint, key, row } = await setUpVault(t);
	const { query } = pg.Pool.prototype;
	let losses = 1;
	t.mock.method(pg.Pool.prototype, 'query', async function (text, values) {
		const answer = await query.call(this, text, values);
		if (!text.includes('delete_account') || losses-- < 1) return answer;
		await vault.store(key, { tokens: endpoint.grant(), account: { id: 'acme' }, scopes: [] });
		throw new Error('Connection terminated unexpectedly');
	});
	assert.deepEqual(await vault.disconnect(key), { revoked: true });
	assert.deepEqual([losses < 0, endpoint.revoked, [...endpoint.alive]], [true, ['refresh-1', 'access-1'], ['refresh-2', 'access-2']]);
	assert.deepEqual([(await row()).state, (await row()).leased_until], ['connected', null]);
	assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
});

test('who has waited for another that disconnects leaves alone what is connected after that', async (t) => {
	const { vault, endpoint, key, openVault, another, row } = await setUpVault(t);
	const { query } = pg.Pool.prototype;
	let waits = 0;
	t.mock.method(pg.Pool.prototype, 'query', async function (text, values) {
		const answer = await query.call(this, text, values);
		waits += text.includes('begin_disconnect') && answer.rows[0].outcome === 'leased';
		return answer;
	});
	let waiting;
	endpoint.beforeRevoking = async () => {
		waiting ??= openVault(another()).disconnect(key).then(() => 'disconnected', ({ code }) => code);
		await until('it waits', () => waits > 0);
	};
	await vault.disconnect(key);
	await vault.store(key, { tokens: endpoint.grant(), account: { id: 'acme' }, scopes: [] });
	assert.equal(await waiting, 'ACCOUNT_NOT_CONNECTED');
	assert.deepEqual(endpoint.revoked, ['refresh-1', 'access-1']);
	assert.equal((await row()).state, 'connected');
});

test('close ends a wait for the lease of another instance', async (t) => {
	const { vault, endpoint, key, row, change, urlmode } = await setUpVault(t);
	await change("leased_until = now() + interval '1 minute', lease = lease + 1");
	const end = vault.disconnect(key).catch(({ code }) => code);
	await sleep(300);
	const before = performance.now();
	await urlmode.close();
	assert.equal(await end, 'URLMODE_CLOSED');
	assert.ok(performance.now() - before < 20_000, 'the lease lasts longer');
	assert.deepEqual([endpoint.revoked, (await row()).state], [[], 'connected']);
});

test('close waits until an account is disconnected, and after that nothing is revoked', async (t) => {
	const { vault, endpoint, key, row, urlmode } = await setUpVault(t);
	await vault.store(key, { tokens: endpoint.grant(), account: { id: 'other' }, scopes: [] });
	let closed;
	let late;
	endpoint.beforeRevoking = async () => {
		closed ??= urlmode.close();
		late ??= vault.disconnect({ ...key, account: 'other' }).catch(({ code }) => code);
		await sleep(50);
	};
	assert.deepEqual(await vault.disconnect({ ...key, account: 'acme' }), { revoked: true });
	await closed;
	assert.deepEqual([await late, endpoint.revoked, (await row()).account], ['URLMODE_CLOSED', ['refresh-1', 'access-1'], 'other']);
});

test('nobody refreshes while the tokens are revoked', async (t) => {
	const { vault, endpoint, key, openVault, another } = await setUpVault(t, { expired: true });
	let using;
	endpoint.beforeRevoking = async (token) => {
		if (token !== 'refresh-1') return;
		using = openVault(another()).accessToken(key).then(() => 'used', ({ code }) => code);
		await sleep(500);
	};
	await vault.disconnect(key);
	assert.equal(await using, 'ACCOUNT_NOT_CONNECTED');
	assert.deepEqual(endpoint.asked, []);
});

test('on three instances that refresh all the time, no refresh token outlives its account', async (t) => {
	const { vault, endpoint, key, row, openVault, another } = await setUpVault(t, { expiresIn: 0 });
	endpoint.expiresIn = 0;
	endpoint.instead = () => sleep(Math.random() * 20).then(() => false);
	const stopping = new AbortController();
	const using = [vault, openVault(another()), openVault(another())].map(async (each) => {
		while (!stopping.signal.aborted) {
			await each.accessToken(key).catch(({ code }) => assert.ok(['ACCOUNT_NOT_CONNECTED', 'ACCOUNT_RECONNECT'].includes(code), code));
			await sleep(Math.random() * 300);
		}
	});
	for (let n = 0; n < 8; n += 1) {
		const asked = endpoint.asked.length;
		await until('it is refreshed', () => endpoint.asked.length > asked);
		assert.deepEqual(await vault.disconnect(key), { revoked: true });
		assert.deepEqual([await row(), [...endpoint.alive].filter((token) => token.startsWith('refresh'))], [undefined, []]);
		await vault.store(key, { tokens: endpoint.grant(), account: { id: 'acme' }, scopes: [] });
	}
	stopping.abort();
	await Promise.all(using);
});
