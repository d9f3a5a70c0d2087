// What is over is deleted after ninety days; what may still happen, and what was
// paid and not claimed, never is. And what was paid stays used when its
// elicitation is gone.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';

import pg from 'pg';

import { post, sender } from '../support/deliveries.mjs';
import { comeBack } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';
import { waitLongerForLocks } from '../support/locks.mjs';
import { until } from '../support/wait.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };
const DAY = 86_400_000;

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'retention', own: true });
	await waitLongerForLocks(fixture.stack);
});

after(() => fixture?.close());

beforeEach(() => sql('UPDATE urlmode.payment SET claimed_at = now() WHERE claimed_at IS NULL; DELETE FROM urlmode.elicitation'));

const sql = (...args) => fixture.stack.sql(...args);

/** Every time of everything is so much longer ago. */
async function pass(days) {
	const frameworks = Object.fromEntries(['client_request', 'mcp_session', 'stored', 'published'].map((table) => [`_frameworks.${table}`, ['expires_at']]));
	const times = {
		'.elicitation': ['created_at', 'opened_at', 'expires_at', 'completed_at', 'claimed_at'],
		'.payment': ['proven_at', 'claimed_at', 'refunded_at'], '.event': ['received_at'], '.purge_queue': ['due_at'], '.purge_pass': ['since'], ...frameworks,
	};
	await sql(Object.entries(times).map(([table, columns]) => (
		`UPDATE urlmode${table} SET ${columns.map((name) => `${name} = ${name} - interval '${days} days'`)}`)).join(';'));
}

/** Calls purge until it returns 0; how much it took. */
async function purge({ keep = 90 * DAY, kind = null, batch = 1000 } = {}, query = sql) {
	for (let taken = 0; ;) {
		const [{ n }] = await query('SELECT urlmode.purge($1, $2, $3)::integer AS n', [keep, kind, batch]);
		if (n === 0) return taken;
		taken += n;
	}
}

const exists = async ({ id }) => (await sql('SELECT FROM urlmode.elicitation WHERE id = $1', [id])).length === 1;

const openPayment = (options) => fixture.goOn(fixture.browser(), {
	provider: 'stripe', kind: 'payment', targetUrl: 'https://checkout.example/pay', expected: PRICE, item: 'report', ...options,
});

async function send({ id }, what = 'paid', more = {}) {
	const from = sender(fixture, 'stripe');
	const answer = await post(await from.deliver(from.event(id, what, { ...PRICE, ...more })));
	assert.equal(answer.status, 200);
	const line = await until('it is in the log', async () => (
		(await fixture.stack.programLog()).find(({ request }) => request === answer.headers['x-request-id'])));
	return line.outcome;
}

const claim = ({ id, owner }) => fixture.urlmode.claim(id, owner);

/** Each makes an elicitation, which must stay until so many days have passed and be gone after the next one; or for ever. */
const LIVES = {
	'an account that was connected': [90, async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		await comeBack(browser, flow.returnTo({ code: 'c' }));
		return flow;
	}],
	'an elicitation that nobody has opened': [90, () => fixture.create()],
	'an account that a user has opened and not connected': [90, () => fixture.goOn(fixture.browser())],
	'an elicitation that lives for a year': [365 + 90, () => fixture.create({ ttl: 365 * DAY })],
	'a payment that was claimed': [30 + 90, async () => {
		const payment = await openPayment();
		assert.equal(await send(payment), 'accept');
		assert.equal(await claim(payment), true);
		return payment;
	}],
	'a payment that nobody has made': [30 + 90, () => openPayment()],
	'a payment whose provider may take a year': [365 + 90, async () => {
		const payment = await openPayment();
		await sql("UPDATE urlmode.elicitation SET grace = '365 days' WHERE id = $1", [payment.id]);
		return payment;
	}],
	'a payment that was paid and not claimed': [Infinity, async () => {
		const payment = await openPayment();
		assert.equal(await send(payment), 'accept');
		return payment;
	}],
	'a payment of another amount, which nobody has refunded': [Infinity, async () => {
		const payment = await openPayment();
		assert.equal(await send(payment, 'paid', { amount: 1 }), 'cancel');
		return payment;
	}],
	'a payment that went back': [30 + 90, async () => {
		const payment = await openPayment();
		assert.equal(await send(payment), 'accept');
		await sql('UPDATE urlmode.payment SET refunded_at = now() WHERE elicitation = $1', [payment.id]);
		return payment;
	}],
	'documents that were signed for a later call': [Infinity, () => signed({ item: 'contract' })],
	'documents that were signed for a later call, which has taken them': [90, async () => {
		const documents = await signed({ item: 'contract' });
		assert.equal(await claim(documents), true);
		return documents;
	}],
	'documents that were signed for a package without items': [90, async () => {
		const documents = await signed();
		await sql('UPDATE urlmode.elicitation SET item = NULL WHERE id = $1', [documents.id]);
		return documents;
	}],
};

async function signed(options) {
	const documents = await fixture.create({ provider: 'docusign', kind: 'signature', ...options });
	await fixture.urlmode.complete(documents.id, { ...documents.owner, action: 'accept' });
	return documents;
}

for (const [what, [days, make]] of Object.entries(LIVES)) {
	test(`${what} stays ${days === Infinity ? 'for ever' : `for ${days} days`}`, async () => {
		const elicitation = await make();
		await pass(days === Infinity ? 3_000 : days - 1);
		await purge();
		assert.ok(await exists(elicitation), 'it is there');
		if (days === Infinity) return;
		await pass(2);
		await purge();
		assert.ok(!await exists(elicitation), 'it is gone');
		assert.deepEqual(await fixture.events(elicitation), []);
	});
}

test('a payment that waits for a recheck stays while the next call may go on with it', async () => {
	const payment = await openPayment();
	await sql("UPDATE urlmode.elicitation SET grace = '20 days' WHERE id = $1", [payment.id]);
	await sql('INSERT INTO urlmode.recheck (elicitation, rechecks) VALUES ($1, 1)', [payment.id]);
	await pass(20 + 29);
	await purge({ keep: 7 * DAY });
	assert.ok(await exists(payment), 'it is there');
	await pass(2);
	await purge({ keep: 7 * DAY });
	assert.ok(!await exists(payment), 'it is gone');
});

for (const [what, end] of [
	['claimed', async (payment) => assert.equal(await claim(payment), true)],
	['refunded', ({ id }) => sql('UPDATE urlmode.payment SET refunded_at = now() WHERE elicitation = $1', [id])],
]) {
	test(`a payment that is ${what} after years stays for ninety days more`, async () => {
		const payment = await openPayment();
		await send(payment);
		await pass(700);
		await end(payment);
		await pass(89);
		await purge();
		assert.ok(await exists(payment));
		await pass(2);
		await purge();
		assert.ok(!await exists(payment));
	});
}

test('a payment that is proved late finds its row, and is offered, for as long as its provider may take', async () => {
	const payment = await openPayment();
	await sql("UPDATE urlmode.elicitation SET grace = '365 days' WHERE id = $1", [payment.id]);
	await fixture.urlmode.cancel(payment.id, payment.owner);
	await pass(364);
	await purge();
	assert.equal(await send(payment), 'late');
	assert.deepEqual((await fixture.urlmode.unclaimed({ provider: 'stripe' })).map(({ elicitationId }) => elicitationId), [payment.id]);
});

describe('a payment whose elicitation is gone', () => {
	let payment;
	const reference = () => `cs_test_${payment.id}`;

	beforeEach(async () => {
		payment = await openPayment();
		await send(payment);
		assert.equal(await claim(payment), true);
		await pass(121);
		await purge();
		assert.ok(!await exists(payment));
	});

	test('keeps its reference, amount, times and user, and no result; a user who is forgotten is in it no longer', async () => {
		const read = async () => (await sql('SELECT to_json(p) AS payment FROM urlmode.payment p WHERE elicitation = $1', [payment.id]))[0].payment;
		const row = await read();
		assert.equal(row.reference, reference());
		assert.equal(row.result, null);
		assert.equal(row.subject, payment.owner.subject);
		await sql('SELECT urlmode.forget_subject($1)', [payment.owner.subject]);
		const forgotten = await read();
		assert.equal(forgotten.reference, reference());
		assert.ok(!JSON.stringify(forgotten).includes(payment.owner.subject));
	});

	test('the same webhook again is acknowledged as unknown, and changes nothing', async () => {
		const before = await sql('SELECT * FROM urlmode.payment ORDER BY reference');
		assert.equal(await send(payment), 'unknown');
		assert.deepEqual(await sql('SELECT * FROM urlmode.payment ORDER BY reference'), before);
		assert.deepEqual(await fixture.events(payment), []);
		assert.deepEqual(await fixture.urlmode.unclaimed({ provider: 'stripe' }), []);
	});

	test('its reference pays for no other elicitation', async () => {
		const other = await openPayment();
		assert.equal(await send(other, 'paid', { reference: reference() }), 'reference_taken');
		await assert.rejects(fixture.urlmode.complete(other.id, { ...other.owner, action: 'accept', reference: reference(), ...PRICE }),
			{ name: 'ElicitationReferenceError' });
		assert.deepEqual(await fixture.state(other), ['opened', null, '']);
	});

	test('its id is not created again, so that it never pays for the next one', async () => {
		await assert.rejects(openPayment({ id: payment.id }), { name: 'ElicitationExistsError' });
		assert.ok(!await exists(payment));
	});

	test('the next call for the same thing asks anew', async () => {
		const next = await openPayment(payment.owner);
		assert.notEqual(next.id, payment.id);
	});
});

test('what was paid and is still there resumes by its id, and is not refused', async () => {
	const payment = await openPayment();
	await send(payment);
	const again = await fixture.createPayment('stripe', { ...payment.owner, id: payment.id, expected: PRICE, item: 'report' });
	assert.deepEqual([again.id, again.resumed], [payment.id, true]);
});

describe('what a call of purge takes', () => {
	/** Elicitations of a user who pays and is refunded by nobody (true), or who never comes (false), all over at the same time. */
	async function makeMixed(pattern) {
		const made = [];
		for (const isPaid of pattern) {
			const elicitation = await fixture.createPayment('stripe', { expected: PRICE });
			if (isPaid) await send(elicitation);
			made.push(elicitation);
		}
		await pass(200);
		return made;
	}

	test('it deletes what is purgeable batch by batch, and leaves the rest', async () => {
		const made = await makeMixed([false, true, true, false, true, false]);
		assert.equal(await purge({ batch: 1, kind: 'payment' }), 3);
		assert.deepEqual(await Promise.all(made.map(exists)), [false, true, true, false, true, false]);
		for (const payment of [made[1], made[2], made[4]]) assert.equal(await claim(payment), true);
		await pass(91);
		assert.equal(await purge({ batch: 2, kind: 'payment' }), 3, 'the next time it begins with the oldest again');
	});

	test('also where all expired at the same instant', async () => {
		const made = await makeMixed([true, false, false, true, false]);
		await sql("UPDATE urlmode.elicitation SET expires_at = now() - interval '200 days'");
		assert.equal(await purge({ batch: 1, kind: 'payment' }), 3);
		assert.equal((await Promise.all(made.map(exists))).filter(Boolean).length, 2);
	});

	test('kind by kind', async () => {
		await fixture.create();
		await fixture.createPayment('stripe');
		await fixture.create({ provider: 'docusign', kind: 'signature' });
		await sql("SELECT urlmode_frameworks.stored_set(ARRAY['k'], ARRAY['v'], ARRAY[1::bigint], NULL)");
		await pass(200);
		const kinds = async () => (await sql('SELECT kind FROM urlmode.elicitation ORDER BY kind')).map(({ kind }) => kind);
		assert.equal(await purge({ kind: 'stored' }), 1);
		assert.deepEqual(await kinds(), ['oauth', 'payment', 'signature']);
		for (const [kind, left] of [['payment', ['oauth', 'signature']], ['oauth', ['signature']], ['signature', []]]) {
			assert.equal(await purge({ kind }), 1);
			assert.deepEqual(await kinds(), left);
		}
	});

	test('what adapters stored goes when it has expired, and stays while it has not', async () => {
		const key = () => `sha256('${randomUUID()}'::bytea)`;
		const store = async (ttl) => {
			await sql(`SELECT urlmode_frameworks.client_request_expect(ARRAY[${key()}], ARRAY[${ttl}::bigint]);
				SELECT urlmode_frameworks.stored_set(ARRAY['${randomUUID()}'], ARRAY['v'], ARRAY[${ttl}::bigint], NULL);
				WITH k AS (SELECT ${key()} AS key) SELECT urlmode_frameworks.mcp_session_create(key, '{}', ${ttl}) FROM k`);
			await sql('SELECT urlmode_frameworks.mcp_event_append(key, $1, $2, 10) FROM urlmode_frameworks.mcp_session', ['s', '{}']);
		};
		const counts = async () => Object.values((await sql(`SELECT (SELECT count(*) FROM urlmode_frameworks.client_request)::integer,
			(SELECT count(*) FROM urlmode_frameworks.mcp_session)::integer AS s, (SELECT count(*) FROM urlmode_frameworks.mcp_event)::integer AS e,
			(SELECT count(*) FROM urlmode_frameworks.stored)::integer AS v`))[0]);
		await sql("SELECT urlmode_frameworks.stored_set(ARRAY['for ever'], ARRAY['v'], NULL, NULL)");
		await store(DAY);
		await store(3 * DAY);
		await purge();
		assert.deepEqual(await counts(), [2, 2, 3, 3]);
		await pass(2);
		assert.equal(await purge({ kind: 'stored' }), 3);
		assert.deepEqual(await counts(), [1, 1, 1, 2]);
		await pass(2);
		await purge();
		assert.deepEqual(await counts(), [0, 0, 0, 1]);
	});

	test('results that are due, where no MCP server purges them', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		await comeBack(browser, flow.returnTo({ code: 'c' }));
		await pass(2);
		assert.ok(await purge({ kind: 'result' }) > 0);
		assert.deepEqual(await sql('SELECT result FROM urlmode.elicitation WHERE id = $1', [flow.id]), [{ result: null }]);
	});

	test('no results of payments that are unclaimed for less than seven days', async () => {
		for (const keep of [7 * DAY - 1, 0, -1, null]) {
			await assert.rejects(sql('SELECT urlmode.purge_results($1)', [keep]), /seven days/);
		}
		await sql('SELECT urlmode.purge_results($1)', [7 * DAY]);
	});

	test('nothing younger than seven days, no other kind, and no batch of nothing', async () => {
		for (const [options, message] of [
			[{ keep: 7 * DAY - 1 }, /seven days/], [{ keep: -1 }, /seven days/], [{ keep: null }, /required/],
			[{ batch: 0 }, /batch/], [{ batch: null }, /required/], [{ kind: 'elicitation' }, /kind is oauth/],
		]) {
			await assert.rejects(purge(options), message);
		}
		assert.equal(await purge({ keep: '9223372036854775807' }), 0, 'what is kept for ever');
	});
});

describe('at the same time', () => {
	/** Statements of a transaction that stays open until `commit`. */
	async function transaction(url = fixture.stack.env.URLMODE_ADMIN_DATABASE_URL) {
		const client = new pg.Client({ connectionString: url });
		await client.connect();
		fixture.closeAtEnd({ close: () => client.end() });
		await client.query('BEGIN');
		return { query: (...args) => client.query(...args), commit: () => client.query('COMMIT') };
	}

	test('a payment is proved while its row is purged: the row stays with it', async () => {
		const payment = await openPayment();
		await pass(200);
		const { query, commit } = await transaction(fixture.stack.env.URLMODE_PROGRAMS_DATABASE_URL);
		await query(`SELECT * FROM urlmode.record_events(ARRAY[$1::uuid], ARRAY['stripe'], ARRAY['evt'], ARRAY['t'], ARRAY['paid'],
			ARRAY[1050::bigint], ARRAY['EUR'], ARRAY['ref-1'], ARRAY['\\x00'::bytea])`, [payment.id]);
		assert.equal(await purge(), 0, 'a row that is locked is left, and nobody waits for it');
		await commit();
		await pass(1);
		assert.equal(await purge(), 0);
		assert.ok(await exists(payment));
		assert.equal((await fixture.urlmode.unclaimed({ provider: 'stripe' })).length, 1);
	});

	test('an event that waits while its row is deleted finds it unknown', async () => {
		const payment = await openPayment();
		await pass(200);
		const { query, commit } = await transaction();
		assert.equal((await query("SELECT urlmode.purge(kind => 'payment')::integer AS n")).rows[0].n, 1);
		const outcome = send(payment);
		await until('it waits', async () => (await sql("SELECT FROM pg_locks WHERE NOT granted")).length > 0);
		await commit();
		assert.equal(await outcome, 'unknown');
	});

	test('a row that was locked goes with the next pass', async () => {
		const { id } = await fixture.create();
		await pass(200);
		const { query, commit } = await transaction();
		await query('SELECT FROM urlmode.elicitation WHERE id = $1 FOR UPDATE', [id]);
		assert.equal(await purge(), 0);
		await commit();
		assert.equal(await purge(), 0, 'not before an hour has passed');
		await sql("UPDATE urlmode.purge_pass SET since = since - interval '1 hour'");
		assert.equal(await purge(), 1);
	});

	test('two who purge do not wait for each other, and take each row once', async () => {
		await sql(`INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expires_at)
			SELECT gen_random_uuid(), 'demo', 'oauth', 's', substring(sha256('s') FOR 16), 'r', 'u', now() - n * interval '1 minute'
			FROM generate_series(200000, 205000) n`);
		await pass(1);
		const { query, commit } = await transaction();
		assert.equal((await query("SELECT urlmode.purge(kind => 'oauth')::integer AS n")).rows[0].n, 1_000);
		assert.equal(await purge(), 0, 'another one is at it');
		await commit();
		const taken = await Promise.all(Array.from({ length: 4 }, async () => {
			const client = await transaction();
			await client.commit();
			return purge({ batch: 100 }, async (...args) => (await client.query(...args)).rows);
		}));
		taken.push(await purge());
		assert.equal(taken.reduce((sum, n) => sum + n, 0), 4_001);
	});
});

test('the operator may purge, and read nothing', async () => {
	const client = new pg.Client({ connectionString: fixture.stack.env.URLMODE_OPERATOR_DATABASE_URL });
	await client.connect();
	fixture.closeAtEnd({ close: () => client.end() });
	await fixture.create();
	await pass(200);
	assert.equal(await purge({}, async (...args) => (await client.query(...args)).rows), 1);
	await assert.rejects(client.query('SELECT FROM urlmode.elicitation'), { code: '42501' });
	await assert.rejects(client.query("SELECT urlmode.purge_kind('oauth', now(), 1)"), { code: '42501' });
});

test('after two days without a purge, of two at once none deletes what the other still counts, and each end is counted once', async () => {
	const ended = async () => Number((await sql("SELECT coalesce(sum(number), 0) AS n FROM urlmode.ended_count WHERE unit = 'day' AND kind = 'oauth'"))[0].n);
	await purge();
	const before = await ended();
	for (let i = 0; i < 3; i++) {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		await comeBack(browser, flow.returnTo({ code: 'c' }));
	}
	await pass(2);
	await sql("UPDATE urlmode.counted SET counted_until = counted_until - interval '2 days'");
	const clients = await Promise.all(Array.from({ length: 2 }, async () => {
		const client = new pg.Client({ connectionString: fixture.stack.env.URLMODE_ADMIN_DATABASE_URL });
		await client.connect();
		return client;
	}));
	try {
		const [one, other] = clients;
		// As a purge that counts, and has not committed.
		await one.query('BEGIN');
		await one.query('SELECT FROM urlmode.counted FOR UPDATE');
		await other.query('SELECT urlmode.purge_results()');
		await one.query('ROLLBACK');
		await Promise.all(clients.map((client) => purge({}, async (text, values) => (await client.query(text, values)).rows)));
		assert.equal(await ended() - before, 3);
		assert.deepEqual(await sql('SELECT FROM urlmode.purge_queue WHERE due_at <= now()'), [], 'and nothing stays');
	} finally {
		await Promise.all(clients.map((client) => client.end()));
	}
});
