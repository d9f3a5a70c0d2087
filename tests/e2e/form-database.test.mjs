// Forms in the database (sql/functions/016_form.sql): who may answer them, the check of a
// value and its ends, decisions, and what is wiped when.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, beforeEach, describe, test } from 'node:test';

import pg from 'pg';

import { bindingOf } from '../../lib/node/src/token.js';
import { openFixture } from '../support/fixture.mjs';
import { waitLongerForLocks } from '../support/locks.mjs';
import { until } from '../support/wait.mjs';

const FORM = Buffer.from('sealed form');
const VALUE = Buffer.from('sealed value');
const PROBLEM = Buffer.from('sealed problem');
const TYPED = Buffer.from('sealed typed');
const BROWSER = Buffer.alloc(16, 7);

let fixture, cgi, server, announced;

before(async () => {
	fixture = await openFixture({ name: 'form-database' });
	await waitLongerForLocks(fixture.stack);
	const config = JSON.parse(await readFile(fixture.stack.env.URLMODE_CONFIG, 'utf8'));
	cgi = await connectTo(config.database_url);
	server = await connectTo(fixture.stack.env.URLMODE_DATABASE_URL);
	server.on('notification', ({ payload }) => announced.push(...[JSON.parse(payload)].flat()));
	await server.query('LISTEN urlmode');
});

beforeEach(() => {
	announced = [];
});

after(() => fixture?.close());

async function connectTo(connectionString) {
	const client = new pg.Client({ connectionString });
	await client.connect();
	return fixture.closeAtEnd({ close: () => client.end(), query: (...args) => client.query(...args), on: client.on.bind(client) });
}

async function create({
	kind = 'input', subject = `user-${randomUUID()}`, ttl = 600_000, form = FORM, target = null, approvers = null, verify = null,
	key = null, exclusive = false, id = randomUUID(),
} = {}) {
	const binding = bindingOf(subject, '');
	const { rows: [row] } = await server.query(
		`SELECT outcome FROM urlmode.create_elicitation(ARRAY[$1::uuid], ARRAY['intake'], ARRAY[$2::text], ARRAY[$3::text], ARRAY[''],
			ARRAY[$4::bytea], ARRAY['Notes'], ARRAY[$5::text], ARRAY[NULL::jsonb], ARRAY[NULL::bytea], ARRAY[$6::bigint],
			exclusive => ARRAY[$7::boolean], resume_keys => ARRAY[$8::text],
			forms => ARRAY[$9::bytea], approvers => ARRAY[$10::jsonb], verify_ms => ARRAY[$11::integer])`,
		[id, kind, subject, binding, target, ttl, exclusive, key, form, approvers && JSON.stringify(approvers), verify]);
	return { id, kind, binding, subject, outcome: row.outcome };
}

const open = async (row, { user = row.subject, browser = BROWSER, fourEyes = false, kind = row.kind } = {}) => (await cgi.query(
	`SELECT * FROM urlmode.open_form(ARRAY[$1::uuid], ARRAY['intake'], ARRAY[$5], ARRAY[$2::bytea], ARRAY[$3::text], ARRAY[$4::boolean])`,
	[row.id, browser, user, fourEyes, kind])).rows[0];

const lookUp = async (row, { user = row.subject, fourEyes = false, kind = row.kind } = {}) => (await cgi.query(
	`SELECT * FROM urlmode.look_up_form(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY['intake'], ARRAY[$5], ARRAY[$3::text], ARRAY[$4::boolean])`,
	[row.id, row.binding, user, fourEyes, kind])).rows[0];

const answer = async (row, { user = row.subject, action = 'accept', reason = '', result = VALUE, fourEyes = false, outcome = null, kind = row.kind, typed = TYPED } = {}) =>
	(await cgi.query(
		`SELECT outcome FROM urlmode.answer_form(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY['intake'], ARRAY[$10], ARRAY[$3::bytea], ARRAY[$4::text],
			ARRAY[$5::boolean], ARRAY[$6::text], ARRAY[$7::text], ARRAY[$8::bytea], ARRAY[$9::bytea], ARRAY[$11::bytea])`,
		[row.id, row.binding, BROWSER, user, fourEyes, action, reason, result, outcome, kind, typed])).rows[0].outcome;

const take = async (row) => (await server.query('SELECT * FROM urlmode.take_check($1, $2)', [row.id, row.binding])).rows[0];

const end = async (row, lease, problem = null, failed = false) => (await server.query(
	'SELECT urlmode.end_check($1, $2, $3, $4, $5) AS said', [row.id, row.binding, lease, problem, failed])).rows[0].said;

const stored = async (row) => (await fixture.stack.sql('SELECT * FROM urlmode.elicitation WHERE id = $1', [row.id]))[0];

const change = (row, set) => fixture.stack.sql(`UPDATE urlmode.elicitation SET ${set} WHERE id = $1`, [row.id]);

const statusOf = async (row) => (await server.query('SELECT status, action, reason, result, failed_attempts FROM urlmode.read(ARRAY[$1::uuid], ARRAY[$2::bytea])',
	[row.id, row.binding])).rows[0];

const tellsOf = async (row, statuses) => until(`announcements ${statuses}`, () => {
	const told = announced.filter(({ id }) => id === row.id).map(({ status }) => status);
	return JSON.stringify(told) === JSON.stringify(statuses);
});

/** With a value that has been taken to be checked. */
async function checking(options) {
	const row = await create({ verify: 30_000, ...options });
	assert.equal(await answer(row), 'processing');
	return { ...row, lease: (await take(row)).lease };
}

describe('what is created', () => {
	for (const [name, options] of Object.entries({
		'an input without a form': { form: null },
		'an input with a target URL': { target: 'https://example.com/' },
		'a check of an approval': { kind: 'approval', verify: 30_000 },
		'approvers of an input': { approvers: [] },
		'a form of an account': { kind: 'oauth', target: 'https://example.com/' },
		'an account without a target URL': { kind: 'oauth', form: null },
		'a check of less than a second': { verify: 999 },
		'a check of more than two minutes': { verify: 120_001 },
		'a form over 16 KB': { form: Buffer.alloc(16_415) },
		'approvers that are no list': { kind: 'approval', approvers: { a: 1 } },
		'an approver without a name': { kind: 'approval', approvers: [''] },
		'an approver that is a number': { kind: 'approval', approvers: [1] },
		'seventeen approvers': { kind: 'approval', approvers: Array.from({ length: 17 }, (_, n) => `user-${n}`) },
	})) {
		test(`${name} is refused`, async () => {
			await assert.rejects(create(options), { code: '23514' });
		});
	}

	test('a later call finds the open form by its key', async () => {
		const row = await create({ key: 'k' });
		assert.equal((await create({ key: 'k', subject: row.subject })).outcome, 'resumed');
	});

	test('exclusive supersedes a form that is opened, and wipes it', async () => {
		const row = await checking();
		await create({ subject: row.subject, exclusive: true });
		const { status, reason, form, result } = await stored(row);
		assert.deepEqual([status, reason, form, result], ['completed', 'superseded', null, null]);
	});
});

describe('the link', () => {
	test('of a known user opens the form, and says its binding', async () => {
		const row = await create();
		assert.deepEqual(await open(row).then(({ outcome, binding }) => [outcome, binding]), ['opened', row.binding]);
		assert.deepEqual((await stored(row)).browser, BROWSER);
		await tellsOf(row, ['opened']);
	});

	test('changes nothing while the user is not known, or a browser only looks', async () => {
		const row = await create();
		assert.equal((await open(row, { user: null })).outcome, 'pending');
		assert.equal((await open(row, { browser: null })).outcome, 'pending');
		assert.equal((await stored(row)).status, 'pending');
	});

	test('tells another user nothing', async () => {
		const row = await create();
		assert.deepEqual(await open(row, { user: 'mallory' }).then(({ outcome, binding }) => [outcome, binding]), ['wrong_user', null]);
		assert.equal((await stored(row)).status, 'pending');
	});

	test('is opened for its user, whoever else comes with it in the same batch', async () => {
		const [row, other, decision] = [await create(), await create(), await create({ kind: 'approval', approvers: ['anna', 'ben'] })];
		const [anna, last] = [Buffer.alloc(16, 8), Buffer.alloc(16, 9)];
		const batch = [
			[row, 'eve', BROWSER], [decision, 'eve', BROWSER], [row, null, BROWSER], [row, row.subject, null], [{ ...row, kind: 'approval' }, row.subject, BROWSER],
			[decision, 'anna', anna], [row, row.subject, anna], [other, 'eve', BROWSER], [row, row.subject, last], [row, 'eve', BROWSER],
		];
		const { rows } = await cgi.query(`SELECT * FROM urlmode.open_form($1::uuid[], array_fill('intake'::text, ARRAY[cardinality($1::uuid[])]), $2::text[], $3::bytea[], $4::text[],
			array_fill(false, ARRAY[cardinality($1::uuid[])]))`, [batch.map(([{ id }]) => id), batch.map(([{ kind }]) => kind), batch.map(([, , browser]) => browser), batch.map(([, user]) => user)]);
		assert.deepEqual(rows.map(({ outcome }) => outcome),
			['wrong_user', 'wrong_user', 'opened', 'opened', 'unknown', 'opened', 'opened', 'wrong_user', 'opened', 'wrong_user']);
		assert.deepEqual(await Promise.all([row, decision, other].map(stored)).then((all) => all.map(({ status, browser }) => [status, browser])),
			[['opened', last], ['opened', anna], ['pending', null]]);
		for (const one of [row, decision]) await tellsOf(one, ['opened']);
	});

	test('of an account is unknown, and so is one of another kind than its provider', async () => {
		const other = await create();
		assert.equal((await open(other, { kind: 'approval' })).outcome, 'unknown');
		assert.equal((await lookUp(other, { kind: 'approval' })).outcome, 'unknown');
		assert.equal(await answer(other, { kind: 'approval' }), 'unknown');
		assert.equal((await stored(other)).status, 'pending');
		const row = await create({ kind: 'oauth', form: null, target: 'https://example.com/' });
		assert.equal((await open(row)).outcome, 'unknown');
		assert.equal((await lookUp(row)).outcome, 'unknown');
		assert.equal(await answer(row), 'unknown');
	});

	test('has ended with its expiry, in every status', async () => {
		for (const row of [await create(), await checking()]) {
			await change(row, "expires_at = now() - interval '1 second'");
			assert.equal((await open(row)).outcome, 'expired');
			assert.equal((await lookUp(row)).form, null);
			assert.equal(await answer(row), 'expired');
			await server.query('SELECT urlmode.expire(ARRAY[$1::uuid], ARRAY[$2::bytea])', [row.id, row.binding]);
			const { status, reason, result, form } = await stored(row);
			assert.deepEqual([status, reason, result, form], ['completed', 'expired', null, null]);
		}
	});
});

describe('an answer', () => {
	test('completes an input once, and a second one changes nothing', async () => {
		const row = await create();
		await open(row);
		assert.equal(await answer(row), 'completed');
		assert.equal(await answer(row, { result: Buffer.from('other') }), 'already');
		const { action, reason, result, form } = await stored(row);
		assert.deepEqual([action, reason, result, form], ['accept', '', VALUE, null]);
		await tellsOf(row, ['opened', 'completed']);
	});

	test('of a page that nobody had to open first is taken as well', async () => {
		const row = await create();
		assert.equal(await answer(row, { user: null }), 'completed');
		const { browser, opened_at: openedAt } = await stored(row);
		assert.deepEqual([browser, openedAt !== null], [BROWSER, true]);
	});

	test('may be a refusal, which is not checked', async () => {
		const row = await create({ verify: 30_000 });
		assert.equal(await answer(row, { action: 'decline', reason: 'access_denied', result: null }), 'completed');
		assert.deepEqual(await statusOf(row).then(({ action, reason }) => [action, reason]), ['decline', 'access_denied']);
	});

	test('of another user, provider or owner is none', async () => {
		const row = await create();
		assert.equal(await answer(row, { user: 'mallory' }), 'wrong_user');
		assert.equal(await answer({ ...row, binding: Buffer.alloc(16) }), 'unknown');
		assert.equal((await stored(row)).status, 'pending');
	});
});

describe('the check of a value', () => {
	test('is for one instance, and completes the input', async () => {
		const row = await create({ verify: 30_000 });
		assert.equal(await answer(row), 'processing');
		assert.equal((await statusOf(row)).result, null);
		const taken = [await take(row), await take(row), await take(row)].filter(Boolean);
		assert.equal(taken.length, 1);
		assert.deepEqual(taken[0].result, VALUE);
		assert.ok(taken[0].left_ms > 0 && taken[0].left_ms <= 30_000);
		assert.equal(await end(row, taken[0].lease), 'completed');
		assert.equal(await end(row, taken[0].lease), 'late');
		assert.deepEqual(await statusOf(row).then(({ status, action, result }) => [status, action, result]), ['completed', 'accept', VALUE]);
		await tellsOf(row, ['processing', 'completed']);
	});

	test('takes no second value meanwhile', async () => {
		const row = await create({ verify: 30_000 });
		await answer(row);
		assert.equal(await answer(row, { result: Buffer.from('other') }), 'processing');
		assert.deepEqual((await take(row)).result, VALUE);
	});

	test('with a problem opens the form again, without the value', async () => {
		const row = await checking();
		assert.equal(await end(row, row.lease, PROBLEM), 'opened');
		const { status, result, failed_attempts: tries } = await stored(row);
		assert.deepEqual([status, result, tries], ['opened', null, 1]);
		assert.deepEqual(await lookUp(row).then(({ outcome, form, problem, unchecked }) => [outcome, form, problem, unchecked]),
			['opened', FORM, PROBLEM, false]);
		await tellsOf(row, ['processing', 'opened']);
		assert.equal(await answer(row), 'processing');
		assert.equal((await stored(row)).problem, null);
		assert.equal(await end(row, row.lease), 'late', 'the lease is of the first value');
		assert.equal(await end(row, (await take(row)).lease), 'completed');
	});

	test('five problems end it', async () => {
		const row = await create({ verify: 30_000 });
		for (let n = 1; n <= 5; n += 1) {
			await answer(row);
			assert.equal(await end(row, (await take(row)).lease, PROBLEM), n < 5 ? 'opened' : 'refused');
		}
		const { status, action, reason, result, form, problem } = await stored(row);
		assert.deepEqual([status, action, reason, result, form, problem], ['completed', 'cancel', 'refused_input', null, null, null]);
		assert.equal(await answer(row), 'already');
	});

	test('keeps what may be shown again until the end, whatever that is', async () => {
		const again = await checking();
		assert.equal((await lookUp(again)).typed, null, 'not while it is checked');
		await end(again, again.lease, PROBLEM);
		assert.deepEqual(await lookUp(again).then(({ typed, browser }) => [typed, browser]), [TYPED, BROWSER]);
		await answer(again, { typed: Buffer.from('other') });
		await end(again, (await take(again)).lease, null, true);
		assert.deepEqual((await lookUp(again)).typed, Buffer.from('other'));
		for (const ends of [
			(row) => answer(row, { action: 'decline', reason: 'access_denied', result: null }),
			async (row) => { await answer(row); await end(row, (await take(row)).lease); },
			async (row) => { await change(row, "failed_attempts = 4, checks = 4"); await answer(row); await end(row, (await take(row)).lease, PROBLEM); },
			(row) => server.query("SELECT urlmode.settle($1, $2, 'cancel', 'not_needed', NULL)", [row.id, row.binding]),
			async (row) => { await change(row, 'expires_at = now()'); await server.query('SELECT urlmode.expire(ARRAY[$1::uuid], ARRAY[$2::bytea])', [row.id, row.binding]); },
			(row) => create({ subject: row.subject, exclusive: true }),
		]) {
			const row = await create({ verify: 30_000 });
			await answer(row);
			await end(row, (await take(row)).lease, PROBLEM);
			assert.deepEqual((await stored(row)).typed, TYPED);
			await ends(row);
			assert.deepEqual(await stored(row).then(({ status, form, problem, typed }) => [status, form, problem, typed]), ['completed', null, null, null]);
		}
		const unchecked = await create();
		await answer(unchecked);
		assert.equal((await stored(unchecked)).typed, null, 'nothing comes back');
	});

	test('that cannot be made ten times ends it, whether it fails or takes too long', async () => {
		for (const fails of [
			(row, { lease }) => end(row, lease, null, true),
			(row) => change(row, "check_until = now() - interval '1 second'"),
		]) {
			const row = await create({ verify: 30_000 });
			await answer(row);
			await end(row, (await take(row)).lease, PROBLEM);
			for (let n = 1; n <= 10; n += 1) {
				assert.equal(await answer(row), 'processing');
				await fails(row, await take(row));
			}
			assert.equal(await answer(row), 'already');
			assert.deepEqual(await stored(row).then((now) => [now.status, now.action, now.reason, now.result, now.form, now.typed]),
				['completed', 'cancel', 'not_checked', null, null, null]);
		}
	});

	test('that failed counts no try, and the page says so', async () => {
		const row = await checking();
		assert.equal(await end(row, row.lease, null, true), 'opened');
		const { unchecked, result, failed_attempts: tries } = await stored(row);
		assert.deepEqual([unchecked, result, tries], [true, null, 0]);
		assert.equal((await lookUp(row)).unchecked, true);
	});

	test('that nobody ends in time leaves the form open, and the value is wiped by whoever looks', async () => {
		for (const looks of [
			(row) => lookUp(row),
			(row) => open(row),
			() => fixture.purgeResults(),
		]) {
			const row = await checking();
			await change(row, "check_until = now() - interval '1 second'");
			assert.deepEqual(await statusOf(row).then(({ status, result }) => [status, result]), ['opened', null]);
			assert.equal(await take(row), undefined);
			assert.equal(await end(row, row.lease), 'late');
			await looks(row);
			const { status, result, unchecked } = await stored(row);
			assert.deepEqual([status, result, unchecked], ['opened', null, true]);
			await tellsOf(row, ['processing', 'opened']);
		}
	});

	test('after its time a new value is taken at once', async () => {
		const row = await checking();
		await change(row, "check_until = now() - interval '1 second'");
		assert.equal(await answer(row, { result: Buffer.from('new') }), 'processing');
		assert.deepEqual((await take(row)).result, Buffer.from('new'));
	});
});

describe('an approval', () => {
	const approval = (options) => create({ kind: 'approval', ...options });

	test('of the starter is decided by the starter, and is an event', async () => {
		const row = await approval();
		assert.equal((await open(row)).outcome, 'opened');
		assert.equal(await answer(row, { user: null }), 'completed');
		assert.equal((await lookUp(row)).decided_by, row.subject);
		const [event] = await fixture.stack.sql('SELECT type, action, reference FROM urlmode.show_events($1)', [row.id]);
		assert.deepEqual(event, { type: 'decision', action: 'accept', reference: row.subject });
	});

	test('of named users is decided by one of them', async () => {
		const row = await approval({ approvers: ['anna', 'ben'] });
		for (const [user, said] of [[null, 'user_unknown'], [row.subject, 'wrong_user'], ['Anna', 'wrong_user'], ['mallory', 'wrong_user']]) {
			assert.equal((await open(row, { user })).outcome, said);
			assert.equal((await lookUp(row, { user })).outcome, said);
			assert.equal(await answer(row, { user }), said);
		}
		assert.equal((await open(row, { user: 'ben' })).outcome, 'opened');
		assert.equal(await answer(row, { user: 'ben', action: 'decline', reason: 'declined' }), 'completed');
		assert.equal(await answer(row, { user: 'anna' }), 'already');
		assert.equal((await lookUp(row, { user: 'anna' })).decided_by, 'ben');
		assert.deepEqual(await statusOf(row).then(({ action, reason, result }) => [action, reason, result]), ['decline', 'declined', VALUE]);
	});

	test('with four eyes is decided by anybody but the starter, where names are the same', async () => {
		const row = await approval({ approvers: [] });
		assert.equal((await open(row, { user: 'anna' })).outcome, 'four_eyes_not_set_up');
		assert.equal(await answer(row, { user: 'anna' }), 'four_eyes_not_set_up');
		assert.equal(await answer(row, { fourEyes: true }), 'own_request');
		assert.equal(await answer(row, { user: null, fourEyes: true }), 'user_unknown');
		assert.equal(await answer(row, { user: 'anna', fourEyes: true }), 'completed');
	});

	test('with four eyes is not decided by the starter in another spelling', async () => {
		const name = `zoë-straße-${randomUUID()}`;
		const row = await approval({ approvers: [], subject: name });
		const unseen = ['\u00AD', '\u034F', '\u200B', '\u200D', '\u2060', '\u3164', '\uFE0F', '\uFEFF', '\uFFA0', '\u{E0101}'];
		const spellings = [name.toUpperCase(), name.normalize('NFD'), name.replace('z', 'ｚ'), name.replace('ß', 'ẞ'), name.replace('ß', 'ſS'),
			name.replace('ë', 'e\u200B\u0308'), name.replace('ë', 'E\u2060\u00AD\u0308'), ...unseen.map((one) => name.replace('-', `${one}-${one}`))];
		for (const user of spellings) {
			assert.equal((await open(row, { user, fourEyes: true })).outcome, 'own_request', JSON.stringify(user));
			assert.equal(await answer(row, { user, fourEyes: true }), 'own_request', JSON.stringify(user));
		}
		assert.equal(await answer(row, { user: name.replace('ë', 'e'), fourEyes: true }), 'completed', 'an e without a diaeresis is another name');
	});

	test('of named users is decided in no other spelling of their names', async () => {
		const row = await approval({ approvers: ['zoë', 'ben'] });
		for (const user of ['ZOË', 'zoë'.normalize('NFD'), 'zoë\u200B', 'Ben', 'b\u2060en'])
			assert.equal(await answer(row, { user, fourEyes: true }), 'wrong_user', JSON.stringify(user));
		assert.equal(await answer(row, { user: 'zoë' }), 'completed');
	});

	test('folding is the same for all spellings of a character, and folding again changes nothing', async () => {
		// Latin, Greek, Cyrillic, Armenian, symbols and forms for compatibility, in which no version of Unicode adds a case any more
		// (Glagolitic got one with Unicode 14).
		const BLOCKS = [[0x21, 0x58F], [0x1E00, 0x2BFF], [0x2C60, 0x33FF], [0xF900, 0xFFEF], [0x1D400, 0x1D7FF]];
		const isKnown = (text) => [...text].every((one) => BLOCKS.some(([from, to]) => from <= one.codePointAt(0) && one.codePointAt(0) <= to));
		const pairs = [];
		for (const code of BLOCKS.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => from + n))) {
			const one = String.fromCodePoint(code);
			const others = [one.toUpperCase(), one.toLowerCase(), ...['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => one.normalize(form))];
			for (const other of new Set(others)) if (other !== one && isKnown(other)) pairs.push([`a${one}b`, `a${other}b`]);
		}
		assert.ok(pairs.length > 4_000);
		const rows = await fixture.stack.sql(`SELECT one, other FROM unnest($1::text[], $2::text[]) AS pair (one, other)
			WHERE urlmode.fold(one) <> urlmode.fold(other) OR urlmode.fold(urlmode.fold(one)) <> urlmode.fold(one)`,
		[pairs.map(([one]) => one), pairs.map(([, other]) => other)]);
		assert.deepEqual(rows, []);
	});

	test('is accepted by nobody else: neither a webhook, nor a return, nor the MCP server', async () => {
		const row = await approval({ approvers: ['anna'] });
		assert.deepEqual((await cgi.query(`SELECT * FROM urlmode.record_events(ARRAY[$1::uuid], ARRAY['intake'], ARRAY['evt'], ARRAY['t'], ARRAY['paid'],
			ARRAY[1050::bigint], ARRAY['EUR'], ARRAY[$2], ARRAY[$3::bytea])`, [row.id, randomUUID(), VALUE])).rows[0].outcome, 'ignored');
		await cgi.query(`SELECT * FROM urlmode.complete(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY['intake'], ARRAY['decline'], ARRAY['cancelled'],
			ARRAY[$3::bytea])`, [row.id, row.binding, VALUE]);
		assert.equal((await server.query("SELECT urlmode.settle($1, $2, 'accept', '', $3) AS said", [row.id, row.binding, VALUE])).rows[0].said, 'undecided');
		assert.equal((await stored(row)).status, 'pending');
		assert.equal((await server.query("SELECT urlmode.settle($1, $2, 'cancel', 'not_needed', NULL) AS said", [row.id, row.binding])).rows[0].said, 'completed');
	});

	test('that was declined is told to the next call, also after its expiry', async () => {
		const row = await approval({ approvers: ['anna'], key: 'late' });
		await answer(row, { user: 'anna', action: 'decline', reason: 'declined' });
		await change(row, "expires_at = now() - interval '1 day', completed_at = now() - interval '1 day'");
		assert.equal((await create({ kind: 'approval', approvers: ['anna'], key: 'late', subject: row.subject })).outcome, 'resumed');
	});

	test('is decided once, whoever comes at the same time', async () => {
		const row = await approval({ approvers: ['anna', 'ben'] });
		const said = await Promise.all([answer(row, { user: 'anna' }), answer(row, { user: 'ben', action: 'decline', reason: 'declined' })]);
		assert.deepEqual(said.sort(), ['already', 'completed']);
	});

	test('is found by the next call until it is claimed, however it was decided', async () => {
		const row = await approval({ approvers: ['anna'], key: 'expense' });
		await answer(row, { user: 'anna' });
		assert.equal((await create({ kind: 'approval', approvers: ['anna'], key: 'expense', subject: row.subject })).outcome, 'resumed');
		await server.query('SELECT urlmode.claim($1, $2)', [row.id, row.binding]);
		assert.equal((await create({ kind: 'approval', approvers: ['anna'], key: 'expense', subject: row.subject })).outcome, 'created');
	});
});

describe('a form that has expired', () => {
	test('keeps no word where nobody waits: the purge of results ends it', async () => {
		const rows = [await create(), await create({ kind: 'approval', approvers: ['anna'] }), await checking()];
		const [opened, open] = [await checking(), await create()];
		await end(opened, opened.lease, PROBLEM);
		for (const row of [...rows, opened]) await change(row, "expires_at = now() - interval '1 second'");
		await fixture.purgeResults();
		for (const row of [...rows, opened]) {
			assert.deepEqual(await stored(row).then((now) => [now.status, now.action, now.reason, now.form, now.problem, now.typed, now.result, now.check_until]),
				['completed', 'cancel', 'expired', null, null, null, null, null]);
		}
		assert.deepEqual((await stored(open)).form, FORM);
	});
});

describe('what was typed', () => {
	test('is kept until the claim is final, and then is gone at once', async () => {
		const row = await create();
		await answer(row);
		await server.query('SELECT urlmode.mark_read(ARRAY[$1::uuid], ARRAY[$2::bytea], 0)', [row.id, row.binding]);
		await fixture.purgeResults();
		assert.deepEqual((await stored(row)).result, VALUE);
		const { rows: [begun] } = await server.query('SELECT * FROM urlmode.begin_claim($1, $2, NULL, 60000)', [row.id, row.binding]);
		assert.equal(begun.outcome, 'begun');
		assert.deepEqual((await stored(row)).result, VALUE);
		await server.query('SELECT urlmode.confirm_claim($1, $2, $3)', [row.id, row.binding, begun.fence]);
		assert.equal((await stored(row)).result, null);
	});

	test('is purged after a day without a claim, and no call finds it then', async () => {
		const row = await create({ key: 'k' });
		await answer(row);
		await change(row, "completed_at = now() - interval '25 hours'");
		await fixture.stack.sql("UPDATE urlmode.purge_queue SET due_at = now() - interval '1 hour' WHERE ids = ARRAY[$1::uuid]", [row.id]);
		await fixture.purgeResults();
		assert.equal((await stored(row)).result, null);
		assert.equal((await create({ key: 'k', subject: row.subject })).outcome, 'created');
	});

	test('no role can read it but through these functions', async () => {
		for (const client of [cgi, server]) await assert.rejects(client.query('SELECT result FROM urlmode.elicitation'), { code: '42501' });
		await assert.rejects(cgi.query('SELECT urlmode.take_check($1, $2)', [randomUUID(), BROWSER]), { code: '42501' });
		await assert.rejects(server.query('SELECT urlmode.end_due_checks()'), { code: '42501' });
	});
});
