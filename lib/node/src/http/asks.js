// Remembers which clients were asked to open an elicitation and did not. The api has no call for that,
// so that each process knows what its own calls have heard.

import { NOTICES_MAX } from '../core/contract-limits.js';

/** The same as `urlmode.max_asked_clients()`. */
const CLIENTS_MAX = 8;

/** @implements {AsksLike} @typedef {import('../core/internals.js').Asks} AsksLike */
export class Asks {
	/** @type {Map<string, Map<string, import('../core/internals.js').AskAnswer>>} by elicitation and client, the oldest first */
	#answers = new Map();

	/** @type {AsksLike['begin']} */
	async begin(ask, awaited) {
		const earlier = this.#answers.get(ask.id)?.get(keyOf(ask)) ?? '';
		if (earlier === 'asked') await this.end(ask, 'failed');
		if (earlier === '' && awaited) await this.end(ask, 'asked');
		return earlier;
	}

	/** @type {AsksLike['end']} */
	async end(ask, answer) {
		const answers = this.#answers.get(ask.id) ?? new Map();
		answers.delete(keyOf(ask));
		if (answer !== 'accepted') answers.set(keyOf(ask), answer);
		this.#answers.delete(ask.id);
		if (answers.size > 0) this.#answers.set(ask.id, answers);
		dropOldest(answers, CLIENTS_MAX);
		dropOldest(this.#answers, NOTICES_MAX);
	}
}

/** @param {import('../core/internals.js').Ask} ask */
function keyOf({ client: { name = '', version = '' } }) {
	return `${name}\0${version}`;
}

/**
 * @param {Map<string, unknown>} map
 * @param {number} most
 */
function dropOldest(map, most) {
	if (map.size > most) map.delete(/** @type {string} */ (map.keys().next().value));
}
