// What happens at the same time, on several connections and two instances. The
// order is PostgreSQL's; the books must balance in every one.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { until } from '../support/wait.mjs';
import { TTL } from './history.mjs';
import { Random } from './random.mjs';
import { PROVIDER, Stage } from './stage.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 60);
const SEED = Number(process.env.SEED ?? 1);
const CONNECTIONS = 4;
const PRICE = { amount: 1_000, currency: 'EUR' };

const user = 'ann';
const hooks = [];
let stage;
let connections;

before(async () => {
	stage = await Stage.open({ after: (hook) => hooks.push(hook) });
	connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => stage.connect('urlmode_cgi')));
});

after(async () => {
	await stage?.close();
	for (const hook of hooks) await hook();
});

const server = (n) => stage.instances[n % 2].urlmode;

function create(n, options) {
	return server(n).create({
		id: randomUUID(), provider: PROVIDER, kind: 'payment', expected: PRICE, subject: user, ttl: TTL, item: randomUUID(),
		targetUrl: 'https://shop.example/pay', ...options,
	});
}

async function createOpened() {
	const { elicitationId: id } = await create(0);
	await stage.open(id, user);
	return id;
}

async function paid(n, id, reference, more = {}) {
	const event = { id, user, identity: randomUUID(), effect: 'paid', reference, ...PRICE, ...more };
	const [outcome] = await stage.events([event], connections[n % CONNECTIONS]);
	return outcome;
}

async function paymentsOf(...ids) {
	const { rows } = await stage.admin.query(`SELECT reference, elicitation, matches, late, claimed_at IS NOT NULL AS claimed,
		refunded_at IS NOT NULL AS refunded FROM urlmode.payment WHERE elicitation = ANY ($1)`, [ids]);
	return rows;
}

async function rowOf(id) {
	const { rows } = await stage.admin.query('SELECT * FROM urlmode.elicitation WHERE id = $1', [id]);
	return rows[0];
}

const isOpen = ({ code }) => {
	assert.equal(code, 'ELICITATION_OPEN');
	return false;
};

const count = (list, value) => list.filter((each) => each === value).length;

/** What came at the same time as what it is about is found a little later, and not while a server looks for it as well. */
const untilAllIsFound = () => until('nothing unknown is left', async () => {
	await stage.admin.query('SELECT urlmode.purge_results()');
	return (await stage.admin.query('SELECT FROM urlmode.unknown_event')).rows.length === 0;
});

async function rounds(each) {
	for (let round = 0; round < ROUNDS; round += 1) await each(round);
}

test('one event in several deliveries counts once', () => rounds(async (round) => {
	const id = await createOpened();
	const identity = randomUUID();
	const outcomes = await Promise.all(connections.map((_, n) => paid(n, id, `same-${round}`, { identity })));

	assert.equal(count(outcomes, 'accept'), 1, outcomes.join());
	assert.equal(count(outcomes, 'seen'), CONNECTIONS - 1, outcomes.join());
	assert.equal((await paymentsOf(id)).length, 1);
}));

test('one reference pays for one elicitation', () => rounds(async (round) => {
	const ids = [await createOpened(), await createOpened()];
	const outcomes = await Promise.all([
		...connections.map((_, n) => paid(n, ids[n % 2], `one-${round}`)),
		server(0).complete(ids[0], { subject: user, action: 'accept', reference: `one-${round}`, ...PRICE })
			.then((done) => done ? 'accept' : 'repeated', () => 'reference_taken'),
	]);

	assert.equal(count(outcomes, 'accept'), 1, outcomes.join());
	assert.equal((await paymentsOf(...ids)).length, 1);
	const rows = await Promise.all(ids.map(rowOf));
	assert.equal(count(rows.map(({ action }) => action), 'accept'), 1);
}));

test('each payment is claimed by one call, whatever ends the elicitation at the same time', () => rounds(async (round) => {
	const random = new Random(SEED + round);
	const id = await createOpened();
	let early = 0;
	const acts = [
		(n) => paid(n, id, `a-${round}`), (n) => paid(n, id, `a-${round}`), (n) => paid(n, id, `b-${round}`),
		(n) => paid(n, id, `c-${round}`, { amount: 400 }), (n) => paid(n, id, null, { effect: 'failed' }),
		(n) => paid(n, id, `junk-${round}`, { effect: 'recheck' }),
		(n) => server(n).cancel(id, { subject: user }),
		(n) => server(n).complete(id, { subject: user, action: 'accept', reference: `b-${round}`, ...PRICE }),
		async (n) => {
			early += Number(await server(n).claim(id, { subject: user }).catch(isOpen));
		},
	].filter(() => random.chance(0.6));
	await Promise.all(acts.map((act, n) => act(n)));
	await server(0).cancel(id, { subject: user });

	const before = await paymentsOf(id);
	const row = await rowOf(id);
	assert.equal(row.action === 'accept', before.some(({ matches, late }) => matches && !late), 'accepted by what came in time');

	const claims = await Promise.all(Array.from({ length: 6 }, (_, n) => server(n).claim(id, { subject: user })));
	const matching = before.filter(({ matches }) => matches).length;
	assert.equal(early + count(claims, true), matching, `${early} and ${claims}`);
	const listed = (await server(1).unclaimed()).filter(({ elicitationId }) => elicitationId === id);
	const after = await paymentsOf(id);
	assert.ok(after.every(({ matches, claimed }) => matches === claimed), 'all that matches is claimed');
	assert.deepEqual(listed.map(({ matches }) => matches), after.filter(({ matches }) => !matches).map(() => false));
}));

test('what goes back counts once each, whatever comes at the same time, also before its payment', () => rounds(async (round) => {
	const random = new Random(SEED + round);
	const id = await createOpened();
	const reference = `back-${round}`;
	const refund = (own, more) => (n) => paid(n, id, reference, { effect: 'refunded', refund: `${reference}-${own}`, amount: 500, ...more });
	const acts = [
		(n) => paid(n, id, reference), (n) => paid(n, id, reference), refund('a'), refund('a'), refund('b'), refund('b', { id: null }),
		refund('c', { amount: 300 }), refund('c', { id: null, effect: 'refund_reversed', amount: 300 }),
		(n) => stage.decide(reference, ['released', 'voided'][n % 2]),
	];
	const order = acts.map((act) => [random.number(), act]).sort(([one], [other]) => one - other).map(([, act]) => act);
	await Promise.all(order.map((act, n) => act(n)));
	await untilAllIsFound();
	const { rows } = await stage.admin.query('SELECT refunded, held, refunded_at IS NOT NULL AS gone FROM urlmode.payment WHERE elicitation = $1', [id]);
	assert.deepEqual(rows, [{ refunded: '1000', held: false, gone: true }]);
}));

test('a payment that comes while its row is created pays for it', () => rounds(async (round) => {
	const id = randomUUID();
	const [outcome] = await Promise.all([paid(round, id, `early-${round}`), create(round, { id })]);
	assert.ok(['unknown', 'accept'].includes(outcome), outcome);
	await untilAllIsFound();
	assert.equal((await rowOf(id)).action, 'accept');
}));

test('calls that ask at the same time get one elicitation', () => rounds(async (round) => {
	const asked = await Promise.all(Array.from({ length: 6 }, (_, n) => create(n, { item: `thing-${round}`, exclusive: round % 2 === 0 })));

	assert.equal(new Set(asked.map(({ elicitationId }) => elicitationId)).size, 1);
	assert.equal(count(asked.map(({ resumed }) => resumed), false), 1);
}));

test('one recheck at a time asks the provider', async () => {
	const id = await createOpened();
	let running = 0;
	let calls = 0;
	const recheck = async ({ references }) => {
		running += 1;
		calls += 1;
		assert.equal(running, 1, 'two rechecks of one elicitation');
		await sleep(20);
		running -= 1;
		return calls < 5 ? undefined : { action: 'accept', reference: references[0], ...PRICE };
	};
	const waits = Array.from({ length: 6 }, (_, n) => server(n).waitForCompletion(id, { subject: user, recheck }));
	let ended = false;
	const all = Promise.all(waits).finally(() => {
		ended = true;
	});
	let events = 0;
	// One recheck may answer for several events, on a busy machine for many.
	for (; events < 8 || !ended; events += 1) {
		await paid(events, id, `ref-${events % 2}`, { effect: 'recheck' });
		await sleep(30);
	}
	const outcomes = await all;
	assert.ok(outcomes.every(({ action, reference }) => action === 'accept' && reference !== undefined));
	assert.ok(calls >= 5 && calls <= events, `${calls} rechecks for ${events} events`);
});
