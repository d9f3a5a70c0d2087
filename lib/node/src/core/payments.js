// Reports payments that were proved after the end of their elicitation, and
// money that went back. The database announces both to every process that
// listens. Nothing is replayed to a process that did not: `unclaimed()` and
// `refunds()` list them all.

import { REPORTS_MISSED_MS, REPORTS_PENDING_MAX } from './contract-limits.js';
import { Reports } from './reports.js';

/** @template Row */
export class PaymentReports {
	#listener;
	#member;
	#read;
	#nameOf;
	#stateOf;
	#report;
	#started = false;
	#reports = new Reports();
	/** @type {Set<string>} ids of elicitations */
	#pending = new Set();
	/** Whether there were too many notifications. */
	#missed = false;
	#reading = false;

	/**
	 * @param {import('./listener.js').Listener} listener
	 * @param {object} money
	 * @param {'late' | 'refunded'} money.member of the notifications that tell of it
	 * @param {(filter: { id: string } | { since: Date }) => Promise<Row[]>} money.read the rows to report, of an elicitation or since a time
	 * @param {(row: Row) => string} money.nameOf what the row is about
	 * @param {(row: Row) => string} money.stateOf what is reported when it changes
	 * @param {(row: Row) => void} money.report
	 */
	constructor(listener, { member, read, nameOf, stateOf, report }) {
		this.#listener = listener;
		this.#member = member;
		this.#read = read;
		this.#nameOf = nameOf;
		this.#stateOf = stateOf;
		this.#report = report;
	}

	/** Listens until `close`. Does not keep the process running. */
	start() {
		if (this.#started) return;
		this.#started = true;
		this.#listener.on('notified', this.#onNotified);
		this.#listener.acquire(this, false);
	}

	close() {
		this.#listener.off('notified', this.#onNotified);
		this.#listener.release(this);
	}

	/** @param {import('./notification.js').Notification[]} notifications */
	#onNotified = (notifications) => {
		for (const notification of notifications) {
			if (notification[this.#member] !== true) continue;
			if (this.#pending.size < REPORTS_PENDING_MAX) this.#pending.add(notification.id);
			else this.#missed = true;
		}
		void this.#readPending();
	};

	/** One query at a time, however many notifications there are: anyone in the database can forge them. */
	async #readPending() {
		if (this.#reading) return;
		this.#reading = true;
		try {
			while (this.#pending.size > 0 || this.#missed) {
				const [id] = this.#pending;
				if (id !== undefined) {
					this.#pending.delete(id);
					await this.#reportOf({ id });
				} else {
					this.#missed = false;
					await this.#reportOf({ since: new Date(Date.now() - REPORTS_MISSED_MS) });
				}
			}
		} finally {
			this.#reading = false;
		}
	}

	/** @param {{ id: string } | { since: Date }} filter */
	async #reportOf(filter) {
		let rows;
		try {
			rows = await this.#read(filter);
		} catch {
			// It is listed when PostgreSQL is available again.
			return;
		}
		for (const row of rows) {
			if (this.#reports.isNew(this.#nameOf(row), this.#stateOf(row))) this.#report(row);
		}
	}
}
