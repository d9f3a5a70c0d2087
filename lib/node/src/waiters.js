// All open waits of a process. A notification, a new wait or a new listening
// connection makes rows due; what is due is read together, one read at a
// time, and what becomes due meanwhile is the next read. The row is the
// truth: a notification is only ever a reason to look.

import { CHANNEL, isRefusal, read } from './database.js';
import { ElicitationNotFoundError } from './errors.js';
import { jittered } from './jitter.js';
import { Poll } from './poll.js';
import { TIMER_MAX_MS, Wait } from './wait.js';

const SLICE = 1_000;
const ROUTINE_MS = 30_000;
const RETRY_MS = 1_000;

/**
 * What all waits for one row have in common.
 *
 * @typedef {object} Entry
 * @property {string} id
 * @property {Buffer} binding
 * @property {Set<Wait>} waits never empty
 * @property {NodeJS.Timeout | undefined} expiry
 */

/**
 * @typedef {import('node:events').EventEmitter<import('./listener.js').Events> & {
 *     readonly listening: boolean,
 *     readonly hears: boolean,
 *     want(wanted: boolean, who?: unknown): void,
 *     query(text: string, values: unknown[], name?: string): Promise<unknown[]>,
 * }} ListenerLike
 *
 * @typedef {object} Rows what the waits need of the rest
 * @property {(row: import('./database.js').Row, binding: Buffer) => import('./types.js').Outcome} outcomeOf
 *     may throw, which is then how the waits end
 * @property {(named: import('./database.js').Named) => void} noteRead that waits have the row's result
 * @property {(named: import('./database.js').Named[]) => Promise<unknown>} expire
 * @property {(named: import('./database.js').Named, answer: import('./types.js').Answer) => Promise<unknown>} complete
 */

export class Waiters {
	#listener;
	#rows;
	#routineMs;
	/** @type {Map<string, Entry[]>} by id; more than one where a stranger asks for the same */
	#entries = new Map();
	/** @type {Set<Entry>} to be read now */
	#due = new Set();
	/** @type {Set<Entry>} to be read when nothing is due */
	#routine = new Set();
	/** @type {NodeJS.Timeout | undefined} */
	#routineTimer;
	#poll = new Poll(() => this.#readAll());
	#reading = false;

	/**
	 * @param {ListenerLike} listener
	 * @param {Rows} rows
	 * @param {number} [routineMs] how often every row is read without a reason
	 */
	constructor(listener, rows, routineMs = ROUTINE_MS) {
		this.#listener = listener;
		this.#rows = rows;
		this.#routineMs = routineMs;
		listener.on('listening', () => {
			this.#all().forEach((entry) => this.#wake(entry));
			if (this.#entries.size > 0) this.#poll.start();
		});
		listener.on('hearing', () => this.#poll.stop());
		listener.on('notification', (payload, channel = CHANNEL) => {
			if (channel === CHANNEL) this.#onNotification(payload);
		});
		listener.on('lost', (error) => this.#onLost(error));
	}

	/**
	 * @param {string} id
	 * @param {Buffer} binding
	 * @param {import('./wait.js').WaitOptions} options
	 * @returns {Promise<import('./types.js').Outcome>}
	 */
	wait(id, binding, options) {
		const entry = this.#entryOf(id, binding);
		const wait = new Wait(id, options, () => this.#remove(entry, wait));
		entry.waits.add(wait);
		this.#listener.want(true, this);
		this.#routineTimer ??= this.#startRoutine();
		if (!this.#listener.hears) this.#poll.start();
		this.#wake(entry);
		return wait.promise;
	}

	/**
	 * @param {Error} error how every wait ends
	 * @returns {Promise<unknown>} when all have
	 */
	close(error) {
		return Promise.all(this.#all().flatMap(({ waits }) => [...waits]).map((wait) => wait.end('closed', error)));
	}

	#all() {
		return [...this.#entries.values()].flat();
	}

	/**
	 * @param {string} id
	 * @param {Buffer} binding
	 */
	#entryOf(id, binding) {
		const entries = this.#entries.get(id) ?? [];
		let entry = entries.find((known) => known.binding.equals(binding));
		if (!entry) {
			entry = { id, binding, waits: new Set(), expiry: undefined };
			this.#entries.set(id, [...entries, entry]);
		}
		return entry;
	}

	/**
	 * @param {Entry} entry
	 * @param {Wait} wait
	 */
	#remove(entry, wait) {
		entry.waits.delete(wait);
		if (entry.waits.size > 0) return;
		clearTimeout(entry.expiry);
		this.#due.delete(entry);
		this.#routine.delete(entry);
		const others = (this.#entries.get(entry.id) ?? []).filter((other) => other !== entry);
		if (others.length > 0) {
			this.#entries.set(entry.id, others);
			return;
		}
		this.#entries.delete(entry.id);
		if (this.#entries.size > 0) return;
		clearTimeout(this.#routineTimer);
		this.#routineTimer = undefined;
		this.#poll.stop();
		this.#listener.want(false, this);
	}

	/** @param {string} payload */
	#onNotification(payload) {
		for (const entry of this.#entries.get(idIn(payload)) ?? []) this.#wake(entry);
	}

	/**
	 * Waits go on without a connection, except those that want one look now.
	 *
	 * @param {unknown} error
	 */
	#onLost(error) {
		for (const entry of this.#all()) {
			for (const wait of entry.waits) if (wait.once) wait.reject(error);
		}
	}

	/** A notification that was lost, or a connection that died without a word, delays only until then. */
	#startRoutine() {
		return setTimeout(() => {
			this.#routineTimer = this.#startRoutine();
			this.#readAll();
		}, jittered(this.#routineMs)).unref();
	}

	#readAll() {
		for (const entry of this.#all()) this.#routine.add(entry);
		void this.#read();
	}

	/** @param {Entry} entry */
	#wake(entry) {
		if (entry.waits.size === 0) return;
		this.#due.add(entry);
		this.#routine.delete(entry);
		void this.#read();
	}

	async #read() {
		if (this.#reading) return;
		this.#reading = true;
		// What becomes due in the same turn is in the first read already.
		await null;
		while (this.#listener.listening && this.#due.size + this.#routine.size > 0) {
			const batch = this.#take();
			const rows = await this.#readRows(batch);
			if (rows) this.#apply(batch, rows);
		}
		this.#reading = false;
	}

	/** @param {Entry[]} batch */
	async #readRows(batch) {
		try {
			return await read((...statement) => this.#listener.query(...statement), batch);
		} catch (error) {
			// Otherwise the connection is lost, and the next one begins by reading all.
			if (isRefusal(error)) batch.forEach((entry) => this.#fail(entry, error));
			return undefined;
		}
	}

	/** The next read: no id twice, since the rows that come back do not say of which binding they are. */
	#take() {
		/** @type {Map<string, Entry>} */
		const batch = new Map();
		for (const queue of [this.#due, this.#routine]) {
			for (const entry of queue) {
				if (batch.size === SLICE) break;
				if (batch.has(entry.id)) continue;
				batch.set(entry.id, entry);
				queue.delete(entry);
			}
		}
		return [...batch.values()];
	}

	/**
	 * @param {Entry[]} batch
	 * @param {import('./database.js').Row[]} rows
	 */
	#apply(batch, rows) {
		const byId = new Map(rows.map((row) => [row.id, row]));
		/** @type {Entry[]} */
		const overdue = [];
		for (const entry of batch) {
			const row = byId.get(entry.id);
			if (row?.status === 'completed') this.#complete(entry, row);
			// Due again since this read began: the next one knows better.
			else if (entry.waits.size === 0 || this.#due.has(entry)) continue;
			else if (!row) this.#fail(entry, new ElicitationNotFoundError(entry.id));
			else if (row.status !== 'processing' && Number(row.expires_in_ms) <= 0) overdue.push(entry);
			else this.#goOn(entry, row);
		}
		if (overdue.length > 0) void this.#expire(overdue);
	}

	/**
	 * @param {Entry} entry
	 * @param {import('./database.js').Row} row
	 */
	#complete(entry, row) {
		for (const wait of entry.waits) {
			wait.see(row);
			try {
				wait.resolve(this.#rows.outcomeOf(row, entry.binding));
				if (row.result || row.verifier) this.#rows.noteRead(entry);
			} catch (error) {
				wait.reject(error);
			}
		}
	}

	/**
	 * @param {Entry} entry
	 * @param {import('./database.js').Row} row not completed
	 */
	#goOn(entry, row) {
		clearTimeout(entry.expiry);
		if (row.status !== 'processing') {
			const rest = Math.min(Number(row.expires_in_ms), TIMER_MAX_MS);
			entry.expiry = setTimeout(() => this.#wake(entry), rest).unref();
		}
		for (const wait of entry.waits) {
			wait.see(row);
			void wait.progress(/** @type {import('./types.js').Progress} */ (row.status));
			if (row.status === 'processing' && row.reason === 'recheck') this.#recheck(entry, wait, row);
			if (wait.once) wait.rejectTimeout();
		}
	}

	/**
	 * @param {Entry} entry
	 * @param {Wait} wait
	 * @param {import('./database.js').Row} row
	 */
	#recheck(entry, wait, row) {
		const question = {
			elicitationId: row.id, provider: row.provider, type: row.event_type ?? undefined,
			reference: row.reference ?? undefined,
		};
		void wait.recheck(question, row.rechecks, async (answer) => {
			await this.#rows.complete(entry, answer);
			this.#wake(entry);
		});
	}

	/** @param {Entry[]} entries */
	async #expire(entries) {
		try {
			await this.#rows.expire(entries);
		} catch (error) {
			if (isRefusal(error)) entries.forEach((entry) => this.#fail(entry, error));
			await new Promise((resolve) => setTimeout(resolve, jittered(RETRY_MS)).unref());
		}
		for (const entry of entries) this.#wake(entry);
	}

	/**
	 * @param {Entry} entry
	 * @param {unknown} error
	 */
	#fail(entry, error) {
		for (const wait of entry.waits) wait.reject(error);
	}
}

/** @param {string} payload */
function idIn(payload) {
	try {
		return String(JSON.parse(payload)?.id);
	} catch {
		return '';
	}
}
