// What went back of payments, as it is meant to be: refunds, and disputes by the times of their provider.

/** What is said of a refund or a dispute. */
export const REFUNDS = ['refunded', 'refund_reversed', 'disputed'];

/** Whoever knows a payment by its checkout finds it also when it has its own name. */
export function isNamed(paid, name) {
	return name !== undefined && (paid.reference === name || paid.checkout === name);
}

export class Refunds {
	#model;
	/** By the reference of the refund. */
	#all = new Map();

	/** @param {import('./model.mjs').Model} model */
	constructor(model) {
		this.#model = model;
	}

	/**
	 * One row for each refund, whatever order its events come in; without a reference of its own it is the total of the payment.
	 * Its payment is the one that was named last. Where none was, and it was told of two elicitations, it may be of either.
	 */
	tell(row, { effect, amount, reference: name, refund: own, byPayment, dispute }) {
		const proved = this.#model.paymentsOf(row);
		const only = proved.length === 1 ? proved[0].reference : undefined;
		// One that names the checkout of a single payment is of that one.
		const ofCheckout = this.#model.proved().filter((paid) => name !== undefined && paid.checkout === name && (byPayment || paid.row === row));
		const payment = ofCheckout.length === 1 && !this.#model.payments.has(name) ? ofCheckout[0].reference : name;
		const reference = own ?? payment ?? only ?? row.id;
		const isReversal = effect === 'refund_reversed';
		const known = this.#all.get(reference);
		const refund = known ?? { reference, rows: new Set([row]), amount, payment: only, ...dispute && { disputed: { amount: dispute.amount, said: [] } } };
		refund.turn = this.#model.turn;
		this.#all.set(reference, refund);
		// Another payment of the checkout that it names was proved since.
		const isKept = payment !== undefined && this.#model.payments.get(refund.payment)?.checkout === payment;
		if (payment && !isKept) refund.payment = payment;
		else if (!payment && !refund.rows.has(row) && refund.payment !== only) refund.payment = undefined;
		refund.rows.add(row);
		if (dispute) {
			refund.disputed.said.push({ ...dispute, effect });
			return;
		}
		if (isReversal) {
			const reversed = amount ?? (known ? refund.amount : undefined);
			refund.reversed = Math.max(refund.reversed ?? 0, reversed ?? Infinity);
		} else if (known) {
			refund.amount = refund.amount === undefined || amount === undefined ? undefined : Math.max(refund.amount, amount);
		}
		// A total that is told again after it came again: nobody knows what is in it.
		if (!isReversal && !own && refund.hasGone && refund.reversed !== undefined) refund.unclearSince = this.#model.turn;
		if (!isReversal) refund.hasGone = true;
	}

	/** What the server is told went back: not the ends of attempts that were never proved, nor disputes that have moved no money. */
	listed() {
		const isOfSomething = (refund) => refund.payment === undefined || [...refund.rows].some((row) => (
			this.#model.paymentsOf(row).some((paid) => this.#mayBeOf(refund, paid))));
		const listed = [...this.#all.values()].filter((refund) => (this.#model.payments.has(refund.payment) || isOfSomething(refund))
			&& !(refund.disputed && lastMoveOf(refund) === undefined));
		return listed.flatMap(({ reference, payment, rows }) => {
			const paid = this.#model.payments.get(payment);
			return (paid ? [paid.row] : [...rows]).map(({ id }) => ({ reference, payment: paid?.reference ?? null, elicitation: id }));
		}).sort((one, other) => (`${one.reference} ${one.elicitation}` < `${other.reference} ${other.elicitation}` ? -1 : 1));
	}

	/** How each dispute stands: as its provider has said of the latest time, and of two things of the same time that it has ended. */
	disputes() {
		const order = ({ at, kind }) => 2 * at + Number(kind !== 'dispute');
		return [...this.#all.values()].filter(({ disputed }) => disputed).map(({ reference, disputed: { said } }) => {
			const { state, kind } = said.reduce((one, other) => (order(other) < order(one) ? one : other));
			return { reference, state, ended: kind === 'dispute' ? null : kind.slice('dispute_'.length) };
		}).sort((one, other) => (one.reference < other.reference ? -1 : 1));
	}

	/** One that names no payment may be of each; one that names a payment that nobody knows, of one that is known by its checkout alone. */
	#mayBeOf({ payment }, paid) {
		if (payment === undefined) return true;
		return !this.#model.payments.has(payment) && (paid.checkout === payment || (!paid.row.isPurged && paid.row.checkout === paid.reference));
	}

	/** Whichever came first, what went back or what was paid. */
	apply() {
		this.#attribute();
		const refunds = [...this.#all.values()];
		for (const paid of this.#model.payments.values()) {
			const back = (refund) => backOf(refund, paid);
			const own = refunds.filter(({ payment }) => payment === paid.reference);
			for (const { rows } of own) rows.add(paid.row);
			const total = own.reduce((sum, refund) => sum + back(refund), 0);
			const { decision, refunded: decided = 0, turn = -1 } = paid.decision ?? {};
			const unnamed = refunds.filter((refund) => refund.rows.has(paid.row) && this.#mayBeOf(refund, paid));
			// Of what has cost nothing, nothing can have gone back.
			const isUnclear = paid.amount > 0 && (total > decided || unnamed.some((refund) => back(refund) > 0 && refund.turn > turn)
				|| [...own, ...unnamed].some(({ unclearSince }) => unclearSince > turn));
			const anyBack = own.some((refund) => !isReversed(refund) || back(refund) > 0);
			const wasRefunded = paid.refunded;
			paid.back = Math.min(paid.amount, total);
			paid.refunded = decision === 'voided' || (anyBack && total >= paid.amount);
			paid.held = isUnclear && !paid.refunded;
			if (!paid.refunded) delete paid.refundedAt;
			else if (!wasRefunded) paid.refundedAt = this.#model.now;
		}
	}

	/** What names no payment, or a checkout, is of the only one that it can be of; what names none, unless it has named two rows. */
	#attribute() {
		for (const refund of [...this.#all.values()].filter(({ payment }) => !this.#model.payments.has(payment))) {
			const proved = this.#model.proved().filter(({ row, checkout }) => refund.rows.has(row) && (!refund.payment || checkout === refund.payment));
			if (proved.length === 1 && (refund.payment || refund.rows.size === 1)) this.#attributeTo(refund, proved[0].reference);
		}
	}

	/** A total has the name of its payment, which may be that of the elicitation. */
	#attributeTo(refund, payment) {
		const isTotal = refund.payment ? refund.reference === refund.payment : [...refund.rows].some(({ id }) => id === refund.reference);
		refund.payment = payment;
		if (!isTotal || refund.reference === payment) return;
		const total = this.#all.get(payment);
		this.#all.delete(refund.reference);
		if (total) Object.assign(total, joined(total, refund, this.#model.turn));
		else this.#all.set(payment, Object.assign(refund, { reference: payment }));
	}

	/** A payment has another name. */
	rename(before, after) {
		for (const refund of [...this.#all.values()]) if (refund.payment === before) this.#attributeTo(refund, after);
	}

	/** What was told of rows that are deleted, and is of no payment. */
	purge() {
		for (const [reference, { rows, payment }] of this.#all) {
			const isKept = [...rows].some((row) => !row.isPurged
				|| this.#model.paymentsOf(row).some((paid) => !payment || isNamed(paid, payment)));
			if (!isKept) this.#all.delete(reference);
		}
	}
}

/** Totals under two names: the greater counts, and nobody knows what is in it if something came again. */
function joined(one, other, turn) {
	const greater = (a, b) => (a === undefined || b === undefined ? undefined : Math.max(a, b));
	const reversed = Math.max(one.reversed ?? -1, other.reversed ?? -1);
	return {
		amount: greater(one.amount, other.amount), rows: new Set([...one.rows, ...other.rows]), hasGone: one.hasGone || other.hasGone,
		...reversed < 0 ? { unclearSince: Math.max(one.unclearSince ?? -1, other.unclearSince ?? -1) } : { reversed, unclearSince: turn },
	};
}

/** The effect by which a dispute has moved money last, by its provider's times. Of the same time the reversal counts. */
function lastMoveOf({ disputed: { said } }) {
	const order = ({ at, effect }) => 2 * at + Number(effect === 'refund_reversed');
	const moves = said.filter(({ effect }) => effect !== 'disputed');
	return moves.length === 0 ? undefined : moves.reduce((one, other) => (order(other) > order(one) ? other : one)).effect;
}

function isReversed(refund) {
	return refund.disputed ? lastMoveOf(refund) === 'refund_reversed' : refund.reversed !== undefined;
}

/** What a refund or dispute has taken of a payment, less what came again. */
function backOf(refund, paid) {
	if (refund.disputed) return lastMoveOf(refund) === 'refunded' ? refund.disputed.amount : 0;
	return Math.max(0, (refund.amount ?? paid.amount) - (refund.reversed ?? 0));
}
