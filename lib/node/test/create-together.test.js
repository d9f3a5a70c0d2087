// Many calls of `create` at once, which go to PostgreSQL together.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import pg from 'pg';

import { internalsOf } from '../src/core/internals.js';
import { bindingOf } from '../src/core/token.js';
import { payment, request, requireUrl, setUp, until } from './support/database.js';
import { Proxy } from './support/proxy.js';

const MANY = 100;

const each = (make) => Array.from({ length: MANY }, (_, n) => make(n));

const rowsOf = async (admin, ids) => (await admin.query(
	'SELECT id, subject, kind, status, action, reason, expires_at FROM urlmode.elicitation WHERE id = ANY ($1)', [ids])).rows;

/** The calls of one test have a user of their own. */
const someone = () => `user-${randomUUID()}`;

test('each call gets its own row, link and expiry', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const asked = each((n) => ({
		...n % 2 ? request : payment, id: randomUUID(), subject: `user-${n}`, ttl: 60_000 + n * 1_000,
	}));
	const before = Date.now();
	const created = await Promise.all(asked.map((options) => urlmode.create(options)));
	const after = Date.now();
	const rows = new Map((await rowsOf(admin, asked.map(({ id }) => id))).map((row) => [row.id, row]));
	for (const [n, { id, subject, kind, ttl }] of asked.entries()) {
		const row = rows.get(id);
		assert.equal(created[n].elicitationId, id);
		assert.equal(created[n].expiresAt.getTime(), row.expires_at.getTime());
		const createdAt = row.expires_at - ttl;
		assert.ok(createdAt >= before && createdAt <= after, `${row.expires_at - before} instead of ${ttl}`);
		assert.deepEqual([row.subject, row.kind], [subject, kind]);
	}
});

test('an id that exists fails alone, also where its first use is in the same batch', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const { elicitationId: old } = await urlmode.create(request);
	const sameOwner = someone();
	for (const ownerOf of [someone, () => sameOwner]) {
		const twice = randomUUID();
		const ids = each((n) => ({ 10: old, 20: twice, 30: twice })[n] ?? randomUUID());
		const settled = await Promise.allSettled(ids.map((id) => urlmode.create({ ...request, id, subject: ownerOf() })));
		const refused = [...settled.keys()].filter((n) => settled[n].status === 'rejected');
		for (const n of refused) assert.equal(settled[n].reason.code, 'ELICITATION_EXISTS', `${n}: ${settled[n].reason}`);
		// Calls for one owner that find another one under way try again, in any order.
		const second = ownerOf === someone || refused.includes(30) ? 30 : 20;
		assert.deepEqual(refused, [10, second]);
		for (const [n, { value }] of settled.entries()) if (value) assert.equal(value.elicitationId, ids[n]);
		assert.equal((await rowsOf(admin, ids)).length, MANY - 1);
	}
});

test('a row that the database refuses fails alone, and its error says nothing of any row', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const { database } = internalsOf(urlmode);
	const ids = each(() => randomUUID());
	const settled = await Promise.allSettled(ids.map((id, n) => database.create({
		id, provider: 'demo', kind: n === 41 ? 'payment' : 'oauth', subject: n === 42 ? 's'.repeat(513) : 'user-42', session: '',
		binding: Buffer.alloc(16), requester: 'r', targetUrl: 'https://p.example/', expected: null, verifier: null, ttlMs: 60_000,
		exclusive: false, resumeKey: null,
	})));
	for (const [n, { reason, value }] of settled.entries()) {
		if (n === 41 || n === 42) assert.equal(reason?.code, '23514');
		else assert.ok(value > Date.now() / 1_000);
		assert.doesNotMatch(JSON.stringify(reason ?? {}) + reason?.stack, /user-42|p\.example|ssss/);
	}
	assert.equal((await rowsOf(admin, ids)).length, MANY - 2);
});

test('of calls with one key the first creates, and the others resume what it created', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const subject = someone();
	const all = await Promise.all(each((n) =>
		urlmode.create({ ...request, subject, resumeKey: `key-${n % 4}` })));
	for (let key = 0; key < 4; key += 1) {
		const ids = new Set(all.filter((_, n) => n % 4 === key).map((e) => e.elicitationId));
		assert.equal(ids.size, 1);
	}
	assert.equal(all.filter(({ resumed }) => !resumed).length, 4);
	const { rows } = await admin.query('SELECT id FROM urlmode.elicitation WHERE subject = $1', [subject]);
	assert.equal(rows.length, 4);
});

test('exclusive: each supersedes those before it, the last one stays', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const [subject, other] = [someone(), someone()];
	const { elicitationId: old } = await urlmode.create({ ...request, subject });
	const ids = each(() => randomUUID());
	await Promise.all([
		...ids.slice(0, 20).map((id) => urlmode.create({ ...request, id, subject, exclusive: true })),
		...ids.slice(20).map((id) => urlmode.create({ ...request, id, subject: other })),
	]);
	const rows = new Map((await rowsOf(admin, [old, ...ids])).map((row) => [row.id, row]));
	for (const id of [old, ...ids.slice(0, 19)]) assert.equal(rows.get(id).reason, 'superseded');
	for (const id of ids.slice(19)) assert.equal(rows.get(id).status, 'pending');
});

/** Elements of one call of urlmode.create_elicitation. */
function createOn(client, elements) {
	const column = (name, usual) => elements.map((element) => element[name] ?? usual);
	return client.query(`SELECT expires_at FROM urlmode.create_elicitation(ids => $1, providers => $2, kinds => $3,
		subjects => $4, sessions => $5, bindings => $6, requesters => $7, target_urls => $8, expected => NULL,
		verifiers => NULL, ttls_ms => $9, exclusive => $10, resume_keys => $11)`,
	[elements.map(({ id }) => id ?? randomUUID()), column('provider', 'demo'), column('kind', 'oauth'),
		column('subject', 'u'), column('session', ''), column('binding'), column('requester', 'r'),
		column('targetUrl', 'https://p.example/'), column('ttl', 60_000), column('exclusive', false), column('key', null)]);
}

test('elements of one owner take effect in their order', async (t) => {
	const { admin } = await setUp(t);
	const binding = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
	const { rows } = await createOn(admin, [
		{ binding, key: 'a' },
		{ binding, key: 'a', exclusive: true },
		{ binding, exclusive: true },
		{ binding, key: 'a' },
		{ binding },
	]);
	// The second resumes the first and so supersedes nothing; the third does, which is why the fourth is created.
	assert.deepEqual(rows.map(({ expires_at: expires }) => expires !== null), [true, false, true, true, true]);
	const { rows: kept } = await admin.query(
		'SELECT reason, resume_key FROM urlmode.elicitation WHERE binding = $1 ORDER BY reason, resume_key', [binding]);
	assert.deepEqual(kept.map(({ reason, resume_key: key }) => [reason, key]), [['', 'a'], ['', null], ['', null], ['superseded', 'a']]);
});

test('nothing is created where an element lacks its time, and no arrays create nothing', async (t) => {
	const { admin } = await setUp(t);
	const binding = Buffer.alloc(16, 7);
	const id = randomUUID();
	await assert.rejects(createOn(admin, [{ id, binding }, { binding, ttl: NaN }]), { code: '22P02' });
	await assert.rejects(admin.query(`SELECT urlmode.create_elicitation(ARRAY[$1::uuid], ARRAY['demo'], ARRAY['oauth'], ARRAY['u'],
		ARRAY[''], ARRAY[$2::bytea], ARRAY['r'], ARRAY['https://p.example/'], NULL, NULL, ARRAY[NULL::bigint])`, [id, binding]),
	{ code: '23502' });
	assert.deepEqual(await rowsOf(admin, [id]), []);
	assert.deepEqual((await createOn(admin, [])).rows, []);
	assert.deepEqual((await admin.query('SELECT urlmode.create_elicitation(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)')).rows, []);
});

test('batches of the same owners in any order do not deadlock', async (t) => {
	const { admin, adminUrl } = await setUp(t);
	const clients = await Promise.all([1, 2, 3].map(async () => {
		const client = new pg.Client({ connectionString: adminUrl });
		await client.connect();
		t.after(() => client.end());
		return client;
	}));
	const bindings = Array.from({ length: 30 }, () => Buffer.from(randomUUID().replaceAll('-', ''), 'hex'));
	for (let round = 0; round < 20; round += 1) {
		await Promise.all(clients.map((client) => createOn(client,
			[...bindings].sort(() => Math.random() - 0.5).map((binding) => ({ binding, exclusive: true })))));
	}
	const { rows } = await admin.query(
		"SELECT count(*)::integer FROM urlmode.elicitation WHERE binding = ANY ($1) AND status = 'pending'", [bindings]);
	assert.equal(rows[0].count, bindings.length);
});

test('where the connection breaks before the answer, nobody is told that anything was created', async (t) => {
	const proxy = await Proxy.start(t, requireUrl('URLMODE_DATABASE_URL'));
	const { urlmode, admin, applicationName } = await setUp(t, { serverUrl: proxy.url });
	const ids = each(() => randomUUID());
	const lock = new pg.Client({ connectionString: requireUrl('URLMODE_ADMIN_DATABASE_URL') });
	await lock.connect();
	t.after(() => lock.end());
	await lock.query('BEGIN; LOCK TABLE urlmode.elicitation IN SHARE MODE');
	// Each for an owner of its own: whose owner is busy would try again, and not be under way.
	const settled = Promise.allSettled(ids.map((id) => urlmode.create({ ...request, id, subject: someone() })));
	await until('batches wait for the lock', async () => (await admin.query(
		"SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", [applicationName])).rows.length >= 2);
	proxy.cut();
	await lock.query('COMMIT');
	const results = await settled;
	const failed = results.filter(({ status }) => status === 'rejected');
	assert.equal(failed.length, 64, 'the two batches under way');
	for (const { reason } of failed) assert.match(reason.message, /Connection terminated/);
	const told = ids.filter((_, n) => results[n].status === 'fulfilled');
	assert.equal((await rowsOf(admin, told)).length, told.length);
});

test('close waits for calls of create that were not sent yet', async (t) => {
	const { urlmode, admin } = await setUp(t);
	// On a busy machine the batches can take longer than `close` gives PostgreSQL.
	const { setTimeout: wait } = globalThis;
	t.mock.method(globalThis, 'setTimeout', (then, ms, ...rest) => wait(then, ms === 1_000 ? 60_000 : ms, ...rest));
	const ids = each(() => randomUUID());
	const created = ids.map((id) => urlmode.create({ ...request, id, subject: someone() }));
	await new Promise((resolve) => setImmediate(resolve));
	await urlmode.close();
	await Promise.all(created);
	assert.equal((await rowsOf(admin, ids)).length, MANY);
	await assert.rejects(urlmode.create(request), { code: 'URLMODE_CLOSED' });
});

test('a call that has no turn for 30 seconds, because other calls of its owner create, is told that it is busy', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const subject = someone();
	const lock = new pg.Client({ connectionString: requireUrl('URLMODE_ADMIN_DATABASE_URL') });
	await lock.connect();
	t.after(() => lock.end());
	await lock.query("SELECT pg_advisory_lock(hashtextextended('urlmode owner ' || encode($1::bytea, 'hex'), 0))", [bindingOf(subject, '')]);
	const now = Date.now();
	let looks = 0;
	const clock = t.mock.method(Date, 'now', () => now + 31_000 * (looks += 1));
	await assert.rejects(urlmode.create({ ...request, subject }), { name: 'UrlModeBusyError', code: 'URLMODE_BUSY' });
	clock.mock.restore();
	const { rows } = await admin.query('SELECT FROM urlmode.elicitation WHERE subject = $1', [subject]);
	assert.equal(rows.length, 0, 'nothing was changed');
});
