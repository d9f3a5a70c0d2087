// Remembers with each elicitation which clients were asked to open it and did not: by the api,
// so that every instance knows it.

import { UrlModeApiError } from './api.js';

/** @implements {AsksLike} @typedef {import('../core/internals.js').Asks} AsksLike */
export class Asks {
	#api;

	/** @param {import('./api.js').Api} api */
	constructor(api) {
		this.#api = api;
	}

	/** @type {AsksLike['begin']} */
	async begin({ id, subject, session, client }, awaited) {
		try {
			// Once more after a lost answer, it says that the client was asked. Then it is given the link as text.
			return (await this.#api.call('begin_ask', { id, subject, session, client, awaited })).earlier ?? '';
		} catch (error) {
			// Of a row that is not there, nothing is remembered. An older api has no such method.
			if (error instanceof UrlModeApiError && error.reason === 'not_found') return '';
			throw error;
		}
	}

	/** @type {AsksLike['end']} */
	async end({ id, subject, session, client }, answer) {
		await this.#api.call('end_ask', { id, subject, session, client, answer });
	}
}
