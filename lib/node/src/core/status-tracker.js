// Remembers which status of each elicitation was reported, so that several
// waits for one elicitation report each status at most once and in order.

import { REMEMBERED_MIN } from './contract-limits.js';

const RANK = { created: 1, opened: 2, processing: 3, completed: 4 };

export class StatusTracker {
	/** @type {Map<string, number>} */
	#ranks = new Map();
	/** @type {Map<string, number>} dropped as a whole: to drop one after another would make the map slow */
	#older = new Map();

	/**
	 * @param {string} id
	 * @param {keyof typeof RANK} status
	 * @returns {boolean} true if the status is later than the one reported before
	 */
	advance(id, status) {
		const rank = RANK[status];
		if (rank <= (this.#ranks.get(id) ?? this.#older.get(id) ?? 0)) return false;
		this.#ranks.set(id, rank);
		if (this.#ranks.size === REMEMBERED_MIN) {
			this.#older = this.#ranks;
			this.#ranks = new Map();
		}
		return true;
	}
}
