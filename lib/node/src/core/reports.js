// What was reported last, by name: what has changed since is reported again, also if it is what it was before that.

import { REPORTED_MAX } from './contract-limits.js';

export class Reports {
	/** @type {Map<string, string>} */
	#states = new Map();

	/**
	 * @param {string} name
	 * @param {string} state
	 */
	isNew(name, state) {
		if (this.#states.get(name) === state) return false;
		this.#states.delete(name);
		this.#states.set(name, state);
		if (this.#states.size > REPORTED_MAX) this.#states.delete(/** @type {string} */ (this.#states.keys().next().value));
		return true;
	}
}
