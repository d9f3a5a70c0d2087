// What elicitations and payments are meant to do, in memory and in the shortest
// words. The runner does each step to this and to the real thing, and compares.
//
// Times are milliseconds since the history began. Rows and payments are named
// by the labels of their history: 'c3' is the row that call c3 has created.

import { isNamed, REFUNDS, Refunds } from './refunds-model.mjs';

const MINUTE = 60_000;

/** How long a payment or a signature waits for its provider after its expiry. */
export const GRACE = 10 * MINUTE;
/** The same, while money may be on its way; for so long also an unanswered recheck keeps a row that is over. */
const GRACE_PROCESSING = 30 * 24 * 60 * MINUTE;
const CODE_LIFE = 10 * MINUTE;
/** For so long a call waits for the one that exchanges the code. */
const EXCHANGE = 100_000;
const LEASE = MINUTE;
export const CLAIM_LEASE = 20 * MINUTE;
const KEPT_UNCONFIRMED = 30 * 24 * 60 * MINUTE;
const KEPT_UNKNOWN = 30 * 24 * 60 * MINUTE;
const PAUSE = 1_000;

const isOpen = ({ status }) => status !== 'completed';

/** Whether this is what was to be paid. */
export function fits(expected, { amount, currency }) {
	if (expected === 'any') return amount > 0;
	if (expected.match === 'checkout') return true;
	return currency === expected.currency && (expected.match === 'at-least' ? amount >= expected.amount : amount === expected.amount);
}

export class Model {
	now = 0;
	/** The first one created first. */
	rows = [];
	/** Counts transactions. */
	turn = 0;
	/** The money that a provider has proved, by reference. */
	payments = new Map();
	refunds = new Refunds(this);
	/** What went back of payments that nobody knows yet, by the identity of the event. */
	#unknown = new Map();
	#events = new Set();

	// What a server does

	/** A call asks: it goes on with what there is for the same thing, or creates a row. */
	ask(id, { user, thing, kind, expected, checkout, ttl, exclusive, canRecheck }) {
		const found = this.resume(user, thing, expected, canRecheck);
		// What does not match was told, or nobody heard it: from now on the money is held.
		if (found && this.#isWrong(found)) this.claim(found, 'cancel');
		if (found) return found;
		// At another price, and nobody has opened it.
		for (const row of this.rows) {
			const isOther = row.user === user && row.thing === thing && row.price !== priceOf(expected);
			if (isOther && row.status === 'pending' && this.now < row.expires) this.#end(row, 'cancel', 'superseded');
		}
		if (exclusive) {
			for (const row of this.rows) {
				const begun = row.status !== 'pending' && row.kind !== 'oauth';
				if (row.user === user && isOpen(row) && this.now < row.expires && !begun) this.#end(row, 'cancel', 'superseded');
			}
		}
		const row = {
			id, user, thing, kind, expected, checkout, price: priceOf(expected), status: 'pending', wasOpened: false, expires: this.now + ttl, grace: 0, claimed: false,
			action: null, reason: '', from: null, failedAttempts: 0, rechecks: 0, rechecked: 0, failures: 0, recheckAt: 0, recheckLease: 0,
			references: [], attempts: { underWay: new Map(), over: new Set(), named: new Set(), checkouts: new Map() },
		};
		this.rows.push(row);
		return row;
	}

	/**
	 * What is paid and unclaimed goes before money that does not match, that before what is processing, that before what is open, and
	 * that before what has ended unclaimed. What is paid is taken whatever the price is now, and what somebody has opened is gone on with.
	 */
	resume(user, thing, expected, canRecheck = true) {
		const own = this.rows.filter((row) => row.user === user && row.thing === thing).reverse();
		const ranked = own.filter((row) => this.#rankOf(row) !== undefined);
		const goesOn = (row) => this.#goesOn(row) && (this.effectiveStatus(row) !== 'pending' || row.price === priceOf(expected));
		return ranked.sort((one, other) => this.#rankOf(one) - this.#rankOf(other))[0]
			?? own.find((row) => this.#isWrong(row) && this.effectiveStatus(row) === 'processing')
			?? own.find((row) => this.#isWrong(row))
			?? own.find((row) => this.effectiveStatus(row) === 'processing' && this.#goesOn(row))
			?? own.find((row) => goesOn(row) || (isOpen(row) && canRecheck && this.#mayBePaid(row)))
			?? own.find((row) => !isOpen(row) && this.#isUnanswered(row, canRecheck));
	}

	/** Money that was paid for it does not match, and nobody has delivered or refunded it: nobody is asked for money again. */
	#isWrong(row) {
		return this.#wrong(row) !== undefined && !isOpen(row) && this.#rankOf(row) === undefined;
	}

	#wrong(row) {
		if (row.kind !== 'payment') return undefined;
		return this.paymentsOf(row).filter((paid) => !paid.matches && isUnclaimed(paid)).sort((one, other) => this.#rank(one) - this.#rank(other))[0];
	}

	#goesOn(row) {
		const status = this.effectiveStatus(row);
		return status !== 'completed' && this.now < closesAt({ ...row, status });
	}

	/** Somebody said so, and nobody has asked the provider yet. */
	#mayBePaid(row) {
		return row.kind === 'payment' && row.rechecks > row.rechecked && this.now < (row.completedAt ?? closesAt(row)) + GRACE_PROCESSING;
	}

	#isUnanswered(row, canRecheck) {
		if (this.paymentsOf(row).some(({ matches }) => matches)) return false;
		if (row.kind === 'payment' && row.rechecks > row.rechecked && canRecheck) return this.#mayBePaid(row);
		if (row.isExchanging) return this.now < row.claimedAt + EXCHANGE;
		if (row.claimed || row.reason === 'superseded') return false;
		if (row.action !== 'accept') return this.now < row.expires;
		return row.kind !== 'oauth' || this.now < row.completedAt + CODE_LIFE;
	}

	/**
	 * The status that pages and calls are told: money is on its way for a payment that has ended, because its user went on
	 * at the provider.
	 */
	effectiveStatus(row) {
		if (row.status !== 'completed' || row.kind !== 'payment' || row.action === 'accept') return row.status;
		const since = row.from === null ? -1 : row.endedIn;
		const isUnderWay = [...row.attempts.underWay].some(([name, turn]) => name && turn > since);
		const isPaid = this.paymentsOf(row).some(({ matches }) => matches);
		return isUnderWay && !isPaid && this.now < closesAt({ ...row, status: 'processing' }) ? 'processing' : 'completed';
	}

	/** The payment that a call is offered: the oldest that matches and that nobody has claimed, first those that no call is at. */
	offered(row) {
		return this.#ranked(row).find((paid) => this.#rank(paid) < 3);
	}

	/** What was paid may have gone back, in part: nobody is asked to pay again until somebody has decided. */
	isHeld(row) {
		return this.#rankOf(row) === 3;
	}

	/** Whether a call is at it, or has done the work. */
	isLeased({ lease }) {
		return lease !== undefined && (lease.fulfilled !== undefined || this.now < lease.endsAt);
	}

	/** Whether a call works for it, or its result is kept for the next one. */
	#isAtCall(paid) {
		return this.isLeased(paid) && !wasForgotten(paid);
	}

	/** What the operator can decide about. */
	decidable() {
		return this.proved().filter((paid) => isUnclaimed(paid) && !this.#isAtCall(paid) && !paid.row.isPurged);
	}

	/** In which order calls are given payments: 0 what they can claim, 1 what is done, 2 what another call is at, 3 what is held. */
	#rank(paid) {
		if (this.#isAtCall(paid)) return paid.lease.fulfilled ? 1 : 2;
		return paid.held ? 3 : 0;
	}

	/** The payments that match and that nobody has claimed. */
	#ranked(row) {
		return this.paymentsOf(row).filter((paid) => paid.matches && isUnclaimed(paid))
			.sort((one, other) => this.#rank(one) - this.#rank(other));
	}

	#rankOf(row) {
		const [first] = this.#ranked(row);
		return first && this.#rank(first);
	}

	/** What a wait is told, once the row is completed. */
	outcome(row) {
		if (!isOpen(row) && this.isHeld(row)) {
			const { reference } = this.paymentsOf(row).find((held) => held.matches && isUnclaimed(held));
			return { action: 'cancel', reason: 'held', late: false, reference };
		}
		// To one call it is amount_mismatch.
		if (this.#isWrong(row) && (row.claimed || row.reason !== 'amount_mismatch')) {
			return { action: 'cancel', reason: 'held', late: false, reference: this.#wrong(row).reference };
		}
		// Of what was claimed, first what is not held.
		const paid = this.offered(row) ?? this.paymentsOf(row).filter(({ matches, refunded }) => matches && !refunded)
			.sort((one, other) => this.#rank(one) - this.#rank(other))[0];
		return paid ? { action: 'accept', reason: '', late: paid.late, reference: paid.reference }
			: { action: row.action, reason: row.reason, late: false, reference: null };
	}

	/** Each payment is taken once, by who was told of an accept; what is no payment, its row's outcome once. */
	claim(row, action, reference, held = false) {
		const payments = this.paymentsOf(row);
		// Money for another kind is not its outcome, and does not wait for it.
		const isOther = payments.some((paid) => isNamed(paid, reference) && !paid.matches);
		if (row.isPurged || (isOpen(row) && !isOther)) return false;
		if (payments.some((paid) => paid.matches || isNamed(paid, reference))) {
			if (action !== 'accept') return false;
			const paid = this.#pick(row, reference, held);
			if (!paid || this.isLeased(paid)) return false;
			this.#claimPayment(paid);
			if (row.kind !== 'payment' || isOpen(row)) return true;
		} else if (row.claimed || row.action !== action) {
			return false;
		}
		if (this.isLeased(row)) return false;
		delete row.lease;
		this.#claimRow(row);
		return true;
	}

	/** The payment that this name is of, the name of its checkout as well; without a name the one that is offered. */
	#pick(row, reference, held) {
		if (reference === undefined) return this.offered(row);
		const order = (paid) => [paid.reference === reference ? 0 : 1, this.#rank(paid)];
		return this.paymentsOf(row).filter((paid) => isNamed(paid, reference) && isUnclaimed(paid) && (held || this.#rank(paid) < 3))
			.sort((one, other) => order(one)[0] - order(other)[0] || order(one)[1] - order(other)[1])[0];
	}

	#claimPayment(paid) {
		delete paid.lease;
		Object.assign(paid, { claimed: true, claimedAt: this.now });
	}

	// Claims with two ends: one call at a time does the work, and once

	/** @returns how it begins, and for what follows: `target`, the payment or the row that is claimed, and the `lease` */
	begin(row, reference, isListed = false) {
		if (row.isPurged) return { state: 'ELICITATION_NOT_FOUND' };
		const payments = this.paymentsOf(row);
		if (isOpen(row) && !payments.some((paid) => isNamed(paid, reference) && !paid.matches)) return { state: 'ELICITATION_OPEN' };
		let target = row;
		if (payments.some((paid) => paid.matches || isNamed(paid, reference))) {
			target = this.#pick(row, reference, isListed);
			if (!target) return { state: 'taken' };
			if (!target.matches && !isListed) return { state: 'changed' };
		} else if (row.action !== 'accept') {
			return { state: 'changed' };
		} else if (row.claimed) {
			return { state: 'taken' };
		} else if (row.kind === 'oauth') {
			this.#claimRow(row);
			row.isExchanging = true;
			return { state: 'begun' };
		}
		if (target.lease?.fulfilled && !wasForgotten(target)) {
			target.lease.isGiven = true;
			return { state: 'fulfilled', row, target, lease: target.lease };
		}
		if (this.#isAtCall(target)) return { state: 'leased' };
		target.lease = { endsAt: this.now + CLAIM_LEASE, fulfilled: undefined };
		return { state: 'begun', row, target, lease: target.lease };
	}

	/** Whoever began last decides, and not the time. */
	fulfil(claim, result) {
		const { target, lease } = claim;
		claim.isDone = true;
		if (target.lease !== lease) return false;
		if (!lease.fulfilled || wasForgotten(target)) lease.fulfilled = { result, at: this.now };
		return true;
	}

	/** Can be repeated, after a lost answer. */
	confirm(claim) {
		const { row, lease } = claim;
		if (this.endByHand(claim)) lease.isConfirmed = true;
		return lease.isConfirmed === true && !row.isPurged;
	}

	/** Not what this call has done. What another call has done and this one was given is done again. */
	release({ target, lease, isDone }) {
		if (isDone || target.lease !== lease || (lease.fulfilled && !lease.isGiven)) return false;
		// Another one, so that this call can do nothing more.
		target.lease = { endsAt: this.now, fulfilled: undefined };
		return true;
	}

	/** Whoever has delivered or refunded what is listed says so, and which. */
	endByHand(claim, end = 'delivered') {
		const { row, target, lease } = claim;
		claim.isDone = true;
		if (target.lease !== lease) return false;
		this.#endClaim(row, target);
		target.end = end;
		return true;
	}

	/** The claims whose work was done and whose answers nobody has confirmed, of what did not go back. */
	undelivered() {
		return this.rows.flatMap((row) => [row, ...this.paymentsOf(row)]).filter(({ lease, refunded }) => lease?.fulfilled && !refunded)
			.map(({ reference = '' }) => reference);
	}

	#endClaim(row, target) {
		if (target === row) delete row.lease;
		else this.#claimPayment(target);
		// Money for a row of another kind, or one that is open, is claimed by itself.
		if (target === row || row.kind === 'payment' && row.status === 'completed') this.#claimRow(row);
	}

	/** What was made and never confirmed is forgotten. Of a payment the claim stays; others end. Returns what that was. */
	purgeResults() {
		const old = this.rows.flatMap((row) => [row, ...this.paymentsOf(row)].map((target) => ({ row, target })))
			.filter(({ target: { lease } }) => lease?.fulfilled && !wasForgotten({ lease }) && lease.fulfilled.at <= this.now - KEPT_UNCONFIRMED);
		for (const { row, target } of old) {
			if (target === row) this.#endClaim(row, target);
			else target.lease.fulfilled = 'forgotten';
		}
		this.#forgetRefunded();
		return old;
	}

	/** What went back may come again after its result is gone. */
	#forgetRefunded() {
		for (const paid of this.payments.values()) if (paid.refunded) paid.hasNoResult = true;
	}

	#claimRow(row) {
		row.claimed = true;
		row.claimedAt ??= this.now;
	}

	/** Deletes what has been over for so long: nothing can happen to it, and no call is given it. */
	purge(keep) {
		for (const row of this.rows) {
			row.isPurged = this.#isOver(row, this.now - keep);
			if (row.isPurged) for (const paid of this.paymentsOf(row)) delete paid.lease;
		}
		this.rows = this.rows.filter(({ isPurged }) => !isPurged);
		for (const [identity, { since }] of this.#unknown) if (this.now - since >= KEPT_UNKNOWN) this.#unknown.delete(identity);
		this.refunds.purge();
		this.#forgetRefunded();
	}

	#isOver(row, since) {
		const closed = closesAt({ ...row, ...row.kind === 'payment' && { status: 'processing' } });
		// The next call is given it, to ask its provider.
		if (Math.max(row.completedAt ?? 0, row.claimedAt ?? 0, closed) > since || this.#mayBePaid(row)) return false;
		if (this.paymentsOf(row).some((paid) => isUnclaimed(paid) || Math.max(paid.claimedAt ?? 0, paid.refundedAt ?? 0) > since)) return false;
		return row.kind !== 'signature' || row.action !== 'accept' || row.claimed;
	}

	unclaimed() {
		// What came again after its elicitation was purged is nobody's to claim.
		return this.proved().filter((paid) => isUnclaimed(paid) && !this.isLeased(paid) && !paid.row.isPurged);
	}

	/** The first one first; of one transaction, by reference. */
	proved() {
		const order = (one, other) => one.turn - other.turn || (one.reference < other.reference ? -1 : 1);
		return [...this.payments.values()].sort(order);
	}

	/** A wait has ended without an outcome: only what nobody has opened ends with it. */
	abandon(row, reason) {
		if (row.status !== 'pending') return;
		this.#end(row, 'cancel', reason);
		this.#claimRow(row);
	}

	/** Whoever waits ends what is past its time. */
	expire(row) {
		if (isOpen(row) && this.now >= closesAt(row)) this.#end(row, 'cancel', 'expired');
	}

	/** The server's own decision, or what it has learned from the provider. */
	settle(row, { action, reason = '', ...paid }) {
		if (row.kind === 'payment' && action === 'accept') {
			if (!fits(row.expected, paid)) return 'mismatch';
			// The webhook has told of the same checkout already, by the payment's own name.
			if (paid.reference === row.checkout) {
				const [known] = byName(this.paymentsOf(row).filter(({ reference }) => reference !== row.checkout));
				if (known?.matches) return 'already';
				paid.reference = known?.reference ?? row.checkout;
			}
			const proof = this.#prove(row, { ...paid, checkout: row.checkout });
			this.refunds.apply();
			if (proof === 'taken') return 'reference_taken';
			this.#takeUnknown(paid.reference);
			if (proof === 'matches' && !isOpen(row)) return 'late';
		}
		if (!isOpen(row)) return 'already';
		// What the server's own decision has cut off.
		if (action === 'cancel' && row.status !== 'pending') row.from = row.status;
		this.#end(row, action, reason);
		return 'completed';
	}

	// Rechecks: one at a time, whichever instance begins it

	/** What has ended may have been paid late, or have gone back. */
	needsRecheck(row) {
		return row.rechecks > row.rechecked && (isOpen(row) || row.kind === 'payment');
	}

	beginRecheck(row) {
		if (!this.needsRecheck(row) || this.now < row.recheckAt) return undefined;
		row.recheckAt = this.now + LEASE;
		row.recheckLease += 1;
		return { lease: row.recheckLease, rechecks: row.rechecks, references: [...row.references] };
	}

	/** Nobody has begun it. */
	leaveRecheck(row) {
		row.recheckAt = 0;
		row.recheckLease -= 1;
	}

	/** One that took longer than its lease leaves the next one its own. */
	endRecheck(row, { lease, rechecks }, failed) {
		if (!failed) row.rechecked = Math.max(row.rechecked, rechecks);
		if (lease === row.recheckLease) row.recheckAt = failed ? this.now + Math.min(60, 2 ** row.failures) * PAUSE : 0;
		row.failures = failed ? row.failures + 1 : 0;
	}

	// What a browser does

	open(row) {
		if (!isOpen(row)) return this.effectiveStatus(row);
		if (row.status === 'processing' && row.kind !== 'oauth') return this.now < closesAt(row) ? 'processing' : 'expired';
		if (this.now >= row.expires) return 'expired';
		// Nobody is sent to pay for what is paid.
		if (row.kind === 'payment' && this.rows.some((other) => other.user === row.user && other.thing === row.thing
			&& (this.offered(other) || this.isHeld(other) || this.#wrong(other)))) {
			return 'completed';
		}
		row.status = 'opened';
		row.wasOpened = true;
		row.grace = row.kind === 'oauth' ? 0 : GRACE;
		return 'opened';
	}

	/** It proves no payment and no signature. */
	comeBack(row, action, reason) {
		if (!isOpen(row)) return 'already';
		if (this.now >= closesAt(row)) return 'expired';
		if (row.status === 'processing' && row.kind !== 'oauth') return 'processing';
		if (action === 'accept' && row.kind !== 'oauth') return 'unknown';
		this.#end(row, action, reason);
		return 'completed';
	}

	// What a provider does

	/** The elicitation of a payment that was proved, of an attempt that one elicitation was told of, or of a checkout. */
	#find(reference) {
		const told = this.rows.filter(({ attempts }) => attempts.named.has(reference));
		return this.payments.get(reference)?.row ?? (told.length === 1 ? told[0] : this.#findCheckout(reference));
	}

	/** No two have the same. */
	#findCheckout(reference) {
		if (reference === undefined) return undefined;
		return this.rows.find(({ checkout }) => checkout === reference) ?? this.proved().find(({ checkout }) => checkout === reference)?.row;
	}

	/** What a payment is called: one that has no name, and is of nothing, is called as its checkout, and one checkout has one payment. */
	nameOf(row, { reference, amount }) {
		const name = reference ?? (amount === 0 && row.checkout ? row.checkout : row.id);
		if (name !== row.checkout) return name;
		const known = this.paymentsOf(row);
		return known.some((paid) => paid.reference === name) ? name : byName(known)[0]?.reference ?? name;
	}

	/** An event counts once. What proves nothing changes neither status nor expiry. */
	event(named, event) {
		const { effect, reference } = event;
		const isRefund = REFUNDS.includes(effect);
		const paidFor = isRefund ? this.payments.get(reference)?.row : undefined;
		const isUnknown = named.isPurged && this.paymentsOf(named).length === 0;
		const row = event.byPayment ? this.#find(reference) : paidFor ?? ((isRefund && isUnknown && this.#findCheckout(reference)) || named);
		if (!row || (row.isPurged && !(isRefund && this.paymentsOf(row).length > 0))) {
			if (isRefund && !this.#unknown.has(event.identity)) this.#unknown.set(event.identity, { named, event, since: this.now });
			return 'unknown';
		}
		const outcome = row.isPurged ? effect : this.#event(row, event);
		if (isRefund && outcome === effect) this.refunds.tell(row, event);
		this.refunds.apply();
		if (effect === 'paid' && ['accept', 'late', 'cancel', 'repeated', 'other_kind'].includes(outcome)) this.#takeUnknown(reference, event.checkout);
		return outcome;
	}

	/** What went back of a payment before it was proved. */
	#takeUnknown(...names) {
		for (const [identity, { named, event }] of [...this.#unknown]) {
			if (event.reference === undefined || !names.includes(event.reference)) continue;
			this.#unknown.delete(identity);
			this.event(named, event);
		}
	}

	/** What the operator decides about a payment that is held, or does not match. One that was voided can be released. */
	decide(reference, decision) {
		const paid = this.payments.get(reference);
		if (!paid) return 'unknown';
		if (paid.claimed || this.#isAtCall(paid)) return 'claimed';
		if (paid.row.isPurged && decision === 'released') return 'deleted';
		const isWrong = !paid.matches && paid.row.kind === 'payment' && !isOpen(paid.row);
		if (!paid.held && !((paid.row.isPurged || isWrong) && !paid.refunded) && !(decision === 'released' && paid.decision?.decision === 'voided')) return 'not_held';
		// From then on it is what was asked for.
		if (isWrong && decision === 'released') paid.matches = true;
		paid.decision = { decision, refunded: paid.back, turn: this.turn };
		// A call whose lease has ended does not come back to it.
		if (decision === 'voided') delete paid.lease;
		this.refunds.apply();
		return decision;
	}

	#event(row, event) {
		const { identity, effect, amount, currency, reference, otherKind } = event;
		const paid = { amount, currency, reference: this.nameOf(row, event) };
		const seen = this.#events.has(identity);
		if (seen && effect !== 'recheck') return 'seen';
		this.#events.add(identity);
		// The payer can choose the elicitation that a link of the shop names.
		const checkout = event.checkout ?? (effect === 'paid' && row.checkout ? row.attempts.checkouts.get(reference) : undefined);
		if (effect === 'paid' && row.checkout && checkout && checkout !== row.checkout) return otherKind ? 'ignored' : 'other_checkout';
		// An account is accepted by its return alone, and what proves another kind accepts nothing. Money is money.
		if (effect === 'paid' && (otherKind || row.kind === 'oauth')) {
			if (amount === undefined) return otherKind || isOpen(row) ? 'ignored' : 'late';
			return this.#prove(row, { ...paid, checkout }, true) === 'taken' ? 'reference_taken' : 'other_kind';
		}
		const money = effect === 'paid' && row.kind === 'payment';
		if (effect === 'ignore') return 'ignored';
		if (effect === 'other_mode') return 'other_mode';
		const isUnproven = amount === undefined || (row.checkout && (!checkout || event.inPart));
		if (effect === 'recheck' || (money && isUnproven)) return this.#askForRecheck(row, reference);
		if (REFUNDS.includes(effect)) return effect;

		let proof = money ? this.#prove(row, { ...paid, checkout }) : undefined;
		// What was told as money for another kind has ended nothing.
		const known = this.payments.get(reference);
		if (proof === 'repeated' && isOpen(row) && this.now < closesAt(row) && !known.matches && !known.claimed && !known.refunded) proof = 'mismatch';
		if (proof === 'taken') return 'reference_taken';
		if (proof === 'repeated') return 'repeated';
		const isAttempt = effect === 'attempt_failed' || effect === 'processing';
		if (isAttempt && (isOpen(row) || row.kind === 'payment')) {
			this.#attempt(row, effect, reference);
			if (effect === 'processing' && checkout && !row.attempts.checkouts.has(reference)) row.attempts.checkouts.set(reference, checkout);
			return effect;
		}
		if (proof !== 'matches' || !isOpen(row)) this.#endAttempt(row, reference);
		if (!isOpen(row)) return 'late';
		if (proof === 'mismatch') this.#end(row, 'cancel', 'amount_mismatch');
		else this.#end(row, ...{
			paid: ['accept', ''], cancelled: ['decline', 'cancelled'], failed: ['cancel', 'payment_failed'],
			expired: ['cancel', 'expired'],
		}[effect]);
		return row.action;
	}

	/** Each attempt fails once, whichever of its events comes first. Those without a name are taken as they come. */
	#attempt(row, effect, attempt) {
		const { underWay, over, named } = row.attempts;
		if (attempt) named.add(attempt);
		if (effect === 'processing' && !over.has(attempt)) underWay.set(attempt, this.turn);
		if (effect === 'attempt_failed') {
			row.failedAttempts += 1;
			this.#endAttempt(row, attempt);
		}
		if (!isOpen(row)) return;
		if (underWay.size > 0) row.status = 'processing';
		else if (row.status === 'processing') row.status = row.wasOpened ? 'opened' : 'pending';
	}

	#endAttempt({ attempts: { underWay, over } }, attempt) {
		if (attempt) over.add(attempt);
		for (const each of underWay.keys()) if (!attempt || !each || each === attempt) underWay.delete(each);
	}

	/**
	 * One row for each payment, ever: it belongs to the elicitation for which it was proved first. It is late when its
	 * time is over, whether or not somebody has ended the row.
	 */
	#prove(row, { amount, currency, reference, checkout }, otherKind = false) {
		this.#rename(row, checkout, reference);
		const matches = !otherKind && fits(row.expected, { amount, currency });
		const known = this.payments.get(reference);
		if (known && known.row !== row) return 'taken';
		// More of a payment that is captured in parts may make it right.
		const isMore = known && !known.claimed && known.currency === currency && known.amount < amount;
		if (known) known.checkout ??= checkout;
		if (known?.matches) {
			// More that was captured changes nothing else.
			if (known.currency === currency) known.amount = Math.max(known.amount, amount);
			return 'repeated';
		}
		if (known && !(matches || isMore)) return 'repeated';
		// The same money, which was for another kind: who claimed it has it.
		const isSame = known && known.currency === currency && known.amount === amount;
		const paid = {
			claimed: false, refunded: false, back: 0, held: false, reference, row, amount, currency, checkout, provenAt: this.now, turn: this.turn,
			...known && { checkout: known.checkout, lease: known.lease },
			...known?.end === 'delivered' && { claimed: true, claimedAt: known.claimedAt, end: known.end }, ...isSame && known, matches, late: !isOpen(row) || this.now >= closesAt(row),
		};
		// A call may be at it.
		if (known) for (const name of Object.keys(known)) delete known[name];
		this.payments.set(reference, Object.assign(known ?? {}, paid));
		return matches ? 'matches' : 'mismatch';
	}

	/** A payment that has the name of its checkout gets its own. */
	#rename(row, checkout, reference) {
		const known = this.payments.get(checkout);
		if (known?.row !== row || reference === checkout || this.payments.has(reference)) return;
		this.payments.delete(checkout);
		this.payments.set(reference, Object.assign(known, { reference, checkout }));
		this.refunds.rename(checkout, reference);
	}

	#askForRecheck(row, reference) {
		row.rechecks += 1;
		if (reference) row.references = [...row.references.filter((each) => each !== reference), reference].slice(-16);
		return 'recheck';
	}

	paymentsOf(row) {
		return this.proved().filter((paid) => paid.row === row);
	}

	#end(row, action, reason) {
		Object.assign(row, { status: 'completed', action, reason, completedAt: this.now, endedIn: this.turn });
	}
}

function priceOf(expected) {
	return JSON.stringify(expected);
}

/** From then on whoever waits may end it. */
export function closesAt({ kind, status, expires, grace }) {
	return expires + (status === 'processing' && kind !== 'oauth' ? Math.max(grace, GRACE_PROCESSING) : grace);
}

/** The work was done, and what it has made is not kept any more: the next call does it again. */
function wasForgotten({ lease }) {
	return lease?.fulfilled === 'forgotten';
}

/** First what matches, then by name. */
function byName(payments) {
	return payments.sort((one, other) => Number(other.matches) - Number(one.matches) || (one.reference < other.reference ? -1 : 1));
}

function isUnclaimed({ claimed, refunded }) {
	return !claimed && !refunded;
}
