// What becomes of tokens between their provider and the vault: the user is forgotten
// meanwhile, PostgreSQL is away, or they cannot be stored.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { useAccount, withAccount } from '../src/adapters/sdk2.js';
import { CLAIM_ATTEMPTS } from '../src/core/contract-limits.js';
import { sessionCall } from './support/calls.js';
import { breakQueries, connect, payment, request, until } from './support/database.js';
import { provider, setUpVault } from './support/vault.js';

const MESSAGE = 'Please.';

/** A user without an account, whose client goes to the provider and comes back. */
async function start(t) {
	const fixture = await setUpVault(t);
	const { vault, endpoint, key, admin, callback, subject } = fixture;
	const owner = { subject };
	await admin.query('DELETE FROM urlmode.account WHERE subject = $1', [subject]);
	endpoint.alive.clear();
	const told = [];
	for (const name of ['not_stored', 'connected', 'disconnected', 'reconnect']) vault.on(name, (event) => told.push([name, event]));
	const client = () => sessionCall({ answer: async ({ elicitationId }) => {
		await callback.open(elicitationId, owner);
		await callback.complete(elicitationId, { ...owner, result: { code: `code-${randomUUID()}` } });
		return 'accept';
	} });
	const use = (options) => {
		const { server, call } = client();
		return useAccount({ vault, ...owner, provider, message: MESSAGE, roundTimeout: 20_000, ...options, server, call }, (token) => ({ token }))
			.then(({ token, content }) => token?.accessToken ?? content[0].text, (error) => error.code ?? error);
	};
	const connectBy = (body) => {
		const { server, call } = client();
		return withAccount({ ...endpoint.options, urlmode: fixture.urlmode, ...owner, provider, message: MESSAGE, roundTimeout: 20_000, server, call }, body);
	};
	/** The provider answers when it is told to. */
	const hold = async (begin) => {
		let answer;
		endpoint.instead = () => new Promise((resolve) => (answer = resolve));
		const end = begin();
		await until('the provider is asked', () => answer);
		endpoint.instead = undefined;
		return { end, answer: () => answer() };
	};
	const exchange = async () => (await admin.query('SELECT exchange FROM urlmode.elicitation WHERE subject = $1', [subject])).rows[0]?.exchange;
	return { ...fixture, key, owner, told, use, connectBy, hold, exchange };
}

test('a user who is forgotten while a code is exchanged: no account appears, and what came is revoked', async (t) => {
	const { vault, endpoint, owner, told, use, hold, naming } = await start(t);
	const { end, answer } = await hold(() => use());
	await vault.forgetSubject(owner);
	assert.deepEqual(await naming(), []);
	answer();
	assert.equal(await end, 'ELICITATION_NOT_FOUND');
	assert.deepEqual([await naming(), [...endpoint.alive]], [[], []]);
	assert.deepEqual(told, [['not_stored', { ...owner, provider, account: 'acme', detail: 'ELICITATION_NOT_FOUND', revoked: true }]]);
});

test('nor does it where the body of withAccount stores it', async (t) => {
	const { vault, endpoint, owner, connectBy, naming } = await start(t);
	await assert.rejects(connectBy(async (connected) => {
		await vault.forgetSubject(owner);
		await vault.store({ ...owner, provider }, connected);
	}), { code: 'ELICITATION_NOT_FOUND' });
	assert.deepEqual([await naming(), endpoint.revoked], [[], []]);
	await connectBy(async (connected) => void await vault.store({ ...owner, provider }, connected));
	assert.deepEqual((await vault.listAccounts(owner)).map(({ account }) => account), ['acme']);
});

for (const [what, statement] of [
	['store_account', ({ id, subject, tokens }) => ['SELECT urlmode.store_account($1, $2, $3, $4, $4, $5, NULL, $6) IS NOT NULL AS done',
		[subject, provider, 'acme', [], tokens, id]]],
	['store_exchanged', ({ id, binding, tokens }) => ['SELECT urlmode.store_exchanged($1, $2, $3, $4, $4, $5) AS done', [id, binding, 'acme', [], tokens]]],
]) {
	/** Two transactions: the second one waits for the first, and then the first is committed. */
	async function race(t) {
		const { admin, adminUrl, urlmode, subject, naming, row, vault, endpoint } = await start(t);
		await vault.store({ subject, provider }, { tokens: endpoint.grant(), account: { id: 'acme' }, scopes: [] });
		const { tokens } = await row();
		await admin.query('DELETE FROM urlmode.account WHERE subject = $1', [subject]);
		const { elicitationId: id } = await urlmode.create({ ...request, provider, subject });
		const { rows: [{ binding }] } = await admin.query("UPDATE urlmode.elicitation SET exchange = 'exchanging' WHERE id = $1 RETURNING binding", [id]);
		const [first, second] = [await connect(t, adminUrl), await connect(t, adminUrl)];
		return { naming, store: statement({ id, binding, subject, tokens }), forget: ['SELECT * FROM urlmode.forget_subject($1)', [subject]],
			async run(one, other) {
				await first.query('BEGIN');
				const { rows: [done] } = await first.query(...one);
				const waiting = second.query(...other);
				await until('it waits', async () => (await admin.query(
					"SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = $1", [second.processID])).rows.length > 0);
				await first.query('COMMIT');
				return [done, (await waiting).rows[0]];
			} };
	}

	test(`${what} waits for a transaction that forgets the user, and stores nothing`, async (t) => {
		const { store, forget, run, naming } = await race(t);
		assert.deepEqual(await run(forget, store), [undefined, { done: false }]);
		assert.deepEqual(await naming(), []);
	});

	test(`who forgets the user waits for ${what}, and deletes what it has stored`, async (t) => {
		const { store, forget, run, naming } = await race(t);
		assert.deepEqual(await run(store, forget), [{ done: true }, undefined]);
		assert.deepEqual(await naming(), []);
	});
}

test('a user who is forgotten during a refresh or while an account is disconnected: nothing stays', async (t) => {
	const { vault, endpoint, key, owner, change, use, hold, naming } = await start(t);
	await use();
	await change("expires_at = now(), refreshed_at = now() - interval '1 hour'");
	const refresh = await hold(() => vault.accessToken(key).catch(({ code }) => code));
	await vault.forgetSubject(owner);
	refresh.answer();
	assert.equal(await refresh.end, 'ACCOUNT_NOT_CONNECTED');
	assert.deepEqual([await naming(), [...endpoint.alive].filter((token) => token.startsWith('refresh'))], [[], []]);

	await use();
	endpoint.beforeRevoking = async () => vault.forgetSubject(owner);
	assert.deepEqual(await vault.disconnect(key), { revoked: true });
	assert.deepEqual(await naming(), []);
});

test('what is deleted of a user is what was looked at: a payment that is proved meanwhile stays', async (t) => {
	const { vault, owner, admin, adminUrl, urlmode, callback } = await start(t);
	const pay = async () => {
		const { elicitationId } = await urlmode.create({ ...payment, ...owner });
		await callback.open(elicitationId, owner);
		await callback.paid(elicitationId, owner);
		return elicitationId;
	};
	const claimed = await pay();
	await urlmode.claim(claimed, owner);
	const other = await connect(t, adminUrl);
	await other.query('BEGIN');
	await other.query('SELECT FROM urlmode.payment WHERE elicitation = $1 FOR UPDATE', [claimed]);
	const forgotten = vault.forgetSubject(owner);
	await until('it waits', async () => (await admin.query(
		"SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%forget_owner%' AND pid <> pg_backend_pid()")).rows.length > 0);
	const late = await pay();
	await other.query('COMMIT');
	await forgotten;
	assert.deepEqual((await admin.query('SELECT id FROM urlmode.elicitation WHERE subject = $1', [owner.subject])).rows, [{ id: late }]);
	await assert.rejects(vault.forgetSubject(owner), ({ payments }) => payments.length === 1 && payments[0].elicitationId === late);
});

for (const [what, prepare, detail, account] of [
	['are too large', ({ endpoint }) => (endpoint.granted = { more: 'x'.repeat(70_000) }), 'ACCOUNT_SIZE', 'acme'],
	['have too many scopes', ({ endpoint }) => (endpoint.granted = { scope: Array.from({ length: 1_000 }, (_, n) => `a-long-scope-${n}`).join(' ') }), '23514', 'acme'],
	['are of an account whose name has NUL', ({ endpoint }) => (endpoint.account = 'a\0b'), 'unknown', 'a\0b'],
]) {
	test(`tokens of a code that ${what}: they are revoked, and the call and the page say that it failed`, async (t) => {
		const fixture = await start(t);
		const { endpoint, owner, told, use, exchange, vault } = fixture;
		prepare(fixture);
		const error = await use();
		assert.match(String(error), detail === 'unknown' ? /^TypeError: account must be valid Unicode text without NUL/ : new RegExp(`^${detail}$`));
		assert.deepEqual([endpoint.revoked, [...endpoint.alive]], [['refresh-2', 'access-2'], []]);
		assert.deepEqual(told, [['not_stored', { ...owner, provider, account, detail, revoked: true }]]);
		assert.deepEqual([await exchange(), await vault.listAccounts(owner)], ['exchange_failed', []]);
	});
}

test('tokens that cannot be stored are not revoked where the account has others, which some providers would revoke with them', async (t) => {
	const { endpoint, key, told, use, vault } = await start(t);
	await use();
	endpoint.granted = { more: 'x'.repeat(70_000) };
	assert.equal(await use({ scopes: ['more'] }), 'ACCOUNT_SIZE');
	assert.deepEqual([endpoint.revoked, told.at(-1)[1].revoked], [[], false]);
	assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
});

test('a revocation that fails hides nothing', async (t) => {
	const { endpoint, told, use } = await start(t);
	endpoint.granted = { more: 'x'.repeat(70_000) };
	endpoint.refusesToRevoke = true;
	assert.equal(await use(), 'ACCOUNT_SIZE');
	assert.equal(told[0][1].revoked, false);
});

test('a code is claimed for good before it is sent', async (t) => {
	const { endpoint, admin, subject, use } = await start(t);
	let seen;
	endpoint.instead = async () => {
		({ rows: [seen] } = await admin.query('SELECT claimed_at IS NOT NULL AS claimed, exchange FROM urlmode.elicitation WHERE subject = $1', [subject]));
	};
	assert.equal(await use(), 'access-2');
	assert.deepEqual(seen, { claimed: true, exchange: 'exchanging' });
});

test('while PostgreSQL is away, the tokens of a code are kept in memory', async (t) => {
	const { endpoint, use, exchange } = await start(t);
	const left = breakQueries(t, 'store_exchanged', { times: 3 });
	assert.equal(await use(), 'access-2');
	assert.deepEqual([left(), endpoint.codes.length, endpoint.revoked, await exchange()], [-1, 1, [], '']);
});

test('while PostgreSQL lets nobody log in, the tokens of a code are kept in memory', async (t) => {
	const { endpoint, use, exchange } = await start(t);
	const left = breakQueries(t, 'store_exchanged', { times: 3, code: '28000' });
	assert.equal(await use(), 'access-2');
	assert.deepEqual([left(), endpoint.codes.length, endpoint.revoked, await exchange()], [-1, 1, [], '']);
});

test('where nobody knows whether tokens were stored, they are not revoked', async (t) => {
	const { endpoint, key, told, use, vault, exchange } = await start(t);
	const { now } = performance;
	let later = 0;
	t.mock.method(performance, 'now', () => now.call(performance) + later);
	breakQueries(t, 'store_exchanged', { times: 9, carriesOut: true, after: async () => (later = 301_000) });
	assert.match((await use()).message, /^Connection terminated unexpectedly$/);
	assert.deepEqual([endpoint.revoked, told, await exchange()], [[], [], '']);
	assert.equal((await vault.accessToken(key)).accessToken, 'access-2', 'here they are');
});

test('the answer of a commit is lost, and the account is disconnected before it is repeated: it does not come back', async (t) => {
	const { vault, endpoint, key, use, exchange, naming } = await start(t);
	breakQueries(t, 'store_exchanged', { times: 1, carriesOut: true, after: () => vault.disconnect(key) });
	assert.equal(await use(), 'ACCOUNT_NOT_CONNECTED');
	assert.deepEqual([await exchange(), await naming(), [...endpoint.alive]], ['', ['elicitation'], []]);
});

test('a call waits for the exchange of another as long as that may take', async (t) => {
	const { admin, owner, use, hold, endpoint, openVault, another } = await start(t);
	const { end, answer } = await hold(() => use());
	await admin.query("UPDATE urlmode.elicitation SET claimed_at = now() - interval '94 s' WHERE subject = $1", [owner.subject]);
	const { query } = pg.Pool.prototype;
	let looks = 0;
	t.mock.method(pg.Pool.prototype, 'query', function (text, values) {
		looks += text.includes('read_exchange');
		return query.call(this, text, values);
	});
	const second = use({ vault: openVault(another()) });
	await until('it waits, or has begun anew', () => looks > 0 || endpoint.codes.length > 1);
	answer();
	assert.deepEqual([await end, await second, endpoint.codes.length], ['access-2', 'access-2', 1]);
});

/** Another call claims the outcome just before this one does, in a statement of its own. */
function claimFirst(t, { admin, owner }, statement, values) {
	const { query } = pg.Pool.prototype;
	const seen = { claimed: undefined, looks: 0 };
	t.mock.method(pg.Pool.prototype, 'query', async function (text, ...rest) {
		if (text.includes('begin_lease')) seen.claimed ??= (await admin.query(`SELECT ${statement} AS end FROM urlmode.elicitation e WHERE e.subject = $1`, [owner.subject, ...values])).rows;
		const answer = await query.call(this, text, ...rest);
		seen.looks += text.includes('read_exchange');
		return answer;
	});
	return seen;
}

test('another call gives an account back whose code it has not sent: the one that waits for it goes on at once', async (t) => {
	const fixture = await start(t);
	const { admin, owner, use, endpoint } = fixture;
	const claimId = randomUUID();
	const seen = claimFirst(t, fixture, '(urlmode.begin_lease(e.id, e.binding, NULL, 60000, 600000, $2)).outcome', [claimId]);
	const end = use();
	await until('it waits for that call', () => seen.looks > 0);
	assert.deepEqual(seen.claimed, [{ end: 'claimed' }]);
	const { rows } = await admin.query('SELECT urlmode.release_unsent(e.id, e.binding, $2) AS done FROM urlmode.elicitation e WHERE e.subject = $1', [owner.subject, claimId]);
	assert.deepEqual(rows, [{ done: true }]);
	assert.deepEqual([await end, endpoint.codes.length], ['access-2', 1]);
});

test('an account that was claimed without an exchange is not waited for', async (t) => {
	const fixture = await start(t);
	const seen = claimFirst(t, fixture, 'urlmode.claim(e.id, e.binding)', []);
	assert.match(await fixture.use(), /^Not done: another call has already used the outcome/);
	assert.deepEqual(seen, { claimed: [{ end: 'claimed' }], looks: CLAIM_ATTEMPTS });
	assert.equal(fixture.endpoint.codes.length, 0);
});

test('the process that has claimed a code is gone: the next call waits for it at first, and then asks anew', async (t) => {
	const { admin, urlmode, owner, use, hold, endpoint, openVault, another } = await start(t);
	const { answer } = await hold(() => use().catch(() => {}));
	// It goes on later than anybody waits, and finds that it has done nothing.
	await admin.query("UPDATE urlmode.elicitation SET claimed_at = now() - interval '101 s' WHERE subject = $1", [owner.subject]);
	const other = openVault(another());
	assert.equal(await use({ vault: other }), 'access-2');
	assert.equal(endpoint.codes.length, 2);
	answer();
	await urlmode.close();
});

test('the page says "connected" with the commit that stores the tokens', async (t) => {
	const { use, exchange } = await start(t);
	breakQueries(t, 'end_exchange', { times: 9 });
	assert.equal(await use(), 'access-2');
	assert.equal(await exchange(), '');
});

test('close waits for the exchange of a code, and what came is stored', async (t) => {
	const { urlmode, endpoint, key, use, hold, openVault, another } = await start(t);
	const { end, answer } = await hold(() => use());
	const closed = urlmode.close();
	assert.equal(await Promise.race([closed, sleep(3_000, 'it waits')]), 'it waits');
	answer();
	await closed;
	assert.match(await end, /^(access-2|URLMODE_CLOSED)$/, 'this call or the next one uses the account');
	assert.equal((await openVault(another()).accessToken(key)).accessToken, 'access-2');
	assert.deepEqual(endpoint.revoked, []);
});

test('close waits for a claim that is under way, and for the exchange of its code', async (t) => {
	const { urlmode, endpoint, key, use, openVault, another, exchange } = await start(t);
	const { query } = pg.Pool.prototype;
	let closed;
	t.mock.method(pg.Pool.prototype, 'query', async function (text, values) {
		const answer = await query.call(this, text, values);
		if (text.includes('begin_claim')) {
			closed = urlmode.close();
			await sleep(100);
		}
		return answer;
	});
	assert.match(await use(), /^(access-2|URLMODE_CLOSED)$/, 'this call or the next one uses the account');
	await closed;
	assert.equal((await openVault(another()).accessToken(key)).accessToken, 'access-2');
	assert.deepEqual([await exchange(), endpoint.codes.length, endpoint.revoked], ['', 1, []]);
});

test('nothing is sent to a provider after close has begun', async (t) => {
	const { urlmode, vault, endpoint, key, use, hold, change, owner } = await start(t);
	await use();
	await change("expires_at = now(), refreshed_at = now() - interval '1 hour'");
	const { end, answer } = await hold(() => vault.accessToken(key).catch(({ code }) => code));
	await vault.store(key, { tokens: { ...endpoint.grant(), expires_in: 0 }, account: { id: 'other' }, scopes: [] });
	const closed = urlmode.close();
	await assert.rejects(vault.accessToken({ ...owner, provider, account: 'other' }), { code: 'URLMODE_CLOSED' });
	answer();
	await Promise.all([closed, end]);
	assert.deepEqual(endpoint.asked, ['refresh-2']);
});

test('new tokens of a refresh that cannot be stored are revoked, unless there are newer ones', async (t) => {
	for (const isNewer of [false, true]) {
		const { vault, endpoint, key, owner, told, change, use } = await start(t);
		await use();
		await change("expires_at = now(), refreshed_at = now() - interval '1 hour'");
		endpoint.refreshed = { more: 'x'.repeat(70_000) };
		if (isNewer) endpoint.instead = async () => void await vault.store(key, { tokens: endpoint.grant(), account: { id: 'acme' }, scopes: [] });
		const end = await vault.accessToken(key).then(({ accessToken }) => accessToken, ({ reason }) => reason);
		assert.equal(end, isNewer ? 'access-3' : 'not_stored');
		assert.deepEqual(endpoint.revoked, isNewer ? [] : ['refresh-3', 'access-3']);
		assert.deepEqual(told.filter(([name]) => name === 'not_stored'),
			[['not_stored', { ...owner, provider, account: 'acme', detail: 'ACCOUNT_SIZE', revoked: !isNewer }]]);
	}
});
