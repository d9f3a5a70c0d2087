// Follows the ledger: everything about money, in order, each entry at least
// once. The database keeps how far a consumer has read, and a lease, so that
// one instance reads for it (../../../sql/functions/031_ledger.sql).
//
// An entry is acknowledged when the next one is asked for. What a notification
// does not announce, such as a claim, is found by polling.

import {
	CLAIM_RENEWALS, LEDGER_LEASE_MS, LEDGER_PAGE_MAX, POLL_GROWTH, POLL_MAX_MS, POLL_MIN_MS, READ_RETRY_MS,
} from './contract-limits.js';
import * as sql from './contract-ledger.js';
import { isRefusal } from './database.js';
import { jittered } from './jitter.js';

/** @typedef {import('./money-types.js').LedgerEntry} LedgerEntry */

export class Ledger {
	#query;
	#listener;
	#tenant;
	/** @type {Set<Reading>} */
	#readings = new Set();
	#closed = false;

	/**
	 * @param {Pick<import('./database.js').Database, 'query'>} database
	 * @param {import('./listener.js').Listener} listener
	 * @param {string} tenant whose ledger
	 */
	constructor(database, listener, tenant) {
		this.#query = database.query.bind(database);
		this.#listener = listener;
		this.#tenant = tenant;
	}

	/**
	 * @param {string} consumer
	 * @param {AbortSignal | undefined} signal
	 * @returns {AsyncGenerator<LedgerEntry, void, void>}
	 */
	async *follow(consumer, signal) {
		if (this.#closed) return;
		signal?.throwIfAborted();
		const reading = new Reading(this.#query, this.#listener, { tenant: this.#tenant, consumer });
		const abort = () => reading.stop();
		this.#readings.add(reading);
		signal?.addEventListener('abort', abort);
		try {
			yield* reading.entries();
			signal?.throwIfAborted();
		} finally {
			signal?.removeEventListener('abort', abort);
			this.#readings.delete(reading);
		}
	}

	/** Ends all loops that wait for an entry. A loop that is at one ends when it asks for the next, which comes again. */
	async close() {
		this.#closed = true;
		await Promise.all([...this.#readings].map((reading) => reading.stop()));
	}
}

/** One loop over the ledger. */
class Reading {
	#query;
	#listener;
	#consumer;
	/** @type {string | undefined} while this instance reads for the consumer */
	#lease;
	/** @type {NodeJS.Timeout | undefined} */
	#renewal;
	/** Whether somebody deals with an entry. */
	#isBusy = false;
	#isStopped = false;
	/** Whether there may be more than was read. */
	#isWoken = false;
	/** The last one that PostgreSQL was asked. @type {Promise<unknown> | undefined} */
	#question;
	/** Ends a pause. */
	#wake = () => {};
	/** Of the next pause, milliseconds. */
	#interval = POLL_MIN_MS;

	/**
	 * @param {import('./contract-calls.js').Query} query
	 * @param {import('./listener.js').Listener} listener
	 * @param {{ tenant: string, consumer: string }} consumer
	 */
	constructor(query, listener, consumer) {
		this.#query = query;
		this.#listener = listener;
		this.#consumer = consumer;
	}

	/** @returns {AsyncGenerator<LedgerEntry, void, void>} */
	async *entries() {
		const detach = this.#listener.attach({
			notified: (notifications) => {
				if (notifications.some(({ status, late, refunded }) => status === 'completed' || late === true || refunded === true)) this.#wakeUp();
			},
			listening: () => this.#wakeUp(),
		});
		this.#listener.acquire(this);
		try {
			while (!this.#isStopped) if (await this.#begin()) yield* this.#read();
		} finally {
			detach();
			this.#listener.release(this);
			await this.#end();
		}
	}

	/** Gives the lease back at once, unless somebody deals with an entry: then it ends by itself. */
	async stop() {
		this.#isStopped = true;
		this.#wake();
		if (this.#isBusy) return;
		// It may be about to get the lease.
		await this.#question?.catch(() => {});
		await this.#end();
	}

	/** Waits for its turn. @returns {Promise<boolean>} whether it has come */
	async #begin() {
		const begun = await this.#ask(async () => {
			const answer = await sql.beginLedger(this.#query, { ...this.#consumer, leaseMs: LEDGER_LEASE_MS });
			this.#lease = answer.lease ?? undefined;
			return answer;
		});
		if (!begun) return false;
		if (begun.lease === null) {
			await this.#pause(Math.min(Number(begun.wait_ms), this.#nextInterval()));
			return false;
		}
		this.#interval = POLL_MIN_MS;
		this.#renewal = setInterval(() => void this.#renew(), LEDGER_LEASE_MS / CLAIM_RENEWALS).unref();
		return true;
	}

	/** The entries, until another instance reads. @returns {AsyncGenerator<LedgerEntry, void, void>} */
	async *#read() {
		while (!this.#isStopped && this.#lease !== undefined) {
			this.#isWoken = false;
			const lease = this.#lease;
			const page = await this.#ask(() => sql.readLedger(this.#query, { ...this.#consumer, lease, most: LEDGER_PAGE_MAX }));
			if (this.#isStopped) return;
			for (const row of page ?? []) {
				this.#isBusy = true;
				yield toEntry(row);
				const isKept = await this.#ask(() => this.#acknowledge(lease, row.number));
				this.#isBusy = false;
				if (isKept === false) this.#lose();
				if (this.#isStopped || this.#lease !== lease) return;
			}
			if (page?.length) this.#interval = POLL_MIN_MS;
			else if (!this.#isWoken) await this.#pause(this.#nextInterval());
		}
	}

	/**
	 * @param {string} lease
	 * @param {string | null} number of the entry; null: the lease is renewed alone
	 */
	#acknowledge(lease, number) {
		return sql.acknowledgeLedger(this.#query, { ...this.#consumer, lease, number, leaseMs: LEDGER_LEASE_MS });
	}

	async #renew() {
		const lease = this.#lease;
		if (lease === undefined) return;
		// After a failure the next renewal, or the next statement, tells.
		const isKept = await this.#acknowledge(lease, null).catch(() => true);
		if (!isKept && this.#lease === lease) this.#lose();
	}

	/** Another instance reads. */
	#lose() {
		clearInterval(this.#renewal);
		this.#lease = undefined;
		this.#wake();
	}

	async #end() {
		const lease = this.#lease;
		this.#lose();
		if (lease !== undefined) await sql.endLedger(this.#query, { ...this.#consumer, lease }).catch(() => {});
	}

	/**
	 * Asks again while PostgreSQL is unavailable, as waits do.
	 *
	 * @template T
	 * @param {() => Promise<T>} question
	 * @returns {Promise<T | undefined>} undefined: the loop is to end
	 */
	async #ask(question) {
		for (;;) {
			try {
				this.#question = question();
				return /** @type {T} */ (await this.#question);
			} catch (error) {
				if (this.#isStopped) return undefined;
				if (isRefusal(error)) throw error;
				await this.#pause(jittered(READ_RETRY_MS));
			}
		}
	}

	#nextInterval() {
		const interval = this.#interval;
		this.#interval = Math.min(POLL_MAX_MS, interval * POLL_GROWTH);
		return jittered(interval);
	}

	/** @param {number} ms at most */
	async #pause(ms) {
		if (this.#isStopped) return;
		/** @type {NodeJS.Timeout | undefined} */
		let timer;
		await /** @type {Promise<void>} */ (new Promise((resolve) => {
			this.#wake = resolve;
			timer = setTimeout(resolve, ms);
		}));
		clearTimeout(timer);
	}

	#wakeUp() {
		this.#isWoken = true;
		this.#wake();
	}
}

/**
 * @param {sql.LedgerRow} row
 * @returns {LedgerEntry}
 */
function toEntry(row) {
	const toNumber = (/** @type {string | null} */ value) => (value === null ? undefined : Number(value));
	return {
		number: Number(row.number), enteredAt: row.entered_at, type: row.entry_type, kind: row.kind, provider: row.provider,
		elicitationId: row.elicitation ?? undefined, subject: row.subject ?? undefined, item: row.item ?? undefined,
		payment: row.payment ?? undefined, checkout: row.checkout ?? undefined, reference: row.reference ?? undefined,
		amount: toNumber(row.amount), currency: row.currency ?? undefined, refunded: toNumber(row.refunded),
		status: row.status ?? undefined, occurredAt: row.occurred_at ?? undefined, evidenceDueAt: row.evidence_due_at ?? undefined,
	};
}
