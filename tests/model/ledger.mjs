// The books of one history: only what the real thing has answered, and what
// must hold of it, whatever the rules are.
//
//   Money that was proved is claimed by exactly one call, or listed, or refunded.
//   Nothing is accepted without proof of that amount for that elicitation.
//   Nobody is asked to pay while a payment of theirs for the same thing is under
//   way or proved, whatever amount.
//   Every wait ends with a documented outcome.

import assert from 'node:assert/strict';

import { closesAt, fits } from './model.mjs';

/** lib/node/REFERENCE.md lists them. */
const OUTCOMES = {
	accept: [''],
	decline: ['cancelled'],
	cancel: [
		'aborted', 'amount_mismatch', 'cancelled', 'closed', 'expired', 'held', 'payment_failed', 'superseded', 'timeout',
	],
};

const MOVES_NOTHING = ['seen', 'unknown', 'other_mode', 'other_checkout', 'reference_taken', 'recheck', 'ignored'];

export class Ledger {
	/** What was proved: by reference, the row that it was proved for, and what was paid. */
	#proofs = new Map();
	/** How many calls have claimed a payment of a row. */
	#claims = new Map();
	/** The outcomes for which a call has done the work. */
	#done = new Set();
	/** References of payments. @type {Set<string>} */
	#delivered = new Set();
	#observed = { payments: [], unclaimed: [], rows: [] };

	event(row, { effect, amount, currency, reference }, outcome) {
		const isOther = outcome === 'other_kind';
		if (effect !== 'paid' || (row.kind !== 'payment' && !isOther) || amount === undefined || MOVES_NOTHING.includes(outcome)) return;
		this.#proved(reference, row, { amount, currency, isOther, matches: !isOther && fits(row.expected, { amount, currency }) });
	}

	answered(row, { reference, amount, currency }, outcome) {
		if (row.kind === 'payment' && outcome === 'already') this.#rename(reference, row);
		if (row.kind === 'payment' && (outcome === 'completed' || outcome === 'late')) this.#proved(reference, row, { amount, currency, matches: true });
	}

	#proved(reference, row, paid) {
		this.#rename(reference, row);
		const proofs = this.#proofs.get(reference) ?? [];
		// Who claimed a first part of it has not got the rest, unless the operator has delivered for it. Who claimed the same money,
		// for another kind, has it.
		const part = !this.#delivered.has(reference) && this.#observed.payments.find((known) => known.reference === reference && known.claimed && !known.matches
			&& !(known.amount === paid.amount && known.currency === paid.currency));
		if (part && paid.matches) this.#claims.set(row.id, this.#claims.get(row.id) - 1);
		this.#proofs.set(reference, [...proofs, { row, ...paid }]);
	}

	/** The operator has delivered for a payment. */
	delivered(reference) {
		this.#delivered.add(reference);
	}

	/** The operator takes a payment for what was asked for. */
	released(reference) {
		this.#proofs.set(reference, this.#proofs.get(reference).map((proof) => ({ ...proof, matches: true })));
	}

	/** A payment that had the name of its checkout has its own now. */
	#rename(reference, { checkout }) {
		if (!this.#proofs.has(checkout) || this.#proofs.has(reference)) return;
		if (this.#delivered.delete(checkout)) this.#delivered.add(reference);
		this.#proofs.set(reference, this.#proofs.get(checkout));
		this.#proofs.delete(checkout);
	}

	/** A call was given this row, and shows the user its link. */
	asked(row, model) {
		const { now, rows } = model;
		if (row.kind !== 'payment' || !['pending', 'opened'].includes(row.status) || now >= row.expires) return;
		const same = ({ user, thing }) => user === row.user && thing === row.thing;
		for (const [reference, proofs] of this.#proofs) {
			const isTheirs = proofs.some((proof) => same(proof.row) && !proof.isOther);
			assert.ok(!isTheirs || !this.#observed.unclaimed.includes(reference),
				`${row.user} is asked to pay for ${row.thing}, and ${reference} is proved`);
		}
		for (const other of rows) {
			const status = model.effectiveStatus(other);
			const isUnderWay = ['opened', 'processing'].includes(status) && now < closesAt({ ...other, status });
			assert.ok(other === row || !same(other) || !isUnderWay,
				`${row.user} is asked to pay for ${row.thing}, and another payment of theirs is under way`);
		}
	}

	/** A call has claimed, with or without success. */
	claimed(row, action, reference, success, byOperator = false) {
		const ofPayment = this.#observed.payments.some((paid) => paid.elicitation === row.id
			&& (paid.matches || paid.reference === reference));
		if (!success || !ofPayment) return;
		assert.equal(action, 'accept', 'a call that was told of a refusal claims no payment');
		const wasHeld = this.#observed.payments.some((paid) => paid.reference === reference && paid.held);
		assert.ok(byOperator || !wasHeld, `no call claims ${reference}, of which a part may have gone back`);
		this.#claims.set(row.id, (this.#claims.get(row.id) ?? 0) + 1);
	}

	/** A call has done the work for an outcome, and said so in time. */
	fulfilled(row, reference) {
		const outcome = `${row.id} ${reference}`;
		assert.ok(!this.#done.has(outcome), 'the work for one outcome is done once');
		this.#done.add(outcome);
	}

	/** The result of that work is of no use any more: it is done again for the same payment. */
	forgotten(row, reference) {
		this.#done.delete(`${row.id} ${reference}`);
	}

	outcome(row, { action, reason, reference }) {
		assert.ok(OUTCOMES[action]?.includes(reason), `${action}, ${reason} is documented`);
		if (action !== 'accept' || row.kind !== 'payment') return;
		const proved = [...this.#proofs].some(([each, proofs]) => (reference ?? each) === each
			&& proofs.some((proof) => proof.row === row && proof.matches));
		assert.ok(proved, `${reference} was proved for what is accepted, with that amount`);
	}

	check(observed) {
		const { payments, unclaimed } = this.#observed = {
			payments: observed.payments ?? [], unclaimed: observed.unclaimed ?? [], rows: observed.rows ?? [],
		};
		const refunds = observed.refunds ?? [];
		for (const [reference, [{ row }]] of this.#proofs) {
			const found = payments.filter((paid) => paid.reference === reference);
			assert.equal(found.length, 1, `${reference} is written down once`);
			assert.equal(found[0].elicitation, row.id, `${reference} belongs to what it was proved for first`);
			const isDeleted = !this.#observed.rows.some(({ id }) => id === row.id);
			assert.equal(unclaimed.filter((each) => each === reference).length,
				Number(!found[0].claimed && !found[0].refunded && !found[0].leased && !isDeleted),
				`${reference} is claimed, refunded or listed, or a call is at it`);
			assert.ok(!isDeleted || found[0].claimed || found[0].refunded || refunds.some((each) => each.payment === reference),
				`${reference} came again after its elicitation was purged, and the operator reads so`);
		}
		assert.equal(payments.length, this.#proofs.size, 'nothing is written down that was not proved');
		assert.equal(Number(observed.counted), unclaimed.length, 'the metric');
		for (const { id } of this.#observed.rows) {
			assert.equal(payments.filter((paid) => paid.elicitation === id && paid.claimed).length, this.#claims.get(id) ?? 0,
				'each payment that is claimed was claimed by one call');
		}
	}
}
