// A server that follows the ledger, and knows of money nothing else: what it has read, in
// the order in which it came, must say what is in the tables.
//
// It dies between entries now and then, and reads again what it has not acknowledged.

import assert from 'node:assert/strict';

const CONSUMER = 'model';

/** What became of a payment, by its last name. */
export class Follower {
	#books = new Map();
	/** The references of what has gone back. */
	#refunds = new Set();
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
		this.#compare(await ask("SELECT reference, payment, refunded FROM urlmode.refunds()"));
		this.#check(await ask(`SELECT reference, checkout, amount, currency, matches, late, refunded, held, claimed_at IS NOT NULL AS claimed
			FROM urlmode.payment ORDER BY reference`));
	}

	#enter({ entry_type: type, payment, checkout, reference, amount, currency, refunded }) {
		this.#refunds.add(reference);
		if (payment === null) return;
		// It was known by its checkout before.
		if (!this.#books.has(payment) && this.#books.has(checkout)) this.#books.set(payment, this.#books.get(checkout));
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
		case 'delivered': book.claimed = true; break;
		}
		if (book.refunded === book.amount) book.held = false;
	}

	/** The list of what went back and the ledger say the same. */
	#compare(listed) {
		for (const { reference, payment, refunded } of listed) {
			assert.ok(this.#refunds.has(reference) || this.#refunds.has(payment), `the ledger tells of the refund ${reference}`);
			if (payment !== null) assert.equal(this.#books.get(payment)?.refunded, refunded, `the ledger says how much of ${payment} went back`);
		}
	}

	#check(payments) {
		for (const { reference, checkout, late, ...paid } of payments) {
			const { late: wasLate, ...book } = this.#books.get(reference) ?? this.#books.get(checkout) ?? {};
			assert.deepEqual(book, paid, `the ledger says what became of ${reference}`);
			if (paid.matches) assert.equal(wasLate, late, `the ledger says whether ${reference} was late`);
		}
	}
}
