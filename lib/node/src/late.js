// Reports payments that were proved after the end of their elicitation. The
// database announces them to every process that listens. Nothing is replayed
// to a process that did not: `unclaimed()` lists them all.

import { jittered } from './jitter.js';

/** How often the connection is used while nobody waits, to notice that it is broken. */
const CHECK_MS = 30_000;

/** How many payments are remembered, so that each is reported once. Beyond that the oldest one is dropped. */
const TOLD_MAX = 1_000;

export class LatePayments {
	#listener;
	#read;
	#tell;
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	/** @type {Set<string>} */
	#told = new Set();

	/**
	 * @param {import('./listener.js').Listener} listener
	 * @param {(id: string) => Promise<import('./database.js').UnclaimedRow[]>} read
	 * @param {(row: import('./database.js').UnclaimedRow) => void} tell
	 */
	constructor(listener, read, tell) {
		this.#listener = listener;
		this.#read = read;
		this.#tell = tell;
	}

	/** Listens until `close`. Does not keep the process running. */
	start() {
		if (this.#timer) return;
		this.#timer = setInterval(() => this.#check(), jittered(CHECK_MS)).unref();
		this.#listener.on('announced', this.#onAnnounced);
		this.#listener.acquire(this, false);
	}

	close() {
		clearInterval(this.#timer);
		this.#listener.off('announced', this.#onAnnounced);
		this.#listener.release(this);
	}

	#check() {
		// A broken connection is handled by its own events.
		if (this.#listener.listening) this.#listener.query('SELECT', []).catch(() => {});
	}

	/** @param {import('./announcement.js').Announcement[]} announcements */
	#onAnnounced = (announcements) => {
		for (const { id, late } of announcements) if (late === true) void this.#tellOf(id);
	};

	/** @param {string} id */
	async #tellOf(id) {
		let rows;
		try {
			rows = await this.#read(id);
		} catch {
			// `unclaimed()` lists them when PostgreSQL is available again.
			return;
		}
		for (const row of rows) {
			const payment = `${row.provider_name} ${row.reference} ${row.matches}`;
			if (!row.late || this.#told.has(payment)) continue;
			this.#told.add(payment);
			if (this.#told.size > TOLD_MAX) this.#told.delete(/** @type {string} */ (this.#told.values().next().value));
			this.#tell(row);
		}
	}
}
