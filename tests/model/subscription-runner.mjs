// Runs a history of subscriptions against a real database and the model, and compares them after each step.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { RESULT_INFO } from '../../lib/node/src/core/contract-seals.js';
import { seal } from '../../lib/node/src/core/seal.js';
import { bindingOf, browserOf } from '../../lib/node/src/core/token.js';
import { Follower } from './follower.mjs';
import { Stage } from './stage.mjs';
import { DISPUTE, ITEMS, PRICE, USERS } from './subscription-history.mjs';
import { GRACE, SubscriptionModel, TTL } from './subscription-model.mjs';

const MINUTE = 60_000;
/** Times of a period end at none of the moments that a step waits for. */
const ODD = 7 * 60 * MINUTE + 31 * MINUTE;
const AMOUNTS = [undefined, PRICE, 400];

/** What time passes for. The times of a provider's events are compared with each other alone. */
const TIMES = {
	elicitation: ['created_at', 'expires_at', 'opened_at', 'completed_at', 'claimed_at'], payment: ['proven_at', 'claimed_at', 'refunded_at'],
	refund: ['received_at', 'changed_at', 'reversed_at', 'refunded_at', 'unclear_at'], event: ['received_at'], unknown_event: ['received_at', 'expires_at'],
	lease: ['ends_at', 'fulfilled_at'], recheck: ['recheck_at'], ledger: ['entered_at'], ledger_consumer: ['leased_until'], purge_queue: ['due_at'],
	entitlement: ['until', 'trial_until', 'cancel_at', 'opened_at', 'changed_at'],
};

const OBSERVE = `SELECT json_build_object(
	'rows', (SELECT json_agg(json_build_object('id', e.id, 'status', e.status, 'action', e.action, 'reason', e.reason) ORDER BY e.created_at, e.id) FROM urlmode.elicitation e),
	'payments', (SELECT json_agg(json_build_object('reference', p.reference, 'user', p.subject, 'item', p.item, 'amount', p.amount, 'matches', p.matches, 'late', p.late,
			'claimed', p.claimed_at IS NOT NULL, 'back', p.refunded, 'isBack', p.refunded_at IS NOT NULL, 'held', p.held, 'of', e.subscription, 'isOpened', p.entitlement IS NOT NULL)
			ORDER BY p.reference) FROM urlmode.payment p LEFT JOIN urlmode.entitlement e ON e.id = p.entitlement),
	'subscriptions', (SELECT json_agg(json_build_object('user', e.subject, 'item', e.item, 'subscription', e.subscription, 'status', s.status, 'paused', urlmode.is_paused(e),
			'entitled', s.status IN ('trialing', 'active', 'cancelled'),
			'until', round(extract(epoch FROM CASE s.status WHEN 'cancelled' THEN coalesce(e.cancel_at, e.until, e.trial_until) ELSE coalesce(e.until, e.trial_until) END) * 1000)))
			FROM urlmode.entitlement e CROSS JOIN LATERAL urlmode.entitlement_status(e) AS s (status) WHERE e.subject IS NOT NULL),
	'nobodys', (SELECT json_agg(e.subscription ORDER BY e.subscription) FROM urlmode.entitlement e WHERE e.subject IS NULL),
	'disputes', (SELECT json_agg(json_build_object('reference', r.reference, 'state', r.state, 'ended', r.ended) ORDER BY r.reference) FROM urlmode.refund r WHERE r.kind = 'dispute'),
	'unclaimed', (SELECT json_agg(u.reference ORDER BY u.reference) FROM urlmode.unclaimed() u),
	'paid', (SELECT json_agg(urlmode.paid($1, i)) FROM unnest($2::text[]) i)
) AS observed`;

let histories = 0;

/** A stage with the connections of several webhook programs. */
export async function openStage(t) {
	const stage = await Stage.open(t);
	stage.crowd = await Promise.all([1, 2, 3].map(() => stage.connect('urlmode_cgi')));
	return stage;
}

/**
 * @param {import('./stage.mjs').Stage} stage
 * @param {object[]} steps
 */
export async function run(stage, steps) {
	const runner = new Runner(stage, histories += 1);
	const emptied = Object.keys(TIMES).reverse();
	await stage.admin.query(emptied.map((table) => `DELETE FROM urlmode.${table}`).join(';'));
	for (const step of steps) {
		try {
			await runner.step(step);
		} catch (error) {
			throw Object.assign(error, { step });
		}
	}
}

class Runner {
	#stage;
	#number;
	#start = Date.now();
	#model = new SubscriptionModel();
	#follower = new Follower();
	/** The row that a call got, by its label. */
	#rows = new Map();
	/** What was told, by label: to tell it again. */
	#events = new Map();

	constructor(stage, number) {
		this.#stage = stage;
		this.#number = number;
	}

	async step(step) {
		await this.#steps[step.do](step);
		await this.#compare();
	}

	#id(label) {
		const hex = createHash('sha256').update(`subscriptions ${this.#number} ${label}`).digest('hex');
		return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-4$3-8$4-$5');
	}

	#user(user) {
		return `${user}-${this.#number}`;
	}

	/** Times of the history, as the database has them now. */
	#real(ms) {
		return this.#start + ms - this.#model.now;
	}

	#row(label) {
		const row = this.#rows.get(label);
		return row?.isPurged ? undefined : row;
	}

	#urlmode() {
		return this.#stage.instances[this.#events.size % 2].urlmode;
	}

	#payment({ of, second }, n) {
		return `${this.#number}-${of}${second ? '-second' : ''}-p${n}`;
	}

	#steps = {
		ask: async ({ call, user, item, provider }) => {
			const { hasCheckout, expected } = ITEMS[item];
			const id = this.#id(call);
			const made = await this.#stage.instances[0].urlmode.create({
				id, provider, kind: 'payment', subject: this.#user(user), item, expected, subscription: true, ttl: TTL, canRecheck: false,
				targetUrl: () => (hasCheckout ? { url: 'https://shop.example/pay', checkout: `ck-${id}` } : 'https://shop.example/pay'),
			}).catch((error) => error);
			const row = this.#model.ask(id, { user, item, provider });
			assert.deepEqual(made.code ?? made.elicitationId ?? made, row?.id ?? 'ELICITATION_SUBSCRIBED', 'create');
			if (row) this.#rows.set(call, row);
			if (row) row.call ??= call;
		},
		open: async ({ of }) => {
			const row = this.#row(of);
			if (!row) return;
			const { rows } = await this.#stage.callback.query(`SELECT outcome FROM urlmode.open(ids => ARRAY[$1::uuid], bindings => ARRAY[$2::bytea],
				providers => ARRAY[$3], browsers => ARRAY[$4::bytea], graces_ms => ARRAY[$5::bigint])`,
			[row.id, bindingOf(this.#user(row.user), ''), row.provider, browserOf(row.user), GRACE]);
			assert.equal(rows[0].outcome, this.#model.open(row), 'open');
		},
		tell: async ({ events }) => {
			const told = events.map((event) => this.#toEvent(event)).filter((event) => event !== undefined);
			if (told.length === 0) return;
			const outcomes = await receive(this.#stage.callback, told.map(({ sent }) => sent));
			for (const [n, { tell }] of told.entries()) assert.ok([undefined, tell()].includes(tell.outcome?.(outcomes[n])), outcomes[n]);
		},
		crowd: async ({ events }) => {
			const told = events.map((event) => this.#toEvent(event)).filter((event) => event !== undefined);
			const clients = this.#stage.crowd;
			await Promise.all(clients.map(async (client, of) => {
				for (const { sent } of told.filter((event, n) => n % clients.length === of)) await patiently(() => receive(client, [sent]));
			}));
			// What every server does now and then.
			await this.#stage.admin.query('SELECT urlmode.match_unmatched()');
			const before = new Set(this.#model.payments.keys());
			for (const { tell } of told) tell();
			await this.#takeLate([...this.#model.payments.values()].filter(({ reference, row }) => row && !before.has(reference)));
		},
		later: async ({ ms }) => {
			await this.#stage.admin.query(Object.entries(TIMES).map(([table, columns]) => `UPDATE urlmode.${table} SET ${
				columns.map((column) => `${column} = ${column} - interval '${ms} ms'`)}`).join(';'));
			this.#model.now += ms;
		},
		purge: async ({ ms, keep }) => {
			await this.#steps.later({ ms });
			await this.#stage.admin.query("UPDATE urlmode.purge_pass SET since = '-infinity', expires_at = '-infinity'");
			for (const kind of ['payment', 'stored']) {
				const batch = () => this.#stage.admin.query('SELECT urlmode.purge($1, $2, 2)::integer AS taken', [keep, kind]);
				while ((await batch()).rows[0].taken > 0);
			}
			this.#model.purge(keep);
		},
		cancel: async ({ of }) => {
			const row = this.#row(of);
			if (row) assert.equal(await this.#urlmode().cancel(row.id, { subject: this.#user(row.user) }), this.#model.cancel(row), 'cancel');
		},
		settle: async (step) => {
			const row = this.#row(step.of);
			if (!row) return;
			const paid = { reference: this.#payment(step, 1), amount: PRICE };
			await this.#urlmode().complete(row.id, { subject: this.#user(row.user), action: 'accept', ...paid, currency: 'EUR' });
			this.#model.settle(row, paid);
		},
		sendBack: async (step) => {
			const reference = this.#payment(step, step.payment);
			const paid = this.#model.payments.get(reference);
			if (!this.#model.unclaimed().includes(reference)) return;
			const claim = await this.#urlmode().beginClaim(paid.row.id, { subject: this.#user(paid.row.user), reference, anyPayment: true, lease: MINUTE });
			assert.equal(claim.state, 'begun');
			await claim.end('refunded', `re_${reference}`);
			this.#model.sendBack(paid);
		},
	};

	/** What is sent, and what it tells the model; undefined if there is no such call in this history. */
	#toEvent(step) {
		const event = step.again ? this.#events.get(step.again) : { at: this.#model.now - step.ago, said: this.#model.now, ...step };
		const row = event && this.#rows.get(event.of);
		if (!row) return undefined;
		this.#events.set(event.event, event);
		// A checkout has one subscription, whichever call's link has led to it.
		const { made, tell } = this.#kinds[event.kind](row.hasCheckout ? { ...event, of: row.call } : event, row);
		const { unnamed, at } = event;
		const { details, ...columns } = made;
		return {
			tell,
			sent: {
				id: unnamed ? null : row.id, provider: row.provider, identity: `${this.#number}-${event.event}`, currency: 'EUR', ...columns,
				details: details?.subscription ? { ...details, subscription: { ...details.subscription, ...details.subscription.id && { at_ms: this.#start + at } } } : details,
			},
		};
	}

	#kinds = {
		first: (event, row) => {
			const reference = this.#payment(event, 1);
			const { amount = PRICE, plain, inPart, at } = event;
			const subscription = row.provider === 'shop' ? this.#subscription(event) : undefined;
			return {
				made: {
					effect: 'paid', ref: reference, amount, result: seal(this.#stage.keys, { id: row.id, binding: bindingOf(this.#user(row.user), ''), use: RESULT_INFO }, '{}'),
					checkout: row.hasCheckout ? `ck-${row.id}` : null,
					details: { ...!inPart && { checkout_paid: true }, ...!plain && { subscription: subscription ? { id: subscription } : {} } },
				},
				tell: () => this.#model.first(row, { reference, amount, at, isOfSubscription: !plain, isWhole: !inPart, subscription: plain ? undefined : subscription }),
			};
		},
		renewal: (event, row) => {
			const [id, reference] = [this.#subscription(event), this.#payment(event, event.payment)];
			return {
				made: { effect: 'renewed', ref: reference, amount: PRICE, details: { subscription: { id } } },
				tell: () => this.#model.renewal(id, { at: event.at, reference, isNamed: !event.unnamed, row }),
			};
		},
		is: (event, row) => {
			const id = this.#subscription(event);
			const first = row.provider === 'mart' ? this.#payment(event, 1) : undefined;
			const { status, paused } = event;
			const times = Object.fromEntries(['until', 'trialUntil', 'cancelAt'].filter((name) => event[name] !== undefined)
				.map((name) => [name, event[name] === null ? null : event.said + event[name] + ODD]));
			const real = (ms) => (ms === null ? null : this.#real(ms));
			const said = {
				...status && { status }, ...paused !== undefined && { paused },
				...'until' in times && { until_ms: real(times.until) }, ...'trialUntil' in times && { trial_until_ms: real(times.trialUntil) },
				...'cancelAt' in times && { cancel_at_ms: real(times.cancelAt) },
			};
			return {
				made: { effect: 'subscription', ref: id, details: { subscription: { id, ...said, ...first && { payment: first } } } },
				tell: () => this.#model.is(id, { at: event.at, isNamed: !event.unnamed, status, paused, ...times, first }),
			};
		},
		refund: (event, row) => this.#back(event, row, `r${event.refund}`, AMOUNTS[event.refund], { effect: event.reversed ? 'refund_reversed' : 'refunded' }),
		dispute: (event, row) => this.#back(event, row, 'dispute', PRICE, DISPUTE[event.phase], event.phase),
	};

	#back(event, row, refund, amount, { effect, kind, state }, phase) {
		const payment = this.#payment(event, event.payment);
		const reference = `${payment}-${refund}`;
		return {
			made: {
				effect, ref: payment, refund: reference, amount: effect === 'disputed' ? null : amount,
				details: { occurred_at: Math.floor((this.#start + event.at) / 1_000), ...kind && { kind, state } },
			},
			tell: () => this.#model.back(reference, event.event, { payment, row: event.unnamed ? undefined : row, amount, at: event.at, effect, phase,
				isEnd: kind !== undefined && kind !== 'dispute' }),
		};
	}

	/** Of payments for one row that were told at the same time, chance has said which one comes after its end; not how many. */
	async #takeLate(payments) {
		const { rows } = await this.#stage.admin.query('SELECT reference, late FROM urlmode.payment WHERE reference = ANY ($1)',
			[payments.map(({ reference }) => reference)]);
		const real = new Map(rows.map(({ reference, late }) => [reference, late]));
		for (const row of new Set(payments.map((paid) => paid.row))) {
			const own = payments.filter((paid) => paid.row === row);
			const count = (isLate) => own.filter(isLate).length;
			if (count(({ late }) => late) !== count(({ reference }) => real.get(reference))) continue;
			for (const paid of own) paid.late = real.get(paid.reference) ?? paid.late;
		}
	}

	#subscription({ of, second }) {
		return `${this.#number}-${of}-sub${second ? '-second' : ''}`;
	}

	async #compare() {
		const [{ observed: real }] = await this.#stage.ask(OBSERVE, [this.#user('ann'), Object.keys(ITEMS)]);
		const model = this.#model;
		assert.deepEqual(real.rows ?? [], model.rows.map(({ id, status, action = null, reason = '' }) => ({ id, status, action, reason })), 'the elicitations');
		assert.deepEqual(real.payments ?? [], [...model.payments.values()].sort((one, other) => (one.reference < other.reference ? -1 : 1)).map((paid) => ({
			reference: paid.reference, user: this.#user(paid.user), item: paid.item, amount: paid.amount, matches: paid.matches, late: paid.late, claimed: paid.claimed,
			back: model.backOf(paid), isBack: model.isBack(paid), held: model.isHeld(paid), isOpened: paid.matches,
			of: (paid.of ?? (paid.matches ? [...model.subscriptions.values()].find(({ first }) => first === paid.reference) : undefined))?.id ?? null,
		})), 'the payments');
		assert.deepEqual(real.unclaimed ?? [], model.unclaimed(), 'what nobody has claimed');
		assert.deepEqual(real.paid, Object.keys(ITEMS).map((item) => model.hasPaid('ann', item)), 'who has paid');
		for (const user of USERS) {
			const best = [];
			for (const item of Object.keys(ITEMS)) {
				const own = (real.subscriptions ?? []).filter((each) => each.user === this.#user(user) && each.item === item)
					.map(({ user: _, item: __, until, ...each }) => ({ ...each, until: this.#history(until) }));
				const listed = model.listed(user, item);
				assert.deepEqual(sorted(own), sorted(listed), `the subscriptions of ${user} for ${item}`);
				const { subscription: _, openedAt: __, ...first } = model.best(user, item) ?? {};
				if (listed.length > 0) best.push({ item, ...first });
			}
			const told = await this.#urlmode().entitlements({ subject: this.#user(user) });
			assert.deepEqual(told.map(({ item, status, until, paused, entitled }) => ({ item, status, until: this.#history(until?.getTime()), paused, entitled })),
				best.sort((one, other) => (one.item < other.item ? -1 : 1)), `what ${user} is told`);
		}
		assert.deepEqual(real.nobodys ?? [], model.nobodys(), 'the subscriptions that are nobody\'s');
		assert.deepEqual(real.disputes ?? [], model.disputes().map(({ reference, phase }) => {
			const { kind, state } = DISPUTE[phase];
			return { reference, state, ended: /^dispute_(won|lost)$/.exec(kind)?.[1] ?? null };
		}), 'how disputes stand');
		await this.#follower.follow(this.#stage);
	}

	/** A time of the database in this history. */
	#history(ms) {
		return ms === null || ms === undefined ? null : Math.round(Number(ms) - this.#start + this.#model.now);
	}
}

const sorted = (list) => list.map((each) => JSON.stringify(Object.entries(each).sort())).sort();

/** Events of providers, in one call. Returns an outcome for each. */
async function receive(client, events) {
	const column = (name) => events.map((event) => event[name] ?? null);
	const { rows } = await client.query(`SELECT outcome FROM urlmode.receive_events(ids => $1::uuid[], providers => $2::text[], identities => $3::text[], types => $4::text[],
		effects => $4::text[], amounts => $5::bigint[], currencies => $6::text[], refs => $7::text[], results => $8::bytea[], refunds => $9::text[], checkouts => $10::text[],
		details => $11::jsonb[])`,
	[column('id'), column('provider'), column('identity'), column('effect'), column('amount'), column('currency'), column('ref'), column('result'), column('refund'), column('checkout'),
		column('details')]);
	return rows.map(({ outcome }) => outcome);
}

/** As the webhook program does it: what has waited too long for a lock is sent again. */
async function patiently(send) {
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await send();
		} catch (error) {
			if (attempt > 100 || !['55P03', '40001', '40P01'].includes(error.code)) throw error;
		}
	}
}
