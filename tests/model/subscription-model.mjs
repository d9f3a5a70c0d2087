// What subscriptions are meant to do, in memory. A subscription is what its provider has said of it, by the provider's times: the order in
// which that was told does not matter, nor what it names: what names neither an elicitation nor a payment waits for its first payment as well.
//
// Times are milliseconds since the history began.

import { ITEMS } from './subscription-history.mjs';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
export const TTL = 5 * MINUTE;
export const GRACE = 10 * MINUTE;
const LATE = 3 * DAY;
const KEPT = 30 * DAY;
/** Of two statuses of the same time the later one in this list counts. */
const RANKS = ['trialing', 'past_due', 'active', 'cancelled', 'paused', 'ended'];
const BEST = ['active', 'trialing', 'cancelled', 'past_due'];

/** The greatest by these values, which are compared one after the other. */
const last = (list, by) => list.reduce((one, other) => (one === undefined || compare(by(one), by(other)) < 0 ? other : one), undefined);

function compare(one, other) {
	const n = one.findIndex((value, i) => value !== other[i]);
	return n < 0 ? 0 : one[n] < other[n] ? -1 : 1;
}

export class SubscriptionModel {
	now = 0;
	rows = [];
	/** All money that was proved, by reference. */
	payments = new Map();
	/** By id. `told`: what was said of it; `renewals`: by reference; `first`: the reference of its first payment, once that is known. */
	subscriptions = new Map();
	/** By the reference of the refund: what was said of it, by event. */
	refunds = new Map();

	// What a server does

	/** @returns the row, or undefined: the user has subscribed */
	ask(id, { user, item, provider }) {
		if (this.isSubscribed(user, item)) return undefined;
		const own = this.rows.filter((row) => row.user === user && row.item === item && row.provider === provider).reverse();
		const wrong = own.find((row) => row.status === 'completed' && this.#wrongOf(row));
		// What does not match was told, or nobody heard it.
		if (wrong?.action === 'cancel') wrong.claimedAt ??= this.now;
		if (wrong) return wrong;
		const found = own.find((row) => this.#isOpen(row))
			?? own.find((row) => row.status === 'completed' && row.action !== 'accept' && row.claimedAt === undefined && this.now < row.expires
				&& !this.paymentsOf(row).some(({ matches }) => matches));
		if (found) return found;
		const row = { id, user, item, provider, status: 'pending', grace: 0, expires: this.now + TTL, ...ITEMS[item] };
		this.rows.push(row);
		return row;
	}

	#isOpen(row) {
		return row.status !== 'completed' && this.now < row.expires + row.grace;
	}

	/** Money that is not what was asked for, and that nobody has sent back. */
	#wrongOf(row) {
		return this.paymentsOf(row).find((paid) => !paid.matches && !paid.claimed && !this.isBack(paid));
	}

	/** The user goes on from the link. */
	open(row) {
		if (row.status === 'completed') return 'completed';
		if (this.now >= row.expires) return 'expired';
		const isPaid = this.rows.some((other) => other.user === row.user && other.item === row.item && other.provider === row.provider && this.#wrongOf(other));
		if (isPaid || this.isSubscribed(row.user, row.item)) return 'completed';
		row.status = 'opened';
		row.grace = GRACE;
		return 'opened';
	}

	cancel(row) {
		if (row.status === 'completed') return false;
		Object.assign(row, { status: 'completed', action: 'cancel', reason: 'cancelled', completedAt: this.now });
		return true;
	}

	/** The server has learned of a payment by itself. */
	settle(row, paid) {
		if (this.#prove(row, { ...paid, isOfSubscription: true, isWhole: true }, true) === 'mismatch') return;
		if (row.status !== 'completed') Object.assign(row, { status: 'completed', action: 'accept', reason: '', completedAt: this.now });
	}

	/** The operator has sent back what is listed. */
	sendBack(paid) {
		Object.assign(paid, { claimed: true, claimedAt: this.now });
		if (paid.row.status === 'completed') paid.row.claimedAt ??= this.now;
	}

	unclaimed() {
		return [...this.payments.values()].filter((paid) => !paid.claimed && !this.isBack(paid)).map(({ reference }) => reference).sort();
	}

	hasPaid(user, item) {
		return [...this.payments.values()].some((paid) => paid.user === user && paid.item === item && paid.matches && !this.isBack(paid)
			&& (paid.claimed || !this.isHeld(paid)));
	}

	purge(keep) {
		const since = this.now - keep;
		for (const row of this.rows) {
			const closed = Math.max(row.completedAt ?? 0, row.claimedAt ?? 0, row.expires + Math.max(row.grace, KEPT));
			// The next call is given it, to ask its provider.
			const isAsked = row.isUnproven && (row.completedAt ?? row.expires + row.grace) > this.now - KEPT;
			row.isPurged = !isAsked && closed <= since && this.paymentsOf(row).every((paid) => (paid.claimed || this.isBack(paid))
				&& Math.max(paid.claimedAt ?? -Infinity, paid.backAt ?? -Infinity) <= since);
		}
		this.rows = this.rows.filter(({ isPurged }) => !isPurged);
		for (const [id, subscription] of this.subscriptions) {
			if (!this.#isOpened(subscription) && subscription.changedAt <= this.now - KEPT) this.subscriptions.delete(id);
		}
		// What nobody knows the payment of goes with the row that it names, or after its time.
		for (const [reference, { payment, said }] of this.refunds) {
			if (this.payments.has(payment)) continue;
			for (const [event, { row, storedAt }] of said) if (storedAt === undefined ? row?.isPurged : storedAt <= this.now - KEPT) said.delete(event);
			if (said.size === 0) this.refunds.delete(reference);
		}
	}

	paymentsOf(row) {
		return [...this.payments.values()].filter((paid) => paid.row === row);
	}

	// What a provider tells

	first(row, paid) {
		if (!row.isPurged && row.expected.match === 'checkout' && !paid.isWhole) {
			row.isUnproven = true;
		} else if (!row.isPurged) {
			const proof = this.#prove(row, paid);
			if (row.status !== 'completed' && proof === 'matches') Object.assign(row, { status: 'completed', action: 'accept', reason: '', completedAt: this.now });
			if (row.status !== 'completed' && proof === 'mismatch') Object.assign(row, { status: 'completed', action: 'cancel', reason: 'amount_mismatch', completedAt: this.now });
		}
		if (paid.subscription) this.#tell(paid.subscription, { at: paid.at, first: paid.reference });
	}

	/** Whether the subscription is known. */
	is(id, said) {
		return this.#tell(id, said);
	}

	renewal(id, said) {
		const isKnown = this.#tell(id, { ...said, first: undefined });
		const { renewals } = this.subscriptions.get(id);
		// Several events tell of one, in any order.
		const at = Math.min(said.at, renewals.get(said.reference)?.at ?? Infinity);
		renewals.set(said.reference, { reference: said.reference, at });
		this.#takeRenewals();
		return isKnown;
	}

	/** What went back of a payment, or came again, or is disputed. Of each refund the last that was said counts, by the provider's time. */
	back(reference, event, { payment, row, amount, ...said }) {
		const refund = this.refunds.get(reference) ?? { payment, amount, said: new Map() };
		this.refunds.set(reference, refund);
		// Of a row that was purged, what goes back is written down if something was paid for it.
		if (this.payments.has(payment) || (row && (!row.isPurged || this.paymentsOf(row).length > 0))) refund.said.set(event, { ...said, row: row?.isPurged ? undefined : row });
		else if (!refund.said.has(event)) refund.said.set(event, { ...said, storedAt: this.now });
		this.#compare();
	}

	#prove(row, { reference, amount, isOfSubscription }, isServer = false) {
		const { match, amount: price } = row.expected;
		const fits = match === 'checkout' || (match === 'at-least' ? amount >= price : amount === price);
		const matches = fits && isOfSubscription;
		if (isServer && !matches) return 'mismatch';
		const known = this.payments.get(reference);
		// More of a payment that is captured in parts may make it right.
		const isMore = known && !known.claimed && known.amount < amount;
		// More that was captured changes nothing else.
		if (known?.matches) {
			known.amount = Math.max(known.amount, amount);
			this.#compare();
		}
		if (known && (known.matches || !(matches || isMore))) return 'repeated';
		const late = row.status === 'completed' || this.now >= row.expires + row.grace;
		const paid = {
			claimed: false, ...known?.amount === amount && known, reference, row, user: row.user, item: row.item, provider: row.provider, amount, matches, late,
			...matches && { openedAt: this.now },
		};
		if (matches && !paid.claimed) Object.assign(paid, { claimed: true, claimedAt: this.now });
		this.payments.set(reference, paid);
		this.#takeRenewals();
		return matches ? 'matches' : 'mismatch';
	}

	#tell(id, { isNamed = true, ...said }) {
		if (!this.subscriptions.has(id)) this.subscriptions.set(id, { id, told: [], renewals: new Map(), isKnown: false });
		const subscription = this.subscriptions.get(id);
		subscription.isKnown ||= isNamed || said.first !== undefined || this.#isOpened(subscription);
		subscription.told.push(said);
		subscription.changedAt = this.now;
		subscription.first ??= said.first;
		this.#takeRenewals();
		return subscription.isKnown;
	}

	/** Renewals are payments as soon as the first payment is proved. */
	#takeRenewals() {
		for (const subscription of this.subscriptions.values()) {
			const first = this.#isOpened(subscription) ? this.payments.get(subscription.first) : undefined;
			for (const { reference, at } of first ? subscription.renewals.values() : []) {
				const paid = this.payments.get(reference);
				if (paid?.of === subscription) paid.paidAt = at;
				if (!paid) this.payments.set(reference, {
					reference, user: first.user, item: first.item, provider: first.provider, amount: 1_000, matches: true, late: false, claimed: true, claimedAt: this.now, paidAt: at, of: subscription,
				});
			}
		}
		this.#compare();
	}

	#isOpened({ first }) {
		return this.payments.get(first)?.openedAt !== undefined;
	}

	// Of a payment

	backOf(paid) {
		const own = [...this.refunds.values()].filter(({ payment }) => payment === paid.reference);
		return Math.min(paid.amount, own.reduce((sum, refund) => sum + goneOf(refund), 0));
	}

	isBack(paid) {
		return paid.amount > 0 && this.backOf(paid) >= paid.amount;
	}

	isHeld(paid) {
		return this.backOf(paid) > 0 && !this.isBack(paid);
	}

	#compare() {
		for (const paid of this.payments.values()) {
			if (!this.isBack(paid)) delete paid.backAt;
			else paid.backAt ??= this.now;
		}
	}

	/** The ids of what no first payment has opened yet. */
	nobodys() {
		return [...this.subscriptions.values()].filter((subscription) => !this.#isOpened(subscription)).map(({ id }) => id).sort();
	}

	/** How each dispute stands: by what was said last, of what does not wait for its payment. */
	disputes() {
		const written = [...this.refunds].map(([reference, { payment, said }]) => (
			[reference, [...said.values()].filter(({ phase, storedAt }) => phase !== undefined && (storedAt === undefined || this.payments.has(payment)))]));
		return written.filter(([, said]) => said.length > 0).map(([reference, said]) => ({ reference, phase: last(said.map((each, n) => ({ ...each, n })), ({ at, isEnd, n }) => [at, isEnd, n]).phase }))
			.sort((one, other) => (one.reference < other.reference ? -1 : 1));
	}

	// Of a user

	/** What each first payment has opened: the subscription that it is of may not be known yet. */
	#opened(user, item) {
		return [...this.payments.values()].filter((paid) => paid.openedAt !== undefined && paid.user === user && paid.item === item)
			.map((paid) => this.#entitlement(paid, [...this.subscriptions.values()].find(({ first }) => first === paid.reference)));
	}

	#entitlement(first, subscription) {
		const told = subscription?.told ?? [];
		const said = (name, by = (value) => value ?? -Infinity) => last(told.filter((each) => each[name] !== undefined), (each) => [each.at, by(each[name])])?.[name] ?? null;
		const status = said('status', (value) => RANKS.indexOf(value));
		const [until, trial, cancel, paused] = [said('until'), said('trialUntil'), said('cancelAt'), said('paused', Number)];
		const payments = [first, ...[...this.payments.values()].filter(({ of }) => subscription && of === subscription)].filter(({ amount }) => amount > 0);
		const paid = last(payments, ({ paidAt = -Infinity, reference }) => [paidAt, reference]);
		const { now } = this;
		const end = until ?? trial ?? first.openedAt;
		const hasEnded = status === 'ended' || (cancel !== null && cancel <= now) || (status === 'cancelled' && (cancel ?? end) <= now);
		const isPaused = (paused === true || status === 'paused') && !hasEnded;
		const tellsStatus = () => {
			if (hasEnded || status === 'paused' || paused || (paid && this.isBack(paid))) return 'ended';
			if (status === 'past_due') return 'past_due';
			// One that ends later than what is paid is renewed until then.
			if (status === 'cancelled' || (cancel !== null && cancel <= (until ?? cancel) + LATE)) return 'cancelled';
			if (end + LATE <= now) return 'past_due';
			return status === 'trialing' || (status === null && trial > now) ? 'trialing' : 'active';
		};
		const answer = tellsStatus();
		return {
			subscription: subscription?.id ?? null, status: answer, until: answer === 'cancelled' ? cancel ?? until ?? trial : until ?? trial, paused: isPaused,
			entitled: ['trialing', 'active', 'cancelled'].includes(answer), openedAt: first.openedAt,
		};
	}

	/** All of a user, sorted by subscription. */
	listed(user, item) {
		return this.#opened(user, item).map(({ openedAt, ...entitlement }) => entitlement).sort((one, other) => (String(one.subscription) < String(other.subscription) ? -1 : 1));
	}

	/** The best of an item. */
	best(user, item) {
		const rank = ({ status }) => (BEST.includes(status) ? BEST.indexOf(status) : BEST.length);
		const [best] = this.#opened(user, item).sort((one, other) => rank(one) - rank(other) || other.paused - one.paused
			|| (other.until ?? -Infinity) - (one.until ?? -Infinity) || one.openedAt - other.openedAt);
		return best;
	}

	isSubscribed(user, item) {
		return this.#opened(user, item).some(({ status, paused }) => status !== 'ended' || paused);
	}
}

/** How much of a payment a refund or dispute has taken, by the last of what has moved money. */
function goneOf({ amount, said }) {
	const moves = [...said.values()].filter(({ effect }) => effect !== 'disputed');
	return last(moves, ({ at, effect }) => [at, effect === 'refund_reversed' ? 1 : 0])?.effect === 'refunded' ? amount : 0;
}
