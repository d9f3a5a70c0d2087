// A server that follows the ledger, and knows of money nothing else: what it has read, in
// the order in which it came, must say what is in the tables.
//
// It dies between entries now and then, and reads again what it has not acknowledged.

import assert from 'node:assert/strict';

const GONE = ['refunded', 'disputed'];
const CAME_AGAIN = ['refund_reversed', 'dispute_won'];

/**
 * A turn of it, in one statement, because a round trip for each call took longer than the calls: as many entries at a time as the turn says,
 * each third turn dies before it has acknowledged the first ones.
 */
const FOLLOW = `
	CREATE SCHEMA model;
	CREATE FUNCTION model.follow(turn integer) RETURNS json LANGUAGE plpgsql AS $$
	DECLARE
		lease bigint;
		entries json;
		dies boolean := turn % 3 = 0;
		batches json[] := '{}';
	BEGIN
		LOOP
			lease := coalesce(lease, (SELECT b.lease FROM urlmode.begin_ledger('model', 60000) b));
			SELECT json_agg(l ORDER BY l.number) INTO entries FROM urlmode.read_ledger('model', lease, 1 + turn % 4) l;
			EXIT WHEN entries IS NULL;
			batches := batches || json_build_object('entries', entries, 'dies', dies);
			IF dies THEN
				dies := false;
				lease := NULL;
				UPDATE urlmode.ledger_consumer SET leased_until = now() WHERE consumer = 'model';
			ELSIF NOT urlmode.acknowledge_ledger('model', lease, (entries -> -1 ->> 'number')::bigint, 60000) THEN
				RAISE 'somebody else reads';
			END IF;
		END LOOP;
		PERFORM urlmode.end_ledger('model', lease);
		RETURN json_build_object('batches', batches,
			'refunds', ARRAY(SELECT row_to_json(r) FROM urlmode.refunds() r),
			'payments', ARRAY(SELECT json_build_object('reference', p.reference, 'amount', p.amount, 'currency', p.currency, 'matches', p.matches,
				'late', p.late, 'refunded', p.refunded, 'held', p.held, 'claimed', p.claimed_at IS NOT NULL) FROM urlmode.payment p ORDER BY p.reference));
	END
	$$`;

/** What became of a payment, by its last name. */
export class Follower {
	#books = new Map();
	/** What has gone back, by its reference: how much, and how much of that came again. */
	#refunds = new Map();
	#turn = 0;
	#acknowledged = 0;

	/** @param {import('pg').Client} admin of the database in which they follow */
	static prepare(admin) {
		return admin.query(FOLLOW);
	}

	/** @param {import('./stage.mjs').Stage} stage */
	async follow(stage) {
		this.#turn += 1;
		const [{ followed: { batches, refunds, payments } }] = await stage.ask('SELECT model.follow($1) AS followed', [this.#turn]);
		for (const { entries, dies } of batches) {
			for (const entry of entries) {
				assert.ok(entry.number > this.#acknowledged, 'what was acknowledged does not come again');
				this.#enter(entry);
			}
			if (!dies) this.#acknowledged = entries.at(-1).number;
		}
		this.#compare(refunds);
		this.#check(payments);
	}

	#enter(entry) {
		const { entry_type: type, payment, checkout, amount, currency, refunded } = entry;
		if ([...GONE, ...CAME_AGAIN, 'dispute_lost'].includes(type)) this.#enterRefund(entry);
		if (payment === null) return;
		// It was known by its checkout before.
		if (!this.#books.has(payment) && this.#books.has(checkout)) this.#rename(checkout, payment);
		const book = this.#books.get(payment) ?? { held: false, claimed: false };
		this.#books.set(payment, book);
		book.refunded = refunded;
		switch (type) {
		case 'paid': case 'late': case 'mismatched':
			// Who has claimed a part of it has not got the rest. Who has claimed the whole keeps it when there is more.
			if (!book.matches && (book.amount !== amount || book.currency !== currency)) book.claimed = false;
			Object.assign(book, { amount, currency, matches: type !== 'mismatched', late: type === 'late' });
			break;
		case 'held': book.held = true; break;
		case 'released': case 'voided': book.held = false; break;
		case 'claimed': book.isBegun = true; break;
		case 'delivered': book.claimed = true; break;
		}
		if (book.refunded === book.amount) book.held = false;
	}

	#rename(checkout, payment) {
		this.#books.set(payment, this.#books.get(checkout));
		this.#books.delete(checkout);
		// The total of the checkout is entered again as that of the payment.
		this.#refunds.delete(checkout);
		for (const refund of this.#refunds.values()) if (refund.payment === checkout) refund.payment = payment;
	}

	/** What went back says how much (`isSaid`), and what came again is said after it. */
	#enterRefund({ entry_type: type, kind, reference, payment, elicitation, amount, currency }) {
		const { amount: known = amount, reversed = 0, isSaid = false } = this.#refunds.get(reference) ?? {};
		const taken = GONE.includes(type) ? { amount, reversed: 0, isSaid: true } : { amount: known, reversed: CAME_AGAIN.includes(type) ? amount : reversed, isSaid };
		this.#refunds.set(reference, { ...taken, kind, payment, elicitation, currency });
	}

	/** The list of what went back is a view of the ledger. */
	#compare(listed) {
		for (const { reference, payment, amount, reversed, currency, elicitation, paid, refunded, held, claimed } of listed) {
			const { kind: _, elicitation: named, isSaid, ...entered } = this.#refunds.get(reference) ?? {};
			// Who was told only of what came again does not know how much went back.
			if (isSaid === false) entered.amount = amount;
			assert.deepEqual(entered, { amount, reversed, payment, currency }, `the ledger says what went back by ${reference}`);
			assert.ok([null, elicitation].includes(named), 'and of which elicitation');
			if (payment === null) continue;
			const { isBegun, ...book } = this.#books.get(payment);
			assert.deepEqual([book.amount, book.refunded, book.held], [paid, refunded, held], `and what became of ${payment}`);
			assert.ok(isBegun || !claimed, 'and that a call has begun to act on it');
		}
		const names = new Set(listed.map(({ reference }) => reference));
		for (const [reference, { kind, payment, amount, reversed }] of this.#refunds) {
			const hasMoved = kind !== 'dispute' || amount !== 0 || reversed !== 0;
			// It was of this payment, as long as no event had named one that nobody knows: then the payment has an entry again.
			const book = this.#books.get(payment);
			const rest = listed.filter((each) => each.payment === payment).reduce((sum, each) => sum + Number(each.amount) - Number(each.reversed), 0);
			const isLeft = Number(book?.refunded) === Math.min(rest, Number(book?.amount));
			assert.ok(payment === null || !hasMoved || isLeft || names.has(reference), `what the ledger says of ${reference} is listed`);
		}
	}

	#check(payments) {
		for (const { reference, late, ...paid } of payments) {
			const { late: wasLate, isBegun: _, ...book } = this.#books.get(reference) ?? {};
			assert.deepEqual(book, paid, `the ledger says what became of ${reference}`);
			if (paid.matches) assert.equal(wasLate, late, `the ledger says whether ${reference} was late`);
		}
	}
}
