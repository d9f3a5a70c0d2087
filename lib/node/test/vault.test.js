// Accounts that stay connected, on several instances and a token endpoint whose
// refresh tokens are good once.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import test from 'node:test';

import pg from 'pg';

import { approval, input, payment, request, setUp, until } from './support/database.js';
import { provider, setUpVault } from './support/vault.js';

test('a token that is valid for long enough is used as it is, and only its owner gets it', async (t) => {
	const { vault, endpoint, key, admin } = await setUpVault(t);
	const token = await vault.accessToken(key);
	assert.deepEqual({ ...token, expiresAt: undefined },
		{ accessToken: 'access-1', tokenType: 'bearer', account: 'acme', scopes: ['read', 'write'], requestedScopes: ['read', 'write'], expiresAt: undefined });
	assert.ok(Math.abs(token.expiresAt - Date.now() - 3_600_000) < 60_000);
	assert.deepEqual(endpoint.asked, []);
	for (const other of [{ ...key, subject: 'another' }, { ...key, provider: 'other' }, { ...key, account: 'other' }]) {
		await assert.rejects(vault.accessToken(other), { code: 'ACCOUNT_NOT_CONNECTED' });
	}
	const { rows } = await admin.query('SELECT a::text FROM urlmode.account a');
	assert.ok(rows.every(({ a }) => !a.includes(Buffer.from('access-').toString('hex')) && !a.includes('access-')));
});

test('"sent" is committed before the request, and the lease is longer than the request may take', async (t) => {
	const { vault, endpoint, key, row, change } = await setUpVault(t, { expired: true });
	let seen;
	endpoint.instead = async () => {
		seen = await row();
	};
	// PostgreSQL is slow between the two: what is left of the lease is not enough for a request.
	const { query } = pg.Pool.prototype;
	t.mock.method(pg.Pool.prototype, 'query', async function (text, values) {
		if (text.includes('mark_sending')) await change("leased_until = now() + interval '20 s'");
		return query.call(this, text, values);
	});
	await vault.accessToken(key);
	assert.equal(seen.sent, true);
	assert.ok(seen.leased_until - Date.now() > 31_000);
	assert.deepEqual([(await row()).sent, (await row()).leased_until], [false, null]);
});

test('tokens that came are stored, also where the lease was lost meanwhile or PostgreSQL was away', async (t) => {
	const { vault, endpoint, key, change } = await setUpVault(t, { expired: true });
	// Another instance has taken the lease, and was told that the old token is not good any more.
	endpoint.instead = () => void change("lease = lease + 1, state = 'reconnect', reason = 'invalid_grant', leased_until = NULL").catch(() => {});
	const { query } = pg.Pool.prototype;
	let failures = 3;
	t.mock.method(pg.Pool.prototype, 'query', function (text, values) {
		if (text.includes('store_refreshed') && failures-- > 0) return Promise.reject(new Error('Connection terminated unexpectedly'));
		return query.call(this, text, values);
	});
	assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
	const [listed] = await vault.listAccounts(key);
	assert.deepEqual([listed.state, listed.reason], ['connected', '']);
	assert.deepEqual(endpoint.asked, ['refresh-1']);
});

for (const [what, answer, state, failures] of [
	['it can be tried again', [400, { error: 'temporarily_unavailable' }], ['connected', ''], 1],
	['the user must connect it again', [400, { error: 'invalid_grant' }], ['reconnect', 'invalid_grant'], 1],
]) {
	test(`a refresh fails while PostgreSQL is away: ${what}, and no answer counts as lost`, async (t) => {
		const { vault, endpoint, key, row } = await setUpVault(t, { expired: true });
		endpoint.instead = async (_request, _response, answerWith) => void answerWith(...answer) ?? true;
		const { query } = pg.Pool.prototype;
		let away = 3;
		t.mock.method(pg.Pool.prototype, 'query', function (text, values) {
			if (text.includes('end_refresh') && away-- > 0) return Promise.reject(new Error('Connection terminated unexpectedly'));
			return query.call(this, text, values);
		});
		await assert.rejects(vault.accessToken(key), { code: state[0] === 'connected' ? 'ACCOUNT_UNAVAILABLE' : 'ACCOUNT_RECONNECT' });
		const after = await row();
		assert.deepEqual([[after.state, after.reason], after.failures, after.sent, after.leased_until, after.lost], [state, failures, false, null, 0]);
		assert.deepEqual([endpoint.asked, away], [['refresh-1'], -1]);
	});
}

test('an answer without an end is read up to a limit, and one that is too large to be kept is refused', async (t) => {
	const { vault, endpoint, key, change, row } = await setUpVault(t, { expired: true });
	const details = [];
	vault.on('failed', ({ detail }) => details.push(detail));
	Object.assign(endpoint, { rotates: false, refreshed: { more: 'x'.repeat(70_000) } });
	endpoint.instead = async (_request, response) => {
		endpoint.instead = undefined;
		response.writeHead(200, { 'content-type': 'application/json' });
		const write = () => response.write('"of-the-test'.repeat(4_096));
		response.on('drain', write);
		write();
		return true;
	};
	await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE', detail: 'ACCOUNT_SIZE' });
	assert.equal((await row()).leased_until, null);
	assert.deepEqual(details, ['ANSWER_TOO_LARGE, status 200, application/json', 'ACCOUNT_SIZE']);
	await assert.rejects(vault.store(key, { tokens: { access_token: 'x'.repeat(70_000) }, account: { id: 'acme' }, scopes: [] }), { code: 'ACCOUNT_SIZE' });
});

for (const [what, refreshed, detail] of [
	['are too large', { more: 'x'.repeat(70_000) }, 'ACCOUNT_SIZE'],
	['have too many scopes for their column', { scope: Array.from({ length: 1_000 }, (_, n) => `a-long-scope-${n}`).join(' ') }, '23514'],
]) {
	test(`new tokens that ${what}: the refresh token that the provider has replaced is not sent again`, async (t) => {
		const { vault, endpoint, key, place, row } = await setUpVault(t, { expired: true });
		const reconnect = [];
		vault.on('reconnect', (event) => reconnect.push(event));
		endpoint.refreshed = refreshed;
		for (let n = 0; n < 2; n += 1) await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_RECONNECT', reason: 'not_stored' });
		assert.deepEqual([endpoint.asked, reconnect], [['refresh-1'], [{ ...place, reason: 'not_stored' }]]);
		assert.deepEqual([(await row()).leased_until, (await row()).sent], [null, false]);
	});

	test(`new tokens that ${what}, where the old refresh token stays good: it is tried again later`, async (t) => {
		const { vault, endpoint, key, change } = await setUpVault(t, { expired: true });
		Object.assign(endpoint, { rotates: false, refreshed });
		await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE', detail });
		await change('pause_until = NULL');
		endpoint.refreshed = {};
		await vault.accessToken(key);
		assert.deepEqual(endpoint.asked, ['refresh-1', 'refresh-1']);
	});
}

test('the answer to "sent" is lost twice: nothing counts as lost, and nobody waits for the lease', async (t) => {
	const { vault, endpoint, key, row } = await setUpVault(t, { expired: true });
	const { query } = pg.Pool.prototype;
	let losses = 2;
	t.mock.method(pg.Pool.prototype, 'query', async function (text, values) {
		const answer = await query.call(this, text, values);
		if (text.includes('mark_sending') && losses-- > 0) throw new Error('Connection terminated unexpectedly');
		return answer;
	});
	let lost;
	endpoint.instead = async () => void ({ lost } = await row());
	assert.equal((await vault.accessToken({ ...key, signal: AbortSignal.timeout(30_000) })).accessToken, 'access-2');
	assert.deepEqual([endpoint.asked, losses, lost], [['refresh-1'], -1, 0]);
});

test('a refresh that ends after the account was disconnected changes nothing of the one that came after it', async (t) => {
	const { place, row, change, vault, endpoint, admin } = await setUpVault(t);
	await change("lease = lease + 1, leased_until = now() + interval '1 minute'");
	const { version, lease } = await row();
	await change('leased_until = now()');
	await vault.disconnect({ ...place });
	await vault.store(place, { tokens: endpoint.grant(3_600), account: { id: 'acme' }, scopes: ['read'] });
	const before = await row();
	await admin.query("SELECT urlmode.commit_refresh($1, $2, $3, $4, '{all}', $5)", [place.subject, provider, place.account, version, before.tokens]);
	await admin.query("SELECT urlmode.fail_refresh($1, $2, $3, $4, $5, 'invalid_grant')", [place.subject, provider, place.account, version, lease]);
	assert.deepEqual(await row(), before);
});

test('a call ends with its signal while its instance refreshes the token, and the refresh goes on', async (t) => {
	const { vault, endpoint, key } = await setUpVault(t, { expired: true });
	let answer;
	endpoint.instead = () => new Promise((resolve) => (answer = resolve));
	const controller = new AbortController();
	const call = vault.accessToken({ ...key, signal: controller.signal });
	const other = vault.accessToken({ ...key, signal: new AbortController().signal });
	await until('it is asked', () => answer);
	controller.abort(new Error('of the test'));
	await assert.rejects(call, /^Error: of the test$/);
	answer();
	assert.deepEqual([(await other).accessToken, endpoint.asked], ['access-2', ['refresh-1']]);
});

test('close waits for a refresh, and what the provider has given is stored', async (t) => {
	const { vault, endpoint, key, urlmode, another, openVault } = await setUpVault(t, { expired: true });
	let answer;
	endpoint.instead = () => new Promise((resolve) => (answer = resolve));
	const token = vault.accessToken(key).catch(({ code }) => code);
	await until('it is asked', () => answer);
	const closed = urlmode.close();
	setTimeout(answer, 3_000);
	await closed;
	await token;
	assert.equal((await openVault(another()).accessToken(key)).accessToken, 'access-2');
	assert.deepEqual(endpoint.asked, ['refresh-1']);
});

test('a request is repeated only where nothing was sent', async (t) => {
	const { vault, endpoint, key, change } = await setUpVault(t, { expired: true });
	endpoint.options.reuseWithin = 'never';
	endpoint.instead = (request) => request.socket.destroy() && true;
	await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_RECONNECT', reason: 'refresh_lost' });
	assert.equal(endpoint.asked.length, 1, 'it had arrived');

	endpoint.instead = undefined;
	await change("state = 'connected', lost = 0");
	const { fetch } = globalThis;
	const nobody = createServer().listen(0, '127.0.0.1');
	await once(nobody, 'listening');
	const { port } = nobody.address();
	nobody.close();
	let attempts = 0;
	t.mock.method(globalThis, 'fetch', (url, ...args) => {
		attempts += 1;
		return fetch(attempts === 1 ? `http://127.0.0.1:${port}` : url, ...args);
	});
	assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
	assert.equal(attempts, 2);
});

test('disconnect revokes and deletes, and deletes where it cannot revoke', async (t) => {
	const { vault, endpoint, key, change } = await setUpVault(t);
	assert.deepEqual(await vault.disconnect(key), { revoked: true });
	assert.deepEqual(endpoint.revoked, ['refresh-1', 'access-1']);
	assert.deepEqual(await vault.listAccounts(key), []);
	await assert.rejects(vault.disconnect(key), { code: 'ACCOUNT_NOT_CONNECTED' });
	await vault.store(key, { tokens: endpoint.grant(), account: undefined, scopes: [] });
	assert.equal((await vault.accessToken(key)).account, 'default');
	await change("tokens = tokens || '\\x00'");
	assert.deepEqual(await vault.disconnect(key), { revoked: false, detail: 'ACCOUNT_SEAL' });
	assert.deepEqual(await vault.listAccounts(key), []);
});

test('a user is forgotten, but for references and amounts, and not while a payment is unclaimed', async (t) => {
	const { vault, urlmode, callback, subject, key, admin, naming } = await setUpVault(t);
	const owner = { subject, session: 's' };
	const reference = `pay-${randomUUID()}`;
	const { elicitationId } = await urlmode.create({ ...payment, ...owner });
	await urlmode.create({ ...request, subject });
	await callback.open(elicitationId, owner);
	await callback.event(elicitationId, 'attempt_failed', { ...owner, reference: `${reference}-attempt` });
	await callback.paid(elicitationId, { reference, ...owner });
	// What was typed, what was decided, and what a call has returned that nobody has heard.
	const { elicitationId: typed } = await urlmode.create({ ...input, subject });
	await callback.answer(typed, { subject, result: { values: { api_key: 'of-the-test' } } });
	const { elicitationId: decided } = await urlmode.create({ ...approval, subject });
	await callback.answer(decided, { subject, result: { comment: 'of-the-test' } });
	await (await urlmode.beginClaim(decided, { subject })).fulfil({ text: 'of-the-test' });
	/** The tables with an elicitation of the user, but for those that have ids alone. */
	const holding = async () => {
		const { rows: tables } = await admin.query("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'urlmode' AND tablename NOT IN ('purge_queue', 'uncounted_end') ORDER BY 1");
		const found = [];
		for (const { name } of tables) {
			const { rows } = await admin.query(`SELECT FROM urlmode.${name} t WHERE t::text ~ $1`, [[elicitationId, typed, decided].join('|')]);
			if (rows.length > 0) found.push(name);
		}
		return found;
	};
	const before = await naming();
	assert.ok(['account', 'elicitation'].every((name) => before.includes(name)), before.join());
	assert.deepEqual(await holding(), ['elicitation', 'event', 'form', 'kept_result', 'lease', 'ledger', 'payment']);
	await assert.rejects(vault.forgetSubject({ subject }), (error) => {
		assert.equal(error.code, 'UNCLAIMED_PAYMENTS');
		assert.deepEqual(error.payments, [{ elicitationId, provider: 'demo', reference, amount: 1_050, currency: 'EUR' }]);
		return true;
	});
	assert.deepEqual([(await vault.listAccounts(key)).length, await naming()], [1, before], 'nothing was deleted');
	await urlmode.claim(elicitationId, owner);
	await vault.forgetSubject({ subject });
	assert.deepEqual(await naming(), []);
	assert.deepEqual(await holding(), ['ledger', 'payment']);
	const { rows: [paid] } = await admin.query('SELECT reference, amount, currency, result FROM urlmode.payment WHERE elicitation = $1', [elicitationId]);
	assert.deepEqual(paid, { reference, amount: '1050', currency: 'EUR', result: null });
});

test('a token with a line end is not stored', async (t) => {
	const { vault, key, endpoint, row } = await setUpVault(t);
	for (const name of ['access_token', 'refresh_token']) {
		await assert.rejects(vault.store(key, { tokens: { ...endpoint.grant(), [name]: 'a\r\nX-Admin: 1' }, account: { id: 'acme' }, scopes: [] }),
			{ name: 'TypeError', message: `tokens.${name} must have no control characters` });
	}
	assert.equal((await vault.accessToken(key)).accessToken, 'access-1');
	assert.equal((await row()).state, 'connected');
});

test('only MCP servers reach the vault', async (t) => {
	const { admin } = await setUp(t);
	const { rows } = await admin.query(`SELECT p.proname AS name, r.rolname AS role FROM pg_proc p, pg_roles r
		WHERE p.pronamespace = 'urlmode'::regnamespace AND r.rolname IN ('urlmode_cgi', 'urlmode_operator', 'urlmode_server')
			AND p.proname ~ 'account|exchanged|refresh|mark_sen|lease_of|^hold$|disconnect|vault|sealed|forget' AND has_function_privilege(r.oid, p.oid, 'EXECUTE')`);
	// An operator forgets a user, of whom he reads nothing that is sealed.
	assert.deepEqual(rows.filter(({ role }) => role !== 'urlmode_server'), [{ name: 'forget_user', role: 'urlmode_operator' }]);
	assert.equal(rows.filter(({ role }) => role === 'urlmode_server').length, 22);
	const { rows: tables } = await admin.query(`SELECT r.rolname FROM pg_roles r WHERE r.rolname IN ('urlmode_cgi', 'urlmode_operator', 'urlmode_server')
		AND has_table_privilege(r.oid, 'urlmode.account', 'SELECT')`);
	assert.deepEqual(tables, []);
});
