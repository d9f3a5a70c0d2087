// Rechecks alone: random histories of events, rechecks by waits, claims and servers, their answers and failures, and claims, and
// the state that a model of one page predicts after each step. What goes on around them is in model.test.mjs.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before } from 'node:test';

import pg from 'pg';

import { Cluster } from '../../lib/node/test/support/cluster.js';
import { waitLongerForLocks } from '../../lib/node/test/support/database.js';
import { bindingOf } from '../../lib/node/src/core/token.js';
import { Random } from './random.mjs';

const STEPS = 24;

const BINDING = bindingOf('ann', '');
const [LEASE, AGE] = [60_000, 60_000];

/** What a provider has: amounts are those of the references. The first payment is what is expected. */
const PAYMENTS = { p1: 1_050, p2: 2_000 };
const REFUNDS = { r1: ['p1', 400], r2: ['p1', 650], r3: ['p2', 2_000] };
/** What went back of a payment: by refunds, or because it is not paid any more. */
const BACK = { ...REFUNDS, 'failed p1': ['p1', PAYMENTS.p1], 'failed p2': ['p2', PAYMENTS.p2] };
const STATUSES = ['paid', 'processing', 'failed', 'cancelled'];
const NAMES = ['mine', 'checkout', 'other', 'none'];

export function makeHistory(seed) {
	const random = new Random(seed);
	const pick = (all) => random.pick(all);
	const some = (all, most) => Array.from({ length: Math.floor(random.number() * (most + 1)) }, () => pick(all));
	const DO = {
		event: () => ({}),
		begin: () => ({ age: pick([null, AGE, AGE]) }),
		due: () => ({ providers: pick([['shop'], ['shop', 'other'], ['other']]) }),
		// A payment of which an answer says now this and now that.
		answer: () => (random.chance(0.4) ? { payments: [{ reference: 'p1', status: pick(['paid', 'failed']), names: 'mine' }], refunds: [] } : {
			payments: some(Object.keys(PAYMENTS), 3).map((reference) => ({ reference, status: pick(STATUSES), names: pick(['mine', ...NAMES]) })),
			refunds: some(Object.keys(REFUNDS), 2).map((reference) => ({ reference, status: pick(STATUSES), names: pick(['none', ...NAMES]) })),
		}),
		fail: () => ({}),
		claim: () => ({ age: pick([null, AGE, AGE]) }),
		pass: () => ({ seconds: pick([3, 61]) }),
	};
	return Array.from({ length: STEPS }, (_, n) => {
		const what = n === 0 ? 'event' : pick(['event', 'begin', 'begin', 'begin', 'due', 'answer', 'answer', 'answer', 'fail', 'claim', 'pass', 'pass']);
		return { do: what, ...DO[what]() };
	});
}

/** One elicitation, of 10.50 EUR, with a checkout. Times are seconds. */
class Model {
	now = 0;
	rechecks = 0;
	rechecked = 0;
	failures = 0;
	lease = 0;
	pausedUntil = 0;
	answeredAt = -Infinity;
	ended = undefined;
	/** By reference: whether it is claimed, and what each refund has told: 'back', 'again'. */
	payments = new Map();
	told = new Set();

	event() {
		this.rechecks += 1;
	}

	/** Whether somebody has to ask, before a claim also if the last answer is older than `age`. */
	isDue(age) {
		return this.rechecks > this.rechecked || (age !== null && this.rechecks > 0 && this.answeredAt <= this.now - age / 1_000);
	}

	begin(age) {
		if (!this.isDue(age) || this.pausedUntil > this.now) return undefined;
		this.pausedUntil = this.now + LEASE / 1_000;
		this.lease += 1;
		return { lease: this.lease, rechecks: this.rechecks };
	}

	fail(taken) {
		if (taken.lease === this.lease) this.pausedUntil = this.now + Math.min(60, 2 ** Math.min(this.failures, 6));
		this.failures += 1;
	}

	answer(taken, { payments, refunds }) {
		const isOurs = ({ names }) => names === 'mine' || names === 'checkout';
		const ours = payments.filter(isOurs);
		const goesOn = ours.some(({ status }) => status === 'paid' || status === 'processing');
		const named = new Set(ours.map(({ reference }) => reference));
		const known = new Set([...named, ...this.payments.keys()]);
		const [paid, gone] = [new Set(this.payments.keys()), new Set([...this.refunds.keys()].filter((reference) => this.#isBack(reference)))];
		// What is paid or under way is looked at first.
		for (const { reference, status } of [...ours].sort((a, b) => Number(isEnd(a)) - Number(isEnd(b)))) {
			const moves = isEnd({ status }) && paid.has(reference) ? 'back' : status === 'paid' && gone.has(`failed ${reference}`) ? 'again' : '';
			if (!this.#isNew(`payment ${reference} ${status} ${moves}`)) continue;
			if (moves) {
				this.#tell(`failed ${reference}`, moves);
			} else if (status === 'paid' && !this.payments.has(reference)) {
				this.payments.set(reference, { claimed: false, refunds: new Map() });
				this.ended ??= reference === 'p1' ? 'accept' : 'cancel';
			} else if (isEnd({ status }) && !goesOn) {
				this.ended ??= status === 'failed' ? 'failed' : 'cancel';
			}
		}
		for (const { reference, status, names } of refunds) {
			const [payment] = REFUNDS[reference];
			if (!(isOurs({ names }) || (names === 'none' && known.has(payment)))) continue;
			if (!this.#isNew(`refund ${reference} ${status}`)) continue;
			this.#tell(reference, isEnd({ status }) ? 'again' : 'back');
		}
		this.rechecked = Math.max(this.rechecked, taken.rechecks);
		this.answeredAt = this.now;
		this.failures = 0;
		if (taken.lease === this.lease) this.pausedUntil = 0;
	}

	/** By reference. They may be told before their payment. */
	refunds = new Map();

	#isNew(entry) {
		return !this.told.has(entry) && Boolean(this.told.add(entry));
	}

	#tell(reference, what) {
		(this.refunds.get(reference) ?? this.refunds.set(reference, new Set()).get(reference)).add(what);
	}

	#isBack(reference) {
		const told = this.refunds.get(reference);
		return told.has('back') && !told.has('again');
	}

	back(payment) {
		return [...this.refunds.keys()].filter((reference) => BACK[reference][0] === payment && this.#isBack(reference))
			.reduce((sum, reference) => sum + BACK[reference][1], 0);
	}

	claim(age) {
		if (this.ended === undefined) return 'open';
		const payment = this.payments.get('p1');
		if (!payment) return this.ended === 'accept' ? 'taken' : 'changed';
		if (payment.claimed || this.back('p1') > 0) return 'taken';
		if (age !== null && this.isDue(age)) return 'recheck';
		payment.claimed = true;
		return 'claimed';
	}

	state() {
		return {
			rechecks: this.rechecks, rechecked: this.rechecked, failures: this.failures,
			payments: [...this.payments].map(([reference, { claimed }]) => ({
				reference, matches: reference === 'p1', back: Math.min(PAYMENTS[reference], this.back(reference)), claimed,
			})).sort((a, b) => (a.reference < b.reference ? -1 : 1)),
		};
	}
}

const isEnd = ({ status }) => status === 'failed' || status === 'cancelled';

export let admin;
const ends = [];

before(async () => {
	const cluster = await Cluster.start({ after: (end) => ends.unshift(end) });
	admin = new pg.Client({ connectionString: cluster.adminUrl });
	await admin.connect();
	ends.unshift(() => admin.end());
	await waitLongerForLocks(admin);
});

after(async () => {
	for (const end of ends) await end();
});

export async function run(history) {
	const id = randomUUID();
	const one = async (text, values) => (await admin.query(text, values)).rows[0];
	await admin.query(`SELECT urlmode.create_elicitation(ids => ARRAY[$1::uuid], providers => '{shop}', kinds => '{payment}', subjects => '{ann}', sessions => '{""}',
		bindings => ARRAY[$2::bytea], requesters => '{shop}', target_urls => '{https://shop.example/}', expected => ARRAY[$3::jsonb], verifiers => '{NULL}',
		ttls_ms => '{3600000}', checkouts => ARRAY[$4], items => ARRAY[$4])`,
	[id, BINDING, JSON.stringify({ amount: 1_050, currency: 'EUR' }), `c ${id}`]);
	const model = new Model();
	const nameOf = { mine: { elicitation_id: id }, checkout: { checkout: `c ${id}` }, other: { elicitation_id: randomUUID() }, none: {} };
	let taken;
	const takes = (given, predicted, step) => {
		assert.deepEqual(given && { lease: given.lease, rechecks: given.rechecks }, predicted, `${step} begins`);
		taken = predicted ?? taken;
	};
	for (const [n, step] of history.entries()) {
		const where = `step ${n}, ${JSON.stringify(step)}`;
		switch (step.do) {
		case 'event':
			model.event();
			await admin.query(`SELECT urlmode.receive_events(ARRAY[$1::uuid], '{shop}', ARRAY[$2], '{changed}', '{recheck}', '{NULL}', '{NULL}', '{NULL}', '{NULL}')`,
				[id, randomUUID()]);
			break;
		case 'begin':
			takes(await one('SELECT * FROM urlmode.begin_recheck($1, $2, $3, $4)', [id, BINDING, LEASE, step.age]), model.begin(step.age), where);
			break;
		case 'due':
			takes(await one('SELECT * FROM urlmode.begin_due_recheck($1, $2)', [JSON.stringify(step.providers), LEASE]),
				step.providers.includes('shop') ? model.begin(null) : undefined, where);
			break;
		case 'answer':
			if (!taken) break;
			model.answer(taken, step);
			await admin.query('SELECT urlmode.answer_recheck($1, $2, $3, $4, $5, $6)', [id, BINDING, taken.lease, taken.rechecks,
				JSON.stringify(step.payments.map(({ reference, status, names }) => ({
					reference: `${reference} ${id}`, amount: PAYMENTS[reference], currency: 'EUR', status, result: 'YQ==', ...nameOf[names],
				}))),
				JSON.stringify(step.refunds.map(({ reference, status, names }) => ({
					reference: `${reference} ${id}`, payment: `${REFUNDS[reference][0]} ${id}`, amount: REFUNDS[reference][1], currency: 'EUR', status, ...nameOf[names],
				})))]);
			taken = undefined;
			break;
		case 'fail':
			if (!taken) break;
			model.fail(taken);
			await admin.query('SELECT urlmode.end_recheck($1, $2, $3, $4, true)', [id, BINDING, taken.lease, taken.rechecks]);
			taken = undefined;
			break;
		case 'claim': {
			const { outcome } = await one('SELECT * FROM urlmode.claim_at_once($1, $2, recheck_ms => $3)', [id, BINDING, step.age]);
			assert.equal(outcome, model.claim(step.age), where);
			break;
		}
		case 'pass':
			model.now += step.seconds;
			await admin.query(`UPDATE urlmode.recheck SET recheck_at = recheck_at - $2 * interval '1 s', answered_at = answered_at - $2 * interval '1 s'
				WHERE elicitation = $1`, [id, step.seconds]);
			break;
		}
		const state = await one(`SELECT r.rechecks, r.rechecked, r.recheck_failures AS failures, coalesce((
				SELECT json_agg(json_build_object('reference', split_part(p.reference, ' ', 1), 'matches', p.matches, 'back', p.refunded,
					'claimed', p.claimed_at IS NOT NULL) ORDER BY p.reference) FROM urlmode.payment p WHERE p.elicitation = r.elicitation
			), '[]') AS payments FROM urlmode.recheck r WHERE r.elicitation = $1`, [id]);
		assert.deepEqual(state, model.state(), where);
	}
	// Nothing of it is due for the next history.
	await admin.query('UPDATE urlmode.recheck SET rechecked = rechecks WHERE elicitation = $1', [id]);
}
