// Statements for many callers at once. What is asked for while others are
// under way goes into the next one together; one alone is not delayed.

import pg from 'pg';

/**
 * SQLSTATEs with which the server refuses a statement for the sake of one of
 * its elements, or of another transaction: data, constraints, RAISE, deadlocks,
 * locks that take too long. Nothing of the statement has happened then.
 */
const OF_AN_ELEMENT = /^(22|23|P0|40|55P03|57014)/;

/**
 * @template T, A
 * @typedef {object} Asked
 * @property {T} element
 * @property {(answer: A) => void} resolve
 * @property {(error: unknown) => void} reject
 */

/** @template T, A */
export class Batches {
	#run;
	#size;
	#atOnce;
	/** @type {Asked<T, A>[]} */
	#asked = [];
	#underWay = 0;

	/**
	 * @param {(elements: T[]) => Promise<A[]>} run one statement, in a transaction of its own; an answer for each
	 *     element, in their order
	 * @param {{ size: number, atOnce: number }} limits elements of a statement, statements under way
	 */
	constructor(run, { size, atOnce }) {
		this.#run = run;
		this.#size = size;
		this.#atOnce = atOnce;
	}

	/**
	 * @param {T} element
	 * @returns {Promise<A>}
	 */
	ask(element) {
		return new Promise((resolve, reject) => {
			this.#asked.push({ element, resolve, reject });
			if (this.#underWay < this.#atOnce) void this.#work();
		});
	}

	async #work() {
		this.#underWay += 1;
		// What is asked for in the same turn of the event loop goes together.
		await null;
		while (this.#asked.length > 0) await this.#answer(this.#asked.splice(0, this.#size));
		this.#underWay -= 1;
	}

	/**
	 * One bad element fails alone: a batch that is refused is tried again in halves. Never after an error that leaves
	 * open whether the statement was carried out.
	 *
	 * @param {Asked<T, A>[]} batch
	 */
	async #answer(batch) {
		try {
			const answers = await this.#run(batch.map(({ element }) => element));
			batch.forEach(({ resolve }, n) => resolve(/** @type {A} */ (answers[n])));
		} catch (error) {
			if (batch.length === 1 || !(error instanceof pg.DatabaseError && OF_AN_ELEMENT.test(error.code ?? ''))) {
				batch.forEach(({ reject }) => reject(error));
				return;
			}
			const half = Math.ceil(batch.length / 2);
			await this.#answer(batch.slice(0, half));
			await this.#answer(batch.slice(half));
		}
	}
}
