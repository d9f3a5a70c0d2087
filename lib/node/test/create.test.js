import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import pg from 'pg';

import { POOL_MAX } from '../src/core/contract-limits.js';
import { internalsOf } from '../src/core/internals.js';
import { KeysFile } from '../src/core/keys.js';
import { openLink } from '../src/core/link.js';
import { bindingOf, openState } from '../src/core/token.js';
import { UrlMode } from '../src/index.js';
import { connect, connectionsOf, payment, PRICE, request, setUp, signature, until } from './support/database.js';
import { keyLine, scratchKeys, writeKeys } from './support/keys.js';

const rowOf = async (admin, id) => (await admin.query('SELECT * FROM urlmode.elicitation WHERE id = $1', [id])).rows[0];

test('create writes the row and returns the link, the return URLs and the expiry', async (t) => {
	const { urlmode, admin, keysFile } = await setUp(t);
	const before = Date.now();
	const e = await urlmode.create({ ...request, session: 'sess-1', ttl: 60_000 });
	assert.ok(await urlmode.create({ ...request, ttl: 365 * 24 * 60 * 60 * 1_000 }), 'a year is not too long');
	const row = await rowOf(admin, e.elicitationId);

	assert.equal(row.provider, 'demo');
	assert.equal(row.kind, 'oauth');
	assert.equal(row.subject, 'user-42');
	assert.equal(row.session, 'sess-1');
	assert.equal(row.status, 'pending');
	assert.equal(row.requester, 'callback.example');
	assert.equal(row.target_url, request.targetUrl);
	assert.equal(row.expected, null);
	assert.equal(row.verifier, null);
	assert.equal(row.expires_at.getTime(), e.expiresAt.getTime());
	assert.ok(Math.abs(e.expiresAt.getTime() - before - 60_000) < 10_000, String(e.expiresAt));

	const url = new URL(e.url);
	assert.equal(url.origin + url.pathname, 'https://callback.example/connect/demo');
	assert.deepEqual([...url.searchParams.keys()], ['state']);
	const link = openLink(new KeysFile(keysFile), 'demo', url.searchParams.get('state'));
	assert.equal(link.id, e.elicitationId);
	assert.equal(row.link_kid, link.kid);
	assert.equal(row.client_id, null);

	assert.equal(e.returnUrl, 'https://callback.example/oauth/demo/return');
	assert.equal(e.cancelUrl, undefined);
	assert.equal(e.webhookUrl, undefined);
});

test('the same elicitation has the same link, also after a key rotation, until its key is removed', async (t) => {
	const { keysFile, another } = await setUp(t);
	const [old, fresh] = [keyLine(1), keyLine(2)];
	const wanted = { ...request, subject: `user-${randomUUID()}`, resumeKey: 'the same' };
	writeKeys(keysFile, old);
	const urls = [];
	for (const keys of [old, old, fresh + old, fresh]) {
		writeKeys(keysFile, keys);
		const { elicitationId, url } = await another().create(wanted);
		urls.push(url);
		assert.equal(openLink(new KeysFile(keysFile), 'demo', new URL(url).searchParams.get('state')).id, elicitationId);
	}
	assert.equal(urls[1], urls[0]);
	assert.equal(urls[2], urls[0]);
	assert.notEqual(urls[3], urls[0], 'nothing opens it any more');
});

test('the id of the MCP client is recorded, and compared only with sameClient', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const wanted = { ...request, subject: `user-${randomUUID()}`, resumeKey: 'a thing' };
	const first = await urlmode.create({ ...wanted, clientId: 'client-of-ada' });
	assert.equal((await rowOf(admin, first.elicitationId)).client_id, 'client-of-ada');
	const second = await urlmode.create({ ...wanted, clientId: 'another-client' });
	assert.deepEqual([second.elicitationId, second.url], [first.elicitationId, first.url]);
	assert.equal((await rowOf(admin, first.elicitationId)).client_id, 'client-of-ada');
	assert.equal((await urlmode.create(wanted)).elicitationId, first.elicitationId);

	const compared = { ...wanted, resumeKey: 'another thing', sameClient: true };
	const hers = await urlmode.create({ ...compared, clientId: 'client-of-ada' });
	assert.equal((await urlmode.create({ ...compared, clientId: 'client-of-ada' })).elicitationId, hers.elicitationId);
	assert.notEqual((await urlmode.create({ ...compared, clientId: 'another-client' })).elicitationId, hers.elicitationId);

	await assert.rejects(urlmode.create({ ...wanted, clientId: '' }), TypeError);
	await assert.rejects(urlmode.create({ ...wanted, clientId: 'x'.repeat(2_049) }), TypeError);
	await assert.rejects(urlmode.create(compared), { name: 'TypeError', message: 'sameClient requires clientId' });
});

test('the trace of the call is kept with the row, and what is none is refused', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
	const { elicitationId } = await urlmode.create({ ...request, traceparent });
	assert.equal((await rowOf(admin, elicitationId)).traceparent, traceparent);
	assert.equal((await rowOf(admin, (await urlmode.create(request)).elicitationId)).traceparent, null);

	for (const wrong of [
		'', 1, traceparent.toUpperCase(), `${traceparent}-`, traceparent.replace('00-', '01-'), traceparent.replace(/-00f0.{12}/, `-${'0'.repeat(16)}`),
		`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `${traceparent}\n`,
	]) {
		await assert.rejects(urlmode.create({ ...request, traceparent: wrong }), TypeError, String(wrong));
		// The database is asked by other languages, too.
		if (typeof wrong === 'string') await assert.rejects(admin.query('SELECT $1::urlmode.traceparent', [wrong]), { code: '23514' }, wrong);
	}
});

for (const [kind, wanted] of Object.entries({ payment, signature })) {
	test(`the return URLs and the webhook URL of a ${kind} have a state and are known before the row is written`, async (t) => {
		const { urlmode, admin, keysFile } = await setUp(t, { name: 'The Shop' });
		let way;
		const e = await urlmode.create({ ...wanted, async targetUrl(given) {
			way = given;
			assert.equal(await rowOf(admin, given.elicitationId), undefined);
			return new URL(`https://checkout.example/${given.elicitationId}`);
		} });
		const { elicitationId, returnUrl, cancelUrl, webhookUrl } = e;
		assert.deepEqual(way, { elicitationId, returnUrl, cancelUrl, webhookUrl });
		for (const [purpose, path] of [
			['return', '/payment/demo/return'], ['cancel', '/payment/demo/cancel'], ['webhook', '/webhook/demo'],
		]) {
			const url = new URL(e[`${purpose}Url`]);
			assert.equal(url.origin + url.pathname, `https://callback.example${path}`);
			const state = openState(new KeysFile(keysFile), purpose, 'demo', url.searchParams.get('state'));
			assert.equal(state.id, e.elicitationId);
			const longer = state.expires - e.expiresAt.getTime() / 1_000 - 365 * 86_400;
			assert.ok(Math.abs(longer) < 60, `${purpose} is open for a year and ${longer} seconds after the row`);
		}
		const row = await rowOf(admin, e.elicitationId);
		assert.equal(row.requester, 'The Shop');
		assert.equal(row.target_url, `https://checkout.example/${e.elicitationId}`);
	});
}

test('the expected amount and currency of a payment are stored', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const e = await urlmode.create({ ...payment, expected: { amount: 1_999, currency: 'eur' } });
	assert.deepEqual((await rowOf(admin, e.elicitationId)).expected, { amount: 1_999, currency: 'EUR' });
	const any = await urlmode.create({ ...payment, expected: 'any' });
	assert.equal((await rowOf(admin, any.elicitationId)).expected, 'any');
});

test('the item of a payment and of a signature is kept with the row', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const item = 'ö'.repeat(256);
	const { elicitationId } = await urlmode.create({ ...payment, item });
	assert.equal((await rowOf(admin, elicitationId)).item, item);
	const signed = await urlmode.create({ ...signature, item: 'contract:7' });
	assert.equal((await rowOf(admin, signed.elicitationId)).item, 'contract:7');
});

test('a payment or signature without an item is refused, and the error says what to write', async (t) => {
	const { urlmode } = await setUp(t);
	for (const wanted of [payment, signature]) {
		await assert.rejects(urlmode.create({ ...wanted, item: undefined }), {
			name: 'TypeError', message: 'item is required for kinds payment and signature: what the user gets, such as report:42',
		});
	}
});

test('a payment without an expected amount is refused, and the error says what to do', async (t) => {
	const { urlmode } = await setUp(t);
	await assert.rejects(urlmode.create({ ...request, kind: 'payment' }), {
		name: 'TypeError', message: "expected is required for kind payment: { amount, currency } in minor units, or 'any' if any amount is accepted",
	});
});

test('pkce: the challenge matches the verifier, which every instance returns and no column shows', async (t) => {
	const { urlmode, another, admin, callback } = await setUp(t);
	const targetUrl = 'https://provider.example/authorize?client_id=a&scope=openid%20email';
	const e = await urlmode.create({ ...request, targetUrl, pkce: true });
	const row = await rowOf(admin, e.elicitationId);
	const query = new URL(row.target_url).searchParams;
	assert.ok(row.target_url.startsWith(`${targetUrl}&`));

	await callback.complete(e.elicitationId, { result: { code: 'abc' } });
	const outcome = await another().waitForCompletion(e.elicitationId, { subject: 'user-42' });
	assert.match(outcome.codeVerifier, /^[A-Za-z0-9_-]{43}$/);
	assert.equal(query.get('code_challenge_method'), 'S256');
	assert.equal(query.get('code_challenge'), createHash('sha256').update(outcome.codeVerifier).digest('base64url'));
	assert.match(outcome.nonce, /^[A-Za-z0-9_-]{22}$/);
	assert.equal(query.get('nonce'), outcome.nonce);
	assert.deepEqual(outcome.result, { code: 'abc' });

	const shown = JSON.stringify([e, { ...row, verifier: row.verifier.toString('latin1') }]);
	assert.ok(!shown.includes(outcome.codeVerifier), 'the verifier can be seen');
});

test('pkce: no nonce is added without the scope openid or if the URL has one', async (t) => {
	const { urlmode, admin, callback } = await setUp(t);
	for (const [query, nonce] of [['', null], ['?scope=email', null], ['?scope=openidx', null],
		['?scope=openid&nonce=mine', 'mine']]) {
		const e = await urlmode.create({ ...request, targetUrl: `https://provider.example/${query}`, pkce: true });
		const row = await rowOf(admin, e.elicitationId);
		assert.deepEqual(new URL(row.target_url).searchParams.getAll('nonce'), nonce ? [nonce] : []);
		await callback.complete(e.elicitationId);
		const outcome = await urlmode.waitForCompletion(e.elicitationId, { subject: 'user-42' });
		assert.equal(outcome.codeVerifier.length, 43);
		assert.ok(!('nonce' in outcome));
	}
});

test('create uses the id of the caller and rejects it the second time', async (t) => {
	const { urlmode } = await setUp(t);
	const id = randomUUID();
	const e = await urlmode.create({ ...request, id: id.toUpperCase() });
	assert.equal(e.elicitationId, id);
	await assert.rejects(urlmode.create({ ...request, id }),
		{ name: 'ElicitationExistsError', code: 'ELICITATION_EXISTS', message: `elicitation ${id} already exists: choose another id` });
});

test('create rejects with the error of the targetUrl function and writes no row', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const failure = new Error('the checkout could not be created');
	const id = randomUUID();
	await assert.rejects(urlmode.create({ ...request, id, targetUrl: async () => { throw failure; } }), failure);
	await assert.rejects(urlmode.create({ ...request, id, targetUrl: () => 'http://elsewhere.example/' }),
		{ name: 'TypeError', message: /^targetUrl must be https/ });
	assert.equal(await rowOf(admin, id), undefined);
});

const mistakes = {
	'provider': [{ provider: 'Demo' }, { provider: '' }, { provider: 'a/b' }, { provider: `a${'b'.repeat(64)}` },
		{ provider: undefined }, { provider: '../x' }],
	'kind': [{ kind: 'card' }, { kind: undefined }],
	'subject': [{ subject: '' }, { subject: undefined }, { subject: 42 }, { subject: 'a\0b' }, { subject: '\ud800' },
		{ subject: 'ö'.repeat(257) }],
	'session': [{ session: null }, { session: 'x'.repeat(513) }],
	'ttl': [{ ttl: 0 }, { ttl: -1 }, { ttl: 1.5 }, { ttl: NaN }, { ttl: '60000' }, { ttl: Date.now() }],
	'the elicitation id': [{ id: 'x' }, { id: '' }, { id: 42 }, { id: '6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11\n' }],
	'expected': [{ expected: { amount: 1, currency: 'EUR' } }, { expected: 'any' }, { kind: 'payment' }],
	'expected.amount': [{ kind: 'payment', expected: 'some' }, { kind: 'payment', expected: { amount: 1.5, currency: 'EUR' } },
		{ kind: 'payment', expected: { amount: -1, currency: 'EUR' } }, { kind: 'payment', expected: null }],
	'expected.match': [{ ...payment, expected: { ...PRICE, match: 'about' } },
		{ ...payment, expected: { ...PRICE, match: 'checkout' } }, { ...payment, provider: 'lemon-squeezy', expected: { match: 'checkout' } },
		{ ...payment, provider: 'mollie', expected: { match: 'checkout' }, targetUrl: { url: 'https://a.example/', checkout: 'c' } }],
	'expected.currency': [{ kind: 'payment', expected: { amount: 1 } },
		{ kind: 'payment', expected: { amount: 1, currency: 'euro' } }],
	'item': [{ item: 'report:42' }, { ...payment, item: '' }, { ...payment, item: 'ö'.repeat(257) }, { ...payment, item: 42 },
		{ ...payment, item: null }, { ...payment, item: undefined }, { ...signature, item: undefined }, { ...payment, item: 'a\0b' }],
	'pkce': [{ ...payment, pkce: true }],
	'targetUrl': [{ targetUrl: undefined }, { targetUrl: 'x' }, { targetUrl: 'https://p.example/?state=1' },
		{ targetUrl: 'https://p.example/?code_challenge=1', pkce: true }],
};
for (const [name, options] of Object.entries(mistakes)) {
	test(`create rejects an invalid ${name}`, async (t) => {
		const { urlmode } = await setUp(t);
		for (const mistake of options) {
			await assert.rejects(urlmode.create({ ...request, ...mistake }), (error) => {
				assert.ok(error instanceof TypeError && error.message.startsWith(`${name} `),
					`${JSON.stringify(mistake)} gave ${error}`);
				return true;
			});
		}
	});
}

test('texts of the greatest length are taken', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const texts = { subject: 'ö'.repeat(256), session: 'x'.repeat(512), resumeKey: 'x'.repeat(512), clientId: 'x'.repeat(2_048) };
	const { elicitationId } = await urlmode.create({ ...request, ...texts });
	const { subject, session, resume_key: resumeKey, client_id: clientId } = await rowOf(admin, elicitationId);
	assert.deepEqual({ subject, session, resumeKey, clientId }, texts);
});

test('an option that is true or false is refused if it is neither', async (t) => {
	const { urlmode } = await setUp(t);
	for (const exclusive of ['true', 1, null]) {
		await assert.rejects(urlmode.create({ ...request, exclusive }), { name: 'TypeError', message: 'exclusive must be true or false' });
	}
});

test('the constructor rejects invalid options without revealing a password', (t) => {
	const good = { databaseUrl: 'postgresql://u:hunter2@127.0.0.1/urlmode', keysFile: scratchKeys(t),
		baseUrl: 'https://callback.example' };
	for (const [name, mistake] of [
		['databaseUrl', { databaseUrl: undefined }],
		['databaseUrl', { databaseUrl: 'host=127.0.0.1 password=hunter2' }],
		['databaseUrl', { databaseUrl: 'postgresql://u:hunter2@127.0.0.1:port/urlmode' }],
		['keysFile', { keysFile: undefined }],
		['baseUrl', { baseUrl: 'http://callback.example' }],
		['name', { name: '' }],
		['name', { name: 'x'.repeat(201) }],
		['keepResults', { keepResults: 24 * 60 * 60_000 + 1 }],
		['keepUnclaimed', { keepUnclaimed: 0 }],
		['keepUnclaimed', { keepUnclaimed: 7 * 24 * 60 * 60_000 - 1 }],
		['keepUnclaimed', { keepUnclaimed: 10 * 365 * 24 * 60 * 60_000 + 1 }],
		['retention', { retention: 100 * 365 * 24 * 60 * 60_000 + 1 }],
		['round', { clients: [{ name: 'slow', round: 24 * 60 * 60_000 + 1 }] }],
		['rounds', { clients: [{ name: 'slow', rounds: -1 }] }],
	]) {
		assert.throws(() => new UrlMode({ ...good, ...mistake }), (error) => {
			assert.ok(error instanceof TypeError && error.message.startsWith(name), String(error));
			assert.doesNotMatch(error.stack + JSON.stringify(error), /hunter2/);
			return true;
		});
	}
	assert.throws(() => new UrlMode({ ...good, keysFile: '/nowhere/keys' }), { code: 'URLMODE_KEYS_FILE' });
});

test('with a pool and keys of the caller it works as with a URL and a file, and leaves the pool open', async (t) => {
	const { settings: { databaseUrl, keysFile, ...settings }, callback } = await setUp(t);
	const pool = new pg.Pool({ connectionString: databaseUrl });
	t.after(() => pool.end());
	const urlmode = new UrlMode({ ...settings, pool, keys: readFileSync(keysFile, 'utf8') });
	const { elicitationId } = await urlmode.create(request);
	const outcome = urlmode.waitForCompletion(elicitationId, { subject: 'user-42' });
	await callback.complete(elicitationId, { result: { code: 'c' } });
	assert.deepEqual((await outcome).result, { code: 'c' });
	await assert.rejects(urlmode.create({ ...request, id: elicitationId }), { code: 'ELICITATION_EXISTS' });
	await urlmode.close();
	assert.equal((await pool.query('SELECT 1 AS one')).rows[0].one, 1);

	const parts = { host: '127.0.0.1', port: Number(new URL(databaseUrl).port), user: 'urlmode_server', password: new URL(databaseUrl).password, database: 'urlmode' };
	const other = new pg.Pool(parts);
	t.after(() => other.end());
	const again = new UrlMode({ ...settings, pool: other, keysFile });
	t.after(() => again.close());
	assert.equal((await again.waitForCompletion(elicitationId, { subject: 'user-42' })).action, 'accept');

	for (const [options, message] of [
		[{ pool, databaseUrl, keysFile }, 'pool and databaseUrl cannot be used together'], [{ pool: {}, keysFile }, 'pool must be a pg.Pool'],
		[{ pool, keysFile, keys: 'x' }, 'keys and keysFile cannot be used together'],
		[{ pool, keys: 7 }, 'keys must be a string'], [{ pool, keys: '' }, 'keys must have 1 to 131072 bytes in UTF-8'],
	]) assert.throws(() => new UrlMode({ ...settings, ...options }), { name: 'TypeError', message });
	assert.throws(() => new UrlMode({ ...settings, pool, keys: '1 c2hvcnQ=' }), (error) => {
		assert.equal(error.message, 'keys:1: the key must have at least 32 bytes');
		assert.equal(error.code, 'URLMODE_KEYS_FILE');
		return true;
	});
});

test('a storm of calls that are aborted writes nothing for those that were not sent', async (t) => {
	const { urlmode, admin, adminUrl, applicationName } = await setUp(t);
	const lock = await connect(t, adminUrl);
	await lock.query('BEGIN; SELECT pg_advisory_xact_lock(48)');
	// All connections are busy.
	const busy = Array.from({ length: POOL_MAX }, () => internalsOf(urlmode).database.query('SELECT pg_advisory_xact_lock_shared(48)', []));
	await until('all wait', async () => (await connectionsOf(admin, applicationName))
		.filter(({ query, wait_event_type: event }) => event === 'Lock' && query.includes('pg_advisory_xact_lock_shared')).length === POOL_MAX);
	const gone = new Error('the client is gone');
	const controller = new AbortController();
	const owners = Array.from({ length: 1_000 }, () => ({ subject: `user-${randomUUID()}` }));
	const calls = owners.map((owner, n) => urlmode.create({ ...request, ...owner, ...n % 4 > 0 && { signal: controller.signal }, ...n % 2 === 0 && { resumeKey: 'k' } }));
	const settled = Promise.allSettled(calls);
	await new Promise((resolve) => setTimeout(resolve, 50));
	controller.abort(gone);
	for (const [n, call] of calls.entries()) if (n % 4 > 0) await assert.rejects(call, gone);
	await assert.rejects(urlmode.create({ ...request, signal: controller.signal }), gone);
	await lock.query('ROLLBACK');
	await Promise.all(busy);
	const outcomes = await settled;
	const { rows } = await admin.query('SELECT subject FROM urlmode.elicitation WHERE subject = ANY ($1)', [owners.map(({ subject }) => subject)]);
	const stayed = owners.filter((_, n) => n % 4 === 0).map(({ subject }) => subject);
	assert.deepEqual(rows.map(({ subject }) => subject).sort(), stayed.sort());
	for (const [n, { value }] of outcomes.entries()) {
		if (n % 4 === 0) assert.equal((await urlmode.waitForCompletion(value.elicitationId, { ...owners[n], timeout: 0 }).catch(({ code }) => code)), 'ELICITATION_TIMEOUT');
	}
	await assert.rejects(urlmode.create({ ...request, signal: 'soon' }), /^TypeError: signal must be/);
});

test('what was sent when its signal aborts ends as it ends', async (t) => {
	const { urlmode, admin, adminUrl, applicationName } = await setUp(t);
	const lock = await connect(t, adminUrl);
	await lock.query('BEGIN; LOCK TABLE urlmode.elicitation IN ACCESS EXCLUSIVE MODE');
	const controller = new AbortController();
	const owner = { subject: `user-${randomUUID()}` };
	const call = urlmode.create({ ...request, ...owner, signal: controller.signal });
	await until('it was sent', async () => (await connectionsOf(admin, applicationName))
		.some(({ query, wait_event_type: event }) => event === 'Lock' && query.includes('create_elicitation')));
	controller.abort(new Error('too late'));
	await lock.query('ROLLBACK');
	assert.ok(await rowOf(admin, (await call).elicitationId));
});
