// Remembers with each elicitation which clients were asked to open it and did not: in the
// database, so that every instance knows it.

import { digestOfClient } from './digest.js';
import { bindingOf } from './token.js';

/** @implements {AsksLike} @typedef {import('./internals.js').Asks} AsksLike */
export class Asks {
	#database;
	#tenant;

	/**
	 * @param {import('./database.js').Database} database
	 * @param {string} tenant
	 */
	constructor(database, tenant) {
		this.#database = database;
		this.#tenant = tenant;
	}

	/** @type {AsksLike['begin']} */
	begin(ask, awaited) {
		return this.#database.beginAsk({ ...valuesOf(this.#tenant, ask), awaited });
	}

	/** @type {AsksLike['end']} */
	end(ask, answer) {
		return this.#database.endAsk({ ...valuesOf(this.#tenant, ask), answer });
	}
}

/**
 * @param {string} tenant
 * @param {import('./internals.js').Ask} ask
 */
function valuesOf(tenant, { id, subject, session, client: { name, version } }) {
	return { id, binding: bindingOf(subject, session, tenant), client: digestOfClient(name, version) };
}
