// Remembers which status of each elicitation was reported, so that several
// waits for one elicitation report each status at most once and in order.

/** How many elicitations are remembered. Beyond that the oldest one is dropped. */
const ELICITATIONS_MAX = 10_000;

const RANK = { created: 1, opened: 2, processing: 3, completed: 4 };

export class StatusTracker {
	/** @type {Map<string, number>} */
	#ranks = new Map();

	/**
	 * @param {string} id
	 * @param {keyof typeof RANK} status
	 * @returns {boolean} true if the status is later than the one reported before
	 */
	advance(id, status) {
		const rank = RANK[status];
		if (rank <= (this.#ranks.get(id) ?? 0)) return false;
		this.#ranks.delete(id);
		this.#ranks.set(id, rank);
		if (this.#ranks.size > ELICITATIONS_MAX) this.#ranks.delete(/** @type {string} */ (this.#ranks.keys().next().value));
		return true;
	}
}
