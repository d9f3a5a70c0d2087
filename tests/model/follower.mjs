// A server that follows the ledger, and knows of money nothing else: what it has read, in
// the order in which it came, must say what is in the tables.
//
// It dies between entries now and then, and reads again what it has not acknowledged.

import assert from 'node:assert/strict';

const CONSUMER = 'model';
const GONE = ['refunded', 'disputed'];
const CAME_AGAIN = ['refund_reversed', 'dispute_won'];

/** What became of a payment, by its last name. */
export class Follower {
	#books = new Map();
	/** What has gone back, by its reference: how much, and how much of that came again. */
	#refunds = new Map();
	#turn = 0;
	#acknowledged = 0;

	/** @param {import('pg').Client} database */
	async follow(database) {
		const ask = async (text, values) => (await database.query(text, values)).rows;
		this.#turn += 1;
		let dies = this.#turn % 3 === 0;
		for (let lease; ;) {
			lease ??= (await ask('SELECT lease FROM urlmode.begin_ledger($1, 60000)', [CONSUMER]))[0].lease;
			const entries = await ask('SELECT * FROM urlmode.read_ledger($1, $2, $3) ORDER BY number', [CONSUMER, lease, 1 + this.#turn % 4]);
			for (const entry of entries) {
				assert.ok(Number(entry.number) > this.#acknowledged, 'what was acknowledged does not come again');
				this.#enter(entry);
			}
			if (entries.length === 0) {
				await ask('SELECT urlmode.end_ledger($1, $2)', [CONSUMER, lease]);
				break;
			}
			if (dies) {
				dies = false;
				lease = undefined;
				await ask('UPDATE urlmode.ledger_consumer SET leased_until = now() WHERE consumer = $1', [CONSUMER]);
			} else {
				const [{ kept }] = await ask('SELECT urlmode.acknowledge_ledger($1, $2, $3, 60000) AS kept', [CONSUMER, lease, entries.at(-1).number]);
				assert.ok(kept, 'nobody else reads');
				this.#acknowledged = Number(entries.at(-1).number);
			}
		}
		this.#compare(await ask('SELECT * FROM urlmode.refunds()'));
		this.#check(await ask(`SELECT reference, amount, currency, matches, late, refunded, held, claimed_at IS NOT NULL AS claimed
			FROM urlmode.payment ORDER BY reference`));
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

	/** What went back says how much, and what came again is said after it. */
	#enterRefund({ entry_type: type, kind, reference, payment, elicitation, amount, currency }) {
		const { amount: known = amount, reversed = '0' } = this.#refunds.get(reference) ?? {};
		const taken = GONE.includes(type) ? { amount, reversed: '0' } : { amount: known, reversed: CAME_AGAIN.includes(type) ? amount : reversed };
		this.#refunds.set(reference, { ...taken, kind, payment, elicitation, currency });
	}

	/** The list of what went back is a view of the ledger. */
	#compare(listed) {
		for (const { reference, payment, amount, reversed, currency, elicitation, paid, refunded, held, claimed } of listed) {
			const { kind: _, elicitation: named, ...entered } = this.#refunds.get(reference) ?? {};
			assert.deepEqual(entered, { amount, reversed, payment, currency }, `the ledger says what went back by ${reference}`);
			assert.ok([null, elicitation].includes(named), 'and of which elicitation');
			if (payment === null) continue;
			const { isBegun, ...book } = this.#books.get(payment);
			assert.deepEqual([book.amount, book.refunded, book.held], [paid, refunded, held], `and what became of ${payment}`);
			assert.ok(isBegun || !claimed, 'and that a call has begun to act on it');
		}
		const names = new Set(listed.map(({ reference }) => reference));
		for (const [reference, { kind, payment, amount, reversed }] of this.#refunds) {
			const hasMoved = kind !== 'dispute' || amount !== '0' || reversed !== '0';
			assert.ok(payment === null || !hasMoved || names.has(reference), `what the ledger says of ${reference} is listed`);
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
