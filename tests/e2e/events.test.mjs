// What an event does to its elicitation is decided in PostgreSQL: several
// callers at once, odd values, and a row that somebody else holds. Here the
// function is called as the programs call it, so that a transaction can be
// held open.

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import pg from 'pg';

import { sender } from '../support/deliveries.mjs';
import { create } from '../support/flow.mjs';
import { holdRow, waitLongerForLocks } from '../support/locks.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };
const RECORD = 'SELECT outcome FROM urlmode.record_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)';

let fixture;
let one;
let other;
/** It has planned its statements when the tables were empty. */
let early;

before(async () => {
	fixture = await openFixture({ name: 'events', own: true });
	await waitLongerForLocks(fixture.stack);
	[one, other, early] = await Promise.all([connect(), connect(), connect()]);
	await fixture.stack.sql('VACUUM');
	await record(early, [event(randomUUID(), 'paid')]);
});

after(async () => {
	await Promise.all([one?.end(), other?.end(), early?.end()]);
	await fixture?.close();
});

/** A connection, by default as the callback programs have it. */
async function connect(url = fixture.stack.env.URLMODE_PROGRAMS_DATABASE_URL) {
	const client = new pg.Client(url);
	await client.connect();
	return client;
}

async function start(options) {
	const { id } = await create(fixture.urlmode, {
		provider: 'stripe', kind: 'payment', targetUrl: 'https://checkout.example/pay', ...options,
	});
	return id;
}

const NO_PRICE = { amount: null, currency: null };

/** Of a provider that sends no reference of its own, and the amount of what was paid. */
const event = (id, effect, more) => ({
	id, effect, identity: `evt_${randomUUID()}`, ...effect === 'paid' && PRICE, ...more,
});

/** One batch; its outcomes. */
async function record(client, events) {
	const column = (name, byDefault) => events.map((each) => each[name] ?? byDefault);
	const { rows } = await client.query(RECORD, [
		column('id'), column('provider', 'stripe'), column('identity'), column('type', 'a.type'), column('effect'),
		column('amount', null), column('currency', null), column('reference', null), column('result', Buffer.from('sealed')),
		column('outcome', null),
	]);
	return rows.map(({ outcome }) => outcome);
}

async function stateOf(id) {
	const [{ status, action, reason, rechecks }] = await fixture.stack.sql(
		`SELECT status, action, reason, coalesce(rechecks, 0) AS rechecks
		FROM urlmode.elicitation LEFT JOIN urlmode.recheck ON elicitation = id WHERE id = $1`, [id]);
	return { status, action, reason, rechecks };
}

const kept = (id) => fixture.stack.sql('SELECT identity, action FROM urlmode.event WHERE elicitation = $1 ORDER BY action', [id]);

const waiting = (client) => until('it waits for a lock', async () => {
	const [row] = await fixture.stack.sql(
		"SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'", [client.processID]);
	return row !== undefined;
});

/** `first` in a transaction that stays open until `then` waits for it. */
async function atOnce(first, then, end = 'COMMIT') {
	await one.query('BEGIN');
	const outcomes = [await record(one, first)];
	const second = record(other, then);
	const [seconds] = await Promise.all([second, waiting(other).then(() => one.query(end))]);
	return [...outcomes, seconds].flat();
}

describe('two processes at once', () => {
	test('the same event: it counts once', async () => {
		const id = await start();
		const paid = event(id, 'paid');
		assert.deepEqual(await atOnce([paid], [paid]), ['accept', 'seen']);
		assert.equal((await kept(id)).length, 1);
	});

	test('two final events: the first completes the row, the second is kept as late', async () => {
		const id = await start();
		assert.deepEqual(await atOnce([event(id, 'failed')], [event(id, 'paid')]), ['cancel', 'late']);
		assert.deepEqual(await stateOf(id), { status: 'completed', action: 'cancel', reason: 'payment_failed', rechecks: 0 });
		assert.deepEqual((await kept(id)).map(({ action }) => action), ['cancel', 'late']);
	});

	test('a completion that is rolled back leaves the row open', async () => {
		const id = await start();
		const failed = event(id, 'failed');
		assert.deepEqual(await atOnce([failed], [event(id, 'paid')], 'ROLLBACK'), ['cancel', 'accept']);
		assert.equal((await stateOf(id)).action, 'accept');
		assert.deepEqual(await record(one, [failed]), ['late']);
	});

	test('what moves it on, and what ends it', async () => {
		const id = await start();
		assert.deepEqual(await atOnce([event(id, 'processing')], [event(id, 'paid')]), ['processing', 'accept']);
		assert.equal((await stateOf(id)).status, 'completed');
	});

	test('two events that ask for a recheck both count', async () => {
		const id = await start();
		assert.deepEqual(await atOnce([event(id, 'recheck')], [event(id, 'recheck')]), ['recheck', 'recheck']);
		assert.deepEqual(await stateOf(id), { status: 'pending', action: null, reason: '', rechecks: 2 });
	});

	test('one identity for two elicitations: the second transaction fails, and proves nothing when it is repeated', async () => {
		const ids = [await start(), await start()];
		const identity = `evt_${randomUUID()}`;
		const [first, second] = ids.map((id) => [event(id, 'paid', { identity })]);
		await assert.rejects(atOnce(first, second), { code: '40001' });
		assert.deepEqual(await record(other, second), ['seen']);
		const proved = await fixture.stack.sql('SELECT elicitation FROM urlmode.payment WHERE elicitation = ANY ($1)', [ids]);
		assert.deepEqual(proved, [{ elicitation: ids[0] }]);
	});

	test('two batches with the same rows in opposite order do not deadlock', async () => {
		const ids = [await start(), await start()];
		const forth = ids.map((id) => event(id, 'paid'));
		const back = ids.map((id) => event(id, 'failed')).reverse();
		const outcomes = await atOnce(forth, back);
		assert.deepEqual(outcomes, ['accept', 'accept', 'late', 'late']);
	});
});

test('many processes, every event in each of them in another order: one end each, every event once', async () => {
	const clients = await Promise.all(Array.from({ length: 4 }, connect));
	const ids = await Promise.all(Array.from({ length: 40 }, () => start({ expected: PRICE })));
	const events = ids.flatMap((id) => [
		event(id, 'processing'), event(id, 'paid', PRICE), event(id, 'failed'), event(id, 'recheck'), event(id, 'ignore'),
	]);
	try {
		await Promise.all(clients.map(async (client, n) => {
			const mine = shuffled(events, n);
			while (mine.length > 0) await record(client, mine.splice(0, 32));
		}));
	} finally {
		await Promise.all(clients.map((client) => client.end()));
	}

	for (const id of ids) {
		const rows = await kept(id);
		const ends = rows.filter(({ action }) => ['accept', 'cancel'].includes(action));
		const state = await stateOf(id);
		assert.equal(rows.length, 5);
		assert.equal(new Set(rows.map(({ identity }) => identity)).size, 5);
		assert.equal(ends.length, 1);
		assert.deepEqual({ status: 'completed', action: ends[0].action }, { status: state.status, action: state.action });
	}
});

/** The same order for the same seed. */
function shuffled(events, seed) {
	return events
		.map((each, n) => ({ each, key: Math.imul(n + 1, 2_654_435_761 + seed * 40_503) >>> 0 }))
		.sort((a, b) => a.key - b.key)
		.map(({ each }) => each);
}

describe('in one batch', () => {
	test('an elicitation\'s events count in their order', async () => {
		const id = await start();
		const recheck = event(id, 'recheck');
		const batch = [
			event(id, 'ignore'), event(id, 'processing'), recheck, recheck, event(id, 'paid'), event(id, 'failed'), recheck,
			event(id, 'recheck'),
		];
		assert.deepEqual(await record(one, batch),
			['ignored', 'processing', 'recheck', 'recheck', 'accept', 'late', 'recheck', 'recheck']);
		assert.deepEqual(await stateOf(id), { status: 'completed', action: 'accept', reason: '', rechecks: 4 });
	});

	test('an event identity counts once, whichever elicitation it names', async () => {
		const ids = [await start(), await start()].sort();
		for (const [first, second] of [ids, ids.toReversed()]) {
			const identity = `evt_${randomUUID()}`;
			const batch = [randomUUID(), first, second].map((id) => event(id, 'attempt_failed', { identity }));
			assert.deepEqual(await record(one, batch), ['unknown', 'attempt_failed', 'seen']);
		}
		const identity = `evt_${randomUUID()}`;
		assert.deepEqual(await record(one, ids.map((id) => event(id, 'paid', { identity }))), ['accept', 'seen']);
		assert.equal((await stateOf(ids[1])).status, 'pending');
		const proved = await fixture.stack.sql('SELECT elicitation FROM urlmode.payment WHERE elicitation = ANY ($1)', [ids]);
		assert.deepEqual(proved, [{ elicitation: ids[0] }], 'the second elicitation was not paid');
	});

	test('an event that names its attempt or payment alone sees those before it', async () => {
		const [id, other] = [await start(), await start()];
		const alone = (effect, more) => ({ ...event(id, effect, more), id: null });
		assert.deepEqual(await record(one, [
			event(id, 'processing', { reference: `attempt-${id}` }), alone('attempt_failed', { reference: `attempt-${id}` }),
		]), ['processing', 'attempt_failed']);
		const reference = `pay-${id}`;
		assert.deepEqual(await record(one, [event(id, 'paid', { reference }), event(other, 'refunded', { reference, amount: 1 })]), ['accept', 'refunded']);
		const [paid] = await fixture.stack.sql('SELECT refunded::int, held FROM urlmode.payment WHERE elicitation = $1', [id]);
		assert.deepEqual(paid, { refunded: 1, held: true });
	});

	test('an event of no elicitation, or of another provider\'s, is not kept', async () => {
		const id = await start();
		const batch = [event(randomUUID(), 'paid'), event(id, 'paid', { provider: 'svix' }), event(id, 'paid')];
		assert.deepEqual(await record(one, batch), ['unknown', 'unknown', 'accept']);
		assert.equal((await kept(id)).length, 1);
	});

	test('every move is announced once, and nothing else is', async () => {
		const listener = await connect();
		const heard = [];
		const id = await start();
		listener.on('notification', ({ payload }) => heard.push(payload));
		await listener.query('LISTEN urlmode');
		const paid = event(id, 'paid');
		await record(listener, [event(id, 'ignore'), event(id, 'processing'), paid, paid, event(id, 'failed')]);
		await record(listener, [paid]);
		await listener.end();
		assert.deepEqual(heard, ['processing', 'completed'].map((status) => `{"id":"${id}","status":"${status}"}`));
	});

	test('only its own rows are read, also by a connection whose plans are from when the tables were empty', async () => {
		await fixture.stack.sql(`
			INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expires_at)
			SELECT gen_random_uuid(), 'demo', 'oauth', 's', decode(md5(n::text), 'hex'), 'r', 'https://x.example/', now()
			FROM generate_series(1, 3000) n`);
		await fixture.stack.sql(`
			INSERT INTO urlmode.event (provider, identity, type, elicitation, action)
			SELECT 'stripe', 'evt_' || n, 't', gen_random_uuid(), 'accept' FROM generate_series(1, 3000) n`);
		await fixture.stack.sql(`
			INSERT INTO urlmode.payment (provider, reference, elicitation, amount, currency, matches, late, claimed_at)
			SELECT 'stripe', 'pi_' || n, gen_random_uuid(), 1, 'EUR', true, false, now() FROM generate_series(1, 3000) n`);
		const ids = [await start(), await start()];
		await early.query('BEGIN');
		await record(early, ids.map((id) => event(id, 'paid')));
		const { rows: [{ read }] } = await early.query(`SELECT sum(seq_tup_read + idx_tup_fetch)::integer AS read
			FROM pg_stat_xact_user_tables WHERE schemaname = 'urlmode'`);
		await early.query('COMMIT');
		assert.ok(read > 0 && read < 30, `${read} rows are read`);
	});

	test('the rest of a payment counts, also behind another elicitation with its reference', async () => {
		const [id, intruder] = [await start({ expected: PRICE }), await start({ expected: PRICE })];
		const reference = `pi_${randomUUID()}`;
		assert.deepEqual(await record(one, [event(id, 'paid', { reference, amount: 500 })]), ['cancel']);
		assert.deepEqual(await record(one, [event(intruder, 'paid', { reference }), event(id, 'paid', { reference })]),
			['reference_taken', 'late']);
		assert.deepEqual(await fixture.stack.sql(
			'SELECT elicitation, amount::integer, matches FROM urlmode.payment WHERE reference = $1', [reference]),
		[{ elicitation: id, amount: PRICE.amount, matches: true }]);
	});

	test('an empty batch of events does nothing', async () => {
		assert.deepEqual(await record(one, []), []);
	});
});

describe('attempts', () => {
	const BANK = { reference: 'bank' };
	const CARD = { reference: 'card' };
	for (const [what, steps, status] of [
		['one is under way', [['processing', BANK]], 'processing'],
		['it has failed', [['processing', BANK], ['attempt_failed', BANK]], 'opened'],
		['the same, in the other order', [['attempt_failed', BANK], ['processing', BANK]], 'opened'],
		['one has failed, and the next is under way', [['attempt_failed', CARD], ['processing', BANK]], 'processing'],
		['the same, in the other order', [['processing', BANK], ['attempt_failed', CARD]], 'processing'],
		['both have failed', [['processing', BANK], ['attempt_failed', CARD], ['attempt_failed', BANK]], 'opened'],
		['without names: it has failed', [['processing'], ['attempt_failed']], 'opened'],
		['without names: the next is under way', [['processing'], ['attempt_failed'], ['processing']], 'processing'],
	]) {
		for (const together of [true, false]) {
			test(`${what}: ${status}${together ? ', in one batch' : ''}`, async () => {
				const id = await start();
				await fixture.stack.sql("UPDATE urlmode.elicitation SET status = 'opened', opened_at = now() WHERE id = $1", [id]);
				const events = steps.map(([effect, more]) => event(id, effect, more));
				for (const batch of together ? [events] : events.map((each) => [each])) await record(one, batch);
				assert.equal((await stateOf(id)).status, status);
			});
		}
	}
});

describe('money that goes back, or comes in parts', () => {
	const paymentsOf = async (id) => (await fixture.stack.sql(
		'SELECT amount, claimed_at, refunded_at FROM urlmode.payment WHERE elicitation = $1 ORDER BY reference', [id]))
		.map(({ amount, claimed_at: claimed, refunded_at: refunded }) => (
			{ amount: Number(amount), claimed: claimed !== null, refunded: refunded !== null }));

	for (const [what, refund, refunded] of [
		['all of it', { amount: PRICE.amount }, true],
		['without an amount', {}, true],
		['a part of it', { amount: 1 }, false],
	]) {
		test(`the refund comes before the payment: ${what}`, async () => {
			const id = await start();
			assert.deepEqual(await record(one, [event(id, 'refunded', { reference: id, ...refund })]), ['refunded']);
			assert.deepEqual(await record(one, [event(id, 'paid')]), ['accept']);
			assert.deepEqual(await paymentsOf(id), [{ amount: PRICE.amount, claimed: false, refunded }]);
		});
	}

	test('a first part is claimed, and then the rest comes: it is to be claimed again', async () => {
		const id = await start({ expected: PRICE });
		const reference = `pay_${id}`;
		await record(one, [event(id, 'paid', { reference, amount: 400 })]);
		await fixture.stack.sql('SELECT urlmode.claim(id, binding::bytea, $2) FROM urlmode.elicitation WHERE id = $1', [id, reference]);
		assert.deepEqual(await paymentsOf(id), [{ amount: 400, claimed: true, refunded: false }]);
		assert.deepEqual(await record(one, [event(id, 'paid', { reference })]), ['late']);
		assert.deepEqual(await paymentsOf(id), [{ amount: PRICE.amount, claimed: false, refunded: false }]);
	});
});

test('what an event does to a row', async (t) => {
	for (const [kind, status, effect, proof, action, reason] of [
		['payment', 'pending', 'paid', 'matches', 'accept', ''],
		['payment', 'processing', 'paid', 'matches', 'accept', ''],
		['payment', 'opened', 'paid', 'mismatch', 'cancel', 'amount_mismatch'],
		['payment', 'opened', 'paid', null, 'recheck', null],
		['payment', 'opened', 'paid', 'taken', 'reference_taken', null],
		['payment', 'completed', 'paid', 'repeated', 'repeated', null],
		['payment', 'completed', 'paid', 'matches', 'late', null],
		['payment', 'completed', 'paid', 'mismatch', 'late', null],
		['signature', 'opened', 'accepted', null, 'accept', ''],
		['signature', 'completed', 'accepted', null, 'late', null],
		['signature', 'opened', 'paid', null, 'ignored', null],
		['payment', 'opened', 'accepted', null, 'ignored', null],
		['oauth', 'opened', 'paid', null, 'ignored', null],
		['oauth', 'opened', 'accepted', null, 'ignored', null],
		['payment', 'opened', 'failed', null, 'cancel', 'payment_failed'],
		['payment', 'opened', 'expired', null, 'cancel', 'expired'],
		['payment', 'opened', 'cancelled', null, 'decline', 'cancelled'],
		['payment', 'opened', 'attempt_failed', null, 'attempt_failed', null],
		['payment', 'pending', 'processing', null, 'processing', null],
		['payment', 'processing', 'recheck', null, 'recheck', null],
		['payment', 'opened', 'ignore', null, 'ignored', null],
		['payment', 'opened', 'other_mode', null, 'other_mode', null],
		['payment', 'opened', 'other_account', null, 'other_account', null],
		['payment', 'completed', 'refunded', null, 'refunded', null],
		['payment', 'completed', 'refund_reversed', null, 'refund_reversed', null],
		['payment', 'completed', 'failed', null, 'late', null],
		['payment', 'completed', 'attempt_failed', null, 'attempt_failed', null],
		['payment', 'completed', 'processing', null, 'processing', null],
		['signature', 'completed', 'processing', null, 'late', null],
		['payment', 'completed', 'recheck', null, 'recheck', null],
		['payment', 'completed', 'ignore', null, 'ignored', null],
		['payment', 'opened', 'PAID', null, null, null],
		['payment', 'opened', null, null, null, null],
	]) {
		await t.test(`${kind}, ${status}: ${effect} ${proof ?? ''} is ${action} (${reason})`, async () => {
			assert.deepEqual(await fixture.stack.sql(
				"SELECT action, move ->> 'reason' AS reason FROM urlmode.decide_event($1, $2, $3, $4)", [kind, status, effect, proof]),
			[{ action, reason }]);
		});
	}
});

describe('what cannot be', () => {
	for (const effect of ['PAID', 'accept', null]) {
		test(`an effect that is none (${effect}) fails, and completes nothing`, async () => {
			const id = await start();
			await assert.rejects(record(one, [event(id, effect)]), { code: '23502' });
			assert.equal((await stateOf(id)).status, 'pending');
			assert.deepEqual(await kept(id), []);
		});
	}

	for (const expected of [
		null, 'null', '[]', '{}', '"EUR"', '"ANY"', '{"amount": 10}', '{"currency": "EUR"}', '{"amount": "10", "currency": "EUR"}',
		'{"amount": 10.5, "currency": "EUR"}', '{"amount": -1, "currency": "EUR"}', '{"amount": null, "currency": "EUR"}',
		'{"amount": 99999999999999999999, "currency": "EUR"}', '{"amount": 10, "currency": "eur"}',
		'{"amount": 10, "currency": "EURO"}', '{"amount": 10, "currency": null}',
	]) {
		test(`${expected} is nothing that could be expected`, async () => {
			await assert.rejects(fixture.stack.sql(
				`SELECT urlmode.create_elicitation(ARRAY[$1::uuid], ARRAY['stripe'], ARRAY['payment'], ARRAY['u'], ARRAY[''], ARRAY[$2::bytea],
					ARRAY['T'], ARRAY['https://t.example/'], ARRAY[$3::jsonb], NULL, ARRAY[60000])`,
				[randomUUID(), randomBytes(16), expected]), { code: '23514' });
		});
	}
});

describe('what was expected', () => {
	for (const [paid, outcome] of [
		[PRICE, 'accept'],
		[NO_PRICE, 'recheck'],
		[{ ...PRICE, currency: null }, 'recheck'],
		[{ ...PRICE, amount: 1049 }, 'cancel'],
		[{ ...PRICE, amount: 0 }, 'cancel'],
		[{ ...PRICE, currency: 'USD' }, 'cancel'],
		[{ ...PRICE, amount: '9223372036854775807' }, 'cancel'],
	]) {
		test(`${JSON.stringify(paid)} is ${outcome}`, async () => {
			const id = await start({ expected: { ...PRICE, currency: 'eur' } });
			assert.deepEqual(await record(one, [event(id, 'paid', paid)]), [outcome]);
			const reason = { accept: '', recheck: '', cancel: 'amount_mismatch' }[outcome];
			assert.equal((await stateOf(id)).reason, reason);
		});
	}

	test('any: an amount must be told, and must not be zero', async () => {
		const ids = await Promise.all(Array.from({ length: 3 }, () => start()));
		const paid = [PRICE, NO_PRICE, { amount: 0, currency: 'EUR' }];
		assert.deepEqual(await record(one, ids.map((id, n) => event(id, 'paid', paid[n]))), ['accept', 'recheck', 'cancel']);
	});

	test('the amount of a failed payment is not compared', async () => {
		const id = await start({ expected: PRICE });
		assert.deepEqual(await record(one, [event(id, 'failed', { amount: 1, currency: 'USD' })]), ['cancel']);
		assert.equal((await stateOf(id)).reason, 'payment_failed');
	});
});

test('after its expiry a payment still counts, until it is completed as expired', async () => {
	const [open, over] = [await start({ ttl: 1 }), await start({ ttl: 1 })];
	await until('it is expired', async () => (await fixture.stack.sql(
		'SELECT urlmode.expire(ARRAY[id], ARRAY[binding::bytea]) FROM urlmode.elicitation WHERE id = $1', [over])).length > 0);
	assert.deepEqual(await record(one, [event(open, 'paid'), event(over, 'paid')]), ['accept', 'late']);
	assert.deepEqual(await stateOf(over), { status: 'completed', action: 'cancel', reason: 'expired', rechecks: 0 });
});

test('a row that somebody else holds fails alone, and is taken when it is free', async () => {
	const stripe = sender(fixture, 'stripe');
	const [held, ...free] = await Promise.all(Array.from({ length: 6 }, () => start()));
	await waitLongerForLocks(fixture.stack, '20ms');
	const lock = await holdRow(fixture.stack, held);
	const paid = stripe.event(held, 'paid');
	const answers = await Promise.all([
		stripe.send(paid), ...free.map((id) => stripe.send(stripe.event(id, 'paid'))),
	]);
	assert.deepEqual(answers.map(({ status }) => status), [503, 200, 200, 200, 200, 200]);
	await lock.release();
	assert.equal((await stripe.send(paid)).status, 200);
	await waitLongerForLocks(fixture.stack);
	assert.equal((await stateOf(held)).action, 'accept');
});

describe('what is announced', () => {
	/** The notifications of a statement. */
	async function heard(statement, url) {
		const payloads = [];
		const listener = await connect(url);
		listener.on('notification', ({ payload }) => payloads.push(payload));
		await listener.query('LISTEN urlmode');
		await statement(listener);
		await listener.end();
		return payloads;
	}

	test('one row is an object, the rows of a batch are an array', async () => {
		const ids = [await start(), await start()];
		const [alone] = await heard((client) => record(client, [event(ids[0], 'processing')]));
		assert.deepEqual(JSON.parse(alone), { id: ids[0], status: 'processing' });
		const together = await heard((client) => record(client, ids.map((id) => event(id, 'paid'))));
		assert.equal(together.length, 1);
		assert.deepEqual(new Set(JSON.parse(together[0]).map(({ id }) => id)), new Set(ids));
	});

	test('many rows with sealed outcomes of any size: as few notifications as hold them, and no outcome is cut', async () => {
		const ids = await Promise.all(Array.from({ length: 40 }, () => start()));
		const outcomes = ids.map((id, n) => randomBytes(n < 20 ? 200 : n === 20 ? 2_600 : n === 21 ? 2_601 : 60 * n));
		const payloads = await heard((client) => client.query(
			`SELECT FROM urlmode.record_events(ids => $1::uuid[], providers => array_fill('stripe'::text, ARRAY[40]), identities => $2::text[],
				types => array_fill('t'::text, ARRAY[40]), effects => array_fill('paid'::text, ARRAY[40]),
				amounts => array_fill(1::bigint, ARRAY[40]), currencies => array_fill('EUR'::text, ARRAY[40]), refs => $2::text[],
				results => array_fill('x'::bytea, ARRAY[40]), outcomes => $3::bytea[])`,
			[ids, ids.map(() => randomUUID()), outcomes]));
		assert.ok(payloads.every((payload) => Buffer.byteLength(payload) < 8_000));
		const bytes = payloads.join('').length;
		assert.ok(payloads.length <= Math.ceil(bytes / 4_000), `${payloads.length} notifications for ${bytes} bytes`);
		const told = new Map(payloads.flatMap((payload) => JSON.parse(payload)).map(({ id, outcome }) => [id, outcome]));
		assert.deepEqual([...told.keys()].sort(), ids.toSorted());
		ids.forEach((id, n) => assert.equal(told.get(id),
			outcomes[n].length <= 2_600 ? outcomes[n].toString('base64') : undefined, `the outcome of ${outcomes[n].length} bytes`));
	});

	test('a notification is filled to its last byte, and not beyond', async () => {
		const sizes = async (...lengths) => {
			const payloads = await heard((client) => client.query('SELECT urlmode.notify($1)',
				[lengths.map((length) => JSON.stringify('x'.repeat(length - 2)))]), fixture.stack.env.URLMODE_ADMIN_DATABASE_URL);
			return payloads.map((payload) => payload.length);
		};
		assert.deepEqual(await sizes(3_998, 3_998), [7_999]);
		assert.deepEqual(await sizes(3_998, 3_999), [4_000, 4_001]);
	});

	test('an outcome only where the row has it', async () => {
		const [paid, mismatch, processing, late] = [
			await start(), await start({ expected: { amount: 1, currency: 'EUR' } }), await start(), await start()];
		await record(one, [event(late, 'expired')]);
		const events = [event(paid, 'paid'), event(mismatch, 'paid'), event(processing, 'processing'), event(late, 'paid')];
		const [payload] = await heard((client) => record(client, events.map((each) => ({ ...each, outcome: Buffer.from('sealed') }))));
		const told = new Map(JSON.parse(payload).map(({ id, ...rest }) => [id, rest]));
		assert.deepEqual(told, new Map([
			[paid, { status: 'completed', outcome: Buffer.from('sealed').toString('base64') }],
			[mismatch, { status: 'completed' }], [processing, { status: 'processing' }], [late, { status: 'completed', late: true }],
		].sort(([a], [b]) => [...told.keys()].indexOf(a) - [...told.keys()].indexOf(b))));
	});
});
