// What came back is not kept for longer than it is of use: what waits have
// read is noted, to be dropped some time later, and every process with a
// UrlMode has the database drop what is due, now and then.

import { isRefusal } from './database.js';
import { jittered } from './jitter.js';

const EVERY_MS = 60_000;
/** How long what is read is gathered for one note: nobody waits for it. */
const GATHER_MS = 100;
/** At most so many while no note can be written; those that go are made good by the note of completion. */
const GATHERED_MAX = 10_000;
const SLICE = 1_000;

/** @typedef {import('./database.js').Named} Named */

export class Forgetting {
	#database;
	#keep;
	/** @type {NodeJS.Timeout | undefined} */
	#interval;
	/** @type {Set<Named>} read, and not noted yet */
	#read = new Set();
	/** @type {NodeJS.Timeout | undefined} */
	#timer;
	#noted = Promise.resolve();
	#busy = false;
	#warned = false;

	/**
	 * @param {Pick<import('./database.js').Database, 'noteRead' | 'forget'>} database
	 * @param {number} keep milliseconds for which a result that was read is kept
	 */
	constructor(database, keep) {
		this.#database = database;
		this.#keep = keep;
	}

	/** From the first call on, until `close`. Keeps no process. */
	start() {
		this.#interval ??= setInterval(() => void this.#run(), jittered(EVERY_MS)).unref();
	}

	/**
	 * Keeps the process until the note was tried: one may end with its wait.
	 *
	 * @param {Named} named whose result waits have read
	 */
	noteRead(named) {
		this.#read.add(named);
		const [oldest] = this.#read;
		if (oldest && this.#read.size > GATHERED_MAX) this.#read.delete(oldest);
		this.#timer ??= setTimeout(() => void this.#note(), GATHER_MS);
	}

	/** @returns {Promise<void>} when what was read is noted, if it can be */
	close() {
		clearInterval(this.#interval);
		return this.#note();
	}

	async #run() {
		if (this.#busy) return;
		this.#busy = true;
		try {
			await this.#note();
			while (await this.#database.forget());
		} catch (error) {
			// PostgreSQL may be away; what is due then is due the next time.
			if (isRefusal(error)) this.#warn(error);
		} finally {
			this.#busy = false;
		}
	}

	/** One after another; never rejects. */
	#note() {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#noted = this.#noted.then(() => this.#noteAll());
		return this.#noted;
	}

	async #noteAll() {
		const rest = [...this.#read];
		this.#read.clear();
		try {
			for (; rest.length > 0; rest.splice(0, SLICE)) await this.#database.noteRead(rest.slice(0, SLICE), this.#keep);
		} catch (error) {
			if (isRefusal(error)) this.#warn(error);
			// PostgreSQL may be away; they go with the next ones, or when what is due is dropped.
			else this.#read = new Set([...rest, ...this.#read].slice(-GATHERED_MAX));
		}
	}

	/** @param {unknown} error */
	#warn(error) {
		if (this.#warned) return;
		this.#warned = true;
		process.emitWarning(`results are not dropped: ${/** @type {Error} */ (error).message}`,
			{ type: 'UrlModeWarning', code: 'URLMODE_FORGETTING' });
	}
}
