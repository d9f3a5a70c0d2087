// Runs a history against the real thing and the model. After each step both
// must agree, and the invariants must hold.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { until } from '../support/wait.mjs';
import { DISPUTE, DISPUTED, hasCheckout, itemOf, THINGS, TTL, USERS } from './history.mjs';
import { Follower } from './follower.mjs';
import { Ledger } from './ledger.mjs';
import { CLAIM_LEASE, Model, closesAt } from './model.mjs';
import { PROVIDER } from './stage.mjs';

const HOUR = 60 * 60 * 1_000;
const DAY = 24 * HOUR;
const KEPT_UNCLAIMED = 30 * DAY;
/** In seconds, of what happens first at the provider. */
const PROVIDERS_TIME = 1_700_000_000;

const PAIRS = USERS.flatMap((user) => Object.keys(THINGS).map((thing) => [user, thing]));

let histories = 0;

/**
 * @param {import('./stage.mjs').Stage} stage
 * @param {object[]} steps
 * @param {number} [patience] milliseconds that the real thing may take to do what the model has done
 * @throws an error when something does not hold; its property `step` is the step, which may be one of those that end
 *     every history
 */
export async function run(stage, steps, patience = 10_000) {
	const runner = new Runner(stage, histories += 1, patience);
	await stage.clear();
	try {
		for (const step of steps) await runner.step(step);
		await runner.finish();
	} finally {
		await runner.leave();
	}
}

class Runner {
	#stage;
	#number;
	#until;
	#model = new Model();
	#ledger = new Ledger();
	#follower = new Follower();
	/** Calls of a tool, by label: the row they got, and their wait, which has `ended` in fact, and is `over` by the model. */
	#calls = new Map();
	/** What the provider knows to be paid, by label. */
	#paid = new Map();
	/** Rechecks that ask the provider at the moment, by row. */
	#asking = [];
	/** The claims that living instances are at, also where nothing more is heard of their calls. */
	#running = [];

	constructor(stage, number, patience) {
		this.#stage = stage;
		this.#number = number;
		this.#until = (what, condition) => until(what, condition, { timeout: patience, every: 1 });
	}

	async step(step) {
		try {
			this.#model.turn += 1;
			this.#stage.forgetBack();
			if (await this.#steps[step.do](step) === false) return;
			await this.#areRenewed();
			await this.#settleDown();
			await this.#compare();
		} catch (error) {
			throw Object.assign(error, { step });
		}
	}

	/** Labels of this history as the database knows them: no two histories have the same. */
	#id(label) {
		const hex = createHash('sha256').update(`${this.#number} ${label}`).digest('hex');
		return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-4$3-8$4-$5');
	}

	#name(label) {
		return label && `${this.#number}-${label}`;
	}

	/** The row that a call got, unless it was purged. */
	#row(label) {
		const row = this.#calls.get(label)?.row;
		return row?.isPurged ? undefined : row;
	}

	#live() {
		return [...this.#calls.values()].filter(({ wait }) => wait && !wait.over);
	}

	/** What each step does; false: it has done nothing. */
	#steps = {
		call: async ({ call: label, at, user, thing, poll = false, exclusive = false }) => {
			const { urlmode } = this.#stage.instances[at];
			const item = itemOf(thing);
			const request = { ...THINGS[thing], item, ttl: TTL, exclusive, canRecheck: !poll };
			const checkout = hasCheckout(thing) ? this.#name(`checkout-${label}`) : undefined;
			const url = 'https://shop.example/pay';
			const elicitation = await urlmode.create({
				...request, id: this.#id(label), provider: PROVIDER, subject: user, ...!item && { resumeKey: thing },
				targetUrl: checkout ? { url, checkout } : url,
			});
			const row = this.#model.ask(this.#id(label), { ...request, checkout, user, thing: item ?? thing });
			assert.equal(elicitation.elicitationId, row.id, 'create resumes the same elicitation as the model, or none');
			assert.equal(elicitation.resumed, row.id !== this.#id(label), 'resumed');
			this.#ledger.asked(row, this.#model);
			const call = { label, row, at };
			this.#calls.set(label, call);
			this.#wait(call, poll);
		},
		open: async ({ row: label }) => {
			const row = this.#row(label);
			if (!row) return false;
			assert.equal(await this.#stage.open(row.id, row.user), this.#model.open(row), 'open');
		},
		pay: async ({ payment, row: label, amount, currency, named }) => {
			const row = this.#row(label);
			// What costs nothing is mostly no payment of the provider: it has the checkout's name.
			const reference = amount === 0 && !named && row?.checkout || this.#name(payment);
			if (row) this.#paid.set(payment, { row, reference, amount, currency });
			return false;
		},
		event: (step) => this.#events([step]),
		batch: ({ events }) => this.#events(events),
		/** The provider answers a recheck that asks it. */
		answer: async ({ row: label, how }) => {
			const recheck = this.#asking.find(({ row, taken }) => taken && row === this.#row(label));
			if (!recheck) return false;
			this.#asking = this.#asking.filter((each) => each !== recheck);
			const { row, taken } = recheck;
			if (how === 'failing') {
				this.#model.endRecheck(row, taken, true);
				const error = new Error('the provider does not answer');
				if (this.#model.effectiveStatus(row) !== 'completed' && this.#live().includes(recheck.call)) recheck.call.wait.failure = error;
				recheck.reject(error);
			} else {
				// A server that trusts the event takes any payment that it names, at least once that one is proved.
				const found = [...this.#paid.values()].find((paid) => (taken.references.includes(paid.reference) || paid.reference === row.checkout)
					&& (paid.row === row || (how === 'credulously' && this.#model.payments.has(paid.reference))));
				const answer = how !== 'nothing' && found && { action: 'accept', ...answerOf(found) };
				if (answer) {
					const reference = this.#model.nameOf(row, answer);
					recheck.outcome = this.#model.settle(row, answer);
					this.#ledger.answered(row, { ...answer, reference }, recheck.outcome);
				}
				this.#model.endRecheck(row, taken, false);
				recheck.resolve(answer || undefined);
				if (recheck.outcome === 'late') await this.#areTold(this.#model.nameOf(row, found));
			}
			await this.#until('the recheck has ended', () => this.#hasEnded(row));
			// Other instances see it when they read the row again.
			await this.#stage.wake([row.id]);
		},
		/** The client's request times out, or is cancelled. */
		end: async ({ call: label }) => {
			const call = this.#calls.get(label);
			if (!call?.wait || call.wait.over) return false;
			this.#model.abandon(call.row, 'aborted');
			call.wait.controller.abort(new Error('the client is gone'));
			await this.#endOf(call);
			assert.equal(call.wait.error?.message, 'the client is gone', 'the wait rejects with the reason of the signal');
		},
		comeBack: async ({ row: label, action }) => {
			const row = this.#row(label);
			if (!row) return false;
			const reason = action === 'accept' ? '' : 'cancelled';
			assert.equal(await this.#stage.comeBack(row.id, row.user, action, reason),
				this.#model.comeBack(row, action, reason), 'the browser comes back');
		},
		/** A call acts on its outcome, if no other has. */
		claim: async ({ call: label, blindly }) => {
			const call = this.#calls.get(label);
			const outcome = call?.wait?.outcome;
			if (!outcome) return false;
			const { row } = call;
			const { action } = outcome;
			const reference = blindly ? undefined : outcome.reference;
			const claimed = await this.#urlmode(call).claim(row.id, { subject: row.user, action, ...reference && { reference } });
			this.#ledger.claimed(row, action, reference, claimed);
			assert.equal(claimed, this.#model.claim(row, action, reference), 'claim');
		},
		/** A call begins to act on its accept, or is given what another one has done. */
		begin: async ({ call: label, blindly }) => {
			const call = this.#calls.get(label);
			const outcome = call?.wait?.outcome;
			if (outcome?.action !== 'accept') return false;
			const { row } = call;
			const reference = blindly ? undefined : outcome.reference;
			const real = await this.#urlmode(call).beginClaim(row.id, { subject: row.user, lease: CLAIM_LEASE, ...reference && { reference } })
				.catch((error) => ({ state: error.code }));
			const model = this.#model.begin(row, reference);
			assert.equal(real.state, model.state, 'begin');
			assert.deepEqual(real.result, model.lease?.fulfilled?.result, 'what another call has done');
			if (!model.target) return;
			assert.equal(real.reference, model.target.reference, 'what is claimed');
			call.claim = { real, model };
			this.#running.push({ at: call.at, model });
		},
		/** Its work is done. */
		fulfil: async ({ call: label }) => {
			const { real, model } = this.#calls.get(label)?.claim ?? {};
			if (!real?.fulfil) return false;
			const isFirst = !model.lease.fulfilled;
			const done = await real.fulfil({ by: label }).catch(({ code }) => code);
			if (done === true && isFirst) this.#ledger.fulfilled(model.row, model.target.reference);
			assert.equal(done, this.#model.fulfil(model, { by: label }) || 'CLAIM_LOST', 'fulfil');
		},
		/** Its answer was written. */
		confirm: async ({ call: label }) => {
			const { real, model } = this.#calls.get(label)?.claim ?? {};
			if (!real) return false;
			const isFirst = !model.lease.isConfirmed;
			const done = await real.confirm();
			this.#ledger.claimed(model.row, 'accept', model.target.reference, done && isFirst, true);
			assert.equal(done, this.#model.confirm(model), 'confirm');
		},
		release: async ({ call: label }) => {
			const { real, model } = this.#calls.get(label)?.claim ?? {};
			if (!real) return false;
			const wasMade = model.lease.fulfilled !== undefined;
			const done = await real.release();
			assert.equal(done, this.#model.release(model), 'release');
			if (done && wasMade) this.#ledger.forgotten(model.row, model.target.reference);
		},
		/** The operator takes what unclaimed() lists, and may die before it is refunded: then it is listed again. */
		refundByHand: async ({ payment, reference = this.#paid.get(payment)?.reference, dies, delivers }) => {
			const listed = (await this.#stage.instances[0].urlmode.unclaimed({ provider: PROVIDER }))
				.find((each) => each.reference === reference);
			assert.equal(listed !== undefined, this.#model.unclaimed().some((each) => each.reference === reference), 'listed');
			if (!listed) return false;
			const { row } = this.#model.payments.get(reference);
			assert.equal(listed.elicitationId, row.id, 'what it was paid for');
			assert.equal(listed.refunded, this.#model.payments.get(reference).back, 'what went back of it');
			assert.equal(listed.held, this.#model.payments.get(reference).held, 'whether it is held');
			const real = await this.#stage.instances[0].urlmode.beginClaim(row.id, { subject: row.user, reference, anyPayment: true, lease: CLAIM_LEASE });
			const model = this.#model.begin(row, reference, true);
			assert.equal(real.state, model.state, 'claim of what is listed');
			assert.equal(real.state, 'begun');
			this.#running.push({ at: 0, model });
			if (dies) return;
			await real.end(...delivers ? ['delivered'] : ['refunded', `re_${reference}`]);
			assert.ok(this.#model.endByHand(model, delivers ? 'delivered' : 'refunded'), 'it is delivered or refunded once');
			if (delivers) this.#ledger.delivered(reference);
			this.#ledger.claimed(row, 'accept', reference, true, true);
		},
		decide: async ({ payment, reference = this.#paid.get(payment)?.reference, decision }) => {
			if (!reference) return false;
			const outcome = this.#model.decide(reference, decision);
			assert.equal(await this.#stage.decide(reference, decision), outcome, 'decide');
			if (outcome === 'released') this.#ledger.released(reference);
		},
		cancel: async ({ row: label }) => {
			const row = this.#row(label);
			if (!row) return false;
			const cancelled = await this.#stage.instances[0].urlmode.cancel(row.id, { subject: row.user });
			assert.equal(cancelled, this.#model.settle(row, { action: 'cancel', reason: 'cancelled' }) === 'completed', 'cancel');
		},
		complete: async ({ row: label, payment }) => {
			const row = this.#row(label);
			const paid = this.#paid.get(payment);
			// No server takes the checkout of another elicitation for a payment of this one.
			if (!row || !paid || row.kind !== 'payment' || (paid.row !== row && paid.reference === paid.row.checkout)) return false;
			const answer = { action: 'accept', ...answerOf(paid) };
			const outcome = await this.#stage.instances[0].urlmode.complete(row.id, { subject: row.user, ...answer })
				.catch((error) => error.name);
			const reference = this.#model.nameOf(row, answer);
			const expected = this.#model.settle(row, answer);
			this.#ledger.answered(row, { ...answer, reference }, expected);
			assert.equal(outcome, {
				completed: true, late: true, already: false, mismatch: 'ElicitationMismatchError',
				reference_taken: 'ElicitationReferenceError',
			}[expected], 'complete');
			if (['late', 'completed'].includes(expected) && this.#model.payments.get(reference).late) await this.#areTold(reference);
		},
		later: async ({ ms }) => {
			await this.#stage.pass(ms);
			this.#model.now += ms;
			await this.#stage.wake([...new Set(this.#live().map(({ row }) => row.id))]);
		},
		close: async ({ at }) => {
			const calls = this.#live().filter((call) => call.at === at);
			await this.#stage.instances[at].close();
			for (const call of calls) {
				this.#model.abandon(call.row, 'closed');
				await this.#endOf(call);
				assert.equal(call.wait.error?.name, 'UrlModeClosedError', 'a wait rejects when its server closes');
			}
			await this.#replace(at);
		},
		die: async ({ at }) => {
			this.#stage.instances[at].die();
			for (const call of this.#calls.values()) if (call.at === at) delete call.wait;
			await this.#replace(at);
		},
		purge: async ({ ms }) => {
			await this.#steps.later({ ms });
			await this.#stage.purge();
			for (const { row, target } of this.#model.purgeResults()) {
				if (target === row) this.#ledger.claimed(row, 'accept', target.reference, true, true);
				else this.#ledger.forgotten(row, target.reference);
			}
		},
		delete: async ({ keep }) => {
			// What the provider is being asked about may be deleted, and its answer then goes nowhere.
			if (this.#asking.length > 0) return false;
			await this.#stage.delete(keep);
			this.#model.purge(keep);
		},
	};

	async #events(steps) {
		const events = steps.map((step) => this.#toEvent(step)).filter((event) => event !== undefined);
		if (events.length === 0) return false;
		const outcomes = await this.#stage.events(events);
		const late = [];
		for (const [n, { row, ...event }] of events.entries()) {
			const outcome = outcomes[n];
			const reference = this.#model.nameOf(row, event);
			const isKnown = this.#model.payments.has(reference);
			this.#ledger.event(row, { ...event, reference }, outcome);
			assert.equal(outcome, this.#model.event(row, event), `what the event ${event.effect} does`);
			// Of another kind, it says nothing new of a payment that is known.
			const isMoney = outcome === 'other_kind' ? !isKnown : event.effect === 'paid' && row.kind === 'payment' && ['late', 'accept', 'cancel'].includes(outcome);
			if (!isMoney) continue;
			if (this.#model.payments.get(reference).late) late.push(reference);
		}
		for (const reference of late) await this.#areTold(reference);
	}

	/** @returns the event that a step describes; undefined if there is no such row or payment in this history */
	#toEvent({ event: label, effect, payment, row: rowLabel, amount, reference, refund, of = payment, unnamed, byPayment, otherKind, ...step }) {
		const paid = this.#paid.get(payment);
		const row = this.#calls.get(rowLabel)?.row ?? paid?.row;
		if (!row || (payment && !paid)) return undefined;
		const event = {
			row, id: row.id, user: row.user, identity: this.#name(label), effect, reference: paid?.reference ?? this.#name(reference),
		};
		if (effect === 'paid') Object.assign(event, { amount: paid?.amount ?? 1_000, currency: paid?.currency ?? 'EUR' });
		if (otherKind) event.otherKind = true;
		if (refund) event.refund = this.#name(`${of}-r${refund}`);
		if (step.dispute) {
			const { kind, state } = DISPUTE[step.phase];
			const { [step.dispute]: taken } = DISPUTED;
			Object.assign(event, { refund: this.#name(`${of}-d${step.dispute}`), dispute: { at: step.at, kind, state, amount: taken } });
			event.details = { occurred_at: PROVIDERS_TIME + step.at, kind, state };
			if (effect !== 'disputed') event.amount = taken;
		} else if (row.checkout && ['paid', 'processing'].includes(effect)) {
			const { checkout = 'own', inPart } = step;
			if (checkout !== 'none') event.checkout = checkout === 'own' ? row.checkout : `${row.checkout}-other`;
			Object.assign(event, inPart ? { inPart } : { details: { checkout_paid: true } });
			if (effect === 'paid' && event.amount === 0 && event.reference === row.checkout) delete event.reference;
		}
		if (unnamed) delete event.reference;
		else if (byPayment) Object.assign(event, { id: null, byPayment });
		if (amount !== undefined && !step.dispute) event.amount = amount === 'missing' ? undefined : amount;
		return event;
	}

	/** What a call had of an instance that is gone, another one does. */
	#urlmode({ at }) {
		return this.#stage.instances[at].urlmode;
	}

	async #replace(at) {
		// What its calls were at has a lease, which ends by itself.
		for (const call of this.#calls.values()) if (call.at === at) delete call.claim;
		this.#asking = this.#asking.filter((recheck) => recheck.at !== at);
		this.#running = this.#running.filter((claim) => claim.at !== at);
		await this.#stage.start(at);
	}

	/**
	 * A claim whose money goes back is renewed at once, and one whose lease has ended is lost, as long as a part of the money is away. Over
	 * HTTP it hears of it when it is renewed by itself.
	 */
	async #areRenewed() {
		if (this.#running.length === 0) return;
		const ids = await this.#stage.toldBack();
		for (const { at, model: { row, target, lease, isDone } } of this.#running) {
			if (this.#stage.languages[at] === 'http' || !ids.has(row.id) || isDone || target.lease !== lease || lease.fulfilled) continue;
			if (lease.endsAt <= this.#model.now && (target.refunded || target.held)) continue;
			await this.#until('a lease is renewed', () => this.#stage.isRenewed(row.id, target.reference, CLAIM_LEASE));
			lease.endsAt = this.#model.now + CLAIM_LEASE;
		}
	}

	/** Waits for the outcome, as a tool does. To poll is to look once. */
	#wait(call, poll) {
		const { row, at } = call;
		const controller = new AbortController();
		const wait = { controller, poll };
		call.wait = wait;
		wait.promise = this.#stage.instances[at].urlmode.waitForCompletion(row.id, {
			subject: row.user, abandon: true, signal: controller.signal, timeout: poll ? 0 : Infinity,
			...!poll && { recheck: (request) => this.#recheck(call, request) },
		}).then((outcome) => Object.assign(wait, { ended: true, outcome }), (error) => Object.assign(wait, { ended: true, error }));
	}

	/** The recheck function of a wait: the provider answers in a later step. */
	#recheck(call, request) {
		const recheck = { call, row: call.row, at: call.at, request };
		this.#asking.push(recheck);
		return new Promise((resolve, reject) => Object.assign(recheck, { resolve, reject }));
	}

	/** Whether the row says of its rechecks what the model says. */
	async #hasEnded({ id, rechecked, failures }) {
		const [row] = await this.#stage.ask('SELECT rechecked, recheck_failures FROM urlmode.recheck WHERE elicitation = $1', [id]);
		return row.rechecked === rechecked && row.recheck_failures === failures;
	}

	/** Every instance that is up hears of a late payment that is still to be claimed. */
	async #areTold(reference) {
		if (!this.#model.unclaimed().some((paid) => paid.reference === reference)) return;
		for (const { late } of this.#stage.instances) await this.#until(`${reference} is told`, () => late.has(reference));
	}

	async #endOf({ label, wait }) {
		await this.#until(`the wait of ${label} ends`, () => wait.ended);
		wait.over = true;
	}

	/** What waits do by themselves: they expire rows, ask the provider, and end. */
	async #settleDown() {
		for (const { row } of this.#live()) this.#model.expire(row);
		for (const row of new Set(this.#live().filter(({ wait }) => !wait.poll).map((call) => call.row))) {
			await this.#beginRecheck(row);
		}
		// Who polls may end the row.
		const live = this.#live().sort((one, other) => Number(other.wait.poll) - Number(one.wait.poll));
		for (const call of live) await this.#endWait(call);
	}

	async #beginRecheck(row) {
		const idle = this.#live().some((call) => call.row === row && !call.wait.poll
			&& !this.#asking.some((recheck) => recheck.row === row && recheck.at === call.at && recheck.taken));
		const taken = idle && this.#model.beginRecheck(row);
		if (!taken) return;
		const asking = () => this.#asking.find((recheck) => recheck.row === row && !recheck.taken);
		// An answer has completed the row just now: whether its waits see that before the recheck has ended, or another event that asks, is chance.
		const isOver = () => this.#live().every(({ row: of, wait }) => of !== row || wait.poll || wait.ended);
		const recheck = await this.#until('a recheck asks the provider', () => asking() ?? isOver());
		if (recheck === true) {
			this.#model.leaveRecheck(row);
			return;
		}
		assert.deepEqual(recheck.request.references, taken.references, 'the references that a recheck is given');
		Object.assign(recheck, { taken, begunOn: this.#model.effectiveStatus(row) });
	}

	async #endWait(call) {
		const { row, wait } = call;
		if (this.#model.effectiveStatus(row) !== 'completed') {
			if (wait.failure) {
				await this.#endOf(call);
				assert.equal(wait.error, wait.failure, 'a wait rejects with the error of its recheck');
			} else if (wait.poll) {
				this.#model.abandon(row, 'timeout');
				await this.#endOf(call);
				if (row.status === 'completed' && wait.outcome) assert.equal(wait.outcome.reason, 'timeout');
				else assert.equal(wait.error?.name, 'ElicitationTimeoutError', 'who polls an open row is told that it is open');
			}
			return;
		}
		const rechecking = this.#asking.some((recheck) => recheck.row === row && recheck.at === call.at && recheck.begunOn === 'completed');
		const overHttp = this.#stage.languages[call.at] === 'http';
		// There it waits for its own server's answer, also if another one has answered meanwhile.
		if (rechecking && !wait.poll && (overHttp || this.#model.needsRecheck(row))) return;
		await this.#endOf(call);
		const { action, reason, late, reference } = this.#model.outcome(row);
		const { action: realAction, reason: realReason, late: realLate = false, reference: realReference = null, from = null } = wait.outcome ?? {};
		assert.deepEqual(
			{ action: realAction, reason: realReason, late: realLate, reference: realReference, from, error: wait.error },
			{ action, reason, late, reference, from: overHttp || action === 'accept' || reason === 'held' ? null : row.from, error: undefined },
			`the outcome of ${call.label}`);
		this.#ledger.outcome(row, wait.outcome, this.#model);
	}

	async #compare() {
		const real = await this.#stage.observe(PAIRS);
		const model = this.#model;
		for (const { label, wait } of this.#live()) assert.ok(!wait.ended, `the wait of ${label} goes on`);
		for (const { row, taken } of this.#asking) {
			// After a failure the next one begins a second later, by the clock.
			assert.ok(taken || row.failures > 0, 'one recheck at a time asks the provider');
		}
		assert.deepEqual(real.rows ?? [], model.rows.map((row) => {
			const { action, late } = model.outcome(row);
			const created = row.expires - TTL;
			return {
				id: row.id, status: row.status, action: row.action, reason: row.reason, from: row.from, claimed: row.claimed,
				failedAttempts: row.failedAttempts, rechecks: row.rechecks, rechecked: row.rechecked, references: row.references,
				expires: TTL / 1_000, closes: (closesAt(row) - created) / 1_000,
				...row.status === 'completed' ? { outcome: action, late } : { outcome: null, late: false },
			};
		}), 'the elicitations');
		assert.deepEqual((real.payments ?? []).map(({ kept, ...paid }) => paid), model.proved().map((paid) => ({
			reference: paid.reference, elicitation: paid.row.id, amount: paid.amount, currency: paid.currency,
			checkout: paid.checkout ?? null, matches: paid.matches, late: paid.late, claimed: paid.claimed, refunded: paid.refunded, back: paid.back, held: paid.held,
			leased: model.isLeased(paid),
		})), 'the payments');
		assert.deepEqual((real.undelivered ?? []).sort(), model.undelivered().sort(), 'what was made and never confirmed');
		assert.deepEqual(real.refunds ?? [], model.refunds.listed(), 'what went back');
		assert.deepEqual(real.disputes ?? [], model.refunds.disputes(), 'how disputes stand');
		assert.deepEqual(real.resumed, PAIRS.map(([user, thing]) => model.resume(user, itemOf(thing) ?? thing, THINGS[thing].expected)?.id ?? null),
			'what a call would resume');
		this.#ledger.check(real);
		await this.#follower.follow(this.#stage);
		for (const { reference, kept } of real.payments ?? []) {
			const { claimed, refunded, hasNoResult, provenAt } = model.payments.get(reference);
			if (!claimed && !refunded && !hasNoResult && model.now - provenAt < KEPT_UNCLAIMED) {
				assert.ok(kept, `the result of ${reference} is kept until it is claimed`);
			}
		}
	}

	/**
	 * In the end the provider answers whoever asks, and time passes. Then every
	 * wait ends, every user gets what is paid, and can ask anew.
	 */
	async finish() {
		for (const { label } of this.#live()) await this.step({ do: 'end', call: label });
		const pairs = new Set([...this.#calls.values()].map(({ row }) => `${row.user} ${row.thing}`));
		for (const pair of pairs) await this.#askAnew(...pair.split(' '));
		const left = this.#model.unclaimed().filter(({ matches }) => matches);
		assert.deepEqual(left, [], 'who calls again gets all that is paid');
		assert.deepEqual(this.#model.undelivered(), [], 'and all that was made for it');
	}

	async #askAnew(user, thing) {
		for (let round = 1; round < 20; round += 1) {
			const call = `${user}-${thing}-${round}`;
			await this.step({ do: 'later', ms: HOUR });
			await this.step({ do: 'call', call, at: round % 2, user, thing });
			await this.step({ do: 'answer', row: call, how: 'truly' });
			await this.#decideAll(round);
			const row = this.#row(call);
			for (const end of ['begin', 'fulfil', 'confirm', 'claim']) await this.step({ do: end, call });
			if (row.status === 'pending') return;
			if (this.#model.effectiveStatus(row) === 'processing') await this.step({ do: 'later', ms: 31 * DAY });
		}
		assert.fail(`${user} can ask anew for ${thing}`);
	}

	/** The operator decides about all that is held, and refunds what does not match. */
	async #decideAll(round) {
		for (const { reference, held, matches } of this.#model.decidable()) {
			if (!matches) await this.step({ do: 'refundByHand', reference });
			else if (held) await this.step({ do: 'decide', reference, decision: ['released', 'voided'][round % 2] });
		}
	}

	/** Ends what is left of it. */
	async leave() {
		for (const recheck of this.#asking) recheck.resolve?.(undefined);
		for (const { wait } of this.#calls.values()) wait?.controller.abort(new Error('left'));
		await Promise.all([...this.#calls.values()].map(({ wait }) => wait?.promise));
	}
}

function answerOf({ reference, amount, currency }) {
	return { reference, amount, currency, result: { reference, amount, currency } };
}
