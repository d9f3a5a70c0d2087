// The events of a UrlMode over HTTP. Late payments and refunds are found by asking for them again and again.

import { jittered } from '../core/jitter.js';
import { Reports } from '../core/reports.js';
import { backgroundTimer, inThisContext } from '../core/runtime.js';
import { StatusTracker } from '../core/status-tracker.js';

/** How often the lists are asked for, and how much of the past each time: transactions commit in another order than they begin. */
const EVERY_MS = 2_000;
const OVERLAP_MS = 60_000;

/**
 * @typedef {import('../core/types.js').UrlModeEvents} UrlModeEvents
 * @typedef {(event: never) => void} Listener
 * @typedef {(since: Date) => Promise<{ name: string, state: string, event: UrlModeEvents['late' | 'refunded'][0] }[]>} Read what there is since a time; of each name
 *     is told what has changed
 */

export class Events {
	/** @type {Map<string, Set<Listener>>} */
	#listeners = new Map();
	#statuses = new StatusTracker();
	/** @type {Partial<Record<string, Read>>} */
	#lists;
	/** @type {Map<string, Poll>} */
	#polls = new Map();

	/** @param {{ late: Read, refunded: Read }} lists */
	constructor(lists) {
		this.#lists = lists;
	}

	/**
	 * @param {string} name
	 * @param {Listener} listener
	 */
	on(name, listener) {
		this.#listeners.set(name, (this.#listeners.get(name) ?? new Set()).add(listener));
		const read = this.#lists[name];
		if (read && !this.#polls.has(name)) this.#polls.set(name, new Poll(read, (event) => this.#emit(name, event)));
	}

	/**
	 * @param {string} name
	 * @param {Listener} listener
	 */
	off(name, listener) {
		this.#listeners.get(name)?.delete(listener);
		if (this.has(name)) return;
		this.#polls.get(name)?.close();
		this.#polls.delete(name);
	}

	/** @param {string} name */
	has(name) {
		return (this.#listeners.get(name)?.size ?? 0) > 0;
	}

	/**
	 * Emits each status of an elicitation once.
	 *
	 * @param {'created' | 'opened' | 'processing' | 'completed'} name
	 * @param {{ elicitationId: string }} event
	 */
	status(name, event) {
		if (this.has(name) && this.#statuses.advance(event.elicitationId, name)) this.#emit(name, event);
	}

	/**
	 * The function that the reads of a wait are told to, in the asynchronous context of the call where somebody listens.
	 *
	 * @template T
	 * @param {(row: T) => void} report
	 */
	ofWait(report) {
		return ['opened', 'processing', 'completed'].some((name) => this.has(name)) ? inThisContext(report) : report;
	}

	close() {
		for (const poll of this.#polls.values()) poll.close();
	}

	/**
	 * Later, so that an error of a listener is an uncaught exception and ends no wait.
	 *
	 * @param {string} name
	 * @param {object} event
	 */
	#emit(name, event) {
		for (const listener of this.#listeners.get(name) ?? []) setTimeout(() => listener(/** @type {never} */ (event)), 0);
	}
}

class Poll {
	#read;
	#report;
	#isClosed = false;
	#since = new Date();
	#reports = new Reports();
	/** @type {import('../core/runtime.js').Timer | undefined} */
	#timer;

	/**
	 * @param {Read} read
	 * @param {(event: object) => void} report
	 */
	constructor(read, report) {
		this.#read = read;
		this.#report = report;
		void this.#ask();
	}

	close() {
		this.#isClosed = true;
		clearTimeout(this.#timer);
	}

	async #ask() {
		const now = new Date();
		try {
			for (const { name, state, event } of await this.#read(this.#since)) {
				if (!this.#isClosed && this.#reports.isNew(name, state)) this.#report(event);
			}
			this.#since = new Date(Math.max(this.#since.getTime(), now.getTime() - OVERLAP_MS));
		} catch {
			// The next time catches up.
		}
		if (!this.#isClosed) this.#timer = backgroundTimer(() => void this.#ask(), jittered(EVERY_MS));
	}
}
