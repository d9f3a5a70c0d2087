// Reports payments that were proved after the end of their elicitation, and
// money that went back. The database announces both to every process that
// listens. Nothing is replayed to a process that did not: `unclaimed()` and
// `refunds()` list them all.

import { REPORTED_MAX, REPORTS_MISSED_MS, REPORTS_PENDING_MAX } from './contract-limits.js';

/** @template Row */
export class AnnouncedMoney {
	#listener;
	#member;
	#read;
	#nameOf;
	#tell;
	#started = false;
	/** @type {Set<string>} */
	#told = new Set();
	/** @type {Set<string>} ids of elicitations */
	#pending = new Set();
	/** Whether there were too many announcements. */
	#missed = false;
	#reading = false;

	/**
	 * @param {import('./listener.js').Listener} listener
	 * @param {object} money
	 * @param {'late' | 'refunded'} money.member of the announcements that tell of it
	 * @param {(filter: { id: string } | { since: Date }) => Promise<Row[]>} money.read the rows to report, of an elicitation or since a time
	 * @param {(row: Row) => string} money.nameOf equal names are reported once
	 * @param {(row: Row) => void} money.tell
	 */
	constructor(listener, { member, read, nameOf, tell }) {
		this.#listener = listener;
		this.#member = member;
		this.#read = read;
		this.#nameOf = nameOf;
		this.#tell = tell;
	}

	/** Listens until `close`. Does not keep the process running. */
	start() {
		if (this.#started) return;
		this.#started = true;
		this.#listener.on('announced', this.#onAnnounced);
		this.#listener.acquire(this, false);
	}

	close() {
		this.#listener.off('announced', this.#onAnnounced);
		this.#listener.release(this);
	}

	/** @param {import('./notification.js').Announcement[]} announcements */
	#onAnnounced = (announcements) => {
		for (const announcement of announcements) {
			if (announcement[this.#member] !== true) continue;
			if (this.#pending.size < REPORTS_PENDING_MAX) this.#pending.add(announcement.id);
			else this.#missed = true;
		}
		void this.#readPending();
	};

	/** One query at a time, however many announcements there are: anyone in the database can forge them. */
	async #readPending() {
		if (this.#reading) return;
		this.#reading = true;
		try {
			while (this.#pending.size > 0 || this.#missed) {
				const [id] = this.#pending;
				if (id !== undefined) {
					this.#pending.delete(id);
					await this.#tellOf({ id });
				} else {
					this.#missed = false;
					await this.#tellOf({ since: new Date(Date.now() - REPORTS_MISSED_MS) });
				}
			}
		} finally {
			this.#reading = false;
		}
	}

	/** @param {{ id: string } | { since: Date }} filter */
	async #tellOf(filter) {
		let rows;
		try {
			rows = await this.#read(filter);
		} catch {
			// It is listed when PostgreSQL is available again.
			return;
		}
		for (const row of rows) {
			const name = this.#nameOf(row);
			if (this.#told.has(name)) continue;
			this.#told.add(name);
			if (this.#told.size > REPORTED_MAX) this.#told.delete(/** @type {string} */ (this.#told.values().next().value));
			this.#tell(row);
		}
	}
}
