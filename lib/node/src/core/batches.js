// Statements for many callers at once. Requests that come while a statement is under
// way go into the next one together; one alone is not delayed.

import { onAbort } from './abort.js';
import { TEXTS } from './contract-texts.js';
import { ELEMENT_CLASSES } from './contract-words.js';
import { isDatabaseError, UrlModeBusyError } from './errors.js';

/** @param {unknown} error for the sake of an element: nothing of the statement has happened */
const isOfAnElement = (error) => isDatabaseError(error) && ELEMENT_CLASSES.some((start) => error.code.startsWith(start));

/**
 * @template T, A
 * @typedef {object} Queued
 * @property {T} element
 * @property {(answer: A) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {number} until when it must have been sent, by performance.now()
 * @property {boolean} isSent
 * @property {boolean} isGone its caller has taken it back
 */

/** @template T, A */
export class Batches {
	#run;
	#size;
	#atOnce;
	#waitMs;
	/** @type {Queued<T, A>[]} */
	#queued = [];
	#underWay = 0;
	/** @type {NodeJS.Timeout | undefined} for what has waited longest */
	#timer;

	/**
	 * @param {(elements: T[], leave: () => number[]) => Promise<A[]>} run one statement, in a transaction of its own; an answer for each
	 *     element, in their order. It calls `leave` when it is about to be sent, and leaves out the elements with these numbers; if it does
	 *     not, all of them are in it
	 * @param {{ size: number, atOnce: number, waitMs: number }} limits elements of a statement; statements under way;
	 *     how many milliseconds an element waits to be sent, before it is rejected
	 */
	constructor(run, { size, atOnce, waitMs }) {
		this.#run = run;
		this.#size = size;
		this.#atOnce = atOnce;
		this.#waitMs = waitMs;
	}

	/**
	 * @param {T} element
	 * @param {AbortSignal} [signal] takes it back, as long as it was not sent. What was sent ends as it ends
	 * @returns {Promise<A>}
	 */
	async ask(element, signal) {
		signal?.throwIfAborted();
		/** @type {() => void} */
		let stop = () => {};
		try {
			return await this.#queue(element, (queued) => {
				if (signal) stop = onAbort(signal, (reason) => this.#takeBack(queued, reason));
			});
		} finally {
			stop();
		}
	}

	/**
	 * @param {T} element
	 * @param {(queued: Queued<T, A>) => void} follow
	 * @returns {Promise<A>}
	 */
	#queue(element, follow) {
		return new Promise((resolve, reject) => {
			const queued = { element, resolve, reject, until: performance.now() + this.#waitMs, isSent: false, isGone: false };
			this.#queued.push(queued);
			follow(queued);
			if (this.#underWay < this.#atOnce) void this.#work();
			else this.#timer ??= setTimeout(() => this.#rejectOverdue(), this.#waitMs);
		});
	}

	#rejectOverdue() {
		const now = performance.now();
		const first = this.#queued.findIndex(({ until }) => until > now);
		for (const queued of this.#queued.splice(0, first < 0 ? Infinity : first)) this.#refuse(queued);
		const [next] = this.#queued;
		this.#timer = next && setTimeout(() => this.#rejectOverdue(), next.until - now);
	}

	/** @param {Queued<T, A>} queued @param {unknown} reason */
	#takeBack(queued, reason) {
		if (queued.isSent) return;
		queued.isGone = true;
		const at = this.#queued.indexOf(queued);
		if (at >= 0) this.#queued.splice(at, 1);
		queued.reject(reason);
	}

	/** @param {Queued<T, A>} queued */
	#refuse({ reject }) {
		reject(new UrlModeBusyError(TEXTS.waitedForOthers(this.#waitMs / 1_000)));
	}

	async #work() {
		this.#underWay += 1;
		// What is asked for in the same turn of the event loop goes together.
		await null;
		while (this.#queued.length > 0) await this.#answer(this.#queued.splice(0, this.#size));
		this.#underWay -= 1;
		if (this.#underWay > 0) return;
		clearTimeout(this.#timer);
		this.#timer = undefined;
	}

	/**
	 * One bad element fails alone: a batch that is refused is tried again in halves, as long as its callers wait. Never after an error that leaves
	 * open whether the statement was carried out.
	 *
	 * @param {Queued<T, A>[]} batch
	 */
	async #answer(batch) {
		const leave = () => {
			const gone = batch.flatMap(({ isGone }, n) => (isGone ? [n] : []));
			batch = batch.filter(({ isGone }) => !isGone);
			for (const queued of batch) queued.isSent = true;
			return gone;
		};
		try {
			const answers = await this.#run(batch.map(({ element }) => element), leave);
			batch.forEach(({ resolve }, n) => resolve(/** @type {A} */ (answers[n])));
		} catch (error) {
			if (batch.length === 1 || !isOfAnElement(error)) {
				batch.forEach(({ reject }) => reject(error));
				return;
			}
			const half = Math.ceil(batch.length / 2);
			await this.#answerInTime(batch.slice(0, half));
			await this.#answerInTime(batch.slice(half));
		}
	}

	/** @param {Queued<T, A>[]} batch */
	async #answerInTime(batch) {
		const now = performance.now();
		batch.filter(({ until }) => until <= now).forEach((queued) => this.#refuse(queued));
		const rest = batch.filter(({ until }) => until > now);
		for (const queued of rest) queued.isSent = false; // nothing has happened
		if (rest.length > 0) await this.#answer(rest);
	}
}
