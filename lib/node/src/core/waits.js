// All open waits of a process. A notification, a new wait and a new listening
// connection each make rows due. Rows that are due are read together, one read
// at a time; rows that become due during a read belong to the next one. The row
// alone counts, and a notification is a reason to read it. One that carries the
// sealed outcome saves the read, where the row was read before for every wait.

import { Alarm } from './alarm.js';
import { checker, needsCheck, needsRecheck, rechecker } from './ask-back.js';
import { READ_BATCH_MAX, READ_RETRY_MS, ROUTINE_MS } from './contract-limits.js';
import { isRefusal, isRefusedChange, readRows } from './database.js';
import { ElicitationNotFoundError } from './errors.js';
import { jittered } from './jitter.js';
import { Poll } from './poll.js';
import { rowBytes } from './seal.js';
import { Wait } from './wait.js';

/**
 * The state that all waits for one row share.
 *
 * @typedef {object} Entry
 * @property {string} id
 * @property {Buffer} binding
 * @property {Buffer} rowBytes
 * @property {Set<Wait>} waits never empty
 * @property {import('./database.js').Row | undefined} row as it was last read
 * @property {import('./pkce.js').Verifier | undefined} verifier of the row
 * @property {number} closesAt when the row is to be read because it may be expired, by performance.now(); Infinity until
 *     a read has told it
 * @property {NodeJS.Timeout | undefined} nextRecheck
 */

/**
 * @typedef {import('node:events').EventEmitter<import('./listener.js').Events> & {
 *     readonly listening: boolean,
 *     readonly receivesNotifications: boolean,
 *     acquire(user: unknown): void,
 *     release(user: unknown): void,
 *     query(text: string, values: unknown[], name?: string): Promise<unknown[]>,
 * }} ListenerLike
 *
 * @typedef {import('./ask-back.js').RecheckOperations & import('./ask-back.js').CheckOperations & RowFields} RowOperations what the waits can do with rows
 * @typedef {object} RowFields
 * @property {(row: import('./database.js').Row, binding: Buffer, known: Known) => import('./types.js').Outcome} toOutcome
 *     If it throws, the waits reject with that error
 * @property {(row: import('./database.js').Row, binding: Buffer) => import('./pkce.js').Verifier | undefined} openVerifier
 * @property {(entry: Entry, sealed: string) => NotifiedOutcome | undefined} openOutcome
 *     undefined if it is not genuine, or of another elicitation
 * @property {(rowKey: import('./database.js').RowKey) => void} markRead called when waits have received the row's result
 * @property {(rowKeys: import('./database.js').RowKey[]) => Promise<unknown>} expire
 * @property {(rowKey: import('./database.js').RowKey) => Promise<import('./database.js').Row | undefined>} read
 */

/**
 * @typedef {object} Known of a completed row, without opening what is sealed in it
 * @property {import('./pkce.js').Verifier | undefined} verifier
 * @property {Record<string, unknown> | undefined} [result] of an outcome that was announced
 */

/**
 * @typedef {object} NotifiedOutcome
 * @property {import('./types.js').Action} action
 * @property {string} reason
 * @property {string | null} reference
 * @property {Record<string, unknown> | undefined} result
 */

export class Waits {
	#listener;
	#operations;
	#rechecker;
	#checker;
	#routineReadMs;
	/** @type {Map<string, Entry[]>} by id; more than one if another owner waits for the same id */
	#entries = new Map();
	/** @type {Set<Entry>} to be read now */
	#due = new Set();
	/** @type {Set<Entry>} to be read after those that are due */
	#routine = new Set();
	/** @type {NodeJS.Timeout | undefined} */
	#routineTimer;
	#poll = new Poll(() => this.#readAll());
	#expiry = new Alarm(() => this.#wakeOverdue());
	#reading = false;

	/**
	 * @param {ListenerLike} listener
	 * @param {RowOperations} operations
	 * @param {number} [routineReadMs] how often every row is read without a notification
	 */
	constructor(listener, operations, routineReadMs = ROUTINE_MS) {
		this.#listener = listener;
		this.#operations = operations;
		this.#rechecker = rechecker(operations);
		this.#checker = checker(operations);
		this.#routineReadMs = routineReadMs;
		listener.on('listening', () => {
			this.#allEntries().forEach((entry) => this.#wake(entry));
			if (this.#entries.size > 0) this.#poll.start();
		});
		listener.on('receiving', () => this.#poll.stop());
		listener.on('notified', (notifications) => notifications.forEach((each) => this.#onNotified(each)));
		listener.on('lost', (error) => this.#onLost(error));
	}

	/**
	 * @param {string} id
	 * @param {Buffer} binding
	 * @param {import('./wait.js').WaitOptions} options
	 * @returns {Promise<import('./types.js').Outcome>}
	 */
	wait(id, binding, options) {
		const entry = this.#findOrAddEntry(id, binding);
		const wait = new Wait(id, options, () => this.#remove(entry, wait));
		entry.waits.add(wait);
		this.#listener.acquire(this);
		this.#routineTimer ??= this.#scheduleRoutineRead();
		if (!this.#listener.receivesNotifications) this.#poll.start();
		this.#wake(entry);
		return wait.promise;
	}

	/** How many waits are open. */
	get size() {
		return this.#allEntries().reduce((sum, { waits }) => sum + waits.size, 0);
	}

	/**
	 * @param {Error} error with which every wait rejects
	 * @returns {Promise<unknown>} resolves when all waits have ended
	 */
	close(error) {
		return Promise.all(this.#allEntries().flatMap(({ waits }) => [...waits]).map((wait) => wait.end('closed', error)));
	}

	#allEntries() {
		return [...this.#entries.values()].flat();
	}

	/**
	 * @param {string} id
	 * @param {Buffer} binding
	 */
	#findOrAddEntry(id, binding) {
		const entries = this.#entries.get(id);
		const known = entries?.find((each) => each.binding.equals(binding));
		if (known) return known;
		const entry = {
			id, binding, rowBytes: rowBytes({ id, binding }), waits: new Set(),
			row: undefined, verifier: undefined, closesAt: Infinity, nextRecheck: undefined,
		};
		if (entries) entries.push(entry);
		else this.#entries.set(id, [entry]);
		return entry;
	}

	/**
	 * @param {Entry} entry
	 * @param {Wait} wait
	 */
	#remove(entry, wait) {
		entry.waits.delete(wait);
		if (entry.waits.size > 0) return;
		clearTimeout(entry.nextRecheck);
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
		this.#expiry.stop();
		this.#listener.release(this);
	}

	/** @param {import('./notification.js').Notification} notification */
	#onNotified({ id, outcome }) {
		for (const entry of this.#entries.get(id) ?? []) {
			if (typeof outcome !== 'string' || !this.#takeOutcome(entry, outcome)) this.#wake(entry);
		}
	}

	/**
	 * Ends the waits with an outcome that was announced.
	 *
	 * @param {Entry} entry
	 * @param {string} sealed
	 * @returns {boolean} false: the row must be read
	 */
	#takeOutcome(entry, sealed) {
		const { row } = entry;
		if (!row) return false;
		for (const { hasRead } of entry.waits) if (!hasRead) return false;
		const outcome = this.#operations.openOutcome(entry, sealed);
		if (!outcome) return false;
		const { action, reason, result } = outcome;
		// A payment that was not accepted may be asked about once more.
		if (row.kind === 'payment' && action !== 'accept') return false;
		const paid = row.kind === 'payment' ? { payment_reference: outcome.reference, ...paidOf(result) } : { payment_reference: null };
		this.#complete(entry, { ...row, status: 'completed', action, reason, ...paid }, result);
		return true;
	}

	/**
	 * Waits continue without a connection, except those that read the row only once.
	 *
	 * @param {unknown} error
	 */
	#onLost(error) {
		for (const entry of this.#allEntries()) {
			for (const wait of entry.waits) if (wait.checksOnce) wait.reject(error);
		}
	}

	/** A lost notification, or a connection that broke unnoticed, delays a wait until the next routine read. */
	#scheduleRoutineRead() {
		return setTimeout(() => {
			this.#routineTimer = this.#scheduleRoutineRead();
			this.#readAll();
		}, jittered(this.#routineReadMs)).unref();
	}

	#readAll() {
		for (const entry of this.#allEntries()) this.#routine.add(entry);
		void this.#read();
	}

	#wakeOverdue() {
		const now = performance.now();
		for (const entries of this.#entries.values()) {
			for (const entry of entries) {
				if (entry.closesAt > now) {
					this.#expiry.set(entry.closesAt);
				} else {
					entry.closesAt = Infinity;
					this.#wake(entry);
				}
			}
		}
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
		// The first read includes the rows that become due in the same turn of the event loop.
		await null;
		while (this.#listener.listening && this.#due.size + this.#routine.size > 0) {
			const batch = this.#takeBatch();
			const rows = await this.#readRows(batch);
			if (rows) this.#apply(batch, rows);
		}
		this.#reading = false;
	}

	/** @param {Entry[]} batch */
	async #readRows(batch) {
		try {
			return await readRows((...statement) => this.#listener.query(...statement), batch);
		} catch (error) {
			// Otherwise the connection was lost, and the next one starts by reading all rows.
			if (isRefusal(error)) batch.forEach((entry) => this.#fail(entry, error));
			return undefined;
		}
	}

	/** The entries to read next. No id occurs twice, because the rows that are returned do not contain the binding. */
	#takeBatch() {
		/** @type {Map<string, Entry>} */
		const batch = new Map();
		for (const queue of [this.#due, this.#routine]) {
			for (const entry of queue) {
				if (batch.size === READ_BATCH_MAX) break;
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
			// It has become due again since this read began: the next read decides.
			else if (entry.waits.size === 0 || this.#due.has(entry)) continue;
			else if (!row) this.#fail(entry, new ElicitationNotFoundError(entry.id));
			else if (Number(row.closes_in_ms) <= 0) overdue.push(entry);
			else this.#keepWaiting(entry, row);
		}
		if (overdue.length > 0) void this.#expire(overdue);
	}

	/**
	 * @param {Entry} entry
	 * @param {import('./database.js').Row} row
	 * @param {Record<string, unknown>} [result] of an outcome that was announced
	 */
	#complete(entry, row, result) {
		const rechecking = this.#recheck(entry, row);
		for (const wait of entry.waits) {
			if (rechecking && wait.recheckOf(row.provider)) continue;
			wait.observe(row);
			try {
				wait.resolve(this.#operations.toOutcome(row, entry.binding, { result, verifier: entry.verifier }));
				if (row.result || row.verifier || result) this.#operations.markRead(entry);
			} catch (error) {
				wait.reject(error);
			}
		}
	}

	/**
	 * @param {Entry} entry
	 * @param {import('./database.js').Row} row that is not completed
	 */
	#keepWaiting(entry, row) {
		entry.row = row;
		entry.verifier ??= this.#operations.openVerifier(row, entry.binding);
		entry.closesAt = performance.now() + Number(row.closes_in_ms);
		this.#expiry.set(entry.closesAt);
		const rechecking = this.#recheck(entry, row);
		const checking = this.#check(entry, row);
		for (const wait of entry.waits) {
			wait.observe(row);
			wait.progress(/** @type {import('./types.js').OpenStatus} */ (row.status), row.failed_attempts);
			if (wait.checksOnce && !(rechecking && wait.recheckOf(row.provider)) && !(checking && wait.verify)) wait.timeOut();
		}
	}

	/**
	 * Begins to verify what the user has typed, unless that is under way.
	 *
	 * @param {Entry} entry
	 * @param {import('./database.js').Row} row
	 * @returns {boolean} whether it runs in this process: the row will be read again when it ends
	 */
	#check(entry, row) {
		if (!needsCheck(row)) return false;
		if (this.#checker.begunOn(row.id)) return true;
		const wait = [...entry.waits].find((each) => each.verify);
		const verify = wait?.verify;
		if (!verify) return false;
		void this.#thenWake([entry], async () => {
			const { taken, ...failure } = await this.#checker.run({ id: entry.id, binding: entry.binding, status: row.status, provider: row.provider }, verify);
			if ('error' in failure) wait.reject(failure.error);
			if (taken) return true;
			// Another process has taken it, and its end is announced.
			for (const each of entry.waits) if (each.checksOnce) each.timeOut();
			return false;
		});
		return true;
	}

	/**
	 * Begins a recheck if an event asks for one.
	 *
	 * @param {Entry} entry
	 * @param {import('./database.js').Row} row
	 * @returns {boolean} whether one is running: the row will be read again when it ends
	 */
	#recheck(entry, row) {
		clearTimeout(entry.nextRecheck);
		if (!needsRecheck(row)) return false;
		const begunOn = this.#rechecker.begunOn(row.id);
		// An outcome that the row got meanwhile needs no answer.
		if (begunOn) return row.status !== 'completed' || begunOn === 'completed';
		const wait = [...entry.waits].find((each) => each.recheckOf(row.provider));
		const recheck = wait?.recheckOf(row.provider);
		if (!wait || !recheck) return false;
		const pause = Number(row.recheck_in_ms ?? 0);
		if (pause > 0) {
			entry.nextRecheck = setTimeout(() => this.#wake(entry), pause).unref();
			return false;
		}
		void this.#thenWake([entry], async () => {
			const failure = await this.#rechecker.run({ id: entry.id, binding: entry.binding, status: row.status }, recheck);
			wait.rechecked = true;
			// Somebody else may have completed the row meanwhile. That outcome counts.
			if ('error' in failure && (await this.#operations.read(entry))?.status !== 'completed') wait.reject(failure.error);
		});
		return true;
	}

	/** @param {Entry[]} entries */
	#expire(entries) {
		return this.#thenWake(entries, async () => void await this.#operations.expire(entries));
	}

	/**
	 * Changes rows, and reads them again.
	 *
	 * @param {Entry[]} entries
	 * @param {() => Promise<boolean | void>} change false: there is no reason to read them
	 */
	async #thenWake(entries, change) {
		try {
			if (await change() === false) return;
		} catch (error) {
			if (isRefusedChange(error)) entries.forEach((entry) => this.#fail(entry, error));
			await new Promise((resolve) => setTimeout(resolve, jittered(READ_RETRY_MS)).unref());
		}
		for (const { id } of entries) this.#entries.get(id)?.forEach((each) => this.#wake(each));
	}

	/**
	 * @param {Entry} entry
	 * @param {unknown} error
	 */
	#fail(entry, error) {
		for (const wait of entry.waits) wait.reject(error);
	}
}

/**
 * What an event that was announced says of the payment.
 *
 * @param {Record<string, unknown> | undefined} result
 * @returns {Pick<import('./database.js').Row, 'amount' | 'currency' | 'tax'>}
 */
function paidOf({ amount, currency, tax } = {}) {
	return {
		amount: typeof amount === 'number' ? String(amount) : null, currency: typeof currency === 'string' ? currency : null,
		tax: typeof tax === 'number' ? String(tax) : null,
	};
}
