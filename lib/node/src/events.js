// Which events of an elicitation were told: each at most once, in order,
// however many waits see it.

/** Elicitations that are remembered: past that the oldest are forgotten. */
const REMEMBERED = 10_000;

const RANK = { created: 1, opened: 2, processing: 3, completed: 4 };

export class Told {
	/** @type {Map<string, number>} */
	#ranks = new Map();

	/**
	 * @param {string} id
	 * @param {keyof typeof RANK} status
	 * @returns {boolean} whether it is news
	 */
	isNews(id, status) {
		const rank = RANK[status];
		if (rank <= (this.#ranks.get(id) ?? 0)) return false;
		this.#ranks.delete(id);
		this.#ranks.set(id, rank);
		if (this.#ranks.size > REMEMBERED) this.#ranks.delete(/** @type {string} */ (this.#ranks.keys().next().value));
		return true;
	}
}
